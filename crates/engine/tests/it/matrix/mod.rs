//! Scenario x mock: every cell is run, and must end as the [`table`] says.
//!
//! To add a mock: its rows in `table.rs`. A mock without a row for each scenario fails a test.

mod table;

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use mcp_loadtest::{ErrorCategory, Report, Run, Scenario, Server, ThinkTime, Thresholds};
use mcp_loadtest_core::{
    report::{Finding, summary},
    scenario::ScenarioName,
    server::{Reached, ServerBuilder},
};
use tokio::{sync::Semaphore, task::JoinSet};

use self::table::{Row, TABLE};
use crate::{
    fixtures::{Listening, NOISE, free_port, listening_mock, mock, mock_script, root, verdict},
    processes::{MARK, marked, unique_mark},
};

/// Cells that run at the same time, for each of the three tests.
const AT_ONCE: usize = 2;
/// How a server is reached by its address.
type Reach = fn(&str) -> ServerBuilder<Reached>;

/// The mocks that are reached by address, how, and where.
const REACHED: &[(&str, Reach, &str, &str)] = &[
    ("mock-http-server", |url| Server::http(url), "http", "/mcp"),
    ("mock-sse-server", |url| Server::sse(url), "http", "/sse"),
    ("mock-ws-server", |url| Server::websocket(url), "ws", "/ws"),
];

#[tokio::test]
async fn every_cold_start_ends_as_the_table_says() {
    run_all(ScenarioName::ColdStart).await;
}

#[tokio::test]
async fn every_sustained_load_ends_as_the_table_says() {
    run_all(ScenarioName::Sustained).await;
}

#[tokio::test]
async fn every_deadlock_probe_ends_as_the_table_says() {
    run_all(ScenarioName::DeadlockProbe).await;
}

#[test]
fn every_mock_has_a_row_for_every_scenario() {
    let files = std::fs::read_dir(root().join("tests/fixtures")).expect("the fixtures").flatten();
    let names =
        files.filter_map(|file| Some(file.file_name().to_str()?.strip_suffix(".py")?.to_owned()));
    let mut missing = Vec::new();
    for name in names.filter(|name| name.starts_with("mock-")) {
        let rows = TABLE.iter().filter(|row| row.mock == name);
        let covered: BTreeSet<_> = rows.flat_map(|row| row.scenarios).collect();
        let without = table::ALL.iter().filter(|scenario| !covered.contains(scenario));
        missing.extend(without.map(|scenario| format!("{scenario} on {name}")));
    }
    assert!(missing.is_empty(), "no row for {missing:?}");
}

async fn run_all(scenario: ScenarioName) {
    let turns = Arc::new(Semaphore::new(AT_ONCE));
    let mut cells = JoinSet::new();
    for row in TABLE.iter().filter(|row| row.scenarios.contains(&scenario)) {
        let turns = turns.clone();
        cells.spawn(async move {
            let _turn = turns.acquire_owned().await.expect("never closed");
            check(row, scenario).await
        });
    }
    let wrong: Vec<String> = cells.join_all().await.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{} cells are wrong:\n\n{}", wrong.len(), wrong.join("\n\n"));
}

/// Runs one cell. Gives what is wrong with it.
async fn check(row: &'static Row, scenario: ScenarioName) -> Option<String> {
    let mark = unique_mark();
    let (server, _listening) = server(row, &mark).await;
    let run = Run::new(server, load(row, scenario)).with_thresholds(thresholds(row));
    let mut wrong = match run.execute().await {
        Ok(report) => {
            let mut wrong = differences(row, &report);
            if !wrong.is_empty() {
                wrong.push(excerpt(&report));
            }
            wrong
        }
        Err(error) => vec![format!("no report: {error}")],
    };
    let left = marked(&mark);
    if !left.is_empty() {
        wrong.push(format!("left alive: {left:?}"));
    }
    (!wrong.is_empty())
        .then(|| format!("{scenario} on {} {:?}\n  {}", row.mock, row.env, wrong.join("\n  ")))
}

async fn server(row: &Row, mark: &str) -> (Server, Option<Listening>) {
    let reached = REACHED.iter().find(|(mock, ..)| *mock == row.mock);
    if let Some((_, reach, scheme, path)) = reached {
        if !row.started {
            let listening = listening_mock(row.mock, row.env).await;
            return (reach(&listening.url).build(), Some(listening));
        }
        let port = free_port();
        let server = reach(&format!("{scheme}://127.0.0.1:{port}{path}"))
            .started_by("python3")
            .arg(mock_script(row.mock))
            .env(MARK, mark)
            .env("MOCK_PORT", port.to_string());
        let server = row.env.iter().fold(server, |server, (name, value)| server.env(*name, *value));
        return (server.build(), None);
    }
    let server = mock(row.mock).env(MARK, mark).shutdown_timeout(row.shutdown_timeout);
    let server = row.env.iter().fold(server, |server, (name, value)| server.env(*name, *value));
    (server.build(), None)
}

