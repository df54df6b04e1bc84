#![no_main]

#[path = "../properties/sse.rs"]
mod property;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| property::holds(bytes, mcp_loadtest_wire::fuzzing::events));
