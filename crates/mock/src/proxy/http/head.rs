//! Headers that concern one connection only, and who may ask.

use std::net::IpAddr;

use http::{
    HeaderMap, HeaderName, HeaderValue,
    header::{CONNECTION, CONTENT_LENGTH, EXPECT, HOST, VIA},
};

/// Headers that a proxy must not pass on.
const HOP_BY_HOP: &[&str] = &[
    "connection",
    "keep-alive",
    "proxy-connection",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Takes away what concerns this connection alone.
pub(super) fn strip(headers: &mut HeaderMap) {
    let named = headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let named: Vec<HeaderName> = named
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in HOP_BY_HOP.iter().copied().chain(named.iter().map(HeaderName::as_str)) {
        headers.remove(name);
    }
}

/// Makes the headers of a request those of our own request to `authority`.
pub(super) fn readdress(headers: &mut HeaderMap, authority: &str, mark: &str) {
    strip(headers);
    headers.remove(EXPECT);
    // The body is sent whole, so its length is known anew.
    headers.remove(CONTENT_LENGTH);
    if let Ok(value) = HeaderValue::from_str(authority) {
        headers.insert(HOST, value);
    }
    if let Ok(value) = HeaderValue::from_str(&format!("1.1 {mark}")) {
        headers.append(VIA, value);
    }
}

/// Whether a request has already passed through the proxy with this mark.
pub(super) fn has_passed(headers: &HeaderMap, mark: &str) -> bool {
    let lines = headers.get_all(VIA).iter().filter_map(|value| value.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|hop| hop.trim().ends_with(mark))
}

/// Whether a request names this machine by number or as `localhost`. A web page that made its own
/// name stand for this machine must not reach the server through us: we would hide that name.
pub(super) fn is_local(headers: &HeaderMap) -> bool {
    let host = headers.get(HOST).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    bare.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        let lines = lines.iter();
        lines
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect()
    }

    #[test]
    fn only_what_concerns_one_connection_is_taken_away() {
        let mut lines =
            headers(&[("connection", "close, x-mine"), ("x-mine", "1"), ("x-other", "2")]);
        strip(&mut lines);
        assert_eq!(lines, headers(&[("x-other", "2")]));
    }

    #[test]
    fn a_request_that_comes_back_is_known() {
        let mut lines = headers(&[("host", "127.0.0.1:1")]);
        assert!(!has_passed(&lines, "proxy-a"));
        readdress(&mut lines, "example.com", "proxy-a");
        assert_eq!(lines[HOST], "example.com");
        assert!(has_passed(&lines, "proxy-a") && !has_passed(&lines, "proxy-b"));
    }

    #[test]
    fn names_of_others_are_refused() {
        for host in ["localhost", "LocalHost:80", "127.0.0.1:80", "[::1]:80", "[::1]", "10.0.0.1"] {
            let mut lines = HeaderMap::new();
            lines.insert(HOST, HeaderValue::from_str(host).unwrap());
            assert!(is_local(&lines), "{host}");
        }
        for host in ["evil.example", "localhost.evil.example:80"] {
            let mut lines = HeaderMap::new();
            lines.insert(HOST, HeaderValue::from_str(host).unwrap());
            assert!(!is_local(&lines), "{host}");
        }
        assert!(!is_local(&HeaderMap::new()));
    }
}
