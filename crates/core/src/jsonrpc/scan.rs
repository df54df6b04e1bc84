//! A validating JSON scanner that remembers where the members of one object stand.
//!
//! Written by hand because the load path checks every reply: no general parser finds five members
//! without visiting all values twice or building a tree. It accepts exactly what `serde_json`
//! accepts (a property test holds the two together), with the same depth limit.

use std::ops::Range;

/// Nesting beyond this is refused, as `serde_json` does.
const DEEPEST: u32 = 127;

/// Why bytes are not JSON. It does not say where: nobody asks, and a place would not fit the
/// registers in which the scanner's functions return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The text ended inside a value.
    Truncated,
    /// A byte that cannot stand there.
    Unexpected,
    /// Nested too deeply.
    TooDeep,
    /// A string that is not UTF-8.
    NotUtf8,
    /// A number that no 64-bit float can hold.
    NumberOutOfRange,
}

/// A position in the bytes of one JSON text.
#[derive(Debug, Clone)]
pub struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    /// Starts before the first byte. The bytes must be UTF-8; [`check_utf8`] says.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The next byte that is not white space, not yet taken.
    #[inline]
    pub fn peek(&mut self) -> Result<u8, Fault> {
        while let Some(&byte) = self.bytes.get(self.at) {
            if !matches!(byte, b' ' | b'\t' | b'\r' | b'\n') {
                return Ok(byte);
            }
            self.at += 1;
        }
        Err(Fault::Truncated)
    }

    /// What has not been taken.
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// Nothing but white space may follow.
    pub fn end(&mut self) -> Result<(), Fault> {
        match self.peek() {
            Err(Fault::Truncated) => Ok(()),
            _ => Err(Fault::Unexpected),
        }
    }

    /// Visits the members of an object. `visit` gets the key as written, between its quotes, and
    /// must take the value from the scanner.
    #[inline]
    pub fn members(
        &mut self,
        mut visit: impl FnMut(&mut Self, &'a [u8]) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.take(b'{')?;
        if self.peek()? == b'}' {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.peek()?;
            let key = self.string()?;
            self.peek()?;
            self.take(b':')?;
            visit(self, key)?;
            match self.peek()? {
                b',' => self.at += 1,
                b'}' => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return Err(Fault::Unexpected),
            }
        }
    }

    /// The same, and gives the object as written.
    #[inline]
    pub fn object(
        &mut self,
        visit: impl FnMut(&mut Self, &'a [u8]) -> Result<(), Fault>,
    ) -> Result<&'a [u8], Fault> {
        self.peek()?;
        let start = self.at;
        self.members(visit)?;
        Ok(&self.bytes[start..self.at])
    }

    /// Takes one value of any kind, as written.
    #[inline]
    pub fn raw(&mut self) -> Result<&'a [u8], Fault> {
        let range = self.value()?;
        Ok(&self.bytes[range])
    }

    /// Takes one value of any kind and says where it stands.
    #[inline]
    pub fn value(&mut self) -> Result<Range<usize>, Fault> {
        self.peek()?;
        let start = self.at;
        self.skip()?;
        Ok(start..self.at)
    }

    /// Takes one value of any kind.
    #[inline]
    pub fn skip(&mut self) -> Result<(), Fault> {
        match self.peek()? {
            b'{' | b'[' => self.container(),
            first => self.scalar(first),
        }
    }

    /// Takes a whole object or array without recursion: one bit a level says which kind is open.
    fn container(&mut self) -> Result<(), Fault> {
        let mut kinds: u128 = 0;
        let mut depth: u32 = 0;
        loop {
            // Here a value is due.
            match self.peek()? {
                open @ (b'{' | b'[') => {
                    if depth == DEEPEST {
                        return Err(Fault::TooDeep);
                    }
                    let object = open == b'{';
                    kinds = kinds << 1 | u128::from(object);
                    depth += 1;
                    self.at += 1;
                    let next = self.peek()?;
                    if next == if object { b'}' } else { b']' } {
                        // An empty container ends at once; fall through to what follows a value.
                    } else {
                        if object {
                            self.key()?;
                        }
                        continue;
                    }
                }
                first => self.scalar(first)?,
            }
            // Here a value has ended.
            loop {
                let object = kinds & 1 == 1;
                match self.peek()? {
                    b',' => {
                        self.at += 1;
                        if object {
                            self.peek()?;
                            self.key()?;
                        }
                        break;
                    }
                    close @ (b'}' | b']') if (close == b'}') == object => {
                        self.at += 1;
                        kinds >>= 1;
                        depth -= 1;
                        if depth == 0 {
                            return Ok(());
                        }
                    }
                    _ => return Err(Fault::Unexpected),
                }
            }
        }
    }

    #[inline]
    fn key(&mut self) -> Result<(), Fault> {
        self.string()?;
        self.peek()?;
        self.take(b':')
    }

    #[inline]
    fn take(&mut self, expected: u8) -> Result<(), Fault> {
        match self.bytes.get(self.at) {
            Some(&byte) if byte == expected => {
                self.at += 1;
                Ok(())
            }
            Some(_) => Err(Fault::Unexpected),
            None => Err(Fault::Truncated),
        }
    }

    #[inline]
    fn scalar(&mut self, first: u8) -> Result<(), Fault> {
        match first {
            b'"' => self.string().map(drop),
            b't' => self.literal(b"true"),
            b'f' => self.literal(b"false"),
            b'n' => self.literal(b"null"),
            b'-' | b'0'..=b'9' => self.number(),
            _ => Err(Fault::Unexpected),
        }
    }

    fn literal(&mut self, word: &[u8]) -> Result<(), Fault> {
        let rest = &self.bytes[self.at..];
        if rest.starts_with(word) {
            self.at += word.len();
            return Ok(());
        }
        let same = rest.iter().zip(word).take_while(|(a, b)| a == b).count();
        Err(if same == rest.len() { Fault::Truncated } else { Fault::Unexpected })
    }

    /// Takes a string; gives what stands between the quotes, escapes included.
    #[inline]
    fn string(&mut self) -> Result<&'a [u8], Fault> {
        self.take(b'"')?;
        let rest = &self.bytes[self.at..];
        // Most strings are keys of at most eight bytes.
        if let Some(word) = rest.first_chunk() {
            let length = plain_in_word(*word);
            if rest.get(length) == Some(&b'"') {
                self.at += length + 1;
                return Ok(&rest[..length]);
            }
        }
        self.long_string()
    }

    /// The same, after its first quote.
    #[inline(never)]
    fn long_string(&mut self) -> Result<&'a [u8], Fault> {
        let start = self.at;
        loop {
            self.at += plain_length(&self.bytes[self.at..]);
            match self.bytes.get(self.at) {
                Some(b'"') => {
                    let inside = &self.bytes[start..self.at];
                    self.at += 1;
                    return Ok(inside);
                }
                Some(b'\\') => self.escape()?,
                Some(_) => return Err(Fault::Unexpected),
                None => return Err(Fault::Truncated),
            }
        }
    }

    #[cold]
    fn escape(&mut self) -> Result<(), Fault> {
        self.at += 1;
        match self.bytes.get(self.at) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.at += 1;
                Ok(())
            }
            Some(b'u') => self.unicode_escape(),
            Some(_) => Err(Fault::Unexpected),
            None => Err(Fault::Truncated),
        }
    }

    /// `\uXXXX`, and its second half where the first is a high surrogate: a lone one is no text.
    fn unicode_escape(&mut self) -> Result<(), Fault> {
        match self.four_hex()? {
            0xd800..=0xdbff => {
                self.take(b'\\')?;
                match self.four_hex()? {
                    0xdc00..=0xdfff => Ok(()),
                    _ => Err(Fault::Unexpected),
                }
            }
            0xdc00..=0xdfff => Err(Fault::Unexpected),
            _ => Ok(()),
        }
    }

    fn four_hex(&mut self) -> Result<u32, Fault> {
        self.take(b'u')?;
        let mut unit = 0;
        for _ in 0..4 {
            let byte = *self.bytes.get(self.at).ok_or(Fault::Truncated)?;
            let digit = (byte as char).to_digit(16).ok_or(Fault::Unexpected)?;
            unit = unit << 4 | digit;
            self.at += 1;
        }
        Ok(unit)
    }

    fn number(&mut self) -> Result<(), Fault> {
        let start = self.at;
        if self.bytes[self.at] == b'-' {
            self.at += 1;
        }
        match self.bytes.get(self.at) {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            Some(_) => return Err(Fault::Unexpected),
            None => return Err(Fault::Truncated),
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.some_digits()?;
        }
        if let Some(b'e' | b'E') = self.bytes.get(self.at) {
            self.at += 1;
            if let Some(b'+' | b'-') = self.bytes.get(self.at) {
                self.at += 1;
            }
            self.some_digits()?;
            self.check_range(start)?;
        } else if self.at - start > 300 {
            self.check_range(start)?;
        }
        Ok(())
    }

    /// Only an exponent or hundreds of digits can leave the range of a float.
    fn check_range(&self, start: usize) -> Result<(), Fault> {
        let finite = std::str::from_utf8(&self.bytes[start..self.at])
            .ok()
            .and_then(|text| text.parse::<f64>().ok())
            .is_some_and(f64::is_finite);
        if finite { Ok(()) } else { Err(Fault::NumberOutOfRange) }
    }

    fn digits(&mut self) {
        while let Some(b'0'..=b'9') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    fn some_digits(&mut self) -> Result<(), Fault> {
        match self.bytes.get(self.at) {
            Some(b'0'..=b'9') => {
                self.digits();
                Ok(())
            }
            Some(_) => Err(Fault::Unexpected),
            None => Err(Fault::Truncated),
        }
    }
}

