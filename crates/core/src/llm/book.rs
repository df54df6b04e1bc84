//! Which fixture answers a request, and how near the others came.

use std::{
    collections::HashMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use super::{Fixture, FixtureFile, Recordings, Request, When};
use crate::{config::ConfigError, report::figures::counted, seed::Seed};

/// All fixtures in the order in which they are looked at, and what has happened so far.
#[derive(Debug, Default)]
pub struct Book {
    pages: Vec<Page>,
    /// Where each story has come to. Only fixtures that tell a story look here.
    states: Mutex<HashMap<String, String>>,
    seed: Seed,
    recordings: Recordings,
    looks_at_headers: bool,
}

#[derive(Debug)]
struct Page {
    fixture: Fixture,
    /// What the file calls it, from 0.
    index: usize,
    /// Requests that its `match` has admitted.
    count: AtomicU64,
}

/// The fixture that answers.
#[derive(Debug, Clone, Copy)]
pub struct Chosen<'b> {
    /// The fixture.
    pub fixture: &'b Fixture,
    /// Its place in the file, from 0.
    pub index: usize,
    /// How many requests its `match` has admitted, this one included.
    pub ordinal: u64,
}

/// No fixture answers; the one that came nearest, and why it does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoMatch {
    /// How many were looked at.
    pub looked_at: usize,
    /// The nearest, from 0.
    pub nearest: Option<usize>,
    /// What is wrong with it, by key.
    pub misses: Vec<(String, String)>,
}

impl NoMatch {
    /// In words.
    pub fn words(&self, request: &Request) -> String {
        let mut text = format!(
            "No fixture matched for model='{}' ({} checked)",
            crate::display::visible(&request.model, 80),
            counted(self.looked_at as u64, "fixture")
        );
        if let Some(nearest) = self.nearest {
            let misses: Vec<_> =
                self.misses.iter().map(|(key, why)| format!("{key}: {why}")).collect();
            text.push_str(&format!("; the nearest is fixture {nearest}: {}", misses.join("; ")));
        }
        text
    }
}

impl Book {
    /// The fixtures of several files, in their order. The seed is for `when` with a chance.
    pub fn new(files: impl IntoIterator<Item = FixtureFile>, seed: Seed) -> Self {
        let mut recordings = Vec::new();
        let mut fixtures = Vec::new();
        for file in files {
            fixtures.extend(file.fixtures);
            recordings.extend(file.recordings);
        }
        let fixtures = fixtures.into_iter();
        let mut pages: Vec<_> = fixtures
            .enumerate()
            .map(|(index, fixture)| Page { fixture, index, count: AtomicU64::new(0) })
            .collect();
        // The sort is stable: within a priority the order of the files stays.
        pages
            .sort_by_key(|page| (page.fixture.catch_all, std::cmp::Reverse(page.fixture.priority)));
        let asks = |page: &Page| {
            page.fixture.matching.as_ref().is_some_and(|matching| !matching.headers.is_empty())
        };
        Self {
            looks_at_headers: pages.iter().any(asks),
            pages,
            states: Mutex::default(),
            seed,
            recordings: Recordings::new(recordings),
        }
    }

    /// Reads one text as a whole book.
    pub fn parse(text: &str, file: &str, seed: Seed) -> Result<Self, ConfigError> {
        Ok(Self::new([FixtureFile::parse(text, file)?], seed))
    }

    /// Whether any fixture asks for a header: only then do they have to be read.
    pub fn looks_at_headers(&self) -> bool {
        self.looks_at_headers
    }

    /// How many fixtures there are.
    pub fn len(&self) -> usize {
        self.pages.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// The models that fixtures name, for lists of models.
    pub fn models(&self) -> Vec<String> {
        let named =
            self.pages.iter().filter_map(|page| page.fixture.matching.as_ref()?.model.as_ref());
        let mut models: Vec<_> = named
            .filter_map(|pattern| match pattern {
                super::Pattern::Holds(text) => Some(text.clone()),
                super::Pattern::Regex(_) => None,
            })
            .collect();
        models.sort();
        models.dedup();
        models
    }

    /// Fixtures that can never answer, each with the one before it that answers all of its requests.
    pub fn never_reached(&self) -> Vec<(usize, usize)> {
        let behind = |(at, page): (usize, &Page)| {
            let before = self.pages[..at].iter().find(|before| before.answers_all_of(page))?;
            Some((page.index, before.index))
        };
        self.pages.iter().enumerate().filter_map(behind).collect()
    }

    /// The fixture that answers this request, which moves its story on.
    pub fn choose(&self, request: &Request, elapsed: Duration) -> Result<Chosen<'_>, NoMatch> {
        for page in self.pages.iter().filter(|page| page.fits(request)) {
            if self.enter(page).is_err() {
                continue;
            }
            let ordinal = page.count.fetch_add(1, Ordering::Relaxed) + 1;
            if page.fixture.when.holds(ordinal, elapsed, self.seed, page.index as u64) {
                self.move_on(page);
                return Ok(Chosen { fixture: &page.fixture, index: page.index, ordinal });
            }
        }
        Err(self.no_match(request))
    }

