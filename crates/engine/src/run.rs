//! A run: what to do to whom, and what it must keep to.

use std::{path::PathBuf, sync::Arc};

use mcp_loadtest_core::{
    config::{Config, ConfigError, Format, OutputConfig, ServerSource, Trace, check},
    event::{Event, note},
    report::{self, Report},
    scenario::Scenario,
    secrets::Secrets,
    server::Server,
    thresholds::Thresholds,
};
use mcp_loadtest_wire::{
    clock::Clock,
    torture::{Deed, strike},
};
use tokio::sync::oneshot;

use crate::{
    conductor::{conduct, run_info},
    context::{Blueprint, Pids},
    error::RunError,
    files::Files,
    pause::Pause,
    recorder::Progress,
    run_dir::{RunDir, file},
    stop::Stop,
    target::{Logs, TeeStderr, secrets_of, strictness, target},
    trace_writer::TraceWriter,
    wall_clock::Identity,
    watch::{Onlooker, Watch},
};

/// A scenario against a server. See the [crate's example](crate).
#[derive(Debug, Clone)]
pub struct Run {
    server: Server,
    scenario: Scenario,
    thresholds: Thresholds,
    output_dir: Option<PathBuf>,
    output: OutputConfig,
    strict_protocol: bool,
    tee_stderr: bool,
    threads: Option<u16>,
    only_reading: bool,
    stop: Stop,
    progress: Arc<Progress>,
    pause: Pause,
    onlooker: Option<Onlooker>,
}

impl TryFrom<Config> for Run {
    type Error = ConfigError;

    /// The run that a configuration describes, with its directory; a baseline is the caller's to compare
    /// with. [`Run::config`] leads back.
    ///
    /// ```no_run
    /// # async fn gate() -> Result<(), Box<dyn std::error::Error>> {
    /// use mcp_loadtest::{Config, Run};
    ///
    /// let text = std::fs::read_to_string("bench.toml")?;
    /// let report = Run::try_from(Config::parse(&text, "bench.toml")?)?.execute().await?;
    /// assert!(report.passed(), "{:#?}", report.threshold_violations);
    /// # Ok(()) }
    /// ```
    fn try_from(config: Config) -> Result<Self, Self::Error> {
        let server = match config.server.source()? {
            ServerSource::Here(server) => *server,
            ServerSource::Client { .. } => {
                let elsewhere = "a server of a client's file is read by the command line alone";
                return Err(ConfigError::new("server.name", elsewhere)
                    .with_hint("write its `command` or `url` here"));
            }
        };
        let run = Self::new(server, config.to_scenario()?)
            .with_thresholds(config.thresholds)
            .with_output_dir(&config.output.report_dir);
        Ok(Self { output: config.output, ..run })
    }
}

impl Run {
    /// A run without limits that leaves no files behind.
    pub fn new(server: impl Into<Server>, scenario: impl Into<Scenario>) -> Self {
        Self {
            server: server.into(),
            scenario: scenario.into(),
            thresholds: Thresholds::default(),
            output_dir: None,
            output: OutputConfig::default(),
            strict_protocol: false,
            tee_stderr: false,
            threads: None,
            only_reading: false,
            stop: Stop::new(),
            progress: Arc::default(),
            pause: Pause::new(),
            onlooker: None,
        }
    }

    /// Sets what the run must keep to.
    #[must_use]
    pub fn with_thresholds(mut self, thresholds: Thresholds) -> Self {
        self.thresholds = thresholds;
        self
    }

