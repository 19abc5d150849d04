//! Long transforms as rows and columns, in two passes over memory per squaring.
//!
//! The n = N/2 = R·C points z of a residue of N words are arranged in R rows of C points. With
//! e(x) = e^(−2πi·x), 0 ≤ k1, r < R and 0 ≤ k2, c < C, the transform X is
//!
//! X[k1 + R·k2] = Σ_c e(c·k2/C)·[ e(c·k1/n)·Σ_r e(r·k1/R)·z[c + C·r] ].
//!
//! This is an FFT of every column, a multiplication by twiddle factors, and an FFT of every row.
//! The spectrum is not reordered: X[k1 + R·k2] stays in row k1. The product of real signals
//! combines each point k with its partner n − k. The partner of element k2 of row k1 lies in row
//! R − k1, element C − 1 − k2 (in row 0, element C − k2).
//!
//! A squaring consists of two passes. The *row pass* handles every pair of rows k1 and R − k1: FFT,
//! square, inverse FFT. The *column pass* handles every block of [`WIDTH`] columns: twiddle,
//! inverse FFT, division by the weights, rounding, carries, weights, FFT, twiddle.
//!
//! In the column pass each row is a carry chain of its own ([`lanes`]), which runs through the
//! blocks from left to right and then into the next row. Adjacent blocks form *groups*. Threads
//! process groups independently; the chains of each group start with a carry of 0. The words of the
//! first block of a group are left as digits at first. They are weighted and transformed when the
//! carries out of the preceding group are known. The groups depend on the transform length only, so
//! no bit of the result depends on the number of threads.
//!
//! In memory the points lie block by block, and within a block row by row.

mod rows;

use std::ops::Range;
use std::sync::Arc;

use multiversion::multiversion;
use rustfft::num_complex::Complex;
use rustfft::{Fft, FftPlanner};

use super::Transform;
use super::block::{GAP, WIDTH, gather, scatter, twist, untwist};
use super::buffer::{Buffer, Shared, words_mut};
use super::roots::Roots;
use super::team::Team;
use crate::engine::fp64::carry::lanes::{self, PointWords, RowWeights, Seen};
use crate::engine::fp64::carry::sums::{RowFactors, SumTables, Sums, SumsOfRows, WordFactor};
use crate::engine::fp64::carry::{Observed, Subtrahend};
use crate::engine::fp64::digits::{self, PARTS, Part, RUN, Run, Start, integer};
use crate::engine::fp64::flip::{Flip, Place, choose, flip_f64};
use crate::engine::fp64::weights::{Bases, Weight};
use crate::engine::squares::Root;
use crate::layout::WordLayout;

type C64 = Complex<f64>;

/// A transform of N words as N/2 = R·C complex points, in R rows and C columns.
pub(crate) struct RowColumn {
    plan: Plan,
    points: Buffer,
    groups: Vec<Group>,
    team: Team<Worker>,
    sums: Sums,
    flip: Option<Flip>,
}

/// The working memory of one thread.
struct Worker {
    block: Buffer,
    scratch: Buffer,
    rows: [Buffer; 2],
    carry: Vec<f64>,
    /// The sums over the rows of blocks to which carries were added.
    sums: SumsOfRows,
}

impl Worker {
    /// Allocates working memory for transforms of `rows` rows and `columns` columns, with `scratch`
    /// points of scratch memory for the FFTs.
    fn new(rows: usize, columns: usize, scratch: usize) -> Self {
        Self {
            block: Buffer::new(WIDTH * (rows + GAP)),
            scratch: Buffer::new(scratch),
            rows: [Buffer::new(columns), Buffer::new(columns)],
            carry: vec![0.0; rows],
            sums: SumsOfRows::default(),
        }
    }
}

