//! Whether a latency histogram holds two populations: hits and misses of a cache, warm and cold
//! workers, one fast and one slow path. A mean or a median of such a mixture describes neither.

use std::time::Duration;

use hdrhistogram::Histogram;

/// One population.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mode {
    /// Its median.
    pub at: Duration,
    /// Its share of all calls, 0 to 1.
    pub share: f64,
}

/// Two populations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Modes {
    /// The fast one.
    pub low: Mode,
    /// The slow one.
    pub high: Mode,
}

/// Fewer calls than this show no shape.
pub const ENOUGH: u64 = 100;
/// The least share of all calls that is a population and not an outlier.
pub const LEAST_SHARE: f64 = 0.05;
/// How deep the valley between two populations is, as a share of the lower one.
pub const VALLEY: f64 = 1.0 / 3.0;
/// How far apart they are.
pub const APART: f64 = 3.0;
/// How many standard deviations of chance a population must rise above the valley.
const SURE: f64 = 3.0;
/// Bins for each doubling of the time: 9 % wide.
const BINS_PER_DOUBLING: f64 = 8.0;

/// The two populations of a histogram of nanoseconds, or nothing if there is one, or too few calls.
///
/// The density is taken over the logarithm of the time, so that a long tail is no second population,
/// and smoothed by as much as the number of calls asks for (Silverman's rule). Of the peaks, those
/// remain that a deep enough valley sets apart and that hold enough calls; two neighbours that are
/// far enough from each other are the answer. Times in even steps, as a coarse timer gives them,
/// have many peaks, but neighbours are near.
pub fn modes(histogram: &Histogram<u64>) -> Option<Modes> {
    if histogram.len() < ENOUGH {
        return None;
    }
    let density = Density::of(histogram);
    let peaks = density.peaks();
    let far = |pair: &&[Peak]| {
        let doublings = (pair[1].first as f64 - pair[0].last as f64) / BINS_PER_DOUBLING;
        doublings.exp2() >= APART
    };
    let lesser = |pair: &[Peak]| pair[0].share.min(pair[1].share);
    let pair = peaks.windows(2).filter(far).max_by(|a, b| lesser(a).total_cmp(&lesser(b)))?;
    let mode = |peak: &Peak| Mode { at: density.median(peak), share: peak.share };
    Some(Modes { low: mode(&pair[0]), high: mode(&pair[1]) })
}

/// A peak of the density and the bins that belong to it.
#[derive(Debug, Clone, Copy)]
struct Peak {
    /// The first and the last bin of those that rise to at least half of its height: a population may
    /// have several summits, and it is as near to its neighbour as the nearest of them.
    first: usize,
    last: usize,
    from: usize,
    until: usize,
    share: f64,
}

/// Counts over bins of the logarithm of the time.
struct Density {
    counts: Vec<f64>,
    smooth: Vec<f64>,
    total: f64,
    /// How many bins the smoothing spreads a call over: a smooth value is the share of that many.
    spread: f64,
}

impl Density {
    fn of(histogram: &Histogram<u64>) -> Self {
        let mut counts = vec![0.0; (64.0 * BINS_PER_DOUBLING) as usize + 1];
        for bucket in histogram.iter_recorded() {
            let value = bucket.value_iterated_to().max(1) as f64;
            counts[(value.log2() * BINS_PER_DOUBLING) as usize] += bucket.count_at_value() as f64;
        }
        let total: f64 = counts.iter().sum();
        let width = bandwidth(&counts, total);
        let smooth = smoothed(&counts, width);
        // Twice the root of pi times the deviation: a normal kernel averages over so many bins.
        let spread = 2.0 * std::f64::consts::PI.sqrt() * width;
        Self { counts, smooth, total, spread }
    }

    /// The peaks that are populations.
    fn peaks(&self) -> Vec<Peak> {
        let mut peaks = self.maxima();
        // First what no valley sets apart, the shallowest first; then what holds too little.
        while let Some(at) = self.shallowest(&peaks) {
            let lower =
                if self.smooth[peaks[at]] >= self.smooth[peaks[at + 1]] { at + 1 } else { at };
            peaks.remove(lower);
        }
        loop {
            let parts = self.parts(&peaks);
            let least = parts.iter().enumerate().min_by(|a, b| a.1.share.total_cmp(&b.1.share));
            match least {
                Some((at, peak)) if peak.share < LEAST_SHARE => {
                    peaks.remove(at);
                }
                _ => return parts,
            }
        }
    }

