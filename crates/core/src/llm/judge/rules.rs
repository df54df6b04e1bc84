//! What a client does wrong with one call. To add a rule: a function that looks at the tries of a call,
//! and its line in [`RULES`].

use super::{
    Patience,
    chains::Chain,
    requests::{Requests, TOLERANCE_MS},
};
use crate::{
    llm::{Ending, Entry},
    report::Severity,
};

/// One thing that clients do wrong.
pub(super) struct Rule {
    pub(super) id: &'static str,
    pub(super) about: &'static str,
    pub(super) meaning: &'static str,
    pub(super) hint: &'static str,
    pub(super) look: fn(&Chain<'_>, all: &Requests<'_>, Patience) -> Option<Seen>,
}

/// What was seen of one call.
pub(super) struct Seen {
    pub(super) severity: Severity,
    pub(super) words: String,
}

/// Every rule.
pub(super) static RULES: &[Rule] = &[
    Rule {
        id: "gave_up",
        about: "a failure that another try could have mended was the end",
        meaning: "A single hiccup of the model's API reaches the user.",
        hint: "try again, a few times, with growing waits",
        look: gave_up,
    },
    Rule {
        id: "still_failing",
        about: "no try of several got an answer, and the client stopped, as it should",
        meaning: "The provider was down for longer than the client is patient.",
        hint: "nothing, if that is how patient it should be",
        look: still_failing,
    },
    Rule {
        id: "retried_too_early",
        about: "tried again before the time that `Retry-After` asks for",
        meaning: "The limit is hit again at once; providers count such requests and may block the key.",
        hint: "wait at least as long as `retry-after-ms`, `retry-after` or RetryInfo says",
        look: retried_too_early,
    },
    Rule {
        id: "retried_not_retryable",
        about: "tried again what no other try can mend",
        meaning: "The request is wrong, or the key is: the same answer will come for ever, and is paid for.",
        hint: "try again only after 408, 409, 429, 5xx and broken connections",
        look: retried_not_retryable,
    },
    Rule {
        id: "retry_storm",
        about: "more tries of one call than anybody should make",
        meaning: "While a provider is in trouble, every client that does this makes it worse.",
        hint: "limit the number of tries",
        look: retry_storm,
    },
    Rule {
        id: "no_backoff",
        about: "tried again and again without waiting",
        meaning: "An outage of a second uses up all tries at once, and all clients hit the provider together.",
        hint: "double the wait after each failure, and add some chance to it",
        look: no_backoff,
    },
    Rule {
        id: "token_not_renewed",
        about: "a token ran out, and the call was not made again with another",
        meaning: "Whoever uses the program for longer than a token lives sees it fail.",
        hint: "after a 401 get a new token and try once more, or renew it before its time is over",
        look: token_not_renewed,
    },
    Rule {
        id: "without_a_token",
        about: "asked without a token that was handed out, and never came back with one",
        meaning: "Nothing behind the door was tried: the client does not get in.",
        hint: "get a token first: POST /oauth/token, and send it as `Authorization: Bearer TOKEN`",
        look: without_a_token,
    },
    Rule {
        id: "used_truncated_answer",
        about: "an answer that was cut off was taken for a whole one",
        meaning: "The conversation goes on with half a sentence, or half a tool call, as if it were the answer.",
        hint: "look for the terminal event or the finish reason before an answer is used",
        look: used_truncated_answer,
    },
];

fn critical(words: String) -> Option<Seen> {
    Some(Seen { severity: Severity::Critical, words })
}

fn warning(words: String) -> Option<Seen> {
    Some(Seen { severity: Severity::Warning, words })
}

fn gave_up(chain: &Chain<'_>, all: &Requests<'_>, _: Patience) -> Option<Seen> {
    let last = chain.last();
    if last_tries(chain) != 1 || all.quoted_by(last).is_some() {
        return None;
    }
    let doubt = match last.ending {
        Ending::CutShort | Ending::ErrorEvent => {
            " (whether the half answer was used cannot be told from requests)"
        }
        _ => "",
    };
    critical(format!("request {}: {}, and no try after it{doubt}", last.number, last.words()))
}

fn still_failing(chain: &Chain<'_>, _: &Requests<'_>, _: Patience) -> Option<Seen> {
    let (first, last) = (chain.first(), chain.last());
    let span = last.ended_ms() - first.at_ms;
    let words = || {
        let tries = chain.tries.len();
        format!("request {}: {} after {tries} tries in {span:.0} ms", last.number, last.words())
    };
    (last_tries(chain) > 1).then(|| Seen { severity: Severity::Info, words: words() })
}

