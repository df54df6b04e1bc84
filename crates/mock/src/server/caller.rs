//! Who is at the other end of a connection.

use std::{
    net::SocketAddr,
    sync::{Mutex, PoisonError},
};

use crate::audit::Headers;

/// Heads longer than this are read anew each time: a thousand connections must not keep them all.
const REMEMBERED: usize = 4096;

/// An address as text, and what was made of the last head that came from there: clients send the same
/// one again and again, and reading it for the log is a good part of what a row costs.
#[derive(Debug)]
pub(crate) struct Caller {
    pub(super) address: String,
    last: Mutex<Option<(Vec<u8>, Headers)>>,
}

impl Caller {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self { address: address.to_string(), last: Mutex::default() }
    }

    /// The header lines of this head, which `read` makes unless it is the last one.
    pub(super) fn headers(&self, head: &[u8], read: impl FnOnce() -> Headers) -> Headers {
        if head.len() > REMEMBERED {
            return read();
        }
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((same, headers)) if same == head => headers.clone(),
            _ => {
                let headers = read();
                *last = Some((head.to_vec(), headers.clone()));
                headers
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_head_is_not_read_again() {
        let caller = Caller::new(([127, 0, 0, 1], 1).into());
        let made = |head: &[u8], line: &'static str| {
            let headers = caller.headers(head, || {
                let mut headers = Headers::default();
                headers.push("X-Read", line);
                headers
            });
            headers.as_str().to_owned()
        };
        assert_eq!(made(b"one", "first"), "X-Read: first\n");
        assert_eq!(made(b"one", "again"), "X-Read: first\n");
        assert_eq!(made(b"two", "second"), "X-Read: second\n");
        assert_eq!(made(b"one", "third"), "X-Read: third\n");
        let long = vec![b'x'; REMEMBERED + 1];
        assert_eq!(made(&long, "fourth"), "X-Read: fourth\n");
        assert_eq!(made(&long, "fifth"), "X-Read: fifth\n");
        assert_eq!(made(b"one", "sixth"), "X-Read: third\n", "a long one takes nobody's place");
    }
}
