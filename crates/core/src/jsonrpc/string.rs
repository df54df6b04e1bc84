//! Strings inside JSON: where they end, and text that needs no second look.

use super::scan::Fault;

/// The place after the quote that ends a string; its first quote was taken.
#[inline(always)]
pub(super) fn string_end(bytes: &[u8], at: usize, printable: bool) -> Result<usize, Fault> {
    // Most strings are keys of at most eight bytes.
    let at = at + plain_ahead(bytes, at);
    if bytes.get(at) == Some(&b'"') {
        return Ok(at + 1);
    }
    long_string_end(bytes, at, printable)
}

/// The same, for a string of any length, somewhere inside it.
#[inline(never)]
fn long_string_end(bytes: &[u8], mut at: usize, printable: bool) -> Result<usize, Fault> {
    loop {
        match bytes.get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => {
                at = escape_end(bytes, at + 1)?;
                // Where there is one escape the next is often near.
                at += plain_ahead(bytes, at);
            }
            Some(0..0x20) => return Err(Fault::Unexpected),
            Some(_) if printable => {
                let found = memchr::memchr2(b'"', b'\\', &bytes[at..]);
                at = found.map_or(bytes.len(), |found| at + found);
            }
            Some(_) => at += plain_length(&bytes[at..]),
            None => return Err(Fault::Truncated),
        }
    }
}

/// How many of the next eight bytes stand before the first that is special in a string.
#[inline(always)]
fn plain_ahead(bytes: &[u8], at: usize) -> usize {
    let word = bytes.get(at..).and_then(<[u8]>::first_chunk);
    word.map_or(0, |word| plain_in_word(*word))
}

/// The place after an escape whose backslash was taken.
#[inline]
fn escape_end(bytes: &[u8], at: usize) -> Result<usize, Fault> {
    match bytes.get(at) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 1),
        Some(b'u') => unicode_escape_end(bytes, at + 1),
        Some(_) => Err(Fault::Unexpected),
        None => Err(Fault::Truncated),
    }
}

/// `\uXXXX`, and its second half where the first is a high surrogate: a lone one is no text.
fn unicode_escape_end(bytes: &[u8], at: usize) -> Result<usize, Fault> {
    match four_hex(bytes, at)? {
        0xd800..=0xdbff => {
            let second = at + 4;
            for (place, expected) in [(second, b'\\'), (second + 1, b'u')] {
                if *bytes.get(place).ok_or(Fault::Truncated)? != expected {
                    return Err(Fault::Unexpected);
                }
            }
            match four_hex(bytes, second + 2)? {
                0xdc00..=0xdfff => Ok(second + 6),
                _ => Err(Fault::Unexpected),
            }
        }
        0xdc00..=0xdfff => Err(Fault::Unexpected),
        _ => Ok(at + 4),
    }
}

fn four_hex(bytes: &[u8], at: usize) -> Result<u32, Fault> {
    (at..at + 4).try_fold(0, |unit, at| {
        let byte = *bytes.get(at).ok_or(Fault::Truncated)?;
        let digit = char::from(byte).to_digit(16).ok_or(Fault::Unexpected)?;
        Ok(unit << 4 | digit)
    })
}

/// Whether all bytes are ASCII and none of them is a control character, as in most frames. Without a
/// branch between its words, so that it becomes vector code.
#[inline]
pub(super) fn is_printable_ascii(bytes: &[u8]) -> bool {
    const ONES: u64 = u64::MAX / 255;
    // See `plain_in_word`: less than a space, or beyond ASCII already.
    let other = |word: &[u8; 8]| {
        let word = u64::from_le_bytes(*word);
        word.wrapping_sub(ONES * 0x20) | word
    };
    let Some(last) = bytes.last_chunk() else {
        return bytes.iter().all(|byte| matches!(byte, 0x20..0x80));
    };
    let (words, _) = bytes.as_chunks();
    let others = words.iter().map(other).fold(other(last), |any, one| any | one);
    others & (ONES * 0x80) == 0
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

    #[test]
    fn printable_text_is_known_whatever_stands_where() {
        for length in 0..40 {
            assert!(is_printable_ascii(&vec![b'~'; length]));
            let others = [0x1f, 0, 0x80, 0xa9, 0xff];
            for (at, other) in (0..length).flat_map(|at| others.map(|other| (at, other))) {
                let mut bytes = vec![b' '; length];
                bytes[at] = other;
                assert!(!is_printable_ascii(&bytes), "{other} at {at} of {length}");
            }
        }
    }

    #[test]
    fn several_special_bytes_in_one_block_do_not_hide_each_other() {
        for special in [b'"', b'\\', b'\n'] {
            assert_eq!(plain_length(&[special; 40]), 0, "{special}");
            let mut two = [b'!'; 40];
            (two[3], two[5]) = (special, special);
            assert_eq!(plain_length(&two), 3, "{special}");
        }
    }
}
