//! Sums of products of limbs, in columns. Column k is the sum of all parts of products that belong
//! to 2^(β·k), where β = [`Lanes::BITS`]. Carries are propagated after all products have been
//! added.
//!
//! The unit of work is a block of B limbs of one factor times all limbs of the other. The B limbs
//! stay in registers, and so do the columns that they currently reach. Each column is read and
//! written once per block.
//!
//! Where [`Lanes::mad`] adds biases, columns either are corrected in advance, or are *raw*: they keep
//! the biases, and [`propagate_raw`] corrects them. The code has a parameter RAW for it. All sums are
//! mod 2^64.
//!
//! # Bounds
//! Let n be the number of limbs of the shorter factor, at most [`MOST_LIMBS`] = 2^9. A product adds
//! at most n low and n high parts to a column. A Montgomery product is the sum of two products. A
//! column of it also receives one carry. So such a column is
//!
//! * below 4·2^9·2^52 = 2^63, plus a carry below 2^12, if parts are below 2^52;
//! * from −2^61 to 3·2^61, plus a carry below 2^12, if low parts are from −2^51 to 2^51, and high
//!   parts from 0 to 2^52.
//!
//! A reduction adds 2^(β−1) to a column before it takes the carry. No sum reaches 2^64.

#![expect(clippy::needless_range_loop, reason = "indices that several arrays share")]

use super::vector::{Lanes, carry, digit, unrolled};

/// The largest number of limbs of a factor: see the bounds above.
pub(super) const MOST_LIMBS: usize = 1 << 9;

/// Evaluates `$body` with the constant `$b` equal to `$n`, which is from 1 to [`block`]. For
/// vectors with small blocks, the code of larger blocks is not compiled.
macro_rules! with_block {
    ($v:ty, $n:expr, $b:ident => $body:expr) => {
        match $n {
            1 => {
                const $b: usize = 1;
                $body
            }
            2 => {
                const $b: usize = 2;
                $body
            }
            4 if <$v>::SPLIT => {
                const $b: usize = 4;
                $body
            }
            5 if <$v>::SPLIT => {
                const $b: usize = 5;
                $body
            }
            6 if <$v>::SPLIT => {
                const $b: usize = 6;
                $body
            }
            7 if <$v>::SPLIT => {
                const $b: usize = 7;
                $body
            }
            8 if <$v>::SPLIT => {
                const $b: usize = 8;
                $body
            }
            _ => {
                const $b: usize = 3;
                $body
            }
        }
    };
}

/// The largest number of limbs for which the loops over a block are unrolled. Code for fixed widths
/// has larger blocks than [`block`] returns.
pub(super) const WIDEST_BLOCK: usize = 10;

/// The largest [`block`] of all vectors.
const MOST_BLOCK: usize = 8;

/// Returns the largest number B of limbs in a block. Eight limbs, twice eight columns and a limb of
/// the other factor fit in the 32 registers of AVX-512. Three limbs, three columns, two constants and
/// the intermediate values of two products fit in the 16 registers of AVX2.
pub(super) const fn block<V: Lanes>() -> usize {
    if V::SPLIT { MOST_BLOCK } else { 3 }
}

/// Returns the sum of the biases in a column after `low` low and `high` high parts have been added,
/// mod 2^64.
const fn bias<V: Lanes>(low: usize, high: usize) -> u64 {
    let low = V::LOW_BIAS.wrapping_mul(low as u64);
    low.wrapping_add(V::HIGH_BIAS.wrapping_mul(high as u64))
}

/// Returns what corrects a column for `low` low and `high` high parts, mod 2^64.
const fn correction<V: Lanes, const RAW: bool>(low: usize, high: usize) -> u64 {
    if RAW { 0 } else { bias::<V>(low, high).wrapping_neg() }
}

/// The columns that a block of B limbs reaches from limb i of the other factor on. Entry t belongs
/// to column i + t. The arrays may be rotated by s: entry t is then at index (t + s) mod B.
struct Window<V, const B: usize, const RAW: bool> {
    /// The columns, without high parts if [`Lanes::SPLIT`] is true. Unless they are raw, they are
    /// corrected in advance for the biases of all parts that would be added if the other factor had
    /// infinitely many limbs.
    low: [V; B],
    /// The high parts of column i + t + 1 if [`Lanes::SPLIT`] is true. Otherwise unused.
    high: [V; B],
    /// The high parts of column i if [`Lanes::SPLIT`] is true. Otherwise unused.
    above: V,
    /// Corrects an empty column in advance for B low and B high parts. It is 0 for raw columns.
    empty: V,
}

