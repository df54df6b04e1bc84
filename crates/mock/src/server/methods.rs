//! Every method that is answered on the spot, in the era that has it.

use mcp_loadtest_core::mcp::{Era, Revision, method};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{Server, session::Session};
use crate::{
    catalog::fill::fill,
    mcp::{
        legacy,
        modern::{self, Cacheable},
        refusal::{Refusal, code},
        request::Request,
        write,
    },
};

/// A request that is being answered.
pub(super) struct Asked<'a> {
    pub(super) server: &'a Server,
    pub(super) session: &'a Session,
    pub(super) request: &'a Request<'a>,
    pub(super) revision: Revision,
}

impl Asked<'_> {
    fn era(&self) -> Era {
        self.revision.era()
    }

    /// Appends a result.
    fn tell(&self, out: &mut Vec<u8>, body: &impl Serialize) {
        write::result(out, self.request.id, self.era(), &self.server.info, body);
    }

    /// Appends a result that the modern era lets clients keep.
    fn tell_cacheable(&self, out: &mut Vec<u8>, body: &impl Serialize) {
        match self.era() {
            Era::Legacy => self.tell(out, body),
            Era::Modern => self.tell(out, &Cacheable::new(body)),
        }
    }

    /// Appends the reply to anything but a tool call.
    pub(super) fn answer(&self, out: &mut Vec<u8>) -> Result<(), Refusal> {
        let catalog = &self.server.catalog;
        match (self.era(), &*self.request.method) {
            (Era::Legacy, method::INITIALIZE) => self.initialize(out),
            (Era::Legacy, method::PING) => self.tell(out, &json!({})),
            (Era::Legacy, method::SET_LEVEL) => self.set_level(out)?,
            (Era::Legacy, method::RESOURCES_SUBSCRIBE) => {
                self.session.subscribe(self.uri()?);
                self.tell(out, &json!({}));
            }
            (Era::Legacy, method::RESOURCES_UNSUBSCRIBE) => {
                self.session.unsubscribe(self.uri()?);
                self.tell(out, &json!({}));
            }
            (Era::Modern, method::DISCOVER) => self.tell_cacheable(out, &modern::discover()),
            (_, method::TOOLS_LIST) => self.list(out, "tools", &catalog.listings())?,
            (_, method::RESOURCES_LIST) => self.list(out, "resources", &catalog.resources)?,
            (_, method::TEMPLATES_LIST) => {
                self.list(out, "resourceTemplates", &catalog.templates)?;
            }
            (_, method::PROMPTS_LIST) => self.list(out, "prompts", &catalog.prompts)?,
            (_, method::RESOURCES_READ) => self.read(out)?,
            (_, method::PROMPTS_GET) => self.prompt(out)?,
            (_, method::COMPLETE) => self.complete(out)?,
            (_, unknown) => return Err(Refusal::method_not_found(unknown)),
        }
        Ok(())
    }

    fn initialize(&self, out: &mut Vec<u8>) {
        let params = self.request.params.to_value();
        let agreed = legacy::initialize(params["protocolVersion"].as_str(), &self.server.info);
        self.session.agree(agreed.protocol_version, params["capabilities"].clone());
        self.tell(out, &agreed);
    }

    fn set_level(&self, out: &mut Vec<u8>) -> Result<(), Refusal> {
        const LEVELS: [&str; 8] =
            ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
        let params = self.request.params.to_value();
        match params["level"].as_str().filter(|level| LEVELS.contains(level)) {
            Some(level) => self.session.set_log_level(level),
            None => {
                let why = format!("`level` is not one of {}", LEVELS.join(", "));
                return Err(Refusal::invalid_params(why));
            }
        }
        self.tell(out, &json!({}));
        Ok(())
    }

    /// All there is, on one page: a cursor can only be one that was made up.
    fn list(&self, out: &mut Vec<u8>, key: &str, entries: &impl Serialize) -> Result<(), Refusal> {
        let params = self.request.params.to_value();
        // A fault may have handed out cursors of its own; they lead to the same page.
        let made_up = params["cursor"].as_str().is_some_and(|cursor| {
            !cursor.is_empty() && !cursor.starts_with(mcp_loadtest_core::fault::CURSOR_PREFIX)
        });
        if made_up || params.get("cursor").is_some_and(|cursor| !cursor.is_string()) {
            return Err(Refusal::invalid_params("`cursor` was not given out by this server"));
        }
        self.tell_cacheable(
            out,
            &Map::from_iter([(
                key.to_owned(),
                serde_json::to_value(entries).expect("lists have text keys"),
            )]),
        );
        Ok(())
    }

    fn uri(&self) -> Result<&str, Refusal> {
        let uri = self.request.params.uri.as_deref();
        uri.ok_or_else(|| Refusal::invalid_params("`uri` is not a string"))
    }

    fn read(&self, out: &mut Vec<u8>) -> Result<(), Refusal> {
        let uri = self.uri()?;
        let catalog = &self.server.catalog;
        let resource = catalog.resources.iter().find(|resource| resource.uri == uri);
        let found = match resource {
            Some(resource) => Some(resource.contents()),
            None => catalog.templates.iter().find_map(|template| template.contents(uri)),
        };
        let Some(contents) = found else {
            let code = match self.era() {
                Era::Legacy => code::RESOURCE_NOT_FOUND,
                Era::Modern => code::INVALID_PARAMS,
            };
            let data = Some(json!({ "uri": uri }));
            return Err(Refusal { code, message: "resource not found".into(), data });
        };
        self.tell_cacheable(out, &json!({ "contents": [contents] }));
        Ok(())
    }

    fn prompt(&self, out: &mut Vec<u8>) -> Result<(), Refusal> {
        let params = self.request.params.to_value();
        let name = params["name"].as_str().unwrap_or_default();
        let prompt = self.server.catalog.prompts.iter().find(|prompt| prompt.name == name);
        let prompt = prompt
            .ok_or_else(|| Refusal::invalid_params(format!("there is no prompt `{name}`")))?;
        let nothing = Map::new();
        let arguments = params["arguments"].as_object().unwrap_or(&nothing);
        if let Some(missing) = prompt.missing(arguments) {
            return Err(Refusal::invalid_params(format!("the argument `{missing}` is missing")));
        }
        if let Some(asks) = &prompt.asks
            && let Some(open) = still_open(asks, &params["inputResponses"])
        {
            let asked = json!({ "resultType": "input_required", "inputRequests": open });
            write::bare_result(out, self.request.id, &asked);
            return Ok(());
        }
        let mut known = arguments.clone();
        // What the client was asked can be filled in as well.
        if let Some(answers) = params["inputResponses"].as_object() {
            known.insert("inputResponses".into(), answers.clone().into());
        }
        let messages = fill(&prompt.messages, &known);
        self.tell(out, &json!({ "description": prompt.description, "messages": messages }));
        Ok(())
    }

    /// Suggests the names of what is offered that begin like the value.
    fn complete(&self, out: &mut Vec<u8>) -> Result<(), Refusal> {
        let params = self.request.params.to_value();
        let begun = params["argument"]["value"].as_str();
        let begun = begun.ok_or_else(|| Refusal::invalid_params("`argument` has no `value`"))?;
        let values: Vec<_> = COMPLETIONS.iter().filter(|word| word.starts_with(begun)).collect();
        let total = values.len();
        let completion = json!({ "values": values, "total": total, "hasMore": false });
        self.tell(out, &json!({ "completion": completion }));
        Ok(())
    }
}

/// Words to complete to.
const COMPLETIONS: [&str; 6] = ["alpha", "beta", "gamma", "paris", "park", "party"];

/// The questions that have no answer yet, if there are any.
pub(crate) fn still_open(asks: &Value, answers: &Value) -> Option<Value> {
    let asks = asks.as_object()?;
    let is_open = |(key, _): &(&String, &Value)| !answers[key.as_str()].is_object();
    let open: Map<_, _> =
        asks.iter().filter(is_open).map(|(key, ask)| (key.clone(), ask.clone())).collect();
    (!open.is_empty()).then(|| open.into())
}
