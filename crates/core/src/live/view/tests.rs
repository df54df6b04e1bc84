//! Glimpses of made-up threads, folded.

use super::*;
use crate::{
    event::{Call, Event, Failure, Phase},
    live::Cursor,
    report::fixture::Run,
    scenario::Scenario,
    tally::Moment,
};

/// A thread that makes a call every 100 ms, each of 5 ms; every tenth fails.
struct Thread {
    tally: Tally,
    cursor: Cursor,
    worker: u16,
}

impl Thread {
    fn new(worker: u16) -> Self {
        Self { tally: Tally::default(), cursor: Cursor::default(), worker }
    }

    fn work(&mut self, calls: std::ops::Range<u64>) {
        for id in calls {
            let started = Duration::from_millis(id * 100);
            let call = Call {
                request_id: id,
                session: 0,
                worker: self.worker,
                phase: Phase::Load,
                method: "tools/call".into(),
                tool: Some("ec\x1bho".into()),
                segment: 0,
                intended: started,
                started,
            };
            let params = b"{}".as_slice().into();
            self.tally.observe(&Event::Request { call: call.clone(), params });
            let at = started + Duration::from_millis(5);
            let (category, code) = (ErrorCategory::ToolError, None);
            let failure = Failure { category, message: "\x1b[2Jno".into(), code };
            self.tally.observe(&if id % 10 == 9 {
                Event::Error { call, at, failure }
            } else {
                Event::Response { call, at, result: b"{}".as_slice().into() }
            });
        }
    }

    fn tell(&mut self, view: &mut View, now: u64, taken: bool) {
        let now = Duration::from_millis(now);
        let (glimpse, cursor) = self.cursor.look(self.worker, &self.tally, now);
        if taken {
            view.add(glimpse);
            self.cursor = cursor;
        }
    }
}

#[test]
fn glimpses_of_all_threads_make_the_whole_even_where_some_were_not_taken() {
    let mut view = View::default();
    let mut threads = [Thread::new(0), Thread::new(1)];
    for (second, taken) in [(1, true), (2, false), (3, true), (4, true)] {
        for thread in &mut threads {
            thread.work((second - 1) * 10..second * 10);
            thread.tell(&mut view, second * 1_000, taken);
        }
    }
    let now = Duration::from_millis(4_000);
    let seen = view.snapshot(State::Running, now, Duration::ZERO);
    assert_eq!((seen.issued, seen.ok, seen.failed, seen.in_flight), (80, 72, 8, 0));
    assert_eq!((seen.rates, seen.failures), (vec![20; 4], vec![2; 4]));
    assert!((5.0..5.1).contains(&seen.recent.p99_ms.unwrap()), "{:?}", seen.recent);
    assert!((5.0..5.1).contains(&seen.tools[0].overall.p50_ms.unwrap()));
    assert_eq!(seen.tools.len(), 1);
    assert_eq!((seen.tools[0].name.as_str(), seen.tools[0].calls), ("ec\\x1bho", 80));
    assert!(seen.log.iter().all(|line| line.text == "\\x1b[2Jno"), "{:?}", seen.log);
    assert!(!seen.log.is_empty() && view.report(now, Vec::new()).is_none());
}

#[test]
fn the_report_of_a_run_that_goes_on_has_its_figures_and_no_verdict() {
    let mut view = View::default();
    let now = Duration::from_millis(2_000);
    assert_eq!(view.report(now, Vec::new()), None);
    let scenario = Scenario::sustained().rate(40.0).duration(Duration::from_secs(3));
    view.begin(&Run::of(scenario).info);
    let mut threads = [Thread::new(0), Thread::new(1)];
    for thread in &mut threads {
        thread.work(0..20);
        thread.tell(&mut view, 2_000, true);
    }
    let pause = Pause { from: Duration::ZERO, to: Duration::from_millis(500) };
    let report = view.report(now, vec![pause]).unwrap();
    assert_eq!(report.duration, now);
    assert_eq!((report.throughput.total_requests, report.errors.total), (40, 4));
    assert_eq!((report.tools.len(), report.tools[0].total_requests), (1, 40));
    assert_eq!(report.tools[0].latency.count, 40);
    assert_eq!((report.pauses, report.windows.len()), (vec![pause], 2));
    assert!(report.findings.is_empty() && report.segments.is_empty());
    let seen = view.snapshot(State::Running, now, Duration::ZERO);
    assert_eq!(seen.asked_per_sec, Some(40.0));
    let over = view.snapshot(State::Running, now * 3, Duration::ZERO);
    assert_eq!(over.asked_per_sec, None);
}

