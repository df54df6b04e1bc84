//! Commands that make load: `run`, `deadlock-probe`, `demo`.

use super::Flag;
use crate::effects::{
    bench::Bench,
    proof::{
        Proof::{Hides, OfServers, Pair, Shows, Tested},
        tried,
    },
};

/// A burst of three calls, and five after it.
const BURST: &[&str] =
    &["run", "-s", "{mock}", "--scenario", "deadlock_probe", "--concurrent", "3", "--json"];
/// The same where the server writes down what it hears.
const HEARD: &[&str] = &[
    "run",
    "--url",
    "HTTP",
    "--scenario",
    "deadlock_probe",
    "--concurrent",
    "1",
    "--steady-calls",
    "0",
];
const SECOND: &[&str] = &["run", "-s", "{mock}", "--tool", "echo", "--duration", "1s", "--json"];
const EXPLAINED: &[&str] = &["cli commands::every_command_explains_itself"];
const TURNS: &[&str] = &["cli compare::several_servers_are_tested_in_turns"];
const ANNOTATED: &[&str] = &["cli ci::a_run_that_fails_is_annotated_and_one_that_passes_is_not"];
const GATED: &[&str] = &["cli compare::a_run_is_gated_by_the_last_one_that_passed"];
/// That a flag sets its key; the other test shows what the key does.
const SETS: &str = "cli effects::flags::load::flags_of_a_scenario_set_their_keys";
const LIMITS: &str = "cli effects::flags::load::limits_of_a_comparison_set_their_keys";

pub(super) const DEMO: &[Flag] = &[
    Flag(
        "--output-dir",
        "",
        Shows(&["demo", "--duration", "1s"], &["--output-dir", "other"], "file other/"),
    ),
    Flag("--duration", "0s", Tested(&["cli commands::the_demo_comes_out_as_it_must"])),
    Flag("--quiet", "", Tested(&["cli live::quiet::progress_is_shown_unless_it_is_not_wanted"])),
    Flag("--explain", "", Tested(EXPLAINED)),
];

const OWN_BURST: &[&str] = &["deadlock-probe", "-s", "{mock}", "--json"];
const HANGING: &[&str] = &[
    "deadlock-probe",
    "-s",
    "{mock} --fault slow:900",
    "--concurrent",
    "1",
    "--steady-calls",
    "0",
    "--json",
];
const STUCK: &[&str] =
    &["deadlock-probe", "-s", "{mock} --fault hang", "--hang-threshold", "200ms", "--json"];

