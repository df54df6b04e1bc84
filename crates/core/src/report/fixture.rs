//! Hand-made runs for the tests of the renderers.

use std::time::{Duration, SystemTime};

use super::{KeywordCoverage, Report, RunInfo, ServerInfo, Window, build};
use crate::{
    config::Trace,
    event::{Call, Diagnosis, Event, Failure, Phase, ProcessSample},
    fault::FaultWindow,
    fuzz::{Class, FuzzStats, Payload},
    histogram::Buckets,
    mcp::Revision,
    outcome::ErrorCategory,
    pace::{Level, Rate},
    scenario::Scenario,
    tally::{Pause, Tally},
    thresholds::{Thresholds, ToolThresholds},
};

/// A run that is built up call by call.
#[derive(Debug)]
pub(crate) struct Run {
    pub(super) tally: Tally,
    pub(crate) info: RunInfo,
    clock: Duration,
    next: u64,
    segment: u16,
    gap: Duration,
}

impl Run {
    pub(crate) fn of(scenario: impl Into<Scenario>) -> Self {
        let info = RunInfo {
            run_id: "01JV0W2T4QH8F3N6Y9ZB5C7D1E".into(),
            started_at: SystemTime::UNIX_EPOCH + Duration::from_secs(1_778_398_200),
            duration: Duration::from_millis(60_250),
            scenario: scenario.into(),
            thresholds: Thresholds::default(),
            server_info: ServerInfo {
                target: "python -m vibe_trading_mcp".into(),
                transport: "stdio".into(),
                name: Some("vibe-trading".into()),
                version: Some("1.4.2".into()),
                era: Some(Revision::V2025_11_25.era()),
                revision: Some(Revision::V2025_11_25),
                tools: Some(3),
                tool_names: ["get_quote", "analyze_options", "list"].map(Into::into).to_vec(),
                keywords: Some(KeywordCoverage {
                    listed: 9,
                    reached: 8,
                    missed: vec!["analyze_options: /expiry format".into()],
                }),
            },
            trace: Trace::Full,
            trace_path: "runs/01JV0W2T4QH8F3N6Y9ZB5C7D1E/trace.jsonl".into(),
            trace_bytes: 8_598_323,
            run_dir: Some("runs/01JV0W2T4QH8F3N6Y9ZB5C7D1E".into()),
        };
        Self {
            tally: Tally::default(),
            info,
            clock: Duration::ZERO,
            next: 0,
            segment: 0,
            gap: Duration::from_millis(4),
        }
    }

