//! What a fault did to the calls around it, and how long it was felt.
//!
//! Windows of the run before this fault, in which none was at work but what lasts all the time, tell what is
//! usual. A later window
//! is usual again when its median is at most twice that, or ten milliseconds more, and no more than five
//! in a hundred calls more fail.

use std::time::Duration;

use super::{
    Report, Window,
    figures::{counted, grouped, percent},
    html::scale::clock,
};
use crate::{display::visible, fault::FaultWindow, stats::order::median, units::format_latency};

/// How many times the usual median still counts as recovered …
pub(crate) const SLOWER: f64 = 2.0;
/// … or how many milliseconds more, so that noise is no news. The finding `no_recovery` has the same.
pub(crate) const NOTICEABLE_MS: f64 = 10.0;
/// How much more of the calls may fail.
const MORE_FAILED: f64 = 0.05;
/// How much of a name fits into a sentence.
const LONGEST_NAME: usize = 60;
/// So many usual windows in a row are a recovery; one may be chance.
const IN_A_ROW: usize = 2;

/// What a fault did.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Felt {
    /// The median before it, in milliseconds.
    pub(crate) before: Option<f64>,
    /// The median meanwhile.
    pub(crate) meanwhile: Option<f64>,
    /// The share of calls that failed meanwhile.
    pub(crate) failed: Option<f64>,
    /// How it went on.
    pub(crate) after: After,
}

/// How it went on after a fault.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum After {
    /// Too little lies before or after it.
    Unknown,
    /// Nothing changed, neither meanwhile nor later.
    NotFelt,
    /// As usual as soon as it was over.
    AtOnce,
    /// As usual so many seconds after it.
    Within(f64),
    /// Another fault came before it was as usual.
    Another,
    /// The run ended before it was as usual.
    Never,
}

impl After {
    /// In words.
    pub(crate) fn told(self) -> String {
        match self {
            Self::Unknown => "too little lies before or after it to tell".into(),
            Self::NotFelt => "not felt".into(),
            Self::AtOnce => "recovered at once".into(),
            Self::Within(secs) => format!("recovered {secs:.0} s after it ended"),
            Self::Another => "the next fault came before it had recovered".into(),
            Self::Never => "did not recover".into(),
        }
    }
}

/// What this fault of a run did.
pub(crate) fn felt(report: &Report, fault: &FaultWindow) -> Felt {
    let last = report.windows.len().saturating_sub(1);
    // The load ended somewhere within the last one.
    let windows: Vec<&Window> =
        report.windows[..last].iter().filter(|one| ended(one) > 0).collect();
    let (from, to) = (fault.from.as_secs_f64(), fault.to.as_secs_f64());
    // What was at work before, meanwhile and afterwards is not what made the difference.
    let is_lasting = |other: &FaultWindow| other.from < fault.from && other.to > fault.to;
    let quiet = |one: &Window| {
        !report.faults.iter().any(|other| is_within(one, other) && !is_lasting(other))
    };
    let before: Vec<&Window> =
        windows.iter().copied().filter(|one| end(one) <= from && quiet(one)).collect();
    let meanwhile: Vec<&Window> =
        windows.iter().copied().filter(|one| is_within(one, fault)).collect();
    let later: Vec<&Window> =
        windows.iter().copied().filter(|one| one.from_secs as f64 >= to).collect();
    let after: Vec<&Window> = later.iter().copied().take_while(|one| quiet(one)).collect();
    let usual = median(before.iter().filter_map(|one| ms(one)));
    let judged = usual.filter(|_| !after.is_empty()).map(|usual| {
        let allowed = share(&before).unwrap_or(0.0) + MORE_FAILED;
        let is_usual = |one: &&Window| {
            ms(one).is_none_or(|ms| ms <= (usual * SLOWER).max(usual + NOTICEABLE_MS))
                && share(&[one]).unwrap_or(0.0) <= allowed
        };
        let went: Vec<bool> = after.iter().map(is_usual).collect();
        let recovered = recovery(&went).map(|at| (end(after[at]) - to).max(0.0).round());
        let unfelt = !meanwhile.is_empty() && meanwhile.iter().all(is_usual);
        match (unfelt, went.first(), recovered) {
            (true, Some(true), _) => After::NotFelt,
            (false, Some(true), _) => After::AtOnce,
            (_, _, Some(secs)) => After::Within(secs),
            (_, _, None) if after.len() < later.len() => After::Another,
            _ => After::Never,
        }
    });
    Felt {
        before: usual,
        meanwhile: median(meanwhile.iter().filter_map(|one| ms(one))),
        failed: share(&meanwhile),
        after: judged.unwrap_or(After::Unknown),
    }
}

/// The last window that was not usual before a row of those that were.
fn recovery(went: &[bool]) -> Option<usize> {
    let starts = (1..went.len()).find(|at| {
        let row = &went[*at..went.len().min(at + IN_A_ROW)];
        row.iter().all(|usual| *usual)
    });
    starts.map(|at| at - 1)
}

fn ended(window: &Window) -> u64 {
    window.ok.saturating_add(window.errors)
}

