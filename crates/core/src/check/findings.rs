//! From what was tried to what it means.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CaseResult, CaseVerdict, Family, contract};
use crate::report::Finding;

/// So many cases are shown with a finding.
const MOST_EVIDENCE: usize = 5;

/// What a finding of a check says to people.
#[derive(Debug, Clone, Copy)]
pub struct About {
    /// The id of the check, and of its finding.
    pub id: &'static str,
    /// What it means for those who use the server.
    pub meaning: &'static str,
}

/// One finding for each check that saw something bad: its worst cases are the evidence. `reproduce`
/// gives the command that repeats a check, for one tool where that is enough.
pub fn findings(
    results: &[CaseResult],
    checks: impl Iterator<Item = About>,
    reproduce: impl Fn(&str, Option<&str>) -> String,
) -> Vec<Finding> {
    let mut found: Vec<Finding> =
        checks.filter_map(|about| finding(results, about, &reproduce)).collect();
    found.sort_by_key(|finding| finding.severity);
    found
}

fn finding(
    results: &[CaseResult],
    about: About,
    reproduce: &impl Fn(&str, Option<&str>) -> String,
) -> Option<Finding> {
    let tried: Vec<_> = results.iter().filter(|result| result.check == about.id).collect();
    let severity = tried.iter().filter_map(|result| result.severity).max()?;
    let worst: Vec<_> = tried.iter().filter(|result| result.severity == Some(severity)).collect();
    let known = tried.iter().filter(|result| result.verdict.is_known()).count();
    let first = worst.first()?;
    let message = if worst.len() == 1 {
        format!("{}: {}", subject(first), what_happened(first))
    } else {
        let (count, word) = (worst.len(), first.verdict.words());
        format!(
            "{count} of {known} cases {word}; the first: {}: {}",
            subject(first),
            what_happened(first)
        )
    };
    let mut evidence: Vec<_> =
        worst.iter().take(MOST_EVIDENCE).map(|result| shown(result)).collect();
    if worst.len() > MOST_EVIDENCE {
        evidence.push(format!("and {} more", worst.len() - MOST_EVIDENCE));
    }
    let one_tool = first
        .tool
        .as_deref()
        .filter(|tool| worst.iter().all(|result| result.tool.as_deref() == Some(tool)));
    Some(Finding {
        id: about.id.to_owned(),
        severity,
        message,
        evidence,
        figures: [("cases".to_owned(), worst.len() as f64)].into(),
        hint: first.reference.as_ref().map(|reference| format!("see {reference}")),
        meaning: Some(meaning(first, about).to_owned()),
        reproduce: Some(reproduce(about.id, one_tool)),
    })
}

/// What a check looks for is not what it found where the server ended or fell silent meanwhile.
fn meaning(worst: &CaseResult, about: About) -> &'static str {
    match worst.verdict {
        CaseVerdict::Crashed if worst.family == Family::Resources => {
            "plain use ends the server, or the connection to it"
        }
        CaseVerdict::Hung if worst.family == Family::Resources => {
            "plain use leaves the server silent, and all its users wait"
        }
        _ => about.meaning,
    }
}

fn subject(result: &CaseResult) -> String {
    match &result.tool {
        Some(tool) => format!("`{tool}` {}", result.case),
        None => result.case.clone(),
    }
}

fn what_happened(result: &CaseResult) -> String {
    match result.detail.as_str() {
        "" => result.verdict.words().to_owned(),
        detail => format!("{} ({detail})", result.verdict.words()),
    }
}

fn shown(result: &CaseResult) -> String {
    match &result.sent {
        Some(sent) => format!("{}: {}; sent {sent}", subject(result), what_happened(result)),
        None => format!("{}: {}", subject(result), what_happened(result)),
    }
}

/// The check that looks at calls with good arguments.
pub const CONTROL_CALL: &str = "control_call";

