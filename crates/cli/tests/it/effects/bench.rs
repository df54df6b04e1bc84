//! A directory in which a command is run, and all that is to be seen of it afterwards.

use std::{fs, path::Path};

use tempfile::TempDir;

use crate::{
    harness::run_in,
    process::{Listening, fixture, listening_mock},
};

/// What a file repeats of the flags, so that finding it there proves nothing.
const ECHOES: [&str; 4] = ["config.toml", "metrics.json", "report.md", "report.html"];
/// Far more than anything here says; a trace may be long.
const LONGEST: usize = 4 << 20;

/// A table of messages that differ.
const ROWS: &str = "rows.csv";

/// Files that proofs may name.
const FILES: &[(&str, &str)] = &[
    (
        "burst.toml",
        "[server]\ncommand = '{bin}'\nargs = ['mock']\n[scenario]\ntype = 'deadlock_probe'\nconcurrent = 3\n",
    ),
    (
        "rate.toml",
        "[server]\ncommand = '{bin}'\nargs = ['mock']\n[scenario]\ntype = 'sustained'\nrate = '10/s'\n\
         duration = '1s'\ntool = 'echo'\n",
    ),
    (
        "log.jsonl",
        r#"{"v":1,"seq":1,"ts":"2026-05-10T14:30:01.000000Z","kind":"request","transport":"stdio","session":"s1","method":"tools/call","tool":"first","arguments":"{\"q\":\"needle\"}","success":true,"attempt":1,"bytes_in":9,"bytes_out":9,"duration_us":10}
{"v":1,"seq":2,"ts":"2026-05-10T14:30:02.000000Z","kind":"request","transport":"stdio","session":"s2","method":"tools/call","tool":"second","arguments":"{}","success":false,"error_code":-32603,"error_message":"no luck","error_category":"upstream","attempt":1,"bytes_in":9,"bytes_out":9,"duration_us":10}
{"v":1,"seq":3,"ts":"2026-05-10T14:30:03.000000Z","kind":"notification","transport":"stdio","session":"s1","method":"notifications/initialized","success":true,"bytes_in":9,"bytes_out":0,"duration_us":10}
"#,
    ),
    (
        "app.py",
        "import json, os, urllib.request\n\
         body = json.dumps({'model': 'm', 'messages': [{'role': 'user', 'content': 'hi'}]}).encode()\n\
         url = os.environ['OPENAI_BASE_URL'] + '/chat/completions'\n\
         head = {'content-type': 'application/json', 'authorization': 'Bearer x'}\n\
         print(urllib.request.urlopen(urllib.request.Request(url, body, head)).read().decode())\n",
    ),
    ("tools.yml", "tools:\n  - {name: special, response: canned}\n"),
    ("fixtures.yml", "fixtures:\n  - response: {content: good morning}\n"),
    (
        ".mcp.json",
        r#"{"mcpServers":{
            "healthy":{"command":"{bin}","args":["mock"]},
            "named":{"command":"sh","args":["-c","touch {here}/named; exec {bin} mock"]}}}"#,
    ),
    (
        "vscode.json",
        r#"{"inputs":[{"id":"key","type":"promptString"}],"servers":{
            "asking":{"type":"stdio","command":"sh","args":["-c","echo $KEY > {here}/asked; exec {bin} mock"],
                      "env":{"KEY":"${input:key}"}}}}"#,
    ),
    (
        "other.json",
        r#"{"mcpServers":{
            "other":{"command":"sh","args":["-c","touch {here}/other; exec {bin} mock"]}}}"#,
    ),
    (
        "case.json",
        r#"{"schema":"mcp-loadtest/case/v1","id":"arguments-echo-1","payload":"arguments",
            "tool":"echo","index":1,"seed":1,"label":"arguments: null in place of its type",
            "method":"tools/call","request_id":7,"answer":"must","intent":"negative","heavy":false,
            "writes":[{"text":"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":null}}"}],
            "class":"crash","seen":"","repeats":true,"original_bytes":103,"target":""}"#,
    ),
    (
        "suite.yml",
        "servers: {m: {mock: {}}}\ntools:\n  - {name: first, tool: echo, tags: [one]}\n  \
         - {name: second, tool: nope, tags: [two]}\n",
    ),
    (
        "agents.yml",
        "servers: {m: {mock: {tools: [{name: search, response: INC-7731}]}}}\n\
         faults: [{name: hung, kind: hang, target: {tool: search}}]\n\
         agents:\n  - {name: a, model: 'scripted:careful', servers: [m], prompt: search, inject: [hung]}\n",
    ),
];

