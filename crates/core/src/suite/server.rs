//! `servers:`, by name or as a list of named entries.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{self, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer},
};

use crate::{
    config::ConfigError,
    seed::Seed,
    server::Server,
    tools_file::{PromptEntry, ResourceEntry, TemplateEntry, ToolEntry, ToolsFile},
};

/// The servers of a suite, by name.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Servers(pub BTreeMap<String, ServerEntry>);

/// A server: a command that is started, an address that is reached, or a mock of our own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ServerEntry {
    /// Its name, where servers are a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The program and its arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Environment variables of the program.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Where the program is started, from the directory of the suite. Default: where we were started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub working_dir: Option<PathBuf>,
    /// The address of the MCP endpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Headers that go with each request to the address.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, HeaderValue>,
    /// How we say who we are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auth: Option<Auth>,
    /// Our own mock, in this process; without settings, with its built-in tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mock: Option<MockEntry>,
}

/// How we say who we are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Auth {
    /// The environment variable that holds a bearer token.
    pub bearer_token_env: String,
}

/// The value of a header.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HeaderValue {
    /// The value of an environment variable.
    Env(String),
    /// As it is written.
    #[serde(untagged)]
    Text(String),
}

/// What our own mock offers and what is wrong with it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MockEntry {
    /// A file as for `mock --tools-from`, in place of the four keys below.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools_from: Option<PathBuf>,
    /// What can be called.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolEntry>,
    /// What can be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<ResourceEntry>,
    /// Families of resources.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resource_templates: Vec<TemplateEntry>,
    /// What can be filled in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prompts: Vec<PromptEntry>,
    /// What really goes wrong, as `mock --fault` has it: `slow:200`, `hang@tool=search`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fault: Vec<String>,
    /// What the chances of these faults come from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<Seed>,
}

impl MockEntry {
    /// What it offers, if that is written in the suite itself.
    pub fn offer(&self) -> Option<ToolsFile> {
        let nothing = self.tools.is_empty()
            && self.resources.is_empty()
            && self.resource_templates.is_empty()
            && self.prompts.is_empty();
        (!nothing).then(|| {
            let mut file = ToolsFile::default();
            file.tools.clone_from(&self.tools);
            file.resources.clone_from(&self.resources);
            file.resource_templates.clone_from(&self.resource_templates);
            file.prompts.clone_from(&self.prompts);
            file
        })
    }
}

/// How a server is come by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Way<'a> {
    /// It is started; program and arguments.
    Command(&'a str, &'a [String]),
    /// It is reached.
    Url(&'a str),
    /// It is our own mock.
    Mock(&'a MockEntry),
}

impl ServerEntry {
    /// How it is come by: one way, and nothing that belongs to another.
    pub fn way(&self) -> Result<Way<'_>, ConfigError> {
        let wrong = |key: &str, why: &str| Err(ConfigError::new(key, why));
        let way = match (self.command.split_first(), &self.url, &self.mock) {
            (Some((program, args)), None, None) => Way::Command(program, args),
            (None, Some(url), None) => Way::Url(url),
            (None, None, Some(mock)) => Way::Mock(mock),
            _ => {
                return Err(ConfigError::new(
                    "",
                    "`command`, `url` or `mock` is needed, and only one of them",
                ));
            }
        };
        match way {
            Way::Command(..) if !self.headers.is_empty() => {
                wrong("headers", "only a server with a `url` is sent headers")
            }
            Way::Command(..) | Way::Mock(_) if self.auth.is_some() => {
                wrong("auth", "only a server with a `url` is told who we are")
            }
            Way::Url(_) | Way::Mock(_) if !self.env.is_empty() => {
                wrong("env", "only a server with a `command` has an environment")
            }
            Way::Url(_) | Way::Mock(_) if self.working_dir.is_some() => {
                wrong("working_dir", "only a server with a `command` is started somewhere")
            }
            Way::Mock(_) if !self.headers.is_empty() => {
                wrong("headers", "only a server with a `url` is sent headers")
            }
            way => Ok(way),
        }
    }
}

