use super::*;
use crate::llm::Provider;

/// A request that came at `at` and was over 10 ms later.
fn entry(number: u64, at_ms: f64, ending: Ending, status: u16) -> Entry {
    Entry {
        number,
        at_ms,
        path: "/v1/chat/completions".into(),
        body_hash: "b".into(),
        client: "c".into(),
        status,
        ending,
        model: "m".into(),
        took_ms: 10.0,
        provider: Provider::Openai,
        stream: false,
        headers: Vec::new(),
        body: String::new(),
        fixture: Some("0".into()),
        retry_after_ms: None,
        should_retry: None,
        faults: Vec::new(),
        seed: 0,
        bytes_sent: 0,
        said: String::new(),
        said_whole: false,
        forgotten_before: 0,
    }
}

fn refused(number: u64, at_ms: f64, status: u16) -> Entry {
    entry(number, at_ms, Ending::Refused, status)
}

fn fine(number: u64, at_ms: f64) -> Entry {
    entry(number, at_ms, Ending::Complete, 200)
}

fn with(mut entry: Entry, name: &str, value: &str) -> Entry {
    entry.headers.push((name.into(), value.into()));
    entry
}

fn found(entries: &[Entry]) -> Vec<(String, Severity)> {
    let report = judge(entries, Patience::default());
    report.findings.into_iter().map(|finding| (finding.id, finding.severity)).collect()
}

fn critical(id: &str) -> Vec<(String, Severity)> {
    vec![(id.to_owned(), Severity::Critical)]
}

#[test]
fn a_good_client_is_not_blamed() {
    let entries = [
        refused(1, 0.0, 503),
        refused(2, 510.0, 503),
        fine(3, 1_520.0),
        fine(4, 2_000.0),
        fine(5, 2_001.0),
    ];
    let report = judge(&entries, Patience::default());
    assert_eq!(report.findings, []);
    assert_eq!((report.verdict, report.calls, report.retries), (Verdict::Pass, 3, 2));
    assert_eq!((report.troubled, report.recovered), (1, 1));
    assert_eq!((report.requests, report.aborted), (5, 0));
    // The last two are equal, and at the same time.
    assert!(report.could_not_tell[0].starts_with("1 request had"), "{:?}", report.could_not_tell);
}

#[test]
fn nothing_seen_is_no_pass() {
    assert_eq!(judge(&[], Patience::default()).verdict, Verdict::Invalid);
}

#[test]
fn too_early_is_measured_against_what_was_told() {
    let mut told = refused(1, 0.0, 429);
    told.retry_after_ms = Some(1_000);
    assert_eq!(found(&[told.clone(), fine(2, 500.0)]), critical("retried_too_early"));
    assert_eq!(found(&[told, fine(2, 1_011.0)]), []);
}

#[test]
fn a_bad_request_stays_bad() {
    let twice = [refused(1, 0.0, 400), refused(2, 100.0, 400)];
    assert_eq!(found(&twice), [("retried_not_retryable".to_owned(), Severity::Warning)]);
    let thrice = [refused(1, 0.0, 400), refused(2, 100.0, 400), refused(3, 200.0, 400)];
    assert_eq!(found(&thrice), critical("retried_not_retryable"));
    let told = [
        with(refused(1, 0.0, 400), "x-stainless-retry-count", "0"),
        with(refused(2, 100.0, 400), "x-stainless-retry-count", "1"),
    ];
    assert_eq!(found(&told), critical("retried_not_retryable"));
}

#[test]
fn equal_calls_that_say_so_are_independent() {
    let count = |number, at| with(refused(number, at, 400), "x-stainless-retry-count", "0");
    assert_eq!(found(&[count(1, 0.0), count(2, 100.0), count(3, 200.0)]), []);
    let keyed = |number, at, key| with(refused(number, at, 400), "idempotency-key", key);
    assert_eq!(found(&[keyed(1, 0.0, "a"), keyed(2, 100.0, "b"), keyed(3, 200.0, "c")]), []);
    assert_eq!(
        found(&[keyed(1, 0.0, "a"), keyed(2, 100.0, "a")]),
        critical("retried_not_retryable")
    );
}

