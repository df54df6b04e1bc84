//! What a server keeps of each unit of work, measured from outside: the memory of its processes
//! while the same work is done over and over.

use std::{path::Path, time::Duration};

use mcp_loadtest_core::{
    check::{CaseResult, CaseVerdict, Depth},
    report::Severity,
    server::Server,
    stats::kept::{Kept, judge_round, judge_rounds},
};
use mcp_loadtest_wire::process::Sampler;
use tokio::time::Instant;

use super::{bench::Bench, checks::Check};

/// A round takes so many samples, unless the server is slow.
const SAMPLES: usize = 40;
/// So long a round may take for each step of its length.
const ROUND_LIMIT: Duration = Duration::from_secs(2);
/// How the rounds grow: the longer one goes on, the surer it is that the growth will not end.
const LENGTHS: [u32; 8] = [1, 1, 2, 4, 4, 8, 8, 8];
/// A probe that has to end soon makes so many of them.
const USUAL_ROUNDS: usize = 3;

/// A heap that is collected may grow by this much, straight as a line, before its collector has a reason
/// to look at it.
const UNCOLLECTED: f64 = 32.0 * 1024.0 * 1024.0;

/// Work that is repeated.
pub(crate) struct Work {
    /// What one unit is: `request`.
    pub(crate) unit: &'static str,
    /// Units in the first round.
    pub(crate) units: usize,
    /// Units that are done before anything is measured: lazy imports, caches, compilers.
    pub(crate) warm_up: usize,
    /// How many bytes each may keep.
    pub(crate) allowed: f64,
    /// How bad it is if it keeps more.
    pub(crate) severity: Severity,
}

impl Work {
    /// Repeats `act` and tells what the server keeps of it. `act` gives an error when it cannot go
    /// on, and that is told instead.
    pub(crate) async fn measure(
        &self,
        bench: &Bench,
        pid: Option<u32>,
        mut act: impl AsyncFnMut() -> Result<(), CaseResult>,
        case: &(impl Fn(CaseVerdict) -> CaseResult + ?Sized),
    ) -> CaseResult {
        let Some(pid) = pid else {
            let why = "the process of the server is not known: name it with `--pid`";
            return case(CaseVerdict::CouldNotTell).detail(why);
        };
        let began = Instant::now();
        let mut sampler = Sampler::new(pid);
        let most = if bench.settings.depth == Depth::Deep { LENGTHS.len() } else { USUAL_ROUNDS };
        for _ in 0..self.warm_up {
            if let Err(ended) = act().await {
                return ended;
            }
            if began.elapsed() > ROUND_LIMIT {
                break;
            }
        }
        let (mut rounds, mut done, mut kept) = (Vec::new(), 0, Kept::Unclear);
        let (mut at_first, mut grown) = (None, 0.0);
        let least = if is_counted(&bench.server, pid) { 0.0 } else { UNCOLLECTED };
        for length in LENGTHS.into_iter().take(most) {
            let samples = match self.round(&mut sampler, length, &mut done, &mut act).await {
                Ok(samples) => samples,
                Err(ended) => return ended,
            };
            rounds.push(judge_round(&samples, self.allowed));
            kept = judge_rounds(&rounds);
            let first = *at_first.get_or_insert(samples.first().map_or(0.0, |sample| sample.1));
            grown = samples.last().map_or(grown, |sample| sample.1 - first);
            let go_on = match kept {
                Kept::Little(_) => false,
                Kept::Grows(_) => grown < least,
                Kept::Slows(_) => bench.settings.depth == Depth::Deep,
                Kept::Unclear => true,
            };
            if !go_on {
                break;
            }
        }
        let told = match kept {
            Kept::Grows(bytes) if grown < least => case(CaseVerdict::CouldNotTell).detail(format!(
                "grows by {:.1} kB a {}, {:.0} MB in all: less than a heap grows before it is collected; \
                 `--deep` goes on for longer",
                bytes / 1e3,
                self.unit,
                grown / 1e6
            )),
            kept => self.told(kept, done, case),
        };
        told.took(began.elapsed())
    }

    async fn round(
        &self,
        sampler: &mut Sampler,
        length: u32,
        done: &mut usize,
        act: &mut impl AsyncFnMut() -> Result<(), CaseResult>,
    ) -> Result<Vec<(f64, f64)>, CaseResult> {
        let until = Instant::now() + ROUND_LIMIT * length;
        let step = (self.units / SAMPLES).max(1);
        let mut samples = Vec::new();
        for number in 0..self.units * length as usize {
            act().await?;
            *done += 1;
            if (number + 1) % step == 0
                && let Some(sample) = sampler.sample()
            {
                samples.push((*done as f64, sample.tree.rss_bytes as f64));
                if Instant::now() > until {
                    break;
                }
            }
        }
        Ok(samples)
    }

    fn told(
        &self,
        kept: Kept,
        done: usize,
        case: &(impl Fn(CaseVerdict) -> CaseResult + ?Sized),
    ) -> CaseResult {
        let unit = self.unit;
        let kb = |bytes: f64| format!("{:.1} kB", bytes / 1e3);
        match kept {
            Kept::Little(bytes) if bytes <= self.allowed => case(CaseVerdict::Held)
                .detail(format!("keeps {} of each of {done} {unit}s", kb(bytes))),
            Kept::Little(_) => case(CaseVerdict::Held).detail(format!(
                "grew during {done} {unit}s, but what grew was freed or stayed level"
            )),
            Kept::Grows(bytes) => {
                case(CaseVerdict::Broken).severity(self.severity).detail(format!(
                    "keeps {} of each {unit}: steady over {done} {unit}s, round after round",
                    kb(bytes)
                ))
            }
            Kept::Slows(bytes) => case(CaseVerdict::CouldNotTell).detail(format!(
                "grows by {} a {unit}, but more slowly as time goes on, as a heap does that fills; \
                 `--deep` goes on for longer",
                kb(bytes)
            )),
            Kept::Unclear => case(CaseVerdict::CouldNotTell)
                .detail(format!("{done} {unit}s do not show whether memory is kept")),
        }
    }
}

/// Whether the server's runtime frees most of what it has used at once, as Python does: by the name of its
/// process, where the system tells it, or by a word of its command.
fn is_counted(server: &Server, pid: u32) -> bool {
    let process = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    let words = std::iter::once(&server.command).chain(&server.args);
    let names = words.filter_map(|word| Path::new(word).file_name()?.to_str());
    let is_python = |name: &str| RUNTIMES.iter().any(|known| name.starts_with(known));
    names.chain([process.as_str()]).any(is_python)
}

/// Programs that are Python, or start it.
const RUNTIMES: [&str; 4] = ["python", "pypy", "uv", "pipx"];

/// What a check tells when the server stopped answering in the middle of its work.
pub(crate) fn ended(check: &Check, case: &str, gone: bool, why: String) -> CaseResult {
    let verdict = if gone { CaseVerdict::Crashed } else { CaseVerdict::Hung };
    check.case(case, verdict).detail(why)
}
