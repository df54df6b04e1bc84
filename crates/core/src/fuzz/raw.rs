//! Bytes: valid frames that were flipped, cut, spliced or split, and bytes that never were a frame.

use super::Answer;
use crate::seed::Dice;

/// Valid frames to begin with.
pub(super) struct Bases {
    /// Any byte of these may change: none of them calls a tool that exists.
    pub(super) harmless: Vec<Vec<u8>>,
    /// Of these only the end may be missing: a changed name might be another tool's.
    pub(super) calls: Vec<Vec<u8>>,
}

/// The bytes of a case and what was done to them.
pub(super) struct Mutated {
    pub(super) label: &'static str,
    pub(super) writes: Vec<Vec<u8>>,
    pub(super) answer: Answer,
}

const KINDS: u64 = 9;

/// The n-th mutation; the first base is the frame that an answer is due to.
pub(super) fn mutate(bases: &Bases, index: u64, dice: &mut Dice) -> Mutated {
    let may = |label, bytes| Mutated { label, writes: vec![bytes], answer: Answer::May };
    let harmless = |dice: &mut Dice| pick(&bases.harmless, dice).to_vec();
    match index % KINDS {
        0 => may("bits flipped", flipped(harmless(dice), dice)),
        1 => may("cut short", cut(any(bases, dice).to_vec(), dice)),
        2 => may("two frames spliced", spliced(&harmless(dice), &harmless(dice), dice)),
        3 => may("random bytes", random(dice)),
        4 => may("several frames in one write", several(bases, dice)),
        5 => split(&bases.harmless[0], dice),
        6 => may("bytes put in", inserted(harmless(dice), dice)),
        7 => may("bytes taken out", removed(harmless(dice), dice)),
        _ => may("a piece repeated", repeated(harmless(dice), dice)),
    }
}

fn pick<'a>(frames: &'a [Vec<u8>], dice: &mut Dice) -> &'a [u8] {
    &frames[dice.below(frames.len() as u64) as usize]
}

fn any<'a>(bases: &'a Bases, dice: &mut Dice) -> &'a [u8] {
    let take_call = !bases.calls.is_empty() && dice.below(2) == 0;
    pick(if take_call { &bases.calls } else { &bases.harmless }, dice)
}

fn place(length: usize, dice: &mut Dice) -> usize {
    dice.below(length as u64) as usize
}

fn flipped(mut bytes: Vec<u8>, dice: &mut Dice) -> Vec<u8> {
    for _ in 0..1 + dice.below(8) {
        let at = place(bytes.len(), dice);
        bytes[at] ^= 1 << dice.below(8);
    }
    bytes
}

fn cut(mut bytes: Vec<u8>, dice: &mut Dice) -> Vec<u8> {
    bytes.truncate(place(bytes.len(), dice));
    bytes
}

fn spliced(one: &[u8], other: &[u8], dice: &mut Dice) -> Vec<u8> {
    let (head, tail) = (place(one.len(), dice), place(other.len(), dice));
    [&one[..head], &other[tail..]].concat()
}

fn random(dice: &mut Dice) -> Vec<u8> {
    let scale = dice.below(12);
    let length = 1 + dice.below(1 << scale);
    (0..length).map(|_| dice.next_u64() as u8).collect()
}

fn several(bases: &Bases, dice: &mut Dice) -> Vec<u8> {
    let ends: [&[u8]; 3] = [b"\n", b"\r\n", b""];
    let end = ends[dice.below(3) as usize];
    bases.harmless.iter().flat_map(|frame| [frame.as_slice(), end].concat()).collect()
}

/// The whole frame, written in pieces: it is still a proper request.
fn split(frame: &[u8], dice: &mut Dice) -> Mutated {
    let mut rest = frame;
    let mut writes = Vec::new();
    for _ in 0..1 + dice.below(4) {
        let (head, tail) = rest.split_at(place(rest.len().max(1), dice));
        writes.push(head.to_vec());
        rest = tail;
    }
    writes.push(rest.to_vec());
    Mutated { label: "one frame in several writes", writes, answer: Answer::Must }
}

