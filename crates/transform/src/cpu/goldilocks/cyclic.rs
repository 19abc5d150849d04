//! Cyclic convolutions of 2^k, 3·2^k or 5·2^k points, without weights.
//!
//! N = R·C points are transformed along the columns, multiplied by twiddles, and transformed along
//! the rows (Bailey 1990, *FFTs in external or hierarchical memory*). Input is in natural order.
//! The spectrum is not reordered: it remains in the order in which the transforms of the rows write
//! it.

use std::ops::Range;

use super::columns::ColumnPass;
use super::fft::Fft;
use super::lanes::{Kernel, Lanes};
use super::pool::Pool;
use super::shape::Shape;
use super::shared::Shared;
use warpint_arith::goldilocks as field;

/// A natural number, given by its limbs and read as digits in base 2^bits, where `bits` is from 1
/// to 32. Digits beyond the end of the number are 0.
#[derive(Clone, Copy)]
pub struct Digits<'a> {
    /// The limbs of the number, the lowest first.
    pub limbs: &'a [u64],
    /// The number of bits of a digit.
    pub bits: u32,
}

impl Digits<'_> {
    /// Returns digit j of the number; digit 0 is the lowest.
    #[inline(always)]
    fn at(&self, j: usize) -> u64 {
        let bit = j * self.bits as usize;
        let (word, shift) = (bit / 64, bit % 64);
        let limb = |i: usize| self.limbs.get(i).copied().unwrap_or(0);
        // Two shifts, because a shift by 64 is not defined.
        let x = limb(word) >> shift | limb(word + 1) << 1 << (63 - shift);
        x & ((1 << self.bits) - 1)
    }

    /// Returns the number of digits: ⌈64·l/bits⌉ for l limbs.
    fn len(&self) -> usize {
        (64 * self.limbs.len()).div_ceil(self.bits as usize)
    }
}

/// A term of a sum of products: a product of two operands, which is added or subtracted. An operand
/// is given by its index in the list of operands.
#[derive(Clone, Copy)]
pub struct Term {
    /// The index of the first operand.
    pub left: usize,
    /// The index of the second operand.
    pub right: usize,
    /// Whether the product is subtracted.
    pub minus: bool,
}

/// Two thread pools, for two ways to distribute work over threads.
#[derive(Clone, Copy)]
pub struct Pools<'a> {
    /// The pool that processes several operands, or several sums, at the same time.
    pub across: &'a Pool,
    /// The pool that processes the parts of one operand, or of one sum, at the same time.
    pub within: &'a Pool,
}

/// The tables for cyclic convolutions of N points.
pub trait Cyclic: Send + Sync {
    /// Computes a sum z = Σ ± x∗y for each entry of `sums`. The sum is over the terms of the entry,
    /// and x∗y is the cyclic convolution of two operands. The N coefficients of z are z_j = Σ ± Σ_i
    /// x_i·y_((j − i) mod N) mod q, where q = 2^64 − 2^32 + 1, and x_i and y_i are digits of the
    /// operands. The coefficients are from 0 to q − 1, and in ascending order of j. Calls `finish`
    /// with the coefficients of each sum, and returns the results of `finish` in the order of
    /// `sums`.
    ///
    /// Cost: one transform for each operand and for each sum. The memory is 8·N bytes for each
    /// operand, and 16·N bytes for each sum in progress.
    ///
    /// # Panics
    /// If an operand has more than N digits, including zero digits at the high end.
    fn sums(
        &self,
        pools: Pools,
        operands: &[Digits],
        sums: &[&[Term]],
        finish: &(dyn Fn(&[u64]) -> Vec<u64> + Sync),
    ) -> Vec<Vec<u64>>;
}

/// Returns the tables for cyclic convolutions of n = 2^k, 3·2^k or 5·2^k points. Returns `None` for
/// any other n, or if the field has no root of unity of order n.
pub fn cyclic(n: usize) -> Option<Box<dyn Cyclic>> {
    #[cfg(target_arch = "x86_64")]
    if let Some(tables) = Tables::<super::avx2::Four>::new(n) {
        return Some(Box::new(tables));
    }
    Some(Box::new(Tables::<u64>::new(n)?))
}

