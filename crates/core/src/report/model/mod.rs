//! The types of a report.
//!
//! | file      | what it holds                                                     |
//! |-----------|-------------------------------------------------------------------|
//! | `run`     | the report                                                        |
//! | `finding` | what was concluded                                                |
//! | `stats`   | figures                                                           |
//! | `about`   | whose figures they are, and how far they can be trusted           |

mod about;
mod finding;
mod run;
mod stats;

pub use about::{Coverage, KeywordCoverage, ServerInfo, TraceStats, Validity};
pub use finding::{Finding, Severity, Verdict};
pub use run::Report;
pub use stats::{
    ErrorStats, LatencyStats, ProcessStats, SegmentStats, StepStats, ThroughputStats, ToolStats,
    Window,
};
