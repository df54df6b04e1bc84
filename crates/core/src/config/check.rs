//! The one place where values are judged: what is too small, too large, or makes no sense together.
//!
//! The rules hold for what is described in code as well as for what is read from a file; a runner
//! calls [`all`] before it starts anything.

use std::time::Duration;

use super::{error::ConfigError, path::KeyPath};
use crate::{
    mcp::Era,
    scenario::{Scenario, ScenarioKind, ToolCall},
    secrets::{MASK, is_masked_argument, is_masked_url, masked_url},
    server::{ProtocolChoice, Server, Transport},
    thresholds::{NO_LIMIT, NO_MINIMUM, NO_TIME_LIMIT, Thresholds},
};

/// Judges everything that a run is made of.
pub fn all(
    server: &Server,
    scenario: &Scenario,
    thresholds: &Thresholds,
) -> Result<(), ConfigError> {
    self::server(server)?;
    self::scenario(scenario)?;
    self::thresholds(thresholds)?;
    search_has_a_goal(scenario, thresholds)?;
    memory_can_be_measured(server, thresholds)
}

/// Judges a server.
pub fn server(server: &Server) -> Result<(), ConfigError> {
    if server.is_started() {
        command(server)?;
    }
    if let Some(url) = server.transport.url() {
        address(url, &server.transport)?;
        unmasked(!is_masked_url(url), "server.url".into(), "--url …")?;
        let mut headers = server.transport.headers().into_iter().flatten();
        headers.try_for_each(|(name, value)| {
            header(name, value)?;
            unmasked(
                value != MASK,
                KeyPath::from("server.headers").key(name),
                &format!("--header '{name}: …'"),
            )
        })?;
    }
    legacy_over_sse(server)?;
    refuse(server.pid == Some(0), "server.pid", "is no number of a process")?;
    let known = server.pid.is_some() && server.is_started();
    refuse(known, "server.pid", "a server that is started is known")?;
    refuse(
        server.startup_timeout.is_zero(),
        "server.startup_timeout",
        "leaves the server no time to start",
    )
}

fn command(server: &Server) -> Result<(), ConfigError> {
    refuse(server.command.trim().is_empty(), "server.command", "is empty")?;
    let broken = |text: &str| text.contains('\0');
    refuse(broken(&server.command), "server.command", "holds a NUL character")?;
    refuse(server.args.iter().any(|arg| broken(arg)), "server.args", "hold a NUL character")?;
    for (name, value) in &server.env {
        let key = KeyPath::from("server.env").key(name);
        refuse(
            name.is_empty() || name.contains(['=', '\0']),
            key.clone(),
            "is no name for a variable",
        )?;
        refuse(broken(value), key.clone(), "holds a NUL character")?;
        unmasked(value != MASK && !is_masked_url(value), key, &format!("--env {name}=…"))?;
    }
    if let Some(at) = is_masked_argument(&server.args) {
        let key = KeyPath::from("server.args").index(at);
        unmasked(false, key, &format!("-s '{} …'", server.command))?;
    }
    Ok(())
}

/// The files of a run have a mask where a secret was; a server would be given the mask.
fn unmasked(is_there: bool, key: KeyPath, flag: &str) -> Result<(), ConfigError> {
    if is_there {
        return Ok(());
    }
    let error = ConfigError::new(key, format!("is `{MASK}`: the secret was kept out of the file"));
    Err(error.with_hint(format!("give it again: `{flag}`")))
}

/// The transport is older than the modern era, which knows neither sessions nor such a stream.
fn legacy_over_sse(server: &Server) -> Result<(), ConfigError> {
    let ProtocolChoice::Fixed(revision) = server.protocol else { return Ok(()) };
    let modern = revision.era() == Era::Modern;
    if modern && matches!(server.transport, Transport::Sse { .. }) {
        let message = format!("{revision} is not spoken over `sse`, only revisions before it");
        let error = ConfigError::new("server.protocol", message);
        return Err(error.with_hint("use `auto`, or reach the server over `http`"));
    }
    Ok(())
}

