//! Carries a run out, from the first byte to the report.

use std::{
    path::{Path, PathBuf},
    rc::Rc,
    time::Duration,
};

use mcp_loadtest_core::{
    display::visible,
    event::{Event, note},
    mcp::Revision,
    report::{RunInfo, ServerInfo},
    server::{ProtocolChoice, Server},
    tally::Tally,
};
use mcp_loadtest_wire::{
    session::{Hello, Options, Session, ToolListing, find_revision},
    sink::Sink as _,
    torture::{Deed, strike},
};
use tokio::{
    runtime::{self, Runtime},
    task::LocalSet,
};

use crate::{
    context::{Blueprint, Context},
    coverage,
    error::RunError,
    load::watch_thresholds,
    plan::{Plan, PlannedCall},
    sampler::keep_sampling,
    scenario::{self, Stage},
    wall_clock::Identity,
};

/// Name of the note that lets a trace tell whose it is.
pub(crate) const RUN_STARTED: &str = "run_started";
/// Name of the note that says who was tested.
pub(crate) const SERVER_INFO: &str = "server_info";
/// Name of the note that closes a trace.
pub(crate) const RUN_FINISHED: &str = "run_finished";

/// Runs a future that uses `spawn_local`, in a runtime of its own on this thread.
pub(crate) fn on_local_runtime<T>(future: impl Future<Output = T>) -> Result<T, RunError> {
    let runtime = local_runtime()?;
    Ok(LocalSet::new().block_on(&runtime, future))
}

/// A runtime for this thread alone.
pub(crate) fn local_runtime() -> Result<Runtime, RunError> {
    let runtime = strike(Deed::Create, "a runtime")
        .and_then(|()| runtime::Builder::new_current_thread().enable_all().build());
    runtime.map_err(|error| RunError::Internal(format!("no runtime for a thread: {error}")))
}

/// What a run leaves behind in memory.
pub(crate) struct Conducted {
    pub(crate) tally: Tally,
    pub(crate) server_info: ServerInfo,
    pub(crate) duration: Duration,
}

/// Carries the scenario out on this thread.
pub(crate) fn conduct(blueprint: Blueprint, identity: &Identity) -> Result<Conducted, RunError> {
    on_local_runtime(async {
        let context = Context::new(blueprint, Revision::NEWEST_LEGACY, 0);
        let context = started(context, identity);
        let (recorder, clock) = (context.recorder.clone(), context.blueprint.clock);
        let running = perform(context, identity);
        let conducted = tokio::select! {
            conducted = running => conducted,
            () = recorder.keep_flushing() => Err(RunError::Internal("the recorder ended".into())),
        };
        if let Err(error) = &conducted {
            // The directory of the run then says why there is no report.
            let interrupted = matches!(error, RunError::Interrupted);
            let name = if interrupted { note::INTERRUPTED } else { note::ABORTED };
            recorder.emit(&Event::note(clock.now(), name, error.to_string()));
            recorder.finish();
        }
        conducted
    })?
}

fn started(context: Context, identity: &Identity) -> Context {
    let detail = serde_json::json!({
        "run_id": identity.run_id,
        "started_at": identity.started_at,
        "version": env!("CARGO_PKG_VERSION"),
        "trace_version": mcp_loadtest_core::trace::VERSION,
    });
    context.note(RUN_STARTED, detail.to_string());
    context
}

async fn perform(context: Context, identity: &Identity) -> Result<Conducted, RunError> {
    let stop = context.stop().clone();
    let (stage, server_info) = tokio::select! {
        staged = set_up(context) => staged?,
        () = stop.stopped() => return Err(RunError::Interrupted),
    };
    let context = stage.context.clone();
    if let Some(onlooker) = &context.blueprint.onlooker {
        let info = begun(&context.blueprint, identity, &server_info);
        onlooker.begin(info, context.blueprint.clock);
    }
    let entry = scenario::entry(context.blueprint.scenario.kind.name());
    let driven = tokio::select! {
        driven = (entry.drive)(stage) => driven?,
        () = keep_sampling(&context) => Vec::new(),
        () = watch_thresholds(&context) => Vec::new(),
    };
    context.note_interruption();
    // The note and the report name the same moment, so that the trace gives the same duration.
    let duration = context.now();
    context.recorder.emit(&Event::note(duration, RUN_FINISHED, ""));
    let mut tally = context.recorder.finish();
    for other in driven {
        tally.merge(other);
    }
    Ok(Conducted { tally, server_info, duration })
}

