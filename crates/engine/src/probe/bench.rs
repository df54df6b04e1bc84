//! What a check works with: the server, its tools, sessions that are made anew when they break, and
//! the results so far.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    time::Duration,
};

use mcp_loadtest_core::{
    check::{AFTERWARDS, CaseResult, CaseVerdict, Depth},
    mcp::{Revision, Tool},
    report::Severity,
    seed::Seed,
    server::Server,
};
use mcp_loadtest_wire::{
    session::{Hello, Hold, OpenError, Options, Session, Target},
    sink::Nowhere,
};
use serde_json::Value;

use super::{
    asking::Overheard,
    checks::Check,
    report::{ToolProbe, ToolVerdict},
    slow_subject::SlowSubject,
};

/// Ids of frames that are written by hand: no session counts that far.
const FIRST_RAW_ID: u64 = 1 << 50;

/// A tool that takes longer is only called by the dozen where somebody asks for it.
const LONG: Duration = Duration::from_secs(2);

/// What was chosen for the whole probe.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) depth: Depth,
    pub(crate) allow_destructive: bool,
    /// A tool that writes and one that shows what was written.
    pub(crate) pair: Option<(String, String)>,
    /// Findings also where a schema leaves a question open.
    pub(crate) strict: bool,
    pub(crate) hang_timeout: Duration,
    pub(crate) grace_period: Duration,
    pub(crate) seed: Seed,
    /// How large an oversized argument is.
    pub(crate) oversized: usize,
    /// How many cases one check may make of one tool.
    pub(crate) cases_per_tool: usize,
    /// Only this tool.
    pub(crate) tool: Option<String>,
    /// Good arguments for that tool, in place of made-up ones.
    pub(crate) arguments: Option<Value>,
}

/// A tool, and the call that showed whether it works.
#[derive(Debug, Clone)]
pub(crate) struct KnownTool {
    pub(crate) tool: Tool,
    pub(crate) control: ToolProbe,
}

impl KnownTool {
    /// Arguments that the tool took, if it took any.
    pub(crate) fn good_arguments(&self) -> Option<&Value> {
        match self.control.verdict {
            ToolVerdict::Ok | ToolVerdict::Slow => self.control.arguments.as_ref(),
            _ => None,
        }
    }
}

/// What a check works with.
pub(crate) struct Bench {
    pub(crate) server: Server,
    pub(crate) target: Target,
    /// Sessions of checks are not counted and not traced.
    pub(crate) options: Options,
    pub(crate) revision: Revision,
    pub(crate) hello: Hello,
    pub(crate) settings: Settings,
    pub(crate) tools: Vec<KnownTool>,
    /// Found once, by the first check that needs them.
    pub(super) slow: RefCell<Option<Rc<[SlowSubject]>>>,
    held: RefCell<Option<Hold>>,
    shared: RefCell<Option<Session>>,
    results: RefCell<Vec<CaseResult>>,
    /// Why the last shared session broke that was replaced, until somebody has told it.
    lost: RefCell<Option<String>>,
    pub(super) next_raw_id: Cell<u64>,
    /// The shared session, or the server behind it, was seen to be of no use any more.
    pub(super) condemned: Cell<bool>,
    /// What was said while it was of no use for a moment, until a result has told it.
    pub(super) away: RefCell<Option<String>>,
    pub(super) overheard: RefCell<Vec<Overheard>>,
}

impl Bench {
    pub(crate) fn new(
        server: Server,
        target: Target,
        options: &Options,
        hello: Hello,
        settings: Settings,
        tools: Vec<KnownTool>,
    ) -> Self {
        let mut options = options.clone();
        options.sink = Rc::new(Nowhere);
        Self {
            revision: hello.revision,
            server,
            target,
            options,
            hello,
            settings,
            tools,
            slow: RefCell::default(),
            held: RefCell::default(),
            shared: RefCell::default(),
            results: RefCell::default(),
            lost: RefCell::default(),
            next_raw_id: Cell::new(FIRST_RAW_ID),
            condemned: Cell::default(),
            away: RefCell::default(),
            overheard: RefCell::default(),
        }
    }

    /// The tools that may be called and whose control call went well, so that a refusal means
    /// something. One that takes long would leave no time for the others.
    pub(crate) fn subjects(&self) -> impl Iterator<Item = (&Tool, &Value)> {
        self.known_subjects().map(|(known, good)| (&known.tool, good))
    }

    /// The same with what is known of each.
    pub(crate) fn known_subjects(&self) -> impl Iterator<Item = (&KnownTool, &Value)> {
        self.every_subject().filter(|(known, _)| self.has_time_for(known))
    }