#[test]
fn equal_calls_at_the_same_time_cannot_be_told_apart() {
    let entries = [refused(1, 0.0, 400), refused(2, 1.0, 400), refused(3, 50.0, 400)];
    let report = judge(&entries, Patience::default());
    assert_eq!(report.calls, 3);
    assert!(report.could_not_tell[0].starts_with("2 requests had"), "{:?}", report.could_not_tell);
    assert_eq!(report.findings, []);
}

#[test]
fn storms_and_haste_are_told() {
    let many: Vec<_> = (0..12).map(|n| refused(n + 1, n as f64 * 400.0, 503)).collect();
    let ids: Vec<_> = found(&many).into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, ["still_failing", "retry_storm"]);
    let hasty: Vec<_> = (0..4).map(|n| refused(n + 1, n as f64 * 11.0, 503)).collect();
    let ids: Vec<_> = found(&hasty).into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, ["still_failing", "no_backoff"]);
}

#[test]
fn giving_up_at_once_is_wrong_and_after_some_tries_is_not() {
    assert_eq!(found(&[refused(1, 0.0, 503)]), critical("gave_up"));
    assert_eq!(found(&[refused(1, 0.0, 401)]), []);
    let tried = [refused(1, 0.0, 503), refused(2, 600.0, 503), refused(3, 1_800.0, 503)];
    assert_eq!(found(&tried), [("still_failing".to_owned(), Severity::Info)]);
    assert_eq!(judge(&tried, Patience::default()).verdict, Verdict::Pass);
}

#[test]
fn a_token_that_ran_out_must_be_renewed() {
    let ran_out = |number, at| {
        let faults = vec![crate::llm::TOKEN_RAN_OUT.to_owned()];
        Entry { faults, fixture: None, ..refused(number, at, 401) }
    };
    let count = |entry| with(entry, "x-stainless-retry-count", "0");
    let renewed =
        [fine(1, 0.0), ran_out(2, 100.0), fine(3, 111.0), ran_out(4, 200.0), fine(5, 211.0)];
    let report = judge(&renewed, Patience::default());
    assert_eq!((report.findings, report.troubled, report.recovered), (vec![], 2, 2));
    let by_the_application = [count(ran_out(1, 0.0)), count(fine(2, 11.0))];
    assert_eq!(found(&by_the_application), []);
    for (left, words) in [
        (vec![ran_out(1, 0.0)], "request 1: its token had run out, and no try after it"),
        (
            vec![ran_out(1, 0.0), ran_out(2, 11.0), ran_out(3, 22.0)],
            "request 3: try 3 with a token that had run out",
        ),
    ] {
        let report = judge(&left, Patience::default());
        assert_eq!(report.findings.len(), 1, "{report:?}");
        assert_eq!((&*report.findings[0].id, report.verdict), ("token_not_renewed", Verdict::Fail));
        assert_eq!(report.findings[0].evidence, [words]);
    }
}

#[test]
fn whoever_is_never_let_in_has_not_passed() {
    let shut_out =
        |number, at| Entry { fixture: None, client: "nobody".into(), ..refused(number, at, 401) };
    assert_eq!(found(&[shut_out(1, 0.0)]), critical("without_a_token"));
    let other = Entry { body_hash: "other".into(), ..fine(2, 100.0) };
    assert_eq!(found(&[shut_out(1, 0.0), other]), critical("without_a_token"));
    assert_eq!(found(&[shut_out(1, 0.0), fine(2, 100.0)]), [], "it came back with a token");
}

