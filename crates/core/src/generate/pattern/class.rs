//! Sets of characters.

/// A set of characters as ranges of code points, both ends included, sorted and apart.
pub(super) type Class = Vec<(u32, u32)>;

/// `\d`.
pub(super) const DIGITS: [(u32, u32); 1] = [('0' as u32, '9' as u32)];
/// `\w`.
pub(super) const WORD: [(u32, u32); 4] = [
    ('0' as u32, '9' as u32),
    ('A' as u32, 'Z' as u32),
    ('_' as u32, '_' as u32),
    ('a' as u32, 'z' as u32),
];
/// `\s`.
pub(super) const SPACE: [(u32, u32); 10] = [
    (0x9, 0xd),
    (0x20, 0x20),
    (0xa0, 0xa0),
    (0x1680, 0x1680),
    (0x2000, 0x200a),
    (0x2028, 0x2029),
    (0x202f, 0x202f),
    (0x205f, 0x205f),
    (0x3000, 0x3000),
    (0xfeff, 0xfeff),
];
/// What `.` does not match.
pub(super) const LINE_ENDS: [(u32, u32); 3] = [(0xa, 0xa), (0xd, 0xd), (0x2028, 0x2029)];

/// A set of one character.
pub(super) fn one(c: char) -> Class {
    vec![(c as u32, c as u32)]
}

/// `a-z` from `a` and `z`; a set such as `\d` is no end of a range.
pub(super) fn range(low: &Class, high: &Class) -> Option<(u32, u32)> {
    match (low.as_slice(), high.as_slice()) {
        (&[(low, low_end)], &[(high, high_end)]) => {
            (low == low_end && high == high_end && low <= high).then_some((low, high))
        }
        _ => None,
    }
}

/// The same set, its ranges sorted and apart.
pub(super) fn tidy(mut class: Class) -> Class {
    class.sort_unstable();
    let mut tidied = Class::with_capacity(class.len());
    for (low, high) in class {
        match tidied.last_mut() {
            Some(last) if low <= last.1 + 1 => last.1 = last.1.max(high),
            _ => tidied.push((low, high)),
        }
    }
    tidied
}

/// All other characters.
pub(super) fn complement(class: Class) -> Class {
    let mut gaps = Class::new();
    let mut next = 0;
    for (low, high) in tidy(class) {
        if low > next {
            gaps.push((next, low - 1));
        }
        next = high + 1;
    }
    if next <= char::MAX as u32 {
        gaps.push((next, char::MAX as u32));
    }
    gaps
}

/// Whether a set has this letter.
pub(super) fn contains(class: &Class, letter: char) -> bool {
    let code = letter as u32;
    let after = class.partition_point(|(low, _)| *low <= code);
    after.checked_sub(1).and_then(|at| class.get(at)).is_some_and(|(_, high)| code <= *high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_sorted_and_apart() {
        assert_eq!(tidy(vec![(5, 9), (1, 3), (4, 4), (20, 30)]), [(1, 9), (20, 30)]);
        assert_eq!(complement(vec![(1, 9)]), [(0, 0), (10, char::MAX as u32)]);
        assert!(complement(vec![(0, char::MAX as u32)]).is_empty());
    }

    #[test]
    fn a_set_contains_both_ends_of_its_ranges() {
        let class = vec![(97, 99), (120, 122)];
        let inside: String = ('a'..='z').filter(|c| contains(&class, *c)).collect();
        assert_eq!(inside, "abcxyz");
    }
}
