//! Tokens: who gets them, how they are lost and renewed.

use mcp_loadtest_core::{
    llm::{Patience, TOKEN_RAN_OUT, judge},
    report::Verdict,
};
use mcp_loadtest_mock::llm::RunningLlm;
use serde_json::{Value, json};

use super::peer::{APIS, Api, Got, ask_with, exchange, start, written};

/// A mock whose tokens are as this says.
async fn with_oauth(settings: &str) -> RunningLlm {
    start(&format!("fixtures: [{{response: {{content: fine}}}}]\noauth: {settings}")).await
}

const APP: &str = "grant_type=client_credentials&client_id=app&client_secret=quiet";

async fn form(llm: &RunningLlm, path: &str, body: &str, headers: &[(&str, &str)]) -> Got {
    exchange(llm, &written("POST", path, headers, body.as_bytes())).await
}

async fn get(llm: &RunningLlm, target: &str) -> Got {
    exchange(llm, &written("GET", target, &[], b"")).await
}

/// A field of an answer that hands out something.
fn field(got: &Got, name: &str) -> String {
    assert_eq!(got.status, 200, "{}", got.text());
    got.json()[name].as_str().unwrap_or_else(|| panic!("no {name} in {}", got.text())).to_owned()
}

async fn token(llm: &RunningLlm, body: &str) -> String {
    field(&form(llm, "/oauth/token", body, &[]).await, "access_token")
}

async fn ask_as(llm: &RunningLlm, token: &str) -> Got {
    let bearer = format!("Bearer {token}");
    let body = Api::Chat.body("m", "hello", false);
    ask_with(llm, Api::Chat, &body, false, &[("authorization", &bearer)]).await
}

#[tokio::test]
async fn nothing_is_answered_without_a_token() {
    let llm = with_oauth("{}").await;
    let token = token(&llm, APP).await;
    let bearer = format!("Bearer {token}");
    for api in APIS {
        let body = api.body("m", "hello", false);
        let none = ask_with(&llm, api, &body, false, &[]).await;
        assert_eq!(none.status, 401, "{api:?}");
        assert_eq!(none.header("www-authenticate"), Some("Bearer realm=\"mcp-loadtest\""));
        let made_up = ask_with(&llm, api, &body, false, &[("x-api-key", "made-up")]).await;
        assert!(made_up.header("www-authenticate").unwrap().contains("invalid_token"));
        assert!(made_up.json()["error"].is_object(), "{api:?}: {}", made_up.text());
        for (name, value) in
            [("authorization", &bearer), ("x-api-key", &token), ("x-goog-api-key", &token)]
        {
            let got = ask_with(&llm, api, &body, false, &[(name, value)]).await;
            assert_eq!(got.status, 200, "{api:?} {name}: {}", got.text());
        }
        // Anthropic's SDK sends both, in this order, where both are set.
        let made_up = ("x-api-key", "no-key-needed");
        for both in [[made_up, ("authorization", &bearer)], [("authorization", &bearer), made_up]] {
            let got = ask_with(&llm, api, &body, false, &both).await;
            assert_eq!(got.status, 200, "{api:?} {both:?}: {}", got.text());
        }
    }
}

