//! Commands that try a server out: `probe`, `negative-path`, `replay`.

use super::Flag;
use crate::effects::proof::{
    Proof::{OfServers, Shows, Tested},
    tried,
};

const EXPLAINED: &[&str] = &["cli commands::every_command_explains_itself"];
const PROBED: &[&str] = &["probe", "-s", "{mock}", "--only", "unknown_tool"];
const HEARD: &[&str] = &["probe", "--url", "HTTP", "--only", "unknown_tool"];
const WRONG: &[&str] =
    &["probe", "-s", "python3 {fixtures}/bad-wrong-type.py", "--only", "wrong_type"];
const REFUSED: &[&str] = &["negative-path", "-s", "{mock}", "--checks", "wrong_type"];
const SEEDED: &[&str] = &["cli probe::determinism::the_same_seed_sends_the_same_bytes"];

pub(super) const PROBE: &[Flag] = &[
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
    Flag("--allow-destructive", "", Shows(HEARD, &["--allow-destructive"], r#""tool":"ledger""#)),
    Flag(
        "--pair",
        "one",
        Tested(&["cli probe::concurrency::a_store_that_nobody_would_recognise_can_be_named"]),
    ),
    Flag("--quick", "", Tested(SEEDED)),
    Flag("--deep", "", Tested(SEEDED)),
    Flag(
        "--only",
        "x",
        Shows(
            &["probe", "-s", "{mock}", "--only", "unknown_tool", "--verbose"],
            &["--only", "bad_id"],
            "bad_id",
        ),
    ),
    Flag(
        "--tool",
        "",
        Shows(
            &["probe", "-s", "{mock}", "--only", "unknown_tool"],
            &["--tool", "ecko"],
            "no tool `ecko`",
        ),
    ),
    Flag(
        "--args",
        "[1]",
        Shows(HEARD, &["--tool", "echo", "--args", r#"{"message":"known-good"}"#], "known-good"),
    ),
    Flag(
        "--strict",
        "",
        Tested(&[
            "cli probe::negative_path::an_open_schema_lets_unexpected_fields_in_unless_strictness_is_asked_for",
        ]),
    ),
    Flag(
        "--oversized",
        "5 apples",
        Tested(&[
            "cli effects::flags::probes::an_oversized_argument_has_the_size_that_was_asked_for",
        ]),
    ),
    Flag(
        "--cases",
        "many",
        Tested(&["cli effects::flags::probes::no_more_cases_are_made_than_asked_for"]),
    ),
    Flag(
        "--time-limit",
        "0s",
        Shows(
            &["probe", "-s", "{mock}", "--only", "unknown_tool,bad_id", "--json"],
            &["--time-limit", "1ms"],
            "\"check_ms\": {}",
        ),
    ),
    Flag(
        "--hang-threshold",
        "0s",
        Shows(
            &[
                "probe",
                "-s",
                "{mock} --fault slow:900@tool=echo",
                "--tool",
                "echo",
                "--only",
                "unknown_tool",
            ],
            &["--hang-threshold", "100ms"],
            "answered after the hang threshold",
        ),
    ),
    Flag(
        "--grace-period",
        "5",
        Shows(
            &[
                "probe",
                "-s",
                "{mock} --fault slow:2000@tool=echo",
                "--tool",
                "echo",
                "--only",
                "unknown_tool",
                "--hang-threshold",
                "100ms",
            ],
            &["--grace-period", "100ms"],
            "exit 1",
        ),
    ),
    Flag("--seed", "x", Tested(SEEDED)),
    Flag(
        "--verbose",
        "",
        Tested(&["cli probe::negative_path::the_table_counts_and_the_explanation_explains"]),
    ),
    Flag("--json", "", Shows(PROBED, &["--json"], "mcp-loadtest/probe/v1")),
    Flag("--junit", "", Shows(PROBED, &["--junit", "j.xml"], "<testsuite")),
    Flag("--sarif", "", Shows(PROBED, &["--sarif", "s.sarif"], r#""2.1.0""#)),
    Flag("--github", "", Shows(WRONG, &["--github"], "::error")),
    Flag("--code-quality", "", Shows(WRONG, &["--code-quality", "q.json"], "file q.json")),
    Flag("--quiet", "", Tested(&["cli live::quiet::progress_is_shown_unless_it_is_not_wanted"])),
    Flag("--explain", "", Tested(EXPLAINED)),
];

pub(super) const NEGATIVE_PATH: &[Flag] = &[
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
    Flag("--tool", "", Shows(REFUSED, &["--tool", "ecko"], "no tool `ecko`")),
    Flag(
        "--args",
        "[1]",
        Shows(
            &["negative-path", "--url", "HTTP", "--checks", "unknown_tool", "--tool", "echo"],
            &["--args", r#"{"message":"known-good"}"#],
            "known-good",
        ),
    ),
    Flag(
        "--checks",
        "x",
        Shows(
            &["negative-path", "-s", "{mock}", "--checks", "unknown_tool"],
            &["--checks", "wrong_type"],
            "wrong_type",
        ),
    ),
    Flag(
        "--strict",
        "",
        Tested(&[
            "cli probe::negative_path::an_open_schema_lets_unexpected_fields_in_unless_strictness_is_asked_for",
        ]),
    ),
    Flag(
        "--oversized",
        "5 apples",
        Tested(&[
            "cli effects::flags::probes::an_oversized_argument_has_the_size_that_was_asked_for",
        ]),
    ),
    Flag(
        "--cases",
        "many",
        Tested(&["cli effects::flags::probes::no_more_cases_are_made_than_asked_for"]),
    ),
    Flag(
        "--allow-destructive",
        "",
        Shows(
            &["negative-path", "--url", "HTTP", "--checks", "unknown_tool"],
            &["--allow-destructive"],
            r#""tool":"ledger""#,
        ),
    ),
    Flag(
        "--hang-threshold",
        "0s",
        Tested(&["cli probe::negative_path::an_error_that_is_none_is_told_without_a_wait"]),
    ),
    Flag(
        "--grace-period",
        "5",
        Tested(&[
            "cli probe::negative_path::a_silent_call_is_told_from_a_silent_server_and_from_a_slow_tool",
        ]),
    ),
    Flag("--seed", "x", Tested(&["cli probe::negative_path::the_same_seed_sends_the_same_cases"])),
    Flag("--json", "", Shows(REFUSED, &["--json"], "mcp-loadtest/probe/v1")),
    Flag("--junit", "", Shows(REFUSED, &["--junit", "j.xml"], "<testsuite")),
    Flag("--sarif", "", Shows(REFUSED, &["--sarif", "s.sarif"], r#""2.1.0""#)),
    Flag(
        "--github",
        "",
        Shows(
            &[
                "negative-path",
                "-s",
                "python3 {fixtures}/bad-wrong-type.py",
                "--checks",
                "wrong_type",
            ],
            &["--github"],
            "::error",
        ),
    ),
    Flag("--code-quality", "", Shows(REFUSED, &["--code-quality", "q.json"], "file q.json")),
    Flag("--quiet", "", Tested(&["cli live::quiet::progress_is_shown_unless_it_is_not_wanted"])),
    Flag("--explain", "", Tested(EXPLAINED)),
];

const AGAIN: &[&str] = &["replay", "case.json", "-s", "{mock}"];
/// As far from the second after which a silent server is doubted as from the five that a call may take.
const SILENT: &[&str] =
    &["replay", "case.json", "--protocol", "2025-11-25", "-s", "{mock} --fault slow:3000"];

pub(super) const REPLAY: &[Flag] = &[
    Flag(
        "CASE",
        "missing.json",
        Tested(&["cli fuzzer::a_case_is_made_small_saved_and_seen_again"]),
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
    Flag("--hang-threshold", "0s", Shows(SILENT, &["--hang-threshold", "100ms"], "now slow")),
    Flag(
        "--grace-period",
        "5",
        Shows(SILENT, &["--hang-threshold", "100ms", "--grace-period", "100ms"], "now hang"),
    ),
    Flag("--json", "", Shows(AGAIN, &["--json"], r#""shows": false"#)),
    Flag("--explain", "", Tested(EXPLAINED)),
];

#[test]
fn a_probe_shows_its_flags() {
    tried("probe", PROBE);
}

#[test]
fn a_negative_path_shows_its_flags() {
    tried("negative-path", NEGATIVE_PATH);
}

#[test]
fn a_replay_shows_its_flags() {
    tried("replay", REPLAY);
}

/// What the server heard of a command, and how long the longest message was.
fn longest(words: &[&str]) -> u64 {
    let told = crate::effects::bench::Bench::new().transcript(words);
    let sizes = told.split("\"bytes_in\":").skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap();
        rest[..end].parse::<u64>().unwrap()
    });
    sizes.max().unwrap_or_else(|| panic!("nothing was heard: {told}"))
}

#[test]
fn an_oversized_argument_has_the_size_that_was_asked_for() {
    for command in [["probe", "--only"], ["negative-path", "--checks"]] {
        let sent = |size: &str| {
            longest(
                &[
                    &command[..],
                    &["oversized", "--url", "HTTP", "--tool", "echo", "--oversized", size],
                ]
                .concat(),
            )
        };
        let (small, large) = (sent("10KiB"), sent("40KiB"));
        assert!(
            (10_240..40_960).contains(&small) && large >= 40_960,
            "{command:?}: {small} {large}"
        );
    }
}

#[test]
fn no_more_cases_are_made_than_asked_for() {
    for command in [["probe", "--only"], ["negative-path", "--checks"]] {
        let calls = |cases: &str| {
            let server =
                ["wrong_type", "--url", "HTTP", "--tool", "sized_response", "--cases", cases];
            let told =
                crate::effects::bench::Bench::new().transcript(&[&command[..], &server].concat());
            told.matches(r#""tool":"sized_response""#).count()
        };
        assert!(calls("1") < calls("5"), "{command:?}: {} {}", calls("1"), calls("5"));
    }
}
