//! What a run found, and how it is told.
//!
//! [`Report`] is what everyone reads. To add a way of telling it: one file here with a type that
//! implements [`Renderer`], one line in [`RENDERERS`].

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
}

/// A renderer by name, and the file of a run directory that holds what it wrote.
pub struct RendererEntry {
    /// The word in `[output] formats` and `--format`.
    pub name: &'static str,
    /// The file name, where it is kept in a file.
    pub file: Option<&'static str>,
    /// What writes it.
    pub renderer: &'static dyn Renderer,
}

/// All renderers.
pub static RENDERERS: &[RendererEntry] = &[
    RendererEntry { name: "terminal", file: None, renderer: &terminal::Terminal::PLAIN },
    RendererEntry { name: "markdown", file: Some("report.md"), renderer: &markdown::Markdown },
    RendererEntry { name: "html", file: Some("report.html"), renderer: &html::Html },
    RendererEntry { name: "json", file: Some("metrics.json"), renderer: &json::Metrics },
    RendererEntry { name: "hlog", file: Some("latency.hlog"), renderer: &hlog::HistogramLog },
    RendererEntry {
        name: "openmetrics",
        file: Some("metrics.prom"),
        renderer: &openmetrics::OpenMetrics,
    },
];
