//! Combinations x·f + y·g of two numbers, with one integer x and one integer y per lane.

use super::masks::Masks;
use super::vector::{digit, unrolled};

/// The state of the computation of x·f + y·g, limb by limb from the lowest limb on. x and y are from
/// −2^β to 2^β − 1, and |x| + |y| ≤ 2^β. f and g are in two's complement.
pub(super) trait Sum<V: Masks> {
    /// Begins the computation with x and y.
    fn new(proof: V::Proof, row: [V; 2]) -> Self;

    /// Adds the products of the next limbs of f and g, and returns the next limb of the sum.
    fn step(&mut self, proof: V::Proof, f: V, g: V) -> V;

    /// Adds a limb and the products m_i·k_i of limbs, for B ≤ 4, and returns the next limb of the sum.
    /// A sum uses only one of the two methods.
    fn add_products<const B: usize>(&mut self, proof: V::Proof, limb: V, m: [V; B], k: [V; B])
    -> V;
}

/// Sums for β = 52, of the low and the high parts of products.
///
/// # Bounds
/// A column of a combination of two numbers is the sum of four parts of products, less than 2^52
/// each, of a carry, and of up to two negative limbs. It is above −2^54 and below 2^55, and carries
/// are from −4 to 8. A column with four products m_i·k_i is the sum of eight parts, of a limb and of
/// a carry. It is below 2^56, and the carry below 16.
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
    /// Adds the carry to the column `sum`. Returns its limb, and keeps its carry.
    #[inline(always)]
    fn finish(&mut self, proof: V::Proof, sum: V) -> V {
        // The carry comes last, because it depends on the column before.
        let sum = sum.add(self.carry);
        self.carry = sum.shr_signed(u64::from(V::BITS));
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
    fn step(&mut self, proof: V::Proof, f: V, g: V) -> V {
        let ([x, y], [minus_f, minus_g], [of_f, of_g]) = (self.row, self.minus, self.previous);
        let (low, high) = V::mad(self.high, V::splat(proof, 0), f, x);
        let (low, high) = V::mad(low, high, g, y);
        (self.high, self.previous) = (high, [f, g]);
        let sum = low.select(minus_f, low.sub(of_f));
        let sum = sum.select(minus_g, sum.sub(of_g));
        self.finish(proof, sum)
    }

    #[inline(always)]
    fn add_products<const B: usize>(
        &mut self,
        proof: V::Proof,
        limb: V,
        m: [V; B],
        k: [V; B],
    ) -> V {
        let (mut low, mut high) = (self.high, V::splat(proof, 0));
        unrolled!(i < B => (low, high) = V::mad(low, high, m[i], k[i]));
        self.high = high;
        self.finish(proof, low.add(limb))
    }
}

/// Sums for β = 30, of whole products of signed words.
///
/// # Bounds
/// As |x| + |y| ≤ 2^30, and limbs are below 2^30, |x·f + y·g| is below 2^60. Four products m_i·k_i of
/// limbs are below 2^62. So columns are above −2^61 and below 2^62 + 2^34, and carries above −2^31 and
/// below 2^33. With [`OFFSET`], columns are positive and below 2^64.
pub(super) struct SumOfProducts<V> {
    /// x and y.
    row: [V; 2],
    /// The carry to the next column, plus [`OFFSET`]/2^30.
    carry: V,
}

/// The number that is added to columns. To shift a word that is not negative takes one instruction.
const OFFSET: u64 = 1 << 62;

impl<V: Masks> SumOfProducts<V> {
    /// Adds the carry to `products`. Returns the limb of this column, and keeps its carry. The carry
    /// comes last, because it depends on the column before.
    #[inline(always)]
    fn finish(&mut self, proof: V::Proof, products: V) -> V {
        let offset = V::splat(proof, OFFSET - (OFFSET >> V::BITS));
        let sum = products.add(offset).computed_first().add(self.carry);
        self.carry = sum.shr(u64::from(V::BITS));
        digit(proof, sum)
    }
}

impl<V: Masks> Sum<V> for SumOfProducts<V> {
    #[inline(always)]
    fn new(proof: V::Proof, row: [V; 2]) -> Self {
        const { assert!(V::BITS == 30) };
        Self { row, carry: V::splat(proof, OFFSET >> V::BITS) }
    }

    #[inline(always)]
    fn step(&mut self, proof: V::Proof, f: V, g: V) -> V {
        let [x, y] = self.row;
        self.finish(proof, f.mul(x).add(g.mul(y)))
    }

    #[inline(always)]
    fn add_products<const B: usize>(
        &mut self,
        proof: V::Proof,
        limb: V,
        m: [V; B],
        k: [V; B],
    ) -> V {
        let mut sum = limb;
        unrolled!(i < B => sum = sum.add(m[i].mul(k[i])));
        self.finish(proof, sum)
    }
}
