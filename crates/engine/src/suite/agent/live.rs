//! An agent of its own: a program that is given real servers with real faults, in real time.

use std::{
    fs::OpenOptions,
    io::{self, Write as _},
    path::{Path, PathBuf},
    pin::pin,
    time::Duration,
};

use mcp_loadtest_core::{
    fault::{Fault, FaultConfig},
    llm::Provider,
    seed::Seed,
    server::InheritEnv,
    suite::{
        AgentTest, ModelSource, TestResult,
        recovery::{StopReason, is_non_idempotent, observe},
    },
};
use mcp_loadtest_wire::process::{Launch, Patience, ServerProcess};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    time::{Instant, timeout, timeout_at},
};
use ulid::Ulid;

use super::{
    super::{
        choose::Case,
        desk::Desk,
        stand::{StartedLlm, Watched},
    },
    broken,
    judge::{Seen, canned, judge},
};

/// The longest answer that is taken.
const LONGEST_ANSWER: u64 = 1 << 20;
/// How long what an agent leaves behind may take to end.
const WRITING_DOWN: Duration = Duration::from_secs(2);
/// How long the rest of its output may take once it has ended: a child of its may hold it open for ever.
const LAST_OUTPUT: Duration = Duration::from_secs(3);
/// The longest part of its last words that is shown.
const LAST_WORDS: usize = 300;

/// What an agent is given, for as long as this is kept.
struct Surroundings {
    servers: Vec<(String, Box<dyn Watched>)>,
    llm: Option<StartedLlm>,
    config: PathBuf,
}

/// How a program ended.
struct Ended {
    answer: String,
    stop: StopReason,
    exit_code: Option<i32>,
    last_words: String,
    took: Duration,
}

/// Gives the task once.
pub(super) async fn carry_out(
    desk: &Desk,
    case: Case,
    number: u32,
    mut result: TestResult,
) -> TestResult {
    let agent = &desk.suites[case.suite].suite.agents[case.index];
    let surroundings = match surround(desk, case, number).await {
        Ok(surroundings) => surroundings,
        Err(why) => return broken(result, why),
    };
    let zero = Instant::now();
    let ended = match run(desk, agent, &surroundings).await {
        Ok(ended) => ended,
        Err(why) => return broken(result, why),
    };
    let Surroundings { servers, config, .. } = surroundings;
    // A file that cannot be removed harms nobody.
    let _ = std::fs::remove_file(config);
    let mut calls = Vec::new();
    for (name, watched) in servers {
        match watched.end(zero).await {
            Ok(seen) => {
                calls.extend(seen.into_iter().map(|mut call| {
                    call.server.clone_from(&name);
                    call
                }));
            }
            Err(why) => return broken(result, why),
        }
    }
    let took_ms = u64::try_from(ended.took.as_millis()).unwrap_or(u64::MAX);
    let once = once_only(desk, case);
    let (trajectory, mut live) = observe(calls, ended.answer, ended.stop, took_ms, &once);
    live.exit_code = ended.exit_code;
    if ended.exit_code != Some(0) && !ended.last_words.is_empty() {
        result.reason = format!("the agent's last words: {}", ended.last_words);
    }
    let seen = Seen { trajectory, live: Some(live), non_idempotent: once };
    judge(desk, case, seen, took_ms as f64, &mut result);
    result
}

/// The tools that must not be called twice.
fn once_only(desk: &Desk, case: Case) -> Vec<String> {
    let loaded = &desk.suites[case.suite];
    let agent = &loaded.suite.agents[case.index];
    let written = agent.recovery.as_ref().map(|recovery| recovery.non_idempotent.0.clone());
    written.filter(|tools| !tools.is_empty()).unwrap_or_else(|| {
        let tools = agent.servers.iter().flat_map(|server| canned(loaded, server));
        let tools = tools.filter(|tool| is_non_idempotent(tool.annotations.as_ref()));
        tools.map(|tool| tool.name).collect()
    })
}

/// Starts the servers with their faults, and the model where one is wanted.
async fn surround(desk: &Desk, case: Case, number: u32) -> Result<Surroundings, String> {
    let loaded = &desk.suites[case.suite];
    let agent = &loaded.suite.agents[case.index];
    let seed = Seed(desk.settings.seed.0.wrapping_add(u64::from(number)));
    let mut servers = Vec::new();
    for name in &agent.servers {
        let faults = agent.inject.iter().filter_map(|fault| loaded.suite.fault(fault));
        let faults = faults.filter_map(|fault| aimed_at(fault, name)).collect();
        let entry = loaded.suite.servers.0.get(name).and_then(|entry| entry.mock.clone());
        let watched = match (entry, loaded.servers.get(name)) {
            (None, Some(server)) => desk.stand.proxied(server, faults, seed).await?,
            (entry, _) => {
                let entry = entry.unwrap_or_default();
                desk.stand.watched(&entry, faults, seed, &loaded.dir).await?
            }
        };
        servers.push((name.clone(), watched));
    }
    let model = agent
        .model
        .as_ref()
        .and_then(|name| loaded.suite.models.iter().find(|model| model.name == *name));
    let llm = match model.map(|model| model.source()) {
        Some(Ok(ModelSource::Fixtures(file, _))) => {
            Some(desk.stand.fixtures(&loaded.dir.join(file)).await?)
        }
        _ => None,
    };
    let config = desk.settings.scratch.join(format!("mcp-loadtest-{}.json", Ulid::generate()));
    let entries = servers.iter().map(|(name, watched)| (name.clone(), watched.entry()));
    let document = json!({ "mcpServers": entries.collect::<serde_json::Map<_, _>>() });
    write_for_us(&config, &format!("{document:#}\n"))
        .map_err(|error| format!("cannot write {}: {error}", config.display()))?;
    Ok(Surroundings { servers, llm, config })
}