impl ServerEntry {
    /// The server to start or reach; nothing for a mock. `dir` is where the suite is.
    pub fn to_server(
        &self,
        dir: &Path,
        vars: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<Server>, ConfigError> {
        let value = |key: String, name: &str| {
            vars(name)
                .filter(|value| !value.is_empty())
                .ok_or_else(|| ConfigError::new(key, format!("the variable `{name}` is not set")))
        };
        match self.way()? {
            Way::Mock(_) => Ok(None),
            Way::Command(program, args) => {
                let mut server = Server::stdio(program).args(args).build();
                server.env.clone_from(&self.env);
                server.working_dir = self.working_dir.as_ref().map(|written| dir.join(written));
                Ok(Some(server))
            }
            Way::Url(url) => {
                let mut server = match url.starts_with("ws://") || url.starts_with("wss://") {
                    true => Server::websocket(url).build(),
                    false => Server::http(url).build(),
                };
                let mut headers = BTreeMap::new();
                for (name, header) in &self.headers {
                    let header = match header {
                        HeaderValue::Text(text) => text.clone(),
                        HeaderValue::Env(var) => value(format!("headers.{name}"), var)?,
                    };
                    headers.insert(name.clone(), header);
                }
                if let Some(auth) = &self.auth {
                    let token = value("auth.bearer_token_env".into(), &auth.bearer_token_env)?;
                    headers.insert("Authorization".into(), format!("Bearer {token}"));
                }
                if let Some(to) = server.transport.headers_mut() {
                    *to = headers;
                }
                Ok(Some(server))
            }
        }
    }
}

impl<'de> Deserialize<'de> for Servers {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Servers;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("servers by name, or a list of servers with names")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Servers, A::Error> {
                let mut servers = BTreeMap::new();
                while let Some((name, entry)) = map.next_entry::<String, ServerEntry>()? {
                    if entry.name.as_ref().is_some_and(|other| *other != name) {
                        return Err(de::Error::custom("it has two names"));
                    }
                    servers.insert(name, entry);
                }
                Ok(Servers(servers))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Servers, A::Error> {
                let mut servers = BTreeMap::new();
                while let Some(entry) = list.next_element::<ServerEntry>()? {
                    let Some(name) = entry.name.clone() else {
                        return Err(de::Error::missing_field("name"));
                    };
                    if servers.insert(name.clone(), entry).is_some() {
                        let why = format!("two servers are called `{name}`");
                        return Err(de::Error::custom(why));
                    }
                }
                Ok(Servers(servers))
            }
        }
        from.deserialize_any(Either)
    }
}

impl JsonSchema for Servers {
    fn schema_name() -> Cow<'static, str> {
        "Servers".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let entry = generator.subschema_for::<ServerEntry>();
        json_schema!({ "anyOf": [
            { "type": "object", "additionalProperties": entry },
            { "type": "array", "items": entry },
        ] })
    }
}

/// The form of a value that is taken from the environment.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FromEnv {
    /// The environment variable.
    env: String,
}

impl<'de> Deserialize<'de> for HeaderValue {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = HeaderValue;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, or `{env: VARIABLE}`")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<HeaderValue, E> {
                Ok(HeaderValue::Text(text.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<HeaderValue, A::Error> {
                let from = FromEnv::deserialize(MapAccessDeserializer::new(map))?;
                Ok(HeaderValue::Env(from.env))
            }
        }
        from.deserialize_any(Either)
    }
}

