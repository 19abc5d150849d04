//! The row pass: transforms pairs of rows, squares them, and transforms them back.
//!
//! Let y be a row with index k1 after the transforms of the columns, and k = k1 + R·k2 an index of
//! the spectrum Z. With e(x) = e^(−2πi·x), Z_k = Σ_c e(c·k2/C)·e(c·k1/n)·y_c. Let y' be row R − k1.
//! The conjugate of the partner of Z_k is conj Z_(n−k) = Σ_c e(c·k2/C)·e(c·k1/n)·conj y'_c. So the
//! conjugate of row R − k1 is transformed exactly as row k1 is, and partners are then at equal
//! positions. Rows 0 and R/2 are paired with themselves. Both results of such a pair are the same
//! row.
//!
//! The vectors have one pair of rows in each lane. With c = c1·C2 + c2 and k2 = k + C1·k', the
//! factors are e(c·k1/n)·e(c2·k/C)·e(c1·k/C1)·e(c2·k'/C2).

use warpint_arith::simd::{F64s, Kernel, prefetch};

use super::complex::C64s;
use super::plan::Plan;
use super::shape::{ROW, WIDTH};
use super::stages::{Plain, Vectors, View};
use super::worker::Worker;
use crate::engine::fp64::transform::buffer::words;

/// The work of the row pass on [`WIDTH`] pairs of rows.
pub(super) struct RowGroup<'a> {
    plan: &'a Plan,
    group: usize,
    points: *mut f64,
    worker: &'a mut Worker,
}

impl<'a> RowGroup<'a> {
    /// Describes the work on pairs 8·`group` to 8·`group` + 7.
    ///
    /// # Safety
    /// `points` must point to all blocks of a transform with this plan. No other
    /// thread may access the rows of these pairs while the kernel runs.
    pub(super) unsafe fn new(
        plan: &'a Plan,
        group: usize,
        points: *mut f64,
        worker: &'a mut Worker,
    ) -> Self {
        assert!((group + 1) * WIDTH <= plan.pairs.len(), "no such pairs");
        Self { plan, group, points, worker }
    }
}

/// The constants and the working memory of `V::LANES` pairs.
struct Lanes<'a> {
    plan: &'a Plan,
    pairs: &'a [[usize; 2]],
    /// e(c·C2·k1/n), e(c·k1/n) and e(k1/n), from the first of these lanes on.
    coarse: *const f64,
    fine: *const f64,
    root: *const f64,
    tile: *mut f64,
    twist: *mut f64,
}

impl Kernel for RowGroup<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: F64s>(self, i: V::Instructions) {
        let Self { plan, group, points, worker } = self;
        let [c1, c2] = plan.shape.columns;
        let first = group * WIDTH;
        for part in (0..WIDTH).step_by(V::LANES) {
            if first + part >= plan.distinct_pairs {
                break;
            }
            let table = |table: &[_], entries: usize| {
                words(table)[group * entries * ROW..][..entries * ROW][part..].as_ptr()
            };
            let lanes = Lanes {
                plan,
                pairs: &plan.pairs[first + part..][..V::LANES],
                coarse: table(&plan.coarse, c1),
                fine: table(&plan.fine, c2),
                root: table(&plan.roots, 1),
                tile: worker.tile(),
                twist: worker.twist(),
            };
            let rows = worker.rows();
            // SAFETY: the creator's promise about the points. The working memory is as large as
            // `Worker` describes.
            unsafe {
                lanes.fetch::<V>(i, points, rows);
                lanes.square::<V>(i, rows);
                lanes.put_back::<V>(i, rows, points);
            }
        }
    }
}

