//! The API of a model as its official SDKs meet it.
//!
//! `sdk` runs them against every fixture of tests/llm/matrix.yml and holds what they did against
//! docs/reference/sdk-behaviour.md. To add a case: a fixture. `case` says what follows from it, `heard`
//! what an SDK made of it, `page` how it is told. `oauth` has clients that need a token first.

mod case;
mod heard;
mod oauth;
mod page;
mod sdk;
