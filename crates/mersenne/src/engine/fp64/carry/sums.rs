//! The sums by which squarings are checked: L(v) = Σ v_j·A_j with A_j = 2^⌈pj/N⌉·s^j in
//! GF((2^31 − 1)²), over the digits, and over the carries into words
//! ([`squares`](crate::engine::squares)).
//!
//! As the weights, the factors follow from two tables: if r is the first word of a row, and
//! j = r + i, then A_j is A_r·A_i, or half of it if the fractions of the weights of words r and i
//! wrap around. So a row is summed with the factors A_i, and its sum is multiplied by A_r.
//!
//! The terms are products of two signed integers of 32 bits: a digit or the lower half of a carry,
//! and a representative between −2^30 and 2^30 of a part of A_i. Up to 16 of them are added without
//! a reduction. For carries that fit in 32 bits this is right unless 16 carries are far from
//! independent: a sum of 2^63 is 14 times its standard deviation.

use warpint_arith::m31;
use warpint_arith::simd::{F64s, U64s};

use crate::engine::fp64::flip::{choose, flip_f64, flip_u64};
use crate::engine::squares::{Element, Root};

/// A multiple of 2^31 − 1 near 2^63, so that sums of terms stay positive.
const START: u64 = (m31::Q as u64) << 32;

/// The number of columns of totals: that of lanes of the widest vectors.
const LANES: usize = 8;

/// Returns a number below 2^31 + 2^33 that is v mod 2^31 − 1; below 2^31 + 5 if v is such a number.
#[inline(always)]
fn folded(v: u64) -> u64 {
    (v & u64::from(m31::Q)) + (v >> 31)
}

/// The factor A_i of a word of a row, and half of it. Each has a real and an imaginary part between
/// −2^30 and 2^30, in the lower halves of the numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WordFactor([[u64; 2]; 2]);

impl WordFactor {
    pub(crate) const ZERO: Self = Self([[0; 2]; 2]);

    /// Returns the factors of words 0, 1, … below `count`.
    pub(crate) fn of_words(root: &Root, count: usize) -> Vec<Self> {
        let half = Element::power_of_2(30);
        let parts = |a: Element| a.balanced().map(|v| u64::from(v as u32));
        root.factors(0).take(count).map(|a| Self([parts(a), parts(a.times(half))])).collect()
    }

    /// Returns the parts of the factor, or of half of it if `wrapped`.
    #[inline(always)]
    pub(super) fn parts(&self, wrapped: bool) -> [i64; 2] {
        self.0[usize::from(wrapped)].map(|v| i64::from(v as i32))
    }
}

/// The factors A_r of the first words of rows, in the order of the weights of the rows.
#[derive(Debug)]
pub(crate) struct RowFactors {
    re: Vec<f64>,
    im: Vec<f64>,
}

impl RowFactors {
    pub(crate) const EMPTY: Self = Self { re: vec![], im: vec![] };

    /// Returns the number of rows.
    pub(crate) fn len(&self) -> usize {
        self.re.len().min(self.im.len())
    }

    /// Computes the factors of rows with the first words `firsts`.
    pub(crate) fn new(root: &Root, firsts: impl Iterator<Item = usize>) -> Self {
        let parts: Vec<[f64; 2]> =
            firsts.map(|j| root.factor(j).parts().map(|v| f64::from_bits(v.into()))).collect();
        Self { re: parts.iter().map(|v| v[0]).collect(), im: parts.iter().map(|v| v[1]).collect() }
    }

    fn get(&self, row: usize) -> Element {
        Element::reduced(self.re[row].to_bits(), self.im[row].to_bits())
    }
}

/// The tables of the sums of a transform: the factors of the words of row 0, and of the rows.
#[derive(Debug)]
pub(crate) struct SumTables {
    pub(crate) words: Vec<WordFactor>,
    pub(crate) rows: RowFactors,
}

impl SumTables {
    /// Flips a bit of a factor.
    pub(crate) fn flip(&mut self, bit: u64) {
        match choose(bit, 3) {
            (0, bit) => {
                let (at, bit) = choose(bit, self.words.len());
                let [whole, half] = &mut self.words[at].0;
                let (which, bit) = choose(bit, 2);
                flip_u64(if which == 0 { whole } else { half }, bit);
            }
            (1, bit) => flip_f64(&mut self.rows.re, bit),
            (_, bit) => flip_f64(&mut self.rows.im, bit),
        }
    }
}

