//! The mock of models, byte by byte, as no SDK would show it.

mod abuse;
mod apis;
mod chosen;
mod control;
mod determinism;
mod errors;
mod failure;
mod faults;
mod journal;
mod oauth;
mod peer;
mod recorded;
