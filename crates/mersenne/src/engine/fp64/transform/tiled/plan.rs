//! The constants of a transform.

use super::shape::{ROW, Shape, WIDTH};
use super::stages::Fft;
use crate::engine::fp64::carry::lanes::RowWeights;
use crate::engine::fp64::carry::sums::{RowFactors, SumTables, WordFactor};
use crate::engine::fp64::carry::tiles::{TileFactors, WordWeights};
use crate::engine::fp64::digits::{Run, Start};
use crate::engine::fp64::flip::{choose, flip_f64};
use crate::engine::fp64::transform::buffer::{Buffer, words_mut};
use crate::engine::fp64::transform::roots::Roots;
use crate::engine::fp64::weights::{Bases, Weight};
use crate::engine::squares::Root;
use crate::layout::WordLayout;

/// The shape of a transform, its FFTs and its tables.
///
/// With e(x) = e^(−2πi·x), let k1 be the index of a row of the spectrum, R the number of rows, C
/// that of columns, and n = R·C. The digits of k1 are k1 = k + R1·k', those of an element k2 of a
/// row k2 = k + C1·k'. Tables with real and imaginary parts for each lane have eight real parts and
/// then eight imaginary parts for each entry.
pub(super) struct Plan {
    pub(super) layout: WordLayout,
    pub(super) shape: Shape,
    /// The transforms of R1, R2, C1 and C2 points.
    pub(super) row_ffts: [Fft; 2],
    pub(super) column_ffts: [Fft; 2],
    /// e(r·k/R) for each k < R1, in the order of the first FFT, and each r < R2.
    pub(super) row_twiddles: Vec<[f64; 2]>,
    /// e(c·k/C) for each k < C1, in the order of the first FFT, and each c < C2.
    pub(super) column_twiddles: Vec<[f64; 2]>,
    /// e(k2/C)/4 for each k2 < C, in the order of the spectrum.
    pub(super) quarter: Vec<[f64; 2]>,
    /// The places in a block of the rows k1 and R − k1 of every pair of rows. The last pair is
    /// repeated until there is a multiple of [`WIDTH`] pairs.
    pub(super) pairs: Vec<[usize; 2]>,
    /// The number of pairs without repetitions.
    pub(super) distinct_pairs: usize,
    /// For each group of [`WIDTH`] pairs and each c < C1, e(c·C2·k1/n) for each pair's k1.
    pub(super) coarse: Buffer,
    /// For each group of [`WIDTH`] pairs and each c < C2, e(c·k1/n) for each pair's k1.
    pub(super) fine: Buffer,
    /// For each group of [`WIDTH`] pairs, e(k1/n) for each pair's k1.
    pub(super) roots: Buffer,
    pub(super) bases: Bases,
    /// The weights of the first words of the rows, in the order of r' + R1·r for row r + R2·r'.
    pub(super) row_weights: RowWeights,
    /// The weights of the words of row 0.
    pub(super) word_weights: Vec<[WordWeights; ROW]>,
    /// The positions of the rows in a packed residue, and of the words of each block in a row.
    pub(super) starts: Vec<Start>,
    pub(super) runs: Vec<Run>,
    /// The tables of sums, if sums are made.
    pub(super) sums: Option<SumTables>,
}

