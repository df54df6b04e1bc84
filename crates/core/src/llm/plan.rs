//! What happens to one answer. Everything comes from a seed: the same seed gives the same plan.

use std::time::Duration;

use super::{Failure, Fixture, StreamFault, fixture::Delays};
use crate::seed::{Dice, Seed};

/// Streams of chance, one for each purpose, so that one does not shift another.
const ACTIVATION: u64 = 1;
const JITTER: u64 = 2;
const DELAYS: u64 = 3;

/// Jitter and doubles: whether they happen to this request, and from which seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Activation {
    /// The seed of this request.
    pub seed: Seed,
    /// Whether chance has decided for them.
    pub active: bool,
}

/// Where the seeds of requests come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chaos {
    /// The seed of the server.
    pub server: Seed,
    /// How many requests the server had before this one whose fixture leaves it to chance.
    pub counter: u64,
}

impl Failure {
    /// Whether jitter and doubles happen. An explicit seed decides alone, so that the order of
    /// requests does not matter; without one, the number of the request does.
    pub fn activation(&self, chaos: Chaos) -> Activation {
        let seed = match self.chaos_seed {
            Some(seed) => Seed(seed),
            None => Seed(chaos.server.dice(chaos.counter).next_u64()),
        };
        let roll = seed.dice(ACTIVATION).unit();
        Activation { seed, active: roll < self.probability.unwrap_or(1.0) }
    }
}

/// What happens to one answer.
#[derive(Debug, Clone)]
pub struct Plan<'f> {
    /// The wait before the first byte.
    pub before_headers: Duration,
    /// The word `overloaded` in place of the answer.
    pub corrupt: bool,
    /// Every frame comes twice.
    pub duplicate: bool,
    /// A clean end after so many frames, doubles counted.
    pub truncate: Option<usize>,
    /// The connection is dropped so long after the stream began.
    pub disconnect: Option<Duration>,
    /// The faults that happen to this request.
    pub faults: Vec<&'f StreamFault>,
    /// How many characters a piece has.
    pub chunk_size: usize,
    /// The seed that all chances of this answer come from, for the journal.
    pub seed: Seed,
    pause: Pause,
}

/// How long it is between two frames.
#[derive(Debug, Clone)]
enum Pause {
    Even { base: Duration, jitter: Option<(u64, Dice)> },
    Spread { delays: Delays, dice: Dice, next: usize },
}

impl<'f> Plan<'f> {
    /// Makes the plan for a request: the `ordinal`-th that the fixture answers.
    pub fn new(fixture: &'f Fixture, ordinal: u64, elapsed: Duration, chaos: Chaos) -> Self {
        let nothing = Failure::default();
        let failure = fixture.failure.as_ref().unwrap_or(&nothing);
        let activation = failure.activation(chaos);
        let streaming = fixture.streaming.clone().unwrap_or_default();
        let faults: Vec<_> = fixture
            .faults
            .iter()
            .enumerate()
            .filter(|(number, fault)| {
                let seed = fault.seed.unwrap_or(chaos.server);
                fault.when.holds(ordinal, elapsed, seed, *number as u64)
            })
            .map(|(_, fault)| fault)
            .collect();
        let delays = faults.iter().find_map(|fault| Some((fault.delays.clone()?, fault.seed)));
        let pause = match delays {
            Some((delays, seed)) => {
                let seed = seed.unwrap_or(activation.seed);
                Pause::Spread { delays, dice: seed.dice(DELAYS ^ ordinal << 8), next: 0 }
            }
            None => Pause::Even {
                base: Duration::from_millis(streaming.latency),
                jitter: failure
                    .latency_jitter_ms
                    .filter(|_| activation.active)
                    .map(|range| (range, activation.seed.dice(JITTER))),
            },
        };
        Self {
            before_headers: Duration::from_millis(failure.latency_ms.unwrap_or_default()),
            corrupt: failure.corrupt_body,
            duplicate: failure.duplicate_frames && activation.active,
            truncate: failure.truncate_after_frames,
            disconnect: failure.disconnect_after_ms.map(Duration::from_millis),
            faults,
            chunk_size: streaming.chunk_size,
            seed: activation.seed,
            pause,
        }
    }

    /// Whether the delays of frames differ by chance.
    pub fn jitters(&self) -> bool {
        matches!(self.pause, Pause::Even { jitter: Some(_), .. })
    }

