//! Doors for the fuzz targets and for the test of their corpus; no other build has them.

#[cfg(test)]
#[path = "../../../fuzz/properties/mod.rs"]
mod properties;

use crate::transport::http::sse::SseParser;

/// The data of all events of a stream that comes in pieces of this length; nothing from the first
/// event on that is longer than the limit.
pub fn events(stream: &[u8], piece: usize, limit: usize) -> Vec<Vec<u8>> {
    let mut parser = SseParser::default();
    let mut events = Vec::new();
    for bytes in stream.chunks(piece) {
        let Ok(more) = parser.feed(bytes, limit) else { break };
        events.extend(more.into_iter().map(|event| event.data));
    }
    events
}

#[cfg(test)]
mod tests {
    use std::{fs, panic, path::Path};

    use super::{events, properties};

    /// What a fuzzer has found once stays found.
    fn holds_of_the_whole_corpus(target: &str, holds: fn(&[u8])) {
        let corpus = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus"));
        let files: Vec<_> = fs::read_dir(corpus.join(target)).expect("a corpus").collect();
        assert!(!files.is_empty(), "nothing to try of {target}");
        for file in files {
            let path = file.expect("a file").path();
            let input = fs::read(&path).expect("an input");
            let held = panic::catch_unwind(|| holds(&input));
            assert!(held.is_ok(), "{} breaks what it must keep", path.display());
        }
    }

    #[test]
    fn files_that_people_write() {
        holds_of_the_whole_corpus("config", properties::config::holds);
    }

    #[test]
    fn frames() {
        holds_of_the_whole_corpus("frames", properties::frames::holds);
    }

    #[test]
    fn streams_of_events() {
        holds_of_the_whole_corpus("sse", |input| properties::sse::holds(input, events));
    }
}