    /// Makes a directory for this run in `dir`, with its trace, metrics, report and server logs.
    #[must_use]
    pub fn with_output_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.output_dir = Some(dir.into());
        self
    }

    /// Sets which files the run writes besides its configuration and summary.
    #[must_use]
    pub fn with_formats(mut self, formats: impl Into<Vec<Format>>) -> Self {
        self.output.formats = formats.into();
        self
    }

    /// Sets which calls are kept in `trace.jsonl`.
    #[must_use]
    pub fn with_trace(mut self, trace: Trace) -> Self {
        self.output.trace = trace;
        self
    }

    /// Sets names under which the run is found again.
    #[must_use]
    pub fn with_tags(mut self, tags: impl Into<Vec<String>>) -> Self {
        self.output.tags = tags.into();
        self
    }

    /// Fails when the server answers with another revision than it was asked for.
    #[must_use]
    pub fn with_strict_protocol(mut self, strict: bool) -> Self {
        self.strict_protocol = strict;
        self
    }

    /// Shows the server's stderr on ours as it comes.
    #[must_use]
    pub fn with_tee_stderr(mut self, tee: bool) -> Self {
        self.tee_stderr = tee;
        self
    }

    /// Sets how many threads make the load; as many as are useful when absent.
    #[must_use]
    pub fn with_threads(mut self, threads: u16) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Refuses tools that may do more than read, even those that are named: for whoever carries
    /// out what somebody else asks for.
    #[must_use]
    pub fn only_reading(mut self, only: bool) -> Self {
        self.only_reading = only;
        self
    }

    /// Lets somebody else end the run early.
    #[must_use]
    pub fn with_stop(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }

    /// Lets somebody else hold the load and let it go on.
    #[must_use]
    pub fn with_pause(mut self, pause: Pause) -> Self {
        self.pause = pause;
        self
    }

    /// Lets somebody else see what the run sees: rates, latency, tools and failures, a few times a
    /// second. One watches at a time; a signal to stop or a pause must have been set before.
    ///
    /// ```no_run
    /// # async fn watch() -> Result<(), mcp_loadtest::RunError> {
    /// # use mcp_loadtest::{Run, Scenario, Server};
    /// let mut run = Run::new(Server::stdio("my-server"), Scenario::sustained());
    /// let mut watch = run.watch();
    /// let watcher = tokio::spawn(async move {
    ///     loop {
    ///         tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    ///         let now = watch.snapshot();
    ///         tracing_or_whatever(now.per_sec, now.recent.p99_ms);
    ///     }
    /// });
    /// # fn tracing_or_whatever(_: f64, _: Option<f64>) {}
    /// let report = run.execute().await?;
    /// watcher.abort();
    /// # let _ = report; Ok(()) }
    /// ```
    pub fn watch(&mut self) -> Watch {
        let (watch, onlooker) =
            Watch::new(self.stop.clone(), self.pause.clone(), secrets_of(&self.server));
        self.onlooker = Some(onlooker);
        watch
    }

    /// Lets somebody else see how far the run has come.
    pub fn progress(&self) -> Arc<Progress> {
        self.progress.clone()
    }

    /// Carries the run out, in threads of its own. Dropping the future ends the run and its servers.
    pub async fn execute(self) -> Result<Report, RunError> {
        check::all(&self.server, &self.scenario, &self.thresholds)?;
        let ends_with_us = self.stop.on_drop();
        let (tell, told) = oneshot::channel();
        let thread = std::thread::Builder::new().name("mcp-loadtest".into());
        strike(Deed::Spawn, "the thread of the run")
            .and_then(|()| {
                thread.spawn(move || {
                    // Whoever dropped the future does not want the report.
                    let _ = tell.send(self.execute_here());
                })
            })
            .map_err(RunError::thread)?;
        let result = told.await;
        drop(ends_with_us);
        result.map_err(|_| RunError::Internal("the run's thread panicked".into()))?
    }

    fn execute_here(self) -> Result<Report, RunError> {
        let identity = Identity::new();
        let secrets = secrets_of(&self.server);
        let dir = match &self.output_dir {
            Some(parent) => Some(RunDir::create(parent, &identity, &self.config(), &secrets)?),
            None => None,
        };
        let trace_path = dir
            .as_ref()
            .map(|dir| dir.file(file::TRACE))
            .filter(|_| self.output.trace != Trace::Off);
        let writer = match &trace_path {
            Some(path) => {
                let started = TraceWriter::start(path, self.output.trace, secrets.clone())
                    .inspect_err(|_| remove(&dir));
                Some(started.map_err(|source| RunError::Output { path: path.clone(), source })?)
            }
            None => None,
        };
        let blueprint = self
            .blueprint(dir.as_ref(), writer.as_ref(), &secrets)
            .inspect_err(|_| remove(&dir))?;
        let judged = blueprint.without_trace();
        let conducted = conduct(blueprint, &identity);
        let written = writer.map_or(Ok(()), TraceWriter::finish);
        let mut conducted = conducted.map_err(|error| match &dir {
            Some(kept) if !error.leaves_nothing() => error.with_log(kept.file(file::STDERR)),
            _ => {
                remove(&dir);
                error
            }
        })?;
        let run_dir = dir.as_ref().map(|dir| dir.path().to_owned());
        let trace = trace_path.clone().unwrap_or_default();
        let info = run_info(&judged, &identity, &conducted, trace, run_dir);
        let mut tell = |failed: Option<&RunError>| {
            if let Some(why) = failed {
                let lacking = Event::note(conducted.duration, note::UNWRITTEN, why.to_string());
                conducted.tally.observe(&lacking);
            }
            let mut report = report::build(info.clone(), &conducted.tally);
            report.tags.clone_from(&self.output.tags);
            let report = secrets.document(report).map_err(RunError::unmasked)?;
            let written = dir.as_ref().map(|dir| dir.write_report(&report, &self.output.formats));
            Ok::<_, RunError>((report, written.unwrap_or(Ok(()))))
        };
        let written = written
            .map_err(|source| RunError::Output { path: trace_path.unwrap_or_default(), source });
        let (report, reported) = tell(written.as_ref().err())?;
        let (report, why) = match (written, reported) {
            (Ok(()), Ok(())) => return Ok(report),
            (Err(why), _) => (report, why),
            // Those files that can be written must not say that all is well.
            (Ok(()), Err(why)) => (tell(Some(&why))?.0, why),
        };
        // What was measured is worth more than the files.
        Err(RunError::Unwritten { report: Box::new(report), why: Box::new(why) })
    }

    /// The run as data, as its directory keeps it. Whoever stops, pauses or watches it is not part of
    /// that. It holds the values of `env` and `headers`, secrets included.
    pub fn config(&self) -> Config {
        let mut config = Config::of_run(&self.server, &self.scenario, &self.thresholds);
        config.output = self.output.clone();
        if let Some(dir) = &self.output_dir {
            config.output.report_dir.clone_from(dir);
        }
        config
    }

    fn blueprint(
        &self,
        dir: Option<&RunDir>,
        writer: Option<&TraceWriter>,
        secrets: &Secrets,
    ) -> Result<Blueprint, RunError> {
        let tee = if self.tee_stderr { TeeStderr::On } else { TeeStderr::Off };
        let logs = Logs {
            stdout: dir.map(|dir| dir.file(file::STDOUT)),
            stderr: dir.map(|dir| dir.file(file::STDERR)),
        };
        Ok(Blueprint {
            server: self.server.clone(),
            scenario: self.scenario.clone(),
            thresholds: self.thresholds.clone(),
            files: Arc::new(Files::read(&self.scenario)?),
            target: target(&self.server, tee, logs.clone())?,
            strictness: strictness(&self.server, self.strict_protocol),
            threads: self.threads,
            only_reading: self.only_reading,
            clock: Clock::start(),
            stop: self.stop.clone(),
            pause: self.pause.clone(),
            onlooker: self.onlooker.clone(),
            enough: Stop::new(),
            trace: writer.map(TraceWriter::sender),
            trace_mode: self.output.trace,
            progress: self.progress.clone(),
            pids: Pids::default(),
            stderr_log: logs.stderr,
            stdout_log: logs.stdout,
            secrets: secrets.clone(),
        })
    }
}

/// Nothing happened that anybody could want to look at.
fn remove(dir: &Option<RunDir>) {
    if let Some(dir) = dir {
        dir.remove();
    }
}
