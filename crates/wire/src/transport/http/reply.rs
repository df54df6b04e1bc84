//! Replies whose body is complete.

use std::time::Duration;

use mcp_loadtest_core::{
    display::visible_bytes,
    jsonrpc::{self, Body, Id, Message},
    outcome::ErrorCategory,
};

use super::{
    HttpLink, Trouble,
    head::{ContentType, Head},
    status_trouble,
};
use crate::session::{Break, Inner};

/// The status of those who limit how many calls may come.
const TOO_MANY_REQUESTS: u16 = 429;

impl HttpLink {
    /// Settles a reply whose body is complete.
    pub(super) fn take_body(
        &self,
        inner: &Inner,
        id: u64,
        head: &Head,
        body: &[u8],
        at: Duration,
    ) -> Result<(), Trouble> {
        if body.len() > self.target.limit {
            return self.take_too_long(inner, id, body);
        }
        self.take_session_id(inner, head);
        // Python's SDK calls the empty answer to a DELETE JSON.
        let says_something = !body.trim_ascii().is_empty();
        if head.status == 200 && head.content_type == ContentType::Json && says_something {
            inner.take_frame(body, at);
        } else {
            self.take_status(inner, id, head, body, at)?;
        }
        if id != 0 && inner.slots.borrow_mut().waiting(id).is_some() {
            return Err(Trouble::malformed(format_args!(
                "HTTP {} without a reply to the request: {}",
                head.status,
                visible_bytes(body, 80)
            )));
        }
        Ok(())
    }

    /// A reply beyond what is taken ends its call, as a frame does that is too long elsewhere.
    pub(super) fn take_too_long(&self, inner: &Inner, id: u64, body: &[u8]) -> Result<(), Trouble> {
        if id == 0 {
            return Err(self.too_long());
        }
        inner.take_oversized_reply(id, body, self.target.limit, inner.clock.now());
        Ok(())
    }

    /// Why a connection is given up whose reply is beyond what is taken.
    pub(super) fn too_long(&self) -> Trouble {
        Trouble::malformed(format_args!("the reply is longer than {} bytes", self.target.limit))
    }

    pub(super) fn take_session_id(&self, inner: &Inner, head: &Head) {
        if let Some(id) = &head.session_id
            && inner.lifecycle.get().http_sessions
            && self.session_id.borrow().is_none()
        {
            *self.session_id.borrow_mut() = Some(id.to_string());
            self.refresh_head(inner);
        }
    }

    /// Anything but a plain JSON reply.
    pub(super) fn take_status(
        &self,
        inner: &Inner,
        id: u64,
        head: &Head,
        body: &[u8],
        at: Duration,
    ) -> Result<(), Trouble> {
        if matches!(head.status, 200..=299) {
            return match (id, head.content_type) {
                (0, _) => Ok(()),
                (_, ContentType::Other) if !body.is_empty() => {
                    Err(Trouble::malformed(format_args!(
                        "HTTP {} with a body that is neither JSON nor an event stream: {}",
                        head.status,
                        visible_bytes(body, 80)
                    )))
                }
                _ => Ok(()),
            };
        }
        let reading = jsonrpc::read(body);
        if head.status == 404
            && id != 0
            && self.has_session(inner)
            && !is_about(reading.message.as_ref(), id)
        {
            // The server has forgotten the session; whoever owns it must begin a new one.
            let message = "the server ended the session (HTTP 404)".into();
            let code = Some(404);
            inner.break_off(Break { category: ErrorCategory::Disconnected, code, message });
            return Ok(());
        }
        if id != 0 && head.status == TOO_MANY_REQUESTS {
            // Whoever limits how many calls may come is known by the status, whatever the body says.
            inner.end_call(id, &status_trouble(head, body).into_break());
            return Ok(());
        }
        if let Some(Message::Response { body: error @ Body::Error { .. }, .. }) = reading.message
            && id != 0
        {
            // A refusal may carry no id: the exchange itself says what it answers.
            inner.settle(id, error, &[], at);
            return Ok(());
        }
        Err(status_trouble(head, body))
    }

    pub(super) fn has_session(&self, inner: &Inner) -> bool {
        inner.lifecycle.get().http_sessions && self.session_id.borrow().is_some()
    }
}

/// Whether this is the refusal of a method that the request named, and not of its session.
fn is_about(message: Option<&Message<'_>>, id: u64) -> bool {
    matches!(
        message,
        Some(Message::Response { id: Id::Number(answered), body: Body::Error { code: -32601, .. } })
            if *answered == id
    )
}
