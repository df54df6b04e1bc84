//! Commands that look at what is there: the machine, and runs that were saved.

use super::Flag;
use crate::effects::{
    bench::Bench,
    proof::{
        Proof::{OfServers, Shows, Tested},
        tried,
    },
};

const EXPLAINED: &[&str] = &["cli commands::every_command_explains_itself"];

pub(super) const DOCTOR: &[Flag] = &[
    Flag("--server", "'unclosed", OfServers),
    Flag("--url", "ftp://x", OfServers),
    Flag("--transport", "carrier-pigeon", OfServers),
    Flag("--header", "nonsense", OfServers),
    Flag("--ca-cert", "", OfServers),
    Flag("--pid", "0", OfServers),
    Flag("--name", "", OfServers),
    Flag("--mcp-config", "", OfServers),
    Flag("--input", "", OfServers),
    Flag("--env", "nonsense", OfServers),
    Flag("--inherit-env", "", OfServers),
    Flag("--working-dir", "", OfServers),
    Flag("--protocol", "2025-11-24", OfServers),
    Flag("--strict-protocol", "", OfServers),
    Flag("--startup-timeout", "5", OfServers),
    Flag("--shutdown-timeout", "5", OfServers),
    Flag("--max-message", "5 apples", OfServers),
    Flag("--tee-stderr", "", OfServers),
    Flag(
        "--output-dir",
        "",
        Shows(&["doctor", "--only", "disk"], &["--output-dir", "/proc/none"], "/proc"),
    ),
    Flag(
        "--only",
        "clok",
        Shows(&["doctor", "--only", "clock"], &["--only", "loopback"], "loopback"),
    ),
    Flag(
        "--fix",
        "",
        Tested(&["cli doctor::a_killed_run_is_found_and_fix_removes_only_what_recorded_nothing"]),
    ),
    Flag(
        "--json",
        "",
        Shows(&["doctor", "--only", "clock"], &["--json"], "mcp-loadtest/doctor/v1"),
    ),
    Flag("--explain", "", Tested(EXPLAINED)),
];

const TOLD_AGAIN: &[&str] = &[
    "cli commands::json_prints_the_summary_alone",
    "cli commands::a_trace_with_holes_is_refused_and_the_run_is_still_told_in_every_form",
];
const REPORTS: &str = "cli effects::flags::judges::a_saved_run_is_told_as_asked_for";
const COMPARES: &str = "cli effects::flags::judges::saved_runs_are_compared_as_asked_for";
const WORSE: &str = "core compare::tests::a_slower_server_is_a_regression_and_a_faster_one_passes";

pub(super) const REPORT: &[Flag] = &[
    Flag("DIR", ".", Tested(&["cli bad_input::a_directory_that_is_no_run_is_refused", REPORTS])),
    Flag("--from-trace", "", Tested(TOLD_AGAIN)),
    Flag("--format", "pdf", Tested(&[REPORTS])),
    Flag("--json", "", Tested(&[REPORTS])),
    Flag(
        "--audit",
        "mysql://x",
        Tested(&["cli faults::a_saved_run_shows_when_faults_were_at_work"]),
    ),
    Flag("--github", "", Tested(&[REPORTS])),
    Flag("--code-quality", "", Tested(&[REPORTS])),
    Flag("--junit", "", Tested(&[REPORTS])),
    Flag("--explain", "", Tested(EXPLAINED)),
];

pub(super) const COMPARE: &[Flag] = &[
    Flag("BASE", "", Tested(&[COMPARES])),
    Flag("CURRENT", "", Tested(&[COMPARES])),
    Flag("--p50", "ten", Tested(&[COMPARES, WORSE])),
    Flag("--p95", "ten", Tested(&[COMPARES, WORSE])),
    Flag("--p99", "ten", Tested(&["cli ci::a_regression_is_annotated", COMPARES])),
    Flag(
        "--error-rate",
        "ten",
        Tested(&[COMPARES, "core compare::tests::more_errors_are_a_regression"]),
    ),
    Flag("--throughput", "ten", Tested(&["cli ci::a_regression_is_annotated", COMPARES])),
    Flag(
        "--allow-deadlocks",
        "",
        Tested(&[
            COMPARES,
            "core compare::tests::a_new_deadlock_is_a_regression_unless_it_is_allowed",
        ]),
    ),
    Flag(
        "--undecided",
        "maybe",
        Tested(&["cli compare::a_run_is_gated_by_the_last_one_that_passed"]),
    ),
    Flag("--json", "", Tested(&["cli compare::a_run_is_gated_by_the_last_one_that_passed"])),
    Flag("--markdown", "", Tested(&[COMPARES])),
    Flag("--html", "", Tested(&[COMPARES])),
    Flag("--github", "", Tested(&["cli ci::a_regression_is_annotated"])),
    Flag("--code-quality", "", Tested(&["cli ci::a_regression_is_annotated"])),
    Flag("--explain", "", Tested(EXPLAINED)),
];

