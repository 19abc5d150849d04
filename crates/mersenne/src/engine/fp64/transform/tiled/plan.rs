//! The constants of a transform.

use super::shape::{ROW, Shape, WIDTH};
use super::stages::Fft;
use crate::engine::fp64::carry::lanes::RowWeights;
use crate::engine::fp64::carry::sums::{RowFactors, SumTables, WordFactor};
use crate::engine::fp64::carry::tiles::{TileFactors, WordWeights};
use crate::engine::fp64::digits::{Run, Start};
use crate::engine::fp64::flip::{choose, flip_f64};
use crate::engine::fp64::form::SHORTEST_WORD;
use crate::engine::fp64::transform::buffer::{Buffer, words_mut};
use crate::engine::fp64::transform::roots::Roots;
use crate::engine::fp64::weights::Bases;
use crate::engine::fp64::words::Words;
use crate::engine::squares::Root;
use crate::layout::{FormLayout, StoredForm, WordLayout};

/// The shape of a transform, its FFTs and its tables.
///
/// With e(x) = e^(−2πi·x), let k1 be the index of a row of the spectrum, R the number of rows, C
/// that of columns, and n = R·C. The digits of k1 are k1 = k + R1·k', those of an element k2 of a
/// row k2 = k + C1·k'. Tables with real and imaginary parts for each lane have eight real parts and
/// then eight imaginary parts for each entry.
///
/// Let h be 0 for cyclic and ½ for negacyclic convolutions. The spectrum of a negacyclic convolution is
/// Z_k = Σ_j e(j·(k + h)/n)·z_j.
pub(super) struct Plan {
    pub(super) shape: Shape,
    /// The transforms of R1, R2, C1 and C2 points.
    pub(super) row_ffts: [Fft; 2],
    pub(super) column_ffts: [Fft; 2],
    /// e(h·r/R1) for each r < R1, if the convolution is negacyclic: the factors of row r·R2 + r' before the
    /// transform of R1 points.
    pub(super) turns: Option<Vec<[f64; 2]>>,
    /// e(r·(k + h)/R) for each k < R1, in the order of the first FFT, and each r < R2.
    pub(super) row_twiddles: Vec<[f64; 2]>,
    /// e(c·k/C) for each k < C1, in the order of the first FFT, and each c < C2.
    pub(super) column_twiddles: Vec<[f64; 2]>,
    /// e(k2/C)/4 for each k2 < C, in the order of the spectrum.
    pub(super) quarter: Vec<[f64; 2]>,
    /// The places in a block of the rows k1 and R − 2h − k1 of every pair of rows. The last pair is
    /// repeated until there is a multiple of [`WIDTH`] pairs.
    pub(super) pairs: Vec<[usize; 2]>,
    /// The number of pairs without repetitions.
    pub(super) distinct_pairs: usize,
    /// For each group of [`WIDTH`] pairs and each c < C1, e(c·C2·(k1 + h)/n) for each pair's k1.
    pub(super) coarse: Buffer,
    /// For each group of [`WIDTH`] pairs and each c < C2, e(c·(k1 + h)/n) for each pair's k1.
    pub(super) fine: Buffer,
    /// For each group of [`WIDTH`] pairs, e((k1 + h)/n) for each pair's k1.
    pub(super) roots: Buffer,
    pub(super) bases: Bases,
    /// The weights of the first words of the rows, in the order of r' + R1·r for row r + R2·r'.
    pub(super) row_weights: RowWeights,
    /// The weights of the words of row 0.
    pub(super) word_weights: Vec<[WordWeights; ROW]>,
    pub(super) packing: Packing,
    /// The tables of sums, if sums are made.
    pub(super) sums: Option<SumTables>,
}

/// How residues become digits and are packed.
pub(super) enum Packing {
    /// Residues modulo 2^p − 1, with the positions of the rows in a packed residue, and of the words of
    /// each block in a row.
    Mersenne { layout: WordLayout, starts: Vec<Start>, runs: Vec<Run> },
    /// Residues modulo k·2^n ± 1.
    Form(StoredForm),
}

