//! The reader of server-sent events: however the stream is cut into pieces, the events are the same.

/// `events` gives the data of all events of a stream that comes in pieces of a length, below a limit.
pub(crate) fn holds(input: &[u8], events: fn(&[u8], usize, usize) -> Vec<Vec<u8>>) {
    let Some((piece, stream)) = input.split_first() else { return };
    let piece = usize::from(*piece).max(1);
    for limit in [32, 1 << 20] {
        let whole = events(stream, stream.len().max(1), limit);
        assert!(whole.iter().all(|event| event.len() <= limit));
        if limit > stream.len() {
            assert_eq!(whole, events(stream, piece, limit));
        } else {
            events(stream, piece, limit);
        }
    }
}
