//! Where to POST: the `endpoint` event, read as a link on the page of the stream.

use http::{Uri, uri::PathAndQuery};
use mcp_loadtest_core::display::visible;

/// The path and query of an endpoint; `Err` says why it cannot be used.
///
/// It may be written in full or relative to the stream. Another origin is refused, as browsers and
/// SDKs do: what is sent there may hold credentials that were meant for the first.
pub(super) fn resolve(
    endpoint: &[u8],
    secure: bool,
    authority: &str,
    base: &str,
) -> Result<String, String> {
    let text = std::str::from_utf8(endpoint).map_err(|_| "its endpoint is not text".to_owned())?;
    let text = text.trim();
    let bad = |why: &str| format!("its endpoint `{}` {why}", visible(text, 200));
    let link = text.split('#').next().unwrap_or_default();
    let scheme = if secure { "https" } else { "http" };
    let path = if let Some(rest) = link.strip_prefix("//") {
        other_origin(&format!("{scheme}://{rest}"), scheme, authority).map_err(|why| bad(&why))?
    } else if has_scheme(link) {
        other_origin(link, scheme, authority).map_err(|why| bad(&why))?
    } else {
        joined(base, link)
    };
    PathAndQuery::try_from(path.as_str()).map_err(|_| bad("is not an address"))?;
    Ok(path)
}

/// `scheme:` before any slash or question mark.
fn has_scheme(link: &str) -> bool {
    let end = link.find(['/', '?', ':']);
    let is_letter = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    end.is_some_and(|at| at > 0 && link[at..].starts_with(':') && link[..at].chars().all(is_letter))
}

/// The path of an address in full, if it is on the origin that we know.
fn other_origin(link: &str, scheme: &str, authority: &str) -> Result<String, String> {
    let uri: Uri = link.parse().map_err(|_| "is not an address".to_owned())?;
    let theirs = uri.scheme_str().unwrap_or_default();
    let own = origin(scheme, authority);
    if origin(theirs, uri.authority().map_or("", |authority| authority.as_str())) != own {
        return Err(format!("is on another origin than the stream ({scheme}://{authority})"));
    }
    Ok(uri.path_and_query().map_or("/", PathAndQuery::as_str).to_owned())
}

/// Scheme, host and port, so that they can be compared.
fn origin(scheme: &str, authority: &str) -> (String, String, u16) {
    let scheme = scheme.to_ascii_lowercase();
    let default = if scheme == "https" { 443 } else { 80 };
    let (host, port) = match authority.parse::<http::uri::Authority>() {
        // Credentials in an address are part of no origin that we know.
        Ok(parsed) if !authority.contains('@') => {
            (parsed.host().to_ascii_lowercase(), parsed.port_u16().unwrap_or(default))
        }
        _ => (format!("?{authority}"), 0),
    };
    (scheme, host, port)
}

/// A relative link on the page `base`.
fn joined(base: &str, link: &str) -> String {
    let page = base.split('?').next().unwrap_or("/");
    if link.is_empty() {
        return base.to_owned();
    }
    if link.starts_with('?') {
        return format!("{page}{link}");
    }
    let (path, query) = match link.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (link, None),
    };
    let folder = &page[..page.rfind('/').map_or(0, |at| at + 1)];
    let path = if path.starts_with('/') { path.to_owned() } else { format!("{folder}{path}") };
    let path = without_dots(&path);
    match query {
        Some(query) => format!("{path}?{query}"),
        None => path,
    }
}

fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let last = segments.peek().is_none();
        match segment {
            ".." => {
                kept.pop();
            }
            "." => {}
            other => kept.push(other),
        }
        if last && matches!(segment, "." | "..") {
            kept.push("");
        }
    }
    format!("/{}", kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(endpoint: &str) -> Result<String, String> {
        resolve(endpoint.as_bytes(), false, "Host:8000", "/a/sse?x=1")
    }

    #[test]
    fn endpoints_are_read_as_links() {
        for (endpoint, path) in [
            ("/messages/?session_id=1", "/messages/?session_id=1"),
            ("messages?s=a/b", "/a/messages?s=a/b"),
            ("?sessionId=7", "/a/sse?sessionId=7"),
            ("../m/./x", "/m/x"),
            ("../../..", "/"),
            ("http://host:8000/m?s=1#top", "/m?s=1"),
            ("HTTP://HOST:8000", "/"),
            ("//host:8000/m", "/m"),
            (" /m\n", "/m"),
            ("m?next=http://other/", "/a/m?next=http://other/"),
        ] {
            assert_eq!(at(endpoint), Ok(path.to_owned()), "{endpoint}");
        }
        assert_eq!(
            resolve(b"https://h:443/m", true, "h", "/sse"),
            Ok("/m".to_owned()),
            "the usual port need not be said"
        );
    }

    #[test]
    fn another_origin_is_refused() {
        for endpoint in [
            "http://evil:8000/m",
            "https://host:8000/m",
            "http://host/m",
            "//evil/m",
            "http://host:8000@evil/m",
            "http://user@host:8000/m",
            "javascript:alert(1)",
            "file:///etc/passwd",
        ] {
            let refused = at(endpoint).expect_err(endpoint);
            assert!(refused.contains("origin") || refused.contains("not an address"), "{refused}");
        }
    }

    #[test]
    fn what_would_forge_a_request_is_refused() {
        for endpoint in ["/m HTTP/1.1\r\nX: y", "/a b", "/\u{e9}\u{0}", "\u{7f}"] {
            assert!(at(endpoint).is_err(), "{endpoint:?}");
        }
        assert!(resolve(b"/\xff", false, "h", "/").is_err());
    }
}
