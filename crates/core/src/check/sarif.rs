//! SARIF 2.1.0, as code-scanning pages read it: a rule for each kind of finding, a result for each.

use serde_json::{Value, json};

use crate::{
    report::{Finding, Severity},
    server::Server,
};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// Findings as SARIF. Alerts need a file to stand in: `location` says which.
pub fn sarif(findings: &[Finding], location: &str) -> Value {
    let rules: Vec<_> = findings.iter().map(rule).collect();
    let results: Vec<_> = findings
        .iter()
        .enumerate()
        .map(|(index, finding)| result(finding, index, location))
        .collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "mcp-loadtest",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "results": results,
        }],
    })
}

/// The file that a server is most likely made of: the first argument that looks like a source file.
pub fn likely_source(server: &Server) -> Option<&str> {
    const ENDINGS: [&str; 8] = [".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".php", ".jar"];
    server.args.iter().map(String::as_str).find(|arg| {
        ENDINGS.iter().any(|ending| arg.ends_with(ending)) && !arg.starts_with(['/', '-'])
    })
}

fn rule(finding: &Finding) -> Value {
    let about = finding.meaning.as_deref().unwrap_or(&finding.message);
    json!({
        "id": finding.id,
        "name": finding.id,
        "shortDescription": { "text": finding.id.replace('_', " ") },
        "fullDescription": { "text": about },
        "help": { "text": finding.hint.as_deref().unwrap_or(about) },
        "defaultConfiguration": { "level": level(finding.severity) },
    })
}

fn result(finding: &Finding, index: usize, location: &str) -> Value {
    let mut text = finding.message.clone();
    for line in finding.evidence.iter().chain(&finding.hint) {
        text.push('\n');
        text.push_str(line);
    }
    if let Some(command) = &finding.reproduce {
        text.push_str(&format!("\nAgain: {command}"));
    }
    json!({
        "ruleId": finding.id,
        "ruleIndex": index,
        "level": level(finding.severity),
        "message": { "text": text },
        "locations": [{ "physicalLocation": {
            "artifactLocation": { "uri": location },
            "region": { "startLine": 1 },
        }}],
        "partialFingerprints": { "mcpLoadtestFinding/v1": format!("{}:{location}", finding.id) },
    })
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_a_rule_and_a_result() {
        let finding = Finding {
            id: "wrong_type".into(),
            severity: Severity::Critical,
            message: "accepted".into(),
            evidence: vec!["`a` as list".into()],
            figures: Default::default(),
            hint: None,
            meaning: Some("types are not checked".into()),
            reproduce: Some("mcp-loadtest probe -s x --only wrong_type".into()),
        };
        let document = sarif(&[finding], "server.py");
        insta::assert_snapshot!(
            serde_json::to_string_pretty(&document)
                .unwrap()
                .replace(env!("CARGO_PKG_VERSION"), "[version]")
        );
        let run = &document["runs"][0];
        assert_eq!(run["tool"]["driver"]["rules"][0]["id"], "wrong_type");
        let result = &run["results"][0];
        assert_eq!((&result["level"], &result["ruleIndex"]), (&json!("error"), &json!(0)));
        let text = result["message"]["text"].as_str().unwrap();
        assert!(text.ends_with("Again: mcp-loadtest probe -s x --only wrong_type"), "{text}");
    }

    #[test]
    fn an_alert_stands_in_the_file_that_is_run() {
        let server = |args: &[&str]| Server::stdio("python").args(args.iter().copied());
        let source = |args: &[&str]| likely_source(&server(args).into()).map(str::to_owned);
        assert_eq!(source(&["-u", "src/server.py", "x"]).as_deref(), Some("src/server.py"));
        assert_eq!(source(&["-m", "my_mcp"]), None);
        assert_eq!(source(&["/opt/server.py"]), None);
    }
}
