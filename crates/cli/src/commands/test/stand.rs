//! The mocks that suites ask for, in this process.

use std::{net::SocketAddr, path::Path, sync::Arc};

use mcp_loadtest::{Speaker, Stand, StartedLlm, StartedMock, Starting};
use mcp_loadtest_core::{
    agent::Turn,
    fault::Fault,
    llm::{Book, Fixture, FixtureFile, Response, ToolCall},
    seed::Seed,
    suite::{MockEntry, Provider},
    tools_file::ToolsFile,
};
use mcp_loadtest_mock::{
    Mock,
    llm::{Desk, MockLlm},
};

/// Starts mocks on ports that the system chooses.
pub(super) struct Mocks;

fn any_port() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

impl Stand for Mocks {
    fn mock(&self, entry: &MockEntry, dir: &Path) -> Starting<StartedMock> {
        let mock = mock(entry, dir);
        Box::pin(async move {
            let bound = mock?.bind(any_port()).await.map_err(|error| error.to_string())?;
            let running = bound.spawn();
            Ok(StartedMock { url: running.url().to_owned(), keep: Box::new(running) })
        })
    }

    fn fixtures(&self, file: &Path) -> Starting<StartedLlm> {
        let read = read(file).and_then(|text| {
            let shown = file.display().to_string();
            FixtureFile::parse(&text, &shown).map_err(|error| error.to_string())
        });
        Box::pin(async move { Ok(started(MockLlm::new().file(read?)).await?.0) })
    }

    fn speaker(&self, _: Provider) -> Starting<(StartedLlm, Box<dyn Speaker>)> {
        Box::pin(async {
            let (llm, desk) = started(MockLlm::new()).await?;
            Ok((llm, Box::new(Mouth(desk)) as Box<dyn Speaker>))
        })
    }
}

async fn started(llm: MockLlm) -> Result<(StartedLlm, Arc<Desk>), String> {
    let bound = llm.bind(any_port()).await.map_err(|error| error.to_string())?;
    let desk = bound.desk();
    let running = bound.spawn();
    Ok((StartedLlm { url: running.url().to_owned(), keep: Box::new(running) }, desk))
}

/// Says one turn at a time: each becomes the only fixture in force.
struct Mouth(Arc<Desk>);

impl Speaker for Mouth {
    fn say(&self, turn: &Turn) -> Result<(), String> {
        let call = |call: &mcp_loadtest_core::agent::ToolCall| ToolCall {
            name: call.name.clone(),
            arguments: call.args.clone(),
            id: Some(call.id.clone()),
        };
        let response = Response {
            content: Some(turn.text.clone())
                .filter(|text| !text.is_empty() || turn.calls.is_empty()),
            tool_calls: (!turn.calls.is_empty()).then(|| turn.calls.iter().map(call).collect()),
            ..Response::default()
        };
        let fixture = Fixture { response: Some(response), ..Fixture::default() };
        let file = FixtureFile { fixtures: vec![fixture], limits: None };
        self.0.replace(Book::new(vec![file], Seed::default()));
        Ok(())
    }
}

fn read(file: &Path) -> Result<String, String> {
    std::fs::read_to_string(file)
        .map_err(|error| format!("cannot read {}: {error}", file.display()))
}

fn mock(entry: &MockEntry, dir: &Path) -> Result<Mock, String> {
    let mut mock = Mock::new().seed(entry.seed.unwrap_or_default());
    for written in &entry.fault {
        let fault: Fault = written.parse().map_err(|error| format!("{error}"))?;
        mock = mock.fault(fault);
    }
    let file = match (&entry.tools_from, entry.offer()) {
        (Some(path), _) => {
            let path = dir.join(path);
            let shown = path.display().to_string();
            Some(ToolsFile::parse(&read(&path)?, &shown).map_err(|error| error.to_string())?)
        }
        (None, offer) => offer,
    };
    match file {
        Some(file) => mock.tools_from(file).map_err(|error| error.to_string()),
        None => Ok(mock),
    }
}