impl<V: Lanes, const B: usize, const RAW: bool> Window<V, B, RAW> {
    /// Makes a window from columns. `low(t)` low and `high(t)` high parts will be added to column
    /// t.
    #[inline(always)]
    fn new(
        proof: V::Proof,
        columns: &[V],
        low: impl Fn(usize) -> usize,
        high: impl Fn(usize) -> usize,
    ) -> Self {
        let zero = V::splat(proof, 0);
        let mut window = Self {
            low: [zero; B],
            high: [zero; B],
            above: zero,
            empty: V::splat(proof, correction::<V, RAW>(B, B)),
        };
        let columns = &columns[..B];
        for t in 0..B {
            window.low[t] = corrected(proof, columns[t], correction::<V, RAW>(low(t), high(t)));
        }
        window
    }

    /// Adds x·y to the columns of the entry at index t and of the next entry. If [`Lanes::SPLIT`]
    /// is false, the entry at index t must not be entry B − 1, because the window does not have the
    /// next entry.
    #[inline(always)]
    fn add(&mut self, t: usize, x: V, y: V) {
        if V::SPLIT {
            (self.low[t], self.high[t]) = V::mad(self.low[t], self.high[t], x, y);
        } else {
            let next = (t + 1) % B;
            (self.low[t], self.low[next]) = V::mad(self.low[t], self.low[next], x, y);
        }
    }

    /// Adds x·(y_0 … y_(B−1)) for the limb x of index i, returns the finished column i, and goes on
    /// to i + 1. `next` is the content of column i + B so far. The arrays are rotated by s before
    /// the call, and by s + 1 after it.
    #[inline(always)]
    fn step(&mut self, s: usize, x: V, y: &[V; B], next: V) -> V {
        for t in 0..B - 1 {
            self.add((t + s) % B, x, y[t]);
        }
        let last = (B - 1 + s) % B;
        if V::SPLIT {
            self.add(last, x, y[B - 1]);
            let done = self.low[s].add(self.above);
            self.above = self.high[s];
            (self.low[s], self.high[s]) = (next, self.empty);
            done
        } else {
            let next = if RAW { next } else { next.add(self.empty) };
            let (low, high) = V::mad(self.low[last], next, x, y[B - 1]);
            self.low[last] = low;
            std::mem::replace(&mut self.low[s], high)
        }
    }

    /// Adds x·y to the columns, where `columns` begins with column 0 of the window. `columns` has
    /// at least B entries more than x.
    #[inline(always)]
    fn run(mut self, proof: V::Proof, columns: &mut [V], x: &[V], y: &[V; B]) {
        let columns = &mut columns[..x.len() + B];
        let (blocks, rest) = x.as_chunks::<B>();
        for (k, x) in blocks.iter().enumerate() {
            let columns = &mut columns[B * k..][..2 * B];
            unrolled!(s < B, up to 10 => columns[s] = self.step(s, x[s], y, columns[s + B]));
        }
        for i in x.len() - rest.len()..x.len() {
            columns[i] = self.step(0, x[i], y, columns[i + B]);
            for t in 1..B {
                self.low.swap(t - 1, t);
                self.high.swap(t - 1, t);
            }
        }
        for (t, top) in columns[x.len()..].iter_mut().enumerate() {
            // The limbs of x beyond its end would have added t + 1 low and t high parts.
            let missing = if RAW { 0 } else { bias::<V>(t + 1, t) };
            *top = match t {
                _ if !V::SPLIT => corrected(proof, self.low[t], missing),
                0 => self.low[0].add(self.above),
                _ => self.low[t].add(self.high[t - 1]),
            };
        }
    }
}

/// Returns column + correction mod 2^64.
#[inline(always)]
fn corrected<V: Lanes>(proof: V::Proof, column: V, correction: u64) -> V {
    if correction == 0 { column } else { column.add(V::splat(proof, correction)) }
}

/// Adds x·y to the columns, where y is one block. `columns` has at least B entries more than x.
#[inline(always)]
fn add_block<V: Lanes, const B: usize, const RAW: bool>(
    proof: V::Proof,
    columns: &mut [V],
    x: &[V],
    y: &[V; B],
) {
    Window::<V, B, RAW>::new(proof, columns, |t| t + 1, |t| t).run(proof, columns, x, y);
}

