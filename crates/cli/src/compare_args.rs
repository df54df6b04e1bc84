//! `[compare]` as flags of `run`: how much worse than the baseline it may be.

use clap::Args;
use mcp_loadtest_core::{
    compare::Undecided,
    config::{Allowance, CompareConfig},
};

use crate::{commands::compare::parse_undecided, error::CliError};

/// How much worse than what it is compared with a run may be.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Comparison")]
pub(crate) struct CompareLimitArgs {
    /// How much p50 may grow, or off [default: off].
    #[arg(long, value_name = "PERCENT")]
    compare_p50: Option<Allowance>,
    /// How much p95 may grow, or off [default: off].
    #[arg(long, value_name = "PERCENT")]
    compare_p95: Option<Allowance>,
    /// How much p99 may grow, or off [default: 10%].
    #[arg(long, value_name = "PERCENT")]
    compare_p99: Option<Allowance>,
    /// How many percentage points more of the calls may fail, or off [default: 0.5%].
    #[arg(long, value_name = "PERCENT")]
    compare_error_rate: Option<Allowance>,
    /// How much fewer calls a second may succeed, or off [default: 10%, with --rate off].
    #[arg(long, value_name = "PERCENT")]
    compare_throughput: Option<Allowance>,
    /// More deadlocks than before are no regression.
    #[arg(long)]
    compare_allow_deadlocks: bool,
    /// What a difference means that the data cannot decide: pass or fail [default: pass].
    #[arg(long, value_name = "HOW", value_parser = parse_undecided)]
    compare_undecided: Option<Undecided>,
}

impl CompareLimitArgs {
    pub(crate) fn lay_over(&self, compare: &mut CompareConfig) {
        compare.p50 = self.compare_p50.or(compare.p50);
        compare.p95 = self.compare_p95.or(compare.p95);
        compare.p99 = self.compare_p99.or(compare.p99);
        compare.error_rate = self.compare_error_rate.or(compare.error_rate);
        compare.throughput = self.compare_throughput.or(compare.throughput);
        compare.allow_deadlocks =
            self.compare_allow_deadlocks.then_some(true).or(compare.allow_deadlocks);
        compare.undecided = self.compare_undecided.or(compare.undecided);
    }

    /// Whoever limits a difference wants it to be looked at.
    pub(crate) fn refuse_unused(&self) -> Result<(), CliError> {
        let mut limited = CompareConfig::default();
        self.lay_over(&mut limited);
        if limited == CompareConfig::default() {
            return Ok(());
        }
        Err(CliError::usage(
            "the limits of a comparison need something to compare with",
            "name an earlier run with --baseline, or a second server with -s",
        ))
    }
}
