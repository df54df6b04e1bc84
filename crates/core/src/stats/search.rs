//! The search for the highest rate that a server holds, as a state machine: it says what to try next
//! and is told how that went. It knows neither clocks nor servers.
//!
//! | state | passed | failed once | failed twice | invalid |
//! |---|---|---|---|---|
//! | grow | double the rate; at the top: confirm | try again | bisect | end |
//! | bisect | raise the lower end | try again | lower the upper end | end |
//! | confirm | twice: end, confirmed | step down and confirm again, a few times | – | end |
//!
//! A probe that fails is repeated once before it counts, because a pause of the machine must not halve
//! the answer. A confirmation that fails counts at once, because a rate that fails one time in three
//! is not held. The bracket and a step down are half of the precision each, so that the answer is
//! within the precision also after a step.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a trial is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrialKind {
    /// To find the rate.
    Probe,
    /// To make sure of it.
    Confirm,
}

/// One thing to try.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trial {
    /// Calls a second.
    pub rate: f64,
    /// What for.
    pub kind: TrialKind,
}

/// How a trial went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrialOutcome {
    /// The server held the rate within its limits.
    Passed,
    /// It did not.
    Failed,
    /// The generator did not hold the rate, so that nothing can be said of the server.
    Invalid,
}

/// How the search ended.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The rate was found and confirmed.
    Confirmed,
    /// The highest rate that was to be tried holds: the server may do more.
    AtTop,
    /// The lowest rate that was to be tried does not hold.
    BelowLowest,
    /// Confirmations kept failing.
    Unstable,
    /// The generator was the limit.
    GeneratorLimit {
        /// Calls a second that it did not hold.
        rate: f64,
    },
    /// It was stopped before its end.
    Unfinished,
}

/// How far the answer can be trusted.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// The rate was not confirmed.
    Low,
    /// It was confirmed, but only after a step down, or there is no failing rate above it.
    Medium,
    /// It passed every time, and a rate within the precision above it failed.
    High,
}

/// The answer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Capacity {
    /// The highest rate that passed, calls a second; nothing if none did.
    pub rate: Option<f64>,
    /// Whether it passed twice more.
    pub confirmed: bool,
    /// The best passing and the lowest failing rate.
    pub bracket: (Option<f64>, Option<f64>),
    /// How many trials it took.
    pub trials: u32,
    /// How far it can be trusted.
    pub confidence: Confidence,
    /// How the search ended.
    pub ending: Ending,
}

impl Capacity {
    /// The answer in a sentence.
    pub fn explain(&self) -> String {
        let held = match self.rate {
            Some(rate) => format!("holds {rate:.1}/s"),
            None => "no rate held".into(),
        };
        let failing = self.bracket.1.unwrap_or(0.0);
        match self.ending {
            Ending::Confirmed => format!("{held}, confirmed; {failing:.1}/s fails"),
            Ending::AtTop => format!("{held} at least: the highest rate that was tried"),
            Ending::BelowLowest => {
                format!("less than {failing:.1}/s, the lowest rate that was tried")
            }
            Ending::Unstable => format!("{held}, but not each time: confirmations kept failing"),
            Ending::GeneratorLimit { rate } => {
                format!("{held}; the generator was the limit at {rate:.1}/s")
            }
            Ending::Unfinished => format!("{held} so far: the search was stopped"),
        }
    }
}

/// How many further passes confirm a rate.
pub const CONFIRMATIONS: u32 = 2;
/// How often a failed confirmation steps down.
pub const STEPS_DOWN: u32 = 4;
/// No search takes more trials.
pub const MOST_TRIALS: u32 = 64;

#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    Probe { rate: f64, failed_before: bool },
    Confirm { rate: f64, passes: u32 },
    Done(Ending),
}

/// A search under way.
///
/// ```
/// # use mcp_loadtest_core::stats::search::{Search, TrialOutcome};
/// let mut search = Search::new(10.0, 10_000.0, 0.05);
/// while let Some(trial) = search.next() {
///     let holds = trial.rate <= 777.0;
///     search.observe(trial, if holds { TrialOutcome::Passed } else { TrialOutcome::Failed });
/// }
/// let capacity = search.finish();
/// assert!(capacity.confirmed && (capacity.rate.unwrap() / 777.0 - 1.0).abs() < 0.05);
/// ```
#[derive(Debug, Clone)]
pub struct Search {
    high: f64,
    /// The ratio by which the bracket may be open, and of a step down.
    step: f64,
    /// Rates that passed and that no failure has cast doubt on, ascending.
    passed: Vec<f64>,
    failing: Option<f64>,
    state: State,
    steps_down: u32,
    trials: u32,
}