    /// All bins that are higher than their neighbours.
    fn maxima(&self) -> Vec<usize> {
        let at =
            |bin: Option<usize>| bin.and_then(|bin| self.smooth.get(bin)).copied().unwrap_or(0.0);
        (0..self.smooth.len())
            .filter(|&bin| {
                let here = self.smooth[bin];
                here > at(bin.checked_sub(1)) && here >= at(bin.checked_add(1))
            })
            .collect()
    }

    /// The pair of neighbours with the shallowest valley, if it is too shallow.
    fn shallowest(&self, peaks: &[usize]) -> Option<usize> {
        let depth = |pair: &[usize]| {
            let valley = self.smooth[self.valley(pair[0], pair[1])];
            let lower = self.smooth[pair[0]].min(self.smooth[pair[1]]);
            // Counts that chance makes vary by their square root.
            let (lower_calls, valley_calls) = (lower * self.spread, valley * self.spread);
            let is_chance = lower_calls - valley_calls < SURE * (lower_calls + valley_calls).sqrt();
            if is_chance { 1.0 } else { valley / lower }
        };
        let (at, depth) =
            (peaks.windows(2).map(depth).enumerate()).max_by(|a, b| a.1.total_cmp(&b.1))?;
        (depth >= VALLEY).then_some(at)
    }

    /// The lowest bin between two peaks.
    fn valley(&self, from: usize, until: usize) -> usize {
        (from..=until).min_by(|a, b| self.smooth[*a].total_cmp(&self.smooth[*b])).unwrap_or(from)
    }

    /// The peaks with what lies between the valleys on both sides.
    fn parts(&self, peaks: &[usize]) -> Vec<Peak> {
        let mut from = 0;
        let mut parts = Vec::with_capacity(peaks.len());
        for (index, &at) in peaks.iter().enumerate() {
            let until = match peaks.get(index + 1) {
                Some(&next) => self.valley(at, next),
                None => self.counts.len(),
            };
            let share = self.counts[from..until].iter().sum::<f64>() / self.total;
            let is_summit = |bin: &usize| {
                (from..until).contains(bin) && self.smooth[*bin] >= self.smooth[at] / 2.0
            };
            let mut summits = self.maxima().into_iter().filter(is_summit);
            let first = summits.next().unwrap_or(at);
            parts.push(Peak {
                first,
                last: summits.next_back().unwrap_or(first),
                from,
                until,
                share,
            });
            from = until;
        }
        parts
    }

    /// The median of what belongs to a peak.
    fn median(&self, peak: &Peak) -> Duration {
        let bin = bin_at(&self.counts[peak.from..peak.until], 0.5);
        let nanos = ((peak.from as f64 + bin) / BINS_PER_DOUBLING).exp2();
        Duration::from_nanos(nanos as u64)
    }
}

/// Where the share `share` of the counts is reached, in bins and within one.
fn bin_at(counts: &[f64], share: f64) -> f64 {
    let wanted = share * counts.iter().sum::<f64>();
    let mut seen = 0.0;
    for (bin, count) in counts.iter().enumerate() {
        if seen + count >= wanted && *count > 0.0 {
            return bin as f64 + (wanted - seen) / count;
        }
        seen += count;
    }
    counts.len() as f64
}

/// Silverman's rule: 0.9 times the spread, by the fifth root of the number of calls; in bins, and one
/// bin at least.
fn bandwidth(counts: &[f64], total: f64) -> f64 {
    let weighted = |value: &dyn Fn(f64) -> f64| {
        counts.iter().enumerate().map(|(bin, count)| count * value(bin as f64)).sum::<f64>() / total
    };
    let mean = weighted(&|bin| bin);
    let deviation = weighted(&|bin| (bin - mean).powi(2)).sqrt();
    let quartiles = (bin_at(counts, 0.75) - bin_at(counts, 0.25)) / 1.349;
    (0.9 * deviation.min(quartiles) * total.powf(-0.2)).max(1.0)
}

/// The counts, each spread over its neighbours by a normal kernel.
fn smoothed(counts: &[f64], width: f64) -> Vec<f64> {
    let reach = (4.0 * width).ceil() as usize;
    let kernel: Vec<f64> =
        (0..=reach).map(|bin| (-0.5 * (bin as f64 / width).powi(2)).exp()).collect();
    let sum = kernel[0] + 2.0 * kernel[1..].iter().sum::<f64>();
    let mut smooth = vec![0.0; counts.len()];
    for (bin, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0.0) {
        let until = (bin + reach).min(counts.len() - 1);
        for (at, value) in
            smooth.iter_mut().enumerate().take(until + 1).skip(bin.saturating_sub(reach))
        {
            *value += count * kernel[at.abs_diff(bin)] / sum;
        }
    }
    smooth
}

#[cfg(test)]
mod tests;
