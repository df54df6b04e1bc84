//! Asking a server something, and finding out whether it lives on.

use std::{cell::RefCell, rc::Rc, time::Duration};

use mcp_loadtest_core::{
    check::CaseVerdict,
    display::{visible, visible_lines},
    event::Phase,
    jsonrpc::{self, Id, Message},
    mcp::{Tool, lifecycle},
    outcome::ErrorCategory,
};
use mcp_loadtest_wire::session::{
    Break, Deadlines, How, Outgoing, Prepared, RawReply, Session, Target,
};
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::{at_once::Fate, bench::Bench, seen::Seen};

/// How long a server that refuses to say whether it is there may take to do so.
const PAUSES: [Duration; 3] =
    [Duration::from_millis(500), Duration::from_secs(1), Duration::from_secs(2)];

/// Whether a server still answers.
#[derive(Debug, Clone)]
pub(crate) enum Pulse {
    /// It does.
    Alive,
    /// It runs and does not answer.
    Silent,
    /// It is gone.
    Gone(Break),
}

impl Pulse {
    /// What is said, where something answers, and nothing but that it cannot.
    fn refusal(&self) -> Option<&str> {
        match self {
            Self::Gone(cause) if cause.category == ErrorCategory::ServerError => {
                Some(&cause.message)
            }
            _ => None,
        }
    }
}

/// What a server said of a request that it did not carry out.
#[derive(Debug, Clone)]
pub(crate) struct Overheard {
    pub(crate) sent: Vec<u8>,
    pub(crate) said: String,
}

/// What became of bytes that were sent as they are.
#[derive(Debug)]
pub(crate) struct Sent {
    pub(crate) seen: Seen,
    pub(crate) pulse: Pulse,
    /// Over HTTP.
    pub(crate) status: Option<u16>,
    /// All frames that came.
    pub(crate) frames: Vec<Vec<u8>>,
}

impl Bench {
    /// Whether the server still answers on this session, however slowly it may.
    pub(crate) async fn pulse(&self, session: &Session) -> Pulse {
        let mut pulse = self.pulse_once(session).await;
        for pause in PAUSES {
            // A proxy may turn us away for a moment because of what we have just sent, or because a
            // worker has died of it and another takes its place.
            let Some(said) = pulse.refusal() else { break };
            *self.away.borrow_mut() = Some(said.to_owned());
            sleep(pause).await;
            pulse = self.pulse_once(session).await;
        }
        // The next check must not be blamed for it.
        self.condemned.set(self.condemned.get() || !matches!(pulse, Pulse::Alive));
        pulse
    }

    async fn pulse_once(&self, session: &Session) -> Pulse {
        let method = lifecycle(session.revision()).control.method();
        let limit = self.settings.hang_timeout + self.settings.grace_period;
        let reply = session.control(How::setup(limit)).await;
        match Seen::of_reply(&reply, session.broken()) {
            Seen::Gone(cause) => Pulse::Gone(cause),
            Seen::Silent { .. } => Pulse::Silent,
            // The process may run; who gets nothing but this from it has no server any more.
            Seen::Status { status: status @ 500.., body } => Pulse::Gone(Break {
                category: ErrorCategory::ServerError,
                code: Some(i64::from(status)),
                message: format!("answers {method} with {body}").into(),
            }),
            Seen::Refused { code: INTERNAL_ERROR, message, .. } => Pulse::Gone(Break {
                category: ErrorCategory::ServerError,
                code: Some(INTERNAL_ERROR),
                message: format!("answers {method} with an internal error: {message}").into(),
            }),
            _ => Pulse::Alive,
        }
    }

    /// What has become of the server, if it does not serve on: some answer a control request and nothing else.
    pub(crate) async fn aftermath(&self, session: &Session) -> Option<(CaseVerdict, String)> {
        let death = self.death(session).await;
        if death.is_some() {
            return death;
        }
        let reply = session.call(&self.fast_request(session), self.patient()).await;
        let fails = format!("later calls fail: {}", reply.message);
        match Fate::of(&reply) {
            Fate::Good => None,
            Fate::Lost => Some((CaseVerdict::Hung, fails)),
            Fate::Garbled => Some((CaseVerdict::Broken, fails)),
            // It may be the tool; a server that is worn out says so of every call.
            Fate::Refused => Some((CaseVerdict::CouldNotTell, fails)),
        }
    }

