//! The lenient reader: any bytes in, a message and its defects out.

use super::{
    message::{Body, Defect, Id, Message, Reading, ResultKind},
    scan::{Fault, Scanner},
};

/// The members of a message that matter, as written.
#[derive(Default)]
struct Envelope<'a> {
    version: Option<&'a [u8]>,
    id: Option<&'a [u8]>,
    method: Option<&'a [u8]>,
    params: Option<&'a [u8]>,
    result: Option<&'a [u8]>,
    error: Option<&'a [u8]>,
    marks: Marks<'a>,
    code: Option<&'a [u8]>,
    duplicate: bool,
}

/// What a result says about itself.
#[derive(Default)]
struct Marks<'a> {
    is_error: bool,
    result_type: Option<&'a [u8]>,
}

/// Reads one frame, without its line end.
pub fn read(bytes: &[u8]) -> Reading<'_> {
    match read_usual(bytes) {
        Some(message) => Reading { message: Some(message), defects: Vec::new() },
        None => read_any(bytes),
    }
}

/// A good reply as most servers write it, member by member. Whatever differs is left to [`read_any`],
/// which would read this one as the same: a property test holds the two together.
fn read_usual(text: &[u8]) -> Option<Message<'_>> {
    let rest = text.strip_prefix(b"{\"jsonrpc\":\"2.0\",\"id\":")?;
    let (id, rest) = leading_u64(rest)?;
    let rest = rest.strip_prefix(b",\"result\":")?;
    let mut scanner = Scanner::new(rest).ok()?;
    let mut marks = Marks::default();
    let raw = scan_result(&mut scanner, &mut marks).ok()?;
    let usual = raw.starts_with(b"{") && scanner.rest() == b"}";
    usual.then(|| Message::Response {
        id: Id::Number(id),
        body: Body::Result { raw, kind: result_kind(&marks) },
    })
}

fn read_any(bytes: &[u8]) -> Reading<'_> {
    let mut defects = Vec::new();
    let text = match bytes.strip_prefix(b"\xef\xbb\xbf") {
        Some(rest) => {
            defects.push(Defect::ByteOrderMark);
            rest
        }
        None => bytes,
    };
    let envelope = scan_envelope(text);
    let message = match envelope {
        Ok(envelope) => classify(&envelope, &mut defects),
        Err(fault) => {
            defects.push(defect_of(fault, text));
            None
        }
    };
    Reading { message, defects }
}

fn defect_of(fault: Fault, text: &[u8]) -> Defect {
    match fault {
        Fault::NotUtf8 => Defect::InvalidUtf8,
        Fault::TooDeep => Defect::TooDeep,
        Fault::Truncated if text.trim_ascii_start().starts_with(b"{") => Defect::Truncated,
        Fault::Unexpected | Fault::Truncated | Fault::NumberOutOfRange => {
            let whole = Scanner::new(text).and_then(|mut scanner| {
                scanner.skip()?;
                scanner.end()
            });
            match whole {
                Ok(()) if text.trim_ascii_start().starts_with(b"[") => Defect::Batch,
                Ok(()) => Defect::NotAnObject,
                Err(_) => Defect::NotJson,
            }
        }
    }
}

fn scan_envelope(text: &[u8]) -> Result<Envelope<'_>, Fault> {
    let mut envelope = Envelope::default();
    let mut scanner = Scanner::new(text)?;
    scanner.members(|scanner, key| {
        let slot = match key {
            b"jsonrpc" => &mut envelope.version,
            b"id" => &mut envelope.id,
            b"method" => &mut envelope.method,
            b"params" => &mut envelope.params,
            b"result" => {
                envelope.duplicate |= envelope.result.is_some();
                envelope.result = Some(scan_result(scanner, &mut envelope.marks)?);
                return Ok(());
            }
            b"error" => {
                envelope.duplicate |= envelope.error.is_some();
                envelope.error = Some(scan_error(scanner, &mut envelope)?);
                return Ok(());
            }
            _ => return scanner.skip(),
        };
        envelope.duplicate |= slot.is_some();
        *slot = Some(scanner.raw()?);
        Ok(())
    })?;
    scanner.end()?;
    Ok(envelope)
}

