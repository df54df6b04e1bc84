//! Who decides what the agent does next.

use std::any::Any;

use mcp_loadtest_core::{
    agent::{Conversation, Message, ToolCall, Turn, dialect},
    config::{ConfigError, KeyPath},
    llm::{Provider, estimated_tokens},
    suite::{
        AgentTest, Model as Entry, ModelSource, TestKind,
        recovery::Usage,
        script::{CallOutcome, Next, Persona, Script},
    },
};
use serde_json::Value;

use super::{
    super::{choose::Case, desk::Desk, loaded::LoadedSuite, run::Settings, stand::Speaker},
    api::Api,
    persona,
    tape::{self, Tape},
    toolbox::Toolbox,
};

/// What a model is opened with.
pub(super) struct Surroundings<'a> {
    pub(super) desk: &'a Desk,
    pub(super) case: Case,
    pub(super) number: u32,
    pub(super) toolbox: &'a Toolbox,
}

/// The models of a run.
pub(in super::super) struct Models;

impl Models {
    /// Finds out, before anything is started, whether every agent that was chosen has a model, and
    /// every model its key.
    pub(in super::super) fn check(
        suites: &[LoadedSuite],
        settings: &Settings,
        chosen: &[Case],
    ) -> Result<(), ConfigError> {
        let agents = || {
            let agents = chosen.iter().filter(|case| case.kind == TestKind::Agent);
            agents.filter(|case| !suites[case.suite].suite.agents[case.index].is_live())
        };
        let of_models = [
            ("--model", settings.model.is_some()),
            ("--record", settings.record.is_some()),
            ("--replay", settings.replay.is_some()),
        ];
        let idle = of_models.into_iter().find(|(_, is_given)| *is_given);
        if let Some((flag, _)) = idle.filter(|_| !chosen.is_empty() && agents().next().is_none()) {
            let error = ConfigError::new(flag, "no test was chosen that has a model");
            return Err(error.with_hint("leave it out"));
        }
        for case in agents() {
            let loaded = &suites[case.suite];
            let agent = &loaded.suite.agents[case.index];
            let key = KeyPath::from("agents").index(case.index).key("model");
            let checked = Self::named(settings, agent)
                .and_then(|name| {
                    loaded.suite.knows_model(name)?;
                    if settings.replay.is_some() {
                        return Ok(());
                    }
                    match Self::api(loaded, settings, name)? {
                        Some(api) => api.checked(name),
                        None => Ok(()),
                    }
                })
                .map_err(|error| ConfigError { key, ..error });
            checked.map_err(|error| loaded.in_file(error))?;
        }
        Ok(())
    }

    fn named<'a>(settings: &'a Settings, agent: &'a AgentTest) -> Result<&'a str, ConfigError> {
        settings.model.as_deref().or(agent.model.as_deref()).ok_or_else(|| {
            ConfigError::new("model", "it is missing")
                .with_hint("name one, or give --model scripted:careful")
        })
    }

    /// The address and key of a model that a provider has.
    fn api(
        loaded: &LoadedSuite,
        settings: &Settings,
        name: &str,
    ) -> Result<Option<Api>, ConfigError> {
        let ours = loaded.suite.models.iter().find(|model| model.name == name);
        let var = |name: &str| settings.vars.get(name).filter(|value| !value.is_empty()).cloned();
        let make = |provider: Provider, entry: Option<&Entry>| {
            let home = dialect::home(provider);
            let key_env = entry.and_then(|entry| entry.api_key_env.as_deref());
            let key_env = key_env.unwrap_or(home.key_env);
            let written = entry.and_then(|entry| entry.base_url.clone());
            Api {
                provider,
                id: entry.and_then(|entry| entry.id.clone()).unwrap_or_else(|| name.to_owned()),
                key: var(key_env).unwrap_or_default(),
                key_env: key_env.to_owned(),
                base_url: written
                    .or_else(|| var(home.base_url_env))
                    .unwrap_or_else(|| home.base_url.to_owned()),
            }
        };
        Ok(match ours {
            Some(entry) => match entry.source()? {
                ModelSource::Api(provider) => Some(make(provider, Some(entry))),
                ModelSource::Script(..) | ModelSource::Fixtures(..) => None,
            },
            None if Persona::find(name).is_some() => None,
            None => {
                mcp_loadtest_core::suite::provider_of(name).map(|provider| make(provider, None))
            }
        })
    }

