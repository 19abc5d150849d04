//! The column passes: from digits to the spectra of columns, and from there to digits and carries.
//! A block has L adjacent columns, one in each lane.

use std::ops::Range;

use warpint_arith::simd::{F64s, Kernel, U64s};
use warpint_transform::cpu::goldilocks::Shared;

use super::arithmetic::{Complex, Modular};
use super::levels::Fft;
use super::memory::{largest_lane, load, load_one, store, store_one};
use super::shape::Shape;
use super::words::Words;

/// The largest number of lanes of any vector.
const MOST_LANES: usize = 8;

/// The tables of the column passes.
pub(super) struct Columns {
    pub(super) shape: Shape,
    complex: Fft<Complex>,
    modular: Fft<Modular>,
    words: Words,
    /// The positions, in the spectrum of a column, of the rows in their order in memory.
    positions: Vec<usize>,
}

/// The spectra in both arithmetics, which several threads use.
pub(super) type Spectra<'a> = [Shared<'a, f64>; 2];

impl Columns {
    pub(super) fn new(shape: Shape, words: Words) -> Self {
        let mut position = vec![0; shape.rows];
        for (at, f) in super::levels::frequencies(shape.rows).into_iter().enumerate() {
            position[f] = at;
        }
        Self {
            shape,
            complex: Fft::new(shape.rows),
            modular: Fft::new(shape.rows),
            words,
            positions: shape.order_of_rows().into_iter().map(|k| position[k]).collect(),
        }
    }

    /// Returns the memory for a block of columns in both arithmetics.
    fn block(&self) -> [Vec<f64>; 2] {
        [0; 2].map(|_| vec![0.0; 2 * self.shape.lanes * self.shape.rows])
    }

    /// Writes the transformed columns of a block, which begins with column c, to the spectrum. In the
    /// spectrum, lanes are rows.
    ///
    /// # Safety
    /// No other thread may access the columns of the block.
    #[inline(always)]
    unsafe fn scatter<V: F64s>(
        &self,
        i: V::Instructions,
        c: usize,
        block: &[f64],
        to: &Shared<'_, f64>,
    ) {
        let l = V::LANES;
        let zero = V::splat(i, 0.0);
        for (g, group) in self.positions.chunks_exact(l).enumerate() {
            let mut parts = [[zero; MOST_LANES]; 2];
            for (k, &at) in group.iter().enumerate() {
                let z = load::<V>(i, block, at);
                (parts[0][k], parts[1][k]) = (z[0], z[1]);
            }
            for part in &mut parts {
                V::transpose(&mut part[..l]);
            }
            // SAFETY: pieces of different blocks do not overlap, and the caller excludes others.
            let out = unsafe { to.piece(self.shape.place(g, c), 2 * l * l) };
            let [re, im] = &parts;
            for (k, (&re, &im)) in re.iter().zip(im).enumerate().take(l) {
                store(out, k, [re, im]);
            }
        }
    }

    /// The inverse of [`Self::scatter`].
    ///
    /// # Safety
    /// No other thread may access the columns of the block.
    #[inline(always)]
    unsafe fn gather<V: F64s>(
        &self,
        i: V::Instructions,
        c: usize,
        block: &mut [f64],
        from: &Shared<'_, f64>,
    ) {
        let l = V::LANES;
        let zero = V::splat(i, 0.0);
        for (g, group) in self.positions.chunks_exact(l).enumerate() {
            // SAFETY: pieces of different blocks do not overlap, and the caller excludes others.
            let tile = unsafe { from.piece(self.shape.place(g, c), 2 * l * l) };
            let mut parts = [[zero; MOST_LANES]; 2];
            let [re, im] = &mut parts;
            for (k, (re, im)) in re.iter_mut().zip(im).enumerate().take(l) {
                [*re, *im] = load::<V>(i, tile, k);
            }
            for part in &mut parts {
                V::transpose(&mut part[..l]);
            }
            for (k, &at) in group.iter().enumerate() {
                store(block, at, [parts[0][k], parts[1][k]]);
            }
        }
    }
}

/// Weights the digits of some blocks of columns, and transforms the columns.
pub(super) struct Forward<'a> {
    pub(super) columns: &'a Columns,
    /// All digits, two in each number: the even word in its low half, the odd word in its high half.
    pub(super) digits: &'a [u64],
    pub(super) spectra: &'a Spectra<'a>,
    pub(super) blocks: Range<usize>,
}

