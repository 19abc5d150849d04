//! The product of two residues given by digits: weights, transforms of columns and rows, carries.
//!
//! The N = R·C words form R rows and C columns; word j = r·C + c is in row r and column c. The
//! transform of N points consists of a transform of length R along each column, a multiplication by
//! ω_N^(c·k) in column c at column frequency k, and a transform of length C along each row (Bailey
//! 1990, *FFTs in external or hierarchical memory*). Here ω_N is an N-th root of unity. Spectra
//! stay in the order in which these steps leave them.
//!
//! The weight of word j is 2^(e_j/N) with e_j = −p·j mod N, where p is the exponent. As e_j is
//! e_{rC} + e_c, or e_{rC} + e_c − N if this sum is N or more, the weight is the product of a
//! weight of the row, a weight of the column, and possibly ½. The weight of the column commutes
//! with the transform along the column, and is combined with the multiplication by ω_N^(c·k). So
//! digits are multiplied only by the weight of the row, and by ½ where it applies.
//!
//! A product passes over the data three times: along columns (digits → weights → transforms), along
//! rows (transforms, squares, inverse transforms), and along columns (inverse transforms → weights
//! → carries → digits).

use super::lanes::{WordLanes, Words};
use crate::engine::exact::{Digits, Products, carry};
use crate::layout::WordLayout;
use warpint_arith::goldilocks as field;
use warpint_transform::cpu::goldilocks::{ColumnPass, Fft, Kernel, Pool, Shape, Shared};

/// The tables for products of one exponent and transform length. The order of a spectrum in memory
/// is described at [`Shape::pitch`].
pub(super) struct Transform<V: WordLanes> {
    instructions: V::Instructions,
    layout: WordLayout,
    shape: Shape,
    words: Words,
    columns_fft: Fft,
    rows_fft: Fft,
    /// The factors between the transforms of columns and of rows: ω_N^(c·k) times the weight of
    /// column c, for C columns and vectors of W lanes. Lane i of entry g·C + c is the factor for
    /// the frequency k at position g·W + i of the spectrum of column c. ω_N is an N-th root of
    /// unity.
    forward: Vec<V::Factor>,
    /// The inverses of the factors in `forward`, divided by N.
    inverse: Vec<V::Factor>,
    /// The weight of the first word of each row, and half of this weight.
    row_weights: Vec<[u64; 2]>,
    /// The inverse weights of the first words of the rows, and the doubles of these inverses. An
    /// entry has one row in each of the W lanes of a vector.
    row_unweights: Vec<[V::Factor; 2]>,
    /// The weight exponent −p·j mod N of the first word j of each row.
    row_exponents: Vec<i64>,
    /// The weight exponent −p·j mod N of the first word j of each column.
    column_exponents: Vec<i64>,
}

impl<V: WordLanes> Transform<V> {
    /// Computes the tables for the exponent and the N words of `layout`, divided into the rows and
    /// columns of `shape`. Returns `None` if the field has no N-th root of unity or of 2, or if the
    /// processor lacks the instructions for the vectors `V`. Cost: O(N) products.
    pub(super) fn new(layout: WordLayout, shape: Shape) -> Option<Self> {
        let instructions = V::instructions()?;
        let (n, w) = (layout.len(), V::WIDTH);
        let (columns_fft, rows_fft) = (Fft::new(shape.rows)?, Fft::new(shape.columns)?);
        let omega = field::root_of_unity(n as u64)?;
        let root = field::nth_root_of_two(n as u64).ok()?;
        let root_inverse = field::inverse(root)?;
        let half = field::halve(1);

        let row_exponent = |r: usize| layout.weight_numerator(r * shape.columns);
        let row_weights = (0..shape.rows)
            .map(|r| field::pow(root, row_exponent(r)))
            .map(|weight| [weight, field::mul(weight, half)])
            .collect();
        let unweights: Vec<u64> =
            (0..shape.rows).map(|r| field::pow(root_inverse, row_exponent(r))).collect();
        let row_unweights = unweights
            .chunks_exact(w)
            .map(|x| {
                let doubled: Vec<u64> = x.iter().map(|&x| field::double(x)).collect();
                [V::factors(instructions, x), V::factors(instructions, &doubled)]
            })
            .collect();

        let order = columns_fft.spectrum();
        let middle = |omega: u64, root: u64, first: u64| {
            let mut table = Vec::with_capacity(n / w);
            let column_weights: Vec<u64> = (0..shape.columns)
                .map(|c| field::mul(first, field::pow(root, layout.weight_numerator(c))))
                .collect();
            for group in order.chunks_exact(w) {
                let steps: Vec<u64> = group.iter().map(|&k| field::pow(omega, k as u64)).collect();
                let mut twiddles = vec![1; w];
                for weight in &column_weights {
                    let entry: Vec<u64> =
                        twiddles.iter().map(|&t| field::mul(t, *weight)).collect();
                    table.push(V::factors(instructions, &entry));
                    for (t, step) in twiddles.iter_mut().zip(&steps) {
                        *t = field::mul(*t, *step);
                    }
                }
            }
            table
        };
        let forward = middle(omega, root, 1);
        let inverse = middle(field::inverse(omega)?, root_inverse, field::inverse(n as u64)?);

        Some(Self {
            instructions,
            layout,
            shape,
            words: Words {
                n: n as i64,
                bits: layout.exponent() / n as u32,
                long_below: i64::from(layout.exponent()) % n as i64,
            },
            columns_fft,
            rows_fft,
            forward,
            inverse,
            row_weights,
            row_unweights,
            row_exponents: (0..shape.rows).map(|r| row_exponent(r) as i64).collect(),
            column_exponents: (0..shape.columns)
                .map(|c| layout.weight_numerator(c) as i64)
                .collect(),
        })
    }

