//! What clients tell without wanting a reply: that a call is withdrawn, or what they were asked.

use mcp_loadtest_core::mcp::method;

use super::{Server, origin::Origin, record::Draft, session::Session};
use crate::{
    audit::{Kind, Row},
    mcp::request::members,
};

impl Server {
    /// Takes a notification. The row is for the audit log.
    pub(crate) fn notice(
        &self,
        session: &Session,
        origin: &Origin<'_>,
        method: &str,
        params: Option<&[u8]>,
        bytes: usize,
    ) -> Option<Box<Row>> {
        let mut kind = Kind::Notification;
        let mut withdrawn = None;
        if method == method::CANCELLED {
            kind = Kind::Cancellation;
            members(params.unwrap_or_default(), |key, value| {
                if key == "requestId" {
                    withdrawn = Some(value);
                }
            });
        }
        let note = match withdrawn.map(|id| session.cancel(id)) {
            None => None,
            Some(true) => Some("the call was running"),
            Some(false) => Some("no such call is running"),
        };
        self.audit.is_on().then(|| {
            let draft = Draft::of_message(self, session, origin, kind, bytes);
            let mut row = draft.into_row();
            row.method = Some(method.to_owned().into());
            row.rpc_id = withdrawn.map(|id| String::from_utf8_lossy(id).into_owned());
            row.note = note.map(Into::into);
            row.success = true;
            row
        })
    }

    /// Takes the reply to a request of ours. The row is for the audit log.
    pub(crate) fn take_answer(
        &self,
        session: &Session,
        origin: &Origin<'_>,
        frame: &[u8],
    ) -> Option<Box<Row>> {
        let response: serde_json::Value = serde_json::from_slice(frame).unwrap_or_default();
        let rpc_id = response.get("id").map(ToString::to_string);
        let was_asked = session.answer(response);
        self.audit.is_on().then(|| {
            let draft = Draft::of_message(self, session, origin, Kind::Response, frame.len());
            let mut row = draft.into_row();
            row.rpc_id = rpc_id;
            row.success = was_asked;
            row.note = (!was_asked).then(|| "nobody asked for it".into());
            row
        })
    }
}