#[tokio::test]
async fn a_token_runs_out_and_whoever_gets_another_has_passed() {
    let llm = with_oauth("{uses: 2, expires_in: 77}").await;
    let handed = form(&llm, "/oauth/token", APP, &[]).await;
    assert_eq!(handed.json()["expires_in"], 77);
    assert_eq!(handed.header("cache-control"), Some("no-store"));
    assert!(handed.json().get("refresh_token").is_none(), "a program asks again in the same way");
    let first = field(&handed, "access_token");
    assert_eq!([ask_as(&llm, &first).await.status, ask_as(&llm, &first).await.status], [200, 200]);
    let late = ask_as(&llm, &first).await;
    assert_eq!(late.status, 401, "{}", late.text());
    let verdict = || judge(&llm.journal().entries(), Patience::default());
    assert_eq!(verdict().findings[0].id, "token_not_renewed");
    assert_eq!(llm.journal().entries().last().unwrap().faults, [TOKEN_RAN_OUT]);
    let (body, bearer) = (Api::Chat.body("m", "hello", false), format!("Bearer {first}"));
    let both = [("x-api-key", "no-key-needed"), ("authorization", &*bearer)];
    assert_eq!(ask_with(&llm, Api::Chat, &body, false, &both).await.status, 401);
    let told = llm.journal().entries().pop().unwrap();
    assert_eq!(told.faults, [TOKEN_RAN_OUT], "a made-up key beside it changes nothing");
    let second = token(&llm, APP).await;
    assert_ne!(second, first);
    assert_eq!(ask_as(&llm, &second).await.status, 200);
    let report = verdict();
    assert_eq!((report.verdict, report.recovered), (Verdict::Pass, 1), "{report:?}");
}

#[tokio::test]
async fn the_first_requests_for_a_token_fail_and_again_after_a_reset() {
    let llm = with_oauth("{fail_first: 2}").await;
    for _ in 0..2 {
        for _ in 0..2 {
            let got = form(&llm, "/oauth/token", APP, &[]).await;
            assert_eq!(
                (got.status, &got.json()["error"]),
                (503, &json!("temporarily_unavailable"))
            );
            assert_eq!(llm.journal().entries().last().unwrap().faults, ["token_failed"]);
        }
        assert_eq!(form(&llm, "/oauth/token", APP, &[]).await.status, 200);
        llm.desk().reset();
    }
}

#[tokio::test]
async fn only_a_client_that_is_known_gets_tokens() {
    let llm = with_oauth("{client_id: app, client_secret: 'a b=c'}").await;
    let grant = "grant_type=client_credentials";
    // `app:a+b%3Dc`, as the standard wants it, and `app:a b=c`, as many send it.
    for basic in ["Basic YXBwOmErYiUzRGM=", "Basic YXBwOmEgYj1j"] {
        for others in [&[][..], &[("x-api-key", "no-key-needed")]] {
            let headers = [others, &[("authorization", basic)]].concat();
            let got = form(&llm, "/oauth/token", grant, &headers).await;
            assert_eq!(got.status, 200, "{headers:?}: {}", got.text());
        }
    }
    let good = format!("{grant}&client_id=app&client_secret=a+b%3Dc");
    assert_eq!(form(&llm, "/oauth/token", &good, &[]).await.status, 200);
    for (body, headers) in [
        (grant, &[][..]),
        ("grant_type=client_credentials&client_id=app&client_secret=other", &[]),
        ("grant_type=client_credentials&client_id=other&client_secret=a+b%3Dc", &[]),
        (grant, &[("authorization", "Basic !")]),
        (grant, &[("authorization", "Basic YXBw")]),
    ] {
        let got = form(&llm, "/oauth/token", body, headers).await;
        assert_eq!((got.status, &got.json()["error"]), (401, &json!("invalid_client")), "{body}");
        assert!(got.header("www-authenticate").unwrap().starts_with("Basic"), "{body}");
    }
}

#[tokio::test]
async fn what_is_wrong_with_a_request_for_a_token_is_told_in_the_words_of_the_standard() {
    let llm = with_oauth("{}").await;
    let long = "x".repeat(70_000);
    for (body, error) in [
        ("", "invalid_request"),
        ("{\"grant_type\": \"client_credentials\"}", "invalid_request"),
        ("grant_type=&client_id=a", "invalid_request"),
        ("grant_type=password&username=a&password=b", "unsupported_grant_type"),
        ("grant_type=client_credentials&client_id=a", "invalid_client"),
        ("grant_type=refresh_token", "invalid_request"),
        ("grant_type=refresh_token&refresh_token=made-up", "invalid_grant"),
        ("grant_type=authorization_code&code=made-up&redirect_uri=x", "invalid_grant"),
        ("grant_type=authorization_code", "invalid_request"),
        ("grant_type=client_credentials&grant_type=client_credentials", "invalid_request"),
        (&long, "invalid_request"),
    ] {
        let got = form(&llm, "/oauth/token", body, &[]).await;
        let shown = body.chars().take(60).collect::<String>();
        assert_eq!(got.json()["error"], error, "{shown}: {}", got.text());
        assert!(matches!(got.status, 400 | 401), "{shown}");
    }
    let got = get(&llm, "/oauth/token").await;
    assert_eq!((got.status, got.header("allow")), (405, Some("POST")));
}

