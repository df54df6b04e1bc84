//! A run that is compared with an earlier one as soon as it ends.

use mcp_loadtest::{
    Comparison, ComparisonVerdict, History, PastRun, Report, SavedRun, write_comparison,
};
use mcp_loadtest_core::{
    compare::{self, Undecided},
    config::Baseline,
    exit::Exit,
    report::summary,
};

use crate::{
    env::Env,
    error::CliError,
    load::{self, Load},
};

/// A run, what it was compared with, and how the command ends.
pub(crate) struct Compared {
    pub(crate) exit: Exit,
    pub(crate) report: Report,
    pub(crate) comparison: Option<Comparison>,
}

/// Carries a run out, shows it, and compares it with its baseline where it has one.
pub(crate) fn execute(load: &Load, env: &mut Env) -> Result<Compared, CliError> {
    let Some(baseline) = &load.config.compare.baseline else {
        let report = load.measure(env)?;
        let exit = summary::exit(&report);
        load.show(&report, exit, env);
        return Ok(Compared { exit, report, comparison: None });
    };
    let baseline = match baseline {
        Baseline::At(path) => Baseline::At(env.path(path)),
        other => other.clone(),
    };
    // Whoever mistyped it learns so before the run and not after it.
    match &baseline {
        Baseline::At(path) => drop(SavedRun::read(path)?),
        Baseline::Tag(tag) => known_tag(load, tag)?,
        Baseline::Last => {}
    }
    let mut report = load.measure(env)?;
    let compared = compare(load, &baseline, &report, env)
        // Whatever is wrong with the baseline, the run was measured.
        .inspect_err(|error| load.show(&report, error.exit(), env))?;
    let exit = exit(&report, compared.as_ref());
    report.baseline = compared.as_ref().map(Into::into);
    if load.show.json {
        load::show_json(&report, report.run_dir.as_deref(), exit, env);
    } else {
        load.show(&report, exit, env);
        if let Some(comparison) = &compared {
            env.out("\n");
            show(comparison, env);
        }
    }
    if let Some(comparison) = &compared {
        write_comparison(&report, &load.config.output.formats, comparison, exit)?;
    }
    Ok(Compared { exit, report, comparison: compared })
}

/// A tag that no run has switches the gate off, unless this run is the one that is to have it.
fn known_tag(load: &Load, tag: &str) -> Result<(), CliError> {
    let is_own = load.config.output.tags.iter().any(|own| own == tag);
    let has_tag = |run: &PastRun| run.summary.tags.iter().any(|other| other == tag);
    if is_own || History::of(&load.output_dir).runs()?.iter().any(has_tag) {
        return Ok(());
    }
    Err(CliError::usage(
        format!("no run in {} has the tag `{tag}`", load.output_dir.display()),
        format!("`mcp-loadtest runs` lists the tags; `--tag {tag}` gives it to this run"),
    ))
}

fn compare(
    load: &Load,
    baseline: &Baseline,
    report: &Report,
    env: &mut Env,
) -> Result<Option<Comparison>, CliError> {
    if report.interrupted {
        env.err("note: a run that was cut short is not compared\n");
        return Ok(None);
    }
    let history = History::of(&load.output_dir);
    let Some(base) = history.baseline(baseline, report)? else {
        let dir = load.output_dir.display();
        let missing = match baseline {
            Baseline::Tag(tag) => format!("no run in {dir} has the tag `{tag}`"),
            _ => format!("no run in {dir} of the same server and scenario has passed yet"),
        };
        env.err(&format!("note: there is no baseline: {missing}; nothing is compared\n"));
        return Ok(None);
    };
    let policy = load.config.compare.policy(&report.scenario_kind);
    Ok(Some(compare::runs(&base, report, &policy)))
}

/// What the run found counts before what it is compared with.
pub(crate) fn exit(report: &Report, comparison: Option<&Comparison>) -> Exit {
    match (summary::exit(report), comparison) {
        (Exit::Pass, Some(comparison)) => comparison.exit(),
        (own, _) => own,
    }
}

/// Prints a gate's comparison for people.
pub(crate) fn show(comparison: &Comparison, env: &mut Env) {
    show_figures(comparison, env);
    let passes = comparison.policy.undecided == Undecided::Pass;
    if comparison.verdict == ComparisonVerdict::Undecided && passes {
        env.err("warning: undecided, and let through; longer runs or more calls would decide it\n");
    }
}

/// Prints a comparison that is no gate.
pub(crate) fn show_figures(comparison: &Comparison, env: &mut Env) {
    let mut text = Vec::new();
    // Writing to memory cannot fail.
    let _ = compare::terminal::render(comparison, &mut text);
    env.out(&String::from_utf8_lossy(&text));
}
