//! What must come out of each scenario on each mock.

use std::time::Duration;

use mcp_loadtest::{
    Era,
    ErrorCategory::{
        self, Crash, Deadlock, Disconnected, Hang, Malformed, ProtocolError, ServerError, ToolError,
    },
    Exit, Report,
    Verdict::{self, Critical, Fail, Pass, Warning},
};
use mcp_loadtest_core::{
    scenario::ScenarioName::{self, ColdStart, DeadlockProbe, Sustained},
    thresholds::NO_LIMIT,
};

/// Something that must hold of the report, in words and in code.
pub(super) type Check = (&'static str, fn(&Report) -> bool);

/// One or more cells with the same end.
pub(super) struct Row {
    /// The mock, without its ending.
    pub(super) mock: &'static str,
    /// Its knobs.
    pub(super) env: &'static [(&'static str, &'static str)],
    /// Whether a mock that is reached by address is started by the run; otherwise it runs already.
    pub(super) started: bool,
    /// The scenarios that end like this.
    pub(super) scenarios: &'static [ScenarioName],
    /// When silence is a hang.
    pub(super) hang: Duration,
    /// How much longer a reply is waited for.
    pub(super) grace: Duration,
    /// How long a sustained load lasts.
    pub(super) duration: Duration,
    /// Sessions that share the load.
    pub(super) sessions: u32,
    /// How long the server may take to end.
    pub(super) shutdown_timeout: Duration,
    /// How much its memory may grow.
    pub(super) memory_growth_mb: f64,
    /// The word above everything else.
    pub(super) verdict: Verdict,
    /// What the shell sees.
    pub(super) exit: u8,
    /// The categories that must occur; all others must not.
    pub(super) errors: &'static [ErrorCategory],
    /// Categories that may occur.
    pub(super) may_fail: &'static [ErrorCategory],
    /// The findings that must be there; all others must not.
    pub(super) findings: &'static [&'static str],
    /// Findings that may be there.
    pub(super) may_find: &'static [&'static str],
    /// What else must hold.
    pub(super) checks: &'static [Check],
}

/// The scenarios that every mock is put through; the others have their own tables.
pub(super) const ALL: &[ScenarioName] = &[ColdStart, Sustained, DeadlockProbe];

/// Nothing is found. The thresholds are far away, so that a slow machine is not taken for a hang.
const HEALTHY: Row = Row {
    mock: "",
    env: &[],
    started: false,
    scenarios: ALL,
    hang: Duration::from_secs(30),
    grace: Duration::from_secs(60),
    duration: Duration::from_millis(400),
    sessions: 1,
    shutdown_timeout: Duration::from_secs(30),
    memory_growth_mb: NO_LIMIT,
    verdict: Pass,
    exit: Exit::PASS,
    errors: &[],
    may_fail: &[],
    findings: &[],
    may_find: &[],
    checks: &[("calls succeed", |r| r.throughput.successful_requests > 0)],
};

/// Enough of a sustained load for more than a few calls, also where some process gets no CPU for a
/// second of it.
const LONG: Duration = Duration::from_secs(2);

/// Worth a look, but no gate fails.
const SUSPECT: Row = Row { verdict: Warning, ..HEALTHY };

/// A bug is found.
const BROKEN: Row = Row { verdict: Critical, exit: Exit::FAIL, checks: &[], ..HEALTHY };

/// Calls are never answered; the wait for them is kept short.
const SILENT: Row = Row {
    hang: Duration::from_millis(500),
    grace: Duration::from_secs(1),
    errors: &[Deadlock],
    findings: &["deadlock"],
    ..BROKEN
};

const MEMORY: f64 = 16.0;

