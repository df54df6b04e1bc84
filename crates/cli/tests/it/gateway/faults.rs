//! Two small gateways: well, and with a fault each that one check must notice.

use super::{checks, expect, fixture, listening, over_pipes, report, verdicts};
use crate::harness::run;

#[test]
fn a_gateway_that_is_well_keeps_everything() {
    let ran = over_pipes(&["--json"], "");
    expect(&ran, &[]);
    let report = report(&ran);
    assert_eq!(report["passed"], true);
    let schema = mcp_loadtest_mock::gateway::schema();
    jsonschema::validate(&schema, &report).unwrap();
    let retries = &checks(&report)[8];
    assert_eq!(retries["figures"]["attempts"], 1.0, "{retries}");
}

#[test]
fn so_does_one_that_listens() {
    let ran = listening(&["--json", "--protocol", "2025-11-25"], "");
    expect(&ran, &[("headers", "measured")]);
}

/// What a fault breaks, and what is said of it.
const SICK: &[(&str, &str, &str)] = &[
    ("swap", "protocol_error", "error -32050 became ToolError"),
    ("swap", "tool_error", "a result with `isError` became error -32603"),
    ("no-data", "protocol_error", "`data` {\"list\":[1,null]"),
    ("no-cancel", "cancel", "for nobody"),
    ("other-id", "cancel", "no such call is running"),
    ("repeat", "duplicates", "took effect 2 times"),
    ("buffer", "streaming", "buffered, they arrive together"),
    ("mute", "streaming", "0 of 5 arrived"),
    ("no-token", "streaming", "the progress token did not reach the server"),
    ("reverse", "order", "`chatty`: in place of block 1 came block 4"),
    ("cache", "crossed", "got an answer that is not theirs"),
    ("twice", "crossed", "the server saw 100 more than once"),
    ("floats", "arguments", "`extras.null` null is gone"),
    ("stuck", "sessions", "nobody told it to begin one"),
    ("serial", "hang", "while one call hung, another got"),
    ("serial-impatient", "hang", "answered only after the one that hung had ended"),
];

#[test]
fn each_fault_is_noticed_by_its_check() {
    for (fault, check, part) in SICK {
        let ran = over_pipes(&["--json", "--only", check], fault);
        let report = report(&ran);
        assert_eq!(verdicts(&report), [(*check, "broken")], "{fault}: {report:#}");
        let evidence = checks(&report)[0]["evidence"].to_string().replace("\\\"", "\"");
        assert!(evidence.contains(part), "{fault}: no {part:?} in {evidence}");
        assert!(checks(&report)[0]["advice"].is_string());
        assert_eq!(ran.code, 1, "{fault}");
    }
}

/// With this patience it would be given up after twelve seconds without a sign of life.
#[test]
fn a_gateway_that_is_busy_with_the_server_is_waited_for() {
    let script = fixture("gateway.py");
    let mut args = vec!["gateway", "--json", "--patience", "2s", "--only", "crossed"];
    args.extend(["--", "python3", &script, "{upstream}", "polite"]);
    let told = report(&run(&args));
    assert_eq!(verdicts(&told), [("crossed", "kept")], "{told:#}");
}

#[test]
fn retries_are_counted_with_their_pauses() {
    let ran = over_pipes(&["--json", "--only", "retries"], "retry");
    let report = report(&ran);
    let figures = &checks(&report)[0]["figures"];
    assert_eq!((ran.code, &figures["attempts"]), (0, &3.0.into()), "{report:#}");
    assert!(figures["longest_pause_ms"].as_f64().unwrap() >= 100.0, "{figures}");
}

#[test]
fn a_gateway_that_gives_a_hanging_call_up_early_holds_no_other() {
    let told = report(&over_pipes(&["--json", "--only", "hang"], "impatient"));
    assert_eq!(verdicts(&told), [("hang", "measured")], "{told:#}");
    let evidence = checks(&told)[0]["evidence"].to_string();
    assert!(evidence.contains("the gateway gave up after"), "{evidence}");
    assert!(evidence.contains("another call was answered meanwhile"), "{evidence}");
}

#[test]
fn added_arguments_and_other_names_are_told_but_not_blamed() {
    let ran = over_pipes(&["--json", "--only", "arguments"], "add");
    let told = report(&ran);
    assert_eq!((ran.code, verdicts(&told)), (0, vec![("arguments", "measured")]), "{told:#}");
    assert_eq!(checks(&told)[0]["evidence"][0], "added on the way: `gateway` \"was here\"");
    let ran = over_pipes(&["--only", "arguments,order"], "prefix");
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.starts_with("KEPT mcp-loadtest-mock"), "{}", ran.out);
    assert!(ran.out.contains("`echo` goes by the name `mock__echo`"), "{}", ran.out);
}

#[test]
fn headers_that_pass_are_told_from_those_that_do_not() {
    for (fault, part) in [
        (
            "",
            "passed on: X-Request-Id, traceparent, Authorization, X-Mcp-Loadtest; kept back: none",
        ),
        ("strip", "passed on: none; kept back: X-Request-Id, traceparent, Authorization"),
        ("add", "added: X-Forwarded-For"),
    ] {
        let ran = listening(&["--only", "headers", "--protocol", "2025-11-25"], fault);
        assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
        assert!(ran.out.contains(part), "{fault}: no {part:?} in {}", ran.out);
        assert_eq!(ran.out.contains("the client's token"), fault != "strip", "{}", ran.out);
    }
}

#[test]
fn a_buffer_in_front_of_http_is_noticed() {
    let flags = ["--json", "--only", "streaming", "--protocol", "2025-11-25"];
    let told = report(&listening(&flags, "buffer"));
    assert_eq!(verdicts(&told), [("streaming", "broken")], "{told:#}");
}
