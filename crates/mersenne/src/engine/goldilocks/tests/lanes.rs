//! Tests that compare conversions in four lanes with conversions in one lane.

#![cfg(target_arch = "x86_64")]

use super::super::lanes::{WordLanes, Words};
use proptest::prelude::*;
use warpint_arith::goldilocks::{CORNERS, Q};
use warpint_transform::cpu::goldilocks::Lanes;
use warpint_transform::cpu::goldilocks::avx2::Four;
use warpint_transform::cpu::goldilocks::avx2::vector::Avx2;

fn pack(avx2: Avx2, x: [u64; 4]) -> Four {
    Four::splat(avx2, 0).add(Four::splat(avx2, 1).mul(Four::factors(avx2, &x)))
}

fn unpack(x: Four) -> [u64; 4] {
    // A factor is a plain number, and integers are stored unchanged.
    let mut out = [0i64; 4];
    Four::store_ints(x.to_factor(), &mut out);
    out.map(|v| v as u64)
}

fn check_weigh(avx2: Avx2, digits: [i32; 4], columns: [i64; 4], wrap: i64, w: [u64; 2]) {
    let four = unpack(Four::weigh(&digits, Four::ints(avx2, &columns), wrap, w));
    for (i, lane) in four.into_iter().enumerate() {
        let one = u64::weigh(&digits[i..=i], columns[i], wrap, w);
        assert_eq!(lane, one, "{digits:?}, {columns:?}, {wrap}, {w:?}");
    }
}

#[test]
fn corner_digits() {
    let Some(avx2) = Four::instructions() else { return };
    for d in [i32::MIN, i32::MIN + 1, -1, 0, 1, i32::MAX] {
        for w in CORNERS.into_iter().filter(|&w| w != 0) {
            check_weigh(avx2, [d, 0, -1, d], [0, 4, 5, 6], 5, [w, Q - w]);
        }
    }
}

proptest! {
    #[test]
    fn any_digits(
        digits: [i32; 4],
        columns in [0i64..1 << 26, 0..1 << 26, 0..1 << 26, 0..1 << 26],
        wrap in 1i64..1 << 26,
        w in 1u64..Q,
    ) {
        if let Some(avx2) = Four::instructions() {
            check_weigh(avx2, digits, columns, wrap, [w, w.mul_pow2(191)]);
        }
    }

    #[test]
    fn carries_alike(
        // A product of a plan is within 15/16·2^63.
        values in proptest::array::uniform4(-(15i64 << 59)..15 << 59),
        carries in proptest::array::uniform4(-(1i64 << 57)..1 << 57),
        bits in 5u32..31,
        n in 8i64..1 << 28,
        exponents in proptest::array::uniform4(any::<u32>()),
        column: u32,
        long: u32,
        w in 1u64..Q,
    ) {
        let Some(avx2) = Four::instructions() else { return Ok(()) };
        let words = Words { n, bits, long_below: i64::from(long) % n };
        let rows = exponents.map(|e| i64::from(e) % n);
        let column = i64::from(column) % n;
        let inverse = warpint_arith::goldilocks::inverse(w).unwrap();
        // Elements that the weight, doubled or not, maps back to the values.
        let x: [u64; 4] = core::array::from_fn(|i| {
            let half = if rows[i] + column >= n { 191 } else { 0 };
            warpint_arith::goldilocks::from_i64(values[i]).mul(inverse).mul_pow2(half)
        });
        let w = [w, w.add(w)];
        let mut carry = Four::ints(avx2, &carries);
        let digits = pack(avx2, x).carried_digit(
            Four::ints(avx2, &rows), column, &w.map(|w| Four::factors(avx2, &[w; 4])), words, &mut carry,
        );
        let (mut digits_out, mut carries_out) = ([0; 4], [0; 4]);
        Four::store_ints(digits, &mut digits_out);
        Four::store_ints(carry, &mut carries_out);
        for i in 0..4 {
            let mut carry = carries[i];
            let digit = x[i].carried_digit(rows[i], column, &w, words, &mut carry);
            prop_assert_eq!((digits_out[i], carries_out[i]), (digit, carry));
            let e = (rows[i] + column) % n;
            let b = bits + u32::from(e < words.long_below);
            let value = i128::from(values[i]) + i128::from(carries[i]);
            prop_assert_eq!(i128::from(digit) + (i128::from(carry) << b), value);
            prop_assert!((-1i64 << (b - 1)..1 << (b - 1)).contains(&digit));
        }
    }

    #[test]
    fn squares_of_digits_turn(digits: [[i32; 4]; 4]) {
        let Some(avx2) = Four::instructions() else { return Ok(()) };
        let mut ints = digits.map(|row| Four::ints(avx2, &row.map(i64::from)));
        let mut out = [0; 16];
        Four::store_digits(&mut ints, &mut out);
        for (i, row) in out.chunks_exact(4).enumerate() {
            prop_assert_eq!(row, digits.map(|row| row[i]));
        }
    }
}
