//! Which tests are carried out, and what is told before any is.

use super::{Bench, outcomes, repository};
use crate::harness::run_in;

const SIX: &str = "servers: {m: {mock: {}}}\ntools:\n  \
    - {name: alpha one, tool: echo, args: {message: x}, tags: [smoke]}\n  \
    - {name: alpha two, tool: echo, args: {message: x}, tags: [smoke, slow]}\n  \
    - {name: beta one, tool: echo, args: {message: x}}\n  \
    - {name: beta two, tool: nope}\n  \
    - {name: gamma, tool: echo, args: {message: x}}\n  \
    - {name: left out, tool: echo, skip: waits for 2.0}\n";

fn names(flags: &[&str]) -> Vec<String> {
    let (report, _) = Bench::new(SIX).report(flags);
    outcomes(&report).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn names_tags_and_parts_choose() {
    assert_eq!(names(&["--name", "ALPHA"]), ["alpha one", "alpha two"]);
    assert_eq!(names(&["--name", "gamma", "--name", "beta"]), ["beta one", "beta two", "gamma"]);
    assert_eq!(names(&["--tag", "smoke", "--skip-tag", "slow"]), ["alpha one"]);
    let mut parts: Vec<_> =
        ["1/3", "2/3", "3/3"].iter().flat_map(|part| names(&["--shard", part])).collect();
    parts.sort();
    assert_eq!(parts.len(), 6);
    let none = Bench::new(SIX).test(&["--tag", "nothing"]);
    assert_eq!(none.code, 2);
    assert!(none.err.contains("no test was chosen"), "{}", none.err);
}

/// More machines than tests are no mistake; a word that no test has is one on each of them.
#[test]
fn a_part_may_be_empty_where_the_choice_is_not() {
    let bench = Bench::new(SIX);
    let (report, code) = bench.report(&["--name", "gamma", "--shard", "2/2"]);
    assert_eq!((outcomes(&report), code), (vec![], 0));
    let none = bench.test(&["--tag", "smoek", "--shard", "1/4"]);
    assert_eq!(none.code, 2);
    assert!(none.err.contains("no test was chosen"), "{}", none.err);
}

/// Bad input and tools that fail are of one family, which is a tag that nobody has to write.
#[test]
fn tests_of_edges_have_their_tag_by_themselves() {
    let suite = "servers: {m: {mock: {}}}\nfaults: [{name: hung, target: {tool: echo}, kind: hang}]\n\
        tools:\n  \
        - {name: plain, tool: echo, args: {message: x}}\n  \
        - {name: bad input, tool: echo, args: {message: x}, negative_path: {checks: [unknown_tool]}}\n\
        agents:\n  \
        - {name: meets a hang, model: 'scripted:careful', prompt: say hello, servers: [m], inject: [hung]}\n";
    let (report, code) = Bench::new(suite).report(&["--tag", "EDGE"]);
    let tests = report["tests"].as_array().unwrap();
    let told: Vec<_> = tests.iter().map(|test| (&test["name"], &test["family"])).collect();
    assert_eq!(
        told,
        [(&"bad input".into(), &"EDGE".into()), (&"meets a hang".into(), &"EDGE".into())],
        "{report:#}"
    );
    assert_eq!(code, 0, "{report:#}");
    let (report, _) = Bench::new(suite).report(&["--skip-tag", "EDGE"]);
    assert_eq!(outcomes(&report).len(), 1, "{report:#}");
    assert!(report["tests"][0]["family"].is_null());
}

#[test]
fn the_first_failure_may_end_it() {
    let (report, code) = Bench::new(SIX).report(&["--fail-fast", "--parallel", "1"]);
    let totals = &report["totals"];
    assert_eq!((totals["failed"].as_u64(), totals["not_run"].as_u64()), (Some(1), Some(1)));
    assert_eq!(code, 1);
}

#[test]
fn repeated_tests_tell_their_share() {
    let bench = Bench::new(
        "servers: {m: {mock: {fault: ['tool-error@every=4']}}}\nrun_options: {parallel: 1}\n\
         tools: [{name: flaky, tool: echo, args: {message: x}}]\n",
    );
    let (report, code) = bench.report(&["--repeat", "8"]);
    let repeats = &report["tests"][0]["repeats"];
    assert_eq!((repeats["passed"].as_u64(), repeats["runs"].as_u64()), (Some(6), Some(8)));
    assert!(repeats["interval"]["low"].as_f64().unwrap() > 0.4, "{repeats}");
    assert_eq!((report["tests"][0]["outcome"].as_str(), code), (Some("failed"), 1));
}

#[test]
fn what_is_wrong_is_told_before_anything_is_started() {
    let bench = Bench::new("");
    let trace = bench.path().join("started");
    let suite = |rest: &str| {
        format!(
            "servers:\n  s: {{command: [touch, '{}']}}\ntools:\n  - {{name: t, tool: echo}}\n{rest}",
            trace.display()
        )
    };
    for (rest, told, hint) in [
        ("agentz: []\n", "suite.yml:5: `agentz`: unknown key", "did you mean `agents`?"),
        (
            "agents:\n  - name: a\n    model: scripted:careful\n    servers: [s]\n    \
             inject: [hung]\n    prompt: x\nfaults: [{name: hang, target: {tool: x}, kind: hang}]\n",
            "suite.yml:9: `agents[0].inject[0]`: there is no fault `hung`",
            "did you mean `hang`?",
        ),
        (
            "agents:\n  - {name: a, servers: [t], prompt: x}\n",
            "suite.yml:6: `agents[0].servers[0]`: there is no server `t`",
            "did you mean `s`?",
        ),
        (
            "agents:\n  - {name: a, model: claude-sonnet-4-5, servers: [s], prompt: x}\n",
            "suite.yml:6: `agents[0].model`: there is no key for `claude-sonnet-4-5`",
            "ANTHROPIC_API_KEY",
        ),
        (
            "agents:\n  - {name: a, servers: [s], prompt: x}\n",
            "`agents[0].model`: it is missing",
            "",
        ),
    ] {
        bench.write("suite.yml", &suite(rest));
        let ran = bench.test(&[]);
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.err.contains(told) && ran.err.contains(hint), "{}", ran.err);
        assert!(!trace.exists(), "something was started");
    }
}

