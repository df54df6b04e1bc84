//! One entry of a client's file, brought into one shape. Variables are not filled in yet.
//!
//! Keys that we have no use for are left alone: the file belongs to somebody else.

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Map, Value};

use super::{ClientConfigError, NamedServer};
use crate::{
    config::TransportName, hint::nearest, mcp::revision::Revision, server::ProtocolChoice,
};

/// What `url` means in an entry that does not say its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UrlMeaning {
    Http,
    Sse,
}

/// How the server is reached.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Way {
    Start {
        command: String,
        args: Vec<String>,
    },
    Reach {
        url: String,
        transport: TransportName,
    },
    /// A transport that we do not speak.
    Other(&'static str),
}

/// An entry in one shape.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) way: Way,
    /// A value of None removes the variable.
    pub(super) env: BTreeMap<String, Option<String>>,
    pub(super) cwd: Option<String>,
    pub(super) env_file: Option<String>,
    pub(super) headers: BTreeMap<String, String>,
    /// Headers whose value is that of an environment variable: name, variable, what to put before.
    pub(super) env_headers: Vec<(String, String, &'static str)>,
    /// Environment variables that are passed on as they are.
    pub(super) env_passed: Vec<String>,
    pub(super) startup_timeout: Option<Duration>,
    pub(super) protocol: ProtocolChoice,
    pub(super) disabled: bool,
}

/// The words for each transport in `type`.
const TYPES: &[(&str, TransportName)] = &[
    ("stdio", TransportName::Stdio),
    ("local", TransportName::Stdio),
    ("http", TransportName::Http),
    ("streamable-http", TransportName::Http),
    ("streamableHttp", TransportName::Http),
    ("streamable_http", TransportName::Http),
    ("sse", TransportName::Sse),
    ("ws", TransportName::Ws),
    ("websocket", TransportName::Ws),
];

impl Entry {
    pub(super) fn read(server: &NamedServer) -> Result<Self, ClientConfigError> {
        let reader = Reader { server, entry: &server.entry };
        // Zed used to keep program, arguments and environment in a table of their own.
        let program = match server.entry.get("command") {
            Some(Value::Object(command)) => Reader { server, entry: command },
            _ => Reader { server, entry: &server.entry },
        };
        Ok(Self {
            way: reader.way(&program)?,
            env: program.env()?,
            cwd: reader.text("cwd")?,
            env_file: reader.text("envFile")?,
            headers: reader.headers()?,
            env_headers: reader.env_headers()?,
            env_passed: reader.names("env_vars"),
            startup_timeout: reader.startup_timeout()?,
            protocol: reader.protocol()?,
            disabled: reader.is(("disabled", true)) || reader.is(("enabled", false)),
        })
    }
}

struct Reader<'a> {
    server: &'a NamedServer,
    entry: &'a Map<String, Value>,
}