#[test]
fn half_an_answer_that_comes_back_was_used() {
    let mut cut = entry(1, 0.0, Ending::CutShort, 200);
    cut.said = "The capital of".into();
    let mut next = fine(2, 100.0);
    next.body_hash = "other".into();
    next.body = r#"{"messages":[{"role":"assistant","content":"The capital of"}]}"#.into();
    assert_eq!(found(&[cut.clone(), next.clone()]), critical("used_truncated_answer"));
    // Tried again, and the whole answer is what comes back.
    let again = fine(2, 600.0);
    next.number = 3;
    next.at_ms = 700.0;
    next.body = r#"{"messages":[{"role":"assistant","content":"The capital of France"}]}"#.into();
    assert_eq!(found(&[cut, again, next]), []);
}

#[test]
fn a_whole_text_without_its_end_is_no_half_answer_once_it_came_with_its_end() {
    let said = "The quick brown fox";
    let cut = Entry { said: said.into(), said_whole: true, ..entry(1, 0.0, Ending::Broken, 200) };
    let quote = |number, at_ms| Entry {
        body_hash: "other".into(),
        body: serde_json::json!({ "messages": [{ "content": said }] }).to_string(),
        ..fine(number, at_ms)
    };
    let other = |entry| Entry { client: "d".into(), ..entry };
    for (name, entries, is_used) in [
        ("asked again", vec![cut.clone(), fine(2, 600.0), quote(3, 700.0)], false),
        ("asked again in vain", vec![cut.clone(), refused(2, 600.0, 503), quote(3, 700.0)], true),
        ("not asked again", vec![cut.clone(), quote(2, 700.0)], true),
        ("before it was answered", vec![cut.clone(), fine(2, 600.0), quote(3, 604.0)], true),
        ("another asked again", vec![cut.clone(), other(fine(2, 600.0)), quote(3, 700.0)], true),
        (
            "the middle of a text",
            vec![Entry { said_whole: false, ..cut.clone() }, fine(2, 600.0), quote(3, 700.0)],
            true,
        ),
    ] {
        let is_told = found(&entries).iter().any(|(id, _)| id == "used_truncated_answer");
        assert_eq!(is_told, is_used, "{name}");
    }
}

#[test]
fn what_was_forgotten_keeps_a_client_from_passing_and_not_from_failing() {
    let report = |entries: &[Entry]| judge(entries, Patience::default());
    let after = |entry: Entry| report(&[Entry { forgotten_before: 3, ..entry }, fine(9, 900.0)]);
    assert_eq!(report(&[fine(1, 0.0)]).verdict, Verdict::Pass);
    let left = after(fine(8, 0.0));
    assert_eq!((left.verdict, left.forgotten), (Verdict::Invalid, 3));
    let [words] = left.could_not_tell.as_slice() else { panic!("{left:?}") };
    assert!(words.starts_with("3 earlier requests came") && words.contains("--journal"), "{words}");
    let gave_up = Entry { forgotten_before: 3, ..refused(1, 0.0, 503) };
    assert_eq!(report(&[gave_up]).verdict, Verdict::Fail);
}

#[test]
fn a_server_that_stops_is_not_the_clients_fault() {
    let stopped = |number, at| entry(number, at, Ending::Stopped, 200);
    let report = judge(&[stopped(1, 0.0)], Patience::default());
    assert_eq!((report.verdict, report.troubled), (Verdict::Pass, 0), "{report:?}");
    assert_eq!(found(&[refused(1, 0.0, 503), stopped(2, 600.0)]), []);
}

#[test]
fn an_application_that_asks_again_itself_is_not_blamed() {
    let count = |entry, count| with(entry, "x-stainless-retry-count", count);
    let cut = |number, at| entry(number, at, Ending::CutShort, 200);
    let entries =
        [count(refused(1, 0.0, 429), "0"), count(cut(2, 600.0), "1"), count(fine(3, 800.0), "0")];
    let report = judge(&entries, Patience::default());
    assert_eq!((report.calls, report.recovered), (1, 1), "{report:?}");
    assert_eq!(report.findings, []);
    // Trying again after a refusal is no answer to a stream that breaks.
    assert_eq!(found(&entries[..2]), critical("gave_up"));
}

