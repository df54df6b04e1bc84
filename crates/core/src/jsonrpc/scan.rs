//! A validating JSON scanner that remembers where the members of one object stand.
//!
//! Written by hand because the load path checks every reply: no general parser finds five members
//! without visiting all values twice or building a tree. It accepts exactly what `serde_json`
//! accepts (a property test holds the two together), with the same depth limit.

use super::string::{is_printable_ascii, string_end};

/// Nesting beyond this is refused, as `serde_json` does.
const DEEPEST: usize = 127;

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
///
/// What takes a whole value is a function over plain arguments, below: so the position stays in a
/// register.
#[derive(Debug, Clone)]
pub struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    printable: bool,
}

impl<'a> Scanner<'a> {
    /// Starts before the first byte, once it is known that all of them are UTF-8.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Result<Self, Fault> {
        let printable = is_printable_ascii(bytes);
        if !printable {
            check_utf8(bytes)?;
        }
        Ok(Self { bytes, at: 0, printable })
    }

    /// The next byte that is not white space, not yet taken.
    #[inline]
    pub fn peek(&mut self) -> Result<u8, Fault> {
        let (byte, at) = next(self.bytes, self.at)?;
        self.at = at;
        Ok(byte)
    }

    /// What has not been taken.
    #[inline]
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
        self.at = after(self.bytes, self.at, b'{')?;
        if self.peek()? == b'}' {
            self.at += 1;
            return Ok(());
        }
        loop {
            let key = self.key()?;
            visit(self, key)?;
            let ended = self.peek()?;
            self.at += 1;
            match ended {
                b',' => {}
                b'}' => return Ok(()),
                _ => return Err(Fault::Unexpected),
            }
        }
    }

    #[inline(always)]
    fn key(&mut self) -> Result<&'a [u8], Fault> {
        let start = after(self.bytes, self.at, b'"')?;
        let end = string_end(self.bytes, start, self.printable)?;
        self.at = after(self.bytes, end, b':')?;
        Ok(&self.bytes[start..end - 1])
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
        self.peek()?;
        let start = self.at;
        self.skip()?;
        Ok(&self.bytes[start..self.at])
    }

    /// Takes one value of any kind.
    #[inline]
    pub fn skip(&mut self) -> Result<(), Fault> {
        self.at = match self.peek()? {
            b'{' | b'[' => container_end(self.bytes, self.at, self.printable)?,
            first => scalar_end(self.bytes, self.at, first, self.printable)?,
        };
        Ok(())
    }
}

/// The next byte that is not white space, and where it stands.
#[inline(always)]
fn next(bytes: &[u8], mut at: usize) -> Result<(u8, usize), Fault> {
    loop {
        match bytes.get(at) {
            Some(&byte) if byte > b' ' => return Ok((byte, at)),
            Some(b' ' | b'\t' | b'\r' | b'\n') => at += 1,
            Some(_) => return Err(Fault::Unexpected),
            None => return Err(Fault::Truncated),
        }
    }
}

/// The place after `expected`, which is due.
#[inline(always)]
fn after(bytes: &[u8], at: usize, expected: u8) -> Result<usize, Fault> {
    let (byte, at) = next(bytes, at)?;
    if byte == expected { Ok(at + 1) } else { Err(Fault::Unexpected) }
}

/// Where the object or array ends that begins here. No recursion: a stack of a byte a level says
/// what is open.
fn container_end(bytes: &[u8], mut at: usize, printable: bool) -> Result<usize, Fault> {
    let mut outer = [0_u8; DEEPEST];
    let mut depth = 0;
    // What ends the innermost one. Both kinds end with the byte after the byte after their first.
    let mut close = 0;
    loop {
        // Here a value is due.
        let (first, here) = next(bytes, at)?;
        at = match first {
            b'"' => string_end(bytes, here + 1, printable)?,
            b'{' | b'[' => {
                *outer.get_mut(depth).ok_or(Fault::TooDeep)? = close;
                depth += 1;
                close = first + 2;
                let (inside, here) = next(bytes, here + 1)?;
                if inside != close {
                    at = if close == b'}' { key_end(bytes, here, printable)? } else { here };
                    continue;
                }
                here
            }
            _ => scalar_end(bytes, here, first, printable)?,
        };
        // Here a value has ended, or an empty container is about to.
        loop {
            let (byte, here) = next(bytes, at)?;
            at = here + 1;
            if byte == b',' {
                if close == b'}' {
                    at = key_end(bytes, at, printable)?;
                }
                break;
            }
            if byte != close {
                return Err(Fault::Unexpected);
            }
            depth -= 1;
            close = outer[depth];
            if depth == 0 {
                return Ok(at);
            }
        }
    }
}

/// Where the value of the member begins whose key is due.
#[inline(always)]
fn key_end(bytes: &[u8], at: usize, printable: bool) -> Result<usize, Fault> {
    let start = after(bytes, at, b'"')?;
    after(bytes, string_end(bytes, start, printable)?, b':')
}

/// Where the value ends that begins here with `first` and is neither object nor array.
#[inline]
fn scalar_end(bytes: &[u8], at: usize, first: u8, printable: bool) -> Result<usize, Fault> {
    match first {
        b'"' => string_end(bytes, at + 1, printable),
        b't' => literal_end(bytes, at, b"true"),
        b'f' => literal_end(bytes, at, b"false"),
        b'n' => literal_end(bytes, at, b"null"),
        b'-' | b'0'..=b'9' => number_end(bytes, at),
        _ => Err(Fault::Unexpected),
    }
}

#[inline]
fn literal_end(bytes: &[u8], at: usize, word: &[u8]) -> Result<usize, Fault> {
    let rest = &bytes[at..];
    if rest.starts_with(word) {
        return Ok(at + word.len());
    }
    let same = rest.iter().zip(word).take_while(|(a, b)| a == b).count();
    Err(if same == rest.len() { Fault::Truncated } else { Fault::Unexpected })
}

fn number_end(bytes: &[u8], start: usize) -> Result<usize, Fault> {
    let mut at = start + usize::from(bytes[start] == b'-');
    at = match bytes.get(at) {
        Some(b'0') => at + 1,
        _ => digits_end(bytes, at)?,
    };
    if bytes.get(at) == Some(&b'.') {
        at = digits_end(bytes, at + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        at += 1;
        if let Some(b'+' | b'-') = bytes.get(at) {
            at += 1;
        }
        at = digits_end(bytes, at)?;
        check_range(&bytes[start..at])?;
    } else if at - start > 300 {
        check_range(&bytes[start..at])?;
    }
    Ok(at)
}

/// Where digits end, of which there must be one.
#[inline]
fn digits_end(bytes: &[u8], start: usize) -> Result<usize, Fault> {
    let mut at = start;
    while let Some(b'0'..=b'9') = bytes.get(at) {
        at += 1;
    }
    match bytes.get(at) {
        _ if at > start => Ok(at),
        Some(_) => Err(Fault::Unexpected),
        None => Err(Fault::Truncated),
    }
}

/// Only an exponent or hundreds of digits can leave the range of a float.
fn check_range(number: &[u8]) -> Result<(), Fault> {
    let finite = std::str::from_utf8(number)
        .ok()
        .and_then(|text| text.parse::<f64>().ok())
        .is_some_and(f64::is_finite);
    if finite { Ok(()) } else { Err(Fault::NumberOutOfRange) }
}

fn check_utf8(bytes: &[u8]) -> Result<(), Fault> {
    std::str::from_utf8(bytes).map(drop).map_err(|_| Fault::NotUtf8)
}

#[cfg(test)]
mod tests;