/// The constants of a transform: its shape, its FFTs and its tables.
struct Plan {
    layout: WordLayout,
    rows: usize,
    columns: usize,
    /// The distance in points from one block of columns to the next. It is the size of a block plus
    /// one row, to avoid cache conflicts.
    stride: usize,
    column_forward: Arc<dyn Fft<f64>>,
    column_inverse: Arc<dyn Fft<f64>>,
    row_forward: Arc<dyn Fft<f64>>,
    row_inverse: Arc<dyn Fft<f64>>,
    /// The twiddles e^(−2πi·c0·k1/n), where n is the number of points, c0 the first column of a
    /// block, and k1 a row. There is one entry for each row of each block.
    twiddle_base: Vec<C64>,
    /// The twiddles e^(−2πi·w·k1/n), where n is the number of points, k1 a row, and w the number of
    /// a column within a block. There are [`WIDTH`] entries for each row.
    twiddle_step: Vec<C64>,
    /// The roots of unity e^(−2πi·k1/n) for every row k1, where n is the number of points.
    row_root: Vec<C64>,
    /// The quarters of the roots e^(−2πi·k2/C), for every element k2 of a row of C points.
    quarter: Vec<C64>,
    bases: Bases,
    row_weights: RowWeights,
    /// The weights of the 2·C words of row 0, which has C points.
    word_weights: Vec<Weight>,
    /// The positions of the rows in a packed residue, and of the words of each block in a row.
    starts: Vec<Start>,
    runs: Vec<Run>,
    /// The tables of sums, if sums are made.
    factors: Option<SumTables>,
}

/// A run of adjacent blocks of columns. One thread processes them in order, and carries run through
/// them without a break.
struct Group {
    blocks: Range<usize>,
    /// The carries out of the last block of the group, one for each row.
    carry: Vec<f64>,
    seen: Seen,
}

/// A number that is subtracted from a product. It is subtracted, as `value`, from the carry into
/// column `column` of row `row`.
#[derive(Clone, Copy)]
struct Injection {
    column: usize,
    row: usize,
    value: f64,
}

impl RowColumn {
    /// Returns the number of rows of a transform of N = `length` words. It is the divisor R of N/2
    /// nearest to √(N/2) for which the number of columns, N/(2R), is a multiple of [`WIDTH`].
    pub(crate) fn suitable_rows(length: usize) -> usize {
        let n = length / 2;
        let ratio = |r: usize| {
            let x = (r * r) as f64 / n as f64;
            x.max(1.0 / x)
        };
        (1..=n.isqrt() * 4)
            .filter(|&r| n.is_multiple_of(r) && (n / r).is_multiple_of(WIDTH))
            .min_by(|&a, &b| ratio(a).total_cmp(&ratio(b)))
            .unwrap_or(1)
    }

