//! The client that the official conformance suite drives: a [`Session`] and nothing clever on top.
//!
//! The suite starts a server, runs this with the URL as the last argument and watches the wire. So
//! that it has something to watch, everything that the server offers is listed and then used: tools
//! all at once, with generated arguments unless the scenario hands some over; resources and prompts
//! one by one. Exit code 0: the server answered, well or with a refusal.
//!
//! `crates/wire/tests/it/conformance.rs` runs all scenarios; by hand, one of them is
//! `conformance client --command target/debug/examples/conformance_client --scenario tools_call`.

use std::{
    env,
    error::Error,
    io::{self, Write as _},
    process::ExitCode,
    rc::Rc,
    time::Duration,
};

use mcp_loadtest_core::{
    generate,
    mcp::{Revision, Tool},
    outcome::ErrorCategory,
    seed::Seed,
};
use mcp_loadtest_wire::{
    clock::Clock,
    session::{Address, Hello, How, Options, Prepared, Reply, Session, Target, ToolListing},
    sink::Nowhere,
};
use serde_json::{Value, json};
use tokio::task::{JoinSet, LocalSet};

type Failure = Box<dyn Error>;

/// What no answer may take longer than; the suite itself gives up after 30 s.
const LIMIT: Duration = Duration::from_secs(10);

/// The one scenario that wants arguments which neither a schema nor the suite's context describes:
/// the echo tool is to be given the schema of the other tool, as it was received.
const SCHEMA_ECHO: (&str, &str) = ("json-schema-2020-12-preservation", "json_schema_echo");

/// What the suite asks for.
struct Order {
    url: String,
    revision: Revision,
    scenario: String,
    /// The calls that the scenario wants, each with `name` and `arguments`.
    tool_calls: Vec<Value>,
}

impl Order {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is a program of its own, and the suite speaks through variables"
    )]
    fn from_environment() -> Result<Self, Failure> {
        let url = env::args().next_back().filter(|argument| argument.starts_with("http"));
        let context: Value = match env::var("MCP_CONFORMANCE_CONTEXT") {
            Ok(text) => serde_json::from_str(&text)?,
            Err(_) => Value::Null,
        };
        Ok(Self {
            url: url.ok_or("the last argument must be the URL of the server")?,
            revision: match env::var("MCP_CONFORMANCE_PROTOCOL_VERSION") {
                Ok(date) => date.parse()?,
                Err(_) => Revision::NEWEST_LEGACY,
            },
            scenario: env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default(),
            tool_calls: context["toolCalls"].as_array().cloned().unwrap_or_default(),
        })
    }

    /// The tool calls to make: those that are asked for, or one of each tool.
    fn calls<'a>(&self, listing: &'a ToolListing) -> Result<Vec<(&'a Tool, Value)>, Failure> {
        if self.tool_calls.is_empty() {
            let calls = listing.tools.iter().map(|tool| Ok((tool, self.arguments(tool, listing)?)));
            return calls.collect();
        }
        let calls = self.tool_calls.iter().map(|call| {
            let tool = listing.tools.iter().find(|tool| call["name"] == tool.name);
            let tool = tool.ok_or_else(|| format!("the tool {} is not offered", call["name"]))?;
            Ok((tool, call["arguments"].clone()))
        });
        calls.collect()
    }

    fn arguments(&self, tool: &Tool, listing: &ToolListing) -> Result<Value, Failure> {
        if (self.scenario.as_str(), tool.name.as_str()) == SCHEMA_ECHO {
            let other = listing.tools.iter().find(|other| other.name != tool.name);
            return Ok(json!({ "schema": other.ok_or("there is no other tool")?.input_schema }));
        }
        let budget = generate::Budget::default();
        Ok(generate::arguments(&tool.input_schema, &mut Seed::default().dice(0), &budget)?)
    }
}

fn main() -> ExitCode {
    let done = Order::from_environment().and_then(|order| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        LocalSet::new().block_on(&runtime, carry_out(&order))
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            say(&format!("failed: {failure}"));
            ExitCode::FAILURE
        }
    }
}

async fn carry_out(order: &Order) -> Result<(), Failure> {
    let target = Target::Http(Address::new(&order.url));
    let mut options = Options::new(Rc::new(Nowhere), Clock::start());
    options.startup_timeout = LIMIT;
    let (session, hello) = Session::open(&target, &options, order.revision).await?;
    say(&format!("open: {} {}", hello.revision, hello.capabilities));
    let used = use_everything(&session, &hello, order).await;
    session.close().await;
    used
}

async fn use_everything(session: &Session, hello: &Hello, order: &Order) -> Result<(), Failure> {
    let listing = session.list_tools(LIMIT).await.map_err(|reply| reply.message)?;
    for (name, why) in &listing.refused {
        say(&format!("refused: {name}: {why}"));
    }
    call_at_once(session, &order.calls(&listing)?).await?;
    for kind in [&RESOURCES, &PROMPTS] {
        if hello.capabilities.get(kind.capability).is_some() {
            use_listed(session, kind).await?;
        }
    }
    Ok(())
}

/// Makes all calls at the same time, as a load test would.
async fn call_at_once(session: &Session, calls: &[(&Tool, Value)]) -> Result<(), Failure> {
    let mut running = JoinSet::new();
    for (tool, arguments) in calls {
        let request = session.prepare_tool_call(&tool.name, arguments, &tool.input_schema);
        let session = session.clone();
        running.spawn_local(async move {
            ask(&session, &request).await.map_err(|failure| failure.to_string())
        });
    }
    while let Some(ended) = running.join_next().await {
        ended??;
    }
    Ok(())
}

/// Something that a server lists and then gives out by name.
struct Kind {
    capability: &'static str,
    list: &'static str,
    get: &'static str,
    key: &'static str,
}

const RESOURCES: Kind =
    Kind { capability: "resources", list: "resources/list", get: "resources/read", key: "uri" };
const PROMPTS: Kind =
    Kind { capability: "prompts", list: "prompts/list", get: "prompts/get", key: "name" };

async fn use_listed(session: &Session, kind: &Kind) -> Result<(), Failure> {
    let listed = ask(session, &session.prepare(kind.list, json!({}))).await?;
    for entry in listed[kind.capability].as_array().into_iter().flatten() {
        ask(session, &session.prepare(kind.get, json!({ kind.key: entry[kind.key] }))).await?;
    }
    Ok(())
}

/// Sends one request. A refusal is an answer; silence, a broken stream and nonsense are not.
async fn ask(session: &Session, request: &Rc<Prepared>) -> Result<Value, Failure> {
    let reply = session.call(request, How::setup(LIMIT)).await;
    let what = request.tool().unwrap_or(request.method());
    say(&format!("{what}: {:?} {}", reply.outcome, reply.message));
    if is_answer(&reply) {
        Ok(reply.json().unwrap_or_default())
    } else {
        Err(format!("{what}: {}", reply.message).into())
    }
}

fn is_answer(reply: &Reply) -> bool {
    match reply.failure() {
        None | Some(ErrorCategory::ToolError) => true,
        // JSON-RPC codes are negative, HTTP statuses are not.
        Some(ErrorCategory::ServerError | ErrorCategory::ProtocolError) => {
            reply.code.is_some_and(|code| code < 0)
        }
        Some(_) => false,
    }
}

/// The suite keeps what its client says beside the checks.
fn say(line: &str) {
    // Nobody may be listening, which is no reason to stop.
    let _ = writeln!(io::stdout(), "{line}");
}
