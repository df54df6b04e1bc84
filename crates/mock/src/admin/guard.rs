//! Who may control a mock: this machine, or whoever knows the token. A web page must not, through the
//! browser of the person who runs it.

use std::{io, net::SocketAddr};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, StatusCode, header},
    middleware::Next,
    response::{IntoResponse as _, Response},
};

use super::{Access, routes::problem};
use crate::serve::http::guard::{is_local_origin, is_loopback};

/// Refuses an address that others can reach, unless that is wanted and guarded.
pub(super) fn check_address(address: SocketAddr, access: &Access) -> io::Result<()> {
    let why = match (address.ip().is_loopback(), access.allow_remote, &access.token) {
        (true, ..) | (false, true, Some(_)) => return Ok(()),
        (false, false, _) => "is not a loopback address; use `127.0.0.1:0`, or allow it",
        (false, true, None) => "can be reached by others, so a token is needed",
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, format!("the admin address {address} {why}")))
}

/// Lets only those through who may ask.
pub(super) async fn guard(State(access): State<Access>, request: Request, next: Next) -> Response {
    match refuse(&access, request.headers()) {
        Some((status, why)) => problem(status, why).into_response(),
        None => next.run(request).await,
    }
}

fn refuse(access: &Access, headers: &HeaderMap) -> Option<(StatusCode, &'static str)> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    if text(header::ORIGIN).is_some_and(|origin| !is_local_origin(origin))
        || (headers.contains_key(header::ORIGIN) && text(header::ORIGIN).is_none())
    {
        return Some((StatusCode::FORBIDDEN, "`Origin` is not this machine"));
    }
    if !access.allow_remote && !text(header::HOST).is_some_and(is_loopback) {
        return Some((StatusCode::FORBIDDEN, "`Host` does not name this machine"));
    }
    let given = text(header::AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
    match &access.token {
        Some(token) if !given.is_some_and(|given| same(given, token)) => {
            Some((StatusCode::UNAUTHORIZED, "the token is missing or wrong"))
        }
        _ => None,
    }
}

/// Compares in a time that does not depend on where the first difference is.
fn same(given: &str, token: &str) -> bool {
    let differ = given.bytes().zip(token.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
    differ == 0 && given.len() == token.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(access: &Access, lines: &[(header::HeaderName, &str)]) -> Option<u16> {
        let headers = lines.iter().map(|(name, value)| (name.clone(), value.parse().unwrap()));
        refuse(access, &headers.collect()).map(|(status, _)| status.as_u16())
    }

    #[test]
    fn only_this_machine_may_ask() {
        let open = Access::default();
        let host = (header::HOST, "127.0.0.1:80");
        assert_eq!(status(&open, std::slice::from_ref(&host)), None);
        assert_eq!(status(&open, &[host.clone(), (header::ORIGIN, "http://localhost:3")]), None);
        assert_eq!(status(&open, &[host, (header::ORIGIN, "https://evil.example")]), Some(403));
        assert_eq!(status(&open, &[(header::HOST, "evil.example")]), Some(403));
        assert_eq!(status(&open, &[]), Some(403));
    }

    #[test]
    fn a_token_is_asked_of_everybody() {
        let guarded = Access { token: Some("s3cret".into()), allow_remote: true };
        let host = (header::HOST, "mock.example");
        let bearer = |token| (header::AUTHORIZATION, token);
        assert_eq!(status(&guarded, std::slice::from_ref(&host)), Some(401));
        assert_eq!(status(&guarded, &[host.clone(), bearer("Bearer s3cre")]), Some(401));
        assert_eq!(status(&guarded, &[host, bearer("Bearer s3cret")]), None);
    }

    #[test]
    fn other_machines_need_leave_and_a_token() {
        let any = "0.0.0.0:0".parse().unwrap();
        assert!(check_address("127.0.0.1:0".parse().unwrap(), &Access::default()).is_ok());
        assert!(check_address(any, &Access::default()).is_err());
        assert!(check_address(any, &Access { token: None, allow_remote: true }).is_err());
        let both = Access { token: Some("t".into()), allow_remote: true };
        assert!(check_address(any, &both).is_ok());
    }
}