/// Takes the value of `result` and, where it is an object, looks at two of its members.
fn scan_result<'a>(scanner: &mut Scanner<'a>, marks: &mut Marks<'a>) -> Result<&'a [u8], Fault> {
    if scanner.peek()? != b'{' {
        return scanner.raw();
    }
    scanner.object(|scanner, key| {
        match key {
            b"isError" => marks.is_error = scanner.peek()? == b't',
            b"resultType" => {
                marks.result_type = Some(scanner.raw()?);
                return Ok(());
            }
            _ => {}
        }
        scanner.skip()
    })
}

fn scan_error<'a>(
    scanner: &mut Scanner<'a>,
    envelope: &mut Envelope<'a>,
) -> Result<&'a [u8], Fault> {
    if scanner.peek()? != b'{' {
        return scanner.raw();
    }
    scanner.object(|scanner, key| {
        let value = scanner.raw()?;
        if key == b"code" {
            envelope.code = Some(value);
        }
        Ok(())
    })
}

fn classify<'a>(envelope: &Envelope<'a>, defects: &mut Vec<Defect>) -> Option<Message<'a>> {
    if envelope.version != Some(b"\"2.0\"") {
        defects.push(Defect::WrongVersion);
    }
    if envelope.duplicate {
        defects.push(Defect::DuplicateMember);
    }
    let params = envelope.params;
    match (envelope.method, envelope.id) {
        (Some(method), id) => {
            let Some(method) = method.strip_prefix(b"\"").and_then(|m| m.strip_suffix(b"\""))
            else {
                defects.push(Defect::InvalidEnvelope);
                return None;
            };
            Some(match id {
                Some(id) => Message::Request { id, method, params },
                None => Message::Notification { method, params },
            })
        }
        (None, Some(id)) => {
            let id = read_id(id, defects);
            Some(Message::Response { id, body: read_body(envelope, defects) })
        }
        (None, None) => {
            defects.push(Defect::InvalidEnvelope);
            // An error without an id still tells why the server refused something.
            envelope.error.is_some().then(|| Message::Response {
                id: Id::Other(b"null"),
                body: read_body(envelope, defects),
            })
        }
    }
}

fn read_id<'a>(raw: &'a [u8], defects: &mut Vec<Defect>) -> Id<'a> {
    if let Some(number) = parse_u64(raw) {
        return Id::Number(number);
    }
    let unquoted = raw.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\""));
    let lenient = unquoted.or_else(|| raw.strip_suffix(b".0")).and_then(parse_u64);
    if let Some(number) = lenient {
        defects.push(Defect::IdTypeChanged);
        return Id::Number(number);
    }
    if unquoted.is_none() && raw != b"null" {
        defects.push(Defect::InvalidId);
    }
    Id::Other(raw)
}

/// A number without a leading zero that fits, and what follows it.
#[inline]
fn leading_u64(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut number = 0_u64;
    for (at, byte) in bytes.iter().enumerate().take(20) {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return (at > 0 && bytes[0] != b'0').then(|| (number, &bytes[at..]));
        }
        number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
    }
    // So many digits may not fit; the long way knows what to say.
    None
}

fn parse_u64(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || digits.len() > 19 {
        return None;
    }
    digits.iter().try_fold(0_u64, |number, byte| {
        byte.is_ascii_digit().then(|| number * 10 + u64::from(byte - b'0'))
    })
}

fn read_body<'a>(envelope: &Envelope<'a>, defects: &mut Vec<Defect>) -> Body<'a> {
    match (envelope.result, envelope.error) {
        (Some(raw), None) => {
            if !raw.starts_with(b"{") {
                defects.push(Defect::InvalidResult);
            }
            Body::Result { raw, kind: result_kind(&envelope.marks) }
        }
        (None, Some(raw)) => {
            let code = envelope.code.and_then(parse_code);
            if code.is_none() {
                defects.push(Defect::InvalidError);
            }
            Body::Error { raw, code: code.unwrap_or(0) }
        }
        _ => {
            defects.push(Defect::InvalidEnvelope);
            Body::Unclear
        }
    }
}

fn result_kind(marks: &Marks<'_>) -> ResultKind {
    match marks.result_type {
        Some(b"\"input_required\"") => ResultKind::InputRequired,
        None | Some(b"\"complete\"") if marks.is_error => ResultKind::ToolError,
        None | Some(b"\"complete\"") => ResultKind::Complete,
        Some(_) => ResultKind::Unknown,
    }
}

fn parse_code(raw: &[u8]) -> Option<i64> {
    std::str::from_utf8(raw).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
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
        let notification =
            read(br#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#);
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
        let expected =
            Message::Response { id: Id::Number(1), body: Body::Error { raw, code: -32601 } };
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
}
