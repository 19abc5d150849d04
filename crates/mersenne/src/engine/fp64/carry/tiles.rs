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
}

/// Statistics of words, from which an [`Observed`](super::Observed) is computed. Entry i of an array
/// is for the rows i, i + 8, i + 16, … of all tiles, so no result depends on the number of lanes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Seen {
    pub(crate) errors: [f64; SIDE],
    pub(crate) energy: [f64; SIDE],
    foreign: [f64; SIDE],
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
}

/// Constants in every lane.
#[derive(Clone, Copy)]
struct Terms<V> {
    n: V,
    big_below: V,
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

/// The weight a of a word in some rows, 1/(a·s) with the scale s, 2^b and 2^−b for the number b of
/// its bits.
struct Factors<V> {
    weight: V,
    inverse: V,
    base: V,
    inverse_base: V,
}

impl<V: F64s> Terms<V> {
    #[inline(always)]
    fn new(i: V::Instructions, bases: Bases) -> Self {
        let splat = |x| V::splat(i, x);
        Self {
            n: splat(bases.n),
            big_below: splat(bases.big_below),
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
        let u = sum.sub(V::select(wrapped, self.n, self.zero));
        let short = u.at_least(self.big_below);
        let (forward, half) = (V::splat(i, forward), V::splat(i, half));
        let (inverse, twice) = (V::splat(i, inverse), V::splat(i, twice));
        Factors {
            weight: rows.forward.mul(V::select(wrapped, half, forward)),
            inverse: rows.inverse.mul(V::select(wrapped, twice, inverse)),
            base: V::select(short, self.base[0], self.base[1]),
            inverse_base: V::select(short, self.inverse_base[0], self.inverse_base[1]),
        }
    }

    /// Splits v = digit + carry·2^b into (digit, carry).
    #[inline(always)]
    fn split(&self, v: V, f: &Factors<V>) -> (V, V) {
        let carry = v.mul_add(f.inverse_base, self.rounder).sub(self.rounder);
        (carry.neg_mul_add(f.base, v), carry)
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

/// The points of 8 rows in `V::LANES` columns: entry [g][c] of each array has column c of the rows
/// of vector g.
#[derive(Clone, Copy)]
struct Square<V> {
    re: [[V; SIDE]; 2],
    im: [[V; SIDE]; 2],
}

impl<V: F64s> Square<V> {
    /// Loads and transposes the square whose first real part is at `at`.
    ///
    /// # Safety
    /// The 8 rows from `at` on must be valid for reading in `V::LANES` columns.
    #[inline(always)]
    unsafe fn load(i: V::Instructions, at: *const f64) -> Self {
        let zero = V::splat(i, 0.0);
        let mut square = Self { re: [[zero; SIDE]; 2], im: [[zero; SIDE]; 2] };
        for g in 0..SIDE / V::LANES {
            for r in 0..V::LANES {
                // SAFETY: the caller's promise.
                unsafe {
                    let row = at.add((g * V::LANES + r) * ROW);
                    square.re[g][r] = V::load(i, row);
                    square.im[g][r] = V::load(i, row.add(SIDE));
                }
            }
            V::transpose(&mut square.re[g][..V::LANES]);
            V::transpose(&mut square.im[g][..V::LANES]);
        }
        square
    }

    /// Transposes the square and stores it, with its first real part at `at`.
    ///
    /// # Safety
    /// The 8 rows from `at` on must be valid for writing in `V::LANES` columns.
    #[inline(always)]
    unsafe fn store(mut self, at: *mut f64) {
        for g in 0..SIDE / V::LANES {
            V::transpose(&mut self.re[g][..V::LANES]);
            V::transpose(&mut self.im[g][..V::LANES]);
            for r in 0..V::LANES {
                // SAFETY: the caller's promise.
                unsafe {
                    let row = at.add((g * V::LANES + r) * ROW);
                    self.re[g][r].store(row);
                    self.im[g][r].store(row.add(SIDE));
                }
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
        for r in (0..self.rows).step_by(SIDE) {
            let subtract = subtract.filter(|s| s.row / SIDE == r / SIDE);
            // SAFETY: rows r to r + 7 exist, in the tile, the weights and `carry`.
            unsafe {
                let mut carries = lanes_of::<V>(i, carry.as_ptr().add(r));
                for half in 0..vectors {
                    let at = self.at.add(r * ROW + half * lanes);
                    let mut square = Square::<V>::load(i, at);
                    for c in 0..lanes {
                        let column = half * lanes + c;
                        if let Some(s) = subtract.filter(|s| s.column == column) {
                            put_lanes(carries, carry.as_mut_ptr().add(r));
                            carry[s.row] -= s.value;
                            carries = lanes_of::<V>(i, carry.as_ptr().add(r));
                        }
                        for g in 0..vectors {
                            let rows = Rows::load(i, self.weights, self.first + r + g * lanes);
                            let even = terms.factors(i, &self.words[2 * column], rows);
                            let odd = terms.factors(i, &self.words[2 * column + 1], rows);
                            let t0 = square.re[g][c].mul(even.inverse);
                            let t1 = square.im[g][c].mul(odd.inverse);
                            let (sum0, sum1) = (t0.add(terms.rounder), t1.add(terms.rounder));
                            let (z0, z1) = (sum0.sub(terms.rounder), sum1.sub(terms.rounder));
                            errors[g] = t0.sub(z0).abs().max(t1.sub(z1).abs()).max(errors[g]);
                            energy[g] = t0.mul_add(t0, t1.mul_add(t1, energy[g]));
                            let bits = sum0.xor(terms.rounder).or(sum1.xor(terms.rounder));
                            foreign[g] = bits.or(foreign[g]);
                            let (d0, between) = terms.split(z0.add(carries[g]), &even);
                            let (d1, out) = terms.split(z1.add(between), &odd);
                            carries[g] = out;
                            square.re[g][c] = if WEIGH { d0.mul(even.weight) } else { d0 };
                            square.im[g][c] = if WEIGH { d1.mul(odd.weight) } else { d1 };
                        }
                    }
                    square.store(at);
                }
                put_lanes(carries, carry.as_mut_ptr().add(r));
            }
        }
        // SAFETY: the arrays have 8 entries.
        unsafe {
            put_lanes(errors, seen.errors.as_mut_ptr());
            put_lanes(energy, seen.energy.as_mut_ptr());
            put_lanes(foreign, seen.foreign.as_mut_ptr());
        }
    }

    /// Adds the carries in `carry` to words that are already digits, and propagates them. If
    /// `WEIGH`, multiplies the digits by the weights.
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
    ) {
        self.check(carry);
        let (lanes, vectors) = (V::LANES, SIDE / V::LANES);
        let terms = Terms::<V>::new(i, self.bases);
        for r in (0..self.rows).step_by(SIDE) {
            // SAFETY: rows r to r + 7 exist, in the tile, the weights and `carry`.
            unsafe {
                let mut carries = lanes_of::<V>(i, carry.as_ptr().add(r));
                for half in 0..vectors {
                    let at = self.at.add(r * ROW + half * lanes);
                    let mut square = Square::<V>::load(i, at);
                    for c in 0..lanes {
                        let column = half * lanes + c;
                        for g in 0..vectors {
                            let rows = Rows::load(i, self.weights, self.first + r + g * lanes);
                            let even = terms.factors(i, &self.words[2 * column], rows);
                            let odd = terms.factors(i, &self.words[2 * column + 1], rows);
                            let (d0, between) = terms.split(square.re[g][c].add(carries[g]), &even);
                            let v1 = square.im[g][c].add(between);
                            let (d1, out) = terms.split(v1, &odd);
                            let last = column == SIDE - 1;
                            let (d1, out) = if last { (v1, terms.zero) } else { (d1, out) };
                            carries[g] = out;
                            square.re[g][c] = if WEIGH { d0.mul(even.weight) } else { d0 };
                            square.im[g][c] = if WEIGH { d1.mul(odd.weight) } else { d1 };
                        }
                    }
                    square.store(at);
                }
                put_lanes(carries, carry.as_mut_ptr().add(r));
            }
        }
    }
}
