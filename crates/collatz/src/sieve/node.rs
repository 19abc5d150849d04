//! A node of the sieve's tree: low bits of numbers, and the steps that these bits determine.

use super::rules::{Limits, Pattern};

/// A node at level k of the tree: all numbers n ≡ low mod 2^k. For n = low + a·2^k, T^k(n) = path +
/// a·3^odd, where T(x) is x/2 for even x and (3x + 1)/2 for odd x.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Node {
    /// The k low bits of the numbers, where k is the level of the node.
    pub low: u128,
    /// The value T^k(low), below 3^odd, where k is the level of the node.
    pub path: u128,
    /// The number of odd steps among the steps of T from `low` to `path`.
    pub odd: u32,
    /// A summary of the steps so far, which suffices for the rules: see [`Pattern`].
    pub pattern: Pattern,
}

impl Node {
    /// The root of the tree, at level k = 0, which contains all numbers.
    pub(crate) const ROOT: Self = Self { low: 0, path: 0, odd: 0, pattern: Pattern::UNKNOWN };

    /// Returns a child of this node. This node is at level k. The child contains the numbers of
    /// this node whose bit k is `bit`. Returns `None` if a rule says that none of the child's
    /// numbers needs to be walked. `power` is 3^odd, and `limits` are the limits of the step from
    /// level k to level k + 1.
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

    /// Returns the node in the format of the kernels: three words of `low`, a word with `odd` and
    /// the pattern, and four words of `path`. The lowest word of a number is first.
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