impl Kernel for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: F64s>(self, i: V::Instructions) {
        let t = self.columns;
        let [mut complex, mut modular] = t.block();
        let digits: &[f64] = bytemuck::cast_slice(self.digits);
        for c in self.blocks.map(|block| block * V::LANES) {
            for r in 0..t.shape.rows {
                let row = t.words.row::<V>(i, r);
                let d = in_order::<V>(load_one::<V>(i, digits, r * t.shape.columns + c).to_bits());
                let [x, y] = t.words.weigh::<V>(i, d, &row, c);
                store(&mut complex, r, x);
                store(&mut modular, r, y);
            }
            t.complex.forward::<V>(i, &mut complex);
            t.modular.forward::<V>(i, &mut modular);
            // SAFETY: every block is in one range.
            unsafe {
                t.scatter::<V>(i, c, &complex, &self.spectra[0]);
                t.scatter::<V>(i, c, &modular, &self.spectra[1]);
            }
        }
    }
}

/// Transforms some blocks of columns back, and converts the words of the product to digits. The
/// carries run through the rows, from the first block to the last, beginning with 0.
///
/// If `MEASURED`, the output is the largest distance of a quotient of the words from an integer
/// ([`Words::carried`]), otherwise 0.
pub(super) struct Inverse<'a, const MEASURED: bool> {
    pub(super) columns: &'a Columns,
    pub(super) digits: &'a Shared<'a, u64>,
    pub(super) spectra: &'a Spectra<'a>,
    pub(super) blocks: Range<usize>,
    /// The carries out of the last block, one for each row.
    pub(super) carries: &'a mut [i64],
}

impl<const MEASURED: bool> Kernel for Inverse<'_, MEASURED> {
    type Output = f64;

    #[inline(always)]
    fn run<V: F64s>(self, i: V::Instructions) -> f64 {
        let (t, l) = (self.columns, V::LANES);
        let zero = V::splat(i, 0.0);
        let low = V::splat_bits(i, (1 << 32) - 1);
        let mut worst = zero;
        let [mut complex, mut modular] = t.block();
        let carries: &mut [f64] = bytemuck::cast_slice_mut(self.carries);
        for c in self.blocks.map(|block| block * l) {
            // SAFETY: every block is in one range.
            unsafe {
                t.gather::<V>(i, c, &mut complex, &self.spectra[0]);
                t.gather::<V>(i, c, &mut modular, &self.spectra[1]);
            }
            t.complex.inverse::<V>(i, &mut complex);
            t.modular.inverse::<V>(i, &mut modular);
            for r in (0..t.shape.rows).step_by(l) {
                let rows = t.words.rows::<V>(i, r);
                let mut carry = load_one::<V>(i, carries, r);
                // The even words and the odd words, each in FP64 and modulo q.
                let mut parts = [[zero; MOST_LANES]; 4];
                let [x, r_x, y, r_y] = &mut parts;
                let lanes = x.iter_mut().zip(r_x).zip(y).zip(r_y).take(l);
                for (k, (((x, r_x), y), r_y)) in lanes.enumerate() {
                    [*x, *y] = load::<V>(i, &complex, r + k);
                    [*r_x, *r_y] = load::<V>(i, &modular, r + k);
                }
                for part in &mut parts {
                    V::transpose(&mut part[..l]);
                }
                let mut digits = [zero; MOST_LANES];
                for (k, digit) in digits.iter_mut().enumerate().take(l) {
                    let (even, odd) = ([parts[0][k], parts[1][k]], [parts[2][k], parts[3][k]]);
                    let through = [&mut carry, &mut worst];
                    let even = t.words.carried::<V, MEASURED>(i, even, &rows, (c + k, 0), through);
                    let through = [&mut carry, &mut worst];
                    let odd = t.words.carried::<V, MEASURED>(i, odd, &rows, (c + k, 1), through);
                    *digit = V::from_bits(in_order::<V>(even.and(low).or(odd.shift_left::<32>())));
                }
                V::transpose(&mut digits[..l]);
                for (k, row) in digits[..l].iter().enumerate() {
                    // SAFETY: every block is in one range.
                    let out = unsafe { self.digits.piece((r + k) * t.shape.columns + c, l) };
                    store_one(bytemuck::cast_slice_mut(out), 0, *row);
                }
                store_one(carries, r, carry);
            }
        }
        largest_lane(worst)
    }
}

/// Returns two digits of 32 bits in each lane, as they stand in memory, with the first one in the low
/// half; and the other way round.
#[inline(always)]
fn in_order<V: F64s>(digits: V::Integers) -> V::Integers {
    if cfg!(target_endian = "little") {
        return digits;
    }
    digits.shift_left::<32>().or(digits.shift_right::<32>())
}
