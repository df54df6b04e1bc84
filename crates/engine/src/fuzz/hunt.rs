//! A run of the fuzzer: case after case; what breaks the server is tried again on a fresh one, made
//! smaller and saved.

use std::{
    collections::{BTreeMap, VecDeque},
    path::PathBuf,
    rc::Rc,
    time::Duration,
};

use mcp_loadtest_core::{
    display::visible,
    event::{Call, Event, Failure, Phase, note},
    fuzz::{Case, CaseFile, Class, Deck, FailedCase, FuzzStats, Payload, Shrinker, Write},
    outcome::ErrorCategory,
};
use mcp_loadtest_wire::{disk, session::OpenError, sink::Sink as _};
use serde_json::json;
use tokio::time::Instant;

use super::lab::{Lab, Trial};
use crate::{RunError, context::Context, run_dir::write_whole};

/// Failures that are alike (same class, payload and tool) are confirmed so often.
const CONFIRMED: u32 = 3;
/// Failures that are told one by one at most.
const MOST_TOLD: usize = 20;
/// Accepted cases that are told one by one at most.
const MOST_ACCEPTED: usize = 5;
/// When a server dies and the case does not show it alone, so many cases before it are tried.
const SUSPECTS: usize = 12;
/// A tool that was slow so often is left alone: it would take the time of all others.
const SLOW_ENOUGH: u32 = 3;
/// How often, and for how long, a case is made smaller. A hang costs all our patience each time.
const TRIES: u32 = 60;
const HANG_TRIES: u32 = 2;
const SHRINKING: Duration = Duration::from_secs(15);
/// The longest frame that the trace shows; of others it has the length and a checksum.
const SHOWN: usize = 1024;

/// What is said of a case whose second answer comes later.
const TWICE: &str = "answered twice";

/// A run of the fuzzer.
pub(crate) struct Hunt {
    context: Rc<Context>,
    lab: Lab,
    deck: Deck,
    pub(crate) stats: FuzzStats,
    /// The cases before and what became of them, the latest first.
    recent: VecDeque<(Case, Class)>,
    alike: BTreeMap<(Class, Payload, Option<String>), u32>,
    /// How often each tool was slow.
    slow: BTreeMap<String, u32>,
    until: Instant,
}

impl Hunt {
    pub(crate) fn new(context: Rc<Context>, lab: Lab, deck: Deck, length: Duration) -> Self {
        Self {
            context,
            lab,
            deck,
            stats: FuzzStats::default(),
            recent: VecDeque::new(),
            alike: BTreeMap::new(),
            slow: BTreeMap::new(),
            until: Instant::now() + length,
        }
    }

    /// Sends so many cases, or as many as there is time for.
    pub(crate) async fn carry_out(&mut self, cases: u64) {
        self.stats.planned = cases;
        for number in 0..cases {
            if self.context.is_over() {
                self.stats.ended_early = Some("the run was stopped".into());
                break;
            }
            if Instant::now() >= self.until {
                self.stats.ended_early = Some("the time was over".into());
                break;
            }
            let Some(case) = self.deck.case(number) else {
                self.stats.ended_early = Some("no tool may be called without being named".into());
                break;
            };
            if self.is_resting(&case) {
                continue;
            }
            if let Err(why) = self.one(case).await {
                self.stats.ended_early = Some(why);
                break;
            }
        }
        if let Some(id) = self.lab.last_words().await {
            self.blame(id, Class::ProtocolViolation, TWICE).await;
        }
        self.stats.discarded = self.deck.discarded();
        self.lab.close().await;
        for trouble in self.lab.troubles.drain(..) {
            self.context.note(note::OUR_TROUBLE, trouble);
        }
    }

    fn is_resting(&mut self, case: &Case) -> bool {
        let Some(tool) = &case.tool else { return false };
        let rests = self.slow.get(tool).is_some_and(|slow| *slow >= SLOW_ENOUGH);
        if rests {
            let told = format!("`{}` was slow and then left alone", visible(tool, 60));
            self.stats.ended_early.get_or_insert(told);
        }
        rests
    }

