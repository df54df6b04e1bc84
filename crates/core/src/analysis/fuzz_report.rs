//! What the fuzzer found: crashes, hangs, answers that the protocol does not allow, and bad input
//! that was taken as good.

use super::{finding, plural};
use crate::{
    event::note,
    fuzz::{Class, FailedCase, FuzzStats},
    report::{Finding, RunInfo, Severity},
    tally::Tally,
};

/// A case ended the server.
pub(crate) const FUZZ_CRASH: &str = "fuzz_crash";
/// After a case the server answered no more, or a proper request was never answered.
pub(crate) const FUZZ_HANG: &str = "fuzz_hang";
/// What came back is not what the protocol allows.
pub(crate) const FUZZ_VIOLATION: &str = "fuzz_violation";
/// Arguments that the schema forbids were taken as good.
pub(crate) const FUZZ_ACCEPTED: &str = "fuzz_accepted";
/// Cases that took long.
pub(crate) const FUZZ_SLOW: &str = "fuzz_slow";
/// Not all cases were sent.
pub(crate) const FUZZ_UNFINISHED: &str = "fuzz_unfinished";

/// The analyses of a fuzzed run. Others speak of calls that were meant to succeed, or of time.
pub(super) const APPLY: &[&str] =
    &["fuzz_report", "frames", "aborted", "revision", "shutdown", "validity", "accounting", "ours"];

/// What the fuzzer noted at its end; nothing for another scenario.
pub(crate) fn stats(tally: &Tally) -> Option<FuzzStats> {
    let told = tally.notes.get(note::FUZZ_REPORT)?;
    told.examples.iter().find_map(|text| serde_json::from_str(text).ok())
}

pub(super) fn judge(tally: &Tally, info: &RunInfo) -> Vec<Finding> {
    let Some(stats) = stats(tally) else { return Vec::new() };
    let kinds = [
        (Class::Crash, FUZZ_CRASH, Severity::Critical, "ended the server"),
        (Class::Hang, FUZZ_HANG, Severity::Critical, "left without an answer that was due"),
        (
            Class::ProtocolViolation,
            FUZZ_VIOLATION,
            Severity::Critical,
            "answered against the protocol",
        ),
        (
            Class::Accepted,
            FUZZ_ACCEPTED,
            Severity::Warning,
            "taken as good, against the tool's schema",
        ),
        (Class::Slow, FUZZ_SLOW, Severity::Info, "slow to be answered"),
    ];
    let mut found: Vec<Finding> = kinds
        .into_iter()
        .filter(|(class, ..)| stats.of(*class) > 0)
        .map(|(class, id, severity, what)| {
            let count = stats.of(class);
            let message = format!("{} of {}: {what}", count, plural(stats.cases, "case"));
            let mut told = finding(id, severity, message);
            let cases = stats.failures.iter().chain(&stats.accepted);
            let cases: Vec<&FailedCase> = cases.filter(|case| case.class == class).collect();
            told.evidence = cases.iter().map(|case| evidence(case)).collect();
            told.figures.insert("cases".into(), count as f64);
            told.hint = hint(class);
            let file = cases.iter().find_map(|case| case.file.as_deref());
            told.reproduce = file.zip(info.run_dir.as_ref()).map(|(file, dir)| {
                let path = dir.join(file).to_string_lossy().into_owned();
                format!("mcp-loadtest replay {}", crate::server::shell_word(&path))
            });
            told
        })
        .collect();
    if let Some(why) = &stats.ended_early {
        let message = format!("{} of {} sent: {why}", stats.cases, plural(stats.planned, "case"));
        found.push(finding(FUZZ_UNFINISHED, Severity::Info, message));
    }
    found
}

fn evidence(case: &FailedCase) -> String {
    let again =
        if case.repeats || case.class == Class::Accepted { "" } else { " (not seen again alone)" };
    format!("{}: {}; {}{again}", case.id, case.label, case.seen)
}

