//! The trajectory of an agent that was only seen on the wire, in real time.
//!
//! That a call is lost is noticed when the agent cancels it; where it does not, when it calls something
//! else, which it did not call together with it, or answers. It gets anywhere with a call that works and
//! began after that, or with its answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::trajectory::{CallFault, StopReason, TracedCall, Trajectory, Usage};

/// Calls that begin so close to each other, with no answer between them, were made together: nobody gives up
/// on an answer so soon.
const TOGETHER_MS: u64 = 100;

/// One call as it was seen on the wire; moments in milliseconds since the agent was started.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WireCall {
    /// The server.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// The arguments.
    pub args: Map<String, Value>,
    /// When it came.
    pub at_ms: u64,
    /// When its reply was sent, if one was.
    pub replied_ms: Option<u64>,
    /// When the agent gave it up, if it did.
    pub cancelled_ms: Option<u64>,
    /// What the reply said, where that is known.
    pub text: Option<String>,
    /// Whether that was an error.
    pub is_error: bool,
    /// Whether a fault was aimed at it.
    pub aimed_at: bool,
    /// The faults that hit it.
    pub fault: Option<String>,
}

/// What only the wire shows of an agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Live {
    /// Calls that repeat one that failed or was lost.
    pub retries: u32,
    /// How long it waited before each of them, in milliseconds.
    pub back_off_ms: Vec<u64>,
    /// Calls that it gave up as it should, so that the server knows.
    pub cancels: u32,
    /// Calls that it left running: neither answered nor given up when it ended.
    pub left_running: u32,
    /// Calls that must not be made twice and were, with the same arguments.
    pub duplicated_effects: u32,
    /// For how long each lost call was seen to hang, in milliseconds.
    pub hang_ms: Vec<u64>,
    /// How it ended: its exit code, or nothing when it was killed.
    pub exit_code: Option<i32>,
}

/// Puts together what was seen. `ended_ms` is when the agent ended, by itself or not;
/// `non_idempotent` are the tools that must not be called twice.
pub fn observe(
    mut calls: Vec<WireCall>,
    answer: String,
    stop: StopReason,
    ended_ms: u64,
    non_idempotent: &[String],
) -> (Trajectory, Live) {
    calls.sort_by_key(|call| call.at_ms);
    let mut live = Live::default();
    let mut traced: Vec<TracedCall> = Vec::new();
    for (at, call) in calls.iter().enumerate() {
        let next = next_look(&calls, at).unwrap_or(ended_ms);
        let given_up = call.cancelled_ms.filter(|moment| *moment < ended_ms);
        let is_lost = call.replied_ms.is_none();
        let noticed = given_up.unwrap_or(ended_ms.min(next)).max(call.at_ms);
        live.cancels += u32::from(given_up.is_some());
        live.left_running += u32::from(is_lost && given_up.is_none());
        if is_lost {
            live.hang_ms.push(noticed - call.at_ms);
        }
        let before = traced
            .iter()
            .rev()
            .find(|before| before.is_error && before.tool == call.tool && before.args == call.args);
        if let Some(before) = before {
            live.retries += 1;
            live.back_off_ms.push(call.at_ms.saturating_sub(before.ended_ms));
        }
        let is_same = |before: &&TracedCall| before.tool == call.tool && before.args == call.args;
        let is_again = non_idempotent.contains(&call.tool) && traced.iter().any(|it| is_same(&it));
        live.duplicated_effects += u32::from(is_again);
        traced.push(TracedCall {
            server: call.server.clone(),
            tool: call.tool.clone(),
            args: call.args.clone(),
            text: call.text.clone().unwrap_or_default(),
            is_error: call.is_error || is_lost,
            is_unread: call.text.is_none(),
            started_ms: call.at_ms,
            ended_ms: call.replied_ms.unwrap_or(noticed),
            aimed_at: call.aimed_at,
            fault: call.fault.clone().map(|name| CallFault { name, is_silent: is_lost }),
        });
    }
    let hit = traced.iter().position(|call| call.fault.is_some());
    let progress_ms = hit.map(|hit| {
        // What was called at the same time is no answer to what went wrong.
        let noticed_ms = traced[hit].ended_ms;
        let mut later = traced[hit + 1..].iter().filter(|call| call.started_ms >= noticed_ms);
        let works = later.find(|call| !call.is_error);
        works.map_or(ended_ms, |call| call.ended_ms.min(ended_ms))
    });
    let trajectory = Trajectory {
        turns: 0,
        usage: Usage::default(),
        final_response: answer,
        stop,
        ended_ms,
        progress_ms,
        calls: traced,
    };
    (trajectory, live)
}

