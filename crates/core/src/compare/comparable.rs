//! Whether two runs can be compared at all.

use serde_json::{Map, Value};

use super::Reason;
use crate::{
    report::{Report, Verdict},
    scenario::{ScenarioKind, ScenarioName},
    units::format_span,
};

/// Settings that change what is concluded, not what is done to the server.
const HARMLESS: &[&str] =
    &["hang_threshold", "grace_period", "sample_interval", "latency_drift_ms_per_sec"];

fn reason(id: &str, message: impl Into<String>) -> Reason {
    Reason { id: id.to_owned(), message: message.into() }
}

/// Why two runs cannot be compared; nothing when they can.
pub fn why_not(base: &Report, current: &Report) -> Vec<Reason> {
    let mut reasons = Vec::new();
    reasons.extend(scenario(&base.scenario_kind, &current.scenario_kind));
    reasons.extend(tools(base, current));
    let transports = (&base.server_info.transport, &current.server_info.transport);
    if transports.0 != transports.1 {
        let message =
            format!("the base was reached over {}, the other over {}", transports.0, transports.1);
        reasons.push(reason("transport", message));
    }
    reasons.extend(unusable("base", base));
    reasons.extend(unusable("current", current));
    reasons
}

/// What to keep in mind about two runs that can be compared.
pub(super) fn notes(base: &Report, current: &Report) -> Vec<String> {
    let mut notes = Vec::new();
    let length = |report: &Report| report.scenario_kind.settings().length();
    if let (Some(was), Some(is)) = (length(base), length(current))
        && was != is
    {
        notes.push(format!("the base lasted {}, the other {}", format_span(was), format_span(is)));
    }
    if base.calls != current.calls && names(base) == names(current) {
        notes.push("the calls do not have the same arguments".into());
    }
    if base.server_info.revision != current.server_info.revision {
        notes.push("another revision of MCP was spoken".into());
    }
    notes
}

/// Why the figures of a run are not those of its server.
pub(super) fn unusable(which: &str, report: &Report) -> Option<Reason> {
    let (id, message) = match () {
        () if report.interrupted => ("interrupted", "was cut short".to_owned()),
        () if report.validity.client_bound => {
            let why = report.validity.reasons.first().map_or("", String::as_str);
            ("client_bound", format!("measured the generator and not the server: {why}"))
        }
        () if report.verdict == Verdict::Invalid => ("invalid", "is not valid".to_owned()),
        () if report.latency.count == 0 => ("nothing_measured", "measured nothing".to_owned()),
        () => return None,
    };
    let which = if which == "base" { "base" } else { "other" };
    Some(reason(id, format!("the {which} run {message}")))
}