impl Search {
    /// A search between two rates. A lowest rate that is no positive number counts as one a second, a
    /// highest below the lowest as the lowest; the precision is kept between 0.5 % and 50 %.
    pub fn new(low: f64, high: f64, precision: f64) -> Self {
        let low = if low.is_finite() && low > 0.0 { low } else { 1.0 };
        let high = if high.is_finite() { high.max(low) } else { low };
        let precision = if precision.is_finite() { precision.clamp(0.005, 0.5) } else { 0.05 };
        Self {
            high,
            step: 1.0 + precision / 2.0,
            passed: Vec::new(),
            failing: None,
            state: State::Probe { rate: low, failed_before: false },
            steps_down: 0,
            trials: 0,
        }
    }

    /// What to try next; nothing when the search has ended. Asking twice gives the same answer.
    pub fn next(&self) -> Option<Trial> {
        match self.state {
            _ if self.trials >= MOST_TRIALS => None,
            State::Probe { rate, .. } => Some(Trial { rate, kind: TrialKind::Probe }),
            State::Confirm { rate, .. } => Some(Trial { rate, kind: TrialKind::Confirm }),
            State::Done(_) => None,
        }
    }

    /// Takes in how a trial went. A trial that is not the one to try next is ignored.
    pub fn observe(&mut self, trial: Trial, outcome: TrialOutcome) {
        if self.next() != Some(trial) {
            return;
        }
        self.trials += 1;
        self.state = match (self.state, outcome) {
            (_, TrialOutcome::Invalid) => State::Done(Ending::GeneratorLimit { rate: trial.rate }),
            (State::Probe { rate, .. }, TrialOutcome::Passed) => {
                self.pass(rate);
                self.after_probe()
            }
            (State::Probe { rate, failed_before: false }, TrialOutcome::Failed) => {
                State::Probe { rate, failed_before: true }
            }
            (State::Probe { rate, failed_before: true }, TrialOutcome::Failed) => {
                self.fail(rate);
                self.after_probe()
            }
            (State::Confirm { rate, passes }, TrialOutcome::Passed) => {
                self.pass(rate);
                self.after_confirmation(rate, passes + 1)
            }
            (State::Confirm { rate, .. }, TrialOutcome::Failed) => {
                self.fail(rate);
                self.step_down(rate)
            }
            (State::Done(ending), _) => State::Done(ending),
        };
    }

    /// The answer so far.
    pub fn finish(&self) -> Capacity {
        let ending = match self.state {
            State::Done(ending) => ending,
            State::Probe { .. } | State::Confirm { .. } => Ending::Unfinished,
        };
        let confirmed = matches!(ending, Ending::Confirmed | Ending::AtTop);
        let confidence = match ending {
            Ending::Confirmed if self.steps_down == 0 => Confidence::High,
            Ending::Confirmed | Ending::AtTop => Confidence::Medium,
            _ => Confidence::Low,
        };
        let rate = self.best();
        let bracket = (rate, self.failing);
        Capacity { rate, confirmed, bracket, trials: self.trials, confidence, ending }
    }

    fn best(&self) -> Option<f64> {
        self.passed.last().copied()
    }

    fn pass(&mut self, rate: f64) {
        if self.passed.last() != Some(&rate) {
            self.passed.push(rate);
            self.passed.sort_by(f64::total_cmp);
        }
    }

    fn fail(&mut self, rate: f64) {
        self.failing = Some(self.failing.map_or(rate, |failing| failing.min(rate)));
        self.passed.retain(|passed| *passed < rate);
    }

    fn after_probe(&self) -> State {
        let rate = match (self.best(), self.failing) {
            (None, _) => return State::Done(Ending::BelowLowest),
            (Some(best), None) if best >= self.high => {
                return State::Confirm { rate: best, passes: 0 };
            }
            (Some(best), None) => (best * 2.0).min(self.high),
            (Some(best), Some(failing)) if failing <= best * self.step => {
                return State::Confirm { rate: best, passes: 0 };
            }
            // The geometric middle halves the ratio, which is what the precision is about. As a
            // product of roots it cannot overflow.
            (Some(best), Some(failing)) => best.sqrt() * failing.sqrt(),
        };
        State::Probe { rate, failed_before: false }
    }

    fn after_confirmation(&self, rate: f64, passes: u32) -> State {
        match (passes, self.failing) {
            (..CONFIRMATIONS, _) => State::Confirm { rate, passes },
            (_, None) => State::Done(Ending::AtTop),
            (_, Some(_)) => State::Done(Ending::Confirmed),
        }
    }

