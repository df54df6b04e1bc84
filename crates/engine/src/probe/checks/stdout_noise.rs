//! Lines on stdout that are no messages.

use std::{cell::RefCell, rc::Rc};

use mcp_loadtest_core::{
    check::{CaseResult, CaseVerdict, Depth, Family},
    event::{Event, note},
    mcp::Tool,
    report::Severity,
};
use mcp_loadtest_wire::{
    session::{OpenError, Options, Session, Target},
    sink::Sink,
};
use serde_json::Value;

use super::{Check, Running};
use crate::probe::{bench::Bench, report::ToolVerdict, seen::Seen};

pub(super) static CHECK: Check = Check {
    id: "stdout_noise",
    family: Family::Resources,
    taxonomy: None,
    depth: Depth::Usual,
    about: "listens for lines on stdout that are no messages, from the start to the end",
    meaning: "clients of other makes may stop at such a line, or take the server for broken",
    run,
};

const REFERENCE: &str = "MCP transports, stdio: the server must not write anything to its stdout \
                         that is not a valid message";

/// So many tools are listened to.
const MOST_TOOLS: usize = 8;
/// Slower tools are left out.
const QUICK_MS: f64 = 500.0;

/// What was heard and not told yet.
#[derive(Default)]
struct Noise(RefCell<Vec<String>>);

impl Sink for Noise {
    fn emit(&self, event: &Event<'_>) {
        if let Event::Scenario { name, detail, .. } = event
            && name == note::FRAME_DEFECT
        {
            self.0.borrow_mut().push(detail.to_string());
        }
    }
}

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        if !matches!(bench.target, Target::Stdio(_)) {
            return bench.skip(&CHECK, "only over stdio does stdout carry messages");
        }
        let noise = Rc::new(Noise::default());
        if let Err(error) = listen(bench, &noise).await {
            bench.no_session(&CHECK, &error);
        }
    })
}

async fn listen(bench: &Bench, noise: &Rc<Noise>) -> Result<(), OpenError> {
    let options = Options { sink: noise.clone(), ..bench.options.clone() };
    let session = bench.fresh_with(&options).await?;
    bench.tell(noise.judged(CHECK.case("at the start", CaseVerdict::Held), None));
    for (tool, arguments) in quick_tools(bench) {
        let request = session.prepare_tool_call(&tool.name, arguments, &tool.input_schema);
        let reply = session.call(&request, bench.how()).await;
        let seen = Seen::of_reply(&reply, session.broken());
        let verdict = match seen {
            Seen::Gone(_) => CaseVerdict::Crashed,
            Seen::Silent { .. } => CaseVerdict::CouldNotTell,
            _ => CaseVerdict::Held,
        };
        let case = CHECK.case("while it is called", verdict).tool(&tool.name);
        let case = if verdict == CaseVerdict::Held { case } else { case.detail(seen.words()) };
        bench.tell(noise.judged(case, Some(&seen)));
        if session.is_broken() {
            break;
        }
    }
    end(bench, session, noise).await;
    Ok(())
}

/// A tool that only complains of made-up arguments may print as well.
fn quick_tools(bench: &Bench) -> impl Iterator<Item = (&Tool, &Value)> {
    let answered = |verdict| {
        matches!(verdict, ToolVerdict::Ok | ToolVerdict::ToolError | ToolVerdict::Refused)
    };
    let quick = bench.tools.iter().filter(move |known| {
        let control = &known.control;
        answered(control.verdict) && control.took_ms.is_some_and(|took| took < QUICK_MS)
    });
    quick
        .filter_map(|known| Some((&known.tool, known.control.arguments.as_ref()?)))
        .take(MOST_TOOLS)
}

async fn end(bench: &Bench, session: Session, noise: &Noise) {
    session.close().await;
    bench.tell(noise.judged(CHECK.case("at the end", CaseVerdict::Held), None));
}

impl Noise {
    /// What was heard since the last time, and whether the call was answered all the same.
    fn judged(&self, silent: CaseResult, seen: Option<&Seen>) -> CaseResult {
        let heard = self.0.take();
        let Some(first) = heard.first().filter(|_| !silent.fails()) else { return silent };
        let answered = match seen {
            Some(seen) if seen.is_answer() => "; the call was answered all the same",
            Some(_) => "; the call was not answered",
            None => "",
        };
        let detail = match heard.len() {
            1 => format!("one line: {first}{answered}"),
            count => format!("{count} lines, the first: {first}{answered}"),
        };
        CaseResult { verdict: CaseVerdict::Broken, ..silent }
            .severity(Severity::Warning)
            .detail(detail)
            .reference(REFERENCE)
    }
}
