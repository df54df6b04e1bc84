//! Says who asks, as far as the headers tell. Nothing is verified: a mock has no keys, and what
//! matters is what a gateway passed on.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::read_only;
use crate::{
    catalog::tool::{Tool, listing},
    mcp::result::CallResult,
    server::origin::Facts,
};

pub(super) fn tool() -> Tool {
    let description = "Says who asks: the subject of a bearer token, or the print of a key. Nothing is \
                       verified.";
    let mut listing = listing("whoami", description, json!({}), &[]);
    listing.annotations = read_only();
    Tool::later(
        listing,
        |exchange| async move { CallResult::value(&identity(exchange.facts())).into() },
    )
}

fn identity(facts: &Facts) -> Value {
    let bearer = facts.header("Authorization").and_then(|value| {
        let (scheme, token) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    });
    if let Some(token) = bearer {
        return match claims(token) {
            Some(claims) => from_claims(claims),
            None => json!({ "auth_type": "bearer", "subject": print(token) }),
        };
    }
    match facts.header("X-API-Key") {
        Some(key) => json!({ "auth_type": "api_key", "subject": print(key) }),
        None => json!({ "auth_type": "anonymous", "subject": "anonymous" }),
    }
}

/// What a token says about its bearer, whoever signed it.
fn claims(token: &str) -> Option<Map<String, Value>> {
    let body = token.split('.').nth(1)?;
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(body).ok()?).ok()
}

fn from_claims(claims: Map<String, Value>) -> Value {
    let mut identity = json!({ "auth_type": "bearer", "subject": claims.get("sub") });
    for key in ["email", "name"] {
        if let Some(value) = claims.get(key) {
            identity[key] = value.clone();
        }
    }
    identity["claims"] = claims.into();
    identity
}

/// Enough to tell two secrets apart, too little to use one.
fn print(secret: &str) -> String {
    let digest = Sha256::digest(secret.as_bytes());
    let hex: String = digest[..6].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity_of(name: &str, value: &str) -> Value {
        let headers = vec![(name.to_owned(), value.to_owned())];
        identity(&Facts { headers })
    }

    #[test]
    fn headers_tell_who_asks() {
        let anonymous = json!({"auth_type": "anonymous", "subject": "anonymous"});
        assert_eq!(identity(&Facts::default()), anonymous);
        let body = URL_SAFE_NO_PAD.encode(r#"{"sub":"u1","email":"a@b.example"}"#);
        let told = identity_of("authorization", &format!("Bearer x.{body}.y"));
        assert_eq!((&told["subject"], &told["email"]), (&json!("u1"), &json!("a@b.example")));
        let key = identity_of("x-api-key", "secret");
        assert_eq!(key["auth_type"], "api_key");
        assert!(!key.to_string().contains("secret"));
        assert_ne!(key["subject"], identity_of("x-api-key", "other")["subject"]);
    }
}
