//! Memory and open files that only grow.

use std::time::Duration;

use super::finding;
use crate::{
    event::ProcessSample,
    report::{Finding, RunInfo, Severity},
    scenario::ScenarioKind,
    stats::{
        envelope::default_warmup,
        leak::{Growth, GrowthVerdict, judge_growth, per_unit},
    },
    tally::{Tally, load_time},
    thresholds::NO_LIMIT,
};

/// The memory of the server grows and does not stop.
pub(crate) const LEAK_DETECTED: &str = "leak_detected";
/// Whether it does cannot be told.
pub(crate) const LEAK_INDETERMINATE: &str = "leak_indeterminate";
/// The open files of the server grow and do not stop.
pub(crate) const DESCRIPTOR_LEAK: &str = "descriptor_leak";

/// The growth over a run that is allowed where no limit is set, in MB.
const MEMORY_LIMIT: f64 = 10.0;
/// The same for open files.
const FILES_LIMIT: f64 = 20.0;

pub(super) fn judge(tally: &Tally, info: &RunInfo) -> Vec<Finding> {
    let ScenarioKind::Soak(soak) = &info.scenario.kind else { return Vec::new() };
    let limit = info.thresholds.memory_growth_mb;
    let limit = if limit == NO_LIMIT { MEMORY_LIMIT } else { limit };
    if tally.samples.is_empty() {
        return vec![not_watched()];
    }
    let memory = series(tally, |sample| sample.rss_mb);
    let files = series(tally, |sample| f64::from(sample.open_files));
    let warmup = default_warmup(soak.duration);
    let memory = judge_growth(&memory, soak.duration, warmup, limit);
    let files = judge_growth(&files, soak.duration, warmup, FILES_LIMIT);
    let calls = tally.counts().ended();
    told_of_memory(&memory, calls).into_iter().chain(told_of_files(&files)).collect()
}

fn not_watched() -> Finding {
    let message =
        "INDETERMINATE: memory was not watched, because the server's process is not known";
    let mut found = finding(LEAK_INDETERMINATE, Severity::Warning, message.into());
    found.hint = Some("say which it is with `pid`, or start it with `command`".into());
    found
}

/// What was seen, by the time that the load had gone on. Samples count from the start of the run; the
/// load began with the first of them. What grows with the calls stands still while the load is held,
/// and the duration of a soak leaves that out as well.
fn series(tally: &Tally, value: fn(&ProcessSample) -> f64) -> Vec<(f64, f64)> {
    let begin = tally.samples.first().map_or(Duration::ZERO, |sample| sample.at);
    let seen = tally.samples.iter().filter_map(|sample| {
        let at = load_time(&tally.pauses, begin, sample.at)?;
        Some((at.as_secs_f64(), value(sample)))
    });
    seen.collect()
}

fn told_of_memory(growth: &Growth, calls: u64) -> Option<Finding> {
    let why = growth.explain("MB");
    match growth.verdict {
        GrowthVerdict::Clean => None,
        GrowthVerdict::Leak => {
            let message = format!("LEAK_DETECTED: the server's memory grows with the calls: {why}");
            let mut found = finding(LEAK_DETECTED, Severity::Critical, message);
            let each = per_unit(growth, calls).map(|each| each * 1024.0);
            found.evidence = each.map(|each| format!("{each:.2} KB a call")).into_iter().collect();
            found = measured(found, growth).figure("kb_per_call", each);
            found.hint = Some("look for what each call adds to and nothing removes from".into());
            Some(found)
        }
        GrowthVerdict::Indeterminate => {
            let message = format!("INDETERMINATE: whether memory leaks cannot be told: {why}");
            let mut found = finding(LEAK_INDETERMINATE, Severity::Warning, message);
            found.hint = Some("run it for longer, or look more often".into());
            Some(measured(found, growth))
        }
    }
}

fn measured(found: Finding, growth: &Growth) -> Finding {
    let fit = growth.fit;
    found
        .figure("per_sec", fit.map(|fit| fit.slope))
        .figure("over_the_run", fit.map(|fit| fit.predicted))
        .figure("r2", fit.map(|fit| fit.r2))
        .figure("limit", growth.limit)
}

