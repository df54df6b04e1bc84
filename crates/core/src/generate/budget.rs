//! How far a schema may make us go, and the meter that holds it to that.

use serde_json::Value;

use super::unusable::Why;

/// Which of the optional properties are filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fill {
    /// Only what the schema requires: the smallest call, and the likeliest to be accepted.
    #[default]
    Required,
    /// Every property that can be made.
    All,
}

/// Which paths are named where a tool asks for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Paths {
    /// `.` and the like: a tool that reads should find something.
    #[default]
    Existing,
    /// Names that do not exist: for a tool that may overwrite or delete what it is given.
    MadeUp,
}

/// Limits on one set of arguments, and two wishes. The limits are far above what honest schemas
/// need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// Which of the optional properties are filled.
    pub fill: Fill,
    /// Which paths are named; what the schema suggests itself is taken as it is.
    pub paths: Paths,
    /// How deep values may nest. The walk recurses, so this also bounds the stack.
    pub depth: usize,
    /// How many values may be tried, counting those that are thrown away again.
    pub nodes: usize,
    /// The longest string, in bytes.
    pub text: usize,
    /// All strings and names together, in bytes.
    pub total: usize,
    /// The largest schema that is looked at, in bytes (roughly as written).
    pub schema: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            fill: Fill::Required,
            paths: Paths::Existing,
            depth: 64,
            nodes: 10_000,
            text: 64 * 1024,
            total: 1024 * 1024,
            schema: 1024 * 1024,
        }
    }
}

/// Small work (keywords read, list items passed, pattern states entered) allowed for each node.
const STEPS_PER_NODE: usize = 100;

/// What is left of a [`Budget`]. Every loop whose length a schema decides pays here.
#[derive(Debug)]
pub(super) struct Meter {
    nodes: usize,
    steps: usize,
    bytes: usize,
}

impl Meter {
    pub(super) fn new(budget: &Budget) -> Self {
        Self {
            nodes: budget.nodes,
            steps: budget.nodes.saturating_mul(STEPS_PER_NODE),
            bytes: budget.total,
        }
    }

    /// Pays for one value that is tried.
    pub(super) fn node(&mut self) -> Result<(), Why> {
        pay(&mut self.nodes, 1)
    }

    /// Refuses at once what could not be paid for later.
    pub(super) fn can_make(&self, values: u64) -> Result<(), Why> {
        if values > self.nodes as u64 { Err(Why::TooMuch) } else { Ok(()) }
    }

    /// Pays for small work.
    pub(super) fn steps(&mut self, count: usize) -> Result<(), Why> {
        pay(&mut self.steps, count)
    }

    /// Pays for text that will be part of the arguments.
    pub(super) fn bytes(&mut self, count: usize) -> Result<(), Why> {
        pay(&mut self.bytes, count)
    }
}

fn pay(purse: &mut usize, price: usize) -> Result<(), Why> {
    let rest = purse.checked_sub(price);
    // An emptied purse stays empty, so that nothing small succeeds after something large failed.
    *purse = rest.unwrap_or(0);
    rest.map(|_| ()).ok_or(Why::TooMuch)
}

/// Roughly how many bytes a value takes as JSON, or `None` when that is more than `limit`.
pub(super) fn weight(value: &Value, limit: usize) -> Option<usize> {
    let mut sum = 0_usize;
    let mut todo = vec![value];
    while let Some(value) = todo.pop() {
        sum += 2;
        match value {
            Value::String(text) => sum += text.len(),
            Value::Array(items) => todo.extend(items),
            Value::Object(map) => {
                sum += map.keys().map(|name| name.len() + 3).sum::<usize>();
                todo.extend(map.values());
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => sum += 3,
        }
        if sum > limit {
            return None;
        }
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_empty_purse_stays_empty() {
        let mut meter = Meter::new(&Budget { total: 10, ..Budget::default() });
        assert_eq!(meter.bytes(9), Ok(()));
        assert_eq!(meter.bytes(2), Err(Why::TooMuch));
        assert_eq!(meter.bytes(1), Err(Why::TooMuch));
    }

    #[test]
    fn weight_counts_names_and_text() {
        assert_eq!(weight(&json!({ "ab": "cde" }), 100), Some(2 + 5 + 2 + 3));
        assert_eq!(weight(&json!("x".repeat(200)), 100), None);
    }

    #[test]
    fn a_meter_pays_up_to_its_limit_and_no_further() {
        let mut meter = Meter::new(&Budget { nodes: 2, ..Budget::default() });
        assert_eq!([1, 2].map(|values| meter.can_make(values)), [Ok(()), Ok(())]);
        assert_eq!(meter.can_make(3), Err(Why::TooMuch));
        assert_eq!(meter.steps(2 * STEPS_PER_NODE), Ok(()));
        assert_eq!(meter.steps(1), Err(Why::TooMuch));
        assert_eq!((meter.node(), meter.node()), (Ok(()), Ok(())));
        assert_eq!(meter.node(), Err(Why::TooMuch));
    }

    #[test]
    fn weight_adds_up_what_is_inside() {
        for (value, expected) in [
            (json!(null), 5),
            (json!(""), 2),
            (json!([]), 2),
            (json!([null, "a"]), 2 + 5 + 3),
            (json!({ "ab": "cde", "x": 1 }), 2 + 5 + 4 + 5 + 5),
        ] {
            assert_eq!(weight(&value, 100), Some(expected), "{value}");
            assert_eq!(weight(&value, expected), Some(expected), "{value}");
            assert_eq!(weight(&value, expected - 1), None, "{value}");
        }
    }
}
