//! One case: its bytes, and what may be asked of the answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Payload;

/// Whether an answer is due. Most SDKs drop what they cannot read without a word, so only a proper
/// request may be waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It is a proper request.
    Must,
    /// Silence is no fault, as long as the server goes on.
    May,
}

/// What a tool should make of its arguments, by its own schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    /// They satisfy the schema.
    Positive,
    /// They do not.
    Negative,
}

/// One case.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// Its name; fit for a file.
    pub id: String,
    /// Which kind of bad input.
    pub payload: Payload,
    /// The tool whose arguments it has.
    pub tool: Option<String>,
    /// Which of its kind.
    pub index: u64,
    /// What is odd about it.
    pub label: String,
    /// The method that HTTP names in a header.
    pub method: String,
    /// The id that an answer has.
    pub request_id: u64,
    /// The bytes, as they are written one after another; the last is followed by the end of a frame.
    pub writes: Vec<Vec<u8>>,
    /// Whether an answer is due.
    pub answer: Answer,
    /// What the schema says of the arguments, where it says anything.
    pub intent: Option<Intent>,
    /// Whether it may keep an honest tool busy: huge numbers, long texts and lists.
    pub heavy: bool,
}

impl Case {
    /// All bytes in one.
    pub fn bytes(&self) -> Vec<u8> {
        self.writes.concat()
    }

    /// The number that stands for the bytes where they are too many to be shown.
    pub fn print(&self) -> u64 {
        self.writes.iter().fold(FNV_START, |sum, bytes| fnv(fnv(sum, bytes), b"|"))
    }
}

const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;

fn fnv(start: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(start, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

/// The number that stands for a name: the same everywhere.
pub(super) fn print_of(name: &str) -> u64 {
    fnv(FNV_START, name.as_bytes())
}

/// A name that is fit for a file: a tool may be called anything.
pub(super) fn file_name(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let safe: String = name.chars().filter(|c| plain(*c)).take(40).collect();
    if safe == name { safe } else { format!("{safe}_{:08x}", print_of(name) as u32) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_from_a_server_is_fit_for_a_file_and_still_its_own() {
        assert_eq!(file_name("get_time"), "get_time");
        let odd = file_name("../../etc/passwd");
        assert!(odd.starts_with("etcpasswd_") && odd != file_name("..//etc/passwd"), "{odd}");
        assert!(file_name(&"x".repeat(500)).len() < 60);
    }

    #[test]
    fn numbers_that_stand_for_bytes_are_those_of_fnv() {
        // From the reference of FNV-1a with 64 bits.
        assert_eq!(print_of(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(print_of("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(print_of("foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn the_writes_of_a_case_are_told_apart_and_make_one_whole() {
        let case = |writes: &[&[u8]]| Case {
            id: "raw_bytes-3".into(),
            payload: Payload::RawBytes,
            tool: None,
            index: 3,
            label: "random bytes".into(),
            method: "ping".into(),
            request_id: 9,
            writes: writes.iter().map(|bytes| bytes.to_vec()).collect(),
            answer: Answer::May,
            intent: None,
            heavy: false,
        };
        let (one, two) = (case(&[b"ab"]), case(&[b"a", b"b"]));
        assert_eq!((one.bytes(), two.bytes()), (b"ab".to_vec(), b"ab".to_vec()));
        assert_eq!((one.print(), two.print()), (print_of("ab|"), print_of("a|b|")));
    }
}
