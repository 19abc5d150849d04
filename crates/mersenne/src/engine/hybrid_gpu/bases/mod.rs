//! Engines for numbers k·b^n + c, c = ±1, with small k, on a device. `kernels/hybrid/columns.cu` (DIGITS) has the
//! carries, and the module `engine/fp64_gpu/bases` the layout of words, which takes b = 2 too. The
//! module `bounds` has norms and carries.
//!
//! # Margin
//!
//! Let K = (k·b^n)^(1/W) for W words. Digits are weighted by w_j between 1 and b, whose mean square is w(b) =
//! (b² − 1)/(2·ln b), so the mean of the norm ‖x‖² is W·K²·w(b)/12 for random digits. Words are k times as large as
//! those of x², and so are their errors. Otherwise the bounds are those for 2^p − 1, which allow K²·w(b)·k to have about
//! 57 bits in 2^20 words, and statistical margins 10 bits more. So the words of bases from 2^9 to 2^28 can be longer
//! than those of `fp64`, which must have whole digits, too.
//!
//! # Lengths
//!
//! Exact products need a root (module `roots`). Every number has one for lengths 2^a, 3·2^a, 5·2^a and 7·2^a, of which the
//! latter three may take transforms of 3, 5 or 7 parts.

mod bounds;

use std::marker::PhantomData;

use warpint_arith::dd::Dd;
use warpint_arith::m31::{self, Q};
use warpint_device::{Arg, Device, Source};

use super::limits::Limited;
use super::roots::Root;
use super::tables;
use super::words::{HybridWords, Prepared, Weighted};
use super::{LARGEST_MULTIPLIER, SLACK, Shape, error_factor_of, exact_rows_of, usual_error_factor};
use crate::engine::fp64_gpu::bases::last_word;
use crate::engine::fp64_gpu::form::frequencies;
use crate::engine::fp64_gpu::{constants, tables as fp64};
use crate::engine::gpu::{
    self, Arithmetic, ExactRows, Gangs, Machine, Others, Part, Products, Shape as _, StepKind,
};
use crate::engine::hybrid::Hybrid;
use crate::engine::hybrid::bound::{self, Roundings};
use crate::engine::{BuildOptions, Engine, EngineError, Margin, Step};
use crate::layout::{DigitLayout, StoredDigits};
use crate::{Number, Sign};
use bounds::{
    CARRY_ROOM, LARGEST_PROVEN_REST, LARGEST_REST, LARGEST_WORD, bits_of_unit,
    deviation_of_carries, deviation_of_words, largest_carry, largest_norm, largest_taken,
    largest_weight, rest, square_of_base,
};
pub(super) use bounds::{largest_ratio, usual_norm};

/// The arithmetic of numbers k·b^n ± 1 with the margins of the family `A`.
pub(in crate::engine) struct Bases<A>(PhantomData<A>);

/// Roundings of weights (`docs/internals/hybrid-bound.md`): of a product of three entries of tables, of up to two factors
/// 1/b, and of a ratio.
const WEIGHTS: Roundings = Roundings { weighting: 13.0, unweighting: 12.0, rest: 3.0 };

/// What a negacyclic transform adds: factors in the first step of a column, and products by two roots after the inverse
/// transforms.
const TURNS: [f64; 2] = [8.0, 12.0];

fn roundings(number: Number) -> Roundings {
    let [before, after] = if number.sign() == Sign::Plus { TURNS } else { [0.0; 2] };
    Roundings {
        weighting: WEIGHTS.weighting + before,
        unweighting: WEIGHTS.unweighting + after,
        rest: WEIGHTS.rest,
    }
}

/// The upper bound on log2 k.
const MULTIPLIER_BITS: u32 = 20;

/// The least number of bits of a number, as for `fp64`.
const SHORTEST_NUMBER: u32 = 10_000;

/// Returns the largest multiplier of [`Step::SquareTimes`].
fn largest_multiplier(layout: &DigitLayout) -> u32 {
    let carry = CARRY_ROOM * deviation_of_carries(layout);
    let word = LARGEST_WORD / (CARRY_ROOM * deviation_of_words(layout));
    let most = (largest_taken(layout) / carry).min(LARGEST_REST / rest(layout, carry)).min(word);
    // A quotient out of range becomes the largest number.
    (most as u32).clamp(1, LARGEST_MULTIPLIER)
}