/// Adds x·y to the columns. Columns from `needed` on may lack products. `columns` has at least
/// `x.len() + y.len()` entries.
///
/// Costs at most `x.len()·y.len()` products of limbs. It is faster if x is the longer factor.
#[inline(always)]
pub(super) fn add_product<V: Lanes, const RAW: bool>(
    proof: V::Proof,
    columns: &mut [V],
    needed: usize,
    x: &[V],
    y: &[V],
) {
    for (k, y) in y.chunks(block::<V>()).enumerate() {
        let first = block::<V>() * k;
        let x = &x[..x.len().min(needed.saturating_sub(first))];
        let columns = &mut columns[first..];
        with_block!(V, y.len(), B => if let Some(y) = y.first_chunk::<B>() {
            add_block::<V, _, RAW>(proof, columns, x, y);
        });
    }
}

/// Adds x² to the columns, which must be 0. Columns from `needed` on may lack products. `columns`
/// has at least 2·`x.len()` entries.
///
/// Costs about half as many products of limbs as [`add_product`].
#[inline(always)]
pub(super) fn add_square<V: Lanes, const RAW: bool>(
    proof: V::Proof,
    columns: &mut [V],
    needed: usize,
    x: &[V],
) {
    let mut from = 0;
    while from < x.len() && 2 * from < needed {
        let size = block::<V>().min(x.len() - from);
        with_block!(V, size, B => {
            let (y, rest) = x[from..].split_at(B);
            let rest = &rest[..rest.len().min(needed.saturating_sub(2 * from + B))];
            if let Some(y) = y.first_chunk::<B>() {
                let columns = &mut columns[2 * from..];
                add_pairs::<V, _, RAW>(proof, columns, y);
                add_block::<V, _, RAW>(proof, &mut columns[B..], rest, y);
            }
        });
        from += size;
    }
    double_and_add_squares::<V, RAW>(proof, &mut columns[..2 * needed.div_ceil(2).min(x.len())], x);
}

/// Computes columns ← 2·columns + Σ x_i²·2^(2·β·i), where `columns` has at most 2·`x.len()` entries.
#[inline(always)]
fn double_and_add_squares<V: Lanes, const RAW: bool>(proof: V::Proof, columns: &mut [V], x: &[V]) {
    for (pair, &x) in columns.chunks_exact_mut(2).zip(x) {
        // Twice the products of different limbs, and the square.
        let (low, high) = V::mad(pair[0].add(pair[0]), pair[1].add(pair[1]), x, x);
        pair[0] = corrected(proof, low, correction::<V, RAW>(1, 0));
        pair[1] = corrected(proof, high, correction::<V, RAW>(0, 1));
    }
}

/// Adds x·y to the columns. y has blocks of B limbs, and at most one limb besides.
/// `columns` has at least `x.len() + y.len()` entries.
#[inline(always)]
pub(super) fn add_product_by<V: Lanes, const B: usize, const RAW: bool>(
    proof: V::Proof,
    columns: &mut [V],
    x: &[V],
    y: &[V],
) {
    let (blocks, rest) = y.as_chunks::<B>();
    for (k, y) in blocks.iter().enumerate() {
        add_block::<V, _, RAW>(proof, &mut columns[B * k..], x, y);
    }
    debug_assert!(rest.len() <= 1, "{} limbs besides the blocks", rest.len());
    if let Some(y) = rest.first_chunk::<1>() {
        add_block::<V, _, RAW>(proof, &mut columns[B * blocks.len()..], x, y);
    }
}

/// Adds x² to the columns, which must be 0. x has blocks of B limbs, and at most one limb
/// besides. `columns` has 2·`x.len()` entries.
#[inline(always)]
pub(super) fn add_square_by<V: Lanes, const B: usize, const RAW: bool>(
    proof: V::Proof,
    columns: &mut [V],
    x: &[V],
) {
    let (blocks, rest) = x.as_chunks::<B>();
    for (k, y) in blocks.iter().enumerate() {
        let columns = &mut columns[2 * B * k..];
        add_pairs::<V, _, RAW>(proof, columns, y);
        add_block::<V, _, RAW>(proof, &mut columns[B..], &x[B * (k + 1)..], y);
    }
    // One limb besides the blocks has no pair.
    debug_assert!(rest.len() <= 1, "{} limbs besides the blocks", rest.len());
    double_and_add_squares::<V, RAW>(proof, columns, x);
}

