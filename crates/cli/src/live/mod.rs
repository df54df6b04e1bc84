//! Looking at a run while it goes on: `--tui` on the terminal, `--web` in a browser.
//!
//! Each view has a thread of its own, looks at the run a few times a second through
//! [`mcp_loadtest::Watch`], and may hold or end it. Load threads never wait for a view.
//! To add one: a folder here, a flag of [`LiveArgs`] and a variant of [`View`].

mod tui;
mod web;

use std::net::SocketAddr;

use clap::Args;
use mcp_loadtest::{Pause, Report, Run, Stop};

use crate::{env::Env, error::CliError, fault_log::FaultsSoFar, listen::parse_listen};

pub(crate) use web::WebView;

/// How the run is watched.
#[derive(Debug, Clone, Copy, Default, Args)]
#[command(next_help_heading = "While it runs")]
pub(crate) struct LiveArgs {
    /// Show rates, latency, tools and failures on the whole terminal; `?` lists its keys.
    #[arg(long, conflicts_with_all = ["web", "quiet", "tee_stderr"])]
    tui: bool,
    /// Show the report as it grows in a browser, from this address of this machine; such as
    /// 127.0.0.1:0. It stays open at the end, until Ctrl-C.
    #[arg(long, value_name = "ADDRESS", value_parser = parse_listen)]
    web: Option<SocketAddr>,
    /// Let --web listen where other machines reach it: everybody there can read the report.
    #[arg(long, requires = "web", conflicts_with = "tui")]
    web_remote: bool,
}

/// The signals that a view may give.
#[derive(Debug, Clone)]
pub(crate) struct Controls {
    /// Ends the run and keeps what was measured.
    pub(crate) stop: Stop,
    /// Ends us at once.
    pub(crate) leave: Stop,
    /// Holds the load.
    pub(crate) pause: Pause,
}

/// A view that is open.
pub(crate) enum View {
    /// Only the line on stderr, if that.
    Line,
    /// The whole terminal.
    Tui(tui::Tui),
    /// A browser.
    Web(WebView),
}

impl LiveArgs {
    /// Whether a view was asked for.
    pub(crate) fn is_wanted(&self) -> bool {
        self.tui || self.web.is_some()
    }

    /// Opens the view that was asked for.
    pub(crate) fn open(
        &self,
        run: &mut Run,
        controls: &Controls,
        faults: FaultsSoFar,
        env: &mut Env,
    ) -> Result<View, CliError> {
        if self.tui {
            let Some((screen, color)) = env.screen() else {
                return Err(CliError::usage(
                    "--tui needs a terminal, and stderr is none",
                    "leave it out, or use --web 127.0.0.1:0",
                ));
            };
            let tui = tui::Tui::start(run.watch(), controls.clone(), screen, color);
            return Ok(View::Tui(tui.map_err(CliError::Terminal)?));
        }
        let Some(address) = self.web else { return Ok(View::Line) };
        if !address.ip().is_loopback() && !self.web_remote {
            return Err(CliError::usage(
                format!("--web {address} can be reached from other machines"),
                "use 127.0.0.1, or add --web-remote if everybody there may read the report",
            ));
        }
        let view = WebView::start(run.watch(), faults, address)?;
        env.err(&format!("watch it at {}\n", view.url()));
        Ok(View::Web(view))
    }
}

impl View {
    /// Whether the line on stderr has room beside it.
    pub(crate) fn leaves_a_line(&self) -> bool {
        !matches!(self, Self::Tui(_))
    }

    /// The run is over: the terminal is as before, the browser shows the final report.
    pub(crate) fn finish(self, report: Option<&Report>) -> Option<WebView> {
        match self {
            Self::Line => None,
            Self::Tui(tui) => {
                tui.finish();
                None
            }
            Self::Web(view) => {
                let report = report?;
                view.end(report);
                Some(view)
            }
        }
    }
}
