//! Requests that never get as far as the server, written down all the same.

use http::{Method, Response, StatusCode};
use mcp_loadtest_core::{fault::Instead, mcp::Era};

use super::{
    body::Outgoing,
    exchange::{Exchange, Letter, addressed},
    replies::{plain, status},
};
use crate::{
    audit::Kind,
    mcp::{batch::Batch, write::NO_ID},
    proxy::{message::Said, record::Envelope},
};

impl Exchange {
    /// Nobody looks at what the request says.
    pub(super) async fn refuse(
        &self,
        code: StatusCode,
        words: &str,
        envelope: Option<Envelope>,
    ) -> Response<Outgoing> {
        let open = addressed(self.judge.recorder.open_bare(Kind::Refused, None), envelope);
        self.answered(open, plain(code, words)).await
    }

    /// The session was lost by a fault, and stays so.
    pub(super) async fn refuse_lost(&self, method: &Method, letter: Letter) -> Response<Outgoing> {
        let Letter { body, session, envelope } = letter;
        let (recorder, session) = (&self.judge.recorder, session.as_deref());
        let opens: Vec<_> = match *method {
            Method::GET => vec![recorder.open_bare(Kind::Stream, session)],
            Method::DELETE => vec![recorder.open_bare(Kind::SessionEnd, session)],
            _ => Batch::members(&body)
                .unwrap_or_else(|| vec![&body])
                .into_iter()
                .map(|member| recorder.open(&Said::read(member), member.len(), session))
                .collect(),
        };
        for mut open in opens.into_iter().filter_map(|open| addressed(open, envelope.clone())) {
            open.status(StatusCode::NOT_FOUND);
            recorder.close(Some(open)).await;
        }
        status(StatusCode::NOT_FOUND, Instead::SessionLost.frame(NO_ID, Era::Legacy))
    }
}
