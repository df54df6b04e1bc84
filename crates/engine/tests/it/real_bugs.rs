//! Bugs of published servers that must be found, and their fixes, which must not be.
//!
//! The sources of each are in `docs`; the servers are installed as of the time of the bug.

use std::{rc::Rc, time::Duration};

use mcp_loadtest::{
    ErrorCategory, Finding, Report, Revision, Run, Scenario, Server, Severity, Verdict,
};
use mcp_loadtest_core::{
    analysis,
    event::{Event, Phase},
    report::RunInfo,
    tally::Tally,
};
use mcp_loadtest_wire::{
    clock::Clock,
    process::Launch,
    session::{Deadlines, How, Options, Reply, Session, Target},
    sink::Sink,
};
use serde_json::json;
use tokio::task::LocalSet;

use crate::{
    environments::{START_LIMIT, program, python_echo},
    fixtures::verdict,
};

/// HKUDS/Vibe-Trading, pull requests 85 and 86: the first call pays for an import of many seconds.
/// Where it was reported, the import never ends in the worker thread that makes it. On Linux it takes its
/// seconds and ends, so what must be found is the cliff, and a deadlock must not be
/// (docs/design/silence.md).
mod vibe_trading {
    use super::*;

    /// The import takes 7 s of CPU; a machine that does other things needs many times that.
    const GRACE: Duration = Duration::from_secs(120);
    /// No call that pays for it is as fast as this, and none that only waits for a CPU as slow.
    const NO_IMPORT: Duration = Duration::from_millis(2_500);

    async fn probe(version: &str, hang: Duration) -> Report {
        let command = program(&format!("vibe-trading-{version}"), "bin/vibe-trading-mcp");
        let server = Server::stdio(command).startup_timeout(START_LIMIT);
        let scenario = Scenario::deadlock_probe()
            .concurrent(20)
            .hang_threshold(hang)
            .grace_period(GRACE)
            .tool("analyze_options")
            .args(json!({ "spot": 100, "strike": 100, "expiry_days": 30, "volatility": 0.2 }));
        Run::new(server, scenario).execute().await.expect("the server starts")
    }

    fn assert_cliff(report: &Report) {
        let tool = &report.tools[0];
        let (first, steady) =
            (tool.first_call.expect("a first call"), tool.steady_p50.expect("steady calls"));
        assert!(first >= steady * 20, "{first:?} {steady:?}");
        let found =
            report.finding("lazy_init_cliff").unwrap_or_else(|| panic!("{:#?}", report.findings));
        let figure = |time: Duration| mcp_loadtest_core::units::format_latency(time);
        assert!(
            found.message.contains(&figure(first)) && found.message.contains(&figure(steady)),
            "{}",
            found.message
        );
        assert_eq!(report.deadlock_count, 0, "{:#?}", report.findings);
        assert!(report.finding("deadlock").is_none() && report.passed());
    }

    #[tokio::test]
    async fn the_first_call_of_0_1_7_is_a_cliff_and_no_deadlock() {
        let report = probe("0.1.7", Duration::from_secs(5)).await;
        assert_cliff(&report);
    }

    #[tokio::test]
    async fn a_threshold_below_the_cliff_makes_it_slow_and_still_no_deadlock() {
        let report = probe("0.1.7", Duration::from_secs(1)).await;
        assert_cliff(&report);
        assert!(report.hang_count >= 1, "{:#?}", report.findings);
        assert!(
            report.errors.by_category.keys().all(|category| *category == ErrorCategory::Hang),
            "{:?}",
            report.errors
        );
        assert_eq!(report.verdict, Verdict::Warning);
    }

    #[tokio::test]
    async fn version_0_1_8_is_clean() {
        // Far above what a call takes: the machine may be busy with the other tests.
        let report = probe("0.1.8", Duration::from_secs(30)).await;
        let first = report.tools[0].first_call;
        assert!(
            report.finding("lazy_init_cliff").is_none() || first < Some(NO_IMPORT),
            "{:#?}",
            report.findings
        );
        assert_eq!(
            (report.hang_count, report.deadlock_count, report.errors.total),
            (0, 0, 0),
            "{:#?}",
            report.findings
        );
        assert!(report.passed(), "{:#?}", report.findings);
    }
}

