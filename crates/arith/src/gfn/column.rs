//! Columns (sums of products of digits) and their conversion to digits.

use super::{Form, Gfn};

/// A signed number of 192 bits in two's complement, in which products of digits are summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Column {
    low: u128,
    high: u64,
}

impl Column {
    pub(super) fn new(low: u128, high: u64) -> Self {
        Self { low, high }
    }

    #[inline(always)]
    pub(super) fn plus(self, other: Self) -> Self {
        let (low, carry) = self.low.overflowing_add(other.low);
        let high = self.high.wrapping_add(other.high).wrapping_add(u64::from(carry));
        Self { low, high }
    }

    #[inline(always)]
    pub(super) fn minus(self, other: Self) -> Self {
        let (low, borrow) = self.low.overflowing_sub(other.low);
        let high = self.high.wrapping_sub(other.high).wrapping_sub(u64::from(borrow));
        Self { low, high }
    }

    #[inline(always)]
    pub(super) fn doubled(self) -> Self {
        Self { low: self.low << 1, high: self.high << 1 | (self.low >> 127) as u64 }
    }

    /// Returns self + a·b.
    #[inline(always)]
    pub(super) fn plus_product(self, a: u64, b: u64) -> Self {
        self.plus(Self { low: u128::from(a) * u128::from(b), high: 0 })
    }

    /// Returns self + a·b if `mask` is 0, and self − a·b − 1 if all bits of `mask` are ones.
    #[inline(always)]
    pub(super) fn plus_masked(self, a: u64, b: u64, mask: u64) -> Self {
        let wide = u128::from(mask) << 64 | u128::from(mask);
        self.plus(Self { low: (u128::from(a) * u128::from(b)) ^ wide, high: mask })
    }
}

/// A radix r with a precomputed reciprocal for divisions by r (Möller and Granlund 2011, *Improved
/// division by invariant integers*, algorithm 4).
#[derive(Debug, Clone, Copy)]
pub(super) struct Divisor {
    shift: u32,
    /// The normalized divisor d = r·2^shift, which is at least 2^63.
    d: u64,
    /// The reciprocal of d: ⌊(2^128 − 1)/d⌋ − 2^64.
    reciprocal: u64,
}

impl Divisor {
    pub(super) fn new(r: u64) -> Self {
        let shift = r.leading_zeros();
        let d = r << shift;
        Self { shift, d, reciprocal: (u128::MAX / u128::from(d)) as u64 }
    }

    /// Returns (⌊x/d⌋, x mod d) for x = high·2^64 + low, where d = r·2^shift is the normalized
    /// divisor. Requires x < d·2^64.
    #[inline(always)]
    fn step(&self, high: u64, low: u64) -> (u64, u64) {
        let q = u128::from(self.reciprocal) * u128::from(high);
        let q = q.wrapping_add(u128::from(high) << 64 | u128::from(low));
        let mut quotient = ((q >> 64) as u64).wrapping_add(1);
        let mut rest = low.wrapping_sub(quotient.wrapping_mul(self.d));
        let above = rest > q as u64;
        quotient = quotient.wrapping_sub(u64::from(above));
        rest = rest.wrapping_add(if above { self.d } else { 0 });
        if rest >= self.d {
            quotient = quotient.wrapping_add(1);
            rest -= self.d;
        }
        (quotient, rest)
    }

    /// Returns [x_0, x_1, x_2] with x = x_0 + x_1·r + x_2·r², where x_0 and x_1 are below r.
    /// Requires 0 ≤ x < 2^9·r², so x_2 is below 2^9.
    #[inline(always)]
    fn digits(&self, x: Column) -> [u64; 3] {
        // x·2^shift < 2^9·r·d < 2^9·2^128, whose highest word is below 2^9 < d.
        let shift = self.shift;
        let (words, top) = (x.low << shift, x.high << shift | carried_out(x.low, shift));
        let (q_high, rest) = self.step(top, (words >> 64) as u64);
        let (q_low, x_0) = self.step(rest, words as u64);
        // The quotient is below 2^9·r, its multiple below 2^9·d.
        let quotient = (u128::from(q_high) << 64 | u128::from(q_low)) << shift;
        let (x_2, x_1) = self.step((quotient >> 64) as u64, quotient as u64);
        [x_0 >> shift, x_1 >> shift, x_2]
    }
}