impl Lanes<'_> {
    /// The view of elements c, C2 + c, 2·C2 + c, … of a row in working memory; its columns are the
    /// elements that follow.
    fn strided<V: F64s>(&self, row: *mut f64, c: usize) -> View {
        let element = 2 * V::LANES;
        // SAFETY: c < C2, and rows in working memory have more elements.
        let at = unsafe { row.add(c * element) };
        let pitch = self.plan.shape.row_pitch();
        View { at, element: pitch * element, column: element, imaginary: V::LANES }
    }

    /// The view of [`WIDTH`] columns in the tile.
    fn piece<V: F64s>(&self) -> View {
        let column = 2 * V::LANES;
        View { at: self.tile, element: WIDTH * column, column, imaginary: V::LANES }
    }

    /// Copies the rows of the pairs to working memory, with one pair in each lane, and does the
    /// first part of their transforms: multiplies them by e(c1·C2·k1/n) and transforms them over
    /// c1. Takes the conjugates of the second rows.
    ///
    /// # Safety
    /// `points` must point to all blocks, and the caller must have exclusive access to the rows.
    /// `rows` must be working memory for a pair of rows.
    #[inline(always)]
    unsafe fn fetch<V: F64s>(&self, i: V::Instructions, points: *const f64, rows: [*mut f64; 2]) {
        for c in (0..self.plan.shape.columns[1]).step_by(WIDTH) {
            // SAFETY: the caller's promise; the tile has room for C1·WIDTH vectors.
            unsafe {
                self.fetch_piece::<V, 0>(i, points, c);
                let views = [self.piece::<V>(), self.piece::<V>(), self.strided::<V>(rows[0], c)];
                self.plan.column_ffts[0].forward::<V, _, WIDTH>(i, views, Plain);
                self.fetch_piece::<V, 1>(i, points, c);
                let views = [self.piece::<V>(), self.piece::<V>(), self.strided::<V>(rows[1], c)];
                self.plan.column_ffts[0].forward::<V, _, WIDTH>(i, views, Plain);
            }
        }
    }

    /// Copies the columns c1·C2 + c + w with c1 < C1 and w < [`WIDTH`] of the rows number `SIDE` of
    /// the pairs to the tile, times e(c1·C2·k1/n).
    ///
    /// # Safety
    /// As for [`Self::fetch`].
    #[inline(always)]
    unsafe fn fetch_piece<V: F64s, const SIDE: usize>(
        &self,
        i: V::Instructions,
        points: *const f64,
        c: usize,
    ) {
        let shape = &self.plan.shape;
        let ([c1, c2], stride) = (shape.columns, shape.stride());
        let mut re = [V::splat(i, 0.0); WIDTH];
        let mut im = re;
        for coarse in 0..c1 {
            let block = (coarse * c2 + c) / WIDTH * stride;
            // SAFETY: the table has C1 entries, and the caller's promise.
            unsafe {
                let w = C64s::<V>::load(i, self.coarse.add(coarse * ROW), WIDTH);
                for pair in self.pairs {
                    // The same rows in the next block. Behind the last block the address may lie
                    // outside the points, which does no harm.
                    let next = points.wrapping_add(block + stride + pair[SIDE]);
                    prefetch(next);
                    prefetch(next.wrapping_add(WIDTH));
                }
                for half in (0..WIDTH).step_by(V::LANES) {
                    for (lane, pair) in self.pairs.iter().enumerate() {
                        let at = points.add(block + pair[SIDE] + half);
                        re[lane] = V::load(i, at);
                        im[lane] = V::load(i, at.add(WIDTH));
                    }
                    V::transpose(&mut re[..V::LANES]);
                    V::transpose(&mut im[..V::LANES]);
                    for lane in 0..V::LANES {
                        let z = C64s { re: re[lane], im: im[lane] };
                        let z = if SIDE == 0 { z.mul(w) } else { z.conj().mul(w) };
                        let to = (coarse * WIDTH + half + lane) * 2 * V::LANES;
                        z.store(self.tile.add(to), V::LANES);
                    }
                }
            }
        }
    }

    /// Completes the transforms over c2, squares, and begins the inverse transforms.
    ///
    /// # Safety
    /// `rows` must be working memory for a pair of rows, which [`Self::fetch`] has filled.
    #[inline(always)]
    unsafe fn square<V: F64s>(&self, i: V::Instructions, rows: [*mut f64; 2]) {
        let [c1, c2] = self.plan.shape.columns;
        let element = 2 * V::LANES;
        let fft = &self.plan.column_ffts[1];
        let pitch = self.plan.shape.row_pitch();
        // SAFETY: the table has one entry for each group of pairs.
        let root = unsafe { C64s::<V>::load(i, self.root, WIDTH) };
        for piece in 0..c1 {
            let twiddles = &self.plan.column_twiddles[piece * c2..][..c2];
            let quarter = &self.plan.quarter[piece * c2..][..c2];
            let tile =
                View { at: self.tile, element: 2 * element, column: element, imaginary: V::LANES };
            // SAFETY: the tables `fine` and `twist` have C2 entries. The rows have C1·`pitch`
            // elements. The tile has room for 2·C2 vectors of complex numbers.
            unsafe {
                for (c, &w) in twiddles.iter().enumerate() {
                    let fine = C64s::<V>::load(i, self.fine.add(c * ROW), WIDTH);
                    let w = fine.mul(C64s::splat(i, w));
                    w.store(self.twist.add(c * element), V::LANES);
                }
                let view = View {
                    at: rows[0].add(piece * pitch * element),
                    element,
                    column: rows[1].offset_from_unsigned(rows[0]),
                    imaginary: V::LANES,
                };
                fft.forward::<V, _, 2>(i, [view, tile, tile], Vectors(self.twist));
                combine(i, tile, root, quarter);
                fft.inverse::<V, _, 2>(i, [tile, tile, view], Vectors(self.twist));
            }
        }
    }

    /// The inverse of [`Self::fetch`], up to the factor C1.
    ///
    /// # Safety
    /// As for [`Self::fetch`].
    #[inline(always)]
    unsafe fn put_back<V: F64s>(&self, i: V::Instructions, rows: [*mut f64; 2], points: *mut f64) {
        for c in (0..self.plan.shape.columns[1]).step_by(WIDTH) {
            // SAFETY: the caller's promise; the tile has room for C1·WIDTH vectors.
            unsafe {
                let views = [self.strided::<V>(rows[0], c), self.piece::<V>(), self.piece::<V>()];
                self.plan.column_ffts[0].inverse::<V, _, WIDTH>(i, views, Plain);
                self.store_piece::<V, 0>(i, points, c);
                let views = [self.strided::<V>(rows[1], c), self.piece::<V>(), self.piece::<V>()];
                self.plan.column_ffts[0].inverse::<V, _, WIDTH>(i, views, Plain);
                self.store_piece::<V, 1>(i, points, c);
            }
        }
    }

    /// The inverse of [`Self::fetch_piece`].
    ///
    /// # Safety
    /// As for [`Self::fetch`].
    #[inline(always)]
    unsafe fn store_piece<V: F64s, const SIDE: usize>(
        &self,
        i: V::Instructions,
        points: *mut f64,
        c: usize,
    ) {
        let shape = &self.plan.shape;
        let ([c1, c2], stride) = (shape.columns, shape.stride());
        let mut re = [V::splat(i, 0.0); WIDTH];
        let mut im = re;
        for coarse in 0..c1 {
            let block = (coarse * c2 + c) / WIDTH * stride;
            // SAFETY: the table has C1 entries, and the caller's promise.
            unsafe {
                let w = C64s::<V>::load(i, self.coarse.add(coarse * ROW), WIDTH);
                for pair in self.pairs {
                    // The same rows in the next block. Behind the last block the address may lie
                    // outside the points, which does no harm.
                    let next = points.wrapping_add(block + stride + pair[SIDE]);
                    prefetch(next);
                    prefetch(next.wrapping_add(WIDTH));
                }
                for half in (0..WIDTH).step_by(V::LANES) {
                    for lane in 0..V::LANES {
                        let from = (coarse * WIDTH + half + lane) * 2 * V::LANES;
                        let z = C64s::load(i, self.tile.add(from), V::LANES).mul_conj(w);
                        let z = if SIDE == 0 { z } else { z.conj() };
                        (re[lane], im[lane]) = (z.re, z.im);
                    }
                    V::transpose(&mut re[..V::LANES]);
                    V::transpose(&mut im[..V::LANES]);
                    for (lane, pair) in self.pairs.iter().enumerate() {
                        let at = points.add(block + pair[SIDE] + half);
                        re[lane].store(at);
                        im[lane].store(at.add(WIDTH));
                    }
                }
            }
        }
    }
}

