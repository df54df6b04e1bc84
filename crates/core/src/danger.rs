//! Whether a tool may be called unasked: `probe` calls every tool once, and must not delete a file,
//! send a mail or run a command on the way.
//!
//! Annotations decide where there are any, then the words of the name, then the schema and the verb
//! that the description begins with. A tool that nothing is known about is not called. This
//! protects the user from accidents, not from a malicious server: that one is running already.
//!
//! To add a word: put it in its table, and the tool that it came from in the test's table.

use serde_json::{Map, Value};

use crate::generate::words;

/// What calling a tool may do. Every reason is made of our own words, so it is safe to show; it
/// reads on from "not called: …".
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Danger {
    /// It only reads or computes.
    Safe {
        /// How we know.
        why: String,
    },
    /// It may change something: files, data, a page, somebody's inbox.
    MayChange {
        /// How we know.
        why: String,
    },
    /// It may start something, or run what it is given.
    MayRun {
        /// How we know.
        why: String,
    },
    /// It may reach out to an address that it is given.
    MayReach {
        /// How we know.
        why: String,
    },
    /// It only reads, but what it shows may be secret and would end up in a trace.
    MayReveal {
        /// How we know.
        why: String,
    },
    /// It may do anything.
    Unknown {
        /// That we do not know.
        why: String,
    },
}

impl Danger {
    /// Whether the tool may be called though nobody has allowed it.
    pub const fn may_be_called_unasked(&self) -> bool {
        matches!(self, Self::Safe { .. })
    }

    /// The reason.
    pub fn why(&self) -> &str {
        match self {
            Self::Safe { why }
            | Self::MayChange { why }
            | Self::MayRun { why }
            | Self::MayReach { why }
            | Self::MayReveal { why }
            | Self::Unknown { why } => why,
        }
    }
}

/// What a word tells about a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sense {
    Reads,
    Changes,
    Runs,
    Reaches,
    Reveals,
}

impl Sense {
    fn danger(self, why: String) -> Danger {
        match self {
            Self::Reads => Danger::Safe { why },
            Self::Changes => Danger::MayChange { why },
            Self::Runs => Danger::MayRun { why },
            Self::Reaches => Danger::MayReach { why },
            Self::Reveals => Danger::MayReveal { why },
        }
    }
}

/// Words, or short phrases, and what they tell.
type Table = &'static [(Sense, &'static str)];

/// Words that outweigh all others, wherever they stand, and an annotation too.
const CLEAR: Table = &[
    (
        Sense::Changes,
        "delete, destroy, drop, erase, kill, overwrite, purge, remove, replace, rm, shutdown, \
         terminate, truncate, uninstall, unlink, wipe",
    ),
    (Sense::Runs, "bash, cmd, command, exec, powershell, shell, subprocess, sudo"),
    (Sense::Reveals, "credential, credentials, env, password, passwords, secret, secrets"),
];

/// Verbs; the first one decides, or one after "and" or "or" if that is worse.
const VERBS: Table = &[
    (
        Sense::Reads,
        "analyse, analyze, blame, calculate, check, classify, compare, compute, convert, count, \
         decode, delay, describe, detect, diff, discover, display, divide, echo, encode, estimate, \
         explain, find, get, glob, grep, hash, inspect, list, look, lookup, measure, multiply, \
         parse, peek, ping, preview, query, read, recommend, retrieve, return, round, search, \
         show, sleep, slow, solve, sqrt, stat, subtract, suggest, sum, summarize, tail, think, translate, \
         validate, view, whoami",
    ),
    (
        Sense::Changes,
        "add, alter, append, apply, approve, archive, assign, attach, backup, book, buy, cancel, \
         change, checkout, clean, clear, click, clone, close, comment, commit, configure, copy, \
         create, disable, drag, duplicate, edit, email, enable, export, fill, flush, fork, \
         format, grant, hover, import, init, initialize, insert, invite, join, label, lock, \
         login, logout, mark, merge, mkdir, modify, move, notify, order, patch, pay, pin, post, \
         press, publish, pull, push, put, rebase, record, register, reject, release, rename, \
         reply, reset, resize, restore, revert, revoke, rotate, save, scroll, send, set, share, \
         star, stash, store, submit, subscribe, sync, tag, toggle, touch, transfer, type, undo, \
         unlock, unmerge, unsubscribe, update, upload, upsert, write",
    ),
    (
        Sense::Runs,
        "build, call, compile, debug, deploy, eval, evaluate, execute, install, invoke, launch, \
         play, process, restart, resume, run, schedule, simulate, spawn, start, stop, suspend, \
         terminal, test, trigger",
    ),
    (
        Sense::Reaches,
        "browse, connect, crawl, curl, download, fetch, http, navigate, request, scan, scrape, \
         visit, webhook",
    ),
];

