//! Agents from the registries, which speak to our mock of a model and meet a tool that hangs.

use std::path::{Path, PathBuf};

use super::{Bench, repository, test_of};
use crate::clients::home;

/// Where the agents are installed. Without it the test fails and says what to run.
fn python() -> PathBuf {
    home("agents-python").join("bin/python")
}

fn bench(answer: &str) -> Bench {
    let bench = Bench::new("");
    bench.write(
        "model.yml",
        &format!(
            "fixtures:\n  - match: {{body_jsonpath: \"$.messages[?@.role == 'tool']\"}}\n    \
             response: {{content: '{answer}'}}\n  - response: {{tool_calls: [{{name: search, arguments: \
             {{query: latest}}}}]}}\n"
        ),
    );
    let agent = |name: &str| {
        let script = repository().join(format!("tests/fixtures/agent-{name}.py"));
        format!(
            "  - name: {name}\n    command: ['{}', '{}']\n    model: mocked\n    servers: [api]\n    \
             inject: [hung]\n    prompt: Search for the latest report.\n    time_budget: 300s\n    \
             recovery: {{max_detection_ms: 60000, require_clean_timeout: true}}\n",
            shown(&python()),
            shown(&script)
        )
    };
    bench.write(
        "suite.yml",
        &format!(
            "servers:\n  api: {{mock: {{tools: [{{name: search, response: 'Latest: INC-7731'}}]}}}}\n\
             faults: [{{name: hung, target: {{tool: search}}, kind: hang}}]\n\
             models: [{{name: mocked, provider: openai, fixtures: model.yml}}]\nagents:\n{}{}",
            agent("openai-agents"),
            agent("pydantic-ai")
        ),
    );
    bench
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[test]
fn real_agents_are_judged_by_what_they_do_on_the_wire() {
    for (answer, verdict, code) in [
        ("The search timed out; I have no report.", "degraded_honestly", 0),
        ("The latest report is INC-4242.", "fabricated", 1),
    ] {
        let (report, seen) = bench(answer).report(&[]);
        for name in ["openai-agents", "pydantic-ai"] {
            let test = test_of(&report, name);
            assert_eq!(test["recovery"]["verdict"], verdict, "{test:#}");
            // Both wait ten seconds, and tell the server when they are over. Nobody knows how late the
            // mock heard of the call.
            assert_eq!(test["live"]["cancels"], 1, "{test:#}");
            let hang = test["live"]["hang_ms"][0].as_u64().unwrap();
            assert!(hang >= 900, "{test:#}");
        }
        assert_eq!(seen, code, "{report:#}");
    }
}
