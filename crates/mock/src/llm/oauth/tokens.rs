//! What was handed out, and whether it is still good.

use std::{
    collections::{HashMap, VecDeque},
    time::Duration,
};

use mcp_loadtest_core::{llm::Oauth, seed::Seed};

use crate::llm::{dialect::identity, hash};

/// So many of a kind are remembered; then the oldest are forgotten, because clients could ask for ever.
const MOST: usize = 10_000;

/// All that was handed out.
#[derive(Debug)]
pub(super) struct Tokens {
    seed: Seed,
    counter: u64,
    access: Kept<Access>,
    pub(super) refresh: Kept<Grantee>,
    pub(super) codes: Kept<Code>,
    pub(super) devices: Kept<Device>,
    /// Requests for tokens that failed on purpose.
    pub(super) failed: u32,
}

/// Who was let in, and to what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Grantee {
    pub(super) client: String,
    pub(super) scope: Option<String>,
    /// What all tokens of one consent have in common.
    pub(super) consent: u64,
}

#[derive(Debug)]
struct Access {
    grantee: Grantee,
    until: Duration,
    uses_left: Option<u32>,
}

/// What a client gets a token for, once.
#[derive(Debug)]
pub(super) struct Code {
    pub(super) grantee: Grantee,
    pub(super) redirect_uri: String,
    /// The challenge and whether it is a hash.
    pub(super) challenge: Option<(String, bool)>,
    pub(super) until: Duration,
}

/// A device that somebody has to let in.
#[derive(Debug)]
pub(super) struct Device {
    pub(super) grantee: Grantee,
    /// How often it still has to ask.
    pub(super) pending: u32,
    pub(super) until: Duration,
}

/// Why a token is not taken.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Lack {
    Missing,
    Unknown,
    RanOut { client: String },
}

impl Lack {
    /// Of two, the one that says more: a token that ran out was good once.
    pub(super) fn or(self, other: Self) -> Self {
        match (&self, &other) {
            (Self::RanOut { .. }, _) | (_, Self::Missing) => self,
            _ => other,
        }
    }
}

impl Tokens {
    pub(super) fn new(seed: Seed) -> Self {
        Self {
            seed,
            counter: 0,
            access: Kept::default(),
            refresh: Kept::default(),
            codes: Kept::default(),
            devices: Kept::default(),
            failed: 0,
        }
    }

    /// Lets somebody in: what all of their tokens will have in common.
    pub(super) fn consent(&mut self, client: String, scope: Option<&str>) -> Grantee {
        self.counter += 1;
        Grantee { client, scope: scope.map(str::to_owned), consent: self.counter }
    }

    /// A word that was not handed out before. The same seed gives the same words.
    pub(super) fn word(&mut self, prefix: &str) -> String {
        self.counter += 1;
        let bytes = [self.seed.0.to_le_bytes(), self.counter.to_le_bytes()].concat();
        identity(prefix, hash(&bytes))
    }

    /// A token that asks the model.
    pub(super) fn hand_out(&mut self, grantee: Grantee, settings: &Oauth, now: Duration) -> String {
        let token = self.word("access-");
        let until = now + Duration::from_secs(settings.lifetime().into());
        let uses_left = settings.uses;
        self.access.put(token.clone(), Access { grantee, until, uses_left });
        token
    }

    /// Uses a token for one request, and says whose it is.
    pub(super) fn spend(&mut self, token: &str, now: Duration) -> Result<String, Lack> {
        let access = self.access.get(token).ok_or(Lack::Unknown)?;
        let client = access.grantee.client.clone();
        if !access.is_good(now) {
            return Err(Lack::RanOut { client });
        }
        if let Some(left) = &mut access.uses_left {
            *left -= 1;
        }
        Ok(client)
    }

