//! A table for each command.

mod artefacts;
mod audit;
mod judges;
mod load;
mod probes;
mod servers;
mod suites;

use super::Command;
use crate::effects::Flag;

/// All of them; the flags that stand before every command have no name before them.
pub(super) const COMMANDS: &[Command] = &[
    Command { name: "", flags: artefacts::EVERYWHERE },
    Command { name: "demo", flags: load::DEMO },
    Command { name: "doctor", flags: judges::DOCTOR },
    Command { name: "probe", flags: probes::PROBE },
    Command { name: "negative-path", flags: probes::NEGATIVE_PATH },
    Command { name: "deadlock-probe", flags: load::DEADLOCK_PROBE },
    Command { name: "run", flags: load::RUN },
    Command { name: "test", flags: suites::TEST },
    Command { name: "agent", flags: suites::AGENT },
    Command { name: "replay", flags: probes::REPLAY },
    Command { name: "report", flags: judges::REPORT },
    Command { name: "compare", flags: judges::COMPARE },
    Command { name: "runs", flags: judges::RUNS },
    Command { name: "audit", flags: audit::AUDIT },
    Command { name: "audit list", flags: audit::LIST },
    Command { name: "audit show", flags: audit::SHOW },
    Command { name: "audit stats", flags: audit::STATS },
    Command { name: "audit tail", flags: audit::TAIL },
    Command { name: "audit export", flags: audit::EXPORT },
    Command { name: "list-scenarios", flags: artefacts::LIST_SCENARIOS },
    Command { name: "example-config", flags: artefacts::EXAMPLE_CONFIG },
    Command { name: "schema", flags: artefacts::SCHEMA },
    Command { name: "mock", flags: servers::MOCK },
    Command { name: "llm", flags: servers::LLM },
    Command { name: "llm verdict", flags: servers::LLM_VERDICT },
    Command { name: "proxy", flags: servers::PROXY },
    Command { name: "gateway", flags: servers::GATEWAY },
    Command { name: "serve", flags: servers::SERVE },
    Command { name: "completions", flags: artefacts::COMPLETIONS },
    Command { name: "man", flags: artefacts::MAN },
];
