//! Conversion to and from decimal digits on a device.
//!
//! Let β = 2^64. D = 19·g·2^L digits are 2^L *leaves* of g ≤ 64 groups of 19 digits. The powers 10^(D/2^l)
//! are computed by squares.
//!
//! # To digits
//! Let x < 10^(D − 1). The digits of f = x/10^D are found by halves (Bernstein 2008, *Fast multiplication and
//! its applications*, §12, with fractions instead of remainders): the upper half of the digits of a fraction
//! f are those of f, truncated, and the lower half those of the fractional part of f·10^(D/2). On level l
//! there are 2^l fractions with D_l = D/2^l digits. All have W_l words, where W_l exceeds the words of
//! 10^(D_l) by 1: β^W_l > 10^(D_l)·β. A lower half is a window of the product by a power that all rows of
//! the level share. At a leaf, a thread multiplies by 10^19 and splits off the integer part, g times.
//!
//! *Long runs of digits 0 or 9.* A fraction with an error cannot be truncated if it is next to a multiple of
//! 10^(−D_l). So (x + c)/10^D with c = 555…5 5/9 is converted instead, that is f + 5/9, and the host
//! subtracts digits 5. If what is left of a leaf is still within 2^12/β of 0 or 1, there is no result; for
//! random digits and 2^L leaves the probability is 2^(L − 51).
//!
//! *The error.* Let e_l be the largest error of a fraction of level l. The first fraction is x·2^s·I/β^(2p − 1)
//! with a reciprocal I of p = W_0 words of 10^D·2^s·β (see `division`): as x/10^D < 1/10, its error is below
//! 9/10 of β^(−W_0), the window has an error of less than 2·β^(−W_0), and so e_0 ≤ 4·β^(−W_0) with 5/9. A lower
//! half has 10^(D_(l + 1)) times the error of its fraction, and that of a window, at most 2·β^(−W_(l + 1)):
//!
//! e_l ≤ (4 + 2·l)·10^(−D_l)/β
//!
//! by induction, because β^(−W_l) < 10^(−D_l)/β. After the digits of a leaf, the error is at most
//! (4 + 2·L)/β, which is less than 2^12/β. If the fraction left is not that near to 0 or 1, all digits of
//! the leaf are right. A fraction that the error moved across 0 or 1 follows such a leaf.
//!
//! # From digits
//! A thread computes each leaf by Horner's rule in 10^19. Pairs are combined, high·10^(D_l) + low, as sums
//! of two products.
//!
//! # Cost
//! Let M(n) be the time of a product of two numbers of n words, the length of x. To digits, a level takes two
//! transforms of rings of n words in all, M(n)/3. The powers take 2/3·M(n), the first fraction 2.7·M(n).
//! From digits, a level takes M(n)/2. There are L ≈ log2(n/50) levels. The memory is about nine times that of
//! x, and the working memory of products.

use warpint_device::{Arg, Buffer, Device, DeviceError, Kernel, Launch, Source, View, common};
use warpint_natural::radix::groups::{
    GROUP, Leaves, TEN_19, digits_of, digits_of_groups, groups_of_digits, limbs_of, subtract_fives,
};

use super::batch::{Factor, flat};
use super::carries::{Addend, First};
use super::division::significant;
use super::rows::{Map, RowCells, Rows};
use super::shape::{Form, Shape};
use super::{DeviceProducts, HEADERS, HugeError};

/// The number of threads of a block. Each has its row in its registers or local memory.
const THREADS: u32 = 128;
/// The kernels of conversions.
#[derive(Debug)]
pub(super) struct Decimal {
    to_groups: Kernel,
    from_groups: Kernel,
    copy_rows: Kernel,
}

/// A power of ten, without leading zero words.
#[derive(Debug)]
struct Power {
    words: Buffer<u64>,
    len: usize,
}

impl Power {
    fn view(&self) -> View<'_, u64> {
        self.words.view(..self.len)
    }
}

