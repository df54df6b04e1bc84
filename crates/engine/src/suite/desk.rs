//! What all workers share: the tests, their results, and who takes which next.

use std::{
    cell::{Cell, RefCell},
    collections::HashSet,
    rc::Rc,
    sync::Arc,
};

use mcp_loadtest_core::{
    secrets::Secrets,
    suite::{
        Isolation, Outcome, Repeats, TestKind, TestResult,
        expect::{Mismatch, Store},
    },
};

use super::{
    choose::{Case, chosen, shortest_deadline},
    loaded::LoadedSuite,
    run::{Settings, SuiteRun, TestWatcher},
    servers::Servers,
    stand::Stand,
};
use crate::stop::Stop;

/// So many failures are told with their line, which costs a walk through the file each.
const WITH_LINES: usize = 50;

/// Which tests a worker takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Queue {
    /// All but load tests.
    Usual,
    /// Load tests.
    Loads,
}

/// One time that a test is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Repeat {
    /// Its test.
    pub(super) test: usize,
    /// Which of the repeats of that test, from 0.
    pub(super) number: u32,
}

/// What all workers share.
pub(super) struct Desk {
    pub(super) suites: Rc<Vec<LoadedSuite>>,
    pub(super) settings: Settings,
    pub(super) stand: Arc<dyn Stand>,
    pub(super) stop: Stop,
    pub(super) snapshots: RefCell<Vec<Store>>,
    pub(super) servers: Rc<Servers>,
    pub(super) secrets: Secrets,
    watcher: Option<TestWatcher>,
    cases: Vec<Case>,
    results: RefCell<Vec<TestResult>>,
    /// What showed only after the test that is to blame for it.
    blamed: RefCell<Vec<(Repeat, Mismatch)>>,
    /// Repeats that passed, as far as is known when they end.
    passed: RefCell<HashSet<Repeat>>,
    next: [Cell<usize>; 2],
    enough: Cell<bool>,
}

impl Desk {
    pub(super) fn new(run: SuiteRun) -> Self {
        let secrets = run.secrets();
        let SuiteRun { suites, settings, stand, watcher, stop } = run;
        let snapshots = suites.iter().map(|suite| suite.snapshots.clone()).collect();
        let suites = Rc::new(suites);
        let (cases, results) = chosen(&suites, &settings);
        let servers = Servers::new(suites.clone(), stand.clone(), shortest_deadline(&suites));
        Self {
            suites,
            settings,
            stand,
            stop,
            snapshots: RefCell::new(snapshots),
            watcher,
            secrets,
            servers: Rc::new(servers),
            cases,
            results: RefCell::new(results),
            blamed: RefCell::default(),
            passed: RefCell::default(),
            next: [Cell::new(0), Cell::new(0)],
            enough: Cell::new(false),
        }
    }

    /// How many tests go on at the same time.
    pub(super) fn width(&self) -> usize {
        let written = self.suites.iter().map(|loaded| loaded.suite.run_options.parallel.number());
        let width = self.settings.parallel.or(written.min()).unwrap_or(1);
        usize::from(width).min(self.cases.len()).max(1)
    }

    /// How long the servers of a test live.
    pub(super) fn isolation(&self, case: Case) -> Isolation {
        self.suites[case.suite].suite.run_options.restart_policy
    }

    pub(super) fn case(&self, at: usize) -> Case {
        self.cases[at]
    }

    /// What is known of a test so far.
    pub(super) fn result(&self, at: usize) -> TestResult {
        self.results.borrow()[at].clone()
    }

    /// Whether no further test is begun.
    pub(super) fn is_over(&self) -> bool {
        self.enough.get() || self.stop.is_stopped()
    }

    /// The next test of a queue that is to be carried out.
    pub(super) fn take(&self, queue: Queue) -> Option<usize> {
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

    /// Keeps what became of a test.
    pub(super) fn put(&self, at: usize, result: TestResult) {
        if let Some(watcher) = &self.watcher {
            watcher(&result.name, result.outcome);
        }
        if self.settings.fail_fast && result.is_bad() {
            self.enough.set(true);
        }
        self.results.borrow_mut()[at] = result;
    }

    /// Blames a test that may be over already, or goes on to be repeated: what it left behind showed
    /// only later.
    pub(super) fn blame(&self, repeat: Repeat, failure: Mismatch) {
        if self.settings.fail_fast {
            self.enough.set(true);
        }
        self.blamed.borrow_mut().push((repeat, failure));
    }

    /// Keeps that a repeat passed, until it is blamed.
    pub(super) fn pass(&self, repeat: Repeat) {
        self.passed.borrow_mut().insert(repeat);
    }

    /// All results, and the snapshots as they are now.
    pub(super) fn results(&self) -> (Vec<TestResult>, Vec<Store>) {
        let mut results = self.results.borrow().clone();
        for (repeat, failure) in self.blamed.take() {
            self.fail(&mut results[repeat.test], repeat, failure);
        }
        let mut lines = 0;
        for (result, case) in results.iter_mut().zip(&self.cases) {
            if result.is_bad() && lines < WITH_LINES {
                lines += 1;
                result.line = self.suites[case.suite].line(case.kind, case.index);
            }
        }
        (results, self.snapshots.borrow().clone())
    }

    /// Makes a failure of a result. As among repeats, the first is told; what could not be carried out
    /// keeps its reason beside it.
    fn fail(&self, result: &mut TestResult, repeat: Repeat, failure: Mismatch) {
        if result.outcome != Outcome::Failed {
            result.failures.insert(0, failure);
        }
        result.outcome = Outcome::Failed;
        if let Some(repeats) =
            result.repeats.as_mut().filter(|_| self.passed.borrow_mut().remove(&repeat))
        {
            *repeats = Repeats::new(repeats.passed - 1, repeats.runs);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_blamed_after_all_is_told_why_and_keeps_what_is_known() {
        let text = "servers: {s: {mock: {}}}\ntools: [{name: t, tool: echo}]\n";
        let suite = LoadedSuite::parse(text.into(), "s.yml", ".", &|_| None, Store::default());
        let suites = vec![suite.unwrap()];
        let died = || Mismatch::new("server", "it is gone");
        for (outcome, known, told) in [
            (Outcome::Passed, 0, vec!["server"]),
            (Outcome::Broken, 0, vec!["server"]),
            (Outcome::Failed, 1, vec!["result"]),
        ] {
            let desk = Desk::new(SuiteRun::new(suites.clone()));
            let mut result = desk.result(0);
            result.outcome = outcome;
            result.reason = "it could not be started again".into();
            result.failures = vec![Mismatch::new("result", "wrong"); known];
            desk.put(0, result);
            let repeat = Repeat { test: 0, number: 0 };
            desk.blame(repeat, died());
            desk.blame(repeat, died());
            let (results, _) = desk.results();
            let targets: Vec<_> =
                results[0].failures.iter().map(|failure| failure.target.as_str()).collect();
            assert_eq!((results[0].outcome, targets), (Outcome::Failed, told), "{outcome:?}");
            assert_eq!(results[0].reason, "it could not be started again");
        }
    }
}
