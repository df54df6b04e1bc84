//! Sends the cases of `core::fuzz` and finds out what becomes of them.
//!
//! | file      | what it holds                                                       |
//! |-----------|---------------------------------------------------------------------|
//! | `lab`     | a server to try cases on, started anew when one has broken it       |
//! | `ear`     | what came back, frame by frame                                      |
//! | `hunt`    | a run: case after case, failures confirmed, made smaller and saved  |
//! | `telling` | what a run tells of its cases                                       |
//! | `replay`  | one saved case, sent again                                          |

mod ear;
mod hunt;
mod lab;
mod replay;
mod telling;

pub use self::replay::{Replay, ReplayVerdict, Replayed};
pub(crate) use self::{hunt::Hunt, lab::Lab};
