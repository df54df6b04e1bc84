//! The listed kinds of bad input: malformed but plausible.

use serde_json::Value;

use super::{Answer, Payload, frame};
use crate::seed::Dice;

/// The bytes of a case and what is odd about them.
pub(super) struct Draft {
    pub(super) label: String,
    pub(super) method: String,
    pub(super) frame: Vec<u8>,
    pub(super) answer: Answer,
}

/// The n-th case of a listed kind.
pub(super) fn draft(
    payload: Payload,
    index: u64,
    id: u64,
    meta: Option<&Value>,
    dice: &mut Dice,
) -> Draft {
    match payload {
        Payload::UnknownMethod => unknown_method(index, id, meta, dice),
        Payload::NumericMethod => numeric_method(index, id, meta, dice),
        Payload::GiantPayload => giant(index, id, meta),
        Payload::ControlChars => control_chars(index, id, meta),
        Payload::DeepNesting => deep(index, id, meta),
        Payload::NullParams => odd_params(index, id, &["null"]),
        _ => odd_params(index, id, STRING_PARAMS),
    }
}

const UNKNOWN_METHODS: &[&str] = &[
    "no/such/method",
    "TOOLS/LIST",
    "tools/list/",
    "rpc.discover",
    "tools/../list",
    "constructor",
    "__proto__",
    "toString",
    "../../etc/passwd",
    "",
    " tools/list",
    "tools/list\0",
    "notifications/initialized",
    "\u{202e}tsil/sloot",
    "%s%n%x",
];

fn unknown_method(index: u64, id: u64, meta: Option<&Value>, dice: &mut Dice) -> Draft {
    let method = match UNKNOWN_METHODS.get(index as usize) {
        Some(method) => (*method).to_owned(),
        None if index.is_multiple_of(50) => "x".repeat(10_000),
        None => (0..1 + dice.below(30)).map(|_| char::from(33 + dice.below(94) as u8)).collect(),
    };
    // What is hardly a name may be dropped as no request at all.
    let plain = method.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._".contains(&byte));
    let usual = plain && !method.is_empty() && !method.starts_with("notifications");
    Draft {
        label: format!("method {}", crate::display::visible(&method, 40)),
        frame: frame::request(id, &frame::quoted(&method), Some(&frame::params("", meta))),
        method,
        answer: if usual { Answer::Must } else { Answer::May },
    }
}

const ODD_METHODS: &[&str] =
    &["42", "0", "-1", "1.5", "1e300", "true", "false", "null", "[]", "{}", "[\"ping\"]"];

fn numeric_method(index: u64, id: u64, meta: Option<&Value>, dice: &mut Dice) -> Draft {
    let method = match ODD_METHODS.get(index as usize) {
        Some(method) => (*method).to_owned(),
        None => (dice.next_u64() >> dice.below(64)).to_string(),
    };
    Draft {
        label: format!("method is {method}"),
        frame: frame::request(id, &method, Some(&frame::params("", meta))),
        method,
        answer: Answer::May,
    }
}

/// The first few are large; a long run repeats only the smallest of them.
const SIZES: &[usize] = &[64 << 10, 256 << 10, 1 << 20, 2 << 20];

fn giant(index: u64, id: u64, meta: Option<&Value>) -> Draft {
    let (shape, turn) = (index % 3, (index / 3) as usize);
    let size = *SIZES.get(turn).unwrap_or(&SIZES[0]);
    let (what, members) = match shape {
        0 => ("a text", format!("\"padding\":\"{}\"", "x".repeat(size))),
        1 => ("a list", format!("\"padding\":[{}0]", "0,".repeat(size / 2))),
        _ => {
            let members = (0..size / 12).map(|n| format!("\"k{n:07}\":0"));
            ("many members", format!("\"padding\":{{{}}}", members.collect::<Vec<_>>().join(",")))
        }
    };
    Draft {
        label: format!("{what} of {} KiB", size >> 10),
        method: "ping".into(),
        frame: frame::request(id, "\"ping\"", Some(&frame::params(&members, meta))),
        answer: Answer::May,
    }
}

