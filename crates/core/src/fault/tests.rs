//! Every kind, table-driven; the grammar, files and chance, by property.
//!
//! One file, because every table is walked by the property tests at its end.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{hint::Hint as _, mcp::method};

const REPLY: &[u8] =
    br#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"hi"}],"isError":false}}"#;

fn fault(text: &str) -> Fault {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn call(transport: TransportName) -> CallView<'static> {
    CallView {
        method: method::TOOLS_CALL,
        tool: Some("search"),
        session: Some("s1"),
        server: Some("main"),
        elapsed: Duration::from_secs(3),
        transport,
        era: Era::Legacy,
    }
}

/// What a fault does to the first call of its own method, where it is possible.
fn treated(text: &str) -> Treatment {
    let fault = fault(text);
    let transport = fault.kind().place.transports[0];
    let view = CallView { method: fault.kind().method, tool: None, ..call(transport) };
    FaultPlan::new([fault], Seed(1)).decide(&view)
}

fn fires(text: &str, ordinals: impl IntoIterator<Item = u64>) -> Vec<u64> {
    let fault = fault(text);
    ordinals.into_iter().filter(|ordinal| fault.fires(Seed(1), *ordinal)).collect()
}

#[test]
fn every_kind_that_replaces_the_reply() {
    let http = |status, retry_after, www_authenticate| Instead::Http {
        status,
        retry_after,
        www_authenticate,
    };
    let error = |code, message: &str| Instead::Error { code, message: message.into(), data: None };
    for (text, instead) in [
        ("hang", Instead::Hang),
        ("wedged", Instead::Hang),
        ("recover-after:1", Instead::Hang),
        ("error", error(-32603, "Internal error")),
        ("error:-32602", error(-32602, "Invalid params")),
        ("error:17", error(17, "Server error")),
        ("disconnect", Instead::Cut(Cut::Disconnect)),
        ("reset", Instead::Cut(Cut::Reset)),
        ("crash", Instead::Crash(1)),
        ("crash:139", Instead::Crash(139)),
        ("http", http(503, Some(1), false)),
        ("http:429", http(429, Some(1), false)),
        ("http:500", http(500, None, false)),
        ("auth-expired", http(401, None, true)),
        ("session-lost", Instead::SessionLost),
        ("lazy-init-deadlock", Instead::LazyInit),
    ] {
        let treatment = treated(text);
        assert_eq!(treatment.instead, Some(instead), "{text}");
        assert!(!treatment.is_nothing());
    }
    for text in ["tool-error", "flaky:1"] {
        assert!(matches!(treated(text).instead, Some(Instead::ToolError { .. })), "{text}");
    }
}

#[test]
fn every_kind_that_delays_mangles_or_adds() {
    for (text, mangle) in [
        ("malformed", Mangle::Malformed),
        ("truncate", Mangle::Truncate(16)),
        ("truncate:3", Mangle::Truncate(3)),
        ("noise", Mangle::Noise),
        ("wrong-id", Mangle::WrongId),
        ("duplicate", Mangle::Duplicate),
        ("reorder", Mangle::Reorder),
        ("oversized:1000", Mangle::Oversized(1000)),
        ("schema-violation", Mangle::SchemaViolation),
        ("drip:20", Mangle::Drip(20)),
        ("endless-pagination", Mangle::NextCursor(1)),
    ] {
        assert_eq!(treated(text).mangles, [mangle], "{text}");
    }
    assert_eq!(treated("slow:250").delay, Duration::from_millis(250));
    assert_eq!(treated("slow:2s").delay, Duration::from_secs(2), "as times are written elsewhere");
    let late = treated("reply-after-cancel:40");
    assert_eq!((late.delay, late.ignores_cancel), (Duration::from_millis(40), true));
    assert_eq!(treated("list-changed").beside, [Beside::ListChanged]);
    assert_eq!(treated("flood").beside, [Beside::Flood(1000)]);
    assert_eq!(treated("none"), Treatment::default());
    assert!(treated("none").is_nothing());
}

