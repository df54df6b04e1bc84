//! No flag and no key without effect: each has a line in a table, and each line its proof.
//!
//! `flags` has a table for each command, `keys` one for each file that people write. [`walk`] demands a
//! line for whatever clap or a schema knows, and something that clap or a schema knows for each line.
//! A proof is a pair of runs of which only one shows something, or the name of a test that would fail.

mod bench;
mod flags;
mod keys;
mod proof;
mod rivals;
mod server;
mod walk;

use self::proof::Proof;

/// A flag, a value that it must refuse (none where it takes any), and what shows that it does something.
struct Flag(&'static str, &'static str, Proof);

/// The flags of one command.
struct Command {
    /// As it is typed: `audit list`.
    name: &'static str,
    flags: &'static [Flag],
}

/// A key of a type, and what shows that it does something.
struct Key(&'static str, Proof);

/// A type whose keys have their lines in another file: the schema of that file, and where they stand there.
struct Same(&'static str, &'static str, &'static str);

/// The keys of one kind of file.
struct File {
    /// The name of its schema, as `schema` takes it.
    schema: &'static str,
    /// Types that another file has as well.
    same: &'static [Same],
    keys: &'static [Key],
}