/// The tables for convolutions of one length N. The layout of a spectrum is described at
/// [`Shape::pitch`].
struct Tables<V: Lanes> {
    instructions: V::Instructions,
    shape: Shape,
    columns_fft: Fft,
    rows_fft: Fft,
    /// The factors between the transforms of columns and rows, with W lanes and C columns. Lane i
    /// of entry g·C + c is ω_N^(c·k), where ω_N is the root of unity of order N, and k is the
    /// frequency at position g·W + i of a transformed column.
    forward: Vec<V::Factor>,
    /// The inverses of the factors in `forward`, divided by N.
    inverse: Vec<V::Factor>,
}

impl<V: Lanes> Tables<V> {
    /// Computes the tables for n points. Returns `None` if there is no [`Shape`] for n points, the
    /// field has no root of unity of order n, or the processor lacks the instructions of the lanes.
    fn new(n: usize) -> Option<Self> {
        let instructions = V::instructions()?;
        let shape = Shape::new(n, V::WIDTH)?;
        let (columns_fft, rows_fft) = (Fft::new(shape.rows)?, Fft::new(shape.columns)?);
        let omega = field::root_of_unity(n as u64)?;
        let order = columns_fft.spectrum();
        let twiddles = |omega: u64, first: u64| {
            let mut table = Vec::with_capacity(n / V::WIDTH);
            for group in order.chunks_exact(V::WIDTH) {
                let steps: Vec<u64> = group.iter().map(|&k| field::pow(omega, k as u64)).collect();
                let mut entry = vec![first; V::WIDTH];
                for _ in 0..shape.columns {
                    table.push(V::factors(instructions, &entry));
                    for (t, step) in entry.iter_mut().zip(&steps) {
                        *t = field::mul(*t, *step);
                    }
                }
            }
            table
        };
        let forward = twiddles(omega, 1);
        let inverse = twiddles(field::inverse(omega)?, field::inverse(n as u64)?);
        Some(Self { instructions, shape, columns_fft, rows_fft, forward, inverse })
    }

    fn spectrum(&self, pool: &Pool, digits: Digits) -> Vec<V> {
        assert!(digits.len() <= self.shape.rows * self.shape.columns, "more digits than points");
        let mut work =
            vec![V::splat(self.instructions, 0); self.shape.rows / V::WIDTH * self.shape.pitch()];
        let shared = Shared::new(&mut work);
        pool.each_range(self.shape.columns / self.shape.tile(), |tiles| {
            V::enter(Columns { tables: self, digits, work: &shared, tiles });
        });
        pool.each_chunk(&mut work, self.shape.pitch(), |_, group| {
            self.rows_fft.forward(&mut group[..self.shape.columns]);
        });
        work
    }

    /// Computes the coefficients of the sum Σ ± x·y over `terms`. The operands are given by their
    /// spectra.
    fn sum(&self, pool: &Pool, spectra: &[Vec<V>], terms: &[Term]) -> Vec<u64> {
        let mut work =
            vec![V::splat(self.instructions, 0); self.shape.rows / V::WIDTH * self.shape.pitch()];
        pool.each_chunk(&mut work, self.shape.pitch(), |g, group| {
            let out = &mut group[..self.shape.columns];
            V::enter(Rows { tables: self, spectra, terms, at: g * self.shape.pitch(), out });
        });
        let mut out = vec![0; self.shape.rows * self.shape.columns];
        let shared = Shared::new(&mut out);
        pool.each_range(self.shape.columns / self.shape.tile(), |tiles| {
            V::enter(InverseColumns { tables: self, work: &work, out: &shared, tiles });
        });
        out
    }
}

