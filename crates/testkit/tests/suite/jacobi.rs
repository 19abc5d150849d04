//! Compares the Jacobi symbol, and the products and divisions that it uses, with GMP.

use proptest::collection::vec;
use proptest::prelude::*;
use rug::integer::Order;
use rug::{Assign, Integer};

use warpint_mersenne::{LlStart, Residue, jacobi_of_ll};
use warpint_natural::division::{Divider, div_rem_by};
use warpint_natural::euclid::{gcd, jacobi, jacobi_binary};
use warpint_natural::limbs::{self, div_rem};
use warpint_natural::product::{FastProducts, Multiplier, TransformMultiplier};
use warpint_testkit::gmp::{self, Ring, mersenne};

fn integer(x: &[u64]) -> Integer {
    Integer::from_digits(x, Order::Lsf)
}

fn digits(x: &Integer) -> Vec<u64> {
    x.to_digits(Order::Lsf)
}

/// A generator of numbers of given lengths, some with long runs of equal bits. The random generator
/// is SplitMix64. The field is its state, initially the seed.
struct Numbers(u64);

impl Numbers {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    fn limbs(&mut self, n: usize) -> Vec<u64> {
        let runs = self.word().is_multiple_of(3);
        let mut out = Vec::with_capacity(n + 40);
        while out.len() < n {
            match self.word() % 8 {
                0 if runs => out.extend([0; 40]),
                1 if runs => out.extend([u64::MAX; 40]),
                _ => out.push(self.word()),
            }
        }
        out.truncate(n);
        out
    }

    /// Returns a number of exactly `bits` bits.
    fn integer(&mut self, bits: u32) -> Integer {
        let mut x = integer(&self.limbs((bits as usize).div_ceil(64)));
        x.keep_bits_mut(bits);
        x.set_bit(bits - 1, true);
        x
    }
}

/// Compares gcd(a, b) and the Jacobi symbols (a | b) and (b | a) with GMP. A symbol is compared
/// only if its lower argument is odd. The functions under test use the given multiplier.
#[track_caller]
fn check(a: &Integer, b: &Integer, multiplier: &dyn Multiplier) {
    let go_on = || false;
    let (x, y) = (digits(a), digits(b));
    let expected = Integer::from(a.gcd_ref(b));
    assert_eq!(gcd(&x, &y, multiplier, &go_on), Some(digits(&expected)), "a gcd");
    for (a, b, x, y) in [(a, b, &x, &y), (b, a, &y, &x)] {
        if b.is_odd() {
            let expected = a.jacobi(b) as i8;
            let sizes = (a.significant_bits(), b.significant_bits());
            assert_eq!(jacobi(x, y, multiplier, &go_on), Some(expected), "bits: {sizes:?}");
        }
    }
}

fn both(a: &Integer, b: &Integer) {
    check(a, b, &FastProducts);
    check(a, b, &TransformMultiplier::new(2));
}

fn limb() -> impl Strategy<Value = u64> {
    prop_oneof![4 => any::<u64>(), 1 => Just(0), 1 => Just(u64::MAX), 1 => Just(1), 1 => Just(1 << 63)]
}

/// Returns a strategy for odd numbers of up to `most` limbs, as lower arguments of the symbol.
fn odd(most: usize) -> impl Strategy<Value = Vec<u64>> {
    vec(limb(), 1..=most).prop_map(|mut x| {
        x[0] |= 1;
        x
    })
}

