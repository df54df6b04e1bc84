//! The generator behind `flaky` and `lorem`: PCG-DXSM with 128 bits of state and a fixed increment,
//! fed with FNV-1a hashes. Other servers of this kind use the same one, so that the same seed means
//! the same calls there and here.

/// A generator. There is no warm-up step: the state is the two halves as they are.
pub(super) struct Pcg {
    state: u128,
}

const MULTIPLIER: u128 = (2_549_297_995_355_413_924 << 64) | 4_865_540_595_714_422_341;
const INCREMENT: u128 = (6_364_136_223_846_793_005 << 64) | 1_442_695_040_888_963_407;
const CHEAP: u64 = 0xda94_2042_e4dd_58b5;

impl Pcg {
    pub(super) fn new(high: u64, low: u64) -> Self {
        Self { state: (u128::from(high) << 64) | u128::from(low) }
    }

    pub(super) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT);
        let (mut high, low) = ((self.state >> 64) as u64, self.state as u64);
        high ^= high >> 32;
        high = high.wrapping_mul(CHEAP);
        high ^= high >> 48;
        high.wrapping_mul(low | 1)
    }

    /// A number in `0.0..1.0`, from the low 53 bits.
    pub(super) fn unit(&mut self) -> f64 {
        (self.next() & ((1 << 53) - 1)) as f64 / (1_u64 << 53) as f64
    }

    /// A number in `0..bound`.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }
}

/// FNV-1a, 64 bits.
pub(super) fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_the_published_one() {
        let mut pcg = Pcg::new(1, 2);
        let first: [u64; 4] = std::array::from_fn(|_| pcg.next());
        let published = [
            0xc4f5_a586_56ee_f510,
            0x9dce_c3ad_077d_ec6c,
            0xc8d0_4605_312f_8088,
            0xcbed_c0dc_b63a_c19a,
        ];
        assert_eq!(first, published);
    }
}