fn end(window: &Window) -> f64 {
    window.from_secs as f64 + window.secs as f64
}

fn ms(window: &Window) -> Option<f64> {
    window.response_ns.quantile(0.5).map(|time| time.as_secs_f64() * 1e3)
}

fn is_within(window: &Window, fault: &FaultWindow) -> bool {
    fault.from.as_secs_f64() < end(window) && fault.to.as_secs_f64() >= window.from_secs as f64
}

fn share(windows: &[&Window]) -> Option<f64> {
    let sum =
        |count: fn(&Window) -> u64| windows.iter().fold(0.0, |sum, one| sum + count(one) as f64);
    let all = sum(ended);
    (all > 0.0).then(|| sum(|one| one.errors) / all)
}

/// The faults of a run, those first of which most is known: how it went on, then how many calls they hit.
pub(crate) fn telling(report: &Report) -> Vec<&FaultWindow> {
    let mut faults: Vec<&FaultWindow> = report.faults.iter().collect();
    faults.sort_by_cached_key(|fault| {
        (felt(report, fault).after == After::Unknown, std::cmp::Reverse(fault.calls))
    });
    faults
}

/// The columns of a table of faults.
pub(crate) const COLUMNS: [&str; 8] = [
    "Fault",
    "From",
    "To",
    "Calls",
    "p50 before",
    "p50 meanwhile",
    "Failed meanwhile",
    "Afterwards",
];

/// The cells of a fault, but for its name.
pub(crate) fn cells(report: &Report, fault: &FaultWindow) -> [String; 7] {
    let felt = felt(report, fault);
    let time = |ms: Option<f64>| ms.map_or("-".into(), told_ms);
    [
        clock(fault.from.as_secs_f64()),
        clock(fault.to.as_secs_f64()),
        grouped(fault.calls),
        time(felt.before),
        time(felt.meanwhile),
        felt.failed.map_or("-".into(), percent),
        felt.after.told(),
    ]
}

/// What a fault did, in a sentence that any screen can be shown.
pub(crate) fn sentence(report: &Report, fault: &FaultWindow) -> String {
    let felt = felt(report, fault);
    let calls = counted(fault.calls, "call");
    let [from, to] = [fault.from, fault.to].map(|at| clock(at.as_secs_f64()));
    let times = felt.before.zip(felt.meanwhile).map(|(before, meanwhile)| {
        format!(": the median was {} before and {} under it", told_ms(before), told_ms(meanwhile))
    });
    let failed = felt.failed.filter(|share| *share > 0.0);
    let failed = failed.map(|share| format!(", {} of the calls failed meanwhile", percent(share)));
    format!(
        "`{}` hit {calls} from {from} to {to}{}{}; {}.",
        visible(&fault.name, LONGEST_NAME).replace('`', "'"),
        times.unwrap_or_default(),
        failed.unwrap_or_default(),
        felt.after.told()
    )
}