    /// Weights the digits, transforms each column, multiplies the spectra by the factors of
    /// `forward`, and writes the products to `work`.
    fn columns(&self, pool: &Pool, digits: &[i32], work: &mut [V]) {
        let work = Shared::new(work);
        pool.each_range(self.shape.columns / self.shape.tile(), |tiles| {
            V::enter(Columns { transform: self, digits, work: &work, tiles });
        });
    }

    /// Multiplies `work` by the factors of `inverse`, transforms each column back, removes the
    /// weights of the rows, propagates carries, and writes the digits to `digits`.
    fn inverse_columns(&self, pool: &Pool, work: &[V], digits: &mut [i32]) {
        let shared = Shared::new(digits);
        let carries = pool.each_range(self.shape.columns / self.shape.tile(), |tiles| {
            let end = tiles.end * self.shape.tile();
            let mut out = vec![0; self.shape.rows];
            let carries = &mut out[..];
            V::enter(InverseColumns { transform: self, work, digits: &shared, tiles, carries });
            (end, out)
        });
        // Each range of columns started without a carry. The carries out of the columns before it
        // are added now, and the carry out of a row goes into the next row.
        for (end, out) in carries {
            for (r, carry) in out.into_iter().enumerate() {
                let j = r * self.shape.columns + end;
                let j = if j == self.layout.len() { 0 } else { j };
                carry::add_at(&self.layout, digits, j, carry);
            }
        }
    }
}

impl<V: WordLanes> Products for Transform<V> {
    type Spectrum = Vec<V>;

    fn layout(&self) -> &WordLayout {
        &self.layout
    }

    fn spectrum(&self) -> Vec<V> {
        vec![V::splat(self.instructions, 0); self.shape.rows / V::WIDTH * self.shape.pitch()]
    }

    fn square(&self, pool: &Pool, digits: &mut [i32], work: &mut Vec<V>) -> f64 {
        self.columns(pool, digits, work);
        pool.each_chunk(work, self.shape.pitch(), |_, group| {
            V::enter(SquareRows { transform: self, group });
        });
        self.inverse_columns(pool, work, digits);
        0.0
    }

    fn multiply(
        &self,
        pool: &Pool,
        registers: &mut [Digits],
        [dst, a, b]: [usize; 3],
        [work, other]: [&mut Vec<V>; 2],
    ) -> f64 {
        self.columns(pool, &registers[a], work);
        self.columns(pool, &registers[b], other);
        let other = &*other;
        pool.each_chunk(work, self.shape.pitch(), |g, group| {
            let other = &other[g * self.shape.pitch()..(g + 1) * self.shape.pitch()];
            V::enter(MultiplyRows { transform: self, group, other });
        });
        self.inverse_columns(pool, work, &mut registers[dst]);
        0.0
    }
}

struct Columns<'a, V: WordLanes> {
    transform: &'a Transform<V>,
    digits: &'a [i32],
    work: &'a Shared<'a, V>,
    tiles: std::ops::Range<usize>,
}

