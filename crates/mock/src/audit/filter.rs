//! Which rows are wanted.

use super::{
    row::{Kind, Row},
    time::Timestamp,
};

/// Which rows are wanted. Everything that is said must hold; the default wants all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Not before this moment.
    pub from: Option<Timestamp>,
    /// Before this moment.
    pub to: Option<Timestamp>,
    /// Calls of this tool.
    pub tool: Option<String>,
    /// Messages of this method.
    pub method: Option<String>,
    /// Messages in this session.
    pub session: Option<String>,
    /// What went well, or what did not.
    pub success: Option<bool>,
    /// Errors of this category.
    pub category: Option<String>,
    /// What has this text in its arguments or in its error message.
    pub q: Option<String>,
    /// Rows of this kind.
    pub kind: Option<Kind>,
    /// Rows after this one.
    pub after: Option<u64>,
    /// No more than so many.
    pub limit: Option<usize>,
    /// Which ones the limit keeps. Rows come in the order of arrival either way.
    pub keep: Keep,
}

/// What a limit keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Keep {
    /// Those that arrived first.
    #[default]
    First,
    /// Those that arrived last.
    Last,
}

impl Filter {
    /// Whether a row is wanted, the limit left aside.
    pub fn matches(&self, row: &Row) -> bool {
        let is = |wanted: &Option<String>, found: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| found == Some(wanted))
        };
        let has = |text: &Option<String>, q: &str| text.as_deref().unwrap_or_default().contains(q);
        self.from.is_none_or(|from| row.ts >= from)
            && self.to.is_none_or(|to| row.ts < to)
            && is(&self.tool, row.tool.as_deref())
            && is(&self.method, row.method.as_deref())
            && is(&self.session, row.session.as_deref())
            && self.success.is_none_or(|success| row.success == success)
            && is(&self.category, row.error_category.as_deref())
            && self.kind.is_none_or(|kind| row.kind == kind)
            && self.after.is_none_or(|after| row.seq > after)
            && self
                .q
                .as_deref()
                .is_none_or(|q| has(&row.arguments, q) || has(&row.error_message, q))
    }

    /// The part of a list in order of arrival that the limit keeps.
    pub(super) fn cut<'a, T>(&self, list: &'a [T]) -> &'a [T] {
        let limit = self.limit.unwrap_or(list.len()).min(list.len());
        match self.keep {
            Keep::First => &list[..limit],
            Keep::Last => &list[list.len() - limit..],
        }
    }
}
