//! OAuth 2.0 in front of the model: tokens that run out, so that a client can be seen to renew them.
//!
//! | file        | what it does                                                |
//! |-------------|-------------------------------------------------------------|
//! | `endpoints` | where clients ask for what, a line each                     |
//! | `grants`    | the ways to a token, a line each                            |
//! | `tokens`    | what was handed out, and whether it is still good           |
//! | `form`      | what clients send, and who they say they are                |
//!
//! To add an endpoint or a grant: a function, and its line in [`endpoints::ENDPOINTS`] or
//! [`grants::GRANTS`]. Nobody is asked for consent: whoever wants to be let in is. What is wrong is told
//! in the words of RFC 6749, and to those who ask the model in the words of its provider.

mod endpoints;
mod form;
mod grants;
mod tokens;

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use mcp_loadtest_core::{
    llm::{Oauth, Problem, TOKEN_RAN_OUT},
    seed::Seed,
};
use serde_json::{Value, json};

pub(super) use self::endpoints::ENDPOINTS;
use self::tokens::{Lack, Tokens};

/// A request that may be for a token.
#[derive(Debug)]
pub(super) struct Visit<'v> {
    pub(super) settings: &'v Oauth,
    pub(super) verb: &'v str,
    pub(super) path: &'v str,
    pub(super) query: &'v str,
    /// What stands in the headers that carry a key.
    pub(super) keys: &'v [String],
    pub(super) body: &'v [u8],
    /// Where the server is, without a path.
    pub(super) url: String,
    pub(super) now: Duration,
}

/// What somebody gets who asked for a token.
#[derive(Debug, PartialEq)]
pub(super) struct Handed {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Value,
    /// What went wrong on purpose.
    pub(super) fault: Option<&'static str>,
}

impl Handed {
    fn json(body: Value) -> Self {
        // RFC 6749, 5.1: nobody between may keep a token.
        let headers = vec![("cache-control".to_owned(), "no-store".to_owned())];
        Self { status: 200, headers, body, fault: None }
    }
}

/// Why somebody gets no token, in the words of RFC 6749.
#[derive(Debug, PartialEq, Eq)]
struct Denied {
    status: u16,
    error: &'static str,
    why: String,
}

impl Denied {
    fn new(error: &'static str, why: impl Into<String>) -> Self {
        let status = if error == "invalid_client" { 401 } else { 400 };
        Self { status, error, why: why.into() }
    }
}

impl From<Denied> for Handed {
    fn from(denied: Denied) -> Self {
        let Denied { status, error, why } = denied;
        let mut handed = Self::json(json!({ "error": error, "error_description": why }));
        handed.status = status;
        if status == 401 {
            handed.headers.push(("www-authenticate".into(), "Basic realm=\"mcp-loadtest\"".into()));
        }
        handed
    }
}

/// Why a request is not let in.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) problem: Problem,
    /// Whose token it was, where it was anybody's.
    pub(super) client: Option<String>,
    /// What went wrong on purpose.
    pub(super) fault: Option<&'static str>,
}

/// Hands out tokens and looks at them.
#[derive(Debug)]
pub(super) struct Issuer {
    tokens: Mutex<Tokens>,
}

impl Issuer {
    pub(super) fn new(seed: Seed) -> Self {
        Self { tokens: Mutex::new(Tokens::new(seed)) }
    }

    /// Answers whoever asks for a token; nothing, if something else is asked for.
    pub(super) fn answer(&self, visit: &Visit<'_>) -> Option<Handed> {
        let mut verbs = Vec::new();
        for endpoint in ENDPOINTS.iter().filter(|endpoint| endpoint.path == visit.path) {
            if endpoint.verb == visit.verb {
                let mut tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
                return Some((endpoint.answer)(visit, &mut tokens).unwrap_or_else(Handed::from));
            }
            verbs.push(endpoint.verb);
        }
        let allowed = verbs.first()?;
        let why = format!("{} takes {allowed}", visit.path);
        let mut handed = Handed::from(Denied { status: 405, error: "invalid_request", why });
        handed.headers.push(("allow".into(), (*allowed).to_owned()));
        Some(handed)
    }

    /// Lets a request in by the first of its keys that is a good token, and says whose it is. SDKs send a
    /// made-up key beside the token, so the reason for a refusal is the one that says most.
    pub(super) fn admit(&self, keys: &[String], now: Duration) -> Result<String, Box<Refused>> {
        let mut tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        let mut worst = Lack::Missing;
        for key in keys {
            let token = key.strip_prefix("Bearer ").unwrap_or(key).trim();
            match tokens.spend(token, now) {
                Ok(client) => return Ok(client),
                Err(lack) => worst = worst.or(lack),
            }
        }
        Err(Box::new(worst.into()))
    }

    /// Fails the first requests for tokens again.
    pub(super) fn reset(&self) {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner).failed = 0;
    }
}

impl From<Lack> for Refused {
    fn from(lack: Lack) -> Self {
        let (why, error, client, fault) = match lack {
            Lack::Missing => ("a token is needed: POST /oauth/token hands out one", "", None, None),
            Lack::Unknown => ("nobody handed out this token", INVALID, None, None),
            Lack::RanOut { client } => {
                ("the token has run out: get another", INVALID, Some(client), Some(TOKEN_RAN_OUT))
            }
        };
        let mut problem = Problem::new(401, why);
        let told = format!("Bearer realm=\"mcp-loadtest\"{error}");
        problem.headers.push(("www-authenticate".into(), told));
        Self { problem, client, fault }
    }
}

const INVALID: &str = ", error=\"invalid_token\"";
