//! What is looked for in the wrong place: refused with where it is, so that nobody searches for it.

use super::path::KeyPath;

/// What CI servers read is asked for by a flag, for every command alike.
const FLAGS: &[(&str, &str)] =
    &[("junit", "--junit FILE"), ("sarif", "probe --sarif FILE"), ("github", "--github")];

/// The hint to a word that the schema does not have, where it is known otherwise.
pub(super) fn hint(path: &KeyPath, word: &str) -> Option<String> {
    if path.dotted() != "output.formats" {
        return None;
    }
    let (_, flag) = FLAGS.iter().find(|(name, _)| *name == word)?;
    Some(format!("it is no form of the result: `{flag}` writes it"))
}
