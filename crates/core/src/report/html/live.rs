//! The page of a run that goes on: the report's own, without what only the end can tell.
//!
//! A [`Frame`] is what a browser needs to catch up. The page has the newest one when it is opened and
//! is sent the others; `assets/report/live.js` puts them in place.

use serde_json::{Value, json};

use super::{
    figure::Figure,
    page::{data, footer, header_with, section},
    plots::{PLOTS, Part, Plot},
    shell::{self, THEME_BUTTON},
};
use crate::{live::State, report::Report};

/// What a page shows at one moment.
#[derive(Debug, Clone)]
pub struct Frame {
    title: String,
    header: String,
    main: String,
    footer: String,
    data: Value,
}

impl Frame {
    /// The run at this moment; before its session is open there is no report.
    pub fn of(report: Option<&Report>, state: State) -> Self {
        let Some(report) = report else { return Self::empty() };
        let made = PLOTS.iter().filter(|plot| is_told(plot)).filter_map(|plot| {
            let figure = (plot.make)(report)?;
            Some((plot, figure))
        });
        let figures: Vec<(&Plot, Figure)> = made.collect();
        let parts: String = Part::ALL.iter().map(|part| section(*part, &figures)).collect();
        Self {
            title: format!("{} {}", state.as_str(), report.server_info.target),
            header: header_with(report, ("note", state.as_str()), "judged at the end"),
            main: parts,
            footer: footer(report),
            data: data(&figures),
        }
    }

    fn empty() -> Self {
        Self {
            title: "mcp-loadtest".into(),
            header: format!(
                "<header>\n<div class=\"top\"><span class=\"verdict note\">{}</span><div>\
                 <h1>The server is being started</h1><p class=\"facts\">judged at the end</p></div>{THEME_BUTTON}</div>\n\
                 <dl class=\"tiles\"></dl></header>\n",
                State::Starting.as_str()
            ),
            main: String::new(),
            footer: "<footer></footer>\n".into(),
            data: json!({}),
        }
    }

    /// The page that begins with this.
    pub fn page(&self) -> String {
        let body = format!("{}<main>\n{}</main>\n{}", self.header, self.main, self.footer);
        shell::live_page(&self.title, &body, &self.data)
    }

    /// The same for a page that is open already: a JSON object without a line break.
    pub fn update(&self) -> String {
        json!({
            "title": self.title,
            "header": self.header,
            "main": self.main,
            "footer": self.footer,
            "data": self.data,
        })
        .to_string()
    }
}

/// Whether a plot can be told before the end. How far figures can be trusted cannot.
fn is_told(plot: &Plot) -> bool {
    plot.part != Part::Trust || plot.id == "environment"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{report::fixture::Run, scenario::Scenario};

    #[test]
    fn a_run_that_goes_on_has_plots_and_no_verdict() {
        let report = Run::of(Scenario::sustained()).ok("<b>", 2_000, 4_000).report();
        let page = Frame::of(Some(&report), State::Paused).page();
        assert!(page.contains(">PAUSED</span>") && page.contains("id=\"tools\""));
        assert!(page.contains("connect-src 'self'") && !page.contains("id=\"validity\""));
        assert!(!page.contains(">PASS<") && !page.contains("<b>"));
    }

    #[test]
    fn an_update_is_one_line() {
        let report = Run::of(Scenario::sustained()).ok("two\nlines", 2_000, 4_000).report();
        let update = Frame::of(Some(&report), State::Running).update();
        assert!(!update.contains('\n') && serde_json::from_str::<Value>(&update).is_ok());
        assert!(Frame::of(None, State::Starting).page().contains("being started"));
    }
}