fn address(url: &str, transport: &Transport) -> Result<(), ConfigError> {
    let (plain, secure, what, example) = match transport {
        Transport::WebSocket { .. } => {
            ("ws://", "wss://", "a WebSocket address", "ws://127.0.0.1:8000/ws")
        }
        Transport::Sse { .. } => {
            ("http://", "https://", "an http address", "http://127.0.0.1:8000/sse")
        }
        _ => ("http://", "https://", "an http address", "http://127.0.0.1:8000/mcp"),
    };
    let rest = url.strip_prefix(plain).or_else(|| url.strip_prefix(secure));
    let host = rest.map(|rest| rest.split(['/', '?', '#']).next().unwrap_or_default());
    let host_is_missing = host.is_none_or(|host| host.is_empty() || host.starts_with(':'));
    let unreadable = url.chars().any(|c| c.is_whitespace() || c.is_control());
    if host_is_missing || unreadable {
        let error = ConfigError::new(
            "server.url",
            format!("`{}` is not {what}", masked_url(url).escape_debug()),
        );
        return Err(error.with_hint(format!("write it in full, for example `{example}`")));
    }
    Ok(())
}

/// Whatever could end the header and begin another would let a value rewrite the request.
fn header(name: &str, value: &str) -> Result<(), ConfigError> {
    let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    let key = KeyPath::from("server.headers").key(name);
    let bad_name = name.is_empty() || !name.chars().all(token);
    refuse(bad_name, key.clone(), "is no name for a header")?;
    let control = |c: char| c.is_control() && c != '\t';
    refuse(value.chars().any(control), key, "holds a control character")
}

/// Judges a scenario.
pub fn scenario(scenario: &Scenario) -> Result<(), ConfigError> {
    scenario.kind.settings().check()?;
    let concurrent = scenario.kind.concurrent();
    refuse(concurrent > MOST_CONCURRENT, "scenario.concurrent", TOO_MANY)?;
    refuse(scenario.sessions == Some(0), "scenario.sessions", AT_LEAST_ONE)?;
    if let Some(sessions) = scenario.sessions.filter(|sessions| *sessions > concurrent) {
        let message =
            format!("{sessions} sessions for {concurrent} concurrent calls would leave some idle");
        return Err(ConfigError::new("scenario.sessions", message));
    }
    refuse(
        scenario.timeout == Some(Duration::ZERO),
        "scenario.timeout",
        "gives up every call at once",
    )?;
    // A TOML integer has a sign; a seed beyond it could not be saved with the run.
    refuse(i64::try_from(scenario.seed.0).is_err(), "scenario.seed", "must be below 2^63")?;
    scenario.tool_calls.iter().enumerate().try_for_each(|(index, call)| tool_call(index, call))
}

const AT_LEAST_ONE: &str = "must be at least 1";

/// Each call in flight costs a few kilobytes and, over HTTP, a connection.
pub const MOST_CONCURRENT: u32 = 100_000;
const TOO_MANY: &str = "must be at most 100000: one machine cannot hold more calls in flight";

fn tool_call(index: usize, call: &ToolCall) -> Result<(), ConfigError> {
    let key = KeyPath::from("scenario.tool_call").index(index);
    refuse(call.name.trim().is_empty(), key.key("name"), "is empty")?;
    refuse(!call.args.is_object(), key.key("args"), "must be a JSON object")?;
    let usable = call.weight.is_finite() && call.weight > 0.0;
    refuse(!usable, key.key("weight"), format!("must be a number above 0, not {}", call.weight))
}

/// Judges the thresholds.
pub fn thresholds(limits: &Thresholds) -> Result<(), ConfigError> {
    limits_at(limits, &KeyPath::from("thresholds"))?;
    for (index, tool) in limits.tool.iter().enumerate() {
        let key = KeyPath::from("thresholds.tool").index(index);
        refuse(tool.name.trim().is_empty(), key.key("name"), "is empty")?;
        let twice = limits.tool[..index].iter().any(|other| other.name == tool.name);
        refuse(twice, key.key("name"), "this tool has its limits above already")?;
        limits_at(&tool.as_thresholds(), &key)?;
        let none = tool.as_thresholds() == Thresholds::default();
        refuse(none, key, "limits nothing")?;
    }
    Ok(())
}

