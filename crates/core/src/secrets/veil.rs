//! Keeps secrets out of a stream that is cut anywhere.

use std::borrow::Cow;

use super::{
    MASK, Secrets,
    forms::{LONGEST_PIECE, WIDEST_LETTER},
    names::SHORTEST,
};

/// So much of an unfinished line waits for what comes next: it may be the beginning of a secret.
const HELD: usize = (LONGEST_PIECE + SHORTEST) * WIDEST_LETTER;

/// What stands before a log.
#[derive(Debug, Default)]
pub struct Veil {
    secrets: Secrets,
    held: Vec<u8>,
}

impl Veil {
    /// Keeps these secrets.
    pub fn new(secrets: Secrets) -> Self {
        Self { secrets, held: Vec::new() }
    }

    /// What may be written by now. Without secrets that is all.
    pub fn pass<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        if self.secrets.is_empty() {
            return Cow::Borrowed(bytes);
        }
        self.held.extend_from_slice(bytes);
        let whole_lines = memchr::memrchr(b'\n', &self.held).map_or(0, |at| at + 1);
        Cow::Owned(self.release(whole_lines.max(self.held.len().saturating_sub(HELD))))
    }

    /// What waited for more that does not come.
    pub fn end(&mut self) -> Vec<u8> {
        self.release(self.held.len())
    }

    /// Gives what is held up to there; a secret that goes on beyond it is masked as a whole.
    fn release(&mut self, mut ready: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(ready);
        let mut at = 0;
        let forms = self.secrets.0.as_ref().map(|known| known.forms());
        while let Some((start, end)) = forms.and_then(|forms| forms.find(&self.held, at)) {
            if start >= ready {
                break;
            }
            out.extend_from_slice(&self.held[at..start]);
            out.extend_from_slice(MASK.as_bytes());
            at = end;
            ready = ready.max(end);
        }
        out.extend_from_slice(&self.held[at..ready]);
        let out = forms.map_or_else(Vec::new, |forms| forms.out_of_cuts(out));
        self.held.drain(..ready);
        out
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::secrets::Given;

    const SECRET: &str = "c4n4ry-5ecret-9f";

    fn passed(chunks: &[&[u8]]) -> String {
        let mut veil = Veil::new(Given::default().variable("TOKEN", SECRET).secrets());
        let mut out: Vec<u8> =
            chunks.iter().flat_map(|chunk| veil.pass(chunk).into_owned()).collect();
        out.extend(veil.end());
        String::from_utf8(out).unwrap()
    }

    /// Secrets that touch each other may have one mask or several.
    fn with_one_mask(mut text: String) -> String {
        while text.contains("****") {
            text = text.replace("****", MASK);
        }
        text
    }

    #[test]
    fn whole_lines_are_not_held() {
        let mut veil = Veil::new(Given::default().variable("TOKEN", SECRET).secrets());
        assert_eq!(veil.pass(b"one\ntwo c4n4ry").into_owned(), b"one\n");
        assert_eq!(veil.pass(b"-5ecret-9f\n").into_owned(), b"two ***\n");
        assert_eq!(veil.end(), b"");
    }

    #[test]
    fn without_secrets_nothing_is_held() {
        let mut veil = Veil::default();
        assert!(matches!(veil.pass(b"c4n4ry"), Cow::Borrowed(b"c4n4ry")));
        assert_eq!(veil.end(), b"");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn cuts_make_no_difference(parts in prop::collection::vec((0..3_usize, 0..1500_usize), 0..6), size in 1..900_usize) {
            let texts = [SECRET, "plain ", "\n"];
            let whole: String = parts.iter().map(|(which, many)| match which {
                1 => texts[1].repeat(*many),
                which => texts[*which].to_owned(),
            }).collect();
            let chunks: Vec<&[u8]> = whole.as_bytes().chunks(size).collect();
            let seen = passed(&chunks);
            prop_assert!(!seen.contains(SECRET));
            prop_assert_eq!(with_one_mask(seen), with_one_mask(whole.replace(SECRET, MASK)));
        }
    }

    #[test]
    fn of_an_unfinished_line_so_much_is_held_as_the_longest_form_takes() {
        let mut veil = Veil::new(Given::default().variable("TOKEN", SECRET).secrets());
        // 64 letters and 6 that were not worth a piece of their own, each 12 characters long.
        assert_eq!(veil.pass(&[b'x'; 840]).as_ref(), b"");
        assert_eq!(veil.pass(b"y").as_ref(), b"x");
        assert_eq!(veil.end().len(), 840);
    }
}
