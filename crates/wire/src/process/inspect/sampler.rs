//! Samples of a process tree over time.

use std::time::Duration;

use tokio::time::Instant;

use super::state::TreeState;
use super::system::Reader;

/// One thorough look at a process and everything that descends from it; `None` if there is no such
/// process.
pub fn inspect(pid: u32) -> Option<TreeState> {
    Reader::new().read_thoroughly(pid)
}

/// Takes cheap looks at one process tree, and knows how busy it was between two of them.
pub struct Sampler {
    pid: u32,
    reader: Reader,
    last: Option<(Instant, Duration)>,
    pss_due: Option<Instant>,
}

/// Of so many parts of the time, at most one goes into the reading of shared memory.
const PSS_SHARE: u32 = 50;

/// One look of a [`Sampler`].
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// What was seen.
    pub tree: TreeState,
    /// Processor time since the sample before, as a part of the time that passed; 100 is one
    /// processor, fully used. `None` in the first sample.
    pub cpu_pct: Option<f64>,
}

impl Sampler {
    /// A sampler for the tree under this process.
    pub fn new(pid: u32) -> Self {
        Sampler { pid, reader: Reader::new(), last: None, pss_due: None }
    }

    /// Takes a sample; `None` once the process is gone.
    pub fn sample(&mut self) -> Option<Sample> {
        let now = Instant::now();
        let mut tree = self.reader.read(self.pid)?;
        tree.pss_bytes = self.pss(now);
        let before = self.last.replace((now, tree.cpu));
        let cpu_pct = before.and_then(|(then, cpu)| percent(tree.cpu, cpu, now - then));
        Some(Sample { tree, cpu_pct })
    }
}

impl Sampler {
    /// The larger the server, the longer it takes, and the more rarely it is read.
    fn pss(&mut self, now: Instant) -> Option<u64> {
        if self.pss_due.is_some_and(|due| now < due) {
            return None;
        }
        let began = Instant::now();
        let pss = self.reader.pss(self.pid);
        self.pss_due = Some(now + began.elapsed() * PSS_SHARE);
        pss
    }
}

/// Time that a process takes with it when nobody waits for its end makes the sum shrink: that
/// counts as none used.
fn percent(now: Duration, before: Duration, passed: Duration) -> Option<f64> {
    let used = now.saturating_sub(before);
    (!passed.is_zero()).then(|| 100.0 * used.as_secs_f64() / passed.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_is_of_one_processor() {
        let second = Duration::from_secs(1);
        assert_eq!(percent(second * 3, second, second), Some(200.0));
        assert_eq!(percent(second, second * 3, second), Some(0.0));
        assert_eq!(percent(second, second, Duration::ZERO), None);
    }
}