/// Judges the limits of all calls, or of one tool, that stand under `at`.
fn limits_at(limits: &Thresholds, at: &KeyPath) -> Result<(), ConfigError> {
    let latencies = [
        ("p50_latency", limits.p50_latency),
        ("p95_latency", limits.p95_latency),
        ("p99_latency", limits.p99_latency),
        ("p999_latency", limits.p999_latency),
    ];
    for (name, limit) in latencies {
        refuse(limit.is_zero(), at.key(name), "no call answers in 0s")?;
    }
    ascending(&latencies, at)?;
    let minimum = limits.min_rps;
    let usable = minimum.is_finite() && minimum >= 0.0;
    refuse(!usable, at.key("min_rps"), "must be 0 or more")?;
    refuse(limits.hang_timeout.is_zero(), at.key("hang_timeout"), "must be longer than 0s")?;
    let rate = limits.error_rate;
    if rate != NO_LIMIT && !(0.0..=1.0).contains(&rate) {
        let error = ConfigError::new(
            at.key("error_rate"),
            format!("must be a fraction from 0 to 1, not {rate}"),
        );
        return Err(error.with_hint("write 0.05 for 5 %"));
    }
    let growth = limits.memory_growth_mb;
    refuse(growth.is_nan() || growth < 0.0, at.key("memory_growth_mb"), "must be 0 or more")
}

/// A higher percentile is never faster than a lower one, so a lower limit on it makes the other
/// limit meaningless; most likely the two were swapped.
fn ascending(latencies: &[(&str, Duration)], at: &KeyPath) -> Result<(), ConfigError> {
    let set: Vec<_> = latencies.iter().filter(|(_, limit)| *limit != NO_TIME_LIMIT).collect();
    for pair in set.windows(2) {
        let ((lower, smaller), (higher, larger)) = (pair[0], pair[1]);
        if smaller > larger {
            let message = format!("is above `{higher}`, which can never be faster");
            return Err(ConfigError::new(at.key(*lower), message));
        }
    }
    Ok(())
}

fn memory_can_be_measured(server: &Server, limits: &Thresholds) -> Result<(), ConfigError> {
    let unmeasured = limits.memory_growth_mb != NO_LIMIT && !server.has_known_process();
    let message = "needs a server whose process is known: the memory of another cannot be seen";
    refuse(unmeasured, "thresholds.memory_growth_mb", message)
        .map_err(|error| error.with_hint("say which it is with `pid`, or start it with `command`"))
}

/// A search for the highest rate that keeps the thresholds needs some that a trial can be judged by.
fn search_has_a_goal(scenario: &Scenario, limits: &Thresholds) -> Result<(), ConfigError> {
    if !matches!(scenario.kind, ScenarioKind::Capacity(_)) {
        return Ok(());
    }
    search_chooses_its_rate(limits)?;
    let is_goal = |limits: &Thresholds| {
        let times = limits.latencies().iter().any(|(_, _, limit)| *limit != NO_TIME_LIMIT);
        times || limits.error_rate != NO_LIMIT
    };
    let goal = is_goal(limits) || limits.tool.iter().any(|tool| is_goal(&tool.as_thresholds()));
    refuse(!goal, "thresholds", "`capacity` needs a limit on time or errors to search for")
        .map_err(|error| error.with_hint("set `p99_latency` or `error_rate`"))?;
    let message = "`capacity` goes beyond its limits on purpose, so it cannot end on one";
    refuse(scenario.abort_on_fail, "scenario.abort_on_fail", message)
}

/// No trial is asked for more than its own rate, so a lowest one would be judged nowhere.
fn search_chooses_its_rate(limits: &Thresholds) -> Result<(), ConfigError> {
    let chosen = |minimum: f64, at: KeyPath| {
        let message = "`capacity` chooses the rate itself, so none can be asked for";
        refuse(minimum != NO_MINIMUM, at.key("min_rps"), message)
            .map_err(|error| error.with_hint("leave it out, and see which rate the search finds"))
    };
    chosen(limits.min_rps, KeyPath::from("thresholds"))?;
    let mut tools = limits.tool.iter().enumerate();
    tools.try_for_each(|(index, tool)| {
        chosen(tool.min_rps, KeyPath::from("thresholds.tool").index(index))
    })
}

fn refuse(
    wrong: bool,
    key: impl Into<KeyPath>,
    message: impl Into<String>,
) -> Result<(), ConfigError> {
    if wrong { Err(ConfigError::new(key, message)) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
