//! The end of a run on a terminal: the verdict first, at most forty lines of eighty columns.
//!
//! Styles are ANSI sequences that the command line strips where they do not belong; every line
//! says the same without them. Our own words are ASCII, for terminals that know no more.

mod screen;
mod sections;

use std::io;

use self::screen::{Line, Screen};
use super::{Renderer, Report};

/// How many lines there are at most.
const HEIGHT: usize = 40;

/// Writes the summary at the end of a run.
pub struct Terminal;

impl Renderer for Terminal {
    fn render(&self, report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
        for line in fitting(report) {
            writeln!(
                out,
                "{}{}{}{}",
                line.style,
                line.label,
                line.style.render_reset(),
                line.text
            )?;
        }
        Ok(())
    }
}

/// How much is told of what there may be much of.
struct Detail {
    sentences: usize,
    rows: usize,
    findings: usize,
    evidence: usize,
    hints: bool,
    /// Characters of a text from elsewhere.
    text: usize,
}

/// From all that is worth telling down to what always fits.
const DETAILS: &[Detail] = &[
    Detail { sentences: 5, rows: 8, findings: 8, evidence: 5, hints: true, text: 300 },
    Detail { sentences: 5, rows: 5, findings: 6, evidence: 2, hints: true, text: 200 },
    Detail { sentences: 4, rows: 3, findings: 5, evidence: 1, hints: true, text: 150 },
    Detail { sentences: 3, rows: 0, findings: 4, evidence: 1, hints: false, text: 130 },
    Detail { sentences: 1, rows: 0, findings: 2, evidence: 0, hints: false, text: 120 },
];

/// The most detailed telling that fits.
fn fitting(report: &Report) -> Vec<Line> {
    let mut lines = Vec::new();
    for detail in DETAILS {
        let mut screen = Screen::new(detail);
        screen.tell(report);
        lines = screen.lines;
        if lines.len() <= HEIGHT {
            break;
        }
    }
    lines.truncate(HEIGHT);
    lines
}
