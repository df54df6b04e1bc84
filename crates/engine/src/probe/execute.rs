//! Carrying a probe out: the tools first, then the checks, for as long as there is time.

use std::{collections::BTreeMap, rc::Rc, time::Duration};

use mcp_loadtest_core::{
    analysis,
    check::{self, CaseVerdict, Depth, Family},
    report::{Finding, RunInfo, Severity},
    scenario::Scenario,
    seed::Seed,
    server::shell_word,
    thresholds::Thresholds,
    units::{Size, format_duration},
};
use mcp_loadtest_wire::session::{Options, Session};
use tokio::{sync::oneshot, time::Instant};

use super::{
    Check, PROBES, Probe, ProbeReport, TIME_IS_OVER, ToolProbe, ToolVerdict, USUAL_CASES,
    USUAL_OVERSIZED,
    bench::{Bench, Settings},
    checks::Running,
};
use crate::{
    conductor::{choose_revision, on_local_runtime},
    error::RunError,
    recorder::Recorder,
    stop::Stop,
    target::{Logs, TeeStderr, secrets_of, target, unrecorded},
    wall_clock::Identity,
};

/// How long a probe may take to end once it was told to.
const AFTER_STOP: Duration = Duration::from_secs(2);

/// What a check needs beside the time of two calls that hang: one may be the machine.
const MARGIN: Duration = Duration::from_secs(6);

/// Why a check was not carried out to its end.
const STOPPED: &str = "the probe was stopped";

impl Probe {
    /// Carries the probe out, in a thread of its own.
    pub async fn execute(self) -> Result<ProbeReport, RunError> {
        let (tell, told) = oneshot::channel();
        std::thread::Builder::new()
            .name("probe".into())
            .spawn(move || {
                let stop = self.stop.clone();
                let result = on_local_runtime(async {
                    tokio::select! {
                        result = self.execute_here() => result,
                        () = given_up(&stop) => Err(RunError::Interrupted),
                    }
                });
                let result = result.and_then(|result| result);
                let _ = tell.send(result);
            })
            .map_err(RunError::thread)?;
        told.await.map_err(|_| RunError::Internal("the probe's thread panicked".into()))?
    }

    async fn execute_here(self) -> Result<ProbeReport, RunError> {
        let began = Instant::now();
        let tee = if self.tee_stderr { TeeStderr::On } else { TeeStderr::Off };
        let target = target(&self.server, tee, Logs::default())?;
        let secrets = secrets_of(&self.server);
        let recorder = Rc::new(Recorder::writing(None, 0, Default::default(), secrets));
        let options = Options {
            sink: recorder.clone(),
            shortest_deadline: self.settings.hang_timeout,
            ..unrecorded(&self.server, self.strict_protocol)
        };
        let held = target.hold(&options).await?;
        let revision = choose_revision(&self.server, &target, &options).await?;
        let (session, hello) = Session::open(&target, &options, revision).await?;
        drop(held);
        let known = self.call_tools(session, &hello, &target, &options).await?;
        let tools: Vec<_> = known.iter().map(|known| known.control.clone()).collect();
        let mut findings = self.findings_of_calls(&recorder, &tools);
        let bench = Bench::new(
            self.server.clone(),
            target,
            &options,
            hello.clone(),
            self.settings.clone(),
            known,
        );
        let check_ms = self.carry_out(&bench, began).await;
        let interrupted = self.stop.is_stopped();
        bench.drop_shared().await;
        let checks = bench.results();
        let about = PROBES.iter().map(|check| check.about());
        findings.extend(check::findings(&checks, about, |id, tool| self.reproduce(id, tool)));
        told_once(&mut findings);
        findings.sort_by_key(|finding| finding.severity);
        let negative = checks.iter().filter(|result| result.family == Family::NegativePath);
        let report = ProbeReport {
            schema: "mcp-loadtest/probe/v1".into(),
            target: self.server.to_string(),
            server_name: hello.name,
            server_version: hello.version,
            era: hello.era,
            revision: hello.revision,
            depth: self.settings.depth,
            seed: self.settings.seed.0,
            handshake_ms: milliseconds(hello.took),
            took_ms: milliseconds(began.elapsed()),
            check_ms,
            passed: findings.iter().all(|finding| finding.severity < Severity::Critical),
            interrupted,
            negative_path: check::gate(negative),
            tools,
            checks,
            findings,
        };
        secrets_of(&self.server).document(report).map_err(RunError::unmasked)
    }

    /// Carries out the checks that were chosen, for as long as there is time.
    async fn carry_out(&self, bench: &Bench, began: Instant) -> BTreeMap<String, f64> {
        let mut times = BTreeMap::new();
        let limit = self.time_limit.unwrap_or(match self.settings.depth {
            Depth::Quick => Duration::from_secs(20),
            Depth::Usual => Duration::from_secs(60),
            Depth::Deep => Duration::from_secs(900),
        });
        let mut until = began + limit;
        // One that was asked for by name may take it all; the others as long as it takes to be sure of a
        // call that hangs.
        let patience = self.settings.hang_timeout + self.settings.grace_period;
        let share =
            if self.only.is_some() { limit } else { (limit / 4).max(patience * 2 + MARGIN) };
        for check in PROBES.iter().filter(|check| self.is_chosen(check)) {
            if self.stop.is_stopped() {
                bench.skip(check, STOPPED);
                continue;
            }
            if let Some(watcher) = &self.watcher {
                watcher(check.id);
            }
            if Instant::now() >= until {
                bench.skip(check, format!("the {} s {TIME_IS_OVER}", limit.as_secs()));
                continue;
            }
            let begun = Instant::now();
            let told = bench.told();
            let running: Running<'_> = (check.run)(bench);
            tokio::select! {
                () = running => bench.look_after(check, told).await,
                () = self.stop.stopped() => {
                    bench.tell(check.case("the rest", CaseVerdict::CouldNotTell).detail(STOPPED));
                    continue;
                }
                // What has begun may run over, but not at the cost of all others.
                () = tokio::time::sleep(share) => {
                    let why = format!("it takes more than {} s: name it with --only", share.as_secs());
                    bench.tell(check.case("the rest", CaseVerdict::CouldNotTell).detail(why));
                    bench.look_after(check, told).await;
                    // A server that answers nothing to some must not keep the others from being tried.
                    until = (until + share).min(began + limit * 2);
                    // Whatever it was in the middle of.
                    bench.drop_shared().await;
                }
            }
            times.insert(check.id.to_owned(), milliseconds(begun.elapsed()));
        }
        times
    }

