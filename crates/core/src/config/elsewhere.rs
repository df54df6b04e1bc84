//! What is looked for in the wrong place: refused with where it is, so that nobody searches for it.

use super::path::KeyPath;

/// What CI servers read is asked for by a flag, for every command alike.
const FLAGS: &[(&str, &str)] =
    &[("junit", "--junit FILE"), ("sarif", "probe --sarif FILE"), ("github", "--github")];

/// The hint to a word that the schema does not have, where it is known otherwise.
pub(super) fn hint(path: &KeyPath, word: &str) -> Option<String> {
    if path.dotted() == "output.formats" { flag_instead_of_form(word) } else { None }
}

/// The hint to a word that is no form of the result, where a flag writes what it names.
pub fn flag_instead_of_form(word: &str) -> Option<String> {
    let (_, flag) = FLAGS.iter().find(|(name, _)| *name == word)?;
    Some(format!("it is no form of the result: `{flag}` writes it"))
}
