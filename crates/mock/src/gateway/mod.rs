//! An end-to-end check of whatever sits between MCP clients and servers.
//!
//! Our client talks through the gateway with our own mock. Both ends are ours and write down what they
//! see, so each check compares what was sent at one end with what arrived at the other.
//!
//! | file       | what it does                                                          |
//! |------------|-----------------------------------------------------------------------|
//! | `subject`  | how the gateway is started and reached                                |
//! | `upstream` | the server behind it: the mock, in a thread of its own                |
//! | `bench`    | both ends together, as checks use them                                |
//! | `names`    | tools that the gateway offers under names of its own                  |
//! | `hearing`  | notifications that reached the client, with their times               |
//! | `compare`  | what differs between two JSON values                                  |
//! | `run`      | one check after the other                                             |
//! | `report`   | what came of it                                                       |
//! | `checks`   | the checks, a file each                                               |

mod bench;
mod check;
mod checks;
mod compare;
mod error;
mod hearing;
mod names;
mod report;
mod run;
mod subject;
mod upstream;

pub use check::{Check, Finding, UnknownCheck, find};
pub use checks::CHECKS;
pub use error::GatewayError;
pub use report::{Checked, Report, SCHEMA, Verdict, schema};
pub use run::{Gateway, PATIENCE};
pub use subject::{Subject, UPSTREAM_PLACE, UPSTREAM_VARIABLE};
