//! JUnit XML, as CI servers read it: a file is a suite, a test is a test case.

use std::{collections::BTreeMap, fmt::Write as _};

use crate::{
    check::escaped,
    suite::result::{Outcome, SuiteReport, TestResult},
};

pub(super) fn render(report: &SuiteReport) -> String {
    let mut suites: BTreeMap<&str, Vec<&TestResult>> = BTreeMap::new();
    for test in &report.tests {
        suites.entry(&test.suite).or_default().push(test);
    }
    let mut body = String::new();
    for (file, tests) in suites {
        let inner: String = tests.iter().map(|test| case(test)).collect();
        let attributes = attributes(&tests);
        let _ = writeln!(
            body,
            "  <testsuite name=\"{}\" {attributes}>\n{inner}  </testsuite>",
            escaped(file)
        );
    }
    let all: Vec<_> = report.tests.iter().collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"mcp-loadtest test\" {}>\n\
         {body}</testsuites>\n",
        attributes(&all)
    )
}

fn attributes(tests: &[&TestResult]) -> String {
    let count =
        |wanted: &[Outcome]| tests.iter().filter(|test| wanted.contains(&test.outcome)).count();
    let seconds: f64 = tests.iter().map(|test| test.took_ms).sum::<f64>() / 1e3;
    format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{seconds:.3}\"",
        tests.len(),
        count(&[Outcome::Failed]),
        count(&[Outcome::Broken]),
        count(&[Outcome::Skipped, Outcome::NotRun]),
    )
}

fn case(test: &TestResult) -> String {
    let head = format!(
        "    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3}\"",
        test.kind.section(),
        escaped(&test.name),
        test.took_ms / 1e3
    );
    let properties = properties(test);
    let inner = match test.outcome {
        Outcome::Passed => String::new(),
        Outcome::Failed => element("failure", test),
        Outcome::Broken => element("error", test),
        Outcome::Skipped | Outcome::NotRun => {
            format!("      <skipped message=\"{}\"/>\n", escaped(&test.reason))
        }
    };
    match (properties.is_empty(), inner.is_empty()) {
        (true, true) => format!("{head}/>\n"),
        _ => format!("{head}>\n{properties}{inner}    </testcase>\n"),
    }
}

/// How an agent recovered, where CI servers show such things.
fn properties(test: &TestResult) -> String {
    let Some(judged) = &test.recovery else { return String::new() };
    let mut text = String::from("      <properties>\n");
    let mut add = |name: &str, value: &str| {
        let value = escaped(value);
        let _ = writeln!(text, "        <property name=\"{name}\" value=\"{value}\"/>");
    };
    add("recovery.verdict", judged.verdict.name());
    add("recovery.why", &judged.why);
    add("recovery.evidence", &judged.evidence.join(", "));
    add("recovery.detections", &judged.detections.to_string());
    if let Some(trajectory) = &test.trajectory {
        let calls: Vec<_> = trajectory.calls.iter().map(|call| call.tool.as_str()).collect();
        add("trajectory", &calls.join(" -> "));
    }
    text + "      </properties>\n"
}

fn element(name: &str, test: &TestResult) -> String {
    let told: Vec<_> = test
        .failures
        .iter()
        .map(|failure| format!("{}: {}", failure.target, failure.message))
        .chain((!test.reason.is_empty()).then(|| test.reason.clone()))
        .chain((!test.reproduce.is_empty()).then(|| format!("again: {}", test.reproduce)))
        .collect();
    let first = told.first().cloned().unwrap_or_default();
    format!(
        "      <{name} message=\"{}\">{}</{name}>\n",
        escaped(&first),
        escaped(&told.join("\n"))
    )
}
