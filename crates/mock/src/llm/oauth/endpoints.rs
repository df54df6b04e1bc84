//! Where clients ask for what.

use std::time::Duration;

use http::Uri;
use serde_json::json;

use super::{
    Denied, Handed, Visit,
    form::{Client, Form},
    grants::{Claim, GRANTS, Renewed},
    tokens::{Code, Device, Tokens},
};
use crate::audit::Timestamp;

/// One place where clients ask.
pub(in crate::llm) struct Endpoint {
    pub(in crate::llm) verb: &'static str,
    pub(in crate::llm) path: &'static str,
    pub(in crate::llm) about: &'static str,
    pub(super) answer: fn(&Visit<'_>, &mut Tokens) -> Result<Handed, Denied>,
}

/// Every place.
pub(in crate::llm) static ENDPOINTS: &[Endpoint] = &[
    Endpoint { verb: "POST", path: TOKEN, about: "hands out and renews tokens", answer: token },
    Endpoint {
        verb: "GET",
        path: AUTHORIZE,
        about: "sends the browser back with a code, at once; PKCE is checked",
        answer: authorize,
    },
    Endpoint {
        verb: "POST",
        path: DEVICE,
        about: "a code for a device, which is let in after it has asked `pending` times",
        answer: device,
    },
    Endpoint {
        verb: "GET",
        path: LET_IN,
        about: "where the user of a device is sent: there is nothing to do",
        answer: let_in,
    },
    Endpoint { verb: "POST", path: REVOKE, about: "takes a token back", answer: revoke },
    Endpoint {
        verb: "POST",
        path: INTROSPECT,
        about: "says whether a token is good",
        answer: introspect,
    },
    Endpoint {
        verb: "GET",
        path: "/.well-known/oauth-authorization-server",
        about: "says where all of this is (RFC 8414)",
        answer: metadata,
    },
];

const TOKEN: &str = "/oauth/token";
const AUTHORIZE: &str = "/oauth/authorize";
const DEVICE: &str = "/oauth/device_authorization";
const LET_IN: &str = "/oauth/device";
const REVOKE: &str = "/oauth/revoke";
const INTROSPECT: &str = "/oauth/introspect";

/// How long a code is good.
const CODE_IS_GOOD: Duration = Duration::from_secs(60);
/// How long a code of a device is good.
const DEVICE_IS_GOOD: Duration = Duration::from_secs(600);
/// How many seconds a device should wait before it asks again: short, because tests wait for it.
const INTERVAL: u64 = 1;

/// The fault of a request for a token that failed on purpose.
const TOKEN_FAILED: &str = "token_failed";

fn token(visit: &Visit<'_>, tokens: &mut Tokens) -> Result<Handed, Denied> {
    if tokens.failed < visit.settings.fail_first {
        tokens.failed += 1;
        let why = "no tokens are handed out now".to_owned();
        let denied = Denied { status: 503, error: "temporarily_unavailable", why };
        return Ok(Handed { fault: Some(TOKEN_FAILED), ..denied.into() });
    }
    let form = Form::read(visit.body)?;
    let client = Client::of(visit, &form)?;
    let wanted = form.need("grant_type")?;
    let Some(grant) = GRANTS.iter().find(|grant| grant.name == wanted) else {
        let names: Vec<_> = GRANTS.iter().map(|grant| grant.name).collect();
        let why = format!("there is {}", names.join(", "));
        return Err(Denied::new("unsupported_grant_type", why));
    };
    let settings = visit.settings;
    let claim = Claim { form: &form, client: &client, now: visit.now };
    let given = (grant.give)(&claim, tokens)?;
    let mut body = json!({ "token_type": "Bearer", "expires_in": settings.lifetime() });
    if let Some(scope) = &given.grantee.scope {
        body["scope"] = scope.as_str().into();
    }
    let renewed_by = match given.renewed_by {
        Renewed::No => None,
        Renewed::By(word) => Some(word),
        Renewed::ByNew => {
            let word = tokens.word("refresh-");
            tokens.refresh.put(word.clone(), given.grantee.clone());
            Some(word)
        }
    };
    if let Some(word) = renewed_by {
        body["refresh_token"] = word.into();
    }
    body["access_token"] = tokens.hand_out(given.grantee, settings, visit.now).into();
    Ok(Handed::json(body))
}

/// Lets in whoever was sent here, without asking: there is nobody to ask.
fn authorize(visit: &Visit<'_>, tokens: &mut Tokens) -> Result<Handed, Denied> {
    let form = Form::read(visit.query.as_bytes())?;
    let client = form.need("client_id")?;
    if visit.settings.client_id.as_ref().is_some_and(|known| known != client) {
        return Err(Denied::new("unauthorized_client", "this client is not known here"));
    }
    let redirect_uri = form.need("redirect_uri")?;
    if !is_place(redirect_uri) {
        return Err(Denied::new("invalid_request", "`redirect_uri` is no absolute URI"));
    }
    let outcome = match form.get("response_type") {
        Some("code") => challenge(&form).map(|challenge| {
            let grantee = tokens.consent(client.to_owned(), form.get("scope"));
            let (redirect_uri, until) = (redirect_uri.to_owned(), visit.now + CODE_IS_GOOD);
            let word = tokens.word("code-");
            tokens.codes.put(word.clone(), Code { grantee, redirect_uri, challenge, until });
            word
        }),
        _ => Err(Denied::new("unsupported_response_type", "`response_type` must be `code`")),
    };
    let mut back = form_urlencoded::Serializer::new(String::new());
    match outcome {
        Ok(word) => back.append_pair("code", &word),
        Err(denied) => {
            back.append_pair("error", denied.error).append_pair("error_description", &denied.why)
        }
    };
    if let Some(state) = form.get("state") {
        back.append_pair("state", state);
    }
    let mark = if redirect_uri.contains('?') { '&' } else { '?' };
    let place = format!("{redirect_uri}{mark}{}", back.finish());
    let mut handed = Handed::json(json!({}));
    handed.status = 302;
    handed.headers.push(("location".into(), place));
    Ok(handed)
}

/// Whether a client can be sent there: it ends up in a header.
fn is_place(uri: &str) -> bool {
    let is_whole = |uri: Uri| uri.scheme().is_some() && uri.authority().is_some();
    uri.is_ascii() && !uri.contains('#') && uri.parse().is_ok_and(is_whole)
}

/// What the client will have to meet, and whether it is a hash (RFC 7636).
fn challenge(form: &Form) -> Result<Option<(String, bool)>, Denied> {
    let Some(challenge) = form.get("code_challenge") else { return Ok(None) };
    match form.get("code_challenge_method").unwrap_or("plain") {
        "S256" => Ok(Some((challenge.to_owned(), true))),
        "plain" => Ok(Some((challenge.to_owned(), false))),
        _ => Err(Denied::new("invalid_request", "`code_challenge_method` is S256 or plain")),
    }
}

fn device(visit: &Visit<'_>, tokens: &mut Tokens) -> Result<Handed, Denied> {
    let form = Form::read(visit.body)?;
    let client = Client::of(visit, &form)?;
    let grantee = tokens.consent(client.name(), form.get("scope"));
    let user_code = format!("MOCK-{:04}", grantee.consent % 10_000);
    let (device_code, pending) = (tokens.word("device-"), visit.settings.pending);
    let until = visit.now + DEVICE_IS_GOOD;
    tokens.devices.put(device_code.clone(), Device { grantee, pending, until });
    Ok(Handed::json(json!({
        "device_code": device_code,
        "user_code": user_code,
        "verification_uri": format!("{}{LET_IN}", visit.url),
        "expires_in": DEVICE_IS_GOOD.as_secs(),
        "interval": INTERVAL,
    })))
}

fn let_in(_: &Visit<'_>, _: &mut Tokens) -> Result<Handed, Denied> {
    Ok(Handed::json(json!({ "message": "nothing to do: devices are let in by themselves" })))
}

/// What is not known any more is taken back as well (RFC 7009, 2.2).
fn revoke(visit: &Visit<'_>, tokens: &mut Tokens) -> Result<Handed, Denied> {
    let form = Form::read(visit.body)?;
    Client::of(visit, &form)?;
    tokens.take_back(form.need("token")?);
    Ok(Handed::json(json!({})))
}

fn introspect(visit: &Visit<'_>, tokens: &mut Tokens) -> Result<Handed, Denied> {
    let form = Form::read(visit.body)?;
    Client::of(visit, &form)?;
    let Some((grantee, left)) = tokens.look(form.need("token")?, visit.now) else {
        return Ok(Handed::json(json!({ "active": false })));
    };
    let ends = Timestamp::now().0 / 1_000_000 + i64::try_from(left.as_secs()).unwrap_or_default();
    let mut body = json!({
        "active": true,
        "client_id": grantee.client,
        "token_type": "Bearer",
        "exp": ends,
    });
    if let Some(scope) = &grantee.scope {
        body["scope"] = scope.as_str().into();
    }
    Ok(Handed::json(body))
}

fn metadata(visit: &Visit<'_>, _: &mut Tokens) -> Result<Handed, Denied> {
    let at = |path: &str| format!("{}{path}", visit.url);
    let grants: Vec<_> = GRANTS.iter().map(|grant| grant.name).collect();
    Ok(Handed::json(json!({
        "issuer": visit.url,
        "token_endpoint": at(TOKEN),
        "authorization_endpoint": at(AUTHORIZE),
        "device_authorization_endpoint": at(DEVICE),
        "revocation_endpoint": at(REVOKE),
        "introspection_endpoint": at(INTROSPECT),
        "grant_types_supported": grants,
        "response_types_supported": ["code"],
        "code_challenge_methods_supported": ["S256", "plain"],
        "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post", "none"],
    })))
}
