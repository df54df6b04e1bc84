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
    assert_eq!((report.calls, report.could_not_tell.len()), (3, 1));
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
    assert_eq!((report.verdict, report.unmatched), (Verdict::Invalid, 1));
    assert_eq!(report.findings[0].id, "no_fixture");
}
