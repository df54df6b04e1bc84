//! Which requests are tries of the same call.
//!
//! A client that says so is believed: an idempotency key is the call's own name, and
//! `x-stainless-retry-count` counts its tries. Only where a client says nothing are equal bodies
//! taken for tries of one call, and only one after the other, so that independent equal calls are not
//! blamed for each other.

use std::collections::HashMap;

use super::requests::TOLERANCE_MS;
use crate::{
    llm::{Ending, Entry},
    report::figures::counted,
};

/// Equal bodies further apart than this are different calls.
const LONGEST_GAP_MS: f64 = 120_000.0;

/// A call with all of its tries, in order.
#[derive(Debug)]
pub(super) struct Chain<'e> {
    pub(super) tries: Vec<&'e Entry>,
    /// Whether the client itself said that all of these are tries of one call.
    pub(super) is_certain: bool,
}

impl<'e> Chain<'e> {
    pub(super) fn first(&self) -> &'e Entry {
        self.tries[0]
    }

    pub(super) fn last(&self) -> &'e Entry {
        self.tries[self.tries.len() - 1]
    }

    /// Each try with the one after it, and the wait between them in milliseconds.
    pub(super) fn gaps(&self) -> impl Iterator<Item = (&'e Entry, &'e Entry, f64)> {
        let pairs = self.tries.windows(2);
        pairs.map(|pair| (pair[0], pair[1], (pair[1].at_ms - pair[0].ended_ms()).max(0.0)))
    }
}

/// What tries of the same call have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Identity<'e> {
    Key(&'e str, &'e str),
    Body { client: &'e str, path: &'e str, hash: &'e str, test: Option<&'e str> },
}

fn identity(entry: &Entry) -> Identity<'_> {
    match entry.header("idempotency-key") {
        Some(key) => Identity::Key(&entry.client, key),
        None => Identity::Body {
            client: &entry.client,
            path: &entry.path,
            hash: &entry.body_hash,
            test: entry.header("x-test-id"),
        },
    }
}

fn retry_count(entry: &Entry) -> Option<u32> {
    entry.header("x-stainless-retry-count")?.trim().parse().ok()
}

/// The calls, and what cannot be told.
pub(super) fn chains<'e>(entries: &[&'e Entry]) -> (Vec<Chain<'e>>, Vec<String>) {
    let mut chains: Vec<Chain<'e>> = Vec::new();
    let mut by_identity: HashMap<Identity<'e>, Vec<usize>> = HashMap::new();
    let mut unclear = 0;
    for entry in entries {
        let own = by_identity.entry(identity(entry)).or_default();
        match belongs(entry, own, &chains) {
            Belongs::To(at) => {
                chains[at].is_certain &= retry_count(entry) != Some(0);
                chains[at].tries.push(entry);
            }
            new => {
                unclear += usize::from(matches!(new, Belongs::Unclear));
                own.push(chains.len());
                let is_certain =
                    retry_count(entry).is_some() || matches!(identity(entry), Identity::Key(..));
                chains.push(Chain { tries: vec![entry], is_certain });
            }
        }
    }
    let words = (unclear > 0).then(|| {
        format!(
            "{} had the same body as others that were under way or had failed \
             together: tries of one call or calls of their own? They count as calls of their own; \
             an `idempotency-key` or `x-test-id` header would tell",
            counted(unclear as u64, "request")
        )
    });
    (chains, words.into_iter().collect())
}

enum Belongs {
    To(usize),
    New,
    Unclear,
}

/// Which of the calls with the same identity a request is another try of.
fn belongs(entry: &Entry, own: &[usize], chains: &[Chain<'_>]) -> Belongs {
    if matches!(identity(entry), Identity::Key(..)) {
        return own.last().map_or(Belongs::New, |at| Belongs::To(*at));
    }
    let count = retry_count(entry);
    let open: Vec<usize> =
        own.iter().copied().filter(|at| goes_on(chains[*at].last(), entry)).collect();
    if let Some(count) = count.filter(|count| *count > 0) {
        let before = |at: &&usize| retry_count(chains[**at].last()) == Some(count - 1);
        let found = open.iter().rev().find(before).or(open.last());
        return found.map_or(Belongs::New, |at| Belongs::To(*at));
    }
    // An SDK counts only its own tries: an application that asks again begins at 0. It does so after what
    // another try could mend; equal calls after anything else say that they are calls of their own.
    let is_said_new = |at: &usize| count == Some(0) && !chains[*at].last().is_worth_another_try();
    let open: Vec<usize> = open.into_iter().filter(|at| !is_said_new(at)).collect();
    let is_under_way = own.iter().any(|at| !is_over(chains[*at].last(), entry));
    match open.as_slice() {
        [] if is_under_way && count.is_none() => Belongs::Unclear,
        [] => Belongs::New,
        [only] if !is_under_way => Belongs::To(*only),
        _ if count.is_some() => Belongs::New,
        _ => Belongs::Unclear,
    }
}

/// Whether a request may be another try after this one.
fn goes_on(last: &Entry, entry: &Entry) -> bool {
    last.ending != Ending::Complete
        && is_over(last, entry)
        && entry.at_ms - last.ended_ms() <= LONGEST_GAP_MS
}

/// Whether a request had its answer when another came. Of an answer that took less time than a clock may be
/// off by, only the second half may be: requests that are made together are no tries of one call.
fn is_over(last: &Entry, entry: &Entry) -> bool {
    last.ended_ms() <= entry.at_ms + TOLERANCE_MS.min(last.took_ms / 2.0)
}