/// Returns the forms of the products of a conversion to digits, and of the squares of powers. Lengths of
/// powers are upper bounds, so one or another form may differ from the one that is used.
fn forms_of_halves(leaves: Leaves) -> Vec<Form> {
    let squares = (0..leaves.levels).map(|j| {
        let words = leaves.limbs(j);
        Shape::window(words, words, 1, 0..leaves.limbs(j + 1).min(2 * words))
    });
    let halves = (0..leaves.levels).map(|j| {
        let [words, power] = [leaves.limbs(j + 1) + 1, leaves.limbs(j)];
        Shape::window(words, power, 1, words - power - 1..words)
    });
    squares.chain(halves).flatten().map(|shape| shape.form()).collect()
}

/// Returns the forms of the products of a conversion of digits, likewise.
fn forms_of_pairs(leaves: Leaves) -> Vec<Form> {
    let squares = (1..leaves.levels).map(|j| {
        let words = leaves.limbs(j - 1);
        Shape::window(words, words, 1, 0..leaves.limbs(j).min(2 * words))
    });
    let pairs = (0..leaves.levels).map(|j| {
        let words = leaves.limbs(j);
        Shape::window(words, words, 2, 0..leaves.limbs(j + 1).min(2 * words))
    });
    squares.chain(pairs).flatten().map(|shape| shape.form()).collect()
}

impl Decimal {
    pub(super) fn new(device: &Device) -> Result<Self, DeviceError> {
        let program = device.program(&source())?;
        Ok(Self {
            to_groups: program.kernel("huge_to_groups", 0)?,
            from_groups: program.kernel("huge_from_groups", 0)?,
            copy_rows: program.kernel("huge_copy_rows", 0)?,
        })
    }
}

impl DeviceProducts {
    /// Returns an upper bound of the bytes of the device's memory that the conversion of a number of
    /// `words` words to digits, or of digits to it, needs beside the number. `None` if it is too long for one
    /// transform.
    #[must_use]
    pub fn decimal_bytes(words: usize) -> Option<u64> {
        let leaves = Leaves::of(digits_of(words));
        let p = limbs_of(GROUP * leaves.all_groups()) + 1;
        let first = Shape::window(p, p + 1, 1, p - 1..2 * p - 1)?;
        // To digits, two spectra. From digits, the spectra of two halves, a power and 1, and their
        // product. And the carries of blocks of words.
        let half = p.div_ceil(2) + 1;
        let pair = Shape::window(half, half, 2, 0..2 * half)?;
        let working = (16 * first.form().points()).max(40 * pair.form().points()) + p + 64;
        Some(Self::decimal_fixed_bytes(words) + working as u64)
    }

    /// Returns the part of [`Self::decimal_bytes`] that is not working memory of products.
    pub(super) fn decimal_fixed_bytes(words: usize) -> u64 {
        let leaves = Leaves::of(digits_of(words));
        72 * limbs_of(GROUP * leaves.all_groups()) as u64 + (1 << 20)
    }

    /// Returns the decimal digits of x, the highest first, without leading zeros; `0` for 0. `None` if
    /// the error bound does not determine the digits, which happens for hardly any number not made for
    /// it. The caller verifies them, for example by the residue of x.
    ///
    /// Waits for the device.
    ///
    /// # Errors
    /// x is too long, or the device fails or does not have enough memory.
    pub fn format_decimal(&mut self, x: View<'_, u64>) -> Result<Option<Vec<u8>>, HugeError> {
        Ok(self.format_groups(x)?.map(|groups| digits_of_groups(&groups)))
    }

