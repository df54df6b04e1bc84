//! The line that tells how far a run is.

use super::terminal::Terminal;

/// A line that is drawn again and again is erased in between; nothing else here erases one.
const ERASED: &str = "\x1b[2K";

#[test]
fn progress_is_shown_unless_it_is_not_wanted() {
    let program = env!("CARGO_BIN_EXE_mcp-loadtest");
    let suite =
        "servers: {m: {mock: {fault: ['slow:700']}}}\ntools:\n  - {name: one, tool: echo}\n";
    for (number, command) in [
        format!("run -s '{program} mock' --tool echo --duration 1s"),
        format!("deadlock-probe -s '{program} mock --fault slow:700' --concurrent 2"),
        "run --config suite.yml".into(),
        "demo --duration 1s".into(),
        format!("probe -s '{program} mock' --only race"),
        format!("negative-path -s '{program} mock --fault slow:200'"),
    ]
    .iter()
    .enumerate()
    {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("suite.yml"), suite).unwrap();
        let terminal = Terminal::open(dir.path(), (100, 40));
        let drawn = |flags: &str| {
            let log = dir.path().join(format!("log{number}{flags}"));
            terminal.keep(&log);
            terminal
                .type_line(&format!("clear; {program} {command} {flags}; echo en''ded{flags}."));
            // The screen may still show the end of the run before, and the log lags behind the screen.
            let mut all = String::new();
            terminal.wait("its end", |_| {
                all = std::fs::read_to_string(&log).unwrap_or_default();
                all.contains(&format!("ended{flags}."))
            });
            all
        };
        assert!(drawn("").contains(ERASED), "{command}");
        assert!(!drawn("-q").contains(ERASED), "{command}");
    }
}
