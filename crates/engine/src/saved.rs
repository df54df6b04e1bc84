//! A run directory, read back: as it was judged then, or judged anew from its trace.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufRead as _, BufReader},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use mcp_loadtest_core::{
    compare::Comparison,
    config::{Config, ConfigError},
    event::{Call, Event, Failure, Phase, note},
    hint::Hint,
    outcome::ErrorCategory,
    report::{
        self, Report, RunInfo, ServerInfo, json,
        summary::{BaselineSummary, Summary},
    },
    tally::Tally,
    trace::{self, TraceError, keep::Skipped},
};
use serde::Deserialize;
use thiserror::Error;

use crate::{
    conductor::{RUN_FINISHED, RUN_STARTED, SERVER_INFO, size_of},
    run_dir::file,
};

/// Why a run directory cannot be read.
#[derive(Debug, Error)]
pub enum SavedError {
    /// It is not there, or not one of ours.
    #[error("{path} is not a run directory: it has neither `metrics.json` nor `trace.jsonl`")]
    NotARun {
        /// What was given.
        path: PathBuf,
    },
    /// A file cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The metrics are not what they should be.
    #[error("{path}: {why}")]
    Metrics {
        /// Which file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// The configuration is not what it should be.
    #[error("{0}")]
    Config(#[from] ConfigError),
    /// The trace does not have every call.
    #[error("{path} has holes: {told}; its numbers cannot be computed again")]
    Holes {
        /// Which file.
        path: PathBuf,
        /// What is missing.
        told: String,
        /// Whether the numbers of the run are in `metrics.json`.
        has_metrics: bool,
    },
    /// A line of the trace cannot be read.
    #[error("{path}:{line}: {source}")]
    Trace {
        /// Which file.
        path: PathBuf,
        /// Which line.
        line: usize,
        /// Why.
        source: TraceError,
    },
}

impl Hint for SavedError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::NotARun { .. } => Some("give the directory that a run printed at its end, such as `runs/2026-05-10T14-30-00-9XY7K2`".into()),
            Self::Config(error) => error.hint(),
            Self::Metrics { .. } => {
                Some("point to a run directory, or to a complete `metrics.json` of this version".into())
            }
            Self::Holes { has_metrics: true, .. } => Some("leave `--from-trace` out: `metrics.json` has the numbers of the run; only `--trace full` always keeps every call".into()),
            Self::Holes { has_metrics: false, .. } => Some("run again with `--trace full`, which keeps every call; failures, hangs and notes are in the trace all the same".into()),
            _ => None,
        }
    }
}

/// A run directory.
#[derive(Debug, Clone)]
pub struct SavedRun {
    dir: PathBuf,
}

impl SavedRun {
    /// Looks into a directory.
    pub fn open(dir: impl Into<PathBuf>) -> Result<Self, SavedError> {
        let dir = dir.into();
        let known = [file::METRICS, file::TRACE].iter().any(|name| dir.join(name).is_file());
        if known { Ok(Self { dir }) } else { Err(SavedError::NotARun { path: dir }) }
    }

    /// The report of a run directory, or of a `metrics.json` that was taken out of one.
    pub fn read(path: &Path) -> Result<Report, SavedError> {
        if path.is_file() {
            return metrics(path.to_owned());
        }
        Self::open(path)?.report()
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// Whether the run came to its end. The summary is written last, whatever the formats are.
    pub fn is_complete(&self) -> bool {
        self.dir.join(file::SUMMARY).is_file()
    }

    /// The report as it was written, or, for a run that was cut short, judged from its trace.
    pub fn report(&self) -> Result<Report, SavedError> {
        let read = match metrics(self.dir.join(file::METRICS)) {
            Err(SavedError::Read { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                self.report_from_trace()
            }
            read => read,
        };
        read.map(|report| Report { baseline: self.baseline(), ..report })
    }

    /// How the run compared with its baseline when it ended; only one that had a baseline has it.
    pub fn comparison(&self) -> Result<Comparison, SavedError> {
        comparison(&self.dir)
    }

    /// What the run was compared with when it ended.
    fn baseline(&self) -> Option<BaselineSummary> {
        let text = std::fs::read_to_string(self.dir.join(file::SUMMARY)).ok()?;
        serde_json::from_str::<Summary>(&text).ok()?.baseline
    }

    /// Every number again, from the trace.
    pub fn report_from_trace(&self) -> Result<Report, SavedError> {
        let config = self.config()?;
        let Replay { tally, started, server_info, last, holes } = self.replay()?;
        if let Some(told) = holes {
            let has_metrics = self.dir.join(file::METRICS).is_file();
            return Err(SavedError::Holes { path: self.dir.join(file::TRACE), told, has_metrics });
        }
        let info = RunInfo {
            run_id: started.run_id,
            started_at: started.started_at,
            duration: last,
            scenario: config.to_scenario()?,
            thresholds: config.thresholds,
            server_info,
            trace: config.output.trace,
            trace_path: self.dir.join(file::TRACE),
            trace_bytes: size_of(&self.dir.join(file::TRACE)),
            run_dir: Some(self.dir.clone()),
        };
        let mut report = report::build(info, &tally);
        report.tags = config.output.tags;
        report.baseline = self.baseline();
        Ok(report)
    }

    fn config(&self) -> Result<Config, SavedError> {
        let path = self.dir.join(file::CONFIG);
        let text = std::fs::read_to_string(&path)
            .map_err(|source| SavedError::Read { path: path.clone(), source })?;
        Ok(Config::parse(&text, &path.display().to_string())?)
    }

    fn replay(&self) -> Result<Replay, SavedError> {
        let path = self.dir.join(file::TRACE);
        let read = |source| SavedError::Read { path: path.clone(), source };
        let mut lines = BufReader::new(File::open(&path).map_err(read)?);
        let mut fold = Fold::default();
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            if lines.read_until(b'\n', &mut line).map_err(read)? == 0 {
                break;
            }
            match trace::read_line(&String::from_utf8_lossy(&line)) {
                Ok(event) => fold.take(&event),
                // A run that was killed may have left half a line at the end.
                Err(_) if !line.ends_with(b"\n") => break,
                Err(source) => return Err(SavedError::Trace { path, line: number, source }),
            }
        }
        Ok(fold.finish())
    }
}

#[derive(Deserialize)]
struct Started {
    run_id: String,
    started_at: SystemTime,
}

impl Default for Started {
    fn default() -> Self {
        Self { run_id: "unknown".into(), started_at: SystemTime::UNIX_EPOCH }
    }
}

/// Reads the `comparison.json` of a directory.
pub(crate) fn comparison(dir: &Path) -> Result<Comparison, SavedError> {
    let path = dir.join(file::COMPARISON);
    let text = std::fs::read_to_string(&path)
        .map_err(|source| SavedError::Read { path: path.clone(), source })?;
    serde_json::from_str(&text)
        .map_err(|error| SavedError::Metrics { path, why: error.to_string() })
}

fn metrics(path: PathBuf) -> Result<Report, SavedError> {
    match std::fs::read_to_string(&path) {
        Ok(text) => {
            json::read(&text).map_err(|why| SavedError::Metrics { path, why: why.to_string() })
        }
        Err(source) => Err(SavedError::Read { path, source }),
    }
}

struct Replay {
    tally: Tally,
    started: Started,
    server_info: ServerInfo,
    last: Duration,
    holes: Option<String>,
}

/// The same fold as in the live run: a tally a worker, merged in their order.
#[derive(Default)]
struct Fold {
    workers: BTreeMap<u16, Tally>,
    started: Started,
    server_info: ServerInfo,
    finished: Option<Duration>,
    /// What each thread left out of the trace, as it said last.
    skipped: BTreeMap<u16, Skipped>,
}

impl Fold {
    fn take(&mut self, event: &Event<'_>) {
        let worker = match event {
            Event::Request { call, .. }
            | Event::Response { call, .. }
            | Event::Error { call, .. }
            | Event::Hang { call, .. }
            | Event::Deadlock { call, .. } => call.worker,
            Event::Dropped { worker, .. } => *worker,
            Event::Generator(sample) => sample.worker,
            Event::Process(_) => 0,
            Event::Scenario { at, name, detail, .. } => {
                self.take_note(*at, name, detail);
                0
            }
        };
        self.workers.entry(worker).or_default().observe(event);
    }

