//! The waist: whoever does something emits events, whoever judges folds over them.
//!
//! Events borrow what they talk about, so that emitting one costs no allocation; the trace reader
//! gives the same events back from a saved file.

use std::{borrow::Cow, time::Duration};

use serde::{Deserialize, Serialize};

use crate::outcome::ErrorCategory;

/// Why a request was sent. Only `Load` calls count in latency, throughput and accounting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Handshake, discovery, listing.
    Setup,
    /// Calls whose times are thrown away.
    Warmup,
    /// What is measured.
    Load,
    /// Requests that find out why another one hangs.
    Control,
}

/// The call that an event is about.
#[derive(Debug, Clone, PartialEq)]
pub struct Call<'a> {
    /// The JSON-RPC id.
    pub request_id: u64,
    /// Which session sent it.
    pub session: u32,
    /// Which thread of the generator sent it: the fold is kept per worker and merged.
    pub worker: u16,
    /// Why it was sent.
    pub phase: Phase,
    /// The method.
    pub method: Cow<'a, str>,
    /// The tool, where the method calls one.
    pub tool: Option<Cow<'a, str>>,
    /// Which step of the scenario it belongs to; 0 in a scenario without steps.
    pub segment: u16,
    /// When the call should have started.
    pub intended: Duration,
    /// When it did start.
    pub started: Duration,
}

/// What a failed call has to say.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure<'a> {
    /// The one category that it belongs to.
    pub category: ErrorCategory,
    /// What the server or the transport said.
    pub message: Cow<'a, str>,
    /// The JSON-RPC code, where there is one.
    pub code: Option<i64>,
}

/// What a silent call turned out to be.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Diagnosis {
    /// Nothing on the session is answered any more, not even a control request.
    Wedged,
    /// The session answers other requests; the process has unfinished work or waits.
    CallStuck,
    /// The session answers, later calls too, and the server is idle: the request or its reply is lost.
    RequestLost,
    /// Nothing is answered and the process burns CPU.
    Spinning,
    /// The process is stopped by a signal.
    Stopped,
    /// A reply came in the end.
    Slow,
    /// The evidence does not decide.
    Unclear,
}

/// The state of the server's process tree at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ProcessSample {
    /// Offset from the start of the run.
    #[serde(with = "as_secs")]
    #[schemars(with = "f64")]
    pub at: Duration,
    /// Resident memory of the whole tree; what processes share is counted for each.
    pub rss_mb: f64,
    /// The same with what is shared divided among its users, where the system tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pss_mb: Option<f64>,
    /// CPU since the sample before, 100 = one core.
    pub cpu_pct: f64,
    /// Threads of the whole tree.
    #[serde(default)]
    pub threads: u32,
    /// Open files of the whole tree, where they can be counted.
    #[serde(default)]
    pub open_files: u32,
}

/// How often a load thread says what it did with its time.
pub const GENERATOR_INTERVAL: Duration = Duration::from_millis(500);

/// What a load thread did with its time since the sample before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GeneratorSample {
    /// Offset from the start of the run.
    pub at: Duration,
    /// Which thread.
    pub worker: u16,
    /// The time that passed.
    pub wall: Duration,
    /// For how long of it the thread was on a CPU.
    pub cpu: Duration,
    /// For how long of it the thread could have run but got no CPU.
    pub starved: Duration,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Event<'a> {
    /// A request was sent.
    Request {
        /// Which one.
        call: Call<'a>,
        /// Its parameters, as sent.
        params: Cow<'a, [u8]>,
    },
    /// A good reply came.
    Response {
        /// To which call.
        call: Call<'a>,
        /// When.
        at: Duration,
        /// The result, as it came.
        result: Cow<'a, [u8]>,
    },
    /// A call failed.
    Error {
        /// Which one.
        call: Call<'a>,
        /// When.
        at: Duration,
        /// How.
        failure: Failure<'a>,
    },
    /// A call passed the hang threshold without a reply.
    Hang {
        /// Which one.
        call: Call<'a>,
        /// When it was noticed.
        at: Duration,
    },
    /// A call got no reply within the grace period either. The `Error` of the same call follows.
    Deadlock {
        /// Which one.
        call: Call<'a>,
        /// When it was given up.
        at: Duration,
        /// What the evidence says.
        diagnosis: Diagnosis,
        /// The evidence, in a sentence.
        evidence: Cow<'a, str>,
    },
    /// Calls were due but not sent, because too many were in flight already.
    Dropped {
        /// When the last of them was due.
        at: Duration,
        /// Which thread did not send them.
        worker: u16,
        /// Which step of the scenario they belong to.
        segment: u16,
        /// How many.
        count: u64,
    },
    /// The state of the server's process tree.
    Process(ProcessSample),
    /// What a load thread of ours did with its time.
    Generator(GeneratorSample),
    /// Anything else worth telling: a phase began, a server restarted, a frame was defective.
    Scenario {
        /// When.
        at: Duration,
        /// A stable snake_case name.
        name: Cow<'a, str>,
        /// What about it.
        detail: Cow<'a, str>,
        /// How long it took, where it is a step with a duration.
        took: Option<Duration>,
    },
}

