//! Rounding and carries of a tile: the points of eight adjacent columns in a multiple of eight rows.
//!
//! In memory, a row of a tile is the real parts of its eight points and then the imaginary parts. A
//! square of eight rows and eight columns is transposed in registers, so that a vector has the same
//! point of several rows. Each row is a carry chain of its own, which runs through the words of the
//! tile: the real and then the imaginary part of each point. The arithmetic is that of
//! [`lanes`](super::lanes).

#![expect(clippy::needless_range_loop, reason = "indices that several arrays share")]

use warpint_arith::simd::F64s;

use super::ROUNDER;
use super::lanes::RowWeights;
use super::sums::{RowFactors, RowSums, Totals, WordFactor};
use crate::engine::fp64::flip::flip_f64;
use crate::engine::fp64::weights::{Bases, Weight};

/// The number of rows and of columns that are transposed together.
const SIDE: usize = 8;

/// The number of `f64` in a row of a tile.
const ROW: usize = 2 * SIDE;

/// The weights of one word of every row, relative to the weights of the first word of the row: the
/// numerator u, the weight a, a/2, the inverse weight, and twice the inverse weight, as in
/// [`Weight`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct WordWeights([f64; 5]);

impl WordWeights {
    pub(crate) fn new(w: Weight) -> Self {
        Self([w.numerator, w.forward, w.forward * 0.5, w.inverse, w.inverse * 2.0])
    }

    /// Flips a bit of a weight.
    pub(crate) fn flip(&mut self, bit: u64) {
        flip_f64(&mut self.0, bit);
    }
}

/// Statistics of words, from which an [`Observed`](super::Observed) is computed. Entry i of an array
/// is for the rows i, i + 8, i + 16, … of all tiles, so no result depends on the number of lanes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Seen {
    pub(crate) errors: [f64; SIDE],
    pub(crate) energy: [f64; SIDE],
    foreign: [f64; SIDE],
    /// The sums over digits and carries, if they are made.
    pub(crate) sums: Totals,
}

impl Seen {
    /// Returns the bits in which t + [`ROUNDER`] differs from [`ROUNDER`] for at least one word t.
    pub(crate) fn foreign(&self) -> u64 {
        self.foreign.iter().fold(0, |all, x| all | x.to_bits())
    }
}

/// A number that is subtracted from the carry into the real part of a point of a tile.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subtracted {
    pub(crate) row: usize,
    pub(crate) column: usize,
    pub(crate) value: f64,
}

impl Subtracted {
    /// Returns the carries into rows `first`, `first` + 1, … after the subtraction. The arguments
    /// are the carries before.
    #[inline(always)]
    fn from<V: F64s>(self, i: V::Instructions, carries: V, first: usize) -> V {
        let mut lanes = [0.0; SIDE];
        if let Some(lane) = lanes[..V::LANES].get_mut(self.row.wrapping_sub(first)) {
            *lane = self.value;
        }
        // SAFETY: a vector has at most SIDE lanes.
        carries.sub(unsafe { V::load(i, lanes.as_ptr()) })
    }
}

/// The factors of the sums over a tile.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TileFactors<'a> {
    /// The factors of the 16 words of a row.
    pub(crate) words: &'a [WordFactor; ROW],
    /// The factors of the rows, in the order of their weights.
    pub(crate) rows: &'a RowFactors,
}

/// The rows of a tile: its position in memory, the number of its rows, their weights, and the index
/// in the weights of its first row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tile<'a> {
    pub(crate) at: *mut f64,
    pub(crate) rows: usize,
    pub(crate) weights: &'a RowWeights,
    pub(crate) first: usize,
    /// The weights of the 16 words of a row.
    pub(crate) words: &'a [WordWeights; ROW],
    pub(crate) bases: Bases,
    /// The factors of sums; `None` if no sums are made.
    pub(crate) factors: Option<TileFactors<'a>>,
}

/// Constants in every lane.
#[derive(Clone, Copy)]
struct Terms<V> {
    n: V,
    /// p mod N, and N + p mod N.
    big_below: [V; 2],
    base: [V; 2],
    inverse_base: [V; 2],
    rounder: V,
    zero: V,
}

/// The weights of the first words of some rows.
#[derive(Clone, Copy)]
struct Rows<V> {
    numerator: V,
    forward: V,
    inverse: V,
}

