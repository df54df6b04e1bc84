//! The commands as a user meets them: arguments in, text and exit code out, no process in between
//! except the servers.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[cfg(unix)]
mod abuse;
mod audit;
mod bad_input;
#[cfg(unix)]
mod browser;
#[cfg(unix)]
mod clients;
#[path = "../../../mock/tests/it/audit/cluster.rs"]
mod cluster;
mod commands;
mod compare;
mod cookbook;
mod fuzzer;
mod gateway;
mod harness;
mod interrupted;
#[cfg(unix)]
mod llm;
mod llm_command;
mod mock;
#[cfg(unix)]
mod museum;
#[cfg(feature = "otlp")]
mod otlp;
mod probe;
mod process;
mod proxy;
mod strict;
mod suite;
