//! The pages of docs/reference that are made from tables, and the test that holds them fresh.
//!
//! To add a page: a function that writes it, and a line in [`PAGES`].

mod commands;
mod config;
mod suite;
mod tables;

use std::{fs, path::Path};

/// A file of docs/reference, and what it says.
type Page = (&'static str, fn() -> String);

const PAGES: &[Page] = &[
    ("commands.md", commands::page),
    ("config.md", config::page),
    ("doctor.md", tables::doctor),
    ("faults.md", tables::faults),
    ("outcomes.md", tables::outcomes),
    ("probe-checks.md", tables::probe_checks),
    ("scenarios.md", tables::scenarios),
    ("suite.md", suite::page),
];

/// What stands above every page.
fn titled(title: &str, about: &str) -> String {
    format!(
        "# {title}\n\n<!-- Made by the tests from the tables of the code; see CONTRIBUTING.md. -->\n\n{about}\n"
    )
}

/// A row whose cells may hold anything.
fn row(cells: &[&str]) -> String {
    let cell = |text: &&str| {
        let line: Vec<_> = text.split_whitespace().collect();
        let line = line.join(" ").replace('|', "\\|");
        // Between backticks a tag is none, and an entity would be shown as it is written.
        let parts = line.split('`').enumerate();
        let parts = parts.map(|(at, part)| match at % 2 {
            0 => part.replace('<', "&lt;"),
            _ => part.to_owned(),
        });
        parts.collect::<Vec<_>>().join("`")
    };
    format!("| {} |\n", cells.iter().map(cell).collect::<Vec<_>>().join(" | "))
}

/// The head of a table.
fn head(names: &[&str]) -> String {
    format!("\n{}|{}\n", row(names), "---|".repeat(names.len()))
}

#[test]
#[expect(clippy::disallowed_methods, reason = "whoever runs the tests says what to do with pages")]
fn pages_are_fresh() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
    let update = std::env::var("INSTA_UPDATE").is_ok_and(|value| value == "always");
    for (name, page) in PAGES {
        let (path, new) = (dir.join(name), page());
        if update {
            fs::write(&path, &new).unwrap();
        }
        let old = fs::read_to_string(&path).unwrap_or_default();
        assert!(old == new, "docs/reference/{name} is old; INSTA_UPDATE=always writes it anew");
    }
}

#[test]
fn a_bar_or_a_tag_in_a_text_breaks_no_table() {
    assert_eq!(row(&["a|b", "x\n<y> `<z>`"]), "| a\\|b | x &lt;y> `<z>` |\n");
}
