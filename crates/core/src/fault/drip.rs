//! How a reply that drips is cut into pieces.

use std::time::Duration;

/// How often a dripping message moves on.
const DRIP: Duration = Duration::from_millis(100);

/// How many bytes to send at once, and how long to wait then. A rate below ten bytes a second waits
/// longer between single bytes.
pub fn portion(rate: u64) -> (usize, Duration) {
    let each = rate.saturating_mul(DRIP.as_millis() as u64) / 1000;
    match usize::try_from(each) {
        Ok(0) => (1, Duration::from_secs(1) / u32::try_from(rate.max(1)).unwrap_or(1)),
        Ok(size) => (size, DRIP),
        Err(_) => (usize::MAX, DRIP),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_add_up_to_the_rate() {
        assert_eq!(portion(1), (1, Duration::from_secs(1)));
        assert_eq!(portion(4), (1, Duration::from_millis(250)));
        assert_eq!(portion(1000), (100, DRIP));
    }

    #[test]
    fn single_bytes_are_sent_below_ten_a_second() {
        assert_eq!(portion(0), (1, Duration::from_secs(1)));
        assert_eq!(portion(9), (1, Duration::from_secs(1) / 9));
        assert_eq!(portion(10), (1, DRIP));
        assert_eq!(portion(29), (2, DRIP));
    }
}
