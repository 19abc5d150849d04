//! Compares arithmetic in the fields modulo primes p = r^k + 1 with GMP.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use proptest::prelude::*;
use rug::Integer;
use rug::integer::{IsPrime, Order};
use rug::ops::Pow;
use warpint_arith::field::Field;
use warpint_arith::gfn::{Form, Gfn, PRIMES};
use warpint_arith::with_field;

/// Returns p = r^k + 1 for a form with radix r and k digits. p may be composite.
fn modulus(form: Form) -> Integer {
    let (high, low) = (Integer::from(1) << form.w(), Integer::from(1) << form.u());
    let r = if form.is_sum() { high + low } else { high - low };
    r.pow(form.digits() as u32) + 1u32
}

/// Returns the integer with the given digits in base r, lowest first.
fn integer(form: Form, digits: &[u64]) -> Integer {
    digits.iter().rev().fold(Integer::new(), |x, &digit| x * form.radix() + digit)
}

/// Returns the digits in base r of an integer x with 0 ≤ x < p. The highest digit may be r, for
/// x = p − 1.
fn digits<const K: usize>(form: Form, mut x: Integer) -> [u64; K] {
    let mut all = [0; K];
    for digit in &mut all[..K - 1] {
        let (quotient, rest) = x.div_rem(Integer::from(form.radix()));
        (x, *digit) = (quotient, rest.to_u64().unwrap());
    }
    all[K - 1] = x.to_u64().unwrap();
    all
}

#[test]
fn primes_and_their_sizes() {
    for form in PRIMES {
        let p = modulus(form);
        assert_ne!(
            p.is_probably_prime(if form.digits() > 64 { 2 } else { 10 }),
            IsPrime::No,
            "{form}"
        );
        assert_eq!(Integer::from_digits(&form.modulus(), Order::Lsf), p, "{form}");
        assert_eq!(p.significant_bits(), form.bits(), "{form}");
        assert_eq!((p - 1u32).find_one(0), Some(form.two_adicity()), "{form}");
    }
}

#[test]
fn proofs_agree_on_many_forms() {
    let mut primes = 0;
    for (w, u) in (2..=64).flat_map(|w| (1..w).map(move |u| (w, u))) {
        for k in [2, 4, 8] {
            for form in [Form::plus(w, u, k), Form::minus(w, u, k)].into_iter().flatten() {
                let expected = modulus(form).is_probably_prime(5) != IsPrime::No;
                assert_eq!(form.is_prime(), expected, "{form}");
                primes += usize::from(expected);
            }
        }
    }
    assert_eq!(primes, 267 + 242 + 91);
}

#[test]
fn roots_of_unity() {
    fn check<const K: usize>(field: &Gfn<K>) {
        let form = field.form();
        let (p, r) = (modulus(form), Integer::from(form.radix()));
        for m in [K.ilog2() + 1, 20, 40] {
            let root = integer(form, &field.root_of_unity(m).unwrap());
            let half = Integer::from(1) << (m - 1);
            assert_eq!(root.clone().pow_mod(&half, &p).unwrap(), Integer::from(&p - 1), "{form}");
            let to_radix = Integer::from(1) << (m - 1 - K.ilog2());
            assert_eq!(root.pow_mod(&to_radix, &p).unwrap(), r, "{form}");
        }
        // Always the smaller square root.
        let smaller = integer(form, &field.root_of_unity(K.ilog2() + 2).unwrap());
        assert!(smaller < Integer::from(&p - &smaller), "{form}");
    }
    for form in PRIMES {
        with_field!(form, |field| check(&field)).unwrap();
    }
}

/// Returns K digits in base r, chosen by `words`. Many of the digits are 0 or close to r − 1.
fn element<const K: usize>(r: u64, words: &[(u8, u64)]) -> [u64; K] {
    std::array::from_fn(|i| match words[i % words.len()] {
        (0, _) => r - 1,
        (1, _) => 0,
        (2, word) => r - 1 - word % 3,
        (_, word) => word % r,
    })
}

fn words() -> impl Strategy<Value = Vec<(u8, u64)>> {
    (1u8..8).prop_flat_map(|kinds| proptest::collection::vec((0..kinds, any::<u64>()), 1..130))
}

