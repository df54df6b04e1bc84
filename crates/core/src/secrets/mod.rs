//! What was given to us in confidence, and how it is kept out of all that we write and show.
//!
//! | file     | what it holds                                                                  |
//! |----------|--------------------------------------------------------------------------------|
//! | `names`  | names that say that a value is secret, and values that cannot be one           |
//! | `places` | which part of an argument or an address is secret                              |
//! | `given`  | collects the secrets of a server: headers, variables, addresses, arguments     |
//! | `forms`  | one expression for all the forms in which others may write a secret            |
//! | `veil`   | the same for a stream that is cut anywhere                                     |
//!
//! Two things come of it. What we show of a command or an address ourselves is masked by its place, whatever
//! it is. What others repeat is masked by its text, where it is long enough not to be found in
//! everything. Nothing of this costs anything where there is no secret.

mod forms;
mod given;
mod names;
mod places;
mod veil;

use std::{
    borrow::Cow,
    fmt,
    sync::{Arc, OnceLock},
};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use self::forms::Forms;
pub use self::{
    given::Given,
    names::names_a_secret,
    places::{is_masked_argument, is_masked_url, masked_arguments, masked_text, masked_url},
    veil::Veil,
};

/// What stands in place of a secret.
pub const MASK: &str = "***";

/// The secrets of a server, to be kept out of texts. Cheap to clone.
#[derive(Clone, Default)]
pub struct Secrets(Option<Arc<Known>>);

struct Known {
    values: Vec<String>,
    /// Made when they are first looked for, as that takes a while.
    forms: OnceLock<Forms>,
}

impl Known {
    fn forms(&self) -> &Forms {
        self.forms.get_or_init(|| Forms::of(&self.values))
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.0.as_ref().map_or(0, |known| known.values.len()))
    }
}

impl Secrets {
    fn new(mut values: Vec<String>) -> Self {
        values.sort_unstable();
        values.dedup();
        if values.is_empty() {
            return Self(None);
        }
        Self(Some(Arc::new(Known { values, forms: OnceLock::new() })))
    }

    /// Whether there is nothing to keep.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// These and others.
    #[must_use]
    pub fn and(&self, others: &Self) -> Self {
        match (&self.0, &others.0) {
            (_, None) => self.clone(),
            (None, _) => others.clone(),
            (Some(ours), Some(theirs))
                if theirs.values.iter().all(|one| ours.values.contains(one)) =>
            {
                self.clone()
            }
            (Some(ours), Some(theirs)) => {
                Self::new(ours.values.iter().chain(&theirs.values).cloned().collect())
            }
        }
    }

    /// A text without the secrets in it.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match &self.0 {
            None => Cow::Borrowed(text),
            Some(known) => known.forms().out_of_text(text),
        }
    }

    /// The same for bytes that need not be a text.
    pub fn bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        match &self.0 {
            None => Cow::Borrowed(bytes),
            Some(known) => known.forms().out_of_bytes(bytes),
        }
    }

    /// The same for all texts of a document. Numbers stay what they are.
    pub fn document<T: Serialize + DeserializeOwned>(
        &self,
        document: T,
    ) -> Result<T, serde_json::Error> {
        if self.is_empty() {
            return Ok(document);
        }
        let mut value = serde_json::to_value(&document)?;
        // What tells no secret need not be read back.
        if self.mask(&mut value) { serde_json::from_value(value) } else { Ok(document) }
    }

    /// Gives whether anything had to be masked.
    fn mask(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => match self.text(text) {
                Cow::Borrowed(_) => false,
                Cow::Owned(masked) => {
                    *text = masked;
                    true
                }
            },
            Value::Array(entries) => {
                let mut any = false;
                entries.iter_mut().for_each(|entry| any |= self.mask(entry));
                any
            }
            Value::Object(members) => {
                let mut any = false;
                let kept = std::mem::take(members).into_iter().map(|(name, mut member)| {
                    any |= self.mask(&mut member);
                    let shown = self.text(&name).into_owned();
                    any |= shown != name;
                    (shown, member)
                });
                *members = kept.collect();
                any
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn without_secrets_nothing_is_touched() {
        let none = Secrets::default();
        assert!(none.is_empty() && Given::default().secrets().is_empty());
        assert!(matches!(none.text("sk-proj-abcdef"), Cow::Borrowed(_)));
        assert!(matches!(none.bytes(b"sk-proj-abcdef"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_document_loses_its_secrets_and_nothing_else() {
        let secrets = Given::default().variable("API_KEY", "s3cr3t-value").secrets();
        let document = BTreeMap::from([
            ("is s3cr3t-value".to_owned(), vec![Value::from(0.1), "a s3cr3t-value b".into()]),
            ("plain".to_owned(), vec![Value::from(u64::MAX), Value::Null, "s3cr3t".into()]),
        ]);
        let masked = secrets.document(document).unwrap();
        assert_eq!(
            serde_json::to_string(&masked).unwrap(),
            r#"{"is ***":[0.1,"a *** b"],"plain":[18446744073709551615,null,"s3cr3t"]}"#
        );
    }

    #[test]
    fn secrets_of_several_servers_are_all_kept() {
        let one = Given::default().variable("TOKEN", "first-0ne").secrets();
        let two = Given::default().variable("TOKEN", "secon-d00").secrets();
        let both = one.and(&two).and(&Secrets::default());
        assert_eq!(both.text("first-0ne secon-d00"), "*** ***");
        assert_eq!(format!("{both:?}"), "Secrets(2)");
    }

    #[test]
    fn bytes_lose_their_secrets_and_nothing_else() {
        let secrets = Given::default().variable("API_KEY", "s3cr3t-value").secrets();
        assert_eq!(secrets.bytes(b"\xff s3cr3t-value").as_ref(), b"\xff ***");
        assert_eq!(secrets.bytes(b"\xff plain").as_ref(), b"\xff plain");
        assert_eq!(Secrets::default().bytes(b"s3cr3t-value").as_ref(), b"s3cr3t-value");
    }

    #[test]
    fn one_secret_in_a_document_is_enough_wherever_it_stands() {
        let secrets = Given::default().variable("API_KEY", "s3cr3t-value").secrets();
        for (document, expected) in [
            (r#""s3cr3t-value""#, r#""***""#),
            (r#"["s3cr3t-value","plain"]"#, r#"["***","plain"]"#),
            (r#"{"s3cr3t-value":1}"#, r#"{"***":1}"#),
            (r#"{"a":"s3cr3t-value","b":2}"#, r#"{"a":"***","b":2}"#),
            (r#"{"a":[null,"plain"]}"#, r#"{"a":[null,"plain"]}"#),
        ] {
            let value: Value = serde_json::from_str(document).unwrap();
            assert_eq!(secrets.document(value).unwrap().to_string(), expected);
        }
    }

    #[test]
    fn what_is_known_already_is_not_made_again() {
        let of = |names: &[&str]| {
            let given = Given::default();
            names.iter().fold(given, |given, name| given.variable("TOKEN", name)).secrets()
        };
        let (one, both, none) = (of(&["first-0ne"]), of(&["first-0ne", "secon-d00"]), of(&[]));
        let is = |one: &Secrets, other: &Secrets| match (&one.0, &other.0) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        };
        assert!(is(&both.and(&one), &both) && is(&both.and(&none), &both));
        assert!(is(&none.and(&one), &one) && !is(&one.and(&both), &one));
    }
}