/// Replaces each A and B in the two columns of `tile` by A² − t·D² and B² − t·D², with D = A − B and
/// t = `root`·`quarter` + ¼. The formulas are those of the module `pairing`.
///
/// # Safety
/// The view must be accessible to the caller alone for as many elements as `quarter` has.
#[inline(always)]
unsafe fn combine<V: F64s>(i: V::Instructions, tile: View, root: C64s<V>, quarter: &[[f64; 2]]) {
    let add = V::splat(i, 0.25);
    for (e, &[re, im]) in quarter.iter().enumerate() {
        // SAFETY: the caller's promise.
        unsafe {
            let at = tile.at.add(e * tile.element);
            let (a, b) = (
                C64s::<V>::load(i, at, tile.imaginary),
                C64s::<V>::load(i, at.add(tile.column), tile.imaginary),
            );
            let (re, im) = (V::splat(i, re), V::splat(i, im));
            let t = C64s {
                re: im.neg_mul_add(root.im, re.mul_add(root.re, add)),
                im: re.mul_add(root.im, im.mul(root.re)),
            };
            let q = t.mul(squared(a.sub(b)));
            squared(a).sub(q).store(at, tile.imaginary);
            squared(b).sub(q).store(at.add(tile.column), tile.imaginary);
        }
    }
}

/// Returns a².
#[inline(always)]
fn squared<V: F64s>(a: C64s<V>) -> C64s<V> {
    C64s { re: a.re.mul_sub(a.re, a.im.mul(a.im)), im: a.re.add(a.re).mul(a.im) }
}
