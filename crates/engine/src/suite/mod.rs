//! Carries suites out: see [`mcp_loadtest_core::suite`] for what they are.
//!
//! | file       | what it does                                                          |
//! |------------|-----------------------------------------------------------------------|
//! | `loaded`   | a suite with its file, ready to be carried out                        |
//! | `stand`    | what only the caller can start: mocks of servers and models           |
//! | `run`      | a run as it is described, and its course as a whole                   |
//! | `choose`   | which tests are carried out                                           |
//! | `desk`     | what all workers share                                                |
//! | `work`     | a worker: one test after the other                                    |
//! | `servers`  | the servers of a run, each started when it is first needed            |
//! | `pool`     | the sessions of one worker; one that broke is opened again            |
//! | `request`  | a tool, a resource, a prompt                                          |
//! | `bad_input`| `negative_path` and `fuzz`                                            |
//! | `load`     | a load test                                                           |
//! | `agent`    | an agent, with faults in virtual time                                 |
//!
//! A worker has sessions of its own, so that one call is in flight on each: a server that dies has
//! died of the test that was talking to it.

mod agent;
mod bad_input;
mod choose;
mod desk;
mod load;
mod loaded;
mod pool;
mod request;
mod run;
mod servers;
mod stand;
mod work;

pub use self::{
    loaded::LoadedSuite,
    run::{SuiteOutcome, SuiteRun, TestWatcher},
    stand::{NoStand, Speaker, Stand, StartedLlm, StartedMock, Starting, Watched},
};
