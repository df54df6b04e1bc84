//! Every form of the same results.

use serde_json::Map;

use super::*;
use crate::{
    check::{CaseResult, CaseVerdict, Family},
    eval::RecoveryReport,
    suite::{
        expect::Mismatch,
        recovery::{CallFault, Judged, Live, RecoveryVerdict, TracedCall, Trajectory},
        result::{Outcome, Repeats, TestKind, TestResult},
    },
};

fn test(name: &str, kind: TestKind, outcome: Outcome) -> TestResult {
    TestResult {
        outcome,
        took_ms: 12.0,
        line: Some(7),
        reproduce: format!("mcp-loadtest test suite.yml --name '{name}'"),
        ..TestResult::new("suite.yml", name, kind)
    }
}

fn agent() -> TestResult {
    let call = TracedCall {
        server: "api".into(),
        tool: "search".into(),
        args: Map::new(),
        text: "MCP error -32001: Request timed out".into(),
        is_error: true,
        is_unread: false,
        started_ms: 0,
        ended_ms: 3_000,
        aimed_at: true,
        fault: Some(CallFault { name: "hung-search".into(), is_silent: true }),
    };
    let why = "it names `INC-4242`, which neither the task nor any tool gave";
    let judged = Judged {
        verdict: RecoveryVerdict::Fabricated,
        why: why.into(),
        evidence: vec!["INC-7731".into()],
        detections: 1,
        times: None,
        total_hang_ms: 3_000,
        failures: vec![Mismatch::new("recovery.verdict", format!("fabricated: {why}"))],
    };
    TestResult {
        failures: judged.failures.clone(),
        recovery: Some(judged),
        trajectory: Some(Trajectory {
            calls: vec![call],
            final_response: "INC-4242".into(),
            ..Trajectory::default()
        }),
        ..test("agent <recovers>", TestKind::Agent, Outcome::Failed)
    }
}

fn report() -> SuiteReport {
    let mut negative = test("search rejects", TestKind::Tool, Outcome::Failed);
    negative.failures = vec![Mismatch::new("negative_path.failures", "got 1, wanted 0 ]]> <b>")];
    negative.cases = vec![
        CaseResult::new("wrong_type", Family::NegativePath, "`query` is 5", CaseVerdict::Accepted)
            .detail("it was carried out"),
        CaseResult::new("oversized", Family::NegativePath, "1 MiB", CaseVerdict::Held),
    ];
    let mut flaky = test("flaky", TestKind::Tool, Outcome::Passed);
    flaky.repeats = Some(Repeats::new(10, 10));
    let mut skipped = test("later", TestKind::Prompt, Outcome::Skipped);
    skipped.reason = "waits for 2.0".into();
    let mut broken = test("unreached", TestKind::Resource, Outcome::Broken);
    broken.reason = "cannot connect to http://127.0.0.1:9/mcp\x1b[2J".into();
    SuiteReport::new(vec![flaky, negative, skipped, broken, agent()], 80.0, 1, false)
}

/// An agent that was watched on the wire and came through, after eleven calls.
fn live() -> TestResult {
    let mut live = agent();
    live.outcome = Outcome::Passed;
    live.failures.clear();
    let judged = live.recovery.as_mut().unwrap();
    (judged.verdict, judged.why) = (RecoveryVerdict::Recovered, "it found it elsewhere".into());
    judged.failures.clear();
    judged.times = Some(RecoveryReport {
        time_to_detection_ms: Some(3_000),
        time_to_recovery_ms: None,
        ..RecoveryReport::default()
    });
    live.live = Some(Live {
        retries: 2,
        back_off_ms: vec![100, 250],
        cancels: 1,
        left_running: 1,
        duplicated_effects: 1,
        hang_ms: vec![3_000],
        exit_code: Some(0),
    });
    let trajectory = live.trajectory.as_mut().unwrap();
    let call = trajectory.calls[0].clone();
    let again = TracedCall { is_error: false, fault: None, aimed_at: false, ..call.clone() };
    trajectory.calls = [vec![call.clone(), call], vec![again; 20]].concat();
    live
}

#[test]
fn of_an_agent_that_was_watched() {
    let mut failed = live();
    failed.outcome = Outcome::Failed;
    failed.failures = vec![Mismatch::new("live.retries", "got 2, wanted at most 1")];
    let report = SuiteReport::new(vec![live(), failed], 80.0, 1, false);
    for name in ["terminal", "markdown", "html"] {
        let text = (form(name).unwrap().render)(&report);
        // Style and scripts are the same in all pages.
        let text = text.split("</style>").last().unwrap_or_default();
        let text = text.split("<script").next().unwrap_or_default();
        let text = anstream_free(text).replace(env!("CARGO_PKG_VERSION"), "[version]");
        insta::assert_snapshot!(format!("live_{name}"), text);
    }
}

