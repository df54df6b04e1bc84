//! What must hold of any input, one file a target. libFuzzer looks for input of which it does not
//! (`fuzz_targets/`); the tests of wire try all that it has ever found worth keeping (`corpus/`).

pub(crate) mod config;
pub(crate) mod frames;
pub(crate) mod sse;