    fn is_chosen(&self, check: &Check) -> bool {
        match &self.only {
            Some(only) => only.contains(check.id),
            None => check.depth <= self.settings.depth,
        }
    }

    /// The command that carries a check out again.
    fn reproduce(&self, check: &str, tool: Option<&str>) -> String {
        let mut flags = format!("--only {check}");
        flags.push_str(&self.only_tool(tool));
        if self.settings.depth == Depth::Deep {
            flags.push_str(" --deep");
        }
        self.command(&flags)
    }

    /// The command that calls the tools again. Every probe does; the checks after it are the same, or few.
    fn call_again(&self) -> String {
        let mut flags = match &self.only {
            Some(only) => format!("--only {}", Vec::from_iter(only.iter().cloned()).join(",")),
            None => "--quick".to_owned(),
        };
        flags.push_str(&self.only_tool(None));
        self.command(&flags)
    }

    /// The flags that name a tool, or the one that was chosen, with the arguments that it is known to take.
    fn only_tool(&self, tool: Option<&str>) -> String {
        let Settings { tool: chosen, arguments, .. } = &self.settings;
        let Some(tool) = tool.or(chosen.as_deref()) else { return String::new() };
        let mut flags = format!(" --tool {}", shell_word(tool));
        if let Some(arguments) = arguments.as_ref().filter(|_| chosen.as_deref() == Some(tool)) {
            flags.push_str(&format!(" --args {}", shell_word(&arguments.to_string())));
        }
        flags
    }

    /// A probe of this server with these flags, and with the others that decide what is sent and how long
    /// is waited for an answer.
    fn command(&self, flags: &str) -> String {
        let server = self.named.clone().unwrap_or_else(|| self.server.as_flags());
        let mut command = format!("mcp-loadtest probe {server} {flags}");
        let usual = Thresholds::default();
        for (flag, time, usual) in [
            ("--hang-threshold", self.settings.hang_timeout, usual.hang_timeout),
            ("--grace-period", self.settings.grace_period, usual.grace_period),
        ] {
            if time != usual {
                command.push_str(&format!(" {flag} {}", format_duration(time)));
            }
        }
        if self.settings.cases_per_tool != USUAL_CASES {
            command.push_str(&format!(" --cases {}", self.settings.cases_per_tool));
        }
        if self.settings.oversized != USUAL_OVERSIZED {
            command.push_str(&format!(" --oversized {}", Size(self.settings.oversized as u64)));
        }
        if self.settings.strict {
            command.push_str(" --strict");
        }
        if self.settings.allow_destructive {
            command.push_str(" --allow-destructive");
        }
        if let Some((writer, reader)) = &self.settings.pair {
            command.push_str(&format!(" --pair {}", shell_word(&format!("{writer}={reader}"))));
        }
        if self.settings.seed != Seed::default() {
            command.push_str(&format!(" --seed {}", self.settings.seed.0));
        }
        command
    }

    /// The findings of a run, without those that made-up arguments or a slow tool alone can cause.
    fn findings_of_calls(&self, recorder: &Recorder, tools: &[ToolProbe]) -> Vec<Finding> {
        let identity = Identity::new();
        let info = RunInfo {
            run_id: identity.run_id,
            started_at: identity.started_at,
            duration: Duration::ZERO,
            scenario: Scenario::sustained().into(),
            thresholds: Thresholds::default(),
            server_info: Default::default(),
            trace: Default::default(),
            trace_path: Default::default(),
            trace_bytes: 0,
            run_dir: None,
        };
        let called = tools.iter().any(|tool| tool.verdict != ToolVerdict::Skipped);
        let mut findings = analysis::judge(&recorder.finish(), &info);
        findings.retain(|finding| match finding.id.as_str() {
            "errors" | "no_success" | "slow_calls" => false,
            "nothing_measured" => called,
            _ => true,
        });
        for found in findings.iter_mut().filter(|found| found.severity > Severity::Info) {
            found.reproduce = Some(self.call_again());
        }
        findings
    }
}

/// What a check says better than the session that called the tools: both would tell the same story.
const TOLD_BY_CHECKS: &[(&str, &[&str])] = &[
    ("shutdown", &["shutdown_needs_signal", "stray_process"]),
    ("stdout_noise", &["frame_defect"]),
];

/// Leaves out what a check has told as well.
fn told_once(findings: &mut Vec<Finding>) {
    for (check, others) in TOLD_BY_CHECKS {
        if findings.iter().any(|finding| finding.id == *check) {
            findings.retain(|finding| !others.contains(&finding.id.as_str()));
        }
    }
}

fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

/// A probe that was told to stop tells what it has, unless it hangs in a start.
async fn given_up(stop: &Stop) {
    stop.stopped().await;
    tokio::time::sleep(AFTER_STOP).await;
}