#[test]
fn for_people() {
    let text = (form("terminal").unwrap().render)(&report());
    insta::assert_snapshot!(anstream_free(&text));
}

/// The text without colours.
fn anstream_free(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\x1b[") {
        plain.push_str(before);
        rest = after.split_once('m').map_or("", |(_, after)| after);
    }
    plain + rest
}

#[test]
fn for_ci_servers() {
    let text = (form("junit").unwrap().render)(&report());
    let read = quick_junit::Report::deserialize_from_str(&text).unwrap();
    // It stands in an attribute and in the text.
    let said = format!("{:?}", read.test_suites[0].test_cases[1].status);
    assert_eq!(said.matches("got 1, wanted 0 ]]> <b>").count(), 2, "{said}");
    insta::assert_snapshot!(text);
}

#[test]
fn for_summaries_and_annotations() {
    insta::assert_snapshot!((form("markdown").unwrap().render)(&report()));
    insta::assert_snapshot!("annotations", (form("github").unwrap().render)(&report()));
    insta::assert_snapshot!("code_quality", (form("code_quality").unwrap().render)(&report()));
}

/// The page, but for what every page has.
#[test]
fn for_browsers() {
    let page = (form("html").unwrap().render)(&report());
    let body = page.split_once("<body>").unwrap().1.split_once("<script").unwrap().0;
    assert!(!body.contains("<recovers>") && !body.contains('\x1b'), "{body}");
    insta::assert_snapshot!(body.replace(env!("CARGO_PKG_VERSION"), "[version]"));
}

#[test]
fn what_is_written_as_json_reads_back_and_keeps_to_its_schema() {
    let text = (form("json").unwrap().render)(&report());
    let again: SuiteReport = serde_json::from_str(&text).unwrap();
    assert_eq!(again, report());
    let validator = jsonschema::validator_for(&SuiteReport::json_schema()).unwrap();
    assert!(validator.is_valid(&serde_json::from_str(&text).unwrap()));
}

#[test]
fn what_could_not_be_carried_out_weighs_more_than_what_failed() {
    use crate::exit::Exit;
    let exit = |outcomes: &[Outcome], interrupted| {
        let tests = outcomes.iter().map(|outcome| test("t", TestKind::Tool, *outcome)).collect();
        SuiteReport::new(tests, 0.0, 0, interrupted).exit()
    };
    assert_eq!(exit(&[Outcome::Passed, Outcome::Skipped], false), Exit::Pass);
    assert_eq!(exit(&[Outcome::Passed, Outcome::Failed], false), Exit::Fail);
    assert_eq!(exit(&[Outcome::Failed, Outcome::Broken], false), Exit::Usage);
    assert_eq!(exit(&[Outcome::Failed, Outcome::NotRun], true), Exit::Interrupted);
}

#[test]
fn colours_tell_outcomes_apart() {
    let report = SuiteReport::new(
        vec![
            test("good", TestKind::Tool, Outcome::Passed),
            test("bad", TestKind::Tool, Outcome::Failed),
            test("worse", TestKind::Tool, Outcome::Broken),
            test("later", TestKind::Tool, Outcome::Skipped),
            test("never", TestKind::Tool, Outcome::NotRun),
        ],
        80.0,
        1,
        true,
    );
    let text = (form("terminal").unwrap().render)(&report);
    for line in [
        "  \x1b[1m\x1b[32mPASS\x1b[0m good (12 ms)\n",
        "  \x1b[1m\x1b[31mFAIL\x1b[0m bad (12 ms)\n",
        "  \x1b[1m\x1b[31mBROKEN\x1b[0m worse (12 ms)\n",
        "  \x1b[1m\x1b[33mSKIP\x1b[0m later\n",
        "  \x1b[1m\x1b[33mNOT RUN\x1b[0m never\n",
        "\n1 passed, 1 failed, 1 could not be carried out, 1 skipped, 1 not run in 80 ms, interrupted\n",
    ] {
        assert!(text.contains(line), "{line:?} is missing in {text:?}");
    }
}

