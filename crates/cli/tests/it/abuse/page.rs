//! docs/reference/abuse-cases.md and docs/reference/promises.md, written from the tables.

use std::{collections::BTreeSet, fs};

use super::{
    promises::PROMISES,
    proof::{Case, Proof, all_tests, root},
    table::PARTS,
};

const CASES: &str = "\
# What may be tried, and what comes of it

Hostile servers, clients, files and machines: what each of them may try, what must come of it, and the
test that fails when something else does. Written by a test from the tables in
crates/cli/tests/it/abuse: `cargo test -p mcp-loadtest-cli --test it abuse::page`, with
`INSTA_UPDATE=always` to write it anew. A test is named by the folder of its crate and its path.

Exit codes: 0 passed, 1 a gate failed or a bug was found, 2 wrong usage or it could not start, 130
interrupted. *Found* is followed by the id of the finding.
";

const PROMISED: &str = "\
# What we promise

Each promise with the tests that hold us to it. Written by a test, as abuse-cases.md is.
";

const HEAD: &str = "| # | tried | must happen | test |\n|---|---|---|---|\n";

fn proof(proof: &Proof) -> String {
    let tests = |tests: &[&str]| {
        let words = tests.iter().map(|test| format!("`{test}`"));
        words.collect::<Vec<_>>().join("<br>")
    };
    match proof {
        Proof::Tested(named) => tests(named),
        Proof::Untried(why) => format!("not tried: {why}"),
    }
}

fn cases() -> String {
    let mut page = CASES.to_owned();
    for (title, cases) in PARTS {
        page.push_str(&format!("\n## {title}\n\n{HEAD}"));
        for Case { id, tried, must, proof: shown } in *cases {
            page.push_str(&format!("| {id} | {tried} | {must} | {} |\n", proof(shown)));
        }
    }
    page
}

fn promises() -> String {
    let mut page = format!("{PROMISED}\n| # | promise | test |\n|---|---|---|\n");
    for promise in PROMISES {
        page.push_str(&format!(
            "| {} | {} | {} |\n",
            promise.id,
            promise.says,
            proof(&promise.proof)
        ));
    }
    page
}

#[expect(clippy::disallowed_methods, reason = "whoever refreshes pages says so in the environment")]
fn is_fresh(name: &str, page: &str) {
    let path = root().join("docs/reference").join(name);
    let old = fs::read_to_string(&path).unwrap_or_default();
    if old != page && std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        fs::write(&path, page).unwrap();
    } else {
        assert!(old == page, "docs/reference/{name} is not what the tables say");
    }
}

#[test]
fn the_page_of_cases_is_fresh() {
    is_fresh("abuse-cases.md", &cases());
}

#[test]
fn the_page_of_promises_is_fresh() {
    is_fresh("promises.md", &promises());
}

/// What the lists must hold: the letters of a part, and its last number.
const NUMBERS: &[(&str, usize)] =
    &[("F", 26), ("P-", 15), ("T", 13), ("M", 18), ("C", 6), ("D", 4), ("L", 6)];

#[test]
fn every_case_and_every_promise_has_its_line() {
    let known = NUMBERS
        .iter()
        .flat_map(|(letters, last)| (1..=*last).map(move |number| format!("{letters}{number}")));
    let listed = PARTS.iter().flat_map(|(_, cases)| cases.iter().map(|case| case.id.to_owned()));
    let (known, listed): (Vec<_>, Vec<_>) = (known.collect(), listed.collect());
    assert_eq!(known, listed);
    let promised: Vec<_> = PROMISES.iter().map(|promise| promise.id.to_owned()).collect();
    assert_eq!(promised, (1..=15).map(|number| format!("P{number}")).collect::<Vec<_>>());
}

#[test]
fn every_test_that_is_named_exists() {
    let all = all_tests();
    let proofs =
        PARTS.iter().flat_map(|(_, cases)| cases.iter().map(|case| (case.id, &case.proof)));
    let proofs = proofs.chain(PROMISES.iter().map(|promise| (promise.id, &promise.proof)));
    let mut missing = BTreeSet::new();
    for (id, proof) in proofs {
        if let Proof::Tested(tests) = proof {
            assert!(!tests.is_empty(), "{id} names no test");
        }
        missing.extend(
            proof.tests().iter().filter(|test| !all.contains(**test)).map(|test| (id, *test)),
        );
    }
    assert!(missing.is_empty(), "no such tests: {missing:#?}");
}
