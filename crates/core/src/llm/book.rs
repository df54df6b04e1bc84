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
use crate::{config::ConfigError, seed::Seed};

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
            "No fixture matched for model='{}' ({} fixtures checked)",
            crate::display::visible(&request.model, 80),
            self.looked_at
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
            && every.is_none_or(|every| every > 0 && ordinal.is_multiple_of(every))
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
mod tests {
    use super::*;
    use crate::llm::Provider;
    use serde_json::json;

    fn request(model: &str, message: &str) -> Request {
        Request {
            provider: Provider::Openai,
            model: model.into(),
            user_message: message.into(),
            system_prompt: String::new(),
            temperature: None,
            metadata: Default::default(),
            tools: Vec::new(),
            stream: false,
            include_usage: false,
            choices: 1,
            headers: Vec::new(),
            body: json!({}),
            length: 2,
            hash: 0,
        }
    }

    fn book(text: &str) -> Book {
        Book::parse(text, "f.yml", Seed(1)).unwrap()
    }

    fn chosen(book: &Book, model: &str, message: &str) -> Result<usize, String> {
        let request = request(model, message);
        let chosen = book.choose(&request, Duration::ZERO);
        chosen.map(|chosen| chosen.index).map_err(|miss| miss.words(&request))
    }

    #[test]
    fn priority_goes_before_order_and_catch_all_comes_last() {
        let book = book(
            "fixtures:
               - {catch_all: true, priority: 9, response: {content: a}}
               - {match: {user_message: hel}, response: {content: b}}
               - {match: {user_message: hello}, priority: 1, response: {content: c}}",
        );
        assert_eq!(chosen(&book, "m", "hello"), Ok(2));
        assert_eq!(chosen(&book, "m", "help"), Ok(1));
        assert_eq!(chosen(&book, "m", "bye"), Ok(0));
    }

    #[test]
    fn fixtures_behind_one_that_answers_everything_are_never_reached() {
        let never = |text: &str| book(text).never_reached();
        let shadowed = "fixtures:
               - {match: {user_message: a}, response: {content: a}}
               - {response: {content: all}}
               - {match: {user_message: b}, response: {content: b}}
               - {provider: gemini, response: {content: c}}
               - {match: {user_message: d}, priority: 1, response: {content: d}}
               - {match: {user_message: a}, response: {content: again}}";
        assert_eq!(never(shadowed), [(2, 1), (3, 1), (5, 0)]);
        let reached = "fixtures:
               - {when: {first: 1}, response: {content: a}}
               - {scenario: {name: s, required_state: one}, response: {content: b}}
               - {provider: gemini, response: {content: c}}
               - {match: {model: m}, response: {content: d}}
               - {catch_all: true, response: {content: all}}";
        assert_eq!(never(reached), []);
    }

    #[test]
    fn a_story_goes_on() {
        let book = book(
            "fixtures:
               - {scenario: {name: s, required_state: '', set_state: one}, response: {content: a}}
               - {scenario: {name: s, required_state: one, set_state: two}, response: {content: b}}
               - {scenario: {name: s, required_state: two}, response: {content: c}}",
        );
        let told: Vec<_> = (0..4).map(|_| chosen(&book, "m", "x").unwrap()).collect();
        assert_eq!(told, [0, 1, 2, 2]);
        book.reset();
        assert_eq!(chosen(&book, "m", "x"), Ok(0));
    }

    #[test]
    fn the_first_two_fail_and_then_it_works() {
        let book = book(
            "fixtures:
               - {when: {times: 2}, error: {status: 503, message: busy}}
               - {response: {content: fine}}",
        );
        let told: Vec<_> = (0..3).map(|_| chosen(&book, "m", "x").unwrap()).collect();
        assert_eq!(told, [0, 0, 1]);
    }

    #[test]
    fn the_nearest_fixture_is_named_with_what_is_wrong() {
        let book = book(
            "fixtures:
               - {match: {user_message: hello, model: gpt-9}, response: {content: a}}
               - {match: {user_message: bye, model: other}, response: {content: b}}",
        );
        let told = chosen(&book, "gpt-4", "hello there").unwrap_err();
        assert_eq!(
            told,
            "No fixture matched for model='gpt-4' (2 fixtures checked); \
             the nearest is fixture 0: model: `gpt-9` is not in `gpt-4`"
        );
    }

    /// What a fixture with this condition says of a request that has something of everything.
    fn missed(condition: &str) -> Vec<(String, String)> {
        let text = format!("fixtures: [{{match: {{{condition}}}, response: {{content: a}}}}]");
        let mut rich = request("gpt-4", " hello ");
        rich.temperature = Some(0.5);
        rich.system_prompt = "be brief".into();
        rich.headers = vec![("x-team".into(), "blue".into())];
        let metadata = json!({"user": "u1", "paid": true, "level": 7, "none": null});
        rich.metadata = metadata.as_object().unwrap().clone();
        rich.tools = vec!["search".into(), "fetch".into()];
        rich.body = json!({"a": [{"b": 1}], "n": null});
        let book = book(&text);
        let matching = book.pages[0].fixture.matching.as_ref().unwrap();
        assert_eq!(matching.conditions(), 1, "{condition}");
        let misses = matching.misses(&rich);
        assert_eq!(matching.fits(&rich), misses.is_empty(), "{condition}");
        misses
    }