impl Reader<'_> {
    fn wrong(&self, message: impl Into<String>) -> ClientConfigError {
        ClientConfigError::Entry {
            file: self.server.file.clone(),
            server: self.server.name.clone(),
            message: message.into(),
            hint: None,
        }
    }

    /// `httpUrl` and `serverUrl` always mean streamable HTTP; what `url` means depends on `type`,
    /// and without one on the client.
    fn way(&self, program: &Reader<'_>) -> Result<Way, ClientConfigError> {
        let command = match self.entry.get("command") {
            Some(Value::Object(_)) => program.text("path")?,
            _ => self.text("command")?,
        };
        let http = self.text("httpUrl")?.or(self.text("serverUrl")?);
        let url = self.text("url")?;
        let kind = match (self.kind()?, &url) {
            (Some(kind), _) => kind,
            (None, _) if command.is_some() => TransportName::Stdio,
            (None, _) if http.is_some() => TransportName::Http,
            (None, Some(url)) => match TransportName::of_url(url) {
                TransportName::Http if self.server.client.url == UrlMeaning::Sse => {
                    TransportName::Sse
                }
                transport => transport,
            },
            (None, None) => return Err(self.wrong("has neither `command` nor `url`")),
        };
        if kind == TransportName::Stdio {
            let command = command.ok_or_else(|| self.wrong("has no `command`"))?;
            return Ok(Way::Start { command, args: program.list("args")? });
        }
        let url = http.or(url).ok_or_else(|| self.wrong("has no `url`"))?;
        Ok(socket(&url).map_or(Way::Reach { url, transport: kind }, Way::Other))
    }

    fn kind(&self) -> Result<Option<TransportName>, ClientConfigError> {
        let Some(word) = self.text("type")?.or(self.text("transport")?) else { return Ok(None) };
        if let Some((_, kind)) = TYPES.iter().find(|(alias, _)| *alias == word) {
            return Ok(Some(*kind));
        }
        let known = TYPES.iter().map(|(alias, _)| *alias);
        let mut error = self.wrong(format!("there is no type `{word}`"));
        if let ClientConfigError::Entry { hint, .. } = &mut error {
            *hint = nearest(&word, known).map(|near| format!("did you mean `{near}`?"));
        }
        Err(error)
    }

    fn text(&self, key: &str) -> Result<Option<String>, ClientConfigError> {
        match self.entry.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(self.wrong(format!("`{key}` must be a text"))),
        }
    }

    fn list(&self, key: &str) -> Result<Vec<String>, ClientConfigError> {
        let wrong = || self.wrong(format!("`{key}` must be a list of texts"));
        match self.entry.get(key) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(list)) => {
                list.iter().map(|item| scalar(item).ok_or_else(wrong)).collect()
            }
            Some(_) => Err(wrong()),
        }
    }

    /// The texts of a list, where other things may stand too.
    fn names(&self, key: &str) -> Vec<String> {
        let list = self.entry.get(key).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(|item| item.as_str().map(str::to_owned)).collect()
    }

    fn table(&self, key: &str) -> Result<BTreeMap<String, Option<String>>, ClientConfigError> {
        let value = |(name, value): (&String, &Value)| match (value, scalar(value)) {
            (Value::Null, _) => Ok((name.clone(), None)),
            (_, Some(text)) => Ok((name.clone(), Some(text))),
            (_, None) => {
                Err(self.wrong(format!("`{key}.{name}` must be a text, a number or null")))
            }
        };
        match self.entry.get(key) {
            None | Some(Value::Null) => Ok(BTreeMap::new()),
            Some(Value::Object(map)) => map.iter().map(value).collect(),
            Some(_) => Err(self.wrong(format!("`{key}` must be a table"))),
        }
    }

    fn env(&self) -> Result<BTreeMap<String, Option<String>>, ClientConfigError> {
        self.table("env")
    }

    fn headers(&self) -> Result<BTreeMap<String, String>, ClientConfigError> {
        let mut headers = self.table("headers")?;
        headers.append(&mut self.table("http_headers")?);
        Ok(headers.into_iter().filter_map(|(name, value)| Some((name, value?))).collect())
    }

    fn env_headers(&self) -> Result<Vec<(String, String, &'static str)>, ClientConfigError> {
        let bearer = self.text("bearer_token_env_var")?;
        let bearer = bearer.map(|variable| ("Authorization".to_owned(), variable, "Bearer "));
        let named = self.table("env_http_headers")?.into_iter();
        let named = named.filter_map(|(name, variable)| Some((name, variable?, "")));
        Ok(bearer.into_iter().chain(named).collect())
    }

    /// Codex counts in seconds, the inspector in milliseconds.
    fn startup_timeout(&self) -> Result<Option<Duration>, ClientConfigError> {
        for (key, seconds) in [
            ("startup_timeout_sec", 1.0),
            ("startup_timeout_ms", 1e-3),
            ("connectionTimeout", 1e-3),
        ] {
            let Some(value) = self.entry.get(key) else { continue };
            let duration =
                value.as_f64().map(|number| Duration::try_from_secs_f64(number * seconds));
            return match duration {
                Some(Ok(duration)) if !duration.is_zero() => Ok(Some(duration)),
                _ => Err(self.wrong(format!("`{key}` must be a number above 0"))),
            };
        }
        Ok(None)
    }

    fn protocol(&self) -> Result<ProtocolChoice, ClientConfigError> {
        match self.text("protocolEra")?.as_deref() {
            None | Some("auto") => Ok(ProtocolChoice::Auto),
            Some("legacy") => Ok(Revision::NEWEST_LEGACY.into()),
            Some("modern") => Ok(Revision::NEWEST_MODERN.into()),
            Some(other) => Err(self.wrong(format!("there is no era `{other}`"))),
        }
    }

    fn is(&self, (key, value): (&str, bool)) -> bool {
        self.entry.get(key) == Some(&Value::Bool(value))
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// VS Code reaches servers through local sockets too.
fn socket(url: &str) -> Option<&'static str> {
    let sockets = [("unix:", "unix socket"), ("pipe:", "named pipe")];
    sockets.into_iter().find(|(scheme, _)| url.starts_with(scheme)).map(|(_, name)| name)
}
