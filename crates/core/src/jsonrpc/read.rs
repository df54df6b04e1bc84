//! The lenient reader: any bytes in, a message and its defects out.

use std::borrow::Cow;

use super::{
    halves::without_halves,
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
            if is_json(text) {
                let is_list = text.trim_ascii_start().starts_with(b"[");
                return if is_list { Defect::Batch } else { Defect::NotAnObject };
            }
            match without_halves(text) {
                Cow::Owned(whole) if is_json(&whole) => Defect::LoneSurrogate,
                _ => Defect::NotJson,
            }
        }
    }
}

fn is_json(text: &[u8]) -> bool {
    let whole = Scanner::new(text).and_then(|mut scanner| {
        scanner.skip()?;
        scanner.end()
    });
    whole.is_ok()
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
mod tests;
