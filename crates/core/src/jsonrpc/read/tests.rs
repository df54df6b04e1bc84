use super::*;
use proptest::prelude::*;

fn defects(text: &str) -> Vec<Defect> {
    read(text.as_bytes()).defects
}

#[test]
fn a_good_reply_has_no_defect() {
    let text = br#"{"jsonrpc":"2.0","id":7,"result":{"content":[],"isError":false}}"#;
    let reading = read(text);
    assert!(reading.defects.is_empty());
    assert_eq!(
        reading.message,
        Some(Message::Response {
            id: Id::Number(7),
            body: Body::Result {
                raw: br#"{"content":[],"isError":false}"#,
                kind: ResultKind::Complete
            }
        })
    );
}

#[test]
fn results_say_what_they_are() {
    for (result, kind) in [
        (r#"{"isError":true}"#, ResultKind::ToolError),
        (r#"{"x":{"isError":true}}"#, ResultKind::Complete),
        (r#"{"resultType":"input_required"}"#, ResultKind::InputRequired),
        (r#"{"resultType":"complete","isError":true}"#, ResultKind::ToolError),
        (r#"{"resultType":"task"}"#, ResultKind::Unknown),
    ] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
        let Some(Message::Response { body: Body::Result { kind: seen, .. }, .. }) =
            read(text.as_bytes()).message
        else {
            panic!("{text}");
        };
        assert_eq!(seen, kind, "{text}");
    }
}

#[test]
fn each_defect_is_named() {
    for (text, defect) in [
        ("Server started on port 1", Defect::NotJson),
        (r#"{"jsonrpc":"2.0","id":1,"resu"#, Defect::Truncated),
        (r#"[{"jsonrpc":"2.0","id":1,"result":{}}]"#, Defect::Batch),
        ("42", Defect::NotAnObject),
        (r#"{"id":1,"result":{}}"#, Defect::WrongVersion),
        (r#"{"jsonrpc":"2.0","id":1}"#, Defect::InvalidEnvelope),
        (r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1}}"#, Defect::InvalidEnvelope),
        (r#"{"jsonrpc":"2.0","id":1,"error":"no"}"#, Defect::InvalidError),
        (r#"{"jsonrpc":"2.0","id":1,"result":3}"#, Defect::InvalidResult),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"result":{}}"#, Defect::DuplicateMember),
        (r#"{"jsonrpc":"2.0","id":1.5,"result":{}}"#, Defect::InvalidId),
        (r#"{"jsonrpc":"2.0","id":"7","result":{}}"#, Defect::IdTypeChanged),
        (r#"{"jsonrpc":"2.0","id":7.0,"result":{}}"#, Defect::IdTypeChanged),
        ("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", Defect::ByteOrderMark),
        (r#"{"jsonrpc":"2.0","id":1,"result":{"n":1e999}}"#, Defect::NotJson),
        (r#"{"jsonrpc":"2.0","id":1,"result":{"text":"\ud83d"}}"#, Defect::LoneSurrogate),
        (r#"{"jsonrpc":"2.0","id":1,"result":{"text":"\ud83d",}}"#, Defect::NotJson),
        ("", Defect::NotJson),
        ("  ", Defect::NotJson),
        (r#"{"jsonrpc":"2.0","id":1,"result":{},"result":{}}"#, Defect::DuplicateMember),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1},"error":{"code":1}}"#,
            Defect::DuplicateMember,
        ),
        (r#"{"jsonrpc":"2.0","id":1,"id":1,"error":{"code":1}}"#, Defect::DuplicateMember),
        (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, Defect::InvalidEnvelope),
        (r#"{"jsonrpc":"2.0"}"#, Defect::InvalidEnvelope),
    ] {
        assert_eq!(defects(text), [defect], "{text}");
    }
    assert_eq!(read(b"{\"a\":\"\xff\"}").defects, [Defect::InvalidUtf8]);
}

#[test]
fn requests_and_notifications_are_told_apart() {
    let request = read(br#"{"jsonrpc":"2.0","id":"r1","method":"roots/list"}"#);
    assert!(matches!(
        request.message,
        Some(Message::Request { id: b"\"r1\"", method: b"roots/list", .. })
    ));
    let notification = read(br#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#);
    assert!(matches!(
        notification.message,
        Some(Message::Notification { params: Some(b"{}"), .. })
    ));
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&bytes);
    }

    #[test]
    fn the_short_way_and_the_long_way_agree(at in 0_usize..80, put in any::<u8>(), cut in any::<bool>()) {
        let text = br#"{"jsonrpc":"2.0","id":17,"result":{"a":["x",{}],"isError":true,"b":"\u00e9"}}"#;
        let mut bytes = text.to_vec();
        prop_assert!(read_usual(&bytes).is_some());
        let at = at % bytes.len();
        if cut { bytes.remove(at); } else { bytes[at] = put; }
        if let Some(usual) = read_usual(&bytes) {
            let any = read_any(&bytes);
            prop_assert_eq!(any.message, Some(usual));
            prop_assert_eq!(any.defects, []);
        }
    }
}

#[test]
fn what_is_nested_too_deeply_is_said_to_be() {
    let nested = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let text = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"a":{nested}}}}}"#);
    assert_eq!(defects(&text), [Defect::TooDeep]);
}

#[test]
fn members_that_mean_nothing_to_us_are_passed_over() {
    assert!(defects(r#"{"jsonrpc":"2.0","id":1,"extra":[1,{}],"result":{}}"#).is_empty());
}

#[test]
fn an_error_is_given_as_written_with_its_code() {
    let reading = read(br#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}"#);
    let raw: &[u8] = br#"{"code":-32601,"message":"no"}"#;
    let expected = Message::Response { id: Id::Number(1), body: Body::Error { raw, code: -32601 } };
    assert_eq!(reading, Reading { message: Some(expected), defects: Vec::new() });
}

#[test]
fn an_error_without_an_id_is_an_answer_to_nothing() {
    let reading = read(br#"{"jsonrpc":"2.0","error":{"code":-32700}}"#);
    let raw: &[u8] = br#"{"code":-32700}"#;
    let expected =
        Message::Response { id: Id::Other(b"null"), body: Body::Error { raw, code: -32700 } };
    assert_eq!(
        reading,
        Reading { message: Some(expected), defects: vec![Defect::InvalidEnvelope] }
    );
    assert_eq!(read(br#"{"jsonrpc":"2.0","result":{}}"#).message, None);
}

#[test]
fn ids_that_are_not_ours_are_kept_as_written() {
    for (id, expected) in [
        ("null", Id::Other(b"null")),
        (r#""abc""#, Id::Other(br#""abc""#)),
        ("0", Id::Number(0)),
        ("9999999999999999999", Id::Number(9_999_999_999_999_999_999)),
    ] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
        let reading = read(text.as_bytes());
        assert!(reading.defects.is_empty(), "{text}: {:?}", reading.defects);
        let Some(Message::Response { id: seen, .. }) = reading.message else {
            panic!("{text}");
        };
        assert_eq!(seen, expected, "{text}");
    }
}

#[test]
fn numbers_are_read_up_to_nineteen_digits() {
    let nines = "9".repeat(19);
    for (digits, number) in [
        ("", None),
        ("7", Some(7)),
        ("0", Some(0)),
        ("42", Some(42)),
        (nines.as_str(), Some(9_999_999_999_999_999_999)),
        ("10000000000000000000", None),
        ("1a", None),
        ("-1", None),
    ] {
        assert_eq!(parse_u64(digits.as_bytes()), number, "{digits}");
        // What begins with a zero or is empty is left to the long way.
        let leading = number.filter(|number| *number > 0);
        let text = format!("{digits},9");
        let expected = leading.map(|number| (number, &b",9"[..]));
        match digits {
            "1a" => assert_eq!(leading_u64(text.as_bytes()), Some((1, &b"a,9"[..]))),
            _ => assert_eq!(leading_u64(text.as_bytes()), expected, "{text}"),
        }
    }
    assert_eq!(leading_u64(b"12"), None);
    assert_eq!(leading_u64(b"012,"), None);
}