    #[test]
    fn every_condition_is_kept() {
        for good in [
            "user_message: hello",
            "user_message: {regex: '^h.*o$'}",
            "system_prompt: brief",
            "temperature: 0.5",
            "temperature: {min: 0.5, max: 0.6}",
            "temperature: {min: 0.4, max: 0.5}",
            "headers: {X-Team: bl}",
            "metadata: {user: u1}",
            "metadata: {paid: 'true'}",
            "metadata: {level: '7'}",
            "tool_schema: fetch",
            "body_jsonpath: '$.a[0].b'",
        ] {
            assert_eq!(missed(good), [], "{good}");
        }
        for (bad, key, why) in [
            ("user_message: {regex: '^H'}", "user_message", "/^H/ is not in `hello`"),
            ("system_prompt: long", "system_prompt", "`long` is not in `be brief`"),
            ("temperature: 0.6", "temperature", "it is 0.5"),
            ("temperature: {min: 0.6, max: 1}", "temperature", "it is 0.5"),
            ("headers: {x-team: red}", "headers.x-team", "`red` is not in `blue`"),
            ("headers: {x-else: red}", "headers.x-else", "`red` is not in ``"),
            ("metadata: {none: 'null'}", "metadata.none", "`null` is not in ``"),
            ("tool_schema: x", "tool_schema", "`x` is not among the tools (search, fetch)"),
            ("body_jsonpath: '$.n'", "body_jsonpath", "`$.n` finds nothing"),
        ] {
            assert_eq!(missed(bad), [(key.to_owned(), why.to_owned())], "{bad}");
        }
    }

    #[test]
    fn who_fits_and_does_not_answer_says_why() {
        let told = |text: &str| {
            let book = book(text);
            let _ = chosen(&book, "m", "x");
            chosen(&book, "m", "x").unwrap_err()
        };
        let none =
            "No fixture matched for model='m' (1 fixtures checked); the nearest is fixture 0: ";
        let over = told("fixtures: [{when: {times: 1}, response: {content: a}}]");
        assert_eq!(over, format!("{none}when: request 2 is not one of those that it answers"));
        let elsewhere =
            told("fixtures: [{scenario: {name: s, required_state: two}, response: {content: a}}]");
        assert_eq!(elsewhere, format!("{none}scenario: `s` is at ``, not at `two`"));
        let other = told("fixtures: [{provider: gemini, response: {content: a}}]");
        assert_eq!(other, format!("{none}provider: it is `openai`, not `gemini`"));
    }

    #[test]
    fn a_template_is_filled_in_from_the_request() {
        let template = |text: &str| super::super::fixture::Template::try_from(text.to_owned());
        let mut asked = request("gpt-4", "hello");
        asked.body = json!({"n": 3});
        let filled = |text: &str| template(text).unwrap().render(&asked);
        let all = "{{ user_message }} {{ model }} {{ provider }} {{ request.n }}";
        assert_eq!(filled(all).unwrap(), "hello gpt-4 openai 3");
        let unknown = filled("{{ nobody }}").unwrap_err();
        assert!(unknown.starts_with("content_template: undefined value"), "{unknown}");
        assert!(filled("{% for a in range(99999) %}xxxxxxxxxxxxxxxxxx{% endfor %}").is_err());
        let broken = template("{{ a").unwrap_err();
        assert!(broken.starts_with("not a template: syntax error"), "{broken}");
    }

    #[test]
    fn a_book_knows_what_is_in_it() {
        let full = book(
            "fixtures:
               - {match: {model: gpt-9}, response: {content: a}}
               - {match: {model: {regex: '^claude'}}, response: {content: b}}
               - {match: {model: gemini, headers: {a: b}}, response: {content: c}}
               - {match: {model: gpt-9, user_message: x}, response: {content: d}}",
        );
        assert_eq!(full.models(), ["gemini", "gpt-9"]);
        assert_eq!((full.len(), full.is_empty(), full.looks_at_headers()), (4, false, true));
        let plain = book("fixtures: [{response: {content: a}}]");
        assert_eq!((plain.len(), plain.looks_at_headers()), (1, false));
    }

    #[test]
    fn chance_is_as_often_as_it_says() {
        for share in [0.001, 0.1, 0.5, 0.9] {
            let when = When { probability: Some(share), ..When::default() };
            let hits = (1..=10_000).filter(|seed| when.holds(1, Duration::ZERO, Seed(*seed), 0));
            let (hits, n) = (hits.count() as f64, 10_000.0);
            let sigma = (n * share * (1.0 - share)).sqrt();
            assert!((hits - n * share).abs() <= 3.0 * sigma, "{share}: {hits}");
        }
    }
}
