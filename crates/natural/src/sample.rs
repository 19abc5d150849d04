//! Pseudo-random limbs for tests.

/// A generator of pseudo-random limbs. The same seed gives the same limbs.
pub(crate) struct Sample(u64);

impl Sample {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a random limb.
    pub(crate) fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        self.0 ^ self.0 >> 29
    }

    /// Returns a limb that often causes long carries: 0, 2^64 − 1, a power of two, or a random
    /// limb.
    pub(crate) fn limb(&mut self) -> u64 {
        let word = self.word();
        match self.0 >> 61 {
            0 => 0,
            1 | 2 => u64::MAX,
            3 => 1 << (self.0 >> 33 & 63),
            _ => word,
        }
    }

    /// Returns a number of `len` limbs, each drawn by [`Self::limb`].
    pub(crate) fn number(&mut self, len: usize) -> Vec<u64> {
        (0..len).map(|_| self.limb()).collect()
    }
}