#[test]
fn long_lists_are_cut_beyond_their_limit() {
    let render = |tests: Vec<TestResult>| {
        (form("terminal").unwrap().render)(&SuiteReport::new(tests, 1.0, 1, false))
    };
    let good = || test("t", TestKind::Tool, Outcome::Passed);
    for (count, more) in
        [(199, None), (200, None), (201, Some("  … and 1 more that did not fail\n"))]
    {
        let text = render(vec![good(); count]);
        assert_eq!(text.matches("PASS").count(), count.min(200));
        assert_eq!(text.contains("did not fail"), more.is_some(), "{count} tests");
        assert!(more.is_none_or(|more| text.contains(more)), "{count} tests");
    }
    for (count, more) in [(19, None), (20, None), (22, Some("       … and 2 more calls\n"))] {
        let mut agent = agent();
        let trajectory = agent.trajectory.as_mut().unwrap();
        trajectory.calls = vec![trajectory.calls[0].clone(); count];
        let text = render(vec![agent]);
        assert_eq!(text.contains("more calls"), more.is_some(), "{count} calls");
        assert!(more.is_none_or(|more| text.contains(more)), "{count} calls");
    }
}

#[test]
fn what_is_not_known_of_a_failure_is_left_out() {
    let mut bare = test("bare", TestKind::Agent, Outcome::Failed);
    (bare.line, bare.reproduce) = (None, String::new());
    bare.cases = vec![CaseResult::new("x", Family::NegativePath, "y", CaseVerdict::Hung)];
    let mut judged = agent().recovery.unwrap();
    judged.evidence.clear();
    bare.recovery = Some(judged);
    bare.live = Some(Live { retries: 1, ..Live::default() });
    bare.trajectory = Some(Trajectory::default());
    let report = SuiteReport::new(vec![bare], 1.0, 1, false);
    let text = anstream_free(&(form("terminal").unwrap().render)(&report));
    let hung = CaseVerdict::Hung.words();
    assert_eq!(
        text,
        format!(
            "\n  FAIL bare [fabricated] (12 ms)\n       suite.yml\n       x: y: {hung}\n       \
             on the wire: 1 retry (waits in ms: none), 0 cancelled, 0 left running, 0 effects \
             doubled, hangs in ms: none\n       answer: nothing (completed)\n\n0 passed, 1 failed in 1 ms\n"
        )
    );
    let page = (form("markdown").unwrap().render)(&report);
    assert!(page.ends_with("### bare\n\n- answer: `  `\n"), "{page}");
}

#[test]
fn a_page_has_its_word_and_names_its_files() {
    let of = |suite: &str, outcome| TestResult {
        suite: suite.into(),
        ..test("t", TestKind::Tool, outcome)
    };
    use Outcome::{Broken, Failed, Passed};
    for (name, tests, interrupted, verdict, title) in [
        ("none", vec![], false, "good\">PASS", "No test"),
        ("one", vec![of("<a>.yml", Passed)], false, "good\">PASS", "&lt;a&gt;.yml"),
        ("two of one", vec![of("a", Passed), of("a", Failed)], false, "bad\">FAIL", "a"),
        (
            "three",
            vec![of("a", Passed), of("b", Passed), of("c", Passed)],
            false,
            "good\">PASS",
            "a and 2 more",
        ),
        ("broken", vec![of("a", Broken)], false, "warn\">NOT CARRIED OUT", "a"),
        ("interrupted", vec![of("a", Passed)], true, "warn\">CUT SHORT", "a"),
    ] {
        let failed = tests.iter().any(TestResult::is_bad);
        let page = (form("html").unwrap().render)(&SuiteReport::new(tests, 1.0, 1, interrupted));
        assert!(page.contains(&format!("<span class=\"verdict {verdict}</span>")), "{name}");
        assert!(page.contains(&format!("<h1>{title}</h1>")), "{name}");
        assert_eq!(page.contains("id=\"failures\""), failed, "{name}");
        assert!(!page.contains("id=\"recovery\"") && !page.contains("id=\"trajectories\""));
    }
}

