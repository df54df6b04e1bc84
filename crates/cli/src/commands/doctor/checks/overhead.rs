//! What we add to each call ourselves: our own client against a server of ours that does next to nothing.
//! Whatever a call takes there is us, that server and this machine; no server's times can be told below it.

use std::{
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use mcp_loadtest::{Report, Run, RunError, Scenario, Server, Stop};
use mcp_loadtest_core::{
    doctor::{Health, Seen},
    units::format_latency,
};
use mcp_loadtest_mock::Mock;
use serde_json::json;

use super::super::{Check, Found, scene::Scene};
use crate::{commands::block_on, error::CliError, interrupt};

/// Some thousand calls on a usual machine, some hundred on a poor one.
const LENGTH: Duration = Duration::from_millis(400);
/// From here on, what we add is as long as a call to a fast server.
const TRUSTED: Duration = Duration::from_millis(2);
/// Fewer calls say nothing of the slowest in a hundred.
const FEWEST: u64 = 100;

pub(super) const ENTRY: Check = Check {
    id: "overhead",
    about: "what we add to each call: our client against a server of ours that does nothing",
    run,
};

fn run(_scene: &Scene<'_>) -> Result<Vec<Found>, CliError> {
    let stop = Stop::new();
    let measured = block_on(async {
        tokio::select! {
            measured = measure(stop.clone()) => measured,
            () = interrupt::listen(stop.clone()) => Err(RunError::Interrupted),
        }
    })?;
    match measured {
        Err(RunError::Interrupted) => Err(CliError::Interrupted),
        Ok(report) if report.interrupted => Err(CliError::Interrupted),
        Ok(report) => Ok(vec![told(&Overhead::of(&report)).into()]),
        Err(error) => {
            let what = format!("what we add to a call could not be measured: {error}");
            Ok(vec![Seen::new(Health::CouldNotTell, what).fix(SEE_LOOPBACK).into()])
        }
    }
}

const SEE_LOOPBACK: &str = "see what the check `loopback` says";

async fn measure(stop: Stop) -> Result<Report, RunError> {
    let any_port = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let bound = Mock::new().bind(any_port).await;
    let server = bound.map_err(|error| RunError::Unfit(error.to_string()))?.spawn();
    let scenario = Scenario::sustained()
        .concurrent(1)
        .duration(LENGTH)
        .tool("echo")
        .args(json!({ "message": "x" }));
    Run::new(Server::http(server.url()), scenario).with_stop(stop).execute().await
}

/// The figures of one measurement.
struct Overhead {
    calls: u64,
    p50: Duration,
    p99: Duration,
    cpu_us: Option<f64>,
}

impl Overhead {
    fn of(report: &Report) -> Self {
        Self {
            calls: report.service.count,
            p50: report.service.p50,
            p99: report.service.p99,
            cpu_us: report.validity.cpu_us_per_call,
        }
    }
}

fn told(overhead: &Overhead) -> Seen {
    let Overhead { calls, p50, p99, cpu_us } = overhead;
    let cpu = cpu_us.map_or_else(String::new, |cpu| format!(", {cpu:.1}µs of CPU"));
    let what = format!(
        "a call to a server that does nothing takes p50 {}, p99 {}{cpu} ({calls} calls)",
        format_latency(*p50),
        format_latency(*p99),
    );
    let seen = match (*calls, *p99) {
        (..FEWEST, _) => Seen::new(Health::CouldNotTell, what)
            .fix("end what else runs on this machine, and ask again"),
        (_, p99) if p99 <= TRUSTED => Seen::new(Health::Ok, what),
        _ => Seen::new(Health::Warning, what).fix(
            "do not trust times near these: end what else runs on this machine, or use a quieter one",
        ),
    };
    let micros = |time: &Duration| time.as_secs_f64() * 1e6;
    let seen = seen.figure("calls", *calls as f64);
    let seen = seen.figure("p50_us", micros(p50)).figure("p99_us", micros(p99));
    match cpu_us {
        Some(cpu) => seen.figure("cpu_us_per_call", *cpu),
        None => seen,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overhead(calls: u64, p99: Duration) -> Overhead {
        Overhead { calls, p50: Duration::from_micros(40), p99, cpu_us: Some(12.34) }
    }

    #[test]
    fn a_slow_machine_is_told_and_a_usual_one_is_well() {
        let usual = told(&overhead(5_000, Duration::from_micros(90)));
        assert_eq!(usual.health, Health::Ok);
        assert_eq!(
            usual.what,
            "a call to a server that does nothing takes p50 40.0µs, p99 90.0µs, 12.3µs of CPU (5000 calls)"
        );
        assert_eq!((usual.figures["p50_us"], usual.figures["p99_us"]), (40.0, 90.0));
        assert_eq!(usual.figures["cpu_us_per_call"], 12.34);
        let slow = told(&overhead(5_000, Duration::from_millis(9)));
        assert_eq!((slow.health, slow.fix.is_some()), (Health::Warning, true));
        assert_eq!(told(&overhead(3, Duration::from_micros(90))).health, Health::CouldNotTell);
    }
}