/// A carry, and its sum with [`ROUNDER`].
#[derive(Clone, Copy)]
struct Carry<V> {
    value: V,
    biased: V,
}

/// The weight a of a word in some rows, 1/(a·s) with the scale s, 2^b and 2^−b for the number b of
/// its bits.
struct Factors<V: F64s> {
    weight: V,
    inverse: V,
    base: V,
    inverse_base: V,
    /// Whether the fractions of the weights of row and word wrap around.
    wrapped: V::Mask,
}

impl<V: F64s> Terms<V> {
    #[inline(always)]
    fn new(i: V::Instructions, bases: Bases) -> Self {
        let splat = |x| V::splat(i, x);
        Self {
            n: splat(bases.n),
            big_below: [splat(bases.big_below), splat(bases.n + bases.big_below)],
            base: [splat(bases.base), splat(bases.base * 2.0)],
            inverse_base: [splat(bases.inverse_base), splat(bases.inverse_base * 0.5)],
            rounder: splat(ROUNDER),
            zero: splat(0.0),
        }
    }

    #[inline(always)]
    fn factors(&self, i: V::Instructions, word: &WordWeights, rows: Rows<V>) -> Factors<V> {
        let [numerator, forward, half, inverse, twice] = word.0;
        let sum = rows.numerator.add(V::splat(i, numerator));
        let wrapped = sum.at_least(self.n);
        // u ≥ p mod N, for u = sum or sum − N.
        let short = sum.at_least(V::select(wrapped, self.big_below[1], self.big_below[0]));
        let (forward, half) = (V::splat(i, forward), V::splat(i, half));
        let (inverse, twice) = (V::splat(i, inverse), V::splat(i, twice));
        Factors {
            weight: rows.forward.mul(V::select(wrapped, half, forward)),
            inverse: rows.inverse.mul(V::select(wrapped, twice, inverse)),
            base: V::select(short, self.base[0], self.base[1]),
            inverse_base: V::select(short, self.inverse_base[0], self.inverse_base[1]),
            wrapped,
        }
    }

    /// Splits v = digit + carry·2^b into the digit and the carry.
    #[inline(always)]
    fn split(&self, v: V, f: &Factors<V>) -> (V, Carry<V>) {
        let biased = v.mul_add(f.inverse_base, self.rounder);
        let carry = Carry { value: biased.sub(self.rounder), biased };
        (carry.value.neg_mul_add(f.base, v), carry)
    }

    #[inline(always)]
    fn carry(&self, value: V) -> Carry<V> {
        Carry { value, biased: value.add(self.rounder) }
    }
}

impl<V: F64s> Rows<V> {
    /// # Safety
    /// The arrays must have `V::LANES` entries from index r on.
    #[inline(always)]
    unsafe fn load(i: V::Instructions, weights: &RowWeights, r: usize) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                numerator: V::load(i, weights.numerator.as_ptr().add(r)),
                forward: V::load(i, weights.forward.as_ptr().add(r)),
                inverse: V::load(i, weights.inverse.as_ptr().add(r)),
            }
        }
    }
}

/// The points of `V::LANES` rows in `V::LANES` columns: entry c of each array has column c.
#[derive(Clone, Copy)]
struct Square<V> {
    re: [V; SIDE],
    im: [V; SIDE],
}

impl<V: F64s> Square<V> {
    /// Loads and transposes the square whose first real part is at `at`.
    ///
    /// # Safety
    /// The `V::LANES` rows from `at` on must be valid for reading in `V::LANES` columns.
    #[inline(always)]
    unsafe fn load(i: V::Instructions, at: *const f64) -> Self {
        let zero = V::splat(i, 0.0);
        let mut square = Self { re: [zero; SIDE], im: [zero; SIDE] };
        for r in 0..V::LANES {
            // SAFETY: the caller's promise.
            unsafe {
                square.re[r] = V::load(i, at.add(r * ROW));
                square.im[r] = V::load(i, at.add(r * ROW + SIDE));
            }
        }
        V::transpose(&mut square.re[..V::LANES]);
        V::transpose(&mut square.im[..V::LANES]);
        square
    }

