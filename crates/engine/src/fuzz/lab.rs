//! A server to try cases on, started anew when one has broken it.

use std::{rc::Rc, time::Duration};

use mcp_loadtest_core::{
    fuzz::{After, Answer, Case, Class, Observation, Payload, classify},
    mcp::{Revision, Tool},
    outcome::ErrorCategory,
};
use mcp_loadtest_wire::{
    session::{Hold, How, OpenError, Options, Outgoing, Prepared, Reply, Session, Tap, Target},
    sink::Nowhere,
};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::ear::{Answered, Ear, answers};
use crate::context::Pids;

/// After so much silence it is asked whether the server still answers anything.
const FIRST_DOUBT: Duration = Duration::from_secs(1);
/// How long an answer may come after that of the control request that was sent behind it.
const SETTLING: Duration = Duration::from_millis(50);
/// How long a server that has answered may take to end before it is asked whether it still answers.
const DYING: Duration = Duration::from_millis(50);
/// A server that hangs is not asked to end for long.
const SHUTDOWN: Duration = Duration::from_secs(1);

/// What became of a case.
#[derive(Debug, Clone)]
pub(crate) struct Trial {
    pub(crate) class: Class,
    pub(crate) took: Duration,
    /// What was seen, in words.
    pub(crate) seen: String,
    /// The server afterwards.
    pub(crate) after: After,
    /// The id of an earlier case that was answered a second time.
    pub(crate) stray: Option<u64>,
    /// A line that came besides and is no message at all.
    pub(crate) noise: Option<String>,
}

/// What a server did after all that was sent to it was dealt with.
pub(crate) struct LastWords {
    pub(crate) after: After,
    /// What was seen, in words.
    pub(crate) said: String,
    /// The last case that was answered a second time.
    pub(crate) stray: Option<u64>,
}

impl LastWords {
    /// What it is called, if the server did not outlive what it was sent.
    pub(crate) fn failure(&self) -> Option<Class> {
        match self.after {
            After::Gone => Some(Class::Crash),
            After::Silent => Some(Class::Hang),
            After::Answers | After::HungUp => None,
        }
    }
}

/// A server to try cases on.
pub(crate) struct Lab {
    target: Target,
    options: Options,
    revision: Revision,
    hang: Duration,
    grace: Duration,
    tools: Vec<Tool>,
    pids: Pids,
    line: Option<Line>,
    held: Option<Hold>,
    answered: Answered,
    /// What of ours did not work, for whoever tells it.
    pub(super) troubles: Vec<String>,
}

struct Line {
    session: Session,
    tap: Tap,
    control: Rc<Prepared>,
}

impl Lab {
    /// What is sent here is not counted and not traced: the session cannot know what it means.
    pub(crate) fn new(
        target: Target,
        options: &Options,
        revision: Revision,
        (hang, grace): (Duration, Duration),
        tools: Vec<Tool>,
        pids: Pids,
    ) -> Self {
        let mut options = options.clone();
        options.sink = Rc::new(Nowhere);
        options.shutdown_timeout = options.shutdown_timeout.min(SHUTDOWN);
        Self {
            target,
            options,
            revision,
            hang,
            grace,
            tools,
            pids,
            line: None,
            held: None,
            answered: Answered::default(),
            troubles: Vec::new(),
        }
    }

    /// Makes sure that there is a session.
    pub(crate) async fn open(&mut self) -> Result<(), OpenError> {
        if self.line.as_ref().is_some_and(|line| !line.session.is_broken()) {
            return Ok(());
        }
        self.close().await;
        self.held = Some(self.target.hold(&self.options).await?);
        let session = Session::open(&self.target, &self.options, self.revision).await?.0;
        if let Some(pid) = session.pid() {
            self.pids.add(pid);
        }
        let (tap, control) = (session.tap(), session.control_request());
        self.line = Some(Line { session, tap, control });
        Ok(())
    }

    /// Ends the session, and the server with it: the next case meets one that has seen nothing.
    pub(crate) async fn close(&mut self) {
        if let Some(line) = self.line.take() {
            if let Some(pid) = line.session.pid() {
                self.pids.remove(pid);
            }
            let stopped = line.session.close().await;
            self.troubles.extend(stopped.into_iter().flat_map(|report| report.warnings));
        }
        self.held = None;
        self.answered = Answered::default();
    }

    /// Whether there was a session that has ended by itself.
    pub(crate) fn has_ended(&self) -> bool {
        self.line.as_ref().is_some_and(|line| line.session.is_broken())
    }

