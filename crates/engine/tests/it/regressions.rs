//! Bugs that we had, each in a test that is named after it.

use std::{collections::BTreeSet, sync::atomic::Ordering, time::Duration};

use mcp_loadtest::{ErrorCategory, Revision, Run, Scenario, Server, Thresholds, Verdict};
use serde_json::Value;
use tempfile::TempDir;

use crate::{
    fixtures::{http_mock, inline_http_mock, inline_mock, mock, verdict},
    processes::{MARK, marked, unique_mark, until},
};

/// What was seen while an earlier call was overdue was taken as evidence for a later one: a server
/// that had answered a `ping` once was never found to be wedged again.
#[tokio::test]
async fn the_evidence_of_an_earlier_hang_does_not_speak_for_a_later_one() {
    let server = inline_mock(
        "
import itertools, time
from _common import echo, serve
calls = itertools.count(1)
def slow_then_wedged(request):
    call = next(calls)
    time.sleep(1 if call == 1 else 3600 if call == 5 else 0)
    return echo(request)
serve(slow_then_wedged)
",
    );
    let patience = Thresholds {
        hang_timeout: Duration::from_millis(300),
        grace_period: Duration::from_secs(5),
        ..Default::default()
    };
    let load = Scenario::sustained().concurrent(1).duration(Duration::from_secs(5)).tool("echo");
    let report = Run::new(server, load).with_thresholds(patience).execute().await.expect("it runs");
    assert!(report.errors.by_category.contains_key(&ErrorCategory::Hang), "{:?}", report.errors);
    assert_eq!(report.deadlock_count, 1);
    let found = report.finding("deadlock").expect("a deadlock");
    assert!(found.message.contains("wedged"), "{found:#?}");
}

/// Calls that are released together and answered one at a time looked like lazy initialisation: the
/// last of 20 takes 20 times as long as one that is alone.
#[tokio::test]
async fn a_server_that_takes_one_call_at_a_time_is_not_lazy() {
    let server = mock("mock-slow").env("MOCK_DELAY_S", "0.1");
    let probe = Scenario::deadlock_probe().concurrent(20).hang_threshold(Duration::from_secs(30));
    let report = Run::new(server, probe.tool("echo")).execute().await.expect("it runs");
    assert!(
        report.tools[0].first_call >= Some(Duration::from_secs(2)),
        "{:?}",
        report.tools[0].first_call
    );
    assert!(report.finding("lazy_init_cliff").is_none(), "{:#?}", report.findings);
    assert_eq!(verdict(&report), Verdict::Pass, "{:#?}", report.findings);
}

/// A start that failed was noted and nowhere told: the run passed on the starts that were left.
#[tokio::test]
async fn a_server_that_does_not_start_every_time_does_not_pass() {
    let dir = TempDir::new().expect("a directory");
    let server = inline_mock(
        "
import os, sys
from _common import serve
starts = open(os.environ['STARTS'], 'a+')
starts.write('x')
starts.flush()
if os.path.getsize(starts.name) == 3:
    sys.exit('the third start fails')
serve()
",
    );
    // The question for the era would be a start of its own.
    let server = server
        .protocol(Revision::V2025_11_25)
        .env("STARTS", dir.path().join("starts").to_str().expect("UTF-8"));
    let starts = Scenario::cold_start().iterations(4).tool("echo");
    let report = Run::new(server, starts).execute().await.expect("it runs");
    assert_eq!(
        (report.verdict, report.throughput.successful_requests),
        (Verdict::Critical, 2),
        "{:#?}",
        report.findings
    );
    let found = report.finding("aborted").expect("it is told");
    assert!(
        found.evidence[0].contains("start 1 failed") && found.evidence[0].contains("exit code 1"),
        "{found:#?}"
    );
}

