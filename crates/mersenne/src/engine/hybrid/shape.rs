//! The division of a transform into rows and columns, and the partners of frequencies.
//!
//! The n = N/2 = R·C points z of a residue of N words stand in R rows of C points: point r·C + c is
//! in row r and column c. R is a power of 2. Columns are transformed first; frequency k1 of the
//! columns makes up row k1 of the spectrum. There the point of column c is multiplied by
//! ω_n^(c·λ(k1)), and the row is transformed, so that frequency k2 of row k1 is the frequency λ(k1) +
//! R·k2 of the whole transform. Here λ(k1) may be any number ≡ k1 mod R. The choice is λ(k1) = μ·k1
//! mod n, where μ ≡ 1 mod 2^a and μ ≡ 0 mod m for n = 2^a·m with odd m.
//!
//! Squares of real words need the partner k' of each frequency k, at which the spectrum of real
//! points is conjugate. For complex numbers, k' = −k. In GF(q²), the conjugate of ω_n is ω_n^σ with
//! σ ≡ −1 mod 2^a and σ ≡ 1 mod m (see [`m31::root_of_unity`](warpint_arith::m31::root_of_unity)), so
//! k' = σk with σ = 1 − 2μ. Thanks to the choice of λ, both are k' = −λ(k1) + s·R·k2 with s = −1 or s
//! = σ, because λ(k1) ≡ 0 mod m. So the partners of row k1 ≠ 0 are in row R − k1, at frequency s·k2 −
//! μ mod C, the same for all rows; the partners of row 0 are in row 0, at s·k2.

use super::levels::frequencies;

/// A transform of n points in R rows and C columns, for vectors of L lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    /// The number of rows R, a power of 2 and a multiple of 2L.
    pub(super) rows: usize,
    /// The number of columns C, a multiple of L.
    pub(super) columns: usize,
    /// The number of lanes L.
    pub(super) lanes: usize,
}

impl Shape {
    /// Returns a shape for n = 2^a·m points and vectors of L = `lanes` lanes, with R near √n.
    /// Returns `None` if n has too few factors 2.
    pub(super) fn new(n: usize, lanes: usize) -> Option<Self> {
        let (least, most) = (2 * lanes, (1 << n.trailing_zeros()) / lanes);
        let rows = (1 << n.isqrt().ilog2()).clamp(least, most.max(least));
        (rows <= most).then_some(Self { rows, columns: n / rows, lanes })
    }

    /// Returns the number of points n.
    pub(super) fn points(&self) -> usize {
        self.rows * self.columns
    }

    /// Returns the number of blocks of L columns.
    pub(super) fn blocks(&self) -> usize {
        self.columns / self.lanes
    }

    /// Returns the number of `f64` from a group of L rows to the next one in the memory of a spectrum:
    /// 2L for each column. One more block keeps the groups from competing for the same cache lines.
    pub(super) fn stride(&self) -> usize {
        2 * self.lanes * (self.columns + self.lanes)
    }

    /// Returns the position of column c of group g of rows in the memory of a spectrum. The L real
    /// parts, one for each row, stand before the L imaginary parts.
    pub(super) fn place(&self, g: usize, c: usize) -> usize {
        g * self.stride() + 2 * self.lanes * c
    }

    /// Returns μ.
    fn even_part(&self) -> usize {
        let n = self.points();
        let power = 1 << n.trailing_zeros();
        let odd = n / power;
        // One of the multiples of m is 1 modulo the power of 2.
        (0..power).map(|k| k * odd).find(|x| x % power == 1 % power).unwrap_or(0)
    }

    /// Returns λ(k1) for every row k1.
    pub(super) fn frequencies_of_rows(&self) -> Vec<u64> {
        let (mu, n) = (self.even_part() as u64, self.points() as u64);
        (0..self.rows as u64).map(|k| mu * k % n).collect()
    }

    /// Returns the rows of the spectrum in the order in which they stand in memory, in groups of L.
    /// A group is followed by the group of the partners of its rows; only the row R/2, in the place
    /// of the partner of row 0, is no partner.
    pub(super) fn order_of_rows(&self) -> Vec<usize> {
        let partner = |k: usize| if k == 0 { self.rows / 2 } else { self.rows - k };
        (0..self.rows / 2)
            .step_by(self.lanes)
            .flat_map(|k| {
                let group = k..k + self.lanes;
                group.clone().chain(group.map(partner))
            })
            .collect()
    }

    /// Returns two lists of positions in the spectrum of a row: the positions of the partners of
    /// each position in row 0, and in any other row. `modular` is true for GF(q²), false for complex
    /// numbers.
    pub(super) fn partners(&self, modular: bool) -> [Vec<usize>; 2] {
        let (c, mu) = (self.columns, self.even_part());
        let s = if modular { (c + 1 + 2 * (c - mu % c)) % c } else { c - 1 };
        let order = frequencies(c);
        let mut position = vec![0; c];
        order.iter().enumerate().for_each(|(at, &f)| position[f] = at);
        [0, c - mu % c].map(|shift| order.iter().map(|k| position[(s * k + shift) % c]).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EngineFamily;
    use crate::engine::hybrid::Hybrid;
    use warpint_arith::m31::root_of_unity;

    #[test]
    fn every_length_has_a_shape() {
        for n in Hybrid.lengths(0, usize::MAX) {
            let shape = Shape::new(n / 2, 4).unwrap();
            assert_eq!(shape.points(), n / 2);
            assert!(shape.rows.is_multiple_of(8) && shape.columns.is_multiple_of(4), "{n}");
        }
        assert_eq!(Shape::new(1 << 6, 8), None);
        assert_eq!(Shape::new(1 << 20, 8).unwrap().rows, 1024);
    }

    #[test]
    fn partners_are_those_of_the_definition() {
        for n in [1usize << 8, 3 << 7, 7 << 7, 9 << 7, 11 << 7, 21 << 7, 77 << 6] {
            let shape = Shape::new(n, 4).unwrap();
            let (lambda, order) = (shape.frequencies_of_rows(), frequencies(shape.columns));
            let power = 1u64 << n.trailing_zeros();
            let sigma = (0..n as u64)
                .find(|s| {
                    s % power == power - 1 && s % (n as u64 / power) == 1 % (n as u64 / power)
                })
                .unwrap();
            let omega = root_of_unity(n as u64).unwrap();
            assert_eq!(omega.pow(sigma), omega.conjugate());
            for (modular, factor) in [(false, n as u64 - 1), (true, sigma)] {
                let partners = shape.partners(modular);
                for k1 in 0..shape.rows {
                    let other = (shape.rows - k1) % shape.rows;
                    let list = &partners[usize::from(k1 != 0)];
                    for (at, &to) in list.iter().enumerate() {
                        let [k, found] = [(k1, at), (other, to)].map(|(row, at)| {
                            (lambda[row] + (shape.rows * order[at]) as u64) % n as u64
                        });
                        assert_eq!(found, factor * k % n as u64, "{n} points, row {k1}");
                    }
                }
            }
        }
    }
}
