use super::*;
use proptest::prelude::*;

fn accepts(text: &[u8]) -> Result<(), Fault> {
    let mut scanner = Scanner::new(text)?;
    scanner.skip()?;
    scanner.end()
}

#[test]
fn agrees_with_serde_on_the_awkward_cases() {
    for text in [
        "{}",
        "[]",
        "null",
        "true",
        "tru",
        "-0",
        "01",
        "1.",
        "1e5",
        "1e999",
        "-1e999",
        "\"\\u12\"",
        "\"\\ud800\"",
        "\"\\ud83d\\ude00\"",
        "\"\\udc00\"",
        "{\"a\":1,}",
        "[1,]",
        "[1 2]",
        "{\"a\" 1}",
        "{\"a\":[{},[],{\"b\":[]}]}",
        " [ 1 , { \"k\" : \"v\" } ] ",
        "\"a\u{7f}\"",
        "\"\n\"",
        "nullx",
        "",
        "{",
        "[[",
        "{\"a\"",
        "\"",
        "\"\\",
        "-",
        "1e",
        "1e+",
        "{1:2}",
        "[}",
        "{]",
        "{\"a\":1]",
        "\"a\n\"",
        "\"aaaaaaaaaaaa\n\"",
        "1e+5",
        "[-1,-0.5e-3]",
    ] {
        let serde = serde_json::from_str::<serde_json::Value>(text).is_ok();
        assert_eq!(accepts(text.as_bytes()).is_ok(), serde, "{text:?}");
    }
}

#[test]
fn depth_is_limited_as_in_serde() {
    for depth in [126, 127, 128, 129, 10_000] {
        let text = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let serde = serde_json::from_str::<serde_json::Value>(&text).is_ok();
        assert_eq!(accepts(text.as_bytes()).is_ok(), serde, "{depth}");
    }
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_map(
            |n| serde_json::Number::from_f64(n).map_or(serde_json::Value::Null, Into::into)
        ),
        ".{0,12}".prop_map(Into::into),
        "[ -~]{0,60}".prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            prop::collection::hash_map("[ -~]{0,12}|.{0,6}", inner, 0..4)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

/// JSON that is printable ASCII takes another way through strings.
fn printable_json() -> impl Strategy<Value = String> {
    let text = "([ !#-\\[\\]-~]{0,20}|\\\\[\"\\\\/bfnrtux]|\\\\u[0-9a-fD]{4}){0,4}";
    (text, text).prop_map(|(key, value)| format!("[{{\"{key}\": [\"{value}\", {{}}, 1.5]}}]"))
}

proptest! {
    #[test]
    fn agrees_with_serde_on_printable_text(
        text in printable_json(),
        cut in 0_usize..200,
        put in prop::option::of(b' '..b'\x7f'),
    ) {
        let mut bytes = text.into_bytes();
        let at = cut % (bytes.len() + 1);
        if let Some(put) = put { bytes.insert(at, put) }
        let serde = serde_json::from_slice::<serde_json::Value>(&bytes).is_ok();
        prop_assert_eq!(accepts(&bytes).is_ok(), serde, "{:?}", String::from_utf8_lossy(&bytes));
        if put.is_none() && serde {
            prop_assert!(accepts(&bytes[..bytes.len() - 1]) == Err(Fault::Truncated));
        }
    }

    #[test]
    fn accepts_all_that_serde_writes(value in json()) {
        prop_assert_eq!(accepts(value.to_string().as_bytes()), Ok(()));
    }

    #[test]
    fn agrees_with_serde_on_damaged_text(value in json(), cut in 0_usize..200, put in any::<u8>()) {
        let mut bytes = value.to_string().into_bytes();
        let at = cut % (bytes.len() + 1);
        if put % 3 == 0 { bytes.truncate(at) } else { bytes.insert(at, put) }
        let serde = serde_json::from_slice::<serde_json::Value>(&bytes).is_ok();
        prop_assert_eq!(accepts(&bytes).is_ok(), serde, "{:?}", String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn a_fault_says_whether_more_could_have_mended_it() {
    for (text, expected) in [
        ("tru", Fault::Truncated),
        ("trx", Fault::Unexpected),
        ("-", Fault::Truncated),
        ("-x", Fault::Unexpected),
        ("1.", Fault::Truncated),
        ("1.x", Fault::Unexpected),
        ("\"a", Fault::Truncated),
        ("\"\\u12", Fault::Truncated),
        ("\"\\u12x4\"", Fault::Unexpected),
        ("1e999", Fault::NumberOutOfRange),
    ] {
        assert_eq!(accepts(text.as_bytes()), Err(expected), "{text}");
    }
}

#[test]
fn a_number_of_hundreds_of_digits_must_fit_a_float_too() {
    for (digits, expected) in [
        (300, Ok(())),
        (309, Ok(())),
        (310, Err(Fault::NumberOutOfRange)),
        (400, Err(Fault::NumberOutOfRange)),
    ] {
        let text = format!("[1{}]", "0".repeat(digits - 1));
        assert_eq!(accepts(text.as_bytes()), expected, "{digits}");
    }
}
