//! What a run found, and how it is told.
//!
//! [`Report`] is what everyone reads. To add a way of telling it: one file here with a type that
//! implements [`Renderer`], and one line in `renderers!` below, which is also its word in `[output]
//! formats`, in `--format` and in the schema. Texts of the server go through [`crate::display`] or are
//! escaped: the tests give every renderer a hostile report. A picture of a healthy run is in `tests.rs`.

mod build;
mod chart;
mod felt;
pub mod figures;
mod grading;
pub mod hlog;
pub mod html;
pub mod json;
pub mod markdown;
pub(crate) mod markup;
mod meaning;
pub mod model;
mod omission;
pub mod openmetrics;
pub(crate) mod phrases;
mod segments;
pub mod summary;
pub mod terminal;
mod trial;
pub(crate) mod validity;
pub mod wrap;

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tests;

use std::io;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use build::{RunInfo, build, unjudged};
pub use meaning::meaning;
pub use model::{
    Coverage, ErrorStats, Finding, KeywordCoverage, LatencyStats, ProcessStats, Report,
    SegmentStats, ServerInfo, Severity, StepStats, ThroughputStats, ToolStats, TraceStats,
    Validity, Verdict, Window,
};
pub use trial::judge_trial;

/// Tells a report as bytes.
pub trait Renderer: Sync {
    /// Writes the report.
    fn render(&self, report: &Report, out: &mut dyn io::Write) -> io::Result<()>;

    /// Whether it tells which faults were at work, where that is known.
    fn shows_faults(&self) -> bool {
        true
    }
}

/// A renderer by name, and the file of a run directory that holds what it wrote.
pub struct RendererEntry {
    /// The form that it writes.
    pub format: Format,
    /// The word in `[output] formats` and `--format`.
    pub name: &'static str,
    /// The file name, where it is kept in a file.
    pub file: Option<&'static str>,
    /// What writes it.
    pub renderer: &'static dyn Renderer,
}

/// Makes the words of configurations and the table of renderers from one list.
macro_rules! renderers {
    ($($(#[$doc:meta])+ $format:ident = $word:literal, $file:expr, $renderer:expr;)+) => {
        /// A form in which a result is told.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
        )]
        #[serde(rename_all = "snake_case")]
        pub enum Format {
            $($(#[$doc])+ $format,)+
        }

        impl Format {
            /// All forms.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$format),+];

            /// The word used in configurations and flags.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$format => $word,)+ }
            }
        }

        /// All renderers.
        pub static RENDERERS: &[RendererEntry] = &[$(RendererEntry {
            format: Format::$format,
            name: $word,
            file: $file,
            renderer: &$renderer,
        },)+];
    };
}

renderers! {
    /// `report.md`, for people.
    Markdown = "markdown", Some("report.md"), markdown::Markdown;
    /// `report.html`, one page with plots, for people.
    Html = "html", Some("report.html"), html::Html;
    /// `metrics.json` and `summary.json`, for programs.
    Json = "json", Some("metrics.json"), json::Metrics;
    /// A summary on the terminal.
    Terminal = "terminal", None, terminal::Terminal::PLAIN;
    /// `latency.hlog`, an HdrHistogram log of the response times.
    Hlog = "hlog", Some("latency.hlog"), hlog::HistogramLog;
    /// `metrics.prom`, OpenMetrics text for Prometheus.
    Openmetrics = "openmetrics", Some("metrics.prom"), openmetrics::OpenMetrics;
}