/// Adds the products y_s·y_t of a block with s < t to the columns. `columns` has at least 2B
/// entries.
#[inline(always)]
fn add_pairs<V: Lanes, const B: usize, const RAW: bool>(
    proof: V::Proof,
    columns: &mut [V],
    y: &[V; B],
) {
    let columns = &mut columns[..2 * B];
    let zero = V::splat(proof, 0);
    let mut low = [zero; 2 * WIDEST_BLOCK];
    let mut high = [zero; 2 * WIDEST_BLOCK];
    unrolled!(s < B, up to 10 => for t in s + 1..B {
        (low[s + t], high[s + t + 1]) = V::mad(low[s + t], high[s + t + 1], y[s], y[t]);
    });
    // The number of pairs with s + t = c, whose low parts belong to column c.
    let pairs = |c: usize| (0..B).filter(|&s| (s + 1..B).contains(&c.wrapping_sub(s))).count();
    for c in 1..2 * B - 1 {
        let sum = columns[c].add(low[c].add(high[c]));
        columns[c] = corrected(proof, sum, correction::<V, RAW>(pairs(c), pairs(c - 1)));
    }
}

/// The factors of the lowest 8 limbs of −m^(−1). A block of B limbs uses the first B.
pub(super) type Inverse<V> = [V; MOST_BLOCK];

/// Returns the factors of the limbs of −m^(−1), where `lowest` is the factor of its lowest limb. m is
/// odd.
///
/// Limb q_t is chosen such that the lowest t + 1 limbs of 1 + m·Σ q_s·2^(β·s) are 0.
#[inline(always)]
pub(super) fn inverse_of<V: Lanes>(proof: V::Proof, m: &[V], lowest: V) -> Inverse<V> {
    let zero = V::splat(proof, 0);
    let mut inverse = [zero; MOST_BLOCK];
    let mut columns = [zero; MOST_BLOCK + 1];
    columns[0] = V::splat(proof, 1);
    let [low_bias, high_bias] =
        [bias::<V>(1, 0), bias::<V>(0, 1)].map(|bias| V::splat(proof, bias.wrapping_neg()));
    for t in 0..MOST_BLOCK {
        inverse[t] = columns[t].low_product(proof, lowest);
        for (s, &m) in m.iter().enumerate().take(MOST_BLOCK - t) {
            let (low, high) = (columns[t + s].add(low_bias), columns[t + s + 1].add(high_bias));
            (columns[t + s], columns[t + s + 1]) = V::mad(low, high, m, inverse[t]);
        }
        columns[t + 1] = columns[t + 1].add(carry(proof, columns[t]));
    }
    inverse
}

/// Computes columns ← (columns + q·m)/2^(β·n) in the upper half of `columns`, where m has n limbs
/// and `columns` 2n entries. q < 2^(β·n) is the number for which the division leaves no remainder.
/// The lower half is then unspecified.
///
/// Costs n² products of limbs, and about 2n more.
#[inline(always)]
pub(super) fn reduce<V: Lanes>(proof: V::Proof, columns: &mut [V], m: &[V], inverse: &Inverse<V>) {
    let mut from = 0;
    while from < m.len() {
        let size = block::<V>().min(m.len() - from);
        with_block!(V, size, B => {
            reduce_block::<V, B>(proof, &mut columns[from..], m, inverse);
        });
        from += size;
    }
}

/// Computes [`reduce`] in blocks of B limbs of m, and at most one limb besides.
#[inline(always)]
pub(super) fn reduce_by<V: Lanes, const B: usize>(
    proof: V::Proof,
    columns: &mut [V],
    m: &[V],
    inverse: &Inverse<V>,
) {
    let whole = m.len() / B * B;
    for from in (0..whole).step_by(B) {
        reduce_block::<V, B>(proof, &mut columns[from..], m, inverse);
    }
    debug_assert!(m.len() - whole <= 1, "{} limbs besides the blocks", m.len() - whole);
    if whole < m.len() {
        reduce_block::<V, 1>(proof, &mut columns[whole..], m, inverse);
    }
}