    /// Transposes the square and stores it, with its first real part at `at`.
    ///
    /// # Safety
    /// The `V::LANES` rows from `at` on must be valid for writing in `V::LANES` columns.
    #[inline(always)]
    unsafe fn store(mut self, at: *mut f64) {
        V::transpose(&mut self.re[..V::LANES]);
        V::transpose(&mut self.im[..V::LANES]);
        for r in 0..V::LANES {
            // SAFETY: the caller's promise.
            unsafe {
                self.re[r].store(at.add(r * ROW));
                self.im[r].store(at.add(r * ROW + SIDE));
            }
        }
    }
}

/// Loads 8 numbers. If a vector has 8 lanes, the second vector is equal to the first.
///
/// # Safety
/// `at` must be valid for reading 8 numbers.
#[inline(always)]
unsafe fn lanes_of<V: F64s>(i: V::Instructions, at: *const f64) -> [V; 2] {
    // SAFETY: the caller's promise; SIDE − LANES is 0 or LANES.
    unsafe { [V::load(i, at), V::load(i, at.add(SIDE - V::LANES))] }
}

/// Stores 8 numbers, which [`lanes_of`] has loaded.
///
/// # Safety
/// `at` must be valid for writing 8 numbers.
#[inline(always)]
unsafe fn put_lanes<V: F64s>(vectors: [V; 2], at: *mut f64) {
    for (g, vector) in vectors.into_iter().take(SIDE / V::LANES).enumerate() {
        // SAFETY: the caller's promise.
        unsafe { vector.store(at.add(g * V::LANES)) };
    }
}

