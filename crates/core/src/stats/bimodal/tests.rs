use super::super::fixture::{dice, normal, times};
use super::*;
use crate::{histogram, seed::Dice};

fn log_normal(dice: &mut Dice, median: f64, spread: f64) -> f64 {
    median * (spread * normal(dice)).exp()
}

fn exponential(dice: &mut Dice, mean: f64) -> f64 {
    -mean * (1.0 - dice.unit()).ln()
}

#[test]
fn hits_and_misses_of_a_cache_are_two_populations() {
    for (calls, share, ratio) in [(200, 0.3, 10.0), (1_000, 0.5, 4.0), (20_000, 0.06, 50.0)] {
        let mut dice = dice(calls);
        let mixture = times((0..calls).map(|_| {
            let middle = if dice.unit() < share { 2.0 * ratio } else { 2.0 };
            log_normal(&mut dice, middle, 0.2)
        }));
        let modes = modes(&mixture).unwrap_or_else(|| panic!("{calls} {share} {ratio}"));
        let (low, high) = (modes.low.at.as_secs_f64() * 1e3, modes.high.at.as_secs_f64() * 1e3);
        assert!(
            (low / 2.0 - 1.0).abs() < 0.1 && (high / 2.0 / ratio - 1.0).abs() < 0.15,
            "{modes:?}"
        );
        assert!((modes.high.share - share).abs() < 0.1, "{modes:?}");
        assert!((modes.low.share + modes.high.share - 1.0).abs() < 1e-9);
    }
}

#[test]
fn two_exact_times_are_two_populations() {
    let modes = modes(&times((0..200).map(|n| if n % 4 == 0 { 40.0 } else { 1.0 }))).unwrap();
    assert_eq!((modes.low.share, modes.high.share), (0.75, 0.25));
}

#[test]
fn one_population_with_a_long_tail_is_silent() {
    for seed in 0..150 {
        let calls = [100, 300, 1_000, 5_000][seed as usize % 4];
        for spread in [0.1, 0.5, 1.0, 1.5] {
            let mut dice = dice(seed);
            let long = times((0..calls).map(|_| log_normal(&mut dice, 20.0, spread)));
            assert_eq!(modes(&long), None, "log-normal {spread}, seed {seed}, {calls} calls");
        }
        let mut dice = dice(seed);
        let waiting = times((0..calls).map(|_| exponential(&mut dice, 15.0)));
        assert_eq!(modes(&waiting), None, "exponential, seed {seed}, {calls} calls");
        let pareto = times((0..calls).map(|_| 5.0 * (1.0 - dice.unit()).powf(-1.0 / 1.5)));
        assert_eq!(modes(&pareto), None, "Pareto, seed {seed}, {calls} calls");
    }
}

#[test]
fn first_calls_constants_coarse_timers_and_neighbours_are_silent() {
    let constant =
        |outliers: usize| times((0..500).map(move |n| if n < outliers { 7_000.0 } else { 20.0 }));
    assert_eq!(modes(&constant(0)), None);
    assert_eq!(modes(&constant(1)), None, "a first call");
    assert_eq!(modes(&constant(20)), None, "4 %");
    assert!(modes(&constant(40)).is_some(), "8 %");
    let coarse = times((0..400).map(|n| f64::from(n % 5 + 1) * 10.0));
    assert_eq!(modes(&coarse), None, "a timer of 10 ms");
    let near = times((0..400).map(|n| if n % 2 == 0 { 10.0 } else { 25.0 }));
    assert_eq!(modes(&near), None, "2.5 times apart");
}

#[test]
fn too_few_calls_and_odd_times_do_no_harm() {
    assert_eq!(modes(&histogram::new()), None);
    assert_eq!(modes(&times((0..99).map(|n| f64::from(n % 2) * 1e3))), None);
    let mut extreme = histogram::new();
    for _ in 0..100 {
        histogram::record(&mut extreme, Duration::ZERO);
        histogram::record(&mut extreme, Duration::MAX);
    }
    assert!(modes(&extreme).is_some());
    let mut widest = Histogram::<u64>::new_with_bounds(1, u64::MAX, 3).unwrap();
    widest.record_n(u64::MAX, u64::MAX / 2).unwrap();
    assert_eq!(modes(&widest), None);
}

