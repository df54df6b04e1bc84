//! `agent`: one agent of your own, a server that fails as you say, and a verdict.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use mcp_loadtest::{LoadedSuite, SuiteRun};
use mcp_loadtest_core::{
    exit::Exit,
    fault::{Fault, FaultConfig},
    server::shell_word,
    suite::Provider,
    units::format_duration,
};
use serde_json::{Value, json};

use super::{
    explain,
    test::{OutputArgs, tell},
};
use crate::{
    env::Env,
    error::CliError,
    hinted,
    server_args::{parse_some_time, parse_time},
};

/// Arguments of `agent`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcp-loadtest agent --tools-from tools.yml --fault hang@tool=search \\
      --prompt 'Search for the latest incident report.' --evidence INC-7731 -- python my_agent.py
  mcp-loadtest agent --fault recover-after:1 --prompt 'Say hello with echo.' \\
      --fixtures model.yml --max-detection 5s --clean-timeout -- node agent.mjs

The agent has the task on stdin and in MCP_LOADTEST_PROMPT, the server in MCP_LOADTEST_SERVER_URL and in
the file that MCP_LOADTEST_MCP_CONFIG names; with --fixtures, ANTHROPIC_BASE_URL, OPENAI_BASE_URL,
GEMINI_BASE_URL and their keys lead to our mock. Its answer is what it prints.")]
pub(crate) struct AgentArgs {
    /// The task.
    #[arg(long, value_name = "TEXT", required_unless_present = "explain")]
    prompt: Option<String>,
    /// Offer what a YAML or JSON file declares in place of the built-in tools of the mock.
    #[arg(long, value_name = "FILE")]
    tools_from: Option<PathBuf>,
    /// What goes wrong, as for `mock`; may be given more than once.
    #[arg(long, value_name = "FAULT", value_parser = hinted::<Fault>)]
    fault: Vec<Fault>,
    /// Fixtures that our mock of a model's API answers with.
    #[arg(long, value_name = "FILE")]
    fixtures: Option<PathBuf>,
    /// A lost call must be noticed within this time.
    #[arg(long, value_name = "TIME", value_parser = parse_some_time, default_value = "30s", requires = "fault")]
    max_detection: Duration,
    /// The recovery may take this long.
    #[arg(long, value_name = "TIME", value_parser = parse_time, requires = "fault")]
    max_recovery: Option<Duration>,
    /// Fail when a lost call was noticed later than --max-detection.
    #[arg(long, requires = "fault")]
    clean_timeout: bool,
    /// A value that only the healthy tool gives. Repeatable: all of them.
    #[arg(long, value_name = "TEXT", requires = "fault")]
    evidence: Vec<String>,
    /// A tool that may stand in for the one that failed. Repeatable.
    #[arg(long, value_name = "TOOL", requires = "fault")]
    fallback: Vec<String>,
    /// How long the agent may take.
    #[arg(long, value_name = "TIME", value_parser = parse_some_time, default_value = "5m")]
    time_budget: Duration,
    /// How often the task is given; each time must pass.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    #[command(flatten)]
    outputs: OutputArgs,
    /// Print what is done, step by step, and exit.
    #[arg(long)]
    explain: bool,
    /// The agent and its arguments.
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "explain")]
    command: Vec<String>,
}

const EXPLANATION: &str = "\
Algorithm:
  1. Start our own mock over Streamable HTTP with the faults that were asked for, and with --fixtures a
     mock of a model's API.
  2. Start the agent with the server in MCP_LOADTEST_SERVER_URL and in the file that
     MCP_LOADTEST_MCP_CONFIG names, give it the task on stdin and in MCP_LOADTEST_PROMPT, and wait for
     its end or for --time-budget.
  3. Take the marks from the log of the mock: a lost call is noticed when it is cancelled, or else
     when another call comes or with the answer; the recovery is a call after that, which works, or the
     answer.
  4. Give one verdict: recovered, degraded_honestly, gave_up, fabricated, looped, never_engaged or
     not_faulted; the first two and the last pass. docs/design/suites.md says how.
The same as an entry of `agents:` with `command:` in a suite; see `test --explain`.";

/// Runs `agent`.
pub(crate) fn run(args: &AgentArgs, env: &mut Env) -> Result<Exit, CliError> {
    if args.explain {
        return Ok(explain(env, EXPLANATION));
    }
    let text = format!("{:#}", suite(args));
    let suite = LoadedSuite::parse_as_it_is(text, "agent", env.cwd.clone())?;
    let words: Vec<_> = env.args.iter().skip(1).map(|word| word.to_string_lossy()).collect();
    let words: Vec<_> = words.iter().map(|word| shell_word(word)).collect();
    let run = SuiteRun::new(vec![suite]).again(format!("mcp-loadtest {}", words.join(" ")));
    let report = tell(run, &args.outputs, env)?;
    Ok(report.exit())
}

/// The suite that says the same.
fn suite(args: &AgentArgs) -> Value {
    const SERVER: &str = "mock";
    let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let faults: Vec<_> = args
        .fault
        .iter()
        .map(|fault| {
            let mut config = FaultConfig::from(fault.clone());
            config.name = Some(fault.to_string());
            config.target.server = Some(SERVER.into());
            config
        })
        .collect();
    let names: Vec<_> = faults.iter().map(|fault| &fault.name).collect();
    let mut recovery = json!({
        "max_detection_ms": ms(args.max_detection).max(1),
        "require_clean_timeout": args.clean_timeout,
        "evidence": args.evidence,
        "fallback": args.fallback,
    });
    if let Some(most) = args.max_recovery {
        recovery["max_recovery_ms"] = ms(most).into();
    }
    let mut agent = json!({
        "name": args.command.join(" "),
        "command": args.command,
        "servers": [SERVER],
        "inject": names,
        "prompt": args.prompt,
        "runs": args.runs,
        "time_budget": format_duration(args.time_budget),
    });
    // Without a fault there is nothing to recover from: then an answer is enough.
    if !args.fault.is_empty() {
        agent["recovery"] = recovery;
    }
    let mut suite = json!({
        "servers": { SERVER: { "mock": { "tools_from": args.tools_from } } },
        "faults": faults,
        "agents": [agent],
    });
    if let Some(fixtures) = &args.fixtures {
        // All APIs are spoken at the same address; which one is named here makes no difference.
        let provider = Provider::Openai;
        suite["models"] = json!([{ "name": "model", "fixtures": fixtures, "provider": provider }]);
        suite["agents"][0]["model"] = "model".into();
    }
    suite
}
