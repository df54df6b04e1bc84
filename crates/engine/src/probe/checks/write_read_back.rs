//! Writes at once that were acknowledged must be there afterwards.
//!
//! Which tool shows what another wrote is found by trying, so it works for any store; it writes, so
//! it is only done where the user allows it.

use std::time::Duration;

use mcp_loadtest_core::{
    check::{CaseResult, CaseVerdict, Depth, Family},
    generate::words,
    mcp::Tool,
    report::Severity,
};
use mcp_loadtest_wire::session::Session;
use serde_json::{Value, json};

use super::{Check, Running};
use crate::{
    plan::danger_of,
    probe::{
        at_once::{Fate, Landed, at_once, fallen, prepared},
        bench::Bench,
    },
};

pub(super) static CHECK: Check = Check {
    id: "write_read_back",
    family: Family::Concurrency,
    taxonomy: None,
    depth: Depth::Usual,
    about: "writes at once and reads back what was acknowledged",
    meaning: "of what several users store at the same time, some is lost though they were told it is kept",
    run,
};

const WRITES: usize = 20;
const MOST_WRITERS: usize = 5;
const MOST_READERS: usize = 8;
/// A store may need a moment.
const SETTLING: Duration = Duration::from_millis(300);
const WRITES_WORDS: &str =
    "add, append, create, insert, put, record, remember, save, set, store, upsert, write";
const PLACES: &str = "dir, directory, file, filename, folder, path, repo, repository, url, uri";
const STREAM: u64 = 0x7772_6974_6500;

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        if !bench.settings.allow_destructive {
            return bench.skip(&CHECK, "writing needs --allow-destructive");
        }
        let session = match bench.session().await {
            Ok(session) => session,
            Err(error) => return bench.no_session(&CHECK, &error),
        };
        let run = bench.settings.seed.dice(STREAM).below(1 << 32);
        let Some(store) = find(bench, &session, run).await else {
            return match &bench.settings.pair {
                Some((writer, reader)) => {
                    let why =
                        format!("`{reader}` does not show what `{writer}` wrote, or is not there");
                    bench.tell(CHECK.case("the named pair", CaseVerdict::CouldNotTell).detail(why));
                }
                None => {
                    bench.skip(&CHECK, "no tool shows what another one wrote; --pair names two")
                }
            };
        };
        look(bench, &session, &store, run).await;
    })
}

/// A tool that writes and one that shows what was written.
struct Store {
    writer: Tool,
    good: Value,
    reader: Tool,
    /// The parameter by which the reader is asked for one thing; without it, it shows everything.
    key: Option<String>,
}

/// The text that is written: of this probe, of this row, the number so many.
fn mark(run: u64, row: &str, number: usize) -> String {
    format!("mlt{run:08x}{row}{number:02}")
}

async fn find(bench: &Bench, session: &Session, run: u64) -> Option<Store> {
    let pair = bench.settings.pair.as_ref();
    let is_meant = |tool: &Tool| match pair {
        Some((writer, _)) => tool.name == *writer,
        None => is_writer(tool),
    };
    let writers = bench.subjects().filter(|(tool, _)| is_meant(tool)).take(MOST_WRITERS);
    for (number, (writer, good)) in writers.enumerate() {
        let text = mark(run, "try", number);
        let reply =
            session.call(&prepared(session, writer, &marked(good, &text)), bench.how()).await;
        if reply.failure().is_some() {
            continue;
        }
        for (reader, key) in readers(bench).take(MOST_READERS) {
            let (writer, good) = (writer.clone(), good.clone());
            let store = Store { writer, good, reader: reader.clone(), key };
            if store.shows(bench, session, &[&text]).await.is_empty() {
                return Some(store);
            }
        }
    }
    None
}

fn is_writer(tool: &Tool) -> bool {
    let named = |list: &str, name: &str| {
        words(name).iter().any(|word| list.split(", ").any(|listed| listed == word))
    };
    let properties = tool.input_schema["properties"].as_object();
    // Nobody wants a file for each write, or a visit to each address.
    let is_elsewhere = properties.is_some_and(|all| all.keys().any(|name| named(PLACES, name)));
    named(WRITES_WORDS, &tool.name) && !is_elsewhere
}

/// Tools that read, with everything or one thing.
fn readers(bench: &Bench) -> impl Iterator<Item = (&Tool, Option<String>)> {
    let reads = bench.tools.iter().filter(|known| match &bench.settings.pair {
        Some((_, reader)) => known.tool.name == *reader,
        None => danger_of(&known.tool).may_be_called_unasked(),
    });
    reads.filter_map(|known| {
        let schema = &known.tool.input_schema;
        let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
        match required {
            [] => Some((&known.tool, None)),
            [key] => {
                let key = key.as_str()?;
                let is_text = schema["properties"][key]["type"] == "string";
                is_text.then(|| (&known.tool, Some(key.to_owned())))
            }
            _ => None,
        }
    })
}

