//! Which events become trace lines.
//!
//! | mode      | load calls that ended well                     | everything else | a slow disk       |
//! |-----------|------------------------------------------------|-----------------|-------------------|
//! | `full`    | all                                            | all             | the load waits    |
//! | `sampled` | all up to [`CALLS_PER_SECOND`], then 1 in many | all             | lines are dropped |
//! | `errors`  | none                                           | all             | lines are dropped |
//!
//! A call is kept or left out as a whole. Whether it fails is known at its end only, so the line of
//! its request is held back until then. What is left out is counted, and notes in the trace say so:
//! the first one before anything is left out, so that even the trace of a killed run tells whether
//! it has holes.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use super::write;
use crate::{
    config::Trace,
    event::{Call, Event, Phase, note},
};

/// So many load calls a second are kept for every load thread in `sampled`, whatever the load is.
pub const CALLS_PER_SECOND: u64 = 20_000;
/// One call in so many is kept in a second that has had more than its share.
const OVERFLOW: u64 = 128;
/// Requests that are held back at most, in bytes; the lines of further ones are left out.
const MOST_HELD: usize = 32 << 20;
/// Memory of ended requests that is used again.
const MOST_SPARE: usize = 1024;

/// What a trace does not have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Untraced {
    /// Load calls that were left out.
    pub calls: u64,
    /// Lines that were left out.
    pub lines: u64,
    /// Lines that the disk was too slow for.
    pub lost_lines: u64,
    /// Notes about that, which are lines but no events of the run.
    #[serde(skip)]
    pub notes: u64,
}

impl Untraced {
    /// Adds what is missing of another thread.
    pub fn merge(&mut self, other: &Self) {
        self.calls += other.calls;
        self.lines += other.lines;
        self.lost_lines += other.lost_lines;
        self.notes += other.notes;
    }
}

/// The detail of a `trace_skipped` note: all that one thread has left out so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// Which thread.
    pub worker: u16,
    /// Load calls that were left out.
    pub calls: u64,
    /// Lines that were left out.
    pub lines: u64,
    /// Lines that the disk was too slow for.
    pub lost_lines: u64,
}

/// Decides for one load thread.
#[derive(Debug)]
pub struct Keeper {
    mode: Trace,
    worker: u16,
    share: Share,
    held: HashMap<(u32, u64), Vec<u8>, BuildHasherDefault<Mixer>>,
    held_bytes: usize,
    spare: Vec<Vec<u8>>,
    untraced: Untraced,
    /// What the last note said.
    noted: Option<Untraced>,
    /// When something was left out last.
    at: Duration,
}

impl Keeper {
    /// A keeper that has seen nothing.
    pub fn new(mode: Trace, worker: u16) -> Self {
        Self {
            mode,
            worker,
            share: Share::default(),
            held: HashMap::default(),
            held_bytes: 0,
            spare: Vec::new(),
            untraced: Untraced::default(),
            noted: None,
            at: Duration::ZERO,
        }
    }

    /// Appends the lines that an event brings into the trace: none, its own, or also the line of a
    /// request that was held back.
    #[inline]
    pub fn append(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        match (self.mode, event) {
            (Trace::Full, _) => write::append(event, out),
            (_, Event::Request { call, .. }) => {
                if self.keeps(call) {
                    write::append(event, out);
                } else {
                    self.hold(call, event, out);
                }
            }
            (_, Event::Response { call, at, .. }) => match self.take(call) {
                Some(line) => self.skip(call, *at, line),
                None => write::append(event, out),
            },
            (
                _,
                Event::Error { call, .. } | Event::Hang { call, .. } | Event::Deadlock { call, .. },
            ) => {
                if let Some(line) = self.take(call) {
                    out.extend_from_slice(&line);
                    self.use_again(line);
                }
                write::append(event, out);
            }
            _ => write::append(event, out),
        }
    }

