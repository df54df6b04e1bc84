//! What to start, and in which environment.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;

use mcp_loadtest_core::{
    secrets::{Given, Secrets},
    server::InheritEnv,
};

/// How to start a server.
///
/// ```
/// use mcp_loadtest_wire::process::Launch;
///
/// let mut launch = Launch::new("npx");
/// launch.args = vec!["-y".into(), "@modelcontextprotocol/server-everything".into()];
/// launch.env.insert("LOG_LEVEL".into(), "debug".into());
/// ```
#[derive(Clone, Default)]
pub struct Launch {
    /// A name to look up in `PATH`, or a path. A relative path counts from `working_dir`.
    pub command: String,
    /// The arguments, passed as they are: no shell reads them.
    pub args: Vec<String>,
    /// Variables for the server, on top of those it inherits.
    pub env: BTreeMap<String, String>,
    /// Which of our own variables the server inherits.
    pub inherit_env: InheritEnv,
    /// Where the server runs; our own working directory if `None`.
    pub working_dir: Option<PathBuf>,
    /// A file to which the server's stderr is appended.
    pub stderr_log: Option<PathBuf>,
    /// Whether the server's stderr is shown on ours as well.
    pub tee_stderr: TeeStderr,
    /// What is kept out of its logs; see [`Launch::keep_secrets`].
    pub secrets: Secrets,
}

/// Whether a server's stderr is shown on ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TeeStderr {
    /// It is only kept.
    #[default]
    Off,
    /// Each line is shown, made safe and marked as the server's.
    On,
    /// The same, for a program that is called otherwise.
    As(&'static str),
}

impl Launch {
    /// Starts `command` without arguments, in our directory, with the allow-listed environment.
    pub fn new(command: impl Into<String>) -> Self {
        Launch { command: command.into(), ..Launch::default() }
    }

    /// A name that is not text is no name that a program needs to find its way.
    fn inherits(&self, name: &OsStr) -> bool {
        self.inherit_env == InheritEnv::All
            || name.to_str().is_some_and(|name| self.inherit_env.passes(name))
    }

    /// Keeps out of its logs what the server is given that nobody else may know: in arguments, in variables
    /// whose names say so, also in those that it inherits. Called once, as it takes a while.
    pub fn keep_secrets(&mut self) {
        let given = Given::default().arguments(&self.args);
        let variables = self.env.iter().map(|(name, value)| (name.clone(), value.clone()));
        // What reaches every program is no secret, so only those who inherit all are given one.
        let inherits = self.inherit_env == InheritEnv::All;
        let inherited = std::env::vars_os().filter(|_| inherits).filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        let given = variables
            .chain(inherited)
            .fold(given, |given, (name, value)| given.variable(&name, &value));
        self.secrets = self.secrets.and(&given.secrets());
    }

    /// The server's whole environment, given ours; the marker is not in it yet.
    pub(super) fn environment(
        &self,
        ours: impl Iterator<Item = (OsString, OsString)>,
    ) -> BTreeMap<OsString, OsString> {
        let mut environment: BTreeMap<_, _> =
            ours.filter(|(name, _)| self.inherits(name)).collect();
        for (name, value) in &self.env {
            // Windows takes `Path` and `PATH` for one variable: what was configured must win.
            #[cfg(windows)]
            environment.retain(|known, _| !known.eq_ignore_ascii_case(name));
            environment.insert(name.into(), value.into());
        }
        environment
    }
}

/// Shows the names of the variables and hides their values, which may be secrets.
impl fmt::Debug for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Launch")
            .field("command", &self.command)
            .field("args", &mcp_loadtest_core::secrets::masked_arguments(&self.args))
            .field("env", &self.env.keys())
            .field("inherit_env", &self.inherit_env)
            .field("working_dir", &self.working_dir)
            .field("stderr_log", &self.stderr_log)
            .field("tee_stderr", &self.tee_stderr)
            .field("secrets", &self.secrets)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ours() -> impl Iterator<Item = (OsString, OsString)> {
        [("PATH", "/bin"), ("LC_ALL", "C"), ("AWS_SECRET", "s3cr3t")]
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()))
    }

    fn names(launch: &Launch) -> Vec<String> {
        let environment = launch.environment(ours());
        environment.keys().map(|name| name.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn secrets_stay_with_us_unless_everything_is_passed() {
        let mut launch = Launch::new("server");
        assert_eq!(names(&launch), ["LC_ALL", "PATH"]);
        launch.inherit_env = InheritEnv::All;
        assert_eq!(names(&launch), ["AWS_SECRET", "LC_ALL", "PATH"]);
    }

    #[test]
    fn what_was_configured_wins() {
        let mut launch = Launch::new("server");
        launch.env.insert("PATH".into(), "/opt/bin".into());
        launch.env.insert("KEY".into(), "value".into());
        let environment = launch.environment(ours());
        assert_eq!(environment[OsStr::new("PATH")], "/opt/bin");
        assert_eq!(environment[OsStr::new("KEY")], "value");
    }

    #[test]
    fn debug_output_tells_no_secret() {
        let mut launch = Launch::new("server");
        launch.env.insert("KEY".into(), "s3cr3t".into());
        launch.args = vec!["--token".into(), "s3cr3t".into()];
        let shown = format!("{launch:?}");
        assert!(shown.contains("KEY") && !shown.contains("s3cr3t"));
    }
}
