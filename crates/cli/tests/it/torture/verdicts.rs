//! The commands that judge a server without a load: probes, suites and the doctor.

use std::{fs, path::Path};

use serde_json::{Value, json};

use super::{Choice, Ended, Rack, chosen, for_each};
use crate::interrupted::marked;

/// A command and the file that it is asked to write.
struct Judge {
    name: &'static str,
    flags: &'static [&'static str],
    file: Option<&'static str>,
}

const JUDGES: &[Judge] = &[
    Judge {
        name: "probe",
        flags: &["--only", "unknown_tool,unknown_method,wrong_type", "--junit", "probe.xml"],
        file: Some("probe.xml"),
    },
    Judge { name: "negative-path", flags: &["--tool", "echo"], file: None },
    Judge { name: "test", flags: &["suite.json", "--junit", "suite.xml"], file: Some("suite.xml") },
    Judge { name: "doctor", flags: &["--only", "server"], file: None },
];

impl Judge {
    fn args(&self, rack: &Rack) -> Vec<String> {
        let mock = env!("CARGO_BIN_EXE_mcp-loadtest");
        let mut args: Vec<String> = vec![self.name.into(), "--json".into()];
        args.extend(self.flags.iter().map(|flag| (*flag).to_owned()));
        if self.name == "test" {
            write_suite(&rack.path("suite.json"), mock, &mark(rack));
        } else {
            args.push(format!("--server={mock} mock"));
            args.push(format!("--env=RACK={}", mark(rack)));
        }
        args
    }

    /// What must be true however it ended; `parts` is how much it says when nothing happens to it.
    fn judge(&self, parts: usize, rack: &Rack, ran: &Ended) -> Result<(), String> {
        let failed = rack.failed();
        let wrong = |what: &str| {
            Err(format!("{what}; exit {}, failed: {failed:?}\n{}\n{}", ran.code, ran.out, ran.err))
        };
        let left = marked(&format!("RACK={}", mark(rack)));
        if !left.is_empty() {
            return wrong(&format!("it left {left:?} alive"));
        }
        if ran.code > 2 {
            return wrong("an exit code that is in no table");
        }
        let told = format!("{}{}", ran.out, ran.err);
        if ran.code == 2 && !told.contains("tortured: ") {
            return wrong("it does not say what failed");
        }
        let said = serde_json::from_str::<Value>(&ran.out).ok();
        if ran.code < 2 && said.is_none() {
            return wrong("no verdict");
        }
        // A connection that breaks at a long text may be a server's way to refuse it; then it says more.
        if ran.code == 0 && said.as_ref().map(weight) < Some(parts) {
            return wrong(&format!("it passes without all of its {parts} parts"));
        }
        let whole = self.file.is_none_or(|file| is_whole(&rack.path(file)));
        if ran.code < 2 && !whole { wrong("a file is missing and nobody is told") } else { Ok(()) }
    }
}

/// What our processes carry in their environment, and no other test's.
fn mark(rack: &Rack) -> String {
    rack.path("mark").display().to_string()
}

fn write_suite(path: &Path, mock: &str, mark: &str) {
    let test = |name: &str| {
        json!({ "name": name, "tool": "echo", "args": { "message": name },
                "expect": [{ "target": "result.content[0].text", "matcher": { "contains": name } }] })
    };
    let suite = json!({
        "servers": { "it": { "command": [mock, "mock"], "env": { "RACK": mark } } },
        "tools": [test("one"), test("two"), test("three")],
    });
    fs::write(path, suite.to_string()).unwrap();
}

/// How many members a verdict has, at every depth.
fn weight(value: &Value) -> usize {
    match value {
        Value::Array(all) => 1 + all.iter().map(weight).sum::<usize>(),
        Value::Object(all) => 1 + all.values().map(weight).sum::<usize>(),
        _ => 1,
    }
}

/// A file with its end.
fn is_whole(path: &Path) -> bool {
    fs::read_to_string(path).is_ok_and(|text| text.trim_end().ends_with("</testsuites>"))
}

#[test]
fn every_judge_survives_the_failure_of_anything() {
    let mut all = Vec::new();
    for judge in JUDGES {
        let rack = Rack::new();
        let ran = rack.run(&judge.args(&rack), "count");
        assert_eq!(ran.code, 0, "{}: {}{}", judge.name, ran.out, ran.err);
        let parts = weight(&serde_json::from_str(&ran.out).unwrap());
        let tortures = chosen(&rack.deeds(), Choice::EveryPlace);
        all.extend(tortures.into_iter().map(|torture| (judge, parts, torture)));
    }
    for_each(&all, |(judge, parts, torture)| {
        let rack = Rack::new();
        let ran = rack.run(&judge.args(&rack), torture);
        judge.judge(*parts, &rack, &ran).map_err(|why| format!("{}, {torture}: {why}", judge.name))
    });
}
