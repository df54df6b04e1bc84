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
    event::note,
    fuzz::{After, Case, CaseFile, Class, Deck, FuzzStats, Payload, Shrinker, Write},
};
use mcp_loadtest_wire::{disk, session::OpenError};
use tokio::time::Instant;

use super::{
    lab::{Lab, Trial},
    telling::{begin, cancelled, end, failed, outcome},
};
use crate::{RunError, context::Context, run_dir::write_whole};

/// Failures that are alike (same class, payload and tool) are confirmed so often.
const CONFIRMED: u32 = 3;
/// Failures that are told one by one at most.
const MOST_TOLD: usize = 20;
/// Accepted cases that are told one by one at most.
const MOST_ACCEPTED: usize = 5;
/// When a server dies or falls silent and the case does not show it alone, so many cases before it are tried.
const SUSPECTS: usize = 12;
/// A tool that was slow so often is left alone: it would take the time of all others.
const SLOW_ENOUGH: u32 = 3;
/// How often, and for how long, a case is made smaller. A hang costs all our patience each time.
const TRIES: u32 = 60;
const HANG_TRIES: u32 = 2;
const SHRINKING: Duration = Duration::from_secs(15);
/// What is said of a case whose second answer comes later.
const TWICE: &str = "answered twice";

/// A case that was answered and broke the server afterwards.
struct Culprit {
    case: Case,
    proof: Proof,
}

/// What it takes to see a failure again.
#[derive(Clone)]
enum Proof {
    /// The case, on a server that sees nothing else.
    Alone,
    /// This other case behind it.
    Before(Box<Case>),
    /// It was seen once and could not be shown again.
    Once,
}