    /// Appends a note when more was left out than the last one said.
    pub fn append_note(&mut self, out: &mut Vec<u8>) {
        let Untraced { calls, lines, lost_lines, .. } = self.untraced;
        let known = self.noted.is_some_and(|noted| {
            (noted.calls, noted.lines, noted.lost_lines) == (calls, lines, lost_lines)
        });
        if known || (self.noted.is_none() && (lines, lost_lines) == (0, 0)) {
            return;
        }
        self.append_skipped(out);
    }

    /// Counts the lines of a buffer that could not be written.
    pub fn lose(&mut self, buffer: &[u8]) {
        self.untraced.lost_lines += memchr::memchr_iter(b'\n', buffer).count() as u64;
    }

    /// Appends what is held back, because nothing more will come.
    pub fn finish(&mut self, out: &mut Vec<u8>) -> Untraced {
        let mut held: Vec<_> = self.held.drain().collect();
        held.sort_unstable_by_key(|(key, _)| *key);
        held.iter().for_each(|(_, line)| out.extend_from_slice(line));
        self.held_bytes = 0;
        self.append_note(out);
        self.untraced
    }

    fn keeps(&mut self, call: &Call<'_>) -> bool {
        match call.phase {
            Phase::Setup | Phase::Control => true,
            Phase::Warmup | Phase::Load => {
                self.mode == Trace::Sampled && self.share.keeps(call.started)
            }
        }
    }

    fn hold(&mut self, call: &Call<'_>, event: &Event<'_>, out: &mut Vec<u8>) {
        self.at = call.started;
        if self.noted.is_none() {
            self.append_skipped(out);
        }
        let mut line = self.spare.pop().unwrap_or_default();
        if self.held_bytes < MOST_HELD {
            write::append(event, &mut line);
            self.held_bytes += line.len();
        } else {
            self.untraced.lines += 1;
        }
        if let Some(other) = self.held.insert((call.session, call.request_id), line) {
            // Ids are unique in a session; should they ever not be, nothing is lost.
            self.held_bytes -= other.len();
            out.extend_from_slice(&other);
        }
    }

    #[inline]
    fn take(&mut self, call: &Call<'_>) -> Option<Vec<u8>> {
        if self.held.is_empty() {
            return None;
        }
        let line = self.held.remove(&(call.session, call.request_id))?;
        self.held_bytes -= line.len();
        Some(line)
    }

    fn skip(&mut self, call: &Call<'_>, at: Duration, line: Vec<u8>) {
        self.at = at;
        self.untraced.calls += u64::from(call.phase == Phase::Load);
        self.untraced.lines += 1 + u64::from(!line.is_empty());
        self.use_again(line);
    }

    fn use_again(&mut self, mut line: Vec<u8>) {
        if self.spare.len() < MOST_SPARE {
            line.clear();
            self.spare.push(line);
        }
    }

    fn append_skipped(&mut self, out: &mut Vec<u8>) {
        let Untraced { calls, lines, lost_lines, .. } = self.untraced;
        let detail = Skipped { worker: self.worker, calls, lines, lost_lines };
        let detail = serde_json::to_string(&detail).unwrap_or_default();
        write::append(&Event::note(self.at, note::TRACE_SKIPPED, detail), out);
        self.untraced.notes += 1;
        self.noted = Some(self.untraced);
    }
}

/// Which calls of a second are kept: spread over all of it, by what the second before had.
#[derive(Debug)]
struct Share {
    second: u64,
    seen: u64,
    kept: u64,
    every: u64,
}

impl Default for Share {
    fn default() -> Self {
        Self { second: 0, seen: 0, kept: 0, every: 1 }
    }
}

impl Share {
    #[inline]
    fn keeps(&mut self, at: Duration) -> bool {
        let second = at.as_secs();
        if second > self.second {
            let follows = second == self.second + 1;
            let every = if follows { self.seen.div_ceil(CALLS_PER_SECOND).max(1) } else { 1 };
            *self = Self { second, seen: 0, kept: 0, every };
        }
        self.seen += 1;
        let every = if self.kept < CALLS_PER_SECOND { self.every } else { OVERFLOW };
        // Mixed, because tools that are called in turn would otherwise be kept or left out for ever.
        let keeps = every == 1 || mix(self.seen).is_multiple_of(every);
        self.kept += u64::from(keeps);
        keeps
    }
}