/// modelcontextprotocol/python-sdk, pull request 822: until 1.9.3 a request that cannot be parsed
/// ends the server.
mod unknown_method {
    use super::*;
    use std::cell::RefCell;

    /// What a session sees, folded as a run folds it.
    #[derive(Default)]
    struct Fold(RefCell<Tally>);

    impl Sink for Fold {
        fn emit(&self, event: &Event<'_>) {
            self.0.borrow_mut().observe(event);
        }
    }

    /// Sends an unknown method and a `ping` after it; 1.9.3 dies of the first, but only when it
    /// reads the next line. Gives the replies to both and what a run would have found.
    async fn send_to(version: &str) -> (Reply, Reply, Vec<Finding>) {
        let name = format!("mcp-{version}");
        let mut launch = Launch::new(program(&name, "bin/python"));
        launch.args = vec![program(&name, "echo_mcp.py")];
        let fold = Rc::new(Fold::default());
        let options =
            Options { startup_timeout: START_LIMIT, ..Options::new(fold.clone(), Clock::start()) };
        let opened = Session::open(&Target::Stdio(launch), &options, Revision::V2025_03_26).await;
        let (session, _) = opened.expect("the server starts");
        let patient = Deadlines {
            hang: Duration::from_secs(30),
            grace: Duration::from_secs(60),
            timeout: Duration::MAX,
        };
        let how = How::new(Phase::Load, patient);
        let (unknown, ping) =
            (session.prepare("no/such/method", json!({})), session.prepare("ping", json!({})));
        let replies = tokio::join!(session.call(&unknown, how), session.call(&ping, how));
        session.close().await;
        let findings = analysis::judge(&fold.0.borrow(), &info());
        (replies.0, replies.1, findings)
    }

    fn info() -> RunInfo {
        RunInfo {
            run_id: "01".into(),
            started_at: std::time::SystemTime::UNIX_EPOCH,
            duration: Duration::ZERO,
            scenario: Scenario::sustained().into(),
            thresholds: Default::default(),
            server_info: Default::default(),
            trace: Default::default(),
            trace_path: Default::default(),
            trace_bytes: 0,
            run_dir: None,
        }
    }

    #[tokio::test]
    async fn it_ends_mcp_1_9_3_and_its_last_words_are_shown() {
        let (unknown, ping, findings) = LocalSet::new().run_until(send_to("1.9.3")).await;
        assert_eq!(unknown.failure(), Some(ErrorCategory::Crash), "{unknown:?}");
        assert_eq!(ping.failure(), Some(ErrorCategory::Crash), "{ping:?}");
        let crash = findings
            .iter()
            .find(|found| found.id == "server_crash")
            .unwrap_or_else(|| panic!("{findings:#?}"));
        assert_eq!(crash.severity, Severity::Critical);
        assert!(
            crash.evidence[0].contains("exit code 1")
                && crash.evidence[0].contains("no/such/method"),
            "{crash:#?}"
        );
    }

    #[tokio::test]
    async fn mcp_1_9_4_refuses_it_and_goes_on() {
        let (unknown, ping, findings) = LocalSet::new().run_until(send_to("1.9.4")).await;
        assert_eq!(
            (unknown.failure(), unknown.code),
            (Some(ErrorCategory::ProtocolError), Some(-32602))
        );
        assert_eq!(ping.failure(), None, "{ping:?}");
        assert!(findings.iter().all(|found| found.severity < Severity::Critical), "{findings:#?}");
    }

    /// The question for the era is such a method too; it must not be asked of the server under test.
    #[tokio::test]
    async fn finding_the_era_does_no_harm_to_mcp_1_9_3() {
        let scenario =
            Scenario::deadlock_probe().concurrent(4).hang_threshold(Duration::from_secs(30));
        let scenario = scenario.tool("echo").args(json!({ "text": "x" }));
        let report = Run::new(python_echo("1.9.3"), scenario).execute().await;
        let report = report.expect("the server starts");
        assert_eq!(
            (verdict(&report), report.errors.total),
            (Verdict::Pass, 0),
            "{:#?}",
            report.findings
        );
    }
}