/// Returns the margin of a number at a transform length.
fn margin<A: Limited>(number: Number, length: usize) -> Result<Margin, EngineError> {
    let refuse = |reason| Err(unusable::<A>(number, length, reason));
    if number.multiplier() >> MULTIPLIER_BITS != 0 {
        return refuse("multipliers k are below 2^20");
    }
    if number.bits() < SHORTEST_NUMBER {
        return refuse("numbers have 10000 bits or more");
    }
    let Some(layout) = DigitLayout::new(number, length).filter(|layout| layout.len() >= 2) else {
        return refuse("more words than digits, or words of more than 30 bits");
    };
    if Root::new(number, length).is_none() {
        return refuse("the exact transform has no root for this number");
    }
    let last = [1, 2].map(|i| layout.digits(length - i));
    let carry = deviation_of_carries(&layout);
    if rest(&layout, CARRY_ROOM * carry) > LARGEST_REST || layout.top() > last[0] + last[1] {
        return refuse("words are too short for carries");
    }
    if CARRY_ROOM * carry > largest_taken(&layout) {
        return refuse("carries of 2^50 or more");
    }
    if CARRY_ROOM * deviation_of_words(&layout) > LARGEST_WORD {
        return refuse("words of 2^77 or more before carries");
    }
    Ok(A::margin_of_digits(&layout))
}

/// Returns the margin of the bound for the square of any digits, or else for random ones.
pub(super) fn proven_margin(layout: &DigitLayout) -> Margin {
    let (own, of_bits) = (roundings(layout.number()), Roundings::GPU);
    let more = 2.0 * (own.weighting - of_bits.weighting) + own.unweighting - of_bits.unweighting;
    let factor = usual_error_factor(layout.len()) + more;
    let k = layout.number().multiplier() as f64;
    let largest = k * largest_norm(layout);
    let carry = largest_carry(layout);
    let has_room = carry < largest_taken(layout) && rest(layout, carry) < LARGEST_PROVEN_REST;
    let bits = bound::margin(factor, largest, SLACK);
    if has_room && bits >= 0.0 {
        return Margin { bits, proven: true };
    }
    let usual = largest_ratio(layout) * k * usual_norm(layout);
    Margin { bits: bound::margin(factor, usual, SLACK), proven: false }
}

/// Returns the largest norm with which a product is proven to be exact.
pub(super) fn proven_norm(layout: &DigitLayout, shape: &Shape) -> f64 {
    let number = layout.number();
    let norm = bound::largest_norm_squared(error_factor_of(shape, roundings(number)), SLACK);
    norm / number.multiplier() as f64
}

fn unusable<A: Limited>(number: Number, length: usize, reason: &str) -> EngineError {
    EngineError::Unusable { engine: A::arithmetic(), number, length, reason: reason.into() }
}

impl<A: Limited> Arithmetic for Bases<A> {
    type Point = u64;
    type Shape = Shape;
    type Layout = StoredDigits;
    type Words = HybridWords;

    const COLUMNS: &'static str = super::COLUMNS;
    const ROWS: &'static str = constants::ROWS;
    const SPECIALISED: bool = true;
    const FINDS_ADDEND: bool = false;

    fn arithmetic() -> &'static str {
        A::arithmetic()
    }

    fn exact_rows(shape: &Shape) -> Option<ExactRows> {
        Some(exact_rows_of(shape))
    }

    fn begins_early(shape: &Shape) -> bool {
        shape.is_small()
    }

    /// Returns the kind. What [`Step::SquareMinusTwo`] subtracts is an argument of the kernels of squares.
    fn kind(step: Step) -> StepKind {
        if matches!(step, Step::SquareTimes(_)) { StepKind::Times } else { StepKind::Square }
    }

    fn specialise(source: Source, shape: &Shape, number: Number, part: Part, sums: bool) -> Source {
        let source = super::specialised(source, shape, 0, part, sums);
        let root = Root::new(number, 2 * shape.points()).unwrap_or(Root::one(1));
        let exact = root.negacyclic;
        let source = match part {
            Part::ExactRows(_) => {
                let source = source.define("EXACT_NEGACYCLIC", u32::from(exact));
                return source.define("PARTS", root.parts);
            }
            _ => source.define("NEGACYCLIC", u32::from(number.sign() == Sign::Plus)),
        };
        if !part.is_of_columns() {
            return source;
        }
        let layout = DigitLayout::new(number, 2 * shape.points());
        source
            .define("EXACT_NEGACYCLIC", u32::from(exact))
            .define("FORM", 1)
            .define("DIGITS", 1)
            .define("COARSE", layout.as_ref().map_or(0, bits_of_unit))
    }

    fn spectrum_points(shape: &Shape) -> usize {
        A::spectrum_points(shape)
    }

    fn factor_points(shape: &Shape) -> usize {
        A::factor_points(shape)
    }
}