    /// The model of an agent, ready to be asked.
    pub(super) async fn open(
        around: &Surroundings<'_>,
        agent: &AgentTest,
    ) -> Result<Model, String> {
        let Surroundings { desk, case, number, toolbox } = around;
        let loaded = &desk.suites[case.suite];
        if let Some(dir) = &desk.settings.replay {
            let place = tape::place(&loaded.file, &desk.settings.agents_in);
            return Tape::find(dir, &place, &agent.name, *number).map(Model::Tape);
        }
        let name = Self::named(&desk.settings, agent).map_err(|error| error.to_string())?;
        if let Some(persona) = Persona::find(name) {
            return persona::script(persona, loaded, agent, toolbox).map(Model::Script);
        }
        if let Some(api) =
            Self::api(loaded, &desk.settings, name).map_err(|error| error.to_string())?
        {
            return Ok(Model::Api { api, _keep: None });
        }
        let entry = loaded.suite.models.iter().find(|model| model.name == name);
        let entry = entry.ok_or_else(|| format!("there is no model `{name}`"))?;
        Self::ours(desk, loaded, entry).await
    }

    /// A model of the suite.
    async fn ours(desk: &Desk, loaded: &LoadedSuite, entry: &Entry) -> Result<Model, String> {
        let mocked = |provider, url: String| Api {
            provider,
            id: entry.id.clone().unwrap_or_else(|| entry.name.clone()),
            key: "none".into(),
            key_env: String::new(),
            base_url: url,
        };
        match entry.source().map_err(|error| error.to_string())? {
            ModelSource::Script(script, None) => Ok(Model::Script(script.clone())),
            ModelSource::Script(script, Some(provider)) => {
                let (llm, speaker) = desk.stand.speaker(provider).await?;
                let api = mocked(provider, llm.url);
                Ok(Model::Spoken { script: script.clone(), speaker, api, _keep: llm.keep })
            }
            ModelSource::Fixtures(file, provider) => {
                let llm = desk.stand.fixtures(&loaded.dir.join(file)).await?;
                Ok(Model::Api { api: mocked(provider, llm.url), _keep: Some(llm.keep) })
            }
            ModelSource::Api(_) => Err("it is no model of ours".into()),
        }
    }
}

/// Who decides what the agent does next.
pub(super) enum Model {
    /// A script, asked directly.
    Script(Script),
    /// A script whose turns our mock of a provider says, over HTTP.
    Spoken { script: Script, speaker: Box<dyn Speaker>, api: Api, _keep: Box<dyn Any> },
    /// A provider, or our mock of one.
    Api { api: Api, _keep: Option<Box<dyn Any>> },
    /// What a model said before.
    Tape(Tape),
}

impl Model {
    /// The next turn.
    pub(super) async fn turn(
        &mut self,
        prompt: &str,
        conversation: &Conversation,
    ) -> Result<Turn, String> {
        match self {
            Self::Script(script) => Ok(scripted(script, prompt, conversation)),
            Self::Spoken { script, speaker, api, .. } => {
                let turn = scripted(script, prompt, conversation);
                speaker.say(&turn)?;
                let heard = api.ask(conversation).await?;
                // A wait is not a part of any API.
                Ok(Turn { after_ms: turn.after_ms, ..heard })
            }
            Self::Api { api, .. } => api.ask(conversation).await,
            Self::Tape(tape) => tape.next(),
        }
    }
}

/// What a script says next.
fn scripted(script: &Script, prompt: &str, conversation: &Conversation) -> Turn {
    let outcomes: Vec<_> = conversation
        .messages
        .iter()
        .filter_map(|message| match message {
            Message::Results(results) => Some(results),
            Message::User(_) | Message::Model(_) => None,
        })
        .flatten()
        .map(|result| CallOutcome {
            tool: result.name.clone(),
            text: result.text.clone(),
            is_error: result.is_error,
        })
        .collect();
    let mut turn = Turn::default();
    match script.next(prompt, &outcomes) {
        Next::Answer(text) => turn.text = text,
        Next::Call { tool, args, after_ms } => {
            let id = format!("call_{}", outcomes.len() + 1);
            turn.calls.push(ToolCall { id, name: tool, args });
            turn.after_ms = after_ms;
        }
    }
    let read = prompt.len() + outcomes.iter().map(|outcome| outcome.text.len()).sum::<usize>();
    let args = |call: &ToolCall| Value::Object(call.args.clone()).to_string().len();
    let said = turn.text.len() + turn.calls.iter().map(args).sum::<usize>();
    turn.usage = Usage { input: estimated_tokens(read), output: estimated_tokens(said) };
    turn
}
