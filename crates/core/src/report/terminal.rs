//! The end of a run on a terminal: the verdict first, at most forty lines of eighty columns.
//!
//! Styles are ANSI sequences that the command line strips where they do not belong; every line
//! says the same without them. Our own words are ASCII, for terminals that know no more; only small
//! plots have blocks where these are known.

mod course;
mod kept;
mod screen;
mod sections;
#[cfg(test)]
mod tests;

use std::io;

use self::screen::{Line, Screen};
use super::{
    Renderer, Report,
    Severity::{self, Critical, Info},
};

/// How many lines there are at most.
const HEIGHT: usize = 40;
/// How many of them are kept at the top where there are still too many.
const HEAD: usize = 12;

/// Writes the summary at the end of a run.
#[derive(Debug, Clone, Copy)]
pub struct Terminal {
    /// What small plots are made of.
    pub signs: Signs,
}

/// What small plots are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signs {
    /// Signs that every terminal and every file has.
    Ascii,
    /// Blocks of rising height.
    Blocks,
}

impl Terminal {
    /// For files, pipes and terminals of which nothing is known.
    pub const PLAIN: Self = Self { signs: Signs::Ascii };
}

impl Renderer for Terminal {
    fn render(&self, report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
        for line in fitting(report, self.signs) {
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
    /// From which severity on findings have their hints.
    hints: Option<Severity>,
    /// Characters of a text from elsewhere.
    text: usize,
}

/// From all that is worth telling down to what always fits.
const DETAILS: &[Detail] = &[
    Detail { sentences: 5, rows: 8, findings: 8, evidence: 5, hints: Some(Info), text: 300 },
    Detail { sentences: 5, rows: 5, findings: 6, evidence: 2, hints: Some(Info), text: 200 },
    Detail { sentences: 4, rows: 3, findings: 5, evidence: 1, hints: Some(Info), text: 150 },
    Detail { sentences: 3, rows: 0, findings: 4, evidence: 1, hints: Some(Critical), text: 130 },
    Detail { sentences: 2, rows: 0, findings: 2, evidence: 1, hints: Some(Critical), text: 130 },
    // What is gravest with what helps says more than two that say nothing.
    Detail { sentences: 1, rows: 0, findings: 1, evidence: 1, hints: Some(Critical), text: 130 },
    Detail { sentences: 1, rows: 0, findings: 2, evidence: 0, hints: None, text: 120 },
];

/// The most detailed telling that fits.
fn fitting(report: &Report, signs: Signs) -> Vec<Line> {
    let mut lines = Vec::new();
    for detail in DETAILS {
        let mut screen = Screen::new(detail, signs);
        screen.tell(report);
        lines = screen.lines;
        if lines.len() <= HEIGHT {
            break;
        }
    }
    // What is first and what is last matters most.
    let too_many = lines.len().saturating_sub(HEIGHT);
    lines.drain(HEAD..HEAD + too_many);
    lines
}