pub(super) const RUNS: &[Flag] = &[
    Flag("DIR", "missing", Tested(&[REPORTS])),
    Flag("--limit", "0", Tested(&[REPORTS])),
    Flag("--json", "", Tested(&[REPORTS])),
    Flag("--explain", "", Tested(EXPLAINED)),
];

#[test]
fn a_doctor_shows_its_flags() {
    tried("doctor", DOCTOR);
}

const BURST: &[&str] =
    &["run", "-s", "{mock}", "--scenario", "deadlock_probe", "--concurrent", "3"];

/// A bench with a run in `name`, and the directory of the run.
fn with_run(bench: &Bench, name: &str, more: &[&str]) -> String {
    bench.transcript(&[BURST, &["-o", name], more].concat());
    let run = std::fs::read_dir(bench.path().join(name)).unwrap().next().unwrap().unwrap();
    format!("{name}/{}", run.file_name().to_string_lossy())
}

/// What a command prints, without what lies about.
fn printed(bench: &Bench, words: &[&str]) -> String {
    let told = bench.transcript(words);
    told.split("\nfile ").next().unwrap().to_owned()
}

#[test]
fn a_saved_run_is_told_as_asked_for() {
    let bench = Bench::new();
    let run = with_run(&bench, "runs", &["--min-rps", "1000000000"]);
    let report = |more: &[&str]| printed(&bench, &[&["report", run.as_str()], more].concat());
    assert!(report(&[]).contains("Scenario   DeadlockProbe"), "{}", report(&[]));
    for (form, sign) in [("html", "<!doctype html>"), ("markdown", "\n# "), ("hlog", "#[")] {
        let page = report(&["--format", form]).to_lowercase();
        assert!(page.contains(sign) && !report(&[]).contains(sign), "{form}: {page}");
    }
    assert!(report(&["--json"]).contains("mcp-loadtest/summary/v1"));
    assert!(report(&["--github"]).contains("::error") && !report(&[]).contains("::error"));
    report(&["--code-quality", "quality.json"]);
    assert!(bench.path().join("quality.json").exists());
    report(&["--junit", "j.xml"]);
    let xml = std::fs::read_to_string(bench.path().join("j.xml")).unwrap();
    assert!(xml.contains("<failure"), "{xml}");

    with_run(&bench, "elsewhere", &[]);
    bench.transcript(&[BURST, &["-o", "elsewhere"]].concat());
    let runs = |more: &[&str]| printed(&bench, &[&["runs"], more].concat());
    assert_eq!(runs(&["--json"]).matches("\"run_id\"").count(), 1);
    assert_eq!(runs(&["elsewhere", "--json"]).matches("\"run_id\"").count(), 2);
    assert_eq!(runs(&["elsewhere", "--json", "--limit", "1"]).matches("\"run_id\"").count(), 1);
    assert!(!runs(&["elsewhere"]).contains("\"run_id\""));
}

#[test]
fn saved_runs_are_compared_as_asked_for() {
    let bench = Bench::new();
    let (base, other) = (with_run(&bench, "a", &[]), with_run(&bench, "b", &[]));
    let compare = |more: &[&str]| {
        let told = printed(&bench, &[&["compare", &base, &other, "--json"], more].concat());
        let document = &told[told.find('{').unwrap()..=told.rfind('}').unwrap()];
        serde_json::from_str::<serde_json::Value>(document).unwrap()["policy"].clone()
    };
    let usual = compare(&[]);
    for flags in [
        &["--p50", "11%"][..],
        &["--p95", "12%"],
        &["--p99", "off"],
        &["--error-rate", "13%"],
        &["--throughput", "14%"],
        &["--allow-deadlocks"],
        &["--undecided", "fail"],
    ] {
        assert_ne!(compare(flags), usual, "{flags:?}");
    }
    printed(&bench, &["compare", &base, &other, "--markdown", "c.md", "--html", "c.html"]);
    let page = |name: &str| std::fs::read_to_string(bench.path().join(name)).unwrap();
    assert!(page("c.md").contains("|") && page("c.html").contains("<html"));
    let third = with_run(&bench, "c", &[]);
    let several = printed(&bench, &["compare", &base, &other, &third, "--html", "c.html"]);
    assert!(several.contains("current 2 against base"), "{several}");
    assert!(page("c.html").contains("current 2"), "{}", page("c.html"));
    let same = printed(&bench, &["compare", &base, "missing"]);
    assert!(same.contains("missing is not a run directory"), "{same}");
}
