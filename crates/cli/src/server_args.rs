//! Naming the server, as people name it: a command, a URL, or a name in a file they already have.

mod again;
mod files;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use clap::{Args, builder::NonEmptyStringValueParser};
use mcp_loadtest::{Server, secrets_of};
use mcp_loadtest_core::{
    clients::{self, NamedServer, Surroundings},
    config::{Config, ServerConfig, ServerSource, TransportName},
    display::visible,
    server::{InheritEnv, ProtocolChoice},
    units::{Size, parse_duration},
};

pub(crate) use self::files::{client_files, known_servers};
use crate::{env::Env, error::CliError};

/// The flags that name a server.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Server")]
pub(crate) struct ServerArgs {
    /// The command that starts the server, as one would type it: "python -m my_mcp".
    #[arg(short, long, value_name = "COMMAND", value_parser = NonEmptyStringValueParser::new(), conflicts_with = "name")]
    pub(crate) server: Vec<String>,
    /// The address of the server. With --server, where it listens once it is started.
    #[arg(long, value_name = "URL", conflicts_with = "name")]
    pub(crate) url: Vec<String>,
    /// How messages travel: stdio, http (Streamable HTTP), sse (HTTP+SSE of 2024-11-05) or ws
    /// [default: stdio, with --url http or ws, as the address begins].
    #[arg(long, value_name = "TRANSPORT", value_parser = parse_transport)]
    pub(crate) transport: Option<TransportName>,
    /// A header for every request to --url, like "Authorization: Bearer ...". Repeatable.
    #[arg(long = "header", value_name = "NAME: VALUE")]
    pub(crate) headers: Vec<String>,
    /// A PEM file with certificates to trust, besides those of the system.
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_cert: Option<PathBuf>,
    /// The process that answers at --url: its memory and CPU are looked at; it is never signalled.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) pid: Option<u32>,
    /// The server's name in the configuration file of an MCP client (.mcp.json, Claude Desktop,
    /// VS Code, Cursor, Codex and others).
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// The client's configuration file. Without it the usual places are searched.
    #[arg(long, value_name = "FILE")]
    pub(crate) mcp_config: Option<PathBuf>,
    /// A value for an ${input:ID} of that file. Repeatable.
    #[arg(long = "input", value_name = "ID=VALUE")]
    pub(crate) inputs: Vec<String>,
    /// A variable for the server. Repeatable.
    #[arg(long = "env", value_name = "NAME=VALUE")]
    pub(crate) env: Vec<String>,
    /// Pass all of our environment to the server, secrets included.
    #[arg(long)]
    pub(crate) inherit_env: bool,
    /// The directory the server is started in.
    #[arg(long, value_name = "DIR")]
    pub(crate) working_dir: Option<PathBuf>,
    /// The MCP revision to speak: auto, or a date such as 2025-11-25 or 2026-07-28.
    #[arg(long, value_name = "REVISION", value_parser = parse_protocol)]
    pub(crate) protocol: Option<ProtocolChoice>,
    /// Fail when the server answers with another revision than it was asked for.
    #[arg(long)]
    pub(crate) strict_protocol: bool,
    /// How long the server may take to start [default: 30s].
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) startup_timeout: Option<std::time::Duration>,
    /// How long the server may take to end; after two fifths of it SIGTERM is sent [default: 5s].
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub(crate) shutdown_timeout: Option<std::time::Duration>,
    /// The longest message that is taken from the server [default: 16MiB].
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) max_message: Option<Size>,
    /// Also show the server's stderr as it comes.
    #[arg(long)]
    pub(crate) tee_stderr: bool,
}

/// Reads a duration flag; the hint becomes part of the message.
pub(crate) fn parse_time(text: &str) -> Result<std::time::Duration, String> {
    use mcp_loadtest_core::hint::Hint as _;
    parse_duration(text).map_err(|error| format!("{error}; {}", error.hint().unwrap_or_default()))
}

/// The same for a duration that must not be zero.
pub(crate) fn parse_some_time(text: &str) -> Result<std::time::Duration, String> {
    match parse_time(text)? {
        time if time.is_zero() => Err("must be longer than 0s".into()),
        time => Ok(time),
    }
}

