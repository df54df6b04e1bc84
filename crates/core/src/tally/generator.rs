//! How busy and how late the generator was: whether the figures are the server's or our own.

use std::{collections::BTreeMap, time::Duration};

use hdrhistogram::Histogram;

use crate::{
    event::{GENERATOR_INTERVAL, GeneratorSample},
    histogram,
};

/// A thread that is late by less than this may have waited for many things.
const STANDSTILL: Duration = Duration::from_secs(1);

/// What is known of the generator itself.
#[derive(Debug, Clone, Default)]
pub struct Generator {
    lag: Option<Box<Histogram<u64>>>,
    workers: BTreeMap<u16, Spent>,
    standstill: Duration,
}

/// What one load thread did with its time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Spent {
    wall: Duration,
    cpu: Duration,
    starved: Duration,
}

impl Generator {
    pub(super) fn observe(&mut self, sample: &GeneratorSample) {
        self.standstill = self.standstill.max(standstill(sample));
        let spent = self.workers.entry(sample.worker).or_default();
        spent.wall += sample.wall;
        spent.cpu += sample.cpu;
        spent.starved += sample.starved;
    }

    pub(super) fn observe_lag(&mut self, lag: Duration) {
        let lags = self.lag.get_or_insert_with(|| Box::new(histogram::new()));
        histogram::record(lags, lag);
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.standstill = self.standstill.max(other.standstill);
        if let Some(theirs) = other.lag {
            match &mut self.lag {
                Some(mine) => histogram::add(mine, &theirs),
                None => self.lag = Some(theirs),
            }
        }
        for (worker, theirs) in other.workers {
            let mine = self.workers.entry(worker).or_default();
            mine.wall += theirs.wall;
            mine.cpu += theirs.cpu;
            mine.starved += theirs.starved;
        }
    }

    /// How much later than intended calls were sent; empty when all were sent as they came.
    pub fn lag(&self) -> Histogram<u64> {
        self.lag.as_deref().cloned().unwrap_or_else(histogram::new)
    }

    /// The CPU time of all load threads while load was on.
    pub fn cpu(&self) -> Duration {
        self.workers.values().map(|spent| spent.cpu).sum()
    }

    /// The share of its time that the busiest load thread was on a CPU. Nothing where that cannot
    /// be measured.
    pub fn busiest(&self) -> Option<f64> {
        self.most(|spent| spent.cpu)
    }

    /// The share of its time that a load thread could have run but got no CPU, at worst.
    pub fn starved(&self) -> Option<f64> {
        self.most(|spent| spent.starved)
    }

    /// For how long at a stretch a load thread neither ran, nor wanted to, nor was meant to wait: the
    /// process was stopped, the machine slept, or a disk did not answer.
    pub fn standstill(&self) -> Option<Duration> {
        Some(self.standstill).filter(|time| !time.is_zero())
    }

    fn most(&self, part: fn(&Spent) -> Duration) -> Option<f64> {
        let known = self.workers.values().filter(|spent| !spent.wall.is_zero());
        known.map(|spent| part(spent).as_secs_f64() / spent.wall.as_secs_f64()).reduce(f64::max)
    }
}

/// What is left of the time between two samples when all that explains it is taken away.
fn standstill(sample: &GeneratorSample) -> Duration {
    let explained = GENERATOR_INTERVAL + sample.cpu + sample.starved;
    let unexplained = sample.wall.saturating_sub(explained);
    if unexplained < STANDSTILL { Duration::ZERO } else { unexplained }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(worker: u16, wall: u64, cpu: u64, starved: u64) -> GeneratorSample {
        let [wall, cpu, starved] = [wall, cpu, starved].map(Duration::from_millis);
        GeneratorSample { at: wall, worker, wall, cpu, starved }
    }

    #[test]
    fn threads_are_told_apart_however_their_samples_come_together() {
        let (mut one, mut two) = (Generator::default(), Generator::default());
        one.observe(&sample(0, 500, 100, 75));
        one.observe(&sample(1, 500, 400, 0));
        two.observe(&sample(0, 500, 300, 150));
        two.observe_lag(Duration::from_millis(3));
        let mut all = Generator::default();
        all.merge(one);
        all.merge(two.clone());
        all.merge(two);
        assert_eq!(all.busiest(), Some(0.8));
        assert_eq!(all.starved(), Some(0.25));
        assert_eq!(all.cpu(), Duration::from_millis(1_100));
        assert_eq!((all.lag().len(), all.standstill()), (2, None));
        assert_eq!(Generator::default().busiest(), None);
    }

    #[test]
    fn only_what_nothing_explains_is_a_standstill() {
        let of = |wall, cpu, starved| {
            let mut generator = Generator::default();
            generator.observe(&sample(0, wall, cpu, starved));
            generator.standstill()
        };
        assert_eq!(of(1_499, 0, 0), None);
        assert_eq!(of(1_500, 0, 0), Some(Duration::from_secs(1)));
        assert_eq!(of(4_000, 1_000, 500), Some(Duration::from_secs(2)));
        assert_eq!(of(4_000, 2_000, 1_000), None);
    }
}