#[test]
fn a_server_that_stands_still_is_seen_to() {
    let mut view = View::default();
    let mut thread = Thread::new(0);
    thread.work(0..10);
    thread.tell(&mut view, 1_000, true);
    thread.tell(&mut view, 4_500, true);
    let seen = view.snapshot(State::Running, Duration::from_millis(4_500), Duration::ZERO);
    assert_eq!(seen.rates, [10, 0, 0, 0]);
    assert_eq!(seen.p99_ms[1], None);
}

/// What a thread tells: seconds with so many good calls of 5 ms each, from the first second on.
fn told(worker: u16, at: Duration, seconds: std::ops::Range<usize>) -> Glimpse {
    let moment = |second| Moment {
        second,
        tool: Some("echo".into()),
        counts: Second { ok: 3, errors: 1, max_us: 5_000 },
        times: Buckets(vec![(5_000_000, 4)]),
    };
    let mut counts = Counts::default();
    (counts.issued, counts.ok) = (4, 3);
    Glimpse {
        worker,
        at,
        counts: counts.clone(),
        tools: vec![("echo".into(), counts)],
        first_start: Some(Duration::ZERO),
        segment: 0,
        hangs: 0,
        deadlocks: 0,
        seconds: seconds.map(moment).collect(),
        samples: Vec::new(),
        log: Vec::new(),
    }
}

fn secs(secs: f64) -> Duration {
    Duration::from_secs_f64(secs)
}

#[test]
fn the_rate_looks_back_a_second_and_no_further() {
    let mut view = View::default();
    for (now, ended, expected) in [
        (1.0, 10, 0.0),
        (1.5, 20, 20.0),
        // The same moment again is no tick of its own.
        (1.5, 25, 30.0),
        (2.25, 40, 24.0),
        // The second tick is a second old now, so that the first has had its time.
        (2.5, 50, 30.0),
        (2.5, 15, 0.0),
        (2.75, 50, 24.0),
    ] {
        assert_eq!(view.per_sec(secs(now), ended), expected, "{ended} calls after {now} s");
    }
}

#[test]
fn the_log_and_the_seconds_have_their_limits() {
    for (lines, kept) in [(199, 199), (200, 200), (201, 200), (250, 200)] {
        let mut view = View::default();
        let line =
            |at| LogLine { at: secs(at as f64), what: "x".into(), text: format!("number {at}") };
        let log = (0..lines).rev().map(line).collect();
        view.add(Glimpse { log, ..told(0, secs(1.0), 0..0) });
        let seen = view.snapshot(State::Running, secs(1.0), Duration::ZERO);
        assert_eq!(seen.log.len(), kept, "{lines} lines");
        assert_eq!(seen.log[kept - 1].text, format!("number {}", lines - 1), "the last ones stay");
    }
    for (seconds, kept) in [(479, 479), (480, 480), (481, 480), (500, 480)] {
        let mut view = View::default();
        view.add(told(0, secs(seconds as f64), 0..seconds));
        assert_eq!(view.whole.len(), kept, "{seconds} seconds");
        assert_eq!(view.whole.first_key_value().unwrap().0, &(seconds - kept));
    }
}

#[test]
fn no_more_than_the_last_seconds_are_shown_and_only_what_all_have_told() {
    let mut view = View::default();
    view.add(told(0, secs(300.0), 0..300));
    assert_eq!(view.snapshot(State::Running, secs(300.0), Duration::ZERO).rates, [4; 240]);
    view.add(told(1, secs(2.0), 0..2));
    let seen = view.snapshot(State::Running, secs(300.0), Duration::ZERO);
    assert_eq!((seen.rates, seen.failures), (vec![8, 8], vec![2, 2]));
    assert_eq!(seen.p99_ms, [Some(5.0), Some(5.0)]);
}

