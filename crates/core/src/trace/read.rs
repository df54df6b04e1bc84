//! Trace lines to events.

use std::{borrow::Cow, time::Duration};

use serde::Deserialize;
use serde_json::value::RawValue;
use thiserror::Error;

use crate::{
    event::{Call, Diagnosis, Event, Failure, GeneratorSample, Phase, ProcessSample},
    outcome::ErrorCategory,
};

/// Why a line is not a trace event.
#[derive(Debug, Error)]
pub enum TraceError {
    /// Not JSON, or a member has the wrong type.
    #[error("not a trace line: {0}")]
    Json(#[from] serde_json::Error),
    /// A member that this kind needs is missing.
    #[error("a line of kind `{kind}` needs `{member}`")]
    Missing {
        /// The kind of the line.
        kind: String,
        /// What is missing.
        member: &'static str,
    },
    /// A kind that this version does not know.
    #[error("unknown kind `{0}`")]
    Kind(String),
}

#[derive(Deserialize)]
struct Line<'a> {
    ts: f64,
    #[serde(borrow)]
    kind: Cow<'a, str>,
    request_id: Option<u64>,
    #[serde(default)]
    session: u32,
    #[serde(default)]
    worker: u16,
    #[serde(default)]
    segment: u16,
    phase: Option<Phase>,
    method: Option<String>,
    tool: Option<String>,
    intended_ts: Option<f64>,
    duration_ms: Option<f64>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<LineError>,
    diagnosis: Option<Diagnosis>,
    evidence: Option<String>,
    rss_mb: Option<f64>,
    pss_mb: Option<f64>,
    cpu_pct: Option<f64>,
    #[serde(default)]
    threads: u32,
    #[serde(default)]
    open_files: u32,
    count: Option<u64>,
    wall_ns: Option<u64>,
    cpu_ns: Option<u64>,
    starved_ns: Option<u64>,
    name: Option<String>,
    detail: Option<String>,
}

#[derive(Deserialize)]
struct LineError {
    category: ErrorCategory,
    message: String,
    code: Option<i64>,
}

/// Nanoseconds are whole: rounding takes the float's error away.
fn seconds(value: f64) -> Duration {
    Duration::from_nanos((value.max(0.0) * 1e9).round() as u64)
}

fn millis(value: f64) -> Duration {
    Duration::from_nanos((value.max(0.0) * 1e6).round() as u64)
}

/// Reads one line.
pub fn read_line(line: &str) -> Result<Event<'static>, TraceError> {
    let line: Line<'_> = serde_json::from_str(line)?;
    let at = seconds(line.ts);
    let raw = |value: Option<&RawValue>| {
        Cow::Owned(value.map_or_else(Vec::new, |raw| raw.get().as_bytes().to_vec()))
    };
    Ok(match line.kind.as_ref() {
        "request" => Event::Request { call: line.call(at)?, params: raw(line.params) },
        "response" => Event::Response { call: line.ended_call(at)?, at, result: raw(line.result) },
        "error" => Event::Error { call: line.ended_call(at)?, at, failure: line.failure()? },
        "hang" => Event::Hang { call: line.ended_call(at)?, at },
        "deadlock" => Event::Deadlock {
            call: line.ended_call(at)?,
            at,
            diagnosis: line.diagnosis.unwrap_or(Diagnosis::Unclear),
            evidence: line.evidence.unwrap_or_default().into(),
        },
        "dropped" => Event::Dropped {
            at,
            worker: line.worker,
            segment: line.segment,
            count: line.need(line.count, "count")?,
        },
        "generator_sample" => Event::Generator(GeneratorSample {
            at,
            worker: line.worker,
            wall: Duration::from_nanos(line.need(line.wall_ns, "wall_ns")?),
            cpu: Duration::from_nanos(line.need(line.cpu_ns, "cpu_ns")?),
            starved: Duration::from_nanos(line.need(line.starved_ns, "starved_ns")?),
        }),
        "process_sample" => Event::Process(ProcessSample {
            at,
            rss_mb: line.need(line.rss_mb, "rss_mb")?,
            pss_mb: line.pss_mb,
            cpu_pct: line.need(line.cpu_pct, "cpu_pct")?,
            threads: line.threads,
            open_files: line.open_files,
        }),
        "scenario_event" => Event::Scenario {
            at,
            name: line.need(line.name.clone(), "name")?.into(),
            detail: line.detail.unwrap_or_default().into(),
            took: line.duration_ms.map(millis),
        },
        kind => return Err(TraceError::Kind(kind.to_owned())),
    })
}

