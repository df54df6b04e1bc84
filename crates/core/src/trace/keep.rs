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
mod tests;