#[test]
fn load_begins_with_the_first_call_of_any_thread_and_stands_still_in_a_pause() {
    let mut view = View::default();
    let late = |first: f64, worker| Glimpse {
        first_start: Some(secs(first)),
        segment: worker + 1,
        hangs: 2,
        deadlocks: 1,
        ..told(worker, secs(4.0), 3..4)
    };
    view.add(late(3.5, 0));
    view.add(late(2.0, 1));
    let seen = view.snapshot(State::Paused, secs(6.0), secs(1.5));
    assert_eq!((seen.load_secs, seen.paused_secs, seen.step, seen.hangs), (2.5, 1.5, 2, 4));
    assert_eq!(seen.rates, [0, 8], "from the second of the first call on");
    assert_eq!((seen.issued, seen.ok, seen.in_flight), (8, 6, 2));
    let nothing = View::default().snapshot(State::Starting, secs(6.0), Duration::ZERO);
    assert_eq!((nothing.load_secs, nothing.per_sec, nothing.rates.len()), (0.0, 0.0, 0));
}

#[test]
fn percentiles_of_now_are_those_of_the_last_five_seconds() {
    let mut view = View::default();
    view.add(told(0, secs(1.0), 0..1));
    let five = LatencyFigures {
        p50_ms: Some(5.0),
        p90_ms: Some(5.0),
        p99_ms: Some(5.0),
        p999_ms: Some(5.0),
        max_ms: Some(5.0),
    };
    for (now, recent) in [(1.0, five), (5.0, five), (6.0, LatencyFigures::default())] {
        view.add(told(0, secs(now), 0..0));
        let seen = view.snapshot(State::Running, secs(now), Duration::ZERO);
        assert_eq!(seen.recent, recent, "after {now} s");
        let longest = seen.overall.max_ms.expect("calls have ended");
        assert!((5.0..5.1).contains(&longest), "{longest}");
    }
}

#[test]
fn tools_are_told_apart_and_failures_by_their_kind() {
    let mut view = View::default();
    let mut thread = Thread::new(0);
    thread.work(0..10);
    thread.tell(&mut view, 1_000, true);
    view.add(told(1, secs(1.0), 0..1));
    let seen = view.snapshot(State::Running, secs(1.0), Duration::ZERO);
    assert_eq!(seen.errors, [(ErrorCategory::ToolError, 1)].into());
    let tools: Vec<_> =
        seen.tools.iter().map(|tool| (tool.name.as_str(), tool.calls, tool.in_flight)).collect();
    assert_eq!(tools, [("ec\\x1bho", 10, 0), ("echo", 3, 1)]);
    view.begin(&Run::of(Scenario::sustained()).info);
    let report = view.report(secs(1.0), Vec::new()).expect("the session is open");
    let counts: Vec<_> =
        report.tools.iter().map(|tool| (tool.name.as_str(), tool.latency.count)).collect();
    assert_eq!(counts, [("ec\x1bho", 10), ("echo", 4)]);
}

#[test]
fn a_report_has_the_processes_and_the_silence_of_all_threads() {
    let mut view = View::default();
    view.begin(&Run::of(Scenario::sustained().concurrent(2)).info);
    let mut other = Run::of(Scenario::sustained()).info;
    other.run_id = "another".into();
    view.begin(&other);
    for (worker, rss_mb) in [(0, 10.0), (1, 12.5)] {
        let sample = ProcessSample {
            at: secs(f64::from(worker)),
            rss_mb,
            pss_mb: None,
            cpu_pct: 50.0 + rss_mb,
            threads: 1,
            open_files: 1,
        };
        let (samples, hangs, deadlocks) = (vec![sample], 3, 2);
        view.add(Glimpse { samples, hangs, deadlocks, ..told(worker, secs(2.0), 0..2) });
    }
    let seen = view.snapshot(State::Running, secs(2.0), Duration::ZERO);
    assert_eq!(
        (seen.first_rss_mb, seen.rss_mb, seen.cpu_pct),
        (Some(10.0), Some(12.5), Some(62.5))
    );
    assert_eq!(seen.asked_per_sec, None, "nobody asks for a rate where calls wait for each other");
    let report = view.report(secs(2.0), Vec::new()).expect("the session is open");
    assert_eq!((report.hang_count, report.deadlock_count), (6, 4));
    assert_ne!(report.run_id, "another", "the first session says who is tested");
    assert_eq!(report.process.peak_rss_mb, 12.5);
}