/// Whether the bytes are UTF-8, which the scanner takes for granted.
pub fn check_utf8(bytes: &[u8]) -> Result<(), Fault> {
    std::str::from_utf8(bytes).map(drop).map_err(|_| Fault::NotUtf8)
}

/// How many bytes stand before the first that is special in a string: a quote, a backslash or a
/// control character. Many at a time, because most of what is read is text in strings.
pub(crate) fn plain_length(bytes: &[u8]) -> usize {
    let mut rest = bytes;
    while let Some((block, after)) = rest.split_first_chunk()
        && is_plain_block(block)
    {
        rest = after;
    }
    while let Some((word, after)) = rest.split_first_chunk() {
        let plain = plain_in_word(*word);
        if plain < 8 {
            return bytes.len() - rest.len() + plain;
        }
        rest = after;
    }
    let plain = rest.iter().take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..0x20));
    bytes.len() - rest.len() + plain.count()
}

/// Whether none of the bytes is special. Without a branch, so that it becomes vector code.
#[inline]
fn is_plain_block(block: &[u8; 16]) -> bool {
    let special =
        |byte: &u8| u8::from(*byte < 0x20) | u8::from(*byte == b'"') | u8::from(*byte == b'\\');
    block.iter().map(special).fold(0, |any, one| any | one) == 0
}

