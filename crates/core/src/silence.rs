//! What a silent call is: the evidence that can be had, and what it says.
//!
//! Silence has several meanings. A control request on the same session, the state and CPU of the
//! process, and the progress of other calls tell them apart; the rules stand here so that they can
//! be tested without a process.

use std::time::Duration;

use crate::{event::Diagnosis, units::format_latency};

/// What became of a control request that was sent when the call was overdue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ControlReply {
    /// Answered, with a result or an error: the session is alive.
    Answered(Duration),
    /// Not answered for this long.
    Silent(Duration),
    /// None could be sent.
    NotSent,
}

/// The process tree while the call was overdue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessEvidence {
    /// Stopped by a signal.
    pub stopped: bool,
    /// At every look one of its threads ran, or would have if it had been given a core.
    pub runnable: bool,
    /// CPU that the tree used while it was watched.
    pub cpu: Duration,
    /// How long it was watched.
    pub watched: Duration,
    /// The state in words, such as `sleeping, 3 threads`.
    pub state: String,
}

/// Everything that is known when a call is given up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// The method of the silent call.
    pub method: String,
    /// What became of the control request, and its method.
    pub control: ControlReply,
    /// The method of the control request.
    pub control_method: &'static str,
    /// The process, where it is ours.
    pub process: Option<ProcessEvidence>,
    /// Other calls of the session that were answered while this one was overdue.
    pub others_answered: u64,
    /// Whether one of them was sent after this one and for the same tool.
    pub same_tool_answered: bool,
    /// How many calls still wait.
    pub in_flight: usize,
}

impl Evidence {
    /// What the evidence says.
    pub fn diagnosis(&self) -> Diagnosis {
        if self.process.as_ref().is_some_and(|process| process.stopped) {
            return Diagnosis::Stopped;
        }
        let alive = matches!(self.control, ControlReply::Answered(_)) || self.others_answered > 0;
        match (alive, self.control) {
            (true, _) if self.same_tool_answered => Diagnosis::RequestLost,
            (true, _) => Diagnosis::CallStuck,
            (false, ControlReply::NotSent) => Diagnosis::Unclear,
            (false, _) if self.spins() => Diagnosis::Spinning,
            (false, _) => Diagnosis::Wedged,
        }
    }

    /// More than half a core all the while. Of a busy machine it gets less, but it still wants more:
    /// who waits for a lock or for input does neither.
    fn spins(&self) -> bool {
        self.process.as_ref().is_some_and(|process| {
            let share = if process.runnable { 100 } else { 2 };
            !process.watched.is_zero() && process.cpu * share > process.watched
        })
    }

    /// The evidence as one sentence.
    pub fn sentence(&self) -> String {
        let mut parts = vec![match self.control {
            ControlReply::Answered(after) => {
                format!("`{}` was answered after {}", self.control_method, format_latency(after))
            }
            ControlReply::Silent(waited) => {
                format!(
                    "`{}` was not answered for {} either",
                    self.control_method,
                    format_latency(waited)
                )
            }
            ControlReply::NotSent => format!("`{}` could not be sent", self.control_method),
        }];
        if let Some(process) = &self.process {
            let cpu = process.cpu.as_secs_f64() / process.watched.as_secs_f64().max(1e-3) * 100.0;
            parts.push(format!("process {} at {cpu:.0} % CPU", process.state));
        }
        parts.push(match self.others_answered {
            0 => "no other call was answered meanwhile".into(),
            1 => "1 other call was answered meanwhile".into(),
            n => format!("{n} other calls were answered meanwhile"),
        });
        parts.push(format!("{} still in flight", self.in_flight));
        format!("{} silent: {}", self.method, parts.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(control: ControlReply) -> Evidence {
        Evidence {
            method: "tools/call".into(),
            control,
            control_method: "ping",
            process: Some(ProcessEvidence {
                stopped: false,
                runnable: false,
                cpu: Duration::ZERO,
                watched: Duration::from_secs(10),
                state: "sleeping, 1 thread".into(),
            }),
            others_answered: 0,
            same_tool_answered: false,
            in_flight: 1,
        }
    }

    const SILENT: ControlReply = ControlReply::Silent(Duration::from_secs(10));
    const ANSWERED: ControlReply = ControlReply::Answered(Duration::from_millis(2));

    fn with_cpu(seconds: u64) -> Evidence {
        let mut spinning = evidence(SILENT);
        spinning.process.as_mut().unwrap().cpu = Duration::from_secs(seconds);
        spinning
    }

    #[test]
    fn each_meaning_of_silence_is_told_apart() {
        assert_eq!(evidence(SILENT).diagnosis(), Diagnosis::Wedged);
        assert_eq!(evidence(ANSWERED).diagnosis(), Diagnosis::CallStuck);
        assert_eq!(with_cpu(9).diagnosis(), Diagnosis::Spinning);
        assert_eq!(with_cpu(1).diagnosis(), Diagnosis::Wedged);
        let mut crowded_out = with_cpu(1);
        assert_eq!(crowded_out.diagnosis(), Diagnosis::Wedged);
        crowded_out.process.as_mut().unwrap().runnable = true;
        assert_eq!(crowded_out.diagnosis(), Diagnosis::Spinning);
        let lost = Evidence { others_answered: 3, same_tool_answered: true, ..evidence(ANSWERED) };
        assert_eq!(lost.diagnosis(), Diagnosis::RequestLost);
        let mut stopped = evidence(SILENT);
        stopped.process.as_mut().unwrap().stopped = true;
        assert_eq!(stopped.diagnosis(), Diagnosis::Stopped);
        assert_eq!(
            Evidence { process: None, ..evidence(ControlReply::NotSent) }.diagnosis(),
            Diagnosis::Unclear
        );
    }

    #[test]
    fn the_sentence_says_what_was_seen() {
        assert_eq!(
            evidence(SILENT).sentence(),
            "tools/call silent: `ping` was not answered for 10.0s either; process sleeping, 1 thread at 0 % CPU; \
             no other call was answered meanwhile; 1 still in flight"
        );
    }

    #[test]
    fn more_than_half_a_core_is_needed_to_spin() {
        assert_eq!(with_cpu(5).diagnosis(), Diagnosis::Wedged);
        assert_eq!(with_cpu(6).diagnosis(), Diagnosis::Spinning);
        let mut unwatched = with_cpu(9);
        unwatched.process.as_mut().unwrap().watched = Duration::ZERO;
        assert_eq!(unwatched.diagnosis(), Diagnosis::Wedged);
        let alive = Evidence { others_answered: 1, ..with_cpu(9) };
        assert_eq!(alive.diagnosis(), Diagnosis::CallStuck);
        let unasked = Evidence { control: ControlReply::NotSent, ..with_cpu(9) };
        assert_eq!(unasked.diagnosis(), Diagnosis::Unclear);
    }

    #[test]
    fn the_sentence_counts_what_went_on_meanwhile() {
        for (control, others, told) in [
            (
                ANSWERED,
                1,
                "`ping` was answered after 2.00ms; process sleeping, 1 thread at 90 % CPU; 1 other call was",
            ),
            (
                ControlReply::NotSent,
                3,
                "`ping` could not be sent; process sleeping, 1 thread at 90 % CPU; 3 other calls were",
            ),
        ] {
            let evidence =
                Evidence { control, others_answered: others, in_flight: 2, ..with_cpu(9) };
            let told = format!("tools/call silent: {told} answered meanwhile; 2 still in flight");
            assert_eq!(evidence.sentence(), told);
        }
    }
}
