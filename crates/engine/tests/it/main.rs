//! The engine against real processes: the mocks of `tests/fixtures`, and servers that we did not
//! write, which `tests/env/testenv.py` installs.
//!
//! | module          | what goes there                                                         |
//! |-----------------|-------------------------------------------------------------------------|
//! | `matrix`        | scenario x mock, by one table of what must come out                     |
//! | `bars`          | what each scenario finds on servers whose answer is known               |
//! | `library`       | the crate as a test of somebody else uses it                            |
//! | `logged`        | what those hear who listen with `tracing`                               |
//! | `run_directory` | what a run leaves behind, and what can be read from it again            |
//! | `outputs`       | what it writes for other tools; traces that do not have every call      |
//! | `killed`        | nothing is left of a run that was killed, except what it had written    |
//! | `real_bugs`     | bugs of published servers that must be found, and their fixes           |
//! | `real_servers`  | published servers that must pass                                        |
//! | `reached`       | servers at an address: started by us, or watched by their number       |
//! | `session`       | one session to hold in one's hand, and why there may be none            |
//! | `regressions`   | bugs of our own, each in a test that is named after it                  |
//!
//! The rest helps: `fixtures` starts mocks, `environments` finds what is installed, `processes`
//! looks at the process table. The tests need a Unix, and Linux's `/proc` to look for processes.

#![cfg(target_os = "linux")]

mod bars;
mod environments;
mod fixtures;
mod killed;
mod library;
mod logged;
mod matrix;
mod outputs;
mod processes;
mod reached;
mod real_bugs;
mod real_servers;
mod regressions;
mod run_directory;
mod session;