    /// The same, however long they take.
    pub(crate) fn every_subject(&self) -> impl Iterator<Item = (&KnownTool, &Value)> {
        let asked_for = self.settings.tool.as_deref();
        self.tools
            .iter()
            .filter(move |known| asked_for.is_none_or(|name| name == known.tool.name))
            .filter_map(|known| Some((known, known.good_arguments()?)))
    }

    /// Whether calls of this tool may be made by the dozen.
    pub(crate) fn has_time_for(&self, known: &KnownTool) -> bool {
        let asked_for = self.settings.depth == Depth::Deep || self.settings.tool.is_some();
        asked_for || known.control.took_ms.is_none_or(|ms| ms <= LONG.as_secs_f64() * 1e3)
    }

    /// How long the control call of a tool took.
    pub(crate) fn took_ms(&self, tool: &Tool) -> Option<f64> {
        self.tools.iter().find(|known| known.tool.name == tool.name)?.control.took_ms
    }

    /// The session that checks share. One that broke is replaced; a server that died is started anew.
    pub(crate) async fn session(&self) -> Result<Session, OpenError> {
        let condemned = self.condemned.take();
        let shared = self.shared.borrow().clone().filter(|_| !condemned);
        if let Some(session) = shared.filter(|session| !session.is_broken()) {
            return Ok(session);
        }
        self.drop_shared().await;
        let session = self.fresh().await?;
        *self.shared.borrow_mut() = Some(session.clone());
        Ok(session)
    }

    /// A session of the caller's own.
    pub(crate) async fn fresh(&self) -> Result<Session, OpenError> {
        self.fresh_with(&self.options).await
    }

    /// A session of the caller's own with other options than the rest.
    pub(crate) async fn fresh_with(&self, options: &Options) -> Result<Session, OpenError> {
        self.hold().await?;
        Ok(Session::open(&self.target, options, self.revision).await?.0)
    }

    /// A connection of the caller's own on which nothing was said yet.
    pub(crate) async fn silent(&self) -> Result<Session, OpenError> {
        self.hold().await?;
        Session::silent(&self.target, &self.options, self.revision).await
    }

    /// Keeps a server of ours that is reached by address running between sessions.
    async fn hold(&self) -> Result<(), OpenError> {
        if self.held.borrow().is_none() {
            let held = self.target.hold(&self.options).await?;
            *self.held.borrow_mut() = Some(held);
        }
        Ok(())
    }

    /// Ends the shared session and the server with it: the next one begins from nothing.
    pub(crate) async fn drop_shared(&self) {
        let shared = self.shared.borrow_mut().take();
        if let Some(session) = shared {
            if let Some(cause) = session.broken() {
                *self.lost.borrow_mut() = Some(cause.message.to_string());
            }
            session.close().await;
        }
        *self.held.borrow_mut() = None;
    }

    /// Adds a result. A server that was away for a moment has not held, whatever it answered before; where
    /// nothing is known of a case that stays so, and that the server was away is told beside it.
    pub(crate) fn tell(&self, mut result: CaseResult) {
        if result.verdict == CaseVerdict::CouldNotTell && self.away.borrow().is_some() {
            let (check, family) = (result.check.clone(), result.family);
            self.results.borrow_mut().push(result);
            return self.tell(CaseResult::new(&check, family, AFTERWARDS, CaseVerdict::Held));
        }
        let away = if result.verdict.is_known() { self.away.take() } else { None };
        if let Some(said) = away.filter(|_| result.severity < Some(Severity::Warning)) {
            result.verdict = CaseVerdict::Broken;
            result.severity = Some(Severity::Warning);
            result.detail = format!("nobody was served for a moment after this: it {said}");
        }
        self.results.borrow_mut().push(result);
    }

    /// How much was told so far.
    pub(crate) fn told(&self) -> usize {
        self.results.borrow().len()
    }

    /// A check may leave a server behind that is dead or dies at its next line, or replace a dead one without
    /// a word: that is the check's finding, not the next one's. What it said itself, after `told`, is not said
    /// again.
    pub(crate) async fn look_after(&self, check: &Check, told: usize) {
        let what_comes = |verdict| check.case(AFTERWARDS, verdict);
        match self.what_it_left().await {
            Some((verdict, why)) => {
                // Dead is worse than away.
                self.away.take();
                if !self.results.borrow()[told..].iter().any(is_death) {
                    self.tell(what_comes(verdict).detail(why));
                }
            }
            None if self.away.borrow().is_some() => self.tell(what_comes(CaseVerdict::Held)),
            None => {}
        }
    }

