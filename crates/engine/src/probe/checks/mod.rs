//! The checks of a probe, one file each.
//!
//! To add one: write `x.rs` with a `pub(super) static CHECK: Check` and an async function that works
//! on the [`Bench`] and tells a [`CaseResult`] for everything it tries; add its line to [`PROBES`].
//! Give it a home-made server that it must catch in `tests/fixtures/`, and a line in the table of its
//! family in `cli/tests/it/probe/`; a test asks for it. A check never ends early because of one bad case: the server is started
//! anew by [`Bench::session`] and the next case goes on.

mod bad_cursor;
mod bad_id;
mod bad_method;
mod batch;
mod broken_json;
mod cancel_in_flight;
mod cancel_unknown;
mod client_leaves;
mod cold_storm;
mod control_call;
mod deadlock;
mod deep_nesting;
mod discover_kills;
mod endless_cursor;
mod endless_line;
mod enum_miss;
mod envelope;
mod extra_field;
mod handshake;
mod head_of_line;
mod http_headers;
mod http_session;
mod idle;
mod in_flight_burst;
mod invalid_byte;
mod large_replies;
mod lazy_init_cliff;
mod leak_scan;
mod list_determinism;
mod missing_required;
mod origin;
mod out_of_bounds;
mod output_schema;
pub(super) mod oversized;
mod prompt_get;
mod race;
mod rapid_cancel;
mod reject_churn;
mod replies_lost_at_end;
mod reply_after_cancel;
mod request_churn;
mod request_meta;
mod resource_read;
mod result_shape;
mod reused_id;
mod session_churn;
mod session_crossing;
mod shutdown;
mod stdout_noise;
mod stream_cut;
mod stream_head_of_line;
mod template_redos;
mod unanswered;
mod unknown_method;
mod unknown_tool;
mod write_read_back;
mod wrong_type;

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
    &control_call::CHECK,
    &missing_required::CHECK,
    &wrong_type::CHECK,
    &enum_miss::CHECK,
    &out_of_bounds::CHECK,
    &extra_field::CHECK,
    &oversized::CHECK,
    &unanswered::CHECK,
    &cancel_unknown::CHECK,
    &lazy_init_cliff::CHECK,
    &reused_id::CHECK,
    &rapid_cancel::CHECK,
    &cancel_in_flight::CHECK,
    &reply_after_cancel::CHECK,
    &head_of_line::CHECK,
    &race::CHECK,
    &large_replies::CHECK,
    &in_flight_burst::CHECK,
    &stream_head_of_line::CHECK,
    &deadlock::CHECK,
    &cold_storm::CHECK,
    &session_crossing::CHECK,
    &client_leaves::CHECK,
    &write_read_back::CHECK,
    &result_shape::CHECK,
    &output_schema::CHECK,
    &endless_cursor::CHECK,
    &bad_cursor::CHECK,
    &list_determinism::CHECK,
    &resource_read::CHECK,
    &prompt_get::CHECK,
    &template_redos::CHECK,
    &origin::CHECK,
    &request_meta::CHECK,
    &http_headers::CHECK,
    &http_session::CHECK,
    &handshake::CHECK,
    &discover_kills::CHECK,
    &invalid_byte::CHECK,
    &bad_method::CHECK,
    &bad_id::CHECK,
    &envelope::CHECK,
    &broken_json::CHECK,
    &batch::CHECK,
    &deep_nesting::CHECK,
    &endless_line::CHECK,
    &leak_scan::CHECK,
    &stdout_noise::CHECK,
    &shutdown::CHECK,
    &replies_lost_at_end::CHECK,
    &stream_cut::CHECK,
    &request_churn::CHECK,
    &reject_churn::CHECK,
    &session_churn::CHECK,
    &idle::CHECK,
];
