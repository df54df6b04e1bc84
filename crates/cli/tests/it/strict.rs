//! `run --strict`: calls are held against the schemas that the server lists.

use crate::harness::{Ran, mock, run};

fn load(server: &str, more: &[&str]) -> Ran {
    let server = mock(server);
    let usual = ["run", "-s", &server, "--duration", "300ms", "--tool", "echo", "--json"];
    run(&[&usual, more].concat())
}

#[track_caller]
fn must_fail(ran: &Ran, why: &str) {
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("schema_mismatch") && ran.out.contains(why), "{}", ran.out);
}

#[test]
fn results_that_break_their_schema_fail_a_strict_run_and_no_other() {
    must_fail(&load("bad-strict.py", &["--strict"]), "echo: result: at /sum");
    let lenient = load("bad-strict.py", &[]);
    assert_eq!(lenient.code, 0, "{}", lenient.err);
    assert!(!lenient.out.contains("schema_mismatch"), "{}", lenient.out);
}

#[test]
fn arguments_that_break_their_schema_are_not_sent() {
    let wrong = ["--args", r#"{"text":7}"#];
    must_fail(&load("mock-normal.py", &[&["--strict"], &wrong[..]].concat()), "not sent: echo");
    let lenient = load("bad-strict.py", &wrong);
    assert_eq!(lenient.code, 0, "{}", lenient.err);
}

#[test]
fn a_server_that_keeps_to_its_schemas_passes() {
    for args in [r#"{"text":"x"}"#, r#"{"text":"{{uuid}}"}"#] {
        let ran = load("mock-normal.py", &["--strict", "--args", args]);
        assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    }
    let wrong = load("mock-normal.py", &["--strict", "--args", r#"{"text":["{{uuid}}"]}"#]);
    must_fail(&wrong, "not sent: echo: arguments: at /text");
}