fn load(row: &Row, scenario: ScenarioName) -> Scenario {
    match scenario {
        ScenarioName::ColdStart => Scenario::cold_start().iterations(2).tool("echo").build(),
        ScenarioName::Sustained => {
            let load = Scenario::sustained().concurrent(8).duration(row.duration).tool("echo");
            // So that a busy machine does not make the generator the limit.
            let think = ThinkTime::fixed(Duration::from_millis(20));
            load.think_time(think).sessions(row.sessions).build()
        }
        ScenarioName::DeadlockProbe => {
            let probe = Scenario::deadlock_probe().concurrent(8).tool("echo");
            probe.hang_threshold(row.hang).grace_period(row.grace).sessions(row.sessions).build()
        }
        other => unreachable!("the table has no row for {other}"),
    }
}

fn thresholds(row: &Row) -> Thresholds {
    Thresholds {
        hang_timeout: row.hang,
        grace_period: row.grace,
        memory_growth_mb: row.memory_growth_mb,
        ..Default::default()
    }
}

/// Everything in which a report is not what the row says.
fn differences(row: &Row, report: &Report) -> Vec<String> {
    let mut wrong = accounting(report);
    let mut expect = |holds: bool, what: String| {
        if !holds {
            wrong.push(what);
        }
    };
    // Where noise is the subject of a row, its warning counts.
    expect(
        report.verdict == row.verdict || verdict(report) == row.verdict,
        format!("verdict {:?}, not {:?}", report.verdict, row.verdict),
    );
    let exit = summary::exit(report).code();
    expect(
        exit == row.exit && report.passed() == (row.exit == 0),
        format!("exit code {exit}, not {}", row.exit),
    );
    for category in ErrorCategory::ALL {
        let occurs = report.errors.by_category.contains_key(&category);
        let must = row.errors.contains(&category);
        let may = must || row.may_fail.contains(&category);
        expect(!must || occurs, format!("no {category:?}"));
        expect(may || !occurs, format!("{category:?}, which must not occur"));
    }
    for id in row.findings {
        expect(report.finding(id).is_some(), format!("no finding `{id}`"));
    }
    for finding in &report.findings {
        let id = finding.id.as_str();
        expect(
            row.findings.contains(&id)
                || row.may_find.contains(&id)
                || NOISE.contains(&id)
                || is_of_the_warm_up(row, finding),
            format!("finding `{id}`, which must not be there"),
        );
    }
    for (what, holds) in row.checks {
        expect(holds(report), format!("not so: {what}"));
    }
    wrong
}

/// A cold start tells of its warm-up, too, what the starts after it show as their own.
fn is_of_the_warm_up(row: &Row, finding: &Finding) -> bool {
    let is_first = |told: &String| told.starts_with("start 0: ");
    finding.id == "aborted" && row.exit != 0 && finding.evidence.iter().all(is_first)
}

/// What must add up in every report.
pub(crate) fn accounting(report: &Report) -> Vec<String> {
    let (calls, errors) = (&report.throughput, &report.errors);
    let of = |category| errors.by_category.get(&category).copied().unwrap_or(0);
    let ended = calls.successful_requests + errors.total;
    let cancelled = of(ErrorCategory::Cancelled);
    let by_second: u64 = calls.seconds.iter().map(|second| second.ok + second.errors).sum();
    let sums = [
        ("calls", calls.total_requests, ended + report.dropped),
        ("errors by category", errors.by_category.values().sum(), errors.total),
        (
            "calls by tool",
            report.tools.iter().map(|tool| tool.total_requests).sum(),
            calls.total_requests - report.dropped,
        ),
        ("times", report.latency.count, ended - cancelled),
        (
            "times by tool",
            report.tools.iter().map(|tool| tool.latency.count).sum(),
            report.latency.count,
        ),
        ("calls by second", by_second, report.latency.count),
        ("deadlocks", u64::from(report.deadlock_count), of(ErrorCategory::Deadlock)),
        (
            "silent calls",
            report.hung_for.len() as u64,
            of(ErrorCategory::Deadlock) + of(ErrorCategory::Hang),
        ),
    ];
    let open = sums.into_iter().filter(|(_, one, other)| one != other);
    let mut wrong: Vec<_> =
        open.map(|(what, one, other)| format!("{what} do not add up: {one}, {other}")).collect();
    if (u64::from(report.hang_count)) < of(ErrorCategory::Deadlock) + of(ErrorCategory::Hang) {
        wrong.push(format!("only {} hangs", report.hang_count));
    }
    wrong
}

/// What one wants to know of a report that is not as it should be.
fn excerpt(report: &Report) -> String {
    format!(
        "{} calls, {} ok, {:?}, steps {:?}, growth {:?}\n  {:#?}\n  {:#?}",
        report.throughput.total_requests,
        report.throughput.successful_requests,
        report.errors.by_category,
        report.steps.iter().map(|step| (&step.name, step.latency.min)).collect::<Vec<_>>(),
        report.process.growth_mb(),
        report.threshold_violations,
        report.findings,
    )
}