/// A directory with files that proofs name.
pub(super) struct Bench(TempDir);

impl Bench {
    pub(super) fn new() -> Self {
        let bench = Self(tempfile::tempdir().unwrap());
        fs::create_dir(bench.path().join("sub")).unwrap();
        FILES.iter().for_each(|(name, text)| bench.write(name, text));
        let rows = (0..50).map(|number| format!("row-{number}\n"));
        bench.write(ROWS, &format!("message\n{}", rows.collect::<String>()));
        bench
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        fs::write(self.path().join(name), self.filled(text)).unwrap();
    }

    /// `{bin}` stands for our own program, `{mock}` for its mock on pipes, `{here}` for the directory,
    /// `{fixtures}` for the folder of other servers.
    fn filled(&self, text: &str) -> String {
        let fixtures = fixture("").canonicalize().unwrap();
        let text = text.replace("{mock}", "{bin} mock");
        let text = text.replace("{fixtures}", &fixtures.display().to_string());
        let text = text.replace("{here}", &self.path().display().to_string());
        text.replace("{bin}", env!("CARGO_BIN_EXE_mcp-loadtest"))
    }

    /// Runs a command line and tells what it printed, how it ended and what it left behind. `HTTP` and
    /// `SSE` stand for the address of a mock that writes down what it hears, `TLS` for one whose
    /// certificate nobody knows.
    pub(super) fn transcript(&self, words: &[&str]) -> String {
        let heard = format!("jsonl:{}", self.path().join("heard.jsonl").display());
        let is_asked_for = |word: &str| words.contains(&word);
        let mock = ["http", "sse"].into_iter().find(|way| is_asked_for(&way.to_uppercase()));
        let mock =
            mock.map(|way| Listening::start(&["mock", "--transport", way, "--audit", &heard]));
        let pem = fixture("tls/localhost.pem");
        let tls = [("MOCK_TLS_PEM", pem.to_str().unwrap())];
        let tls = is_asked_for("TLS").then(|| listening_mock("mock-http-server.py", &tls));
        let filled = words.iter().map(|word| match (*word, &mock, &tls) {
            ("HTTP" | "SSE", Some(mock), _) => mock.url.clone(),
            ("TLS", _, Some(mock)) => mock.url.clone(),
            (word, ..) => self.filled(word),
        });
        let filled: Vec<String> = filled.collect();
        let filled: Vec<&str> = filled.iter().map(String::as_str).collect();
        let ran = run_in(self.path(), &filled);
        if let Some(mock) = mock {
            mock.stop();
        }
        let mut told = format!("exit {}\n{}\n{}\n", ran.code, ran.out, ran.err);
        self.add_files(self.path(), &mut told);
        told
    }

    fn add_files(&self, folder: &Path, told: &mut String) {
        let mut entries: Vec<_> = fs::read_dir(folder).unwrap().flatten().collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if [ROWS, "given"].contains(&&*name) || FILES.iter().any(|known| known.0 == name) {
                continue;
            }
            let shown = path.strip_prefix(self.path()).unwrap().display().to_string();
            told.push_str(&format!("file {shown}\n"));
            if path.is_dir() {
                self.add_files(&path, told);
            } else if !ECHOES.contains(&name.as_str()) {
                let bytes = fs::read(&path).unwrap();
                told.push_str(&String::from_utf8_lossy(&bytes[..bytes.len().min(LONGEST)]));
            }
        }
    }
}