#[test]
fn each_limit_belongs_to_what_it_allows() {
    let two = |calls: u32, slow: u32, millis: f64| {
        modes(&times((0..calls).map(|n| if n < slow { millis } else { 1.0 })))
    };
    assert!(two(100, 50, 40.0).is_some(), "100 calls are enough");
    assert_eq!(two(99, 49, 40.0), None);
    assert!(two(500, 25, 40.0).is_some(), "5 % are a population");
    assert_eq!(two(500, 24, 40.0), None);
    // A factor of three is 12.7 bins, and bins are whole: 1 ms is in bin 159.
    assert!(two(1_000, 500, 3.05).is_some(), "13 bins apart");
    assert_eq!(two(1_000, 500, 2.9), None, "12 bins apart");
}

#[test]
fn a_share_is_reached_within_a_bin() {
    let counts = [0.0, 4.0, 0.0, 4.0];
    for (share, expected) in [(0.0, 1.0), (0.25, 1.5), (0.5, 2.0), (0.75, 3.5), (1.0, 4.0)] {
        assert_eq!(bin_at(&counts, share), expected, "{share}");
    }
    assert_eq!(bin_at(&[0.0; 3], 0.5), 3.0, "the end, where nothing was counted");
}

#[test]
fn the_bandwidth_follows_the_lesser_spread_and_is_a_bin_at_least() {
    let of = |bins: &[(usize, f64)]| {
        let mut counts = [0.0; 101];
        bins.iter().for_each(|(bin, count)| counts[*bin] = *count);
        bandwidth(&counts, counts.iter().sum())
    };
    // The deviation is 20: 0.9 · 20 / 100^0.2.
    assert!((of(&[(0, 50.0), (40, 50.0)]) - 7.165_929_07).abs() < 1e-8);
    // The quartiles are at 35.5 and 65.5, the deviation 25.2: 0.9 · 30 / 1.349 / 100^0.2.
    let five = [(0, 10.0), (35, 30.0), (50, 20.0), (65, 30.0), (100, 10.0)];
    assert!((of(&five) - 7.968_045_667).abs() < 1e-8, "{}", of(&five));
    assert_eq!(of(&[(50, 1_000.0)]), 1.0);
}

#[test]
fn a_call_is_spread_over_its_neighbours_by_a_normal_kernel() {
    let mut counts = [0.0; 41];
    counts[20] = 6.0;
    let smooth = smoothed(&counts, 2.0);
    assert!((smooth.iter().sum::<f64>() - 6.0).abs() < 1e-9);
    for (bins, deviations) in [(0, 0.0), (1, 0.5), (2, 1.0), (8, 4.0)] {
        let expected = smooth[20] * f64::exp(-deviations * deviations / 2.0);
        for value in [smooth[20 - bins], smooth[20 + bins]] {
            assert!((value - expected).abs() < 1e-12, "{bins} bins away: {value}");
        }
    }
    assert_eq!((smooth[11], smooth[29]), (0.0, 0.0), "beyond four deviations");
    (counts[20], counts[0], counts[40]) = (0.0, 1.0, 1.0);
    let ends = smoothed(&counts, 2.0);
    assert!((ends[0] * 6.0 - smooth[20]).abs() < 1e-9 && (ends[0] - ends[40]).abs() < 1e-12);
    counts[2] = 1.0;
    assert!((smoothed(&counts, 2.0)[0] - ends[0] - ends[2]).abs() < 1e-12, "they add up");
}

#[test]
fn times_are_counted_by_their_logarithm() {
    let density = Density::of(&times((0..600).map(|n| if n % 3 == 0 { 20.0 } else { 1.0 })));
    assert_eq!((density.total, density.counts[159], density.counts[194]), (600.0, 400.0, 200.0));
    let width = bandwidth(&density.counts, density.total);
    assert!(width > 1.5, "{width}");
    assert!((density.spread / width - 3.544_907_7).abs() < 1e-6, "twice the root of pi");
}

