//! Describes a [`Scenario`] in code: one builder per kind, so that a setting which the kind does
//! not have does not compile.

use std::time::Duration;

use serde_json::Value;

use super::{Scenario, ScenarioKind, ToolCall, calls::Calls};
use crate::seed::Seed;

/// Settings of `cold_start`.
#[derive(Debug, Clone, PartialEq)]
pub struct ColdStart {
    pub(crate) iterations: u32,
    pub(crate) warmup: bool,
}

/// Settings of `sustained`.
#[derive(Debug, Clone, PartialEq)]
pub struct Sustained {
    pub(crate) concurrent: u32,
    pub(crate) duration: Duration,
    pub(crate) rate_limit: Option<u32>,
}

/// Settings of `deadlock_probe`.
#[derive(Debug, Clone, PartialEq)]
pub struct DeadlockProbe {
    pub(crate) concurrent: u32,
    pub(crate) hang_threshold: Duration,
    pub(crate) grace_period: Duration,
    pub(crate) bail_early: bool,
    pub(crate) steady_calls: u32,
}

impl Default for ColdStart {
    fn default() -> Self {
        Self { iterations: 5, warmup: true }
    }
}

impl Default for Sustained {
    fn default() -> Self {
        Self { concurrent: 10, duration: Duration::from_secs(30), rate_limit: None }
    }
}

impl Default for DeadlockProbe {
    fn default() -> Self {
        Self {
            concurrent: 20,
            hang_threshold: Duration::from_secs(5),
            grace_period: Duration::from_secs(10),
            bail_early: false,
            steady_calls: 5,
        }
    }
}

/// Describes a scenario step by step, in any order. Wherever a [`Scenario`] is wanted the builder
/// will do.
#[derive(Debug, Clone, PartialEq)]
#[must_use = "a builder does nothing by itself"]
pub struct ScenarioBuilder<Kind> {
    kind: Kind,
    calls: Calls,
    sessions: Option<u32>,
    timeout: Option<Duration>,
    seed: Seed,
}

/// Describes a `cold_start` scenario.
pub type ColdStartBuilder = ScenarioBuilder<ColdStart>;
/// Describes a `sustained` scenario.
pub type SustainedBuilder = ScenarioBuilder<Sustained>;
/// Describes a `deadlock_probe` scenario.
pub type DeadlockProbeBuilder = ScenarioBuilder<DeadlockProbe>;

impl Scenario {
    /// Start → handshake → first call, five times, the first of them thrown away.
    pub fn cold_start() -> ColdStartBuilder {
        ScenarioBuilder::new(ColdStart::default())
    }

    /// Ten calls in flight for thirty seconds.
    ///
    /// ```
    /// # use mcp_loadtest_core::scenario::Scenario;
    /// # use std::time::Duration;
    /// let scenario: Scenario = Scenario::sustained()
    ///     .concurrent(20)
    ///     .duration(Duration::from_secs(30))
    ///     .tool("get_market_data")
    ///     .args(serde_json::json!({ "ticker": "AAPL" }))
    ///     .into();
    /// assert_eq!(scenario.tool_calls[0].args["ticker"], "AAPL");
    /// ```
    ///
    /// What another kind has does not compile:
    ///
    /// ```compile_fail
    /// # use mcp_loadtest_core::scenario::Scenario;
    /// let scenario = Scenario::sustained().iterations(5);
    /// ```
    pub fn sustained() -> SustainedBuilder {
        ScenarioBuilder::new(Sustained::default())
    }

    /// Twenty calls at the same instant, hanging after 5 seconds, deadlocked after 10 more.
    pub fn deadlock_probe() -> DeadlockProbeBuilder {
        ScenarioBuilder::new(DeadlockProbe::default())
    }
}

impl<Kind> ScenarioBuilder<Kind> {
    fn new(kind: Kind) -> Self {
        let calls = Calls::default();
        Self { kind, calls, sessions: None, timeout: None, seed: Seed::default() }
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

    /// Where the random choices come from.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }
}

impl ScenarioBuilder<ColdStart> {
    /// How many starts are made.
    pub fn iterations(mut self, iterations: u32) -> Self {
        self.kind.iterations = iterations;
        self
    }