/// The code of a redirect, as a client reads it.
fn code(got: &Got) -> String {
    let place = got.header("location").unwrap();
    let (_, rest) = place.split_once("code=").unwrap_or_else(|| panic!("no code in {place}"));
    rest.split('&').next().unwrap().to_owned()
}

/// RFC 7636, appendix B.
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const BACK: &str = "http%3A%2F%2F127.0.0.1%3A9%2Fback";

#[tokio::test]
async fn a_code_is_good_once_and_for_whoever_meets_its_challenge() {
    let llm = with_oauth("{}").await;
    let query = format!(
        "response_type=code&client_id=app&redirect_uri={BACK}&state=s%20t&scope=models&\
         code_challenge={CHALLENGE}&code_challenge_method=S256"
    );
    let claim = |code: &str, verifier: &str| {
        format!(
            "grant_type=authorization_code&code={code}&client_id=app&redirect_uri={BACK}&code_verifier={verifier}"
        )
    };
    let sent_back = get(&llm, &format!("/oauth/authorize?{query}")).await;
    assert_eq!(sent_back.status, 302);
    let place = sent_back.header("location").unwrap();
    assert!(place.starts_with("http://127.0.0.1:9/back?code=") && place.ends_with("&state=s+t"));
    let handed = form(&llm, "/oauth/token", &claim(&code(&sent_back), VERIFIER), &[]).await;
    assert_eq!(handed.json()["scope"], "models");
    let again = form(&llm, "/oauth/token", &claim(&code(&sent_back), VERIFIER), &[]).await;
    assert_eq!(again.json()["error"], "invalid_grant", "a code is good once");
    let other = get(&llm, &format!("/oauth/authorize?{query}")).await;
    let wrong = form(&llm, "/oauth/token", &claim(&code(&other), "something-else"), &[]).await;
    assert_eq!(wrong.json()["error"], "invalid_grant");

    let (old, renews) = (field(&handed, "access_token"), field(&handed, "refresh_token"));
    let renewal = format!("grant_type=refresh_token&client_id=app&refresh_token={renews}");
    let renewed = form(&llm, "/oauth/token", &renewal, &[]).await;
    let new = field(&renewed, "access_token");
    assert_eq!(
        (field(&renewed, "refresh_token"), field(&renewed, "scope")),
        (renews.clone(), "models".into())
    );
    let of_another = renewal.replace("client_id=app", "client_id=other");
    assert_eq!(form(&llm, "/oauth/token", &of_another, &[]).await.json()["error"], "invalid_grant");
    assert_eq!([ask_as(&llm, &old).await.status, ask_as(&llm, &new).await.status], [200, 200]);

    let known = form(&llm, "/oauth/introspect", &format!("token={new}"), &[]).await.json();
    assert_eq!(
        (&known["active"], &known["client_id"], &known["scope"]),
        (&json!(true), &json!("app"), &json!("models"))
    );
    assert!(known["exp"].as_i64().unwrap() > 1_700_000_000, "{known}");
    assert_eq!(form(&llm, "/oauth/revoke", &format!("token={renews}"), &[]).await.status, 200);
    assert_eq!(
        form(&llm, "/oauth/introspect", &format!("token={new}"), &[]).await.json(),
        json!({ "active": false })
    );
    assert_eq!([ask_as(&llm, &old).await.status, ask_as(&llm, &new).await.status], [401, 401]);
}

