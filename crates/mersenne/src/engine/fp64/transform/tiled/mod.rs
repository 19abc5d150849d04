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
//! Negacyclic convolutions have the same passes. Their spectrum is Z_k = Σ_j e(j·(k + ½)/n)·z_j, whose
//! points k and n − 1 − k are partners. In row r of the points, r·C + c, the additional factor is
//! e(r/2R)·e(c/2n). Its parts are factors before the first FFT of the columns ([`Plan::turns`]), and parts of
//! twiddles.
//!
//! If the number is not a Mersenne number, the carry out of the last word is divided by k
//! ([`form`](crate::engine::fp64::form)): the remainder goes into the last words, before the last tile of the
//! column pass is weighted, and the quotient into word 0.
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

use multiversion::multiversion;
use warpint_arith::simd;

use self::columns::{Block, Injection, Work};
use self::plan::{Packing, Plan};
use self::rows::RowGroup;
use self::shape::{ROW, Shape, WIDTH};
use self::worker::Worker;
use super::Transform;
use super::buffer::{Buffer, words, words_mut};
use super::team::Team;
use crate::engine::fp64::carry::sums::{Sums, Totals};
use crate::engine::fp64::carry::tiles::Seen;
use crate::engine::fp64::carry::{Observed, Subtrahend};
use crate::engine::fp64::digits::{self, PARTS, Part, RUN, Run, Start, integer};
use crate::engine::fp64::flip::{Flip, Place, choose, flip_f64};
use crate::engine::fp64::words::Words;
use crate::engine::squares::Root;

/// The least number of blocks of a group.
const BLOCKS_OF_GROUP: usize = 8;

/// A transform of N words as N/2 complex points in rows and columns.
pub(crate) struct Tiled {
    plan: Plan,
    points: Buffer,
    groups: Vec<Group>,
    team: Team<Worker>,
    sums: Sums,
    flip: Option<Flip>,
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
    /// Panics unless the shape has N/2 points for the N words of a residue, R1 and C2 are multiples
    /// of 8, all parts are at least 2, and the words of a residue modulo k·2^n ± 1 have at least
    /// [`SHORTEST_WORD`](crate::engine::fp64::form::SHORTEST_WORD) bits.
    pub(crate) fn new(
        words: impl Into<Words>,
        shape: Shape,
        threads: usize,
    ) -> Result<Self, String> {
        let plan =
            Plan::new(words.into(), shape).ok_or_else(|| format!("no FFTs for {shape:?}"))?;
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
        let points = Buffer::new(blocks * shape.stride() / 2);
        Ok(Self { plan, points, groups, team, sums: Sums::default(), flip: None })
    }

    /// Computes the square of the loaded residue, minus the subtrahend: its digits if `to_digits`, and
    /// otherwise their spectrum. Returns the round-off.
    fn product(&mut self, subtract: Option<Subtrahend>, to_digits: bool) -> f64 {
        let flip = self.flip.take();
        let at = |place| flip.and_then(|flip| flip.at(place));
        if let Some(bit) = at(Place::Tables) {
            self.plan.flip(bit);
        }
        if let Some(bit) = at(Place::Spectrum).filter(|bit| bit % 2 == 0) {
            flip_f64(words_mut(&mut self.points), bit / 2);
        }
        self.row_pass();
        if let Some(bit) = at(Place::Spectrum).filter(|bit| bit % 2 == 1) {
            flip_f64(words_mut(&mut self.points), bit / 2);
        }
        let error = self.column_pass(subtract, to_digits, flip);
        if let Some(bit) = at(Place::Digits).filter(|_| to_digits) {
            flip_f64(words_mut(&mut self.points), bit);
        }
        error
    }

    /// Executes the row pass: transforms every pair of rows, squares the rows, and transforms them
    /// back.
    fn row_pass(&mut self) {
        let plan = &self.plan;
        let points = Points::of(&mut self.points);
        self.team.share(0..plan.pairs.len() / WIDTH, |worker, group| {
            // SAFETY: the buffer has all blocks, and every row belongs to one pair only.
            simd::run(unsafe { RowGroup::new(plan, group, points.get(), worker) });
        });
    }