/// Nouns that end the name of a tool that reads, when it has no verb: `git_log`, `directory_tree`.
const ENDINGS: Table = &[(
    Sense::Reads,
    "average, forecast, health, help, history, info, log, logs, max, mean, median, metadata, \
         min, now, schema, screenshot, snapshot, stats, status, summary, time, tree, version, \
         weather",
)];

/// Verbs that are no nouns: a tool named `get_…` whose description begins with one is misnamed.
const PLAIN_CHANGES: Table = &[(
    Sense::Changes,
    "append, create, delete, edit, insert, modify, move, remove, rename, save, send, set, \
         update, upload, write",
)];

/// Properties that give a tool something to run, an address to reach, or a place to write to.
const PROPERTIES: Table = &[
    (Sense::Runs, "cmd, command, commands, script, shell, sql"),
    (Sense::Reaches, "endpoint, uri, url, urls, webhook"),
    (
        Sense::Changes,
        "dest, destination, output dir, output file, output path, overwrite, save path, save to",
    ),
];

/// The same, for a tool whose name does not say that it reads: a `code` may also be a country's.
const OTHER_PROPERTIES: Table = &[(Sense::Runs, "code, function, program, source code")];

/// Words of SQL, written large, that make a `query` more than a question.
const WRITING_SQL: [&str; 7] =
    ["ALTER", "CREATE", "DELETE", "DROP", "INSERT", "TRUNCATE", "UPDATE"];

/// How many words of a description count as its beginning.
const LEADING_WORDS: usize = 6;
/// How many characters of a description are read.
const MOST_TEXT: usize = 2000;
/// How many properties of a schema are read.
const MOST_PROPERTIES: usize = 1000;

/// What calling a tool may do, by all that `tools/list` says of it. What is missing is given as the
/// empty text or as `null`.
///
/// ```
/// use mcp_loadtest_core::danger::danger;
/// use serde_json::{Value, json};
///
/// let list = danger("list_files", "", &Value::Null, &Value::Null);
/// assert!(list.may_be_called_unasked());
///
/// let delete = danger("delete_file", "", &json!({ "readOnlyHint": true }), &Value::Null);
/// assert!(!delete.may_be_called_unasked());
/// assert_eq!(delete.why(), "it is annotated as read-only, but its name says `delete`");
/// ```
pub fn danger(name: &str, description: &str, annotations: &Value, input_schema: &Value) -> Danger {
    let name = without_nouns(words(name));
    if let Some(danger) = by_annotations(annotations, &name) {
        return danger;
    }
    let no_properties = Map::new();
    let properties = input_schema.get("properties").and_then(Value::as_object);
    let properties = properties.unwrap_or(&no_properties);
    let named = judge(&name).or_else(|| sense(ENDINGS, name.last()?));
    match named {
        Some((Sense::Reads, word)) => reader(word, description, properties),
        Some((Sense::Changes, "add")) if are_numbers(properties) => {
            Danger::Safe { why: "it adds numbers".to_owned() }
        }
        Some((sense, word)) => sense.danger(named_so(sense, word)),
        None => unnamed(description, properties),
    }
}

/// `readOnlyHint` and `destructiveHint`. The other hints say nothing about harm.
fn by_annotations(annotations: &Value, name: &[String]) -> Option<Danger> {
    let hint = |name| annotations.get(name).and_then(Value::as_bool);
    let may_change = |why: &str| Some(Danger::MayChange { why: why.to_owned() });
    match (hint("readOnlyHint"), hint("destructiveHint")) {
        (Some(true), Some(true)) => {
            may_change("it is annotated both as read-only and as destructive")
        }
        (Some(true), _) => Some(match name.iter().find_map(|word| sense(CLEAR, word)) {
            None => Danger::Safe { why: "it is annotated as read-only".to_owned() },
            Some((sense, word)) => {
                sense.danger(format!("it is annotated as read-only, but {}", named_so(sense, word)))
            }
        }),
        (_, Some(true)) => may_change("it is annotated as destructive"),
        (Some(false), _) => may_change("it is annotated as not read-only"),
        (None, _) => None,
    }
}

