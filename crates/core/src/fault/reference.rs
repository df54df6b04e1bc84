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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_says_where_a_kind_is_possible_unless_that_is_everywhere() {
        let help = reference();
        let line = |name: &str| {
            let found = help.lines().find(|line| line.trim_start().starts_with(name));
            found.unwrap_or_else(|| panic!("{name}")).to_owned()
        };
        for (usage, place) in [
            ("hang ", None),
            ("slow:<ms> ", None),
            ("error[:<code>] ", None),
            ("http[:<status>] ", Some("Only over http, sse.")),
            ("session-lost ", Some("Only over http.")),
            ("noise ", Some("Only over stdio.")),
        ] {
            let line = line(usage);
            let said = line.find("Only over").map(|at| &line[at..]);
            assert_eq!(said, place, "{usage}");
        }
        assert!(line("nth=… ").ends_with("only the call with this number, counted from 1"));
    }
}
