//! Bad input on purpose: what the `fuzzer` sends, what an answer to it means, and how a case that
//! breaks a server is made smaller. Pure: the engine sends and hears.
//!
//! | file         | what it holds                                                     |
//! |--------------|-------------------------------------------------------------------|
//! | `payload`    | the kinds of bad input, and in which order they come              |
//! | `case`       | one case: its bytes and what may be asked of the answer           |
//! | `deck`       | all cases of a run; each is found by its number alone             |
//! | `frame`      | frames written by hand                                            |
//! | `enumerated` | the listed kinds: unknown method, deep nesting and so on          |
//! | `raw`        | bytes: flipped, cut, spliced, random                              |
//! | `arguments`  | arguments at and beyond the limits of a tool's schema             |
//! | `classify`   | what became of a case, in one word                                |
//! | `shrink`     | ever smaller cases                                                |
//! | `file`       | a case as it is saved                                             |
//! | `stats`      | what a run of the fuzzer found                                    |
//!
//! To add a kind of payload: a variant in `payload` and an arm in `deck`.

mod arguments;
mod case;
mod classify;
mod deck;
mod enumerated;
mod file;
mod frame;
mod payload;
mod raw;
mod shrink;
mod stats;

pub use self::case::{Answer, Case, Intent};
pub use self::classify::{After, Class, Heard, Observation, classify};
pub use self::deck::{Deck, FIRST_ID};
pub use self::file::{CASE_SCHEMA, CaseFile, CaseFileError, Write, schema};
pub use self::payload::Payload;
pub use self::shrink::Shrinker;
pub use self::stats::{FailedCase, FuzzStats};
