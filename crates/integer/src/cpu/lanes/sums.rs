//! Combinations x·f + y·g of two numbers, with one integer x and one integer y per lane.

use super::masks::Masks;
use super::vector::digit;

/// The state of the computation of x·f + y·g, limb by limb from the lowest limb on. x and y are from
/// −2^β to 2^β − 1, and |x| + |y| ≤ 2^β. f and g are in two's complement.
pub(super) trait Sum<V: Masks> {
    /// Begins the computation with x and y.
    fn new(proof: V::Proof, row: [V; 2]) -> Self;

    /// Returns a number that is congruent mod 2^β to the lowest limb of the sum, for the lowest limbs
    /// of f and g.
    fn lowest(&self, proof: V::Proof, f: V, g: V) -> V;

    /// Adds the products of the next limbs of f and g, and returns the next limb of the sum.
    fn step(&mut self, proof: V::Proof, f: V, g: V) -> V;

    /// Does as [`Sum::step`], and adds the product m·k of limbs.
    fn step_with(&mut self, proof: V::Proof, f: V, g: V, m_k: [V; 2]) -> V;
}

/// Sums for β = 52, of the low and the high parts of products.
///
/// # Bounds
/// A column of a combination of c numbers is the sum of 2c parts of products, less than 2^52 each,
/// of a carry, and of up to two negative limbs. For c ≤ 3 it is above −2^54 and below 2^55, and
/// carries are from −4 to 8.
pub(super) struct SumOfParts<V> {
    /// x mod 2^β and y mod 2^β.
    row: [V; 2],
    /// The lanes in which x is negative, and those in which y is negative.
    minus: [u8; 2],
    /// The parts of products that belong to the next column.
    high: V,
    /// The carry to the next column.
    carry: V,
    /// The previous limbs of f and g. Where x or y is negative, they are subtracted from the column.
    previous: [V; 2],
}

impl<V: Masks> SumOfParts<V> {
    /// Returns the next column without its carry, and the parts that belong to the column above.
    #[inline(always)]
    fn products(&self, proof: V::Proof, f: V, g: V) -> (V, V) {
        let [x, y] = self.row;
        let (low, high) = V::mad(self.high, V::splat(proof, 0), f, x);
        V::mad(low, high, g, y)
    }

    /// Returns the limb of the column `low`, and keeps its carry.
    #[inline(always)]
    fn finish(&mut self, proof: V::Proof, low: V, high: V, f: V, g: V) -> V {
        let ([minus_f, minus_g], [of_f, of_g]) = (self.minus, self.previous);
        // The carry comes last, because it depends on the column before.
        let sum = low.select(minus_f, low.sub(of_f));
        let sum = sum.select(minus_g, sum.sub(of_g));
        let sum = sum.add(self.carry);
        self.carry = sum.shr_signed(u64::from(V::BITS));
        (self.high, self.previous) = (high, [f, g]);
        digit(proof, sum)
    }
}

impl<V: Masks> Sum<V> for SumOfParts<V> {
    #[inline(always)]
    fn new(proof: V::Proof, [x, y]: [V; 2]) -> Self {
        let zero = V::splat(proof, 0);
        Self {
            row: [digit(proof, x), digit(proof, y)],
            minus: [x.negative(), y.negative()],
            high: zero,
            carry: zero,
            previous: [zero; 2],
        }
    }

    #[inline(always)]
    fn lowest(&self, proof: V::Proof, f: V, g: V) -> V {
        self.products(proof, f, g).0
    }

    #[inline(always)]
    fn step(&mut self, proof: V::Proof, f: V, g: V) -> V {
        let (low, high) = self.products(proof, f, g);
        self.finish(proof, low, high, f, g)
    }

    #[inline(always)]
    fn step_with(&mut self, proof: V::Proof, f: V, g: V, [m, k]: [V; 2]) -> V {
        let (low, high) = self.products(proof, f, g);
        let (low, high) = V::mad(low, high, m, k);
        self.finish(proof, low, high, f, g)
    }
}

/// Sums for β = 30, of whole products of signed words.
///
/// # Bounds
/// As |x| + |y| ≤ 2^30, and limbs are below 2^30, |x·f + y·g| is below 2^60. A product m·k of limbs
/// is below 2^60 too. So columns are above −2^61 and below 2^62, and carries above −2^31 and below
/// 2^32. With [`OFFSET`], columns are not negative, and below 2^63.
pub(super) struct SumOfProducts<V> {
    /// x and y.
    row: [V; 2],
    /// The carry to the next column, plus [`OFFSET`].
    carry: V,
}

/// The number that is added to columns. To shift a word that is not negative takes one instruction.
const OFFSET: u64 = 1 << 62;

impl<V: Masks> SumOfProducts<V> {
    /// Returns the limb of the column that consists of `products` and of the carry. Keeps the new
    /// carry.
    #[inline(always)]
    fn finish(&mut self, proof: V::Proof, products: V) -> V {
        let sum = products.add(self.carry);
        let offset = V::splat(proof, OFFSET - (OFFSET >> V::BITS));
        self.carry = sum.shr(u64::from(V::BITS)).add(offset);
        digit(proof, sum)
    }
}

impl<V: Masks> Sum<V> for SumOfProducts<V> {
    #[inline(always)]
    fn new(proof: V::Proof, row: [V; 2]) -> Self {
        const { assert!(V::BITS == 30) };
        Self { row, carry: V::splat(proof, OFFSET) }
    }

    #[inline(always)]
    fn lowest(&self, _: V::Proof, f: V, g: V) -> V {
        let [x, y] = self.row;
        f.mul(x).add(g.mul(y))
    }

    #[inline(always)]
    fn step(&mut self, proof: V::Proof, f: V, g: V) -> V {
        let products = self.lowest(proof, f, g);
        self.finish(proof, products)
    }

    #[inline(always)]
    fn step_with(&mut self, proof: V::Proof, f: V, g: V, [m, k]: [V; 2]) -> V {
        let products = self.lowest(proof, f, g).add(m.mul(k));
        self.finish(proof, products)
    }
}
