//! Lines of eighty columns: labels, indented texts and tables.

use anstyle::Style;

use super::{Detail, Signs};
use crate::{
    display::visible,
    report::wrap::{cut, width, wrap},
};

/// How many columns a line has at most.
const WIDTH: usize = 80;
/// Where the text of a labelled line begins.
const LABEL: usize = 11;
/// Columns of a small plot in a table.
pub(super) const PLOT: usize = 8;

/// A line: a styled beginning and plain text.
pub(super) struct Line {
    pub(super) style: Style,
    pub(super) label: String,
    pub(super) text: String,
}

/// The lines so far.
pub(super) struct Screen<'a> {
    pub(super) detail: &'a Detail,
    pub(super) signs: Signs,
    pub(super) lines: Vec<Line>,
}

impl<'a> Screen<'a> {
    pub(super) fn new(detail: &'a Detail, signs: Signs) -> Self {
        Self { detail, signs, lines: Vec::new() }
    }

    pub(super) fn line(&mut self, style: Style, label: &str, text: String) {
        self.lines.push(Line { style, label: label.to_owned(), text });
    }

    pub(super) fn blank(&mut self) {
        self.line(Style::new(), "", String::new());
    }

    pub(super) fn heading(&mut self, label: &str) {
        self.blank();
        self.line(Style::new().bold(), label, String::new());
    }

    /// A label and a text that goes on below itself.
    pub(super) fn labelled(&mut self, style: Style, label: &str, text: &str) {
        for (at, part) in wrap(text, WIDTH - LABEL).into_iter().enumerate() {
            let (style, label) = if at == 0 { (style, label) } else { (Style::new(), "") };
            let text = " ".repeat(LABEL - label.len()) + &part;
            self.line(style, label, text.trim_end().to_owned());
        }
    }

    pub(super) fn field(&mut self, label: &str, text: &str) {
        self.labelled(Style::new().bold(), label, text);
    }

    /// A text with a beginning of its own, such as a bullet, that goes on below itself.
    pub(super) fn indented(&mut self, bullet: &str, text: &str) {
        for (at, part) in wrap(text, WIDTH - bullet.len()).into_iter().enumerate() {
            let gap = if at == 0 { bullet.to_owned() } else { " ".repeat(bullet.len()) };
            self.line(Style::new(), "", gap + &part);
        }
    }

    /// Text from elsewhere.
    pub(super) fn foreign(&self, text: &str) -> String {
        visible(text, self.detail.text)
    }

    /// A row of a table: a name that is cut, and figures at the right.
    pub(super) fn row(&mut self, name: &str, cells: [String; 5]) {
        self.row_with(name, "", cells);
    }

    /// The same with a small plot behind the name.
    pub(super) fn row_with(&mut self, name: &str, plot: &str, cells: [String; 5]) {
        const NAME: usize = 27;
        let room = NAME - if plot.is_empty() { 0 } else { PLOT + 1 };
        let name = cut(&visible(name, 200), room);
        let plot = if plot.is_empty() { String::new() } else { format!(" {plot}") };
        let name = format!("{name}{}{plot}", " ".repeat(room - width(&name)));
        let gap = " ".repeat(NAME.saturating_sub(width(&name)));
        let cells: String = cells.iter().map(|cell| format!("{cell:>10}")).collect();
        self.line(Style::new(), "", format!("{name}{gap}{cells}").trim_end().to_owned());
    }

    pub(super) fn more(&mut self, all: usize, shown: usize) {
        if all > shown {
            self.line(Style::new(), "", format!("  and {} more in report.md", all - shown));
        }
    }
}