/// The sums over the digits and over the carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Sums {
    pub(crate) digits: Element,
    pub(crate) carries: Element,
}

impl Sums {
    pub(crate) fn plus(self, other: Self) -> Self {
        let digits = self.digits.plus(other.digits);
        Self { digits, carries: self.carries.plus(other.carries) }
    }
}

/// Sums in eight columns, whose total is of interest: the real and the imaginary part of the sum over
/// digits, and those of the sum over carries. Their numbers are not reduced.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Totals([[u64; LANES]; 4]);

impl Totals {
    pub(crate) fn sums(&self) -> Sums {
        let [a, b, c, d] =
            self.0.map(|column| column.iter().fold(0, |sum, &v| m31::add(sum, m31::reduce(v))));
        Sums { digits: Element { re: a, im: b }, carries: Element { re: c, im: d } }
    }

    /// Sets the sum over digits to 0.
    pub(crate) fn clear_digits(&mut self) {
        self.0[..2].fill([0; LANES]);
    }

    /// Adds numbers below 2^34 to the columns from `first` on.
    #[inline(always)]
    pub(super) fn add<V: F64s>(&mut self, sums: [V::Integers; 4], first: usize) {
        for (column, sums) in self.0.iter_mut().zip(sums) {
            let mut lanes = [0.0; LANES];
            // SAFETY: a vector has at most LANES lanes.
            unsafe { V::from_bits(sums).store(lanes.as_mut_ptr()) };
            for (sum, lane) in column[first..].iter_mut().zip(&lanes[..V::LANES]) {
                *sum += lane.to_bits();
            }
        }
    }
}

/// The sums of [`F64s::LANES`] rows over at most 16 words: real and imaginary part of the sum over
/// digits, and those of the sum over carries.
#[derive(Clone, Copy)]
pub(super) struct RowSums<V: F64s>([V::Integers; 4]);

impl<V: F64s> RowSums<V> {
    #[inline(always)]
    pub(super) fn new(i: V::Instructions) -> Self {
        Self([V::splat_bits(i, START); 4])
    }

    /// Adds a word: its digit, and the carry into it. Both have been added to
    /// [`ROUNDER`](super::ROUNDER), so that they are integers in the lower bits.
    #[inline(always)]
    pub(super) fn add(
        &mut self,
        i: V::Instructions,
        word: &WordFactor,
        wrapped: V::Mask,
        [digit, carry]: [V; 2],
    ) {
        let (digit, carry) = (digit.to_bits(), carry.to_bits());
        for part in 0..2 {
            let of = |wrapped: usize| V::splat(i, f64::from_bits(word.0[wrapped][part]));
            let factor = V::select(wrapped, of(1), of(0)).to_bits();
            self.0[part] = self.0[part].add(digit.mul_low_signed(factor));
            self.0[2 + part] = self.0[2 + part].add(carry.mul_low_signed(factor));
        }
    }

    /// Multiplies by the factors of the rows from `row` on, and adds the products to `totals`, less
    /// than 2^34 to each number.
    ///
    /// # Safety
    /// The factors must have [`F64s::LANES`] rows from `row` on.
    #[inline(always)]
    pub(super) unsafe fn finish(
        self,
        i: V::Instructions,
        rows: &RowFactors,
        row: usize,
        totals: &mut [V::Integers; 4],
    ) {
        let prime = V::splat_bits(i, m31::Q.into());
        let fold = |v: V::Integers| v.and(prime).add(v.shift_right::<31>());
        // SAFETY: the caller's promise.
        let [re, im] = unsafe {
            [&rows.re, &rows.im].map(|part| V::load(i, part.as_ptr().add(row)).to_bits())
        };
        let minus_im = prime.sub(im);
        for k in [0, 2] {
            // Below 2^31 + 5, so that each sum of two products is below 2^63 + 2^34.
            let (a, b) = (fold(fold(self.0[k])), fold(fold(self.0[k + 1])));
            let real = a.mul_low(re).add(b.mul_low(minus_im));
            let imaginary = a.mul_low(im).add(b.mul_low(re));
            totals[k] = totals[k].add(fold(real));
            totals[k + 1] = totals[k + 1].add(fold(imaginary));
        }
    }
}