fn named_so(sense: Sense, word: &str) -> String {
    match sense {
        Sense::Reveals => format!("its name says `{word}`, and what it shows may be secret"),
        _ => format!("its name says `{word}`"),
    }
}

/// A tool whose name says that it reads, unless something says otherwise.
fn reader(word: &str, description: &str, properties: &Map<String, Value>) -> Danger {
    let first = leading(description).into_iter().next();
    by_properties(PROPERTIES, properties)
        .or_else(|| by_sql(description, properties))
        .or_else(|| described(sense(PLAIN_CHANGES, &first?)?))
        .unwrap_or_else(|| Danger::Safe { why: format!("its name says `{word}`") })
}

/// A tool whose name tells nothing.
fn unnamed(description: &str, properties: &Map<String, Value>) -> Danger {
    by_properties(PROPERTIES, properties)
        .or_else(|| by_properties(OTHER_PROPERTIES, properties))
        .or_else(|| by_sql(description, properties))
        .or_else(|| described(judge(&leading(description))?))
        .unwrap_or_else(|| Danger::Unknown { why: "cannot tell that it only reads".to_owned() })
}

fn described((sense, word): (Sense, &str)) -> Option<Danger> {
    Some(sense.danger(format!("its description says `{word}`")))
}

fn by_properties(table: Table, properties: &Map<String, Value>) -> Option<Danger> {
    properties.keys().take(MOST_PROPERTIES).find_map(|name| {
        let (sense, word) = sense(table, &words(name).join(" "))?;
        let what = match sense {
            Sense::Runs => "run",
            Sense::Reaches => "reach out to",
            _ => "write to",
        };
        let article = if word.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
        Some(sense.danger(format!("it takes {article} `{word}`, which it may {what}")))
    })
}

/// A `query` that is said to insert, update or delete.
fn by_sql(description: &str, properties: &Map<String, Value>) -> Option<Danger> {
    let query = properties.get("query")?;
    let own = query.get("description").and_then(Value::as_str).unwrap_or_default();
    let text = description.chars().take(MOST_TEXT).chain([' ']).chain(own.chars().take(MOST_TEXT));
    let text: String = text.collect();
    let word =
        text.split(|c: char| !c.is_alphanumeric()).find(|word| WRITING_SQL.contains(word))?;
    Some(Danger::MayRun { why: format!("it takes a `query`, which may be `{word}`") })
}

/// Whether a tool takes numbers and nothing else.
fn are_numbers(properties: &Map<String, Value>) -> bool {
    let is_number = |schema: &Value| {
        schema.get("type").is_some_and(|kind| kind == "number" || kind == "integer")
    };
    !properties.is_empty() && properties.values().all(is_number)
}

/// A pull request is a thing, though `pull` and `request` are verbs.
fn without_nouns(mut words: Vec<String>) -> Vec<String> {
    let is_noun = |pair: &[String]| {
        matches!(pair[0].as_str(), "pull" | "merge")
            && matches!(pair[1].as_str(), "request" | "requests")
    };
    while let Some(at) = words.windows(2).position(is_noun) {
        words.drain(at..at + 2);
    }
    words
}

/// What these words tell together.
fn judge(words: &[String]) -> Option<(Sense, &'static str)> {
    if let Some(clear) = words.iter().find_map(|word| sense(CLEAR, word)) {
        return Some(clear);
    }
    let mut verbs =
        words.iter().enumerate().filter_map(|(at, word)| Some((at, sense(VERBS, word)?)));
    let (_, first) = verbs.next()?;
    // `get_or_create_user` does not only get.
    let is_joined = |at: usize| matches!(words[at - 1].as_str(), "and" | "or" | "then");
    let worse = verbs.find(|(at, (sense, _))| *sense != Sense::Reads && is_joined(*at));
    Some(worse.filter(|_| first.0 == Sense::Reads).map_or(first, |(_, verb)| verb))
}

fn sense(table: Table, word: &str) -> Option<(Sense, &'static str)> {
    table.iter().find_map(|(sense, words)| {
        words.split(", ").find(|known| *known == word).map(|known| (*sense, known))
    })
}

/// The first words of a description, verbs without their ending: "Deletes, or …" is `delete or`.
fn leading(description: &str) -> Vec<String> {
    let text: String = description.chars().take(MOST_TEXT / 10).collect();
    let mut words = words(&text.replace([',', '/', '&'], " or "));
    words.truncate(LEADING_WORDS);
    words.iter().map(|word| without_ending(word)).collect()
}

