//! The flags that describe a scenario, and how they correct a file.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use mcp_loadtest_core::{
    arguments::Order,
    config::{Arguments, ConfigError, ScenarioConfig},
    fuzz::Payload,
    pace::{Level, Rate, ThinkTime},
    scenario::{PatternName, ScenarioName},
    seed::Seed,
};

use crate::{error::CliError, server_args::parse_time};

/// What to do.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Scenario")]
pub(crate) struct ScenarioArgs {
    /// Which scenario; `list-scenarios` lists them [default: sustained].
    #[arg(long, value_name = "NAME", value_parser = parse_scenario)]
    pub(crate) scenario: Option<ScenarioName>,
    /// Calls in flight at once (closed model) [default: 10].
    #[arg(long, value_name = "N")]
    pub(crate) concurrent: Option<u32>,
    /// Calls started a second, such as 500/s, whatever becomes of those before (open model).
    #[arg(long, value_name = "RATE", conflicts_with = "concurrent")]
    pub(crate) rate: Option<Rate>,
    /// With --rate: calls in flight at most; what is due beyond that is dropped [default: 10000].
    #[arg(long, value_name = "N")]
    pub(crate) max_in_flight: Option<u32>,
    /// With --concurrent: calls a second at most.
    #[arg(long, value_name = "N")]
    pub(crate) rate_limit: Option<u32>,
    /// With --concurrent: the pause after each reply, such as 200ms or 100ms..500ms.
    #[arg(long, value_name = "TIME")]
    pub(crate) think_time: Option<ThinkTime>,
    /// How long the load lasts.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) duration: Option<Duration>,
    /// How many sessions (processes, or HTTP sessions) the calls are spread over [default: 1].
    #[arg(long, value_name = "N")]
    pub(crate) sessions: Option<u32>,
    /// The tool to call; without it, the first one that only reads.
    #[arg(long, value_name = "TOOL")]
    pub(crate) tool: Option<String>,
    /// The tool's arguments as JSON; without them, made up from its schema where it needs any.
    /// Placeholders such as {{iter}}, {{uuid}}, {{nonce}} or {{random.int 1 100}} are filled in anew
    /// for every call.
    #[arg(long, value_name = "JSON", value_parser = parse_arguments)]
    pub(crate) args: Option<Arguments>,
    /// A CSV or JSONL file of which each call takes a row: as {{row.column}} in --args, or as its
    /// arguments.
    #[arg(long, value_name = "FILE")]
    pub(crate) args_file: Option<PathBuf>,
    /// Which row of --args-file is next: sequential or random [default: sequential].
    #[arg(long, value_name = "ORDER", value_parser = parse_order, requires = "args_file")]
    pub(crate) args_order: Option<Order>,
    /// Make arguments of its own for each call, from the tool's schema.
    #[arg(long, conflicts_with_all = ["args", "args_file"])]
    pub(crate) generate: bool,
    /// ramp: the first step, in calls in flight or as a rate such as 100/s [default: 1].
    #[arg(long, value_name = "LOAD")]
    pub(crate) ramp_from: Option<Level>,
    /// ramp: the last step [default: 100].
    #[arg(long, value_name = "LOAD")]
    pub(crate) ramp_to: Option<Level>,
    /// ramp: how much each step adds [default: a tenth of the way].
    #[arg(long, value_name = "N")]
    pub(crate) ramp_step: Option<f64>,
    /// spike: when the burst begins [default: after a third].
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) spike_at: Option<Duration>,
    /// spike: how long the burst lasts [default: a sixth].
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) spike_duration: Option<Duration>,
    /// spike: how many times as high the load is in the burst [default: 10].
    #[arg(long, value_name = "N")]
    pub(crate) spike_multiplier: Option<f64>,
    /// soak: how often memory is looked at [default: 10s].
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) leak_check_interval: Option<Duration>,
    /// soak: fail when the mean latency grows by more milliseconds a second [default: 0.1].
    #[arg(long, value_name = "MS")]
    pub(crate) latency_drift: Option<f64>,
    /// pattern: explore_then_act or read_then_write [default: explore_then_act].
    #[arg(long, value_name = "NAME", value_parser = parse_pattern)]
    pub(crate) pattern: Option<PatternName>,
    /// race_check: how often the identical calls are released [default: 5].
    #[arg(long, value_name = "N")]
    pub(crate) rounds: Option<u32>,
    /// slow_mix: the slow tool.
    #[arg(long, value_name = "TOOL")]
    pub(crate) slow_tool: Option<String>,
    /// slow_mix: the slow tool's arguments as JSON.
    #[arg(long, value_name = "JSON", value_parser = parse_arguments, requires = "slow_tool")]
    pub(crate) slow_args: Option<Arguments>,
    /// slow_mix: the share of the callers that make slow calls [default: 0.2].
    #[arg(long, value_name = "SHARE")]
    pub(crate) slow_share: Option<f64>,
    /// reconnect: how often the session is cut [default: 10].
    #[arg(long, value_name = "N")]
    pub(crate) drops: Option<u32>,
    /// capacity: the rate of the first trial [default: 10/s].
    #[arg(long, value_name = "RATE")]
    pub(crate) rate_from: Option<Rate>,
    /// capacity: the highest rate that is tried [default: 100000/s].
    #[arg(long, value_name = "RATE")]
    pub(crate) rate_to: Option<Rate>,
    /// capacity: how long each trial lasts [default: 5s].
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) hold: Option<Duration>,
    /// capacity: how closely the answer is narrowed down [default: 0.05].
    #[arg(long, value_name = "SHARE")]
    pub(crate) precision: Option<f64>,
    /// cold_start: how many starts [default: 5]; fuzzer: how many cases [default: 1000].
    #[arg(long, value_name = "N")]
    pub(crate) iterations: Option<u32>,
    /// fuzzer: which kinds of bad input, separated by commas [default: all].
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    pub(crate) payloads: Option<Vec<Payload>>,
    /// cold_start: whether the first start is thrown away [default: true].
    #[arg(long, value_name = "BOOL")]
    pub(crate) warmup: Option<bool>,
    /// deadlock_probe: no reply for this long is a hang [default: 5s].
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) hang_threshold: Option<Duration>,
    /// How much longer a hanging call is waited for before it is a deadlock [default: 10s].
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) grace_period: Option<Duration>,
    /// deadlock_probe: stop at the first deadlock.
    #[arg(long)]
    pub(crate) bail_early: bool,
    /// deadlock_probe: calls one after another once the burst is over [default: 5].
    #[arg(long, value_name = "N")]
    pub(crate) steady_calls: Option<u32>,
    /// Give a call up after this long, whatever the hang threshold is.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) timeout: Option<Duration>,
    /// End the run as soon as a threshold is violated for good.
    #[arg(long)]
    pub(crate) abort_on_fail: bool,
    /// Hold arguments and results against the schemas that the server lists, and fail where they do
    /// not match.
    #[arg(long)]
    pub(crate) strict: bool,
    /// What random choices are derived from.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seed: Option<u64>,
}