impl Tile<'_> {
    fn check(&self, carry: &[f64]) {
        assert!(self.rows.is_multiple_of(SIDE) && carry.len() == self.rows, "rows of a tile");
        let end = self.first + self.rows;
        let w = self.weights;
        let shortest = w.numerator.len().min(w.forward.len()).min(w.inverse.len());
        assert!(end <= shortest, "weights of {shortest} rows, not {end}");
        if let Some(factors) = &self.factors {
            assert!(end <= factors.rows.len(), "factors of {} rows", factors.rows.len());
        }
    }

    /// Divides the words of a product by their weights, rounds them and propagates carries. If
    /// `WEIGH`, multiplies the digits by the weights again. `carry` has the carry into each row,
    /// and receives the carry out of it. Updates `seen`.
    ///
    /// # Safety
    /// The tile's rows must be valid for reading and writing.
    #[inline(always)]
    pub(crate) unsafe fn release<V: F64s, const WEIGH: bool>(
        self,
        i: V::Instructions,
        subtract: Option<Subtracted>,
        carry: &mut [f64],
        seen: &mut Seen,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            match self.factors {
                None => self.release_with::<V, WEIGH, false>(i, NO_FACTORS, subtract, carry, seen),
                Some(of) => self.release_with::<V, WEIGH, true>(i, of, subtract, carry, seen),
            }
        }
    }

    /// Does the same. Makes sums if `SUM`.
    ///
    /// # Safety
    /// As for [`Tile::release`].
    #[inline(always)]
    unsafe fn release_with<V: F64s, const WEIGH: bool, const SUM: bool>(
        self,
        i: V::Instructions,
        factors: TileFactors<'_>,
        subtract: Option<Subtracted>,
        carry: &mut [f64],
        seen: &mut Seen,
    ) {
        self.check(carry);
        let (lanes, vectors) = (V::LANES, SIDE / V::LANES);
        let terms = Terms::<V>::new(i, self.bases);
        // SAFETY: the arrays have 8 entries.
        let (mut errors, mut energy, mut foreign) = unsafe {
            (
                lanes_of::<V>(i, seen.errors.as_ptr()),
                lanes_of::<V>(i, seen.energy.as_ptr()),
                lanes_of::<V>(i, seen.foreign.as_ptr()),
            )
        };
        let mut totals = [[V::splat_bits(i, 0); 4]; 2];
        for r in (0..self.rows).step_by(SIDE) {
            let subtract = subtract.filter(|s| s.row / SIDE == r / SIDE);
            // SAFETY: rows r to r + 7 exist, in the tile, the weights, the factors and `carry`.
            unsafe {
                let mut carries =
                    lanes_of::<V>(i, carry.as_ptr().add(r)).map(|value| terms.carry(value));
                let mut sums = [RowSums::<V>::new(i); 2];
                for half in 0..vectors {
                    // The chains of the vectors g are independent, and overlap in time.
                    for g in 0..vectors {
                        let rows = Rows::load(i, self.weights, self.first + r + g * lanes);
                        let at = self.at.add((r + g * lanes) * ROW + half * lanes);
                        let mut square = Square::<V>::load(i, at);
                        for c in 0..lanes {
                            let column = half * lanes + c;
                            // The sums have the carry before the subtraction.
                            let into = carries[g].biased;
                            if let Some(s) = subtract.filter(|s| s.column == column) {
                                carries[g].value = s.from(i, carries[g].value, r + g * lanes);
                            }
                            let even = terms.factors(i, &self.words[2 * column], rows);
                            let odd = terms.factors(i, &self.words[2 * column + 1], rows);
                            let t0 = square.re[c].mul(even.inverse);
                            let t1 = square.im[c].mul(odd.inverse);
                            let (sum0, sum1) = (t0.add(terms.rounder), t1.add(terms.rounder));
                            let (z0, z1) = (sum0.sub(terms.rounder), sum1.sub(terms.rounder));
                            errors[g] = t0.sub(z0).abs().max(t1.sub(z1).abs()).max(errors[g]);
                            energy[g] = t0.mul_add(t0, t1.mul_add(t1, energy[g]));
                            let bits = sum0.xor(terms.rounder).or(sum1.xor(terms.rounder));
                            foreign[g] = bits.or(foreign[g]);
                            let (d0, between) = terms.split(z0.add(carries[g].value), &even);
                            let (d1, out) = terms.split(z1.add(between.value), &odd);
                            carries[g] = out;
                            if SUM {
                                let digits = [d0, d1].map(|d| d.add(terms.rounder));
                                let [w0, w1] = [0, 1].map(|k| &factors.words[2 * column + k]);
                                sums[g].add(i, w0, even.wrapped, [digits[0], into]);
                                sums[g].add(i, w1, odd.wrapped, [digits[1], between.biased]);
                            }
                            square.re[c] = if WEIGH { d0.mul(even.weight) } else { d0 };
                            square.im[c] = if WEIGH { d1.mul(odd.weight) } else { d1 };
                        }
                        square.store(at);
                    }
                }
                put_lanes(carries.map(|carry| carry.value), carry.as_mut_ptr().add(r));
                if SUM {
                    for g in 0..vectors {
                        let row = self.first + r + g * lanes;
                        sums[g].finish(i, factors.rows, row, &mut totals[g]);
                    }
                }
            }
        }
        // SAFETY: the arrays have 8 entries.
        unsafe {
            put_lanes(errors, seen.errors.as_mut_ptr());
            put_lanes(energy, seen.energy.as_mut_ptr());
            put_lanes(foreign, seen.foreign.as_mut_ptr());
        }
        if SUM {
            for g in 0..vectors {
                seen.sums.add::<V>(totals[g], g * lanes);
            }
        }
    }

    /// Adds the carries in `carry` to words that are already digits, and propagates them. If
    /// `WEIGH`, multiplies the digits by the weights. Adds the sums to `sums`, if the tile has
    /// factors.
    ///
    /// The last word of each row keeps its carry. The value of the residue stays exact. The
    /// accuracy of the next transform suffers only if the carries are still large at that word.
    ///
    /// # Safety
    /// The tile's rows must be valid for reading and writing.
    #[inline(always)]
    pub(crate) unsafe fn absorb<V: F64s, const WEIGH: bool>(
        self,
        i: V::Instructions,
        carry: &mut [f64],
        sums: &mut Totals,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            match self.factors {
                None => self.absorb_with::<V, WEIGH, false>(i, NO_FACTORS, carry, sums),
                Some(factors) => self.absorb_with::<V, WEIGH, true>(i, factors, carry, sums),
            }
        }
    }

    /// Does the same. Makes sums if `SUM`.
    ///
    /// # Safety
    /// As for [`Tile::absorb`].
    #[inline(always)]
    unsafe fn absorb_with<V: F64s, const WEIGH: bool, const SUM: bool>(
        self,
        i: V::Instructions,
        factors: TileFactors<'_>,
        carry: &mut [f64],
        of_tile: &mut Totals,
    ) {
        self.check(carry);
        let (lanes, vectors) = (V::LANES, SIDE / V::LANES);
        let terms = Terms::<V>::new(i, self.bases);
        let mut totals = [[V::splat_bits(i, 0); 4]; 2];
        for r in (0..self.rows).step_by(SIDE) {
            // SAFETY: rows r to r + 7 exist, in the tile, the weights, the factors and `carry`.
            unsafe {
                let mut carries =
                    lanes_of::<V>(i, carry.as_ptr().add(r)).map(|value| terms.carry(value));
                let mut sums = [RowSums::<V>::new(i); 2];
                for half in 0..vectors {
                    for g in 0..vectors {
                        let rows = Rows::load(i, self.weights, self.first + r + g * lanes);
                        let at = self.at.add((r + g * lanes) * ROW + half * lanes);
                        let mut square = Square::<V>::load(i, at);
                        for c in 0..lanes {
                            let column = half * lanes + c;
                            let even = terms.factors(i, &self.words[2 * column], rows);
                            let odd = terms.factors(i, &self.words[2 * column + 1], rows);
                            let into = carries[g];
                            let (d0, between) = terms.split(square.re[c].add(into.value), &even);
                            let v1 = square.im[c].add(between.value);
                            let (d1, out) = terms.split(v1, &odd);
                            let last = column == SIDE - 1;
                            let (d1, out) =
                                if last { (v1, terms.carry(terms.zero)) } else { (d1, out) };
                            carries[g] = out;
                            if SUM {
                                let digits = [d0, d1].map(|d| d.add(terms.rounder));
                                let [w0, w1] = [0, 1].map(|k| &factors.words[2 * column + k]);
                                sums[g].add(i, w0, even.wrapped, [digits[0], into.biased]);
                                sums[g].add(i, w1, odd.wrapped, [digits[1], between.biased]);
                            }
                            square.re[c] = if WEIGH { d0.mul(even.weight) } else { d0 };
                            square.im[c] = if WEIGH { d1.mul(odd.weight) } else { d1 };
                        }
                        square.store(at);
                    }
                }
                put_lanes(carries.map(|carry| carry.value), carry.as_mut_ptr().add(r));
                if SUM {
                    for g in 0..vectors {
                        let row = self.first + r + g * lanes;
                        sums[g].finish(i, factors.rows, row, &mut totals[g]);
                    }
                }
            }
        }
        if SUM {
            for g in 0..vectors {
                of_tile.add::<V>(totals[g], g * lanes);
            }
        }
    }
}

