//! The table of kinds and selectors as text, for help and documentation.

use std::fmt::Write as _;

use super::{FAULTS, SELECTORS, entry::Entry};
use crate::config::TransportName;

/// Every kind with its argument and meaning, then every selector.
pub fn reference() -> String {
    let kinds = FAULTS.iter().map(|entry| (entry.usage(), meaning(entry)));
    let selectors =
        SELECTORS.iter().map(|(name, about)| (format!("{name}=…"), (*about).to_owned()));
    let mut text = String::from("Faults, written `kind[:argument][@selector=value,…]`:\n");
    table(&mut text, &kinds.collect::<Vec<_>>());
    text.push_str("\nSelectors; all of them must hold:\n");
    table(&mut text, &selectors.collect::<Vec<_>>());
    text
}

fn table(text: &mut String, rows: &[(String, String)]) {
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    for (name, about) in rows {
        let _ = writeln!(text, "  {name:width$}  {about}");
    }
}

/// What a kind does, and where, unless that is everywhere.
fn meaning(entry: &Entry) -> String {
    if entry.place.transports.len() == TransportName::ALL.len() {
        return entry.about.to_owned();
    }
    let transports: Vec<_> =
        entry.place.transports.iter().map(|transport| transport.as_str()).collect();
    format!("{} Only over {}.", entry.about, transports.join(", "))
}
