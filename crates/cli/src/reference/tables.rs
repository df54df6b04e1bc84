//! The pages that are one table, or two.

use mcp_loadtest::{PROBES, scenario::SCENARIOS};
use mcp_loadtest_core::{
    check::Depth,
    exit::Exit,
    fault::{FAULTS, SELECTORS},
    outcome::ErrorCategory,
};

use super::{head, row, titled};
use crate::commands::doctor::CHECKS;

pub(super) fn doctor() -> String {
    let about = "`mcp-loadtest doctor` looks at these; `--only ID,ID` at some of them.";
    let rows: String =
        CHECKS.iter().map(|check| row(&[&format!("`{}`", check.id), check.about])).collect();
    titled("Checks of doctor", about) + &head(&["check", "what it looks at"]) + &rows
}

pub(super) fn faults() -> String {
    let about = "`--fault KIND[:ARGUMENT][@SELECTOR=VALUE,...]` of `mock`, `proxy` and `agent`; in \
                 files the same words with underscores. docs/design/faults.md says how they work.";
    let mut text = titled("Faults", about) + &head(&["fault", "what it does", "over"]);
    for fault in FAULTS {
        let over: Vec<_> = fault.place.transports.iter().map(|it| it.as_str()).collect();
        text.push_str(&row(&[&format!("`{}`", fault.usage()), fault.about, &over.join(", ")]));
    }
    text.push_str("\n## Selectors\n\nAll that are given must hold.\n");
    text.push_str(&head(&["selector", "which calls"]));
    for (name, about) in SELECTORS {
        text.push_str(&row(&[&format!("`{name}`"), about]));
    }
    text
}

pub(super) fn outcomes() -> String {
    let about = "Every failed call falls into exactly one category (docs/design/load.md says why these). \
                 A command ends with one of the codes below, unless the last table names it: it stands in \
                 for somebody else, or serves until it is told to stop.";
    let mut text = titled("Error categories and exit codes", about);
    text.push_str(&head(&["category", "what it means"]));
    for category in ErrorCategory::ALL {
        text.push_str(&row(&[&format!("`{}`", category.name()), category.meaning()]));
    }
    text.push_str(&head(&["exit code", "what it means"]));
    for (code, meaning) in Exit::CODES {
        text.push_str(&row(&[&format!("`{code}`"), meaning]));
    }
    text.push_str(&head(&["command", "exit code"]));
    for (command, code) in Exit::OTHERWISE {
        text.push_str(&row(&[command, code]));
    }
    text
}

pub(super) fn probe_checks() -> String {
    let about = "`mcp-loadtest probe` carries these out; `--only ID,ID` some of them. \
                 docs/design/probe.md says how they judge.";
    let mut text = titled("Checks of probe", about);
    text.push_str(&head(&["check", "about", "with", "what it tries"]));
    for check in PROBES {
        let depth = match check.depth {
            Depth::Quick => "`--quick`",
            Depth::Usual => "by default",
            Depth::Deep => "`--deep`",
        };
        let id = format!("`{}`", check.id);
        text.push_str(&row(&[&id, check.family.name(), depth, check.about]));
    }
    text
}

pub(super) fn scenarios() -> String {
    let about = "`mcp-loadtest run --scenario NAME`, or `[scenario] type = \"NAME\"`.";
    let mut text = titled("Scenarios", about);
    for entry in SCENARIOS {
        text.push_str(&format!(
            "\n## {}\n\n{}. Finds: {}.\n\n```text\n{}\n```\n\nKnobs: {}.\n",
            entry.name.as_str(),
            entry.summary.trim_end_matches('.'),
            entry.detects.trim_end_matches('.'),
            entry.algorithm.trim_end(),
            entry.knobs.trim_end_matches('.')
        ));
    }
    text
}
