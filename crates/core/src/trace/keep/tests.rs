//! What each mode keeps of made-up calls, and what it says of the rest.

use super::*;
use crate::{
    event::{Diagnosis, Failure},
    outcome::ErrorCategory,
    trace::read_line,
};

fn call(id: u64, phase: Phase, at: Duration) -> Call<'static> {
    Call {
        request_id: id,
        session: (id % 3) as u32,
        worker: 4,
        phase,
        method: "tools/call".into(),
        tool: Some("echo".into()),
        segment: 0,
        intended: at,
        started: at,
    }
}

fn request(call: &Call<'static>) -> Event<'static> {
    Event::Request { call: call.clone(), params: b"{}".as_slice().into() }
}

fn response(call: &Call<'static>) -> Event<'static> {
    let at = call.started + Duration::from_micros(50);
    Event::Response { call: call.clone(), at, result: b"{}".as_slice().into() }
}

fn error(call: &Call<'static>) -> Event<'static> {
    let failure = Failure { category: ErrorCategory::ToolError, message: "no".into(), code: None };
    Event::Error { call: call.clone(), at: call.started, failure }
}

fn events(lines: &[u8]) -> Vec<Event<'static>> {
    let text = std::str::from_utf8(lines).unwrap();
    text.lines().map(|line| read_line(line).unwrap()).collect()
}

fn skipped(event: &Event<'_>) -> Option<Skipped> {
    match event {
        Event::Scenario { name, detail, .. } if name == note::TRACE_SKIPPED => {
            Some(serde_json::from_str(detail).unwrap())
        }
        _ => None,
    }
}

/// Lines in the trace and what is not in it add up to all events.
fn assert_adds_up(lines: &[u8], untraced: Untraced, emitted: u64) {
    let written = events(lines).len() as u64;
    assert_eq!(written - untraced.notes + untraced.lines, emitted);
}

#[test]
fn errors_keeps_failed_calls_with_their_request_and_whatever_is_no_load() {
    let (mut keeper, mut out) = (Keeper::new(Trace::Errors, 4), Vec::new());
    let at = Duration::from_secs(1);
    let setup = call(1, Phase::Setup, at);
    let calls: Vec<_> = (2..8).map(|id| call(id, Phase::Load, at)).collect();
    let hung = call(8, Phase::Load, at);
    let mut all = vec![request(&setup), response(&setup)];
    all.extend(calls.iter().map(request));
    all.push(request(&hung));
    all.extend(calls.iter().map(|call| match call.request_id {
        5 => error(call),
        _ => response(call),
    }));
    all.push(Event::Hang { call: hung.clone(), at });
    all.push(Event::Deadlock {
        call: hung.clone(),
        at,
        diagnosis: Diagnosis::Wedged,
        evidence: "".into(),
    });
    all.push(error(&hung));
    all.push(Event::note(at, "run_finished", ""));
    all.iter().for_each(|event| keeper.append(event, &mut out));
    let untraced = keeper.finish(&mut out);
    let kept: Vec<_> = events(&out).into_iter().filter(|event| skipped(event).is_none()).collect();
    let expected = [&all[..2], &[request(&calls[3]), error(&calls[3]), request(&hung)]].concat();
    assert_eq!(kept[..5], expected);
    assert_eq!(kept[5..], all[all.len() - 4..]);
    assert_eq!((untraced.calls, untraced.lines, untraced.lost_lines), (5, 10, 0));
    assert_adds_up(&out, untraced, all.len() as u64);
    let notes: Vec<_> = events(&out).iter().filter_map(skipped).collect();
    assert_eq!(notes[0].lines, 0, "the first one comes before anything is left out");
    assert_eq!(*notes.last().unwrap(), Skipped { worker: 4, calls: 5, lines: 10, lost_lines: 0 });
}

/// Calls at this rate for some seconds; gives the kept calls of every second.
fn sampled(per_second: u64, seconds: u64) -> (Vec<u64>, Vec<u8>, Untraced) {
    let (mut keeper, mut out) = (Keeper::new(Trace::Sampled, 0), Vec::new());
    for id in 0..per_second * seconds {
        let at = Duration::from_nanos(id * 1_000_000_000 / per_second);
        let call = call(id, Phase::Load, at);
        keeper.append(&request(&call), &mut out);
        keeper.append(&response(&call), &mut out);
    }
    let untraced = keeper.finish(&mut out);
    let mut kept = vec![0; seconds as usize];
    for event in events(&out) {
        if let Event::Request { call, .. } = event {
            kept[call.started.as_secs() as usize] += 1;
        }
    }
    (kept, out, untraced)
}

#[test]
fn the_rate_is_the_documented_one() {
    assert_eq!(CALLS_PER_SECOND, 20_000);
    assert!(include_str!("../../config/example.toml").contains("20,000"));
}

#[test]
fn sampled_keeps_everything_up_to_the_documented_rate() {
    let (kept, out, untraced) = sampled(CALLS_PER_SECOND, 2);
    assert_eq!(kept, [CALLS_PER_SECOND; 2]);
    assert_eq!(untraced, Untraced::default());
    assert!(events(&out).iter().all(|event| skipped(event).is_none()));
}

#[test]
fn sampled_keeps_whole_calls_and_a_bounded_number_of_them_beyond_it() {
    let (kept, out, untraced) = sampled(3 * CALLS_PER_SECOND, 3);
    let most = CALLS_PER_SECOND + 3 * CALLS_PER_SECOND / OVERFLOW;
    assert!(kept.iter().all(|kept| (CALLS_PER_SECOND / 2..=most).contains(kept)), "{kept:?}");
    assert_adds_up(&out, untraced, 2 * 9 * CALLS_PER_SECOND);
    assert_eq!(untraced.calls, 9 * CALLS_PER_SECOND - kept.iter().sum::<u64>());
    let ends = events(&out);
    let ends = ends.iter().filter(|event| matches!(event, Event::Response { .. })).count();
    assert_eq!(ends as u64, kept.iter().sum::<u64>(), "a call is kept as a whole");
    // The second after is sampled over all of its length, not at its beginning alone.
    let last = events(&out).into_iter().rev().find_map(|event| match event {
        Event::Request { call, .. } => Some(call.started),
        _ => None,
    });
    assert!(last > Some(Duration::from_millis(2_990)), "{last:?}");
}

#[test]
fn full_keeps_everything_whatever_the_rate_is() {
    let (mut keeper, mut out) = (Keeper::new(Trace::Full, 0), Vec::new());
    for id in 0..CALLS_PER_SECOND + 10 {
        let call = call(id, Phase::Load, Duration::ZERO);
        keeper.append(&request(&call), &mut out);
    }
    assert_eq!(keeper.finish(&mut out), Untraced::default());
    assert_eq!(memchr::memchr_iter(b'\n', &out).count() as u64, CALLS_PER_SECOND + 10);
}

#[test]
fn what_the_disk_was_too_slow_for_is_counted_and_noted() {
    let (mut keeper, mut out) = (Keeper::new(Trace::Sampled, 7), Vec::new());
    keeper.lose(b"{}\n{}\n{}\n");
    let untraced = keeper.finish(&mut out);
    assert_eq!((untraced.lost_lines, untraced.notes), (3, 1));
    assert_eq!(skipped(&events(&out)[0]).unwrap().lost_lines, 3);
}

#[test]
fn what_is_in_flight_at_the_end_is_not_left_out() {
    let (mut keeper, mut out) = (Keeper::new(Trace::Errors, 0), Vec::new());
    let open = call(1, Phase::Load, Duration::ZERO);
    keeper.append(&request(&open), &mut out);
    let untraced = keeper.finish(&mut out);
    assert_eq!((untraced.calls, untraced.lines), (0, 0));
    assert_eq!(events(&out).last(), Some(&request(&open)));
}

#[test]
fn what_is_missing_adds_up_over_the_threads() {
    let mut all = Untraced { calls: 1, lines: 2, lost_lines: 3, notes: 4 };
    all.merge(&Untraced { calls: 10, lines: 20, lost_lines: 30, notes: 40 });
    assert_eq!(all, Untraced { calls: 11, lines: 22, lost_lines: 33, notes: 44 });
}

#[test]
fn what_is_held_back_has_a_limit_and_what_is_beyond_it_is_counted() {
    let load = call(1, Phase::Load, Duration::ZERO);
    for (held, left_out) in [(MOST_HELD - 1, 0), (MOST_HELD, 1), (MOST_HELD + 1, 1)] {
        let (mut keeper, mut out) = (Keeper::new(Trace::Errors, 0), Vec::new());
        keeper.held_bytes = held;
        keeper.append(&request(&load), &mut out);
        assert_eq!(keeper.untraced.lines, left_out, "{held} bytes are held");
        assert_eq!(keeper.held_bytes > held, left_out == 0);
        keeper.append(&response(&load), &mut out);
        assert_eq!(keeper.held_bytes, held, "what has ended is held no more");
        assert_eq!((keeper.untraced.calls, keeper.untraced.lines), (1, 2), "of {held}");
    }
}

#[test]
fn an_id_that_comes_twice_loses_no_line() {
    let (mut keeper, mut out) = (Keeper::new(Trace::Errors, 0), Vec::new());
    let (first, long) = (call(1, Phase::Load, Duration::ZERO), Duration::from_secs(1_000_000));
    let second = call(1, Phase::Load, long);
    keeper.append(&request(&first), &mut out);
    let of_first = keeper.held_bytes;
    keeper.append(&request(&second), &mut out);
    assert_eq!(events(&out).last(), Some(&request(&first)));
    assert!(keeper.held_bytes > of_first && keeper.held_bytes < 2 * of_first);
    keeper.append(&response(&second), &mut out);
    assert_eq!(keeper.held_bytes, 0);
}

#[test]
fn a_call_that_only_warms_up_is_no_call_that_is_missing() {
    for (phase, calls, lines) in
        [(Phase::Load, 1, 2), (Phase::Warmup, 0, 2), (Phase::Setup, 0, 0), (Phase::Control, 0, 0)]
    {
        let (mut keeper, mut out) = (Keeper::new(Trace::Errors, 0), Vec::new());
        let call = call(1, phase, Duration::ZERO);
        keeper.append(&request(&call), &mut out);
        keeper.append(&response(&call), &mut out);
        let Untraced { calls: left, lines: left_lines, .. } = keeper.finish(&mut out);
        assert_eq!((left, left_lines), (calls, lines), "{phase:?}");
    }
}

#[test]
fn memory_is_used_again_up_to_a_limit() {
    let mut keeper = Keeper::new(Trace::Errors, 0);
    for (spare, then) in [(0, 1), (1_023, 1_024), (1_024, 1_024)] {
        keeper.spare = vec![Vec::new(); spare];
        keeper.use_again(vec![1, 2, 3]);
        assert_eq!(keeper.spare.len(), then);
        assert!(keeper.spare.iter().all(Vec::is_empty), "an old line is no part of a new one");
    }
}

#[test]
fn a_note_is_not_said_twice() {
    let (mut keeper, mut out) = (Keeper::new(Trace::Sampled, 1), Vec::new());
    let mut notes = |keeper: &mut Keeper| {
        out.clear();
        keeper.append_note(&mut out);
        events(&out).len()
    };
    assert_eq!(notes(&mut keeper), 0, "nothing is missing");
    keeper.untraced.lines = 1;
    assert_eq!(notes(&mut keeper), 1);
    assert_eq!(notes(&mut keeper), 0, "that was said");
    keeper.lose(b"{}\n");
    assert_eq!(notes(&mut keeper), 1);
    keeper.untraced.calls = 1;
    assert_eq!((notes(&mut keeper), notes(&mut keeper)), (1, 0));
    assert_eq!(keeper.untraced.notes, 3);
}

#[test]
fn a_second_is_thinned_by_what_the_one_before_had() {
    let second = Duration::from_secs;
    for (seen, next, every) in [
        (0, 1, 1),
        (CALLS_PER_SECOND, 1, 1),
        (CALLS_PER_SECOND + 1, 1, 2),
        (3 * CALLS_PER_SECOND, 1, 3),
        (3 * CALLS_PER_SECOND, 2, 1),
    ] {
        let mut share = Share { second: 5, seen, kept: 0, every: 1 };
        share.keeps(second(5 + next));
        assert_eq!((share.every, share.seen), (every, 1), "{seen} calls, {next} s before");
    }
    let mut share = Share::default();
    assert!((0..CALLS_PER_SECOND).all(|_| share.keeps(second(0))));
    assert!(!share.keeps(second(0)), "the first that is too many");
    assert_eq!((share.kept, share.seen), (CALLS_PER_SECOND, CALLS_PER_SECOND + 1));
    share.keeps(second(0));
    assert_eq!(share.seen, CALLS_PER_SECOND + 2, "a second that goes on is not begun again");
}

#[test]
fn numbers_are_mixed_into_both_halves() {
    // The product is 0x9E3779B9_7F4A7C15; its upper half is folded into the lower.
    assert_eq!(mix(1), 0x9E37_79B9_E17D_05AC);
    assert_eq!(mix(0), 0);
    let mut mixer = Mixer::default();
    mixer.write_u32(3);
    assert_eq!(mixer.finish(), mix(3));
    mixer.write_u64(u64::MAX);
    assert_eq!(mixer.finish(), mix(!mix(3).rotate_left(5)));
    let mut bytes = Mixer::default();
    bytes.write(&[3, 255]);
    assert_eq!(bytes.finish(), mix(mix(3).rotate_left(5) ^ 255));
}
