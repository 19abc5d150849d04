//! Engines for numbers k·2^n + c, c = ±1, with small k, on a device. `engine/fp64/form` has the method, and
//! `kernels/fp64/columns.cu` (FORM) the carries.

use std::marker::PhantomData;

use warpint_arith::dd::Dd;
use warpint_device::{Arg, Device, Source};

use super::shape::Shape;
use super::tables::{self, Frequencies, Point, Words};
use super::words::{Prepared, WeightTables, Weighted, WeightedWords};
use super::{LARGEST_MULTIPLIER, bases, constants, largest_random_carry, padded};
use crate::engine::fp64::{Fp64, form, margin};
use crate::engine::gpu::{
    self, Arithmetic, Gangs, Layout, Machine, Others, Part, Products, Reduction, Shape as _,
    SquareCheck, StepKind,
};
use crate::engine::{BuildOptions, Engine, EngineError, EngineFamily as _, Margin, Step};
use crate::layout::{FormLayout, StoredDigits, StoredForm};
use crate::{Number, Residue, Shift, Sign};

/// The arithmetic of numbers k·b^n ± 1 whose residues have the layout L.
pub(in crate::engine) struct Form<L>(PhantomData<L>);

/// The last word of a residue modulo k·b^n + c.
#[derive(Debug, Clone, Copy)]
pub(in crate::engine) struct LastWord {
    pub(super) multiplier: u64,
    pub(super) sign: Sign,
    /// b^κ for the κ digits between digit n and the end of the last word.
    pub(super) up: f64,
    /// For b = 2, 2^−κ. For other b, the value of digit n in units of the last word.
    pub(super) down: f64,
    /// For other b, 1/`down`, and the units of the word before the last one in digit n; if `down` ≥ 1, the latter
    /// is 0.
    pub(super) split: Option<[f64; 2]>,
}

impl LastWord {
    /// Returns the arguments of the kernels of columns: k, 1/k, `up`, `down`, −c, what a step subtracts from the
    /// multiples of b^n and of 1, and `split`.
    pub(in crate::engine) fn args(self, step: Step) -> Vec<Arg> {
        let k = self.multiplier as f64;
        // −c.
        let sign = if self.sign == Sign::Minus { 1.0 } else { -1.0 };
        // The stored form of 2 is 2/k ≡ −c·2·b^n; if k = 1, it is 2.
        let two = if step == Step::SquareMinusTwo { 2.0 } else { 0.0 };
        let (less, less_0) = if self.multiplier == 1 { (0.0, two) } else { (sign * two, 0.0) };
        let args = [k, 1.0 / k, self.up, self.down, sign, less, less_0];
        args.into_iter().chain(self.split.into_iter().flatten()).map(Arg::F64).collect()
    }
}

/// Returns the part of the range of digits that is left of a carry in the last of the four words that it
/// enters.
///
/// As for Mersenne numbers, let R be the root mean square of the words of a product: R = 0.255·k·√N·4^β
/// for random digits and 0.54·k·N·4^β for any digits, which short transforms must take. The first carry of a
/// word is R/2^β, and in the fourth word that it enters it is R/32^β times the range.
pub(in crate::engine) fn rest_of_carries(number: Number, length: usize) -> f64 {
    let (k, n) = (number.multiplier() as f64, length as f64);
    let is_short = length <= margin::ANY_DIGITS_UP_TO;
    let rms = if is_short { 0.54 * n } else { 0.255 * n.sqrt() };
    let digit = f64::from(number.base()).log2();
    let word = (f64::from(number.exponent()) * digit + k.log2()) / n;
    k * rms * (-3.0 * word).exp2()
}

/// The largest [`rest_of_carries`] that is allowed. In a model of the carries, digits grew to 1.9 times their mean
/// square for 0.35 and tiles of eight columns, and to about 3 times for 0.4.
pub(super) const LARGEST_REST: f64 = 0.32;

/// The bits of margin that the additional products of the negacyclic transform cost.
pub(in crate::engine) const COST_OF_TURNS: f64 = 0.15;

/// The largest rest of carries in a square that the kernels multiply by a small number.
const LARGEST_MULTIPLIED_REST: f64 = 0.15;

/// Returns the largest multiplier that kernels take in [`Step::SquareTimes`], at least 1.
pub(super) fn largest_multiplier(rest: f64) -> u32 {
    // The quotient is not negative, and a quotient out of range becomes the largest number.
    ((LARGEST_MULTIPLIED_REST / rest) as u32).clamp(1, LARGEST_MULTIPLIER)
}

