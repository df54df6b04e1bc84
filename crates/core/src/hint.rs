//! Errors that a person can cause say what to try next.

/// A suggestion that travels with an error: what to try, or where to look.
pub trait Hint: std::error::Error {
    /// One or more lines that begin with a verb, or nothing when there is nothing useful to say.
    fn hint(&self) -> Option<String> {
        None
    }
}

/// What is longer is no name.
const LONGEST: usize = 256;

/// The known name nearest to what was written, if any is near enough to be meant.
///
/// ```
/// # use mcp_loadtest_core::hint::nearest;
/// assert_eq!(nearest("sustaind", ["sustained", "spike"]), Some("sustained"));
/// assert_eq!(nearest("zzz", ["sustained", "spike"]), None);
/// ```
pub fn nearest<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // The work grows with the length, and nobody mistypes a name of that length.
    if written.len() > LONGEST {
        return None;
    }
    known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(written, name), name))
        .filter(|(distance, name)| *distance <= 1 + name.len().max(written.len()) / 4)
        .min()
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_near_by_a_slip_and_one_more_for_every_four_letters() {
        for (written, known, near) in [
            ("abx", "abc", true),
            ("axx", "abc", false),
            ("abcx", "abcd", true),
            ("abxx", "abcd", true),
            ("axxx", "abcd", false),
            ("sustaXXXd", "sustained", true),
            ("sustXXXXd", "sustained", false),
        ] {
            assert_eq!(nearest(written, [known]), near.then_some(known), "{written}");
        }
        assert_eq!(nearest("spiek", ["soak", "spike", "spoke"]), Some("spike"));
    }

    #[test]
    fn what_is_longer_than_names_are_is_not_looked_for() {
        let name = "a".repeat(LONGEST);
        assert_eq!(nearest(&name, [&*name]), Some(&*name));
        assert_eq!(nearest(&format!("{name}a"), [&*name]), None);
    }

    #[test]
    fn an_error_has_no_hint_of_itself() {
        #[derive(Debug, thiserror::Error)]
        #[error("broken")]
        struct Broken;
        impl Hint for Broken {}
        assert_eq!(Broken.hint(), None);
    }
}