#[track_caller]
fn check<const K: usize>(field: &Gfn<K>, a: &[u64; K], b: &[u64; K], exponent: u64) {
    let form = field.form();
    let p = modulus(form);
    let (x, y) = (integer(form, a), integer(form, b));
    let canonical = |x: Integer| digits::<K>(form, x.modulo(&p));
    let product = canonical(Integer::from(&x * &y));
    assert_eq!(field.add(a, b), canonical(Integer::from(&x + &y)), "{form}: {a:?} + {b:?}");
    assert_eq!(field.sub(a, b), canonical(Integer::from(&x - &y)), "{form}: {a:?} − {b:?}");
    assert_eq!(field.neg(a), canonical(Integer::from(-&x)), "{form}: −{a:?}");
    assert_eq!(field.mul(a, b), product, "{form}: {a:?}·{b:?}");
    assert_eq!(field.mul_by_columns(a, b), product, "{form}: {a:?}·{b:?}");
    assert_eq!(field.mul_by_karatsuba(a, b), product, "{form}: {a:?}·{b:?}");
    assert_eq!(field.mul_by_transforms(a, b), product, "{form}: {a:?}·{b:?}");
    assert_eq!(field.square(a), canonical(Integer::from(x.square_ref())), "{form}: {a:?}²");

    let (i, l) = (exponent % (4 * K as u64), (exponent % 100) as u32);
    let rotated = &x * Integer::from(form.radix()).pow(i as u32);
    assert_eq!(field.mul_by_radix_power(a, i), canonical(rotated), "{form}: {a:?}·r^{i}");
    let part = &x * (Integer::from(1) << l).invert(&p).unwrap();
    assert_eq!(field.div_by_power_of_two(a, l), canonical(part), "{form}: {a:?}/2^{l}");

    let power = x.clone().pow_mod(&Integer::from(exponent), &p).unwrap();
    assert_eq!(field.pow(a, &[exponent]), canonical(power), "{form}: {a:?}^{exponent}");
    let mut limbs: Vec<u64> = x.to_digits(Order::Lsf);
    limbs.resize(form.modulus().len(), 0);
    assert_eq!(field.to_limbs(a), limbs, "{form}");
    let mut bytes: Vec<u8> = x.to_digits(Order::Lsf);
    bytes.resize(form.bits().div_ceil(8) as usize, 0);
    assert_eq!((field.to_bytes(a), field.from_bytes(&bytes)), (bytes.clone(), *a), "{form}");
    // A number twice as long.
    let long: Vec<u64> = (Integer::from(&x * &y) << 70u32).to_digits(Order::Lsf);
    assert_eq!(field.from_limbs(&long), canonical(Integer::from(&x * &y) << 70u32), "{form}");
}

#[test]
fn corners() {
    fn check_corners<const K: usize>(field: &Gfn<K>) {
        let r = field.form().radix();
        let minus_one = field.neg(&field.one());
        assert_eq!(minus_one[K - 1], r);
        let alternating =
            |odd: usize| std::array::from_fn(|i| if i % 2 == odd { r - 1 } else { 0 });
        let all =
            [[0; K], field.one(), minus_one, [r - 1; K], alternating(0), alternating(1), [1; K]];
        for a in &all {
            for b in &all {
                check(field, a, b, 0x8000_0000_0000_0001);
            }
        }
    }
    for form in PRIMES {
        with_field!(form, |field| check_corners(&field)).unwrap();
    }
}

#[test]
fn inverses() {
    fn check<const K: usize>(field: &Gfn<K>) {
        let form = field.form();
        let p = modulus(form);
        for seed in [3, 0x9e37_79b9_7f4a_7c15] {
            let a = element::<K>(form.radix(), &[(3, seed), (0, 0), (3, seed / 3), (1, 0)]);
            let expected = digits::<K>(form, integer(form, &a).invert(&p).unwrap());
            assert_eq!(field.inverse(&a), Some(expected), "{form}");
        }
    }
    for form in PRIMES {
        with_field!(form, |field| check(&field)).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(50))]
    #[test]
    fn any_elements(a in words(), b in words(), exponent in any::<u64>()) {
        for form in PRIMES {
            with_field!(form, |field| {
                let r = form.radix();
                check(&field, &element(r, &a), &element(r, &b), exponent);
            })
            .unwrap();
        }
    }
}
