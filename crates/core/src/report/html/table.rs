//! Numbers as a table.

use std::fmt::Write as _;

use super::escape::{LONGEST_NAME, LONGEST_TEXT, text};

/// Rows of plain text; escaped when they are written.
#[derive(Default)]
pub(crate) struct Table {
    /// The names of the columns.
    pub(crate) head: Vec<String>,
    /// The rows.
    pub(crate) rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns.
    pub(crate) fn new(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> Self {
        let head = head.iter().map(|name| (*name).to_owned()).collect();
        Self { head, rows: rows.into_iter().collect() }
    }

    /// The table as HTML. The first column names its row.
    pub(crate) fn html(&self, caption: &str) -> String {
        let mut html = format!(
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table: {0}\"><table><caption>{0}</caption><thead><tr>",
            text(caption, LONGEST_NAME)
        );
        for name in &self.head {
            let _ = write!(html, "<th scope=\"col\">{}</th>", text(name, LONGEST_NAME));
        }
        html.push_str("</tr></thead><tbody>\n");
        for row in &self.rows {
            html.push_str("<tr>");
            for (at, cell) in row.iter().enumerate() {
                let cell = text(cell, LONGEST_TEXT);
                let _ = match at {
                    0 => write!(html, "<th scope=\"row\">{cell}</th>"),
                    _ => write!(html, "<td>{cell}</td>"),
                };
            }
            html.push_str("</tr>\n");
        }
        html.push_str("</tbody></table></div>");
        html
    }
}
