//! What holds for all scenarios.

use std::{collections::BTreeSet, fmt::Write as _};

use serde_json::json;

use super::*;
use crate::{
    fuzz::Payload,
    pace::{Level, Rate},
};

#[test]
fn names_are_the_serialized_words() {
    for name in ScenarioName::ALL {
        assert_eq!(serde_json::to_value(name).unwrap(), name.as_str());
    }
}

#[test]
fn an_unknown_scenario_says_what_there_is() {
    assert_eq!("deadlock-probe".parse(), Ok(ScenarioName::DeadlockProbe));
    assert_eq!("fuzzer".parse(), Ok(ScenarioName::Fuzzer));
    let unknown = "sustaind".parse::<ScenarioName>().unwrap_err();
    assert_eq!(unknown.hint().unwrap(), "did you mean `sustained`?");
}

#[test]
fn a_scenario_reads_back_from_json() {
    let scenario: Scenario = Scenario::sustained()
        .concurrent(50)
        .duration(Duration::from_secs(60))
        .tool_call(ToolCall::new("a").args(json!({"x": null})).weight(0.3))
        .timeout(Duration::from_millis(1500))
        .into();
    let json = serde_json::to_value(&scenario).unwrap();
    assert_eq!(json["kind"]["type"], "sustained");
    assert_eq!(json["kind"]["duration"], "1m");
    assert_eq!(serde_json::from_value::<Scenario>(json).unwrap(), scenario);
}

#[test]
fn the_defaults_of_every_kind_are_fit_to_run() {
    for name in ScenarioName::ALL {
        let config = ScenarioConfig { name: Some(*name), ..Default::default() };
        let kind = name.kind(&config, &Thresholds::default()).unwrap();
        assert_eq!(kind.name(), *name);
        assert_eq!(kind.settings().check(), Ok(()), "{name}");
        assert!(kind.concurrent() > 0);
    }
}

/// One of each, with every setting other than it is by itself.
fn one_of_each() -> Vec<Scenario> {
    let secs = Duration::from_secs;
    let rate = |per_second| Level::Rate(Rate::per_second(per_second));
    let search: Sequence =
        serde_json::from_value(json!({"name": "search", "steps": [{"tool": "find"}]})).unwrap();
    vec![
        Scenario::cold_start().iterations(7).warmup(false).build(),
        Scenario::sustained().concurrent(3).duration(secs(4)).rate_limit(9).sessions(2).build(),
        Scenario::sustained().rate(12.5).max_in_flight(6).duration(secs(90)).build(),
        Scenario::deadlock_probe()
            .concurrent(5)
            .hang_threshold(secs(2))
            .grace_period(secs(3))
            .bail_early(true)
            .steady_calls(11)
            .sessions(2)
            .build(),
        Scenario::spike()
            .concurrent(2, 8)
            .duration(secs(20))
            .burst(secs(5), secs(3))
            .sessions(4)
            .build(),
        Scenario::ramp().levels(rate(10.0), rate(40.0)).duration(secs(8)).sessions(3).build(),
        Scenario::ramp().concurrent(1, 9).step_increment(4.0).duration(secs(6)).build(),
        Scenario::soak()
            .concurrent(4)
            .duration(secs(7_200))
            .sample_interval(secs(5))
            .latency_drift_ms_per_sec(0.25)
            .sessions(2)
            .build(),
        Scenario::soak().load(rate(3.0)).duration(secs(60)).build(),
        Scenario::pattern().concurrent(6).pattern(PatternName::ReadThenWrite).sessions(2).build(),
        Scenario::pattern().load(rate(2.0)).duration(secs(9)).sequence(search.clone()).build(),
        Scenario::pattern().sequence(search.clone()).sequence(search).build(),
        Scenario::race_check().concurrent(13).rounds(4).sessions(2).build(),
        Scenario::slow_mix()
            .concurrent(10)
            .duration(secs(5))
            .slow(ToolCall::new("sleep"))
            .slow_share(0.3)
            .sessions(2)
            .build(),
        Scenario::reconnect().concurrent(3).drops(1).build(),
        Scenario::reconnect().drops(6).build(),
        Scenario::capacity().rates(20.0, 90.0).hold(secs(12)).precision(0.1).sessions(2).build(),
        Scenario::fuzzer().iterations(77).duration(secs(30)).build(),
        Scenario::fuzzer().payloads([Payload::ALL[1]]).build(),
        Scenario::fuzzer().payloads([Payload::ALL[0], Payload::ALL[2]]).build(),
    ]
}

#[test]
fn what_a_scenario_says_of_itself() {
    let mut told = String::new();
    for scenario in one_of_each() {
        let settings = scenario.kind.settings();
        writeln!(told, "{}: {}", scenario.kind.name(), settings.phrase()).unwrap();
        let (calls, length) = (settings.concurrent(), settings.length());
        writeln!(told, "  {calls} in flight, {length:?}, {:?} sessions", scenario.sessions)
            .unwrap();
        writeln!(told, "  arrival {:?}", settings.arrival()).unwrap();
        for step in settings.steps() {
            writeln!(told, "  step {} {:?} {:?}", step.label, step.load, step.length).unwrap();
        }
    }
    insta::assert_snapshot!(told);
}

#[test]
fn what_is_written_into_the_configuration_is_read_from_it() {
    let covered: BTreeSet<&str> =
        one_of_each().iter().map(|scenario| scenario.kind.name().as_str()).collect();
    assert_eq!(covered.len(), ScenarioName::ALL.len(), "{covered:?}");
    for scenario in one_of_each() {
        let mut config = ScenarioConfig::default();
        scenario.kind.settings().write_to(&mut config);
        let name = scenario.kind.name();
        let read = name.kind(&config, &Thresholds::default()).unwrap();
        assert_eq!(read, scenario.kind, "{name}");
    }
}
