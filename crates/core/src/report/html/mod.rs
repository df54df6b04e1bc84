//! `report.html`: the report as one page that needs nothing but itself.
//!
//! | file     | what it holds                                                                   |
//! |----------|---------------------------------------------------------------------------------|
//! | `page`   | the page of a run, and what is seen first; `shell` is around every page         |
//! | `plots/` | one file for each plot; how to add one                                          |
//! | `figure` | a plot with its sentence and its table; `table` is the latter                   |
//! | `time`   | plots over time, `span` parts of it; `canvas` and `scale` draw without a script  |
//! | `live`   | the same page of a run that goes on                                             |
//! | `checks` | the page of a list of checks, which others fill in                              |
//! | `course` | what several plots know of the run                                              |
//! | `escape` | text from elsewhere                                                             |
//!
//! Style and script lie in `assets/report/`; `scripts/vendor-uplot.sh` says where uPlot is from.

pub(crate) mod canvas;
pub mod checks;
mod course;
pub(crate) mod escape;
pub(crate) mod figure;
pub mod live;
pub(crate) mod nines;
mod page;
mod plots;
pub(crate) mod scale;
pub(crate) mod shell;
mod span;
pub(crate) mod table;
#[cfg(test)]
mod tests;
mod time;

use std::io;

use super::{Renderer, Report};

/// Writes `report.html`.
pub struct Html;

impl Renderer for Html {
    fn render(&self, report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
        out.write_all(page::page(report).as_bytes())
    }
}