impl<A: Limited> Weighted for Bases<A> {
    fn prepare(stored: &StoredDigits, shape: &Shape) -> Result<Prepared, EngineError> {
        let layout = &stored.layout;
        let number = layout.number();
        let root = Root::new(number, layout.len());
        let root = root.ok_or_else(|| {
            unusable::<A>(number, layout.len(), "the exact transform has no root")
        })?;
        let unit = square_of_base(layout) * largest_weight(layout).powi(2) / f64::from(1 << 16);
        let (row_weights, column_weights) = weights(layout, shape);
        let [short, long] = layout.bases().map(f64::from);
        let radix = f64::from(number.base());
        let ratio = Dd::from_f64(short) / layout.weights().base();
        let [quotient_short, quotient_long] = [short, long].map(|base| 2f64.powi(31) / base);
        let constants = [
            Arg::F64(ratio.to_f64()),
            Arg::F64((Dd::ONE / ratio).to_f64()),
            Arg::U32(layout.rate() as u32),
        ];
        let of_bases = [
            radix,
            1.0 / radix,
            short,
            1.0 / short,
            quotient_short,
            long,
            1.0 / long,
            quotient_long,
        ];
        let of_bases = of_bases.into_iter().chain([1.0 / unit]).map(Arg::F64);
        let exact = exact_steps(layout).map(Arg::U32);
        Ok(Prepared {
            limits: A::limits_of_digits(layout, shape),
            row_weights,
            column_weights,
            fractions: fractions(layout, shape, root),
            constants: constants.into_iter().chain(of_bases).chain(exact).collect(),
            unit,
            largest_multiplier: largest_multiplier(layout),
            last: Some(last_word(layout)),
            lines: tables::lines(shape, fp64::of_lines(&shape.0, frequencies(number)), root),
        })
    }
}

/// Returns the words 2j for the points j of rows m·COLUMNS, of rows i·M·COLUMNS, and of row 0.
fn words_of(shape: &Shape) -> [Vec<usize>; 3] {
    let (columns, q) = (shape.columns() as usize, shape.column().q as usize);
    let m = (shape.column().a * shape.column().b) as usize;
    [
        (0..m).map(|j1| 2 * j1 * columns).collect(),
        (0..q).map(|i| 2 * i * m * columns).collect(),
        (0..columns).map(|j2| 2 * j2).collect(),
    ]
}

/// Returns the tables of FP64 weights in the order that `digit_weights.cuh` defines.
fn weights(layout: &DigitLayout, shape: &Shape) -> (Vec<fp64::Point>, Vec<fp64::Point>) {
    let (number, n) = (layout.number(), shape.points() as u64);
    let of_words = layout.weights();
    let pair = |w: usize, scale: Dd| {
        let weight = of_words.get(w);
        [weight.to_f64(), (Dd::ONE / (weight * scale)).to_f64()]
    };
    // The factors n of the transforms and q of words, and k of the stored form.
    let scale = Dd::from_u64(n) * Dd::from_u64(u64::from(Q)) / Dd::from_u64(number.multiplier());
    let [starts, points, firsts] = words_of(shape);
    let mut rows: Vec<_> = starts.iter().chain(&points).map(|&w| pair(w, Dd::ONE)).collect();
    let mut columns: Vec<_> = firsts.iter().map(|&w| pair(w, scale)).collect();
    if number.sign() == Sign::Plus {
        // e(½·j/n) for the points j of these words.
        let turn = |w: &usize| fp64::rounded(*w as u64 / 2, 2 * n);
        rows.extend(starts.iter().map(turn));
        columns.extend(firsts.iter().map(turn));
    }
    (rows, columns)
}

/// Returns b^(D_w)·h^v modulo q for word w of point P·v + t.
fn exact_weight(layout: &DigitLayout, root: Root, w: usize) -> u32 {
    let b = m31::reduce(layout.number().base().into());
    m31::mul(m31::pow(b, layout.offset(w)), m31::pow(root.h, root.power(w)))
}

/// Returns the doubled factors b^s and b^(s+1), their inverses, 1/b and b modulo q, for short words of s digits.
fn exact_steps(layout: &DigitLayout) -> [u32; 6] {
    let b = m31::reduce(layout.number().base().into());
    let short = m31::pow(b, layout.rate() >> 32);
    let long = m31::mul(short, b);
    [short, long, m31::inverse(short), m31::inverse(long), m31::inverse(b), b].map(|v| 2 * v)
}