impl<V: Lanes> Cyclic for Tables<V> {
    fn sums(
        &self,
        pools: Pools,
        operands: &[Digits],
        sums: &[&[Term]],
        finish: &(dyn Fn(&[u64]) -> Vec<u64> + Sync),
    ) -> Vec<Vec<u64>> {
        let Pools { across, within } = pools;
        let spectra = across.each(operands.len(), |i| self.spectrum(within, operands[i]));
        across.each(sums.len(), |i| finish(&self.sum(within, &spectra, sums[i])))
    }
}

struct Columns<'a, V: Lanes> {
    tables: &'a Tables<V>,
    digits: Digits<'a>,
    work: &'a Shared<'a, V>,
    tiles: Range<usize>,
}

impl<V: Lanes> Kernel<V> for Columns<'_, V> {
    #[inline(always)]
    fn run(self) {
        let t = self.tables;
        let (w, Shape { rows, columns }) = (V::WIDTH, t.shape);
        let to_rows = ColumnPass { shape: t.shape, fft: &t.columns_fft, factors: &t.forward };
        let used_rows = self.digits.len().div_ceil(columns);
        let mut buffer = vec![V::splat(t.instructions, 0); rows * t.shape.tile() / w];
        let mut entry = vec![0; w];
        for tile in self.tiles {
            let first = tile * t.shape.tile();
            for (v, column) in buffer.chunks_exact_mut(rows).enumerate() {
                for (r, x) in column[..used_rows].iter_mut().enumerate() {
                    let at = r * columns + first + v * w;
                    for (lane, digit) in entry.iter_mut().enumerate() {
                        *digit = self.digits.at(at + lane);
                    }
                    *x = V::elements(t.instructions, &entry);
                }
                column[used_rows..].fill(V::splat(t.instructions, 0));
                // SAFETY: tiles do not overlap, and every tile is in one range.
                unsafe { to_rows.forward(column, first + v * w, self.work) };
            }
        }
    }
}

/// A kernel that computes a sum Σ ± x·y of products of spectra, for one group of rows, and
/// transforms the sum back along the rows.
struct Rows<'a, V: Lanes> {
    tables: &'a Tables<V>,
    spectra: &'a [Vec<V>],
    terms: &'a [Term],
    at: usize,
    out: &'a mut [V],
}

impl<V: Lanes> Kernel<V> for Rows<'_, V> {
    #[inline(always)]
    fn run(self) {
        for term in self.terms {
            let row = |i: usize| &self.spectra[i][self.at..][..self.out.len()];
            let factors = row(term.left).iter().zip(row(term.right));
            if term.minus {
                for (out, (x, y)) in self.out.iter_mut().zip(factors) {
                    *out = out.sub(x.mul(y.to_factor()));
                }
            } else {
                for (out, (x, y)) in self.out.iter_mut().zip(factors) {
                    *out = out.add(x.mul(y.to_factor()));
                }
            }
        }
        self.tables.rows_fft.inverse(self.out);
    }
}

struct InverseColumns<'a, V: Lanes> {
    tables: &'a Tables<V>,
    work: &'a [V],
    out: &'a Shared<'a, u64>,
    tiles: Range<usize>,
}

impl<V: Lanes> Kernel<V> for InverseColumns<'_, V> {
    #[inline(always)]
    fn run(self) {
        let t = self.tables;
        let (w, Shape { rows, columns }) = (V::WIDTH, t.shape);
        let from_rows = ColumnPass { shape: t.shape, fft: &t.columns_fft, factors: &t.inverse };
        let mut column = vec![V::splat(t.instructions, 0); rows];
        for tile in self.tiles {
            for v in 0..t.shape.tile() / w {
                let c = tile * t.shape.tile() + v * w;
                from_rows.inverse(self.work, c, &mut column);
                for (r, x) in column.iter().enumerate() {
                    // SAFETY: tiles do not overlap, and every tile is in one range.
                    x.store(unsafe { self.out.piece(r * columns + c, w) });
                }
            }
        }
    }
}