fn told_of_files(growth: &Growth) -> Option<Finding> {
    (growth.verdict == GrowthVerdict::Leak).then(|| {
        let message = format!("the server's open files only grow: {}", growth.explain("files"));
        measured(finding(DESCRIPTOR_LEAK, Severity::Critical, message), growth)
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Run, info};
    use super::*;
    use crate::{
        event::{Event, note},
        scenario::Scenario,
    };

    fn soak(memory: fn(u64) -> f64) -> Vec<Finding> {
        watched(120, memory, |_| 9)
    }

    fn watched(seconds: u64, memory: fn(u64) -> f64, files: fn(u64) -> u32) -> Vec<Finding> {
        let mut run = Run::default().oks(5_000);
        for second in 0..seconds {
            let (at, rss_mb, open_files) =
                (Duration::from_secs(second), memory(second), files(second));
            let sample =
                ProcessSample { at, rss_mb, pss_mb: None, cpu_pct: 1.0, threads: 1, open_files };
            run.tally.observe(&Event::Process(sample));
        }
        judge(&run.tally, &info(Scenario::soak().duration(Duration::from_secs(120))))
    }

    #[test]
    fn memory_that_only_grows_is_a_leak_and_what_fills_and_stays_is_not() {
        let found = soak(|second| 50.0 + second as f64 * 0.5);
        assert_eq!(found[0].id, LEAK_DETECTED);
        assert!(found[0].evidence[0].ends_with("KB a call"));
        assert_eq!(soak(|second| 50.0 + (second.min(20)) as f64 * 3.0), []);
        assert_eq!(soak(|second| 50.0 + (second % 10) as f64 * 5.0), []);
    }

    #[test]
    fn files_that_only_grow_are_a_leak_and_what_was_not_seen_is_told() {
        let found = watched(120, |_| 50.0, |second| second as u32);
        assert_eq!((found.len(), found[0].id.as_str()), (1, DESCRIPTOR_LEAK));
        assert!(found[0].message.starts_with("the server's open files only grow: "));
        assert!((0.9..1.1).contains(&found[0].figures["per_sec"]), "{found:?}");
        let unseen = watched(0, |_| 0.0, |_| 0);
        assert_eq!(unseen[0].id, LEAK_INDETERMINATE);
        assert!(unseen[0].message.contains("was not watched"), "{unseen:?}");
        let few = watched(5, |second| 50.0 + second as f64 * 9.0, |_| 9);
        assert_eq!(few[0].id, LEAK_INDETERMINATE);
        assert_eq!(few[0].hint.as_deref(), Some("run it for longer, or look more often"));
    }

    /// A soak of ten minutes that was held for half an hour in the middle, with a sample every 10 s.
    fn held(memory: fn(f64) -> f64) -> Vec<Finding> {
        let (from, to) = (Duration::from_secs(300), Duration::from_secs(2_100));
        let mut run = Run::default().oks(5_000);
        run.tally.observe(&Event::Scenario {
            at: to,
            name: note::PAUSED.into(),
            detail: "by hand".into(),
            took: Some(to - from),
        });
        for at in (0..240).map(|n| Duration::from_secs(n * 10)) {
            let went_on = at.min(from) + at.saturating_sub(to);
            let rss_mb = memory(went_on.as_secs_f64());
            let sample =
                ProcessSample { at, rss_mb, pss_mb: None, cpu_pct: 1.0, threads: 1, open_files: 9 };
            run.tally.observe(&Event::Process(sample));
        }
        judge(&run.tally, &info(Scenario::soak().duration(Duration::from_secs(600))))
    }

    #[test]
    fn a_pause_in_the_middle_hides_no_leak_and_makes_none() {
        let found = held(|seconds| 50.0 + seconds / 15.0);
        assert_eq!(found[0].id, LEAK_DETECTED, "{found:?}");
        assert!((39.9..40.1).contains(&found[0].figures["over_the_run"]), "{found:?}");
        assert_eq!(held(|_| 50.0), []);
    }

    #[test]
    fn a_leak_is_told_for_each_call() {
        // Half a megabyte a second over 120 s, by 5000 calls: 60 · 1024 / 5000 KB.
        let found = soak(|second| 50.0 + second as f64 * 0.5).remove(0);
        assert_eq!(found.evidence, ["12.29 KB a call"]);
        let figures = ["kb_per_call", "per_sec", "over_the_run", "r2", "limit"];
        assert_eq!(figures.map(|name| found.figures[name]), [12.288, 0.5, 60.0, 1.0, 10.0]);
    }

    #[test]
    fn the_warm_up_counts_from_the_first_sample_and_the_limit_is_the_one_set() {
        let mut run = Run::default().oks(50);
        for second in 60..100 {
            let at = Duration::from_secs(second);
            let rss_mb = second as f64;
            let sample =
                ProcessSample { at, rss_mb, pss_mb: None, cpu_pct: 1.0, threads: 1, open_files: 9 };
            run.tally.observe(&Event::Process(sample));
        }
        let mut soak = info(Scenario::soak().duration(Duration::from_secs(120)));
        let found = judge(&run.tally, &soak);
        assert!(found[0].message.contains(": 10 samples after the warm-up"), "{found:?}");
        soak.thresholds.memory_growth_mb = 77.0;
        assert_eq!(judge(&run.tally, &soak)[0].figures["limit"], 77.0);
    }
}
