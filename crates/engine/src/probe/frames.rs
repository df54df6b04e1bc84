//! Frames that are wrong in one place: a good request, written out, to be spoilt; and what it means
//! when a server takes, refuses or drops it.

use mcp_loadtest_core::{
    check::{CaseResult, CaseVerdict},
    jsonrpc::Id,
    mcp::{Era, header, method},
    report::Severity,
};
use mcp_loadtest_wire::session::{Outgoing, RawHttp, Session, Target};
use serde_json::{Value, json};

use super::{
    asking::{Pulse, Sent},
    bench::Bench,
    checks::Check,
    seen::{Seen, is_ours},
};

/// A request that any server of this revision would answer.
#[derive(Clone)]
pub(crate) struct GoodRequest {
    pub(crate) id: u64,
    pub(crate) json: Value,
    /// What HTTP says beside it in the modern era.
    headers: Vec<(&'static str, String)>,
}

impl GoodRequest {
    /// The cheapest request that has something to say: a list of tools, where there is one.
    pub(crate) fn cheap(bench: &Bench, session: &Session) -> Self {
        let method = match (bench.hello.has_tools(), bench.hello.era) {
            (true, _) => method::TOOLS_LIST,
            (false, Era::Legacy) => method::PING,
            (false, Era::Modern) => method::DISCOVER,
        };
        Self::new(bench, session, method, json!({}))
    }

    pub(crate) fn new(bench: &Bench, session: &Session, method: &str, params: Value) -> Self {
        let id = bench.raw_id();
        let name =
            ["name", "uri"].iter().find_map(|key| params.get(key)?.as_str().map(str::to_owned));
        let frame = session.prepare(method, params).frame(id);
        let mut headers = Vec::new();
        if session.revision().era() == Era::Modern {
            headers.push((header::PROTOCOL_VERSION, session.revision().to_string()));
            headers.push((header::METHOD, header::encode_value(method)));
            headers.extend(name.map(|name| (header::NAME, header::encode_value(&name))));
        }
        Self { id, json: serde_json::from_slice(&frame).unwrap_or_default(), headers }
    }

    /// Names another revision, in body and header.
    pub(crate) fn set_revision(&mut self, revision: &str) {
        self.json["params"]["_meta"][method::META_VERSION] = json!(revision);
        for (name, value) in &mut self.headers {
            if *name == header::PROTOCOL_VERSION {
                revision.clone_into(value);
            }
        }
    }

    /// The frame as it should be.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.json.to_string().into_bytes()
    }

    /// The frame with something changed.
    pub(crate) fn with(&self, change: impl FnOnce(&mut Value)) -> Outgoing {
        let mut changed = self.json.clone();
        change(&mut changed);
        self.sending(changed.to_string().into_bytes())
    }

    /// The frame with these characters in place of others.
    pub(crate) fn replacing(&self, old: &str, new: &[u8]) -> Outgoing {
        let good = self.bytes();
        let at = good.windows(old.len()).position(|window| window == old.as_bytes());
        let (before, after) = match at {
            Some(at) => (&good[..at], &good[at + old.len()..]),
            None => (good.as_slice(), &[][..]),
        };
        self.sending([before, new, after].concat())
    }

    /// Other bytes, sent as this request would be.
    pub(crate) fn sending(&self, bytes: Vec<u8>) -> Outgoing {
        let mut request = RawHttp::post(bytes);
        for (name, value) in &self.headers {
            request = request.header(name, Some(value));
        }
        Outgoing::Http(request)
    }

