//! One or several field elements side by side: what the transform is written in.

use warpint_arith::goldilocks as field;

/// `WIDTH` canonical elements of the field, operated on lane by lane.
///
/// An implementation may keep them in a form of its own; a *factor* is a
/// multiplicand kept ready for [`Lanes::mul`], an *integer* is a signed 64-bit
/// number. Slices given to a method have `WIDTH` entries unless stated.
pub(super) trait Lanes: Copy + Send + Sync + 'static {
    /// W, the number of lanes: a power of two.
    const WIDTH: usize;
    /// W canonical multiplicands.
    type Factor: Copy + Send + Sync;
    /// W signed integers.
    type Int: Copy + Send + Sync;

    /// Runs a kernel compiled for this type's instructions.
    fn enter<K: Kernel<Self>>(kernel: K);

    /// The same canonical element in every lane.
    fn splat(x: u64) -> Self;
    /// The canonical elements.
    fn elements(x: &[u64]) -> Self;
    /// Writes the canonical elements out.
    fn store(self, out: &mut [u64]);
    /// The canonical multiplicands.
    fn factors(x: &[u64]) -> Self::Factor;
    /// The same canonical multiplicand in every lane.
    fn splat_factor(x: u64) -> Self::Factor;
    /// The integers.
    fn ints(x: &[i64]) -> Self::Int;
    /// The same integer in every lane.
    fn splat_int(x: i64) -> Self::Int;
    /// Writes the integers out.
    fn store_ints(x: Self::Int, out: &mut [i64]);

    /// a + b.
    fn add(self, b: Self) -> Self;
    /// a − b.
    fn sub(self, b: Self) -> Self;
    /// a·w.
    fn mul(self, w: Self::Factor) -> Self;
    /// a as a factor.
    fn to_factor(self) -> Self::Factor;
    /// 2^k·a, 0 ≤ k < 192: by shifts, cheap when k is known to the compiler.
    fn mul_pow2(self, k: u32) -> Self;
    /// Transposes a W × W square: lane i of entry j against lane j of entry i.
    fn transpose(square: &mut [Self]);

    /// The weighted digits d·w, or d·w/2 in the lanes where the exponent
    /// `column` has reached `wrap`. Here `w` = \[w, w/2\].
    fn weigh(digits: &[i32], column: Self::Int, wrap: i64, w: [u64; 2]) -> Self;

    /// From an element of the inverse transform to a digit and a carry.
    ///
    /// Lanes are words of different rows, `row` and `column` the two parts of
    /// their weights' exponents. With e = row + column, reduced below N, and
    /// w doubled where that reduction was needed: v = a·w as a signed number,
    /// plus `carry`; b = `words.bits` + (e < `words.long_below`);
    /// `carry` becomes ⌊v/2^b + ½⌋, and v − `carry`·2^b is returned.
    fn settle(
        self,
        row: Self::Int,
        column: i64,
        w: &[Self::Factor; 2],
        words: Words,
        carry: &mut Self::Int,
    ) -> Self::Int;

    /// W × W digits to `out`, row-major: lane i of `digits[j]` to
    /// `out[i·W + j]`.
    fn store_digits(digits: &mut [Self::Int], out: &mut [i32]);
}

/// A computation over lanes of type `V`; `run` must be `#[inline(always)]`, as
/// must all that it calls with `V` in hand, to be compiled for `V`'s
/// instructions.
pub(super) trait Kernel<V> {
    fn run(self);
}

/// The words of the layout, as [`Lanes::settle`] needs them.
#[derive(Clone, Copy)]
pub(super) struct Words {
    /// N.
    pub(super) n: i64,
    /// ⌊p/N⌋.
    pub(super) bits: u32,
    /// p mod N: a word whose weight exponent is below it has one bit more.
    ///
    /// b_j = (p + e_{j+1} − e_j)/N, where e_{j+1} = e_j − (p mod N), plus N if
    /// that is negative.
    pub(super) long_below: i64,
}

/// Plain integers: one lane, on every machine.
impl Lanes for u64 {
    const WIDTH: usize = 1;
    type Factor = u64;
    type Int = i64;

    #[inline(never)]
    fn enter<K: Kernel<Self>>(kernel: K) {
        kernel.run();
    }

    #[inline(always)]
    fn splat(x: u64) -> Self {
        x
    }

    #[inline(always)]
    fn elements(x: &[u64]) -> u64 {
        x[0]
    }

    #[inline(always)]
    fn store(self, out: &mut [u64]) {
        out[0] = self;
    }

    #[inline(always)]
    fn factors(x: &[u64]) -> u64 {
        x[0]
    }

    #[inline(always)]
    fn splat_factor(x: u64) -> u64 {
        x
    }

    #[inline(always)]
    fn ints(x: &[i64]) -> i64 {
        x[0]
    }

    #[inline(always)]
    fn splat_int(x: i64) -> i64 {
        x
    }

    #[inline(always)]
    fn store_ints(x: i64, out: &mut [i64]) {
        out[0] = x;
    }

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        field::add(self, b)
    }

    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        field::sub(self, b)
    }

    #[inline(always)]
    fn mul(self, w: u64) -> Self {
        field::mul(self, w)
    }

    #[inline(always)]
    fn to_factor(self) -> u64 {
        self
    }

    #[inline(always)]
    fn mul_pow2(self, k: u32) -> Self {
        field::mul_pow2(self, k)
    }

    #[inline(always)]
    fn transpose(_square: &mut [Self]) {}

    #[inline(always)]
    fn weigh(digits: &[i32], column: i64, wrap: i64, w: [u64; 2]) -> Self {
        field::mul(field::from_i64(i64::from(digits[0])), w[usize::from(column >= wrap)])
    }

    #[inline(always)]
    fn settle(self, row: i64, column: i64, w: &[u64; 2], words: Words, carry: &mut i64) -> i64 {
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