    /// The wait before the next frame.
    pub fn pause(&mut self) -> Duration {
        match &mut self.pause {
            Pause::Even { base, jitter: None } => *base,
            Pause::Even { base, jitter: Some((range, dice)) } => {
                let offset = dice.below(2 * *range + 1);
                (*base + Duration::from_millis(offset))
                    .saturating_sub(Duration::from_millis(*range))
            }
            Pause::Spread { delays, dice, next } => {
                *next += 1;
                milliseconds(match &*delays {
                    Delays::Constant(ms) => *ms,
                    Delays::Uniform([least, most]) => least + (most - least) * dice.unit(),
                    Delays::LogNormal { median, sigma } => median * (sigma * normal(dice)).exp(),
                    Delays::Recorded(list) if list.is_empty() => 0.0,
                    Delays::Recorded(list) => list[(*next - 1) % list.len()],
                })
            }
        }
    }
}

/// No pause is longer than an hour, whatever a distribution says.
const LONGEST_PAUSE_MS: f64 = 3_600_000.0;

fn milliseconds(ms: f64) -> Duration {
    let ms = if ms.is_finite() { ms.clamp(0.0, LONGEST_PAUSE_MS) } else { 0.0 };
    Duration::from_secs_f64(ms / 1e3)
}

/// A number from the standard normal distribution, by Box and Muller.
fn normal(dice: &mut Dice) -> f64 {
    let (radius, angle) = (1.0 - dice.unit(), dice.unit());
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::FixtureFile;

    fn fixture(text: &str) -> Fixture {
        let file = format!("fixtures:\n  - {{response: {{content: abc}}, {text}}}\n");
        FixtureFile::parse(&file, "f.yml").unwrap().fixtures.remove(0)
    }

    fn plan(fixture: &Fixture, counter: u64) -> Plan<'_> {
        Plan::new(fixture, 1, Duration::ZERO, Chaos { server: Seed(1), counter })
    }

    #[test]
    fn an_explicit_seed_does_not_depend_on_the_order_of_requests() {
        let fixture =
            fixture("streaming: {latency: 20}, failure: {latency_jitter_ms: 10, chaos_seed: 7}");
        let pauses = |counter| {
            let mut plan = plan(&fixture, counter);
            (0..50).map(|_| plan.pause()).collect::<Vec<_>>()
        };
        assert_eq!(pauses(0), pauses(99));
        let range = Duration::from_millis(10)..=Duration::from_millis(30);
        assert!(pauses(0).iter().all(|pause| range.contains(pause)));
        let mut distinct = pauses(0);
        distinct.sort();
        distinct.dedup();
        assert!(distinct.len() > 10, "{distinct:?}");
    }

    #[test]
    fn delays_are_as_they_are_written() {
        let pauses = |text: &str| {
            let fixture = fixture(text);
            let mut plan = plan(&fixture, 0);
            assert!(!plan.jitters());
            (0..4).map(|_| plan.pause().as_secs_f64() * 1e3).collect::<Vec<_>>()
        };
        assert_eq!(pauses("streaming: {latency: 20}"), [20.0; 4]);
        assert_eq!(pauses("faults: [{delays: {constant: 3}}]"), [3.0; 4]);
        assert_eq!(pauses("faults: [{delays: {recorded: [1, 2, 4]}}]"), [1.0, 2.0, 4.0, 1.0]);
        let spread = pauses("faults: [{delays: {uniform: [5, 9]}}]");
        assert!(spread.iter().all(|pause| (5.0..9.0).contains(pause)), "{spread:?}");
        assert!(spread[0] != spread[1], "{spread:?}");
        let fixture = fixture("streaming: {latency: 20}, failure: {latency_jitter_ms: 10}");
        assert!(plan(&fixture, 0).jitters());
    }

    #[test]
    fn without_a_seed_the_number_of_the_request_decides() {
        let fixture = fixture("failure: {duplicate_frames: true, probability: 0.5}");
        let told: Vec<_> = (0..64).map(|counter| plan(&fixture, counter).duplicate).collect();
        let again: Vec<_> = (0..64).map(|counter| plan(&fixture, counter).duplicate).collect();
        assert_eq!(told, again);
        assert!(told.contains(&true) && told.contains(&false));
    }

    #[test]
    fn probability_gates_chaos_and_nothing_else() {
        let fixture = fixture(
            "failure: {latency_ms: 5, truncate_after_frames: 2, disconnect_after_ms: 9, \
             duplicate_frames: true, probability: 0.0}",
        );
        let plan = plan(&fixture, 0);
        assert!(!plan.duplicate);
        assert_eq!(plan.before_headers, Duration::from_millis(5));
        assert_eq!((plan.truncate, plan.disconnect), (Some(2), Some(Duration::from_millis(9))));
    }

    #[test]
    fn seeds_are_mixed_before_they_are_used() {
        for share in [0.001, 0.3, 0.7] {
            let failure = Failure { probability: Some(share), ..Failure::default() };
            let chaos = Chaos { server: Seed(1), counter: 0 };
            let active = |seed| {
                Failure { chaos_seed: Some(seed), ..failure.clone() }.activation(chaos).active
            };
            let hits = (0..10_000).filter(|seed| active(*seed)).count() as f64;
            let sigma = (10_000.0_f64 * share * (1.0 - share)).sqrt();
            assert!((hits - 10_000.0 * share).abs() <= 3.0 * sigma, "{share}: {hits}");
        }
    }

    #[test]
    fn delays_are_spread_as_asked() {
        let fixture =
            fixture("faults: [{delays: {log_normal: {median: 20, sigma: 0.5}}, seed: 3}]");
        let mut plan = plan(&fixture, 0);
        let mut pauses: Vec<_> = (0..1001).map(|_| plan.pause()).collect();
        pauses.sort();
        let median = pauses[500].as_secs_f64() * 1e3;
        assert!((18.0..22.0).contains(&median), "{median}");
    }

    #[test]
    fn every_delay_of_a_range_occurs() {
        let ends = |text: &str| {
            let fixture = fixture(text);
            let mut plan = plan(&fixture, 0);
            let pauses: Vec<_> = (0..2_000).map(|_| plan.pause().as_secs_f64() * 1e3).collect();
            let least = pauses.iter().copied().fold(f64::INFINITY, f64::min);
            (least, pauses.into_iter().fold(0.0, f64::max))
        };
        let jitter = "streaming: {latency: 20}, failure: {latency_jitter_ms: 10, chaos_seed: 7}";
        assert_eq!(ends(jitter), (10.0, 30.0));
        // No wait is shorter than none.
        let wide = "streaming: {latency: 5}, failure: {latency_jitter_ms: 10, chaos_seed: 7}";
        assert_eq!(ends(wide), (0.0, 15.0));
        let (least, most) = ends("faults: [{delays: {uniform: [5, 9]}}]");
        assert!((5.0..5.1).contains(&least) && (8.9..9.0).contains(&most), "{least} {most}");
    }

    #[test]
    fn delays_of_a_log_normal_distribution_are_by_box_and_muller() {
        let fixture =
            fixture("faults: [{delays: {log_normal: {median: 20, sigma: 0.5}}, seed: 3}]");
        let mut plan = plan(&fixture, 0);
        let mut dice = Seed(3).dice(DELAYS ^ 1 << 8);
        let mut pauses = Vec::new();
        for _ in 0..1_001 {
            let (one, two) = (1.0 - dice.unit(), dice.unit());
            let normal = (2.0 * (1.0 / one).ln()).sqrt() * (std::f64::consts::TAU * two).cos();
            let pause = plan.pause().as_secs_f64() * 1e3;
            assert!((pause - 20.0 * (0.5 * normal).exp()).abs() < 1e-3, "{pause}");
            pauses.push(pause);
        }
        // One sigma to both sides: 20 / e^0.5 and 20 * e^0.5.
        pauses.sort_by(f64::total_cmp);
        assert!((11.0..13.5).contains(&pauses[159]), "{}", pauses[159]);
        assert!((30.0..36.0).contains(&pauses[841]), "{}", pauses[841]);
    }

    #[test]
    fn a_pause_is_an_hour_at_most_and_none_where_there_is_no_number() {
        let mut fixture = fixture("faults: [{delays: {constant: 3600001}}]");
        assert_eq!(plan(&fixture, 0).pause(), Duration::from_secs(3_600));
        for delays in [Delays::Recorded(Vec::new()), Delays::Constant(f64::INFINITY)] {
            fixture.faults[0].delays = Some(delays);
            assert_eq!(plan(&fixture, 0).pause(), Duration::ZERO);
        }
    }
}