/// The sums of each of many rows: real and imaginary part of the sum over digits, and those of the
/// sum over carries. Empty if no sums are made.
#[derive(Debug, Default)]
pub(crate) struct SumsOfRows(pub(super) [Vec<u64>; 4]);

impl SumsOfRows {
    pub(crate) fn new(rows: usize) -> Self {
        Self(std::array::from_fn(|_| vec![0; rows]))
    }

    pub(crate) fn clear(&mut self) {
        self.0.iter_mut().for_each(|part| part.fill(0));
    }

    /// Sets the sums over digits to 0.
    pub(crate) fn clear_digits(&mut self) {
        self.0[..2].iter_mut().for_each(|part| part.fill(0));
    }

    /// Returns the sums over all rows.
    pub(crate) fn total(&self, rows: &RowFactors) -> Sums {
        let part = |k: usize, row: usize| Element::reduced(self.0[k][row], self.0[k + 1][row]);
        (0..self.0[0].len()).fold(Sums::default(), |sum, row| {
            let factor = rows.get(row);
            let [digits, carries] = [0, 2].map(|k| part(k, row).times(factor));
            sum.plus(Sums { digits, carries })
        })
    }
}

/// Returns `sum`, reduced to below 2^34, plus two products of integers of 32 bits.
#[inline(always)]
pub(super) fn plus_products(sum: u64, a: [i64; 2], b: [i64; 2]) -> u64 {
    let products = (a[0] * b[0]).wrapping_add(a[1] * b[1]) as u64;
    folded(sum).wrapping_add(START).wrapping_add(products)
}

/// The factors A_j of all words of a residue, for sums in the order of words.
#[derive(Debug)]
pub(crate) struct AllFactors {
    re: Vec<i32>,
    im: Vec<i32>,
}

/// The number of partial sums of a block of words.
const PARTIAL: usize = 16;

impl AllFactors {
    pub(crate) fn new(root: &Root, count: usize) -> Self {
        let factors: Vec<[i32; 2]> = root.factors(0).take(count).map(Element::balanced).collect();
        Self {
            re: factors.iter().map(|a| a[0]).collect(),
            im: factors.iter().map(|a| a[1]).collect(),
        }
    }

    /// Flips a bit of a factor.
    pub(crate) fn flip(&mut self, bit: u64) {
        let (at, bit) = choose(bit, self.re.len());
        let (which, bit) = choose(bit, 2);
        let part = if which == 0 { &mut self.re } else { &mut self.im };
        part[at] ^= 1 << (bit % 32);
    }

    /// Returns the factor of word j.
    pub(crate) fn get(&self, j: usize) -> Element {
        let part = |v: i32| m31::reduce_signed(v.into());
        Element { re: part(self.re[j]), im: part(self.im[j]) }
    }

    /// Returns the sum over at most 256 numbers, which belong to the words from `first` on. The
    /// numbers count mod 2^32.
    #[inline(always)]
    pub(crate) fn sum<T: Copy>(&self, first: usize, of: &[T], lower: impl Fn(T) -> i32) -> Element {
        assert!(of.len() <= PARTIAL * 16, "{} words", of.len());
        let (re, im) = (&self.re[first..][..of.len()], &self.im[first..][..of.len()]);
        let mut sums = [[0i64; PARTIAL]; 2];
        let chunks = of.chunks(PARTIAL).zip(re.chunks(PARTIAL)).zip(im.chunks(PARTIAL));
        for ((of, re), im) in chunks {
            for (k, ((&v, &re), &im)) in of.iter().zip(re).zip(im).enumerate() {
                let v = i64::from(lower(v));
                sums[0][k] = sums[0][k].wrapping_add(v * i64::from(re));
                sums[1][k] = sums[1][k].wrapping_add(v * i64::from(im));
            }
        }
        let [re, im] = sums
            .map(|part| part.into_iter().fold(0, |sum, v| m31::add(sum, m31::reduce_signed(v))));
        Element { re, im }
    }
}
