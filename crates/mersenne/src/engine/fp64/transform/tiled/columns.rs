//! The column pass: transforms the columns of a block back, rounds the words of the product and
//! propagates carries, weights the digits and transforms them again.
//!
//! All columns of a block are transformed together, in the lanes. Row r·R2 + r' of the words is at
//! place (r, r'), row k + R1·k' of the spectrum at the place of k and k' in the orders of the two
//! FFTs.

use warpint_arith::simd::{F64s, Kernel};

use super::plan::Plan;
use super::shape::{LONGEST_PIECE, ROW, WIDTH};
use super::stages::{Fft, Plain, Scalars, Twist, View};
use crate::engine::fp64::carry::sums::Totals;
use crate::engine::fp64::carry::tiles::{Seen, Subtracted, Tile};
use crate::engine::fp64::digits::integer;
use crate::layout::FormLayout;

/// A number that is subtracted from a product. It is subtracted, as `value`, from the carry into
/// column `column` of row `row`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Injection {
    pub(super) column: usize,
    pub(super) row: usize,
    pub(super) value: f64,
}

/// What is done with a block.
pub(super) enum Work<'a> {
    /// Transforms a block of the spectrum of a product back, and rounds and carries its words. Then
    /// weights the digits and transforms them, unless `to_digits`.
    Release { to_digits: bool, inject: Option<Injection>, seen: &'a mut Seen },
    /// Adds the carries to a block of digits. Then weights the digits and transforms them, unless
    /// `to_digits`.
    Absorb { to_digits: bool, sums: &'a mut Totals },
}

/// The work of the column pass on one block.
pub(super) struct Block<'a> {
    plan: &'a Plan,
    block: usize,
    points: &'a mut [f64],
    tile: *mut f64,
    /// The carry into each row of the block, and then out of it, in the order of the row weights.
    carry: &'a mut [f64],
    work: Work<'a>,
}

impl<'a> Block<'a> {
    /// Describes the work on the block with number `block`, which is in `points`.
    ///
    /// # Safety
    /// `tile` must point to the tile of a worker for the plan's shape, which no one else uses while
    /// the kernel runs.
    ///
    /// # Panics
    /// Panics if `points` is shorter than a block, or `carry` does not have one entry per row.
    pub(super) unsafe fn new(
        plan: &'a Plan,
        block: usize,
        points: &'a mut [f64],
        tile: *mut f64,
        carry: &'a mut [f64],
        work: Work<'a>,
    ) -> Self {
        assert!(points.len() >= plan.shape.stride(), "a block of {} numbers", points.len());
        assert_eq!(carry.len(), plan.shape.row_count(), "carries");
        Self { plan, block, points, tile, carry, work }
    }
}

impl Kernel for Block<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: F64s>(mut self, i: V::Instructions) {
        // SAFETY: the block and the tile are as large as `new` demands.
        unsafe {
            if matches!(self.work, Work::Release { .. }) {
                self.along_r2::<V, true>(i);
            }
            let to_digits = self.along_r1::<V>(i);
            if !to_digits {
                self.along_r2::<V, false>(i);
            }
        }
    }
}

