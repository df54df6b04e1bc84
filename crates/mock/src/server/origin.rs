//! Where a request came from: who sent it and, over HTTP, in which envelope.

use std::mem::MaybeUninit;

use mcp_loadtest_core::secrets::MASK;

use super::caller::Caller;
use crate::audit::{Headers, Redaction};

/// The envelope while it is still in the read buffer. Looking closer costs nothing until somebody
/// does.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Origin<'a> {
    pub(crate) caller: Option<&'a Caller>,
    pub(crate) verb: Option<&'a str>,
    pub(crate) path: Option<&'a str>,
    /// The head of the HTTP request, as sent.
    pub(crate) head: &'a [u8],
}

/// The same, kept.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts {
    pub(crate) headers: Vec<(String, String)>,
}

/// As many headers as a head may have.
pub(crate) const MOST_HEADERS: usize = 100;

impl Origin<'_> {
    pub(crate) fn keep(&self) -> Facts {
        let mut headers = Vec::new();
        self.each_header(|name, value| headers.push((name.to_owned(), value.to_owned())));
        Facts { headers }
    }

    /// The header lines for the log, without a copy of each.
    pub(super) fn redacted(&self, redaction: &Redaction) -> Headers {
        let read = || {
            let mut headers = Headers::with_room(self.head.len());
            self.each_header(|name, value| {
                headers.push(name, if redaction.is_secret(name) { MASK } else { value });
            });
            headers
        };
        match self.caller {
            Some(caller) => caller.headers(self.head, read),
            None => read(),
        }
    }

    /// Visits the headers in the order in which they came. What is no text is shown as well as it
    /// can be.
    pub(crate) fn each_header(&self, mut visit: impl FnMut(&str, &str)) {
        let mut headers = [const { MaybeUninit::uninit() }; MOST_HEADERS];
        let mut request = httparse::Request::new(&mut []);
        // The head was parsed before, or there is none.
        let _ = request.parse_with_uninit_headers(self.head, &mut headers);
        for header in request.headers.iter().filter(|header| !header.name.is_empty()) {
            match str::from_utf8(header.value) {
                Ok(value) => visit(header.name, value),
                Err(_) => visit(header.name, &String::from_utf8_lossy(header.value)),
            }
        }
    }
}

impl Facts {
    /// The first header of this name.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let same = |(key, _): &&(String, String)| key.eq_ignore_ascii_case(name);
        self.headers.iter().find(same).map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_kept_in_their_order() {
        let head = b"POST /mcp HTTP/1.1\r\nHost: a\r\nX-Two: 1\r\nx-two: \xff\r\n\r\n";
        let facts = Origin { head, ..Origin::default() }.keep();
        let names: Vec<_> = facts.headers.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["Host", "X-Two", "x-two"]);
        assert_eq!((facts.header("x-TWO"), facts.header("none")), (Some("1"), None));
        assert!(Origin::default().keep().headers.is_empty());
    }
}