    fn take_note(&mut self, at: Duration, name: &str, detail: &str) {
        match name {
            RUN_STARTED => self.started = serde_json::from_str(detail).unwrap_or_default(),
            SERVER_INFO => self.server_info = serde_json::from_str(detail).unwrap_or_default(),
            RUN_FINISHED => self.finished = Some(at),
            note::TRACE_SKIPPED => {
                if let Ok(skipped) = serde_json::from_str::<Skipped>(detail) {
                    self.skipped.insert(skipped.worker, skipped);
                }
            }
            _ => {}
        }
    }

    /// What is missing, in words. A thread that began to leave calls out has holes, even if it was
    /// killed before it could say how many.
    fn holes(&self) -> Option<String> {
        let sum = |part: fn(&Skipped) -> u64| self.skipped.values().map(part).sum::<u64>();
        let (calls, lines) = (sum(|skipped| skipped.calls), sum(|skipped| skipped.lines));
        let lost = sum(|skipped| skipped.lost_lines);
        let whole = self.skipped.is_empty() || (self.finished.is_some() && lines + lost == 0);
        (!whole).then(|| match lost {
            0 => format!("{calls} calls were left out"),
            _ => format!("{calls} calls were left out and {lost} lines lost to a slow disk"),
        })
    }

    fn finish(self) -> Replay {
        let holes = self.holes();
        let mut tally = Tally::default();
        for (_, mut worker) in self.workers {
            if self.finished.is_none() {
                withdraw_open_calls(&mut worker);
            }
            tally.merge(worker);
        }
        // A run that was cut short lasted until the last thing that is known of it.
        let last = self.finished.unwrap_or(tally.last_end());
        if self.finished.is_none() {
            observe_unwritten(
                &mut tally,
                &Event::note(last, note::INTERRUPTED, "the trace ends before the run did"),
            );
        }
        Replay { tally, started: self.started, server_info: self.server_info, last, holes }
    }
}

/// Calls that were in flight when we were killed have no end in the trace. They were withdrawn, as
/// those of a run that is interrupted gently.
fn withdraw_open_calls(tally: &mut Tally) {
    let open = tally.segments.iter().zip(0..).flat_map(|(segment, index)| {
        segment.tools.iter().map(move |tool| (index, tool.name.clone(), tool.counts.open()))
    });
    let at = tally.last_end();
    for (segment, tool, count) in open.collect::<Vec<_>>() {
        let call = Call {
            request_id: 0,
            session: 0,
            worker: 0,
            phase: Phase::Load,
            method: "".into(),
            tool: Some(tool.into()),
            segment,
            intended: at,
            started: at,
        };
        let failure = Failure {
            category: ErrorCategory::Cancelled,
            message: "the run was cut short".into(),
            code: None,
        };
        let withdrawn = Event::Error { call, at, failure };
        (0..count).for_each(|_| observe_unwritten(tally, &withdrawn));
    }
}

/// Folds in what is not in the trace, so that its lines are still counted right.
fn observe_unwritten(tally: &mut Tally, event: &Event<'_>) {
    let lines = tally.events;
    tally.observe(event);
    tally.events = lines;
}
