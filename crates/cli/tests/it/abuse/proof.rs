//! Where a case is tested, or why it is not; and all tests that there are.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// What shows that a case ends as it must.
pub(super) enum Proof {
    /// These tests would fail if it did not: the folder of the crate, and the path of the test.
    Tested(&'static [&'static str]),
    /// It cannot be tried, or there is nothing to try it on.
    Untried(&'static str),
}

impl Proof {
    /// The tests that are named.
    pub(super) fn tests(&self) -> &'static [&'static str] {
        match self {
            Self::Tested(tests) => tests,
            Self::Untried(_) => &[],
        }
    }
}

/// One case: what is tried, and what must come of it.
pub(super) struct Case {
    pub(super) id: &'static str,
    pub(super) tried: &'static str,
    pub(super) must: &'static str,
    pub(super) proof: Proof,
}

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every test of the workspace, as the folder of its crate and its path.
pub(crate) fn all_tests() -> BTreeSet<String> {
    let mut tests = BTreeSet::new();
    for name in ["core", "wire", "engine", "mock", "cli"] {
        for part in ["src", "tests/it"] {
            let top = root().join("crates").join(name).join(part);
            for file in sources(&top) {
                let text = fs::read_to_string(&file).unwrap();
                let module = module(file.strip_prefix(&top).unwrap());
                tests.extend(tests_in(&text, &module).map(|path| format!("{name} {path}")));
            }
        }
    }
    tests
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let inside = |path: PathBuf| if path.is_dir() { sources(&path) } else { vec![path] };
    entries
        .flat_map(inside)
        .filter(|path| path.extension().is_some_and(|end| end == "rs"))
        .collect()
}

/// `a/b.rs` and `a/b/mod.rs` are both `a::b`.
fn module(file: &Path) -> Vec<String> {
    let path = file.with_extension("");
    let mut parts: Vec<_> =
        path.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    if matches!(parts.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        parts.pop();
    }
    parts
}

fn tests_in(text: &str, module: &[String]) -> impl Iterator<Item = String> {
    let mut module = module.to_vec();
    let mut is_marked = false;
    text.lines().filter_map(move |line| {
        let line = line.trim_start();
        if line == "mod tests {" {
            module.push("tests".into());
        }
        is_marked |= line.starts_with("#[test") || line.starts_with("#[tokio::test");
        let declared = line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ")?;
        let name = declared.split('(').next()?;
        std::mem::take(&mut is_marked).then(|| format!("{}::{name}", module.join("::")))
    })
}

#[test]
fn tests_are_found_by_their_paths() {
    let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    #[tokio::test(start_paused = true)]\n    \
                async fn b() {\n    fn c(";
    let found: Vec<_> = tests_in(text, &module(Path::new("x/y/mod.rs"))).collect();
    assert_eq!(found, ["x::y::tests::b"]);
    assert!(all_tests().contains("cli abuse::proof::tests_are_found_by_their_paths"));
}