    /// Whose a token is and how long it is still good, if it is.
    pub(super) fn look(&mut self, token: &str, now: Duration) -> Option<(&Grantee, Duration)> {
        let access = self.access.get(token).filter(|access| access.is_good(now))?;
        Some((&access.grantee, access.until - now))
    }

    /// Takes a token back; with one that renews, all of the same consent.
    pub(super) fn take_back(&mut self, token: &str) {
        self.access.take(token);
        if let Some(grantee) = self.refresh.take(token) {
            self.access.by_word.retain(|_, access| access.grantee.consent != grantee.consent);
        }
    }
}

impl Access {
    fn is_good(&self, now: Duration) -> bool {
        now < self.until && self.uses_left != Some(0)
    }
}

/// The latest things of a kind, by their word.
#[derive(Debug)]
pub(super) struct Kept<T> {
    by_word: HashMap<String, T>,
    order: VecDeque<String>,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self { by_word: HashMap::new(), order: VecDeque::new() }
    }
}

impl<T> Kept<T> {
    pub(super) fn put(&mut self, word: String, thing: T) {
        if self.order.len() >= MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.by_word.remove(&oldest);
        }
        self.order.push_back(word.clone());
        self.by_word.insert(word, thing);
    }

    pub(super) fn get(&mut self, word: &str) -> Option<&mut T> {
        self.by_word.get_mut(word)
    }

    pub(super) fn take(&mut self, word: &str) -> Option<T> {
        self.by_word.remove(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn settings(text: &str) -> Oauth {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_token_is_good_until_its_time_or_its_uses_are_over() {
        let mut tokens = Tokens::new(Seed(1));
        let grantee = tokens.consent("app".into(), None);
        let ran_out = Err(Lack::RanOut { client: "app".into() });
        let timed = tokens.hand_out(grantee.clone(), &settings(r#"{"expires_in": 10}"#), SECOND);
        assert_eq!(tokens.spend(&timed, 10 * SECOND), Ok("app".into()));
        assert_eq!(tokens.look(&timed, 10 * SECOND), Some((&grantee, SECOND)));
        assert_eq!(tokens.spend(&timed, 11 * SECOND), ran_out);
        assert_eq!(tokens.look(&timed, 11 * SECOND), None);
        let counted = tokens.hand_out(grantee, &settings(r#"{"uses": 2}"#), SECOND);
        assert!((0..2).all(|_| tokens.spend(&counted, SECOND).is_ok()));
        assert_eq!(tokens.spend(&counted, SECOND), ran_out);
        assert_eq!(tokens.spend("made-up", SECOND), Err(Lack::Unknown));
    }

    #[test]
    fn the_oldest_are_forgotten_first() {
        let mut tokens = Tokens::new(Seed(1));
        let grantee = tokens.consent("app".into(), None);
        let words: Vec<_> = (0..=MOST)
            .map(|_| tokens.hand_out(grantee.clone(), &Oauth::default(), SECOND))
            .collect();
        assert_eq!(tokens.spend(&words[0], SECOND), Err(Lack::Unknown));
        assert!(words[1..].iter().all(|word| tokens.spend(word, SECOND).is_ok()));
    }

    #[test]
    fn what_renews_is_taken_back_with_all_that_came_of_it() {
        let mut tokens = Tokens::new(Seed(1));
        let (one, two) = (tokens.consent("a".into(), None), tokens.consent("b".into(), None));
        let good = |tokens: &mut Tokens, word: &str| tokens.look(word, SECOND).is_some();
        let of_one = tokens.hand_out(one.clone(), &Oauth::default(), SECOND);
        let of_two = tokens.hand_out(two, &Oauth::default(), SECOND);
        tokens.refresh.put("renews".into(), one);
        tokens.take_back("renews");
        assert!(!good(&mut tokens, &of_one) && good(&mut tokens, &of_two));
        assert!(tokens.refresh.get("renews").is_none());
        tokens.take_back(&of_two);
        assert!(!good(&mut tokens, &of_two));
    }
}
