//! Batches: arrays of messages, which two revisions have.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

/// A batch of more messages is not taken apart. Each of them may become a task and a row of the
/// audit log, and the shortest has one byte.
pub const BATCH_LIMIT: usize = 1_000;

/// An array, looked at.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Batch<'a> {
    /// Its messages, as written; there is at least one.
    Members(Vec<&'a [u8]>),
    /// There are more than [`BATCH_LIMIT`].
    TooMany,
}

impl<'a> Batch<'a> {
    /// Takes a batch apart; `None` for what is no array, or an empty one.
    pub(crate) fn read(frame: &'a [u8]) -> Option<Self> {
        if !frame.trim_ascii_start().starts_with(b"[") {
            return None;
        }
        let Elements { kept, count } = serde_json::from_slice(frame).ok()?;
        match count {
            0 => None,
            1..=BATCH_LIMIT => Some(Self::Members(kept)),
            _ => Some(Self::TooMany),
        }
    }

    /// Its messages, where there are not too many.
    pub(crate) fn members(frame: &'a [u8]) -> Option<Vec<&'a [u8]>> {
        match Self::read(frame)? {
            Self::Members(members) => Some(members),
            Self::TooMany => None,
        }
    }
}

/// One array of messages.
pub(crate) fn joined<T: AsRef<[u8]>>(frames: &[T]) -> Vec<u8> {
    let length: usize = frames.iter().map(|frame| frame.as_ref().len() + 1).sum();
    let mut array = Vec::with_capacity(length + 2);
    array.push(b'[');
    for (at, frame) in frames.iter().enumerate() {
        if at > 0 {
            array.push(b',');
        }
        array.extend_from_slice(frame.as_ref());
    }
    array.push(b']');
    array
}

/// The first elements of an array, and how many there are.
struct Elements<'a> {
    kept: Vec<&'a [u8]>,
    count: usize,
}

impl<'de: 'a, 'a> Deserialize<'de> for Elements<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Walk(PhantomData))
    }
}

struct Walk<'a>(PhantomData<&'a ()>);

impl<'de: 'a, 'a> Visitor<'de> for Walk<'a> {
    type Value = Elements<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Self::Value, A::Error> {
        let mut kept = Vec::new();
        while kept.len() < BATCH_LIMIT {
            match array.next_element::<&RawValue>()? {
                Some(element) => kept.push(element.get().as_bytes()),
                None => return Ok(Elements { count: kept.len(), kept }),
            }
        }
        let mut count = kept.len();
        while array.next_element::<IgnoredAny>()?.is_some() {
            count += 1;
        }
        Ok(Elements { kept, count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_given_as_they_are_written() {
        let members = Batch::members(b" [ {\"a\" : 1} ,[2], 3]\r\n").unwrap();
        assert_eq!(members, [&b"{\"a\" : 1}"[..], b"[2]", b"3"]);
        assert_eq!(joined(&members), b"[{\"a\" : 1},[2],3]");
        for none in [&b"[]"[..], b"{}", b"[1", b"[1]]", b"[1] 2", b"", b"[\"\xff\"]"] {
            assert_eq!(Batch::read(none), None, "{}", String::from_utf8_lossy(none));
        }
    }

    #[test]
    fn a_batch_has_an_end() {
        let array = |count: usize| joined(&vec![b"1"; count]);
        assert_eq!(Batch::members(&array(BATCH_LIMIT)).unwrap().len(), BATCH_LIMIT);
        assert_eq!(Batch::read(&array(BATCH_LIMIT + 1)), Some(Batch::TooMany));
        let deep = [vec![b'['; 100_000], vec![b']'; 100_000]].concat();
        assert!(Batch::members(&deep).is_none_or(|members| members.len() == 1));
    }
}
