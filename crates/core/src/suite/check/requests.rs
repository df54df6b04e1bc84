//! Tools, resources and prompts.

use super::{Checked, expect, list, of_server, unknown, usual, within};
use crate::{
    config::{ConfigError, KeyPath},
    suite::{file::Suite, test::ToolTest},
};

/// The checks that `negative_path` may name.
pub const NEGATIVE_CHECKS: &[&str] = &[
    "unknown_tool",
    "missing_required",
    "wrong_type",
    "extra_field",
    "oversized",
    "enum_miss",
    "out_of_bounds",
];

/// Where expectations of a tool, a resource or a prompt may look.
const REPLY_ROOTS: &[&str] = &["result", "error", "duration_ms", "negative_path", "fuzz"];

/// Judges all tests that make one request.
pub(super) fn requests(suite: &Suite) -> Checked {
    for (at, test) in suite.tools.iter().enumerate() {
        tool(suite, test).map_err(|error| within(&list("tools", at), error))?;
    }
    let resources = suite.resources.iter().enumerate().map(|(at, test)| {
        (list("resources", at), &test.server, &test.expect, test.timeout_ms, &test.skip)
    });
    let prompts = suite.prompts.iter().enumerate().map(|(at, test)| {
        (list("prompts", at), &test.server, &test.expect, test.timeout_ms, &test.skip)
    });
    for (key, server, expect, timeout, skip) in resources.chain(prompts) {
        of_server(suite, server.as_deref())
            .and_then(|()| usual(expect, timeout, skip.as_deref(), &REPLY_ROOTS[..3]))
            .map_err(|error| within(&key, error))?;
    }
    Ok(())
}

fn tool(suite: &Suite, test: &ToolTest) -> Checked {
    of_server(suite, test.server.as_deref())?;
    usual(&test.expect, test.timeout_ms, test.skip.as_deref(), REPLY_ROOTS)?;
    if let Some(negative) = &test.negative_path {
        for (at, name) in negative.checks.iter().enumerate() {
            if !NEGATIVE_CHECKS.contains(&name.as_str()) {
                let key = KeyPath::from("negative_path").key("checks").index(at);
                return Err(unknown(key, "check", name, NEGATIVE_CHECKS.iter().copied()));
            }
        }
        let judged = expect(&negative.expect, &["negative_path"]);
        judged.map_err(|error| within(&"negative_path.expect".into(), error))?;
    }
    if let Some(fuzz) = &test.fuzz {
        let judged = expect(&fuzz.expect, &["fuzz"]);
        judged.map_err(|error| within(&"fuzz.expect".into(), error))?;
        if fuzz.cases == Some(0) {
            return Err(ConfigError::new("fuzz.cases", "it must be at least 1"));
        }
    }
    let unmade = [("negative_path", test.negative_path.is_none()), ("fuzz", test.fuzz.is_none())];
    match unmade.iter().find(|(root, is_missing)| *is_missing && test.expect.looks_at(root)) {
        Some((root, _)) => {
            let why = format!("looks at `{root}`, which this test does not have");
            Err(ConfigError::new("expect", why))
        }
        None => Ok(()),
    }
}
