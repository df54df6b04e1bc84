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
}
