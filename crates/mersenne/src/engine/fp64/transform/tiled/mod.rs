//! Transforms with explicit vectors, in two passes over memory per squaring.
//!
//! As in [`row_column`](super::row_column), the n = N/2 = R·C points z of a residue of N words are
//! arranged in R rows of C points, and the spectrum X[k1 + R·k2] stays in row k1. The transforms of
//! the rows and of the columns are divided once more, into R1·R2 and C1·C2, so that the parts fit
//! the first-level cache. A squaring consists of two passes:
//!
//! | pass | of | work |
//! |---|---|---|
//! | [`rows`] | pairs of rows k1 and R − k1, one in each lane | twiddle, FFT, square, inverse FFT, twiddle |
//! | [`columns`] | blocks of 8 columns, one in each lane | inverse FFT, unweight, round, carry, weight, FFT |
//!
//! In the column pass each row is a carry chain of its own ([`tiles`](crate::engine::fp64::carry)),
//! which runs through the blocks from left to right and then into the next row. Adjacent blocks form
//! *groups*, and the chains of each group start with a carry of 0. The words of the first block of a
//! group are left as digits at first. They are weighted and transformed when the carries out of the
//! preceding group are known. The groups depend on the transform length only, so no bit of the
//! result depends on the number of threads.
//!
//! In memory the points lie block by block, within a block row by row, and in a row the eight real
//! parts are before the eight imaginary parts. This order serves vectors of four and of eight lanes.

mod butterfly;
mod columns;
mod complex;
mod plan;
mod rows;
pub(crate) mod shape;
mod stages;
#[cfg(test)]
mod tests;
mod worker;

use std::ops::Range;

use warpint_arith::simd;

use self::columns::{Block, Injection, Work};
use self::plan::Plan;
use self::rows::RowGroup;
use self::shape::{ROW, Shape, WIDTH};
use self::worker::Worker;
use super::Transform;
use super::buffer::{Buffer, words, words_mut};
use super::team::Team;
use crate::engine::fp64::carry::tiles::Seen;
use crate::engine::fp64::carry::{Observed, Subtrahend};
use crate::layout::WordLayout;

/// The least number of blocks of a group.
const BLOCKS_OF_GROUP: usize = 8;

/// A transform of N words as N/2 complex points in rows and columns.
pub(crate) struct Tiled {
    plan: Plan,
    points: Buffer,
    factor: Option<Buffer>,
    groups: Vec<Group>,
    team: Team<Worker>,
}

/// A run of adjacent blocks of columns. One thread processes them in order, and carries run through
/// them without a break.
struct Group {
    blocks: Range<usize>,
    /// The carries out of the last block of the group, one for each row, in the order of the row
    /// weights.
    carry: Vec<f64>,
    seen: Seen,
}

/// A pointer to the points, for threads that access different rows.
#[derive(Clone, Copy)]
struct Points(*mut f64);

// SAFETY: the pointer is only passed to `RowGroup::new`, whose contract excludes that two threads
// access the same row.
unsafe impl Send for Points {}
// SAFETY: as above.
unsafe impl Sync for Points {}

impl Points {
    fn of(buffer: &mut Buffer) -> Self {
        Self(words_mut(buffer).as_mut_ptr())
    }

    fn get(self) -> *mut f64 {
        self.0
    }
}

impl Tiled {
    /// Creates a transform of the given shape. Returns an error if the threads cannot be started,
    /// or if a part of the shape has prime factors above 7.
    ///
    /// # Panics
    /// Panics unless the shape has N/2 points for the N words of the layout, R1 and C2 are multiples
    /// of 8, and all parts are at least 2.
    pub(crate) fn new(layout: WordLayout, shape: Shape, threads: usize) -> Result<Self, String> {
        let plan = Plan::new(layout, shape).ok_or_else(|| format!("no FFTs for {shape:?}"))?;
        let blocks = shape.blocks();
        let per_group = blocks.div_ceil((blocks / BLOCKS_OF_GROUP).clamp(1, 64));
        let groups = (0..blocks)
            .step_by(per_group)
            .map(|first| Group {
                blocks: first..(first + per_group).min(blocks),
                carry: vec![0.0; shape.row_count()],
                seen: Seen::default(),
            })
            .collect();
        let team = Team::new(threads, || Worker::new(&shape))?;
        Ok(Self { points: buffer(&shape), factor: None, plan, groups, team })
    }

    /// Executes the row pass: transforms every pair of rows, squares the rows, and transforms them
    /// back. If `by_factor` is true, multiplies the rows by the second factor instead of squaring
    /// them.
    fn row_pass(&mut self, by_factor: bool) {
        let plan = &self.plan;
        let points = Points::of(&mut self.points);
        let factor = self.factor.as_mut().filter(|_| by_factor).map(Points::of);
        self.team.share(0..plan.pairs.len() / WIDTH, |worker, group| {
            let factor = factor.map(Points::get);
            // SAFETY: both buffers have all blocks, and every row belongs to one pair only.
            simd::run(unsafe { RowGroup::new(plan, group, points.get(), factor, worker) });
        });
    }

