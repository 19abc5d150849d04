//! Conversion between digits and field elements in the four 64-bit lanes of an AVX2 register.

use super::lanes::{WordLanes, Words};
use warpint_arith::goldilocks::{EPSILON, Q};
use warpint_transform::cpu::goldilocks::Lanes;
use warpint_transform::cpu::goldilocks::avx2::vector::{
    Avx2, SIGN, add_plain, and, choose, choose_of, flip_sign, greater, minus, mul_low, plus,
    shift_left, shift_left_each, shift_right, shift_right_each, transposed,
};
use warpint_transform::cpu::goldilocks::avx2::{Four, Plain};

impl WordLanes for Four {
    type Int = Plain;

    #[inline(always)]
    fn ints(avx2: Avx2, x: &[i64]) -> Plain {
        Plain(avx2.load_signed(x))
    }

    #[inline(always)]
    fn splat_int(avx2: Avx2, x: i64) -> Plain {
        Plain(avx2.splat(x as u64))
    }

    #[inline(always)]
    fn store_ints(x: Plain, out: &mut [i64]) {
        x.0.store_signed(out);
    }

    #[inline(always)]
    fn weigh(digits: &[i32], column: Plain, wrap: i64, w: [u64; 2]) -> Self {
        let [size, d] = column.0.avx2().load_short(digits);
        let w = choose_of(greater(column.0, column.0.splat((wrap - 1) as u64)), w[1], w[0]);
        // |d|·w = l + 2^32·(h0 + 2^32·h1) ≡ (l + ε·h1) + 2^32·h0. As |d| ≤ 2^31, l and ε·h1 are
        // at most 2^63 − 2^31, so both terms are below q.
        let high = mul_low(size, shift_right(w, 32));
        let first = plus(mul_low(size, w), mul_low(shift_right(high, 32), high.splat(EPSILON)));
        let product = add_plain(flip_sign(first), shift_left(high, 32));
        // If d is negative, the product is not 0, and q − product is canonical.
        let opposite = minus(product.splat(Q), product);
        Self(choose(greater(d.splat(0), d), opposite, product))
    }

    #[inline(always)]
    fn carried_digit(
        self,
        row: Plain,
        column: i64,
        w: &[Plain; 2],
        words: Words,
        carry: &mut Plain,
    ) -> Plain {
        let e = plus(row.0, row.0.splat(column as u64));
        let wrapped = greater(e, e.splat((words.n - 1) as u64));
        let e = minus(e, and(wrapped, wrapped.splat(words.n as u64)));
        let z = self.mul(Plain(choose(wrapped, w[1].0, w[0].0))).0;
        // As a signed number: z − q = z + ε if z > q/2.
        let large = greater(z, z.splat((Q / 2) ^ SIGN));
        let v = plus(z, choose_of(large, SIGN + EPSILON, SIGN));
        let v = plus(v, carry.0);
        // ⌊(v + 2^(b−1))/2^b⌋, by an unsigned shift of v + 2^(b−1) + 2^63.
        let long = greater(e.splat(words.long_below as u64), e);
        let b = words.bits;
        let bits = minus(long.splat(u64::from(b)), long);
        let bias = choose_of(long, SIGN + (1 << b), SIGN + (1 << b >> 1));
        let shifted = shift_right_each(plus(v, bias), bits);
        let out = minus(shifted, choose_of(long, SIGN >> (b + 1), SIGN >> b));
        *carry = Plain(out);
        Plain(minus(v, shift_left_each(out, bits)))
    }

    #[inline(always)]
    fn store_digits(digits: &mut [Plain], out: &mut [i32]) {
        let [a, b, c, d] = digits else { return };
        let rows = transposed([a.0, b.0, c.0, d.0]);
        assert!(out.len() == 16);
        for (row, out) in rows.into_iter().zip(out.chunks_exact_mut(4)) {
            row.store_low_halves(out);
        }
    }
}