impl Event<'_> {
    /// A short way to say that something happened.
    pub fn note<'a>(
        at: Duration,
        name: impl Into<Cow<'a, str>>,
        detail: impl Into<Cow<'a, str>>,
    ) -> Event<'a> {
        Event::Scenario { at, name: name.into(), detail: detail.into(), took: None }
    }
}

/// The stable names of [`Event::Scenario`] events that analyses look for.
pub mod note {
    /// A frame from the server was not what the protocol asks for.
    pub const FRAME_DEFECT: &str = "frame_defect";
    /// Arguments or a result do not keep to the schema that the server lists.
    pub const SCHEMA_MISMATCH: &str = "schema_mismatch";
    /// A frame was longer than we take. The server is not to blame for that.
    pub const FRAME_TOO_LARGE: &str = "frame_too_large";
    /// A call that the run makes, with its arguments.
    pub const PLANNED_CALL: &str = "planned_call";
    /// The same, with arguments that we made up.
    pub const MADE_UP_CALL: &str = "made_up_call";
    /// The server process ended on its own.
    pub const SERVER_EXIT: &str = "server_exit";
    /// The server started so many processes that we ended it.
    pub const TOO_MANY_PROCESSES: &str = "too_many_processes";
    /// A reply came after its call had been given up.
    pub const LATE_REPLY: &str = "late_reply";
    /// A reply to no request of ours, or the second reply to one.
    pub const ORPHAN_REPLY: &str = "orphan_reply";
    /// The server withdrew a call of ours, which only we may do.
    pub const CALL_WITHDRAWN: &str = "call_withdrawn";
    /// What was needed to end the server.
    pub const SERVER_STOP: &str = "server_stop";
    /// Something of ours did not work; it was no reason to stop.
    pub const OUR_TROUBLE: &str = "our_trouble";
    /// A file of the run could not be written.
    pub const UNWRITTEN: &str = "unwritten";
    /// A process of the server outlived it and was swept.
    pub const STRAY_PROCESS: &str = "stray_process";
    /// The server speaks another revision than it was asked for.
    pub const REVISION_MISMATCH: &str = "revision_mismatch";
    /// The run was interrupted.
    pub const INTERRUPTED: &str = "interrupted";
    /// The load was held on purpose, for as long as the note says.
    pub const PAUSED: &str = "paused";
    /// The load ended early because a threshold was violated for good.
    pub const ENDED_ON_FAIL: &str = "ended_on_fail";
    /// A step of the scenario began: its number and its load.
    pub const SEGMENT: &str = "segment";
    /// A session that was cut could not be opened again, or its calls could not be repeated.
    pub const RECONNECT_FAILED: &str = "reconnect_failed";
    /// What identical calls were answered: how the replies differ.
    pub const DIVERGENCE: &str = "divergence";
    /// What the fuzzer found.
    pub const FUZZ_REPORT: &str = "fuzz_report";
    /// A case of the fuzzer that broke the server, at the moment when it did.
    pub const FUZZ_FAILURE: &str = "fuzz_failure";
    /// What the search for the capacity found.
    pub const CAPACITY: &str = "capacity";
    /// A scenario cannot go on.
    pub const ABORTED: &str = "aborted";
    /// How much a thread has left out of the trace so far.
    pub const TRACE_SKIPPED: &str = "trace_skipped";
    /// How many notifications a session took, told at its end.
    pub const NOTIFICATIONS: &str = "notifications";
    /// How many requests of the server a session answered, told at its end.
    pub const SERVER_REQUESTS: &str = "server_requests";
}

/// Serde form of an offset: seconds as a number.
pub mod as_secs {
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};
    use std::time::Duration;

    /// Writes seconds.
    pub fn serialize<S: Serializer>(duration: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_f64(duration.as_secs_f64())
    }

    /// Reads seconds.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        Duration::try_from_secs_f64(f64::deserialize(from)?).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_is_a_number_of_seconds() {
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        struct Offset(#[serde(with = "as_secs")] Duration);
        let offset = Offset(Duration::from_millis(1_500));
        assert_eq!(serde_json::to_value(&offset).unwrap(), 1.5);
        assert_eq!(serde_json::from_str::<Offset>("1.5").unwrap(), offset);
        assert!(serde_json::from_str::<Offset>("-1").is_err());
    }
}
