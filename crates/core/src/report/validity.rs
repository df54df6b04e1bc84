//! Are the figures the server's, or the generator's own?

use super::model::{LatencyStats, Validity};
use crate::{
    event::note,
    pace::Arrival,
    scenario::{Scenario, ScenarioKind},
    tally::{Segment, Tally, paused_within},
    units::format_latency,
};
use std::time::Duration;

/// A thread that is on a CPU for more of its time than this can hardly do more.
const BUSY: f64 = 0.90;
/// A thread that was ready but had no CPU for more of its time than this could have done more.
const STARVED: f64 = 0.50;
/// What we add to the response times by sending late must stay below this share of them …
const LATE_SHARE: f64 = 0.25;
/// … unless it is shorter than this.
const LATE: Duration = Duration::from_millis(10);
/// The share of the asked rate that must be sent.
const OFFERED: f64 = 0.99;
/// How late the last call may be sent without a word about the rate.
const LATE_END: Duration = Duration::from_millis(100);

/// Judges the generator.
pub(crate) fn validity(scenario: &Scenario, tally: &Tally, total: &Segment) -> Validity {
    let lag = LatencyStats::from_histogram(tally.generator.lag());
    let sent = total.counts.issued - total.counts.dropped.min(total.counts.issued);
    let first = total.first_start.unwrap_or(total.last_sent);
    let paused = paused_within(&tally.pauses, first, total.last_sent);
    let asked = asked(scenario, total, paused);
    let mut validity = Validity {
        client_bound: false,
        reasons: Vec::new(),
        asked_per_sec: asked,
        offered_per_sec: asked.and_then(|_| offered(total, sent, paused)),
        busiest_thread: tally.generator.busiest(),
        starved_thread: tally.generator.starved(),
        cpu_us_per_call: (sent > 0 && tally.generator.busiest().is_some())
            .then(|| tally.generator.cpu().as_secs_f64() * 1e6 / sent as f64),
        lag,
    };
    let response = total.response().value_at_quantile(0.99);
    let reasons = [
        busy(&validity),
        starved(&validity),
        late(&validity, Duration::from_nanos(response), tally),
        slow(&validity, total).filter(|_| tally.noted(note::SERVER_EXIT) == 0),
    ];
    validity.reasons = reasons.into_iter().flatten().collect();
    validity.client_bound = !validity.reasons.is_empty();
    validity
}

/// Calls a second that the scenario asks for, up to the last that was sent: a run that was ended
/// early was not asked for the rest. A search asks for another rate in every trial.
fn asked(scenario: &Scenario, total: &Segment, paused: Duration) -> Option<f64> {
    if matches!(scenario.kind, ScenarioKind::Pattern(_)) {
        // Sequences have a rate; how many calls they make depends on how they end.
        return None;
    }
    match scenario.kind.settings().arrival()? {
        Arrival::Open { rate, .. } => {
            let all = rate.length();
            let until = total.last_sent.saturating_sub(total.first_start.unwrap_or_default());
            let until = until.saturating_sub(paused);
            // What is due in the last instant may be sent a moment before the end.
            let until = if until.as_secs_f64() > all.as_secs_f64() * 0.95 { all } else { until };
            let until = if until.is_zero() { all } else { until.min(all) };
            Some(rate.area(until) / until.as_secs_f64().max(1e-9))
        }
        Arrival::Closed(_) => None,
    }
}

/// Calls a second that were sent, from the first due to the last sent, without pauses.
fn offered(total: &Segment, sent: u64, paused: Duration) -> Option<f64> {
    let span =
        total.last_sent.checked_sub(total.first_start?)?.saturating_sub(paused).as_secs_f64();
    // The last call stands for the gap that would follow it.
    (sent > 1 && span > 0.0).then(|| (sent - 1) as f64 / span)
}

fn busy(validity: &Validity) -> Option<String> {
    let share = validity.busiest_thread.filter(|share| *share >= BUSY)?;
    Some(format!("a load thread was busy {:.0}% of its time and could do no more", share * 100.0))
}

fn starved(validity: &Validity) -> Option<String> {
    let share = validity.starved_thread.filter(|share| *share >= STARVED)?;
    Some(format!("a load thread waited for a CPU {:.0}% of its time", share * 100.0))
}

/// A session that has to be opened again makes calls late as well; that is the server's doing.
fn late(validity: &Validity, response: Duration, tally: &Tally) -> Option<String> {
    let lag = validity.lag.p99;
    let restarted = tally.noted(note::SERVER_EXIT) > 0;
    if restarted || lag < LATE || lag.as_secs_f64() < response.as_secs_f64() * LATE_SHARE {
        return None;
    }
    let share = lag.as_secs_f64() / response.as_secs_f64().max(1e-9);
    Some(format!(
        "calls were sent late: p99 {} after they were due, {:.0}% of the response time",
        format_latency(lag),
        share.min(1.0) * 100.0
    ))
}

