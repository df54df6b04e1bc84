//! The flags of `serve`.

use crate::harness::run_in;

use super::workplace;

#[test]
fn what_cannot_be_served_is_told_before_anything_is() {
    let dir = workplace();
    for (flags, words) in [
        (&["serve"][..], &["--mcp"][..]),
        (&["serve", "--mcp"], &["nothing may be tested", "--allow-server"]),
        (&["serve", "--mcp", "--allow-server", "helthy"], &["helthy", "healthy"]),
        (&["serve", "--mcp", "--mcp-config", "missing.json"], &["cannot read", "missing.json"]),
        (&["serve", "--mcp", "--allow-host", "http://x"], &["a host is meant"]),
        (&["serve", "--mcp", "--allow-command", "--listen", "0"], &["--listen"]),
        (
            &["serve", "--mcp", "--mcp-config", ".mcp.json", "--listen", "0.0.0.0:0"],
            &["other machines", "127.0.0.1"],
        ),
        (&["serve", "--mcp", "--allow-host", "x", "--max-duration", "0s"], &["longer than 0s"]),
        (&["serve", "--mcp", "--allow-host", "x", "--max-concurrent", "0"], &["1..=10000"]),
    ] {
        let ran = run_in(dir.path(), flags);
        assert_eq!(ran.code, 2, "{flags:?}: {}", ran.err);
        for word in words {
            assert!(ran.err.contains(word), "{flags:?}: {}", ran.err);
        }
    }
}

#[test]
fn all_tools_are_explained() {
    let ran = run_in(workplace().path(), &["serve", "--explain"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for word in ["deadlock_probe", "list_recent_runs", "--allow-command", "untrusted"] {
        assert!(ran.out.contains(word), "{word}: {}", ran.out);
    }
}
