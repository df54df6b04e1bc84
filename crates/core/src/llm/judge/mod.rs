//! What a client did with the failures that it met: a verdict from its requests alone.
//!
//! `chains` finds out which requests are tries of the same call; `rules` looks at one call at a time.
//! To add a rule: a function in `rules` and its line in [`rules::RULES`].

mod chains;
mod requests;
mod rules;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::{
    chains::{Chain, chains},
    requests::Requests,
};
use super::{Ending, Entry};
use crate::report::{Finding, Severity, Verdict, figures::counted};

/// Where patience ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Patience {
    /// More tries of one call than this are a storm.
    pub most_tries: usize,
    /// Waits that are all shorter than this, in milliseconds, are no back-off.
    pub shortest_wait_ms: f64,
}

impl Default for Patience {
    fn default() -> Self {
        Self { most_tries: 10, shortest_wait_ms: 50.0 }
    }
}

/// What clients did with the failures that they met.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "mcp-loadtest llm verdict")]
pub struct ClientReport {
    /// The word above everything.
    pub verdict: Verdict,
    /// Requests that were looked at: those to a model.
    pub requests: usize,
    /// Of those, requests that no fixture answered: they say nothing about the client.
    pub unmatched: usize,
    /// Requests that came and that nobody looked at, because the server no longer remembers them.
    #[serde(default)]
    pub forgotten: u64,
    /// Calls, each with all of its tries.
    pub calls: usize,
    /// Requests that were another try of a call.
    pub retries: usize,
    /// Calls that met a failure.
    pub troubled: usize,
    /// Of those, calls that got a whole answer in the end.
    pub recovered: usize,
    /// Requests that the client gave up before the answer ended.
    pub aborted: usize,
    /// What is wrong, the worst last.
    pub findings: Vec<Finding>,
    /// What cannot be told from requests alone.
    pub could_not_tell: Vec<String>,
}

impl ClientReport {
    /// The JSON Schema of it.
    pub fn json_schema() -> Value {
        schemars::schema_for!(Self).to_value()
    }

    /// The same, where so many requests were forgotten before anybody looked: what is left can prove that
    /// a client is wrong, and not that it is right.
    fn after_forgetting(mut self, requests: u64) -> Self {
        if requests > 0 {
            self.forgotten = requests;
            self.verdict = self.verdict.max(Verdict::Invalid);
            self.could_not_tell.push(format!(
                "{} came that the server no longer remembers; write all of them down with \
                 `--journal FILE`, and judge that with `llm verdict FILE`",
                counted(requests, "earlier request")
            ));
        }
        self
    }
}

/// Judges what clients did. The order of the entries does not matter.
pub fn judge(entries: &[Entry], patience: Patience) -> ClientReport {
    let forgotten =
        entries.iter().fold(0, |sum: u64, entry| sum.saturating_add(entry.forgotten_before));
    let mut entries: Vec<&Entry> = entries.iter().filter(|entry| entry.is_call()).collect();
    entries.sort_by(|one, two| one.at_ms.total_cmp(&two.at_ms).then(one.number.cmp(&two.number)));
    let unmatched: Vec<_> = entries.iter().filter(|entry| entry.is_unmatched()).copied().collect();
    entries.retain(|entry| !entry.is_unmatched());
    let (chains, could_not_tell) = chains(&entries);
    let all = Requests::new(&entries);
    let mut findings: Vec<_> = rules::RULES
        .iter()
        .flat_map(|rule| {
            let found = chains.iter().filter_map(|chain| (rule.look)(chain, &all, patience));
            together(rule, found.collect())
        })
        .collect();
    findings.extend(no_fixture(&unmatched));
    findings.sort_by_key(|finding| finding.severity);
    let is_troubled = |chain: &&Chain<'_>| chain.tries.iter().any(|try_| is_trouble(try_));
    let troubled: Vec<_> = chains.iter().filter(is_troubled).collect();
    let recovered = troubled.iter().filter(|chain| chain.last().ending == Ending::Complete).count();
    let report = ClientReport {
        verdict: verdict(&entries, &unmatched, &findings),
        requests: entries.len() + unmatched.len(),
        unmatched: unmatched.len(),
        forgotten: 0,
        calls: chains.len(),
        retries: entries.len() - chains.len(),
        troubled: troubled.len(),
        recovered,
        aborted: entries.iter().filter(|entry| entry.ending == Ending::Aborted).count(),
        findings,
        could_not_tell,
    };
    report.after_forgetting(forgotten)
}

fn is_trouble(entry: &Entry) -> bool {
    !matches!(entry.ending, Ending::Complete | Ending::Aborted | Ending::Stopped)
}

fn verdict(entries: &[&Entry], unmatched: &[&Entry], findings: &[Finding]) -> Verdict {
    match findings.iter().map(|finding| finding.severity).max() {
        // Whatever else was seen: the test did not do what it was written for.
        _ if entries.is_empty() || !unmatched.is_empty() => Verdict::Invalid,
        Some(Severity::Critical) => Verdict::Fail,
        Some(Severity::Warning) => Verdict::Warning,
        Some(Severity::Info) | None => Verdict::Pass,
    }
}

/// The test itself is at fault.
fn no_fixture(unmatched: &[&Entry]) -> Option<Finding> {
    let first = unmatched.first()?;
    let shown =
        |entry: &&Entry| format!("request {}: {} for `{}`", entry.number, entry.path, entry.model);
    let finding = Finding {
        id: "no_fixture".into(),
        severity: Severity::Critical,
        message: format!("no fixture answers request {}", first.number),
        evidence: unmatched.iter().take(MOST_EVIDENCE).map(shown).collect(),
        figures: Default::default(),
        hint: Some(
            "look at `match` and at the base URL; the reply says which fixture came nearest".into(),
        ),
        meaning: Some("The client met an error that the test did not mean it to meet.".into()),
        reproduce: None,
    };
    Some(finding.figure("requests", unmatched.len() as f64))
}

/// What clients are judged by: each rule with what it is about.
pub fn rules() -> impl Iterator<Item = (&'static str, &'static str)> {
    rules::RULES.iter().map(|rule| (rule.id, rule.about))
}

/// So many calls are shown with a finding.
const MOST_EVIDENCE: usize = 5;

/// One finding for all calls that a rule speaks of.
fn together(rule: &rules::Rule, found: Vec<rules::Seen>) -> Option<Finding> {
    let severity = found.iter().map(|seen| seen.severity).max()?;
    let worst: Vec<_> = found.iter().filter(|seen| seen.severity == severity).collect();
    let mut evidence: Vec<_> =
        worst.iter().take(MOST_EVIDENCE).map(|seen| seen.words.clone()).collect();
    if worst.len() > MOST_EVIDENCE {
        evidence.push(format!("and {} more", worst.len() - MOST_EVIDENCE));
    }
    let calls =
        if worst.len() == 1 { "1 call".to_owned() } else { format!("{} calls", worst.len()) };
    let finding = Finding {
        id: rule.id.to_owned(),
        severity,
        message: format!("{}: {calls}", rule.about),
        evidence,
        figures: Default::default(),
        hint: Some(rule.hint.to_owned()),
        meaning: Some(rule.meaning.to_owned()),
        reproduce: None,
    };
    Some(finding.figure("calls", worst.len() as f64))
}