/// The sums that a gate looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Gate {
    /// How many cases were tried.
    pub checks_run: u64,
    /// How many of them did not go as the contract says.
    pub failures: u64,
    /// How many could not be judged.
    pub could_not_tell: u64,
    /// 1 when all that were tried went as the contract says, at least one besides the call with good
    /// arguments was tried, and at least one tool took good arguments, 0 otherwise. A server that refuses
    /// everything does not pass.
    pub gate_passed: u64,
}

/// Adds up what a gate looks at.
pub fn gate<'r>(results: impl Iterator<Item = &'r CaseResult>) -> Gate {
    let mut gate = Gate { checks_run: 0, failures: 0, could_not_tell: 0, gate_passed: 0 };
    let (mut controls, mut good_controls) = (0_u64, 0_u64);
    // The call with good arguments is what the others are held against: alone it shows nothing.
    let mut is_tested = false;
    for result in results {
        let is_control = result.check == CONTROL_CALL;
        controls += u64::from(is_control);
        good_controls += u64::from(is_control && result.verdict == CaseVerdict::Held);
        is_tested |= !is_control && result.was_tried();
        gate.checks_run += u64::from(result.was_tried());
        gate.failures += u64::from(result.fails());
        gate.could_not_tell += u64::from(result.verdict == CaseVerdict::CouldNotTell);
    }
    let controlled = controls == 0 || good_controls > 0;
    gate.gate_passed = u64::from(gate.failures == 0 && is_tested && controlled);
    gate
}

/// The same for a suite, which counts checks and not their cases, and takes nothing but a clean refusal:
/// whoever writes a check into a suite wants its contract kept.
pub fn gate_by_check<'r>(results: impl Iterator<Item = &'r CaseResult> + Clone) -> Gate {
    let by_case = gate(results.clone());
    let mut checks: BTreeMap<&str, Vec<&CaseResult>> = BTreeMap::new();
    for result in results.filter(|result| result.check != CONTROL_CALL) {
        checks.entry(&result.check).or_default().push(result);
    }
    let having = |wanted: fn(&CaseResult) -> bool| {
        checks.values().filter(|cases| cases.iter().any(|case| wanted(case))).count() as u64
    };
    let failures = having(|case| case.fails() || !is_clean(case));
    let checks_run = having(CaseResult::was_tried);
    let is_passed = checks_run > 0 && failures == 0 && by_case.gate_passed == 1;
    Gate {
        checks_run,
        failures,
        could_not_tell: having(|case| case.verdict == CaseVerdict::CouldNotTell),
        gate_passed: u64::from(is_passed),
    }
}