impl Proof {
    fn of(repeats: bool) -> Self {
        if repeats { Self::Alone } else { Self::Once }
    }
}

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
        if !self.context.is_over() {
            self.hear_out().await;
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
        if self.lab.has_ended() {
            self.hear_out().await;
        }
        self.lab.open().await.map_err(|error| format!("no session: {error}"))?;
        let context = self.context.clone();
        let call = begin(&context, &case);
        let trial = tokio::select! {
            trial = self.lab.attempt(&case) => trial,
            () = context.over() => {
                end(&context, call, &case, cancelled("the run was stopped".into()));
                return Err("the run was stopped".into());
            }
        };
        let trial = match trial {
            Ok(trial) => trial,
            Err(error) => {
                end(&context, call, &case, cancelled(error.to_string()));
                return Err(format!("no session: {error}"));
            }
        };
        if let Some(noise) = &trial.noise {
            self.context.note(note::FRAME_DEFECT, noise);
        }
        if let Some(id) = trial.stray {
            self.blame(id, Class::ProtocolViolation, TWICE, None).await;
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
        end(&context, call, &case, (outcome(&trial), took));
        self.recent.push_front((case, trial.class));
        self.recent.truncate(64);
        Ok(())
    }

    fn seed(&self) -> u64 {
        self.context.blueprint.scenario.seed.0
    }

    /// What a server does after its last answer is the fault of a case before.
    async fn hear_out(&mut self) {
        let last = self.lab.last_words().await;
        if let Some(id) = last.stray {
            self.blame(id, Class::ProtocolViolation, TWICE, None).await;
        }
        let Some(class) = last.failure() else { return };
        self.lab.close().await;
        let found = match self.culprit(class, None).await {
            Some(culprit) => Some((culprit.case.request_id, culprit.proof)),
            // None shows it again. The last one is the most likely.
            None => self.recent.front().map(|(case, _)| (case.request_id, Proof::Once)),
        };
        if let Some((id, proof)) = found {
            self.blame(id, class, &last.said, Some(proof)).await;
        }
    }

    /// Tries a case that failed again, on a server that has seen nothing else.
    async fn confirm(&mut self, case: &Case, trial: Trial) -> Trial {
        self.lab.close().await;
        let kind = (trial.class, case.payload, case.tool.clone());
        let alike = self.alike.get(&kind).copied().unwrap_or_default();
        if alike >= CONFIRMED {
            self.alike.insert(kind, alike + 1);
            return trial;
        }
        let again = self.again(case).await.ok();
        if let Some(again) = again.as_ref().filter(|again| !again.class.is_failure()) {
            if let Some(culprit) = self.culprit(trial.class, Some(case)).await {
                self.alike.insert(kind, alike + 1);
                let (id, proof) = (culprit.case.request_id, culprit.proof);
                self.blame(id, trial.class, &trial.seen, Some(proof)).await;
                return again.clone();
            }
            // Slow once is not dead, but a server that answered nothing else either is not slow.
            if trial.class == Class::Hang && trial.after == After::Answers {
                return Trial { class: Class::Slow, ..trial };
            }
        }
        self.alike.insert(kind, alike + 1);
        let repeats = again.is_some_and(|again| again.class == trial.class);
        self.fail(case, trial.class, &trial.seen, Proof::of(repeats), alike == 0).await;
        trial
    }

    /// A case on a fresh server.
    async fn again(&mut self, case: &Case) -> Result<Trial, OpenError> {
        self.lab.close().await;
        let trial = self.lab.attempt_alone(case).await;
        self.lab.close().await;
        trial
    }

    /// Which of the cases before breaks the server, though it was answered: alone, or such that the
    /// case that met with it does.
    async fn culprit(&mut self, class: Class, victim: Option<&Case>) -> Option<Culprit> {
        if !matches!(class, Class::Crash | Class::Hang) {
            return None;
        }
        let innocent = self.recent.iter().filter(|(_, class)| !class.is_failure());
        let suspects: Vec<Case> = innocent.take(SUSPECTS).map(|(case, _)| case.clone()).collect();
        for case in suspects {
            if Instant::now() >= self.until || self.context.is_over() {
                break;
            }
            let mut found = self.accuse(&case, class, victim).await?;
            if let Some(Proof::Before(_)) = found {
                // Once more, since a tool that is slow by chance would make any case a culprit.
                found = self.accuse(&case, class, victim).await?;
            }
            if let Some(proof) = found {
                return Some(Culprit { case, proof });
            }
        }
        None
    }

    /// Whether a server that answers this case breaks behind it: alone, or when it meets the victim.
    async fn accuse(
        &mut self,
        case: &Case,
        class: Class,
        victim: Option<&Case>,
    ) -> Option<Option<Proof>> {
        self.lab.close().await;
        let first = self.lab.attempt_alone(case).await.ok()?;
        let mut found = None;
        // A server that only owes it an answer is slow by chance.
        if first.class == class && first.after != After::Answers {
            found = Some(Proof::Alone);
        } else if let Some(victim) = victim.filter(|_| !first.class.is_failure()) {
            let next = self.lab.attempt(victim).await.ok()?;
            found = (next.class == class).then(|| Proof::Before(Box::new(victim.clone())));
        }
        self.lab.close().await;
        Some(found)
    }

    /// An earlier case turns out to be at fault. Whether it shows alone is found out where that is
    /// not known.
    async fn blame(&mut self, id: u64, class: Class, seen: &str, proof: Option<Proof>) {
        let known = self.recent.iter_mut().find(|(case, _)| case.request_id == id);
        let Some((case, was)) = known.filter(|(_, was)| !was.is_failure()) else { return };
        let case = case.clone();
        self.stats.recount(case.payload, *was, class);
        *was = class;
        let alike = self.alike.entry((class, case.payload, case.tool.clone())).or_default();
        *alike += 1;
        let (is_first, is_known) = (*alike == 1, *alike > CONFIRMED);
        if !is_known {
            let proof = match proof {
                Some(proof) => proof,
                None => Proof::of(self.again(&case).await.is_ok_and(|again| again.class == class)),
            };
            self.fail(&case, class, seen, proof, is_first).await;
        }
    }

    /// Makes a failing case smaller, saves it and tells it.
    async fn fail(&mut self, case: &Case, class: Class, seen: &str, proof: Proof, is_first: bool) {
        let mut file = CaseFile::new(case, self.seed(), class, visible(seen, 300));
        let repeats = matches!(proof, Proof::Alone);
        file.repeats = repeats;
        if let Proof::Before(next) = proof {
            let next = CaseFile::new(&next, self.seed(), class, file.seen.clone());
            file.then = Some(Box::new(next));
        }
        file.target = self.context.blueprint.server.to_string();
        if repeats && is_first {
            let writes = self.shrink(case, class).await;
            file.writes = writes.iter().map(|bytes| Write::new(bytes)).collect();
        }
        if self.stats.failures.len() >= MOST_TOLD {
            return;
        }
        let saved = self.save(&file);
        let told = failed(case, class, seen, repeats, saved);
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
}
