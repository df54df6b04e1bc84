//! The tools that are there when no file is given. To add one: a file with a `tool()`, and a line in
//! [`TOOLS`]. It is then listed, called, switched off with its group, and named by `mock --explain`.

mod chatty;
mod echo;
mod error;
mod fixed_response;
mod flaky;
mod headers;
mod ledger;
mod long_output;
mod lorem;
mod pcg;
mod progress;
mod sized_response;
mod slow;
mod whoami;

use std::{fmt, str::FromStr};

use mcp_loadtest_core::hint::{Hint, nearest};
use serde_json::{Value, json};
use thiserror::Error;

pub(crate) use self::flaky::entropy;
use super::tool::Tool;

/// What a tool is there for. Groups can be switched off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Group {
    /// Who asks, and what reached the server.
    Identity,
    /// Known answers of known size.
    Data,
    /// Failures on command.
    Failure,
    /// More than one message per call.
    Streaming,
}

/// Makes a tool.
type Make = fn() -> Tool;

/// All tools, in the order in which they are listed.
const TOOLS: &[(Group, Make)] = &[
    (Group::Identity, echo::tool),
    (Group::Identity, whoami::tool),
    (Group::Identity, headers::tool),
    (Group::Data, fixed_response::tool),
    (Group::Data, sized_response::tool),
    (Group::Data, lorem::tool),
    (Group::Failure, error::tool),
    (Group::Failure, slow::tool),
    (Group::Failure, flaky::tool),
    (Group::Failure, ledger::tool),
    (Group::Streaming, progress::tool),
    (Group::Streaming, long_output::tool),
    (Group::Streaming, chatty::tool),
];

/// The tools of the groups that are on.
pub(crate) fn tools(off: &[Group]) -> impl Iterator<Item = Tool> {
    TOOLS.iter().filter(|(group, _)| !off.contains(group)).map(|(_, tool)| tool())
}

impl Group {
    /// The names of its tools.
    pub fn tools(self) -> impl Iterator<Item = String> {
        let own = TOOLS.iter().filter(move |(group, _)| *group == self);
        own.map(|(_, tool)| tool().listing.name)
    }

    /// What its tools are there for.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Identity => "what reached the server",
            Self::Data => "known answers of known size",
            Self::Failure => "failures on command, and a count of side effects",
            Self::Streaming => "more than one message, or more than one block",
        }
    }

    /// All groups.
    pub const ALL: [Self; 4] = [Self::Identity, Self::Data, Self::Failure, Self::Streaming];

    /// The word for it in flags.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Data => "data",
            Self::Failure => "failure",
            Self::Streaming => "streaming",
        }
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that names no group of tools.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is not a group of tools")]
pub struct UnknownGroup(pub String);

impl Hint for UnknownGroup {
    fn hint(&self) -> Option<String> {
        let known = Group::ALL.map(Group::as_str);
        Some(match nearest(&self.0, known) {
            Some(name) => format!("did you mean `{name}`?"),
            None => format!("use one of {}", known.join(", ")),
        })
    }
}

impl FromStr for Group {
    type Err = UnknownGroup;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|group| group.as_str() == text);
        found.ok_or_else(|| UnknownGroup(text.to_owned()))
    }
}

/// A whole number. JSON Schema counts `500.0` among them, and so do clients that know no other numbers;
/// what is too large for us is as large as can be.
fn whole(value: &Value) -> Option<i64> {
    let round =
        || value.as_f64().filter(|number| number.fract() == 0.0).map(|number| number as i64);
    value.as_i64().or_else(round)
}

/// Hints for a tool that changes nothing.
fn read_only() -> Option<Value> {
    Some(json!({ "readOnlyHint": true }))
}

#[cfg(test)]
mod tests {
    use mcp_loadtest_core::config::TransportName;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::{
        catalog::tool::{Call, Run},
        mcp::result::{CallResult, Content, Outcome},
        server::session::Session,
    };

