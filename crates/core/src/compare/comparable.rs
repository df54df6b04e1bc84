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
    &["hang_threshold", "grace_period", "leak_check_interval", "latency_drift_ms_per_sec"];

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
