//! What each agent did when: a lane for each tool, a bar for each call.

use std::fmt::Write as _;

use crate::{
    report::{
        figures::counted,
        html::escape::{LONGEST_NAME, LONGEST_TEXT, text},
    },
    suite::{
        recovery::{TracedCall, Trajectory},
        result::TestResult,
    },
};

const WIDTH: f64 = 480.0;
const LEFT: f64 = 132.0;
const LANE: f64 = 26.0;
const FOOT: f64 = 26.0;
/// How much of a name fits beside its lane.
const LONGEST_LABEL: usize = 20;
/// Calls that are drawn of one agent; the table has as many.
const MOST_CALLS: usize = 200;
/// A call that took no time is still seen.
const THINNEST: f64 = 3.0;

/// The lanes of all agents; nothing where there is none that called a tool.
pub(super) fn section(tests: &[TestResult]) -> String {
    let agents = tests.iter().filter_map(|test| Some((test, test.trajectory.as_ref()?)));
    let html: String = agents
        .filter(|(_, trajectory)| !trajectory.calls.is_empty())
        .map(|(test, trajectory)| figure(&test.name, trajectory))
        .collect();
    match html.is_empty() {
        true => html,
        false => {
            let html = format!("<div class=\"grid-of\">\n{html}</div>\n");
            super::section("trajectories", "What each agent did", &html)
        }
    }
}

fn figure(name: &str, trajectory: &Trajectory) -> String {
    let name = text(name, LONGEST_NAME);
    let calls = &trajectory.calls[..trajectory.calls.len().min(MOST_CALLS)];
    format!(
        "<section class=\"figure\" aria-label=\"{name}\"><h3>{name}</h3><p class=\"reading\">{}</p>\n\
         <div class=\"still\" role=\"img\" aria-label=\"{name}: calls over time\">{}</div>\
         <p class=\"keys\"><span class=\"key c2\">answered</span><span class=\"key c1\">failed</span><span class=\"key c5\">met a fault</span>{}</p>\n\
         <details><summary>Calls one by one</summary><ul>{}</ul></details></section>\n",
        reading(trajectory),
        drawing(calls, trajectory.ended_ms),
        if has_fault(calls) {
            "<span class=\"key fault c5\">a fault was at work</span>"
        } else {
            ""
        },
        calls.iter().map(item).collect::<String>(),
    )
}

/// How many calls there were, and how many of them said the same as one that had failed.
fn reading(trajectory: &Trajectory) -> String {
    let calls = &trajectory.calls;
    let met = calls.iter().filter(|call| call.fault.is_some()).count();
    let is_again = |(at, call): &(usize, &TracedCall)| {
        calls[..*at].iter().any(|earlier| {
            earlier.is_error && earlier.tool == call.tool && earlier.args == call.args
        })
    };
    let again = calls.iter().enumerate().filter(is_again).count();
    let repeats = match again {
        0 => "none was a repeat of one that had failed".to_owned(),
        1 => "1 was a repeat of one that had failed".to_owned(),
        count => format!("{count} were repeats of one that had failed"),
    };
    format!(
        "{} in {} and {} ms; {met} met a fault, {repeats}.",
        counted(calls.len() as u64, "call"),
        counted(trajectory.turns.into(), "turn"),
        trajectory.ended_ms
    )
}

fn colour(call: &TracedCall) -> usize {
    match (call.fault.is_some(), call.is_error) {
        (true, _) => 5,
        (false, true) => 1,
        (false, false) => 2,
    }
}

fn has_fault(calls: &[TracedCall]) -> bool {
    calls.iter().any(|call| call.fault.is_some())
}

/// The lane of a call among others, and that of the fault that it met.
fn lane(call: &TracedCall) -> String {
    format!("{}/{}", call.server, call.tool)
}

fn fault_lane(call: &TracedCall) -> Option<String> {
    call.fault.as_ref().map(|fault| format!("fault {}", fault.name))
}

fn drawing(calls: &[TracedCall], ended_ms: u64) -> String {
    let mut lanes: Vec<String> = Vec::new();
    // Faults lie below the tools.
    for name in calls.iter().map(lane).chain(calls.iter().filter_map(fault_lane)) {
        if !lanes.contains(&name) {
            lanes.push(name);
        }
    }
    let end = calls.iter().map(|call| call.ended_ms).max().unwrap_or(0).max(ended_ms).max(1);
    let height = LANE * lanes.len() as f64 + FOOT;
    let mut svg =
        format!("<svg viewBox=\"0 0 {WIDTH} {height}\" aria-hidden=\"true\" focusable=\"false\">");
    for call in calls.iter().filter(|call| call.fault.is_some()) {
        bar(&mut svg, "fault c5", call, end, (0.0, height - FOOT));
    }
    lanes.iter().enumerate().for_each(|(at, name)| rail(&mut svg, at, name));
    let of_faults = calls.iter().filter_map(|call| Some((call, fault_lane(call)?)));
    for (call, name) in calls.iter().map(|call| (call, lane(call))).chain(of_faults) {
        let at = lanes.iter().position(|lane| *lane == name).unwrap_or(0);
        let class = format!("bar c{}", colour(call));
        bar(&mut svg, &class, call, end, (LANE * at as f64 + 5.0, LANE - 10.0));
    }
    for (ms, anchor) in [(0, "start"), (end / 2, "middle"), (end, "end")] {
        let _ = write!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{ms} ms</text>",
            place(ms, end),
            height - 7.0
        );
    }
    svg + "</svg>"
}

fn place(ms: u64, end: u64) -> f64 {
    LEFT + (WIDTH - LEFT - 12.0) * ms as f64 / end as f64
}

/// A lane with its name.
fn rail(svg: &mut String, at: usize, name: &str) {
    let y = LANE * (at as f64 + 0.5);
    let _ = write!(
        svg,
        "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{WIDTH}\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
        LEFT - 8.0,
        y + 4.0,
        text(name, LONGEST_LABEL)
    );
}

/// The time of a call, so far down and so high.
fn bar(svg: &mut String, class: &str, call: &TracedCall, end: u64, (y, height): (f64, f64)) {
    let (from, to) = (place(call.started_ms, end), place(call.ended_ms.max(call.started_ms), end));
    let width = (to - from).max(THINNEST);
    let _ = write!(
        svg,
        "<rect class=\"{class}\" x=\"{from:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>"
    );
}

fn item(call: &TracedCall) -> String {
    let fault = call.fault.as_ref();
    let fault =
        fault.map_or(String::new(), |fault| format!(" [{}]", text(&fault.name, LONGEST_NAME)));
    let args = serde_json::to_string(&call.args).unwrap_or_default();
    format!(
        "<li>{} to {} ms: <code>{}/{} {}</code>{fault} → <code>{}</code></li>",
        call.started_ms,
        call.ended_ms,
        text(&call.server, LONGEST_NAME),
        text(&call.tool, LONGEST_NAME),
        text(&args, LONGEST_TEXT),
        text(&call.text, LONGEST_TEXT),
    )
}