    /// Sends a changed frame; an answer is known by the id of this request.
    pub(crate) async fn send(&self, bench: &Bench, session: &Session, out: &Outgoing) -> Sent {
        let id = Some(self.id);
        bench.send_to(session, out, &|theirs: &Id<'_>| is_ours(theirs, id)).await
    }
}

/// What a server must not do with a frame.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taking {
    /// Answer it as if it were right: the specification says so.
    IsWrong(&'static str),
    /// Taking it is as good as refusing it: parsers differ, and no harm is done.
    IsFine,
}

/// What it means that a server did this with a bad frame. Most SDKs drop what they cannot read, so
/// silence is fine as long as others are answered.
pub(crate) fn judge(check: &Check, case: &str, taking: Taking, sent: &Sent) -> CaseResult {
    let failed_at_http = sent.status.is_some_and(|status| status >= 500);
    let result = match (&sent.seen, &sent.pulse) {
        (Seen::Gone(_), _) | (_, Pulse::Gone(_)) => check.case(case, CaseVerdict::Crashed),
        (_, Pulse::Silent) => check.case(case, CaseVerdict::Hung),
        (Seen::Taken { .. }, _) => match taking {
            Taking::IsFine => check.case(case, CaseVerdict::Held),
            Taking::IsWrong(reference) => check
                .case(case, CaseVerdict::Accepted)
                .severity(Severity::Warning)
                .reference(reference),
        },
        (Seen::Garbled { .. }, _) => {
            check.case(case, CaseVerdict::Broken).severity(Severity::Warning)
        }
        _ if failed_at_http => check
            .case(case, CaseVerdict::Rejected)
            .severity(Severity::Warning)
            .reference("RFC 9110, section 15: what the client did wrong is a 4xx, not a 5xx"),
        (Seen::Silent { .. }, _) => check.case(case, CaseVerdict::Held),
        (Seen::ToolError { .. } | Seen::Refused { .. } | Seen::Status { .. }, _) => {
            check.case(case, CaseVerdict::Rejected)
        }
    };
    result.detail(words(sent))
}

fn words(sent: &Sent) -> String {
    let seen = match &sent.seen {
        Seen::Silent { .. } => "not answered".to_owned(),
        seen => seen.words(),
    };
    match &sent.pulse {
        Pulse::Alive if matches!(sent.seen, Seen::Silent { .. }) => {
            format!("{seen}, while others are")
        }
        _ if matches!(sent.seen, Seen::Gone(_)) => seen,
        Pulse::Alive => seen,
        Pulse::Silent => format!("{seen}; afterwards nothing is answered"),
        Pulse::Gone(cause) => format!("{seen}; afterwards: {}", cause.message),
    }
}

/// Finds out whether what was sent shuts out those who come later, and tells it where it does. Whoever
/// could send nothing has done no damage.
pub(crate) async fn look_for_damage(bench: &Bench, check: &Check) {
    if !bench.has_tried(check) {
        return;
    }
    if let Err(why) = bench.serves_newcomers().await {
        let case = check.case("a new session afterwards", CaseVerdict::Crashed);
        bench.tell(case.detail(why));
    }
}

/// Who ends the connection of whoever sends a bad frame, and serves all others, has not crashed.
async fn only_for_us(bench: &Bench, result: CaseResult) -> CaseResult {
    let stdio = matches!(bench.target, Target::Stdio(_));
    if stdio || result.verdict != CaseVerdict::Crashed || bench.serves_newcomers().await.is_err() {
        return result;
    }
    let detail = format!("{}; others are served", result.detail);
    CaseResult { verdict: CaseVerdict::Broken, ..result.severity(Severity::Warning).detail(detail) }
}

/// One way to spoil a frame.
pub(crate) struct Spoilt {
    pub(crate) case: &'static str,
    pub(crate) taking: Taking,
    pub(crate) frame: fn(&GoodRequest) -> Outgoing,
}

/// Sends spoilt frames one by one; afterwards the server must serve as before.
pub(crate) async fn try_frames(bench: &Bench, check: &'static Check, frames: &[Spoilt]) {
    for spoilt in frames {
        let session = match bench.session().await {
            Ok(session) => session,
            Err(error) => return bench.no_session(check, &error),
        };
        let good = GoodRequest::cheap(bench, &session);
        let out = (spoilt.frame)(&good);
        let sent = good.send(bench, &session, &out).await;
        let result = judge(check, spoilt.case, spoilt.taking, &sent);
        bench.tell(only_for_us(bench, result).await.sent(out.bytes()));
    }
    look_for_damage(bench, check).await;
}