#[tokio::test]
async fn nobody_is_sent_where_a_header_would_break() {
    let llm = with_oauth("{client_id: app}").await;
    let asked = |rest: &str| format!("/oauth/authorize?response_type=code&client_id=app&{rest}");
    for place in [
        "back",
        "%2Fback",
        "http%3A%2F%2Fa%2F%0d%0Aset-cookie%3A%20x",
        "http%3A%2F%2Fa%2F%23f",
        "http%3A%2F%2Fa%2F%C3%A9",
    ] {
        let got = get(&llm, &asked(&format!("redirect_uri={place}"))).await;
        assert_eq!((got.status, got.header("location")), (400, None), "{place}: {}", got.head);
        assert_eq!(got.header("set-cookie"), None);
    }
    let stranger =
        get(&llm, &asked(&format!("redirect_uri={BACK}")).replace("=app", "=other")).await;
    assert_eq!(stranger.json()["error"], "unauthorized_client");
    for (rest, error) in [
        (
            asked(&format!("redirect_uri={BACK}")).replace("=code", "=token"),
            "unsupported_response_type",
        ),
        (
            asked(&format!("redirect_uri={BACK}&code_challenge=x&code_challenge_method=S1")),
            "invalid_request",
        ),
    ] {
        let got = get(&llm, &rest).await;
        let place = got.header("location").unwrap();
        assert!(place.contains(&format!("?error={error}&error_description=")), "{place}");
    }
    let with_state =
        get(&llm, &asked(&format!("redirect_uri={BACK}&state=%0d%0Aset-cookie%3A%20x"))).await;
    assert_eq!(
        (with_state.status, with_state.header("set-cookie")),
        (302, None),
        "{}",
        with_state.head
    );
}

#[tokio::test]
async fn a_device_is_let_in_after_it_has_asked_as_often_as_told() {
    let llm = with_oauth("{pending: 2}").await;
    let shown = form(&llm, "/oauth/device_authorization", "client_id=tv", &[]).await;
    assert!(field(&shown, "user_code").starts_with("MOCK-"));
    let place = field(&shown, "verification_uri");
    assert_eq!(get(&llm, place.strip_prefix(llm.url()).unwrap()).await.status, 200);
    let claim = format!(
        "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code&client_id=tv&device_code={}",
        field(&shown, "device_code")
    );
    for _ in 0..2 {
        let got = form(&llm, "/oauth/token", &claim, &[]).await;
        assert_eq!(got.json()["error"], "authorization_pending");
    }
    assert_eq!(ask_as(&llm, &token(&llm, &claim).await).await.status, 200);
    assert_eq!(form(&llm, "/oauth/token", &claim, &[]).await.json()["error"], "invalid_grant");
}

#[tokio::test]
async fn every_endpoint_is_where_the_metadata_says() {
    let llm = with_oauth("{}").await;
    let told = get(&llm, "/.well-known/oauth-authorization-server").await.json();
    assert_eq!(told["issuer"], llm.url());
    let places = told.as_object().unwrap().iter().filter(|(name, _)| name.ends_with("_endpoint"));
    let places: Vec<&Value> = places.map(|(_, place)| place).collect();
    assert_eq!(places.len(), 5);
    for place in places {
        let path = place.as_str().unwrap().strip_prefix(llm.url()).unwrap();
        assert_eq!(exchange(&llm, &written("PUT", path, &[], b"")).await.status, 405, "{path}");
    }
    let closed = start("fixtures: [{response: {content: fine}}]").await;
    assert_eq!(
        form(&closed, "/oauth/token", APP, &[]).await.status,
        404,
        "only where it is asked for"
    );
}

#[tokio::test]
async fn no_secret_of_a_client_is_written_down() {
    let llm = with_oauth("{}").await;
    let token = token(&llm, APP).await;
    let _ = ask_as(&llm, &token).await;
    let _ = form(&llm, "/oauth/introspect", &format!("token={token}"), &[]).await;
    let lines = String::from_utf8(llm.journal().lines()).unwrap();
    assert_eq!(lines.lines().count(), 3);
    assert!(!lines.contains("quiet") && !lines.contains(&token), "{lines}");
}