/// Returns the bits of the 128-bit number x that a left shift by `shift` bits loses. Requires
/// `shift` below 64.
#[inline(always)]
fn carried_out(x: u128, shift: u32) -> u64 {
    ((x >> 64) as u64).checked_shr(64 - shift).unwrap_or(0)
}

/// Returns [b_0, b_1], two numbers that make the columns of an element of K digits nonnegative: b_0
/// is added to the lowest column, and b_1 to every other column.
///
/// The additions do not change the element, because b_0 + b_1·(r + … + r^(K−1)) = 0 mod p, where r
/// is the radix. To show this, let c = r·(K + 1). For every i, add c·r to column i and subtract c
/// from column i + 1. Each such pair of operations adds c·r·r^i − c·r^(i+1) = 0 to the element.
/// Because r^K = −1, a subtraction from column K is an addition to column 0. So b_0 = c·(r + 1) and
/// b_1 = c·(r − 1).
///
/// Both numbers are at least K·r·(r − 1).
pub(super) fn bias(form: Form) -> [Column; 2] {
    let r = form.radix();
    let c = u128::from(r) * (form.digits() as u128 + 1);
    [1, -1].map(|sign| {
        let factor = r.wrapping_add_signed(sign);
        let (low, high) = (u128::from(c as u64), c >> 64);
        let lower = Column::new(low * u128::from(factor), 0);
        let upper = high * u128::from(factor);
        lower.plus(Column::new(upper << 64, (upper >> 64) as u64))
    })
}

impl<const K: usize> Gfn<K> {
    /// Returns the element Σ c_i·r^i for columns c_i with |c_i| ≤ K·(r − 1)².
    ///
    /// After the [`bias`] is added, every column is at least 0 and below (2K + 2)·r². Each column
    /// is split into three digits independently of the other columns. The third digit is below 2^9.
    pub(super) fn resolved(&self, columns: &[Column; K]) -> [u64; K] {
        let mut parts = [[0u64; 3]; K];
        for (i, (part, &column)) in parts.iter_mut().zip(columns).enumerate() {
            *part = self.divisor.digits(column.plus(self.bias[usize::from(i > 0)]));
        }
        let (mut x, mut carry) = ([0; K], 0);
        for (i, x) in x.iter_mut().enumerate() {
            let wide = |i: usize, j: usize| i128::from(parts[i % K][j]);
            let (middle, top) = (wide(i + K - 1, 1), wide(i + K - 2, 2));
            // r^k = −1.
            let middle = if i < 1 { -middle } else { middle };
            let top = if i < 2 { -top } else { top };
            (*x, carry) = self.digit(wide(i, 0) + middle + top + carry);
        }
        // x − carry.
        for _ in 0..carry.max(0) {
            x = self.predecessor(&x);
        }
        for _ in 0..(-carry).max(0) {
            x = self.successor(&x);
        }
        x
    }

    /// Returns the digit d, 0 ≤ d < r, and the carry c with x = d + c·r. Cost: about |x/r|
    /// additions or subtractions.
    #[inline(always)]
    fn digit(&self, mut x: i128) -> (u64, i128) {
        let r = i128::from(self.r);
        let mut carry = 0;
        // Usually 0 ≤ x < 2r, and the branch is not predictable.
        let above = x >= r;
        x -= if above { r } else { 0 };
        carry += i128::from(above);
        while x >= r {
            x -= r;
            carry += 1;
        }
        while x < 0 {
            x += r;
            carry -= 1;
        }
        (x as u64, carry)
    }
}