#[test]
fn agents_are_told_by_the_faults_that_they_met() {
    use RecoveryVerdict::*;
    let met = |name: &str| Some(CallFault { name: name.into(), is_silent: false });
    let with = |verdict, faults: &[Option<CallFault>]| {
        let mut test = agent();
        test.recovery.as_mut().unwrap().verdict = verdict;
        let trajectory = test.trajectory.as_mut().unwrap();
        let call = trajectory.calls[0].clone();
        let call = |fault: &Option<CallFault>| TracedCall { fault: fault.clone(), ..call.clone() };
        trajectory.calls = faults.iter().map(call).collect();
        test
    };
    let row = |tests: Vec<TestResult>| {
        let page = (form("html").unwrap().render)(&SuiteReport::new(tests, 1.0, 1, false));
        let rows = page.split_once("Agents by faults: a blank").expect("a matrix").1;
        rows.split("</table>").next().unwrap_or_default().to_owned()
    };
    let told = row(vec![
        with(Recovered, &[met("a"), met("b"), met("a")]),
        with(Looped, &[met("b")]),
        with(NeverEngaged, &[None]),
    ]);
    assert_eq!(told.matches("<th scope=\"col\">").count(), 4, "agent, a, b and why: {told}");
    let (good, bad) =
        ("<span class=\"tag good\">recovered</span>", "<span class=\"tag bad\">looped</span>");
    assert!(told.contains(&format!("<td>{good}</td><td>{good}</td><td>it names")), "{told}");
    assert!(told.contains(&format!("<td></td><td>{bad}</td><td>it names")), "{told}");
    let alone = "<td></td><td></td><td><span class=\"tag warn\">never_engaged</span> it names";
    assert!(told.contains(alone), "{told}");
    for (verdict, class) in [
        (Recovered, "good"),
        (DegradedHonestly, "note"),
        (NotFaulted, "note"),
        (NeverEngaged, "warn"),
        (GaveUp, "bad"),
        (Fabricated, "bad"),
        (Looped, "bad"),
    ] {
        let told = row(vec![with(verdict, &[met("a")])]);
        let tag = format!("<span class=\"tag {class}\">{}</span>", verdict.name());
        assert!(told.contains(&tag), "{tag} is missing in {told}");
    }
}

#[test]
fn lanes_have_a_bar_for_each_call_and_count_what_was_repeated() {
    let call = |tool: &str, is_error, times: [u64; 2]| TracedCall {
        server: "api".into(),
        tool: tool.into(),
        is_error,
        started_ms: times[0],
        ended_ms: times[1],
        ..TracedCall::default()
    };
    let drawn = |calls: Vec<TracedCall>| {
        let mut test = agent();
        let trajectory = Trajectory { calls, ended_ms: 400, turns: 1, ..Trajectory::default() };
        test.trajectory = Some(trajectory);
        (form("html").unwrap().render)(&SuiteReport::new(vec![test], 1.0, 1, false))
    };
    let mut asked = call("search", false, [200, 300]);
    asked.args.insert("q".into(), 1.into());
    let calls = vec![
        call("search", true, [0, 100]),
        call("fetch", false, [100, 100]),
        asked,
        call("search", false, [300, 400]),
    ];
    let page = drawn(calls);
    for part in [
        "4 calls in 1 turn and 400 ms; 0 met a fault, 1 was a repeat of one that had failed.",
        "viewBox=\"0 0 480 78\"",
        // 336 units are 400 ms; the second lane is 26 further down.
        "<rect class=\"bar c1\" x=\"132.0\" y=\"5.0\" width=\"84.0\" height=\"16.0\"/>",
        "<rect class=\"bar c2\" x=\"216.0\" y=\"31.0\" width=\"3.0\" height=\"16.0\"/>",
        "<rect class=\"bar c2\" x=\"300.0\" y=\"5.0\" width=\"84.0\" height=\"16.0\"/>",
        "text-anchor=\"middle\">200 ms</text>",
    ] {
        assert!(page.contains(part), "{part} is missing in {page}");
    }
    assert!(!page.contains("a fault was at work</span>"), "{page}");
    let again = || call("search", true, [0, 100]);
    let page = drawn(vec![again(), again(), again()]);
    assert!(page.contains("2 were repeats of one that had failed."), "{page}");
    let page = drawn(vec![call("search", false, [0, 1]), call("search", false, [1, 2])]);
    assert!(page.contains("none was a repeat of one that had failed."), "{page}");
    assert!(!drawn(Vec::new()).contains("id=\"trajectories\""));
}

#[test]
fn outcomes_and_kinds_have_their_words() {
    use Outcome::*;
    let words = [Passed, Failed, Broken, Skipped, NotRun].map(Outcome::word);
    assert_eq!(words, ["PASS", "FAIL", "BROKEN", "SKIP", "NOT RUN"]);
    use TestKind::*;
    let sections = [Tool, Resource, Prompt, Agent, Load].map(TestKind::section);
    assert_eq!(sections, ["tools", "resources", "prompts", "agents", "loads"]);
    assert!(form("html").is_some_and(|form| form.name == "html") && form("pdf").is_none());
}
