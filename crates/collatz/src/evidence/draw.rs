//! Reproducible random draws: SplitMix64 (Steele, Lea, Flood 2014) from a seed.

/// The increment of SplitMix64's state.
pub(crate) const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns the output of SplitMix64 for a state z, modulo 2^64:
///
/// ```text
/// z += 0x9e3779b97f4a7c15
/// z = (z ^ z >> 30)·0xbf58476d1ce4e5b9
/// z = (z ^ z >> 27)·0x94d049bb133111eb
/// the output is z ^ z >> 31
/// ```
pub(crate) fn mix(state: u64) -> u64 {
    let z = state.wrapping_add(GAMMA);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The stream x_0, x_1, … of random 64-bit words from a seed: x_j = mix(seed + j·[`GAMMA`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Draw {
    seed: u64,
}

impl Draw {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// Returns word j of the stream, x_j.
    fn word(self, j: u64) -> u128 {
        mix(self.seed.wrapping_add(j.wrapping_mul(GAMMA))).into()
    }

    /// Returns draw j: (2^64·x_2j + x_(2j+1)) mod n, where n > 0 and x is the stream of words. For
    /// n ≤ 2^110 the ratio of the probabilities of any two values is at most 1 + 2^−18.
    pub(crate) fn below(self, j: u64, n: u128) -> u128 {
        (self.word(2 * j) << 64 | self.word(j.wrapping_mul(2).wrapping_add(1))) % n
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_that_of_splitmix64() {
        // The first outputs of the authors' program for the seed 1234567.
        let draw = Draw::new(1_234_567);
        let first = [0, 1, 2].map(|j| draw.word(j) as u64);
        assert_eq!(
            first,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }
}
