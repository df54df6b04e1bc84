//! The audit log: one row for every message that reached a server.
//!
//! | file        | what it does                                                       |
//! |-------------|--------------------------------------------------------------------|
//! | `row`       | what a row says                                                    |
//! | `word`      | words that most rows share                                         |
//! | `headers`   | header lines in one piece                                          |
//! | `time`      | moments of the wall clock                                          |
//! | `heard`     | secrets that passed by                                             |
//! | `redaction` | masks secrets and cuts what is long                                |
//! | `attempts`  | which calls are the same call again                                |
//! | `handle`    | what a server records with                                         |
//! | `queue`     | between those who record and the one who writes                    |
//! | `writer`    | the thread that writes                                             |
//! | `filter`    | which rows are wanted                                              |
//! | `stats`     | the sums of a log                                                  |
//! | `faults`    | when faults were at work, by a log                                 |
//! | `spec`      | a store as people write it                                         |
//! | `store`     | where rows are kept, a file each                                   |

mod attempts;
mod faults;
mod filter;
mod handle;
mod headers;
mod heard;
mod queue;
mod redaction;
mod row;
mod spec;
mod stats;
mod store;
mod time;
mod word;
mod writer;

pub use faults::{FaultWatch, FaultsSeen, extent, fault_windows};
pub use filter::{Filter, Keep};
pub use handle::{Audit, AuditError, AuditIncomplete, Closing};
pub use headers::Headers;
pub use redaction::{ARGUMENT_LIMIT, Redaction};
pub use row::{EVENT_LIMIT, Kind, Row, SentEvent, UnknownKind};
pub use spec::{StoreSpec, StoreSpecError};
pub use stats::{NameSummary, Stats, Summary};
pub use store::{Place, STORES, Source, Store, StoreError, Visit};
pub use time::{Timestamp, TimestampError};
pub use word::Word;
pub(crate) use word::word;