/// The arguments with every text in them replaced.
fn marked(arguments: &Value, text: &str) -> Value {
    match arguments {
        Value::String(_) => json!(text),
        Value::Array(items) => items.iter().map(|item| marked(item, text)).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| (name.clone(), marked(value, text)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        other => other.clone(),
    }
}

impl Store {
    /// Which of these texts it does not show.
    async fn shows<'t>(
        &self,
        bench: &Bench,
        session: &Session,
        texts: &[&'t String],
    ) -> Vec<&'t String> {
        let mut missing = Vec::new();
        let mut everything = None;
        for text in texts {
            let shown = match (&self.key, &everything) {
                (None, Some(shown)) => shown,
                (key, _) => {
                    let arguments = key.as_ref().map_or(json!({}), |key| json!({ key: text }));
                    let request = prepared(session, &self.reader, &arguments);
                    let reply = session.call(&request, bench.patient()).await;
                    let good = reply.failure().is_none();
                    let body = reply.body.filter(|_| good).unwrap_or_default();
                    &*everything.insert(String::from_utf8_lossy(&body).into_owned())
                }
            };
            if !is_shown(shown, text, self.key.is_some()) {
                missing.push(*text);
            }
        }
        missing
    }

    fn request(
        &self,
        session: &Session,
        text: &str,
    ) -> std::rc::Rc<mcp_loadtest_wire::session::Prepared> {
        prepared(session, &self.writer, &marked(&self.good, text))
    }
}

/// One that was asked for by its key may be named in an answer that says it is not there.
fn is_shown(shown: &str, text: &str, by_key: bool) -> bool {
    let denies = ["not found", "no such", "null", "\"entities\":[]", "missing"];
    shown.contains(text) && !(by_key && denies.iter().any(|word| shown.contains(word)))
}

async fn look(bench: &Bench, session: &Session, store: &Store, run: u64) {
    let result = write_and_read(bench, session, store, run).await;
    // A dead server shows nothing, which is no lost update.
    let result = bench.unless_dead(session, result).await;
    bench.tell(result.tool(&store.writer.name));
}

async fn write_and_read(bench: &Bench, session: &Session, store: &Store, run: u64) -> CaseResult {
    let texts = |row: &str| (0..WRITES).map(|n| mark(run, row, n)).collect::<Vec<_>>();
    let (in_a_row, at_the_same_time) = (texts("row"), texts("all"));
    let case = format!("{WRITES} writes at once, read back by `{}`", store.reader.name);
    let case = |verdict| CHECK.case(&case, verdict);
    let could_not = |why: &str| case(CaseVerdict::CouldNotTell).detail(why);
    for text in &in_a_row {
        session.call(&store.request(session, text), bench.patient()).await;
    }
    let in_a_row: Vec<&String> = in_a_row.iter().collect();
    if !store.shows(bench, session, &in_a_row).await.is_empty() {
        return could_not("also of writes one after another not all are shown");
    }
    let calls = at_the_same_time.iter();
    let calls = calls.map(|text| (session.clone(), store.request(session, text))).collect();
    let landed = at_once(calls, bench.patient()).await;
    let both = at_the_same_time.iter().zip(&landed);
    let kept: Vec<&String> =
        both.filter(|(_, landed)| landed.reply.failure().is_none()).map(|(text, _)| text).collect();
    tokio::time::sleep(SETTLING).await;
    let missing = store.shows(bench, session, &kept).await;
    let forgotten = store.shows(bench, session, &in_a_row).await;
    match (missing.len(), forgotten.len()) {
        (0, _) => judge_answers(&landed, case),
        (lost, 0) => case(CaseVerdict::Broken).detail(format!(
            "lost update: {lost} of {} acknowledged writes are not there",
            kept.len()
        )),
        _ => could_not("earlier writes are not shown any more either"),
    }
}

/// What is said of the writes themselves, where all that were acknowledged are there.
fn judge_answers(landed: &[Landed], case: impl Fn(CaseVerdict) -> CaseResult) -> CaseResult {
    let (kept, _) = fallen(landed, Fate::Good);
    let (refused, error) = fallen(landed, Fate::Refused);
    let (garbled, defect) = fallen(landed, Fate::Garbled);
    let (lost, silence) = fallen(landed, Fate::Lost);
    match (lost, garbled, kept, refused) {
        (1.., ..) => case(CaseVerdict::Broken)
            .detail(format!("{lost} of {WRITES} writes were never answered: {silence}")),
        (0, 1.., ..) => case(CaseVerdict::Broken)
            .detail(format!("{garbled} of {WRITES} writes got no valid answer: {defect}")),
        (0, 0, 0, _) => {
            case(CaseVerdict::CouldNotTell).detail(format!("no write was acknowledged: {error}"))
        }
        (0, 0, _, 0) => case(CaseVerdict::Held).detail(format!("{kept} kept")),
        // Whoever is told that nothing was kept loses nothing.
        _ => case(CaseVerdict::Held)
            .severity(Severity::Info)
            .detail(format!("{kept} kept, {refused} refused: {error}")),
    }
}
