//! The k-th thing that the system does for us fails, for many k, in every scenario: nothing panics,
//! nothing hangs, nothing is lost unsaid. See docs/design/torture.md.

mod runs;
mod stores;
mod verdicts;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Read as _,
    path::{Path, PathBuf},
    process::{Child, ExitStatus},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use crate::process::binary;

/// Nothing here takes so long unless it hangs.
const PATIENCE: Duration = Duration::from_secs(180);
/// Processes that are tortured at the same time.
const AT_ONCE: usize = 3;

/// A directory in which one command is tortured.
struct Rack {
    dir: tempfile::TempDir,
}

impl Rack {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Starts a command of which the deed fails that is named so, as in `write:17`.
    fn start(&self, args: &[String], torture: &str) -> Child {
        binary()
            .args(args)
            .current_dir(self.dir.path())
            .env("MCP_LOADTEST_TORTURE", torture)
            .env("MCP_LOADTEST_TORTURE_LOG", self.path("log"))
            .spawn()
            .unwrap()
    }

    /// Runs a command to its end.
    fn run(&self, args: &[String], torture: &str) -> Ended {
        ended(self.start(args, torture), torture)
    }

    /// What the system was asked for: the word of the deed, whether it failed, and its place.
    fn deeds(&self) -> Vec<Deed> {
        let text = fs::read_to_string(self.path("log")).unwrap_or_default();
        let parse = |line: &str| {
            let parts: Vec<_> = line.splitn(4, ' ').collect();
            let [word, _, end, place] = parts[..] else { panic!("no deed: {line}") };
            Deed { word: word.into(), failed: end == "failed", place: place.into() }
        };
        text.lines().map(parse).collect()
    }

    /// The one that failed, if it was come to.
    fn failed(&self) -> Option<Deed> {
        self.deeds().into_iter().find(|deed| deed.failed)
    }
}

/// One thing that the system was asked for.
#[derive(Debug)]
struct Deed {
    word: String,
    failed: bool,
    place: String,
}

/// How a command ended.
struct Ended {
    code: i32,
    out: String,
    err: String,
}

/// Waits for the end of a command that must end by itself, without a panic.
fn ended(mut child: Child, what: &str) -> Ended {
    let (mut out, mut err) = (child.stdout.take(), child.stderr.take());
    let (tell, told) = mpsc::channel();
    let (pid, what) = (rustix::process::Pid::from_child(&child), what.to_owned());
    let waiting = thread::spawn(move || {
        let mut texts = [String::new(), String::new()];
        let _ = out.as_mut().map(|out| out.read_to_string(&mut texts[0]));
        let _ = err.as_mut().map(|err| err.read_to_string(&mut texts[1]));
        let _ = tell.send((child.wait().unwrap(), texts));
    });
    let Ok((status, [out, err])): Result<(ExitStatus, _), _> = told.recv_timeout(PATIENCE) else {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        panic!("{what}: it hangs");
    };
    waiting.join().unwrap();
    assert!(!err.contains("panicked"), "{what}: {err}");
    let code = status.code().unwrap_or_else(|| panic!("{what}: {status}\n{err}"));
    Ended { code, out, err }
}

/// How many deeds are to fail.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Choice {
    /// Of each kind the first two, the middle, the last, and one by chance that is always the same.
    Few,
    /// The last at each place, too: every file, every thread, every pipe.
    EveryPlace,
}

/// Which deeds are to fail, one at a time.
fn chosen(deeds: &[Deed], choice: Choice) -> BTreeSet<String> {
    let mut counts = BTreeMap::<&str, u64>::new();
    let mut places = BTreeMap::new();
    for deed in deeds {
        let count = counts.entry(&deed.word).or_default();
        *count += 1;
        // The directory is another one each time.
        places.insert((&deed.word, deed.place.rsplit('/').next()), *count);
    }
    let mut all = BTreeSet::new();
    for (word, count) in counts {
        let by_chance = 1 + (count * 7919 + word.len() as u64) % 104_729 % count;
        let numbers = [1, 2, count.div_ceil(2), by_chance, count];
        let numbers = numbers.into_iter().filter(|number| *number <= count);
        all.extend(numbers.map(|number| format!("{word}:{number}")));
    }
    if choice == Choice::EveryPlace {
        all.extend(places.into_iter().map(|((word, _), number)| format!("{word}:{number}")));
    }
    all
}

/// Does the same for each of many, some at a time, and fails with all that went wrong.
fn for_each<T: Sync>(all: &[T], deed: impl Fn(&T) -> Result<(), String> + Sync) {
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(one) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(why) = deed(one) {
                        wrong.lock().unwrap().push(why);
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), all.len(), wrong.join("\n\n"));
}

/// The only directory in this one; none, where none was made.
fn only_in(parent: &Path) -> Option<PathBuf> {
    Some(fs::read_dir(parent).ok()?.next()?.unwrap().path())
}

#[test]
fn a_torture_that_is_none_is_refused() {
    let rack = Rack::new();
    let ran = rack.run(&["list-scenarios".into()], "sneeze:1");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("`sneeze:1` is no torture"), "{}", ran.err);
}