/// The table. The longest cells come first.
pub(super) const TABLE: &[Row] = &[
    Row {
        mock: "mock-slow-init",
        scenarios: &[ColdStart],
        checks: &[("the handshake takes 5 s", |r| {
            step(r, "handshake") >= Duration::from_millis(4990)
        })],
        ..HEALTHY
    },
    Row {
        mock: "mock-slow-init",
        env: &[("MOCK_INIT_DELAY_S", "0.5")],
        scenarios: &[Sustained, DeadlockProbe],
        ..HEALTHY
    },
    // The bar: late answers are slow, never a deadlock.
    Row {
        mock: "mock-slow",
        env: &[("MOCK_THREADED", "1")],
        scenarios: &[DeadlockProbe],
        hang: Duration::from_millis(500),
        errors: &[Hang],
        findings: &["slow_calls"],
        checks: &[NO_DEADLOCK, TWO_SECONDS],
        ..SUSPECT
    },
    Row {
        mock: "mock-slow",
        env: &[("MOCK_THREADED", "1")],
        scenarios: &[ColdStart],
        hang: Duration::from_millis(500),
        errors: &[Hang],
        findings: &["slow_calls", "no_success"],
        checks: &[NO_DEADLOCK, TWO_SECONDS],
        ..BROKEN
    },
    // Where no call succeeds, and under steady load where most do not, it is a failure; still no deadlock.
    Row {
        mock: "mock-slow",
        env: &[("MOCK_THREADED", "1")],
        scenarios: &[Sustained],
        hang: Duration::from_millis(500),
        errors: &[Hang],
        findings: &["slow_calls", "no_success"],
        checks: &[NO_DEADLOCK, TWO_SECONDS],
        ..BROKEN
    },
    Row {
        mock: "mock-slow",
        env: &[("MOCK_THREADED", "1")],
        checks: &[NO_HANG, TWO_SECONDS],
        ..HEALTHY
    },
    // The bar: a wedged server is critical.
    Row {
        mock: "mock-broken",
        checks: &[DETECTED, ALL_DEADLOCKED, ("it is wedged", |r| says(r, "wedged"))],
        ..SILENT
    },
    Row {
        mock: "mock-spin",
        checks: &[DETECTED, ALL_DEADLOCKED, ("it spins", |r| says(r, "spins"))],
        ..SILENT
    },
    Row {
        mock: "mock-stop",
        checks: &[DETECTED, ALL_DEADLOCKED, ("it is stopped", |r| says(r, "stopped by a signal"))],
        ..SILENT
    },
    Row {
        mock: "mock-lost",
        scenarios: &[Sustained, DeadlockProbe],
        // On a slow machine an answer may be late.
        may_fail: &[Hang],
        checks: &[DETECTED, ("requests are lost", |r| says(r, "request lost"))],
        ..SILENT
    },
    // One call a process: the third is never made.
    Row { mock: "mock-lost", scenarios: &[ColdStart], ..HEALTHY },
    Row {
        mock: "mock-huge-line",
        errors: &[],
        may_fail: &[Deadlock, Malformed],
        findings: &["frame_too_large"],
        may_find: &["deadlock", "malformed_reply", "orphan_reply", "frame_defect", "no_success"],
        checks: &[("no call succeeds", |r| r.throughput.successful_requests == 0)],
        ..SILENT
    },
    // Without a nonce in the arguments nobody can tell that replies are mixed up.
    Row { mock: "mock-crossed", ..HEALTHY },
    // The bar: a healthy server passes.
    Row {
        mock: "mock-normal",
        checks: &[
            NO_HANG,
            ("no error", |r| r.errors.total == 0),
            ("it is legacy", |r| r.server_info.era == Some(Era::Legacy)),
        ],
        ..HEALTHY
    },
    Row {
        mock: "mock-normal",
        scenarios: &[Sustained, DeadlockProbe],
        sessions: 4,
        memory_growth_mb: MEMORY,
        ..HEALTHY
    },
    Row { mock: "mock-normal", scenarios: &[Sustained], memory_growth_mb: MEMORY, ..HEALTHY },
    Row {
        mock: "mock-leak",
        // So much that some sixty calls are enough.
        env: &[("MOCK_LEAK_BYTES", "262144")],
        scenarios: &[Sustained],
        duration: LONG,
        memory_growth_mb: MEMORY,
        verdict: Fail,
        exit: Exit::FAIL,
        checks: &[("memory is the gate that fails", |r| {
            r.threshold_violations.len() == 1 && r.process.growth_mb() > Some(MEMORY)
        })],
        ..HEALTHY
    },
    Row { mock: "mock-leak", ..HEALTHY },
    Row {
        mock: "mock-modern",
        checks: &[
            ("it is found to be modern", |r| r.server_info.era == Some(Era::Modern)),
            ("calls succeed", |r| r.throughput.successful_requests > 0),
        ],
        ..HEALTHY
    },
    Row { mock: "mock-stderr-flood", ..HEALTHY },
    Row { mock: "mock-semaphore", ..HEALTHY },
    // Whether a burst falls into a freeze is chance.
    Row { mock: "mock-stall", may_find: &["two_populations", "lazy_init_cliff"], ..HEALTHY },
    Row { mock: "mock-serial", ..HEALTHY },
    // Only replies to identical calls, compared with each other, show the race.
    Row { mock: "mock-race", may_find: &["two_populations"], ..HEALTHY },
    Row { mock: "mock-descriptor-leak", ..HEALTHY },
    Row {
        mock: "mock-noise",
        findings: &["frame_defect"],
        checks: &[("every call succeeds", |r| {
            r.errors.total == 0 && r.throughput.successful_requests > 0
        })],
        ..SUSPECT
    },
    Row {
        mock: "mock-lazy",
        scenarios: &[ColdStart],
        checks: &[("the first call takes 3 s", |r| {
            step(r, "first_call") >= Duration::from_millis(2995)
        })],
        ..HEALTHY
    },
    Row {
        mock: "mock-lazy",
        scenarios: &[Sustained, DeadlockProbe],
        // More than two seconds: a later call that gets no CPU for one must not explain it.
        env: &[("MOCK_LAZY_S", "3")],
        duration: Duration::from_secs(5),
        findings: &["lazy_init_cliff"],
        checks: &[NO_HANG, CLIFF],
        ..SUSPECT
    },
    // A threshold below the cliff makes it slow, and it is still the cliff.
    Row {
        mock: "mock-lazy",
        scenarios: &[DeadlockProbe],
        env: &[("MOCK_LAZY_S", "3")],
        hang: Duration::from_millis(500),
        errors: &[Hang],
        findings: &["slow_calls", "lazy_init_cliff"],
        checks: &[NO_DEADLOCK, CLIFF],
        ..SUSPECT
    },
    Row {
        mock: "mock-malformed",
        scenarios: &[Sustained, DeadlockProbe],
        duration: LONG,
        errors: &[Malformed],
        findings: &["malformed_reply", "frame_defect"],
        checks: &[("one call in ten is malformed", |r| {
            count(r, Malformed) == r.throughput.total_requests / 10
        })],
        ..BROKEN
    },
    // One call a process: the tenth is never made.
    Row { mock: "mock-malformed", scenarios: &[ColdStart], ..HEALTHY },
    Row {
        mock: "mock-error",
        scenarios: &[Sustained, DeadlockProbe],
        errors: &[ProtocolError, ServerError],
        findings: &["no_success"],
        checks: &[("three of four are protocol errors", |r| {
            count(r, ServerError) == r.throughput.total_requests / 4
        })],
        ..BROKEN
    },
    Row {
        mock: "mock-error",
        scenarios: &[ColdStart],
        errors: &[ProtocolError],
        findings: &["no_success"],
        ..BROKEN
    },
    Row {
        mock: "mock-tool-error",
        errors: &[ToolError],
        findings: &["no_success"],
        checks: &[("every call is a tool error", |r| {
            count(r, ToolError) == r.throughput.total_requests
        })],
        ..BROKEN
    },
    // With this seed a process answers 21 calls and dies of the next.
    Row {
        mock: "mock-crash",
        env: &[("MOCK_CRASH_RATE", "0.05"), ("MOCK_SEED", "2")],
        scenarios: &[Sustained],
        duration: LONG,
        errors: &[Crash],
        findings: &["server_crash"],
        checks: &[
            ("a second process succeeds too", |r| r.throughput.successful_requests > 21),
            ("stderr is shown", |r| {
                r.finding("server_crash")
                    .is_some_and(|found| found.evidence[0].contains("simulated crash"))
            }),
        ],
        ..BROKEN
    },
    Row {
        mock: "mock-crash",
        env: &[("MOCK_CRASH_RATE", "0.05"), ("MOCK_SEED", "2")],
        scenarios: &[ColdStart, DeadlockProbe],
        ..HEALTHY
    },
    // A server that dies of every call is started again a few times only.
    Row {
        mock: "mock-crash",
        env: &[("MOCK_CRASH_RATE", "1")],
        scenarios: &[Sustained],
        errors: &[Crash],
        findings: &["server_crash"],
        // Unless the load is over before.
        may_find: &["aborted"],
        checks: &[("it is given up", |r| r.throughput.total_requests <= 4 * 8)],
        ..BROKEN
    },
    Row {
        mock: "mock-crash",
        env: &[("MOCK_CRASH_RATE", "1")],
        scenarios: &[ColdStart, DeadlockProbe],
        errors: &[Crash],
        findings: &["server_crash"],
        ..BROKEN
    },
    Row {
        mock: "mock-stubborn",
        shutdown_timeout: Duration::from_secs(1),
        findings: &["shutdown_needs_signal"],
        ..SUSPECT
    },
    Row { mock: "mock-daemon", findings: &["stray_process"], ..SUSPECT },
    Row {
        mock: "mock-daemon",
        env: &[("MOCK_DAEMON_HOLDS_PIPES", "1")],
        findings: &["stray_process"],
        ..SUSPECT
    },
    Row {
        mock: "mock-http-server",
        env: &[("MOCK_HTTP_MODE", "json")],
        checks: &[OVER_HTTP, NO_HANG],
        ..HEALTHY
    },
    Row {
        mock: "mock-http-server",
        env: &[("MOCK_HTTP_MODE", "sse")],
        checks: &[OVER_HTTP, NO_HANG],
        ..HEALTHY
    },
    Row {
        mock: "mock-http-server",
        started: true,
        memory_growth_mb: MEMORY,
        checks: &[OVER_HTTP, NO_HANG, OBSERVED],
        scenarios: &[Sustained],
        ..HEALTHY
    },
    Row { mock: "mock-http-server", started: true, scenarios: &[ColdStart], ..HEALTHY },
    Row {
        mock: "mock-http-server",
        env: &[("MOCK_CALL", "crash")],
        started: true,
        scenarios: &[Sustained],
        ..CRASHES
    },
    Row { mock: "mock-sse-server", checks: &[OVER_SSE, NO_HANG], ..HEALTHY },
    Row {
        mock: "mock-sse-server",
        scenarios: &[Sustained, DeadlockProbe],
        sessions: 4,
        checks: &[OVER_SSE, NO_HANG],
        ..HEALTHY
    },
    Row {
        mock: "mock-sse-server",
        started: true,
        scenarios: &[Sustained],
        memory_growth_mb: MEMORY,
        checks: &[OVER_SSE, NO_HANG, OBSERVED],
        ..HEALTHY
    },
    Row { mock: "mock-sse-server", started: true, scenarios: &[ColdStart], ..HEALTHY },
    Row {
        mock: "mock-sse-server",
        env: &[("MOCK_CALL", "hang")],
        started: true,
        checks: &[DETECTED, ALL_DEADLOCKED, ("it is wedged", |r| says(r, "wedged"))],
        ..SILENT
    },
    Row {
        mock: "mock-sse-server",
        env: &[("MOCK_CALL", "hang")],
        scenarios: &[DeadlockProbe],
        checks: &[DETECTED, ALL_DEADLOCKED],
        ..SILENT
    },
    Row {
        mock: "mock-sse-server",
        env: &[("MOCK_CALL", "slow")],
        scenarios: &[DeadlockProbe],
        hang: Duration::from_millis(500),
        errors: &[Hang],
        findings: &["slow_calls"],
        checks: &[NO_DEADLOCK, TWO_SECONDS],
        ..SUSPECT
    },
    Row { mock: "mock-sse-server", env: &[("MOCK_CALL", "error")], ..REFUSES },
    Row {
        mock: "mock-sse-server",
        env: &[("MOCK_CALL", "crash")],
        started: true,
        scenarios: &[Sustained],
        ..CRASHES
    },
    Row {
        mock: "mock-sse-server",
        env: &[("MOCK_CALL", "hangup")],
        scenarios: &[Sustained],
        ..HANGS_UP
    },
    Row { mock: "mock-ws-server", checks: &[OVER_WS, NO_HANG], ..HEALTHY },
    // The subprotocol is offered, not demanded; pings are answered.
    Row {
        mock: "mock-ws-server",
        env: &[("MOCK_SUBPROTOCOL", ""), ("MOCK_PINGS", "1")],
        scenarios: &[Sustained],
        checks: &[OVER_WS, NO_HANG],
        ..HEALTHY
    },
    Row {
        mock: "mock-ws-server",
        scenarios: &[Sustained, DeadlockProbe],
        sessions: 4,
        checks: &[OVER_WS, NO_HANG],
        ..HEALTHY
    },
    Row {
        mock: "mock-ws-server",
        started: true,
        scenarios: &[Sustained],
        memory_growth_mb: MEMORY,
        checks: &[OVER_WS, NO_HANG, OBSERVED],
        ..HEALTHY
    },
    Row { mock: "mock-ws-server", started: true, scenarios: &[ColdStart], ..HEALTHY },
    Row {
        mock: "mock-ws-server",
        env: &[("MOCK_FRAMES", "binary")],
        scenarios: &[DeadlockProbe],
        findings: &["frame_defect"],
        checks: &[OVER_WS],
        ..SUSPECT
    },
    Row {
        mock: "mock-ws-server",
        env: &[("MOCK_CALL", "hang")],
        started: true,
        checks: &[DETECTED, ALL_DEADLOCKED, ("it is wedged", |r| says(r, "wedged"))],
        ..SILENT
    },
    Row {
        mock: "mock-ws-server",
        env: &[("MOCK_CALL", "slow")],
        scenarios: &[DeadlockProbe],
        hang: Duration::from_millis(500),
        errors: &[Hang],
        findings: &["slow_calls"],
        checks: &[NO_DEADLOCK, TWO_SECONDS],
        ..SUSPECT
    },
    Row { mock: "mock-ws-server", env: &[("MOCK_CALL", "error")], ..REFUSES },
    Row {
        mock: "mock-ws-server",
        env: &[("MOCK_CALL", "crash")],
        started: true,
        scenarios: &[Sustained],
        ..CRASHES
    },
    Row {
        mock: "mock-ws-server",
        env: &[("MOCK_CALL", "hangup")],
        scenarios: &[Sustained],
        ..HANGS_UP
    },
];

