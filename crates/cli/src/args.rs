//! The command line.

use clap::{Parser, Subcommand};

use crate::{
    commands::{
        agent, audit, compare, completions, deadlock_probe, demo, doctor, example_config, gateway,
        list_scenarios, llm, man, mock, negative_path, probe, proxy, replay, report, run, runs,
        schema, serve, test,
    },
    env::Color,
    version::VERSION,
};

/// Find out how an MCP stack breaks, before its users do.
#[derive(Debug, Parser)]
#[command(
    name = "mcp-loadtest",
    version = VERSION.as_str(),
    about,
    after_help = "\
Examples:
  mcp-loadtest demo
  mcp-loadtest probe -s \"python -m my_mcp\"
  mcp-loadtest deadlock-probe -s \"npx -y my-mcp\" --tool search
  mcp-loadtest run --url http://127.0.0.1:3000/mcp --concurrent 50 --duration 30s --tool echo
  mcp-loadtest run --config bench.toml
  mcp-loadtest compare ./runs/BASE ./runs/CURRENT

Exit codes: 0 pass (warnings may stand), 1 a gate failed or a bug was found, 2 bad usage or configuration or the server
could not be started or reached, 130 interrupted. `proxy -- CMD` and `llm -- CMD` end with the code of CMD.",
    after_long_help = "\
Examples:
  mcp-loadtest demo
  mcp-loadtest probe -s \"python -m my_mcp\"
  mcp-loadtest deadlock-probe -s \"npx -y my-mcp\" --tool search
  mcp-loadtest run --url http://127.0.0.1:3000/mcp --concurrent 50 --duration 30s --tool echo
  mcp-loadtest run --config bench.toml
  mcp-loadtest compare ./runs/BASE ./runs/CURRENT

Exit codes:
  0    everything asked for was done; no gate failed and no bug was found (warnings may stand)
  1    a gate failed or a bug was found; of doctor: something that it looked at does not work
  2    bad usage or configuration, or the server could not be started or reached
  130  interrupted; what had been measured was written
`proxy -- CMD` and `llm -- CMD` end with the code of CMD, `--fault crash:N` ends mock and proxy with N, and
what serves until Ctrl-C (mock, proxy, serve, llm) ends with 0 then."
)]
pub(crate) struct Cli {
    /// When to use colours.
    #[arg(long, value_enum, default_value_t, global = true, value_name = "WHEN")]
    pub(crate) color: Color,
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// See a deadlock caught and a healthy server measured, with no set-up.
    Demo(demo::DemoArgs),
    /// Look whether everything is there that a test needs, and say what to do where it is not.
    Doctor(Box<doctor::DoctorArgs>),
    /// Quick health check: handshake, tool list, one call per tool that only reads.
    Probe(probe::ProbeArgs),
    /// Call tools with what they must refuse: does the server refuse it, and live on?
    NegativePath(Box<negative_path::NegativePathArgs>),
    /// Release many calls at once and find out whether the server deadlocks.
    DeadlockProbe(deadlock_probe::DeadlockProbeArgs),
    /// Run a scenario, from flags or from a configuration file.
    Run(Box<run::RunArgs>),
    /// Carry out suites: tests of tools, resources, prompts, agents that meet faults, and loads.
    Test(Box<test::TestArgs>),
    /// Give an agent of your own a task and a server that fails, and judge what it does.
    Agent(Box<agent::AgentArgs>),
    /// Send a saved case of the fuzzer again and tell whether it still shows.
    Replay(Box<replay::ReplayArgs>),
    /// Tell a saved run again, or judge it anew from its trace.
    Report(report::ReportArgs),
    /// Tell whether one run is worse than another, for sure and by more than is allowed.
    Compare(compare::CompareArgs),
    /// List the runs of a directory, the latest first.
    Runs(runs::RunsArgs),
    /// Read the log of messages that a mock or a proxy has written.
    Audit(Box<audit::AuditArgs>),
    /// List the scenarios.
    ListScenarios(list_scenarios::ListScenariosArgs),
    /// Print a commented example configuration.
    ExampleConfig(example_config::ExampleConfigArgs),
    /// Print a JSON Schema: of the configuration or of an output file.
    Schema(schema::SchemaArgs),
    /// Be an MCP server: healthy, or failing as you say.
    Mock(mock::MockArgs),
    /// Be the API of a model: OpenAI, Anthropic or Gemini, failing as you say.
    Llm(Box<llm::LlmArgs>),
    /// Stand between a client and a server, and let things go wrong.
    Proxy(proxy::ProxyArgs),
    /// Check whatever sits between clients and servers: what does it keep, what does it break?
    Gateway(Box<gateway::GatewayArgs>),
    /// Be an MCP server whose tools are these tests, for agents.
    Serve(Box<serve::ServeArgs>),
    /// Print shell completions.
    Completions(completions::CompletionsArgs),
    /// Write the manual pages.
    Man(man::ManArgs),
}