fn mix(number: u64) -> u64 {
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^ (mixed >> 32)
}

/// Hashes numbers of our own making, which need no defence, in a few instructions.
#[derive(Debug, Default)]
struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = mix(self.0.rotate_left(5) ^ number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        event::{Diagnosis, Failure},
        outcome::ErrorCategory,
        trace::read_line,
    };

    fn call(id: u64, phase: Phase, at: Duration) -> Call<'static> {
        Call {
            request_id: id,
            session: (id % 3) as u32,
            worker: 4,
            phase,
            method: "tools/call".into(),
            tool: Some("echo".into()),
            segment: 0,
            intended: at,
            started: at,
        }
    }

    fn request(call: &Call<'static>) -> Event<'static> {
        Event::Request { call: call.clone(), params: b"{}".as_slice().into() }
    }

    fn response(call: &Call<'static>) -> Event<'static> {
        let at = call.started + Duration::from_micros(50);
        Event::Response { call: call.clone(), at, result: b"{}".as_slice().into() }
    }

    fn error(call: &Call<'static>) -> Event<'static> {
        let failure =
            Failure { category: ErrorCategory::ToolError, message: "no".into(), code: None };
        Event::Error { call: call.clone(), at: call.started, failure }
    }

    fn events(lines: &[u8]) -> Vec<Event<'static>> {
        let text = std::str::from_utf8(lines).unwrap();
        text.lines().map(|line| read_line(line).unwrap()).collect()
    }

    fn skipped(event: &Event<'_>) -> Option<Skipped> {
        match event {
            Event::Scenario { name, detail, .. } if name == note::TRACE_SKIPPED => {
                Some(serde_json::from_str(detail).unwrap())
            }
            _ => None,
        }
    }

    /// Lines in the trace and what is not in it add up to all events.
    fn assert_adds_up(lines: &[u8], untraced: Untraced, emitted: u64) {
        let written = events(lines).len() as u64;
        assert_eq!(written - untraced.notes + untraced.lines, emitted);
    }

    #[test]
    fn errors_keeps_failed_calls_with_their_request_and_whatever_is_no_load() {
        let (mut keeper, mut out) = (Keeper::new(Trace::Errors, 4), Vec::new());
        let at = Duration::from_secs(1);
        let setup = call(1, Phase::Setup, at);
        let calls: Vec<_> = (2..8).map(|id| call(id, Phase::Load, at)).collect();
        let hung = call(8, Phase::Load, at);
        let mut all = vec![request(&setup), response(&setup)];
        all.extend(calls.iter().map(request));
        all.push(request(&hung));
        all.extend(calls.iter().map(|call| match call.request_id {
            5 => error(call),
            _ => response(call),
        }));
        all.push(Event::Hang { call: hung.clone(), at });
        all.push(Event::Deadlock {
            call: hung.clone(),
            at,
            diagnosis: Diagnosis::Wedged,
            evidence: "".into(),
        });
        all.push(error(&hung));
        all.push(Event::note(at, "run_finished", ""));
        all.iter().for_each(|event| keeper.append(event, &mut out));
        let untraced = keeper.finish(&mut out);
        let kept: Vec<_> =
            events(&out).into_iter().filter(|event| skipped(event).is_none()).collect();
        let expected =
            [&all[..2], &[request(&calls[3]), error(&calls[3]), request(&hung)]].concat();
        assert_eq!(kept[..5], expected);
        assert_eq!(kept[5..], all[all.len() - 4..]);
        assert_eq!((untraced.calls, untraced.lines, untraced.lost_lines), (5, 10, 0));
        assert_adds_up(&out, untraced, all.len() as u64);
        let notes: Vec<_> = events(&out).iter().filter_map(skipped).collect();
        assert_eq!(notes[0].lines, 0, "the first one comes before anything is left out");
        assert_eq!(
            *notes.last().unwrap(),
            Skipped { worker: 4, calls: 5, lines: 10, lost_lines: 0 }
        );
    }

    /// Calls at this rate for some seconds; gives the kept calls of every second.
    fn sampled(per_second: u64, seconds: u64) -> (Vec<u64>, Vec<u8>, Untraced) {
        let (mut keeper, mut out) = (Keeper::new(Trace::Sampled, 0), Vec::new());
        for id in 0..per_second * seconds {
            let at = Duration::from_nanos(id * 1_000_000_000 / per_second);
            let call = call(id, Phase::Load, at);
            keeper.append(&request(&call), &mut out);
            keeper.append(&response(&call), &mut out);
        }
        let untraced = keeper.finish(&mut out);
        let mut kept = vec![0; seconds as usize];
        for event in events(&out) {
            if let Event::Request { call, .. } = event {
                kept[call.started.as_secs() as usize] += 1;
            }
        }
        (kept, out, untraced)
    }

    #[test]
    fn the_rate_is_the_documented_one() {
        assert_eq!(CALLS_PER_SECOND, 20_000);
        assert!(include_str!("../config/example.toml").contains("20,000"));
    }

    #[test]
    fn sampled_keeps_everything_up_to_the_documented_rate() {
        let (kept, out, untraced) = sampled(CALLS_PER_SECOND, 2);
        assert_eq!(kept, [CALLS_PER_SECOND; 2]);
        assert_eq!(untraced, Untraced::default());
        assert!(events(&out).iter().all(|event| skipped(event).is_none()));
    }

    #[test]
    fn sampled_keeps_whole_calls_and_a_bounded_number_of_them_beyond_it() {
        let (kept, out, untraced) = sampled(3 * CALLS_PER_SECOND, 3);
        let most = CALLS_PER_SECOND + 3 * CALLS_PER_SECOND / OVERFLOW;
        assert!(kept.iter().all(|kept| (CALLS_PER_SECOND / 2..=most).contains(kept)), "{kept:?}");
        assert_adds_up(&out, untraced, 2 * 9 * CALLS_PER_SECOND);
        assert_eq!(untraced.calls, 9 * CALLS_PER_SECOND - kept.iter().sum::<u64>());
        let ends = events(&out);
        let ends = ends.iter().filter(|event| matches!(event, Event::Response { .. })).count();
        assert_eq!(ends as u64, kept.iter().sum::<u64>(), "a call is kept as a whole");
        // The second after is sampled over all of its length, not at its beginning alone.
        let last = events(&out).into_iter().rev().find_map(|event| match event {
            Event::Request { call, .. } => Some(call.started),
            _ => None,
        });
        assert!(last > Some(Duration::from_millis(2_990)), "{last:?}");
    }

    #[test]
    fn full_keeps_everything_whatever_the_rate_is() {
        let (mut keeper, mut out) = (Keeper::new(Trace::Full, 0), Vec::new());
        for id in 0..CALLS_PER_SECOND + 10 {
            let call = call(id, Phase::Load, Duration::ZERO);
            keeper.append(&request(&call), &mut out);
        }
        assert_eq!(keeper.finish(&mut out), Untraced::default());
        assert_eq!(memchr::memchr_iter(b'\n', &out).count() as u64, CALLS_PER_SECOND + 10);
    }

    #[test]
    fn what_the_disk_was_too_slow_for_is_counted_and_noted() {
        let (mut keeper, mut out) = (Keeper::new(Trace::Sampled, 7), Vec::new());
        keeper.lose(b"{}\n{}\n{}\n");
        let untraced = keeper.finish(&mut out);
        assert_eq!((untraced.lost_lines, untraced.notes), (3, 1));
        assert_eq!(skipped(&events(&out)[0]).unwrap().lost_lines, 3);
    }

    #[test]
    fn what_is_in_flight_at_the_end_is_not_left_out() {
        let (mut keeper, mut out) = (Keeper::new(Trace::Errors, 0), Vec::new());
        let open = call(1, Phase::Load, Duration::ZERO);
        keeper.append(&request(&open), &mut out);
        let untraced = keeper.finish(&mut out);
        assert_eq!((untraced.calls, untraced.lines), (0, 0));
        assert_eq!(events(&out).last(), Some(&request(&open)));
    }
}
