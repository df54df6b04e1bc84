//! Where the arguments of a call come from. Everything that may fail has been tried before.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use super::{
    cells::Cells,
    nonce::Nonce,
    objects,
    rows::{Rows, RowsError},
    template::{OverError, Template, TemplateError},
    turn::Turn,
};
use crate::{
    config::KeyPath,
    generate::{self, Budget, Unusable},
    hint::Hint,
    seed::Seed,
};

/// In which order a list or the rows of a file are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// One after the other, and from the first again.
    #[default]
    Sequential,
    /// At random, each as likely as the others.
    Random,
}

impl Order {
    fn choose(self, count: usize, turn: &mut Turn) -> usize {
        let count = count as u64;
        let index = match self {
            Self::Sequential => turn.iter.checked_rem(count).unwrap_or_default(),
            Self::Random => turn.dice.below(count),
        };
        index as usize
    }
}

/// Why there can be no source.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SourceError {
    /// A placeholder is wrong.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// The rows do not fit.
    #[error(transparent)]
    Rows(#[from] RowsError),
    /// The schema is beyond the generator.
    #[error(transparent)]
    Schema(#[from] Unusable),
    /// There are rows, but no placeholder for them.
    #[error("`args` has no placeholder for the rows of `args_file`")]
    RowsUnused,
    /// A file is named whose rows were not handed in.
    #[error("the rows of `args_file` were not read")]
    NoRows,
    /// A list without an entry.
    #[error("the list of arguments is empty")]
    NoEntries,
}

impl From<OverError> for SourceError {
    fn from(error: OverError) -> Self {
        match error {
            OverError::Template(error) => Self::Template(error),
            OverError::Rows(error) => Self::Rows(error),
        }
    }
}

impl Hint for SourceError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Template(error) => error.hint(),
            Self::Rows(error) => error.hint(),
            Self::Schema(_) => Some("write the arguments down with `args`".into()),
            Self::RowsUnused => Some(
                "use a column with `{{row.name}}`, or leave out `args` to send whole rows".into(),
            ),
            Self::NoRows | Self::NoEntries => None,
        }
    }
}

/// What came of rendering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rendered {
    /// The token that the arguments hold, where they hold one: the reply must give it back.
    pub nonce: Option<Nonce>,
}

/// Gives the arguments of each call.
#[derive(Debug, Clone, PartialEq)]
pub struct Source(Kind);

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Fixed(Box<[u8]>),
    Template(Template),
    List { templates: Vec<Template>, order: Order },
    Rows { template: Template, count: usize, order: Order },
    Objects { objects: Cells, order: Order },
    Generated { schema: Value, budget: Budget, first: Box<[u8]> },
}

impl Source {
    /// Arguments that may hold placeholders.
    ///
    /// ```
    /// use mcp_loadtest_core::{arguments::{Source, Turn}, seed::Seed};
    /// use serde_json::json;
    ///
    /// let source = Source::template(&json!({ "id": "{{iter}}", "name": "user {{iter}}" })).unwrap();
    /// let mut out = Vec::new();
    /// source.render(&mut Turn::new(Seed(1), 7, 0, 0), &mut out);
    /// assert_eq!(out, br#"{"id":7,"name":"user 7"}"#);
    /// ```
    pub fn template(arguments: &Value) -> Result<Self, SourceError> {
        let template = Template::parse(arguments, &KeyPath::default())?.without_rows()?;
        Ok(Self(match template.fixed() {
            Some(bytes) => Kind::Fixed(bytes.into()),
            None => Kind::Template(template),
        }))
    }

    /// One of several arguments, which may hold placeholders.
    pub fn list(list: &[Value], order: Order) -> Result<Self, SourceError> {
        if list.is_empty() {
            return Err(SourceError::NoEntries);
        }
        let templates = list.iter().enumerate().map(|(index, arguments)| {
            Template::parse(arguments, &KeyPath::default().index(index))?.without_rows()
        });
        Ok(Self(Kind::List { templates: templates.collect::<Result<_, _>>()?, order }))
    }

    /// Arguments with placeholders for the cells of one row a call.
    pub fn rows(arguments: &Value, rows: &Rows, order: Order) -> Result<Self, SourceError> {
        let template = Template::parse(arguments, &KeyPath::default())?;
        if !template.wants_rows() {
            return Err(SourceError::RowsUnused);
        }
        Ok(Self(Kind::Rows { template: template.over(rows)?, count: rows.count(), order }))
    }

