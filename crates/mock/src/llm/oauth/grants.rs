//! The ways to a token.

use std::time::Duration;

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use sha2::{Digest as _, Sha256};

use super::{
    Denied,
    form::{Client, Form},
    tokens::{Grantee, Tokens},
};

/// One way to a token.
pub(super) struct Grant {
    /// What `grant_type` calls it.
    pub(super) name: &'static str,
    pub(super) give: fn(&Claim<'_>, &mut Tokens) -> Result<Given, Denied>,
}

/// Every way.
pub(super) static GRANTS: &[Grant] = &[
    Grant { name: "client_credentials", give: client_credentials },
    Grant { name: "authorization_code", give: authorization_code },
    Grant { name: "refresh_token", give: refresh_token },
    Grant { name: "urn:ietf:params:oauth:grant-type:device_code", give: device_code },
];

/// What somebody wants a token for.
#[derive(Debug)]
pub(super) struct Claim<'c> {
    pub(super) form: &'c Form,
    pub(super) client: &'c Client,
    pub(super) now: Duration,
}

/// Who gets a token.
#[derive(Debug)]
pub(super) struct Given {
    pub(super) grantee: Grantee,
    pub(super) renewed_by: Renewed,
}

/// With what the token is renewed.
#[derive(Debug)]
pub(super) enum Renewed {
    /// By asking again in the same way.
    No,
    /// With a word that is handed out now.
    ByNew,
    /// With the word that was used.
    By(String),
}

/// A program that asks for itself (RFC 6749, 4.4).
fn client_credentials(claim: &Claim<'_>, tokens: &mut Tokens) -> Result<Given, Denied> {
    if claim.client.id.is_none() || claim.client.secret.is_none() {
        let why =
            "this grant needs a client_id and a client_secret, in a Basic header or in the form";
        return Err(Denied::new("invalid_client", why));
    }
    let grantee = tokens.consent(claim.client.name(), claim.form.get("scope"));
    Ok(Given { grantee, renewed_by: Renewed::No })
}

/// Somebody who has been sent to `/oauth/authorize` before (RFC 6749, 4.1; RFC 7636).
fn authorization_code(claim: &Claim<'_>, tokens: &mut Tokens) -> Result<Given, Denied> {
    let wrong = |why: &str| Denied::new("invalid_grant", why);
    let word = claim.form.need("code")?;
    // Whatever comes of it, a code is good once.
    let code = tokens.codes.take(word).ok_or_else(|| wrong("the code is unknown or was used"))?;
    if claim.now >= code.until {
        return Err(wrong("the code has run out"));
    }
    if claim.client.id.as_ref().is_some_and(|id| *id != code.grantee.client) {
        return Err(wrong("the code is another client's"));
    }
    if claim.form.get("redirect_uri") != Some(&code.redirect_uri) {
        return Err(wrong("`redirect_uri` is not the one that the code was asked for with"));
    }
    if let Some((challenge, is_hash)) = &code.challenge {
        let verifier = claim.form.need("code_verifier")?;
        let met = match is_hash {
            true => BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes())),
            false => verifier.to_owned(),
        };
        if met != *challenge {
            return Err(wrong("`code_verifier` does not meet the challenge"));
        }
    }
    Ok(Given { grantee: code.grantee, renewed_by: Renewed::ByNew })
}

/// Somebody whose token has run out, or soon will (RFC 6749, 6).
fn refresh_token(claim: &Claim<'_>, tokens: &mut Tokens) -> Result<Given, Denied> {
    let word = claim.form.need("refresh_token")?;
    let known = tokens.refresh.get(word).map(|grantee| grantee.clone());
    let is_own =
        |grantee: &Grantee| claim.client.id.as_ref().is_none_or(|id| *id == grantee.client);
    match known.filter(is_own) {
        Some(grantee) => Ok(Given { grantee, renewed_by: Renewed::By(word.to_owned()) }),
        None => {
            Err(Denied::new("invalid_grant", "the refresh token is unknown or another client's"))
        }
    }
}

/// A device that has shown its code to somebody (RFC 8628, 3.4).
fn device_code(claim: &Claim<'_>, tokens: &mut Tokens) -> Result<Given, Denied> {
    let word = claim.form.need("device_code")?;
    let unknown = || Denied::new("invalid_grant", "the device code is unknown or was used");
    let device = tokens.devices.get(word).ok_or_else(unknown)?;
    if claim.now >= device.until {
        return Err(Denied::new("expired_token", "the device code has run out"));
    }
    if device.pending > 0 {
        device.pending -= 1;
        return Err(Denied::new("authorization_pending", "nobody has let the device in yet"));
    }
    let device = tokens.devices.take(word).ok_or_else(unknown)?;
    Ok(Given { grantee: device.grantee, renewed_by: Renewed::ByNew })
}
