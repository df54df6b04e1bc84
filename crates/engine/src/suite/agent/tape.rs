//! What models said, written down and said again. Only the model is recorded: faults, tools and gate
//! are the same as ever, so that a recorded run is judged like the first one.

use std::{
    collections::VecDeque,
    path::{Component, Path, PathBuf},
};

use mcp_loadtest_core::{agent::Turn, secrets::Secrets};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// The version of the file.
const SCHEMA: &str = "mcp-loadtest/tape/v1";

/// What a model said in one run.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tape {
    schema: String,
    turns: VecDeque<Turn>,
}

/// Where a suite is from `here`, which is where we were started: tapes know it by that, so that they are
/// the same in another checkout.
pub(super) fn place(suite: &str, here: &Path) -> String {
    let path = Path::new(suite);
    let path = path.strip_prefix(here).unwrap_or(path);
    let parts = path.components().filter(|part| *part != Component::CurDir);
    parts.map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// The file of one run of one test of the suite at this place. Two names may be the same but for letters
/// that no file should have, and two suites but for their directory: a hash tells them apart.
pub(super) fn file(dir: &Path, place: &str, test: &str, number: u32) -> PathBuf {
    let hash = Sha256::digest(format!("{place}\0{test}"));
    let hash: String = hash.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    dir.join(format!("{}.{hash}.{}.json", name(place, test), number + 1))
}

/// What such a file was called before it had a hash.
fn older(dir: &Path, place: &str, test: &str, number: u32) -> PathBuf {
    dir.join(format!("{}.{}.json", name(place, test), number + 1))
}

fn name(place: &str, test: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let slug = |text: &str| text.chars().map(letter).collect::<String>();
    let suite = Path::new(place).file_stem().unwrap_or_default().to_string_lossy();
    format!("{}.{}", slug(&suite), slug(test))
}

impl Tape {
    pub(super) fn of(turns: Vec<Turn>) -> Self {
        Self { schema: SCHEMA.into(), turns: turns.into() }
    }

    /// The tape of one run of one test.
    pub(super) fn find(dir: &Path, place: &str, test: &str, number: u32) -> Result<Self, String> {
        let (file, older) = (file(dir, place, test, number), older(dir, place, test, number));
        Self::read(if !file.exists() && older.exists() { &older } else { &file })
    }

    fn read(file: &Path) -> Result<Self, String> {
        let shown = file.display();
        let text = std::fs::read_to_string(file).map_err(|error| format!("{shown}: {error}"))?;
        let tape: Self =
            serde_json::from_str(&text).map_err(|error| format!("{shown}: {error}"))?;
        match tape.schema.as_str() {
            SCHEMA => Ok(tape),
            other => Err(format!("{shown}: it is `{other}`, and should be `{SCHEMA}`")),
        }
    }

    pub(super) fn write(&self, file: &Path, secrets: &Secrets) -> Result<(), String> {
        let told = |error: std::io::Error| format!("{}: {error}", file.display());
        if let Some(dir) = file.parent() {
            std::fs::create_dir_all(dir).map_err(told)?;
        }
        let text = serde_json::to_string_pretty(self).unwrap_or_default() + "\n";
        std::fs::write(file, &*secrets.text(&text)).map_err(told)
    }

    /// What it said next.
    pub(super) fn next(&mut self) -> Result<Turn, String> {
        self.turns.pop_front().ok_or_else(|| {
            "the recorded model has no more to say: the run is not the one that was recorded".into()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_test_of_each_suite_has_a_file_of_its_own() {
        let names = [
            ("a/suite.yml", "find it"),
            ("b/suite.yml", "find it"),
            ("a/suite.yml", "find-it"),
            ("a/suite.yml", "Find it"),
            ("a/suite.yml", "найти"),
            ("a/suite.yml", "взять"),
        ];
        let files = names.map(|(suite, test)| file(Path::new("d"), suite, test, 0));
        for (at, one) in files.iter().enumerate() {
            assert!(!files[..at].contains(one), "{}", one.display());
        }
        assert_ne!(file(Path::new("d"), "s", "t", 0), file(Path::new("d"), "s", "t", 1));
        // Tapes are kept for long: a new name would make all of them useless.
        assert_eq!(files[0], Path::new("d").join("suite.find-it.29c0fd2f.1.json"));
    }

    #[test]
    fn a_suite_is_at_the_same_place_in_every_checkout() {
        let (one, other) = (Path::new("/home/one/repo"), Path::new("/ci/repo"));
        let wanted = "tests/suite.yml";
        assert_eq!(place("tests/suite.yml", one), wanted);
        assert_eq!(place("./tests/./suite.yml", one), wanted);
        assert_eq!(place("/home/one/repo/tests/suite.yml", one), wanted);
        assert_eq!(place("/ci/repo/tests/suite.yml", other), wanted);
        assert_eq!(place("../suite.yml", one), "../suite.yml");
    }

    #[test]
    fn a_tape_with_the_name_of_before_is_still_read() {
        let dir = tempfile::tempdir().unwrap();
        let write = |file: &Path, text: &str| {
            let turn = Turn { text: text.into(), ..Turn::default() };
            Tape::of(vec![turn]).write(file, &Secrets::default()).unwrap();
        };
        let said = || Tape::find(dir.path(), "a/s.yml", "t", 0).unwrap().next().unwrap().text;
        write(&dir.path().join("s.t.1.json"), "before");
        assert_eq!(said(), "before");
        write(&file(dir.path(), "a/s.yml", "t", 0), "now");
        assert_eq!(said(), "now");
    }
}
