//! Products of residues given by digits: column pass, row pass, column pass.

use warpint_arith::simd::{F64s, Kernel, Level, PortableF64s};
use warpint_transform::cpu::goldilocks::{Pool, Shared};

use super::arithmetic::{Complex, Modular};
use super::columns::{Columns, Forward, Inverse};
use super::rows::Rows;
use super::shape::Shape;
use super::words::Words;
use crate::engine::exact::{Digits, Products, carry};
use crate::engine::fp64::transform::buffer::{Buffer, words, words_mut};
use crate::layout::WordLayout;

/// The tables for products of one exponent and transform length.
pub(super) struct Transform {
    layout: WordLayout,
    level: Level,
    columns: Columns,
    complex: Rows<Complex>,
    modular: Rows<Modular>,
    /// Whether the errors of products are measured.
    measured: bool,
}

/// A spectrum in both arithmetics. The layout is described at [`Shape::place`].
pub(super) struct Spectrum([Buffer; 2]);

/// The distance from which on a product is certainly wrong.
const UNSOUND: f64 = 0.5;

/// Runs a kernel with the vectors of a level, which the processor has.
fn enter<K: Kernel>(level: Level, kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    {
        use warpint_arith::simd::{Avx2F64s, Avx512F64s};
        if let (Level::Avx512, Some(i)) = (level, Avx512F64s::instructions()) {
            return Avx512F64s::enter(i, kernel);
        }
        if let (Level::Avx2, Some(i)) = (level, Avx2F64s::instructions()) {
            return Avx2F64s::enter(i, kernel);
        }
    }
    let _ = level;
    PortableF64s::enter((), kernel)
}

/// Returns the number of lanes of the vectors of a level.
fn lanes(level: Level) -> usize {
    match level {
        Level::Avx512 => 8,
        Level::Portable | Level::Avx2 => 4,
    }
}

impl Transform {
    /// Computes the tables for the exponent and the words of a layout, with vectors of `level` or, if
    /// the length is too short for them, of the next lower level. Returns `None` if no level has a
    /// shape for the length. Cost: O(N) products.
    pub(super) fn new(layout: WordLayout, level: Level) -> Option<Self> {
        let n = layout.len() / 2;
        let levels = Level::ALL.into_iter().rev().filter(|&l| l <= level);
        let (level, shape) =
            levels.filter_map(|level| Some((level, Shape::new(n, lanes(level))?))).next()?;
        Some(Self {
            layout,
            level,
            columns: Columns::new(shape, Words::new(&layout, &shape)),
            complex: Rows::new(&shape, false),
            modular: Rows::new(&shape, true),
            measured: false,
        })
    }

    /// Returns the tables for products whose errors are measured.
    pub(super) fn measured(self) -> Self {
        Self { measured: true, ..self }
    }

    fn shape(&self) -> &Shape {
        &self.columns.shape
    }

    /// Weights the digits and transforms the columns.
    fn forward(&self, pool: &Pool, digits: &[i32], spectrum: &mut Spectrum) {
        let spectra = spectrum.shared();
        let digits = bytemuck::cast_slice(digits);
        pool.each_range(self.shape().blocks(), |blocks| {
            enter(
                self.level,
                Forward { columns: &self.columns, digits, spectra: &spectra, blocks },
            );
        });
    }

    /// Computes the spectrum of the product of x and y, or of x and itself, in place of x.
    fn rows(&self, pool: &Pool, x: &mut Spectrum, y: Option<&Spectrum>) {
        let (shape, stride) = (*self.shape(), self.shape().stride());
        let scratch = if y.is_some() { 2 * stride } else { 0 };
        let [complex, modular] = &mut x.0;
        let others = |arithmetic: usize, pair: usize| {
            y.map(|y| {
                let at = 2 * stride * pair;
                let pair = &words(&y.0[arithmetic])[at..at + 2 * stride];
                pair.split_at(stride).into()
            })
        };
        let complex = Shared::new(words_mut(complex));
        let modular = Shared::new(words_mut(modular));
        pool.each_range(shape.rows / shape.lanes / 2, |pairs| {
            let mut scratch = vec![0.0; scratch];
            for pair in pairs {
                // SAFETY: every pair is in one range.
                let [x, y] = [&complex, &modular]
                    .map(|all| unsafe { all.piece(2 * stride * pair, 2 * stride) });
                enter(
                    self.level,
                    Pair {
                        transform: self,
                        pair,
                        complex: (x, others(0, pair)),
                        modular: (y, others(1, pair)),
                        scratch: &mut scratch,
                    },
                );
            }
        });
    }

