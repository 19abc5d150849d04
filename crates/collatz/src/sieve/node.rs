//! A node of the tree: the low bits of numbers, and the path that they determine.

use super::rules::{Limits, Pattern};

/// A node at level k: all numbers n ≡ low mod 2^k, with T^k(low + a·2^k) = path + a·3^odd.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Node {
    /// The low bits of the numbers, below 2^k.
    pub low: u128,
    /// The value T^k(low), below 3^odd.
    pub path: u128,
    /// The number of odd steps among the first k.
    pub odd: u32,
    /// The pattern of the steps so far.
    pub pattern: Pattern,
}

impl Node {
    /// The root of the tree, at level k = 0, which contains all numbers.
    pub(crate) const ROOT: Self = Self { low: 0, path: 0, odd: 0, pattern: Pattern::UNKNOWN };

    /// Returns the child with the numbers of this node whose bit k is `bit`; `None` if a rule says
    /// that none of them need be walked. `power` is 3^odd.
    pub(crate) fn child(&self, k: u32, bit: u32, power: u128, limits: &Limits) -> Option<Self> {
        let low = self.low | u128::from(bit) << k;
        let path = if bit == 1 { self.path + power } else { self.path };
        if path & 1 == 1 {
            let pattern = self.pattern.odd(self.odd, limits);
            Some(Self { low, path: path + path / 2 + 1, odd: self.odd + 1, pattern })
        } else {
            let pattern = self.pattern.even(self.odd, limits)?;
            Some(Self { low, path: path / 2, odd: self.odd, pattern })
        }
    }

    /// Returns the node in the kernels' format: the low bits with the small fields, then the path.
    pub(crate) fn words(&self) -> [u32; 8] {
        let small = self.odd | self.pattern.run << 8 | self.pattern.evens << 10;
        let word = |x: u128, i: u32| (x >> (32 * i)) as u32;
        let (low, path) = (self.low, self.path);
        [
            word(low, 0),
            word(low, 1),
            word(low, 2),
            small,
            word(path, 0),
            word(path, 1),
            word(path, 2),
            word(path, 3),
        ]
    }
}