impl Block<'_> {
    /// The view of rows (p, 0), (p, 1), … of the block.
    fn contiguous<V: F64s>(&mut self, p: usize) -> View {
        let at = self.points[p * self.plan.shape.pitch() * ROW..].as_mut_ptr();
        View { at, element: ROW, column: V::LANES, imaginary: WIDTH }
    }

    /// The view of rows (0, q), (1, q), … of the block.
    fn strided<V: F64s>(&mut self, q: usize) -> View {
        let at = self.points[q * ROW..].as_mut_ptr();
        let element = self.plan.shape.pitch() * ROW;
        View { at, element, column: V::LANES, imaginary: WIDTH }
    }

    fn tile<V: F64s>(&self) -> View {
        View { at: self.tile, element: ROW, column: V::LANES, imaginary: WIDTH }
    }

    /// Does the second part of the transforms, over r' < R2; if `INVERSE`, the first part of the
    /// inverse transforms.
    ///
    /// # Safety
    /// As for [`Block::new`].
    #[inline(always)]
    unsafe fn along_r2<V: F64s, const INVERSE: bool>(&mut self, i: V::Instructions) {
        let [r1, r2] = self.plan.shape.rows;
        let fft = &self.plan.row_ffts[1];
        for p in 0..r1 {
            let twiddles = Scalars(self.plan.row_twiddles[p * r2..][..r2].as_ptr());
            let (rows, tile) = (self.contiguous::<V>(p), self.tile::<V>());
            // SAFETY: the block has R1·pitch rows, and the tile R2 rows.
            unsafe {
                if INVERSE {
                    inverse::<V, _>(i, fft, [rows, tile, rows], twiddles);
                } else {
                    forward::<V, _>(i, fft, [rows, tile, rows], twiddles);
                }
            }
        }
    }

    /// Completes the inverse transforms over r < R1, does the carries, and begins the forward
    /// transforms. Returns whether digits were stored instead.
    ///
    /// # Safety
    /// As for [`Block::new`].
    #[inline(always)]
    unsafe fn along_r1<V: F64s>(&mut self, i: V::Instructions) -> bool {
        let plan = self.plan;
        let [r1, r2] = plan.shape.rows;
        let fft = &plan.row_ffts[0];
        let first_column = self.block * WIDTH;
        let factors = plan.factors(self.block);
        let turns = plan.turns.as_ref().map(|turns| Scalars(turns.as_ptr()));
        let mut no_carries = [0.0; LONGEST_PIECE];
        let mut digits = false;
        for q in 0..r2 {
            let (rows, view) = (self.strided::<V>(q), self.tile::<V>());
            let tile = Tile {
                at: self.tile,
                rows: r1,
                weights: &plan.row_weights,
                first: q * r1,
                words: &plan.word_weights[self.block],
                bases: plan.bases,
                factors,
            };
            let mut carry = &mut self.carry[q * r1..][..r1];
            let mut sums_of_tile = &mut Totals::default();
            // SAFETY: the block has R1·pitch rows, the tile R1 rows, and the table of turns R1 entries. The
            // last of these rows in the last tile of the last block has the last words of a residue.
            unsafe {
                let absorbs = match &mut self.work {
                    Work::Release { to_digits, inject, seen } => {
                        match turns {
                            Some(turns) => inverse::<V, _>(i, fft, [rows, view, view], turns),
                            None => inverse::<V, _>(i, fft, [rows, view, view], Plain),
                        }
                        let here = inject.filter(|at| {
                            at.row % r2 == q && at.column / WIDTH == first_column / WIDTH
                        });
                        let subtract = here.map(|at| Subtracted {
                            row: at.row / r2,
                            column: at.column % WIDTH,
                            value: at.value,
                        });
                        digits = *to_digits;
                        let is_last = q + 1 == r2 && self.block + 1 == plan.shape.blocks();
                        let last = plan.form().filter(|_| is_last);
                        if digits || last.is_some() {
                            tile.release::<V, false>(i, subtract, carry, seen);
                        } else {
                            tile.release::<V, true>(i, subtract, carry, seen);
                        }
                        if let Some(layout) = last {
                            divide_carry(layout, self.tile.add((r1 - 1) * ROW), &mut carry[r1 - 1]);
                            carry = &mut no_carries[..r1];
                        }
                        last.is_some() && !digits
                    }
                    Work::Absorb { to_digits, sums } => {
                        copy::<V>(i, r1, rows, view);
                        digits = *to_digits;
                        sums_of_tile = sums;
                        true
                    }
                };
                if absorbs && digits {
                    tile.absorb::<V, false>(i, carry, sums_of_tile);
                } else if absorbs {
                    tile.absorb::<V, true>(i, carry, sums_of_tile);
                }
                match turns {
                    _ if digits => copy::<V>(i, r1, view, rows),
                    Some(turns) => forward::<V, _>(i, fft, [view, view, rows], turns),
                    None => forward::<V, _>(i, fft, [view, view, rows], Plain),
                }
            }
        }
        digits
    }
}

/// Adds the part r·2^n of the carry out of the last word to the digits of the last words, which are in the
/// row at `row`, and sets the carry to −c·q ([`FormLayout::divided_carry`]).
///
/// # Safety
/// The row must be valid for reading and writing.
#[cold]
unsafe fn divide_carry(layout: &FormLayout, row: *mut f64, carry: &mut f64) {
    // A carry that is no integer follows from words that could not be rounded; the product is then reported
    // as an error.
    let (first, r) = layout.divided_carry(*carry as i64);
    *carry = first as f64;
    // SAFETY: the caller's promise: a row has ROW numbers.
    let row = unsafe { std::slice::from_raw_parts_mut(row, ROW) };
    let mut words: [i32; ROW] = std::array::from_fn(|j| integer(row[j % 2 * WIDTH + j / 2]));
    layout.add_at_exponent(&mut words, r);
    for (j, &word) in words.iter().enumerate() {
        row[j % 2 * WIDTH + j / 2] = f64::from(word);
    }
}

/// Executes [`Fft::forward`] on [`WIDTH`] columns.
///
/// # Safety
/// As for [`Fft::forward`].
#[inline(always)]
unsafe fn forward<V: F64s, T: Twist>(i: V::Instructions, fft: &Fft, views: [View; 3], twist: T) {
    // SAFETY: the caller's promise.
    unsafe {
        if V::LANES == WIDTH {
            fft.forward::<V, T, 1>(i, views, twist);
        } else {
            fft.forward::<V, T, 2>(i, views, twist);
        }
    }
}

/// Executes [`Fft::inverse`] on [`WIDTH`] columns.
///
/// # Safety
/// As for [`Fft::inverse`].
#[inline(always)]
unsafe fn inverse<V: F64s, T: Twist>(i: V::Instructions, fft: &Fft, views: [View; 3], twist: T) {
    // SAFETY: the caller's promise.
    unsafe {
        if V::LANES == WIDTH {
            fft.inverse::<V, T, 1>(i, views, twist);
        } else {
            fft.inverse::<V, T, 2>(i, views, twist);
        }
    }
}

/// Copies `rows` rows of [`WIDTH`] columns.
///
/// # Safety
/// Both views must be accessible to the caller alone for elements below `rows`.
#[inline(always)]
unsafe fn copy<V: F64s>(i: V::Instructions, rows: usize, from: View, to: View) {
    for e in 0..rows {
        for at in (0..ROW).step_by(V::LANES) {
            // SAFETY: the caller's promise; a row has ROW consecutive numbers.
            unsafe {
                let x = V::load(i, from.at.add(e * from.element + at));
                x.store(to.at.add(e * to.element + at));
            }
        }
    }
}