pub(super) const DEADLOCK_PROBE: &[Flag] = &[
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
        "--tool",
        "",
        Shows(&["deadlock-probe", "--url", "HTTP"], &["--tool", "lorem"], r#""tool":"lorem""#),
    ),
    Flag(
        "--args",
        "[1]",
        Shows(
            &["deadlock-probe", "--url", "HTTP", "--tool", "echo"],
            &["--args", r#"{"message":"from-a-flag"}"#],
            "from-a-flag",
        ),
    ),
    Flag("--concurrent", "many", Shows(OWN_BURST, &["--concurrent", "3"], r#""requests": 8,"#)),
    Flag(
        "--hang-threshold",
        "5",
        Shows(HANGING, &["--hang-threshold", "100ms"], r#""hang_count": 1"#),
    ),
    Flag(
        "--grace-period",
        "5",
        Shows(
            &[
                "deadlock-probe",
                "-s",
                "{mock} --fault slow:900",
                "--hang-threshold",
                "50ms",
                "--json",
            ],
            &["--grace-period", "50ms"],
            "DEADLOCK DETECTED",
        ),
    ),
    Flag("--sessions", "many", Shows(OWN_BURST, &["--sessions", "2"], r#""session":1,"#)),
    Flag(
        "--bail-early",
        "",
        Tested(&["engine library::a_probe_that_bails_early_still_accounts_for_every_call", SETS]),
    ),
    Flag(
        "--steady-calls",
        "many",
        Shows(OWN_BURST, &["--steady-calls", "1"], r#""requests": 21,"#),
    ),
    Flag("--output-dir", "", Shows(OWN_BURST, &["--output-dir", "other"], "file other/")),
    Flag("--github", "", Shows(STUCK, &["--grace-period", "200ms", "--github"], "::error")),
    Flag("--junit", "", Shows(OWN_BURST, &["--junit", "j.xml"], "<testsuite")),
    Flag(
        "--code-quality",
        "",
        Shows(OWN_BURST, &["--code-quality", "quality.json"], "file quality.json"),
    ),
    Flag(
        "--json",
        "",
        Shows(
            &["deadlock-probe", "-s", "{mock}"],
            &["--json"],
            "exit 0
{
",
        ),
    ),
    Flag("--quiet", "", Tested(&["cli live::quiet::progress_is_shown_unless_it_is_not_wanted"])),
    Flag("--explain", "", Tested(EXPLAINED)),
];

pub(super) const RUN: &[Flag] = &[
    Flag(
        "--config",
        "",
        Shows(&["run", "--json"], &["--config", "burst.toml"], r#""requests": 8,"#),
    ),
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
    Flag("--label", "a", Tested(TURNS)),
    Flag("--repeat", "0", Tested(TURNS)),
    Flag(
        "--scenario",
        "sustaind",
        Shows(
            &["run", "-s", "{mock}", "--iterations", "2", "--json"],
            &["--scenario", "cold_start"],
            r#""scenario": "cold_start""#,
        ),
    ),
    Flag(
        "--concurrent",
        "many",
        Shows(
            &["run", "-s", "{mock}", "--scenario", "race_check", "--rounds", "1", "--json"],
            &["--concurrent", "3"],
            r#""requests": 3,"#,
        ),
    ),
    Flag("--rate", "fast", Shows(SECOND, &["--rate", "20/s"], r#""requests": 20,"#)),
    Flag(
        "--max-in-flight",
        "many",
        Shows(
            &[
                "run",
                "-s",
                "{mock} --fault slow:300",
                "--tool",
                "echo",
                "--rate",
                "50/s",
                "--duration",
                "1s",
                "--json",
            ],
            &["--max-in-flight", "1"],
            "load_not_offered",
        ),
    ),
    Flag(
        "--rate-limit",
        "many",
        Shows(SECOND, &["--concurrent", "2", "--rate-limit", "1"], r#""requests": 1,"#),
    ),
    Flag(
        "--think-time",
        "5",
        Shows(SECOND, &["--concurrent", "1", "--think-time", "30s"], r#""requests": 1,"#),
    ),
    Flag(
        "--duration",
        "5",
        Shows(
            &["run", "--config", "rate.toml", "--json"],
            &["--duration", "2s"],
            r#""requests": 20,"#,
        ),
    ),
    Flag("--sessions", "many", Shows(BURST, &["--sessions", "2"], r#""session":1,"#)),
    Flag("--tool", "", Shows(HEARD, &["--tool", "lorem"], r#""tool":"lorem""#)),
    Flag(
        "--args",
        "[1]",
        Shows(HEARD, &["--tool", "echo", "--args", r#"{"message":"from-a-flag"}"#], "from-a-flag"),
    ),
    Flag("--args-file", "", Shows(HEARD, &["--tool", "echo", "--args-file", "rows.csv"], "row-0")),
    Flag(
        "--args-order",
        "sorted",
        Hides(
            &[
                "run",
                "--url",
                "HTTP",
                "--scenario",
                "deadlock_probe",
                "--concurrent",
                "1",
                "--steady-calls",
                "0",
                "--tool",
                "echo",
                "--args-file",
                "rows.csv",
            ],
            &["--args-order", "random"],
            "row-0",
        ),
    ),
    Flag(
        "--generate",
        "",
        Tested(&[
            "core arguments::source::tests::generated_arguments_satisfy_the_schema_and_differ",
            SETS,
        ]),
    ),
    Flag(
        "--ramp-from",
        "many",
        Pair(
            &[
                "run",
                "-s",
                "{mock}",
                "--scenario",
                "ramp",
                "--duration",
                "1s",
                "--ramp-to",
                "3",
                "--ramp-step",
                "2",
            ],
            &[
                "run",
                "-s",
                "{mock}",
                "--scenario",
                "ramp",
                "--duration",
                "1s",
                "--ramp-from",
                "2",
                "--ramp-to",
                "3",
                "--ramp-step",
                "1",
            ],
            "
2 concurrent ",
        ),
    ),
    Flag(
        "--ramp-to",
        "many",
        Pair(
            &[
                "run",
                "-s",
                "{mock}",
                "--scenario",
                "ramp",
                "--duration",
                "1s",
                "--ramp-to",
                "3",
                "--ramp-step",
                "1",
            ],
            &[
                "run",
                "-s",
                "{mock}",
                "--scenario",
                "ramp",
                "--duration",
                "1s",
                "--ramp-to",
                "4",
                "--ramp-step",
                "1",
            ],
            "
4 concurrent ",
        ),
    ),
    Flag(
        "--ramp-step",
        "many",
        Pair(
            &[
                "run",
                "-s",
                "{mock}",
                "--scenario",
                "ramp",
                "--duration",
                "1s",
                "--ramp-to",
                "3",
                "--ramp-step",
                "2",
            ],
            &[
                "run",
                "-s",
                "{mock}",
                "--scenario",
                "ramp",
                "--duration",
                "1s",
                "--ramp-to",
                "3",
                "--ramp-step",
                "1",
            ],
            "
2 concurrent ",
        ),
    ),
    Flag("--spike-at", "5", Tested(&[SPIKE, SETS])),
    Flag("--spike-duration", "5", Tested(&[SPIKE, SETS])),
    Flag("--spike-multiplier", "many", Tested(&[SPIKE, SETS])),
    Flag(
        "--leak-check-interval",
        "5",
        Tested(&["engine bars::growth::a_soak_finds_a_leak_and_how_fast_it_is", SETS]),
    ),
    Flag(
        "--latency-drift",
        "many",
        Tested(&[
            "core analysis::drift::tests::calls_that_get_slower_are_told_and_steady_ones_are_not",
            SETS,
        ]),
    ),
    Flag(
        "--pattern",
        "x",
        Hides(
            &[
                "run",
                "--url",
                "HTTP",
                "--scenario",
                "pattern",
                "--concurrent",
                "1",
                "--duration",
                "1s",
            ],
            &["--pattern", "read_then_write"],
            r#""phase":"load","method":"tools/list""#,
        ),
    ),
    Flag(
        "--rounds",
        "many",
        Shows(
            &["run", "-s", "{mock}", "--scenario", "race_check", "--concurrent", "3", "--json"],
            &["--rounds", "2"],
            r#""requests": 6,"#,
        ),
    ),
    Flag("--slow-tool", "", Shows(MIX, &["--slow-tool", "lorem"], "\nlorem ")),
    Flag(
        "--slow-args",
        "[1]",
        Shows(MIX, &["--slow-tool", "echo", "--slow-args", r#"{"message":"slowly"}"#], "slowly"),
    ),
    Flag(
        "--slow-share",
        "some",
        Tested(&["engine bars::blocking::a_mix_tells_a_serial_server_from_a_parallel_one", SETS]),
    ),
    Flag(
        "--drops",
        "many",
        Shows(
            &["run", "-s", "{mock}", "--scenario", "reconnect", "--concurrent", "3", "--json"],
            &["--drops", "2"],
            r#""requests": 6,"#,
        ),
    ),
    Flag("--rate-from", "fast", Tested(&[SEARCH, SETS])),
    Flag("--rate-to", "fast", Tested(&[SEARCH, SETS])),
    Flag("--hold", "5", Tested(&[SEARCH, SETS])),
    Flag("--precision", "fine", Tested(&[SEARCH, SETS])),
    Flag(
        "--iterations",
        "many",
        Shows(
            &["run", "-s", "{mock}", "--scenario", "cold_start", "--json"],
            &["--iterations", "3"],
            r#""requests": 2,"#,
        ),
    ),
    Flag(
        "--payloads",
        "raw_byte",
        Tested(&["cli fuzzer::bad_servers_are_caught_each_for_what_it_does"]),
    ),
    Flag(
        "--warmup",
        "maybe",
        Shows(
            &["run", "-s", "{mock}", "--scenario", "cold_start", "--iterations", "3", "--json"],
            &["--warmup", "false"],
            r#""requests": 3,"#,
        ),
    ),
    Flag(
        "--hang-threshold",
        "5",
        Shows(LATE, &["--hang-threshold", "100ms"], r#""hang_count": 1"#),
    ),
    Flag(
        "--grace-period",
        "5",
        Shows(LATE, &["--hang-threshold", "100ms", "--grace-period", "100ms"], "DEADLOCK DETECTED"),
    ),
    Flag(
        "--bail-early",
        "",
        Tested(&["engine library::a_probe_that_bails_early_still_accounts_for_every_call", SETS]),
    ),
    Flag("--steady-calls", "many", Shows(BURST, &["--steady-calls", "1"], r#""requests": 4,"#)),
    Flag("--timeout", "5", Shows(LATE, &["--timeout", "100ms"], r#""errors": 1,"#)),
    Flag(
        "--abort-on-fail",
        "",
        Tested(&["engine bars::gates::a_run_ends_as_soon_as_a_limit_is_not_kept", SETS]),
    ),
    Flag(
        "--strict",
        "",
        Tested(&["cli strict::results_that_break_their_schema_fail_a_strict_run_and_no_other"]),
    ),
    Flag("--seed", "x", Shows(BURST, &["--seed", "7"], r#""seed": 7"#)),
    Flag(
        "--p50-latency",
        "5",
        Shows(BURST, &["--p50-latency", "1us"], r#""metric": "p50_latency""#),
    ),
    Flag(
        "--p95-latency",
        "5",
        Shows(BURST, &["--p95-latency", "1us"], r#""metric": "p95_latency""#),
    ),
    Flag(
        "--p99-latency",
        "5",
        Shows(BURST, &["--p99-latency", "1us"], r#""metric": "p99_latency""#),
    ),
    Flag(
        "--p999-latency",
        "5",
        Shows(BURST, &["--p999-latency", "1us"], r#""metric": "p999_latency""#),
    ),
    Flag(
        "--error-rate",
        "some",
        Shows(
            &["run", "-s", "{mock} --fault tool-error", "--scenario", "deadlock_probe", "--json"],
            &["--error-rate", "0.5"],
            r#""metric": "error_rate""#,
        ),
    ),
    Flag("--hang-timeout", "5", Shows(RACE, &["--hang-timeout", "100ms"], r#""hang_count": 2"#)),
    Flag("--min-rps", "many", Shows(BURST, &["--min-rps", "1000000000"], r#""metric": "min_rps""#)),
    Flag(
        "--memory-growth-mb",
        "many",
        Tested(&[
            "core analysis::leak::tests::memory_that_only_grows_is_a_leak_and_what_fills_and_stays_is_not",
            "cli bad_input::bad_values_are_refused_before_anything_starts",
            SETS,
        ]),
    ),
    Flag("--compare-p50", "ten", Tested(&[LIMITS, WORSE])),
    Flag("--compare-p95", "ten", Tested(&[LIMITS, WORSE])),
    Flag("--compare-p99", "ten", Tested(GATED)),
    Flag(
        "--compare-error-rate",
        "ten",
        Tested(&[LIMITS, "core compare::tests::more_errors_are_a_regression"]),
    ),
    Flag("--compare-throughput", "ten", Tested(GATED)),
    Flag(
        "--compare-allow-deadlocks",
        "",
        Tested(&[
            LIMITS,
            "core compare::tests::a_new_deadlock_is_a_regression_unless_it_is_allowed",
        ]),
    ),
    Flag(
        "--compare-undecided",
        "maybe",
        Tested(&[LIMITS, "core compare::tests::noise_is_undecided_and_fails_only_when_asked_to"]),
    ),
    Flag("--output-dir", "", Shows(BURST, &["--output-dir", "other"], "file other/")),
    Flag("--format", "pdf", Shows(BURST, &["--format", "hlog"], ".hlog\n")),
    Flag("--trace", "half", Hides(BURST, &["--trace", "off"], "trace.jsonl")),
    Flag("--tag", "two words", Shows(BURST, &["--tag", "v7"], r#""v7""#)),
    Flag("--baseline", "tag:", Tested(GATED)),
    Flag(
        "--threads",
        "0",
        Shows(
            &[
                "run",
                "--url",
                "HTTP",
                "--tool",
                "echo",
                "--concurrent",
                "2",
                "--duration",
                "1s",
                "--think-time",
                "20ms",
                "--trace",
                "full",
                "--format",
                "json",
            ],
            &["--threads", "2"],
            r#""worker":1,"#,
        ),
    ),
    Flag("--audit", "mysql://x", Tested(&["cli faults::a_run_shows_when_faults_were_at_work"])),
    Flag("--github", "", Tested(ANNOTATED)),
    Flag("--junit", "", Tested(&["cli effects::flags::load::a_run_is_told_to_ci_servers"])),
    Flag("--code-quality", "", Tested(ANNOTATED)),
    Flag("--json", "", Tested(&["cli commands::json_prints_the_summary_alone"])),
    Flag("--quiet", "", Tested(&["cli live::quiet::progress_is_shown_unless_it_is_not_wanted"])),
    Flag("--tui", "", Tested(&["cli live::tui::a_run_is_watched_paused_and_ended"])),
    Flag("--web", "nowhere", Tested(&["cli live::web::a_page_grows_and_ends_with_the_report"])),
    Flag("--web-remote", "", Tested(&["cli live::web::only_this_machine_can_read_it"])),
    Flag("--explain", "", Tested(EXPLAINED)),
];

const MIX: &[&str] = &[
    "run",
    "--url",
    "HTTP",
    "--scenario",
    "slow_mix",
    "--tool",
    "whoami",
    "--concurrent",
    "2",
    "--duration",
    "1s",
];
/// One call that takes a second.
const LATE: &[&str] = &[
    "run",
    "-s",
    "{mock} --fault slow:900",
    "--scenario",
    "deadlock_probe",
    "--concurrent",
    "1",
    "--steady-calls",
    "0",
    "--json",
];
const RACE: &[&str] = &[
    "run",
    "-s",
    "{mock} --fault slow:900",
    "--scenario",
    "race_check",
    "--concurrent",
    "2",
    "--rounds",
    "1",
    "--json",
];
const SPIKE: &str =
    "engine bars::blocking::a_server_that_stays_slow_after_a_burst_is_told_from_one_that_recovers";
const SEARCH: &str = "engine bars::limits::a_search_finds_what_a_semaphore_holds";
const WORSE: &str = "core compare::tests::a_slower_server_is_a_regression_and_a_faster_one_passes";

#[test]
fn a_demo_and_a_burst_show_their_flags() {
    tried("demo", DEMO);
    tried("deadlock-probe", DEADLOCK_PROBE);
}

#[test]
fn a_run_shows_the_first_half_of_its_flags() {
    tried("run", &RUN[..RUN.len() / 2]);
}

#[test]
fn a_run_shows_the_second_half_of_its_flags() {
    tried("run", &RUN[RUN.len() / 2..]);
}

#[test]
fn a_run_is_told_to_ci_servers() {
    for (limit, fails) in [("1", false), ("1000000000", true)] {
        let bench = Bench::new();
        bench.transcript(&[BURST, &["--min-rps", limit, "--junit", "j.xml"]].concat());
        let xml = std::fs::read_to_string(bench.path().join("j.xml")).unwrap();
        assert_eq!(xml.contains("<failure"), fails, "{xml}");
    }
}

/// What a file of a run in `bench` says.
fn saved(words: &[&str]) -> String {
    let bench = Bench::new();
    let told = bench.transcript(words);
    let runs = std::fs::read_dir(bench.path().join("runs"));
    let run = runs.unwrap_or_else(|_| panic!("{told}")).next().unwrap().unwrap().path();
    std::fs::read_to_string(run.join("config.toml")).unwrap()
}

/// A scenario, what it needs to end at once, and lines of its configuration with the flags that set them.
type Setting =
    (&'static str, &'static [&'static str], &'static [(&'static str, &'static str, &'static str)]);

const SETTINGS: &[Setting] = &[
    (
        "spike",
        &["--duration", "1s"],
        &[
            ("--spike-at", "200ms", "spike_at = \"200ms\""),
            ("--spike-duration", "300ms", "spike_duration = \"300ms\""),
            ("--spike-multiplier", "2", "spike_multiplier = 2.0"),
        ],
    ),
    (
        "soak",
        &["--duration", "1s"],
        &[
            ("--leak-check-interval", "100ms", "leak_check_interval = \"100ms\""),
            ("--latency-drift", "7", "latency_drift_ms_per_sec = 7.0"),
            ("--memory-growth-mb", "77", "memory_growth_mb = 77.0"),
            ("--abort-on-fail", "", "abort_on_fail = true"),
        ],
    ),
    (
        "slow_mix",
        &["--tool", "whoami", "--slow-tool", "echo", "--duration", "1s"],
        &[("--slow-share", "0.5", "slow_share = 0.5")],
    ),
    (
        "capacity",
        &["--p99-latency", "10s"],
        &[
            ("--rate-from", "5/s", "rate_from = \"5/s\""),
            ("--rate-to", "6/s", "rate_to = \"6/s\""),
            ("--hold", "1s", "hold = \"1s\""),
            ("--precision", "0.5", "precision = 0.5"),
        ],
    ),
    (
        "deadlock_probe",
        &["--tool", "echo"],
        &[("--generate", "", "generate = true"), ("--bail-early", "", "bail_early = true")],
    ),
];

#[test]
fn flags_of_a_scenario_set_their_keys() {
    for (scenario, needed, flags) in SETTINGS {
        let base = [&["run", "-s", "{mock}", "--scenario", *scenario], *needed].concat();
        let given = flags.iter().flat_map(|(flag, value, _)| [*flag, *value]);
        let given: Vec<_> = given.filter(|word| !word.is_empty()).collect();
        let with = saved(&[base.as_slice(), &given].concat());
        for (flag, _, line) in *flags {
            assert!(with.contains(line), "{scenario} {flag}: {with}");
        }
    }
}

#[test]
fn limits_of_a_comparison_set_their_keys() {
    let bench = Bench::new();
    let first = bench.transcript(&[BURST, &["--tag", "base"]].concat());
    assert!(first.starts_with("exit 0"), "{first}");
    let limits = [
        "--compare-p50",
        "11%",
        "--compare-p95",
        "12%",
        "--compare-error-rate",
        "13%",
        "--compare-allow-deadlocks",
        "--compare-undecided",
        "fail",
    ];
    bench.transcript(&[BURST, &["--baseline", "tag:base"], &limits[..]].concat());
    let runs = std::fs::read_dir(bench.path().join("runs")).unwrap().flatten();
    let told =
        runs.filter_map(|run| std::fs::read_to_string(run.path().join("comparison.json")).ok());
    let told: Vec<_> = told.collect();
    let policy: serde_json::Value = serde_json::from_str(&told.concat()).unwrap();
    let expected = serde_json::json!({
        "error_rate": 0.13, "new_deadlocks": "allow", "p50": 0.11, "p95": 0.12, "undecided": "fail",
    });
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(policy["policy"][key], *value, "{policy:#}");
    }
}
