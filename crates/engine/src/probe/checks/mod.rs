//! The checks of a probe, one file each.
//!
//! To add one: write `x.rs` with a `pub(super) static CHECK: Check` and an async function that works
//! on the [`Bench`] and tells a [`CaseResult`] for everything it tries; add its line to [`PROBES`].
//! Give it a home-made server that it must catch in `tests/fixtures/`, and its line in the table of
//! `cli/tests/it/probe/`. A check never ends early because of one bad case: the server is started
//! anew by [`Bench::session`] and the next case goes on.

mod idle;
mod reject_churn;
mod request_churn;
mod session_churn;
mod shutdown;
mod stdout_noise;
mod stream_cut;
mod unknown_method;
mod unknown_tool;

use std::pin::Pin;

use mcp_loadtest_core::check::{About, CaseResult, CaseVerdict, Depth, Family};

use super::bench::Bench;

/// A check at work.
pub(crate) type Running<'b> = Pin<Box<dyn Future<Output = ()> + 'b>>;

/// Something that a probe tries.
pub struct Check {
    /// Its id, which is also that of its finding.
    pub id: &'static str,
    /// What it is about.
    pub family: Family,
    /// The id of the fault in the taxonomy.
    pub taxonomy: Option<&'static str>,
    /// The shallowest probe that carries it out.
    pub depth: Depth,
    /// What it does, in one sentence.
    pub about: &'static str,
    /// What a finding means for those who use the server.
    pub meaning: &'static str,
    pub(crate) run: for<'b> fn(&'b Bench) -> Running<'b>,
}

impl std::fmt::Debug for Check {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Check").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Check {
    /// A result of this check.
    pub(crate) fn case(&self, case: impl Into<String>, verdict: CaseVerdict) -> CaseResult {
        CaseResult {
            taxonomy: self.taxonomy.map(str::to_owned),
            ..CaseResult::new(self.id, self.family, case, verdict)
        }
    }

    pub(crate) fn about(&self) -> About {
        About { id: self.id, meaning: self.meaning }
    }
}

/// Every check, in the order in which a probe carries them out: the cheap and telling ones first.
pub static PROBES: &[&Check] = &[
    &unknown_tool::CHECK,
    &unknown_method::CHECK,
    &stdout_noise::CHECK,
    &shutdown::CHECK,
    &stream_cut::CHECK,
    &request_churn::CHECK,
    &reject_churn::CHECK,
    &session_churn::CHECK,
    &idle::CHECK,
];
