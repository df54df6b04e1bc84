//! Commands that carry suites out: `test` and `agent`.

use super::Flag;
use crate::effects::proof::{
    Proof::{Hides, Pair, Shows, Tested},
    tried,
};

const TESTED: &[&str] = &["test", "suite.yml"];
const CHOSEN: &[&str] = &["cli suite::choosing::names_tags_and_parts_choose"];
const RECORDED: &[&str] = &["cli suite::agents::the_gate_survives_record_and_replay"];
const EXPLAINED: &[&str] = &["cli commands::every_command_explains_itself"];

pub(super) const TEST: &[Flag] = &[
    Flag(
        "FILES",
        "missing.yml",
        Tested(&[
            "cli suite::choosing::a_directory_is_searched_and_a_configuration_may_be_a_suite",
        ]),
    ),
    Flag("--name", "", Hides(TESTED, &["--name", "first"], "second")),
    Flag("--tag", "", Hides(TESTED, &["--tag", "one"], "second")),
    Flag("--skip-tag", "", Hides(TESTED, &["--skip-tag", "two"], "second")),
    Flag("--shard", "5", Tested(CHOSEN)),
    Flag("--fail-fast", "", Tested(&["cli suite::choosing::the_first_failure_may_end_it"])),
    Flag("--repeat", "0", Tested(&["cli suite::choosing::repeated_tests_tell_their_share"])),
    Flag("--parallel", "0", Tested(&["cli suite::choosing::the_first_failure_may_end_it"])),
    Flag(
        "--model",
        "",
        Tested(&[
            "cli suite::agents::the_example_runs_without_a_key_and_fails_who_invents",
            "cli suite::agents::a_model_that_nobody_uses_is_told",
        ]),
    ),
    Flag("--seed", "x", Shows(&["test", "suite.yml", "--json"], &["--seed", "7"], r#""seed": 7"#)),
    Flag("--update", "", Tested(&["cli suite::choosing::snapshots_are_written_and_compared"])),
    Flag("--record", "", Tested(RECORDED)),
    Flag("--replay", "", Tested(RECORDED)),
    Flag("--json", "", Shows(TESTED, &["--json"], r#""outcome": "failed""#)),
    Flag("--format", "pdf", Shows(TESTED, &["--format", "junit"], "<testsuite")),
    Flag("--junit", "", Shows(TESTED, &["--junit", "j.xml"], "<testsuite")),
    Flag("--markdown", "", Shows(TESTED, &["--markdown", "t.md"], "file t.md")),
    Flag("--html", "", Shows(TESTED, &["--html", "t.html"], "file t.html")),
    Flag("--github", "", Shows(TESTED, &["--github"], "::error")),
    Flag("--code-quality", "", Shows(TESTED, &["--code-quality", "q.json"], "file q.json")),
    Flag("--explain", "", Tested(EXPLAINED)),
];

const ALONE: &[&str] = &["cli suite::live::one_agent_can_be_judged_without_a_suite"];
/// An agent that says hello and calls nothing.
const SAYS: &[&str] = &["agent", "--prompt", "hi", "--", "sh", "-c", "cat; echo hello"];

pub(super) const AGENT: &[Flag] = &[
    Flag(
        "--prompt",
        "",
        Pair(SAYS, &["agent", "--prompt", "a-task", "--json", "--", "cat"], "a-task"),
    ),
    Flag("--tools-from", "", Tested(ALONE)),
    Flag("--fault", "gremlins", Tested(ALONE)),
    Flag("--fixtures", "", Tested(&["cli effects::flags::suites::an_agent_is_given_a_model"])),
    Flag("--max-detection", "0s", Tested(ALONE)),
    Flag("--max-recovery", "5", Tested(ALONE)),
    Flag("--clean-timeout", "", Tested(ALONE)),
    Flag("--evidence", "", Tested(ALONE)),
    Flag(
        "--fallback",
        "",
        Tested(&["core suite::recovery::tests::second_best_must_be_disclosed_where_that_is_asked"]),
    ),
    Flag(
        "--time-budget",
        "0s",
        Pair(
            &["agent", "--prompt", "hi", "--", "sh", "-c", "sleep 2; echo hello"],
            &[
                "agent",
                "--prompt",
                "hi",
                "--time-budget",
                "200ms",
                "--",
                "sh",
                "-c",
                "sleep 2; echo hello",
            ],
            "exit 1",
        ),
    ),
    Flag(
        "--runs",
        "0",
        Pair(
            SAYS,
            &[
                "agent",
                "--prompt",
                "hi",
                "--runs",
                "2",
                "--",
                "sh",
                "-c",
                "echo x >> {here}/each; cat {here}/each",
            ],
            "file each\nx\nx\n",
        ),
    ),
    Flag(
        "--json",
        "",
        Pair(
            SAYS,
            &["agent", "--prompt", "hi", "--json", "--", "sh", "-c", "echo hello"],
            r#""outcome": "passed""#,
        ),
    ),
    Flag(
        "--format",
        "pdf",
        Pair(
            SAYS,
            &["agent", "--prompt", "hi", "--format", "junit", "--", "sh", "-c", "echo hello"],
            "<testsuite",
        ),
    ),
    Flag(
        "--junit",
        "",
        Pair(
            SAYS,
            &["agent", "--prompt", "hi", "--junit", "j.xml", "--", "sh", "-c", "echo hello"],
            "file j.xml",
        ),
    ),
    Flag(
        "--markdown",
        "",
        Pair(
            SAYS,
            &["agent", "--prompt", "hi", "--markdown", "a.md", "--", "sh", "-c", "echo hello"],
            "file a.md",
        ),
    ),
    Flag(
        "--html",
        "",
        Pair(
            SAYS,
            &["agent", "--prompt", "hi", "--html", "a.html", "--", "sh", "-c", "echo hello"],
            "file a.html",
        ),
    ),
    Flag(
        "--github",
        "",
        Pair(
            &["agent", "--prompt", "hi", "--", "false"],
            &["agent", "--prompt", "hi", "--github", "--", "false"],
            "::error",
        ),
    ),
    Flag(
        "--code-quality",
        "",
        Pair(
            SAYS,
            &[
                "agent",
                "--prompt",
                "hi",
                "--code-quality",
                "q.json",
                "--",
                "sh",
                "-c",
                "echo hello",
            ],
            "file q.json",
        ),
    ),
    Flag("--explain", "", Tested(EXPLAINED)),
    Flag("COMMAND", "", Tested(ALONE)),
];

#[test]
fn a_suite_shows_its_flags() {
    tried("test", TEST);
}

#[test]
fn an_agent_shows_its_flags() {
    tried("agent", AGENT);
}

#[test]
fn an_agent_is_given_a_model() {
    let agent = |flags: &[&str]| {
        let words = [&["agent", "--prompt", "hi"], flags, &["--", "python3", "app.py"]].concat();
        crate::effects::bench::Bench::new().transcript(&words)
    };
    let with = agent(&["--fixtures", "fixtures.yml"]);
    assert!(with.starts_with("exit 0"), "{with}");
    assert!(!agent(&[]).starts_with("exit 0"));
}