    /// Creates a transform of N words as N/2 points in `rows` rows. Returns an error if the threads
    /// cannot be started.
    ///
    /// # Panics
    /// Panics unless `rows` is at least 2 and divides N/2, and the number of columns is a multiple
    /// of [`WIDTH`].
    pub(crate) fn new(layout: WordLayout, rows: usize, threads: usize) -> Result<Self, String> {
        let n = layout.len() / 2;
        assert!(rows >= 2 && n.is_multiple_of(rows), "{n} points in {rows} rows");
        let columns = n / rows;
        assert!(columns.is_multiple_of(WIDTH), "{columns} columns in blocks of {WIDTH}");
        let plan = Plan::new(layout, rows, columns);
        let blocks = columns / WIDTH;
        let per_group = blocks.div_ceil((blocks / 8).clamp(1, 64));
        let groups = (0..blocks)
            .step_by(per_group)
            .map(|first| Group {
                blocks: first..(first + per_group).min(blocks),
                carry: vec![0.0; rows],
                seen: Seen::new(rows),
            })
            .collect();
        let scratch = plan.scratch_len();
        let team = Team::new(threads, || Worker::new(rows, columns, scratch))?;
        let points = Buffer::new(blocks * plan.stride);
        Ok(Self { points, plan, groups, team, sums: Sums::default(), flip: None })
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
        let pairs = self.plan.rows / 2 + 1;
        let points = Shared::new(&mut self.points);
        let plan = &self.plan;
        self.team.share(0..pairs, |worker, k1| {
            // SAFETY: pair k1 accesses rows k1 and R − k1 with k1 ≤ R/2: no two pairs share a row.
            unsafe { plan.row_pair(k1, &points, worker) }
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
        let per_group = self.groups.first().map_or(1, |g| g.blocks.len());
        let chunk = per_group * plan.stride;
        self.team.share(
            self.groups.iter_mut().zip(self.points.chunks_mut(chunk)),
            |worker, (group, points)| {
                plan.release_group(group, points, worker, (inject, in_carry), to_digits);
            },
        );
        // The carries out of the last group go into the row below.
        if let Some(last) = self.groups.last_mut() {
            last.carry.rotate_right(1);
        }
        self.team.workers().iter_mut().for_each(|worker| worker.sums.clear());
        if let Some(bit) = at(Place::Digits).filter(|_| !to_digits) {
            let (group, bit) = choose(bit, self.groups.len());
            let block = &mut words_mut(&mut self.points)[2 * group * chunk..][..2 * plan.stride];
            flip_f64(block, bit);
        }
        let groups = &self.groups;
        let before = |g: usize| &groups[(g + groups.len() - 1) % groups.len()].carry;
        let firsts = self.points.chunks_mut(chunk).enumerate();
        self.team.share(firsts, |worker, (g, points)| {
            plan.finish_first(&groups[g], before(g), points, worker, to_digits);
        });
        let observed = Observed {
            largest: groups.iter().flat_map(|g| &g.seen.errors).copied().fold(0.0, f64::max),
            energy: groups.iter().flat_map(|g| &g.seen.energy).sum(),
            foreign: groups.iter().fold(0, |all, g| all | g.seen.foreign),
        };
        let round_off = observed.round_off(plan.layout.len());
        if let Some(SumTables { rows, .. }) = &plan.factors {
            let released = groups.iter().map(|group| group.seen.sums.total(rows));
            let absorbed = self.team.workers().iter().map(|worker| worker.sums.total(rows));
            self.sums = released.chain(absorbed).fold(Sums::default(), Sums::plus);
        }
        round_off
    }

    /// Packs the digits of the square, which are in the points, into x. The last call of
    /// [`Self::column_pass`] must have had `to_digits`, so that the points contain digits.
    fn store(&mut self, x: &mut Vec<u64>) {
        let (plan, points, team) = (&self.plan, &self.points, &mut self.team);
        let width = 2 * plan.columns * plan.rows.div_ceil(PARTS);
        digits::pack(&plan.layout, x, width, |parts| {
            team.share(parts, |_, part| pack(plan, points, part));
        });
    }
}

/// Packs the digits of a part, which are in the points.
#[multiversion(targets("x86_64+avx2+fma+bmi1+bmi2+lzcnt"))]
fn pack(plan: &Plan, points: &[C64], mut part: Part<'_>) {
    let width = 2 * plan.columns;
    for r in part.words.start / width..part.words.end / width {
        for (block, run) in points.chunks(plan.stride).zip(&plan.runs) {
            let mut digits = [0; RUN];
            for (z, pair) in block[r * WIDTH..].iter().zip(digits.chunks_exact_mut(2)) {
                (pair[0], pair[1]) = (integer(z.re), integer(z.im));
            }
            part.push(run, plan.starts[r], &digits);
        }
    }
    part.end();
}

impl Transform for RowColumn {
    fn load(&mut self, x: &[u64]) {
        self.team.workers().iter_mut().for_each(|worker| worker.sums.clear());
        self.plan.load(&mut self.points, x, &mut self.team);
        if let Some(SumTables { rows, .. }) = &self.plan.factors {
            let absorbed = self.team.workers().iter().map(|worker| worker.sums.total(rows));
            self.sums = absorbed.fold(Sums::default(), Sums::plus);
        }
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
        let Plan { rows, columns, .. } = self.plan;
        let words = WordFactor::of_words(root, 2 * columns);
        let factors = RowFactors::new(root, (0..rows).map(|r| r * 2 * columns));
        self.plan.factors = Some(SumTables { words, rows: factors });
        self.groups.iter_mut().for_each(|group| group.seen.sums = SumsOfRows::new(rows));
        self.team.workers().iter_mut().for_each(|worker| worker.sums = SumsOfRows::new(rows));
    }

    fn sums(&self) -> Sums {
        self.sums
    }

    fn flip_next(&mut self, flip: Flip) {
        self.flip = Some(flip);
    }

    fn digits(&self, first: usize, digits: &mut [i32; RUN]) {
        let (row, word) = (first / (2 * self.plan.columns), first % (2 * self.plan.columns));
        let at = word / RUN * self.plan.stride + row * WIDTH;
        for (z, pair) in self.points[at..].iter().zip(digits.chunks_exact_mut(2)) {
            (pair[0], pair[1]) = (integer(z.re), integer(z.im));
        }
    }
}

impl Plan {
    fn new(layout: WordLayout, rows: usize, columns: usize) -> Self {
        let n = rows * columns;
        let mut planner = FftPlanner::new();
        let roots = Roots::new(n);
        let root = |k: usize| roots.get(k as u64);
        let table = |outer: usize, inner: usize, k: &dyn Fn(usize, usize) -> usize| {
            (0..outer).flat_map(|a| (0..inner).map(move |b| k(a, b))).map(root).collect::<Vec<_>>()
        };
        // The forward and inverse FFTs together return n times the convolution.
        let scale = n as f64;
        Self {
            layout,
            rows,
            columns,
            stride: (rows + 1) * WIDTH,
            column_forward: planner.plan_fft_forward(rows),
            column_inverse: planner.plan_fft_inverse(rows),
            row_forward: planner.plan_fft_forward(columns),
            row_inverse: planner.plan_fft_inverse(columns),
            twiddle_base: table(columns / WIDTH, rows, &|block, k1| block * WIDTH * k1),
            twiddle_step: table(rows, WIDTH, &|k1, w| w * k1),
            row_root: (0..rows).map(root).collect(),
            quarter: (0..columns).map(|k2| root(k2 * rows) * 0.25).collect(),
            bases: Bases::new(&layout),
            row_weights: RowWeights::new(&layout, 2 * columns, scale),
            word_weights: (0..2 * columns).map(|i| Weight::new(&layout, i, 1.0)).collect(),
            starts: Start::of_rows(&layout, 2 * columns, rows),
            runs: Run::of_row(&layout, 2 * columns),
            factors: None,
        }
    }

    /// Returns the number of points of scratch memory that the FFTs need.
    fn scratch_len(&self) -> usize {
        let ffts =
            [&self.column_forward, &self.column_inverse, &self.row_forward, &self.row_inverse];
        ffts.iter().map(|f| f.get_inplace_scratch_len()).max().unwrap_or(0)
    }

    /// Flips a bit of a table.
    fn flip(&mut self, bit: u64) {
        match choose(bit, 7) {
            (0, bit) => flip_f64(words_mut(&mut self.twiddle_base), bit),
            (1, bit) => flip_f64(words_mut(&mut self.twiddle_step), bit),
            (2, bit) => flip_f64(words_mut(&mut self.row_root), bit),
            (3, bit) => flip_f64(words_mut(&mut self.quarter), bit),
            (4, bit) => self.row_weights.flip(bit),
            (5, bit) => {
                let (word, bit) = choose(bit, self.word_weights.len());
                let Weight { numerator, forward, inverse } = self.word_weights[word];
                let mut weight = [numerator, forward, inverse];
                flip_f64(&mut weight, bit);
                let [numerator, forward, inverse] = weight;
                self.word_weights[word] = Weight { numerator, forward, inverse };
            }
            (_, bit) => self.factors.iter_mut().for_each(|tables| tables.flip(bit)),
        }
    }

    fn injection(&self, s: Subtrahend) -> Injection {
        let (row, i) = (s.word / (2 * self.columns), s.word % (2 * self.columns));
        Injection { column: i / 2, row, value: s.value() as f64 }
    }

    /// Returns the two words of one point: the point in row 0 of the given column.
    fn words(&self, column: usize) -> PointWords {
        let words = 2 * column..2 * column + 2;
        let factors = self.factors.as_ref().map(|tables| &tables.words[words.clone()]);
        PointWords {
            weights: [self.word_weights[words.start], self.word_weights[words.start + 1]],
            factors: factors.map_or([WordFactor::ZERO; 2], |two| [two[0], two[1]]),
        }
    }

    /// Weights the digits of the residue x, computes the FFTs of the columns, multiplies them by the
    /// twiddles, and writes them to `points`.
    fn load(&self, points: &mut [C64], x: &[u64], team: &mut Team<Worker>) {
        team.share(points.chunks_mut(self.stride).enumerate(), |worker, (block, points)| {
            for (r, &start) in self.starts.iter().enumerate() {
                let digits = self.runs[block].digits(x, start);
                for (w, d) in digits.chunks_exact(2).enumerate() {
                    worker.block[w * (self.rows + GAP) + r] =
                        C64::new(f64::from(d[0]), f64::from(d[1]));
                }
            }
            worker.carry.fill(0.0);
            self.weigh_block(block, points, worker);
        });
    }

    /// Adds the carries in the worker's `carry` to the digits in its `block`. Then weights them,
    /// computes the FFTs of the columns, multiplies by the twiddles, and writes the block to
    /// `points`.
    fn weigh_block(&self, block: usize, points: &mut [C64], worker: &mut Worker) {
        for w in 0..WIDTH {
            let column = &mut worker.block[w * (self.rows + GAP)..][..self.rows];
            let words = self.words(block * WIDTH + w);
            let last = w + 1 == WIDTH;
            let absorb = match &self.factors {
                None => lanes::absorb::<true, false>,
                Some(_) => lanes::absorb::<true, true>,
            };
            let (carry, sums) = (&mut worker.carry, &mut worker.sums);
            absorb(column, &self.row_weights, &words, self.bases, carry, last, sums);
            self.column_forward.process_with_scratch(column, &mut worker.scratch);
        }
        twist(&worker.block, self.base(block), &self.twiddle_step, points);
    }

    fn base(&self, block: usize) -> &[C64] {
        &self.twiddle_base[block * self.rows..][..self.rows]
    }

    fn release_group(
        &self,
        group: &mut Group,
        points: &mut [C64],
        worker: &mut Worker,
        (inject, flip): (Option<Injection>, Option<(usize, u64)>),
        to_digits: bool,
    ) {
        group.carry.fill(0.0);
        group.seen.clear();
        let first = group.blocks.start;
        for (block, points) in group.blocks.clone().zip(points.chunks_mut(self.stride)) {
            untwist(points, self.base(block), &self.twiddle_step, &mut worker.block);
            let as_digits = to_digits || block == first;
            for w in 0..WIDTH {
                let index = block * WIDTH + w;
                let column = &mut worker.block[w * (self.rows + GAP)..][..self.rows];
                self.column_inverse.process_with_scratch(column, &mut worker.scratch);
                let release = match (as_digits, &self.factors) {
                    (true, None) => lanes::release::<false, false>,
                    (true, Some(_)) => lanes::release::<false, true>,
                    (false, None) => lanes::release::<true, false>,
                    (false, Some(_)) => lanes::release::<true, true>,
                };
                let here = inject.filter(|at| at.column == index);
                release(
                    column,
                    &self.row_weights,
                    &self.words(index),
                    self.bases,
                    here.map(|at| (at.row, at.value)),
                    &mut group.carry,
                    &mut group.seen,
                );
                if !as_digits {
                    self.column_forward.process_with_scratch(column, &mut worker.scratch);
                }
            }
            if let Some((_, bit)) = flip.filter(|&(of, _)| of == block) {
                flip_f64(&mut group.carry, bit);
            }
            if block == first {
                // The digits change when the carries into the group are added.
                group.seen.sums.clear_digits();
            }
            if as_digits {
                scatter(&worker.block, self.rows, points);
            } else {
                twist(&worker.block, self.base(block), &self.twiddle_step, points);
            }
        }
    }

    /// Finishes the first block of a group, which the column pass has left as digits in `points`.
    /// Adds the carries into the group; `carry` contains one for each row. Then, unless
    /// `to_digits`, weights and transforms the block.
    fn finish_first(
        &self,
        group: &Group,
        carry: &[f64],
        points: &mut [C64],
        worker: &mut Worker,
        to_digits: bool,
    ) {
        let block = group.blocks.start;
        let points = &mut points[..self.stride];
        gather(points, self.rows, &mut worker.block);
        worker.carry.copy_from_slice(carry);
        if !to_digits {
            return self.weigh_block(block, points, worker);
        }
        for w in 0..WIDTH {
            let absorb = match &self.factors {
                None => lanes::absorb::<false, false>,
                Some(_) => lanes::absorb::<false, true>,
            };
            absorb(
                &mut worker.block[w * (self.rows + GAP)..][..self.rows],
                &self.row_weights,
                &self.words(block * WIDTH + w),
                self.bases,
                &mut worker.carry,
                w + 1 == WIDTH,
                &mut worker.sums,
            );
        }
        scatter(&worker.block, self.rows, points);
    }
}