impl JsonSchema for HeaderValue {
    fn schema_name() -> Cow<'static, str> {
        "HeaderValue".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let from = generator.subschema_for::<FromEnv>();
        json_schema!({ "anyOf": [{ "type": "string" }, from] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(written: &str) -> ServerEntry {
        crate::yaml::read(written, "s.yml").unwrap()
    }

    #[test]
    fn a_mock_offers_what_is_written_in_the_suite() {
        for (written, offered) in [
            ("{mock: {}}", None),
            ("{mock: {fault: ['slow:5']}}", None),
            ("{mock: {tools: [{name: x}]}}", Some([1, 0, 0, 0])),
            ("{mock: {resources: [{name: x, uri: 'a://b'}]}}", Some([0, 1, 0, 0])),
            (
                "{mock: {resource_templates: [{name: x, uri_template: 'a://{b}', text: x}]}}",
                Some([0, 0, 1, 0]),
            ),
            ("{mock: {prompts: [{name: x}]}}", Some([0, 0, 0, 1])),
        ] {
            let offer = entry(written).mock.expect("a mock").offer();
            let counts = offer.map(|file| {
                let lists = (file.tools, file.resources, file.resource_templates, file.prompts);
                [lists.0.len(), lists.1.len(), lists.2.len(), lists.3.len()]
            });
            assert_eq!(counts, offered, "{written}");
        }
    }

    #[test]
    fn a_server_is_started_or_reached_with_what_it_needs() {
        let vars = |name: &str| match name {
            "TOKEN" => Some("t0p".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        let server = |written: &str| entry(written).to_server(Path::new("/suites"), &vars);
        let started = server("{command: [x, -y], env: {A: b}, working_dir: sub}");
        let wanted = Server::stdio("x").arg("-y").env("A", "b").working_dir("/suites/sub").build();
        assert_eq!(started.unwrap(), Some(wanted));
        let reached =
            "{url: 'http://h', headers: {A: b, C: {env: TOKEN}}, auth: {bearer_token_env: TOKEN}}";
        let wanted = Server::http("http://h").header("A", "b").header("C", "t0p");
        let wanted = wanted.header("Authorization", "Bearer t0p").build();
        assert_eq!(server(reached).unwrap(), Some(wanted));
        for url in ["ws://h", "wss://h"] {
            let wanted = Some(Server::websocket(url).build());
            assert_eq!(server(&format!("{{url: '{url}'}}")).unwrap(), wanted);
        }
        assert_eq!(server("{mock: {}}").unwrap(), None);
        for (written, told) in [
            (
                "{url: 'http://h', headers: {A: {env: EMPTY}}}",
                "headers.A: the variable `EMPTY` is not set",
            ),
            (
                "{url: 'http://h', auth: {bearer_token_env: NO}}",
                "auth.bearer_token_env: the variable `NO` is not set",
            ),
        ] {
            let error = server(written).unwrap_err();
            assert_eq!(format!("{}: {}", error.key.plain(), error.message), told);
        }
    }

    #[test]
    fn what_belongs_to_another_way_is_refused_and_the_rest_is_not() {
        for (written, key) in [
            ("{command: [x], env: {A: b}, working_dir: /}", None),
            ("{url: 'http://h', headers: {A: b}, auth: {bearer_token_env: T}}", None),
            ("{mock: {}}", None),
            ("{command: [x], headers: {A: b}}", Some("headers")),
            ("{command: [x], auth: {bearer_token_env: T}}", Some("auth")),
            ("{url: 'http://h', env: {A: b}}", Some("env")),
            ("{url: 'http://h', working_dir: /}", Some("working_dir")),
            ("{mock: {}, headers: {A: b}}", Some("headers")),
            ("{mock: {}, auth: {bearer_token_env: T}}", Some("auth")),
            ("{mock: {}, env: {A: b}}", Some("env")),
            ("{mock: {}, working_dir: /}", Some("working_dir")),
        ] {
            let told = entry(written).way().err().map(|error| error.key.plain().to_string());
            assert_eq!(told.as_deref(), key, "{written}");
        }
    }

    #[test]
    fn forms_that_are_none_say_which_there_are() {
        let servers = crate::yaml::read::<Servers>("5", "s.yml").unwrap_err().to_string();
        assert!(servers.contains("servers by name, or a list of servers with names"), "{servers}");
        let header = crate::yaml::read::<ServerEntry>("{headers: {A: 5}}", "s.yml").unwrap_err();
        assert!(header.to_string().contains("a text, or `{env: VARIABLE}`"), "{header}");
        let named = crate::yaml::read::<Servers>("{a: {name: a, mock: {}}}", "s.yml");
        assert_eq!(named.unwrap().0.keys().collect::<Vec<_>>(), ["a"]);
    }
}