/// Another kind of load, or other settings of it.
pub(super) fn scenario(base: &ScenarioKind, current: &ScenarioKind) -> Option<Reason> {
    let names = (base.name(), current.name());
    if names.0 != names.1 {
        let message = format!("the base ran {}, the other {}", names.0, names.1);
        return Some(reason("scenario", message));
    }
    if names.0 == ScenarioName::Capacity {
        let message = "a search chooses its load as it goes, so that figures differ by chance";
        return Some(reason("search", message));
    }
    let (was, is) = (settings(base), settings(current));
    let mut keys: Vec<&String> = was.keys().chain(is.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    let differ = keys.into_iter().filter(|key| was.get(*key) != is.get(*key));
    let text = |value: Option<&Value>| value.map_or("not set".into(), ToString::to_string);
    let differ: Vec<String> = differ
        .map(|key| format!("`{key}` was {} and is {}", text(was.get(key)), text(is.get(key))))
        .collect();
    (!differ.is_empty()).then(|| reason("settings", differ.join(", ")))
}

/// What a scenario does to the server. How long it does so makes no difference where it does the
/// same all the time.
fn settings(kind: &ScenarioKind) -> Map<String, Value> {
    let Ok(Value::Object(mut settings)) = serde_json::to_value(kind) else { return Map::new() };
    settings.retain(|key, _| !HARMLESS.contains(&key.as_str()));
    if matches!(kind.name(), ScenarioName::Sustained | ScenarioName::Soak) {
        settings.remove("duration");
    }
    settings
}

fn names(report: &Report) -> Vec<&str> {
    let called = report.tools.iter().filter(|tool| tool.total_requests > 0);
    let mut names: Vec<&str> = called.map(|tool| tool.name.as_str()).collect();
    names.sort_unstable();
    names
}

/// Other tools. Where the same calls were planned, chance alone left one of them out.
pub(super) fn tools(base: &Report, current: &Report) -> Option<Reason> {
    let (was, is) = (names(base), names(current));
    let planned = !base.calls.is_empty() && base.calls == current.calls;
    if was == is || planned {
        return None;
    }
    let list = |names: &[&str]| if names.is_empty() { "none".into() } else { names.join(", ") };
    let message =
        format!("other tools were called: the base has {}, the other {}", list(&was), list(&is));
    Some(reason("tools", message))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{
        compare::tests::{USUAL, run},
        mcp::Revision,
        scenario::Scenario,
    };

    fn with(change: impl Fn(&mut Report)) -> Report {
        let mut report = run(USUAL);
        change(&mut report);
        report
    }

    fn ids(reasons: &[Reason]) -> Vec<&str> {
        reasons.iter().map(|reason| reason.id.as_str()).collect()
    }

    #[test]
    fn a_run_is_unusable_for_one_reason_that_names_it() {
        for (name, report, told) in [
            ("usable", with(|_| ()), None),
            ("cut", with(|run| run.interrupted = true), Some("was cut short")),
            (
                "busy",
                with(|run| {
                    run.validity.client_bound = true;
                    run.validity.reasons = vec!["late".into(), "more".into()];
                }),
                Some("measured the generator and not the server: late"),
            ),
            ("invalid", with(|run| run.verdict = Verdict::Invalid), Some("is not valid")),
            ("empty", with(|run| run.latency.count = 0), Some("measured nothing")),
            ("failed", with(|run| run.verdict = Verdict::Fail), None),
            (
                "all at once",
                with(|run| {
                    (run.interrupted, run.verdict, run.latency.count) = (true, Verdict::Invalid, 0)
                }),
                Some("was cut short"),
            ),
        ] {
            for (which, word) in [("base", "base"), ("current", "other")] {
                let found = unusable(which, &report).map(|reason| reason.message);
                assert_eq!(found, told.map(|told| format!("the {word} run {told}")), "{name}");
            }
        }
    }

    #[test]
    fn notes_tell_what_differs_without_being_in_the_way() {
        let lasts = |secs| {
            with(|run| {
                let longer = Scenario::sustained().duration(Duration::from_secs(secs));
                run.scenario_kind = Scenario::from(longer).kind;
            })
        };
        let arguments = "the calls do not have the same arguments";
        for (name, base, other, told) in [
            ("alike", lasts(20), lasts(20), vec![]),
            ("longer", lasts(20), lasts(60), vec!["the base lasted 20s, the other 60s"]),
            ("calls", lasts(20), with(|run| run.calls = vec!["echo {}".into()]), vec![arguments]),
            (
                "other tools",
                lasts(20),
                with(|run| {
                    (run.calls, run.tools[0].name) = (vec!["x {}".into()], "x".into());
                }),
                vec![],
            ),
            (
                "revision",
                lasts(20),
                with(|run| run.server_info.revision = Some(Revision::V2025_06_18)),
                vec!["another revision of MCP was spoken"],
            ),
        ] {
            assert_eq!(notes(&base, &other), told, "{name}");
        }
    }

    #[test]
    fn only_settings_that_change_the_load_are_in_the_way() {
        let kind = |scenario: Scenario| scenario.kind;
        let usual = || kind(Scenario::sustained().concurrent(10).into());
        let patient = |secs| {
            kind(Scenario::deadlock_probe().hang_threshold(Duration::from_secs(secs)).into())
        };
        assert_eq!(scenario(&patient(5), &patient(7)), None);
        let soak = |secs| kind(Scenario::soak().duration(Duration::from_secs(secs)).into());
        assert_eq!(scenario(&soak(60), &soak(90)), None);
        let spike = scenario(&usual(), &kind(Scenario::spike().into())).expect("another kind");
        assert_eq!(spike.message, "the base ran sustained, the other spike");
        let search = || kind(Scenario::capacity().into());
        let found = scenario(&search(), &search()).expect("no two searches are alike");
        assert_eq!(found.id, "search");
    }

    #[test]
    fn tools_are_those_that_were_called_unless_the_same_calls_were_planned() {
        let named = |names: &'static [(&str, u64)], calls: &'static [&str]| {
            with(move |run| {
                let one = run.tools[0].clone();
                let tool = |(name, total): &(&str, u64)| crate::report::ToolStats {
                    name: (*name).into(),
                    total_requests: *total,
                    ..one.clone()
                };
                run.tools = names.iter().map(tool).collect();
                run.calls = calls.iter().map(|call| (*call).into()).collect();
            })
        };
        let none = "other tools were called: the base has a, b, the other none";
        for (name, base, other, told) in [
            (
                "in another order",
                named(&[("a", 1), ("b", 1)], &[]),
                named(&[("b", 1), ("a", 1)], &[]),
                None,
            ),
            ("not called", named(&[("a", 1)], &[]), named(&[("a", 1), ("b", 0)], &[]), None),
            (
                "one more",
                named(&[("a", 1)], &[]),
                named(&[("a", 1), ("b", 1)], &[]),
                Some("other tools were called: the base has a, the other a, b"),
            ),
            ("none", named(&[("a", 1), ("b", 1)], &[]), named(&[], &[]), Some(none)),
            (
                "planned alike",
                named(&[("a", 1)], &["a", "b"]),
                named(&[("b", 1)], &["a", "b"]),
                None,
            ),
            (
                "planned otherwise",
                named(&[("a", 1)], &["a"]),
                named(&[("b", 1)], &["b"]),
                Some("other tools were called: the base has a, the other b"),
            ),
        ] {
            assert_eq!(
                tools(&base, &other).map(|reason| reason.message).as_deref(),
                told,
                "{name}"
            );
        }
    }

    #[test]
    fn every_reason_of_both_runs_is_told() {
        let bad = with(|run| {
            run.server_info.transport = "http".into();
            run.interrupted = true;
            run.tools[0].name = "x".into();
            run.scenario_kind = Scenario::from(Scenario::spike()).kind;
        });
        let cut = with(|run| run.interrupted = true);
        let found = why_not(&cut, &bad);
        assert_eq!(ids(&found), ["scenario", "tools", "transport", "interrupted", "interrupted"]);
        assert_eq!(found[2].message, "the base was reached over stdio, the other over http");
        assert_eq!(found[3].message, "the base run was cut short");
        assert_eq!(found[4].message, "the other run was cut short");
        assert_eq!(why_not(&run(USUAL), &run(USUAL)), []);
    }
}