    /// Rows that are the arguments themselves: JSON objects as they are, CSV cells as text or as what
    /// the tool's schema says. Placeholders in them are plain text.
    pub fn objects(rows: &Rows, schema: &Value, order: Order) -> Result<Self, SourceError> {
        Ok(Self(Kind::Objects { objects: objects::objects(rows, schema)?, order }))
    }

    /// Arguments made anew from the schema for every call. This walks the schema each time and costs
    /// tens of microseconds, a hundred times a template: not for a load that should be high.
    pub fn generated(schema: &Value, budget: Budget, seed: Seed) -> Result<Self, SourceError> {
        let mut turn = Turn::new(seed, 0, 0, 0);
        let first = generate::arguments(schema, &mut turn.dice, &budget)?;
        let first = first.to_string().into_bytes().into();
        Ok(Self(Kind::Generated { schema: schema.clone(), budget, first }))
    }

    /// The arguments, when they are the same for every call.
    pub fn fixed(&self) -> Option<&[u8]> {
        match &self.0 {
            Kind::Fixed(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Appends the arguments of one call, a JSON object in one line.
    pub fn render(&self, turn: &mut Turn, out: &mut Vec<u8>) -> Rendered {
        let template = match &self.0 {
            Kind::Fixed(bytes) => {
                out.extend_from_slice(bytes);
                return Rendered { nonce: None };
            }
            Kind::Objects { objects, order } => {
                out.extend_from_slice(objects.get(order.choose(objects.len(), turn)));
                return Rendered { nonce: None };
            }
            Kind::Generated { schema, budget, first } => {
                generate_into(schema, budget, first, turn, out);
                return Rendered { nonce: None };
            }
            Kind::Template(template) => {
                template.render(turn, 0, out);
                template
            }
            Kind::List { templates, order } => {
                let template = &templates[order.choose(templates.len(), turn)];
                template.render(turn, 0, out);
                template
            }
            Kind::Rows { template, count, order } => {
                let row = order.choose(*count, turn);
                template.render(turn, row, out);
                template
            }
        };
        Rendered { nonce: template.has_nonce().then(|| turn.nonce()) }
    }
}

/// With other dice the generator may fail on a schema that it managed before; what it made then is
/// still right.
fn generate_into(
    schema: &Value,
    budget: &Budget,
    first: &[u8],
    turn: &mut Turn,
    out: &mut Vec<u8>,
) {
    match generate::arguments(schema, &mut turn.dice, budget) {
        Ok(made) => serde_json::to_writer(out, &made).expect("a value, written to memory"),
        Err(_) => out.extend_from_slice(first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::rows::FileKind;
    use serde_json::json;

    fn render(source: &Source, iter: u64) -> Value {
        let mut out = Vec::new();
        source.render(&mut Turn::new(Seed(1), iter, 0, 0), &mut out);
        serde_json::from_slice(&out).unwrap()
    }

    fn rows(text: &str) -> Rows {
        Rows::read(FileKind::Csv, text).unwrap()
    }

    #[test]
    fn arguments_without_placeholders_are_fixed() {
        let source = Source::template(&json!({"a": "{{{{"})).unwrap();
        assert_eq!(source.fixed(), Some(br#"{"a":"{{"}"#.as_slice()));
        assert_eq!(render(&source, 5), json!({"a": "{{"}));
        assert_eq!(Source::template(&json!({"a": "{{iter}}"})).unwrap().fixed(), None);
    }

    #[test]
    fn lists_are_taken_in_order_and_from_the_first_again() {
        let list = [json!({"a": "{{iter}}"}), json!({"b": 1})];
        let source = Source::list(&list, Order::Sequential).unwrap();
        let seen: Vec<Value> = (0..4).map(|iter| render(&source, iter)).collect();
        assert_eq!(seen, [json!({"a": 0}), json!({"b": 1}), json!({"a": 2}), json!({"b": 1})]);
        let random = Source::list(&list, Order::Random).unwrap();
        let first = (0..1_000).filter(|iter| render(&random, *iter).get("a").is_some()).count();
        assert!((400..600).contains(&first), "{first}");
        let error =
            Source::list(&[json!({}), json!({"x": "{{row.a}}"})], Order::Random).unwrap_err();
        assert_eq!(error.to_string(), "at `[1].x`, column 1: there is no row for `a`");
        assert_eq!(Source::list(&[], Order::Random), Err(SourceError::NoEntries));
    }

    #[test]
    fn rows_fill_a_template() {
        let rows = rows(
            "city,zip,filter\n\"New \"\"York\"\"\",10001,\"{\"\"a\"\":[1]}\"\nBonn,53111,null\n",
        );
        let template = json!({
            "q": "weather in {{row.city}}, {{row.zip}}", "city": "{{row.city}}",
            "zip": "{{row.zip}}", "n": "{{row.zip:number}}", "f": "{{row.filter:json}}", "i": "{{iter}}",
        });
        let source = Source::rows(&template, &rows, Order::Sequential).unwrap();
        assert_eq!(
            render(&source, 2),
            json!({"q": "weather in New \"York\", 10001", "city": "New \"York\"",
                   "zip": "10001", "n": 10001, "f": {"a": [1]}, "i": 2})
        );
        assert_eq!(render(&source, 3)["f"], Value::Null);
    }

    #[test]
    fn rows_that_do_not_fit_are_refused() {
        let rows = rows("city,zip\nBonn,53111\nYork,YO1\n");
        for (template, message, hint) in [
            (
                json!({"a": "x {{row.citi}}"}),
                "at `a`, column 3: the file has no column `citi`",
                "did you mean `{{row.city}}`?",
            ),
            (
                json!({"a": "{{row.zip:number}}"}),
                "line 3: `zip` is `YO1`, which is not a number",
                "",
            ),
            (
                json!({"a": "{{iter}}"}),
                "`args` has no placeholder for the rows of `args_file`",
                "use a column with `{{row.name}}`, or leave out `args` to send whole rows",
            ),
        ] {
            let error = Source::rows(&template, &rows, Order::Sequential).unwrap_err();
            assert_eq!(error.to_string(), message);
            assert_eq!(error.hint().unwrap_or_default(), hint);
        }
    }

    #[test]
    fn json_rows_keep_their_types() {
        let text = "{\"a\": {\"x\": [1, 2]}, \"n\": 1.50, \"s\": \"t\"}\n";
        let rows = Rows::read(FileKind::Jsonl, text).unwrap();
        let template = json!({"a": "{{row.a}}", "n": "{{row.n}}", "s": "{{row.s}}", "t": "{{row.a}} {{row.n}}"});
        let source = Source::rows(&template, &rows, Order::Random).unwrap();
        let seen = render(&source, 9);
        assert_eq!(
            seen,
            json!({"a": {"x": [1, 2]}, "n": 1.5, "s": "t", "t": "{\"x\": [1, 2]} 1.50"})
        );
    }

    #[test]
    fn whole_rows_are_arguments_and_their_braces_are_plain() {
        let source = Source::objects(
            &rows("a,n\n{{iter}},1\nb,2\n"),
            &json!({"properties": {"n": {"type": "integer"}}}),
            Order::Sequential,
        )
        .unwrap();
        assert_eq!(render(&source, 0), json!({"a": "{{iter}}", "n": 1}));
        assert_eq!(render(&source, 3), json!({"a": "b", "n": 2}));
    }

    #[test]
    fn generated_arguments_satisfy_the_schema_and_differ() {
        let schema = json!({"type": "object", "required": ["n"],
            "properties": {"n": {"type": "integer", "minimum": 0, "maximum": 1_000_000}}});
        let source = Source::generated(&schema, Budget::default(), Seed(1)).unwrap();
        let seen: Vec<Option<i64>> = (0..50).map(|i| render(&source, i)["n"].as_i64()).collect();
        assert!(seen.iter().all(Option::is_some), "{seen:?}");
        assert!(seen.iter().any(|n| *n != seen[0]), "{seen:?}");
        let error = Source::generated(&json!({"type": "string"}), Budget::default(), Seed(1));
        assert!(matches!(error, Err(SourceError::Schema(_))));
    }

    #[test]
    fn the_nonce_is_handed_out_where_the_arguments_hold_it() {
        let list = [json!({"a": "x{{nonce}}y"}), json!({"a": 1})];
        let source = Source::list(&list, Order::Sequential).unwrap();
        let mut out = Vec::new();
        let nonce = source.render(&mut Turn::new(Seed(1), 0, 0, 0), &mut out).nonce.unwrap();
        assert_eq!(out, format!("{{\"a\":\"x{nonce}y\"}}").into_bytes());
        assert_eq!(source.render(&mut Turn::new(Seed(1), 1, 0, 0), &mut out).nonce, None);
    }
}