/// What was dropped because the server kept too many calls is not our doing.
fn slow(validity: &Validity, total: &Segment) -> Option<String> {
    let (asked, offered) = (validity.asked_per_sec?, validity.offered_per_sec?);
    let kept = until_due(offered, total) >= asked * OFFERED;
    if total.counts.dropped > 0 || total.counts.issued < 100 || kept {
        return None;
    }
    Some(format!("{asked:.0} calls a second were asked for and only {offered:.0} sent"))
}

/// The rate that was offered, up to when the last call was due. A thread that wakes up 20 ms late for
/// that call alone costs two seconds of load a hundredth of their rate, though every call was sent.
/// Whether calls were sent late is for [`late`] to say, which looks at all of them.
fn until_due(offered: f64, total: &Segment) -> f64 {
    let late = total.last_sent.saturating_sub(total.last_start);
    if late >= LATE_END {
        return offered;
    }
    let gaps = total.counts.issued.saturating_sub(1) as f64;
    gaps / (gaps / offered - late.as_secs_f64()).max(1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Event, GeneratorSample};

    fn sent(issued: u64, dropped: u64) -> Segment {
        let mut segment = Segment::default();
        (segment.counts.issued, segment.counts.dropped) = (issued, dropped);
        segment
    }

    #[test]
    fn a_thread_is_blamed_from_its_limit_on() {
        let of = |busiest, starved| Validity {
            busiest_thread: Some(busiest),
            starved_thread: Some(starved),
            ..Validity::default()
        };
        let told = busy(&of(0.9, 0.0)).unwrap();
        assert_eq!(told, "a load thread was busy 90% of its time and could do no more");
        let told = starved(&of(0.0, 0.5)).unwrap();
        assert_eq!(told, "a load thread waited for a CPU 50% of its time");
        let well = of(0.89, 0.49);
        assert_eq!((busy(&well), starved(&well)), (None, None));
        assert_eq!((busy(&Validity::default()), starved(&Validity::default())), (None, None));
    }

    #[test]
    fn calls_that_were_sent_late_are_our_doing_if_that_matters() {
        let millis = Duration::from_millis;
        let of = |lag, response| {
            let lag = LatencyStats { p99: millis(lag), ..LatencyStats::default() };
            late(&Validity { lag, ..Validity::default() }, millis(response), &Tally::default())
        };
        let told = of(10, 40).unwrap();
        assert_eq!(
            told,
            "calls were sent late: p99 10.0ms after they were due, 25% of the response time"
        );
        assert_eq!(of(9, 10), None, "too short to matter");
        assert_eq!(of(10, 41), None, "too small a share");
        assert!(of(500, 100).unwrap().ends_with("100% of the response time"));
    }

    #[test]
    fn a_rate_that_was_not_offered_is_our_doing_unless_the_server_left_no_room() {
        let of = |offered, total: &Segment| {
            let validity = Validity {
                asked_per_sec: Some(100.0),
                offered_per_sec: Some(offered),
                ..Validity::default()
            };
            slow(&validity, total)
        };
        let told = of(98.9, &sent(100, 0)).unwrap();
        assert_eq!(told, "100 calls a second were asked for and only 99 sent");
        assert_eq!(of(99.0, &sent(100, 0)), None, "as good as all");
        assert_eq!(of(50.0, &sent(99, 0)), None, "too few to tell");
        assert_eq!(of(50.0, &sent(1_000, 1)), None, "the server held too many");
        assert_eq!(slow(&Validity::default(), &sent(1_000, 0)), None);
    }

    #[test]
    fn a_last_call_that_is_a_moment_late_is_no_lower_rate() {
        let millis = Duration::from_millis;
        // Two seconds of a hundred calls a second, of which so many were sent, the last one so late.
        let of = |issued: u64, late: Duration| {
            let mut total = sent(issued, 0);
            (total.first_start, total.last_start) = (Some(millis(0)), millis(1_990));
            total.last_sent = total.last_start + late;
            let offered_per_sec = offered(&total, issued, Duration::ZERO);
            let asked_per_sec = Some(100.0);
            slow(&Validity { asked_per_sec, offered_per_sec, ..Validity::default() }, &total)
        };
        assert_eq!(of(200, millis(30)), None);
        assert_eq!(of(200, millis(99)), None);
        let told = of(200, millis(100)).unwrap();
        assert_eq!(told, "100 calls a second were asked for and only 95 sent");
        let told = of(190, millis(99)).unwrap();
        assert_eq!(
            told, "100 calls a second were asked for and only 90 sent",
            "others are missing"
        );
    }

    #[test]
    fn what_was_asked_and_offered_leaves_out_pauses_and_what_was_not_reached() {
        let secs = Duration::from_secs;
        let total = |sent_until| {
            let mut segment = Segment::default();
            (segment.first_start, segment.last_sent) = (Some(secs(1)), secs(sent_until));
            segment
        };
        let scenario = Scenario::sustained().rate(50.0).duration(secs(20)).build();
        assert_eq!(asked(&scenario, &total(6), Duration::ZERO), Some(50.0));
        assert_eq!(offered(&total(6), 251, Duration::ZERO), Some(50.0));
        assert_eq!(offered(&total(6), 151, secs(2)), Some(50.0));
        assert_eq!(offered(&total(6), 1, Duration::ZERO), None);
        assert_eq!(offered(&total(1), 10, Duration::ZERO), None);
        let ramp = Scenario::ramp().levels(rate(10.0), rate(20.0)).step_increment(10.0);
        let ramp = ramp.duration(secs(10)).build();
        assert_eq!(asked(&ramp, &total(6), Duration::ZERO), Some(10.0));
        assert_eq!(asked(&ramp, &total(9), secs(3)), Some(10.0));
        assert_eq!(asked(&ramp, &total(11), Duration::ZERO), Some(15.0));
        let closed = Scenario::sustained().build();
        assert_eq!(asked(&closed, &total(6), Duration::ZERO), None);
        let pattern = Scenario::pattern().load(rate(5.0)).build();
        assert_eq!(asked(&pattern, &total(6), Duration::ZERO), None);
    }

    #[test]
    fn a_rate_is_asked_for_to_its_end_if_only_a_moment_is_missing() {
        let ramp = Scenario::ramp().levels(rate(10.0), rate(20.0)).step_increment(10.0);
        let ramp = ramp.duration(Duration::from_secs(10)).build();
        for (sent_until, area, over) in
            [(9_600, 150.0, 10.0), (9_500, 140.0, 9.5), (0, 150.0, 10.0)]
        {
            let mut total = Segment::default();
            (total.first_start, total.last_sent) = (None, Duration::from_millis(sent_until));
            let asked = asked(&ramp, &total, Duration::ZERO).expect("a rate");
            assert!((asked - area / over).abs() < 1e-9, "{sent_until} ms: {asked}");
        }
    }

    /// A load thread was on a CPU for so many milliseconds of a second.
    fn busy_for(cpu: u64) -> Event<'static> {
        let [wall, cpu] = [1_000, cpu].map(Duration::from_millis);
        let starved = Duration::ZERO;
        Event::Generator(GeneratorSample { at: wall, worker: 0, wall, cpu, starved })
    }

    /// A hundred calls a second for ten seconds are asked for, and half of them are sent.
    fn judged(dropped: u64, cpu: u64, exits: bool) -> Validity {
        let scenario = Scenario::sustained().rate(100.0).duration(Duration::from_secs(10)).build();
        let mut tally = Tally::default();
        if cpu > 0 {
            tally.observe(&busy_for(cpu));
        }
        if exits {
            tally.observe(&Event::note(Duration::ZERO, note::SERVER_EXIT, "it ended"));
        }
        let mut total = sent(500 + dropped, dropped);
        (total.first_start, total.last_sent) = (Some(Duration::ZERO), Duration::from_secs(10));
        validity(&scenario, &tally, &total)
    }

    #[test]
    fn what_was_sent_is_what_counts() {
        let validity = judged(50, 500, false);
        assert_eq!(validity.offered_per_sec, Some(49.9), "from the first of 500 to the last");
        assert_eq!(validity.cpu_us_per_call, Some(1_000.0));
        assert_eq!(validity.busiest_thread, Some(0.5));
        assert!(!validity.client_bound, "the server left no room: {:?}", validity.reasons);
        assert_eq!(judged(50, 0, false).cpu_us_per_call, None, "not measured");
        let slow = judged(0, 0, false);
        let reason = "100 calls a second were asked for and only 50 sent";
        assert_eq!((slow.client_bound, slow.reasons), (true, vec![reason.to_owned()]));
        assert_eq!(judged(0, 0, true).reasons, [""; 0], "the server ended, and calls had to wait");
        let mut idle = Tally::default();
        idle.observe(&busy_for(10));
        let none = super::validity(&Scenario::sustained().build(), &idle, &Segment::default());
        assert_eq!((none.cpu_us_per_call, none.busiest_thread), (None, Some(0.01)));
    }

    #[test]
    fn a_session_that_was_opened_again_made_calls_late() {
        let lag = LatencyStats { p99: Duration::from_millis(500), ..LatencyStats::default() };
        let validity = Validity { lag, ..Validity::default() };
        let mut tally = Tally::default();
        assert!(late(&validity, Duration::from_millis(600), &tally).is_some());
        tally.observe(&Event::note(Duration::ZERO, note::SERVER_EXIT, "it ended"));
        assert_eq!(late(&validity, Duration::from_millis(600), &tally), None);
    }

    fn rate(per_second: f64) -> crate::pace::Level {
        crate::pace::Level::Rate(crate::pace::Rate::per_second(per_second))
    }
}