#[test]
fn names_are_unique_sentences_are_sentences_and_keys_are_known_to_files() {
    let mut schema = schemars::schema_for!(Fault).to_value();
    let properties = schema["properties"].take();
    for (index, entry) in FAULTS.iter().enumerate() {
        assert!(FAULTS[..index].iter().all(|other| other.name != entry.name));
        assert!(entry.about.ends_with('.'), "{}", entry.name);
        assert_eq!(kind::find(&entry.snake_name()), Some(*entry));
        assert!(FAULTS[..index].iter().all(|other| other != entry), "{}", entry.name);
        if let Some(form) = entry.argument {
            let text = properties[form.key]["description"].as_str().unwrap_or_default();
            let name = format!("`{}`", entry.snake_name());
            assert!(text.contains(&name), "`{}` in fault/config.rs does not name {name}", form.key);
            assert!(form.default.is_none_or(|value| form.values.admit(value).is_some()));
        }
        assert!(reference().contains(entry.about));
    }
}

#[test]
fn what_is_impossible_says_why() {
    use TransportName::{Http, Sse, Stdio, Ws};
    let why =
        |text: &str, transport, era| fault(text).check(transport, era).map_err(|e| e.to_string());
    for (text, transport, era, sentence) in [
        ("reset", Stdio, None, "over stdio: a pipe can be closed but not reset"),
        ("http:500", Ws, None, "over ws: only replies over HTTP have a status"),
        ("auth-expired", Stdio, None, "over stdio: only replies over HTTP have a status"),
        ("noise", Http, None, "over http: only a pipe can carry a line that is no message"),
        (
            "session-lost",
            Http,
            Some(Era::Modern),
            "in the modern era: only Streamable HTTP of the legacy era has sessions to lose",
        ),
    ] {
        let name = fault(text).kind().name;
        let sentence = format!("fault `{name}` is not possible {sentence}");
        assert_eq!(why(text, transport, era), Err(sentence));
    }
    let everywhere = fault("session-lost").check(Ws, Some(Era::Modern)).unwrap_err();
    assert_eq!(everywhere.hint().as_deref(), Some("use it over http"));
    assert!(everywhere.to_string().contains("not possible over ws: "), "the transport comes first");
    assert_eq!(why("session-lost", Http, None), Ok(()));
    assert_eq!(why("http:500", Sse, Some(Era::Legacy)), Ok(()));
    assert_eq!(why("hang", Ws, Some(Era::Modern)), Ok(()));
    // A plan that was not checked does not do it either.
    let plan = FaultPlan::new([fault("session-lost")], Seed(1));
    assert!(plan.decide(&CallView { era: Era::Modern, ..call(Http) }).is_nothing());
    assert!(!plan.decide(&call(Http)).is_nothing());
}

#[test]
fn selectors_choose_by_number() {
    assert_eq!(fires("hang@nth=3", 1..=6), [3]);
    assert_eq!(fires("hang@every=2", 1..=6), [2, 4, 6]);
    assert_eq!(fires("hang@first=2", 1..=6), [1, 2]);
    assert_eq!(fires("hang@first=5,every=2", 1..=6), [2, 4]);
    assert_eq!(fires("recover-after:2", 1..=6), [1, 2]);
    assert!(fires("hang@probability=0", 1..=100).is_empty());
    assert_eq!(fires("hang@probability=1", 1..=3), [1, 2, 3]);
}

#[test]
fn selectors_choose_by_what_the_call_is() {
    let touches = |text: &str, view: CallView<'_>| {
        !FaultPlan::new([fault(text)], Seed(1)).decide(&view).is_nothing()
    };
    let view = call(TransportName::Stdio);
    for text in ["tool=search", "session=s1", "server=main", "after=3s", "until=4s", "method=*"] {
        assert!(touches(&format!("hang@{text}"), view), "{text}");
    }
    for text in ["tool=other", "session=s2", "server=b", "after=4s", "until=3s", "method=ping"] {
        assert!(!touches(&format!("hang@{text}"), view), "{text}");
    }
    let list = CallView { method: method::TOOLS_LIST, tool: None, ..view };
    assert!(!touches("hang", list));
    assert!(touches("hang@method=tools/list", list));
    assert!(touches("endless-pagination", list));
    let start = CallView { method: START, tool: None, ..view };
    assert!(touches("flood:5", start));
    assert!(!touches("hang@method=*", start));
    assert!(!touches("hang@session=s1", CallView { session: None, ..view }));
}

