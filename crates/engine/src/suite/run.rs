//! The tests one after the other, several at a time.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    path::PathBuf,
    rc::Rc,
    sync::Arc,
    time::Duration,
};

use mcp_loadtest_core::{
    seed::Seed,
    server::shell_word,
    suite::{
        Isolation, Outcome, Repeats, Selection, SuiteReport, TestKind, TestResult,
        expect::{Mismatch, Store},
    },
};
use tokio::{sync::oneshot, task::JoinSet, time::Instant};

use super::{
    agent::Models,
    loaded::LoadedSuite,
    pool::Pool,
    request::DEFAULT_TIMEOUT,
    servers::Servers,
    stand::{NoStand, Stand},
};
use crate::{conductor::on_local_runtime, error::RunError, stop::Stop};

/// Told of each test that is over: its name and how it ended.
pub type TestWatcher = Arc<dyn Fn(&str, Outcome) + Send + Sync>;

/// So many failures are told with their line, which costs a walk through the file each.
const WITH_LINES: usize = 50;

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
    suites: Vec<LoadedSuite>,
    pub(super) settings: Settings,
    stand: Arc<dyn Stand>,
    watcher: Option<TestWatcher>,
    stop: Stop,
}

/// How suites are carried out.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    selection: Selection,
    parallel: Option<u16>,
    repeat: u32,
    fail_fast: bool,
    pub(super) seed: Seed,
    pub(super) model: Option<String>,
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

    /// Carries the run out, in a thread of its own.
    pub async fn execute(self) -> Result<SuiteOutcome, RunError> {
        let (cases, results) = chosen(&self.suites, &self.settings.selection);
        let open = results.iter().zip(&cases).filter(|(test, _)| test.outcome == Outcome::NotRun);
        let open: Vec<_> = open.map(|(_, case)| *case).collect();
        Models::check(&self.suites, &self.settings, &open)?;
        let (tell, told) = oneshot::channel();
        std::thread::Builder::new()
            .name("suite".into())
            .spawn(move || {
                let _ = tell.send(on_local_runtime(self.execute_here()));
            })
            .map_err(|error| RunError::Internal(error.to_string()))?;
        told.await.map_err(|_| RunError::Internal("the suite's thread panicked".into()))?
    }

    async fn execute_here(self) -> SuiteOutcome {
        let began = Instant::now();
        let desk = Rc::new(Desk::new(self));
        let width = desk.width();
        let mut workers = JoinSet::new();
        for _ in 0..width {
            workers.spawn_local(work(desk.clone(), Queue::Usual));
        }
        while workers.join_next().await.is_some() {}
        // Load would disturb the others, and the others would disturb the load.
        work(desk.clone(), Queue::Loads).await;
        let took_ms = began.elapsed().as_secs_f64() * 1e3;
        let (tests, snapshots) = desk.results();
        let interrupted = desk.stop.is_stopped();
        let report = SuiteReport::new(tests, took_ms, desk.settings.seed.0, interrupted);
        SuiteOutcome { report, snapshots }
    }
}

/// One test that was chosen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Case {
    pub(super) suite: usize,
    pub(super) kind: TestKind,
    pub(super) index: usize,
}

/// Which tests a worker takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Queue {
    /// All but load tests.
    Usual,
    /// Load tests.
    Loads,
}

/// What all workers share.
pub(super) struct Desk {
    pub(super) suites: Rc<Vec<LoadedSuite>>,
    pub(super) settings: Settings,
    pub(super) stand: Arc<dyn Stand>,
    pub(super) stop: Stop,
    pub(super) snapshots: RefCell<Vec<Store>>,
    watcher: Option<TestWatcher>,
    servers: Rc<Servers>,
    cases: Vec<Case>,
    results: RefCell<Vec<TestResult>>,
    next: [Cell<usize>; 2],
    enough: Cell<bool>,
}

impl Desk {
    fn new(run: SuiteRun) -> Self {
        let SuiteRun { suites, settings, stand, watcher, stop } = run;
        let snapshots = suites.iter().map(|suite| suite.snapshots.clone()).collect();
        let suites = Rc::new(suites);
        let (cases, results) = chosen(&suites, &settings.selection);
        let servers = Servers::new(suites.clone(), stand.clone(), shortest_deadline(&suites));
        Self {
            suites,
            settings,
            stand,
            stop,
            snapshots: RefCell::new(snapshots),
            watcher,
            servers: Rc::new(servers),
            cases,
            results: RefCell::new(results),
            next: [Cell::new(0), Cell::new(0)],
            enough: Cell::new(false),
        }
    }

    /// How many tests go on at the same time.
    fn width(&self) -> usize {
        let written = self.suites.iter().map(|loaded| loaded.suite.run_options.parallel.number());
        let width = self.settings.parallel.or(written.min()).unwrap_or(1);
        usize::from(width).min(self.cases.len()).max(1)
    }

    pub(super) fn isolation(&self, case: Case) -> Isolation {
        self.suites[case.suite].suite.run_options.restart_policy
    }

    /// The next test of a queue that is to be carried out.
    fn take(&self, queue: Queue) -> Option<usize> {
        let next = &self.next[queue as usize];
        loop {
            let at = next.replace(next.get() + 1);
            let case = self.cases.get(at)?;
            let is_load = case.kind == TestKind::Load;
            let is_open = self.results.borrow()[at].outcome == Outcome::NotRun;
            if is_open && is_load == (queue == Queue::Loads) {
                return Some(at);
            }
        }
    }

    fn put(&self, at: usize, result: TestResult) {
        if let Some(watcher) = &self.watcher {
            watcher(&result.name, result.outcome);
        }
        if self.settings.fail_fast && result.is_bad() {
            self.enough.set(true);
        }
        self.results.borrow_mut()[at] = result;
    }