impl<V: WordLanes> Kernel<V> for Columns<'_, V> {
    #[inline(always)]
    fn run(self) {
        let t = self.transform;
        let (w, Shape { rows, columns }) = (V::WIDTH, t.shape);
        let to_rows = ColumnPass { shape: t.shape, fft: &t.columns_fft, factors: &t.forward };
        let mut buffer = vec![V::splat(t.instructions, 0); rows * t.shape.tile() / w];
        for tile in self.tiles {
            let first = tile * t.shape.tile();
            for r in 0..rows {
                let wrap = t.words.n - t.row_exponents[r];
                let at = r * columns + first;
                let digits = self.digits[at..at + t.shape.tile()].chunks_exact(w);
                let exponents = t.column_exponents[first..first + t.shape.tile()].chunks_exact(w);
                for (v, (d, e)) in digits.zip(exponents).enumerate() {
                    buffer[v * rows + r] =
                        V::weigh(d, V::ints(t.instructions, e), wrap, t.row_weights[r]);
                }
            }
            for (v, column) in buffer.chunks_exact_mut(rows).enumerate() {
                // SAFETY: tiles do not overlap, and every tile is in one range.
                unsafe { to_rows.forward(column, first + v * w, self.work) };
            }
        }
    }
}

struct SquareRows<'a, V: WordLanes> {
    transform: &'a Transform<V>,
    group: &'a mut [V],
}

impl<V: WordLanes> Kernel<V> for SquareRows<'_, V> {
    #[inline(always)]
    fn run(self) {
        let t = self.transform;
        let row = &mut self.group[..t.shape.columns];
        t.rows_fft.forward(row);
        for x in row.iter_mut() {
            *x = x.mul(x.to_factor());
        }
        t.rows_fft.inverse(row);
    }
}

struct MultiplyRows<'a, V: WordLanes> {
    transform: &'a Transform<V>,
    group: &'a mut [V],
    other: &'a [V],
}

impl<V: WordLanes> Kernel<V> for MultiplyRows<'_, V> {
    #[inline(always)]
    fn run(self) {
        let t = self.transform;
        let row = &mut self.group[..t.shape.columns];
        let mut other = self.other[..t.shape.columns].to_vec();
        t.rows_fft.forward(row);
        t.rows_fft.forward(&mut other);
        for (x, y) in row.iter_mut().zip(&other) {
            *x = x.mul(y.to_factor());
        }
        t.rows_fft.inverse(row);
    }
}

struct InverseColumns<'a, V: WordLanes> {
    transform: &'a Transform<V>,
    work: &'a [V],
    digits: &'a Shared<'a, i32>,
    tiles: std::ops::Range<usize>,
    /// The carries out of the last tile in `tiles`, one for each row.
    carries: &'a mut [i64],
}

impl<V: WordLanes> Kernel<V> for InverseColumns<'_, V> {
    #[inline(always)]
    fn run(self) {
        let t = self.transform;
        let (w, Shape { rows, columns }) = (V::WIDTH, t.shape);
        let mut buffer = vec![V::splat(t.instructions, 0); rows * t.shape.tile() / w];
        let from_rows = ColumnPass { shape: t.shape, fft: &t.columns_fft, factors: &t.inverse };
        let mut carries = vec![V::splat_int(t.instructions, 0); rows / w];
        let mut digits = vec![V::splat_int(t.instructions, 0); w];
        let mut square_out = vec![0i32; w * w];
        for tile in self.tiles {
            let first = tile * t.shape.tile();
            for (v, column) in buffer.chunks_exact_mut(rows).enumerate() {
                from_rows.inverse(self.work, first + v * w, column);
            }
            for (g, carry) in carries.iter_mut().enumerate() {
                let row_exponents = V::ints(t.instructions, &t.row_exponents[g * w..][..w]);
                let unweights = &t.row_unweights[g];
                for v in 0..t.shape.tile() / w {
                    let c = first + v * w;
                    let square = &mut buffer[v * rows + g * w..][..w];
                    V::transpose(square);
                    let exponents = &t.column_exponents[c..c + w];
                    for ((out, x), e) in digits.iter_mut().zip(square).zip(exponents) {
                        *out = x.carried_digit(row_exponents, *e, unweights, t.words, carry);
                    }
                    V::store_digits(&mut digits, &mut square_out);
                    for (i, four) in square_out.chunks_exact(w).enumerate() {
                        // SAFETY: tiles do not overlap, and every tile is in one range.
                        let out = unsafe { self.digits.piece((g * w + i) * columns + c, w) };
                        out.copy_from_slice(four);
                    }
                }
            }
        }
        for (carry, out) in carries.iter().zip(self.carries.chunks_exact_mut(w)) {
            V::store_ints(*carry, out);
        }
    }
}
