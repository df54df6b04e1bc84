//! `--audit` of a run: the log of who injected faults, laid over the time of the run.

use std::time::Duration;

use clap::Args;
use mcp_loadtest::Report;
use mcp_loadtest_core::report::figures::counted;
use mcp_loadtest_mock::audit::{FaultWatch, Source, StoreSpec, Timestamp, extent, fault_windows};

use crate::{env::Env, error::CliError, hinted};

/// A run that does not say how long it takes.
const LONG_RUN: Duration = Duration::from_secs(3_600);

/// Where faults are written down.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct FaultLogArg {
    /// The log of the mock or the proxy that injected faults, as `audit` takes it: when they were at work is
    /// shaded in the plots over time and told in a table.
    #[arg(long, value_name = "STORE", value_parser = hinted::<StoreSpec>)]
    audit: Option<StoreSpec>,
}

impl FaultLogArg {
    pub(crate) const fn is_given(&self) -> bool {
        self.audit.is_some()
    }

    /// The log for a view of a run that takes about so long.
    pub(crate) fn so_far(&self, expected: Option<Duration>, env: &Env) -> FaultsSoFar {
        FaultsSoFar {
            store: self.audit.as_ref().map(|store| store.clone().in_dir(&env.cwd)),
            expected: expected.unwrap_or(LONG_RUN),
            watch: None,
        }
    }

    /// Tells the report when faults were at work.
    pub(crate) fn lay_over(&self, report: &mut Report, env: &mut Env) -> Result<(), CliError> {
        let Some(store) = &self.audit else { return Ok(()) };
        let mut log = store.clone().in_dir(&env.cwd).read()?;
        let seen = fault_windows(&mut *log, report.started_at, report.duration)?;
        if seen.rows == 0 {
            return Err(another_time(store, &mut *log, report)?);
        }
        if seen.windows.is_empty() {
            let rows = counted(seen.rows, "message");
            env.err(&format!(
                "note: no fault was at work: {store} has {rows} of the time of the run, and none met a fault\n"
            ));
        }
        report.faults = seen.windows;
        Ok(())
    }
}

/// The log of faults while the run goes on, for a view.
pub(crate) struct FaultsSoFar {
    store: Option<StoreSpec>,
    expected: Duration,
    watch: Option<FaultWatch>,
}

impl FaultsSoFar {
    /// Tells a report that is not whole yet. What is wrong with the log is told at the end.
    pub(crate) fn lay_over(&mut self, report: &mut Report) {
        let Some(store) = &self.store else { return };
        if self.watch.is_none() {
            let Ok(log) = store.read() else { return };
            self.watch = Some(FaultWatch::new(log, report.started_at, self.expected));
        }
        if let Some(Ok(windows)) = self.watch.as_mut().map(FaultWatch::look) {
            report.faults = windows;
        }
    }
}

/// Why a log without a row of the run is not the one that was meant.
fn another_time(
    store: &StoreSpec,
    log: &mut dyn Source,
    report: &Report,
) -> Result<CliError, CliError> {
    let Some((first, last)) = extent(log)? else {
        return Ok(CliError::usage(
            format!("the audit log {store} has no row"),
            "start the mock or the proxy with --audit, and give its log when it has ended",
        ));
    };
    let start = Timestamp::from(report.started_at);
    let took = i64::try_from(report.duration.as_micros()).unwrap_or(i64::MAX);
    let end = Timestamp(start.0.saturating_add(took));
    Ok(CliError::usage(
        format!(
            "the audit log {store} has no row of the time of the run: its rows are from {first} to {last}, and \
             the run went from {start} to {end}"
        ),
        "give the log that was written during this run; that of another machine has the time of its clock",
    ))
}