    /// Sends a case and finds out what becomes of it.
    pub(crate) async fn attempt(&mut self, case: &Case) -> Result<Trial, OpenError> {
        self.open().await?;
        let Some(line) = &self.line else {
            return Err(OpenError::Unreachable("there is no session".into()));
        };
        let mut ear = Ear::new(case.request_id, has_odd_ids(case));
        let began = Instant::now();
        let (after, said) = if line.session.has_one_stream() {
            self.over_stream(line, case, &mut ear, began).await
        } else {
            self.over_http(line, case, &mut ear, began).await
        };
        let after = self.reach_again(after).await;
        if ear.has_answer() && !has_odd_ids(case) {
            self.answered.add(case.request_id);
        }
        Ok(self.trial(case, &ear, after, said, began.elapsed()))
    }

    /// Whether a closed connection is the end of the server shows when another is opened.
    async fn reach_again(&mut self, after: After) -> After {
        if after != After::HungUp {
            return after;
        }
        self.close().await;
        if self.open().await.is_ok() { After::HungUp } else { After::Gone }
    }

    /// The same for a server that has nothing else to do: what comes after the answer counts too.
    pub(crate) async fn attempt_alone(&mut self, case: &Case) -> Result<Trial, OpenError> {
        let trial = self.attempt(case).await?;
        if trial.class.is_failure() {
            return Ok(trial);
        }
        let last = self.last_words().await;
        Ok(match last.failure() {
            Some(class) => Trial { class, seen: last.said, after: last.after, ..trial },
            None if last.stray == Some(case.request_id) => {
                Trial { class: Class::ProtocolViolation, seen: "answered twice".into(), ..trial }
            }
            None => trial,
        })
    }

    /// What a server does that has nothing more to do: it may end or fall silent after its answer,
    /// or answer a second time.
    pub(crate) async fn last_words(&mut self) -> LastWords {
        if self.line.is_some() && !self.has_ended() {
            tokio::time::sleep(DYING).await;
        }
        let Some(line) = &self.line else {
            return LastWords { after: After::Answers, said: String::new(), stray: None };
        };
        let mut ear = Ear::new(0, false);
        let (after, said) = match line.session.broken() {
            Some(cause) => (gone(&line.session, cause.category), cause.message.to_string()),
            None => self.pulse(line).await,
        };
        if line.session.has_one_stream() {
            self.drain(line, &mut ear, Instant::now());
        }
        LastWords { after: self.reach_again(after).await, said, stray: ear.stray }
    }

    fn trial(&self, case: &Case, ear: &Ear, after: After, said: String, waited: Duration) -> Trial {
        let took = if ear.has_answer() { ear.took } else { waited };
        let observation = Observation {
            due: case.answer,
            intent: case.intent,
            heavy: case.heavy,
            heard: ear.heard,
            took,
            breach: ear.breach.is_some(),
            after,
        };
        let class = classify(&observation, self.hang);
        let seen = match (&ear.breach, class) {
            (_, Class::Crash | Class::Hang) if !said.is_empty() => said,
            (Some(breach), _) => breach.clone(),
            (None, _) if ear.words.is_empty() => {
                format!("no answer in {:.1} s", took.as_secs_f64())
            }
            (None, _) => ear.words.clone(),
        };
        Trial { class, took, seen, after, stray: ear.stray, noise: ear.noise.clone() }
    }

    /// All frames come in one stream: what comes before the answer to a later request was meant for
    /// this one.
    async fn over_stream(
        &self,
        line: &Line,
        case: &Case,
        ear: &mut Ear,
        began: Instant,
    ) -> (After, String) {
        send(&line.session, case).await;
        let until = began + self.hang + self.grace;
        let is_due = case.answer == Answer::Must;
        if is_due {
            self.hear(line, ear, began, began + FIRST_DOUBT).await;
        }
        let mut after = (After::Answers, String::new());
        if !ear.has_answer() && !line.session.is_broken() {
            after = self.pulse(line).await;
            self.drain(line, ear, began);
            if is_due && after.0 == After::Answers && !ear.has_answer() {
                self.hear(line, ear, began, until).await;
            } else if case.payload == Payload::Arguments && !ear.has_answer() {
                // Tools take their time, and a control request may overtake them.
                self.hear(line, ear, began, Instant::now() + SETTLING).await;
            }
        }
        self.drain(line, ear, began);
        match line.session.broken() {
            Some(cause) => (gone(&line.session, cause.category), cause.message.to_string()),
            None => after,
        }
    }

