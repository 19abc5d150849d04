//! Compares sums and products with slow implementations of their definitions, and tests field laws
//! and conversions.

use super::*;
use proptest::prelude::*;

/// Returns Σ sign·x over the terms (x, sign). The sum is computed digit by digit, and the carries
/// are computed by division instructions.
fn slow_sum<const K: usize>(field: &Gfn<K>, terms: &[(&[u64; K], i128)]) -> [u64; K] {
    let sum = |i: usize| terms.iter().map(|(x, sign)| i128::from(x[i]) * sign).sum();
    field.carried(std::array::from_fn(sum))
}

fn slow_rotation<const K: usize>(field: &Gfn<K>, a: &[u64; K], i: usize) -> [u64; K] {
    let mut sums = [0i128; K];
    for (j, &digit) in a.iter().enumerate() {
        let at = i + j;
        sums[at % K] = if at / K % 2 == 1 { -i128::from(digit) } else { i128::from(digit) };
    }
    field.carried(sums)
}

#[track_caller]
fn check_one<const K: usize>(field: &Gfn<K>, a: &[u64; K]) {
    let form = field.form();
    assert_eq!(field.from_digits(a), Ok(*a), "{form}");
    assert_eq!(field.neg(a), slow_sum(field, &[(a, -1)]), "{form}: −{a:?}");
    let square = field.mul_schoolbook(a, a);
    assert_eq!(field.square(a), square, "{form}: {a:?}");
    assert_eq!(field.square_by_columns(a), square, "{form}: {a:?}");
    assert_eq!(field.square_by_transforms(a), square, "{form}: {a:?}");
    for i in [0, 1, K / 2, K - 1, K, K + 1, 2 * K - 1, 2 * K, 5 * K + 1] {
        let rotated = slow_rotation(field, a, i);
        assert_eq!(field.mul_by_radix_power(a, i as u64), rotated, "{form}: {a:?}, {i}");
    }
    for l in [0, 1, 2, form.u() - 1, form.u(), form.u() + 1, 64] {
        let part = field.div_by_power_of_two(a, l);
        assert!(field.from_digits(&part).is_ok(), "{form}: {a:?}/2^{l} = {part:?}");
        let back = (0..l).fold(part, |x, _| slow_sum(field, &[(&x, 2)]));
        assert_eq!(back, *a, "{form}: {a:?}/2^{l}");
    }
    let limbs = field.to_limbs(a);
    assert!(
        limbs.iter().rev().le(form.modulus().iter().rev()) && limbs.len() == form.modulus().len()
    );
    assert_eq!(field.from_limbs(&limbs), *a, "{form}");
    assert_eq!(field.from_bytes(&field.to_bytes(a)), *a, "{form}");
}

#[track_caller]
fn check_two<const K: usize>(field: &Gfn<K>, a: &[u64; K], b: &[u64; K]) {
    let form = field.form();
    assert_eq!(field.add(a, b), slow_sum(field, &[(a, 1), (b, 1)]), "{form}: {a:?} + {b:?}");
    assert_eq!(field.sub(a, b), slow_sum(field, &[(a, 1), (b, -1)]), "{form}: {a:?} − {b:?}");
    let product = field.mul_schoolbook(a, b);
    assert!(field.from_digits(&product).is_ok(), "{form}: {a:?}·{b:?} = {product:?}");
    assert_eq!(field.mul(a, b), product, "{form}: {a:?}·{b:?}");
    assert_eq!(field.mul_by_columns(a, b), product, "{form}: {a:?}·{b:?}");
    assert_eq!(field.mul_by_karatsuba(a, b), product, "{form}: {a:?}·{b:?}");
    assert_eq!(field.mul_by_transforms(a, b), product, "{form}: {a:?}·{b:?}");
}

#[track_caller]
fn check_laws<const K: usize>(field: &Gfn<K>, [a, b, c]: [&[u64; K]; 3]) {
    let add = |a: &[u64; K], b: &[u64; K]| field.add(a, b);
    let mul = |a: &[u64; K], b: &[u64; K]| field.mul(a, b);
    assert_eq!(add(&add(a, b), c), add(a, &add(b, c)));
    assert_eq!(mul(&mul(a, b), c), mul(a, &mul(b, c)));
    assert_eq!(mul(&add(a, b), c), add(&mul(a, c), &mul(b, c)));
    assert_eq!((add(a, b), mul(a, b)), (add(b, a), mul(b, a)));
    assert_eq!(field.sub(&add(a, b), b), *a);
    assert_eq!(add(a, &field.neg(a)), field.zero());
    assert_eq!((mul(a, &field.one()), add(a, &field.zero())), (*a, *a));
}

