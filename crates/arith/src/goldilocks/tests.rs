//! Compares the arithmetic of the field with `u128 % q`, for corner cases and for random numbers.

use super::*;
use proptest::prelude::*;

/// Returns values at which carries and borrows occur, and values near q and near 2^64, the limits
/// of canonical and lazy numbers.
fn corners() -> Vec<u64> {
    let mut values = vec![0, 1, 2, 3, 7, Q / 2, Q / 2 + 1, Q / 2 + 2, u64::MAX, u64::MAX - 1];
    for centre in [1u64 << 31, 1 << 32, 1 << 33, 1 << 63, Q, 0u64.wrapping_sub(1 << 33)] {
        for d in 0..3 {
            values.extend([centre - d, centre.wrapping_add(d)]);
        }
    }
    values.extend((0..64).map(|k| 1u64 << k));
    values
}

fn oracle(x: u128) -> u64 {
    (x % u128::from(Q)) as u64
}

fn check_pair(a: u64, b: u64) {
    let (wide_a, wide_b) = (u128::from(a), u128::from(b));
    assert_eq!(mul(a, b), oracle(wide_a * wide_b), "{a}·{b}, lazy operands");
    let (a, b) = (canonical(a), canonical(b));
    let (wide_a, wide_b, q) = (u128::from(a), u128::from(b), u128::from(Q));
    assert_eq!(add(a, b), oracle(wide_a + wide_b), "{a} + {b}");
    assert_eq!(sub(a, b), oracle(wide_a + q - wide_b), "{a} − {b}");
}

fn check_one(a: u64) {
    assert_eq!(canonical(a), oracle(u128::from(a)));
    assert_eq!(square(a), oracle(u128::from(a) * u128::from(a)));
    assert_eq!(sub(canonical(a), Q), canonical(a), "q is allowed as a subtrahend");
    let a = canonical(a);
    assert_eq!(add(a, neg(a)), 0);
    assert_eq!(double(a), add(a, a));
    assert_eq!(double(halve(a)), a);
    let mut power = a;
    for k in 0..400 {
        assert_eq!(mul_pow2(a, k), power, "{a}·2^{k}");
        power = oracle(2 * u128::from(power));
    }
    let v = to_i64(a);
    assert!(v.unsigned_abs() <= Q / 2);
    assert_eq!(from_i64(v), a);
    assert_eq!(oracle((i128::from(v) + i128::from(Q)) as u128), a);
    match inverse(a) {
        Some(b) => assert_eq!(mul(a, b), 1),
        None => assert_eq!(a, 0),
    }
}

#[test]
fn corner_values() {
    for a in corners() {
        check_one(a);
        for b in corners() {
            check_pair(a, b);
            let x = u128::from(a) << 64 | u128::from(b);
            assert_eq!(reduce(x), oracle(x), "{x}");
        }
    }
}

#[test]
fn signed_ends() {
    for v in [i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX] {
        assert_eq!(from_i64(v), (i128::from(v)).rem_euclid(i128::from(Q)) as u64);
    }
    assert_eq!(to_i64(Q - 1), -1);
    assert_eq!(to_i64(Q / 2), (Q / 2) as i64);
    assert_eq!(to_i64(Q / 2 + 1), -((Q / 2) as i64));
}

#[test]
fn powers() {
    assert_eq!(pow(0, 0), 1);
    assert_eq!(pow(3, Q - 1), 1);
    assert_eq!(pow(2, 96), Q - 1);
    assert_eq!(pow(7, 20), 7u64.pow(20));
}

proptest! {
    #[test]
    fn any_values(a: u64, b: u64, x: u128) {
        check_pair(a, b);
        check_one(a);
        prop_assert_eq!(reduce(x), oracle(x));
    }
}

#[test]
fn cheap_roots_are_powers_of_the_root_of_unity() {
    use crate::field::Field;
    let log2 = Goldilocks.log2_of_cheap_roots();
    let root = Field::root_of_unity(&Goldilocks, log2).unwrap();
    for a in [0, 1, 2, 12_345, Q / 2, Q - 1] {
        for i in (0..200).chain([u64::MAX]) {
            let expected = mul(a, pow(root, i % 64));
            assert_eq!(Goldilocks.mul_by_cheap_root(&a, i), expected, "{a}, {i}");
        }
    }
}
