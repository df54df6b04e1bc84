//! Describes a [`Scenario`] in code: one builder per kind, so that a setting which the kind does
//! not have does not compile. The settings of a kind stand beside it in its own file.

use std::time::Duration;

use serde_json::Value;

use super::{Scenario, ScenarioKind, ToolCall, calls::Calls};
use crate::seed::Seed;

/// Describes a scenario step by step, in any order. Wherever a [`Scenario`] is wanted the builder
/// will do.
#[derive(Debug, Clone, PartialEq)]
#[must_use = "a builder does nothing by itself"]
pub struct ScenarioBuilder<Kind> {
    pub(super) kind: Kind,
    calls: Calls,
    pub(super) sessions: Option<u32>,
    timeout: Option<Duration>,
    abort_on_fail: bool,
    strict: bool,
    seed: Seed,
}

impl<Kind> ScenarioBuilder<Kind> {
    pub(super) fn new(kind: Kind) -> Self {
        Self {
            kind,
            calls: Calls::default(),
            sessions: None,
            timeout: None,
            abort_on_fail: false,
            strict: false,
            seed: Seed::default(),
        }
    }

    /// Calls this tool. Said again, it adds another tool.
    pub fn tool(mut self, name: impl Into<String>) -> Self {
        self.calls.tool(name.into());
        self
    }

    /// The arguments of the tool named before, or else of the one named next.
    pub fn args(mut self, args: Value) -> Self {
        self.calls.args(args);
        self
    }

    /// Adds a call with all its settings, weight included.
    pub fn tool_call(mut self, call: ToolCall) -> Self {
        self.calls.add(call);
        self
    }

    /// Gives up each call after this long; never unless set.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Ends the run as soon as a threshold is violated for good.
    pub fn abort_on_fail(mut self, abort: bool) -> Self {
        self.abort_on_fail = abort;
        self
    }

    /// Holds arguments against each tool's input schema before they are sent, and results against its
    /// output schema.
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// Where the random choices come from.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }
}

impl<Kind: Into<ScenarioKind>> ScenarioBuilder<Kind> {
    /// The finished description.
    #[must_use]
    pub fn build(self) -> Scenario {
        Scenario {
            kind: self.kind.into(),
            tool_calls: self.calls.finish(),
            sessions: self.sessions,
            timeout: self.timeout,
            abort_on_fail: self.abort_on_fail,
            strict: self.strict,
            seed: self.seed,
        }
    }
}

impl<Kind: Into<ScenarioKind>> From<ScenarioBuilder<Kind>> for Scenario {
    fn from(builder: ScenarioBuilder<Kind>) -> Self {
        builder.build()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Recipe;
    use serde_json::json;

    fn calls(builder: ScenarioBuilder<crate::scenario::Sustained>) -> Vec<(String, Value)> {
        builder.build().tool_calls.into_iter().map(|call| (call.name, call.args)).collect()
    }

    #[test]
    fn arguments_find_their_tool_in_any_order() {
        let x = vec![("x".to_owned(), json!({"a": 1}))];
        assert_eq!(calls(Scenario::sustained().tool("x").args(json!({"a": 1}))), x);
        assert_eq!(calls(Scenario::sustained().args(json!({"a": 1})).tool("x")), x);
        assert_eq!(calls(Scenario::sustained().tool("x").args(json!({})).args(json!({"a": 1}))), x);
        assert_eq!(calls(Scenario::sustained().tool("x")), [("x".to_owned(), json!({}))]);
    }

    #[test]
    fn several_tools_keep_their_own_arguments() {
        let both = [("x".to_owned(), json!({"a": 1})), ("y".to_owned(), json!({"b": 2}))];
        let (a, b) = (json!({"a": 1}), json!({"b": 2}));
        let after = Scenario::sustained().tool("x").args(a.clone()).tool("y").args(b.clone());
        assert_eq!(calls(after), both);
        assert_eq!(calls(Scenario::sustained().args(a).tool("x").args(b).tool("y")), both);
    }

    #[test]
    fn arguments_without_a_tool_are_not_lost() {
        assert_eq!(calls(Scenario::sustained().args(json!({}))), [(String::new(), json!({}))]);
    }

    #[test]
    fn a_call_has_weight_one_and_what_it_is_given() {
        let plain = ToolCall::new("x");
        assert_eq!((plain.weight, &plain.args), (1.0, &json!({})));
        assert_eq!(plain.recipe(), Recipe::Given(json!({})));
        let read: ToolCall = serde_json::from_value(json!({"name": "x"})).unwrap();
        assert_eq!(read, plain);
        let made = plain.clone().source(Recipe::Generated).weight(2.0);
        assert_eq!(made.recipe(), Recipe::Generated);
        let built =
            Scenario::sustained().tool_call(made.clone()).strict(true).seed(Seed(9)).build();
        assert_eq!((built.tool_calls, built.strict, built.seed), (vec![made], true, Seed(9)));
        let late =
            Scenario::sustained().timeout(Duration::from_secs(2)).abort_on_fail(true).build();
        assert_eq!((late.timeout, late.abort_on_fail), (Some(Duration::from_secs(2)), true));
    }
}