fn hint(class: Class) -> Option<String> {
    let hint = match class {
        Class::Accepted => "check arguments against `inputSchema` before the tool sees them",
        Class::Slow => return None,
        _ => "`mcp-loadtest replay` sends a saved case again and says whether it still shows",
    };
    Some(hint.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Run, info};
    use super::*;
    use crate::{fuzz::Payload, report, scenario::Scenario};

    fn run(classes: &[Class]) -> Run {
        let mut stats = FuzzStats { planned: classes.len() as u64, ..FuzzStats::default() };
        for class in classes {
            stats.count(Payload::Arguments, *class);
            if class.is_failure() {
                stats.failures.push(FailedCase {
                    id: "arguments-echo-3".into(),
                    class: *class,
                    label: "NUL".into(),
                    seen: "exit code 1".into(),
                    repeats: true,
                    file: Some("cases/arguments-echo-3.json".into()),
                });
            }
        }
        let told = serde_json::to_string(&stats).unwrap();
        Run::default().oks(classes.len() as u64).noted(note::FUZZ_REPORT, told.leak())
    }

    #[test]
    fn each_class_has_its_finding_and_its_weight() {
        let fuzzer = || info(Scenario::fuzzer());
        let table: &[(Class, Option<(&str, Severity)>)] = &[
            (Class::Clean, None),
            (Class::Accepted, Some((FUZZ_ACCEPTED, Severity::Warning))),
            (Class::Slow, Some((FUZZ_SLOW, Severity::Info))),
            (Class::ProtocolViolation, Some((FUZZ_VIOLATION, Severity::Critical))),
            (Class::Hang, Some((FUZZ_HANG, Severity::Critical))),
            (Class::Crash, Some((FUZZ_CRASH, Severity::Critical))),
        ];
        for (class, expected) in table {
            let found = judge(&run(&[Class::Clean, *class]).tally, &fuzzer());
            let first = found.first().map(|finding| (finding.id.as_str(), finding.severity));
            assert_eq!(first, *expected, "{class:?}");
        }
        assert!(judge(&Run::default().oks(3).tally, &fuzzer()).is_empty());
    }

    #[test]
    fn a_crash_says_how_to_see_it_again_and_counts_are_kept_in_the_report() {
        let mut about = info(Scenario::fuzzer());
        about.run_dir = Some("/runs/x y".into());
        let built = report::build(about, &run(&[Class::Clean, Class::Crash]).tally);
        let crash = built.finding(FUZZ_CRASH).unwrap();
        let again = "mcp-loadtest replay '/runs/x y/cases/arguments-echo-3.json'";
        assert_eq!(crash.reproduce.as_deref(), Some(again));
        assert_eq!(built.verdict, report::Verdict::Critical);
        assert_eq!(built.fuzz.unwrap().of(Class::Crash), 1);
    }

    #[test]
    fn evidence_and_advice_are_those_of_the_class() {
        let case = |class, repeats| FailedCase {
            id: "arguments-echo-3".into(),
            class,
            label: "NUL".into(),
            seen: "taken".into(),
            repeats,
            file: None,
        };
        let mut stats =
            FuzzStats { planned: 9, ended_early: Some("time".into()), ..FuzzStats::default() };
        for class in [Class::Crash, Class::Accepted, Class::Slow] {
            stats.count(Payload::Arguments, class);
        }
        stats.failures = vec![case(Class::Crash, false), case(Class::Crash, true)];
        stats.accepted = vec![case(Class::Accepted, false)];
        let told = serde_json::to_string(&stats).unwrap();
        let run = Run::default().oks(3).noted(note::FUZZ_REPORT, told.leak());
        let found = judge(&run.tally, &info(Scenario::fuzzer()));
        let [crash, accepted, slow, unfinished] = &found[..] else { panic!("{found:?}") };
        assert_eq!(crash.evidence[0], "arguments-echo-3: NUL; taken (not seen again alone)");
        assert_eq!(crash.evidence[1..], ["arguments-echo-3: NUL; taken"]);
        assert_eq!(accepted.evidence, ["arguments-echo-3: NUL; taken"]);
        assert_eq!(slow.evidence, [""; 0]);
        let hints = [crash, accepted, slow].map(|one| one.hint.as_deref().unwrap_or_default());
        assert!(hints[0].contains("replay") && hints[1].contains("inputSchema"), "{hints:?}");
        assert_eq!((hints[2], crash.figures["cases"]), ("", 1.0));
        assert_eq!(unfinished.message, "3 of 9 cases sent: time");
    }
}
