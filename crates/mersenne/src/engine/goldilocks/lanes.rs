//! Conversion between the digits of a residue and elements of the field modulo 2^64 − 2^32 + 1, in
//! vector lanes.

use warpint_arith::goldilocks as field;
use warpint_transform::cpu::goldilocks::Lanes;

/// Vectors of elements of the field modulo 2^64 − 2^32 + 1. The operations convert digits to
/// weighted elements, and elements to digits with carries.
///
/// An *integer* here is a signed 64-bit number. Slices passed to a method have [`Lanes::WIDTH`]
/// entries unless stated otherwise.
pub(super) trait WordLanes: Lanes {
    /// A vector of signed integers, one in each of the W = [`Lanes::WIDTH`] lanes.
    type Int: Copy + Send + Sync;

    /// Loads W = [`Lanes::WIDTH`] integers from x.
    fn ints(instructions: Self::Instructions, x: &[i64]) -> Self::Int;
    /// Returns a vector with the integer x in every lane.
    fn splat_int(instructions: Self::Instructions, x: i64) -> Self::Int;
    /// Stores the W = [`Lanes::WIDTH`] integers of x to `out`.
    fn store_ints(x: Self::Int, out: &mut [i64]);

    /// Returns each digit of `digits` times its weight. The weight is `w[1]` in the lanes where the
    /// weight exponent in `column` is at least `wrap`, otherwise `w[0]`. A transform passes a
    /// weight as `w[0]` and half of it as `w[1]`.
    fn weigh(digits: &[i32], column: Self::Int, wrap: i64, w: [u64; 2]) -> Self;

    /// Converts a word to a digit and a carry in each lane. The words are the elements a of `self`,
    /// as the inverse transform leaves them, and belong to one column in different rows.
    ///
    /// The weight exponent e of a word is the sum of its exponents in `row` and `column`, minus N =
    /// `words.n` if the sum is N or more. Let v be the old `carry` plus a·`w[1]` if N was
    /// subtracted, otherwise plus a·`w[0]`; the product is taken as the residue of least magnitude.
    /// Let b be `words.bits`, plus 1 if e < `words.long_below`. The new `carry` is v/2^b, rounded
    /// to an integer with halves rounded up. The digit returned is v − `carry`·2^b, with the new
    /// carry.
    fn carried_digit(
        self,
        row: Self::Int,
        column: i64,
        w: &[Self::Factor; 2],
        words: Words,
        carry: &mut Self::Int,
    ) -> Self::Int;

    /// Stores W × W digits to `out` row by row, where W = [`Lanes::WIDTH`]: lane i of `digits[j]`
    /// goes to `out[i·W + j]`.
    fn store_digits(digits: &mut [Self::Int], out: &mut [i32]);
}

/// The constants of a layout from which [`WordLanes::carried_digit`] computes the lengths of words
/// in bits.
#[derive(Clone, Copy)]
pub(super) struct Words {
    /// The number of words N of a residue.
    pub(super) n: i64,
    /// The number of bits of a short word, ⌊p/N⌋, for the exponent p and N words.
    pub(super) bits: u32,
    /// The number p mod N, for the exponent p and N words. A word whose weight exponent is below
    /// this number has ⌊p/N⌋ + 1 bits.
    ///
    /// The reason: let e_j = −p·j mod N be the weight exponent of word j. The word has
    /// (p + e_{j+1} − e_j)/N bits, and e_{j+1} is e_j − (p mod N), plus N if this difference is
    /// negative.
    pub(super) long_below: i64,
}

/// Implements the operations for one lane of plain integers, which works on every processor.
impl WordLanes for u64 {
    type Int = i64;

    #[inline(always)]
    fn ints((): (), x: &[i64]) -> i64 {
        x[0]
    }

    #[inline(always)]
    fn splat_int((): (), x: i64) -> i64 {
        x
    }

    #[inline(always)]
    fn store_ints(x: i64, out: &mut [i64]) {
        out[0] = x;
    }

    #[inline(always)]
    fn weigh(digits: &[i32], column: i64, wrap: i64, w: [u64; 2]) -> Self {
        field::mul(field::from_i64(i64::from(digits[0])), w[usize::from(column >= wrap)])
    }

    #[inline(always)]
    fn carried_digit(
        self,
        row: i64,
        column: i64,
        w: &[u64; 2],
        words: Words,
        carry: &mut i64,
    ) -> i64 {
        let e = row + column;
        let wrapped = e >= words.n;
        let e = if wrapped { e - words.n } else { e };
        let v = field::to_i64(field::mul(self, w[usize::from(wrapped)])) + *carry;
        let bits = words.bits + u32::from(e < words.long_below);
        *carry = crate::layout::carry_out(v, bits);
        v - (*carry << bits)
    }

    #[inline(always)]
    fn store_digits(digits: &mut [i64], out: &mut [i32]) {
        out[0] = digits[0] as i32;
    }
}