    /// Transforms the columns back and writes the digits of the product to `digits`. Returns the error
    /// of the product, or 0 if products are not measured.
    fn inverse(&self, pool: &Pool, spectrum: &mut Spectrum, digits: &mut [i32]) -> f64 {
        if self.measured {
            self.inverse_measured::<true>(pool, spectrum, digits)
        } else {
            self.inverse_measured::<false>(pool, spectrum, digits)
        }
    }

    fn inverse_measured<const MEASURED: bool>(
        &self,
        pool: &Pool,
        spectrum: &mut Spectrum,
        digits: &mut [i32],
    ) -> f64 {
        let (spectra, shape) = (spectrum.shared(), *self.shape());
        let shared = Shared::new(bytemuck::cast_slice_mut(digits));
        let carries = pool.each_range(shape.blocks(), |blocks| {
            let end = blocks.end * shape.lanes;
            let mut carries = vec![0i64; shape.rows];
            let inverse = Inverse::<MEASURED> {
                columns: &self.columns,
                digits: &shared,
                spectra: &spectra,
                blocks,
                carries: &mut carries,
            };
            let worst = enter(self.level, inverse);
            (end, carries, worst)
        });
        // Each range of columns began without carries. The carries out of the ranges before are added
        // now, and the carry out of a row goes into the next row.
        let largest = carries.iter().map(|(.., worst)| *worst).fold(0.0, f64::max);
        if largest >= UNSOUND {
            // The carries are not those of words, and could overflow.
            return largest;
        }
        for (end, out, _) in carries {
            for (r, carry) in out.into_iter().enumerate() {
                let j = 2 * (r * shape.columns + end) % self.layout.len();
                carry::add_at(&self.layout, digits, j, carry);
            }
        }
        largest
    }
}

impl Spectrum {
    fn shared(&mut self) -> [Shared<'_, f64>; 2] {
        let [complex, modular] = &mut self.0;
        [Shared::new(words_mut(complex)), Shared::new(words_mut(modular))]
    }
}

/// A pair of groups of rows in one arithmetic: its points, and those of the other factor.
type Operands<'a> = (&'a mut [f64], Option<[&'a [f64]; 2]>);

struct Pair<'a> {
    transform: &'a Transform,
    pair: usize,
    complex: Operands<'a>,
    modular: Operands<'a>,
    scratch: &'a mut [f64],
}

impl Kernel for Pair<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: F64s>(self, i: V::Instructions) {
        let (t, stride) = (self.transform, self.transform.shape().stride());
        let (x, y) = self.complex;
        t.complex.multiply::<V>(i, self.pair, x.split_at_mut(stride).into(), y, self.scratch);
        let (x, y) = self.modular;
        t.modular.multiply::<V>(i, self.pair, x.split_at_mut(stride).into(), y, self.scratch);
    }
}

impl Products for Transform {
    type Spectrum = Spectrum;

    fn layout(&self) -> &WordLayout {
        &self.layout
    }

    fn spectrum(&self) -> Spectrum {
        let points = self.shape().stride() / 2 * (self.shape().rows / self.shape().lanes);
        Spectrum([Buffer::new(points), Buffer::new(points)])
    }

    fn square(&self, pool: &Pool, digits: &mut [i32], work: &mut Spectrum) -> f64 {
        self.forward(pool, digits, work);
        self.rows(pool, work, None);
        self.inverse(pool, work, digits)
    }

    fn multiply(
        &self,
        pool: &Pool,
        registers: &mut [Digits],
        [dst, a, b]: [usize; 3],
        [work, other]: [&mut Spectrum; 2],
    ) -> f64 {
        self.forward(pool, &registers[a], work);
        self.forward(pool, &registers[b], other);
        self.rows(pool, work, Some(other));
        self.inverse(pool, work, &mut registers[dst])
    }
}