    /// Executes the column pass: transforms columns back, rounds the words of the product and
    /// propagates carries. Then, unless `to_digits`, weights the words and transforms them again.
    /// Returns the round-off. Flips a bit of a carry that a block leaves to the next, or of a word that
    /// waits for carries, if `flip` is there.
    fn column_pass(
        &mut self,
        subtract: Option<Subtrahend>,
        to_digits: bool,
        flip: Option<Flip>,
    ) -> f64 {
        let at = |place| flip.and_then(|flip| flip.at(place));
        let blocks = self.groups.last().map_or(1, |group| group.blocks.end);
        let in_carry = at(Place::Carries).map(|bit| choose(bit, blocks));
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
                    if block == group.blocks.start {
                        // The digits change when the carries into the group are added.
                        group.seen.sums.clear_digits();
                    }
                    if let Some((_, bit)) = in_carry.filter(|&(of, _)| of == block) {
                        flip_f64(&mut group.carry, bit);
                    }
                }
            },
        );
        if let Some(last) = self.groups.last_mut() {
            plan.to_next_row(&mut last.carry);
        }
        self.team.workers().iter_mut().for_each(|worker| worker.sums = Totals::default());
        if let Some(bit) = at(Place::Digits).filter(|_| !to_digits) {
            let (group, bit) = choose(bit, self.groups.len());
            flip_f64(&mut points[group * per_group * stride..][..stride], bit);
        }
        let groups = &self.groups;
        let firsts = points.chunks_mut(per_group * stride).enumerate();
        self.team.share(firsts, |worker, (g, points)| {
            let before = &groups[(g + groups.len() - 1) % groups.len()].carry;
            worker.carry.copy_from_slice(before);
            let tile = worker.tile();
            let work = Work::Absorb { to_digits, sums: &mut worker.sums };
            let carry = &mut worker.carry;
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
        let round_off = observed.round_off(plan.len());
        let released = groups.iter().map(|group| group.seen.sums.sums());
        let released = released.fold(Sums::default(), Sums::plus);
        self.sums = released.plus(self.absorbed());
        round_off
    }

    /// Returns the sums over the blocks to which carries were added last.
    fn absorbed(&mut self) -> Sums {
        let workers = self.team.workers().iter();
        workers.map(|worker| worker.sums.sums()).fold(Sums::default(), Sums::plus)
    }

    /// Packs the digits of the square, which are in the points, into x. The last call of
    /// [`Self::column_pass`] must have had `to_digits`, so that the points contain digits.
    fn store(&mut self, x: &mut Vec<u64>) {
        let (plan, points, team) = (&self.plan, words(&self.points), &mut self.team);
        let shape = &plan.shape;
        match &plan.packing {
            Packing::Mersenne { layout, starts, runs } => {
                let width = 2 * shape.column_count() * shape.row_count().div_ceil(PARTS);
                digits::pack(layout, x, width, |parts| {
                    team.share(parts, |_, part| pack(shape, starts, runs, points, part));
                });
            }
            Packing::Form(stored) => {
                let mut digits = vec![0; plan.len()];
                collect(shape, points, &mut digits);
                *x = stored.load(&digits);
            }
        }
    }
}

/// Returns the digits of the 16 words of a row of a block.
#[inline(always)]
fn digits_of(points: &[f64]) -> [i32; RUN] {
    let points = &points[..ROW];
    let mut digits = [0; RUN];
    for w in 0..WIDTH {
        digits[2 * w] = integer(points[w]);
        digits[2 * w + 1] = integer(points[WIDTH + w]);
    }
    digits
}

/// Writes the digits of 16 words to a row of a block.
#[inline(always)]
fn put_digits(digits: &[i32; RUN], points: &mut [f64]) {
    let points = &mut points[..ROW];
    for w in 0..WIDTH {
        points[w] = f64::from(digits[2 * w]);
        points[WIDTH + w] = f64::from(digits[2 * w + 1]);
    }
}

/// Packs the digits of a part, which are in the points.
#[multiversion(targets("x86_64+avx2+fma+bmi1+bmi2+lzcnt"))]
fn pack(shape: &Shape, starts: &[Start], runs: &[Run], points: &[f64], mut part: Part<'_>) {
    let width = 2 * shape.column_count();
    let rows = part.words.start / width..part.words.end / width;
    for (r, &start) in rows.clone().zip(&starts[rows]) {
        let place = shape.place(r);
        for (block, run) in points.chunks_exact(shape.stride()).zip(runs) {
            part.push(run, start, &digits_of(&block[place..]));
        }
    }
    part.end();
}