/// Whether nothing was taken that must not be, nor refused in a way that a program cannot see.
fn is_clean(case: &CaseResult) -> bool {
    match case.verdict {
        CaseVerdict::Accepted => false,
        CaseVerdict::Rejected => !case.reference.as_deref().is_some_and(contract::is_no_refusal),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        check::{AFTERWARDS, Family},
        mcp::Revision,
        report::Severity,
    };

    const ABOUT: [About; 1] = [About { id: "wrong_type", meaning: "types are not checked" }];

    fn result(case: &str, verdict: CaseVerdict) -> CaseResult {
        CaseResult::new("wrong_type", Family::NegativePath, case, verdict).tool("search")
    }

    fn found(results: &[CaseResult]) -> Vec<Finding> {
        findings(results, ABOUT.into_iter(), |id, tool| format!("probe --only {id} {tool:?}"))
    }

    #[test]
    fn a_healthy_server_has_no_findings() {
        let skipped = result("a", CaseVerdict::Skipped);
        assert_eq!(found(&[result("a", CaseVerdict::Rejected), skipped]), []);
    }

    #[test]
    fn cases_of_one_check_are_one_finding() {
        let found = found(&[
            result("`a` as number", CaseVerdict::Accepted).detail("42"),
            result("`b` as null", CaseVerdict::Accepted),
            result("`c` as null", CaseVerdict::Rejected).severity(Severity::Warning),
        ]);
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(finding.severity, Severity::Critical);
        assert_eq!(
            finding.message,
            "2 of 3 cases accepted; the first: `search` `a` as number: accepted (42)"
        );
        assert_eq!(finding.evidence.len(), 2);
        assert_eq!(finding.reproduce.as_deref(), Some("probe --only wrong_type Some(\"search\")"));
    }

    #[test]
    fn a_gate_needs_something_that_was_tried() {
        let nothing = gate([result("a", CaseVerdict::Skipped)].iter());
        assert_eq!((nothing.checks_run, nothing.gate_passed), (0, 0));
        let good = gate([result("a", CaseVerdict::Rejected)].iter());
        assert_eq!((good.checks_run, good.gate_passed), (1, 1));
        let bad = [result("a", CaseVerdict::Rejected), result("b", CaseVerdict::Hung)];
        assert_eq!((gate(bad.iter()).failures, gate(bad.iter()).gate_passed), (1, 0));
    }

    #[test]
    fn a_suite_counts_checks_and_takes_clean_refusals_only() {
        let control = CaseResult::new(CONTROL_CALL, Family::NegativePath, "", CaseVerdict::Held);
        let all = |cases: [CaseResult; 2]| {
            let [one, other] = cases;
            let gate = gate_by_check([control.clone(), one, other].iter());
            (gate.checks_run, gate.failures, gate.gate_passed)
        };
        let refused = || result("a", CaseVerdict::Rejected);
        assert_eq!(all([refused(), refused()]), (1, 0, 1), "two cases of one check");
        let warned = result("b", CaseVerdict::Accepted).severity(Severity::Warning);
        assert_eq!(gate([refused(), warned.clone()].iter()).failures, 0);
        assert_eq!(all([refused(), warned]), (1, 1, 0), "to take it is no refusal");
        let class = |refusal| {
            let call = contract::BadCall::InvalidArguments;
            let deviation = contract::deviation(Revision::V2025_11_25, call, refusal).unwrap();
            result("c", CaseVerdict::Rejected).reference(deviation.reference)
        };
        let in_words = class(contract::Refusal::InWords);
        assert_eq!(all([refused(), in_words]), (1, 1, 0), "no program reads that");
        let other_class = class(contract::Refusal::ProtocolError(-32602));
        assert_eq!(all([refused(), other_class]), (1, 0, 1), "an error is an error");
    }

    #[test]
    fn a_gate_for_which_only_good_arguments_were_tried_does_not_pass() {
        let control = CaseResult::new(CONTROL_CALL, Family::NegativePath, "", CaseVerdict::Held);
        for (verdict, could_not_tell) in [(CaseVerdict::Skipped, 0), (CaseVerdict::CouldNotTell, 1)]
        {
            let nothing = gate_by_check([control.clone(), result("a", verdict)].iter());
            let wanted = Gate { checks_run: 0, failures: 0, could_not_tell, gate_passed: 0 };
            assert_eq!(nothing, wanted, "{verdict:?}");
            let by_case = gate([control.clone(), result("a", verdict)].iter());
            assert_eq!((by_case.checks_run, by_case.gate_passed), (1, 0), "{verdict:?}");
        }
    }

    #[test]
    fn that_a_server_was_away_afterwards_is_no_check_that_was_tried() {
        let untold = result("a", CaseVerdict::CouldNotTell);
        let afterwards = result(AFTERWARDS, CaseVerdict::Broken);
        let away = [untold.clone(), afterwards.clone().severity(Severity::Warning)];
        let nothing = Gate { checks_run: 0, failures: 0, could_not_tell: 1, gate_passed: 0 };
        assert_eq!((gate(away.iter()), gate_by_check(away.iter())), (nothing, nothing));
        let dead = [untold, CaseResult { verdict: CaseVerdict::Crashed, ..afterwards }];
        let failed = Gate { checks_run: 1, failures: 1, ..nothing };
        assert_eq!((gate(dead.iter()), gate_by_check(dead.iter())), (failed, failed));
    }

    #[test]
    fn a_server_that_refuses_everything_does_not_pass() {
        let control =
            |verdict| CaseResult::new(CONTROL_CALL, Family::NegativePath, "good", verdict);
        let rejected = result("a", CaseVerdict::Rejected);
        let refused = [control(CaseVerdict::CouldNotTell), rejected.clone()];
        assert_eq!(gate(refused.iter()).gate_passed, 0);
        let some = [control(CaseVerdict::CouldNotTell), control(CaseVerdict::Held), rejected];
        assert_eq!(gate(some.iter()).gate_passed, 1);
    }

    #[test]
    fn five_cases_are_shown_and_more_are_counted() {
        for (count, last) in
            [(4, "`search` case 3: hung"), (5, "`search` case 4: hung"), (6, "and 1 more")]
        {
            let results: Vec<_> =
                (0..count).map(|at| result(&format!("case {at}"), CaseVerdict::Hung)).collect();
            let found = found(&results);
            assert_eq!(found[0].evidence[0], "`search` case 0: hung", "{count}");
            assert_eq!(found[0].evidence.last().map(String::as_str), Some(last), "{count}");
            assert_eq!(found[0].evidence.len(), count, "{count}");
            assert_eq!(found[0].figures["cases"], count as f64);
        }
    }

    #[test]
    fn one_case_is_told_without_a_count() {
        let one = result("`a` as null", CaseVerdict::Broken).detail("x").sent(b"{}");
        let other = CaseResult::new("other", Family::Output, "b", CaseVerdict::Crashed);
        let found = found(&[one, other]);
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(finding.message, "`search` `a` as null: broken (x)");
        assert_eq!(finding.evidence, ["`search` `a` as null: broken (x); sent {}"]);
    }

    #[test]
    fn a_command_names_the_tool_only_where_all_cases_are_of_it() {
        let other = result("b", CaseVerdict::Hung).tool("fetch");
        let none = CaseResult::new("wrong_type", Family::NegativePath, "c", CaseVerdict::Hung);
        for (results, tool) in [
            (vec![result("a", CaseVerdict::Hung), result("b", CaseVerdict::Hung)], Some("search")),
            (vec![result("a", CaseVerdict::Hung), other], None),
            (vec![none], None),
        ] {
            let reproduce = found(&results)[0].reproduce.clone();
            assert_eq!(reproduce, Some(format!("probe --only wrong_type {tool:?}")));
        }
    }

    #[test]
    fn every_sum_of_a_gate_counts_its_own_cases() {
        let results = [
            CaseResult::new(CONTROL_CALL, Family::NegativePath, "", CaseVerdict::Held),
            result("a", CaseVerdict::Rejected),
            result("b", CaseVerdict::CouldNotTell),
            result("c", CaseVerdict::CouldNotTell),
            result("d", CaseVerdict::Skipped),
            result("e", CaseVerdict::Crashed),
            result("f", CaseVerdict::Hung),
        ];
        let all = Gate { checks_run: 4, failures: 2, could_not_tell: 2, gate_passed: 0 };
        assert_eq!(gate(results.iter()), all);
        let by_check = Gate { checks_run: 1, failures: 1, could_not_tell: 1, gate_passed: 0 };
        assert_eq!(gate_by_check(results.iter()), by_check);
        let held = Gate { checks_run: 1, failures: 0, could_not_tell: 0, gate_passed: 1 };
        assert_eq!(gate_by_check(results[..2].iter()), held);
        let refused = CaseVerdict::CouldNotTell;
        let refused = CaseResult::new(CONTROL_CALL, Family::NegativePath, "", refused);
        let nothing_taken = gate_by_check([refused, results[1].clone()].iter());
        assert_eq!((nothing_taken.failures, nothing_taken.gate_passed), (0, 0));
    }
}