/// Returns the fractions of words, and the exact weights and roots, in the order that `digit_weights.cuh` defines.
fn fractions(layout: &DigitLayout, shape: &Shape, root: Root) -> Vec<u32> {
    let [starts, points, firsts] = words_of(shape);
    let mut table: Vec<u32> =
        starts.iter().chain(&firsts).chain(&points).map(|&w| layout.fraction(w)).collect();
    table.resize(table.len().next_multiple_of(2), 0);
    let k = m31::reduce(layout.number().multiplier());
    let mut pair = |w: usize, factor: u32| {
        let weight = exact_weight(layout, root, w);
        table.extend([2 * weight, 2 * m31::mul(factor, m31::inverse(weight))]);
    };
    starts.iter().chain(&points).for_each(|&w| pair(w, 1));
    firsts.iter().for_each(|&w| pair(w, k));
    if root.negacyclic {
        let n = shape.points() as u64 / u64::from(root.parts);
        let turn = |w: &usize, sign: i64| {
            let unit = tables::unit(sign * root.power(*w) as i64, 2 * n);
            [2 * unit.re, 2 * unit.im]
        };
        table.extend(starts.iter().flat_map(|w| turn(w, -1)));
        table.extend(starts.iter().chain(&firsts).flat_map(|w| turn(w, 1)));
    }
    table
}

/// Returns whether the lines of a shape have these parts, and its tiles pass on second carries.
fn suits(shape: &Shape, root: Root) -> bool {
    shape.is_wide() && shape.has_parts(root.parts)
}

/// Returns the shape with the number `variant`, or for variant 0 the first one, that suits the number.
fn shape_for(number: Number, length: usize, shared_memory: u32, variant: usize) -> Option<Shape> {
    let root = Root::new(number, length)?;
    Shape::suited(length, shared_memory, variant, |shape| suits(shape, root))
}

/// The engines for numbers k·b^n ± 1 of at least 10,000 bits that are no Mersenne numbers.
pub(super) struct OtherBases<A>(PhantomData<A>);

impl<A> OtherBases<A> {
    pub(super) const NEW: Self = Self(PhantomData);
}

impl<A: Limited + Sync> Others for OtherBases<A> {
    fn margin(&self, number: Number, length: usize) -> Result<Margin, EngineError> {
        margin::<A>(number, length)
    }

    fn has_shape(&self, number: Number, length: usize, shared_memory: u32) -> bool {
        Root::new(number, length).is_some_and(|root| {
            Shape::has_suited(length, shared_memory, |shape| suits(shape, root))
        })
    }

    fn build(
        &self,
        device: &Device,
        _: Option<&Gangs>,
        number: Number,
        length: usize,
        options: BuildOptions,
    ) -> Result<Box<dyn Engine>, EngineError> {
        let refuse = |reason| unusable::<A>(number, length, reason);
        let shared_memory = device.info().shared_memory_per_block;
        let shape = shape_for(number, length, shared_memory, options.variant);
        let shape = shape.ok_or_else(|| refuse("there is no such shape of this length"))?;
        if options.check_squarings {
            return Err(refuse("squarings cannot be checked"));
        }
        let layout = DigitLayout::new(number, length);
        let layout = layout.ok_or_else(|| refuse("there are no such words"))?;
        let stored = || StoredDigits::new(layout);
        let products = Products::<Bases<A>>::new(device, stored(), shape, options.into())?;
        Ok(Box::new(Machine::new(device, stored(), options.registers, products)?))
    }
}

/// Returns the sources of the kernels, as [`super::sources`] does: for lengths 2^a those for both signs and both kinds of
/// exact products, and for others those for each number of parts.
pub(super) fn sources(length: usize, shared_memory: u32) -> Vec<Source> {
    let signs = [Sign::Minus, Sign::Plus].into_iter();
    let numbers =
        signs.flat_map(|sign| (2..12).filter_map(move |b| Number::new(1, b, 1, sign).ok()));
    let mut kinds = vec![];
    let mut found = vec![];
    for number in numbers {
        let Some(root) = Root::new(number, length) else { continue };
        let signs = (number.sign() == Sign::Plus, root.negacyclic);
        let kind = (length.is_power_of_two().then_some(signs), root.parts);
        let Some(shape) = shape_for(number, length, shared_memory, 0) else { continue };
        if !kinds.contains(&kind) {
            kinds.push(kind);
            found.extend(gpu::sources_of::<Bases<Hybrid>>(&shape, number, None));
        }
    }
    found
}

#[cfg(test)]
#[cfg(feature = "sim")]
mod tests;
