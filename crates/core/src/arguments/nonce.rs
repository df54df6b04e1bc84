//! The token by which a reply shows that it belongs to its request.

use std::{borrow::Cow, fmt};

use memchr::memmem;

use crate::seed::Seed;

/// How the failure of a call begins whose reply carries the nonce of another.
pub const CROSSED: &str = "the reply belongs to another request";
/// How the failure of a call begins whose reply carries no nonce at all.
pub const NOT_ECHOED: &str = "the reply does not show to which request it belongs";

/// Whether a failure says that a reply is that of another request, or may be.
pub fn is_misdelivered(message: &str) -> bool {
    [CROSSED, NOT_ECHOED].iter().any(|beginning| message.starts_with(beginning))
}

/// What all nonces begin with. Letters only, so that a nonce may stand where a name must.
const PREFIX: &[u8] = b"mlt";
/// Characters after the prefix, of five bits each. All nonces are of one length, so that none is the
/// beginning of another.
const DIGITS: usize = 16;
const ALPHABET: &[u8; 32] = b"0123456789abcdefghijklmnopqrstuv";
/// The stream of chance that makes the nonces of one seed differ from those of another.
const SALT: u64 = 0x6e6f_6e63_6500_0000;

/// A token that no other call of the run has.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Nonce([u8; Self::LEN]);

/// What a text shows of a nonce.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sighting {
    /// It is there.
    Own,
    /// It is not there, but this one is.
    Other(Nonce),
    /// There is no nonce at all.
    Nothing,
}

impl Nonce {
    /// The length of every nonce.
    pub const LEN: usize = PREFIX.len() + DIGITS;

    /// The nonce of one call. Its place in the run is written down rather than hashed: no two calls
    /// share one before 2^40 calls or 2^24 sessions.
    pub(super) fn new(seed: Seed, iter: u64, session: u32, worker: u16) -> Self {
        let (iter, session) = (iter & 0xff_ffff_ffff, session & 0xff_ffff);
        let place = u128::from(worker) << 64 | u128::from(session) << 40 | u128::from(iter);
        let mut salt = seed.dice(SALT);
        let salt = u128::from(salt.next_u64()) << 64 | u128::from(salt.next_u64());
        let mut rest = place ^ salt;
        let mut text = [0; Self::LEN];
        text[..PREFIX.len()].copy_from_slice(PREFIX);
        for digit in text[PREFIX.len()..].iter_mut().rev() {
            *digit = ALPHABET[(rest & 31) as usize];
            rest >>= 5;
        }
        Self(text)
    }

    /// The token, of `a`–`z` and `0`–`9` only: no format needs to escape it.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("prefix and alphabet are ASCII")
    }

    /// The same as bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Looks for the nonce in JSON text, at any depth of strings within strings.
    pub fn look(&self, json: &[u8]) -> Sighting {
        if memmem::find(json, &self.0).is_some() {
            return Sighting::Own;
        }
        let plain = without_escapes(json);
        if memmem::find(&plain, &self.0).is_some() {
            return Sighting::Own;
        }
        let others = memmem::find_iter(&plain, PREFIX).filter_map(|at| Self::read(&plain[at..]));
        others.into_iter().next().map_or(Sighting::Nothing, Sighting::Other)
    }

    fn read(text: &[u8]) -> Option<Self> {
        let text: [u8; Self::LEN] = text.get(..Self::LEN)?.try_into().ok()?;
        let digits = &text[PREFIX.len()..];
        digits.iter().all(|digit| ALPHABET.contains(digit)).then_some(Self(text))
    }
}

/// A writer may spell any character as `\u006d`; JSON inside a string then reads `\\u006d`.
fn without_escapes(json: &[u8]) -> Cow<'_, [u8]> {
    if memmem::find(json, b"\\u00").is_none() {
        return Cow::Borrowed(json);
    }
    let mut plain: Vec<u8> = Vec::with_capacity(json.len());
    let mut rest = json;
    while let Some((&first, tail)) = rest.split_first() {
        let code = tail.strip_prefix(b"u00").and_then(|tail| tail.get(..2));
        let code = code.and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) if first == b'\\' => {
                // The backslashes before it escaped this one.
                plain.truncate(
                    plain.len() - plain.iter().rev().take_while(|b| **b == b'\\').count(),
                );
                plain.push(byte);
                rest = &tail[5..];
            }
            _ => {
                plain.push(first);
                rest = tail;
            }
        }
    }
    Cow::Owned(plain)
}

impl fmt::Display for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Nonce({self})")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_calls_share_a_nonce() {
        let mut seen = HashSet::new();
        for seed in [1, 2, u64::MAX] {
            for (iter, session, worker) in
                [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1 << 39, 0, 0), (0, 1 << 23, 0)]
            {
                let nonce = Nonce::new(Seed(seed), iter, session, worker);
                assert_eq!((nonce.as_str().len(), &nonce.as_str()[..3]), (19, "mlt"));
                assert!(
                    nonce.as_str().bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
                );
                assert!(seen.insert(nonce), "{nonce}");
            }
        }
        assert!((0..10_000).all(|iter| seen.insert(Nonce::new(Seed(3), iter, 0, 0))));
    }

    #[test]
    fn a_nonce_is_seen_however_it_is_written() {
        let (own, other) = (Nonce::new(Seed(1), 0, 0, 0), Nonce::new(Seed(1), 1, 0, 0));
        let escaped: String = own.as_str().bytes().map(|b| format!("\\u{b:04X}")).collect();
        for text in [
            format!(r#"{{"content":[{{"text":"{own}"}}]}}"#),
            format!(r#"{{"text":"{{\"text\":\"{own}\"}}"}}"#),
            format!(r#"{{"a":"{other}","b":"x{own}x"}}"#),
            format!(r#""{escaped}""#),
            format!(r#""\\\"{}""#, escaped.replace('\\', "\\\\")),
        ] {
            assert_eq!(own.look(text.as_bytes()), Sighting::Own, "{text}");
        }
        for text in [
            format!("\"{other}\""),
            format!("mlt {other}"),
            format!("\\u006d{}", &other.as_str()[1..]),
        ] {
            assert_eq!(own.look(text.as_bytes()), Sighting::Other(other), "{text}");
        }
        for text in ["", "mlt", "mlt0123", "{}", "\\u00", "\\u00zz", "mltABCDEFGHIJKLMNOP"] {
            assert_eq!(own.look(text.as_bytes()), Sighting::Nothing, "{text}");
        }
        assert_eq!(own.look(&own.as_bytes()[..18]), Sighting::Nothing);
    }

    #[test]
    fn only_escapes_become_what_they_stand_for() {
        for (json, plain) in [
            ("no escape u0041", "no escape u0041"),
            (r"\u0041 xu0042", "A xu0042"),
            (r"x\\\u0041\n", r"xA\n"),
            (r"\u0041\u00", r"A\u00"),
        ] {
            assert_eq!(*without_escapes(json.as_bytes()), *plain.as_bytes(), "{json}");
        }
    }

    #[test]
    fn a_failure_is_a_misdelivery_by_its_beginning() {
        for (message, expected) in [
            (CROSSED.to_owned(), true),
            (format!("{NOT_ECHOED}: x"), true),
            (format!("x: {CROSSED}"), false),
            (String::new(), false),
        ] {
            assert_eq!(is_misdelivered(&message), expected, "{message}");
        }
        let nonce = Nonce::new(Seed(1), 0, 0, 0);
        assert_eq!(format!("{nonce:?}"), format!("Nonce({})", nonce.as_str()));
    }
}