    /// One case, from its request to its class.
    async fn one(&mut self, case: Case) -> Result<(), String> {
        self.lab.open().await.map_err(|error| format!("no session: {error}"))?;
        let context = self.context.clone();
        let call = self.begin(&case);
        let trial = tokio::select! {
            trial = self.lab.attempt(&case) => trial,
            () = context.over() => {
                let message = "the run was stopped".into();
                self.end(call, &case, Err((ErrorCategory::Cancelled, message)), Duration::ZERO);
                return Err("the run was stopped".into());
            }
        };
        let trial = match trial {
            Ok(trial) => trial,
            Err(error) => {
                self.end(
                    call,
                    &case,
                    Err((ErrorCategory::Cancelled, error.to_string())),
                    Duration::ZERO,
                );
                return Err(format!("no session: {error}"));
            }
        };
        if let Some(noise) = &trial.noise {
            self.context.note(note::FRAME_DEFECT, noise);
        }
        if let Some(id) = trial.stray {
            self.blame(id, Class::ProtocolViolation, TWICE).await;
        }
        let took = trial.took;
        let trial = if trial.class.is_failure() { self.confirm(&case, trial).await } else { trial };
        self.stats.count(case.payload, trial.class);
        if let Some(tool) = case.tool.as_ref().filter(|_| trial.class == Class::Slow) {
            *self.slow.entry(tool.clone()).or_default() += 1;
        }
        if trial.class == Class::Accepted && self.stats.accepted.len() < MOST_ACCEPTED {
            let file =
                self.save(&CaseFile::new(&case, self.seed(), trial.class, trial.seen.clone()));
            let told = failed(&case, trial.class, &trial.seen, true, file);
            self.stats.accepted.push(told);
        }
        self.end(call, &case, outcome(&trial), took);
        self.recent.push_front((case, trial.class));
        self.recent.truncate(64);
        Ok(())
    }

    fn seed(&self) -> u64 {
        self.context.blueprint.scenario.seed.0
    }

    /// Tries a case that failed again, on a server that has seen nothing else.
    async fn confirm(&mut self, case: &Case, trial: Trial) -> Trial {
        self.lab.close().await;
        let alike = self.alike.entry((trial.class, case.payload, case.tool.clone())).or_default();
        *alike += 1;
        if *alike > CONFIRMED {
            return trial;
        }
        let is_first = *alike == 1;
        let again = self.again(case).await;
        let repeats = again.as_ref().is_ok_and(|again| again.class == trial.class);
        match (&again, trial.class) {
            _ if repeats => {}
            // Slow once is not dead.
            (Ok(_), Class::Hang) => return Trial { class: Class::Slow, ..trial },
            (Ok(again), Class::Crash) => {
                if let Some(culprit) = self.culprit().await {
                    self.blame(culprit.request_id, Class::Crash, &trial.seen).await;
                    return again.clone();
                }
            }
            _ => {}
        }
        self.fail(case, &trial, repeats, is_first).await;
        trial
    }

    /// A case on a fresh server.
    async fn again(&mut self, case: &Case) -> Result<Trial, OpenError> {
        self.lab.close().await;
        let trial = self.lab.attempt_alone(case).await;
        self.lab.close().await;
        trial
    }

    /// Which of the cases before ends the server, though it was answered.
    async fn culprit(&mut self) -> Option<Case> {
        let suspects: Vec<Case> =
            self.recent.iter().take(SUSPECTS).map(|(case, _)| case.clone()).collect();
        for suspect in suspects {
            self.lab.close().await;
            let first = self.lab.attempt(&suspect).await.ok()?;
            // It may have answered and ended: then it shows when the next is sent.
            let dead = first.class == Class::Crash || {
                tokio::time::sleep(Duration::from_millis(50)).await;
                let next = self.deck.case(0)?;
                self.lab.is_broken() || self.lab.attempt(&next).await.ok()?.class == Class::Crash
            };
            self.lab.close().await;
            if dead {
                return Some(suspect);
            }
        }
        None
    }

    /// An earlier case turns out to be at fault.
    async fn blame(&mut self, id: u64, class: Class, seen: &str) {
        let known = self.recent.iter_mut().find(|(case, _)| case.request_id == id);
        let Some((case, was)) = known.filter(|(_, was)| !was.is_failure()) else { return };
        let case = case.clone();
        self.stats.recount(case.payload, *was, class);
        *was = class;
        let trial =
            Trial { class, took: Duration::ZERO, seen: seen.to_owned(), stray: None, noise: None };
        let alike = self.alike.entry((class, case.payload, case.tool.clone())).or_default();
        *alike += 1;
        let (is_first, is_known) = (*alike == 1, *alike > CONFIRMED);
        if !is_known {
            // A crash was tried again already: that is how its case was found.
            let repeats = class == Class::Crash
                || self.again(&case).await.is_ok_and(|again| again.class == class);
            self.fail(&case, &trial, repeats, is_first && class != Class::Crash).await;
        }
    }

