//! Arguments for a tool, made from its `inputSchema`, so that a tool can be called unseen.
//!
//! A value is made part by part (`maker` and a file for each type) and then held against the schema
//! it came from (`check`); what does not hold is never handed out. What the schema itself suggests
//! (`default`, `examples`, `enum`) comes first, because a tool is likeliest to accept it. All else
//! is plain on purpose: see `names`.
//!
//! The schema comes from a peer: references outside the document are never followed, and every
//! walk pays from a [`Budget`].
//!
//! To add a keyword: read it in the file of its type, and add its rule to the table in `check`.

mod array;
mod budget;
mod check;
mod format;
pub mod keywords;
mod kind;
mod maker;
mod names;
mod number;
mod object;
mod pattern;
mod schema;
#[cfg(test)]
mod tests;
mod text;
mod unusable;

use serde_json::Value;

pub use self::budget::{Budget, Fill, Paths};
pub(crate) use self::names::is_waiting;
pub use self::names::words;
pub(crate) use self::schema::{Map, as_count, resolve};
pub use self::unusable::{Unusable, Why};
use crate::seed::Dice;

/// Refuses a schema that is not worth a look: no schema, too large, or not JSON Schema.
pub(crate) fn admit(schema: &Value) -> Result<(), Why> {
    schema::admit(schema, &Budget::default())
}

/// Arguments that satisfy `schema`: always an object, and the same for the same dice.
///
/// With [`Fill::All`] an optional property that cannot be made is left out, and when all of them
/// together go beyond the budget only the required ones are filled.
///
/// ```
/// use mcp_loadtest_core::{generate::{Budget, arguments}, seed::Seed};
/// use serde_json::json;
///
/// let schema = json!({
///     "type": "object",
///     "properties": { "timezone": { "type": "string" }, "verbose": { "type": "boolean" } },
///     "required": ["timezone"],
/// });
/// let made = arguments(&schema, &mut Seed(1).dice(0), &Budget::default());
/// assert_eq!(made, Ok(json!({ "timezone": "UTC" })));
/// ```
pub fn arguments(schema: &Value, dice: &mut Dice, budget: &Budget) -> Result<Value, Unusable> {
    schema::admit(schema, budget)?;
    let made = maker::arguments(schema, dice, budget, budget.fill);
    match (made, budget.fill) {
        (Err(_), Fill::All) => maker::arguments(schema, dice, budget, Fill::Required),
        (made, _) => made,
    }
}
