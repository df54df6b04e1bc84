//! Known subjects and known faults: the verdict of each, and whether it passes the gate.

use super::Bench;

const FAULTS: [(&str, &str); 5] = [
    ("hang", "kind: hang"),
    ("slow", "{kind: slow, delay_ms: 3000}"),
    ("recover_after", "{kind: recover_after, failures: 1}"),
    ("error", "kind: error"),
    ("malformed", "kind: malformed"),
];

/// The model; then for each fault its verdict, with `!` where the gate must not pass.
const TABLE: [(&str, [&str; 5]); 9] = [
    (
        "careful",
        [
            "degraded_honestly",
            "degraded_honestly",
            "degraded_honestly",
            "degraded_honestly",
            "degraded_honestly",
        ],
    ),
    (
        // Two budgets of 3 s are more than the 5 s that the recovery may take; errors cost no time.
        "retry-once",
        [
            "degraded_honestly!",
            "degraded_honestly!",
            "recovered",
            "degraded_honestly",
            "degraded_honestly!",
        ],
    ),
    ("fallback", ["recovered"; 5]),
    ("fabricator", ["fabricated!"; 5]),
    ("smooth-talker", ["fabricated!"; 5]),
    ("giver-up", ["gave_up!"; 5]),
    ("looper", ["looped!"; 5]),
    ("never-calls", ["never_engaged!"; 5]),
    ("empty-answer", ["gave_up!"; 5]),
];

fn suite() -> String {
    let mut text = "servers:\n  api:\n    mock:\n      tools:\n        - {name: search, response: \
        'Latest incident: INC-7731'}\n        - {name: cache, response: 'From the cache: INC-7700'}\n\
        faults:\n"
        .to_owned();
    for (name, fault) in FAULTS {
        let fault = fault.trim_matches(['{', '}']);
        text.push_str(&format!("  - {{name: {name}, target: {{tool: search}}, {fault}}}\n"));
    }
    text.push_str("agents:\n");
    for (model, _) in TABLE {
        for (fault, _) in FAULTS {
            text.push_str(&format!(
                "  - name: {model} x {fault}\n    model: scripted:{model}\n    servers: [api]\n    \
                 inject: [{fault}]\n    prompt: Search for the latest incident report.\n    recovery: \
                 {{max_detection_ms: 3000, max_recovery_ms: 5000, require_clean_timeout: true, \
                 fallback: cache}}\n"
            ));
        }
    }
    text
}

#[test]
fn every_subject_gets_its_verdict_under_every_fault() {
    let bench = Bench::new(&suite());
    let (report, code) = bench.report(&[]);
    assert_eq!(code, 1);
    let mut tests = report["tests"].as_array().unwrap().iter();
    for (model, verdicts) in TABLE {
        for ((fault, _), wanted) in FAULTS.iter().zip(verdicts) {
            let test = tests.next().unwrap();
            let verdict = test["recovery"]["verdict"].as_str().unwrap();
            let mark = if test["outcome"] == "passed" { "" } else { "!" };
            assert_eq!(format!("{verdict}{mark}"), wanted, "{model} x {fault}: {test:#}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_report() {
    let bench = Bench::new(&suite());
    let redacted = || {
        let text = bench.test(&["--json", "--seed", "7"]).out;
        let lines = text.lines().filter(|line| !line.contains("\"took_ms\""));
        lines.collect::<Vec<_>>().join("\n")
    };
    assert_eq!(redacted(), redacted());
}
