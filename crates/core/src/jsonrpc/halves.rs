//! Halves of surrogate pairs: the grammar of JSON allows them, some clients take them, and those that
//! need whole characters, as we do, cannot read the text at all.

use std::borrow::Cow;

/// The frame with whole characters only.
pub fn without_halves(frame: &[u8]) -> Cow<'_, [u8]> {
    if !frame.windows(3).any(|piece| piece.eq_ignore_ascii_case(b"\\ud")) {
        return Cow::Borrowed(frame);
    }
    let mut whole = frame.to_vec();
    let mut at = 0;
    while at + 6 <= whole.len() {
        let escape = &mut whole[at..at + 6];
        match escape {
            [b'\\', b'u', b'd' | b'D', b'8' | b'9' | b'a'..=b'f' | b'A'..=b'F', rest @ ..]
                if rest.iter().all(u8::is_ascii_hexdigit) =>
            {
                escape.copy_from_slice(b"\\ufffd");
                at += 6;
            }
            [b'\\', ..] => at += 2,
            _ => at += 1,
        }
    }
    Cow::Owned(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_replaced_and_what_is_written_out_is_not() {
        let whole = |text: &str| String::from_utf8(without_halves(text.as_bytes()).into()).unwrap();
        assert_eq!(whole(r#""\ud83d""#), r#""\ufffd""#);
        assert_eq!(whole(r#""\\ud83d \n\uDC00""#), r#""\\ud83d \n\ufffd""#);
        assert!(matches!(without_halves(b"plain"), Cow::Borrowed(_)));
        for no_half in [r#""\ud8"#, r#""\UD83D""#, r#""\ud8zz""#] {
            assert_eq!(whole(no_half), no_half);
        }
    }
}