fn inserted(mut bytes: Vec<u8>, dice: &mut Dice) -> Vec<u8> {
    const ODD: &[&[u8]] = &[
        b"\0",
        b"\r",
        b"\n",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\xed\xa0\x80",
        b"\xc0\xaf",
        b"{",
        b"[",
        b"\"",
        b"\\",
        b",",
        b":",
        b"1e999",
        b"NaN",
        b"\xe2\x80\xa8",
        b"/*",
        b"//",
    ];
    for _ in 0..1 + dice.below(3) {
        let at = place(bytes.len(), dice);
        let odd = ODD[dice.below(ODD.len() as u64) as usize];
        bytes.splice(at..at, odd.iter().copied());
    }
    bytes
}

fn removed(mut bytes: Vec<u8>, dice: &mut Dice) -> Vec<u8> {
    for _ in 0..1 + dice.below(4) {
        let at = place(bytes.len().max(1), dice);
        if at < bytes.len() {
            bytes.remove(at);
        }
    }
    bytes
}

fn repeated(bytes: Vec<u8>, dice: &mut Dice) -> Vec<u8> {
    let from = place(bytes.len(), dice);
    let to = from + place(bytes.len() - from, dice);
    let times = 2 + dice.below(20) as usize;
    [&bytes[..from], &bytes[from..to].repeat(times), &bytes[to..]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    fn bases() -> Bases {
        Bases {
            harmless: vec![b"{\"id\":1}".to_vec(), b"{\"id\":2}".to_vec()],
            calls: vec![b"{\"tool\":\"a\"}".to_vec()],
        }
    }

    #[test]
    fn a_frame_in_pieces_is_whole_and_calls_are_never_changed_in_the_middle() {
        for index in 0..2_000 {
            let made = mutate(&bases(), index, &mut Seed(3).dice(index));
            let bytes = made.writes.concat();
            if made.answer == Answer::Must {
                assert_eq!(bytes, b"{\"id\":1}");
                assert!(made.writes.len() > 1);
            }
            let text = String::from_utf8_lossy(&bytes).into_owned();
            if text.contains("\"tool\":\"") && text.ends_with("\"}") {
                assert!(text.ends_with("\"a\"}") || text.contains("\"}\""), "{text}");
            }
        }
    }

    #[test]
    fn the_shortest_frames_can_be_mutated_too() {
        let bases = Bases { harmless: vec![b"1".to_vec()], calls: Vec::new() };
        for index in 0..500 {
            mutate(&bases, index, &mut Seed(9).dice(index));
        }
    }

    const FRAME: &[u8] = b"abcdefghij";

    /// What becomes of one harmless frame and of one call by the n-th mutation, by many dice.
    fn mutated(kind: u64) -> (&'static str, Vec<Vec<u8>>) {
        let bases = Bases { harmless: vec![FRAME.to_vec()], calls: vec![b"0123456789".to_vec()] };
        let each = (0..500).map(|seed| mutate(&bases, kind + KINDS, &mut Seed(seed).dice(kind)));
        let (mut label, mut all) = ("", Vec::new());
        for made in each {
            label = made.label;
            all.push(made.writes.concat());
        }
        (label, all)
    }

    fn is_within(part: &[u8], whole: &[u8]) -> bool {
        let mut rest = whole.iter();
        part.iter().all(|byte| rest.any(|other| other == byte))
    }

    #[test]
    fn up_to_eight_bits_are_flipped_either_way() {
        let (label, all) = mutated(0);
        assert_eq!(label, "bits flipped");
        let (mut set, mut cleared) = (0_u8, 0_u8);
        for bytes in &all {
            assert_eq!(bytes.len(), FRAME.len());
            let changes = bytes.iter().zip(FRAME).map(|(new, old)| new ^ old);
            assert!(changes.map(u8::count_ones).sum::<u32>() <= 8);
            for (new, old) in bytes.iter().zip(FRAME) {
                set |= new & !old;
                cleared |= old & !new;
            }
        }
        // All letters have the bits 0x60, and none of them has the highest.
        assert_eq!((set & 0x80, cleared & 0x60), (0x80, 0x60));
        // Two flips of the same bit are rare.
        assert!(all.iter().filter(|bytes| *bytes == FRAME).count() < 20);
    }

    #[test]
    fn frames_and_calls_are_cut_anywhere_and_never_whole() {
        let (label, all) = mutated(1);
        assert_eq!(label, "cut short");
        let calls = all.iter().filter(|bytes| bytes.starts_with(b"0")).count();
        assert!(calls > 100 && calls < 400, "{calls}");
        for length in 0..FRAME.len() {
            assert!(all.contains(&FRAME[..length].to_vec()), "{length}");
        }
        let is_cut = |bytes: &Vec<u8>| {
            bytes.len() < 10 && (FRAME.starts_with(bytes) || b"0123456789".starts_with(bytes))
        };
        assert!(all.iter().all(is_cut));
    }

    #[test]
    fn the_head_of_one_frame_goes_on_as_the_tail_of_another() {
        let (label, all) = mutated(2);
        assert_eq!(label, "two frames spliced");
        let lengths: Vec<_> = all.iter().map(Vec::len).collect();
        assert_eq!((lengths.iter().min(), lengths.iter().max()), (Some(&1), Some(&19)));
        for bytes in &all {
            let is_spliced = |tail: usize| {
                let Some(head) = bytes.len().checked_sub(tail).filter(|head| *head < 10) else {
                    return false;
                };
                bytes[..head] == FRAME[..head] && bytes[head..] == FRAME[10 - tail..]
            };
            assert!((1..=10).any(is_spliced), "{bytes:?}");
        }
    }

    #[test]
    fn random_bytes_are_few_or_many_and_at_least_one() {
        let (label, all) = mutated(3);
        assert_eq!(label, "random bytes");
        let lengths: Vec<_> = all.iter().map(Vec::len).collect();
        assert_eq!(lengths.iter().min(), Some(&1));
        assert!(lengths.iter().any(|length| *length > 500));
        assert!(lengths.iter().all(|length| *length <= 1 << 11));
        assert!(all.iter().flatten().collect::<std::collections::BTreeSet<_>>().len() == 256);
    }

    #[test]
    fn several_frames_in_one_write_end_in_one_of_three_ways() {
        let two = || Bases { harmless: vec![b"one".to_vec(), b"two".to_vec()], calls: vec![] };
        let made = |seed| mutate(&two(), 4, &mut Seed(seed).dice(0));
        let all: std::collections::BTreeSet<_> =
            (0..100).map(|seed| made(seed).writes.concat()).collect();
        let expected: [&[u8]; 3] = [b"one\ntwo\n", b"one\r\ntwo\r\n", b"onetwo"];
        assert!(all.iter().map(Vec::as_slice).eq(expected));
        assert_eq!(made(0).label, "several frames in one write");
    }

    #[test]
    fn bytes_are_put_in_and_taken_out_and_the_rest_stays() {
        let (label, all) = mutated(6);
        assert_eq!(label, "bytes put in");
        assert!(all.iter().all(|bytes| bytes.len() > FRAME.len() && is_within(FRAME, bytes)));
        let (label, all) = mutated(7);
        assert_eq!(label, "bytes taken out");
        assert!(all.iter().all(|bytes| (6..10).contains(&bytes.len()) && is_within(bytes, FRAME)));
    }

    #[test]
    fn a_piece_stands_up_to_twenty_one_times() {
        let (label, all) = mutated(8);
        assert_eq!(label, "a piece repeated");
        for bytes in &all {
            let is_repeated = |from: usize, to: usize, times: usize| {
                let piece = FRAME[from..to].repeat(times);
                [&FRAME[..from], &piece, &FRAME[to..]].concat() == *bytes
            };
            let found = (0..10).any(|from| {
                (from..10).any(|to| (2..=21).any(|times| is_repeated(from, to, times)))
            });
            assert!(found, "{}", String::from_utf8_lossy(bytes));
        }
        assert!(all.iter().any(|bytes| bytes.len() > 100));
        assert_eq!(mutated(5).0, "one frame in several writes");
    }
}