impl Line<'_> {
    fn need<T>(&self, member: Option<T>, name: &'static str) -> Result<T, TraceError> {
        member.ok_or_else(|| TraceError::Missing {
            kind: self.kind.clone().into_owned(),
            member: name,
        })
    }

    fn call(&self, started: Duration) -> Result<Call<'static>, TraceError> {
        Ok(Call {
            request_id: self.need(self.request_id, "request_id")?,
            session: self.session,
            worker: self.worker,
            phase: self.phase.unwrap_or(Phase::Load),
            method: self.need(self.method.clone(), "method")?.into(),
            tool: self.tool.clone().map(Into::into),
            segment: self.segment,
            intended: self.intended_ts.map_or(started, seconds),
            started,
        })
    }

    fn ended_call(&self, at: Duration) -> Result<Call<'static>, TraceError> {
        let took = millis(self.need(self.duration_ms, "duration_ms")?);
        self.call(at.saturating_sub(took))
    }

    fn failure(&self) -> Result<Failure<'static>, TraceError> {
        let error = self.need(self.error.as_ref(), "error")?;
        Ok(Failure {
            category: error.category,
            message: error.message.clone().into(),
            code: error.code,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::append;
    use proptest::prelude::*;

    fn call(id: u64, nanos: u64) -> Call<'static> {
        Call {
            request_id: id,
            session: 1,
            worker: 2,
            phase: Phase::Load,
            method: "tools/call".into(),
            tool: Some("a \"b\"\n".into()),
            segment: (id % 3) as u16,
            intended: Duration::from_nanos(nanos / 2),
            started: Duration::from_nanos(nanos),
        }
    }

    proptest! {
        #[test]
        fn every_event_reads_back(id in 0_u64..1 << 53, nanos in 0_u64..1 << 50, took in 0_u64..1 << 40, text in "\\PC{0,30}") {
            let at = Duration::from_nanos(nanos + took);
            let events = [
                Event::Request { call: call(id, nanos), params: b"{\"a\":1}".as_slice().into() },
                Event::Response { call: call(id, nanos), at, result: b"{}".as_slice().into() },
                Event::Error {
                    call: call(id, nanos),
                    at,
                    failure: Failure { category: ErrorCategory::Crash, message: text.clone().into(), code: Some(-3) },
                },
                Event::Hang { call: call(id, nanos), at },
                Event::Deadlock { call: call(id, nanos), at, diagnosis: Diagnosis::Wedged, evidence: text.clone().into() },
                Event::Dropped { at, worker: 3, segment: (id % 2) as u16, count: id },
                Event::Generator(GeneratorSample {
                    at,
                    worker: 1,
                    wall: Duration::from_nanos(took),
                    cpu: Duration::from_nanos(took / 2),
                    starved: Duration::from_nanos(took / 3),
                }),
                Event::Process(ProcessSample { at, rss_mb: 1.5, pss_mb: Some(1.25), cpu_pct: 2.25, threads: 3, open_files: 4 }),
                Event::Scenario { at, name: "step".into(), detail: text.into(), took: Some(Duration::from_nanos(took)) },
            ];
            for event in events {
                let mut line = Vec::new();
                append(&event, &mut line);
                let line = String::from_utf8(line).unwrap();
                prop_assert_eq!(line.matches('\n').count(), 1);
                prop_assert_eq!(read_line(&line).unwrap(), event);
            }
        }
    }

    #[test]
    fn lines_of_older_versions_are_read() {
        let line = r#"{"ts":1.0,"kind":"process_sample","rss_mb":1.5,"cpu_pct":2.0}"#;
        let Event::Process(sample) = read_line(line).unwrap() else { panic!() };
        assert_eq!((sample.rss_mb, sample.pss_mb, sample.threads), (1.5, None, 0));
    }

    #[test]
    fn long_results_are_cut_but_the_line_stays_json() {
        let result = format!("{{\"text\":\"{}\"}}", "é".repeat(2_000));
        let mut line = Vec::new();
        append(
            &Event::Response {
                call: call(1, 1),
                at: Duration::from_secs(1),
                result: result.as_bytes().into(),
            },
            &mut line,
        );
        let value: serde_json::Value = serde_json::from_slice(&line).unwrap();
        assert_eq!(value["result_bytes"], result.len());
        assert!(value["result"].as_str().unwrap().len() <= 1_030);
    }

    #[test]
    fn line_ends_inside_pretty_json_do_not_break_the_line() {
        let mut line = Vec::new();
        append(
            &Event::Request { call: call(1, 1), params: b"{\n  \"a\": 1\r\n}".as_slice().into() },
            &mut line,
        );
        assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
        assert!(serde_json::from_slice::<serde_json::Value>(&line).is_ok());
    }

    #[test]
    fn a_line_is_written_to_the_letter_and_keeps_to_the_schema() {
        let validator = jsonschema::validator_for(&crate::trace::schema::schema()).unwrap();
        let phases = [Phase::Setup, Phase::Warmup, Phase::Load, Phase::Control];
        for (phase, word) in phases.into_iter().zip(["setup", "warmup", "load", "control"]) {
            for (segment, step) in [(0, ""), (2, ",\"segment\":2")] {
                let call = Call { phase, segment, tool: None, ..call(7, 2_000_000_003) };
                let at = Duration::from_nanos(3_004_000_008);
                let mut line = Vec::new();
                append(&Event::Response { call, at, result: Vec::new().into() }, &mut line);
                let line = String::from_utf8(line).unwrap();
                let expected = format!(
                    "{{\"ts\":3.004000008,\"kind\":\"response\",\"request_id\":7,\"session\":1,\
                     \"worker\":2{step},\"phase\":\"{word}\",\"method\":\"tools/call\",\
                     \"intended_ts\":1.000000001,\"duration_ms\":1004.000005,\"result\":null}}\n"
                );
                assert_eq!(line, expected);
                assert!(validator.is_valid(&serde_json::from_str(&line).unwrap()), "{line}");
            }
        }
        for broken in [r#"{"ts":1}"#, r#"{"ts":1,"kind":"hang"}"#, r#"{"ts":1,"kind":"shrug"}"#] {
            assert!(!validator.is_valid(&serde_json::from_str(broken).unwrap()), "{broken}");
        }
    }

    #[test]
    fn what_a_line_lacks_is_named() {
        for (line, told) in [
            (r#"{"ts":1,"kind":"hang"}"#, "a line of kind `hang` needs `duration_ms`"),
            (r#"{"ts":1,"kind":"request"}"#, "a line of kind `request` needs `request_id`"),
            (
                r#"{"ts":1,"kind":"error","request_id":1,"method":"x","duration_ms":1}"#,
                "a line of kind `error` needs `error`",
            ),
            (r#"{"ts":1,"kind":"dropped"}"#, "a line of kind `dropped` needs `count`"),
            (r#"{"ts":1,"kind":"shrug"}"#, "unknown kind `shrug`"),
        ] {
            assert_eq!(read_line(line).unwrap_err().to_string(), told);
        }
    }
}