/// How many tries in the end failed in the same way, where another could help. A client that has tried
/// again after a refusal may still have no answer to a stream that breaks.
fn last_tries(chain: &Chain<'_>) -> usize {
    let last = chain.last();
    let is_alike =
        |entry: &&&Entry| (entry.ending == Ending::Refused) == (last.ending == Ending::Refused);
    // A token that ran out has a rule of its own.
    match last.is_worth_another_try() && !last.token_ran_out() {
        true => chain.tries.iter().rev().take_while(is_alike).count(),
        false => 0,
    }
}

fn retried_too_early(chain: &Chain<'_>, _: &Requests<'_>, _: Patience) -> Option<Seen> {
    let early = |before: &Entry, waited: f64| {
        let told = before.retry_after_ms? as f64;
        (waited + TOLERANCE_MS + told * 0.01 < told).then_some(told)
    };
    chain.gaps().find_map(|(before, next, waited)| {
        let told = early(before, waited)?;
        critical(format!(
            "request {} came {waited:.0} ms after request {}, which was told to wait {told:.0} ms",
            next.number, before.number
        ))
    })
}

fn retried_not_retryable(chain: &Chain<'_>, _: &Requests<'_>, _: Patience) -> Option<Seen> {
    let is_final = |entry: &Entry| entry.ending == Ending::Refused && !entry.is_worth_another_try();
    let (at, (before, next, _)) =
        chain.gaps().enumerate().find(|(_, (before, ..))| is_final(before))?;
    let words = format!(
        "request {} repeats request {}, which got {}",
        next.number,
        before.number,
        before.words()
    );
    // Equal bodies alone prove nothing when there are only two of them.
    if chain.is_certain || chain.tries.len() - at > 2 {
        critical(words)
    } else {
        warning(format!("{words}; they are equal, but nothing says that they are one call"))
    }
}

fn retry_storm(chain: &Chain<'_>, _: &Requests<'_>, patience: Patience) -> Option<Seen> {
    let tries = chain.tries.len();
    (tries > patience.most_tries).then(|| {
        let span = chain.last().at_ms - chain.first().at_ms;
        Seen {
            severity: Severity::Critical,
            words: format!(
                "{tries} tries in {span:.0} ms, from request {} to request {}",
                chain.first().number,
                chain.last().number
            ),
        }
    })
}

fn no_backoff(chain: &Chain<'_>, _: &Requests<'_>, patience: Patience) -> Option<Seen> {
    let waits: Vec<f64> = chain
        .gaps()
        .filter(|(before, ..)| before.is_worth_another_try() && before.retry_after_ms.is_none())
        // Whoever has a new token need not wait.
        .filter(|(before, ..)| !before.token_ran_out())
        .map(|(_, _, waited)| waited)
        .collect();
    // One quick try is common and harmless; the second must wait.
    let longest = waits.iter().copied().fold(0.0, f64::max);
    (waits.len() >= 2 && longest < patience.shortest_wait_ms).then(|| Seen {
        severity: Severity::Critical,
        words: format!(
            "{} waits from request {} on, none longer than {longest:.1} ms",
            waits.len(),
            chain.first().number
        ),
    })
}

fn token_not_renewed(chain: &Chain<'_>, _: &Requests<'_>, _: Patience) -> Option<Seen> {
    let last = chain.last();
    let used = chain.tries.iter().rev().take_while(|entry| entry.token_ran_out()).count();
    match used {
        0 => None,
        1 => {
            critical(format!("request {}: its token had run out, and no try after it", last.number))
        }
        _ => critical(format!("request {}: try {used} with a token that had run out", last.number)),
    }
}

fn without_a_token(chain: &Chain<'_>, all: &Requests<'_>, _: Patience) -> Option<Seen> {
    // A 401 that no fixture asked for comes from the door.
    let is_shut_out =
        |entry: &Entry| entry.status == 401 && entry.fixture.is_none() && !entry.token_ran_out();
    let last = chain.last();
    let is_let_in = |later: &Entry| {
        later.number > last.number && later.body_hash == last.body_hash && !is_shut_out(later)
    };
    if !is_shut_out(last) || all.entries.iter().copied().any(is_let_in) {
        return None;
    }
    critical(format!("request {}: {}", last.number, last.words()))
}

fn used_truncated_answer(chain: &Chain<'_>, all: &Requests<'_>, _: Patience) -> Option<Seen> {
    chain.tries.iter().find_map(|cut| {
        let by = all.quoted_by(cut)?;
        critical(format!(
            "request {} says `{}` again, which is where the answer to request {} was cut off",
            by.number,
            crate::display::visible(&cut.said, 60),
            cut.number
        ))
    })
}