/// Adds q·m to the columns. q has B limbs, such that the sum of the lowest B columns becomes a
/// multiple of 2^(β·B). Does not write these columns, but adds their carry to the next one.
///
/// q = L·(−m^(−1)) mod 2^(β·B), where L is the sum of the lowest B columns. Of the products q·m, those
/// that belong to columns below B − 1 are not computed. With them, the lowest B columns would be
/// carry·2^(β·B). So carry·2^β is the sum of column B − 1 and the carry out of the columns below it.
/// That carry is less than 2^12 in absolute value, so `carry` is the integer nearest to column B − 1
/// divided by 2^β.
#[inline(always)]
fn reduce_block<V: Lanes, const B: usize>(
    proof: V::Proof,
    columns: &mut [V],
    m: &[V],
    inverse: &Inverse<V>,
) {
    let (low_m, high_m) = m.split_at(B);
    let zero = V::splat(proof, 0);
    let corrected = |column: V, low: usize, high: usize| {
        corrected(proof, column, correction::<V, false>(low, high))
    };
    // The number L, then q.
    let mut lowest = [zero; B];
    lowest.copy_from_slice(&columns[..B]);
    propagate(proof, &mut lowest);
    unrolled!(t < B => lowest[t] = lowest[t].factor());
    let mut q = [zero; B];
    for t in 0..B {
        q[t] = corrected(zero, t + 1, t);
    }
    unrolled!(s < B => for t in 0..B - s {
        let (low, high) = V::mad(q[s + t], zero, lowest[s], inverse[t]);
        q[s + t] = low;
        if s + t + 1 < B {
            q[s + t + 1] = q[s + t + 1].add(high);
        }
    });
    propagate(proof, &mut q);
    unrolled!(t < B => q[t] = q[t].factor());
    let mut top = corrected(columns[B - 1], B, B - 1);
    let mut next = corrected(columns[B], 0, B);
    unrolled!(s < B => {
        (top, next) = V::mad(top, next, low_m[s], q[B - 1 - s]);
        if s + 1 < B {
            top = V::mad(zero, top, low_m[s], q[B - 2 - s]).1;
        }
    });
    let columns = &mut columns[B..];
    columns[0] = next.add(carry(proof, top.add(V::splat(proof, 1 << (V::BITS - 1)))));
    let highs = |t: usize| if t == 0 { 0 } else { B };
    let mut window = Window::<V, B, false>::new(proof, columns, |_| B, highs);
    unrolled!(s < B => for t in B - s..B {
        window.add(s + t - B, low_m[s], q[t]);
    });
    window.run(proof, columns, high_m, &q);
}

/// Replaces columns by the limbs of Σ columns_k·2^(β·k) mod 2^(β·`columns.len()`).
#[inline(always)]
pub(super) fn propagate<V: Lanes>(proof: V::Proof, columns: &mut [V]) {
    // With an offset, each carry is too large by the offset divided by 2^β. The constant added to
    // the next column makes up for it.
    let inflated = V::OFFSET >> V::BITS;
    let offset = V::splat(proof, V::OFFSET - inflated);
    let mut carry = V::splat(proof, inflated);
    for column in columns {
        let sum = if V::OFFSET == 0 { *column } else { column.add(offset) };
        let sum = sum.add(carry);
        carry = sum.shr(u64::from(V::BITS));
        *column = digit(proof, sum);
    }
}

/// Returns what [`propagate_raw`] adds to column k of a raw product or square of factors of n and m
/// limbs: what corrects it, plus the offset of [`propagate`].
pub(super) const fn raw_correction<V: Lanes>(k: usize, n: usize, m: usize) -> u64 {
    let offset = V::OFFSET - (V::OFFSET >> V::BITS);
    let low = products_in_column(k, n, m);
    let high = if k == 0 { 0 } else { products_in_column(k - 1, n, m) };
    offset.wrapping_add(correction::<V, false>(low, high))
}

/// Returns the number of pairs i < n and j < m with i + j = k.
const fn products_in_column(k: usize, n: usize, m: usize) -> usize {
    let (short, long) = if n < m { (n, m) } else { (m, n) };
    if k < short {
        k + 1
    } else if k < long {
        short
    } else {
        (n + m - 1).saturating_sub(k)
    }
}

/// Does the same as [`propagate`] for raw columns. Entry k of `corrections` is [`raw_correction`] for
/// column k. There must be at least as many corrections as columns.
#[inline(always)]
pub(super) fn propagate_raw<V: Lanes>(proof: V::Proof, columns: &mut [V], corrections: &[u64]) {
    if V::OFFSET == 0 && V::LOW_BIAS == 0 && V::HIGH_BIAS == 0 {
        return propagate(proof, columns);
    }
    let mut carry = V::splat(proof, V::OFFSET >> V::BITS);
    for (column, &correction) in columns.iter_mut().zip(corrections) {
        // The carry is added last, because it is known last.
        let sum = column.add(V::splat(proof, correction)).add(carry);
        carry = sum.shr(u64::from(V::BITS));
        *column = digit(proof, sum);
    }
}
