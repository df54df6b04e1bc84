use super::*;
use proptest::prelude::*;

fn call(id: u64, tool: &'static str, started: u64) -> Call<'static> {
    Call {
        request_id: id,
        session: 0,
        worker: 0,
        phase: Phase::Load,
        method: "tools/call".into(),
        tool: Some(tool.into()),
        segment: 0,
        intended: Duration::from_millis(started),
        started: Duration::from_millis(started),
    }
}

fn request(call: &Call<'static>) -> Event<'static> {
    Event::Request { call: call.clone(), params: b"{}".as_slice().into() }
}

fn end(call: &Call<'static>, at: u64, category: Option<ErrorCategory>) -> Event<'static> {
    let (call, at) = (call.clone(), Duration::from_millis(at));
    match category {
        None => Event::Response { call, at, result: b"{}".as_slice().into() },
        Some(category) => Event::Error {
            call,
            at,
            failure: Failure { category, message: "x".into(), code: None },
        },
    }
}

#[test]
fn the_first_batch_is_kept_apart_from_steady_calls() {
    let mut tally = Tally::default();
    for id in 0..3 {
        tally.observe(&request(&call(id, "t", 0)));
    }
    for id in 0..3 {
        tally.observe(&end(&call(id, "t", 0), 5_000 + id, None));
    }
    for id in 3..13 {
        tally.observe(&request(&call(id, "t", 6_000)));
        tally.observe(&end(&call(id, "t", 6_000), 6_010, None));
    }
    let tool = &tally.total().tools[0];
    assert_eq!(tool.first, Some(Duration::from_millis(5_002)));
    assert_eq!(tool.steady().len(), 10);
    assert_eq!(tool.times.response().len(), 13);
    assert!(tally.counts().closes());
}

#[test]
fn calls_are_counted_by_how_long_they_took_and_how_late_they_began() {
    let mut tally = Tally::default();
    for (id, took) in [(0, 10), (1, 20), (2, 40), (3, 40)] {
        let mut late = call(id, "t", 100);
        late.intended = Duration::from_millis(95);
        tally.observe(&request(&late));
        tally.observe(&end(&late, 95 + took, None));
    }
    let limits = [9, 11, 15, 30, 50].map(Duration::from_millis);
    assert_eq!(tally.over(limits), [4, 3, 3, 2, 0]);
    assert_eq!(tally.last_end(), Duration::from_millis(135));
    let lag = histogram::quantile(&tally.generator.lag(), 0.5).unwrap();
    assert!(lag.abs_diff(Duration::from_millis(5)) < Duration::from_micros(10), "{lag:?}");
}

#[test]
fn a_call_that_was_never_answered_is_no_slow_first_call() {
    let mut tally = Tally::default();
    for id in 0..2 {
        tally.observe(&request(&call(id, "t", 0)));
    }
    tally.observe(&end(&call(0, "t", 0), 10, None));
    tally.observe(&end(&call(1, "t", 0), 15_000, Some(ErrorCategory::Deadlock)));
    let tool = &tally.total().tools[0];
    assert_eq!(tool.first, Some(Duration::from_millis(10)));
    assert_eq!((tool.times.response().len(), tool.steady().len()), (2, 0));
}

#[test]
fn a_pause_is_nobodys_time() {
    let mut tally = Tally::default();
    for (id, at) in [(1, 0), (2, 5_000)] {
        tally.observe(&request(&call(id, "t", at)));
        tally.observe(&end(&call(id, "t", at), at + 10, None));
    }
    assert_eq!(tally.total().load_time(), Duration::from_millis(5_010));
    tally.observe(&Event::Scenario {
        at: Duration::from_millis(4_900),
        name: notes::PAUSED.into(),
        detail: "".into(),
        took: Some(Duration::from_millis(4_800)),
    });
    assert_eq!(tally.total().load_time(), Duration::from_millis(210));
    assert_eq!(tally.steps.len(), 0, "a pause is no step of the server's");
}

#[test]
fn examples_are_the_earliest_however_the_notes_arrive() {
    let note = |at: u64, text: &str| Event::note(Duration::from_millis(at), "n", text.to_owned());
    let one: Vec<_> = (0..8).map(|n| note(n * 10, &format!("one {n}"))).collect();
    let other: Vec<_> =
        (0..8).map(|n| note(n * 10 + 5, if n % 2 == 0 { "again" } else { "one 7" })).collect();
    let fold = |events: &[&[Event<'_>]]| {
        let mut tally = Tally::default();
        events.iter().flat_map(|events| events.iter()).for_each(|event| tally.observe(event));
        tally
    };
    let mut merged = fold(&[&one]);
    merged.merge(fold(&[&other]));
    for told in [merged, fold(&[&one, &other]), fold(&[&other, &one])] {
        assert_eq!(told.notes["n"].count, 16);
        assert_eq!(told.notes["n"].examples, ["one 0", "again", "one 1", "one 7", "one 2"]);
    }
}

#[test]
fn calls_outside_the_load_do_not_count() {
    let mut tally = Tally::default();
    let setup = Call { phase: Phase::Setup, ..call(1, "t", 0) };
    tally.observe(&request(&setup));
    tally.observe(&end(&setup, 9, None));
    assert_eq!(tally.counts(), Counts::default());
    assert!(tally.total().response().is_empty());
}

#[test]
fn a_late_start_counts_in_the_response_and_not_in_the_service() {
    let mut tally = Tally::default();
    let on_time = call(1, "t", 100);
    let late = Call { intended: Duration::from_millis(40), ..call(2, "t", 100) };
    for call in [&on_time, &late] {
        tally.observe(&request(call));
        tally.observe(&end(call, 110, None));
    }
    let times = tally.total().times();
    assert_eq!(times.response().max() / 1_000_000, 70);
    assert_eq!((times.service().max() / 1_000_000, times.service().len()), (10, 2));
    assert_eq!(tally.generator.lag().len(), 1);
}

#[test]
fn steps_are_kept_apart_and_dropped_calls_are_counted() {
    let mut tally = Tally::default();
    for (id, segment) in [(1, 1), (2, 2), (3, 2)] {
        let call = Call { segment, ..call(id, "t", 10) };
        tally.observe(&request(&call));
        tally.observe(&end(&call, 20, None));
    }
    tally.observe(&Event::Dropped {
        at: Duration::from_millis(30),
        worker: 0,
        segment: 2,
        count: 4,
    });
    assert_eq!(tally.segments[2].counts.issued, 6);
    assert_eq!((tally.counts().ok, tally.counts().dropped), (3, 4));
    assert!(tally.counts().closes());
}

/// Everything that is counted, once: calls of two tools in step `segment`, one of each kind.
fn eventful(segment: u16) -> Tally {
    let mut tally = Tally::default();
    let at = Duration::from_millis;
    let of = |id, tool, started| Call { segment, ..call(id, tool, started) };
    let hung = of(1, "a", 100);
    tally.observe(&request(&hung));
    tally.observe(&Event::Hang { call: hung.clone(), at: at(5_100) });
    tally.observe(&end(&hung, 6_100, Some(ErrorCategory::Hang)));
    let silent = of(2, "b", 200);
    tally.observe(&request(&silent));
    tally.observe(&Event::Hang { call: silent.clone(), at: at(5_200) });
    tally.observe(&Event::Deadlock {
        call: silent.clone(),
        at: at(9_200),
        diagnosis: Diagnosis::Wedged,
        evidence: "no ping".into(),
    });
    tally.observe(&end(&silent, 9_200, Some(ErrorCategory::Deadlock)));
    let crossed = of(3, "b", 300);
    tally.observe(&request(&crossed));
    tally.observe(&Event::Error {
        call: crossed,
        at: at(310),
        failure: Failure {
            category: ErrorCategory::Malformed,
            message: format!("{}: nonce 7", CROSSED).into(),
            code: Some(-32_000),
        },
    });
    tally.observe(&Event::note(at(1), notes::INTERRUPTED, "SIGINT"));
    for (name, took) in [("spawn", 30), ("handshake", 20), ("spawn", 10), (notes::PAUSED, 5)] {
        tally.observe(&Event::Scenario {
            at: at(50),
            name: name.into(),
            detail: "".into(),
            took: Some(at(took)),
        });
    }
    tally
}

#[test]
fn whatever_happens_to_a_call_is_counted_once() {
    let tally = eventful(0);
    assert_eq!((tally.hang_count, tally.deadlock_count, tally.crossed.count), (2, 1, 1));
    assert_eq!(tally.hung_for, [6, 9].map(Duration::from_secs));
    assert_eq!(tally.diagnoses[&Diagnosis::Wedged].examples, ["no ping"]);
    let told = format!("-32000: {}: nonce 7", CROSSED);
    assert_eq!(tally.failures[&ErrorCategory::Malformed].examples, [told]);
    assert_eq!(tally.failures[&ErrorCategory::Hang].examples, ["x"]);
    assert_eq!((tally.events, tally.noted(notes::INTERRUPTED)), (14, 1));
    assert!(tally.was_interrupted() && !Tally::default().was_interrupted());
    let steps: Vec<_> =
        tally.steps.iter().map(|(name, times)| (name.as_str(), times.len())).collect();
    assert_eq!(steps, [("spawn", 2), ("handshake", 1)]);
    let lanes: Vec<_> = tally.lanes.iter().map(|lane| lane.to.as_millis()).collect();
    assert_eq!(lanes, [6_100, 9_200, 310]);
}

#[test]
fn workers_add_up_whichever_has_seen_more_steps() {
    for (one, other) in [(0, 2), (2, 0), (1, 1)] {
        let mut both = eventful(one);
        both.merge(eventful(other));
        assert_eq!((both.hang_count, both.deadlock_count, both.crossed.count), (4, 2, 2));
        assert_eq!((both.hung_for.len(), both.pauses.len(), both.events), (4, 2, 28));
        assert_eq!(both.noted(notes::INTERRUPTED), 2);
        assert_eq!(both.diagnoses[&Diagnosis::Wedged].count, 2);
        let steps: Vec<_> =
            both.steps.iter().map(|(name, times)| (name.as_str(), times.len())).collect();
        assert_eq!(steps, [("spawn", 4), ("handshake", 2)]);
        let issued: Vec<_> = both.segments.iter().map(|segment| segment.counts.issued).collect();
        assert_eq!(issued, if one == other { vec![0, 6] } else { vec![3, 0, 3] }, "{one} {other}");
        let total = both.total();
        let ended = |name| total.tool(name).map(|tool| tool.counts.ended());
        assert_eq!((ended("a"), ended("b")), (Some(2), Some(4)));
    }
}

#[test]
fn nothing_outside_the_load_hangs_or_fails() {
    let mut tally = Tally::default();
    let setup = Call { phase: Phase::Setup, ..call(1, "t", 0) };
    tally.observe(&Event::Hang { call: setup.clone(), at: Duration::from_secs(5) });
    tally.observe(&Event::Deadlock {
        call: setup.clone(),
        at: Duration::from_secs(9),
        diagnosis: Diagnosis::Wedged,
        evidence: "no ping".into(),
    });
    tally.observe(&end(&setup, 9_000, Some(ErrorCategory::Deadlock)));
    assert_eq!((tally.hang_count, tally.deadlock_count, tally.events), (0, 0, 3));
    assert!(tally.failures.is_empty() && tally.diagnoses.is_empty() && tally.segments.is_empty());
}

#[test]
fn a_call_that_was_cancelled_has_ended_but_took_no_time() {
    let mut tally = Tally::default();
    let cut = call(1, "t", 10);
    tally.observe(&request(&cut));
    tally.observe(&end(&cut, 70, Some(ErrorCategory::Cancelled)));
    let total = tally.total();
    assert_eq!(total.counts.of(ErrorCategory::Cancelled), 1);
    assert_eq!(total.tools[0].counts.of(ErrorCategory::Cancelled), 1);
    assert_eq!((total.last_end, total.response().len()), (Duration::from_millis(70), 0));
    assert!(tally.lanes.is_empty() && tally.timeline.seconds().is_empty());
    assert!(tally.counts().closes() && tally.hung_for.is_empty());
}

#[test]
fn only_the_first_calls_are_kept_one_by_one_and_later_steps_share_the_last() {
    let mut tally = Tally::default();
    for id in 0..=lanes::MOST as u64 {
        let call = Call { segment: u16::MAX, ..call(id, "t", id) };
        tally.observe(&request(&call));
        tally.observe(&end(&call, id + 5, None));
    }
    assert_eq!(tally.lanes.len(), lanes::MOST);
    assert_eq!(tally.lanes[63].from, Duration::from_millis(63));
    assert_eq!(tally.segments.len(), MOST_SEGMENTS + 1);
    assert_eq!(tally.segments[MOST_SEGMENTS].counts.ok, 65);
}

#[test]
fn of_all_steps_only_the_first_can_pay_for_a_late_start() {
    let mut tally = Tally::default();
    for (id, segment, started, took) in [(1, 1, 0, 900), (2, 2, 1_000, 30), (3, 2, 1_000, 2_000)] {
        let call = Call { segment, ..call(id, "t", started) };
        tally.observe(&request(&call));
        tally.observe(&end(&call, started + took, None));
    }
    let tool = &tally.total().tools[0];
    assert_eq!((tool.first, tool.first_batch), (Some(Duration::from_millis(900)), 1));
}

proptest! {
    #[test]
    fn the_accounting_closes_however_calls_end_and_workers_merge(
        ends in prop::collection::vec((0_usize..11, 0_u64..2, 0_u64..9_000), 0..60),
    ) {
        let mut workers = [Tally::default(), Tally::default()];
        for (id, (how, worker, at)) in ends.iter().enumerate() {
            let call = call(id as u64, if at % 2 == 0 { "a" } else { "b" }, 10);
            let worker = &mut workers[*worker as usize];
            worker.observe(&request(&call));
            worker.observe(&end(&call, 10 + at, ErrorCategory::ALL.get(*how).copied()));
        }
        let [mut all, other] = workers;
        all.merge(other);
        let total = all.total();
        prop_assert!(total.counts.closes());
        prop_assert_eq!(total.counts.issued as usize, ends.len());
        let by_tool: u64 = total.tools.iter().map(|tool| tool.counts.issued).sum();
        prop_assert_eq!(by_tool, total.counts.issued);
        let seconds = all.timeline.seconds();
        let ended: u64 = seconds.iter().map(|second| second.ok + second.errors).sum();
        prop_assert_eq!(ended, total.response().len());
        let spread: u64 = all.timeline.distributions().iter().map(|second| second.count()).sum();
        prop_assert_eq!(ended, spread);
    }
}