#[test]
fn only_calls_of_a_model_are_judged() {
    for path in ["/v1/models", "/oauth/token", "/.well-known/oauth-authorization-server"] {
        let other = Entry { path: path.into(), ..fine(1, 0.0) };
        assert_eq!(judge(&[other], Patience::default()).verdict, Verdict::Invalid, "{path}");
    }
}

#[test]
fn a_fixture_that_never_answers_is_no_pass() {
    let mut lost = refused(2, 100.0, 404);
    lost.fixture = None;
    let report = judge(&[fine(1, 0.0), lost], Patience::default());
    assert_eq!((report.verdict, report.requests, report.unmatched), (Verdict::Invalid, 2, 1));
    let finding = &report.findings[0];
    assert_eq!((finding.id.as_str(), finding.figures["requests"]), ("no_fixture", 1.0));
    assert_eq!(finding.evidence, ["request 2: /v1/chat/completions for `m`"]);
}

/// How many calls these are, and how much cannot be told.
fn calls(entries: &[Entry]) -> (usize, usize) {
    let report = judge(entries, Patience::default());
    (report.calls, report.could_not_tell.len())
}

#[test]
fn equal_bodies_are_tries_of_one_call_only_one_after_the_other() {
    let down = |number, at| refused(number, at, 503);
    let counted = |number, at| with(down(number, at), "x-stainless-retry-count", "0");
    let slow = Entry { took_ms: 100.0, ..down(2, 3.0) };
    let quick = |number, at| Entry { took_ms: 1.0, ..down(number, at) };
    for (name, entries, expected) in [
        ("one", vec![down(1, 0.0)], (1, 0)),
        ("when the first is over", vec![down(1, 0.0), down(2, 10.0)], (1, 0)),
        ("as good as when the first is over", vec![down(1, 0.0), down(2, 5.0)], (1, 0)),
        ("just before the first is over", vec![down(1, 0.0), down(2, 4.9)], (2, 1)),
        ("together, and answered at once", vec![quick(1, 0.0), quick(2, 0.1)], (2, 1)),
        ("late in a run", vec![down(1, 200_000.0), down(2, 200_500.0)], (1, 0)),
        ("after the longest gap", vec![down(1, 0.0), down(2, 120_010.0)], (1, 0)),
        ("after more than that", vec![down(1, 0.0), down(2, 120_010.1)], (2, 0)),
        ("after an answer", vec![fine(1, 0.0), fine(2, 100.0)], (2, 0)),
        ("while another is under way", vec![down(1, 0.0), slow, down(3, 20.0)], (3, 1)),
        (
            "counted anew after two that failed together",
            vec![counted(1, 0.0), counted(2, 1.0), counted(3, 500.0)],
            (3, 0),
        ),
    ] {
        assert_eq!(calls(&entries), expected, "{name}");
    }
}

#[test]
fn a_count_of_tries_says_whose_turn_it_is() {
    let count = |entry, count| with(entry, "x-stainless-retry-count", count);
    let entries = [
        count(refused(1, 0.0, 503), "0"),
        count(refused(2, 1.0, 503), "0"),
        count(refused(3, 500.0, 503), "1"),
        count(fine(4, 600.0), "1"),
    ];
    let report = judge(&entries, Patience::default());
    assert_eq!((report.calls, report.retries), (2, 2));
    // The last request can only be the second try of the first call: the other has had its second.
    let ids: Vec<_> = report.findings.iter().map(|finding| finding.id.as_str()).collect();
    assert_eq!((ids, report.recovered), (vec!["still_failing"], 1));
    assert_eq!(report.findings[0].evidence, ["request 3: HTTP 503 after 2 tries in 509 ms"]);
}

