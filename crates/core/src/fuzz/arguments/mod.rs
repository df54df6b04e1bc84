//! Arguments at and beyond the limits of a tool's schema.
//!
//! A good set of arguments is made first (`generate`). At each of its places (`site`) the keywords
//! that hold there suggest edits: `number`, `text`, `list` and `object`. What an edit is meant to be,
//! right or wrong, is held against the schema by a validator (`oracle`) that is not ours; where the
//! two disagree, the case is thrown away and counted.

mod edit;
mod list;
mod number;
mod object;
mod oracle;
mod site;
mod text;

use std::cell::Cell;

use serde_json::{Value, json};

use self::{
    edit::{Edit, written},
    oracle::Oracle,
    site::{Site, sites},
};
use super::{Answer, Intent};
use crate::{
    generate::{self, Budget, Fill},
    mcp::Tool,
    seed::Dice,
};

/// Edits of one tool at most.
const MOST_EDITS: usize = 2_000;
/// How often random arguments are made again when the schema sees them otherwise.
const ATTEMPTS: usize = 8;

/// One set of arguments.
pub(super) struct Made {
    pub(super) label: String,
    /// The arguments as JSON text; it may hold what no JSON value can.
    pub(super) text: String,
    pub(super) intent: Option<Intent>,
    pub(super) answer: Answer,
    pub(super) heavy: bool,
}

/// Everything that can be tried on one tool.
pub(super) struct Range {
    schema: Value,
    base: Value,
    edits: Vec<Edit>,
    oracle: Oracle,
    discarded: Cell<u64>,
}

impl Range {
    pub(super) fn new(tool: &Tool, dice: &mut Dice) -> Self {
        let schema = tool.input_schema.clone();
        let oracle = Oracle::new(&schema);
        let base = base(&schema, dice, Fill::All);
        let mut range =
            Self { edits: Vec::new(), schema, base, oracle, discarded: Cell::default() };
        let edits: Vec<Edit> =
            sites(&range.schema, &range.base).iter().flat_map(Site::edits).collect();
        range.edits = edits.into_iter().filter(|edit| range.is_as_meant(edit)).collect();
        range.edits.truncate(MOST_EDITS);
        range
    }

    /// Arguments that were made and not sent, because they were not what they were meant to be.
    pub(super) fn discarded(&self) -> u64 {
        self.discarded.get()
    }

    /// Arguments that are good, as far as we can tell.
    pub(super) fn good(&self) -> &Value {
        &self.base
    }

    /// The n-th set: the good one, then each limit, then chance.
    pub(super) fn make(&self, index: u64, dice: &mut Dice) -> Made {
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        match index.checked_sub(1).map(|index| self.edits.get(index)) {
            None => self.made("good arguments".into(), self.base.clone(), &[]),
            Some(Some(edit)) => {
                self.made(edit.label.clone(), edit.applied(&self.base), std::slice::from_ref(edit))
            }
            Some(None) => self.random(dice),
        }
    }

    fn random(&self, dice: &mut Dice) -> Made {
        for _ in 0..ATTEMPTS {
            let fill = if dice.below(2) == 0 { Fill::All } else { Fill::Required };
            let base = base(&self.schema, dice, fill);
            let sites = sites(&self.schema, &base);
            let mut value = base;
            let mut edits: Vec<Edit> = Vec::new();
            for _ in 0..1 + dice.below(3) {
                let site = &sites[dice.below(sites.len() as u64) as usize];
                let edit = site.chance(dice);
                value = edit.applied(&value);
                edits.push(edit);
            }
            if self.agrees(meant(&edits), &value) {
                let labels: Vec<_> = edits.iter().map(|edit| edit.label.as_str()).collect();
                return self.made(labels.join("; "), value, &edits);
            }
            self.discarded.set(self.discarded.get() + 1);
        }
        self.made("good arguments".into(), self.base.clone(), &[])
    }

    fn is_as_meant(&self, edit: &Edit) -> bool {
        let agrees = self.agrees(edit.meant, &edit.applied(&self.base));
        if !agrees {
            self.discarded.set(self.discarded.get() + 1);
        }
        agrees
    }

    /// Whether the schema sees it as it was meant. Where nothing was meant or nobody can tell, it does.
    fn agrees(&self, meant: Option<Intent>, value: &Value) -> bool {
        match (meant, self.oracle.intent(value)) {
            (Some(meant), Some(found)) => meant == found,
            _ => true,
        }
    }

    fn made(&self, label: String, value: Value, edits: &[Edit]) -> Made {
        let (text, is_plain) = written(&value);
        Made {
            label,
            intent: self.oracle.intent(&value).filter(|_| is_plain),
            // A lone surrogate is dropped by some readers as no JSON at all.
            answer: if is_plain { Answer::Must } else { Answer::May },
            heavy: edits.iter().any(|edit| edit.heavy),
            text,
        }
    }
}

/// What the edits are meant to give. One may undo another, so several promise nothing.
fn meant(edits: &[Edit]) -> Option<Intent> {
    match edits {
        [edit] => edit.meant,
        _ => None,
    }
}

fn base(schema: &Value, dice: &mut Dice, fill: Fill) -> Value {
    let budget = Budget { fill, text: 4096, total: 64 * 1024, nodes: 2_000, ..Budget::default() };
    generate::arguments(schema, dice, &budget).unwrap_or_else(|_| json!({}))
}

#[cfg(test)]
mod tests;