    /// Whether the first start is thrown away.
    pub fn warmup(mut self, warmup: bool) -> Self {
        self.kind.warmup = warmup;
        self
    }
}

impl ScenarioBuilder<Sustained> {
    /// How many calls are in flight at once.
    pub fn concurrent(mut self, concurrent: u32) -> Self {
        self.kind.concurrent = concurrent;
        self
    }

    /// How long the load lasts.
    pub fn duration(mut self, duration: Duration) -> Self {
        self.kind.duration = duration;
        self
    }

    /// Calls per second at most. Not built yet: a run with it is refused.
    pub fn rate_limit(mut self, per_second: u32) -> Self {
        self.kind.rate_limit = Some(per_second);
        self
    }

    /// How many sessions share the calls; one unless set.
    pub fn sessions(mut self, sessions: u32) -> Self {
        self.sessions = Some(sessions);
        self
    }
}

impl ScenarioBuilder<DeadlockProbe> {
    /// How many calls are released at once.
    pub fn concurrent(mut self, concurrent: u32) -> Self {
        self.kind.concurrent = concurrent;
        self
    }

    /// A call without an answer for this long hangs.
    pub fn hang_threshold(mut self, threshold: Duration) -> Self {
        self.kind.hang_threshold = threshold;
        self
    }

    /// How much longer a hanging call may take before it counts as deadlocked.
    pub fn grace_period(mut self, period: Duration) -> Self {
        self.kind.grace_period = period;
        self
    }

    /// Whether the first deadlock ends the probe; otherwise every call is classified.
    pub fn bail_early(mut self, bail: bool) -> Self {
        self.kind.bail_early = bail;
        self
    }

    /// How many calls follow one after another once the burst is over.
    pub fn steady_calls(mut self, calls: u32) -> Self {
        self.kind.steady_calls = calls;
        self
    }

    /// How many sessions share the calls; one unless set.
    pub fn sessions(mut self, sessions: u32) -> Self {
        self.sessions = Some(sessions);
        self
    }
}

impl From<ColdStart> for ScenarioKind {
    fn from(ColdStart { iterations, warmup }: ColdStart) -> Self {
        Self::ColdStart { iterations, warmup }
    }
}

impl From<Sustained> for ScenarioKind {
    fn from(Sustained { concurrent, duration, rate_limit }: Sustained) -> Self {
        Self::Sustained { concurrent, duration, rate_limit }
    }
}

impl From<DeadlockProbe> for ScenarioKind {
    fn from(probe: DeadlockProbe) -> Self {
        let DeadlockProbe { concurrent, hang_threshold, grace_period, bail_early, steady_calls } =
            probe;
        Self::DeadlockProbe { concurrent, hang_threshold, grace_period, bail_early, steady_calls }
    }
}

impl<Kind: Into<ScenarioKind>> ScenarioBuilder<Kind> {
    /// The finished description.
    #[must_use]
    pub fn build(self) -> Scenario {
        let Self { kind, calls, sessions, timeout, seed } = self;
        Scenario { kind: kind.into(), tool_calls: calls.finish(), sessions, timeout, seed }
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
    use serde_json::json;

    fn calls(builder: SustainedBuilder) -> Vec<(String, Value)> {
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
    fn the_defaults_are_those_of_the_design() {
        assert_eq!(
            Scenario::cold_start().build().kind,
            ScenarioKind::ColdStart { iterations: 5, warmup: true }
        );
        let probe = Scenario::deadlock_probe().concurrent(3).grace_period(Duration::ZERO).build();
        let ScenarioKind::DeadlockProbe {
            concurrent: 3,
            hang_threshold,
            grace_period,
            bail_early: false,
            steady_calls: 5,
        } = probe.kind
        else {
            panic!("{probe:?}")
        };
        assert_eq!((hang_threshold, grace_period), (Duration::from_secs(5), Duration::ZERO));
    }
}