#[test]
fn who_counts_anew_no_longer_says_that_it_is_one_call() {
    let count = |entry, count| with(entry, "x-stainless-retry-count", count);
    let entries = [
        count(refused(1, 0.0, 503), "0"),
        count(refused(2, 500.0, 400), "0"),
        count(refused(3, 600.0, 400), "1"),
    ];
    assert_eq!(found(&entries), [("retried_not_retryable".to_owned(), Severity::Warning)]);
    // Two equal requests after one that was worth another try are still only two.
    let silent = [refused(1, 0.0, 503), refused(2, 500.0, 400), refused(3, 600.0, 400)];
    let report = judge(&silent, Patience::default());
    assert_eq!(report.verdict, Verdict::Warning);
    let told = "request 3 repeats request 2, which got HTTP 400; they are equal, but nothing says that they are one call";
    assert_eq!(report.findings[0].evidence, [told]);
}

#[test]
fn a_wait_is_too_short_from_its_limit_on() {
    let mut told = refused(1, 0.0, 429);
    told.retry_after_ms = Some(1_000);
    // The first is over at 10 ms; 5 ms and a hundredth of the time are forgiven.
    assert_eq!(found(&[told.clone(), fine(2, 995.0)]), []);
    let report = judge(&[told, fine(2, 994.0)], Patience::default());
    assert_eq!(report.verdict, Verdict::Fail);
    let words = "request 2 came 984 ms after request 1, which was told to wait 1000 ms";
    assert_eq!(report.findings[0].evidence, [words]);
}

#[test]
fn storms_begin_above_the_most_tries() {
    let tries = |most: u64| -> Vec<Entry> {
        (0..most).map(|n| refused(n + 1, 300.0 + n as f64 * 400.0, 503)).collect()
    };
    let storms = |most| found(&tries(most)).contains(&("retry_storm".into(), Severity::Critical));
    assert!(!storms(10));
    assert!(storms(11));
    let report = judge(&tries(11), Patience::default());
    let storm = report.findings.last().expect("a storm");
    assert_eq!(storm.evidence, ["11 tries in 4000 ms, from request 1 to request 11"]);
    // Both the first moment and the last count: from 300 ms to 4310 ms.
    assert_eq!(report.findings[0].evidence, ["request 11: HTTP 503 after 11 tries in 4010 ms"]);
}

#[test]
fn haste_is_two_waits_that_are_both_too_short() {
    let told = |number, at| Entry { retry_after_ms: Some(20), ..refused(number, at, 429) };
    let hasty = |entries: &[Entry]| {
        let report = judge(entries, Patience::default());
        let finding = report.findings.into_iter().find(|finding| finding.id == "no_backoff");
        finding.map(|finding| finding.evidence.join(""))
    };
    let words = |wait: &str| Some(format!("2 waits from request 1 on, none longer than {wait} ms"));
    for (name, entries, expected) in [
        ("one quick try", vec![refused(1, 0.0, 503), fine(2, 11.0)], None),
        (
            "just too short",
            vec![refused(1, 0.0, 503), refused(2, 59.0, 503), fine(3, 70.0)],
            words("49.0"),
        ),
        ("long enough", vec![refused(1, 0.0, 503), refused(2, 60.0, 503), fine(3, 71.0)], None),
        ("as was told", vec![told(1, 0.0), told(2, 30.0), fine(3, 60.0)], None),
        (
            "what no wait mends",
            vec![refused(1, 0.0, 400), refused(2, 11.0, 400), refused(3, 22.0, 400)],
            None,
        ),
    ] {
        assert_eq!(hasty(&entries), expected, "{name}");
    }
}

