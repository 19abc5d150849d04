//! Lengths of products, and the parts of which transforms consist.

use std::ops::Range;

use super::roots::MAX_LOG2;

/// The length N of a product, in coefficients: M = 2^log2, or 3/2·M.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    log2: u32,
    extended: bool,
}

/// The smallest log2(M). Every part of a product then has at least L² = 64 points for L = 8 lanes.
const MIN_LOG2: u32 = 7;

/// A part of a product: the residues modulo x^n − w², where w is the factor of a node of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    /// The indices of the part's coefficients among the N of the product. n is the length of the
    /// range.
    pub(super) range: Range<usize>,
    /// The node of the tree.
    pub(super) node: usize,
}

impl Shape {
    /// Returns the shape of least length with at least `coefficients` points and at least 128
    /// points. Returns `None` if `coefficients` exceeds 3/2·2^29.
    #[must_use]
    pub fn of(coefficients: usize) -> Option<Self> {
        let least = 1 << MIN_LOG2;
        let log2 = coefficients.max(least).checked_next_power_of_two()?.ilog2();
        let extended = log2 > MIN_LOG2 && coefficients <= 3 << (log2 - 2);
        let log2 = log2 - u32::from(extended);
        (log2 < MAX_LOG2 as u32).then_some(Self { log2, extended })
    }

    /// Returns the least power of two that is at least `coefficients` and at least 128. Products of
    /// this shape are computed modulo x^N − 1. Returns `None` if `coefficients` exceeds 2^29.
    #[must_use]
    pub fn cyclic(coefficients: usize) -> Option<Self> {
        let log2 = coefficients.max(1 << MIN_LOG2).checked_next_power_of_two()?.ilog2();
        (log2 < MAX_LOG2 as u32).then_some(Self { log2, extended: false })
    }

    /// Returns N, the number of points.
    #[must_use]
    pub fn points(self) -> usize {
        (1 << self.log2) + self.rest()
    }

    /// Returns the exponent e of the power 2^e by which [`multiply`](super::multiply()) multiplies
    /// products of this shape.
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

    /// Returns a number of nodes, from node 0 on, that includes all nodes whose factors the
    /// transforms use. The transforms do not use the factors of nodes of length 1.
    pub(super) fn nodes(self) -> usize {
        // The nodes of length 2 below node 0 of length M end before M/2, and those below node 2 of
        // length M/2 before 3·M/4.
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
        for coefficients in 1..5000 {
            let points = Shape::cyclic(coefficients).unwrap().points();
            assert_eq!(points, coefficients.next_power_of_two().max(128), "{coefficients}");
        }
        assert_eq!(Shape::cyclic((1 << 29) + 1), None);
    }
}
