//! Compares operations on four lanes with the operations of the field.

#![cfg(target_arch = "x86_64")]

use super::super::avx2::Four;
use super::super::avx2::vector::Avx2;
use super::super::lanes::Lanes;
use proptest::prelude::*;
use warpint_arith::goldilocks::{CORNERS, Q, canonical};

fn pack(avx2: Avx2, x: [u64; 4]) -> Four {
    Four::splat(avx2, 0).add(Four::splat(avx2, 1).mul(Four::factors(avx2, &x)))
}

fn unpack(x: Four) -> [u64; 4] {
    let mut out = [0; 4];
    x.store(&mut out);
    out
}

/// Applies f to the numbers in lane i of all N vectors, for each i.
fn each<const N: usize>(x: [[u64; 4]; N], f: impl Fn([u64; N]) -> u64) -> [u64; 4] {
    core::array::from_fn(|i| f(x.map(|v| v[i])))
}

fn check(avx2: Avx2, a: [u64; 4], b: [u64; 4]) {
    let (fa, fb) = (pack(avx2, a), pack(avx2, b));
    assert_eq!(unpack(fa), a);
    assert_eq!(unpack(Four::elements(avx2, &a)), a);
    let mut stored = [0; 4];
    fa.store(&mut stored);
    assert_eq!(stored, a);
    assert_eq!(unpack(fa.add(fb)), each([a, b], |[a, b]| a.add(b)), "{a:?} + {b:?}");
    assert_eq!(unpack(fa.sub(fb)), each([a, b], |[a, b]| a.sub(b)), "{a:?} − {b:?}");
    assert_eq!(unpack(fa.mul(fb.to_factor())), each([a, b], |[a, b]| a.mul(b)), "{a:?}·{b:?}");
    assert_eq!(unpack(fa.scale(b[0])), each([a], |[a]| a.scale(b[0])), "{a:?}·{}", b[0]);
    for k in 0..192 {
        assert_eq!(unpack(fa.mul_pow2(k)), each([a], |[a]| a.mul_pow2(k)), "{a:?}·2^{k}");
    }
}

#[test]
fn corner_values() {
    let Some(avx2) = Four::instructions() else { return };
    for (i, a) in CORNERS.into_iter().enumerate() {
        for j in 0..CORNERS.len() {
            let b = core::array::from_fn(|l| CORNERS[(j + l) % CORNERS.len()]);
            check(avx2, [a, CORNERS[(i + 1) % CORNERS.len()], Q - 1, a], b);
        }
    }
}

proptest! {
    #[test]
    fn any_values(a: [u64; 4], b: [u64; 4]) {
        if let Some(avx2) = Four::instructions() {
            check(avx2, a.map(canonical), b.map(canonical));
        }
    }

    #[test]
    fn squares_turn(x: [[u64; 4]; 4]) {
        let Some(avx2) = Four::instructions() else { return Ok(()) };
        let x = x.map(|row| row.map(canonical));
        let mut square = x.map(|row| pack(avx2, row));
        Four::transpose(&mut square);
        for (i, four) in square.into_iter().enumerate() {
            prop_assert_eq!(unpack(four), x.map(|row| row[i]));
        }
    }
}
