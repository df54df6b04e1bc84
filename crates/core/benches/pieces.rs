//! What a call costs in pure code, piece by piece. To add one: a line in [`PIECES`] and a function
//! that prepares it.

use std::{borrow::Cow, hint::black_box, time::Duration};

use mcp_loadtest_core::{
    config::Trace,
    event::{Call, Event, Phase},
    histogram,
    jsonrpc::{Template, read},
    tally::Tally,
    trace,
};
use serde_json::json;

/// Something that is done again and again.
pub(crate) struct Piece {
    /// What it is.
    pub(crate) name: &'static str,
    /// Sets the scene; what it gives does it once.
    pub(crate) prepare: fn() -> Box<dyn FnMut()>,
}

/// All of them.
pub(crate) const PIECES: &[Piece] = &[
    Piece { name: "read a reply of 190 bytes", prepare: || reading(REPLY.as_bytes().to_vec()) },
    Piece { name: "read a reply with escapes", prepare: || reading(escaped()) },
    Piece { name: "read a reply of 10 KB", prepare: || reading(long()) },
    Piece { name: "write a request", prepare: writing },
    Piece { name: "fold a request and its reply", prepare: folding },
    Piece { name: "trace a request and its reply", prepare: tracing },
    Piece { name: "trace a call through its keeper", prepare: || keeping(Trace::Full) },
    Piece { name: "trace a call that is left out", prepare: || keeping(Trace::Errors) },
    Piece { name: "merge two histograms", prepare: merging },
];

const REPLY: &str = r#"{"jsonrpc":"2.0","id":123456,"result":{"content":[{"type":"text","text":"the quick brown fox jumps over the lazy dog, and then it does so once more, for good measure"}],"isError":false}}"#;

/// JSON in a text, as many tools give it.
fn escaped() -> Vec<u8> {
    let text = json!({"name": "a fox", "colours": ["brown", "red"], "path": "C:\\foxes\n"});
    let result = json!({"content": [{"type": "text", "text": text.to_string()}], "isError": false});
    format!(r#"{{"jsonrpc":"2.0","id":123456,"result":{result}}}"#).into_bytes()
}

/// Rows with numbers, some of them nested.
fn long() -> Vec<u8> {
    let row = |n: i32| json!({"id": n, "score": f64::from(n) / 7.0, "tags": ["a", "b"], "of": {}});
    let rows: Vec<_> = (0..150).map(row).collect();
    let result = json!({"content": [], "structuredContent": {"rows": rows}, "isError": false});
    format!(r#"{{"jsonrpc":"2.0","id":123456,"result":{result}}}"#).into_bytes()
}

fn reading(frame: Vec<u8>) -> Box<dyn FnMut()> {
    assert!(read(&frame).defects.is_empty(), "a good reply");
    Box::new(move || {
        black_box(read(black_box(&frame)));
    })
}

fn writing() -> Box<dyn FnMut()> {
    let template = Template::new("tools/call", &json!({"name": "echo", "arguments": {}}));
    let (mut id, mut out) = (100_000, Vec::with_capacity(1024));
    Box::new(move || {
        out.clear();
        id += 1;
        template.write(id, &mut out);
        black_box(&out);
    })
}

fn folding() -> Box<dyn FnMut()> {
    let (mut tally, mut events) = (Tally::default(), Events::default());
    Box::new(move || events.next(|event| tally.observe(event)))
}

fn tracing() -> Box<dyn FnMut()> {
    let (mut out, mut events) = (Vec::with_capacity(4096), Events::default());
    Box::new(move || {
        out.clear();
        events.next(|event| trace::append(event, &mut out));
        black_box(&out);
    })
}

fn keeping(mode: Trace) -> Box<dyn FnMut()> {
    let (mut out, mut events) = (Vec::with_capacity(4096), Events::default());
    let mut keeper = trace::Keeper::new(mode, 0);
    Box::new(move || {
        out.clear();
        events.next(|event| keeper.append(event, &mut out));
        black_box(&out);
    })
}

fn merging() -> Box<dyn FnMut()> {
    let (mut all, mut other) = (histogram::new(), histogram::new());
    for micros in 1..5_000 {
        histogram::record(&mut other, Duration::from_micros(micros * 7));
    }
    Box::new(move || all.add(black_box(&other)).expect("the bounds are the same"))
}

/// The events of a load call, and of the next one.
#[derive(Default)]
struct Events {
    id: u64,
}

impl Events {
    fn next(&mut self, mut take: impl FnMut(&Event<'_>)) {
        self.id += 1;
        let started = Duration::from_micros(self.id * 10);
        let at = started + Duration::from_nanos(50_000 + self.id % 1000 * 977);
        let call = Call {
            request_id: self.id,
            session: 0,
            worker: 0,
            phase: Phase::Load,
            method: Cow::Borrowed("tools/call"),
            tool: Some(Cow::Borrowed("echo")),
            segment: 0,
            intended: started,
            started,
        };
        let result = REPLY.as_bytes()[38..REPLY.len() - 1].into();
        let params = br#"{"arguments":{},"name":"echo"}"#.as_slice().into();
        take(black_box(&Event::Request { call: call.clone(), params }));
        take(black_box(&Event::Response { call, at, result }));
    }
}
