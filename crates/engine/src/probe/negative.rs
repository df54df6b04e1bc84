//! What the checks of the negative path share: every tool whose control call went well is called
//! with arguments that its schema forbids, and must refuse them.

use std::time::Duration;

use mcp_loadtest_core::{
    check::{
        CaseResult, CaseVerdict, Depth,
        contract::{BadCall, Refusal, deviation, speaks_of_an_error},
        negative::{BadCase, Made, Subject},
    },
    outcome::ErrorCategory,
};
use mcp_loadtest_wire::session::{Deadlines, How, Session, Target};
use serde_json::Value;

use super::{
    asking::Pulse,
    bench::{Bench, KnownTool, Settings},
    checks::{Check, oversized},
    seen::Seen,
};

/// Makes the cases of one check.
pub(crate) type Make = fn(&Subject<'_>, &Settings) -> Made;

/// A tool that leaves so many cases of one check without an answer is not asked again by it.
const MOST_LOST: usize = 3;

/// Where it is written that bad arguments must not be taken.
const VALIDATE: &str = "MCP, server/tools, security: servers MUST validate all tool inputs";

/// A tool that takes its time gets as many cases as take so long together.
const TIME_PER_TOOL: Duration = Duration::from_secs(10);

/// From here on a tool counts as slow.
const SLOW: Duration = Duration::from_secs(1);

/// Tries what `make` makes of every tool. `nothing` says why there may be nothing to try.
pub(crate) async fn try_tools(bench: &Bench, check: &Check, make: Make, nothing: &str) {
    if bench.subjects().next().is_none() {
        return bench.skip(check, "no tool answered its control call");
    }
    let mut tried = false;
    for (known, good) in bench.known_subjects() {
        tried |= try_tool(bench, check, known, good, make).await;
    }
    if !tried {
        bench.skip(check, nothing);
    }
}

/// Gives whether there was anything to try.
async fn try_tool(
    bench: &Bench,
    check: &Check,
    known: &KnownTool,
    good: &Value,
    make: Make,
) -> bool {
    let schema = &known.tool.input_schema;
    let made = match Subject::new(schema, good) {
        Ok(subject) => make(&subject, &bench.settings),
        Err(why) => {
            let case = check.case("all", CaseVerdict::CouldNotTell).detail(why);
            bench.tell(case.tool(&known.tool.name));
            return true;
        }
    };
    let (mut tried, mut lost) = (0, 0);
    for case in made.chosen(share(bench, known)).filter(|case| is_worth_it(bench, known, case)) {
        let session = match bench.session().await {
            Ok(session) => session,
            Err(error) => {
                bench.no_session(check, &error);
                break;
            }
        };
        let result = try_case(bench, check, known, case, &session).await;
        tried += 1;
        lost += usize::from(!matches!(
            result.verdict,
            CaseVerdict::Rejected | CaseVerdict::Accepted | CaseVerdict::Held | CaseVerdict::Broken
        ));
        bench.tell(result);
        if lost == MOST_LOST {
            break;
        }
    }
    tell_coverage(bench, check, known, &made, tried, lost);
    made.places > 0
}

/// How many cases of one check a tool gets: fewer where there are many tools, or where they are
/// slow, so that a probe ends in time.
fn share(bench: &Bench, known: &KnownTool) -> usize {
    let tools = bench.subjects().count().max(1);
    let most = bench.settings.cases_per_tool;
    let most = match bench.settings.depth {
        Depth::Quick => most.min((40 / tools).max(2)),
        Depth::Usual => most.min((120 / tools).max(2)),
        Depth::Deep => most,
    };
    let in_time = TIME_PER_TOOL.as_secs_f64() / took(known).as_secs_f64().max(1e-3);
    most.min((in_time as usize).max(1))
}

/// What a slow tool may take is left to those who have the time: it would be carried out in full.
fn is_worth_it(bench: &Bench, known: &KnownTool, case: &BadCase) -> bool {
    case.forbidden || bench.settings.depth == Depth::Deep || took(known) < SLOW
}

fn took(known: &KnownTool) -> Duration {
    let took = known.control.took_ms.unwrap_or_default() / 1e3;
    Duration::try_from_secs_f64(took).unwrap_or_default()
}

async fn try_case(
    bench: &Bench,
    check: &Check,
    known: &KnownTool,
    case: &BadCase,
    session: &Session,
) -> CaseResult {
    let (mut seen, pulse) = bench.call(session, &known.tool, &case.arguments).await;
    if matches!((&seen, &pulse), (Seen::Silent { .. }, Pulse::Alive)) {
        seen = ask_again(bench, known, case, session).await;
    }
    if matches!(pulse, Pulse::Silent) {
        bench.drop_shared().await;
    }
    let result = match &seen {
        Seen::Gone(cause)
            if cause.category == ErrorCategory::Disconnected
                && check.id == oversized::CHECK.id
                && !matches!(bench.target, Target::Stdio(_))
                && bench.session().await.is_ok() =>
        {
            // A server that is reached by address may hang up on what is too large for it.
            let refused = check.case(&case.label, CaseVerdict::Rejected);
            refused.severity(mcp_loadtest_core::report::Severity::Info)
        }
        _ => judge(bench, check, known, case, &seen, &pulse),
    };
    let result = if result.detail.is_empty() { result.detail(seen.words()) } else { result };
    result.tool(&known.tool.name).sent(case.arguments.to_string().as_bytes())
}

/// The server lives, but this call got no answer. Before that is called a hang it is waited for
/// once more, and longer.
async fn ask_again(bench: &Bench, known: &KnownTool, case: &BadCase, session: &Session) -> Seen {
    let tool = &known.tool;
    let request = session.prepare_tool_call(&tool.name, &case.arguments, &tool.input_schema);
    let timeout = bench.settings.hang_timeout + bench.settings.grace_period;
    let deadlines = Deadlines { hang: Duration::MAX, grace: Duration::MAX, timeout };
    let reply = session.call(&request, How { deadlines, ..bench.how() }).await;
    Seen::of_reply(&reply, session.broken())
}

fn judge(
    bench: &Bench,
    check: &Check,
    known: &KnownTool,
    case: &BadCase,
    seen: &Seen,
    pulse: &Pulse,
) -> CaseResult {
    let told = |verdict| check.case(&case.label, verdict);
    match (seen, pulse) {
        (Seen::Gone(_), _) => told(CaseVerdict::Crashed),
        (_, Pulse::Gone(cause)) => told(CaseVerdict::Crashed).detail(cause.message.to_string()),
        (_, Pulse::Silent) => told(CaseVerdict::Hung),
        (Seen::Silent { .. }, Pulse::Alive) if took(known) * 2 >= bench.settings.hang_timeout => {
            let why = format!(
                "no answer, but good arguments take {:.1} s too",
                took(known).as_secs_f64()
            );
            told(CaseVerdict::CouldNotTell).detail(why)
        }
        (Seen::Silent { .. }, Pulse::Alive) => told(CaseVerdict::Hung),
        (Seen::Garbled { .. }, _) => told(CaseVerdict::Broken),
        _ if !case.forbidden => told(CaseVerdict::Held),
        _ => match refusal(seen) {
            Some(how) => {
                classed(bench, told(CaseVerdict::Rejected), BadCall::InvalidArguments, how)
            }
            None => told(CaseVerdict::Accepted).severity(case.if_taken).reference(VALIDATE),
        },
    }
}

/// How a call was refused, if it was.
pub(crate) fn refusal(seen: &Seen) -> Option<Refusal> {
    match seen {
        Seen::ToolError { .. } => Some(Refusal::ToolError),
        // A status of HTTP takes the place of a code where there was no message.
        Seen::Refused { code: code @ 100..=599, .. } => Some(Refusal::Status(*code as u16)),
        Seen::Refused { code, .. } => Some(Refusal::ProtocolError(*code)),
        Seen::Status { status, .. } => Some(Refusal::Status(*status)),
        Seen::Taken { result, .. } if speaks_of_an_error(result) => Some(Refusal::InWords),
        Seen::Taken { .. } | Seen::Garbled { .. } | Seen::Silent { .. } | Seen::Gone(_) => None,
    }
}

/// Adds what the revision says about the way in which a call was refused.
pub(crate) fn classed(
    bench: &Bench,
    result: CaseResult,
    call: BadCall,
    how: Refusal,
) -> CaseResult {
    match deviation(bench.revision, call, how) {
        Some(wrong) => result.severity(wrong.severity).reference(wrong.reference),
        None => result,
    }
}

/// Says what was not tried.
fn tell_coverage(
    bench: &Bench,
    check: &Check,
    known: &KnownTool,
    made: &Made,
    tried: usize,
    lost: usize,
) {
    if tried == made.places {
        return;
    }
    let mut why = format!("{tried} of {} places in the schema were tried", made.places);
    if made.dropped > 0 {
        why.push_str(&format!("; in {} nothing was found that the schema forbids", made.dropped));
    }
    if lost == MOST_LOST && tried < made.cases.len() {
        why.push_str(&format!("; no more after {lost} cases without an answer"));
    }
    let rest = check.case("the rest", CaseVerdict::Skipped);
    bench.tell(rest.detail(why).tool(&known.tool.name));
}