    /// Why no fixture answers. Words are made only now: those that answer need none.
    fn no_match(&self, request: &Request) -> NoMatch {
        let mut nearest =
            NoMatch { looked_at: self.pages.len(), nearest: None, misses: Vec::new() };
        let mut most = 0;
        for page in &self.pages {
            let mut misses = page.misses(request);
            let conditions = page.fixture.matching.as_ref().map_or(0, super::Match::conditions);
            let mut kept = (conditions + 1).saturating_sub(misses.len());
            if misses.is_empty() {
                kept = usize::MAX;
                misses.push(self.why_not_now(page));
            }
            if nearest.nearest.is_none() || kept > most {
                (most, nearest.nearest, nearest.misses) = (kept, Some(page.index), misses);
            }
        }
        nearest
    }

    /// Why a fixture that fits does not answer.
    fn why_not_now(&self, page: &Page) -> (String, String) {
        match self.enter(page) {
            Err(why) => ("scenario".into(), why),
            Ok(()) => {
                let count = page.count.load(Ordering::Relaxed);
                ("when".into(), format!("request {count} is not one of those that it answers"))
            }
        }
    }

    /// Whether the fixture's story has come to where it must be.
    fn enter(&self, page: &Page) -> Result<(), String> {
        let Some(scenario) = &page.fixture.scenario else { return Ok(()) };
        let Some(required) = &scenario.required_state else { return Ok(()) };
        let states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        let state = states.get(&scenario.name).map_or("", String::as_str);
        if state == required {
            Ok(())
        } else {
            Err(format!("`{}` is at `{state}`, not at `{required}`", scenario.name))
        }
    }

    fn move_on(&self, page: &Page) {
        let Some(scenario) = &page.fixture.scenario else { return };
        let Some(next) = &scenario.set_state else { return };
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        states.insert(scenario.name.clone(), next.clone());
    }

    /// What was recorded.
    pub fn recordings(&self) -> &Recordings {
        &self.recordings
    }

    /// Forgets what has happened: stories begin anew, and requests are counted from 1.
    pub fn reset(&self) {
        self.states.lock().unwrap_or_else(PoisonError::into_inner).clear();
        for page in &self.pages {
            page.count.store(0, Ordering::Relaxed);
        }
        self.recordings.reset();
    }
}

impl Page {
    /// Whether it answers whatever the other one could: it has no condition that the other has not.
    fn answers_all_of(&self, other: &Page) -> bool {
        let Fixture { matching, provider, when, scenario, .. } = &self.fixture;
        let asks_less = matching.as_ref().is_none_or(|matching| matching.conditions() == 0)
            || *matching == other.fixture.matching;
        asks_less
            && provider.is_none_or(|provider| other.fixture.provider == Some(provider))
            && *when == When::default()
            && scenario.as_ref().is_none_or(|scenario| scenario.required_state.is_none())
    }

    fn fits(&self, request: &Request) -> bool {
        self.fixture.provider.is_none_or(|provider| provider == request.provider)
            && self.fixture.matching.as_ref().is_none_or(|matching| matching.fits(request))
    }

    fn misses(&self, request: &Request) -> Vec<(String, String)> {
        let mut misses = match &self.fixture.matching {
            Some(matching) => matching.misses(request),
            None => Vec::new(),
        };
        if let Some(provider) = self.fixture.provider
            && provider != request.provider
        {
            let why = format!("it is `{}`, not `{}`", request.provider.name(), provider.name());
            misses.push(("provider".into(), why));
        }
        misses
    }
}

impl When {
    /// Whether the request with this number is one of those that are meant. Chance comes from the
    /// seed, the stream and the number alone, so that it is the same in any order of requests.
    pub fn holds(&self, ordinal: u64, elapsed: Duration, seed: Seed, stream: u64) -> bool {
        let Self { nth, every, first, probability, after, until } = self;
        nth.is_none_or(|nth| nth == ordinal)
            && every.is_none_or(|every| ordinal.is_multiple_of(every))
            && first.is_none_or(|first| ordinal <= first)
            && after.is_none_or(|after| elapsed >= after)
            && until.is_none_or(|until| elapsed < until)
            && probability.is_none_or(|share| {
                let mut dice = Seed(seed.dice(stream).next_u64()).dice(ordinal);
                dice.unit() < share
            })
    }
}

#[cfg(test)]
mod tests;