    /// Whether somebody new is served: one client's bad request must not shut others out. Asked only
    /// where sessions share a server; a process of one's own says nothing about it.
    pub(crate) async fn serves_newcomers(&self) -> Result<(), String> {
        if matches!(self.target, Target::Stdio(_)) {
            return Ok(());
        }
        let session = self.fresh().await.map_err(|error| error.to_string())?;
        let pulse = self.pulse(&session).await;
        session.close().await;
        match pulse {
            Pulse::Alive => Ok(()),
            Pulse::Silent => Err("it is not answered".into()),
            Pulse::Gone(cause) => Err(cause.message.to_string()),
        }
    }

    /// Calls a tool, and finds out whether the server lives on.
    pub(crate) async fn call(
        &self,
        session: &Session,
        tool: &Tool,
        arguments: &Value,
    ) -> (Seen, Pulse) {
        let prepared = session.prepare_tool_call(&tool.name, arguments, &tool.input_schema);
        self.ask(session, &prepared).await
    }

    /// Sends a request, and finds out whether the server lives on. Some servers die of a request
    /// and show it only when they are asked for something else; so silence is asked about early.
    pub(crate) async fn ask(&self, session: &Session, request: &Rc<Prepared>) -> (Seen, Pulse) {
        let call = session.call(request, self.how());
        tokio::pin!(call);
        let early = tokio::time::timeout(FIRST_DOUBT, &mut call).await;
        let reply = match early {
            Ok(reply) => reply,
            Err(_) => match self.pulse(session).await {
                Pulse::Alive => call.await,
                dead => {
                    // Whatever came meanwhile is told with it.
                    let seen = match tokio::time::timeout(Duration::ZERO, &mut call).await {
                        Ok(reply) => Seen::of_reply(&reply, session.broken()),
                        Err(_) => Seen::Silent { waited: FIRST_DOUBT },
                    };
                    return with_last_words(session, seen, dead);
                }
            },
        };
        let seen = Seen::of_reply(&reply, session.broken());
        self.overhear(&request.frame(0), &seen, reply.body.as_deref());
        with_last_words(session, seen, self.pulse(session).await)
    }

    /// Keeps what a server says of a request that it did not carry out.
    fn overhear(&self, sent: &[u8], seen: &Seen, body: Option<&[u8]>) {
        let shown = match seen {
            Seen::Refused { message, .. } => message,
            Seen::ToolError { text, .. } | Seen::Status { body: text, .. } => text,
            _ => return,
        };
        let mut overheard = self.overheard.borrow_mut();
        if overheard.len() < MOST_OVERHEARD {
            let said = body.map_or(shown.as_bytes(), |body| body);
            overheard.push(Overheard {
                sent: sent[..sent.len().min(LONGEST_OVERHEARD)].to_vec(),
                said: String::from_utf8_lossy(&said[..said.len().min(LONGEST_OVERHEARD)]).into(),
            });
        }
    }

    /// What the server said of all requests that it did not carry out.
    pub(crate) fn overheard(&self) -> Vec<Overheard> {
        self.overheard.borrow().clone()
    }

    /// How checks make calls: waited for up to the hang threshold, body kept.
    pub(crate) fn how(&self) -> How {
        let deadlines = Deadlines {
            hang: Duration::MAX,
            grace: Duration::MAX,
            timeout: self.settings.hang_timeout,
        };
        How { keep_body: true, ..How::new(Phase::Load, deadlines) }
    }

    /// An id for a frame that is written by hand.
    pub(crate) fn raw_id(&self) -> u64 {
        self.next_raw_id.replace(self.next_raw_id.get() + 1)
    }

