//! The mock as its users meet it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should fail where it stands")]

mod client;
mod limits;
mod pipes;
mod python;
mod refusals;
mod support;