    /// The death that a check has left behind.
    async fn what_it_left(&self) -> Option<(CaseVerdict, String)> {
        let lost = self.lost.take().map(|why| (CaseVerdict::Crashed, why));
        // Behind an address others may have ended the server since, by leaving for example.
        if !matches!(self.target, Target::Stdio(_)) {
            return None;
        }
        let shared = self.shared.borrow().clone();
        let dead = match shared {
            Some(session) => self.death(&session).await,
            None => None,
        };
        if dead.is_some() {
            self.drop_shared().await;
            self.lost.take();
        }
        lost.or(dead)
    }

    /// Says why a check tried nothing.
    pub(crate) fn skip(&self, check: &Check, why: impl Into<String>) {
        self.tell(check.case("all", CaseVerdict::Skipped).detail(why));
    }

    /// Says that a check could not be carried out because no session was to be had.
    pub(crate) fn no_session(&self, check: &Check, error: &OpenError) {
        let why = format!("no session: {error}");
        let result = check.case("all", CaseVerdict::CouldNotTell).detail(why);
        // Said once, however many cases there would have been.
        if self.results.borrow().last() != Some(&result) {
            self.tell(result);
        }
    }

    /// Whether this check has tried anything yet.
    pub(crate) fn has_tried(&self, check: &Check) -> bool {
        let results = self.results.borrow();
        results.iter().any(|result| result.check == check.id && result.verdict.is_known())
    }

    /// Everything that was told.
    pub(crate) fn results(&self) -> Vec<CaseResult> {
        self.results.borrow().clone()
    }
}

fn is_death(result: &CaseResult) -> bool {
    matches!(result.verdict, CaseVerdict::Crashed | CaseVerdict::Hung)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::checks::PROBES;
    use mcp_loadtest_core::{mcp::Era, server::Server};
    use mcp_loadtest_wire::{clock::Clock, session::Address};

    /// A bench with nobody behind it.
    fn bench() -> Bench {
        let url = "http://127.0.0.1:9/mcp";
        let settings = Settings {
            depth: Depth::Quick,
            allow_destructive: false,
            pair: None,
            strict: false,
            hang_timeout: Duration::from_secs(1),
            grace_period: Duration::from_secs(1),
            seed: Seed(1),
            oversized: 0,
            cases_per_tool: 1,
            tool: None,
            arguments: None,
        };
        let hello = Hello {
            era: Era::Legacy,
            revision: Revision::NEWEST_LEGACY,
            name: None,
            version: None,
            capabilities: Value::Null,
            took: Duration::ZERO,
        };
        let options = Options::new(Rc::new(Nowhere), Clock::start());
        let target = Target::Http(Address::new(url));
        Bench::new(Server::http(url).into(), target, &options, hello, settings, Vec::new())
    }

    /// The first word of the next check was made the warning, even where that check was left out.
    #[tokio::test]
    async fn a_server_that_was_away_when_a_check_was_over_is_the_finding_of_that_check() {
        let (bench, [first, second, ..]) = (bench(), PROBES) else { unreachable!() };
        bench.tell(first.case("a case", CaseVerdict::Held));
        *bench.away.borrow_mut() = Some("answers ping with HTTP 502".into());
        bench.skip(first, "for a reason");
        bench.look_after(first, 0).await;
        bench.skip(second, "for a reason");
        bench.tell(second.case("a case", CaseVerdict::Held));
        bench.look_after(second, 3).await;
        let results = bench.results();
        let told: Vec<_> = results.iter().map(|it| (it.check.as_str(), it.verdict)).collect();
        let (first, second) = (first.id, second.id);
        let broken = (first, CaseVerdict::Broken);
        let [held, skipped] = [CaseVerdict::Held, CaseVerdict::Skipped];
        assert_eq!(
            told,
            [(first, held), (first, skipped), broken, (second, skipped), (second, held)]
        );
        assert_eq!(results[2].severity, Some(Severity::Warning));
        assert!(results[2].detail.contains("HTTP 502"), "{}", results[2].detail);
    }

    /// It became a case that was tried, lost its own words, and a gate passed.
    #[tokio::test]
    async fn what_could_not_be_told_stays_so_where_the_server_was_away() {
        let (bench, check) = (bench(), PROBES[0]);
        *bench.away.borrow_mut() = Some("answers ping with HTTP 502".into());
        let untold = check.case("a case", CaseVerdict::CouldNotTell).detail("too slow");
        bench.tell(untold.clone());
        bench.look_after(check, 0).await;
        let results = bench.results();
        let [first, second] = results.as_slice() else { panic!("{results:?}") };
        assert_eq!(*first, untold);
        assert_eq!(second.severity, Some(Severity::Warning));
        assert!(results.iter().all(|result| !result.was_tried()), "{results:?}");
    }
}