    /// Returns the groups of 19 digits of x, the highest first, with leading zeros.
    pub(super) fn format_groups(
        &mut self,
        x: View<'_, u64>,
    ) -> Result<Option<Vec<u64>>, HugeError> {
        let n = significant(x)?;
        if n == 0 {
            return Ok(Some(vec![0]));
        }
        let leaves = Leaves::of(digits_of(n));
        let device = self.device().clone();
        self.batches.compile(&forms_of_halves(leaves))?;
        let mut powers = self.powers(leaves, leaves.levels + 1)?;
        let Some(whole) = powers.pop() else { return Ok(None) };
        let mut rows = self.fraction(x.part(..n), &whole)?;
        let mut words = whole.len + 1;
        drop(whole);
        for level in 0..leaves.levels {
            let Some(power) = powers.pop() else { return Ok(None) };
            let next = power.len + 1;
            let count = 1 << level;
            let mut halves = device.alloc(2 * count * next)?;
            let args = [
                (&mut halves).into(),
                Arg::U64(2 * next as u64),
                (&rows).into(),
                Arg::U64(words as u64),
                Arg::U32((words - next) as u32),
                Arg::U32(next as u32),
                Arg::U32((count * next) as u32),
            ];
            // SAFETY: there are `count` rows of `words` words, and room for twice as many of `next` words.
            unsafe { self.decimal.copy_rows.launch(flat(count * next, THREADS), &args)? };
            let of_power = self.window(words, power.len, words - next..words)?;
            let out = RowCells::new(halves.cells(next..), count, next, 2 * next);
            let fractions = Factor::rows(Rows::new(rows.view(..), count, words, words), Map::EACH);
            let power = Factor::rows(Rows::one(power.view()), Map::SHARED);
            self.batches.multiply(&of_power, out, &[[fractions, power]])?;
            (rows, words) = (halves, next);
        }
        let mut groups = device.alloc(leaves.all_groups())?;
        let mut unclear = device.upload(&[0u32])?;
        let args = [
            (&mut groups).into(),
            (&mut unclear).into(),
            (&rows).into(),
            Arg::U32(words as u32),
            Arg::U32(leaves.groups as u32),
            Arg::U32(leaves.count() as u32),
        ];
        let grid = Launch::linear((leaves.count() as u32).div_ceil(THREADS), THREADS);
        // SAFETY: there are as many rows as leaves, of at most Leaves::MOST_GROUPS + 2 words, and a place for each
        // group.
        unsafe { self.decimal.to_groups.launch(grid, &args)? };
        if unclear.download()? != [0] {
            return Ok(None);
        }
        let mut groups = groups.download()?;
        Ok((subtract_fives(&mut groups) == 0).then_some(groups))
    }

    /// Returns x/10^D + 5/9 as a fraction of one word more than 10^D has.
    fn fraction(&mut self, x: View<'_, u64>, power: &Power) -> Result<Buffer<u64>, HugeError> {
        let device = self.device().clone();
        let p = power.len + 1;
        let shift = power.words.download_part(power.len - 1..power.len)?[0].leading_zeros();
        let mut divisor = device.alloc(p)?;
        self.sums.shift(divisor.cells(..), power.view(), i64::from(shift) + 64)?;
        let reciprocal = self.reciprocal(divisor.view(..))?;
        let mut shifted = divisor;
        let shifted = shifted.cells(..power.len);
        self.sums.shift(shifted, x, i64::from(shift))?;
        let mut fraction = device.alloc(p)?;
        let shape = self.window(power.len, p + 1, power.len..power.len + p)?;
        let factors = [Rows::one(shifted.view()), Rows::one(reciprocal.view(..))]
            .map(|rows| Factor::rows(rows, Map::EACH));
        self.batches.multiply(&shape, RowCells::one(fraction.cells(..)), &[factors])?;
        // The words of 5/9 below the point: the remainders of 5·β^k by 9 are 5, 8, 2, 5, …
        let word = |rest: u128| ((rest << 64) / 9) as u64;
        let from_top = [5, 8, 2].map(word);
        let words = [0, 1, 2].map(|i| from_top[(p + 2 - i) % 3]);
        let words = device.upload(&words)?;
        let cells = fraction.cells(..);
        let sum = Addend::number(cells.view());
        let fives = Addend::periodic(words.view(..), p);
        self.sums.add(cells, sum, fives, First::None)?;
        Ok(fraction)
    }