/// Returns the bits of margin that the rest of carries costs. It is in the second word of each point, whose digits
/// have a deviation of 1/√12 of their range, and errors grow with the mean square of digits. Larger digits leave
/// larger rests, which the last term counts; it was fitted to a model of the carries.
pub(super) fn cost_of_rest(rest: f64) -> f64 {
    let largest = rest * f64::from(largest_multiplier(rest));
    (1.0 + 6.0 * largest.powi(2) + 8.0 * largest.powi(4)).log2()
}

/// Returns a bound that carries do not exceed if digits are random: see [`super::largest_carry`]. The digit of
/// the fourth word that a carry enters is at most four times as large as the range of that word.
fn largest_carry(layout: &FormLayout) -> f64 {
    let unit = (layout.rate() as f64 / 2f64.powi(32)).exp2();
    largest_random_carry(layout.len(), unit).min(4.0 * unit.powi(4)).min(2f64.powi(48))
}

/// The layouts of words for which [`Form`] is an arithmetic.
pub(super) trait Formed: Layout + Sized + 'static {
    /// Whether words are digits to a base other than 2 (DIGITS in the kernels).
    const DIGITS: bool;

    /// Computes the tables and constants of the layout.
    fn prepare(&self, shape: &Shape) -> Prepared;
}

impl<L: Formed> Arithmetic for Form<L> {
    type Point = Point;
    type Shape = Shape;
    type Layout = L;
    type Words = WeightedWords;

    const COLUMNS: &'static str = constants::COLUMNS;
    const ROWS: &'static str = constants::ROWS;
    const SPECIALISED: bool = true;
    const GATHERS: bool = !L::DIGITS && !L::REDUCES;
    const FINDS_ADDEND: bool = false;

    fn arithmetic() -> &'static str {
        Fp64.name()
    }

    /// Returns the kind. What [`Step::SquareMinusTwo`] subtracts is an argument of the kernels of squares, and
    /// kernels that reduce products multiply them.
    fn kind(step: Step) -> StepKind {
        match step {
            Step::SquareTimes(_) if !L::REDUCES => StepKind::Times,
            _ => StepKind::Square,
        }
    }

    fn specialise(source: Source, shape: &Shape, number: Number, part: Part, _: bool) -> Source {
        let source = constants::specialise(source, shape, 0, part, false);
        if L::REDUCES {
            return source.define("PADDED", 1);
        }
        let is_negacyclic = number.sign() == Sign::Plus;
        let source = source.define("FORM", 1).define("NEGACYCLIC", u32::from(is_negacyclic));
        if L::DIGITS { source.define("DIGITS", 1) } else { source }
    }
}

impl<L: Formed> Weighted for Form<L> {
    fn prepare(layout: &L, shape: &Shape) -> Prepared {
        layout.prepare(shape)
    }

    fn checked(_: &Device, layout: &L, _: &Shape) -> Result<SquareCheck, EngineError> {
        Err(unusable(layout.number(), layout.len(), "squarings cannot be checked"))
    }
}

/// The weights of the words of a residue modulo k·b^n + c.
pub(super) struct Weights<'a> {
    pub(super) number: Number,
    /// 2^32·ρ for the mean number of digits ρ of a word.
    pub(super) rate: u64,
    /// K = (k·b^n)^(1/W).
    pub(super) base: Dd,
    /// The base of a short word.
    pub(super) short: f64,
    /// The weight of word w.
    pub(super) weight: &'a dyn Fn(usize) -> Dd,
    /// 2^32·u_w for the fraction u_w = ⌈wρ⌉ − wρ.
    pub(super) fraction: &'a dyn Fn(usize) -> u32,
}

impl Weights<'_> {
    /// Computes the tables in the order that `kernels/fp64/weights.cuh` defines.
    pub(super) fn tables(&self, shape: &Shape) -> WeightTables {
        let &Self { number, rate, base, short, weight, fraction } = self;
        let (n, k) = (shape.points() as u64, number.multiplier());
        let (columns, q) = (shape.columns() as usize, shape.column.q as usize);
        let m = (shape.column.a * shape.column.b) as usize;
        let pair = |v: Dd, scale: Dd| [v.to_f64(), (Dd::ONE / (v * scale)).to_f64()];
        let starts = (0..m).map(|j1| 2 * j1 * columns);
        let points = (0..q).map(|i| 2 * i * m * columns);
        let firsts = (0..columns).map(|j2| 2 * j2 + 1);
        // The factor n of the transforms, and k of the stored form.
        let scale = Dd::from_u64(n) / Dd::from_u64(k);
        let of_rows = starts.clone().chain(points.clone());
        let mut row_weights: Vec<Point> = of_rows.map(|w| pair(weight(w), Dd::ONE)).collect();
        let mut column_weights: Vec<Point> =
            firsts.clone().map(|w| pair(weight(w) * base, scale)).collect();
        if number.sign() == Sign::Plus {
            // e(½·j/n) for j = m·COLUMNS, and for each column.
            row_weights.extend((0..m).map(|j1| tables::rounded(j1 as u64 * columns as u64, 2 * n)));
            column_weights.extend((0..columns).map(|j2| tables::rounded(j2 as u64, 2 * n)));
        }
        let fractions = starts.chain(firsts).chain(points).map(fraction).collect();
        let ratio = Dd::from_f64(short) / base;
        let words = Words {
            ratio: ratio.to_f64(),
            inverse_ratio: (Dd::ONE / ratio).to_f64(),
            bits: (rate >> 32) as u32,
            long_above: (rate as u32).wrapping_neg().wrapping_sub(1),
            long_below: rate as u32,
        };
        WeightTables { words, of_rows: row_weights, of_columns: column_weights, fractions }
    }
}

