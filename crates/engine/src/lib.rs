//! Load-test an MCP server and find out how it breaks.
//!
//! A [`Run`] drives a [`Scenario`] against a [`Server`] and gives a [`Report`] whose verdict a test
//! can assert. Nothing is global: any number of runs may go on at the same time in one process.
//!
//! ```no_run
//! use mcp_loadtest::{Run, Scenario, Server, Thresholds};
//! use serde_json::json;
//! use std::time::Duration;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! let server = Server::stdio("python").args(["-m", "my_mcp"]).env("LOG_LEVEL", "warn");
//! let scenario = Scenario::sustained()
//!     .concurrent(20)
//!     .duration(Duration::from_secs(30))
//!     .tool("get_market_data")
//!     .args(json!({ "ticker": "AAPL" }));
//!
//! let report = Run::new(server, scenario)
//!     .with_thresholds(Thresholds {
//!         p99_latency: Duration::from_millis(500),
//!         error_rate: 0.01,
//!         hang_timeout: Duration::from_secs(5),
//!         ..Default::default()
//!     })
//!     .execute()
//!     .await
//!     .expect("run failed");
//!
//! assert!(report.passed(), "thresholds violated: {report:?}");
//! assert_eq!(report.deadlock_count, 0);
//! # }
//! ```
//!
//! Whoever listens with `tracing` (target `mcp_loadtest`) hears of phases, notes, hangs and failures as they
//! happen.
//!
//! How well an agent recovered from a call that never came back is scored by [`eval`]:
//!
//! ```
//! use mcp_loadtest::eval::{meets_recovery_budget, score_recovery, RecoveryObservation};
//!
//! let report = score_recovery(&RecoveryObservation {
//!     call_start_ms: 0,
//!     detected_ms: Some(3_000),
//!     recovered_ms: Some(3_200),
//!     timeout_budget_ms: 3_000,
//! });
//! assert!(report.clean_timeout);
//! assert!(meets_recovery_budget(&report, 5_000));
//! ```

mod conductor;
mod context;
mod contract;
mod coverage;
mod error;
mod files;
mod fuzz;
mod greet;
mod history;
mod load;
mod log;
mod pause;
mod plan;
mod probe;
mod recorder;
mod rounds_dir;
mod run;
mod run_dir;
mod sampler;
mod saved;
pub mod scenario;
mod sequences;
mod session;
mod stop;
mod suite;
mod target;
mod trace_writer;
mod unfinished;
mod wall_clock;
mod watch;

pub use error::RunError;
pub use fuzz::{Replay, ReplayVerdict, Replayed};
pub use greet::{Greeting, greet};
pub use history::{History, PastRun, write_comparison};
pub use mcp_loadtest_core::{
    compare::{self, Comparison, ComparisonVerdict, Policy},
    config::{Baseline, Config, ConfigError, Format, Trace},
    eval,
    exit::Exit,
    fuzz::{CaseFile, Class, FuzzStats, Payload},
    live::{self, Snapshot},
    mcp::{Era, Revision, Tool},
    outcome::{ErrorCategory, Outcome},
    pace::{Level, Rate, ThinkTime},
    report::{Finding, LatencyStats, Report, ServerInfo, Severity, Verdict},
    scenario::{
        ErrorBehavior, PatternName, Scenario, ScenarioKind, ScenarioName, Sequence, SequenceStep,
        StageSettings, ToolCall, kinds::*,
    },
    secrets::Secrets,
    seed::Seed,
    server::{Server, Transport},
    thresholds::{ThresholdKind, ThresholdViolation, Thresholds},
};
pub use mcp_loadtest_wire::session::OpenError;
pub use pause::Pause;
pub use probe::{
    ANOTHER_TOOL, Check, PROBES, Probe, ProbeReport, TIME_IS_OVER, ToolProbe, ToolVerdict, Watcher,
};
pub use recorder::Progress;
pub use rounds_dir::RoundsDir;
pub use run::Run;
pub use run_dir::write_again;
pub use saved::{SavedError, SavedRun};
pub use session::{Answer, Session};
pub use stop::{Stop, StopOnDrop};
pub use suite::{
    LoadedSuite, NoStand, Speaker, Stand, StartedLlm, StartedMock, Starting, SuiteOutcome,
    SuiteRun, TestWatcher, Watched,
};
pub use target::secrets_of;
pub use unfinished::{Unfinished, UnfinishedRun};
pub use wall_clock::wall_time;
pub use watch::Watch;