#[test]
fn corners_by_all_ways() {
    fn check<const K: usize>(field: &Gfn<K>) {
        let all = corners(field);
        for a in &all {
            check_one(field, a);
            // The slow method takes long with many digits.
            for b in all.iter().step_by(1 + K / 32) {
                check_two(field, a, b);
            }
        }
    }
    for form in PRIMES.into_iter().chain(others()) {
        with_field!(form, |field| check(&field)).unwrap();
    }
}

#[test]
fn all_elements_of_small_fields() {
    fn check<const K: usize>(field: &Gfn<K>) {
        let [p] = field.form().modulus()[..] else { return };
        let all: Vec<_> = (0..p).map(|x| field.from_u64(x)).collect();
        for (x, a) in (0..).zip(&all) {
            check_one(field, a);
            assert_eq!(field.to_limbs(a), [x]);
            let inverse = primes::pow_mod(x, p - 2, p);
            assert_eq!(field.inverse(a), (x > 0).then(|| field.from_u64(inverse)));
            for (y, b) in (0..).zip(&all) {
                check_two(field, a, b);
                assert_eq!(field.mul(a, b), all[primes::mul_mod(x, y, p) as usize]);
            }
        }
    }
    let mut count = 0;
    for form in others().iter().filter(|form| form.bits() < 10) {
        with_field!(*form, |field| check(&field)).unwrap();
        count += 1;
    }
    assert!(count >= 5, "{count}");
}

#[test]
fn inverses_and_powers() {
    fn check<const K: usize>(field: &Gfn<K>) {
        assert_eq!(field.inverse(&field.zero()), None);
        let few = if K > 32 { 3 } else { 100 };
        for a in corners(field).iter().filter(|a| **a != field.zero()).rev().take(few) {
            let inverse = field.inverse(a).unwrap();
            assert_eq!(field.mul(a, &inverse), field.one(), "{}: 1/{a:?}", field.form());
        }
        let r = field.mul_by_radix_power(&field.one(), 1);
        assert_eq!(field.pow(&r, &[K as u64]), field.minus_one());
        assert_eq!(field.pow(&r, &[2 * K as u64 + 1, 0, 0]), r);
        assert_eq!(field.pow(&r, &[0, 1]), field.one());
        let three = field.from_u64(3);
        assert_eq!(field.pow_odd(&three), field.pow(&three, &[field.r >> field.form().u()]));
        assert_eq!(field.pow_radix(&three), field.pow(&three, &[field.r]));
    }
    for form in PRIMES.into_iter().chain(others()) {
        with_field!(form, |field| check(&field)).unwrap();
    }
}

#[test]
fn only_canonical_digits_are_elements() {
    let field = Gfn::<2>::new(PRIMES[0]).unwrap();
    let r = PRIMES[0].radix();
    assert_eq!(field.from_digits(&[0, r]), Ok([0, r]));
    for (digits, at) in [([r, 0], 0), ([1, r], 1), ([0, r + 1], 1), ([r, r], 0)] {
        let error = NoElement::Digit { at, digit: digits[at], radix: r };
        assert_eq!(field.from_digits(&digits), Err(error));
    }
    let error = NoElement::Length { expected: 2, found: 3 };
    assert_eq!(field.from_digits(&[0, 0, 0]), Err(error));
    assert_eq!(error.to_string(), "an element has 2 digits, not 3");
}

/// Returns three elements of the field. Their digits are computed from `words`. Many digits are 0,
/// 1 or r − 1.
fn elements<const K: usize>(field: &Gfn<K>, words: &[(u8, u64)]) -> [[u64; K]; 3] {
    let digit = |&(kind, word): &(u8, u64)| match kind {
        0 => field.r - 1,
        1 => 0,
        2 => 1 % field.r,
        _ => word % field.r,
    };
    let mut digits = words.iter().cycle().map(digit);
    [(); 3].map(|()| std::array::from_fn(|_| digits.next().unwrap()))
}

fn words() -> impl Strategy<Value = Vec<(u8, u64)>> {
    (1u8..8).prop_flat_map(|kinds| proptest::collection::vec((0..kinds, any::<u64>()), 1..385))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_elements(words in words()) {
        fn check<const K: usize>(field: &Gfn<K>, words: &[(u8, u64)]) {
            let [a, b, c] = &elements(field, words);
            check_one(field, a);
            check_two(field, a, b);
            check_laws(field, [a, b, c]);
        }
        for form in PRIMES.into_iter().chain(others()) {
            with_field!(form, |field| check(&field, &words)).unwrap();
        }
    }

    #[test]
    fn any_integers(x in proptest::collection::vec(any::<u64>(), 0..300)) {
        // Reduced by division.
        fn check<const K: usize>(field: &Gfn<K>, x: &[u64]) {
            let form = field.form();
            let expected = crate::limbs::oracle::rem(x, &form.modulus());
            assert_eq!(field.to_limbs(&field.from_limbs(x)), expected, "{form}");
        }
        for form in PRIMES.into_iter().chain(others()) {
            with_field!(form, |field| check(&field, &x)).unwrap();
        }
    }
}
