//! `probe`: what is wrong with a server? Every tool that may be called unasked is called once; then
//! the checks of [`PROBES`] try what clients and time do to servers.
//!
//! | file          | what it holds                                                        |
//! |---------------|----------------------------------------------------------------------|
//! | `execute`     | the tools first, then the checks, for as long as there is time       |
//! | `tools`       | the call that shows whether a tool works                             |
//! | `bench`       | what checks work with: sessions, tools, results                      |
//! | `asking`      | requests, what became of them, and whether the server lives on       |
//! | `first_words` | what is said before a session has begun                              |
//! | `frames`      | frames that are wrong in one place                                   |
//! | `lists`       | what a server lists, and how to fetch it                             |
//! | `seen`        | what a server made of a request, in the few words that checks need   |
//! | `slow_subject`, `echo_subject` | tools that take a while, or give back a text        |
//! | `at_once`     | many calls at the same moment                                        |
//! | `negative`    | calls that a tool must refuse: what those checks share               |
//! | `growth`      | what a server keeps of each request, measured from outside           |
//! | `checks`      | the checks, one file each                                            |
//! | `report`      | what a probe gives                                                   |

mod asking;
mod at_once;
mod bench;
mod checks;
mod echo_subject;
mod execute;
mod first_words;
mod frames;
mod growth;
mod lists;
mod negative;
mod report;
mod seen;
mod slow_subject;
mod tools;

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use mcp_loadtest_core::{check::Depth, seed::Seed, server::Server, thresholds::Thresholds};
use serde_json::Value;

pub(crate) use self::asking::last_words_of;
use self::bench::Settings;
pub use self::{
    checks::{Check, PROBES},
    report::{ProbeReport, ToolProbe, ToolVerdict},
};
use crate::stop::Stop;

/// How it ends what is said of a check that was not begun because others had taken all the time.
pub const TIME_IS_OVER: &str = "of this probe are over";
/// What is said of a tool that was not called because only another one was to be.
pub const ANOTHER_TOOL: &str = "another tool was asked for";

/// How large an oversized argument is, and how many cases a check may make of a tool, unless it is said.
const USUAL_OVERSIZED: usize = 1 << 20;
const USUAL_CASES: usize = 12;

/// Told which check is being carried out.
pub type Watcher = Arc<dyn Fn(&str) + Send + Sync>;

/// A look at a server from all sides.
#[derive(Clone)]
pub struct Probe {
    server: Server,
    settings: Settings,
    only: Option<BTreeSet<String>>,
    time_limit: Option<Duration>,
    strict_protocol: bool,
    tee_stderr: bool,
    /// What names the server in a command, where its own words do not say it all.
    named: Option<String>,
    watcher: Option<Watcher>,
    stop: Stop,
}

impl std::fmt::Debug for Probe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { server, settings, only, .. } = self;
        f.debug_struct("Probe")
            .field("server", server)
            .field("settings", settings)
            .field("only", only)
            .finish_non_exhaustive()
    }
}

impl Probe {
    /// A probe that calls only what reads.
    pub fn new(server: impl Into<Server>) -> Self {
        let thresholds = Thresholds::default();
        Self {
            server: server.into(),
            settings: Settings {
                depth: Depth::default(),
                allow_destructive: false,
                pair: None,
                strict: false,
                hang_timeout: thresholds.hang_timeout,
                grace_period: thresholds.grace_period,
                seed: Seed::default(),
                oversized: USUAL_OVERSIZED,
                cases_per_tool: USUAL_CASES,
                tool: None,
                arguments: None,
            },
            only: None,
            time_limit: None,
            strict_protocol: false,
            tee_stderr: false,
            named: None,
            watcher: None,
            stop: Stop::new(),
        }
    }

    /// Sets how far the probe goes.
    #[must_use]
    pub fn depth(mut self, depth: Depth) -> Self {
        self.settings.depth = depth;
        self
    }

    /// Sets the flags that name the server in the commands by which findings are seen again, such as
    /// `--name shop`. Without, they are made of its command or its address.
    #[must_use]
    pub fn named(mut self, flags: impl Into<String>) -> Self {
        self.named = Some(flags.into());
        self
    }

    /// Carries out these checks of [`PROBES`] and no others, however deep they lie.
    #[must_use]
    pub fn only(mut self, checks: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.only = Some(checks.into_iter().map(Into::into).collect());
        self
    }

    /// Calls only this tool; the arguments, where they are given, are known to be good.
    #[must_use]
    pub fn tool(mut self, tool: impl Into<String>, arguments: Option<Value>) -> Self {
        self.settings.tool = Some(tool.into());
        self.settings.arguments = arguments;
        self
    }

    /// Names a tool that writes and one that shows what was written, where they are not found by
    /// themselves.
    #[must_use]
    pub fn pair(mut self, writer: impl Into<String>, reader: impl Into<String>) -> Self {
        self.settings.pair = Some((writer.into(), reader.into()));
        self
    }

    /// Reports also what a schema leaves open.
    #[must_use]
    pub fn strict(mut self, strict: bool) -> Self {
        self.settings.strict = strict;
        self
    }

    /// Sets how large an oversized argument is.
    #[must_use]
    pub fn oversized(mut self, bytes: usize) -> Self {
        self.settings.oversized = bytes;
        self
    }

    /// Sets how many cases one check may make of one tool.
    #[must_use]
    pub fn cases_per_tool(mut self, cases: usize) -> Self {
        self.settings.cases_per_tool = cases;
        self
    }

    /// Sets when no further check is begun.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = Some(limit);
        self
    }

    /// Calls every tool, also those that may change or run something.
    #[must_use]
    pub fn allow_destructive(mut self, allow: bool) -> Self {
        self.settings.allow_destructive = allow;
        self
    }

    /// Fails when the server answers with another revision than it was asked for.
    #[must_use]
    pub fn strict_protocol(mut self, strict: bool) -> Self {
        self.strict_protocol = strict;
        self
    }

    /// Shows the server's stderr on ours as it comes.
    #[must_use]
    pub fn tee_stderr(mut self, tee: bool) -> Self {
        self.tee_stderr = tee;
        self
    }

    /// Sets when silence becomes a hang, and how much longer a reply is waited for.
    #[must_use]
    pub fn patience(mut self, hang_timeout: Duration, grace_period: Duration) -> Self {
        self.settings.hang_timeout = hang_timeout;
        self.settings.grace_period = grace_period;
        self
    }

    /// Sets what arguments are made up from.
    #[must_use]
    pub fn seed(mut self, seed: Seed) -> Self {
        self.settings.seed = seed;
        self
    }

    /// Has somebody told what is being done.
    #[must_use]
    pub fn watched_by(mut self, watcher: Watcher) -> Self {
        self.watcher = Some(watcher);
        self
    }

    /// Lets somebody else end the probe early.
    #[must_use]
    pub fn with_stop(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }
}