/// What a server is given in confidence stands in it, so nobody else may read it.
fn write_for_us(path: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(text.as_bytes())
}

/// The fault as the server sees it that it is aimed at; it has no other name there.
fn aimed_at(fault: &Fault, server: &str) -> Option<Fault> {
    if fault.selector().server.as_ref().is_some_and(|other| other != server) {
        return None;
    }
    let mut config = FaultConfig::from(fault.clone());
    config.target.server = None;
    Fault::try_from(config).ok()
}

fn launch(desk: &Desk, agent: &AgentTest, around: &Surroundings) -> Launch {
    let (program, args) = agent
        .command
        .split_first()
        .map_or(("", &[][..]), |(program, args)| (program.as_str(), args));
    let mut launch = Launch::new(program);
    launch.args = args.to_vec();
    // An agent is the user's own program: it may need whatever the user has set.
    launch.inherit_env = InheritEnv::All;
    let mut set = |name: &str, value: String| launch.env.insert(name.to_owned(), value);
    set("MCP_LOADTEST_PROMPT", agent.prompt.clone());
    set("MCP_LOADTEST_MCP_CONFIG", around.config.display().to_string());
    if let Some(url) = around.servers.first().and_then(|(_, first)| first.url()) {
        set("MCP_LOADTEST_SERVER_URL", url.to_owned());
    }
    if let Some(llm) = &around.llm {
        for provider in [Provider::Anthropic, Provider::Openai, Provider::Gemini] {
            let home = mcp_loadtest_core::agent::dialect::home(provider);
            // SDKs of OpenAI bring no version along, the others do.
            let path = if provider == Provider::Openai { "/v1" } else { "" };
            set(home.base_url_env, format!("{}{path}", llm.url));
            set(home.key_env, "none".into());
        }
    }
    launch.env.extend(agent.env.clone());
    launch.keep_secrets();
    launch.working_dir = Some(desk.settings.agents_in.clone()).filter(|dir| dir.is_dir());
    launch
}

async fn run(desk: &Desk, agent: &AgentTest, around: &Surroundings) -> Result<Ended, String> {
    let began = Instant::now();
    let mut process = ServerProcess::spawn(&launch(desk, agent, around))
        .map_err(|error| format!("the agent could not be started: {error}"))?;
    let (stdin, stdout) = (process.take_stdin(), process.take_stdout());
    let mut said = Vec::new();
    let (exit, took) = {
        let mut telling = pin!(async {
            if let Some(mut stdin) = stdin {
                // Whoever does not read the task there has it in the environment.
                let _ = stdin.write_all(agent.prompt.as_bytes()).await;
            }
        });
        let mut hearing = pin!(async {
            if let Some(mut stdout) = stdout {
                let _ = (&mut stdout).take(LONGEST_ANSWER).read_to_end(&mut said).await;
                // Whoever has more to say must not die of a pipe that nobody reads any longer.
                let _ = tokio::io::copy(&mut stdout, &mut tokio::io::sink()).await;
            }
        });
        let (mut is_told, mut is_heard) = (false, false);
        let ended = async {
            loop {
                tokio::select! {
                    exit = process.wait() => break exit,
                    () = &mut telling, if !is_told => is_told = true,
                    () = &mut hearing, if !is_heard => is_heard = true,
                }
            }
        };
        let exit = timeout_at(began + agent.time_budget(), ended).await;
        let took = began.elapsed();
        if exit.is_ok() && !is_heard {
            let _ = timeout(LAST_OUTPUT, hearing).await;
        }
        (exit, took)
    };
    let stop = if exit.is_ok() { StopReason::Completed } else { StopReason::TimeBudget };
    let exit_code = exit.ok().and_then(|exit| exit.code);
    let tail = process.stderr_tail();
    let lines = mcp_loadtest_core::display::visible_lines(&tail, 3, LAST_WORDS);
    // A proxy that the agent started writes down what it knows before it ends.
    process.stop(Patience { eof: Duration::ZERO, term: WRITING_DOWN, settle: WRITING_DOWN }).await;
    Ok(Ended {
        answer: String::from_utf8_lossy(&said).trim().to_owned(),
        stop,
        exit_code,
        last_words: lines.join(" | "),
        took,
    })
}
