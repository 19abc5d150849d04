use warpint_arith::primes::{is_prime, smallest_factor};

use super::lucas::jacobi;
use super::*;
use crate::euclid;
use crate::limbs::{self, trimmed};
use crate::power::PowMod;
use crate::product::FastProducts;
use crate::sample::Sample;

/// The strong pseudoprimes to base 2 below 100,000 (OEIS A001262).
const STRONG_2: [u64; 16] = [
    2047, 3277, 4033, 4681, 8321, 15841, 29341, 42799, 49141, 52633, 65281, 74665, 80581, 85489,
    88357, 90751,
];

/// The strong Lucas pseudoprimes below 100,000 (OEIS A217255).
const STRONG_LUCAS: [u64; 12] =
    [5459, 5777, 10877, 16109, 18971, 22499, 24569, 25199, 40309, 58519, 75077, 97439];

fn passes_strong(n: &[u64], base: u64) -> bool {
    let mut d = vec![0; n.len()];
    let s = odd_part_of_predecessor(&mut d, n);
    let (mut powers, mut x) = (PowMod::default(), vec![0; n.len()]);
    powers.set(n);
    powers.pow(&mut x, &[base], &d);
    StrongTest::default().passes(&x, s, n)
}

#[test]
fn the_pseudoprimes_below_100000_are_the_published_ones() {
    let mut lucas = LucasTest::default();
    let (mut strong, mut strong_lucas) = (vec![], vec![]);
    for n in (3..100_000u64).step_by(2) {
        let prime = smallest_factor(n) == n;
        let passes = [passes_strong(&[n], 2), lucas.passes(&[n])];
        if prime {
            assert_eq!(passes, [true; 2], "{n}");
            continue;
        }
        strong.extend(passes[0].then_some(n));
        strong_lucas.extend(passes[1].then_some(n));
    }
    assert_eq!(strong, STRONG_2);
    assert_eq!(strong_lucas, STRONG_LUCAS);
}

#[test]
fn zero_one_even_numbers_and_squares_fail_the_lucas_test() {
    let mut lucas = LucasTest::default();
    for (n, passes) in [(0, false), (1, false), (2, true), (3, true), (4, false), (5, true)] {
        assert_eq!(lucas.passes(&[n]), passes, "{n}");
        // With leading zeros.
        assert_eq!(lucas.passes(&[n, 0, 0]), passes, "{n}");
    }
    assert!(!lucas.passes(&[]));
    // 1093 and 3511 are the known Wieferich primes: their squares pass the strong test to base 2.
    for p in [1093u64, 3511] {
        assert!(passes_strong(&[p * p], 2));
        assert!(!lucas.passes(&[p * p]), "{p}²");
    }
    for p in [4_294_967_291u64, (1 << 61) - 1, u64::MAX - 58] {
        assert!(!lucas.passes(&limbs::mul(&[p], &[p])), "{p}²");
    }
}

/// 2^p − 1 and its neighbours in the sequence of Mersenne numbers, and all-ones limbs: for the
/// latter, n + 1 has one limb more than n.
#[test]
fn mersenne_numbers_are_prime_for_the_known_exponents_only() {
    let known = [2, 3, 5, 7, 13, 17, 19, 31, 61, 89, 107, 127, 521];
    let mut lucas = LucasTest::default();
    for p in (2..140usize).chain([192, 256, 521, 640]) {
        let mut n = vec![u64::MAX; p.div_ceil(64)];
        *n.last_mut().unwrap() >>= 64 * p.div_ceil(64) - p;
        let both = passes_strong(&n, 3) && lucas.passes(&n);
        // 3 divides 2^p − 1 for even p, and passes as a base only for n = 3.
        assert_eq!(both || p == 2, known.contains(&p), "2^{p} − 1");
    }
}