    /// Returns the powers 10^(19·g·2^j) for j from 0 to `count` − 1.
    fn powers(&mut self, leaves: Leaves, count: usize) -> Result<Vec<Power>, HugeError> {
        let device = self.device().clone();
        let mut first = vec![1u64];
        for _ in 0..leaves.groups {
            let mut carry = 0;
            for word in &mut first {
                let product = u128::from(*word) * u128::from(TEN_19) + carry;
                (*word, carry) = (product as u64, product >> 64);
            }
            if carry > 0 {
                first.push(carry as u64);
            }
        }
        let mut powers = vec![Power { words: device.upload(&first)?, len: first.len() }];
        while powers.len() < count {
            let last = &powers[powers.len() - 1];
            let words = leaves.limbs(powers.len()).min(2 * last.len);
            let shape = self.window(last.len, last.len, 0..words)?;
            let mut square = device.alloc(words)?;
            let factor = Factor::rows(Rows::one(last.view()), Map::EACH);
            self.batches.multiply(&shape, RowCells::one(square.cells(..)), &[[factor; 2]])?;
            let len = significant(square.view(..))?;
            if len + 1 < 2 * last.len {
                return Err(HugeError::WrongDigits { words });
            }
            powers.push(Power { words: square, len });
        }
        Ok(powers)
    }

    fn window(
        &self,
        a: usize,
        b: usize,
        window: std::ops::Range<usize>,
    ) -> Result<Shape, HugeError> {
        Shape::window(a, b, 1, window).ok_or(HugeError::TooLong { a, b })
    }

    /// Returns the number with the given digits, the highest first, which are `0` to `9`; it may have
    /// leading zero words. The caller verifies it, for example by its residue.
    ///
    /// Waits for the device.
    ///
    /// # Errors
    /// The number is too long, or the device fails or does not have enough memory.
    ///
    /// # Panics
    /// If there are other characters.
    pub fn parse_decimal(&mut self, digits: &[u8]) -> Result<Buffer<u64>, HugeError> {
        self.parse_groups(&groups_of_digits(digits))
    }

    /// Returns the number with the given groups of 19 digits, the highest first.
    pub(super) fn parse_groups(&mut self, groups: &[u64]) -> Result<Buffer<u64>, HugeError> {
        let device = self.device().clone();
        let leaves = Leaves::of(GROUP * groups.len());
        let mut padded = device.alloc(leaves.all_groups())?;
        let zeros = padded.len() - groups.len();
        padded.cells(..zeros).clear()?;
        padded.cells(zeros..).upload(groups)?;
        self.batches.compile(&forms_of_pairs(leaves))?;
        let powers = self.powers(leaves, leaves.levels.max(1))?;
        let mut words = powers[0].len;
        let mut rows = device.alloc(leaves.count() * words)?;
        let args = [
            (&mut rows).into(),
            (&padded).into(),
            Arg::U32(words as u32),
            Arg::U32(leaves.groups as u32),
            Arg::U32(leaves.count() as u32),
        ];
        let grid = Launch::linear((leaves.count() as u32).div_ceil(THREADS), THREADS);
        // SAFETY: there are `groups` groups for each leaf, and a row of at most MOST_GROUPS words.
        unsafe { self.decimal.from_groups.launch(grid, &args)? };
        drop(padded);
        let one = device.upload(&[1u64])?;
        for (level, power) in powers.iter().enumerate().take(leaves.levels) {
            let next = leaves.limbs(level + 1).min(words + power.len);
            let count = leaves.count() >> (level + 1);
            let too_long = HugeError::TooLong { a: words, b: power.len };
            let shape = Shape::window(words, power.len, 2, 0..next).ok_or(too_long)?;
            let mut pairs = device.alloc(count * next)?;
            let halves = Rows::new(rows.view(..), 2 * count, words, words);
            let high = [
                Factor::rows(halves, Map::ODD),
                Factor::rows(Rows::one(power.view()), Map::SHARED),
            ];
            let low = [
                Factor::rows(halves, Map::EVEN),
                Factor::rows(Rows::one(one.view(..)), Map::SHARED),
            ];
            let out = RowCells::new(pairs.cells(..), count, next, next);
            self.batches.multiply(&shape, out, &[high, low])?;
            (rows, words) = (pairs, next);
        }
        Ok(rows)
    }
}

/// Returns the source of the kernels of conversions.
pub(super) fn source() -> Source {
    const KERNELS: [&str; 3] = ["huge_to_groups", "huge_from_groups", "huge_copy_rows"];
    Source::new("decimal.cu", include_str!("../../../kernels/huge/decimal.cu"), &KERNELS)
        .headers(common::HEADERS)
        .headers(HEADERS)
        .define("THREADS", THREADS)
        .define("MOST", Leaves::MOST_GROUPS + 2)
}