/// Returns the frequencies of the transform modulo a number k·b^n + c.
pub(in crate::engine) fn frequencies(number: Number) -> Frequencies {
    if number.sign() == Sign::Plus { Frequencies::Halves } else { Frequencies::Whole }
}

impl Formed for StoredForm {
    const DIGITS: bool = false;

    fn prepare(&self, shape: &Shape) -> Prepared {
        let layout = &self.layout;
        let number = layout.number();
        let of_words = layout.weights();
        let weights = Weights {
            number,
            rate: layout.rate(),
            base: of_words.base(),
            short: 2f64.powi((layout.rate() >> 32) as i32),
            weight: &|w| of_words.get(w),
            fraction: &|w| layout.fraction(w),
        };
        Prepared {
            weights: Some(weights.tables(shape)),
            largest_carry: largest_carry(layout),
            largest_multiplier: largest_multiplier(rest_of_carries(number, layout.len())),
            constants: vec![],
            last: Some(LastWord {
                multiplier: number.multiplier(),
                sign: number.sign(),
                up: 2f64.powi(layout.top() as i32),
                down: 2f64.powi(-(layout.top() as i32)),
                split: None,
            }),
            lines: tables::of_lines(shape, frequencies(number)),
        }
    }
}

impl Layout for StoredForm {
    const COMBINE: &'static str = "combine_form";

    fn number(&self) -> Number {
        self.layout.number()
    }

    fn len(&self) -> usize {
        self.layout.len()
    }

    fn digits_of(&self, x: &Residue, _: Shift) -> Vec<i32> {
        assert_eq!(x.number(), self.layout.number(), "a residue of another number");
        let mut digits = vec![0; self.layout.len()];
        self.store(x.limbs(), &mut digits);
        digits
    }

    fn residue_of(&self, digits: &[i32], _: Shift) -> Residue {
        Residue::from_canonical(self.layout.number(), self.load(digits))
    }

    fn combine_args(&self) -> Vec<Arg> {
        let number = self.layout.number();
        let sign = if number.sign() == Sign::Minus { 1 } else { -1 };
        vec![
            Arg::U64(self.layout.rate()),
            Arg::U64(number.multiplier()),
            Arg::U32(self.layout.top()),
            Arg::I32(sign),
        ]
    }

    fn is_intact(&self) -> bool {
        StoredForm::is_intact(self)
    }
}

/// Shapes in which an H200 squares 32 numbers together faster than in the first shape of their length, which was
/// chosen for one number. The times are in benches/NOTES.md, 2026-11-29.
pub(super) const IN_GANGS: [&str; 4] = [
    "112x256 7.4.4/8.8.4 8/8 8 128.128",
    "240x128 5.6.8/4.8.4 8/8 8 128.128",
    "128x256 8.4.4/4.16.4 4/8 4 128.128",
    "192x192 6.4.8/6.8.4 4/8 4 128.128",
];

/// Returns the shape of [`IN_GANGS`] that has the given length.
fn shape_in_gang(length: usize, shared_memory: u32) -> Option<Shape> {
    let mut known = IN_GANGS.into_iter().filter_map(|name| name.parse::<Shape>().ok());
    known.find(|shape| 2 * shape.points() == length && shape.fits(shared_memory))
}

