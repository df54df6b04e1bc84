//! What became of a case, in one word.
//!
//! | the server afterwards | the answer            | class                                       |
//! |-----------------------|-----------------------|---------------------------------------------|
//! | gone                  | any                   | crash                                       |
//! | silent                | any                   | hang                                        |
//! | answers               | breaks the protocol   | protocol_violation                          |
//! | had hung up           | one was due           | protocol_violation                          |
//! | answers               | none, one was due     | hang; slow if the case is a heavy one       |
//! | answers               | late                  | slow                                        |
//! | answers               | a result, wrong input | accepted                                    |
//! | answers               | any other, or none    | clean                                       |

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answer, Intent};

/// What became of a case.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// The server took it as a server should, whatever it answered.
    Clean,
    /// Arguments that the tool's schema forbids were taken as good.
    Accepted,
    /// The answer came late, or a heavy case is still being worked on.
    Slow,
    /// What came back is not what the protocol allows.
    ProtocolViolation,
    /// The server no longer answers, or never answered a proper request.
    Hang,
    /// The server ended.
    Crash,
}

impl Class {
    /// All of them, the best first.
    pub const ALL: [Self; 6] =
        [Self::Clean, Self::Accepted, Self::Slow, Self::ProtocolViolation, Self::Hang, Self::Crash];

    /// The word used in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Accepted => "accepted",
            Self::Slow => "slow",
            Self::ProtocolViolation => "protocol_violation",
            Self::Hang => "hang",
            Self::Crash => "crash",
        }
    }

    /// Whether it is a bug.
    pub const fn is_failure(self) -> bool {
        matches!(self, Self::ProtocolViolation | Self::Hang | Self::Crash)
    }
}

/// What was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// Nothing.
    Nothing,
    /// A result.
    Result,
    /// An error, a result that says `isError`, or an HTTP status.
    Refusal,
}

/// The server after the case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    /// It answers.
    Answers,
    /// It closed the connection, and answers on another.
    HungUp,
    /// It runs and answers nothing.
    Silent,
    /// It has ended, or cannot be reached.
    Gone,
}

/// What was seen of a case.
#[derive(Debug, Clone, Copy)]
pub struct Observation {
    /// Whether an answer was due.
    pub due: Answer,
    /// What the schema says of the arguments.
    pub intent: Option<Intent>,
    /// Whether an honest tool may be busy with it for long.
    pub heavy: bool,
    /// What was answered.
    pub heard: Heard,
    /// How long that took.
    pub took: Duration,
    /// Whether something came that the protocol does not allow.
    pub breach: bool,
    /// The server afterwards.
    pub after: After,
}

/// What became of a case; an answer after `late` is a late one.
pub fn classify(seen: &Observation, late: Duration) -> Class {
    match (seen.after, seen.heard) {
        (After::Gone, _) => Class::Crash,
        (After::Silent, _) => Class::Hang,
        _ if seen.breach => Class::ProtocolViolation,
        (After::HungUp, Heard::Nothing) if seen.due == Answer::Must => Class::ProtocolViolation,
        (After::Answers, Heard::Nothing) if seen.due == Answer::Must => {
            if seen.heavy {
                Class::Slow
            } else {
                Class::Hang
            }
        }
        (_, Heard::Nothing) => Class::Clean,
        _ if seen.took > late => Class::Slow,
        (_, Heard::Result) if seen.intent == Some(Intent::Negative) => Class::Accepted,
        _ => Class::Clean,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_holds() {
        use After::{Answers, Gone, HungUp, Silent};
        use Answer::{May, Must};
        use Heard::{Nothing, Refusal, Result};
        let usual = Observation {
            due: Must,
            intent: None,
            heavy: false,
            heard: Refusal,
            took: Duration::from_millis(5),
            breach: false,
            after: Answers,
        };
        let negative = Some(Intent::Negative);
        let late = Duration::from_secs(6);
        let table = [
            (usual, Class::Clean),
            (Observation { heard: Result, ..usual }, Class::Clean),
            (Observation { heard: Result, intent: Some(Intent::Positive), ..usual }, Class::Clean),
            (Observation { intent: Some(Intent::Positive), ..usual }, Class::Clean),
            (Observation { intent: negative, ..usual }, Class::Clean),
            (Observation { heard: Result, intent: negative, ..usual }, Class::Accepted),
            (Observation { heard: Nothing, due: May, ..usual }, Class::Clean),
            (Observation { heard: Nothing, ..usual }, Class::Hang),
            (Observation { heard: Nothing, heavy: true, ..usual }, Class::Slow),
            (Observation { took: late, ..usual }, Class::Slow),
            (Observation { took: Duration::from_secs(5), ..usual }, Class::Clean),
            (Observation { took: late, heard: Result, intent: negative, ..usual }, Class::Slow),
            (Observation { breach: true, ..usual }, Class::ProtocolViolation),
            (Observation { after: HungUp, heard: Nothing, ..usual }, Class::ProtocolViolation),
            (Observation { after: HungUp, heard: Nothing, due: May, ..usual }, Class::Clean),
            (Observation { after: HungUp, ..usual }, Class::Clean),
            (Observation { after: Silent, ..usual }, Class::Hang),
            (Observation { after: Silent, heavy: true, ..usual }, Class::Hang),
            (Observation { after: Silent, heard: Nothing, due: May, ..usual }, Class::Hang),
            (Observation { after: Gone, breach: true, ..usual }, Class::Crash),
            (Observation { after: Gone, heard: Result, due: May, ..usual }, Class::Crash),
        ];
        for (seen, expected) in table {
            assert_eq!(classify(&seen, Duration::from_secs(5)), expected, "{seen:?}");
        }
    }

    #[test]
    fn classes_are_called_as_they_are_written_and_the_worst_are_bugs() {
        for class in Class::ALL {
            assert_eq!(serde_json::to_value(class).unwrap(), class.as_str());
        }
        let bugs = Class::ALL.map(Class::is_failure);
        assert_eq!(bugs, [false, false, false, true, true, true]);
    }
}