fn told_ms(ms: f64) -> String {
    format_latency(Duration::try_from_secs_f64(ms / 1e3).unwrap_or(Duration::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{histogram::Buckets, report::fixture::healthy};

    /// A run with a window a second: its median in milliseconds, and how many of a hundred calls fail.
    fn run(seconds: &[(u64, u64)], faults: &[(u64, u64)]) -> Report {
        let mut report = healthy();
        let window = |(at, (ms, errors)): (usize, &(u64, u64))| Window {
            from_secs: at as u64,
            secs: 1,
            ok: 100 - errors,
            errors: *errors,
            response_ns: Buckets(vec![(ms * 1_000_000, 100)]),
        };
        report.windows = seconds.iter().enumerate().map(window).collect();
        let fault = |(from, to): &(u64, u64)| FaultWindow {
            name: "slow".into(),
            from: Duration::from_secs(*from),
            to: Duration::from_millis(to * 1_000 - 1),
            calls: 7,
        };
        report.faults = faults.iter().map(fault).collect();
        report
    }

    fn after(seconds: &[(u64, u64)], faults: &[(u64, u64)]) -> After {
        let report = run(seconds, faults);
        felt(&report, &report.faults[0]).after
    }

    #[test]
    fn what_a_fault_did_is_told_with_how_long_it_was_felt() {
        let (usual, slow, failing) = ((5, 0), (80, 0), (5, 40));
        let fault = &[(3, 5)];
        let run_of = |middle: &[(u64, u64)], end: &[(u64, u64)]| {
            after(&[&[usual; 3], middle, end].concat(), fault)
        };
        assert_eq!(run_of(&[slow; 2], &[usual; 5]), After::AtOnce);
        assert_eq!(run_of(&[failing; 2], &[usual; 5]), After::AtOnce);
        assert_eq!(run_of(&[usual; 2], &[usual; 5]), After::NotFelt);
        assert_eq!(run_of(&[slow; 2], &[slow, slow, usual, usual, usual]), After::Within(2.0));
        assert_eq!(
            run_of(&[slow; 2], &[slow, usual, slow, usual, usual, usual]),
            After::Within(3.0)
        );
        assert_eq!(run_of(&[slow; 2], &[failing; 5]), After::Never);
        assert_eq!(run_of(&[slow; 2], &[usual]), After::Unknown, "the last window is broken off");
        assert_eq!(after(&[slow; 8], &[(0, 2)]), After::Unknown);
        let lasting = after(&[[usual; 3], [slow; 3], [usual; 3]].concat(), &[(3, 6), (0, 9)]);
        assert_eq!(lasting, After::AtOnce, "what lasts is part of what is usual");
        let two = after(&[[usual; 3], [slow; 3], [slow; 3]].concat(), &[(3, 4), (6, 7)]);
        assert_eq!(two, After::Another);
    }

    #[test]
    fn a_window_is_usual_up_to_its_limits() {
        for (name, usual, later, expected) in [
            ("ten milliseconds more", (5, 0), (15, 0), After::AtOnce),
            ("above that", (5, 0), (16, 0), After::Never),
            ("twice as long", (20, 0), (40, 0), After::AtOnce),
            ("longer", (20, 0), (41, 0), After::Never),
            ("five in a hundred fail", (5, 0), (5, 5), After::AtOnce),
            ("six in a hundred", (5, 0), (5, 6), After::Never),
            ("as many more as usual", (5, 20), (5, 25), After::AtOnce),
            ("more than that", (5, 20), (5, 26), After::Never),
        ] {
            let seconds = [vec![usual; 3], vec![(90, 90); 2], vec![later; 4]].concat();
            assert_eq!(after(&seconds, &[(3, 5)]), expected, "{name}");
        }
    }

    #[test]
    fn only_what_begins_before_and_ends_after_a_fault_lasts() {
        let seconds = [[(5, 0); 3], [(80, 0); 3], [(5, 0); 3]].concat();
        for (name, other, expected) in [
            ("around it", (0, 9), After::AtOnce),
            ("begins with it", (3, 9), After::Unknown),
            ("ends with it", (0, 6), After::Unknown),
        ] {
            assert_eq!(after(&seconds, &[(3, 6), other]), expected, "{name}");
        }
    }

    #[test]
    fn windows_without_a_call_say_nothing() {
        let (usual, slow) = ((5, 0), (80, 0));
        let mut report = run(&[[usual; 3], [slow; 3], [slow; 3], [usual; 3]].concat(), &[(3, 5)]);
        let empty = |window: &mut Window| {
            (window.ok, window.errors, window.response_ns) = (0, 0, Buckets::default());
        };
        empty(&mut report.windows[5]);
        let fault = report.faults[0].clone();
        assert_eq!(felt(&report, &fault).after, After::Within(4.0), "silence is no recovery");
        report.windows[3..5].iter_mut().for_each(empty);
        for at in 6..9 {
            report.windows[at] = Window { from_secs: at as u64, ..report.windows[0].clone() };
        }
        let felt = felt(&report, &fault);
        let expected =
            Felt { before: Some(5.0), meanwhile: None, failed: None, after: After::AtOnce };
        assert_eq!(felt, expected, "nobody called meanwhile, so who knows what was felt");
    }

    #[test]
    fn those_faults_come_first_of_which_most_is_known() {
        let mut report = run(&[[(5, 0); 3], [(80, 0); 3], [(5, 0); 3]].concat(), &[]);
        let fault = |name: &str, from, to: u64, calls| FaultWindow {
            name: name.into(),
            from: Duration::from_secs(from),
            to: Duration::from_millis(to * 1_000 - 1),
            calls,
        };
        report.faults =
            vec![fault("unknown", 0, 1, 99), fault("few", 3, 5, 2), fault("many", 3, 5, 7)];
        let names: Vec<&str> = telling(&report).iter().map(|fault| fault.name.as_str()).collect();
        assert_eq!(names, ["many", "few", "unknown"]);
    }

    #[test]
    fn what_is_not_known_is_not_in_the_sentence() {
        let report = run(&[[(5, 0); 3], [(80, 0); 3], [(5, 0); 3]].concat(), &[(3, 6)]);
        assert_eq!(
            sentence(&report, &report.faults[0]),
            "`slow` hit 7 calls from 3s to 6s: the median was 5.00ms before and 80.0ms under it; recovered at once."
        );
        let report = run(&[(80, 40); 5], &[(0, 5)]);
        assert_eq!(
            sentence(&report, &report.faults[0]),
            "`slow` hit 7 calls from 0s to 5s, 40.00% of the calls failed meanwhile; too little lies before or after it to tell."
        );
        let told = [After::NotFelt, After::Within(2.0), After::Another, After::Never];
        let words = [
            "not felt",
            "recovered 2 s after it ended",
            "the next fault came before it had recovered",
            "did not recover",
        ];
        assert_eq!(told.map(After::told), words);
    }

    #[test]
    fn a_sentence_has_the_times_and_the_count() {
        let report = run(&[[(5, 0); 3], [(80, 40); 3], [(5, 0); 3]].concat(), &[(3, 6)]);
        let told = sentence(&report, &report.faults[0]);
        assert_eq!(
            told,
            "`slow` hit 7 calls from 3s to 6s: the median was 5.00ms before and 80.0ms under it, 40.00% of the calls failed meanwhile; recovered at once."
        );
    }
}