    fn step_down(&mut self, rate: f64) -> State {
        self.steps_down += 1;
        if self.steps_down > STEPS_DOWN {
            return State::Done(Ending::Unstable);
        }
        State::Confirm { rate: rate / self.step, passes: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{ODD, dice, normal};
    use super::*;
    use TrialOutcome::{Failed, Invalid, Passed};
    use proptest::prelude::*;

    fn searched(mut search: Search, mut outcome: impl FnMut(Trial) -> TrialOutcome) -> Capacity {
        while let Some(trial) = search.next() {
            search.observe(trial, outcome(trial));
        }
        search.finish()
    }

    fn holds(rate: bool) -> TrialOutcome {
        if rate { Passed } else { Failed }
    }

    #[test]
    fn one_unlucky_probe_does_not_halve_the_answer() {
        let mut unlucky = true;
        let found = searched(Search::new(10.0, 1e5, 0.05), |trial| {
            let luck = trial.rate < 160.0 || !std::mem::take(&mut unlucky);
            holds(luck && trial.rate <= 1000.0)
        });
        assert!((found.rate.unwrap() / 1000.0 - 1.0).abs() < 0.05, "{found:?}");
        assert_eq!((found.confirmed, found.confidence), (true, Confidence::High));
    }

    #[test]
    fn a_rate_that_does_not_hold_again_steps_down() {
        // The server tires: whatever it held at first, it holds only 96 % of later.
        let mut trials = 0;
        let found = searched(Search::new(10.0, 1e5, 0.05), |trial| {
            trials += 1;
            holds(trial.rate <= if trial.kind == TrialKind::Probe { 1000.0 } else { 960.0 })
        });
        assert_eq!((found.confirmed, found.confidence), (true, Confidence::Medium));
        assert!(found.rate.unwrap() <= 960.0 && found.bracket.1.unwrap() <= 1000.0, "{found:?}");
        assert_eq!(found.trials, trials);
    }

    #[test]
    fn a_generator_at_its_limit_ends_the_search() {
        let found = searched(Search::new(100.0, 1e6, 0.05), |trial| {
            if trial.rate > 3000.0 { Invalid } else { Passed }
        });
        assert_eq!(found.ending, Ending::GeneratorLimit { rate: 3200.0 });
        assert_eq!((found.rate, found.confirmed), (Some(1600.0), false));
        assert_eq!(found.explain(), "holds 1600.0/s; the generator was the limit at 3200.0/s");
    }

    #[test]
    fn the_ends_of_the_range_are_told_as_such() {
        let top = searched(Search::new(10.0, 500.0, 0.05), |_| Passed);
        assert_eq!((top.rate, top.ending, top.bracket.1), (Some(500.0), Ending::AtTop, None));
        let bottom = searched(Search::new(10.0, 500.0, 0.05), |_| Failed);
        assert_eq!((bottom.rate, bottom.ending, bottom.trials), (None, Ending::BelowLowest, 2));
        assert_eq!(bottom.explain(), "less than 10.0/s, the lowest rate that was tried");
    }

    #[test]
    fn a_server_that_never_confirms_is_unstable() {
        let found =
            searched(Search::new(10.0, 1e4, 0.05), |trial| holds(trial.kind == TrialKind::Probe));
        assert_eq!((found.ending, found.confirmed), (Ending::Unstable, false));
    }

    #[test]
    fn what_was_not_asked_is_ignored() {
        let mut search = Search::new(10.0, 100.0, 0.05);
        search.observe(Trial { rate: 99.0, kind: TrialKind::Probe }, Passed);
        assert_eq!((search.finish().trials, search.finish().ending), (0, Ending::Unfinished));
    }

    #[test]
    fn a_noisy_server_is_found_nearly_always() {
        // Besides the noise of 1 %, one trial in twenty fails for no reason.
        let near = (0..500).filter(|seed| {
            let mut dice = dice(*seed);
            let truth = 50.0 * 1.013_f64.powi(*seed as i32);
            let found = searched(Search::new(10.0, 1e6, 0.05), |trial| {
                let noise = 1.0 + 0.01 * normal(&mut dice);
                holds(dice.unit() >= 0.05 && trial.rate <= truth * noise)
            });
            found.confirmed && (found.rate.unwrap() / truth - 1.0).abs() <= 0.05
        });
        let near = near.count();
        assert!(near >= 450, "{near} of 500");
    }

    proptest! {
        #[test]
        fn the_truth_is_found_within_the_precision(
            truth in 2.0..1e5_f64, precision in 0.02..0.2_f64, low in 1.0..2.0_f64, seed: u64, noise in 0.0..0.1_f64,
        ) {
            let mut dice = dice(seed);
            let found = searched(Search::new(low, 1e6, precision), |trial| {
                holds(trial.rate <= truth * (1.0 + noise * precision * normal(&mut dice)))
            });
            prop_assert!((found.rate.unwrap() / truth - 1.0).abs() <= precision, "{found:?}");
            prop_assert!(found.trials < MOST_TRIALS);
        }

        #[test]
        fn it_always_ends(
            low in prop::sample::select(ODD.to_vec()), high in prop::sample::select(ODD.to_vec()),
            precision in prop::sample::select(ODD.to_vec()), seed: u64,
        ) {
            let mut dice = dice(seed);
            let found = searched(Search::new(low, high, precision), |trial| {
                assert!(trial.rate.is_finite() && trial.rate > 0.0);
                holds(dice.unit() < 0.5)
            });
            prop_assert!(found.trials <= MOST_TRIALS && !found.explain().is_empty());
            prop_assert!(found.bracket.0.zip(found.bracket.1).is_none_or(|(best, failing)| best < failing));
        }
    }
}