/// Writes the digits of the residue x in the words of a run of each row to the points of a block.
#[multiversion(targets("x86_64+avx2+fma+bmi1+bmi2+lzcnt"))]
fn unpack(shape: &Shape, starts: &[Start], run: &Run, x: &[u64], points: &mut [f64]) {
    for (r, &start) in starts.iter().enumerate() {
        put_digits(&run.digits(x, start), &mut points[shape.place(r)..]);
    }
}

/// Copies the digits, which are in the points, to `digits` in the order of words.
#[multiversion(targets("x86_64+avx2+fma+bmi1+bmi2+lzcnt"))]
fn collect(shape: &Shape, points: &[f64], digits: &mut [i32]) {
    for (r, row) in digits.chunks_exact_mut(2 * shape.column_count()).enumerate() {
        let place = shape.place(r);
        for (block, run) in points.chunks_exact(shape.stride()).zip(row.chunks_exact_mut(RUN)) {
            run.copy_from_slice(&digits_of(&block[place..]));
        }
    }
}

/// Copies the digits of the words of a block from `digits`, which is in the order of words, to its points.
#[multiversion(targets("x86_64+avx2+fma+bmi1+bmi2+lzcnt"))]
fn distribute(shape: &Shape, digits: &[i32], block: usize, points: &mut [f64]) {
    for (r, row) in digits.chunks_exact(2 * shape.column_count()).enumerate() {
        if let Some(run) = row[block * RUN..].first_chunk() {
            put_digits(run, &mut points[shape.place(r)..]);
        }
    }
}

impl Transform for Tiled {
    fn load(&mut self, x: &[u64]) {
        self.team.workers().iter_mut().for_each(|worker| worker.sums = Totals::default());
        self.plan.load(&mut self.points, x, &mut self.team);
        self.sums = self.absorbed();
    }

    fn square(&mut self, subtract: Option<Subtrahend>) -> f64 {
        self.product(subtract, false)
    }

    fn square_into(&mut self, subtract: Option<Subtrahend>, x: &mut Vec<u64>) -> f64 {
        let error = self.product(subtract, true);
        self.store(x);
        error
    }

    fn sum_by(&mut self, root: &Root) {
        self.plan.sum_by(root);
    }

    fn sums(&self) -> Sums {
        self.sums
    }

    fn flip_next(&mut self, flip: Flip) {
        self.flip = Some(flip);
    }

    fn digits(&self, first: usize, digits: &mut [i32; RUN]) {
        let shape = &self.plan.shape;
        let (row, word) = (first / (2 * shape.column_count()), first % (2 * shape.column_count()));
        let at = word / RUN * shape.stride() + shape.place(row);
        *digits = digits_of(&words(&self.points)[at..]);
    }

    fn is_intact(&self) -> bool {
        match &self.plan.packing {
            Packing::Mersenne { .. } => true,
            Packing::Form(stored) => stored.is_intact(),
        }
    }
}

impl Plan {
    fn injection(&self, s: Subtrahend) -> Injection {
        let width = 2 * self.shape.column_count();
        let (row, i) = (s.word / width, s.word % width);
        Injection { column: i / 2, row, value: s.value() as f64 }
    }

    /// Turns the carries out of the last words of the rows into carries into the first words. The
    /// carries are in the order of the row weights.
    fn to_next_row(&self, carry: &mut [f64]) {
        let r1 = self.shape.rows[0];
        carry.rotate_right(r1);
        carry[..r1].rotate_right(1);
    }

    /// Weights the digits of the residue x, transforms the columns, and writes them to `points`.
    fn load(&self, points: &mut Buffer, x: &[u64], team: &mut Team<Worker>) {
        let blocks = words_mut(points).chunks_mut(self.shape.stride()).enumerate();
        let mut digits = vec![];
        if let Packing::Form(stored) = &self.packing {
            digits.resize(self.len(), 0);
            stored.store(x, &mut digits);
        }
        team.share(blocks, |worker, (block, points)| {
            match &self.packing {
                Packing::Mersenne { starts, runs, .. } => {
                    unpack(&self.shape, starts, &runs[block], x, points);
                }
                Packing::Form(_) => distribute(&self.shape, &digits, block, points),
            }
            worker.carry.fill(0.0);
            let tile = worker.tile();
            let work = Work::Absorb { to_digits: false, sums: &mut worker.sums };
            let carry = &mut worker.carry;
            // SAFETY: the tile is the worker's.
            simd::run(unsafe { Block::new(self, block, points, tile, carry, work) });
        });
    }
}