#[test]
fn faults_add_up_until_one_takes_the_place_of_the_reply() {
    let texts = ["slow:10", "slow:20", "malformed", "duplicate", "error:1", "hang", "noise"];
    let plan = FaultPlan::new(texts.map(fault), Seed(9));
    let treatment = plan.decide(&call(TransportName::Stdio));
    assert_eq!(treatment.delay, Duration::from_millis(30));
    assert_eq!(treatment.mangles, [Mangle::Malformed, Mangle::Duplicate]);
    assert!(matches!(treatment.instead, Some(Instead::Error { code: 1, .. })));
    assert_eq!(treatment.decisions.len(), 5);
}

#[test]
fn a_decision_holds_all_that_is_needed_to_ask_again() {
    let faults = ["flaky:0.5", "slow:5@probability=0.5,seed=77"].map(fault);
    let plan = FaultPlan::new(faults.clone(), Seed(3));
    let view = call(TransportName::Stdio);
    for ordinal in 1..=50 {
        for decision in plan.decide(&view).decisions {
            let asked = faults.iter().find(|fault| fault.to_string() == decision.fault).unwrap();
            let again = decide_at(asked, Seed(decision.seed), decision.ordinal, &view);
            assert_eq!(decision.ordinal, ordinal);
            assert_eq!(again.decisions, [decision]);
        }
    }
    plan.reset();
    assert_eq!(plan.decide(&view).decisions[0].ordinal, 1);
}

#[test]
fn the_same_choices_are_made_on_every_machine() {
    assert_eq!(fires("flaky:0.3", 1..=20), Vec::<u64>::from(FLAKY));
    assert_ne!(fires("tool-error@probability=0.3", 1..=20), Vec::<u64>::from(FLAKY));
}

/// The calls among the first twenty at which `flaky:0.3` fails with seed 1, reckoned by
/// another program. It may never change.
const FLAKY: [u64; 7] = [1, 2, 4, 13, 14, 19, 20];

#[test]
fn what_cannot_be_read_says_what_can() {
    for (text, error) in [
        ("slow", "fault `slow` needs an argument: write `slow:<ms>`"),
        (
            "slow:0.5ms",
            "`slow` is `0.5ms`, and should be a whole number between 0 and 86400000, in milliseconds, or a time such \
             as `500ms`",
        ),
        (
            "slow:fast",
            "`slow` is `fast`, and should be a whole number between 0 and 86400000, in milliseconds, or a time such \
             as `500ms`",
        ),
        (
            "slow:-1",
            "`slow` is `-1`, and should be a whole number between 0 and 86400000, in milliseconds, or a time such \
             as `500ms`",
        ),
        ("hang:5", "fault `hang` takes nothing, and `5` was given"),
        ("flaky:1.5", "`flaky` is `1.5`, and should be a number between 0 and 1"),
        ("flaky:nan", "`flaky` is `nan`, and should be a number between 0 and 1"),
        ("http:99", "`http` is `99`, and should be a whole number between 200 and 599"),
        ("hang@nth=0", "`nth` is `0`, and should be a whole number from 1 on"),
        ("hang@nth=x", "`nth` is `x`, and should be a whole number"),
        ("hang@nth", "selector `nth` has no value: write `nth=…`"),
        ("hang@nth=1,nth=2", "selector `nth` is given twice"),
        ("hang@after=5s,until=5s", "`until` is not later than `after`, so no call is selected"),
        (
            "hang@method=ping,tool=x",
            "`tool` selects calls of `tools/call`, but this fault touches `ping`",
        ),
    ] {
        assert_eq!(text.parse::<Fault>().unwrap_err().to_string(), error, "{text}");
    }
    let unknown = "hagn".parse::<Fault>().unwrap_err();
    assert!(unknown.to_string().starts_with("there is no fault `hagn`; there are none, hang, "));
    assert_eq!(unknown.hint().unwrap(), "did you mean `hang`?");
    let unknown = "hang@tol=x".parse::<Fault>().unwrap_err();
    assert!(unknown.to_string().starts_with("there is no selector `tol`; there are tool, "));
    assert_eq!(unknown.hint().unwrap(), "did you mean `tool`?");
}