/// How many of eight bytes stand before the first that is special.
///
/// `x - n` of a byte borrows, and so sets its top bit, when `x < n`; `!x` takes out those that had
/// it set before. A borrow spreads only upwards from a byte that is marked itself, so the lowest
/// mark is true. "Equal to c" is "less than 1 after xor with c".
#[inline]
const fn plain_in_word(bytes: [u8; 8]) -> usize {
    const ONES: u64 = u64::MAX / 255;
    const fn less_than(word: u64, bound: u8) -> u64 {
        word.wrapping_sub(ONES * bound as u64) & !word
    }
    let word = u64::from_le_bytes(bytes);
    let quotes = less_than(word ^ (ONES * b'"' as u64), 1);
    let backslashes = less_than(word ^ (ONES * b'\\' as u64), 1);
    let controls = less_than(word, 0x20);
    let marks = (quotes | backslashes | controls) & (ONES * 0x80);
    marks.trailing_zeros() as usize / 8
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn accepts(text: &[u8]) -> Result<(), Fault> {
        check_utf8(text)?;
        let mut scanner = Scanner::new(text);
        scanner.value()?;
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
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
                prop::collection::hash_map(".{0,6}", inner, 0..4)
                    .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
            ]
        })
    }

    #[test]
    fn the_first_special_byte_is_found_wherever_it_stands() {
        for special in [b'"', b'\\', 0, b'\n', 0x1f] {
            for at in 0..40 {
                let mut bytes = vec![b'!'; 40];
                bytes[at] = special;
                bytes[39] = b'"';
                assert_eq!(plain_length(&bytes), at, "{special} at {at}");
            }
        }
        assert_eq!(plain_length(" !#[]~\u{7f}\u{80}\u{a2}\u{dc}\u{1f600}".as_bytes()), 17);
    }

    proptest! {
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
}
