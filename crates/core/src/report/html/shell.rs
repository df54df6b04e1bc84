//! What every page is made of: policy, style, script, and the data that the script draws.

use serde_json::Value;

use super::escape::{LONGEST_NAME, json, text};

const UPLOT: &str = include_str!("../../../assets/report/uplot/uPlot.iife.min.js");
const UPLOT_STYLE: &str = include_str!("../../../assets/report/uplot/uPlot.min.css");
const STYLE: &str = include_str!("../../../assets/report/report.css");
const SCRIPT: &str = include_str!("../../../assets/report/report.js");
/// The print of [`script`], which is the only one that a browser will run: should text from a server
/// ever get past the escapes, it still does nothing. `scripts/report-script-print.py` writes it.
pub(super) const SCRIPT_PRINT: &str = include_str!("../../../assets/report/script.sha256");
/// Changes between light and dark; the script knows it by its id.
pub(crate) const THEME_BUTTON: &str = "<button id=\"theme\" type=\"button\" aria-pressed=\"false\" aria-label=\"dark colours\">◐</button>";

/// Of [`live_script`].
pub(super) const LIVE_PRINT: &str = include_str!("../../../assets/report/live.sha256");
const LIVE_SCRIPT: &str = include_str!("../../../assets/report/live.js");

/// The one script of a page.
pub(super) fn script() -> String {
    format!("\n{UPLOT}\n{SCRIPT}")
}

/// The one script of a page that is kept up to date by who serves it.
pub(super) fn live_script() -> String {
    format!("{}\n{LIVE_SCRIPT}", script())
}

/// A whole page around this body.
pub(crate) fn page(title: &str, body: &str, data: &Value) -> String {
    around(title, body, data, &script(), &format!("script-src 'sha256-{}'", SCRIPT_PRINT.trim()))
}

/// A whole page around this body, which asks who serves it for what is new.
pub(crate) fn live_page(title: &str, body: &str, data: &Value) -> String {
    let print = LIVE_PRINT.trim();
    let may = format!("script-src 'sha256-{print}'; connect-src 'self'");
    around(title, body, data, &live_script(), &may)
}

fn around(title: &str, body: &str, data: &Value, script: &str, may: &str) -> String {
    let policy = format!(
        "default-src 'none'; style-src 'unsafe-inline'; {may}; base-uri 'none'; form-action 'none'"
    );
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>\n{UPLOT_STYLE}\n{STYLE}</style>\n</head>\n<body>\n{body}\
         <script type=\"application/json\" id=\"data\">{}</script>\n<script>{}</script>\n</body>\n</html>\n",
        text(title, LONGEST_NAME),
        json(data),
        script,
    )
}