impl Plan {
    /// Returns the plan of a transform with the given layout. Returns `None` if a part of the shape
    /// has prime factors above 7.
    ///
    /// # Panics
    /// Panics unless the shape has as many points as the layout has pairs of words, R1 and C2 are
    /// multiples of [`WIDTH`], and all parts are at least 2.
    pub(super) fn new(layout: WordLayout, shape: Shape) -> Option<Self> {
        let ([r1, r2], [c1, c2]) = (shape.rows, shape.columns);
        let (rows, columns) = (r1 * r2, c1 * c2);
        let n = rows * columns;
        assert_eq!(layout.len(), 2 * n, "{shape:?}");
        assert!(r1.is_multiple_of(WIDTH) && c2.is_multiple_of(WIDTH), "{shape:?}");
        assert!(r1.min(r2).min(c1).min(c2) >= 2, "{shape:?}");
        let row_ffts = [Fft::new(r1)?, Fft::new(r2)?];
        let column_ffts = [Fft::new(c1)?, Fft::new(c2)?];
        let roots = Roots::new(n);
        let root = |k: usize| {
            let w = roots.get(k as u64);
            [w.re, w.im]
        };
        let twiddles = |outer: &Fft, inner: usize, unit: usize| {
            let order = outer.order().into_iter();
            order.flat_map(|k| (0..inner).map(move |c| root(c * k * unit))).collect::<Vec<_>>()
        };
        let spectrum = |[outer, inner]: &[Fft; 2]| {
            let (m, inner) = (outer.len, inner.order());
            let ks = outer.order().into_iter();
            ks.flat_map(|k| inner.iter().map(move |k2| k + m * k2)).collect::<Vec<_>>()
        };
        let quarter = spectrum(&column_ffts).into_iter().map(|k| root(k * rows).map(|x| x * 0.25));
        let (pairs, indices) = Self::pairs(&shape, &spectrum(&row_ffts));
        let table = |entries: usize, unit: usize| {
            let mut table = Buffer::new(indices.len() * entries);
            let groups = words_mut(&mut table).chunks_exact_mut(ROW * entries);
            for (group, of_group) in groups.zip(indices.chunks_exact(WIDTH)) {
                for (c, entry) in group.chunks_exact_mut(ROW).enumerate() {
                    for (lane, k1) in of_group.iter().enumerate() {
                        let [re, im] = root(c * unit * k1);
                        (entry[lane], entry[WIDTH + lane]) = (re, im);
                    }
                }
            }
            table
        };
        // The forward and inverse transforms together return n times the convolution.
        let weights = shape.firsts().map(|j| Weight::new(&layout, j, n as f64));
        let word = |j: usize| WordWeights::new(Weight::new(&layout, j, 1.0));
        let block = |b: usize| std::array::from_fn(|j| word(b * ROW + j));
        Some(Self {
            layout,
            shape,
            row_twiddles: twiddles(&row_ffts[0], r2, columns),
            column_twiddles: twiddles(&column_ffts[0], c2, rows),
            quarter: quarter.collect(),
            row_ffts,
            column_ffts,
            distinct_pairs: rows / 2 + 1,
            coarse: table(c1, c2),
            fine: table(c2, 1),
            roots: {
                let mut table = Buffer::new(indices.len());
                let groups = words_mut(&mut table).chunks_exact_mut(ROW);
                for (group, of_group) in groups.zip(indices.chunks_exact(WIDTH)) {
                    for (lane, &k1) in of_group.iter().enumerate() {
                        [group[lane], group[WIDTH + lane]] = root(k1);
                    }
                }
                table
            },
            bases: Bases::new(&layout),
            row_weights: RowWeights::of_rows(weights),
            word_weights: (0..shape.blocks()).map(block).collect(),
            starts: Start::of_rows(&layout, 2 * columns, rows),
            runs: Run::of_row(&layout, 2 * columns),
            pairs,
            sums: None,
        })
    }

    /// Flips a bit of a table.
    pub(super) fn flip(&mut self, bit: u64) {
        match choose(bit, 9) {
            (0, bit) => flip_f64(self.row_twiddles.as_flattened_mut(), bit),
            (1, bit) => flip_f64(self.column_twiddles.as_flattened_mut(), bit),
            (2, bit) => flip_f64(self.quarter.as_flattened_mut(), bit),
            (3, bit) => flip_f64(words_mut(&mut self.coarse), bit),
            (4, bit) => flip_f64(words_mut(&mut self.fine), bit),
            (5, bit) => flip_f64(words_mut(&mut self.roots), bit),
            (6, bit) => self.row_weights.flip(bit),
            (7, bit) => {
                let words = self.word_weights.as_flattened_mut();
                let (word, bit) = choose(bit, words.len());
                words[word].flip(bit);
            }
            (_, bit) => self.sums.iter_mut().for_each(|tables| tables.flip(bit)),
        }
    }

    /// Computes the tables of sums.
    pub(super) fn sum_by(&mut self, root: &Root) {
        let words = WordFactor::of_words(root, 2 * self.shape.column_count());
        self.sums = Some(SumTables { words, rows: RowFactors::new(root, self.shape.firsts()) });
    }

    /// Returns the factors of the sums over a block, if sums are made.
    pub(super) fn factors(&self, block: usize) -> Option<TileFactors<'_>> {
        let SumTables { words, rows } = self.sums.as_ref()?;
        Some(TileFactors { words: words[block * ROW..].first_chunk()?, rows })
    }

    /// Returns the places of the two rows of every pair, and the indices k1 of their first rows.
    /// `spectrum` has the indices of the rows of the spectrum in the order of their positions.
    fn pairs(shape: &Shape, spectrum: &[usize]) -> (Vec<[usize; 2]>, Vec<usize>) {
        let rows = spectrum.len();
        let mut position = vec![0; rows];
        for (at, &k) in spectrum.iter().enumerate() {
            position[k] = at;
        }
        let (mut pairs, mut indices) = (vec![], vec![]);
        for (at, &k) in spectrum.iter().enumerate() {
            let partner = position[(rows - k) % rows];
            if at <= partner {
                pairs.push([shape.place(at), shape.place(partner)]);
                indices.push(k);
            }
        }
        let whole = pairs.len().next_multiple_of(WIDTH);
        pairs.resize(whole, pairs[pairs.len() - 1]);
        indices.resize(whole, indices[indices.len() - 1]);
        (pairs, indices)
    }
}
