//! README.md and the pages of docs/cookbook are true: every `console` block is run, and says what it is
//! said to say.
//!
//! A line that begins with `$ ` is typed (`> ` goes on with it), the lines below are part of what it
//! prints, in this order; `...` stands for anything. A block whose last line is `[exit 1]` ends with
//! that code, all others with 0. What a block leaves in the background ends with it; files stay until
//! the end of the page. A block that names a file behind its language is that file, there before
//! anything is run. `<!-- needs: NAME -->` puts an environment's programs and packages in reach.
//!
//! Where the machine is busy the first call to a server may take long. That is told in place of `PASS`,
//! and is no failure.

#[cfg(unix)]
use std::os::unix::fs::symlink;
#[cfg(windows)]
use std::os::windows::fs::symlink_dir as symlink;
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// What a block types, what it is to print, and how it is to end.
#[derive(Debug, Default, PartialEq)]
struct Block {
    script: String,
    expected: Vec<String>,
    code: i32,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for line in page.lines() {
        match &mut open {
            None if line == "```console" => open = Some(Block::default()),
            None => {}
            Some(_) if line == "```" => blocks.extend(open.take()),
            Some(block) => take(block, line),
        }
    }
    blocks
}

fn take(block: &mut Block, line: &str) {
    if let Some(typed) = line.strip_prefix("$ ").or(line.strip_prefix("> ")) {
        block.script.push_str(typed);
        block.script.push('\n');
    } else if let Some(code) = line.strip_prefix("[exit ").and_then(|rest| rest.strip_suffix(']')) {
        block.code = code.parse().unwrap();
    } else {
        block.expected.push(line.to_owned());
    }
}

/// The files that a page shows, by name.
fn files(page: &str) -> Vec<(&str, String)> {
    let mut files: Vec<(&str, String)> = Vec::new();
    let mut is_open = false;
    for line in page.lines() {
        match line.strip_prefix("```").map(|words| words.split_once(' ')) {
            Some(Some((_, name))) => files.push((name, String::new())),
            Some(None) => {}
            None if is_open => {
                let text = &mut files.last_mut().unwrap().1;
                text.push_str(line);
                text.push('\n');
            }
            None => {}
        }
        if line.starts_with("```") {
            is_open = line.contains(' ');
        }
    }
    files
}

/// Whether all expected lines are there in their order.
fn missing<'a>(expected: &'a [String], printed: &str) -> Option<&'a str> {
    let mut rest = printed.lines();
    let is_missing = |wanted: &&String| {
        wanted.trim() != "..." && !wanted.is_empty() && !rest.any(|line| fits(wanted, line))
    };
    expected.iter().find(is_missing).map(String::as_str)
}

/// Whether a line is as expected; `...` is anything.
fn fits(wanted: &str, line: &str) -> bool {
    let mut parts = wanted.split("...");
    let Some(mut rest) = line.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    wanted.ends_with("...") || rest.is_empty()
}

/// What tells of a slow first call.
const CLIFF: &str = "lazy_init_cliff";

/// What is printed in place of what is expected if nothing was found but a slow first call.
fn with_a_cliff(expected: &[String]) -> Vec<String> {
    let line = |line: &String| match line.as_str() {
        "PASS       ..." => "WARNING    1 warning".to_owned(),
        // Among other runs.
        line => line.replace(" PASS       ", " WARNING    "),
    };
    expected.iter().map(line).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The folders of the environments that a page needs.
fn environments(page: &str) -> Vec<PathBuf> {
    let needs =
        page.lines().filter_map(|line| line.strip_prefix("<!-- needs: ")?.strip_suffix(" -->"));
    let home = |name| {
        let script = root().join("tests/env/testenv.py");
        let found = Command::new("python3").arg(script).args(["path", name]).output().unwrap();
        assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stderr));
        String::from_utf8(found.stdout).unwrap().trim().into()
    };
    needs.map(home).collect()
}

/// Where a page's programs are, ours first.
#[expect(clippy::disallowed_methods, reason = "a shell of the test looks where this process does")]
fn search_path(environments: &[PathBuf]) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_mcp-loadtest"));
    let mut folders = vec![binary.parent().unwrap().display().to_string()];
    for home in environments {
        folders.push(home.join("bin").display().to_string());
        folders.push(home.join("node_modules/.bin").display().to_string());
    }
    folders.push(std::env::var("PATH").unwrap_or_default());
    folders.join(":")
}

/// What a page finds in its folder: its files, and the packages of Node that it needs.
fn furnish(dir: &Path, page: &str, environments: &[PathBuf]) {
    for (name, text) in files(page) {
        fs::write(dir.join(name), text).unwrap();
    }
    // What the README shows is typed at the root of the repository.
    for folder in ["tests", "examples"] {
        symlink(root().join(folder), dir.join(folder)).unwrap();
    }
    for packages in environments.iter().map(|home| home.join("node_modules")) {
        if packages.is_dir() {
            symlink(packages, dir.join("node_modules")).unwrap();
        }
    }
}

