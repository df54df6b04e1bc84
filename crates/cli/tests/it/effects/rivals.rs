//! Flags that mean something only beside another are refused without it, also where a rival of that other
//! one is given: clap takes a flag whose partner is ruled out.

use super::bench::Bench;

/// A command line that must be refused, and what the error must name.
const REFUSED: &[(&[&str], &str)] = &[
    (&["proxy", "--listen", "127.0.0.1:0", "--", "true"], "--listen"),
    (&["proxy", "--transport", "sse", "--", "true"], "--transport"),
    (&["proxy", "--ca-cert", "x.pem", "--", "true"], "--ca-cert"),
    (&["proxy", "--admin-token", "x", "--", "true"], "--admin"),
    (&["probe", "-s", "{mock}", "--input", "a=b"], "--input"),
    (&["probe", "--name", "named", "--input", "a=b"], "asks for no input `a`"),
    (&["probe", "-s", "{mock}", "--mcp-config", "other.json"], "mcp_config"),
    (&["run", "-s", "{mock}", "--mcp-config", "other.json", "--input", "a=b"], "mcp_config"),
    (
        &["run", "-s", "{mock}", "--generate", "--tool", "echo", "--args-order", "random"],
        "args_order",
    ),
    (&["run", "-s", "{mock}", "--tui", "--web-remote"], "--web-remote"),
    (&["run", "-s", "{mock}", "--slow-args", "{}"], "--slow-tool"),
    (&["llm", "--fixtures", "fixtures.yml", "--validate", "--verdict"], "--verdict"),
    (&["llm", "--fixtures", "fixtures.yml", "--validate", "--to", "x.yml"], "--to"),
    (&["llm", "--fixtures", "fixtures.yml", "--validate", "--admin-token", "x"], "--admin-token"),
    (&["llm", "--fixtures", "fixtures.yml", "--validate", "--seed", "3"], "--seed"),
    (&["llm", "--fixtures", "fixtures.yml", "--to", "x.yml"], "--to"),
    (&["llm", "--record", "http://127.0.0.1:1", "--to", "x.yml", "--watch"], "--watch"),
    (&["llm", "--record", "http://127.0.0.1:1", "--to", "x.yml", "--seed", "3"], "--seed"),
    (
        &["llm", "--record", "http://127.0.0.1:1", "--to", "x.yml", "--replay-speed", "3"],
        "--replay-speed",
    ),
    (&["llm", "--fixtures", "fixtures.yml", "--verdict"], "COMMAND"),
    (&["mock", "--always-stream"], "--always-stream"),
    (&["mock", "--listen", "127.0.0.1:0"], "--listen"),
    (&["mock", "--audit-mask", "x"], "--audit"),
    (&["mock", "--tools-from", "tools.yml", "--without", "data"], "--without"),
    (
        &["gateway", "--gateway", "http://127.0.0.1:1", "--upstream-port", "9", "--tee-stderr"],
        "COMMAND",
    ),
    (
        &["gateway", "--gateway", "http://127.0.0.1:1", "--upstream-port", "9", "--env", "A=b"],
        "COMMAND",
    ),
    (
        &["gateway", "--gateway", "http://127.0.0.1:1", "--upstream-port", "9", "--inherit-env"],
        "COMMAND",
    ),
    (&["agent", "--prompt", "x", "--evidence", "y", "--", "true"], "--fault"),
    (&["agent", "--prompt", "x", "--max-recovery", "1s", "--", "true"], "--fault"),
    (&["agent", "--prompt", "x", "--max-detection", "1s", "--", "true"], "--fault"),
    (&["agent", "--prompt", "x", "--clean-timeout", "--", "true"], "--fault"),
    (&["agent", "--prompt", "x", "--fallback", "y", "--", "true"], "--fault"),
    (&["serve", "--mcp", "--allow-host", "127.0.0.1", "--input", "a=b"], "--input"),
    (&["doctor", "--env", "A=b"], "--env"),
    (&["doctor", "--startup-timeout", "1s"], "--startup-timeout"),
    (&["doctor", "--only", "clock", "-s", "{mock}"], "--only"),
    (&["probe", "--url", "http://127.0.0.1:1", "--tee-stderr"], "--tee-stderr"),
    (&["probe", "--url", "http://127.0.0.1:1", "--env", "A=b"], "env"),
    (&["probe", "--url", "http://127.0.0.1:1", "--inherit-env"], "inherit_env"),
    (&["probe", "--url", "http://127.0.0.1:1", "--working-dir", "/"], "working_dir"),
    (&["probe", "-s", "{mock}", "--header", "A: b"], "headers"),
    (&["probe", "-s", "{mock}", "--verbose", "--json"], "--verbose"),
    (&["probe", "-s", "{mock}", "--args", "{}"], "--tool"),
    (&["test", "suite.yml", "--model", "scripted:careful"], "--model"),
    (&["test", "suite.yml", "--record", "tapes"], "--record"),
    (&["test", "suite.yml", "--replay", "tapes"], "--replay"),
    (&["run", "-s", "{mock}", "--scenario", "fuzzer", "--timeout", "1s"], "--timeout"),
    (&["run", "-s", "{mock}", "--scenario", "fuzzer", "--strict"], "--strict"),
    (&["run", "-s", "{mock}", "--scenario", "fuzzer", "--abort-on-fail"], "--abort-on-fail"),
    (
        &["run", "-s", "{mock}", "--scenario", "fuzzer", "--tool", "echo", "--generate"],
        "--generate",
    ),
    (&["run", "-s", "{mock}", "--scenario", "race_check", "--threads", "2"], "--threads"),
    (&["run", "-s", "{mock}", "--rate", "5/s", "--think-time", "1s"], "think_time"),
    (&["run", "-s", "{mock}", "--compare-p50", "5%"], "comparison"),
];

#[test]
fn a_flag_without_its_partner_is_refused() {
    let told = |(words, name): &(&[&str], &str)| {
        let told = Bench::new().transcript(words);
        let is_refused = told.starts_with("exit 2\n") && told.contains(name);
        (!is_refused).then(|| format!("{words:?}: {told}"))
    };
    let taken: Vec<_> = REFUSED.iter().filter_map(told).collect();
    assert!(taken.is_empty(), "{}", taken.join("\n----\n"));
}