fn parse_transport(text: &str) -> Result<TransportName, String> {
    let known = TransportName::ALL.into_iter().find(|name| name.as_str() == text);
    known.ok_or_else(|| {
        format!(
            "there is no `{text}`; use {}",
            TransportName::ALL.map(TransportName::as_str).join(", ")
        )
    })
}

fn parse_protocol(text: &str) -> Result<ProtocolChoice, String> {
    use mcp_loadtest_core::hint::Hint as _;
    text.parse::<ProtocolChoice>()
        .map_err(|error| format!("{error}; {}", error.hint().unwrap_or_default()))
}

impl ServerArgs {
    /// The first flag that speaks of a server.
    pub(crate) fn first_flag(env: &Env) -> Option<String> {
        use clap::{Args as _, Command};
        let known = Self::augment_args(Command::new(""));
        let is_ours = |flag: &str| {
            known.get_arguments().any(|arg| {
                let long = arg.get_long().map(|long| format!("--{long}"));
                let short = arg.get_short().map(|short| format!("-{short}"));
                long.as_deref() == Some(flag) || short.as_deref() == Some(flag)
            })
        };
        let words = env.args.iter().map(|word| word.to_string_lossy());
        let mut flags = words.map(|word| word.split('=').next().unwrap_or_default().to_owned());
        flags.find(|flag| is_ours(flag))
    }

    /// Whether the flags alone name a server.
    pub(crate) fn names_one(&self) -> bool {
        !self.server.is_empty() || !self.url.is_empty() || self.name.is_some()
    }

    /// Lays the flags over what a configuration file says: flags win.
    pub(crate) fn lay_over(&self, config: &mut ServerConfig) -> Result<(), CliError> {
        let (server, url) = (only("--server", &self.server)?, only("--url", &self.url)?);
        if server.is_some() || url.is_some() || self.name.is_some() {
            let kept = std::mem::take(config);
            config.startup_timeout = kept.startup_timeout;
            config.shutdown_timeout = kept.shutdown_timeout;
            config.max_message = kept.max_message;
            config.protocol = kept.protocol;
        }
        if let Some(line) = server {
            let mut words = split_words(line)?;
            config.command = Some(words.remove(0));
            config.args = words;
        }
        config.url = url.cloned().or(config.url.take());
        config.transport = self.transport.or(config.transport);
        config.ca_cert = self.ca_cert.clone().or(config.ca_cert.take());
        config.pid = self.pid.or(config.pid);
        config.name = self.name.clone().or(config.name.take());
        config.mcp_config = self.mcp_config.clone().or(config.mcp_config.take());
        for header in &self.headers {
            let (name, value) = split_pair(header, ':', "--header", "Authorization: Bearer TOKEN")?;
            config.headers.insert(name, value);
        }
        for variable in &self.env {
            let (name, value) = split_pair(variable, '=', "--env", "LOG_LEVEL=debug")?;
            config.env.insert(name, value);
        }
        if self.inherit_env {
            config.inherit_env = Some(InheritEnv::All);
        }
        config.working_dir = self.working_dir.clone().or(config.working_dir.take());
        config.protocol = self.protocol.or(config.protocol);
        config.startup_timeout = self.startup_timeout.or(config.startup_timeout);
        config.shutdown_timeout = self.shutdown_timeout.or(config.shutdown_timeout);
        config.max_message = self.max_message.or(config.max_message);
        Ok(())
    }

    /// The server that the configuration and the flags describe.
    pub(crate) fn resolve(&self, config: &Config, env: &mut Env) -> Result<Server, CliError> {
        let mut server = match config.server.source()? {
            ServerSource::Here(_) if !self.inputs.is_empty() => {
                return Err(CliError::usage(
                    "--input is for a server that is taken from a client's file",
                    "name it with --name, or leave --input out",
                ));
            }
            ServerSource::Here(server) => *server,
            ServerSource::Client { file, name } => {
                let server = self.take_from_client(file.as_deref(), &name, env)?;
                config.server.lay_over(server)?
            }
        };
        if self.tee_stderr && !server.is_started() {
            return Err(CliError::usage(
                "--tee-stderr is for a server that is started here",
                "start it with -s COMMAND, or leave --tee-stderr out",
            ));
        }
        server.ca_cert = server.ca_cert.map(|file| env.path(&file));
        env.keep(&secrets_of(&server));
        Ok(server)
    }