    /// Executes the column pass: transforms columns back, rounds the words of the product and
    /// propagates carries. Then, unless `to_digits`, weights the words and transforms them again.
    /// Returns the round-off.
    fn column_pass(&mut self, subtract: Option<Subtrahend>, to_digits: bool) -> f64 {
        let plan = &self.plan;
        let inject = subtract.map(|s| plan.injection(s));
        let stride = plan.shape.stride();
        let per_group = self.groups.first().map_or(1, |g| g.blocks.len());
        let points = words_mut(&mut self.points);
        self.team.share(
            self.groups.iter_mut().zip(points.chunks_mut(per_group * stride)),
            |worker, (group, points)| {
                group.carry.fill(0.0);
                group.seen = Seen::default();
                for (block, points) in group.blocks.clone().zip(points.chunks_mut(stride)) {
                    let to_digits = to_digits || block == group.blocks.start;
                    let work = Work::Release { to_digits, inject, seen: &mut group.seen };
                    let (tile, carry) = (worker.tile(), &mut group.carry);
                    // SAFETY: the tile is the worker's.
                    simd::run(unsafe { Block::new(plan, block, points, tile, carry, work) });
                }
            },
        );
        if let Some(last) = self.groups.last_mut() {
            plan.to_next_row(&mut last.carry);
        }
        let groups = &self.groups;
        let firsts = points.chunks_mut(per_group * stride).enumerate();
        self.team.share(firsts, |worker, (g, points)| {
            let before = &groups[(g + groups.len() - 1) % groups.len()].carry;
            worker.carry.copy_from_slice(before);
            let (tile, carry) = (worker.tile(), &mut worker.carry);
            let work = Work::Absorb { to_digits };
            // SAFETY: the tile is the worker's.
            let block =
                unsafe { Block::new(plan, groups[g].blocks.start, points, tile, carry, work) };
            simd::run(block);
        });
        let observed = Observed {
            largest: groups.iter().flat_map(|g| g.seen.errors).fold(0.0, f64::max),
            energy: groups.iter().flat_map(|g| g.seen.energy).sum(),
            foreign: groups.iter().fold(0, |all, g| all | g.seen.foreign()),
        };
        observed.round_off(plan.layout.len())
    }

    /// Copies the digits of the product from the points to `digits`. The last call of
    /// [`Self::column_pass`] must have had `to_digits`, so that the points contain digits.
    fn store(&mut self, digits: &mut [i32]) {
        let (shape, points) = (&self.plan.shape, words(&self.points));
        self.team.share(digits.chunks_mut(2 * shape.column_count()).enumerate(), |_, (r, row)| {
            for (block, words) in points.chunks(shape.stride()).zip(row.chunks_mut(ROW)) {
                let points = &block[shape.place(r)..][..ROW];
                for (w, pair) in words.chunks_exact_mut(2).enumerate() {
                    // The values are integers; they are out of range only after a round-off error.
                    pair[0] = points[w] as i32;
                    pair[1] = points[WIDTH + w] as i32;
                }
            }
        });
    }
}

/// Returns memory for all blocks of a transform.
fn buffer(shape: &Shape) -> Buffer {
    Buffer::new(shape.blocks() * shape.stride() / 2)
}

impl Transform for Tiled {
    fn load(&mut self, digits: &[i32]) {
        self.plan.load(&mut self.points, digits, &mut self.team);
    }

    fn square(&mut self, subtract: Option<Subtrahend>) -> f64 {
        self.row_pass(false);
        self.column_pass(subtract, false)
    }

    fn square_into(&mut self, subtract: Option<Subtrahend>, digits: &mut [i32]) -> f64 {
        self.row_pass(false);
        let error = self.column_pass(subtract, true);
        self.store(digits);
        error
    }

    fn load_factor(&mut self, digits: &[i32]) {
        let shape = &self.plan.shape;
        let factor = self.factor.get_or_insert_with(|| buffer(shape));
        self.plan.load(factor, digits, &mut self.team);
    }

    fn multiply_into(&mut self, digits: &mut [i32]) -> f64 {
        self.row_pass(true);
        let error = self.column_pass(None, true);
        self.store(digits);
        error
    }
}

impl Plan {
    fn injection(&self, s: Subtrahend) -> Injection {
        let width = 2 * self.shape.column_count();
        let (row, i) = (s.word / width, s.word % width);
        // The number is subtracted from the carry into an even word. So what is subtracted from an
        // odd word is taken from the word before it, in units of that word's end.
        let below = if i % 2 == 0 { 0 } else { self.layout.bits(s.word - 1) };
        Injection { column: i / 2, row, value: (1u64 << (s.bit + 1 + below)) as f64 }
    }

    /// Turns the carries out of the last words of the rows into carries into the first words. The
    /// carries are in the order of the row weights.
    fn to_next_row(&self, carry: &mut [f64]) {
        let r1 = self.shape.rows[0];
        carry.rotate_right(r1);
        carry[..r1].rotate_right(1);
    }

    /// Weights the digits, transforms the columns, and writes them to `points`.
    fn load(&self, points: &mut Buffer, digits: &[i32], team: &mut Team<Worker>) {
        let shape = &self.shape;
        let blocks = words_mut(points).chunks_mut(shape.stride()).enumerate();
        team.share(blocks, |worker, (block, points)| {
            for (r, row) in digits.chunks(2 * shape.column_count()).enumerate() {
                let to = &mut points[shape.place(r)..][..ROW];
                for (w, pair) in row[block * ROW..][..ROW].chunks_exact(2).enumerate() {
                    (to[w], to[WIDTH + w]) = (f64::from(pair[0]), f64::from(pair[1]));
                }
            }
            worker.carry.fill(0.0);
            let (tile, carry) = (worker.tile(), &mut worker.carry);
            let work = Work::Absorb { to_digits: false };
            // SAFETY: the tile is the worker's.
            simd::run(unsafe { Block::new(self, block, points, tile, carry, work) });
        });
    }
}