#[test]
fn files_say_the_same() {
    for (config, text) in [
        (json!({"kind": "hang", "target": {"tool": "search"}}), "hang@tool=search"),
        (json!({"kind": "slow", "delay_ms": 5}), "slow:5"),
        (json!({"kind": "recover_after", "failures": 2}), "recover-after:2"),
        (json!({"kind": "recover-after", "failures": 2}), "recover-after:2"),
        (json!({"kind": "flaky", "probability": 0.5, "seed": 7}), "flaky:0.5@seed=7"),
        (json!({"kind": "http"}), "http:503"),
        (json!({"kind": "http", "status": 429}), "http:429"),
        (json!({"kind": "crash", "exit_code": 3}), "crash:3"),
        (json!({"kind": "truncate", "bytes": 20}), "truncate:20"),
        (
            json!({"kind": "hang", "target": {"server": "a"}, "when": {"nth": 3, "after": "5s"}}),
            "hang@server=a,nth=3,after=5s",
        ),
    ] {
        let read: Fault = serde_json::from_value(config).unwrap();
        assert_eq!(read, fault(text));
        let written = serde_json::to_value(&read).unwrap();
        assert_eq!(serde_json::from_value::<Fault>(written).unwrap(), read);
    }
    let named: Fault = serde_json::from_value(json!({"name": "hung", "kind": "hang"})).unwrap();
    assert_eq!(named.name(), Some("hung"));
    let plan = FaultPlan::new([named], Seed(1));
    assert_eq!(plan.decide(&call(TransportName::Stdio)).decisions[0].fault, "hung");
}

