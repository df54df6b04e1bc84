//! A property that nobody asked for.

use serde_json::json;

use super::{BadCase, Made, Subject};
use crate::report::Severity;

/// Its name.
pub const EXTRA_FIELD: &str = "mcp_loadtest_unexpected";

/// One case. A schema that is open allows it, and says so by `forbidden`; in one that is closed
/// (`additionalProperties` or `unevaluatedProperties` is false) it must be refused. To take it is
/// still no more than a warning: the TypeScript SDK 1.x announces closed schemas for every tool and
/// drops what it does not know without a word.
pub fn extra_field(subject: &Subject<'_>) -> Made {
    let mut arguments = subject.good.clone();
    let Some(map) = arguments.as_object_mut() else { return Made::default() };
    map.insert(EXTRA_FIELD.into(), json!(true));
    let case = BadCase {
        label: format!("with `{EXTRA_FIELD}`, which nobody asked for"),
        forbidden: subject.oracle.forbids(&arguments),
        arguments,
        if_taken: Severity::Warning,
    };
    Made { cases: vec![case], places: 1, dropped: 0 }
}
