//! Why no arguments could be made from a schema.

use crate::display::visible;

/// How much of a name or a pattern from the peer is shown.
const SHOWN: usize = 60;
/// How much of a place is kept, in bytes: without an end to recursion it would be long.
const PLACE: usize = 120;

/// No arguments can be made from a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unusable {
    /// The place in the arguments as a JSON pointer; empty for the arguments as a whole.
    pub at: String,
    /// What stands in the way.
    pub why: Why,
}

impl std::fmt::Display for Unusable {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.at.is_empty() {
            write!(out, "{}", self.why)
        } else {
            write!(out, "at `{}`: {}", self.at, self.why)
        }
    }
}

impl std::error::Error for Unusable {}

/// What stands between a schema and a value. Text from the schema is already safe to show.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Why {
    /// The schema, or a part of it, is no schema at all.
    #[error("the schema is neither an object nor a boolean")]
    NotASchema,
    /// The schema describes something that is not an object.
    #[error("tool arguments are an object, and the schema asks for something else")]
    NotAnObject,
    /// `$schema` names a dialect that is not JSON Schema.
    #[error("the schema is written in an unknown dialect, `{0}`")]
    Dialect(String),
    /// A `$ref` leads out of the document; it is never fetched.
    #[error("`$ref` leads out of the schema, to `{0}`, and is not followed")]
    RemoteReference(String),
    /// A `$ref` leads to nothing.
    #[error("`$ref` leads to `{0}`, which is not in the schema")]
    LostReference(String),
    /// A keyword that this generator does not understand, and cannot ignore.
    #[error("the schema uses `{0}`, which is not supported")]
    Unsupported(String),
    /// A pattern outside the subset that can be written and matched.
    #[error("no text can be made for the pattern `{0}`")]
    Pattern(String),
    /// No value can satisfy all the demands made of it, or none was found.
    #[error("{0}")]
    NoValue(&'static str),
    /// The value would nest deeper than the budget, or refers to itself without an end.
    #[error("the value nests deeper than {0} levels")]
    TooDeep(usize),
    /// The schema asks for a longer text than the budget.
    #[error("the schema asks for a text of {0} characters")]
    TooLong(u64),
    /// The schema is larger than the budget.
    #[error("the schema is larger than {0} bytes")]
    SchemaTooLarge(usize),
    /// Making or checking the value takes more work or more text than the budget.
    #[error("the schema asks for more values than the budget allows")]
    TooMuch,
}

impl Why {
    pub(super) fn remote(reference: &str) -> Self {
        Self::RemoteReference(visible(reference, SHOWN))
    }

    pub(super) fn lost(reference: &str) -> Self {
        Self::LostReference(visible(reference, SHOWN))
    }

    pub(super) fn unsupported(keyword: &str) -> Self {
        Self::Unsupported(visible(keyword, SHOWN))
    }

    pub(super) fn pattern(pattern: &str) -> Self {
        Self::Pattern(visible(pattern, SHOWN))
    }

    pub(super) fn dialect(name: &str) -> Self {
        Self::Dialect(visible(name, SHOWN))
    }

    /// Whether trying something else is pointless because the budget is gone.
    pub(super) fn is_final(&self) -> bool {
        matches!(self, Self::TooMuch)
    }
}

impl From<Why> for Unusable {
    fn from(why: Why) -> Self {
        Self { at: String::new(), why }
    }
}

impl Unusable {
    /// The same, seen from one level further out.
    pub(super) fn within(mut self, name: &str) -> Self {
        let name = visible(name, SHOWN).replace('~', "~0").replace('/', "~1");
        self.at.insert_str(0, &name);
        self.at.insert(0, '/');
        if self.at.len() > PLACE {
            self.at.truncate(self.at.floor_char_boundary(PLACE));
            self.at.push('…');
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_a_pointer_and_the_text_is_safe() {
        let error = Unusable::from(Why::pattern("\x1b[2J")).within("0").within("a/b");
        assert_eq!(
            error.to_string(),
            "at `/a~1b/0`: no text can be made for the pattern `\\x1b[2J`"
        );
        let endless = (0..500).fold(Unusable::from(Why::TooMuch), |error, _| error.within("ä"));
        assert!(endless.at.len() < 130 && endless.at.ends_with('…'));
    }

    #[test]
    fn a_place_is_cut_only_beyond_its_limit() {
        let name = "a".repeat(59);
        let at_limit = Unusable::from(Why::TooMuch).within(&name).within(&name);
        assert_eq!(at_limit.at, format!("/{name}/{name}"));
        assert_eq!(at_limit.at.len(), PLACE);
        let beyond = at_limit.within("b");
        assert_eq!(beyond.at, format!("/b/{name}/{}…", &name[..57]));
    }

    #[test]
    fn without_a_place_only_the_reason_is_told() {
        let error = Unusable::from(Why::TooDeep(3));
        assert_eq!(error.to_string(), "the value nests deeper than 3 levels");
        assert!(Why::TooMuch.is_final() && !Why::TooDeep(3).is_final());
    }
}
