//! A very long text.

use serde_json::json;

use super::{BadCase, Made, Subject};
use crate::report::Severity;

/// One case for each property that may be a text and is no list of values. Where a limit or a
/// pattern forbids it, it must be refused; elsewhere it may be taken.
pub fn oversized(subject: &Subject<'_>, bytes: usize) -> Made {
    let mut made = Made::default();
    for field in subject.fields() {
        let listed = field.each("enum").chain(field.each("const")).next().is_some();
        if listed || !field.types().contains(&"string") {
            continue;
        }
        made.places += 1;
        let Some(arguments) = subject.with(&field, Some(json!("A".repeat(bytes)))) else {
            made.dropped += 1;
            continue;
        };
        made.cases.push(BadCase {
            label: format!("{} of {bytes} bytes", field.name()),
            forbidden: subject.oracle.forbids(&arguments),
            arguments,
            if_taken: Severity::Critical,
        });
    }
    made
}
