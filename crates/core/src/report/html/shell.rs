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

/// The one script of a page.
pub(super) fn script() -> String {
    format!("\n{UPLOT}\n{SCRIPT}")
}

/// A whole page around this body.
pub(crate) fn page(title: &str, body: &str, data: &Value) -> String {
    let policy = format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        SCRIPT_PRINT.trim()
    );
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>\n{UPLOT_STYLE}\n{STYLE}</style>\n</head>\n<body>\n{body}\
         <script type=\"application/json\" id=\"data\">{}</script>\n<script>{}</script>\n</body>\n</html>\n",
        text(title, LONGEST_NAME),
        json(data),
        script(),
    )
}
