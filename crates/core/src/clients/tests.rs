//! The shapes that people have on their machines, word for word where the facts give them.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

use super::*;
use crate::{
    hint::Hint as _,
    mcp::revision::Revision,
    server::{ProtocolChoice, Server, Transport},
};

const CLAUDE: &str = r#"{"mcpServers":{"db":{"type":"stdio","command":"uvx","args":["my-mcp"],"env":{"TOKEN":"${TOKEN:-x}"}},
               "web":{"type":"http","url":"https://h/mcp","headers":{"Authorization":"Bearer ${TOK}"}}}}"#;

const VSCODE_FILE: &str = r#"{"inputs":[{"type":"promptString","id":"k","description":"key","password":true}],
 "servers":{"db":{"type":"stdio","command":"npx","args":["-y","pkg"],"cwd":"${workspaceFolder}","envFile":"${workspaceFolder}/.env","env":{"K":"${input:k}"}}}}"#;

const CODEX_FILE: &str = r#"[mcp_servers.db]
command = "npx"
args = ["-y", "pkg"]
env = { K = "v" }
[mcp_servers.web]
url = "https://h/mcp"
bearer_token_env_var = "TOK"
"#;

/// Takes a server from a file, in a small world: two variables, one `.env` file, a project at `/w`.
fn take(
    file: &str,
    text: &str,
    name: &str,
    inputs: &[(&str, &str)],
) -> Result<Resolved, ClientConfigError> {
    let servers = parse(Path::new(file), text)?;
    let vars = |name: &str| match name {
        "TOK" => Some("secret".to_owned()),
        "EMPTY" => Some(String::new()),
        _ => None,
    };
    let read = |path: &Path| {
        let known = path == Path::new("/w/.env") || path == Path::new("/home/me/key");
        let text = "# note\nexport A=1 # one\nB=\"two # 2\"\n\nK=file\n".to_owned();
        known.then_some(text).ok_or_else(|| "no such file".to_owned())
    };
    let inputs: BTreeMap<String, String> =
        inputs.iter().map(|(id, value)| ((*id).to_owned(), (*value).to_owned())).collect();
    let surroundings = Surroundings {
        vars: &vars,
        inputs: &inputs,
        workspace: Some(Path::new("/w")),
        home: Some(Path::new("/home/me")),
        read: &read,
    };
    resolve(find(&servers, name, Some(Path::new("/w")))?, &surroundings)
}

fn server(file: &str, text: &str, name: &str) -> Server {
    let resolved = take(file, text, name, &[]).unwrap();
    assert_eq!(resolved.warnings, []);
    resolved.server
}

fn error(file: &str, text: &str, name: &str) -> String {
    take(file, text, name, &[]).unwrap_err().to_string()
}