fn parse_order(text: &str) -> Result<Order, String> {
    match text {
        "sequential" => Ok(Order::Sequential),
        "random" => Ok(Order::Random),
        _ => Err("use `sequential` or `random`".into()),
    }
}

fn parse_pattern(text: &str) -> Result<PatternName, String> {
    let word = text.replace('-', "_");
    let found = PatternName::ALL.into_iter().find(|name| name.as_str() == word);
    found.ok_or_else(|| {
        format!("use one of {}", PatternName::ALL.map(PatternName::as_str).join(", "))
    })
}

fn parse_scenario(text: &str) -> Result<ScenarioName, String> {
    use mcp_loadtest_core::hint::Hint as _;
    text.parse::<ScenarioName>().map_err(|error| match error.hint() {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    })
}

/// Reads the arguments of a tool.
pub(crate) fn parse_arguments(text: &str) -> Result<Arguments, String> {
    match serde_json::from_str(text) {
        Ok(value @ serde_json::Value::Object(_)) => Ok(Arguments(value)),
        Ok(_) => Err("not a JSON object; write it like '{\"text\":\"hello\"}'".into()),
        Err(error) => Err(format!("not JSON: {error}; write it like '{{\"text\":\"hello\"}}'")),
    }
}

impl ScenarioArgs {
    /// Flags win over the file.
    pub(crate) fn lay_over(&self, config: &mut ScenarioConfig) {
        config.name = self.scenario.or(config.name).or(Some(ScenarioName::Sustained));
        // Either model given by a flag takes the place of the other one in the file.
        if self.rate.is_some() {
            config.concurrent = None;
        } else if self.concurrent.is_some() {
            config.rate = None;
            config.max_in_flight = None;
        }
        if self.rate.is_some() || self.concurrent.is_some() || self.duration.is_some() {
            config.stage.clear();
        }
        config.concurrent = self.concurrent.or(config.concurrent);
        config.rate = self.rate.or(config.rate);
        config.max_in_flight = self.max_in_flight.or(config.max_in_flight);
        config.rate_limit = self.rate_limit.or(config.rate_limit);
        config.think_time = self.think_time.or(config.think_time);
        config.ramp_from = self.ramp_from.or(config.ramp_from);
        config.ramp_to = self.ramp_to.or(config.ramp_to);
        config.ramp_step = self.ramp_step.or(config.ramp_step);
        config.spike_at = self.spike_at.or(config.spike_at);
        config.spike_duration = self.spike_duration.or(config.spike_duration);
        config.spike_multiplier = self.spike_multiplier.or(config.spike_multiplier);
        config.leak_check_interval = self.leak_check_interval.or(config.leak_check_interval);
        config.latency_drift_ms_per_sec = self.latency_drift.or(config.latency_drift_ms_per_sec);
        config.pattern = self.pattern.or(config.pattern);
        config.rounds = self.rounds.or(config.rounds);
        config.slow_tool = self.slow_tool.clone().or(config.slow_tool.take());
        config.slow_args = self.slow_args.clone().or(config.slow_args.take());
        config.slow_share = self.slow_share.or(config.slow_share);
        config.drops = self.drops.or(config.drops);
        config.rate_from = self.rate_from.or(config.rate_from);
        config.rate_to = self.rate_to.or(config.rate_to);
        config.hold = self.hold.or(config.hold);
        config.precision = self.precision.or(config.precision);
        config.abort_on_fail = self.abort_on_fail.then_some(true).or(config.abort_on_fail);
        config.strict = self.strict.then_some(true).or(config.strict);
        config.duration = self.duration.or(config.duration);
        config.sessions = self.sessions.or(config.sessions);
        config.iterations = self.iterations.or(config.iterations);
        config.payloads = self.payloads.clone().or(config.payloads.take());
        config.warmup = self.warmup.or(config.warmup);
        config.hang_threshold = self.hang_threshold.or(config.hang_threshold);
        config.bail_early = self.bail_early.then_some(true).or(config.bail_early);
        config.steady_calls = self.steady_calls.or(config.steady_calls);
        config.timeout = self.timeout.or(config.timeout);
        config.seed = self.seed.map(Seed).or(config.seed);
        if self.tool.is_some() {
            config.tool_call.clear();
        }
        // Arguments that a flag gives take the place of all that the file says of them.
        if self.tool.is_some() || self.args.is_some() || self.args_file.is_some() || self.generate {
            config.args = None;
            config.args_list = None;
            config.args_file = None;
            config.args_order = None;
            config.generate = None;
        }
        config.tool = self.tool.clone().or(config.tool.take());
        config.args = self.args.clone().or(config.args.take());
        config.args_file = self.args_file.clone().or(config.args_file.take());
        config.args_order = self.args_order.or(config.args_order);
        config.generate = self.generate.then_some(true).or(config.generate);
    }

    /// A file may hold the settings of several scenarios; a flag is meant for this one.
    pub(crate) fn refuse_unused(&self, name: Option<ScenarioName>) -> Result<(), CliError> {
        let mut alone = ScenarioConfig::default();
        self.lay_over(&mut alone);
        alone.name = name;
        match alone.unused().into_iter().next() {
            None => Ok(()),
            Some(ConfigError { key, message, hint, .. }) => {
                let flag = key.last_key().unwrap_or_default().replace('_', "-");
                let flag = flag.trim_end_matches("-ms-per-sec");
                Err(CliError::usage(
                    format!("--{flag} {message}"),
                    hint.unwrap_or_else(|| "see `list-scenarios`".into()),
                ))
            }
        }
    }
}
