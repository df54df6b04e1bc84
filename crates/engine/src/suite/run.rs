//! A run of suites: how it is described, and its course as a whole.

use std::{collections::BTreeMap, panic::resume_unwind, path::PathBuf, rc::Rc, sync::Arc};

use mcp_loadtest_core::{
    secrets::{Given, Secrets},
    seed::Seed,
    suite::{Outcome, Selection, SuiteReport, expect::Store},
};
use tokio::{
    sync::oneshot,
    task::{JoinError, JoinSet},
    time::Instant,
};

use super::{
    agent::Models,
    choose::chosen,
    desk::{Desk, Queue},
    loaded::LoadedSuite,
    stand::{NoStand, Stand},
    work::work,
};
use crate::{conductor::on_local_runtime, error::RunError, stop::Stop, target::secrets_of};

/// Told of each test that is over: its name and how it ended.
pub type TestWatcher = Arc<dyn Fn(&str, Outcome) + Send + Sync>;

/// A run of suites.
///
/// ```no_run
/// use mcp_loadtest::{LoadedSuite, SuiteRun};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let text = "servers: {api: {command: [python, -m, my_mcp]}}\ntools: [{name: works, tool: echo}]\n";
/// let suite = LoadedSuite::parse(text.into(), "suite.yml", ".", &|_| None, Default::default());
/// let outcome = SuiteRun::new(vec![suite.expect("a good suite")]).execute().await.expect("ran");
/// assert_eq!(outcome.report.totals.failed, 0);
/// # }
/// ```
#[derive(Clone)]
pub struct SuiteRun {
    pub(super) suites: Vec<LoadedSuite>,
    pub(super) settings: Settings,
    pub(super) stand: Arc<dyn Stand>,
    pub(super) watcher: Option<TestWatcher>,
    pub(super) stop: Stop,
}

/// How suites are carried out.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub(super) selection: Selection,
    pub(super) parallel: Option<u16>,
    pub(super) repeat: u32,
    pub(super) fail_fast: bool,
    pub(super) seed: Seed,
    pub(super) model: Option<String>,
    /// The command that does the same again, where it is not `test`.
    pub(super) again: Option<String>,
    pub(super) vars: BTreeMap<String, String>,
    pub(super) record: Option<PathBuf>,
    pub(super) replay: Option<PathBuf>,
    pub(super) scratch: PathBuf,
    pub(super) agents_in: PathBuf,
}

impl std::fmt::Debug for SuiteRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SuiteRun").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// What a run of suites gives.
#[derive(Debug)]
pub struct SuiteOutcome {
    /// What became of the tests.
    pub report: SuiteReport,
    /// The snapshots of each suite, as they are now.
    pub snapshots: Vec<Store>,
}

impl SuiteRun {
    /// A run of all tests of these suites.
    pub fn new(suites: Vec<LoadedSuite>) -> Self {
        let settings = Settings {
            selection: Selection::default(),
            parallel: None,
            repeat: 1,
            fail_fast: false,
            seed: Seed::default(),
            model: None,
            again: None,
            vars: BTreeMap::new(),
            record: None,
            replay: None,
            scratch: PathBuf::from("."),
            agents_in: PathBuf::from("."),
        };
        Self { suites, settings, stand: Arc::new(NoStand), watcher: None, stop: Stop::new() }
    }

    /// Says who starts mocks.
    #[must_use]
    pub fn with_stand(mut self, stand: Arc<dyn Stand>) -> Self {
        self.stand = stand;
        self
    }

    /// Carries out only some tests.
    #[must_use]
    pub fn select(mut self, selection: Selection) -> Self {
        self.settings.selection = selection;
        self
    }

    /// Sets how many tests go on at the same time, whatever the suites say.
    #[must_use]
    pub fn parallel(mut self, parallel: Option<u16>) -> Self {
        self.settings.parallel = parallel;
        self
    }

    /// Carries each test out so often; it passes when it passes each time.
    #[must_use]
    pub fn repeat(mut self, times: u32) -> Self {
        self.settings.repeat = times.max(1);
        self
    }

    /// Begins no further test after the first that fails.
    #[must_use]
    pub fn fail_fast(mut self, fail_fast: bool) -> Self {
        self.settings.fail_fast = fail_fast;
        self
    }

    /// Sets what chances come from.
    #[must_use]
    pub fn seed(mut self, seed: Seed) -> Self {
        self.settings.seed = seed;
        self
    }

    /// Sets the command that does all of this again, where no file says it.
    #[must_use]
    pub fn again(mut self, command: impl Into<String>) -> Self {
        self.settings.again = Some(command.into());
        self
    }

    /// Gives all agents this model.
    #[must_use]
    pub fn model(mut self, model: Option<String>) -> Self {
        self.settings.model = model;
        self
    }