    /// Calls a tool that answers on the spot.
    pub(super) fn call(tool: &Tool, arguments: Value) -> Outcome {
        tool.check(&arguments).unwrap_or_else(|wrong| panic!("{arguments}: {wrong:?}"));
        let Run::Now(run) = &tool.run else { panic!("it takes its time") };
        let session = Session::new("s", TransportName::Stdio, CancellationToken::new());
        run(&Call { session: &session, arguments: &arguments, raw: &arguments.to_string() })
    }

    pub(super) fn result(outcome: Outcome) -> CallResult {
        match outcome {
            Outcome::Result(result) => result,
            other => panic!("no result: {other:?}"),
        }
    }

    pub(super) fn texts(result: &CallResult) -> Vec<&str> {
        let text = |content: &Content| match content {
            Content::Text(text) => text.to_string().leak() as &str,
            other => panic!("no text: {other:?}"),
        };
        result.content.iter().map(text).collect()
    }

    #[test]
    fn a_whole_number_may_be_written_with_a_point() {
        for (text, number) in [
            ("500", Some(500)),
            ("500.0", Some(500)),
            ("5e2", Some(500)),
            ("-3.0", Some(-3)),
            ("9007199254740993", Some(9_007_199_254_740_993)),
            ("1e300", Some(i64::MAX)),
            ("-1e300", Some(i64::MIN)),
            ("0.5", None),
            ("\"500\"", None),
            ("null", None),
        ] {
            assert_eq!(whole(&serde_json::from_str(text).unwrap()), number, "{text}");
        }
    }

    /// Whatever its schema lets pass as an integer is used as one.
    #[test]
    fn every_tool_reads_numbers_as_its_schema_does() {
        let told = |name: &str, arguments: Value| {
            let tool = tools(&[]).find(|tool| tool.listing.name == name).unwrap();
            let said = match call(&tool, arguments) {
                Outcome::Result(result) => texts(&result).join(" "),
                other => format!("{other:?}"),
            };
            // A number in an answer is written as it was read.
            said.replace(".0", "")
        };
        let call_id = |id: Value| json!({"fail_rate": 0.5, "seed": "test", "call_id": id});
        let burst = |n: Value, period: Value| json!({"mode": "burst", "n": n, "period": period});
        for (name, whole, with_a_point) in [
            ("lorem", json!({"words": 3, "seed": "a"}), json!({"words": 3.0, "seed": "a"})),
            ("long_output", json!({"blocks": 2, "chars": 9}), json!({"blocks": 2.0, "chars": 9.0})),
            ("sized_response", json!({"size": 7}), json!({"size": 7.0})),
            ("ledger", json!({"key": "k", "amount": 5}), json!({"key": "k", "amount": 5.0})),
            ("error", json!({"code": -32050}), json!({"code": -32050.0})),
            ("flaky", call_id(json!(2)), call_id(json!(2.0))),
            ("flaky", burst(json!(0), json!(3)), burst(json!(0.0), json!(3.0))),
        ] {
            assert_eq!(told(name, with_a_point), told(name, whole), "{name}");
        }
    }

    #[test]
    fn every_group_can_be_switched_off() {
        let names =
            |off: &[Group]| -> Vec<_> { tools(off).map(|tool| tool.listing.name).collect() };
        assert_eq!(names(&[]).len(), TOOLS.len());
        assert_eq!(names(&Group::ALL), Vec::<String>::new());
        for group in Group::ALL {
            let others: Vec<_> = Group::ALL.into_iter().filter(|other| *other != group).collect();
            assert_eq!(names(&others), group.tools().collect::<Vec<_>>());
            assert_eq!(group.to_string().parse(), Ok(group));
        }
        assert!(Group::Failure.tools().any(|name| name == "flaky"));
        assert_eq!(
            "failur".parse::<Group>().unwrap_err().hint().unwrap(),
            "did you mean `failure`?"
        );
    }
}
