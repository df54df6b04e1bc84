//! What became of an agent that met a fault: decided without a judge model, from what it did.
//!
//! | file         | what it holds                                                        |
//! |--------------|----------------------------------------------------------------------|
//! | `settings`   | `recovery:` as people write it                                       |
//! | `trajectory` | what the agent did, call by call                                     |
//! | `words`      | what an answer shows: values, disclosures, refusals                  |
//! | `claims`     | what an answer claims beside its admission, and nobody gave          |
//! | `evidence`   | what only the healthy tool can have said                             |
//! | `live`       | the trajectory of an agent that was only seen on the wire            |
//! | `verdict`    | one verdict for a run                                                |
//! | `gate`       | whether it passes, with the times scored by [`crate::eval`]          |

mod claims;
mod evidence;
mod gate;
mod live;
mod settings;
#[cfg(test)]
mod tests;
mod trajectory;
mod verdict;
mod words;

pub use self::{
    evidence::{Evidence, canaries, canned_text, is_non_idempotent},
    gate::{Judged, Rules, judge},
    live::{Live, WireCall, observe},
    settings::{MAX_DETECTION_MS, OneOrMany, Recovery},
    trajectory::{CallFault, StopReason, TracedCall, Trajectory, Usage},
    verdict::RecoveryVerdict,
};