/// Every call is answered with an error.
const REFUSES: Row = Row { errors: &[ServerError], findings: &["no_success"], ..BROKEN };

/// A process answers 19 calls and dies of the next; it is started again.
const CRASHES: Row = Row {
    duration: LONG,
    errors: &[Crash],
    findings: &["server_crash"],
    checks: &[
        ("a second process succeeds too", |r| r.throughput.successful_requests > 19),
        ("stderr is shown", |r| {
            r.finding("server_crash")
                .is_some_and(|found| found.evidence[0].contains("simulated crash"))
        }),
    ],
    ..BROKEN
};

/// Every 20th call costs its session, which is opened again.
const HANGS_UP: Row = Row {
    duration: LONG,
    errors: &[Disconnected],
    findings: &["disconnected"],
    checks: &[("a second session succeeds too", |r| r.throughput.successful_requests > 20)],
    ..BROKEN
};

const NO_HANG: Check = ("nothing hangs", |r| r.hang_count == 0 && r.deadlock_count == 0);
const NO_DEADLOCK: Check = ("nothing is a deadlock", |r| r.deadlock_count == 0);
/// The histogram keeps three figures: its buckets begin a little below what they hold.
const TWO_SECONDS: Check = ("every call takes 2 s", |r| {
    r.latency.min >= Duration::from_millis(1995) && r.latency.p99 >= Duration::from_secs(2)
});
const DETECTED: Check =
    ("it is told as a deadlock", |r| r.deadlock_count >= 1 && says(r, "DEADLOCK DETECTED"));
