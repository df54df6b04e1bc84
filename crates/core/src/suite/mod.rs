//! Suites: tests of servers and agents that people write as YAML.
//!
//! | room        | what it holds                                                            |
//! |-------------|--------------------------------------------------------------------------|
//! | `file`      | the file as a whole; how it is read                                      |
//! | `server`, `test`, `agent`, `model`, `load` | its parts                                 |
//! | `variables` | `${VAR}` and `${VAR:-default}`                                           |
//! | `check`     | what is told before anything is started                                  |
//! | `expect`    | what a test expects: paths and matchers                                  |
//! | `script`    | models that do as they are told                                          |
//! | `recovery`  | what became of an agent that met a fault: verdict and gate               |
//! | `select`    | which tests are carried out: names, tags, shards                         |
//! | `result`    | what became of a test                                                    |
//! | `render`    | results for people and machines; to add a form: a file and a line there  |
//!
//! Nothing here starts anything: a suite is read, expanded and judged, and its results are told.

mod agent;
mod check;
pub mod expect;
mod file;
mod load;
mod model;
pub mod recovery;
pub mod render;
mod result;
pub mod script;
mod select;
mod server;
mod test;
#[cfg(test)]
mod tests;
mod variables;

/// A suite to start from, which runs as it stands; `example-config --suite` prints it.
pub const EXAMPLE: &str = include_str!("example.yml");

pub use self::{
    agent::{AgentTest, MAX_TOKENS, MAX_TURNS},
    check::NEGATIVE_CHECKS,
    file::{Isolation, Parallel, RunOptions, Suite},
    load::LoadTest,
    model::{Model, ModelSource, Provider, provider_of},
    result::{Family, Outcome, Repeats, SuiteReport, TestKind, TestResult, Totals},
    select::{Selection, Shard},
    server::{Auth, HeaderValue, MockEntry, ServerEntry, Servers, Way},
    test::{Fuzz, NegativePath, PromptTest, ResourceTest, ToolTest},
};