proptest! {
    #[test]
    fn short_numbers(a in vec(limb(), 1..8), b in odd(8)) {
        let expected = integer(&a).jacobi(&integer(&b)) as i8;
        prop_assert_eq!(jacobi_binary(&a, &b), expected);
        both(&integer(&a), &integer(&b));
    }

    #[test]
    fn quotients_and_remainders(a in vec(limb(), 1..400), b in odd(200)) {
        let (quotient, rem) = integer(&a).div_rem(integer(&b));
        let expected = (digits(&quotient), digits(&rem));
        prop_assert_eq!(&div_rem(&a, &b), &expected);
        prop_assert_eq!(&div_rem_by(&FastProducts, &a, &b), &expected);
    }

    /// Divides by one stored divisor, and tests dividends that are not multiples, multiples, and
    /// numbers next to multiples.
    #[test]
    fn quotients_by_short_divisors(numbers in vec(vec(limb(), 1..20), 1..6), b in odd(10), shift in 0u32..64) {
        let b = integer(&b) >> shift;
        let b = digits(&b.max(Integer::from(1)));
        let mut divider = Divider::default();
        divider.set(&b);
        for a in numbers {
            let multiple = integer(&a) * integer(&b);
            for a in [integer(&a), multiple.clone() - 1, multiple.clone(), multiple + 1] {
                let a = a.abs();
                let (mut q, mut r) = (vec![7; a.significant_digits::<u64>() + 1], vec![7; b.len()]);
                divider.div_rem(&mut q, &mut r, &digits(&a));
                let (quotient, rem) = a.div_rem(integer(&b));
                prop_assert_eq!((integer(&q), integer(&r)), (quotient, rem));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn any_sizes(seed in any::<u64>(), bits in 1u32..40_000, other in 1u32..40_000) {
        let mut numbers = Numbers(seed);
        let (a, b) = (numbers.integer(bits), numbers.integer(other));
        check(&a, &(b | 1u32), &TransformMultiplier::new(1));
    }

    #[test]
    fn about_equal_sizes(seed in any::<u64>(), bits in 10_000u32..70_000, less in 0u32..200) {
        let mut numbers = Numbers(seed);
        let (a, b) = (numbers.integer(bits), numbers.integer(bits - less));
        check(&a, &(b | 1u32), &TransformMultiplier::new(1));
    }

    /// Tests pairs for which the quotients in Euclid's algorithm are random: many are 1, some have
    /// many limbs. The numbers may have a common factor.
    #[test]
    fn drawn_quotients(seed in any::<u64>(), common in 1u32..3) {
        let mut numbers = Numbers(seed);
        let (mut a, mut b) = (Integer::from(common), Integer::from(0));
        while a.significant_bits() < 30_000 {
            let q = match numbers.word() % 64 {
                0 => { let n = (numbers.word() % 12_000) as u32 + 1; numbers.integer(n) }
                1..=8 => numbers.integer(130),
                9..=16 => Integer::from(numbers.word()),
                17..=32 => Integer::from(numbers.word() % 5 + 1),
                _ => Integer::from(1),
            };
            (a, b) = (Integer::from(&a * &q) + &b, a);
        }
        check(&a, &b, &TransformMultiplier::new(1));
    }

    #[test]
    fn products_by_transforms(seed in any::<u64>(), a in 1usize..3_000, b in 1usize..3_000) {
        let mut numbers = Numbers(seed);
        let (a, b) = (numbers.limbs(a), numbers.limbs(b));
        let product = TransformMultiplier::new(2).mul(&a, &b);
        prop_assert_eq!(product.len(), a.len() + b.len());
        prop_assert_eq!(integer(&product), integer(&a) * integer(&b));
        prop_assert_eq!(integer(&FastProducts.mul(&a, &b)), integer(&a) * integer(&b));
    }
}

#[test]
fn sizes_at_the_edges_of_limbs_and_of_recursions() {
    let mut numbers = Numbers(7);
    for limbs in [1u32, 2, 3, 48, 299, 300, 301, 449, 450, 598, 599, 600, 601, 602, 899, 900, 1_200]
    {
        for bits in [64 * limbs - 1, 64 * limbs, 64 * limbs + 1] {
            for other in [bits, bits - bits.min(65) + 2, bits / 2 + 64, bits / 3 + 1] {
                let (a, b) = (numbers.integer(bits), numbers.integer(other) | 1u32);
                check(&a, &b, &FastProducts);
                check(&Integer::from(&a + &b), &b, &FastProducts);
            }
        }
    }
}

#[test]
fn zero_one_and_itself() {
    let x = Numbers(3).integer(20_000) | 1u32;
    for (a, b) in [(0u32, 1u32), (0, 3), (1, 1), (1, 3), (2, 1), (3, 3)] {
        both(&Integer::from(a), &Integer::from(b));
    }
    for a in [
        Integer::from(0),
        Integer::from(1),
        x.clone(),
        Integer::from(&x - 1),
        Integer::from(&x << 1),
    ] {
        both(&a, &x);
        both(&a, &Integer::from(1));
    }
}

#[test]
fn powers_of_two_and_their_neighbours() {
    for (i, j) in [
        (64u32, 64u32),
        (8_192, 8_192),
        (8_192, 8_191),
        (8_192, 4_097),
        (20_000, 19_999),
        (40_000, 64),
    ] {
        for (c, d) in [(-1, 1), (1, -1), (-1, -1), (0, 1), (0, -1), (3, 1), (-3, 1)] {
            let near = |k: u32, c: i32| (Integer::from(1) << k) + c;
            both(&near(i, c), &near(j, d));
        }
    }
}

/// Returns the Fibonacci numbers F_n and F_(n−1).
fn fibonacci(n: u32) -> (Integer, Integer) {
    let (mut a, mut b) = (Integer::new(), Integer::new());
    (&mut a, &mut b).assign(Integer::fibonacci_2(n));
    (a, b)
}

#[test]
fn quotients_of_one_and_one_huge_quotient() {
    for n in [1_000u32, 60_001, 90_000, 90_001, 90_002] {
        let (a, b) = fibonacci(n);
        both(&a, &b);
    }
    let mut numbers = Numbers(11);
    for (short, quotient) in
        [(64u32, 60_000u32), (10_000, 30_000), (30_000, 10_000), (30_000, 30_000)]
    {
        let (b, q) = (numbers.integer(short) | 1u32, numbers.integer(quotient));
        for rem in [Integer::from(1), Integer::from(&b - 1), numbers.integer(short - 1)] {
            both(&(Integer::from(&b * &q) + rem), &b);
        }
    }
}

#[test]
fn symbols_of_lucas_lehmer() {
    for p in [3u32, 5, 7, 31, 61, 89, 127, 521, 2_203, 9_689] {
        for start in [LlStart::Four, LlStart::Ten, LlStart::TwoThirds] {
            let ring = Ring::new(p);
            for n in [1, 2, 3, 10, 63, u64::from(p) / 2, u64::from(p) - 3] {
                // At the end s_{p−2} = 0, and the symbol of −2 is −1 as well.
                if (1..u64::from(p) - 1).contains(&n) {
                    let x = ring.ll_residue(start, n);
                    assert_eq!(
                        jacobi_of_ll(&x, 2, &|| false),
                        Some(-1),
                        "s_{n} mod M{p}, {start:?}"
                    );
                }
            }
        }
    }
}

/// Tests that the Jacobi check also holds modulo the composite M11, M67, M1277 and M9949, and that
/// it finds about half of all errors.
#[test]
fn composite_moduli_and_errors() {
    let mut wrong = 0;
    for p in [11u32, 67, 1_277, 9_949] {
        let ring = Ring::new(p);
        for n in [1, 5, u64::from(p) - 2] {
            let x = ring.ll_residue(LlStart::Four, n);
            assert_eq!(jacobi_of_ll(&x, 1, &|| false), Some(-1), "s_{n} mod M{p}");
            for bit in 0..16 {
                let flipped = gmp::integer(&x) ^ (Integer::from(1) << (bit * p / 16));
                let flipped = gmp::residue(&flipped, p);
                let expected = (gmp::integer(&flipped) - 2u32).jacobi(&mersenne(p)) as i8;
                assert_eq!(jacobi_of_ll(&flipped, 1, &|| false), Some(expected), "M{p}");
                wrong += usize::from(expected != -1);
            }
        }
    }
    // About half of 192 errors are found.
    assert!((60..140).contains(&wrong), "{wrong}");
    // x − 2 = 0, and a common factor with M11 = 23·89.
    assert_eq!(jacobi_of_ll(&Residue::from_u64(9_949u32, 2), 1, &|| false), Some(0));
    assert_eq!(jacobi_of_ll(&Residue::from_u64(11u32, 2 + 46), 1, &|| false), Some(0));
}

#[test]
fn a_symbol_is_given_up_when_told() {
    let p = 3_021_377;
    let x = Residue::from_limbs(p, &Numbers(1).limbs(p as usize / 64));
    assert_eq!(jacobi_of_ll(&x, 2, &|| true), None);
}

#[test]
#[ignore = "some seconds: run with --release --ignored"]
fn four_million_bits() {
    let mut numbers = Numbers(2_026);
    let multiplier = TransformMultiplier::new(2);
    for bits in [1u32 << 18, (1 << 20) + 17, 1 << 21, 1 << 22] {
        let (a, b) = (numbers.integer(bits), numbers.integer(bits - 3) | 1u32);
        check(&a, &b, &multiplier);
        let c = numbers.integer(bits / 5) | 1u32;
        check(&Integer::from(&a * &c), &Integer::from(&b * &c), &multiplier);
        check(&Integer::from(&a * &b), &c, &multiplier);
        let p = bits - 1;
        let x = Residue::from_limbs(p, &numbers.limbs(limbs::limbs_for_bits(p)));
        let expected = (gmp::integer(&x) - 2u32).jacobi(&mersenne(p)) as i8;
        assert_eq!(jacobi_of_ll(&x, 2, &|| false), Some(expected), "{p} bits");
        let (x, y) = (digits(&a), digits(&c));
        let (quotient, rem) = a.div_rem(c);
        assert_eq!(div_rem_by(&multiplier, &x, &y), (digits(&quotient), digits(&rem)));
    }
}
