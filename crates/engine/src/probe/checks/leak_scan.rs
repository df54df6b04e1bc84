//! Error messages that tell more than they should. It comes late: most of what it looks at was
//! provoked by the checks before it.

use std::collections::BTreeSet;

use mcp_loadtest_core::{
    check::{CaseVerdict, Depth, Family, leaks},
    report::Severity,
    secrets::names_a_secret,
};
use serde_json::{Value, json};

use super::{Check, Running};
use crate::probe::{asking::Overheard, bench::Bench};

pub(super) static CHECK: Check = Check {
    id: "leak_scan",
    family: Family::Output,
    taxonomy: None,
    depth: Depth::Quick,
    about: "looks for stack traces, paths, secrets and SQL in the server's error messages",
    meaning: "whoever can call a tool learns how the server is built, where it runs, or its secrets",
    run,
};

const REFERENCE: &str = "CWE-209: error messages that contain sensitive information";

/// Tools beyond this are not provoked.
const MOST_TOOLS: usize = 5;

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        provoke(bench).await;
        let secrets = secrets(bench);
        let secrets: Vec<_> = secrets.iter().map(String::as_str).collect();
        let overheard = bench.overheard();
        let mut told = BTreeSet::new();
        for Overheard { sent, said } in &overheard {
            let sent = all_text(sent);
            for (leak, shown) in leaks::find(&all_text(said.as_bytes()), &sent, &secrets) {
                // The same leak in every message is one leak.
                if told.insert((leak, shown.clone())) {
                    let case = CHECK.case(format!("tells {}", leak.words()), CaseVerdict::Broken);
                    let case = case.severity(Severity::Warning).reference(REFERENCE);
                    bench.tell(case.detail(shown).sent(sent.as_bytes()));
                }
            }
        }
        match (overheard.len(), told.len()) {
            (0, _) => bench.skip(&CHECK, "no error message was provoked"),
            (count, 0) => {
                let case = CHECK.case(format!("{count} error messages"), CaseVerdict::Held);
                bench.tell(case);
            }
            _ => {}
        }
    })
}

/// Calls that any tool refuses, if it looks at its arguments at all.
async fn provoke(bench: &Bench) {
    let bad = [json!({ "mcp_loadtest": { "a": [null, "'\"; --"] } }), json!({})];
    for (tool, good) in bench.subjects().take(MOST_TOOLS) {
        let wrong_types = good.as_object().map(|members| {
            let numbers = members.keys().map(|name| (name.clone(), json!({ "a": [1] })));
            Value::Object(numbers.collect())
        });
        for arguments in bad.iter().chain(&wrong_types) {
            let Ok(session) = bench.session().await else { return };
            bench.call(&session, tool, arguments).await;
        }
    }
}

/// What the user gave to the server under a name that says that it is secret.
fn secrets(bench: &Bench) -> Vec<String> {
    let variables = bench.server.env.iter();
    let headers = bench.server.transport.headers().into_iter().flatten();
    let named = variables.chain(headers).filter(|(name, _)| names_a_secret(name));
    // `Bearer abc`: the word before it is no secret.
    named.filter_map(|(_, value)| value.split_whitespace().last().map(str::to_owned)).collect()
}

/// The texts in a message, one below the other; the message itself where it is no JSON.
fn all_text(message: &[u8]) -> String {
    let mut texts = Vec::new();
    match serde_json::from_slice(message) {
        Ok(value) => collect(&value, &mut texts),
        Err(_) => texts.push(String::from_utf8_lossy(message).into_owned()),
    }
    texts.join("\n")
}

fn collect(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(entries) => entries.iter().for_each(|entry| collect(entry, texts)),
        Value::Object(members) => members.iter().for_each(|(name, member)| {
            texts.push(name.clone());
            collect(member, texts);
        }),
        _ => {}
    }
}