/// A density as it is drawn, of which a call is spread over so many bins.
fn drawn(smooth: &[f64], spread: f64) -> Density {
    let total = smooth.iter().sum();
    Density { counts: smooth.to_vec(), smooth: smooth.to_vec(), total, spread }
}

#[test]
fn maxima_are_higher_than_what_is_before_and_no_lower_than_what_follows() {
    assert_eq!(drawn(&[0.0, 1.0, 3.0, 3.0, 2.0, 5.0, 0.0], 1.0).maxima(), [2, 5]);
    assert_eq!(drawn(&[5.0, 1.0, 4.0], 1.0).maxima(), [0, 2]);
    assert_eq!(drawn(&[0.0; 4], 1.0).maxima(), [0_usize; 0]);
}

#[test]
fn a_valley_is_too_shallow_by_a_third_or_by_chance() {
    for (name, lower, valley, spread, shallow) in [
        ("a third", 900.0, 300.0, 1.0, true),
        ("less than a third", 900.0, 299.0, 1.0, false),
        ("a fifth", 100.0, 20.0, 1.0, false),
        ("nine calls are three deviations", 9.0, 0.0, 1.0, false),
        ("eight are not", 8.0, 0.0, 1.0, true),
        ("as many, spread", 4.5, 0.0, 2.0, false),
        ("20 and 5 are three deviations apart", 10.0, 2.5, 2.0, false),
        ("20 and 6 are not", 10.0, 3.0, 2.0, true),
    ] {
        for peaks in [[lower, lower * 2.0], [lower * 2.0, lower]] {
            let density = drawn(&[peaks[0], valley, peaks[1]], spread);
            assert_eq!(density.shallowest(&[0, 2]), shallow.then_some(0), "{name}");
        }
    }
    let three = drawn(&[900.0, 450.0, 900.0, 800.0, 900.0], 1.0);
    assert_eq!((three.shallowest(&[0, 2, 4]), three.shallowest(&[0])), (Some(1), None));
    assert_eq!((three.valley(0, 4), three.valley(2, 4)), (1, 3));
}

#[test]
fn the_higher_of_two_peaks_remains() {
    for smooth in [
        [0.0, 1_000.0, 800.0, 3_000.0, 500.0, 1_200.0, 0.0],
        [0.0, 1_200.0, 500.0, 3_000.0, 800.0, 1_000.0, 0.0],
    ] {
        let peaks = drawn(&smooth, 1.0).peaks();
        let [peak] = peaks[..] else { panic!("{peaks:?}") };
        assert_eq!((peak.first, peak.last, peak.share), (3, 3, 1.0), "half as high is no summit");
    }
}

#[test]
fn a_part_reaches_from_valley_to_valley_and_has_its_summits() {
    let density = drawn(&[0.0, 10.0, 6.0, 9.0, 3.0, 4.0, 1.0, 20.0, 0.0], 1.0);
    let parts = density.parts(&[1, 7]);
    let told: Vec<_> =
        parts.iter().map(|part| (part.from, part.until, part.first, part.last)).collect();
    assert_eq!(told, [(0, 6, 1, 3), (6, 9, 7, 7)]);
    assert_eq!((parts[0].share, parts[1].share), (32.0 / 53.0, 21.0 / 53.0));
}

#[test]
fn the_median_of_a_part_is_within_its_bin() {
    let mut counts = vec![0.0; 300];
    (counts[10], counts[240]) = (70.0, 30.0);
    let density = Density { smooth: counts.clone(), counts, total: 100.0, spread: 1.0 };
    let peak = Peak { first: 240, last: 240, from: 200, until: 300, share: 0.3 };
    // 240 bins and a half of eight for each doubling: 2^30.0625.
    assert_eq!(density.median(&peak), Duration::from_nanos(1_121_280_435));
}
