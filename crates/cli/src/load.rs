//! From a configuration to a report on the screen: what `run`, `deadlock-probe` and `demo` share.

use std::{
    cell::Cell,
    path::{Path, PathBuf},
};

use mcp_loadtest::{Pause, Report, Run, RunError, Server, Stop, write_again};
use mcp_loadtest_core::{
    arguments::Recipe,
    config::{Config, Format},
    exit::Exit,
    report::{Renderer as _, summary, terminal::Terminal},
};

use crate::{
    commands::block_on,
    env::Env,
    error::CliError,
    fault_log::FaultLogArg,
    interrupt::{self, Signal},
    live::{Controls, LiveArgs, WebView},
    progress::ProgressLine,
};

/// What a load command shows.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct ShowArgs {
    /// Print the summary as one JSON document, and nothing else.
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress while it runs.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// A run that is ready to go.
pub(crate) struct Load {
    pub(crate) server: Server,
    pub(crate) config: Config,
    pub(crate) output_dir: PathBuf,
    pub(crate) strict_protocol: bool,
    pub(crate) tee_stderr: bool,
    pub(crate) threads: Option<u16>,
    pub(crate) show: ShowArgs,
    pub(crate) live: LiveArgs,
    pub(crate) faults: FaultLogArg,
    /// The page of `--web`, once the run is over, and what closes it.
    pub(crate) page: Cell<Option<(WebView, Signal)>>,
}

impl Load {
    /// Carries the run out.
    pub(crate) fn measure(&self, env: &mut Env) -> Result<Report, CliError> {
        let mut scenario = self.config.to_scenario()?;
        for call in &mut scenario.tool_calls {
            if let Some(Recipe::File { path, .. }) = &mut call.source {
                *path = env.path(path);
            }
        }
        let controls = Controls { stop: Stop::new(), leave: Stop::new(), pause: Pause::new() };
        let mut run = Run::new(self.server.clone(), scenario.clone())
            .with_thresholds(self.config.thresholds.clone())
            .with_output_dir(&self.output_dir)
            .with_formats(self.config.output.formats.clone())
            .with_trace(self.config.output.trace)
            .with_tags(self.config.output.tags.clone())
            .with_strict_protocol(self.strict_protocol)
            .with_tee_stderr(self.tee_stderr)
            .with_stop(controls.stop.clone())
            .with_pause(controls.pause.clone());
        if let Some(threads) = self.threads {
            run = run.with_threads(threads);
        }
        let expected = scenario.kind.settings().length();
        let (mut measured, view, closing) = block_on(async {
            // Both listen before a view is open: no signal goes unheard from its first word on, nor
            // between the end of the load and the page that stays.
            let (interrupted, closing) =
                (interrupt::listen(controls.stop.clone()), interrupt::signal());
            let faults = self.faults.so_far(expected, env);
            let view = self.live.open(&mut run, &controls, faults, env)?;
            let visible =
                env.has_audience() && !self.show.quiet && !self.tee_stderr && view.leaves_a_line();
            let line = ProgressLine::new(scenario.kind.name().as_str(), expected, visible);
            let progress = run.progress();
            let measured: Result<Report, CliError> = tokio::select! {
                outcome = run.execute() => outcome.map_err(CliError::from),
                () = line.follow(progress) => unreachable!("the line follows for ever"),
                () = interrupted => Err(CliError::Interrupted),
                () = controls.leave.stopped() => Err(CliError::Interrupted),
            };
            Ok::<_, CliError>((measured, view, closing))
        })??;
        let told = measured.as_mut().map_or(Ok(()), |report| self.tell_faults(report, env));
        self.page.set(view.finish(measured.as_ref().ok()).map(|page| (page, closing)));
        if let (Err(error), Ok(report)) = (told, &measured) {
            // Whatever is wrong with the log of faults, the run was measured.
            self.show(report, error.exit(), env);
            return Err(error);
        }
        if let Err(error @ CliError::Run(RunError::Unwritten { report, .. })) = &measured {
            // Without its files the screen is all that is left of it.
            self.show(report, error.exit(), env);
        }
        measured
    }

    /// Adds when faults were at work to the report and to its files.
    fn tell_faults(&self, report: &mut Report, env: &mut Env) -> Result<(), CliError> {
        self.faults.lay_over(report, env)?;
        if !report.faults.is_empty() {
            write_again(report, &self.config.output.formats)?;
        }
        Ok(())
    }

    /// Leaves the page of `--web` open until a signal comes; whoever has given one already is done.
    pub(crate) fn stay_open(&self, report: &Report, env: &mut Env) -> Result<(), CliError> {
        let Some((page, closing)) = self.page.take().filter(|_| !report.interrupted) else {
            return Ok(());
        };
        env.err(&format!("the report stays at {} until Ctrl-C\n", page.url()));
        block_on(closing)
    }

    /// Shows the result of the run, and in JSON how the command ends.
    pub(crate) fn show(&self, report: &Report, exit: Exit, env: &mut Env) {
        if self.show.json {
            show_json(report, report.run_dir.as_deref(), exit, env);
            return;
        }
        let formats = &self.config.output.formats;
        if formats.contains(&Format::Terminal) {
            show_terminal(report, env);
        } else {
            env.out(&format!("{}\n", report.headline()));
        }
        if let Some(dir) = &report.run_dir {
            env.out("\n");
            if formats.contains(&Format::Markdown) {
                env.out(&format!("Report: {}\n", dir.join("report.md").display()));
            }
            if formats.contains(&Format::Html) {
                env.out(&format!("Page: {}\n", dir.join("report.html").display()));
            }
            env.out(&format!("Everything: {}\n", dir.display()));
        }
    }
}

/// Prints the summary as JSON. The command may end otherwise than the run alone would.
pub(crate) fn show_json(report: &Report, run_dir: Option<&Path>, exit: Exit, env: &mut Env) {
    let mut summary = summary::summary(report, run_dir);
    summary.exit_code = exit.code();
    env.out_json(&summary);
}

/// Prints the summary for people.
pub(crate) fn show_terminal(report: &Report, env: &mut Env) {
    let mut text = Vec::new();
    // Writing to memory cannot fail.
    let _ = Terminal { signs: env.signs() }.render(report, &mut text);
    env.out(&String::from_utf8_lossy(&text));
}