    fn take_from_client(
        &self,
        file: Option<&Path>,
        name: &str,
        env: &mut Env,
    ) -> Result<Server, CliError> {
        let mut known = known_servers(file, env)?;
        let entry = known.find(name, &env.cwd)?;
        let server = resolve_named(entry, &self.inputs, env)?;
        self.refuse_idle_inputs(entry, &server, env)?;
        Ok(server)
    }
}

/// Stands for a value that nobody writes.
const ANOTHER: &str = "\u{1}another value";

impl ServerArgs {
    /// An input that may as well be another one is asked for by nobody.
    fn refuse_idle_inputs(
        &self,
        entry: &NamedServer,
        server: &Server,
        env: &Env,
    ) -> Result<(), CliError> {
        let given = pairs_of_inputs(&self.inputs)?;
        for id in given.keys() {
            let mut others = given.clone();
            others.insert(id.clone(), ANOTHER.to_owned());
            if resolved(entry, &others, env)?.server == *server {
                let message = format!("`{}` asks for no input `{id}`", visible(&entry.name, 80));
                let hint = "look at the entry for `${input:ID}`; not all clients have inputs";
                return Err(CliError::usage(message, hint));
            }
        }
        Ok(())
    }
}

fn pairs_of_inputs(inputs: &[String]) -> Result<BTreeMap<String, String>, CliError> {
    inputs.iter().map(|input| split_pair(input, '=', "--input", "api_key=VALUE")).collect()
}

fn resolved(
    entry: &NamedServer,
    inputs: &BTreeMap<String, String>,
    env: &Env,
) -> Result<clients::Resolved, CliError> {
    let home = env.home();
    let surroundings = Surroundings {
        vars: &*env.var,
        inputs,
        workspace: Some(&env.cwd),
        home: home.as_deref(),
        read: &|path| std::fs::read_to_string(path).map_err(|error| error.to_string()),
    };
    Ok(clients::resolve(entry, &surroundings)?)
}

/// The server that an entry of a client's file describes, with its variables filled in; says so.
pub(crate) fn resolve_named(
    entry: &NamedServer,
    inputs: &[String],
    env: &mut Env,
) -> Result<Server, CliError> {
    let resolved = resolved(entry, &pairs_of_inputs(inputs)?, env)?;
    env.keep(&secrets_of(&resolved.server));
    let mut talk = format!(
        "using `{}` from {}: {}\n",
        visible(&entry.name, 80),
        entry.origin(),
        visible(&resolved.server.to_string(), 200)
    );
    for warning in &resolved.warnings {
        talk.push_str(&format!("warning: {}\n", visible(&warning.to_string(), 300)));
    }
    env.err(&talk);
    Ok(resolved.server)
}

/// The value of a flag that only `run` takes several times.
fn only<'a>(flag: &str, values: &'a [String]) -> Result<Option<&'a String>, CliError> {
    match values {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        several => Err(CliError::usage(
            format!("{flag} is given {} times", several.len()),
            "name one server; only `run` tests several, to compare them",
        )),
    }
}

pub(crate) fn parse_size(text: &str) -> Result<Size, String> {
    use mcp_loadtest_core::hint::Hint as _;
    text.parse::<Size>().map_err(|error| format!("{error}; {}", error.hint().unwrap_or_default()))
}

fn split_words(line: &str) -> Result<Vec<String>, CliError> {
    let words = shlex::split(line).filter(|words| !words.is_empty());
    words.ok_or_else(|| {
        CliError::usage(
            // Not shown: without its quotes nobody can tell what of it is secret.
            "--server is not a command line: a quote is left open, or it is empty",
            "close every quote, as in --server \"python -m my_mcp\"",
        )
    })
}

pub(crate) fn split_pair(
    text: &str,
    separator: char,
    flag: &str,
    example: &str,
) -> Result<(String, String), CliError> {
    match text.split_once(separator) {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err(CliError::usage(
            // Not shown: it may be the secret alone.
            format!("{flag} is given something that is not a name, `{separator}` and a value"),
            format!("write it like {flag} \"{example}\""),
        )),
    }
}