/// The factors of a tile without sums.
const NO_FACTORS: TileFactors<'static> =
    TileFactors { words: &[WordFactor::ZERO; ROW], rows: &RowFactors::EMPTY };

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fp64::carry::lanes::{self, PointWords};
    use crate::engine::fp64::carry::sums::{Sums, SumsOfRows};
    use crate::engine::squares::Root;
    use crate::layout::WordLayout;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use rustfft::num_complex::Complex;
    use warpint_arith::simd::{self, Kernel, PortableF64s};

    /// Compares tiles of 24 rows with the same points column by column. The rows of weights begin
    /// at the eighth.
    struct Compared {
        seed: u64,
        weigh: bool,
        /// Absorbs carries instead of releasing the words of a product.
        absorb: bool,
    }

    const ROWS: usize = 24;
    const FIRST: usize = 8;

    impl Kernel for Compared {
        type Output = ();

        #[inline(always)]
        fn run<V: F64s>(self, i: V::Instructions) {
            let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
            let layout = WordLayout::new(18_311, (FIRST + ROWS) * ROW);
            let weights = RowWeights::new(&layout, ROW, 64.0);
            let shifted = RowWeights::of_rows(
                (FIRST..FIRST + ROWS).map(|r| Weight::new(&layout, r * ROW, 64.0)),
            );
            let of_word: [Weight; ROW] = std::array::from_fn(|j| Weight::new(&layout, j, 1.0));
            let words = of_word.map(WordWeights::new);
            let bases = Bases::new(&layout);
            // Digits, or words up to 2^50; some exactly between two integers or multiples of 2^24.
            let mut memory: Vec<f64> = (0..ROWS * ROW)
                .map(|k| {
                    let x = rng.random::<u64>() as i64;
                    match (self.absorb, k % 7) {
                        (true, 0) => 8.0,
                        (true, _) => (x >> 60) as f64,
                        (false, 0) => 0.0,
                        (false, 1) => ((x >> 40) << 24) as f64 * 64.0,
                        (false, _) => (x >> (k % 40 + 13)) as f64 * 64.0,
                    }
                })
                .collect();
            let mut carry: Vec<f64> =
                (0..ROWS).map(|_| (rng.random::<u64>() as i64 >> 38) as f64).collect();
            let subtracted = Subtracted { row: 13, column: 5, value: 512.0 };
            let mut columns: Vec<Vec<Complex<f64>>> = (0..SIDE)
                .map(|c| {
                    let at = |r: usize| Complex::new(memory[r + c], memory[r + SIDE + c]);
                    (0..ROWS).map(|r| at(r * ROW)).collect()
                })
                .collect();
            let root = Root::new(layout, self.seed);
            let rows = RowFactors::new(&root, (0..FIRST + ROWS).map(|r| r * ROW));
            let factors = WordFactor::of_words(&root, ROW);
            let factors = factors.first_chunk().unwrap();
            let mut expected = carry.clone();
            let mut of_rows = lanes::Seen::new(ROWS);
            of_rows.sums = SumsOfRows::new(ROWS);
            for (c, column) in columns.iter_mut().enumerate() {
                let words = PointWords {
                    weights: [of_word[2 * c], of_word[2 * c + 1]],
                    factors: [factors[2 * c], factors[2 * c + 1]],
                };
                if self.absorb {
                    let absorb = if self.weigh {
                        lanes::absorb::<true, true>
                    } else {
                        lanes::absorb::<false, true>
                    };
                    let (last, sums) = (c + 1 == SIDE, &mut of_rows.sums);
                    absorb(column, &shifted, &words, bases, &mut expected, last, sums);
                } else {
                    let here =
                        (c == subtracted.column).then_some((subtracted.row, subtracted.value));
                    let release = if self.weigh {
                        lanes::release::<true, true>
                    } else {
                        lanes::release::<false, true>
                    };
                    release(column, &shifted, &words, bases, here, &mut expected, &mut of_rows);
                }
            }
            let mut seen = Seen::default();
            let sub = Some(subtracted);
            // The same without sums and with them.
            let (before, carries_before) = (memory.clone(), carry.clone());
            for factors in [None, Some(TileFactors { words: factors, rows: &rows })] {
                seen = Seen::default();
                memory.copy_from_slice(&before);
                carry.copy_from_slice(&carries_before);
                let tile = Tile {
                    at: memory.as_mut_ptr(),
                    rows: ROWS,
                    weights: &weights,
                    first: FIRST,
                    words: &words,
                    bases,
                    factors,
                };
                let sums = &mut seen.sums;
                // SAFETY: the memory has all rows of the tile.
                unsafe {
                    match (self.absorb, self.weigh) {
                        (true, true) => tile.absorb::<V, true>(i, &mut carry, sums),
                        (true, false) => tile.absorb::<V, false>(i, &mut carry, sums),
                        (false, true) => tile.release::<V, true>(i, sub, &mut carry, &mut seen),
                        (false, false) => tile.release::<V, false>(i, sub, &mut carry, &mut seen),
                    }
                }
                if factors.is_none() {
                    assert_eq!(seen.sums.sums(), Sums::default());
                }
            }
            let shifted_rows = RowFactors::new(&root, (FIRST..FIRST + ROWS).map(|r| r * ROW));
            assert_eq!(seen.sums.sums(), of_rows.sums.total(&shifted_rows));
            assert_eq!(carry, expected);
            for (c, column) in columns.iter().enumerate() {
                for (r, z) in column.iter().enumerate() {
                    let found = [memory[r * ROW + c], memory[r * ROW + SIDE + c]];
                    assert_eq!(found, [z.re, z.im], "row {r}, column {c}");
                }
            }
            let largest = |errors: &[f64]| errors.iter().copied().fold(0.0, f64::max);
            assert_eq!(largest(&seen.errors), largest(&of_rows.errors));
            let (sum, all): (f64, f64) = (seen.energy.iter().sum(), of_rows.energy.iter().sum());
            assert!((sum - all).abs() <= 1e-12 * all);
            assert_eq!(seen.foreign() >> 52, of_rows.foreign >> 52);
        }
    }

    #[test]
    fn tiles_carry_as_columns_do() {
        for seed in 0..20 {
            for (weigh, absorb) in [(false, false), (false, true), (true, false), (true, true)] {
                simd::run(Compared { seed, weigh, absorb });
                PortableF64s::enter((), Compared { seed, weigh, absorb });
            }
        }
    }
}
