//! A server that speaks over pipes, behind a proxy that the agent starts itself: whoever holds the
//! pipes must be the agent's own client. What passed is in a log that is read when all is over.

use std::{collections::BTreeMap, path::PathBuf};

use mcp_loadtest::{Starting, Watched};
use mcp_loadtest_core::{fault::Fault, seed::Seed, server::Server, suite::recovery::WireCall};
use mcp_loadtest_mock::audit::Timestamp;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::Instant;

use super::watched::{Eye, Starter, calls, open};

/// What an agent is to start in a server's place.
pub(super) struct Piped {
    entry: Value,
    log: TempDir,
    eye: Eye,
}

impl Piped {
    /// `program` is ours. The log is a database, because an agent may start a server several times.
    pub(super) fn new(
        program: PathBuf,
        server: &Server,
        faults: &[Fault],
        seed: Seed,
    ) -> Result<Self, String> {
        let log = tempfile::tempdir().map_err(|error| format!("no room for a log: {error}"))?;
        let store = store(&log);
        let mut args =
            vec!["proxy".into(), "--seed".into(), seed.0.to_string(), "--audit".into(), store];
        let mut names = BTreeMap::new();
        for fault in faults {
            let written = fault.to_string();
            args.extend(["--fault".into(), written.clone()]);
            names.extend(fault.name().map(|name| (written, name.to_owned())));
        }
        args.extend(["--".into(), server.command.clone()]);
        args.extend(server.args.clone());
        let mut entry = json!({
            "type": "stdio",
            "command": program.display().to_string(),
            "args": args,
            "env": server.env,
        });
        if let Some(dir) = &server.working_dir {
            entry["cwd"] = dir.display().to_string().into();
        }
        let began = (Instant::now(), Timestamp::now());
        let eye = Eye {
            texts: BTreeMap::new(),
            names,
            faults: faults.to_vec(),
            began,
            starter: Starter::Agent,
        };
        Ok(Self { entry, log, eye })
    }
}

fn store(log: &TempDir) -> String {
    format!("sqlite:{}", log.path().join("calls.db").display())
}

impl Watched for Piped {
    fn url(&self) -> Option<&str> {
        None
    }

    fn entry(&self) -> Value {
        self.entry.clone()
    }

    fn end(self: Box<Self>, zero: Instant) -> Starting<Vec<WireCall>> {
        Box::pin(async move { calls(&open(&store(&self.log))?, &self.eye, zero) })
    }
}