/// `mcpServers` with one entry called `x`.
fn one(entry: &str) -> String {
    format!(r#"{{"mcpServers": {{"x": {entry}}}}}"#)
}

#[test]
fn claude_code() {
    let db = server("/w/.mcp.json", CLAUDE, "db");
    let expected = Server::stdio("uvx")
        .arg("my-mcp")
        .env("TOKEN", "x")
        .env("CLAUDE_PROJECT_DIR", "/w")
        .working_dir("/w");
    assert_eq!(db, expected.build());
    let web = server("/w/.mcp.json", CLAUDE, "web");
    assert_eq!(web, Server::http("https://h/mcp").header("Authorization", "Bearer secret").build());
    let folder = server("/w/.mcp.json", &one(r#"{"command": "${CLAUDE_PROJECT_DIR}/run"}"#), "x");
    assert_eq!(folder.command, "/w/run");
}

#[test]
fn claude_code_keeps_servers_per_project() {
    let text = r#"{"numStartups": 3, "mcpServers": {"a": {"command": "user"}, "b": {"command": "user"}},
        "projects": {"/w": {"mcpServers": {"a": {"command": "local"}}, "history": []},
                     "/other": {"mcpServers": {"a": {"command": "other"}, "c": {"command": "other"}}}}}"#;
    assert_eq!(server("/home/me/.claude.json", text, "a").command, "local");
    assert_eq!(server("/home/me/.claude.json", text, "b").command, "user");
    assert_eq!(error("/home/me/.claude.json", text, "c"), "no MCP server is called `c`");
    let only_projects = r#"{"projects": {"/w": {"mcpServers": {"a": {"command": "local"}}}}}"#;
    assert_eq!(server("/home/me/.claude.json", only_projects, "a").command, "local");
}

#[test]
fn claude_desktop_has_no_variables() {
    let text = one(r#"{"command": "npx", "args": ["${TOK}"], "env": {"A": "$TOK"}}"#);
    for file in ["/home/me/.config/Claude/claude_desktop_config.json", "claude_desktop_config.json"]
    {
        let x = server(file, &text, "x");
        assert_eq!((x.args[0].as_str(), x.env["A"].as_str()), ("${TOK}", "$TOK"));
    }
}

#[test]
fn vs_code() {
    let db = take("/w/.vscode/mcp.json", VSCODE_FILE, "db", &[("k", "given")]).unwrap().server;
    let expected = Server::stdio("npx").args(["-y", "pkg"]).working_dir("/w");
    assert_eq!(db, expected.env("A", "1").env("B", "two # 2").env("K", "given").build());
    let missing = take("/w/.vscode/mcp.json", VSCODE_FILE, "db", &[]).unwrap_err();
    assert_eq!(
        missing.to_string(),
        "/w/.vscode/mcp.json: server `db`: the input `k` has no value (key)"
    );
    assert_eq!(missing.hint().unwrap(), "give it with `--input k=…` or set `MCP_LOADTEST_INPUT_K`");
}

#[test]
fn vs_code_comments_defaults_and_values() {
    let text = r#"{ // servers of the team
        "inputs": [{"id": "region", "type": "pickString", "default": "eu"},],
        "servers": {
            "x": {"command": "${userHome}/run", "cwd": "sub", "args": ["${input:region}", "${env:TOK}", "${HOME}"],
                  "env": {"N": 5, "GONE": null, "TOK": null}, "sandboxEnabled": true},
            /* a socket */ "s": {"type": "http", "url": "unix:///p.sock#/mcp"},
            "c": {"command": "${config:python.path}"},
        },
    }"#;
    let x = take("mcp-copy.json", text, "x", &[]).unwrap();
    assert_eq!(x.server.command, "/home/me/run");
    assert_eq!(x.server.args, ["eu", "secret", "${HOME}"]);
    assert_eq!(x.server.working_dir, Some(PathBuf::from("/w/sub")));
    assert_eq!(x.server.env, [("N".to_owned(), "5".to_owned())].into());
    let told: Vec<String> = x.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "mcp-copy.json#x: `sandboxEnabled` has no effect here: the server is started without a sandbox",
            "mcp-copy.json#x: `env.TOK` has no effect here: an inherited variable is not removed",
        ]
    );
    assert_eq!(
        error("m.json", text, "s"),
        "m.json: server `s`: transport `unix socket` is not built yet; this version speaks stdio, http, sse, ws"
    );
    assert_eq!(
        error("m.json", text, "c"),
        "m.json: server `c`: the variable `config:python.path` is not set"
    );
}

#[test]
fn dev_containers_keep_vs_code_servers_deeper() {
    let text = r#"{"image": "x", "customizations": {"vscode": {"mcp": {
        "inputs": [{"id": "k", "default": "d"}], "servers": {"x": {"command": "${input:k}"}}}}}}"#;
    assert_eq!(server("/w/.devcontainer/devcontainer.json", text, "x").command, "d");
}