    async fn hear(&self, line: &Line, ear: &mut Ear, began: Instant, until: Instant) {
        let id = ear.id;
        let reply = line.session.hear(&line.tap, until, |frame| answers(frame, id)).await;
        for heard in &reply.frames {
            ear.take(&heard.frame, began.elapsed(), &self.answered);
        }
    }

    fn drain(&self, line: &Line, ear: &mut Ear, began: Instant) {
        while let Some(heard) = line.tap.pop() {
            ear.take(&heard.frame, began.elapsed(), &self.answered);
        }
    }

    /// What comes back is the reply to one request.
    async fn over_http(
        &self,
        line: &Line,
        case: &Case,
        ear: &mut Ear,
        began: Instant,
    ) -> (After, String) {
        let outgoing = line.session.dressed(&self.like(&line.session, case), case.bytes());
        let id = case.request_id;
        let patience = self.hang + self.grace;
        let reply =
            line.session.exchange_raw(&outgoing, patience, |frame| answers(frame, id)).await;
        // A refusal by HTTP may say why in any words.
        if reply.status == Some(200) {
            for heard in &reply.frames {
                ear.take(&heard.frame, began.elapsed(), &self.answered);
            }
        }
        if let Some(status) = reply.status {
            ear.status(status, began.elapsed());
        }
        // A server that has forgotten the session refuses everything.
        let is_plain = ear.has_answer() && reply.status != Some(404);
        if is_plain && !line.session.is_broken() {
            return (After::Answers, String::new());
        }
        let (after, said) = self.pulse(line).await;
        match (after, reply.gone) {
            (After::Answers, Some(cause)) => (After::HungUp, cause.message.to_string()),
            (After::HungUp, _) if ear.has_answer() => (After::HungUp, said),
            (after, _) => (after, said),
        }
    }

    /// Whether the server still answers on this session, however slowly it may.
    async fn pulse(&self, line: &Line) -> (After, String) {
        let limit = self.hang + self.grace;
        let reply = line.session.call(&line.control, How::setup(limit)).await;
        match reply.failure() {
            Some(category @ (ErrorCategory::Crash | ErrorCategory::Disconnected)) => {
                (gone(&line.session, category), reply.message)
            }
            Some(ErrorCategory::Timeout | ErrorCategory::Deadlock | ErrorCategory::Hang) => {
                let waited = reply.took().as_secs_f64();
                (
                    After::Silent,
                    format!("a control request is not answered either in {waited:.1} s"),
                )
            }
            _ if is_forgotten(&reply) => (After::HungUp, reply.message),
            _ => (After::Answers, String::new()),
        }
    }

    /// A request with the headers that the case should have.
    fn like(&self, session: &Session, case: &Case) -> Rc<Prepared> {
        let schema = self.tools.iter().find(|tool| Some(&tool.name) == case.tool.as_ref());
        match (&case.tool, schema) {
            (Some(tool), Some(known)) => {
                let call: Value = serde_json::from_slice(&case.bytes()).unwrap_or_default();
                let arguments = &call["params"]["arguments"];
                session.prepare_tool_call(tool, arguments, &known.input_schema)
            }
            (Some(tool), None) => session.prepare(&case.method, json!({ "name": tool })),
            _ => session.prepare(&case.method, json!({})),
        }
    }
}

/// Whether the bytes may ask with any id, also with that of another case, and more than once.
fn has_odd_ids(case: &Case) -> bool {
    case.payload == Payload::RawBytes && case.answer == Answer::May
}

/// HTTP says 404 to a session that it does not know.
fn is_forgotten(reply: &Reply) -> bool {
    reply.failure().is_some() && reply.code == Some(404)
}

/// The end of a process is a crash; the end of a connection may be a refusal.
fn gone(session: &Session, category: ErrorCategory) -> After {
    if session.has_pipes() || category == ErrorCategory::Crash {
        After::Gone
    } else {
        After::HungUp
    }
}

/// Over pipes the bytes go out as they are, piece by piece, and the line is ended; elsewhere they are
/// one frame.
async fn send(session: &Session, case: &Case) {
    if !session.has_pipes() {
        session.send_raw(&Outgoing::Frame(case.bytes()));
        return;
    }
    for (index, bytes) in case.writes.iter().enumerate() {
        if index > 0 {
            tokio::task::yield_now().await;
        }
        session.send_raw(&Outgoing::Raw(bytes.clone()));
    }
    session.send_raw(&Outgoing::Raw(b"\n".to_vec()));
}