#[test]
fn files_that_are_wrong_say_what_is_right() {
    let error = |config: Value| serde_json::from_value::<Fault>(config).unwrap_err().to_string();
    for (config, part) in [
        (json!({"kind": "hung"}), "there is no fault `hung`; there are none, hang"),
        (json!({"kind": "hung"}), "did you mean `hang`?"),
        (json!({"kind": "hang", "delay_ms": 1}), "`delay_ms` does not belong to fault `hang`"),
        (json!({"kind": "slow", "code": 1}), "which takes `delay_ms`"),
        (json!({"kind": "slow"}), "needs an argument: write `delay_ms: …`"),
        (json!({"kind": "slow", "delay_ms": -1}), "`delay_ms` is `-1`, and should be"),
        (json!({"kind": "hang", "wen": {}}), "unknown field `wen`"),
        (json!({"kind": "hang", "when": {"nht": 1}}), "unknown field `nht`"),
        (json!({"kind": "hang", "when": {"nth": 0}}), "`nth` is `0`"),
    ] {
        let error = error(config);
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn mangled_replies_are_wrong_in_one_way_only() {
    let one = |how| match mangle(REPLY.to_vec(), &[how]).as_slice() {
        [Step::Frame(frame)] => frame.clone(),
        steps => panic!("{steps:?}"),
    };
    let json = |how| serde_json::from_slice::<Value>(&one(how)).unwrap();
    assert!(serde_json::from_slice::<Value>(&one(Mangle::Malformed)).is_err());
    assert_eq!(json(Mangle::WrongId)["id"], 7 + (1 << 30));
    assert_eq!(json(Mangle::WrongId)["result"]["content"][0]["text"], "hi");
    let long = json(Mangle::Oversized(5000));
    assert_eq!(long["result"]["content"][0]["text"].as_str().unwrap().len(), 5000);
    let wrong = json(Mangle::SchemaViolation);
    assert_eq!((&wrong["id"], &wrong["result"]["content"]), (&json!(7), &json!("not a list")));
    assert_eq!(json(Mangle::NextCursor(3))["result"]["nextCursor"], "page-4");
    let text = br#"{"jsonrpc":"2.0","id":"a","result":{}}"#.to_vec();
    let [Step::Frame(other)] = &*mangle(text, &[Mangle::WrongId]) else { panic!() };
    assert_eq!(serde_json::from_slice::<Value>(other).unwrap()["id"], "a-other");
}

#[test]
fn mangled_replies_are_sent_in_steps() {
    let reply = || REPLY.to_vec();
    let steps = |mangles: &[Mangle]| mangle(reply(), mangles);
    assert_eq!(steps(&[Mangle::Duplicate]), [Step::Frame(reply()), Step::Frame(reply())]);
    assert_eq!(steps(&[Mangle::Reorder]), [Step::Late(reply())]);
    assert_eq!(steps(&[Mangle::Drip(5)]), [Step::Drip { frame: reply(), bytes_per_second: 5 }]);
    let partial = Step::Partial { bytes: REPLY[..9].to_vec(), announced: REPLY.len() };
    assert_eq!(steps(&[Mangle::Truncate(9)]), [partial]);
    assert_eq!(steps(&[Mangle::Truncate(REPLY.len())]), [Step::Frame(reply())]);
    let [Step::Raw(noise), Step::Frame(frame)] = &*steps(&[Mangle::Noise]) else { panic!() };
    assert!(noise.ends_with(b"\n") && serde_json::from_slice::<Value>(noise).is_err());
    assert_eq!(frame, REPLY);
}

#[test]
fn replies_that_faults_make_are_right_for_their_era() {
    let frame = |instead: &Instead, era| -> Value {
        serde_json::from_slice(&instead.frame(b"\"a\"", era).unwrap()).unwrap()
    };
    let error = frame(&Instead::Hang, Era::Legacy);
    assert_eq!(error["error"]["code"], HANG_CODE);
    assert_eq!(error["id"], "a");
    let tool = treated("tool-error").instead.unwrap();
    assert_eq!(frame(&tool, Era::Legacy)["result"].get("resultType"), None);
    assert_eq!(frame(&tool, Era::Modern)["result"]["resultType"], "complete");
    assert_eq!(Instead::Crash(1).frame(b"1", Era::Legacy), None);
}

#[test]
fn what_a_value_means_survives_commas_and_backslashes() {
    let read = fault(r"hang@tool=a\,b\\c,session=\\,nth=2");
    let when = read.selector();
    assert_eq!((when.tool.as_deref(), when.session.as_deref()), (Some(r"a,b\c"), Some(r"\")));
    assert_eq!(when.nth, Some(2));
    assert_eq!(read.to_string(), r"hang@tool=a\,b\\c,session=\\,nth=2");
}

#[test]
fn times_are_read_where_milliseconds_are_meant() {
    for (text, ms) in [("slow:3ms", 3), ("slow:1.5s", 1_500), ("reply-after-cancel:1m", 60_000)] {
        assert_eq!(treated(text).delay, Duration::from_millis(ms), "{text}");
    }
    for text in ["slow:1500us", "slow:25h", "drip:2s", "crash:1s"] {
        assert!(text.parse::<Fault>().is_err(), "{text}");
    }
}

#[test]
fn the_ends_of_a_range_belong_to_it() {
    for (within, beyond) in [
        ("http:200", "http:199"),
        ("http:599", "http:600"),
        ("slow:86400000", "slow:86400001"),
        ("oversized:1", "oversized:0"),
        ("oversized:1073741824", "oversized:1073741825"),
        ("flaky:0", "flaky:-0.1"),
        ("flaky:1", "flaky:1.1"),
        ("hang@probability=1", "hang@probability=1.01"),
        ("hang@every=1", "hang@every=0"),
        ("hang@first=1", "hang@first=0"),
        ("hang@until=1ms", "hang@until=0s"),
        ("hang@tool=a,method=*", "flood@tool=a"),
        ("hang@tool=a,method=tools/call", "hang@tool=a,method=tools/list"),
    ] {
        assert!(within.parse::<Fault>().is_ok(), "{within}");
        assert!(beyond.parse::<Fault>().is_err(), "{beyond}");
    }
}

#[test]
fn a_selector_that_cannot_be_read_says_what_it_wants() {
    let error = |text: &str| text.parse::<Fault>().unwrap_err().to_string();
    for (text, start) in [
        ("hang@probability=x", "`probability` is `x`, and should be a number between 0 and 1"),
        ("hang@probability=2", "`probability` is `2`, and should be a number between 0 and 1"),
        ("hang@seed=x", "`seed` is `x`, and should be a whole number"),
        ("hang@after=soon", "`after` is `soon`, and should be a duration: "),
    ] {
        assert!(error(text).starts_with(start), "{}", error(text));
    }
    assert!(!error("hang@after=soon").ends_with("duration: "), "says how to write one");
}

#[test]
fn a_draw_that_is_the_probability_itself_does_not_fire() {
    let mut fault = fault("hang@probability=0.5");
    let drawn = Seed(1 ^ fault.stream).dice(3).unit();
    for (probability, fires) in [(drawn, false), (drawn.next_up(), true)] {
        fault.when.probability = Some(probability);
        assert_eq!(fault.fires(Seed(1), 3), fires, "{probability} of {drawn}");
    }
}

fn any_selector() -> impl Strategy<Value = Selector> {
    let word = || proptest::option::of("\\PC{1,8}");
    let count = || proptest::option::of(1_u64..);
    let time = || proptest::option::of((0_u64..1 << 40).prop_map(Duration::from_nanos));
    let words = (word(), word(), word());
    let numbers = (count(), count(), count());
    let share = proptest::option::of(0.0..=1.0);
    (words, numbers, share, time(), proptest::option::of(any::<u64>())).prop_map(
        |((tool, session, server), (nth, every, first), probability, after, seed)| Selector {
            tool,
            session,
            server,
            nth,
            every,
            first,
            probability,
            until: after.map(|after| after + Duration::from_nanos(1)),
            after,
            seed: seed.map(Seed),
            method: None,
        },
    )
}

fn any_fault() -> impl Strategy<Value = Fault> {
    let argument = |kind: &'static Entry| match kind.argument.map(|form| form.values) {
        None => Just(Argument::Nothing).boxed(),
        Some(Values::Whole(least, most)) => (least..=most).prop_map(Argument::Whole).boxed(),
        Some(Values::Share) => (0.0..=1.0).prop_map(Argument::Share).boxed(),
    };
    let kinds = (0..FAULTS.len()).prop_map(|index| FAULTS[index]);
    let kinds = kinds.prop_flat_map(move |kind| (Just(kind), argument(kind)));
    (kinds, any_selector()).prop_map(|((kind, argument), when)| {
        let tool = when.tool.filter(|_| kind.method == method::TOOLS_CALL);
        Fault::new(kind, argument, Selector { tool, ..when }).unwrap()
    })
}

proptest! {
    #[test]
    fn the_text_of_a_fault_reads_back(fault in any_fault()) {
        prop_assert_eq!(fault.to_string().parse::<Fault>(), Ok(fault.clone()));
        let json = serde_json::to_string(&fault).unwrap();
        prop_assert_eq!(serde_json::from_str::<Fault>(&json).unwrap(), fault);
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,40}", kind in 0..FAULTS.len()) {
        let _ = text.parse::<Fault>();
        let _ = format!("{}:{text}", FAULTS[kind].name).parse::<Fault>();
        let _ = format!("{}@{text}", FAULTS[kind].name).parse::<Fault>();
    }

    #[test]
    fn decisions_are_total_and_repeat(fault in any_fault(), seed: u64, ordinal: u64) {
        let view = call(fault.kind().place.transports[0]);
        let one = decide_at(&fault, Seed(seed), ordinal, &view);
        prop_assert_eq!(one, decide_at(&fault, Seed(seed), ordinal, &view));
    }

    #[test]
    fn any_bytes_can_be_mangled(bytes: Vec<u8>, which in proptest::collection::vec(0_usize..10, 0..4)) {
        let all = [
            Mangle::Malformed, Mangle::Truncate(3), Mangle::Noise, Mangle::WrongId,
            Mangle::Duplicate, Mangle::Reorder, Mangle::Oversized(9), Mangle::SchemaViolation,
            Mangle::Drip(1), Mangle::NextCursor(u64::MAX),
        ];
        let mangles: Vec<_> = which.into_iter().map(|index| all[index]).collect();
        prop_assert!(!mangle(bytes.clone(), &mangles).is_empty());
        let [Step::Frame(broken)] = &*mangle(bytes, &[Mangle::Malformed]) else { panic!() };
        prop_assert!(serde_json::from_slice::<Value>(broken).is_err());
    }

    #[test]
    fn chance_keeps_its_share(share in 0.02..0.98_f64, seed: u64) {
        let calls = 10_000_u64;
        for text in [format!("flaky:{share}"), format!("hang@probability={share}")] {
            let fault = fault(&text);
            let fired = (1..=calls).filter(|ordinal| fault.fires(Seed(seed), *ordinal)).count();
            let expected = calls as f64 * share;
            // Five sigma: of the hundreds of shares that a run tries, one in 370 is beyond three.
            let bound = 5.0 * (expected * (1.0 - share)).sqrt();
            prop_assert!((fired as f64 - expected).abs() < bound, "{text}: {fired}");
        }
    }
}

#[test]
fn chance_is_within_three_sigma_for_a_known_seed() {
    for share in [0.01_f64, 0.1, 0.25, 0.5, 0.9] {
        let fired = fires(&format!("flaky:{share}"), 1..=10_000).len() as f64;
        let sigma = (10_000.0 * share * (1.0 - share)).sqrt();
        assert!((fired - 10_000.0 * share).abs() < 3.0 * sigma, "{share}: {fired}");
    }
}