/// Returns the sources of the kernels for both signs and for padded transforms, as [`super::sources`] does.
pub(super) fn sources(length: usize, shared_memory: u32) -> Vec<Source> {
    let of_sign = |sign| {
        let [number, other] = [2, 10].map(|b| Number::new(3, b, 1, sign).ok());
        let shape = Shape::wide(length, shared_memory, 0)?;
        let mut sources = gpu::sources_of::<Form<StoredForm>>(&shape, number?, None);
        sources.extend(gpu::sources_of::<Form<StoredDigits>>(&shape, other?, None));
        Some(sources)
    };
    let weighted = [Sign::Minus, Sign::Plus].into_iter().filter_map(of_sign).flatten();
    let padded = Shape::wide(length, shared_memory, 0).map(|shape| padded::sources(&shape));
    let of_gang = || {
        let shape = shape_in_gang(length, shared_memory)?;
        let number = |sign| Number::new(3, 2, 1, sign).ok();
        let numbers = [number(Sign::Minus)?, number(Sign::Plus)?];
        Some(
            numbers
                .map(|number| gpu::sources_of::<Form<StoredForm>>(&shape, number, None))
                .concat(),
        )
    };
    let others = [padded, of_gang()].into_iter().flatten().flatten();
    weighted.chain(others).collect()
}

pub(super) fn unusable(number: Number, length: usize, reason: &str) -> EngineError {
    EngineError::Unusable { engine: Fp64.name(), number, length, reason: reason.into() }
}

/// Returns the margin of a number at a transform length of the device by a weighted transform.
fn weighted_margin(number: Number, length: usize) -> Result<Margin, EngineError> {
    if number.base() != 2 {
        return bases::margin(number, length);
    }
    if let Some(reason) = form::unsuitable(number).or_else(|| form::crowded(number, length)) {
        return Err(unusable(number, length, reason));
    }
    let layout = FormLayout::new(number, length);
    let rest = rest_of_carries(number, length);
    // r·2^n of the last carry enters two words.
    let last_two = layout.bits(length - 1) + layout.bits(length - 2);
    if rest > LARGEST_REST || layout.top() > last_two {
        return Err(unusable(number, length, "words are too short for carries"));
    }
    let turns = if number.sign() == Sign::Plus { COST_OF_TURNS } else { 0.0 };
    let bits = form::bits(number, length, margin::ON_GPU) - cost_of_rest(rest) - turns;
    Ok(Margin { bits, proven: false })
}

/// Returns whether a number is computed with by a weighted transform at a length; otherwise by a padded one.
pub(super) fn is_weighted(number: Number, length: usize) -> bool {
    match (weighted_margin(number, length), padded::margin(number, length)) {
        (Ok(weighted), Ok(padded)) => weighted.bits >= padded.bits.min(0.0),
        (weighted, _) => weighted.is_ok(),
    }
}

/// The engines for numbers k·b^n ± 1 of at least 10,000 bits that are no Mersenne numbers. If the weighted transform
/// has no margin at a length, the transform with the larger margin is used.
pub(super) struct OtherNumbers;

impl Others for OtherNumbers {
    fn margin(&self, number: Number, length: usize) -> Result<Margin, EngineError> {
        if is_weighted(number, length) {
            weighted_margin(number, length)
        } else {
            padded::margin(number, length)
        }
    }

    fn has_shape(&self, _: Number, length: usize, shared_memory: u32) -> bool {
        Shape::has_suited(length, shared_memory, Shape::is_wide)
    }

    fn digits_of_products(&self, number: Number, length: usize) -> usize {
        if is_weighted(number, length) { 0 } else { Reduction::digits(length) }
    }

    fn build(
        &self,
        device: &Device,
        gangs: Option<&Gangs>,
        number: Number,
        length: usize,
        options: BuildOptions,
    ) -> Result<Box<dyn Engine>, EngineError> {
        let shared_memory = device.info().shared_memory_per_block;
        let is_weighted = is_weighted(number, length);
        let gangs = gangs.filter(|_| is_weighted && number.base() == 2);
        let in_gang = gangs.filter(|_| options.variant == 0);
        let shape = in_gang
            .and_then(|_| shape_in_gang(length, shared_memory))
            .or_else(|| Shape::wide(length, shared_memory, options.variant));
        let no_shape = || unusable(number, length, "there is no such shape of this length");
        let shape = shape.ok_or_else(no_shape)?;
        if options.check_squarings {
            return Err(unusable(number, length, "squarings cannot be checked"));
        }
        if !is_weighted {
            return padded::build(device, number, shape, options);
        }
        if number.base() != 2 {
            return bases::build(device, number, shape, options);
        }
        let layout = || StoredForm::new(FormLayout::new(number, length));
        let products = Products::<Form<StoredForm>>::new(device, layout(), shape, options.into())?;
        let machine = Machine::new(device, layout(), options.registers, products)?;
        Ok(Box::new(machine.in_gang(gangs)?))
    }
}

#[cfg(test)]
#[cfg(feature = "sim")]
mod tests;