    /// Blames a test that is over already: what it left behind showed only later.
    pub(super) fn blame(&self, at: usize, failure: Mismatch) {
        let mut results = self.results.borrow_mut();
        results[at].outcome = Outcome::Failed;
        results[at].failures.push(failure);
    }

    fn results(&self) -> (Vec<TestResult>, Vec<Store>) {
        let mut results = self.results.borrow().clone();
        let mut lines = 0;
        for (result, case) in results.iter_mut().zip(&self.cases) {
            if result.is_bad() && lines < WITH_LINES {
                lines += 1;
                result.line = self.suites[case.suite].line(case.kind, case.index);
            }
        }
        (results, self.snapshots.borrow().clone())
    }
}

/// Takes tests for as long as there are any.
async fn work(desk: Rc<Desk>, queue: Queue) {
    let mut pool = Pool::new(desk.servers.clone());
    while !desk.enough.get() && !desk.stop.is_stopped() {
        let Some(at) = desk.take(queue) else { break };
        let result = tokio::select! {
            result = repeated(&desk, at, &mut pool) => result,
            () = desk.stop.stopped() => break,
        };
        desk.put(at, result);
    }
    pool.close().await;
}

/// Carries a test out as often as was asked.
async fn repeated(desk: &Desk, at: usize, pool: &mut Pool) -> TestResult {
    let case = desk.cases[at];
    let times = match case.kind {
        TestKind::Agent => {
            let agent = &desk.suites[case.suite].suite.agents[case.index];
            desk.settings.repeat.saturating_mul(agent.runs.unwrap_or(1))
        }
        _ => desk.settings.repeat,
    };
    let (mut passed, mut took_ms) = (0, 0.0);
    let mut worst: Option<TestResult> = None;
    for number in 0..times {
        let began = Instant::now();
        let mut result = once(desk, at, number, pool).await;
        result.took_ms = began.elapsed().as_secs_f64() * 1e3;
        took_ms += result.took_ms;
        passed += u32::from(result.outcome == Outcome::Passed);
        let is_broken = result.outcome == Outcome::Broken;
        // The first that fails is told; before one does, the last that passed.
        if !worst.as_ref().is_some_and(TestResult::is_bad) {
            worst = Some(result);
        }
        if is_broken {
            break;
        }
    }
    let mut result = worst.unwrap_or_else(|| desk.results.borrow()[at].clone());
    result.took_ms = took_ms;
    result.repeats = (times > 1).then(|| Repeats::new(passed, times));
    result
}

/// Carries a test out once.
async fn once(desk: &Desk, at: usize, number: u32, pool: &mut Pool) -> TestResult {
    let case = desk.cases[at];
    let empty = desk.results.borrow()[at].clone();
    match case.kind {
        TestKind::Tool | TestKind::Resource | TestKind::Prompt => {
            super::request::carry_out(desk, case, at, empty, pool).await
        }
        TestKind::Agent => super::agent::carry_out(desk, case, (at, number), empty, pool).await,
        TestKind::Load => super::load::carry_out(desk, case, empty, pool).await,
    }
}

/// The tests that were chosen, and what is known of each before it is carried out.
fn chosen(suites: &[LoadedSuite], selection: &Selection) -> (Vec<Case>, Vec<TestResult>) {
    let (mut cases, mut results) = (Vec::new(), Vec::new());
    let mut place = 0;
    for (at, loaded) in suites.iter().enumerate() {
        let suite = &loaded.suite;
        let tools = suite.tools.iter().map(|test| (&test.name, &test.tags, &test.skip));
        let resources = suite.resources.iter().map(|test| (&test.name, &test.tags, &test.skip));
        let prompts = suite.prompts.iter().map(|test| (&test.name, &test.tags, &test.skip));
        let agents = suite.agents.iter().map(|test| (&test.name, &test.tags, &test.skip));
        let loads = suite.loads.iter().map(|test| (&test.name, &test.tags, &test.skip));
        let numbered = [
            (TestKind::Tool, tools.collect::<Vec<_>>()),
            (TestKind::Resource, resources.collect()),
            (TestKind::Prompt, prompts.collect()),
            (TestKind::Agent, agents.collect()),
            (TestKind::Load, loads.collect()),
        ];
        for (kind, tests) in numbered {
            for (index, (name, tags, skip)) in tests.into_iter().enumerate() {
                if !selection.admits(name, tags) {
                    continue;
                }
                place += 1;
                if !selection.in_shard(place - 1) {
                    continue;
                }
                cases.push(Case { suite: at, kind, index });
                let mut result = TestResult::new(&loaded.file, name, kind);
                result.reproduce = format!(
                    "mcp-loadtest test {} --name {}",
                    shell_word(&loaded.file),
                    shell_word(name)
                );
                if let Some(reason) = skip {
                    result.outcome = Outcome::Skipped;
                    result.reason.clone_from(reason);
                }
                results.push(result);
            }
        }
    }
    (cases, results)
}

/// The shortest time that any call has: it sets how closely the clock is watched.
fn shortest_deadline(suites: &[LoadedSuite]) -> Duration {
    let suites = suites.iter().map(|loaded| &loaded.suite);
    let times = suites.flat_map(|suite| {
        let tools = suite.tools.iter().map(|test| test.timeout_ms);
        let resources = suite.resources.iter().map(|test| test.timeout_ms);
        let prompts = suite.prompts.iter().map(|test| test.timeout_ms);
        let agents = suite.agents.iter().map(|test| Some(test.recovery.as_ref()?.max_detection_ms));
        tools.chain(resources).chain(prompts).chain(agents).flatten()
    });
    times.min().map_or(DEFAULT_TIMEOUT, Duration::from_millis)
}
