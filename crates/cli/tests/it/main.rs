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
mod ci;
#[cfg(unix)]
mod clients;
#[path = "../../../mock/tests/it/audit/cluster.rs"]
mod cluster;
mod commands;
mod compare;
#[cfg(target_os = "linux")]
#[path = "../../../mock/tests/it/suite.rs"]
mod conformance_suite;
mod cookbook;
#[cfg(unix)]
mod doctor;
#[cfg(unix)]
mod effects;
mod faults;
mod fuzzer;
mod gateway;
mod harness;
mod interrupted;
#[cfg(unix)]
mod live;
#[cfg(unix)]
mod llm;
mod llm_command;
mod looks;
mod mock;
#[cfg(unix)]
mod museum;
#[cfg(feature = "otlp")]
mod otlp;
mod probe;
mod process;
mod proxy;
#[cfg(unix)]
mod python;
#[cfg(target_os = "linux")]
mod serve;
mod strict;
mod suite;
#[cfg(all(feature = "torture", target_os = "linux"))]
mod torture;
