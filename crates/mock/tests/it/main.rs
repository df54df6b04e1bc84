//! The mock as its users meet it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should fail where it stands")]

mod admin;
mod audit;
mod cancel;
mod client;
mod conformance;
mod faults;
mod full_speed;
mod limits;
mod llm;
mod peer;
mod pipes;
mod proxy;
mod refusals;
mod suite;
mod support;
mod tools;
mod written;
