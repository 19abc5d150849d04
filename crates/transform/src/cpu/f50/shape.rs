//! Lengths of products, and the parts of which transforms consist.

use std::ops::Range;

use super::roots::MAX_LOG2;

/// The length N of a product, in coefficients: M = 2^log2, or 3/2·M.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    log2: u32,
    extended: bool,
}

/// The smallest log2(M): half of a length has at least L² = 64 points for L = 8 lanes.
const MIN_LOG2: u32 = 7;

/// A part of a product: the residues modulo x^n − w², where w is the factor of a node of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    /// The coefficients among the N of the product; n is the length of the range.
    pub(super) range: Range<usize>,
    pub(super) node: usize,
}

impl Shape {
    /// Returns the shortest shape of at least `coefficients` points and at least 128. Returns
    /// `None` if it would exceed the largest, 3/2·2^29.
    #[must_use]
    pub fn of(coefficients: usize) -> Option<Self> {
        let least = 1 << MIN_LOG2;
        let log2 = coefficients.max(least).checked_next_power_of_two()?.ilog2();
        let extended = log2 > MIN_LOG2 && coefficients <= 3 << (log2 - 2);
        let log2 = log2 - u32::from(extended);
        (log2 < MAX_LOG2 as u32).then_some(Self { log2, extended })
    }

    /// Returns N, the number of points.
    #[must_use]
    pub fn points(self) -> usize {
        (1 << self.log2) + self.rest()
    }

    /// Returns the exponent e for which products of this shape are multiplied by 2^e: see
    /// [`multiply`](super::multiply()).
    #[must_use]
    pub fn scale(self) -> u32 {
        self.log2 + u32::from(self.extended)
    }

    /// Returns M.
    pub(super) fn power(self) -> usize {
        1 << self.log2
    }

    /// Returns the number of points by which the shape exceeds M: h = M/2 if it is extended, and 0
    /// otherwise.
    pub(super) fn rest(self) -> usize {
        if self.extended { 1 << (self.log2 - 1) } else { 0 }
    }

    /// Returns the number of nodes whose factors the transforms use. The children of a block of two
    /// points are not used.
    pub(super) fn nodes(self) -> usize {
        // Below node 2 with M/2 points: nodes to 3·M/4.
        1 << self.log2
    }

    /// Returns the parts: modulo x^M − 1 (node 0) and, if the shape is extended, modulo x^h − i
    /// (node 2).
    pub(super) fn parts(self) -> impl Iterator<Item = Part> {
        let low = Part { range: 0..self.power(), node: 0 };
        let rest = Part { range: self.power()..self.points(), node: 2 };
        [low, rest].into_iter().filter(|part| !part.range.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_is_the_shortest_there_is() {
        for coefficients in 1..5000 {
            let shape = Shape::of(coefficients).unwrap();
            let lengths = (7..14).flat_map(|k| [1usize << k, 3 << (k - 1)]);
            let least = lengths.filter(|&n| n >= coefficients).min();
            assert_eq!(Some(shape.points()), least, "{coefficients}");
            assert_eq!(shape.parts().map(|part| part.range.len()).sum::<usize>(), shape.points());
        }
        assert_eq!(Shape::of(3 << 28).unwrap().points(), 3 << 28);
        assert_eq!(Shape::of((3 << 28) + 1), None);
        assert_eq!(Shape::of(usize::MAX), None);
    }
}
