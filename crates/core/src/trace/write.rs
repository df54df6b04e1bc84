//! Events to trace lines.

use std::time::Duration;

use super::RESULT_LIMIT;
use crate::{
    event::{Call, Event, Phase, ProcessSample},
    jsonrpc::plain_length,
};

/// Appends one line, with its end.
pub fn append(event: &Event<'_>, out: &mut Vec<u8>) {
    match event {
        Event::Request { call, params } => {
            open(out, call.started, "request");
            append_call(call, out);
            out.extend_from_slice(b",\"params\":");
            append_raw(params, out);
        }
        Event::Response { call, at, result } => {
            open(out, *at, "response");
            append_call(call, out);
            append_duration(at.saturating_sub(call.started), out);
            append_result(result, out);
        }
        Event::Error { call, at, failure } => {
            open(out, *at, "error");
            append_call(call, out);
            append_duration(at.saturating_sub(call.started), out);
            out.extend_from_slice(b",\"error\":{\"category\":\"");
            out.extend_from_slice(failure.category.name().as_bytes());
            out.extend_from_slice(b"\",\"message\":");
            append_text(&failure.message, out);
            if let Some(code) = failure.code {
                out.extend_from_slice(b",\"code\":");
                out.extend_from_slice(itoa::Buffer::new().format(code).as_bytes());
            }
            out.push(b'}');
        }
        Event::Hang { call, at } => {
            open(out, *at, "hang");
            append_call(call, out);
            append_duration(at.saturating_sub(call.started), out);
        }
        Event::Deadlock { call, at, diagnosis, evidence } => {
            open(out, *at, "deadlock");
            append_call(call, out);
            append_duration(at.saturating_sub(call.started), out);
            out.extend_from_slice(b",\"diagnosis\":");
            append_json(diagnosis, out);
            out.extend_from_slice(b",\"evidence\":");
            append_text(evidence, out);
        }
        Event::Dropped { at, worker, segment, count } => {
            open(out, *at, "dropped");
            append_number(",\"worker\":", u64::from(*worker), out);
            append_segment(*segment, out);
            append_number(",\"count\":", *count, out);
        }
        Event::Process(sample) => append_process(sample, out),
        Event::Generator(sample) => {
            open(out, sample.at, "generator_sample");
            append_number(",\"worker\":", u64::from(sample.worker), out);
            append_number(",\"wall_ns\":", sample.wall.as_nanos() as u64, out);
            append_number(",\"cpu_ns\":", sample.cpu.as_nanos() as u64, out);
            append_number(",\"starved_ns\":", sample.starved.as_nanos() as u64, out);
        }
        Event::Scenario { at, name, detail, took } => {
            open(out, *at, "scenario_event");
            out.extend_from_slice(b",\"name\":");
            append_text(name, out);
            out.extend_from_slice(b",\"detail\":");
            append_text(detail, out);
            if let Some(took) = took {
                append_duration(*took, out);
            }
        }
    }
    out.extend_from_slice(b"}\n");
}

fn append_process(sample: &ProcessSample, out: &mut Vec<u8>) {
    open(out, sample.at, "process_sample");
    out.extend_from_slice(b",\"rss_mb\":");
    append_json(&sample.rss_mb, out);
    if let Some(pss_mb) = sample.pss_mb {
        out.extend_from_slice(b",\"pss_mb\":");
        append_json(&pss_mb, out);
    }
    out.extend_from_slice(b",\"cpu_pct\":");
    append_json(&sample.cpu_pct, out);
    out.extend_from_slice(b",\"threads\":");
    append_json(&sample.threads, out);
    out.extend_from_slice(b",\"open_files\":");
    append_json(&sample.open_files, out);
}

fn open(out: &mut Vec<u8>, at: Duration, kind: &str) {
    out.extend_from_slice(b"{\"ts\":");
    append_seconds(at, out);
    out.extend_from_slice(b",\"kind\":\"");
    out.extend_from_slice(kind.as_bytes());
    out.push(b'"');
}

fn append_call(call: &Call<'_>, out: &mut Vec<u8>) {
    append_number(",\"request_id\":", call.request_id, out);
    append_number(",\"session\":", u64::from(call.session), out);
    append_number(",\"worker\":", u64::from(call.worker), out);
    append_segment(call.segment, out);
    out.extend_from_slice(match call.phase {
        Phase::Setup => b",\"phase\":\"setup\"".as_slice(),
        Phase::Warmup => b",\"phase\":\"warmup\"",
        Phase::Load => b",\"phase\":\"load\"",
        Phase::Control => b",\"phase\":\"control\"",
    });
    out.extend_from_slice(b",\"method\":");
    append_text(&call.method, out);
    if let Some(tool) = &call.tool {
        out.extend_from_slice(b",\"tool\":");
        append_text(tool, out);
    }
    out.extend_from_slice(b",\"intended_ts\":");
    append_seconds(call.intended, out);
}

fn append_number(label: &str, number: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(label.as_bytes());
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// A scenario without steps does not mention them.
fn append_segment(segment: u16, out: &mut Vec<u8>) {
    if segment > 0 {
        append_number(",\"segment\":", u64::from(segment), out);
    }
}

fn append_duration(duration: Duration, out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"duration_ms\":");
    let nanos = duration.as_nanos() as u64;
    append_decimal::<6>(nanos / 1_000_000, (nanos % 1_000_000) as u32, out);
}

fn append_seconds(at: Duration, out: &mut Vec<u8>) {
    append_decimal::<9>(at.as_secs(), at.subsec_nanos(), out);
}

/// `whole.fraction` with `WIDTH` digits after the point.
fn append_decimal<const WIDTH: usize>(whole: u64, fraction: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(whole).as_bytes());
    out.push(b'.');
    let (mut digits, mut rest) = ([b'0'; WIDTH], fraction);
    for digit in digits.iter_mut().rev() {
        *digit += (rest % 10) as u8;
        rest /= 10;
    }
    out.extend_from_slice(&digits);
}

/// The result as it came, or its beginning as text when it is long.
fn append_result(result: &[u8], out: &mut Vec<u8>) {
    if result.len() <= RESULT_LIMIT {
        out.extend_from_slice(b",\"result\":");
        append_raw(result, out);
        return;
    }
    out.extend_from_slice(b",\"result\":");
    append_text(&String::from_utf8_lossy(&result[..RESULT_LIMIT]), out);
    out.extend_from_slice(b",\"result_bytes\":");
    out.extend_from_slice(itoa::Buffer::new().format(result.len()).as_bytes());
}

/// JSON from the wire. It was checked; only its line ends would break the line format, and outside
/// strings those are white space.
fn append_raw(raw: &[u8], out: &mut Vec<u8>) {
    if raw.is_empty() {
        out.extend_from_slice(b"null");
        return;
    }
    let start = out.len();
    out.extend_from_slice(raw);
    if memchr::memchr2(b'\n', b'\r', raw).is_some() {
        for byte in &mut out[start..] {
            if matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }
}

/// A JSON string. Plain text, which is nearly all of it, is copied as it is.
fn append_text(text: &str, out: &mut Vec<u8>) {
    if plain_length(text.as_bytes()) == text.len() {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    } else {
        append_json(text, out);
    }
}

fn append_json(value: &(impl serde::Serialize + ?Sized), out: &mut Vec<u8>) {
    serde_json::to_writer(out, value).expect("writing to memory cannot fail");
}
