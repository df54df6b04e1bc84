//! Arguments that a tool must refuse, made from its `inputSchema` and from arguments that it took.
//!
//! Every case differs from the good arguments in one place, and every case is held against the
//! schema by a validator that we did not write ([`Oracle`]): what the schema allows after all is
//! dropped and counted. So a server that takes a case breaks its own schema; a server that refuses
//! one may do so for any reason, which is why the control call comes first.
//!
//! | file               | what is wrong with the arguments                          |
//! |--------------------|-----------------------------------------------------------|
//! | `missing_required` | a required property is missing                            |
//! | `wrong_type`       | a property has a wrong type, or is null                   |
//! | `enum_miss`        | a property is none of the values that are listed          |
//! | `out_of_bounds`    | a property is too small, too large, or not of the pattern |
//! | `extra_field`      | a property that nobody asked for                          |
//! | `oversized`        | a very long text                                          |

mod enum_miss;
mod extra_field;
mod fields;
mod missing_required;
mod oracle;
mod out_of_bounds;
mod oversized;
#[cfg(test)]
mod tests;
mod wrong_type;

use serde_json::Value;

use self::fields::Field;
pub use self::{
    enum_miss::enum_miss,
    extra_field::{EXTRA_FIELD, extra_field},
    missing_required::missing_required,
    oracle::{Oracle, arguments_problem},
    out_of_bounds::out_of_bounds,
    oversized::oversized,
    wrong_type::wrong_type,
};
use crate::{
    generate::{self, Budget, Fill},
    report::Severity,
    seed::Seed,
};

/// A text that no tool expects, and that means no number, no truth value and no list to anybody.
const ODD_TEXT: &str = "mcp-loadtest";

/// What cases are made from.
#[derive(Debug)]
pub struct Subject<'s> {
    schema: &'s Value,
    good: &'s Value,
    /// Good arguments with every optional property, where they can be made.
    full: Value,
    oracle: Oracle,
}

/// Arguments that differ from good ones in one place.
#[derive(Debug, Clone, PartialEq)]
pub struct BadCase {
    /// What is wrong with them, in a few words.
    pub label: String,
    /// The arguments.
    pub arguments: Value,
    /// Whether the schema forbids them. Where it does not, any answer will do.
    pub forbidden: bool,
    /// How bad it is when they are taken.
    pub if_taken: Severity,
}

/// All cases that one check can make of one tool.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Made {
    /// The cases, in the order of the schema's properties.
    pub cases: Vec<BadCase>,
    /// How many places of the schema have something to break.
    pub places: usize,
    /// How many of them gave no case, because the schema allows whatever was made up.
    pub dropped: usize,
}

impl<'s> Subject<'s> {
    /// Fails when the schema cannot be used, or does not allow the good arguments.
    pub fn new(schema: &'s Value, good: &'s Value) -> Result<Self, String> {
        let oracle = Oracle::new(schema)?;
        if let Some(problem) = oracle.problem(good) {
            return Err(format!("the tool took arguments that its schema forbids: {problem}"));
        }
        let budget = Budget { fill: Fill::All, ..Budget::default() };
        let made = generate::arguments(schema, &mut Seed::default().dice(0), &budget);
        let full = made.ok().filter(|made| oracle.problem(made).is_none());
        Ok(Self { schema, good, full: full.unwrap_or_else(|| good.clone()), oracle })
    }

    fn fields(&self) -> Vec<Field<'s>> {
        fields::fields(self.schema, self.good, &self.full)
    }

    /// The good value of a field, also of one that the good arguments leave out.
    fn good_value(&self, field: &Field<'_>) -> Option<&Value> {
        let pointer = field.pointer();
        self.good.pointer(&pointer).or_else(|| self.full.pointer(&pointer))
    }

    /// The good arguments with one field set, or taken away.
    fn with(&self, field: &Field<'_>, value: Option<Value>) -> Option<Value> {
        let mut arguments = self.good.clone();
        let (last, parents) = field.path.split_last()?;
        let place = |length: usize| fields::pointer(&parents[..length]);
        let is_missing = |length: &usize| self.good.pointer(&place(*length)).is_none();
        // What the good arguments leave out on the way is put in, with all that is below it.
        if let Some(length) = (1..=parents.len()).find(is_missing) {
            let filled = self.full.pointer(&place(length))?.clone();
            let above = arguments.pointer_mut(&place(length - 1))?.as_object_mut()?;
            above.insert(parents[length - 1].clone(), filled);
        }
        match (arguments.pointer_mut(&fields::pointer(parents))?, value) {
            (Value::Object(map), Some(value)) => drop(map.insert(last.clone(), value)),
            (Value::Object(map), None) => drop(map.remove(last)?),
            (Value::Array(items), Some(value)) => {
                *items.get_mut(last.parse::<usize>().ok()?)? = value
            }
            _ => return None,
        }
        Some(arguments)
    }

    /// The first of these values that the schema forbids in this field, as a case.
    fn forbidden(
        &self,
        field: &Field<'_>,
        values: impl IntoIterator<Item = Value>,
    ) -> Option<Value> {
        values
            .into_iter()
            .filter_map(|value| self.with(field, Some(value)))
            .find(|arguments| self.oracle.forbids(arguments))
    }
}

impl Made {
    /// Counts a place, and keeps its case if there is one.
    fn place(&mut self, label: impl FnOnce() -> String, arguments: Option<Value>) {
        self.graded(label, arguments, Severity::Critical);
    }

    fn graded(
        &mut self,
        label: impl FnOnce() -> String,
        arguments: Option<Value>,
        if_taken: Severity,
    ) {
        self.places += 1;
        match arguments {
            Some(arguments) => {
                let label = label();
                self.cases.push(BadCase { label, arguments, forbidden: true, if_taken });
            }
            None => self.dropped += 1,
        }
    }

    /// At most so many cases, spread evenly over all of them, so that the last property of a tool
    /// is as likely to be tried as the first.
    pub fn chosen(&self, most: usize) -> impl Iterator<Item = &BadCase> {
        let (all, take) = (self.cases.len(), most.min(self.cases.len()));
        (0..take).map(move |number| &self.cases[number * all / take])
    }
}
