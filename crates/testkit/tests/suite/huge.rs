//! Compares operations on single numbers of any length with GMP.

use proptest::prelude::*;
use rug::integer::Order;
use rug::ops::Pow;
use rug::{Complete, Integer};
use warpint_integer::huge::{self, ProductTree, Residues};
use warpint_natural::product::{FastProducts, Multiplier, TransformMultiplier};
use warpint_selftest::sample;

fn integer(limbs: &[u64]) -> Integer {
    Integer::from_digits(limbs, Order::Lsf)
}

fn limbs(x: &Integer) -> Vec<u64> {
    x.to_digits(Order::Lsf)
}

/// Returns a number of `n` limbs: random, or with long runs of equal bits.
fn number(rng: &mut sample::Random, n: usize) -> Vec<u64> {
    let runs = rng.random_bool(0.3);
    let mut out = Vec::with_capacity(n + 40);
    while out.len() < n {
        match rng.random_range(0..8) {
            0 if runs => out.extend([0; 40]),
            1 if runs => out.extend([u64::MAX; 40]),
            _ => out.push(rng.random()),
        }
    }
    out.truncate(n);
    out
}

/// Compares all operations on numbers of `n` and `m` limbs with GMP, and residues of the results with
/// those of the operands.
fn compare(multiplier: &dyn Multiplier, seed: u64, n: usize, m: usize) {
    let mut rng = sample::random(seed);
    let (a, b) = (number(&mut rng, n), number(&mut rng, m));
    let (x, y) = (integer(&a), integer(&b));
    let what = || format!("{n} and {m} limbs, seed {seed}");
    let (ra, rb) = (Residues::of(&a), Residues::of(&b));

    let product = huge::product(multiplier, &a, &b);
    assert!(product == limbs(&(&x * &y).complete()), "product of {}", what());
    assert_eq!(Residues::of(&product), ra.times(rb), "{}", what());
    assert!(huge::square(multiplier, &a) == limbs(&x.square_ref().complete()), "{}", what());

    let (whole, from, to) = ((&x * &y).complete(), m / 2, n.max(m / 2));
    let low = huge::low_product(multiplier, &a, &b, to);
    assert!(low == limbs(&whole.keep_bits_ref(64 * to as u32).complete()), "low of {}", what());
    let high = huge::high_product(multiplier, &a, &b, from);
    let shifted = (&whole >> (64 * from)).complete();
    assert!(high == limbs(&shifted), "high of {}", what());
    let middle = huge::middle_product(multiplier, &a, &b, from..to);
    let want = shifted.keep_bits(64 * (to - from) as u32);
    assert!(middle == limbs(&want), "middle of {}", what());
    if y != 0 {
        assert!(huge::div_exact(multiplier, &product, &b).unwrap() == limbs(&x), "{}", what());
        let is_exact = huge::div_exact(multiplier, &a, &b).is_ok();
        assert_eq!(is_exact, x.is_divisible(&y), "exact quotient of {}", what());
        let prepared = huge::Prepared::new(multiplier, &b);
        let (_, rest) = prepared.div_rem(multiplier, &product);
        assert!(rest.is_empty(), "remainder of {}", what());
    }

    // The product and its neighbours have the longest runs of equal limbs in quotient or remainder.
    if y != 0 {
        for dividend in [x.clone(), (&x * &y).complete() + &y - 1u32, (&x * &y).complete()] {
            let a = limbs(&dividend);
            let (q, r) = huge::div_rem(multiplier, &a, &b).unwrap();
            let (want_q, want_r) = dividend.div_rem_ref(&y).complete();
            assert!(q == limbs(&want_q) && r == limbs(&want_r), "quotient of {}", what());
            assert_eq!(Residues::of(&q).times(rb).plus(Residues::of(&r)), Residues::of(&a));
        }
    }

    for square in [x.clone(), x.square_ref().complete() + 2u32 * &x, x.square_ref().complete()] {
        let a = limbs(&square);
        let (s, r) = huge::sqrt_rem(multiplier, &a);
        let (want_s, want_r) = square.sqrt_rem_ref().complete();
        assert!(s == limbs(&want_s) && r == limbs(&want_r), "root of {}", what());
    }

    let gcd = huge::gcd(multiplier, &a, &b);
    assert!(gcd == limbs(&x.gcd_ref(&y).complete()), "gcd of {}", what());

    let digits = huge::to_decimal(multiplier, &a);
    assert!(digits == x.to_string().into_bytes(), "decimal digits of {}", what());
    assert!(huge::from_decimal(multiplier, &digits) == limbs(&x), "from digits of {}", what());
    assert_eq!(Residues::of_decimal(&digits), ra, "{}", what());
    let digits = huge::to_hex(&a);
    assert!(digits == x.to_string_radix(16).into_bytes(), "hexadecimal digits of {}", what());
    assert!(huge::from_hex(&digits) == limbs(&x), "{}", what());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn short_numbers(seed: u64, n in 0usize..40, m in 0usize..40) {
        compare(&FastProducts, seed, n, m);
    }

    #[test]
    fn small_powers(a: u128, shift in 0u32..200, e in 0u64..200) {
        let x = Integer::from(a) << shift;
        let power = huge::power(&FastProducts, &limbs(&x), e).unwrap();
        prop_assert!(power == limbs(&x.pow(e as u32)));
    }

    #[test]
    fn factorials_and_primorials(n in 0u64..6000) {
        let factorial = huge::factorial(&FastProducts, n).unwrap();
        prop_assert!(factorial == limbs(&Integer::factorial(n as u32).complete()));
        prop_assert_eq!(Residues::of(&factorial), Residues::of_factorial(n));
        let primorial = huge::primorial(&FastProducts, n).unwrap();
        prop_assert!(primorial == limbs(&Integer::primorial(n as u32).complete()));
    }
}

