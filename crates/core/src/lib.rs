//! The words and the judgements of `mcp-loadtest`.
//!
//! Everything here is pure: no socket, no file, no clock, no operating-system randomness. What the
//! other crates *do* is described here as an [`event::Event`]; what those events *mean* is decided
//! here by folding them into a [`tally::Tally`], judging that with the [`analysis`] table, and
//! telling the resulting [`report::Report`] through a renderer. A saved trace is therefore always
//! enough to judge and tell again.
//!
//! ```
//! use mcp_loadtest_core::{outcome::ErrorCategory, units::parse_duration};
//!
//! assert_eq!(parse_duration("1m30s").unwrap().as_secs(), 90);
//! assert_eq!(ErrorCategory::from_code(-32601), ErrorCategory::ProtocolError);
//! ```

pub mod agent;
pub mod analysis;
pub mod arguments;
pub mod check;
pub mod ci;
pub mod clients;
pub mod compare;
pub mod config;
pub mod danger;
pub mod display;
pub mod doctor;
pub mod eval;
pub mod event;
pub mod exit;
pub mod fault;
pub mod fuzz;
pub mod generate;
pub mod hint;
pub mod histogram;
pub mod jsonrpc;
pub mod live;
pub mod llm;
pub mod mcp;
pub mod outcome;
pub mod pace;
pub mod reach;
pub mod report;
pub mod scenario;
pub mod secrets;
pub mod seed;
pub mod server;
pub mod silence;
pub mod stats;
pub mod suite;
pub mod tally;
pub mod thresholds;
pub mod tools_file;
pub mod trace;
pub mod units;
pub mod yaml;

#[cfg(test)]
mod published;