/// A later start whose list failed passed on its call, and so did a warm-up that was never answered.
#[tokio::test]
async fn a_start_whose_list_fails_and_a_warm_up_that_falls_silent_do_not_pass() {
    let started = async |fault: &str, patience: Thresholds, timeout: Duration| {
        let dir = TempDir::new().expect("a directory");
        let server = inline_mock(
            "
import os
from _common import answer, err, serve_with
starts = open(os.environ['STARTS'], 'a+')
starts.write('x')
starts.flush()
start = os.path.getsize(starts.name)
def respond(message):
    asked = (start, message.get('method'), os.environ['FAULT'])
    if asked == (3, 'tools/list', 'list'):
        return err(message, -32000, 'the index is not there')
    return None if asked == (2, 'tools/call', 'call') else answer(message)
serve_with(respond)
",
        );
        // The question for the era would be a start of its own.
        let server = server
            .protocol(Revision::V2025_11_25)
            .env("FAULT", fault)
            .env("STARTS", dir.path().join("starts").to_str().expect("UTF-8"));
        let starts = Scenario::cold_start().iterations(3).warmup(true).tool("echo");
        let run = Run::new(server, starts.timeout(timeout)).with_thresholds(patience);
        run.execute().await.expect("it runs")
    };
    let long = Duration::from_secs(600);
    let healthy = started("none", Thresholds::default(), long).await;
    assert_eq!(verdict(&healthy), Verdict::Pass, "{:#?}", healthy.findings);
    let brief = Duration::from_millis(300);
    let impatient =
        Thresholds { hang_timeout: brief, grace_period: brief, ..Thresholds::default() };
    for (fault, patience, timeout, told) in [
        ("list", Thresholds::default(), long, "start 1: tools/list failed: the index is not there"),
        ("call", impatient, long, "start 0: Deadlock: "),
        ("call", Thresholds::default(), brief, "start 0: Timeout: "),
    ] {
        let report = started(fault, patience, timeout).await;
        assert_eq!(report.verdict, Verdict::Critical, "{:#?}", report.findings);
        let found = report.finding("aborted").expect("it is told");
        assert!(found.evidence[0].contains(told), "{found:#?}");
    }
}

/// A crashed server was only closed if no other caller still held it; what it had left behind was
/// killed, but not told.
#[tokio::test]
async fn what_a_crashed_server_leaves_behind_is_told() {
    let mark = unique_mark();
    let server = inline_mock(
        "
import itertools, subprocess, sys
from _common import echo, serve
null = subprocess.DEVNULL
subprocess.Popen(['sleep', '600'], stdin=null, stdout=null, stderr=null, start_new_session=True)
calls = itertools.count(1)
serve(lambda request: echo(request) if next(calls) < 20 else sys.exit('crash'))
",
    );
    let load = Scenario::sustained().concurrent(8).duration(Duration::from_secs(1)).tool("echo");
    let report = Run::new(server.env(MARK, &mark), load).execute().await.expect("it runs");
    let crashes = report.errors.by_category.get(&ErrorCategory::Crash).copied().unwrap_or(0);
    assert!(crashes >= 1 && report.throughput.successful_requests > 19, "{:?}", report.errors);
    let times = |id: &str, before: &str| {
        let found =
            report.finding(id).unwrap_or_else(|| panic!("no `{id}`: {:#?}", report.findings));
        let number = found.message.split_once(before).expect("the words before the number").1;
        number.split(' ').next().and_then(|number| number.parse::<u64>().ok()).expect("a number")
    };
    // One stray a process: those that crashed, and the one that was ended.
    let processes = times("server_crash", "the server process ended ");
    assert!(times("stray_process", "") >= processes, "{:#?}", report.findings);
    assert_eq!(marked(&mark), [0; 0]);
}

/// Threads that share an HTTP session used the same ids. Servers that find the caller by its id,
/// such as those on Python's SDK 1.x, answered only one of two, and we called the other a deadlock.
#[tokio::test]
async fn threads_that_share_a_session_do_not_share_ids() {
    let dir = TempDir::new().expect("a directory");
    let listening = http_mock(&[]).await;
    let load = Scenario::sustained().concurrent(8).duration(Duration::from_secs(3)).tool("echo");
    let run =
        Run::new(Server::http(&listening.url), load).with_threads(2).with_output_dir(dir.path());
    let report = run.execute().await.expect("it runs");
    let trace = std::fs::read_to_string(&report.trace_path).expect("the trace");
    let lines = trace.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let requests: Vec<_> = lines.filter(|line| line["kind"] == "request").collect();
    let workers: BTreeSet<_> = requests.iter().map(|line| line["worker"].as_u64()).collect();
    assert_eq!(workers, [Some(0), Some(1)].into());
    let ids: BTreeSet<_> = requests.iter().map(|line| line["request_id"].as_u64()).collect();
    assert_eq!(ids.len(), requests.len(), "an id came twice");
}

