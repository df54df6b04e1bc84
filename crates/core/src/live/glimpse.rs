//! What one thread saw since it last told.

use std::{borrow::Cow, collections::BTreeSet, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{
    event::{ProcessSample, note},
    tally::{Counts, Moment, Tally},
};

/// Notes that are worth a line while the run goes on.
const TOLD: &[&str] = &[
    note::SERVER_EXIT,
    note::TOO_MANY_PROCESSES,
    note::STRAY_PROCESS,
    note::LATE_REPLY,
    note::ORPHAN_REPLY,
    note::CALL_WITHDRAWN,
    note::FRAME_DEFECT,
    note::FRAME_TOO_LARGE,
    note::SCHEMA_MISMATCH,
    note::REVISION_MISMATCH,
    note::SEGMENT,
    note::CAPACITY,
    note::RECONNECT_FAILED,
    note::DIVERGENCE,
    note::FUZZ_FAILURE,
    note::ENDED_ON_FAIL,
    note::ABORTED,
];

/// What one thread saw: sums since the start of the run, and single things since its last glimpse.
#[derive(Debug, Clone)]
pub struct Glimpse {
    /// Which thread.
    pub worker: u16,
    /// When.
    pub at: Duration,
    /// How its calls ended so far.
    pub counts: Counts,
    /// The same by tool.
    pub tools: Vec<(String, Counts)>,
    /// When its first call should have started.
    pub first_start: Option<Duration>,
    /// The step of the scenario that its last calls belong to.
    pub segment: u16,
    /// Calls that passed the hang threshold so far.
    pub hangs: u64,
    /// Calls that were never answered so far.
    pub deadlocks: u64,
    /// Seconds that have passed since.
    pub seconds: Vec<Moment>,
    /// Samples of the server's processes since.
    pub samples: Vec<ProcessSample>,
    /// What was noted since.
    pub log: Vec<LogLine>,
}

/// Something that was noted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLine {
    /// When.
    #[serde(with = "crate::event::as_secs")]
    pub at: Duration,
    /// What kind of thing.
    pub what: Cow<'static, str>,
    /// In words; may come from the server.
    pub text: String,
}

/// Up to where a thread has told.
#[derive(Debug, Clone, Default)]
pub struct Cursor {
    seconds: usize,
    samples: usize,
    /// What was noted, by its kind and its words: a loss is noted when its cause is known, as of the moment
    /// of the loss, so times do not say what is new.
    told: BTreeSet<(Cow<'static, str>, String)>,
}

impl Cursor {
    /// What is new, and the cursor for the next time. Nothing is lost when it could not be told: the
    /// old cursor then stays.
    pub fn look(&self, worker: u16, tally: &Tally, now: Duration) -> (Glimpse, Self) {
        let until = now.as_secs() as usize;
        let segments = &tally.segments;
        let log = log(tally, &self.told);
        let mut told = self.told.clone();
        told.extend(log.iter().map(|line| (line.what.clone(), line.text.clone())));
        let glimpse = Glimpse {
            worker,
            at: now,
            counts: tally.counts(),
            tools: tools(tally),
            first_start: segments.iter().filter_map(|segment| segment.first_start).min(),
            segment: segments.len().saturating_sub(1) as u16,
            hangs: tally.hang_count,
            deadlocks: tally.deadlock_count,
            seconds: tally.timeline.between(self.seconds, until),
            samples: tally.samples.get(self.samples..).unwrap_or_default().to_vec(),
            log,
        };
        let next = Self { seconds: until, samples: tally.samples.len(), told };
        (glimpse, next)
    }
}

fn tools(tally: &Tally) -> Vec<(String, Counts)> {
    let mut tools: Vec<(String, Counts)> = Vec::new();
    for tool in tally.segments.iter().flat_map(|segment| &segment.tools) {
        match tools.iter_mut().find(|(name, _)| *name == tool.name) {
            Some((_, counts)) => counts.merge(&tool.counts),
            None => tools.push((tool.name.clone(), tool.counts.clone())),
        }
    }
    tools
}

fn log(tally: &Tally, told: &BTreeSet<(Cow<'static, str>, String)>) -> Vec<LogLine> {
    let failures = tally.failures.iter().map(|(category, note)| (category.name(), note));
    let notes = TOLD.iter().filter_map(|name| Some((*name, tally.notes.get(*name)?)));
    let diagnoses = tally.diagnoses.values().map(|note| ("silent", note));
    let mut lines: Vec<LogLine> = failures
        .chain(notes)
        .chain(diagnoses)
        .flat_map(|(what, note)| {
            note.told().map(move |(at, text)| LogLine {
                at,
                what: Cow::Borrowed(what),
                text: text.to_owned(),
            })
        })
        .filter(|line| !told.contains(&(line.what.clone(), line.text.clone())))
        .collect();
    lines.sort_by_key(|line| line.at);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Call, Event, Phase};

    fn call(id: u64, tool: &'static str, segment: u16) -> Event<'static> {
        let at = Duration::from_secs(id);
        let call = Call {
            request_id: id,
            session: 0,
            worker: 0,
            phase: Phase::Load,
            method: "tools/call".into(),
            tool: Some(tool.into()),
            segment,
            intended: at,
            started: at,
        };
        Event::Request { call, params: b"{}".as_slice().into() }
    }

    #[test]
    fn a_glimpse_sums_tools_over_the_steps_and_tells_what_is_new_in_order() {
        let mut tally = Tally::default();
        for (id, tool, segment) in [(3, "a", 0), (4, "b", 0), (5, "a", 1), (6, "a", 1)] {
            tally.observe(&call(id, tool, segment));
        }
        let note = |secs, name, text| Event::note(Duration::from_secs(secs), name, text);
        tally.observe(&note(9, note::SERVER_EXIT, "late"));
        tally.observe(&note(7, note::ORPHAN_REPLY, "early"));
        tally.observe(&note(8, "run_finished", "not worth a line"));
        let (glimpse, cursor) = Cursor::default().look(2, &tally, Duration::from_secs(8));
        let issued: Vec<_> =
            glimpse.tools.iter().map(|(name, counts)| (name.as_str(), counts.issued)).collect();
        assert_eq!(issued, [("a", 3), ("b", 1)]);
        assert_eq!((glimpse.worker, glimpse.segment, glimpse.counts.issued), (2, 1, 4));
        assert_eq!(glimpse.first_start, Some(Duration::from_secs(3)));
        let texts = |glimpse: &Glimpse| {
            glimpse.log.iter().map(|line| line.text.clone()).collect::<Vec<_>>()
        };
        assert_eq!(texts(&glimpse), ["early", "late"]);
        tally.observe(&note(6, note::SERVER_EXIT, "known late"));
        let (glimpse, _) = cursor.look(2, &tally, Duration::from_secs(10));
        assert_eq!(texts(&glimpse), ["known late"], "what was told is not told again");
    }
}