fn without_ending(word: &str) -> String {
    let forms = [Some(word), word.strip_suffix('s'), word.strip_suffix("es")];
    let known = |form: &&str| sense(VERBS, form).or_else(|| sense(CLEAR, form)).is_some();
    let copies = word.strip_suffix("ies").map(|stem| format!("{stem}y"));
    match forms.into_iter().flatten().find(known) {
        Some(form) => form.to_owned(),
        None => copies.unwrap_or_else(|| word.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::ProptestConfig;
    use serde_json::json;

    fn schema(properties: &[&str]) -> Value {
        let properties: Map<_, _> = properties
            .iter()
            .map(|name| ((*name).to_owned(), json!({ "type": "string" })))
            .collect();
        json!({ "type": "object", "properties": properties })
    }

    fn short(danger: &Danger) -> &'static str {
        match danger {
            Danger::Safe { .. } => "safe",
            Danger::MayChange { .. } => "changes",
            Danger::MayRun { .. } => "runs",
            Danger::MayReach { .. } => "reaches",
            Danger::MayReveal { .. } => "reveals",
            Danger::Unknown { .. } => "unknown",
        }
    }

    #[test]
    fn what_a_tool_takes_says_what_it_may_do_with_it() {
        for (property, why) in [
            ("command", "it takes a `command`, which it may run"),
            ("url", "it takes a `url`, which it may reach out to"),
            ("output_file", "it takes an `output file`, which it may write to"),
        ] {
            assert_eq!(danger("x", "", &Value::Null, &schema(&[property])).why(), why);
        }
    }

    /// Tools of real servers, without their annotations: name, description, properties.
    #[test]
    fn real_tools_are_told_apart() {
        let table: &[(&str, &str, &[&str], &str)] = &[
            // server-filesystem
            ("read_text_file", "Read the complete contents of a file", &["path", "tail"], "safe"),
            ("read_multiple_files", "Read the contents of multiple files", &["paths"], "safe"),
            ("list_directory", "Get a detailed listing", &["path"], "safe"),
            ("list_allowed_directories", "Returns the list of directories", &[], "safe"),
            ("directory_tree", "Get a recursive tree view of files", &["path"], "safe"),
            ("search_files", "Recursively search for files", &["path", "pattern"], "safe"),
            ("get_file_info", "Retrieve detailed metadata", &["path"], "safe"),
            ("write_file", "Create a new file or overwrite", &["path", "content"], "changes"),
            ("edit_file", "Make line-based edits to a text file", &["path", "edits"], "changes"),
            ("create_directory", "Create a new directory", &["path"], "changes"),
            ("move_file", "Move or rename files", &["source", "destination"], "changes"),
            // server-memory
            ("read_graph", "Read the entire knowledge graph", &[], "safe"),
            ("search_nodes", "Search for nodes in the knowledge graph", &["query"], "safe"),
            ("open_nodes", "Open specific nodes by their names", &["names"], "unknown"),
            ("create_entities", "Create multiple new entities", &["entities"], "changes"),
            ("add_observations", "Add new observations", &["observations"], "changes"),
            ("delete_relations", "Delete multiple relations", &["relations"], "changes"),
            // server-git
            ("git_status", "Shows the working tree status", &["repo_path"], "safe"),
            ("git_diff_unstaged", "Shows changes in the working directory", &["repo_path"], "safe"),
            ("git_log", "Shows the commit logs", &["repo_path", "max_count"], "safe"),
            ("git_show", "Shows the contents of a commit", &["repo_path", "revision"], "safe"),
            ("git_branch", "List Git branches", &["repo_path", "branch_type"], "safe"),
            (
                "git_add",
                "Adds file contents to the staging area",
                &["repo_path", "files"],
                "changes",
            ),
            ("git_commit", "Records changes to the repository", &["message"], "changes"),
            ("git_reset", "Unstages all staged changes", &["repo_path"], "changes"),
            ("git_checkout", "Switches branches", &["branch_name"], "changes"),
            ("git_create_branch", "Creates a new branch", &["branch_name"], "changes"),
            ("git_init", "Initialize a new Git repository", &["repo_path"], "changes"),
            // sqlite and other databases
            ("read_query", "Execute a SELECT query on the SQLite database", &["query"], "safe"),
            ("write_query", "Execute an INSERT, UPDATE, or DELETE query", &["query"], "changes"),
            ("database", "Answers a question with INSERT or SELECT", &["query"], "runs"),
            ("query", "Run a read-only SQL query", &["sql"], "runs"),
            ("list_tables", "List all tables", &[], "safe"),
            ("describe_table", "Get the schema of a table", &["table_name"], "safe"),
            ("create_table", "Create a new table", &["query"], "changes"),
            ("append_insight", "Add a business insight to the memo", &["insight"], "changes"),
            // shells
            ("execute_command", "Execute a command", &["command"], "runs"),
            ("run_command", "", &["command"], "runs"),
            ("bash", "", &["restart"], "runs"),
            ("shell-exec", "", &[], "runs"),
            ("runPythonCode", "", &["code"], "runs"),
            ("python", "Python sandbox", &["code"], "runs"),
            ("kill_process", "", &["pid"], "changes"),
            // playwright
            ("browser_navigate", "Navigate to a URL", &["url"], "reaches"),
            ("browser_click", "Perform click on a web page", &["ref"], "changes"),
            ("browser_type", "Type text into editable element", &["text"], "changes"),
            ("browser_press_key", "Press a key on the keyboard", &["key"], "changes"),
            ("browser_file_upload", "Upload one or multiple files", &["paths"], "changes"),
            ("browser_evaluate", "Evaluate JavaScript expression", &["function"], "runs"),
            ("browser_snapshot", "Capture accessibility snapshot", &[], "safe"),
            ("browser_console_messages", "Returns all console messages", &[], "safe"),
            (
                "browser_tabs",
                "List, create, close, or select a browser tab.",
                &["action"],
                "changes",
            ),
            ("browser_wait_for", "Wait for text to appear", &["text"], "unknown"),
            // excel
            ("read_data_from_excel", "Read data from Excel worksheet", &["filepath"], "safe"),
            ("get_workbook_metadata", "Get metadata about workbook", &["filepath"], "safe"),
            ("validate_formula_syntax", "Validate Excel formula", &["formula"], "safe"),
            ("write_data_to_excel", "Write data to Excel worksheet", &["data"], "changes"),
            ("apply_formula", "Apply Excel formula to cell", &["formula"], "changes"),
            ("format_range", "Apply formatting to a range", &["range"], "changes"),
            ("merge_cells", "Merge a range of cells", &[], "changes"),
            ("rename_worksheet", "", &[], "changes"),
            // time, calculators, fetch, search
            ("get_current_time", "Get current time in a specific timezone", &["timezone"], "safe"),
            ("convert_time", "Convert time between timezones", &["time"], "safe"),
            ("calculate", "Evaluates a mathematical expression", &["expression"], "safe"),
            ("calculator", "Calculates the result of an expression", &["expression"], "safe"),
            ("fetch", "Fetches a URL from the internet", &["url"], "reaches"),
            ("brave_web_search", "Performs a web search", &["query"], "safe"),
            ("read_web_page", "", &["url"], "reaches"),
            // everything
            ("echo", "Echoes back the input string", &["message"], "safe"),
            ("get-sum", "Returns the sum of two numbers", &["a", "b"], "safe"),
            ("get-tiny-image", "Returns a tiny MCP logo image.", &[], "safe"),
            ("get-env", "Returns all environment variables", &[], "reveals"),
            ("trigger-long-running-operation", "Demonstrates progress", &["duration"], "runs"),
            ("toggle-simulated-logging", "Toggles simulated logging", &[], "changes"),
            ("gzip-file-as-resource", "Compresses a single file", &["name", "data"], "unknown"),
            (
                "sequentialthinking",
                "A detailed tool for dynamic problem-solving",
                &["thought"],
                "unknown",
            ),
            // Messages and code hosts
            ("slack_post_message", "Post a new message to a channel", &["text"], "changes"),
            ("slack_get_users", "Get a list of all users", &[], "safe"),
            ("sendEmail", "", &["to"], "changes"),
            ("pull_request_read", "Get information on a pull request", &["method"], "safe"),
            ("merge_pull_request", "Merge a pull request", &["pullNumber"], "changes"),
            ("actions_run_trigger", "Trigger GitHub Actions workflow operations", &[], "runs"),
            ("get_secret_scanning_alert", "Get details of an alert", &[], "reveals"),
            ("dismiss_notification", "Dismiss a notification", &["state"], "unknown"),
            ("get_or_create_user", "", &[], "changes"),
            ("get_order", "", &[], "safe"),
            ("order_and_get", "", &[], "changes"),
            ("pull_model", "", &[], "changes"),
            ("make_request", "", &[], "reaches"),
            ("get_deleted_items", "", &[], "safe"),
            ("search_and_replace", "", &[], "changes"),
            ("get_report", "Create a report and mail it", &[], "changes"),
            ("get_airport", "", &["code"], "safe"),
            ("export_data", "", &["output_path"], "changes"),
            ("get_chart", "", &["output_path"], "changes"),
            // Nothing to go by
            ("frobnicate", "", &[], "unknown"),
            ("", "", &[], "unknown"),
            ("../../etc\u{202e}\0", "🦀", &[], "unknown"),
        ];
        for (name, description, properties, expected) in table {
            let danger = danger(name, description, &Value::Null, &schema(properties));
            assert_eq!(short(&danger), *expected, "{name}: {}", danger.why());
            assert_eq!(danger.may_be_called_unasked(), *expected == "safe");
        }
    }

    #[test]
    fn annotations_decide_unless_the_name_is_clear() {
        let table = [
            ("frobnicate", json!({ "readOnlyHint": true }), "safe"),
            ("run_query", json!({ "readOnlyHint": true, "openWorldHint": true }), "safe"),
            ("delete_file", json!({ "readOnlyHint": true }), "changes"),
            ("shell", json!({ "readOnlyHint": true }), "runs"),
            ("get-env", json!({ "readOnlyHint": true }), "reveals"),
            ("get_file", json!({ "readOnlyHint": true, "destructiveHint": true }), "changes"),
            ("get_file", json!({ "readOnlyHint": false }), "changes"),
            ("get_file", json!({ "destructiveHint": true }), "changes"),
            ("get_file", json!({ "destructiveHint": false }), "safe"),
            ("get_file", json!({ "readOnlyHint": "yes" }), "safe"),
            ("write_file", json!([]), "changes"),
        ];
        for (name, annotations, expected) in table {
            let danger = danger(name, "", &annotations, &Value::Null);
            assert_eq!(short(&danger), expected, "{name} {annotations}: {}", danger.why());
        }
    }

    #[test]
    fn adding_numbers_changes_nothing() {
        let numbers =
            json!({ "properties": { "a": { "type": "number" }, "b": { "type": "integer" } } });
        assert!(danger("add", "", &Value::Null, &numbers).may_be_called_unasked());
        assert!(!danger("add", "", &Value::Null, &schema(&["item"])).may_be_called_unasked());
        assert!(!danger("add", "", &Value::Null, &Value::Null).may_be_called_unasked());
    }

    #[test]
    fn no_word_has_two_senses() {
        for table in [CLEAR, VERBS, ENDINGS, PROPERTIES] {
            let mut all: Vec<_> = table.iter().flat_map(|(_, words)| words.split(", ")).collect();
            let count = all.len();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), count);
        }
    }

    #[test]
    fn the_reason_says_where_it_comes_from() {
        let none = Value::Null;
        for (name, description, annotations, why) in [
            ("list_files", "", json!({}), "its name says `list`"),
            (
                "get_secret",
                "",
                json!({}),
                "its name says `secret`, and what it shows may be secret",
            ),
            ("x", "Deletes a file", json!({}), "its description says `delete`"),
            ("x", "", json!({}), "cannot tell that it only reads"),
            ("x", "", json!({"readOnlyHint": true}), "it is annotated as read-only"),
            ("x", "", json!({"readOnlyHint": false}), "it is annotated as not read-only"),
            ("x", "", json!({"destructiveHint": true}), "it is annotated as destructive"),
        ] {
            assert_eq!(danger(name, description, &annotations, &none).why(), why);
        }
    }

    #[test]
    fn only_the_beginning_of_a_description_is_read() {
        let told = |before: usize| {
            let description = format!("{} delete", "x".repeat(before));
            short(&danger("frobnicate", &description, &Value::Null, &Value::Null))
        };
        // So many characters that the verb just fits in, and one more.
        let fits = MOST_TEXT / 10 - " delete".len();
        assert_eq!((told(fits), told(fits + 1)), ("changes", "unknown"));
    }

    proptest::proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn a_clear_word_is_never_called(
            before in "([a-z]{1,8}_){0,3}",
            after in "(_[a-z]{1,8}){0,3}",
            text in ".{0,40}",
            hint: bool,
        ) {
            let name = format!("{before}delete{after}");
            let danger = danger(&name, &text, &json!({ "readOnlyHint": hint }), &Value::Null);
            proptest::prop_assert!(!danger.may_be_called_unasked());
            proptest::prop_assert!(danger.why().chars().all(|c| c.is_ascii_graphic() || c == ' '));
        }
    }
}