/// When the agent next called something that it had not called together with this one.
fn next_look(calls: &[WireCall], at: usize) -> Option<u64> {
    let call = &calls[at];
    let replies = calls.iter().filter_map(|other| other.replied_ms);
    let came_back = replies.filter(|replied| *replied > call.at_ms).min();
    let together = call.at_ms.saturating_add(TOGETHER_MS);
    let apart = came_back.map_or(together, |replied| replied.min(together));
    calls[at + 1..].iter().map(|next| next.at_ms).find(|next_ms| *next_ms >= apart)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(at_ms: u64, cancelled_ms: Option<u64>) -> WireCall {
        WireCall {
            tool: "search".into(),
            at_ms,
            cancelled_ms,
            aimed_at: true,
            fault: Some("hung".into()),
            ..WireCall::default()
        }
    }

    fn good(at_ms: u64) -> WireCall {
        let replied_ms = Some(at_ms + 5);
        WireCall { tool: "search".into(), at_ms, replied_ms, ..WireCall::default() }
    }

    #[test]
    fn a_careful_agent_gives_up_waits_and_tries_again() {
        let calls = vec![lost(100, Some(400)), lost(500, Some(800)), good(1_000)];
        let (trajectory, live) =
            observe(calls, "INC".into(), StopReason::Completed, 1_100, &["search".into()]);
        assert_eq!((live.retries, live.cancels, live.left_running), (2, 2, 0));
        assert_eq!(live.duplicated_effects, 2);
        assert_eq!((live.back_off_ms, live.hang_ms), (vec![100, 200], vec![300, 300]));
        assert_eq!(trajectory.calls[0].ended_ms, 400);
        assert_eq!(trajectory.progress_ms, Some(1_005));
    }

    #[test]
    fn one_that_waits_for_ever_leaves_its_work_running() {
        let (trajectory, live) = observe(
            vec![lost(100, Some(9_999))],
            String::new(),
            StopReason::TimeBudget,
            5_000,
            &[],
        );
        assert_eq!((live.cancels, live.left_running), (0, 1));
        assert_eq!(live.hang_ms, [4_900]);
        assert_eq!((trajectory.calls[0].ended_ms, trajectory.progress_ms), (5_000, Some(5_000)));
    }

    #[test]
    fn a_call_after_another_shows_that_it_was_noticed() {
        let (trajectory, live) =
            observe(vec![lost(0, None), good(700)], "x".into(), StopReason::Completed, 900, &[]);
        assert_eq!((trajectory.calls[0].ended_ms, live.left_running), (700, 1));
    }

    /// A call beside the lost one shows neither that it was noticed nor that the agent got anywhere.
    #[test]
    fn a_call_at_the_same_time_is_no_recovery() {
        let (trajectory, live) = observe(
            vec![lost(100, Some(3_100)), good(101)],
            "x".into(),
            StopReason::Completed,
            4_000,
            &[],
        );
        assert_eq!((trajectory.calls[0].ended_ms, live.hang_ms), (3_100, vec![3_000]));
        assert_eq!(trajectory.progress_ms, Some(4_000));
        // Nor where it is not cancelled.
        let together = vec![lost(100, None), good(101)];
        let (trajectory, live) = observe(together, "x".into(), StopReason::Completed, 4_000, &[]);
        assert_eq!((live.hang_ms, trajectory.progress_ms), (vec![3_900], Some(4_000)));
        // What is called after an answer was looked for then.
        let after = vec![lost(100, None), good(101), good(120)];
        let (trajectory, live) = observe(after, "x".into(), StopReason::Completed, 4_000, &[]);
        assert_eq!((live.hang_ms, trajectory.progress_ms), (vec![20], Some(125)));
        let slow = WireCall { fault: Some("slow".into()), replied_ms: Some(900), ..good(0) };
        let calls = vec![slow, good(1), good(950)];
        let (trajectory, _) = observe(calls, "x".into(), StopReason::Completed, 2_000, &[]);
        assert_eq!(trajectory.progress_ms, Some(955));
    }

    #[test]
    fn a_call_is_given_up_only_before_the_end() {
        for (cancelled, cancels, left) in [(899, 1, 0), (900, 0, 1), (901, 0, 1)] {
            let calls = vec![lost(100, Some(cancelled))];
            let (_, live) = observe(calls, String::new(), StopReason::Completed, 900, &[]);
            assert_eq!((live.cancels, live.left_running), (cancels, left), "at {cancelled}");
        }
    }

    #[test]
    fn a_retry_repeats_the_tool_and_the_arguments_of_one_that_failed() {
        let other = |call: WireCall| WireCall { tool: "fetch".into(), ..call };
        let asked = |call: WireCall| WireCall {
            args: [("query".to_owned(), Value::from("x"))].into_iter().collect(),
            ..call
        };
        let failed = |at| WireCall { is_error: true, ..good(at) };
        for (name, calls, retries, again) in [
            ("after a lost one", vec![lost(0, None), good(100)], 1, 1),
            ("after an error", vec![failed(0), good(100)], 1, 1),
            ("after a good one", vec![good(0), good(100)], 0, 1),
            ("another tool", vec![lost(0, None), other(good(100))], 0, 0),
            ("other arguments", vec![lost(0, None), asked(good(100))], 0, 0),
            ("alone", vec![lost(0, None)], 0, 0),
        ] {
            let only = ["search".to_owned()];
            let (_, live) =
                observe(calls.clone(), String::new(), StopReason::Completed, 900, &only);
            assert_eq!((live.retries, live.duplicated_effects), (retries, again), "{name}");
            let (_, live) = observe(calls, String::new(), StopReason::Completed, 900, &[]);
            assert_eq!(live.duplicated_effects, 0, "{name}: it may be repeated");
        }
    }

    #[test]
    fn it_gets_anywhere_with_what_works_after_the_fault() {
        let slow = WireCall { fault: Some("slow".into()), ..good(0) };
        let failed = WireCall { is_error: true, ..good(200) };
        let at = |calls| observe(calls, "x".into(), StopReason::Completed, 900, &[]).0;
        let run = at(vec![slow.clone(), failed, good(700)]);
        assert_eq!(run.progress_ms, Some(705), "what was hit and what failed do not count");
        let told: Vec<_> = run.calls.iter().map(|call| (call.is_error, call.is_unread)).collect();
        assert_eq!(told, [(false, true), (true, true), (false, true)]);
        let fault = run.calls[0].fault.as_ref().expect("it was hit");
        assert!(!fault.is_silent, "it came back");
        assert_eq!(at(vec![slow]).progress_ms, Some(900));
        assert_eq!(at(vec![good(0)]).progress_ms, None);
        assert_eq!(at(vec![good(0)]).calls[0].ended_ms, 5);
    }
}