    /// Sends a frame as it is and finds out what the server makes of it; `ours` knows the answer.
    /// Most SDKs drop what they cannot read, so a control request follows: when that is answered
    /// first, nobody waits longer.
    pub(crate) async fn send_to(
        &self,
        session: &Session,
        out: &Outgoing,
        ours: &dyn Fn(&Id<'_>) -> bool,
    ) -> Sent {
        let began = Instant::now();
        let patience = self.settings.hang_timeout + self.settings.grace_period;
        // Kept apart from the exchange, which may not have ended when nobody waits any longer.
        let heard = RefCell::new(Vec::new());
        let answers = |frame: &[u8]| {
            if heard.borrow().len() < MOST_HEARD {
                heard.borrow_mut().push(frame[..frame.len().min(LONGEST_HEARD)].to_vec());
            }
            match jsonrpc::read(frame).message {
                Some(Message::Response { id, .. }) => ours(&id),
                _ => false,
            }
        };
        let exchange = session.exchange_raw(out, patience, answers);
        tokio::pin!(exchange);
        let pulse = async {
            let pulse = self.pulse(session).await;
            // An answer may be on its way behind that of the control request.
            sleep(SETTLING).await;
            pulse
        };
        tokio::pin!(pulse);
        let (reply, pulse) = tokio::select! {
            biased;
            reply = &mut exchange => (reply, pulse.await),
            pulse = &mut pulse => match tokio::time::timeout(Duration::ZERO, &mut exchange).await {
                Ok(reply) => (reply, pulse),
                Err(_) => (RawReply::nothing(session.broken()), pulse),
            },
        };
        let seen = Seen::of_raw_to(&reply, ours, began.elapsed());
        let frames = heard.borrow().clone();
        self.overhear(out.bytes(), &seen, frames.last().map(Vec::as_slice));
        let (seen, pulse) = with_last_words(session, seen, pulse);
        Sent { seen, pulse, status: reply.status, frames }
    }
}

/// A server that died has often said why.
fn with_last_words(session: &Session, seen: Seen, pulse: Pulse) -> (Seen, Pulse) {
    let cause = match (&seen, &pulse) {
        (Seen::Gone(cause), _) | (_, Pulse::Gone(cause)) => cause,
        _ => return (seen, pulse),
    };
    let tail = session.stderr_tail();
    let Some(words) = last_words(&tail) else { return (Seen::Gone(cause.clone()), pulse) };
    let message = format!("{}; its last words: {}", cause.message, visible(words, 160)).into();
    (Seen::Gone(Break { message, ..cause.clone() }), pulse)
}

/// The end of what the server said on stderr, as a clause.
pub(crate) fn last_words_of(session: &Session) -> String {
    match visible_lines(&session.stderr_tail(), 3, 160).join(" | ") {
        words if words.is_empty() => String::new(),
        words => format!("; its last words: {words}"),
    }
}

/// The line that says most: the last one that names an error, or else the last one with words.
fn last_words(stderr: &str) -> Option<&str> {
    const NAMES: [&str; 4] = ["Error", "Exception", "panicked", "error:"];
    // Groups of Python's exceptions are drawn as trees.
    let drawn: &[char] = &[' ', '|', '+', '-'];
    let mut lines = stderr.lines().map(|line| line.trim_start_matches(drawn).trim_end()).rev();
    let named = lines.clone().find(|line| NAMES.iter().any(|name| line.contains(name)));
    named.or_else(|| {
        lines.find(|line| line.chars().any(char::is_alphanumeric) && !line.contains("://"))
    })
}

/// After so much silence it is asked whether the server still answers anything.
const FIRST_DOUBT: Duration = Duration::from_secs(1);

/// How long an answer may come after that of the control request that was sent behind it.
const SETTLING: Duration = Duration::from_millis(150);

/// So many frames are kept of what comes back, and so much of each.
const MOST_HEARD: usize = 100;
const LONGEST_HEARD: usize = 1 << 20;

/// What a server says is kept up to here, both in number and in length.
const MOST_OVERHEARD: usize = 2_000;
const LONGEST_OVERHEARD: usize = 16 << 10;

/// To a control request it means that nothing works any more.
const INTERNAL_ERROR: i64 = -32603;