impl Plan {
    /// Returns the plan of a transform of residues with these words. Returns `None` if a part of the
    /// shape has prime factors above 7.
    ///
    /// # Panics
    /// Panics unless the shape has as many points as a residue has pairs of words, R1 and C2 are
    /// multiples of [`WIDTH`], all parts are at least 2, and words have at least
    /// [`SHORTEST_WORD`](crate::engine::fp64::form::SHORTEST_WORD) bits, unless the number is 2^p − 1.
    pub(super) fn new(of: Words, shape: Shape) -> Option<Self> {
        let ([r1, r2], [c1, c2]) = (shape.rows, shape.columns);
        let (rows, columns) = (r1 * r2, c1 * c2);
        let n = rows * columns;
        assert_eq!(of.len(), 2 * n, "{shape:?}");
        assert!(of.form().is_none_or(|layout| layout.rate() >> 32 >= SHORTEST_WORD), "short words");
        assert!(r1.is_multiple_of(WIDTH) && c2.is_multiple_of(WIDTH), "{shape:?}");
        assert!(r1.min(r2).min(c1).min(c2) >= 2, "{shape:?}");
        let row_ffts = [Fft::new(r1)?, Fft::new(r2)?];
        let column_ffts = [Fft::new(c1)?, Fft::new(c2)?];
        // 2h. The arguments of `root` are exponents of e(1/n), or of e(1/2n) for h = ½.
        let half = of.half_turns();
        let roots = Roots::new(n << half);
        let root = |k: usize| {
            let w = roots.get(k as u64);
            [w.re, w.im]
        };
        let root = &root;
        let twiddles = |outer: &Fft, inner: usize, unit: usize, half_turn: usize| {
            let order = outer.order().into_iter();
            let row =
                |k: usize| (0..inner).map(move |c| root(c * ((k << half) + half_turn) * unit));
            order.flat_map(row).collect::<Vec<_>>()
        };
        let spectrum = |[outer, inner]: &[Fft; 2]| {
            let (m, inner) = (outer.len, inner.order());
            let ks = outer.order().into_iter();
            ks.flat_map(|k| inner.iter().map(move |k2| k + m * k2)).collect::<Vec<_>>()
        };
        let quarter = spectrum(&column_ffts).into_iter();
        let quarter = quarter.map(|k| root((k << half) * rows).map(|x| x * 0.25));
        let (mut pairs, mut indices) = Self::pairs(&shape, &spectrum(&row_ffts), half);
        let distinct_pairs = pairs.len();
        let whole = pairs.len().next_multiple_of(WIDTH);
        pairs.resize(whole, pairs[pairs.len() - 1]);
        indices.resize(whole, indices[indices.len() - 1]);
        let table = |entries: usize, unit: usize| {
            let mut table = Buffer::new(indices.len() * entries);
            let groups = words_mut(&mut table).chunks_exact_mut(ROW * entries);
            for (group, of_group) in groups.zip(indices.chunks_exact(WIDTH)) {
                for (c, entry) in group.chunks_exact_mut(ROW).enumerate() {
                    for (lane, k1) in of_group.iter().enumerate() {
                        let [re, im] = root(c * unit * ((k1 << half) + half));
                        (entry[lane], entry[WIDTH + lane]) = (re, im);
                    }
                }
            }
            table
        };
        // The forward and inverse transforms together return n times the convolution.
        let weights = of.weights();
        let row_weights = RowWeights::of_rows(shape.firsts().map(|j| weights.scaled(j, n)));
        let word = |j: usize| WordWeights::new(weights.relative(j));
        let block = |b: usize| std::array::from_fn(|j| word(b * ROW + j));
        Some(Self {
            shape,
            turns: (half == 1).then(|| (0..r1).map(|r| root(r * (n / r1))).collect()),
            row_twiddles: twiddles(&row_ffts[0], r2, columns, half),
            column_twiddles: twiddles(&column_ffts[0], c2, rows, 0),
            quarter: quarter.collect(),
            row_ffts,
            column_ffts,
            distinct_pairs,
            coarse: table(c1, c2),
            fine: table(c2, 1),
            roots: {
                let mut table = Buffer::new(indices.len());
                let groups = words_mut(&mut table).chunks_exact_mut(ROW);
                for (group, of_group) in groups.zip(indices.chunks_exact(WIDTH)) {
                    for (lane, &k1) in of_group.iter().enumerate() {
                        [group[lane], group[WIDTH + lane]] = root((k1 << half) + half);
                    }
                }
                table
            },
            bases: of.bases(),
            row_weights,
            word_weights: (0..shape.blocks()).map(block).collect(),
            packing: match of {
                Words::Mersenne(layout) => Packing::Mersenne {
                    layout,
                    starts: Start::of_rows(&layout, 2 * columns, rows),
                    runs: Run::of_row(&layout, 2 * columns),
                },
                Words::Form(stored) => Packing::Form(stored),
            },
            pairs,
            sums: None,
        })
    }

    /// Returns the number of words of a residue.
    pub(super) fn len(&self) -> usize {
        2 * self.shape.row_count() * self.shape.column_count()
    }

    /// Returns the layout of residues modulo k·2^n ± 1, whose last carry is divided by k.
    pub(super) fn form(&self) -> Option<&FormLayout> {
        match &self.packing {
            Packing::Mersenne { .. } => None,
            Packing::Form(stored) => Some(&stored.layout),
        }
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
    /// `spectrum` has the indices of the rows of the spectrum in the order of their positions. `half` is 2h.
    fn pairs(shape: &Shape, spectrum: &[usize], half: usize) -> (Vec<[usize; 2]>, Vec<usize>) {
        let rows = spectrum.len();
        let mut position = vec![0; rows];
        for (at, &k) in spectrum.iter().enumerate() {
            position[k] = at;
        }
        let (mut pairs, mut indices) = (vec![], vec![]);
        for (at, &k) in spectrum.iter().enumerate() {
            let partner = position[(rows - half - k) % rows];
            if at <= partner {
                pairs.push([shape.place(at), shape.place(partner)]);
                indices.push(k);
            }
        }
        (pairs, indices)
    }
}