/// Tests numbers on both sides of the lengths at which the methods of division, roots and conversions
/// change.
#[test]
fn numbers_around_the_limits_of_methods() {
    let multiplier = TransformMultiplier::new(2);
    for (i, (n, m)) in [
        (255, 256),
        (513, 511),
        (1_010, 1_011),
        (2_047, 2_048),
        (4_096, 2_048),
        (4_095, 2_047),
        (4_097, 2_049),
        (6_200, 3_000),
        (12_288, 2_048),
    ]
    .into_iter()
    .enumerate()
    {
        compare(&multiplier, i as u64, n, m);
    }
}

/// Tests numbers of up to 2^20 and 2^21 bits, and of very unequal lengths.
#[test]
fn long_numbers() {
    let multiplier = TransformMultiplier::new(2);
    for (i, (n, m)) in
        [(16_384, 16_384), (32_768, 16_384), (32_767, 700), (32_769, 16_383), (100, 20_000)]
            .into_iter()
            .enumerate()
    {
        compare(&multiplier, 100 + i as u64, n, m);
    }
}

#[test]
#[ignore = "a minute"]
fn very_long_numbers() {
    let multiplier = TransformMultiplier::new(2);
    compare(&multiplier, 200, 1 << 18, 1 << 17);
    compare(&multiplier, 201, (1 << 20) + 1, (1 << 20) - 1);
}

#[test]
fn long_powers_factorials_and_primorials() {
    let multiplier = TransformMultiplier::new(2);
    for n in [100_000, 131_071, 131_072] {
        let factorial = huge::factorial(&multiplier, n).unwrap();
        assert!(factorial == limbs(&Integer::factorial(n as u32).complete()), "{n}!");
        let primorial = huge::primorial(&multiplier, 8 * n).unwrap();
        assert!(primorial == limbs(&Integer::primorial(8 * n as u32).complete()), "{}#", 8 * n);
    }
    for (a, e) in [(3u64, 600_001u32), (10, 400_000), (u64::MAX, 20_000)] {
        let power = huge::power(&multiplier, &[a], e.into()).unwrap();
        assert!(power == limbs(&Integer::from(a).pow(e)), "{a}^{e}");
        assert_eq!(Residues::of(&power), Residues::of_small(a).pow(e.into()));
    }
}

#[test]
fn trees_of_numbers_of_unequal_lengths() {
    let multiplier = TransformMultiplier::new(2);
    let mut rng = sample::random(7);
    let numbers: Vec<Vec<u64>> = (0..100).map(|i| number(&mut rng, 1 + i * 37 % 300)).collect();
    let numbers: Vec<_> = numbers.into_iter().filter(|n| n.iter().any(|&x| x != 0)).collect();
    let a = number(&mut rng, 20_000);
    let tree = ProductTree::new(&multiplier, numbers.clone());
    let product: Integer = numbers.iter().map(|n| integer(n)).product();
    assert!(tree.product() == limbs(&product));
    let x = integer(&a);
    for (m, r) in numbers.iter().zip(tree.remainders(&multiplier, &a).unwrap()) {
        assert!(r == limbs(&(&x % integer(m))));
    }
}