#[test]
fn a_directory_is_searched_and_a_configuration_may_be_a_suite() {
    let bench = Bench::new(SIX);
    std::fs::create_dir(bench.path().join("more")).unwrap();
    bench.write("more/other.yaml", "servers: {m: {mock: {}}}\ntools: [{name: o, tool: lorem}]\n");
    bench.write("more/unrelated.yml", "version: 3\n");
    let ran = run_in(bench.path(), &["test", ".", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(outcomes(&report).len(), 7, "{}", ran.err);
    let ran = run_in(bench.path(), &["run", "--config", "suite.yml"]);
    assert!(ran.out.contains("4 passed, 1 failed, 1 skipped"), "{}{}", ran.out, ran.err);
    assert_eq!(ran.code, 1);
    let ran = run_in(bench.path(), &["run", "--config", "suite.yml", "--github"]);
    assert!(ran.code == 1 && ran.err.contains("::error"), "{}{}", ran.out, ran.err);
    let ran = run_in(bench.path(), &["run", "--config", "suite.yml", "--duration", "5s"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("`--duration` has no effect on a suite"), "{}", ran.err);
    let example = repository().join("examples/fault-injection-recovery.yml");
    let ran = run_in(bench.path(), &["run", "--config", &example.display().to_string()]);
    assert!(ran.err.contains("ANTHROPIC_API_KEY"), "{}", ran.err);
}

/// Whatever is left out of a directory is left out without a word.
#[test]
fn a_directory_gives_each_suite_and_no_list_of_tools() {
    let bench =
        Bench::new("servers: {m: {mock: {tools_from: tools.yml}}}\ntools: [{name: a, tool: t}]\n");
    bench.write("tools.yml", "tools: [{name: t, response: one}]\n");
    bench.write("flow.yml", "{servers: {m: {mock: {}}}, tools: [{name: b, tool: lorem}]}\n");
    bench.write(
        "comma.json",
        "{\"servers\": {\"m\": {\"mock\": {}}}, \"tools\": [{\"name\": \"c\", \
        \"tool\": \"lorem\"},]}\n",
    );
    let ran = run_in(bench.path(), &["test", ".", "--json"]);
    let report: serde_json::Value =
        serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}", ran.err));
    let names: Vec<_> = outcomes(&report).into_iter().map(|(name, _)| name).collect();
    assert_eq!((names, ran.code), (vec!["c".to_owned(), "b".into(), "a".into()], 0), "{report:#}");
    bench.write("flow.yml", "{servers: {m: {mock: {}}}, tools: [{name: b, tool: lorem}}\n");
    let ran = run_in(bench.path(), &["test", ".", "--json"]);
    assert!(ran.code == 2 && ran.err.contains("flow.yml"), "{}", ran.err);
}

#[test]
fn snapshots_are_written_and_compared() {
    let bench = Bench::new(
        "servers: {m: {mock: {tools: [{name: t, response: one}]}}}\ntools:\n  - name: snap\n    \
         tool: t\n    expect: [{target: result, matcher: snapshot}]\n",
    );
    let before = bench.test(&[]);
    assert!(before.out.contains("--update"), "{}", before.out);
    assert_eq!((before.code, bench.test(&["--update"]).code, bench.test(&[]).code), (1, 0, 0));
    let text = std::fs::read_to_string(bench.path().join("suite.yml")).unwrap();
    bench.write("suite.yml", &text.replace("response: one", "response: two"));
    let changed = bench.test(&[]);
    assert_eq!(changed.code, 1);
    assert!(changed.out.contains("the snapshot says"), "{}", changed.out);
}
