//! The mocks that suites ask for, in this process.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
};

use mcp_loadtest::{Speaker, Stand, StartedLlm, StartedMock, Starting, Watched};
use mcp_loadtest_core::{
    agent::Turn,
    fault::Fault,
    llm::{Fixture, FixtureFile, Response, ToolCall},
    seed::Seed,
    server::{Server, Transport},
    suite::{MockEntry, Provider, recovery::canned_text},
    tools_file::ToolsFile,
};
use mcp_loadtest_mock::{
    Mock,
    llm::{Desk, MockLlm},
};
use mcp_loadtest_wire::session::Address;

use super::{piped::Piped, watched::Seen};

/// Starts mocks on ports that the system chooses.
pub(super) struct Mocks {
    /// This program, for an agent that must start a proxy itself.
    pub(super) program: PathBuf,
}

pub(super) fn any_port() -> SocketAddr {
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

    fn watched(
        &self,
        entry: &MockEntry,
        faults: Vec<Fault>,
        seed: Seed,
        dir: &Path,
    ) -> Starting<Box<dyn Watched>> {
        let made = mock(entry, dir).map(|mock| faults.iter().cloned().fold(mock, Mock::fault));
        let (entry, dir) = (entry.clone(), dir.to_owned());
        Box::pin(async move {
            let texts = texts(&entry, &dir)?;
            let seen = Seen::mock(made?.seed(seed), texts, faults).await?;
            Ok(Box::new(seen) as Box<dyn Watched>)
        })
    }

    fn proxied(
        &self,
        server: &Server,
        faults: Vec<Fault>,
        seed: Seed,
    ) -> Starting<Box<dyn Watched>> {
        if server.transport == Transport::Stdio {
            let piped = Piped::new(self.program.clone(), server, &faults, seed);
            return Box::pin(async { Ok(Box::new(piped?) as Box<dyn Watched>) });
        }
        let mut upstream = Address::new(server.transport.url().unwrap_or_default());
        let headers = server.transport.headers().into_iter().flatten();
        upstream.headers = headers.map(|(name, value)| (name.clone(), value.clone())).collect();
        Box::pin(async move {
            Ok(Box::new(Seen::proxy(faults, seed, &upstream).await?) as Box<dyn Watched>)
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
        let file = FixtureFile { fixtures: vec![fixture], ..FixtureFile::default() };
        self.0.replace(vec![file]);
        Ok(())
    }
}

fn read(file: &Path) -> Result<String, String> {
    std::fs::read_to_string(file)
        .map_err(|error| format!("cannot read {}: {error}", file.display()))
}

/// What a mock offers, if not its built-in tools.
fn offer(entry: &MockEntry, dir: &Path) -> Result<Option<ToolsFile>, String> {
    let Some(path) = &entry.tools_from else { return Ok(entry.offer()) };
    let path = dir.join(path);
    let shown = path.display().to_string();
    let file = ToolsFile::parse(&read(&path)?, &shown).map_err(|error| error.to_string())?;
    Ok(Some(file))
}

/// What the tools of a mock say, by name, as far as that is known before they are called: what depends
/// on the arguments is not.
fn texts(entry: &MockEntry, dir: &Path) -> Result<BTreeMap<String, String>, String> {
    let tools = offer(entry, dir)?.map(|file| file.tools).unwrap_or_default();
    let texts = tools.iter().map(|tool| (tool.name.clone(), canned_text(tool)));
    Ok(texts.filter(|(_, text)| !text.is_empty() && !text.contains("${")).collect())
}

fn mock(entry: &MockEntry, dir: &Path) -> Result<Mock, String> {
    let mut mock = Mock::new().seed(entry.seed.unwrap_or_default());
    for written in &entry.fault {
        let fault: Fault = written.parse().map_err(|error| format!("{error}"))?;
        mock = mock.fault(fault);
    }
    let file = offer(entry, dir)?;
    match file {
        Some(file) => mock.tools_from(file).map_err(|error| error.to_string()),
        None => Ok(mock),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_the_same_for_all_arguments_is_known_before_a_call() {
        let tools = "tools:\n- {name: plain, response: INC-7731}\n- {name: filled, response: 'about \
            ${args.topic}'}\n- {name: arms, responses: [{default: true, result: x}]}\n- {name: sample}\n";
        let tools = ToolsFile::parse(tools, "tools.yml").unwrap().tools;
        let known = |tools| {
            let entry = MockEntry { tools, ..MockEntry::default() };
            texts(&entry, Path::new(".")).unwrap()
        };
        assert_eq!(known(tools), [("plain".to_owned(), "INC-7731".to_owned())].into());
        assert_eq!(known(Vec::new()), BTreeMap::new(), "the built-in tools answer by what they do");
    }
}
