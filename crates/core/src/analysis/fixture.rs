//! Hand-made runs for the tests of the analyses.

use std::time::{Duration, SystemTime};

use crate::{
    event::{Call, Diagnosis, Event, Failure, Phase},
    outcome::ErrorCategory,
    report::{RunInfo, ServerInfo},
    scenario::Scenario,
    tally::Tally,
    thresholds::Thresholds,
};

pub(super) fn info(scenario: impl Into<Scenario>) -> RunInfo {
    RunInfo {
        run_id: "01TEST".into(),
        started_at: SystemTime::UNIX_EPOCH,
        duration: Duration::from_secs(10),
        scenario: scenario.into(),
        thresholds: Thresholds::default(),
        server_info: ServerInfo::default(),
        trace: Default::default(),
        trace_path: "trace.jsonl".into(),
        trace_bytes: 0,
        run_dir: None,
    }
}

/// A run that is built up call by call.
#[derive(Default)]
pub(super) struct Run {
    pub(super) tally: Tally,
    next: u64,
}

impl Run {
    fn start(&mut self, started: u64) -> Call<'static> {
        self.start_of("echo", 0, started)
    }

    fn start_of(&mut self, tool: &'static str, segment: u16, started: u64) -> Call<'static> {
        self.next += 1;
        let call = Call {
            request_id: self.next,
            session: 0,
            worker: 0,
            phase: Phase::Load,
            method: "tools/call".into(),
            tool: Some(tool.into()),
            segment,
            intended: Duration::from_millis(started),
            started: Duration::from_millis(started),
        };
        self.tally.observe(&Event::Request { call: call.clone(), params: b"{}".as_slice().into() });
        call
    }

    pub(super) fn ok(mut self, started: u64, took: u64) -> Self {
        let call = self.start(started);
        let at = Duration::from_millis(started + took);
        self.tally.observe(&Event::Response { call, at, result: b"{}".as_slice().into() });
        self
    }

    /// A good call in a step of the scenario.
    pub(super) fn ok_in(self, segment: u16, started: u64, took: u64) -> Self {
        self.ok_of("echo", segment, started, took)
    }

    /// The same of another tool.
    pub(super) fn ok_of(
        mut self,
        tool: &'static str,
        segment: u16,
        started: u64,
        took: u64,
    ) -> Self {
        let call = self.start_of(tool, segment, started);
        let at = Duration::from_millis(started + took);
        self.tally.observe(&Event::Response { call, at, result: b"{}".as_slice().into() });
        self
    }

    pub(super) fn oks(self, count: u64) -> Self {
        (0..count).fold(self, |run, n| run.ok(n * 10, 5))
    }

    pub(super) fn failed(self, category: ErrorCategory, took: u64) -> Self {
        self.failed_as(category, took, "it broke")
    }

    pub(super) fn failed_with(self, category: ErrorCategory, message: &str) -> Self {
        self.failed_as(category, 5, message)
    }

    fn failed_as(mut self, category: ErrorCategory, took: u64, message: &str) -> Self {
        let call = self.start(0);
        let failure = Failure { category, message: message.to_owned().into(), code: None };
        self.tally.observe(&Event::Error { call, at: Duration::from_millis(took), failure });
        self
    }

    pub(super) fn silent(mut self, diagnosis: Diagnosis) -> Self {
        let call = self.start(0);
        let (hang, end) = (Duration::from_secs(5), Duration::from_secs(15));
        self.tally.observe(&Event::Hang { call: call.clone(), at: hang });
        self.tally.observe(&Event::Deadlock {
            call: call.clone(),
            at: end,
            diagnosis,
            evidence: "ping unanswered".into(),
        });
        let failure =
            Failure { category: ErrorCategory::Deadlock, message: "no reply".into(), code: None };
        self.tally.observe(&Event::Error { call, at: end, failure });
        self
    }

    pub(super) fn slow(mut self, took: u64) -> Self {
        let call = self.start(0);
        self.tally.observe(&Event::Hang { call: call.clone(), at: Duration::from_secs(5) });
        let failure = Failure { category: ErrorCategory::Hang, message: "late".into(), code: None };
        self.tally.observe(&Event::Error { call, at: Duration::from_millis(took), failure });
        self
    }

    pub(super) fn noted(mut self, name: &'static str, detail: &'static str) -> Self {
        self.tally.observe(&Event::note(Duration::ZERO, name, detail));
        self
    }
}