    /// Calls begin 4 ms apart, so that a few thousand of them fill some seconds; see [`Run::every`].
    fn start(&mut self, tool: &'static str) -> Call<'static> {
        self.next += 1;
        let call = Call {
            request_id: self.next,
            session: 0,
            worker: 0,
            phase: Phase::Load,
            method: "tools/call".into(),
            tool: Some(tool.into()),
            segment: self.segment,
            intended: self.clock,
            started: self.clock,
        };
        self.clock += self.gap;
        self.tally.observe(&Event::Request { call: call.clone(), params: b"{}".as_slice().into() });
        call
    }

    pub(super) fn ok(mut self, tool: &'static str, count: u64, micros: u64) -> Self {
        for _ in 0..count {
            let call = self.start(tool);
            let at = call.started + Duration::from_micros(micros);
            self.tally.observe(&Event::Response { call, at, result: b"{}".as_slice().into() });
        }
        self
    }

    /// Calls that were due this much earlier than they were sent.
    pub(super) fn late(mut self, count: u64, late_micros: u64, micros: u64) -> Self {
        for _ in 0..count {
            let mut call = self.start("get_quote");
            call.started += Duration::from_micros(late_micros);
            let at = call.started + Duration::from_micros(micros);
            self.tally.observe(&Event::Response { call, at, result: b"{}".as_slice().into() });
        }
        self
    }

    pub(super) fn failed(
        mut self,
        tool: &'static str,
        category: ErrorCategory,
        count: u64,
        message: &'static str,
    ) -> Self {
        for _ in 0..count {
            let call = self.start(tool);
            let at = call.started + Duration::from_millis(3);
            let failure = Failure { category, message: message.into(), code: None };
            self.tally.observe(&Event::Error { call, at, failure });
        }
        self
    }

    pub(super) fn silent(mut self, tool: &'static str, count: u64, evidence: &'static str) -> Self {
        for _ in 0..count {
            let call = self.start(tool);
            let at = call.started + Duration::from_secs(15);
            self.tally.observe(&Event::Hang {
                call: call.clone(),
                at: call.started + Duration::from_secs(5),
            });
            let diagnosis = Diagnosis::Wedged;
            self.tally.observe(&Event::Deadlock {
                call: call.clone(),
                at,
                diagnosis,
                evidence: evidence.into(),
            });
            let failure = Failure {
                category: ErrorCategory::Deadlock,
                message: "no reply".into(),
                code: None,
            };
            self.tally.observe(&Event::Error { call, at, failure });
        }
        self
    }

    /// The clock moves on, as after a burst.
    pub(super) fn later(mut self, secs: u64) -> Self {
        self.clock += Duration::from_secs(secs);
        self
    }

    /// What follows is so many milliseconds apart.
    pub(super) fn every(mut self, millis: u64) -> Self {
        self.gap = Duration::from_millis(millis);
        self
    }

    /// What follows belongs to this step of the load.
    pub(super) fn segment(mut self, segment: u16) -> Self {
        self.segment = segment;
        self
    }

    pub(super) fn step(mut self, name: &'static str, millis: u64) -> Self {
        let took = Some(Duration::from_millis(millis));
        self.tally.observe(&Event::Scenario {
            at: self.clock,
            name: name.into(),
            detail: "".into(),
            took,
        });
        self
    }

    pub(super) fn noted(mut self, name: &'static str, detail: &'static str) -> Self {
        self.tally.observe(&Event::note(self.clock, name, detail));
        self
    }

    pub(super) fn memory(mut self, megabytes: &[f64]) -> Self {
        for (second, rss_mb) in megabytes.iter().enumerate() {
            let at = Duration::from_secs(second as u64);
            let sample = ProcessSample {
                at,
                rss_mb: *rss_mb,
                pss_mb: None,
                cpu_pct: 23.4,
                threads: 4,
                open_files: 12,
            };
            self.tally.observe(&Event::Process(sample));
        }
        self
    }

    pub(super) fn limits(mut self, thresholds: Thresholds) -> Self {
        self.info.thresholds = thresholds;
        self
    }

    pub(super) fn report(self) -> Report {
        build(self.info, &self.tally)
    }
}

/// Windows of a second each: calls that ended well, calls that failed, and the milliseconds that each took.
pub(super) fn windows(seconds: &[(u64, u64, u64)]) -> Vec<Window> {
    let window = |(at, (ok, errors, ms)): (u64, &(u64, u64, u64))| Window {
        from_secs: at,
        secs: 1,
        ok: *ok,
        errors: *errors,
        response_ns: match ok + errors {
            0 => Buckets::default(),
            calls => Buckets(vec![(ms * 1_000_000, calls)]),
        },
    };
    (0..).zip(seconds).map(window).collect()
}

fn sustained() -> Run {
    Run::of(Scenario::sustained().concurrent(50).duration(Duration::from_secs(60)))
}

/// Nothing is wrong.
pub(crate) fn healthy() -> Report {
    let run = sustained().memory(&[120.0, 122.5, 121.0]);
    let run = run.ok("get_quote", 9_000, 8_200).ok("get_quote", 2_900, 12_300);
    run.ok("analyze_options", 300, 45_600).ok("analyze_options", 145, 123_400).report()
}

/// The first burst never comes back.
pub(super) fn deadlocked() -> Report {
    let evidence =
        "`ping` was not answered for 2.00s either; the process sleeps (state S) and uses 0% CPU";
    let run = Run::of(Scenario::deadlock_probe()).memory(&[88.0, 88.1]);
    let mut run = run.ok("analyze_options", 3, 14_000).silent("analyze_options", 17, evidence);
    run.info.duration = Duration::from_millis(15_310);
    run.report()
}

/// Too slow, and a tool that fails.
pub(crate) fn violated() -> Report {
    let limits = Thresholds {
        p99_latency: Duration::from_millis(100),
        error_rate: 0.01,
        ..Thresholds::default()
    };
    let run = sustained().limits(limits).memory(&[100.0, 118.0, 156.3, 142.1]);
    let run = run.ok("get_quote", 600, 12_300).ok("analyze_options", 100, 45_600).ok(
        "analyze_options",
        12,
        123_400,
    );
    let run = run.failed(
        "place_order",
        ErrorCategory::ToolError,
        30,
        "insufficient_funds: balance is 0 | 100 needed",
    );
    run.failed("place_order", ErrorCategory::ToolError, 1, "market closed").report()
}

/// A burst on a schedule that was held once, beside two faults.
pub(super) fn spiked() -> Report {
    let secs = Duration::from_secs;
    let rate = |per_second| Level::Rate(Rate::per_second(per_second));
    let scenario = Scenario::spike().levels(rate(100.0), rate(400.0)).duration(secs(24));
    let limits = Thresholds {
        p50_latency: Duration::from_millis(5),
        p999_latency: secs(2),
        ..Thresholds::default()
    };
    let mut run = Run::of(scenario.burst(secs(8), secs(4))).limits(limits);
    run.info.duration = secs(30);
    let run = run.later(1).memory(&[40.0; 27]).segment(1).every(8).ok("get_quote", 400, 4_100);
    let run = run.later(4).segment(2).every(2).late(2_000, 310_000, 22_000);
    let run = run.failed("list", ErrorCategory::ServerError, 40, "pool exhausted");
    let run =
        run.later(1).segment(3).every(6).late(250, 90_000, 6_000).ok("get_quote", 1_850, 4_300);
    let mut report = run.report();
    report.pauses = vec![Pause { from: secs(5), to: secs(7) }];
    let fault = |name: &str, from, to, calls| FaultWindow { name: name.into(), from, to, calls };
    report.faults = vec![
        fault("latency", secs(1), secs(29), 4_000),
        fault("reset", secs(12), secs(14), 40),
        fault("reset", secs(16), secs(17), 3),
    ];
    report
}

/// The fuzzer found something of everything, and one tool has limits of its own.
pub(super) fn fuzzed() -> Report {
    let limits = ToolThresholds {
        p50_latency: Duration::from_millis(9),
        error_rate: 0.1,
        min_rps: 1_000.0,
        ..ToolThresholds::new("get_quote")
    };
    let limits = Thresholds { tool: vec![limits], ..Thresholds::default() };
    let run = Run::of(Scenario::fuzzer().iterations(2_000)).limits(limits).memory(&[20.0]);
    let run = run.ok("get_quote", 1_200, 12_000).failed(
        "get_quote",
        ErrorCategory::ServerError,
        300,
        "boom",
    );
    let mut report = run.report();
    let classes = |counts: [u64; 6]| Class::ALL.into_iter().zip(counts).collect();
    report.fuzz = Some(FuzzStats {
        planned: 2_000,
        cases: 1_500,
        classes: classes([1_200, 200, 50, 30, 15, 5]),
        payloads: [
            (Payload::ALL[1], classes([700, 150, 20, 10, 5, 0])),
            (Payload::ALL[2], classes([500, 50, 30, 20, 10, 5])),
        ]
        .into(),
        discarded: 12,
        tools: vec!["get_quote".into()],
        left_alone: vec!["list".into(), "analyze_options".into()],
        ended_early: Some("the server ended".into()),
        ..FuzzStats::default()
    });
    report
}

/// More callers step by step, until more of them bring nothing.
pub(super) fn ramped() -> Report {
    let scenario = Scenario::ramp().concurrent(1, 8).duration(Duration::from_secs(16));
    let limits = Thresholds { error_rate: 0.05, ..Thresholds::default() };
    let mut run = Run::of(scenario).limits(limits).memory(&[30.0; 16]);
    run.info.duration = Duration::from_secs(17);
    for step in 1_u16..=8 {
        let answered = 500.min(u64::from(step) * 120);
        // A step takes two seconds.
        run = run.segment(step).every(1_900 / answered);
        run = run.ok("get_quote", answered, 3_000 + 900 * u64::from(step));
        run = run.failed("list", ErrorCategory::Timeout, u64::from(step / 4), "too late");
        run.clock = Duration::from_secs(u64::from(step) * 2);
    }
    run.report()
}

/// Text that would like to be more than text.
pub(super) const HOSTILE: &[&str] = &[
    "\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m",
    "a|b|c",
    "``` `x` ```\n# heading\n- item",
    "<script>alert(1)</script><img src=x onerror=y>",
    "![x](http://evil.example/p.png) www.evil.example @org/team fixes #1 &#64;all",
    "\u{202e}gnp.exe\u{2066}\u{200b}\u{feff}\u{e0041}",
    "::add-mask::secret\n::error::x ##vso[task.setvariable]y ##[command]z",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "שלום عربي 漢字漢字漢字",
    "",
];

/// Every text of the report is hostile.
pub(super) fn hostile() -> Report {
    let mut run = Run::of(Scenario::deadlock_probe());
    for text in HOSTILE {
        run = run.ok(text, 40, 9_000).failed(text, ErrorCategory::ToolError, 2, text).step(text, 5);
        run = run.silent(text, 1, text).noted(crate::event::note::FRAME_DEFECT, text);
    }
    for text in HOSTILE {
        run.info.run_id.push_str(text);
        run.info.server_info.target.push_str(text);
        run.info.server_info.name.get_or_insert_default().push_str(text);
    }
    run.info.server_info.transport = HOSTILE.concat();
    run.info.trace_path = HOSTILE.concat().into();
    let mut report = run.report();
    let fault = |(text, at): (&&str, u64)| FaultWindow {
        name: (*text).to_owned(),
        from: Duration::from_secs(at),
        to: Duration::from_secs(at + 2),
        calls: 7,
    };
    report.faults = HOSTILE.iter().zip(1..).map(fault).collect();
    report
}