const ALL_DEADLOCKED: Check =
    ("no call is answered", |r| u64::from(r.deadlock_count) == r.throughput.total_requests);
const OVER_HTTP: Check = ("calls succeed over HTTP", |r| {
    r.server_info.transport == "http" && r.throughput.successful_requests > 0
});
const OVER_SSE: Check = ("calls succeed over HTTP+SSE", |r| {
    r.server_info.transport == "sse" && r.throughput.successful_requests > 0
});
const OVER_WS: Check = ("calls succeed over a WebSocket", |r| {
    r.server_info.transport == "ws" && r.throughput.successful_requests > 0
});
const OBSERVED: Check =
    ("its memory is seen", |r| r.process.peak_rss_mb > 1.0 && r.process.peak_pss_mb > Some(1.0));
const CLIFF: Check = ("the first call takes 20 times as long", |r| {
    let tool = &r.tools[0];
    tool.first_call >= Some(Duration::from_millis(2995))
        && tool.first_call >= tool.steady_p50.map(|steady| steady * 20)
});

fn count(report: &Report, category: ErrorCategory) -> u64 {
    report.errors.by_category.get(&category).copied().unwrap_or(0)
}

fn says(report: &Report, words: &str) -> bool {
    report.finding("deadlock").is_some_and(|found| found.message.contains(words))
}

/// The shortest time of a step; nothing when it was never made.
fn step(report: &Report, name: &str) -> Duration {
    report
        .steps
        .iter()
        .find(|step| step.name == name)
        .map_or(Duration::ZERO, |step| step.latency.min)
}
