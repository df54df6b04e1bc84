//! What shows that something has an effect.

use super::{Flag, Key, bench::Bench};

/// What shows it.
pub(super) enum Proof {
    /// These tests would fail without it: the folder of the crate, and the path of the test.
    Tested(&'static [&'static str]),
    /// Only the second of these words, added to the first ones, make a run that shows this.
    Shows(&'static [&'static str], &'static [&'static str], &'static str),
    /// Only the first words alone make a run that shows this.
    Hides(&'static [&'static str], &'static [&'static str], &'static str),
    /// Only the second of these command lines shows this.
    Pair(&'static [&'static str], &'static [&'static str], &'static str),
    /// Only with the second text in place of the first does a file make the words show this.
    Written(&'static [&'static str], &'static str, &'static str, &'static str),
    /// It is one of the flags that name a server; `server` tries them with every command that has them.
    OfServers,
    /// A flag of `run` that sets it, and does nothing else.
    Flagged(&'static str),
    /// It is what this key of this schema is.
    Of(&'static str, &'static str),
}

impl Proof {
    /// What is wrong with it, if anything is.
    pub(super) fn tried(&self, what: &str) -> Result<(), String> {
        match self {
            Self::Shows(base, with, sign) => {
                told_apart(what, &ran(base, with), &ran(base, &[]), sign)
            }
            Self::Hides(base, with, sign) => {
                told_apart(what, &ran(base, &[]), &ran(base, with), sign)
            }
            Self::Pair(without, with, sign) => {
                told_apart(what, &ran(with, &[]), &ran(without, &[]), sign)
            }
            Self::Written(words, without, with, sign) => {
                told_apart(what, &written(words, with), &written(words, without), sign)
            }
            Self::Tested(_) | Self::OfServers | Self::Flagged(_) | Self::Of(..) => Ok(()),
        }
    }

    /// The tests that are named.
    pub(super) fn tests(&self) -> &'static [&'static str] {
        if let Self::Tested(tests) = self { tests } else { &[] }
    }

    /// The words that must speak of the flag: a proof of something else proves nothing.
    pub(super) fn words(&self) -> Option<String> {
        match self {
            Self::Shows(_, with, _) | Self::Hides(_, with, _) | Self::Pair(_, with, _) => {
                Some(with.join(" "))
            }
            _ => None,
        }
    }
}

/// Tries all flags of a command, and tells of all that show nothing.
pub(super) fn tried(command: &str, flags: &[Flag]) {
    let trial = |flag: &Flag| flag.2.tried(&format!("{command} {}", flag.0)).err();
    let problems: Vec<_> = flags.iter().filter_map(trial).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n----\n"));
}

/// The same for keys.
pub(super) fn written_keys(keys: &[Key]) {
    let problems: Vec<_> = keys.iter().filter_map(|key| key.1.tried(key.0).err()).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n----\n"));
}

fn ran(base: &[&str], with: &[&str]) -> String {
    let words = [base, with].concat();
    Bench::new().transcript(&words)
}

fn written(words: &[&str], text: &str) -> String {
    let bench = Bench::new();
    bench.write("given", text);
    bench.transcript(words)
}

fn told_apart(what: &str, shows: &str, silent: &str, sign: &str) -> Result<(), String> {
    match (shows.contains(sign), silent.contains(sign)) {
        (true, false) => Ok(()),
        (false, _) => Err(format!("{what}: no {sign:?} in {}", cut(shows))),
        (true, true) => Err(format!("{what}: {sign:?} is in both, as in {}", cut(silent))),
    }
}

fn cut(text: &str) -> String {
    text.chars().take(3_000).collect()
}

#[test]
fn a_proof_can_fail() {
    const BASE: &[&str] = &["list-scenarios"];
    assert!(Proof::Shows(BASE, &["--json"], "[").tried("").is_ok());
    assert!(Proof::Shows(BASE, &["--json"], "no such text").tried("").is_err());
    assert!(Proof::Shows(BASE, &["--json"], "sustained").tried("").is_err());
    assert!(Proof::Hides(BASE, &["--json"], "finds: ").tried("").is_ok());
    assert!(Proof::Hides(BASE, &["--json"], "[").tried("").is_err());
}