fn control_chars(index: u64, id: u64, meta: Option<&Value>) -> Draft {
    let code = match index % 34 {
        32 => 0x7f,
        33 => 0x9b,
        code => code as u32,
    };
    let raw = char::from_u32(code).unwrap_or('\0').to_string();
    let escaped = format!("\\u{code:04x}");
    let (form, text) =
        if (index / 34).is_multiple_of(2) { ("escaped", escaped) } else { ("raw", raw) };
    let (place, method, members) = match (index / 68) % 3 {
        0 => ("value", "\"ping\"".to_owned(), format!("\"a\":\"x{text}y\"")),
        1 => ("name", "\"ping\"".to_owned(), format!("\"x{text}y\":1")),
        _ => ("method", format!("\"ping{text}\""), String::new()),
    };
    Draft {
        label: format!("{form} U+{code:04X} in a {place}"),
        method: "ping".into(),
        frame: frame::request(id, &method, Some(&frame::params(&members, meta))),
        answer: Answer::May,
    }
}

/// A long run repeats only the first of them: the parsers of servers take a time that grows.
const DEPTHS: &[usize] = &[20, 200, 2_000, 20_000, 100_000];

fn deep(index: u64, id: u64, meta: Option<&Value>) -> Draft {
    let (shape, turn) = (index % 3, (index / 3) as usize);
    let depth = *DEPTHS.get(turn).unwrap_or(&DEPTHS[turn % 3]);
    let (what, open, close) = match shape {
        0 => ("lists", "[", "]"),
        1 => ("objects", "{\"a\":", "}"),
        _ => ("lists and objects", "[{\"a\":", "}]"),
    };
    let nested = format!("{}0{}", open.repeat(depth), close.repeat(depth));
    Draft {
        label: format!("{depth} {what} deep"),
        method: "ping".into(),
        frame: frame::request(
            id,
            "\"ping\"",
            Some(&frame::params(&format!("\"a\":{nested}"), meta)),
        ),
        answer: Answer::May,
    }
}

const STRING_PARAMS: &[&str] =
    &["\"text\"", "\"\"", "\"{}\"", "\"null\"", "0", "1.5", "true", "[]", "[{}]", "[\"a\",1]"];