#[test]
fn a_half_answer_was_used_when_the_same_client_says_it_later() {
    use Ending::{Broken, Corrupt, CutShort, ErrorEvent};
    let cut = |ending, said: &str| Entry { said: said.into(), ..entry(1, 100.0, ending, 200) };
    let next = |at_ms, client: &str, said: &str| Entry {
        body_hash: "other".into(),
        body: serde_json::json!({"n": 1, "messages": [{"content": format!(" {said} ")}]})
            .to_string(),
        client: client.into(),
        ..fine(2, at_ms)
    };
    for (name, cut, next, is_used) in [
        ("eight letters", cut(CutShort, "12345678"), next(200.0, "c", "12345678"), true),
        ("seven letters", cut(CutShort, "1234567"), next(200.0, "c", "1234567"), false),
        ("at the same time", cut(ErrorEvent, "12345678"), next(100.0, "c", "12345678"), true),
        ("before it", cut(Broken, "12345678"), next(99.0, "c", "12345678"), false),
        ("by another", cut(Broken, "12345678"), next(200.0, "d", "12345678"), false),
        ("more of it", cut(Broken, "12345678"), next(200.0, "c", "123456789"), false),
        ("no half answer", cut(Corrupt, "12345678"), next(200.0, "c", "12345678"), false),
    ] {
        let id = if is_used { "used_truncated_answer" } else { "gave_up" };
        assert_eq!(found(&[cut, next]), critical(id), "{name}");
    }
}

#[test]
fn giving_up_is_told_with_what_cannot_be_known() {
    let doubt = " (whether the half answer was used cannot be told from requests)";
    for (ending, words) in [
        (Ending::Refused, "HTTP 503, and no try after it".to_owned()),
        (Ending::CutShort, format!("an answer that ended too early, and no try after it{doubt}")),
        (
            Ending::ErrorEvent,
            format!("an error in the middle of the stream, and no try after it{doubt}"),
        ),
        (Ending::Broken, "a connection that broke, and no try after it".to_owned()),
    ] {
        let report = judge(&[entry(7, 0.0, ending, 503)], Patience::default());
        assert_eq!(report.findings[0].evidence, [format!("request 7: {words}")]);
        assert_eq!((report.verdict, report.troubled, report.recovered), (Verdict::Fail, 1, 0));
    }
    let report = judge(&[entry(1, 0.0, Ending::Aborted, 200), fine(2, 20.0)], Patience::default());
    assert_eq!((report.aborted, report.troubled), (1, 0));
}

#[test]
fn a_finding_counts_its_worst_calls_and_shows_five_of_them() {
    let alone = |number: u64| Entry {
        body_hash: number.to_string(),
        ..refused(number, number as f64 * 100.0, 503)
    };
    for (count, message, shown) in [(1, "1 call", 1), (5, "5 calls", 5), (7, "7 calls", 6)] {
        let entries: Vec<_> = (1..=count).map(alone).collect();
        let report = judge(&entries, Patience::default());
        let [finding] = report.findings.as_slice() else { panic!("{:?}", report.findings) };
        assert!(finding.message.ends_with(&format!("was the end: {message}")), "{finding:?}");
        assert_eq!(finding.evidence.len(), shown, "{finding:?}");
        assert_eq!(finding.figures["calls"], count as f64);
        assert_eq!(
            finding.evidence.get(5).map(String::as_str),
            (shown > 5).then_some("and 2 more")
        );
    }
    // One pair that is sure, one that is not: only the sure one is told.
    let keyed = |number, at| with(refused(number, at, 400), "idempotency-key", "a");
    let entries = [refused(1, 0.0, 400), refused(2, 100.0, 400), keyed(3, 200.0), keyed(4, 300.0)];
    let report = judge(&entries, Patience::default());
    assert_eq!(report.findings[0].evidence, ["request 4 repeats request 3, which got HTTP 400"]);
    assert_eq!(report.findings[0].figures["calls"], 1.0);
}

#[test]
fn every_rule_is_listed_and_the_report_has_a_schema() {
    let ids: Vec<_> = rules().map(|(id, _)| id).collect();
    let expected = [
        "gave_up",
        "still_failing",
        "retried_too_early",
        "retried_not_retryable",
        "retry_storm",
        "no_backoff",
        "token_not_renewed",
        "without_a_token",
        "used_truncated_answer",
    ];
    assert_eq!(ids, expected);
    assert!(rules().all(|(_, about)| about.contains(' ')));
    assert_eq!(ClientReport::json_schema()["title"], "mcp-loadtest llm verdict");
}