    /// The environment variables that keys and addresses of models are taken from.
    #[must_use]
    pub fn vars(mut self, vars: BTreeMap<String, String>) -> Self {
        self.settings.vars = vars;
        self
    }

    /// Writes what models say into a directory.
    #[must_use]
    pub fn record(mut self, dir: Option<PathBuf>) -> Self {
        self.settings.record = dir;
        self
    }

    /// Has models say what was written into a directory.
    #[must_use]
    pub fn replay(mut self, dir: Option<PathBuf>) -> Self {
        self.settings.replay = dir;
        self
    }

    /// Sets where agents of their own are started, and where their configuration is written.
    #[must_use]
    pub fn agents_in(mut self, dir: PathBuf, scratch: PathBuf) -> Self {
        self.settings.agents_in = dir;
        self.settings.scratch = scratch;
        self
    }

    /// Has somebody told of each test that is over.
    #[must_use]
    pub fn watched_by(mut self, watcher: TestWatcher) -> Self {
        self.watcher = Some(watcher);
        self
    }

    /// Lets somebody else end the run early.
    #[must_use]
    pub fn with_stop(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }

    /// Whether no test is chosen at all. A part (`Selection::shard`) may be empty without that.
    pub fn is_empty(&self) -> bool {
        let mut whole = self.settings.clone();
        whole.selection.shard = None;
        chosen(&self.suites, &whole).0.is_empty()
    }

    /// Carries the run out, in a thread of its own.
    pub async fn execute(self) -> Result<SuiteOutcome, RunError> {
        let (cases, results) = chosen(&self.suites, &self.settings);
        let open = results.iter().zip(&cases).filter(|(test, _)| test.outcome == Outcome::NotRun);
        let open: Vec<_> = open.map(|(_, case)| *case).collect();
        Models::check(&self.suites, &self.settings, &open)?;
        let (tell, told) = oneshot::channel();
        std::thread::Builder::new()
            .name("suite".into())
            .spawn(move || {
                let outcome = on_local_runtime(self.execute_here());
                let _ = tell.send(outcome.and_then(|outcome| outcome));
            })
            .map_err(RunError::thread)?;
        told.await.map_err(|_| RunError::Internal("the suite's thread panicked".into()))?
    }

    async fn execute_here(self) -> Result<SuiteOutcome, RunError> {
        let began = Instant::now();
        let desk = Rc::new(Desk::new(self));
        let width = desk.width();
        let mut workers = JoinSet::new();
        for _ in 0..width {
            workers.spawn_local(work(desk.clone(), Queue::Usual));
        }
        while let Some(joined) = workers.join_next().await {
            // The tests of a worker that is gone have no result: a run that goes on would seem to pass.
            if let Err(Ok(panic)) = joined.map_err(JoinError::try_into_panic) {
                resume_unwind(panic);
            }
        }
        // Load would disturb the others, and the others would disturb the load.
        work(desk.clone(), Queue::Loads).await;
        let took_ms = began.elapsed().as_secs_f64() * 1e3;
        let (tests, snapshots) = desk.results();
        let interrupted = desk.stop.is_stopped();
        let report = SuiteReport::new(tests, took_ms, desk.settings.seed.0, interrupted);
        let report = desk.secrets.document(report).map_err(RunError::unmasked)?;
        Ok(SuiteOutcome { report, snapshots })
    }

    /// What the servers and models of all suites are given that nobody else may know.
    pub fn secrets(&self) -> Secrets {
        let servers = self.suites.iter().flat_map(|suite| suite.servers.values());
        let keys = Given::default();
        let vars = self.settings.vars.iter();
        let keys = vars.fold(keys, |given, (name, value)| given.variable(name, value)).secrets();
        servers.fold(keys, |all, server| all.and(&secrets_of(server)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suite() -> Vec<LoadedSuite> {
        let text = "servers: {s: {command: [/no/such/program]}}\n\
            tools: [{name: t, tool: echo, tags: [smoke]}]\n";
        let suite = LoadedSuite::parse(text.into(), "s.yml", ".", &|_| None, Store::default());
        vec![suite.unwrap()]
    }

    #[test]
    fn a_part_may_be_empty_and_a_choice_may_not() {
        let run = |tag: &str, shard: &str| {
            SuiteRun::new(suite()).select(Selection {
                tags: vec![tag.into()],
                shard: Some(shard.parse().unwrap()),
                ..Selection::default()
            })
        };
        assert!(!run("smoke", "2/2").is_empty());
        assert!(run("smoek", "1/2").is_empty());
    }

    #[tokio::test]
    async fn a_worker_that_panics_is_no_run_that_passed() {
        let run = SuiteRun::new(suite()).watched_by(Arc::new(|_, _| panic!("on purpose")));
        let told = run.execute().await.unwrap_err().to_string();
        assert!(told.contains("the suite's thread panicked"), "{told}");
    }
}