/// The thread that was done first ended the HTTP session that the others still used.
#[tokio::test]
async fn a_thread_that_is_done_does_not_end_the_session_of_the_others() {
    // The first thread has the ids below 2^32; its calls are the last to end.
    let listening = inline_http_mock(
        "
import threading, time
from _common import answer, echo, err
from _http import Handler, serve_http
ended = threading.Event()
def echo_unless_ended(request):
    if request['id'] < 2**32:
        time.sleep(1)
    return err(request, -32000, 'the session has ended') if ended.is_set() else echo(request)
class Shared(Handler):
    def do_POST(self):
        message = self.read_message()
        reply = answer(message, echo_unless_ended)
        headers = {'Mcp-Session-Id': 'one'} if message.get('method') == 'initialize' else {}
        self.reply(202 if reply is None else 200, reply, headers)
    def do_DELETE(self):
        ended.set()
        self.reply(200)
    def do_GET(self):
        self.reply(405)
serve_http(Shared, '/mcp')
",
    )
    .await;
    // In the middle of a call of the first thread, the other one is done.
    let load = Scenario::sustained().concurrent(2).duration(Duration::from_millis(2_500));
    let load = load.tool("echo");
    let server = Server::http(&listening.url).protocol(Revision::V2025_11_25);
    let report = Run::new(server, load).with_threads(2).execute().await.expect("it runs");
    assert!(report.passed() && report.errors.total == 0, "{:#?}", report.findings);
    assert!(report.latency.max >= Duration::from_millis(999), "the first thread called nothing");
}

/// Over HTTP, callers went on as fast as calls could fail: tens of thousands of errors a second, and
/// a trace that grew by megabytes.
#[tokio::test]
async fn a_server_that_went_away_is_not_hammered() {
    let listening = http_mock(&[]).await;
    let load = Scenario::sustained().concurrent(8).duration(Duration::from_secs(3)).tool("echo");
    let run = Run::new(Server::http(&listening.url), load);
    let progress = run.progress();
    let running = tokio::spawn(run.execute());
    until("the first call", || progress.ok.load(Ordering::Relaxed) > 0).await;
    drop(listening);
    let report = running.await.expect("no panic").expect("a report");
    let errors = &report.errors;
    assert_eq!((report.verdict, errors.by_category.len()), (Verdict::Critical, 1), "{errors:?}");
    let lost = errors.by_category[&ErrorCategory::Disconnected];
    // At least one for each caller, and then ever fewer.
    assert!((8..1_000).contains(&lost), "{errors:?}");
    assert!(report.finding("disconnected").is_some(), "{:#?}", report.findings);
}

/// A load closed its sessions twice, and what each had counted was noted twice.
#[tokio::test]
async fn what_a_session_counted_is_told_once() {
    let server = inline_mock(
        "
from _common import echo, serve, write_frame
def announced(request):
    write_frame({'jsonrpc': '2.0', 'method': 'notifications/message', 'params': {}})
    return echo(request)
serve(announced)
",
    );
    let dir = TempDir::new().unwrap();
    let load =
        Scenario::sustained().concurrent(1).duration(Duration::from_millis(300)).tool("echo");
    let report = Run::new(server, load).with_output_dir(dir.path()).execute().await.unwrap();
    let trace = std::fs::read_to_string(report.run_dir.unwrap().join("trace.jsonl")).unwrap();
    let told: Vec<_> = trace.lines().filter(|line| line.contains(" in session 0")).collect();
    assert_eq!(told.len(), 1, "{told:#?}");
}

/// Answers piled up without a bound when a server asked for ever and read nothing.
#[tokio::test]
async fn a_server_that_asks_for_ever_and_reads_nothing_is_given_up() {
    let server = inline_mock(
        "
import itertools
from _common import serve, write_frame
def flood(request):
    for number in itertools.count(1):
        write_frame({'jsonrpc': '2.0', 'id': number, 'method': 'ping'})
serve(flood)
",
    );
    let patience = Thresholds { hang_timeout: Duration::from_secs(100), ..Default::default() };
    let load = Scenario::sustained().concurrent(1).duration(Duration::from_secs(1)).tool("echo");
    let report = Run::new(server, load).with_thresholds(patience).execute().await.unwrap();
    let found = report.finding("disconnected").expect("it is told");
    assert!(found.evidence.iter().any(|told| told.contains("answers unread")), "{found:#?}");
}
