//! All cases of a run. Each is found by its number alone: case N of a tool has the same bytes for the
//! same seed, whatever was sent before it and whichever other payloads there are.

use serde_json::Value;

use super::{
    Answer, Case, Payload,
    arguments::Range,
    case::{file_name, print_of},
    enumerated, frame,
    payload::Wheel,
    raw,
};
use crate::{mcp::Tool, seed::Seed};

/// Ids of cases begin here: no session counts that far, and a double still holds them all.
pub const FIRST_ID: u64 = 1 << 50;
/// Where the lanes of tools begin; those before belong to the other payloads.
const TOOL_LANES: u64 = 16;
/// A name that no tool has.
const NO_TOOL: &str = "mcp-loadtest-no-such-tool";

/// All cases of a run.
pub struct Deck {
    seed: Seed,
    meta: Option<Value>,
    wheel: Wheel,
    tools: Vec<(Tool, Range)>,
}

impl Deck {
    /// The cases for these tools, of which all may be called. `meta` is what each request of the era
    /// carries.
    pub fn new(seed: Seed, meta: Option<Value>, payloads: &[Payload], tools: Vec<Tool>) -> Self {
        let wanted = payloads.contains(&Payload::Arguments);
        let tools: Vec<_> = tools
            .into_iter()
            .filter(|_| wanted)
            .map(|tool| {
                let range = Range::new(&tool, &mut seed.dice(print_of(&tool.name)));
                (tool, range)
            })
            .collect();
        let usable = payloads.iter().copied();
        let usable = usable.filter(|payload| *payload != Payload::Arguments || !tools.is_empty());
        Self { seed, meta, wheel: Wheel::new(usable.collect()), tools }
    }

    /// Arguments that were made and thrown away so far.
    pub fn discarded(&self) -> u64 {
        self.tools.iter().map(|(_, range)| range.discarded()).sum()
    }

    /// The n-th case of a run; none where there is nothing to send.
    pub fn case(&self, number: u64) -> Option<Case> {
        let (payload, index) = self.wheel.turn(number)?;
        Some(match payload {
            Payload::Arguments => {
                let count = self.tools.len() as u64;
                let (tool, range) = &self.tools[(index % count) as usize];
                self.arguments(tool, range, index / count)
            }
            Payload::RawBytes => self.raw(index),
            _ => self.enumerated(payload, index),
        })
    }

    fn arguments(&self, tool: &Tool, range: &Range, index: u64) -> Case {
        let lane = TOOL_LANES + (print_of(&tool.name) & 0x7fff);
        let stream = print_of(&format!("arguments/{}/{index}", tool.name));
        let made = range.make(index, &mut self.seed.dice(stream));
        let id = id(lane, index);
        Case {
            id: format!("arguments-{}-{index}", file_name(&tool.name)),
            payload: Payload::Arguments,
            tool: Some(tool.name.clone()),
            index,
            label: made.label,
            method: "tools/call".into(),
            request_id: id,
            writes: vec![frame::tool_call(id, &tool.name, &made.text, self.meta.as_ref())],
            answer: made.answer,
            intent: made.intent,
            heavy: made.heavy,
        }
    }

    fn raw(&self, index: u64) -> Case {
        let id = id(Payload::RawBytes as u64, index);
        let stream = print_of(&format!("raw_bytes/{index}"));
        let made = raw::mutate(&self.bases(id), index, &mut self.seed.dice(stream));
        let label = made.label.to_owned();
        self.plain(Payload::RawBytes, index, id, (label, "ping".into(), made.writes, made.answer))
    }

    /// Each has an id of its own: several of them may be sent at once.
    fn bases(&self, id: u64) -> raw::Bases {
        let meta = self.meta.as_ref();
        let plain = |id, method| frame::request(id, method, Some(&frame::params("", meta)));
        raw::Bases {
            harmless: vec![
                plain(id, "\"ping\""),
                plain(id + 1, "\"tools/list\""),
                frame::tool_call(id + 2, NO_TOOL, "{}", meta),
            ],
            calls: self
                .tools
                .iter()
                .take(1)
                .map(|(tool, range)| {
                    frame::tool_call(id + 3, &tool.name, &range.good().to_string(), meta)
                })
                .collect(),
        }
    }

    fn enumerated(&self, payload: Payload, index: u64) -> Case {
        let id = id(payload as u64, index);
        let stream = print_of(&format!("{}/{index}", payload.as_str()));
        let mut dice = self.seed.dice(stream);
        let draft = enumerated::draft(payload, index, id, self.meta.as_ref(), &mut dice);
        self.plain(payload, index, id, (draft.label, draft.method, vec![draft.frame], draft.answer))
    }

    fn plain(
        &self,
        payload: Payload,
        index: u64,
        request_id: u64,
        (label, method, writes, answer): (String, String, Vec<Vec<u8>>, Answer),
    ) -> Case {
        Case {
            id: format!("{}-{index}", payload.as_str()),
            payload,
            tool: None,
            index,
            label,
            method,
            request_id,
            writes,
            answer,
            intent: None,
            heavy: payload == Payload::GiantPayload,
        }
    }
}

