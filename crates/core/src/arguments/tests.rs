//! Templates against a slow and plain way to do the same, over all kinds of arguments.

use std::collections::HashSet;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::seed::Seed;

const ROWS: &str = "city,zip,filter\n\"New \"\"York\"\"\",10001,\"{\"\"a\"\": [1, \"\"\\\"\"\"\"]}\"\nK\u{f6}ln\\,-1.5e3,null\n";

/// The naive way: each string is cut at its braces and a `Value` is built for every call.
struct Naive<'t> {
    turn: &'t mut Turn,
    row: [&'static str; 3],
}

impl Naive<'_> {
    fn value(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.string(text),
            Value::Array(items) => items.iter().map(|item| self.value(item)).collect(),
            Value::Object(members) => {
                let members = members.iter().map(|(name, value)| (name.clone(), self.value(value)));
                Value::Object(members.collect::<Map<_, _>>())
            }
            other => other.clone(),
        }
    }

    fn string(&mut self, text: &str) -> Value {
        let alone = text.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"));
        if let Some(body) = alone.filter(|body| !body.contains(['{', '}'])) {
            return self.filled(body);
        }
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            out.push_str(before);
            if let Some(after) = after.strip_prefix("{{") {
                out.push_str("{{");
                rest = after;
                continue;
            }
            let (body, after) = after.split_once("}}").unwrap();
            match self.filled(body) {
                Value::String(text) => out.push_str(&text),
                // As it is written, not as it is understood.
                _ if body == "row.filter:json" => out.push_str(self.row[2]),
                _ if body == "row.zip:number" => out.push_str(self.row[1]),
                other => out.push_str(&other.to_string()),
            }
            rest = after;
        }
        (out + rest).into()
    }

    fn filled(&mut self, body: &str) -> Value {
        let words: Vec<&str> = body.split_whitespace().collect();
        let dice = &mut self.turn.dice;
        match words[..] {
            ["iter"] => self.turn.iter.into(),
            ["session"] => self.turn.session.into(),
            ["worker"] => self.turn.worker.into(),
            ["nonce"] => self.turn.nonce().to_string().into(),
            ["uuid"] => {
                let (high, low) = (dice.next_u64(), dice.next_u64());
                let hex = format!("{high:016x}{low:016x}");
                let variant =
                    ["8", "9", "a", "b"][usize::from_str_radix(&hex[16..17], 16).unwrap() & 3];
                let (a, b, c) = (&hex[..8], &hex[8..12], &hex[13..16]);
                format!("{a}-{b}-4{c}-{variant}{}-{}", &hex[17..20], &hex[20..]).into()
            }
            ["random.int", low, high] => {
                let (low, high): (i64, i64) = (low.parse().unwrap(), high.parse().unwrap());
                (low + dice.below((high - low + 1) as u64) as i64).into()
            }
            ["random.float", low, high] => {
                let (low, high): (f64, f64) = (low.parse().unwrap(), high.parse().unwrap());
                (low + dice.unit() * (high - low)).into()
            }
            ["random.string", length] => {
                let all: Vec<char> = ('0'..='9').chain('a'..='z').chain('A'..='Z').collect();
                let length: usize = length.parse().unwrap();
                (0..length).map(|_| all[dice.below(62) as usize]).collect::<String>().into()
            }
            ["random.choice", ref options @ ..] => {
                options[dice.below(options.len() as u64) as usize].trim_matches('"').into()
            }
            ["row.city"] => self.row[0].into(),
            ["row.zip:number"] => serde_json::from_str(self.row[1]).unwrap(),
            ["row.filter:json"] => serde_json::from_str(self.row[2]).unwrap(),
            _ => unreachable!("{body}"),
        }
    }
}

fn placeholder() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "{{iter}}",
        "{{ session }}",
        "{{worker}}",
        "{{nonce}}",
        "{{uuid}}",
        "{{random.int -3 900}}",
        "{{random.float -1 2.5}}",
        "{{random.float 0 1e-9}}",
        "{{random.string 5}}",
        "{{random.choice a \"b\\\" \u{fc}}}",
        "{{row.city}}",
        "{{row.zip:number}}",
        "{{row.filter:json}}",
        "{{{{",
        "}}",
    ])
    .prop_map(str::to_owned)
}

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![3 => placeholder(), 2 => "[a-z\"\\\\\u{1}\n\u{e9}\u{1f600} ]{0,6}"];
    prop::collection::vec(piece, 0..4).prop_map(|pieces| pieces.concat())
}

fn arguments() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => text().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(Value::Null),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a{}\"]{0,6}", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn render(source: &Source, mut turn: Turn) -> Vec<u8> {
    let mut out = Vec::new();
    source.render(&mut turn, &mut out);
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn a_template_renders_what_the_naive_way_renders(
        arguments in arguments(), seed: u64, iter in 0..(1_u64 << 40), session: u32, worker: u16,
    ) {
        // The cell keeps the rows in use whatever the arguments are.
        let arguments = json!([arguments, "{{row.city}}"]);
        let rows = Rows::read(FileKind::Csv, ROWS).unwrap();
        let source = Source::rows(&arguments, &rows, Order::Sequential).unwrap();
        let turn = Turn::new(Seed(seed), iter, session, worker);
        let out = render(&source, turn.clone());
        prop_assert_eq!(&out, &render(&source, turn.clone()), "the same again");
        prop_assert!(!out.contains(&b'\n'), "one line");
        let read: Value = serde_json::from_slice(&out).expect("JSON");
        let row = match iter % 2 {
            0 => ["New \"York\"", "10001", "{\"a\": [1, \"\\\"\"]}"],
            _ => ["K\u{f6}ln\\", "-1.5e3", "null"],
        };
        let naive = Naive { turn: &mut turn.clone(), row }.value(&arguments);
        prop_assert_eq!(read, naive);
    }
}

#[test]
fn no_call_has_the_uuid_or_the_nonce_of_another() {
    let source = Source::template(&json!(["{{uuid}}", "{{nonce}}", "{{uuid}}"])).unwrap();
    let mut seen = HashSet::new();
    for (session, worker) in [(0, 0), (0, 1), (1, 0), (1, 1), (256, 0)] {
        for iter in 0..500 {
            let out = render(&source, Turn::new(Seed(1), iter, session, worker));
            let tokens: Vec<String> = serde_json::from_slice(&out).unwrap();
            assert!(
                tokens.into_iter().all(|token| seen.insert(token)),
                "{iter} {session} {worker}"
            );
        }
    }
}

/// Rendering is on the hot path: the output is all that it may allocate.
#[test]
fn rendering_needs_no_room_beyond_its_output() {
    let source =
        Source::template(&json!({"a": "{{uuid}}", "b": "x{{random.string 9}}{{nonce}}"})).unwrap();
    let mut out = Vec::with_capacity(256);
    let before = out.as_ptr();
    for iter in 0..1_000 {
        out.clear();
        source.render(&mut Turn::new(Seed(1), iter, 0, 0), &mut out);
    }
    assert_eq!((before, out.capacity()), (out.as_ptr(), 256));
}
