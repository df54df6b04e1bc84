//! Which tests are carried out, and what is known of each before that.

use std::time::Duration;

use mcp_loadtest_core::{
    seed::Seed,
    server::shell_word,
    suite::{Outcome, TestKind, TestResult},
};

use super::{loaded::LoadedSuite, request::DEFAULT_TIMEOUT, run::Settings};

/// One test that was chosen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Case {
    pub(super) suite: usize,
    pub(super) kind: TestKind,
    pub(super) index: usize,
}

/// The tests that were chosen, and what is known of each before it is carried out.
pub(super) fn chosen(suites: &[LoadedSuite], settings: &Settings) -> (Vec<Case>, Vec<TestResult>) {
    let selection = &settings.selection;
    let (mut cases, mut results) = (Vec::new(), Vec::new());
    let mut place = 0;
    for (at, loaded) in suites.iter().enumerate() {
        let suite = &loaded.suite;
        let tools =
            suite.tools.iter().map(|test| (&test.name, &test.tags, test.family(), &test.skip));
        let resources =
            suite.resources.iter().map(|test| (&test.name, &test.tags, None, &test.skip));
        let prompts = suite.prompts.iter().map(|test| (&test.name, &test.tags, None, &test.skip));
        let agents =
            suite.agents.iter().map(|test| (&test.name, &test.tags, test.family(), &test.skip));
        let loads = suite.loads.iter().map(|test| (&test.name, &test.tags, None, &test.skip));
        let numbered = [
            (TestKind::Tool, tools.collect::<Vec<_>>()),
            (TestKind::Resource, resources.collect()),
            (TestKind::Prompt, prompts.collect()),
            (TestKind::Agent, agents.collect()),
            (TestKind::Load, loads.collect()),
        ];
        for (kind, tests) in numbered {
            for (index, (name, tags, family, skip)) in tests.into_iter().enumerate() {
                if !selection.admits(name, tags, family) {
                    continue;
                }
                place += 1;
                if !selection.in_shard(place - 1) {
                    continue;
                }
                cases.push(Case { suite: at, kind, index });
                let mut result = TestResult::new(&loaded.file, name, kind);
                result.family = family;
                result.reproduce = again(settings, &loaded.file, name);
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

/// The command that carries one test out again, with what changes its outcome.
fn again(settings: &Settings, file: &str, name: &str) -> String {
    if let Some(again) = &settings.again {
        return again.clone();
    }
    let mut command = format!("mcp-loadtest test {} --name {}", shell_word(file), shell_word(name));
    if let Some(model) = &settings.model {
        command.push_str(&format!(" --model {}", shell_word(model)));
    }
    if settings.seed != Seed::default() {
        command.push_str(&format!(" --seed {}", settings.seed.0));
    }
    if settings.repeat > 1 {
        command.push_str(&format!(" --repeat {}", settings.repeat));
    }
    if let Some(tapes) = &settings.replay {
        command.push_str(&format!(" --replay {}", shell_word(&tapes.to_string_lossy())));
    }
    command
}

/// The shortest time that any call has: it sets how closely the clock is watched.
pub(super) fn shortest_deadline(suites: &[LoadedSuite]) -> Duration {
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
