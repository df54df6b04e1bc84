//! What holds for all scenarios.

use std::{collections::BTreeSet, fmt::Write as _};

use serde_json::json;

use super::*;
use crate::{
    fuzz::Payload,
    pace::{Level, Rate, Shape, ThinkTime},
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
    assert_eq!(
        unknown.to_string(),
        "there is no scenario `sustaind`; this version runs cold_start, sustained, spike, ramp, soak, pattern, \
         deadlock_probe, race_check, slow_mix, reconnect, capacity, fuzzer"
    );
}

#[test]
fn a_scenario_reads_back_from_json() {
    let scenario: Scenario = Scenario::sustained()
        .concurrent(50)
        .duration(Duration::from_secs(60))
        .tool_call(ToolCall::new("a").args(json!({"x": null})).weight(0.3))
        .timeout(Duration::from_millis(1500))
        .into();
    assert_eq!(scenario.kind.concurrent(), 50);
    let json = serde_json::to_value(&scenario).unwrap();
    assert_eq!(json["kind"]["type"], "sustained");
    assert_eq!(json["tool_calls"], json!([{"name": "a", "args": {"x": null}, "weight": 0.3}]));
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
    let stage = |load, shape| StageSettings { duration: secs(2), load, shape };
    vec![
        Scenario::cold_start().iterations(7).warmup(false).build(),
        Scenario::sustained().concurrent(3).duration(secs(4)).rate_limit(9).sessions(2).build(),
        Scenario::sustained().rate(12.5).max_in_flight(6).duration(secs(90)).build(),
        Scenario::sustained().think_time(ThinkTime::fixed(secs(1))).build(),
        Scenario::sustained()
            .stage(stage(Level::Concurrent(4), Shape::Linear))
            .stage(stage(Level::Concurrent(2), Shape::Step))
            .build(),
        Scenario::sustained()
            .stage(stage(rate(5.0), Shape::Step))
            .stage(stage(rate(8.0), Shape::Linear))
            .max_in_flight(7)
            .build(),
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

/// The key that a section is refused for; nothing where it is fit to run.
fn refused(section: &str) -> Option<String> {
    let config: ScenarioConfig = toml::from_str(section).unwrap();
    let name = config.name.unwrap();
    let kind = match name.kind(&config, &Thresholds::default()) {
        Ok(kind) => kind,
        Err(error) => return Some(error.key.to_string()),
    };
    kind.settings().check().err().map(|error| error.key.to_string())
}

#[test]
fn the_least_is_taken_and_less_is_not() {
    for (name, key, least, less) in [
        ("cold_start", "iterations", "2", "1"),
        ("cold_start", "iterations", "2", "0"),
        ("sustained", "concurrent", "1", "0"),
        ("sustained", "duration", "'1ms'", "'0s'"),
        ("sustained", "rate_limit", "1", "0"),
        ("deadlock_probe", "concurrent", "1", "0"),
        ("deadlock_probe", "hang_threshold", "'1ms'", "'0s'"),
        ("race_check", "concurrent", "2", "1"),
        ("race_check", "rounds", "1", "0"),
        ("slow_mix", "concurrent", "2", "1"),
        ("slow_mix", "duration", "'1ms'", "'0s'"),
        ("slow_mix", "slow_share", "0.01", "0.0"),
        ("slow_mix", "slow_share", "0.99", "1.0"),
        ("reconnect", "concurrent", "1", "0"),
        ("reconnect", "drops", "1", "0"),
        ("fuzzer", "iterations", "1", "0"),
        ("fuzzer", "payloads", "['unknown_method']", "[]"),
        ("fuzzer", "duration", "'1ms'", "'0s'"),
        ("capacity", "hold", "'1ms'", "'0s'"),
        ("capacity", "precision", "0.005", "0.004"),
        ("capacity", "precision", "0.5", "0.51"),
        ("capacity", "max_in_flight", "1", "0"),
        ("soak", "concurrent", "1", "0"),
        ("soak", "latency_drift_ms_per_sec", "0.0", "-0.1"),
        ("soak", "latency_drift_ms_per_sec", "0.0", "nan"),
        ("pattern", "concurrent", "1", "0"),
        ("pattern", "duration", "'1ms'", "'0s'"),
        ("ramp", "ramp_from", "1", "0"),
        ("ramp", "duration", "'1ms'", "'0s'"),
        ("ramp", "ramp_step", "1", "0"),
        ("ramp", "ramp_to", "2", "1"),
        ("spike", "spike_multiplier", "1.1", "1.0"),
        ("spike", "spike_at", "'1ms'", "'0s'"),
        ("spike", "spike_duration", "'1ms'", "'0s'"),
    ] {
        let section = |value: &str| format!("type = '{name}'\n{key} = {value}\n");
        assert_eq!(refused(&section(least)), None, "{name} {key} = {least}");
        let told = refused(&section(less));
        assert_eq!(told, Some(format!("[scenario] {key}")), "{name} {key} = {less}");
    }
}

#[test]
fn a_soak_that_cannot_tell_whether_memory_leaks_says_so_before_it_runs() {
    let caution = |duration: Duration, interval: Duration| {
        let scenario = Scenario::soak().duration(duration).sample_interval(interval).build();
        let ScenarioKind::Soak(soak) = scenario.kind else { panic!("{:?}", scenario.kind) };
        soak.caution()
    };
    // A quarter is warm-up, or thirty seconds: twelve samples remain, or eleven.
    let ms = Duration::from_millis;
    for (duration, longest) in [(ms(16_000), ms(1_000)), (ms(150_000), ms(10_000))] {
        assert_eq!(caution(duration, longest), None);
        let told = caution(duration, longest + ms(1)).expect("too few");
        assert!(told.ends_with(&format!("use {}s or less", longest.as_secs())), "{told}");
    }
    let short = Scenario::soak().duration(ms(60_000)).build();
    let ScenarioKind::Soak(short) = short.kind else { panic!("{:?}", short.kind) };
    assert_eq!(short.caution(), None, "a short soak looks more often by itself");
}

#[test]
fn settings_that_do_not_go_together_are_refused() {
    for (section, key) in [
        ("type = 'sustained'\nrate = '5/s'\nconcurrent = 2", "concurrent"),
        ("type = 'sustained'\nmax_in_flight = 2", "max_in_flight"),
        ("type = 'sustained'\nrate = '5/s'\nrate_limit = 2", "rate_limit"),
        ("type = 'sustained'\nrate = '5/s'\nthink_time = '1s'", "think_time"),
        ("type = 'sustained'\nrate = '0/s'", "rate"),
        ("type = 'sustained'\nrate = '5/s'\nmax_in_flight = 0", "max_in_flight"),
        ("type = 'soak'\nrate = '5/s'\nconcurrent = 2", "concurrent"),
        ("type = 'soak'\nmax_in_flight = 2", "max_in_flight"),
        ("type = 'soak'\nduration = '2s'\nleak_check_interval = '1s'", "leak_check_interval"),
        ("type = 'soak'\nduration = '20s'\nleak_check_interval = '10s'", "leak_check_interval"),
        ("type = 'soak'\nrate = '0/s'", "rate"),
        ("type = 'pattern'\nrate = '0/s'", "rate"),
        ("type = 'ramp'\nramp_from = 1\nramp_to = '5/s'", "ramp_to"),
        ("type = 'ramp'\nramp_from = '1/s'\nmax_in_flight = 0", "max_in_flight"),
        ("type = 'spike'\nduration = '8s'\nspike_at = '5s'\nspike_duration = '3s'", "duration"),
        ("type = 'capacity'\nrate_from = '50/s'\nrate_to = '50/s'", "rate_to"),
        ("type = 'slow_mix'\nslow_args = {a = 1}", "slow_args"),
    ] {
        assert_eq!(refused(section), Some(format!("[scenario] {key}")), "{section}");
    }
    for section in [
        "type = 'sustained'\nrate = '5/s'\nmax_in_flight = 1",
        "type = 'soak'\nduration = '3s'\nleak_check_interval = '1s'",
        "type = 'soak'\nduration = '3s'\nleak_check_interval = '500ms'",
        "type = 'soak'\nduration = '4s'",
        "type = 'cold_start'\niterations = 1\nwarmup = false",
        "type = 'pattern'\ntool = 'a'",
        "type = 'spike'\nduration = '8001ms'\nspike_at = '5s'\nspike_duration = '3s'",
        "type = 'slow_mix'\nslow_tool = 'a'\nslow_args = {a = 1}",
    ] {
        assert_eq!(refused(section), None, "{section}");
    }
    let sequence = |step: &str| {
        format!("type = 'pattern'\n[[sequence]]\nname = 'a'\n[[sequence.steps]]\n{step}")
    };
    for (step, key) in [
        ("tool = ' '", "tool"),
        ("method = 'tools/call'", "method"),
        ("method = 'ping'\nargs = {a = 1}", "args"),
        ("", "tool"),
        ("tool = 'a'\nmethod = 'ping'", "method"),
    ] {
        let told = refused(&sequence(step));
        assert_eq!(told, Some(format!("[scenario] sequence[0].steps[0].{key}")), "{step}");
    }
    assert_eq!(refused(&sequence("tool = 'a'\nargs = {a = 1}")), None);
    assert_eq!(refused(&sequence("method = 'ping'")), None);
}

#[test]
fn sequences_have_a_weight_and_bring_their_own_tools() {
    let steps = "[[sequence.steps]]\ntool = 'a'";
    let with = |before: &str, weight: &str| {
        format!("type = 'pattern'\n{before}\n[[sequence]]\nname = 'a'\n{weight}\n{steps}")
    };
    for weight in ["0.01", "5.0"] {
        assert_eq!(refused(&with("", &format!("weight = {weight}"))), None, "{weight}");
    }
    for weight in ["0.0", "-1.0", "inf", "nan"] {
        let told = refused(&with("", &format!("weight = {weight}")));
        assert_eq!(told.as_deref(), Some("[scenario] sequence[0].weight"), "{weight}");
    }
    for (before, key) in [
        ("pattern = 'read_then_write'", "pattern"),
        ("tool = 'a'", "tool"),
        ("[[tool_call]]\nname = 'a'", "tool_call"),
    ] {
        let told = refused(&with(before, ""));
        assert_eq!(told, Some(format!("[scenario] {key}")), "{before}");
    }
}

#[test]
fn stages_say_by_themselves_how_long_and_how_much() {
    let stage = "[[stage]]\nduration = '1s'\nload = 5";
    let with = |setting: &str| format!("type = 'sustained'\n{setting}\n{stage}");
    assert_eq!(refused(&with("")), None);
    assert_eq!(refused(&with("think_time = '1s'")), None);
    for (setting, key) in [
        ("duration = '5s'", "duration"),
        ("concurrent = 5", "concurrent"),
        ("rate = '5/s'", "rate"),
        ("max_in_flight = 5", "max_in_flight"),
    ] {
        assert_eq!(refused(&with(setting)), Some(format!("[scenario] {key}")), "{setting}");
    }
}

#[test]
fn keys_belong_to_scenarios() {
    for (name, key, has, is_deaf) in [
        (ScenarioName::Sustained, "rate", true, false),
        (ScenarioName::Sustained, "iterations", false, false),
        (ScenarioName::Fuzzer, "timeout", false, true),
        (ScenarioName::Fuzzer, "iterations", true, false),
    ] {
        assert_eq!((name.has(key), name.is_deaf_to(key)), (has, is_deaf), "{name} {key}");
    }
}