/// From nothing to an open session whose calls are known.
async fn set_up(mut context: Context) -> Result<(Stage, ServerInfo), RunError> {
    // A server that is reached by address need not be started twice to be asked twice.
    let held = context.blueprint.target.hold(&context.options(0)).await?;
    context.revision = revision(&context).await?;
    let context = Rc::new(context);
    let (session, hello) = context.open(0).await?;
    drop(held);
    let listing = list_tools(&context, &session).await?;
    let planned = plan(&context, &listing);
    let mut server_info = server_info(&context.blueprint.server, &hello, &listing);
    if let Ok(plan) = &planned {
        let seed = context.blueprint.scenario.seed;
        server_info.keywords = coverage::of_keywords(plan, &listing.tools, seed);
    }
    context.note(SERVER_INFO, serde_json::to_string(&server_info).unwrap_or_default());
    match planned {
        Ok(plan) => {
            note_plan(&context, &plan);
            Ok((Stage { context, session, plan }, server_info))
        }
        Err(error) => {
            context.close(session).await;
            Err(error)
        }
    }
}

fn plan(context: &Context, listing: &ToolListing) -> Result<Plan, RunError> {
    let blueprint = &context.blueprint;
    let plan = Plan::make(&blueprint.scenario, &listing.tools, &blueprint.files)?;
    if blueprint.only_reading {
        plan.must_only_read(&listing.tools)?;
    }
    for limits in &blueprint.thresholds.tool {
        plan.must_call(&limits.name)?;
    }
    Ok(plan)
}

fn note_plan(context: &Context, plan: &Plan) {
    for call in &plan.calls {
        let (name, told) = match call {
            PlannedCall::Method(method) => (note::PLANNED_CALL, method.clone()),
            PlannedCall::Tool { tool, arguments, generated, .. } => {
                let name = if *generated { note::MADE_UP_CALL } else { note::PLANNED_CALL };
                (name, format!("{tool} {}", arguments.shown()))
            }
        };
        context.note(name, visible(&told, 300));
    }
}

async fn revision(context: &Context) -> Result<Revision, RunError> {
    choose_revision(&context.blueprint.server, &context.blueprint.target, &context.options(0)).await
}

/// The revision that was asked for, or the one that the server is found to speak.
pub(crate) async fn choose_revision(
    server: &Server,
    target: &mcp_loadtest_wire::session::Target,
    options: &Options,
) -> Result<Revision, RunError> {
    match server.protocol {
        ProtocolChoice::Fixed(revision) => Ok(revision),
        ProtocolChoice::Auto => Ok(find_revision(target, options).await?.revision),
    }
}

async fn list_tools(context: &Context, session: &Session) -> Result<ToolListing, RunError> {
    let limit = context.blueprint.server.startup_timeout;
    let listed = session.list_tools(limit).await;
    listed.map_err(|reply| RunError::ToolsList(reply.message))
}

/// Names of tools that are kept.
const MOST_NAMES: usize = 1000;

/// Who was tested, as far as it told.
pub(crate) fn server_info(server: &Server, hello: &Hello, listing: &ToolListing) -> ServerInfo {
    ServerInfo {
        target: server.to_string(),
        transport: server.transport.name().to_owned(),
        name: hello.name.clone(),
        version: hello.version.clone(),
        era: Some(hello.era),
        revision: Some(hello.revision),
        tools: u32::try_from(listing.tools.len()).ok(),
        keywords: None,
        tool_names: listing.tools.iter().take(MOST_NAMES).map(|tool| tool.name.clone()).collect(),
    }
}

/// What is known of a run when its session is open.
fn begun(blueprint: &Blueprint, identity: &Identity, server_info: &ServerInfo) -> RunInfo {
    RunInfo {
        run_id: identity.run_id.clone(),
        started_at: identity.started_at,
        duration: Duration::ZERO,
        scenario: blueprint.scenario.clone(),
        thresholds: blueprint.thresholds.clone(),
        server_info: server_info.clone(),
        trace: blueprint.trace_mode,
        trace_path: PathBuf::new(),
        trace_bytes: 0,
        run_dir: blueprint.run_dir().map(Path::to_owned),
    }
}

/// How large a file is; nothing where there is none.
pub(crate) fn size_of(file: &Path) -> u64 {
    file.metadata().map_or(0, |file| file.len())
}

/// What the report needs besides the tally.
pub(crate) fn run_info(
    blueprint: &Blueprint,
    identity: &Identity,
    conducted: &Conducted,
    trace_path: PathBuf,
    run_dir: Option<PathBuf>,
) -> RunInfo {
    RunInfo {
        duration: conducted.duration,
        trace_bytes: size_of(&trace_path),
        trace_path,
        run_dir,
        ..begun(blueprint, identity, &conducted.server_info)
    }
}