/// Parameters that are no object, for methods that want some and for others.
fn odd_params(index: u64, id: u64, among: &[&str]) -> Draft {
    const METHODS: &[&str] = &["ping", "tools/list", "tools/call", "prompts/get", "resources/read"];
    let params = among[index as usize % among.len()];
    let method = METHODS[(index as usize / among.len()) % METHODS.len()];
    Draft {
        label: format!("{method} with params {params}"),
        method: method.into(),
        frame: frame::request(id, &frame::quoted(method), Some(params)),
        answer: Answer::May,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    #[test]
    fn every_listed_kind_is_what_it_says() {
        let listed = &Payload::ALL[..7];
        for payload in listed {
            for index in 0..240 {
                let draft = draft(*payload, index, 7, None, &mut Seed(1).dice(index));
                let message = serde_json::from_slice::<Value>(&draft.frame);
                let params = message.as_ref().map(|message| message["params"].clone());
                match payload {
                    Payload::NumericMethod => assert!(!message.unwrap()["method"].is_string()),
                    Payload::NullParams => assert!(params.unwrap().is_null()),
                    Payload::StringParams => assert!(!params.unwrap().is_object()),
                    Payload::UnknownMethod => assert_ne!(message.unwrap()["method"], "tools/list"),
                    // What is nested too deeply for us, or raw, need not be read.
                    _ => assert!(draft.frame.starts_with(b"{\"jsonrpc\":\"2.0\",\"id\":7,")),
                }
                assert!(draft.frame.len() < 3 << 20, "{payload:?} {index}");
            }
        }
    }

    #[test]
    fn the_modern_era_says_who_asks_in_every_request() {
        let meta = serde_json::json!({ "k": 1 });
        let draft = draft(Payload::UnknownMethod, 0, 7, Some(&meta), &mut Seed(1).dice(0));
        let message: Value = serde_json::from_slice(&draft.frame).unwrap();
        assert_eq!(message["params"]["_meta"], meta);
    }

    fn made(payload: Payload, index: u64) -> Draft {
        draft(payload, index, 7, None, &mut Seed(1).dice(index))
    }

    #[test]
    fn cases_of_a_kind_come_in_their_order() {
        use Payload::{ControlChars, DeepNesting, GiantPayload, NullParams, StringParams};
        for (payload, index, label) in [
            (GiantPayload, 0, "a text of 64 KiB"),
            (GiantPayload, 1, "a list of 64 KiB"),
            (GiantPayload, 2, "many members of 64 KiB"),
            (GiantPayload, 3, "a text of 256 KiB"),
            (GiantPayload, 7, "a list of 1024 KiB"),
            (GiantPayload, 9, "a text of 2048 KiB"),
            (GiantPayload, 12, "a text of 64 KiB"),
            (ControlChars, 0, "escaped U+0000 in a value"),
            (ControlChars, 31, "escaped U+001F in a value"),
            (ControlChars, 32, "escaped U+007F in a value"),
            (ControlChars, 33, "escaped U+009B in a value"),
            (ControlChars, 34, "raw U+0000 in a value"),
            (ControlChars, 67, "raw U+009B in a value"),
            (ControlChars, 68, "escaped U+0000 in a name"),
            (ControlChars, 137, "escaped U+0001 in a method"),
            (ControlChars, 204, "escaped U+0000 in a value"),
            (DeepNesting, 0, "20 lists deep"),
            (DeepNesting, 1, "20 objects deep"),
            (DeepNesting, 2, "20 lists and objects deep"),
            (DeepNesting, 4, "200 objects deep"),
            (DeepNesting, 12, "100000 lists deep"),
            (DeepNesting, 15, "2000 lists deep"),
            (DeepNesting, 18, "20 lists deep"),
            (NullParams, 0, "ping with params null"),
            (NullParams, 1, "tools/list with params null"),
            (NullParams, 5, "ping with params null"),
            (StringParams, 0, "ping with params \"text\""),
            (StringParams, 9, "ping with params [\"a\",1]"),
            (StringParams, 10, "tools/list with params \"text\""),
            (StringParams, 53, "ping with params \"null\""),
        ] {
            assert_eq!(made(payload, index).label, label, "{payload:?} {index}");
        }
    }

    #[test]
    fn frames_hold_what_their_labels_say() {
        for (payload, index, frame) in [
            (Payload::ControlChars, 10, r#""method":"ping","params":{"a":"x\u000ay"}}"#),
            (Payload::ControlChars, 44, "\"method\":\"ping\",\"params\":{\"a\":\"x\ny\"}}"),
            (Payload::ControlChars, 78, r#""method":"ping","params":{"x\u000ay":1}}"#),
            (Payload::ControlChars, 146, r#""method":"ping\u000a","params":{}}"#),
            (Payload::NullParams, 1, r#""method":"tools/list","params":null}"#),
            (Payload::NumericMethod, 10, r#""method":["ping"],"params":{}}"#),
        ] {
            let expected = format!("{{\"jsonrpc\":\"2.0\",\"id\":7,{frame}");
            assert_eq!(String::from_utf8_lossy(&made(payload, index).frame), expected);
        }
        let deep = made(Payload::DeepNesting, 5);
        let nested = format!("{}0{}", "[{\"a\":".repeat(200), "}]".repeat(200));
        assert!(String::from_utf8_lossy(&deep.frame).contains(&nested));
        for (index, size) in [(0, 64), (1, 64), (2, 64), (3, 256), (4, 256), (5, 256)] {
            let (length, least) = (made(Payload::GiantPayload, index).frame.len(), size << 10);
            assert!((least..least * 5 / 4).contains(&length), "{index}: {length}");
        }
    }

    #[test]
    fn only_a_method_that_looks_like_one_must_be_answered() {
        let answers: Vec<bool> = (0..UNKNOWN_METHODS.len() as u64)
            .map(|index| made(Payload::UnknownMethod, index).answer == Answer::Must)
            .collect();
        assert_eq!(answers, [[true; 9].as_slice(), &[false; 6]].concat());
    }

    #[test]
    fn methods_by_chance_are_short_and_one_in_fifty_is_long() {
        for index in 15..250 {
            let length = made(Payload::UnknownMethod, index).method.len();
            let expected = if index % 50 == 0 { 10_000..=10_000 } else { 1..=30 };
            assert!(expected.contains(&length), "{index}: {length}");
        }
        let numbers = (11..200).map(|index| made(Payload::NumericMethod, index).method);
        let small = numbers.filter(|number| number.len() <= 3).count();
        assert!((10..100).contains(&small), "{small}");
    }
}