/// Tests 2^p − 1 and 2^p − 7, also with the reductions by half products of longer numbers.
#[test]
fn long_primes_pass_the_lucas_test() {
    for p in [521usize, 2203] {
        for mut lucas in [LucasTest::default(), LucasTest::by_half_products_from(2)] {
            let mut n = vec![u64::MAX; p.div_ceil(64)];
            *n.last_mut().unwrap() >>= 64 * p.div_ceil(64) - p;
            assert!(lucas.passes(&n), "2^{p} − 1");
            n[0] -= 6;
            assert!(!lucas.passes(&n), "2^{p} − 7");
        }
    }
}

#[test]
fn jacobi_symbols_are_those_of_half_gcds() {
    let mut sample = Sample::new(11);
    let symbol = |a: &[u64], n: &[u64]| euclid::jacobi(a, n, &FastProducts, &|| false).unwrap();
    for d in (1u64..200).step_by(2) {
        for l in 1..4 {
            let mut n = sample.number(l);
            n[0] |= 1;
            assert_eq!(jacobi(d, false, &n), symbol(&[d], &n), "({d} | {n:x?})");
            // (−d | n) = (n·d − d | n).
            let mut negative = limbs::mul(&n, &[d]);
            limbs::sub_assign(&mut negative, &[d]);
            let expected = symbol(trimmed(&negative), &n);
            assert_eq!(jacobi(d, true, &n), expected, "(−{d} | {n:x?})");
        }
    }
}

#[test]
fn the_fast_tests_agree_with_the_definition() {
    let mut sample = Sample::new(5);
    let mut lucas = LucasTest::default();
    let (mut primes, small) = (0, SmallPrimes::below(1000));
    for l in 1..5 {
        for _ in 0..if l < 3 { 1500 } else { 300 } {
            let mut n: Vec<u64> = (0..l).map(|_| sample.word()).collect();
            n[0] |= 1;
            let fast = small.factor(&n).is_none() && passes_strong(&n, 2) && lucas.passes(&n);
            assert_eq!(fast, limbs::is_probable_prime(&n), "{n:x?}");
            if let &[n] = &n[..] {
                assert_eq!(fast, is_prime(n), "{n}");
            }
            primes += usize::from(fast);
        }
    }
    assert!(primes > 50, "{primes} primes");
    for n in 0..30_000 {
        assert_eq!(limbs::is_probable_prime(&[n]), is_prime(n), "{n}");
    }
}

#[test]
fn residues_and_factors_by_small_primes() {
    let mut sample = Sample::new(3);
    for bound in [0, 1, 2, 3, 4, 53, 54, 1000, 20_000] {
        let small = SmallPrimes::below(bound);
        assert_eq!(small.bound(), bound);
        for l in 0..4 {
            let n = sample.number(l);
            let mut found = vec![];
            small.residues(&n, |p, residue| found.push((u64::from(p), u64::from(residue))));
            let primes = (2..u64::from(bound)).filter(|&p| is_prime(p));
            let expected: Vec<_> = primes.map(|p| (p, limbs::rem_small(&n, p))).collect();
            assert_eq!(found, expected, "{bound} {n:x?}");
            let factor = expected.iter().find(|(_, residue)| *residue == 0);
            assert_eq!(small.factor(&n).map(u64::from), factor.map(|(p, _)| *p), "{n:x?}");
        }
    }
}

#[test]
fn n_less_one_is_split() {
    let mut sample = Sample::new(9);
    for l in 1..5 {
        for zeros in [1, 2, 63, 64 * l - 1] {
            // d·2^zeros + 1.
            let mut d = sample.number(l);
            d[0] |= 1;
            let mut power = vec![0; zeros / 64 + 1];
            power[zeros / 64] = 1 << (zeros % 64);
            let mut n = limbs::mul(&d, &power);
            limbs::add_assign(&mut n, &[1]);
            let mut found = vec![7; n.len()];
            assert_eq!(odd_part_of_predecessor(&mut found, &n), zeros);
            assert_eq!(trimmed(&found), trimmed(&d));
        }
    }
}