    /// Makes a failing case smaller, saves it and tells it.
    async fn fail(&mut self, case: &Case, trial: &Trial, repeats: bool, is_first: bool) {
        let mut file = CaseFile::new(case, self.seed(), trial.class, visible(&trial.seen, 300));
        file.repeats = repeats;
        file.target = self.context.blueprint.server.to_string();
        if repeats && is_first {
            let writes = self.shrink(case, trial.class).await;
            file.writes = writes.iter().map(|bytes| Write::new(bytes)).collect();
        }
        if self.stats.failures.len() >= MOST_TOLD {
            return;
        }
        let saved = self.save(&file);
        let told = failed(case, trial.class, &trial.seen, repeats, saved);
        self.context.note(note::FUZZ_FAILURE, serde_json::to_string(&told).unwrap_or_default());
        self.stats.failures.push(told);
    }

    async fn shrink(&mut self, case: &Case, class: Class) -> Vec<Vec<u8>> {
        let tries = if class == Class::Hang { HANG_TRIES } else { TRIES };
        let until = self.until.min(Instant::now() + SHRINKING);
        let mut shrinker = Shrinker::new(case.writes.clone());
        for _ in 0..tries {
            if Instant::now() >= until || self.context.is_over() {
                break;
            }
            let Some(writes) = shrinker.offer() else { break };
            let smaller = Case { writes, ..case.clone() };
            if self.again(&smaller).await.is_ok_and(|trial| trial.class == class) {
                shrinker.keep();
            }
        }
        shrinker.best().to_vec()
    }

    /// Writes a case into the directory of the run; gives its place there.
    fn save(&self, file: &CaseFile) -> Option<String> {
        let dir: PathBuf = self.context.blueprint.run_dir()?.join("cases");
        let name = format!("{}.json", file.id);
        let made = disk::create_dir_all(&dir)
            .map_err(|source| RunError::Output { path: dir.clone(), source });
        let saved = made.and_then(|()| {
            let text = file.to_json();
            write_whole(&dir, &name, self.context.blueprint.secrets.bytes(text.as_bytes()))
        });
        // What was found is worth more than the file that would show it again.
        saved.map_err(|error| self.context.note(note::OUR_TROUBLE, error.to_string())).ok()?;
        Some(format!("cases/{name}"))
    }

    fn begin(&self, case: &Case) -> Call<'static> {
        let now = self.context.now();
        let call = Call {
            request_id: case.request_id,
            session: 0,
            worker: 0,
            phase: Phase::Load,
            method: case.payload.as_str().into(),
            tool: case.tool.clone().map(Into::into),
            segment: 0,
            intended: now,
            started: now,
        };
        let params = traced(case).to_string().into_bytes();
        self.context.recorder.emit(&Event::Request { call: call.clone(), params: params.into() });
        call
    }

    fn end(
        &self,
        call: Call<'static>,
        case: &Case,
        outcome: Result<Class, (ErrorCategory, String)>,
        took: Duration,
    ) {
        let at = call.started + took;
        let event = match outcome {
            Ok(class) => {
                let result = json!({ "case": case.id, "class": class }).to_string().into_bytes();
                Event::Response { call, at, result: result.into() }
            }
            Err((category, message)) => {
                let message = format!("{}: {}", case.id, visible(&message, 200)).into();
                Event::Error { call, at, failure: Failure { category, message, code: None } }
            }
        };
        self.context.recorder.emit(&event);
    }
}

/// What the trace says of a case: enough to tell whether two runs sent the same bytes.
fn traced(case: &Case) -> serde_json::Value {
    let bytes = case.bytes();
    let frame = std::str::from_utf8(&bytes).ok().filter(|_| bytes.len() <= SHOWN);
    json!({
        "case": case.id, "label": case.label, "bytes": bytes.len(), "writes": case.writes.len(),
        "checksum": format!("{:016x}", case.print()), "frame": frame,
    })
}

fn failed(
    case: &Case,
    class: Class,
    seen: &str,
    repeats: bool,
    file: Option<String>,
) -> FailedCase {
    FailedCase {
        id: case.id.clone(),
        class,
        label: visible(&case.label, 200),
        seen: visible(seen, 300),
        repeats,
        file,
    }
}

/// In the words of all scenarios: whatever was answered was answered.
fn outcome(trial: &Trial) -> Result<Class, (ErrorCategory, String)> {
    let category = match trial.class {
        Class::Clean | Class::Accepted | Class::Slow => return Ok(trial.class),
        Class::ProtocolViolation => ErrorCategory::Malformed,
        Class::Hang => ErrorCategory::Deadlock,
        Class::Crash => ErrorCategory::Crash,
    };
    Err((category, trial.seen.clone()))
}