/// The id of a case: a lane for each tool and payload, with room for several frames in one case.
fn id(lane: u64, index: u64) -> u64 {
    FIRST_ID + (lane << 32) + (index * 8) % (1 << 32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::collections::BTreeSet;

    fn tool(name: &str, schema: Value) -> Tool {
        Tool {
            name: name.into(),
            description: None,
            input_schema: schema,
            output_schema: None,
            annotations: None,
        }
    }

    fn tools() -> Vec<Tool> {
        let text = json!({"type": "object", "properties": {"text": {"type": "string"}}});
        let sum = json!({"type": "object", "required": ["a"], "properties": {
            "a": {"type": "integer", "minimum": 1, "maximum": 9}, "ms": {"type": "integer"},
        }});
        vec![tool("echo", text), tool("sum", sum)]
    }

    #[test]
    fn a_case_is_the_same_bytes_whatever_else_is_sent() {
        let all = Deck::new(Seed(7), None, &Payload::ALL, tools());
        let again = Deck::new(Seed(7), None, &Payload::ALL, tools());
        let cases: Vec<Case> = (0..3_000).filter_map(|number| all.case(number)).collect();
        for number in (0..3_000).rev() {
            assert_eq!(again.case(number).as_ref(), cases.get(number as usize), "{number}");
        }
        let alone = Deck::new(Seed(7), None, &[Payload::Arguments], tools());
        for case in (0..500).filter_map(|number| alone.case(number)) {
            assert!(cases.contains(&case), "{}", case.id);
        }
        let other = Deck::new(Seed(8), None, &[Payload::RawBytes], tools());
        let differs = (0..50).filter(|n| {
            other.case(*n).map(|case| case.writes)
                != Deck::new(Seed(7), None, &[Payload::RawBytes], tools())
                    .case(*n)
                    .map(|case| case.writes)
        });
        assert!(differs.count() > 40);
    }

    #[test]
    fn no_two_cases_have_a_name_or_an_id_in_common() {
        let deck = Deck::new(Seed(1), None, &Payload::ALL, tools());
        let cases: Vec<Case> = (0..5_000).filter_map(|number| deck.case(number)).collect();
        assert_eq!(cases.iter().map(|case| &case.id).collect::<BTreeSet<_>>().len(), 5_000);
        assert_eq!(cases.iter().map(|case| case.request_id).collect::<BTreeSet<_>>().len(), 5_000);
        assert!(cases.iter().all(|case| (1 << 50..1 << 53).contains(&case.request_id)));
    }

    #[test]
    fn without_tools_there_are_no_arguments_and_without_payloads_nothing() {
        let deck = Deck::new(Seed(1), None, &Payload::ALL, Vec::new());
        assert!((0..500).all(|n| deck.case(n).unwrap().payload != Payload::Arguments));
        let none = Deck::new(Seed(1), None, &[Payload::Arguments], Vec::new());
        assert_eq!(none.case(0), None);
    }

    #[test]
    fn no_tool_is_told_to_wait() {
        let deck = Deck::new(Seed(3), None, &[Payload::Arguments], tools());
        for case in (0..4_000).filter_map(|number| deck.case(number)) {
            let Ok(call) = serde_json::from_slice::<Value>(&case.bytes()) else { continue };
            let ms = call["params"]["arguments"]["ms"].as_f64().unwrap_or_default();
            assert!(ms.abs() <= 1.0, "{}: {ms}", case.label);
        }
    }

    #[test]
    fn an_id_has_a_lane_and_room_for_eight_frames() {
        for (lane, index, expected) in [
            (0, 0, 1 << 50),
            (1, 0, (1 << 50) + (1 << 32)),
            (2, 3, (1 << 50) + (2 << 32) + 24),
            (3, (1 << 29) - 1, (1 << 50) + (4 << 32) - 8),
            (0, 1 << 29, 1 << 50),
        ] {
            assert_eq!(id(lane, index), expected, "{lane} {index}");
        }
    }

    #[test]
    fn tools_take_turns_in_lanes_behind_those_of_payloads() {
        let deck = Deck::new(Seed(1), None, &[Payload::Arguments], tools());
        let cases: Vec<Case> = (0..5).filter_map(|number| deck.case(number)).collect();
        let ids: Vec<_> = cases.iter().map(|case| case.id.as_str()).collect();
        let expected =
            ["arguments-echo-0", "arguments-sum-0", "arguments-echo-1", "arguments-sum-1"];
        assert_eq!(ids[..4], expected);
        assert_eq!(ids[4], "arguments-echo-2");
        for case in &cases {
            let lane = (case.request_id - FIRST_ID) >> 32;
            assert!((16..16 + 0x8000).contains(&lane), "{}: {lane}", case.id);
        }
    }

    #[test]
    fn only_giants_among_listed_cases_are_heavy() {
        let deck = Deck::new(Seed(1), None, &Payload::ALL[..8], Vec::new());
        for case in (0..30).filter_map(|number| deck.case(number)) {
            assert_eq!(case.heavy, case.payload == Payload::GiantPayload, "{}", case.id);
        }
    }

    #[test]
    fn frames_to_begin_with_have_ids_of_their_own() {
        let deck = Deck::new(Seed(1), None, &[Payload::Arguments], tools());
        let bases = deck.bases(100);
        let ids: Vec<Value> = bases
            .harmless
            .iter()
            .chain(&bases.calls)
            .map(|frame| serde_json::from_slice::<Value>(frame).unwrap()["id"].take())
            .collect();
        assert_eq!(ids, [100, 101, 102, 103]);
    }

    #[test]
    fn what_was_thrown_away_is_counted_over_all_tools() {
        // The listed numbers are no texts, so they are not what they are meant to be.
        let odd = |name: &str, listed: Value| {
            let schema = json!({"type": "object", "required": ["v"],
                "properties": {"v": {"type": "string", "enum": listed}}});
            tool(name, schema)
        };
        let tools = vec![odd("a", json!(["x", 5, 7])), odd("b", json!(["x", 5]))];
        assert_eq!(Deck::new(Seed(1), None, &[Payload::Arguments], tools).discarded(), 3);
    }
}