fn check_page(name: &str) {
    let page = fs::read_to_string(root().join(name)).unwrap();
    let environments = environments(&page);
    let path = search_path(&environments);
    let dir = tempfile::tempdir().unwrap();
    furnish(dir.path(), &page, &environments);
    // From then on: a run is told of again where runs are listed.
    let mut has_cliff = false;
    for (number, block) in blocks(&page).into_iter().enumerate() {
        // What runs in the background is ended before the shell is, whatever happens.
        let script = format!(
            "set -e\ntrap 'set +e; kill $(jobs -p) 2>/dev/null; wait' EXIT\n{}",
            block.script
        );
        let output = dir.path().join("output");
        let file = fs::File::create(&output).unwrap();
        let ended = Command::new("bash")
            .args(["-c", &script])
            .current_dir(dir.path())
            .env("PATH", &path)
            .env("FIXTURES", root().join("tests/fixtures"))
            .stdin(Stdio::null())
            .stdout(file.try_clone().unwrap())
            .stderr(file)
            .status()
            .unwrap();
        let printed = fs::read_to_string(&output).unwrap();
        let place = format!("{name}, block {}:\n{}---\n{printed}", number + 1, block.script);
        assert_eq!(ended.code(), Some(block.code), "{place}");
        has_cliff |= printed.contains(CLIFF);
        let missed = missing(&block.expected, &printed);
        if missed.is_some() && has_cliff {
            assert_eq!(missing(&with_a_cliff(&block.expected), &printed), None, "{place}");
        } else {
            assert_eq!(missed, None, "{place}");
        }
    }
}

#[test]
fn readme() {
    check_page("README.md");
}

#[test]
fn gateway_builders() {
    check_page("docs/cookbook/gateway-builders.md");
}

#[test]
fn client_builders() {
    check_page("docs/cookbook/client-builders.md");
}

#[test]
fn ai_agents() {
    check_page("docs/cookbook/ai-agents.md");
}

#[test]
fn agent_builders() {
    check_page("docs/cookbook/agent-builders.md");
}

#[test]
fn server_builders() {
    check_page("docs/cookbook/server-builders.md");
}

#[test]
fn find_deadlocks() {
    check_page("docs/cookbook/find-deadlocks.md");
}

#[test]
fn regression_gate() {
    check_page("docs/cookbook/regression-gate.md");
}

#[test]
fn compare_implementations() {
    check_page("docs/cookbook/compare-implementations.md");
}

#[test]
fn memory_leak() {
    check_page("docs/cookbook/memory-leak.md");
}

#[test]
fn every_page_is_checked() {
    let source = include_str!("cookbook.rs");
    for page in fs::read_dir(root().join("docs/cookbook")).unwrap() {
        let name = page.unwrap().file_name().into_string().unwrap();
        assert!(
            source.contains(&format!("check_page(\"docs/cookbook/{name}\")")),
            "{name} has no test"
        );
    }
}

/// The pages of the repository that people read.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let is_page = entry.extension().is_some_and(|it| it == "md") || entry.ends_with("llms.txt");
        match entry.is_dir() {
            true if entry.starts_with(root().join("docs")) => found.extend(pages(&entry)),
            false if is_page => found.push(entry),
            _ => {}
        }
    }
    found
}

#[test]
fn links_lead_somewhere() {
    let mut count = 0;
    for page in pages(&root()) {
        let text = fs::read_to_string(&page).unwrap();
        let links = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        for (link, _) in links.filter(|(link, _)| !link.contains("://") && !link.contains(' ')) {
            let file = page.parent().unwrap().join(link.split('#').next().unwrap());
            assert!(file.exists(), "{}: {link} leads nowhere", page.display());
            count += 1;
        }
    }
    assert!(count > 40, "only {count} links were found");
}

#[test]
fn files_are_read_as_they_are_meant() {
    let page = "a\n```yaml x.yml\none\n\n  two\n```\nb\n```console\n$ c\n```\n```js y.js\n```\nd\n";
    assert_eq!(files(page), [("x.yml", "one\n\n  two\n".to_owned()), ("y.js", String::new())]);
}

#[test]
fn blocks_are_read_as_they_are_meant() {
    let page =
        "text\n```console\n$ a \\\n>   b\none ... two\n...\n[exit 3]\n```\n```toml\n$ no\n```\n";
    let expected = vec!["one ... two".to_owned(), "...".into()];
    assert_eq!(blocks(page), [Block { script: "a \\\n  b\n".into(), expected, code: 3 }]);
    let wanted = ["b".to_owned(), "...".into(), "d ... f".into()];
    assert_eq!(missing(&wanted, "a\nb\nc\nd e f"), None);
    assert_eq!(missing(&wanted, "d e f\nb"), Some("d ... f"));
    assert!(!fits("a ... c", "a b c d") && fits("a ...", "a b c d"));
    let expected = ["PASS       ...".to_owned(), "... PASS       sustained ...".into()];
    let late = ["WARNING    1 warning".to_owned(), "... WARNING    sustained ...".into()];
    assert_eq!(with_a_cliff(&expected), late);
}
