//! The code quality report of GitLab: a list that merge requests show beside the code.

use std::collections::HashMap;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{NOWHERE, Remark};
use crate::{display::visible, report::Severity};

const LONGEST: usize = 1_000;

/// All remarks as one document.
pub fn document(remarks: &[Remark]) -> Value {
    let mut seen = HashMap::new();
    remarks.iter().map(|remark| entry(remark, &mut seen)).collect()
}

fn entry(remark: &Remark, seen: &mut HashMap<String, u32>) -> Value {
    let path = remark.file.as_deref().unwrap_or(NOWHERE);
    let told =
        [&remark.title].into_iter().chain(&remark.details).map(|line| visible(line, LONGEST));
    json!({
        "description": told.collect::<Vec<_>>().join("\n"),
        "check_name": remark.id,
        "fingerprint": fingerprint(remark, path, seen),
        "severity": match remark.severity {
            Severity::Critical => "critical",
            Severity::Warning => "minor",
            Severity::Info => "info",
        },
        "location": { "path": path, "lines": { "begin": remark.line.unwrap_or(1) } },
    })
}

/// The same for the same trouble in the next pipeline: messages have figures, so they are no part of
/// it. Of several alike, each has its number.
fn fingerprint(remark: &Remark, path: &str, seen: &mut HashMap<String, u32>) -> String {
    // What a test is called is what tells it from others.
    let name = if remark.id == "test" { remark.title.as_str() } else { "" };
    let base = format!("{}\n{path}\n{name}", remark.id);
    let count = seen.entry(base.clone()).or_insert(0);
    *count += 1;
    let hash = Sha256::digest(format!("{base}\n{count}"));
    hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}