#[test]
fn cursor_windsurf_and_copilot() {
    let cursor = one(
        r#"{"type": "streamableHttp", "url": "${env:TOK}://h", "headers": {"A": "${userHome}"}}"#,
    );
    let x = server("/w/.cursor/mcp.json", &cursor, "x");
    assert_eq!(x, Server::http("secret://h").header("A", "/home/me").build());
    let windsurf =
        one(r#"{"serverUrl": "https://h/mcp", "headers": {"A": "${file:/home/me/key}"}}"#);
    let x = server("/home/me/.codeium/windsurf/mcp_config.json", &windsurf, "x");
    let Transport::Http { url, headers } = x.transport else { panic!() };
    assert_eq!(url, "https://h/mcp");
    assert!(headers["A"].ends_with("K=file"), "{headers:?}");
    let x = server("/home/me/.copilot/mcp-config.json", &one(r#"{"command": "${TOK}"}"#), "x");
    assert_eq!(x.command, "secret");
}

#[test]
fn gemini_means_sse_by_url() {
    let http = one(
        r#"{"httpUrl": "https://h/mcp", "headers": {"A": "$TOK"}, "timeout": 5, "trust": true}"#,
    );
    let x = server("/w/.gemini/settings.json", &http, "x");
    assert_eq!(x, Server::http("https://h/mcp").header("A", "secret").build());
    let sse = one(r#"{"url": "https://h/sse"}"#);
    let x = server("/w/.gemini/settings.json", &sse, "x");
    assert_eq!(x, Server::sse("https://h/sse").build());
    assert_eq!(server("/w/.mcp.json", &sse, "x").transport.name(), "http");
}

#[test]
fn the_type_of_an_entry_is_its_transport() {
    let take = |entry: &str| server("/w/.mcp.json", &one(entry), "x");
    let sse = take(r#"{"type": "sse", "url": "https://h/sse", "headers": {"A": "b"}}"#);
    assert_eq!(sse, Server::sse("https://h/sse").header("A", "b").build());
    let ws = Server::websocket("wss://h/ws").header("A", "b").build();
    for kind in [r#""type": "ws", "#, r#""type": "websocket", "#, ""] {
        let entry = format!(r#"{{{kind}"url": "wss://h/ws", "headers": {{"A": "b"}}}}"#);
        assert_eq!(take(&entry), ws);
    }
}

#[test]
fn codex() {
    let db = server("/home/me/.codex/config.toml", CODEX_FILE, "db");
    assert_eq!(
        db,
        Server::stdio("npx").args(["-y", "pkg"]).env("K", "v").working_dir("/w").build()
    );
    let web = server("/home/me/.codex/config.toml", CODEX_FILE, "web");
    assert_eq!(web, Server::http("https://h/mcp").header("Authorization", "Bearer secret").build());
    let text = "model = 'x'\n[mcp_servers.web]\nurl = 'https://h'\nhttp_headers = { A = '1' }\nenv_http_headers = { B = 'TOK' }\nstartup_timeout_sec = 1.5\n\
        [mcp_servers.db]\ncommand = 'c'\nenv_vars = ['TOK', 'UNSET']\n[mcp_servers.bad]\nurl = 'https://h'\nbearer_token_env_var = 'UNSET'";
    let web = server("other.toml", text, "web");
    assert_eq!(
        web,
        Server::http("https://h")
            .header("A", "1")
            .header("B", "secret")
            .startup_timeout(Duration::from_millis(1500))
            .build()
    );
    assert_eq!(
        server("other.toml", text, "db").env,
        [("TOK".to_owned(), "secret".to_owned())].into()
    );
    assert_eq!(
        error("other.toml", text, "bad"),
        "other.toml: server `bad`: the variable `UNSET` is not set"
    );
}

#[test]
fn zed_inspector_and_cline() {
    let zed = r#"{"theme": "x", /* old and new */ "context_servers": {
        "new": {"source": "custom", "command": "c", "args": ["a"], "env": {"A": "1"}},
        "old": {"command": {"path": "c", "args": ["a"], "env": {"A": "1"}}}}}"#;
    let expected = Server::stdio("c").arg("a").env("A", "1").working_dir("/w").build();
    for name in ["new", "old"] {
        assert_eq!(server("/home/me/.config/zed/settings.json", zed, name), expected, "{name}");
    }
    let inspector = one(r#"{"command": "c", "protocolEra": "modern", "connectionTimeout": 2000}"#);
    let x = server("/home/me/.mcp-inspector/mcp.json", &inspector, "x");
    assert_eq!(x.protocol, ProtocolChoice::Fixed(Revision::NEWEST_MODERN));
    assert_eq!(x.startup_timeout, Duration::from_secs(2));
    let cline = one(r#"{"command": "c", "disabled": true, "autoApprove": []}"#);
    let x = take("cline_mcp_settings.json", &cline, "x", &[]).unwrap();
    assert_eq!(
        x.warnings[0].to_string(),
        "cline_mcp_settings.json#x is disabled in the client; using it all the same"
    );
    let codex = "[mcp_servers.x]\ncommand = 'c'\nenabled = false";
    assert_eq!(take("c.toml", codex, "x", &[]).unwrap().warnings.len(), 1);
}

#[test]
fn the_same_transport_has_many_names() {
    for word in ["http", "streamable-http", "streamableHttp", "streamable_http"] {
        let text = one(&format!(r#"{{"type": "{word}", "url": "https://h"}}"#));
        assert_eq!(server("m.json", &text, "x").transport.name(), "http", "{word}");
    }
    let typo = take("m.json", &one(r#"{"type": "studio", "command": "c"}"#), "x", &[]).unwrap_err();
    assert_eq!(typo.to_string(), "m.json: server `x`: there is no type `studio`");
    assert_eq!(typo.hint().unwrap(), "did you mean `stdio`?");
}

#[test]
fn a_variable_without_value_is_never_empty() {
    for entry in [
        r#"{"command": "${NOPE}"}"#,
        r#"{"command": "c", "args": ["${env:NOPE}"]}"#,
        r#"{"url": "https://h", "headers": {"A": "${NOPE}"}}"#,
    ] {
        let unset = take("m.json", &one(entry), "x", &[]).unwrap_err();
        assert_eq!(
            unset.to_string(),
            "m.json: server `x`: the variable `NOPE` is not set",
            "{entry}"
        );
        assert_eq!(unset.hint().unwrap(), "set `NOPE` in the environment");
    }
    assert_eq!(server("m.json", &one(r#"{"command": "${EMPTY:-c}"}"#), "x").command, "c");
    let file = one(r#"{"command": "c", "envFile": "nope.env"}"#);
    let path = Path::new("/w").join("nope.env");
    assert_eq!(
        error("m.json", &file, "x"),
        format!("m.json: server `x`: cannot read `{}`: no such file", path.display())
    );
}

#[test]
fn an_unknown_name_is_answered_with_the_known_ones() {
    let unknown = take("/w/.mcp.json", CLAUDE, "wab", &[]).unwrap_err();
    assert_eq!(unknown.hint().unwrap(), "did you mean `web`? known: db, web");
    let far = take("/w/.mcp.json", CLAUDE, "elephant", &[]).unwrap_err();
    assert_eq!(far.hint().unwrap(), "known: db, web");
    let none = take("x.json", "{}", "db", &[]).unwrap_err();
    assert_eq!(none.hint().unwrap(), "the files hold no servers");
}

#[test]
fn two_files_that_disagree_are_not_guessed_between() {
    let load = |file: &str, command: &str| {
        parse(Path::new(file), &one(&format!(r#"{{"command": "{command}"}}"#))).unwrap()
    };
    let differ = [load("/w/.mcp.json", "a"), load("/w/.cursor/mcp.json", "b")].concat();
    let ambiguous = find(&differ, "x", None).unwrap_err();
    assert_eq!(
        ambiguous.to_string(),
        "`x` is the name of different servers: /w/.mcp.json#x, /w/.cursor/mcp.json#x"
    );
    let agree = [load("/w/.mcp.json", "a"), load("/w/.cursor/mcp.json", "a")].concat();
    assert_eq!(find(&agree, "x", None).unwrap().file, "/w/.mcp.json");
}

#[test]
fn one_bad_entry_does_not_hide_the_others() {
    let text = r#"{"mcpServers": {"good": {"command": "c"}, "empty": {}, "text": "c", "args": {"command": "c", "args": "x"},
        "env": {"command": "c", "env": {"A": []}}, "late": {"command": "c", "connectionTimeout": -1},
        "never": {"command": "c", "startup_timeout_sec": 0}}}"#;
    assert_eq!(server("m.json", text, "good").command, "c");
    for (name, message) in [
        ("empty", "has neither `command` nor `url`"),
        ("text", "has neither `command` nor `url`"),
        ("args", "`args` must be a list of texts"),
        ("env", "`env.A` must be a text, a number or null"),
        ("late", "`connectionTimeout` must be a number above 0"),
        ("never", "`startup_timeout_sec` must be a number above 0"),
    ] {
        assert_eq!(error("m.json", text, name), format!("m.json: server `{name}`: {message}"));
    }
}

#[test]
fn a_broken_file_says_where() {
    let json = parse(Path::new("m.json"), "{\n \"mcpServers\": {").unwrap_err().to_string();
    assert!(json.starts_with("m.json: cannot be read: ") && json.contains("line"), "{json}");
    let toml = parse(Path::new("m.toml"), "[mcp_servers").unwrap_err().to_string();
    assert!(toml.contains("line 1"), "{toml}");
    let toml = "[mcp_servers.x.env]\nKEY = \"s3cret";
    let toml = parse(Path::new("m.toml"), toml).unwrap_err().to_string();
    assert!(toml.contains("line 2") && !toml.contains("s3cret"), "{toml}");
    let json = "{\"mcpServers\": {\"x\": {\"env\": {\"KEY\": \"s3cret}}}}";
    let json = parse(Path::new("m.json"), json).unwrap_err().to_string();
    assert!(!json.contains("s3cret"), "{json}");
    assert_eq!(parse(Path::new("m.json"), "\u{feff}{}").unwrap(), []);
    assert_eq!(parse(Path::new("m.json"), "").unwrap(), []);
    assert!(parse(Path::new("m.json"), &"[".repeat(100_000)).is_err());
}

#[test]
fn a_file_is_known_by_its_path_or_its_content() {
    for client in CLIENTS {
        let key = client.servers.trim_start_matches('/');
        let nested =
            key.split('/').rev().fold(r#"{"x": {"command": "c"}}"#.to_owned(), |inner, key| {
                format!(r#"{{"{key}": {inner}}}"#)
            });
        let json = |file: &str| parse(Path::new("/any").join(file).as_path(), &nested).unwrap();
        for file in client.files().filter(|file| !file.ends_with(".toml")) {
            assert_eq!(json(file)[0].client, client, "{file}");
        }
    }
    assert_eq!(parse(Path::new("x.toml"), CODEX_FILE).unwrap()[0].client.name, "codex");
    assert_eq!(parse(Path::new("x.json"), VSCODE_FILE).unwrap()[0].client.name, "vscode");
    assert_eq!(parse(Path::new("/w/.vscode/mcp.json"), CLAUDE).unwrap()[0].client.name, "mcp");
}

#[test]
fn the_project_is_searched_before_the_home() {
    let files = well_known(Some(Path::new("/w")), Some(Path::new("/home/me")));
    assert_eq!(files[0], Path::new("/w/.mcp.json"));
    let first_of_home = files.iter().position(|file| file.starts_with("/home/me")).unwrap();
    assert!(files[first_of_home..].iter().all(|file| file.starts_with("/home/me")));
    assert!(files.contains(&PathBuf::from("/home/me/.codex/config.toml")));
    assert_eq!(well_known(None, None), [] as [PathBuf; 0]);
    let once = well_known(Some(Path::new("/h")), Some(Path::new("/h")));
    assert_eq!(once.iter().filter(|file| file.ends_with(".cursor/mcp.json")).count(), 1);
}

#[test]
fn places_and_files_of_the_home_are_filled_in() {
    let take = |entry: &str| server("/w/.cursor/mcp.json", &one(entry), "x");
    for (text, meant) in [
        ("${workspaceFolder}", "/w".to_owned()),
        ("${workspaceFolderBasename}", "w".to_owned()),
        ("${userHome}", "/home/me".to_owned()),
        ("a${/}b", format!("a{}b", std::path::MAIN_SEPARATOR)),
        ("a${pathSeparator}b", format!("a{}b", std::path::MAIN_SEPARATOR)),
    ] {
        assert_eq!(take(&format!(r#"{{"command": "{text}"}}"#)).command, meant, "{text}");
    }
    let key = take(r#"{"command": "c", "envFile": "~/key"}"#);
    assert_eq!(key.env["K"], "file");
}

#[test]
fn a_setting_that_is_switched_off_is_not_warned_about() {
    let off =
        one(r#"{"command": "c", "oauth": null, "sandboxEnabled": false, "env": {"TOK": "1"}}"#);
    server("m.json", &off, "x");
    let on = one(r#"{"command": "c", "oauth": {}, "headersHelper": "h"}"#);
    let told = take("m.json", &on, "x", &[]).unwrap().warnings;
    let told: Vec<String> = told.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "m.json#x: `headersHelper` has no effect here: no helper is run; give the headers with `headers`",
            "m.json#x: `oauth` has no effect here: there is no login; give a token with `headers`",
        ]
    );
}
