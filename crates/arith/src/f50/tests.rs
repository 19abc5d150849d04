//! Compares the arithmetic of the fields with 128-bit integer arithmetic.

use super::*;
use crate::primes::{is_prime, mul_mod, pow_mod};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn fields() -> impl Iterator<Item = F50> {
    // The usual primes, and the smallest and the largest allowed.
    let smallest = (1u64 << 46..).find(|&p| is_prime(p)).unwrap();
    let largest = (0..1u64 << 50).rev().find(|&p| is_prime(p)).unwrap();
    let usual = PRIMES.iter().chain(&MEDIUM).chain(&NARROW).map(|&(p, ..)| p);
    usual.chain([smallest, largest]).map(|p| F50::new(p).unwrap())
}

/// 2^52, the largest |a| that [`F50::mul_by`] accepts.
const FACTOR_LIMIT: f64 = 4_503_599_627_370_496.0;

/// Returns integers near which roundings or quotients change. Their absolute values are at most
/// `bound`. Each absolute value is within 3 of one of these numbers, rounded down: 0, `bound`, a
/// power of 2, or a multiple of p/4 or of p.
fn corners(p: f64, bound: f64) -> Vec<f64> {
    let mut centres = vec![0.0, bound];
    centres.extend((0..=53).map(|k| (1u64 << k) as f64));
    centres.extend((1..=16).map(|k| (f64::from(k) * p / 4.0).floor()));
    centres.extend((5..=64).map(|k| (f64::from(k) * p).floor()));
    let near = |c: f64| (-3..=3).map(move |d| c + f64::from(d));
    let mut all: Vec<f64> = centres.into_iter().flat_map(near).flat_map(|x| [x, -x]).collect();
    all.retain(|x| x.abs() <= bound);
    all
}

/// Returns whether r is an integer with |r| ≤ `bound` that is congruent to x modulo the prime of
/// `field`.
fn stands_for(r: f64, x: i128, bound: f64, field: F50) -> bool {
    let p = i128::from(field.modulus());
    r.fract() == 0.0 && r.abs() <= bound && (r as i128 - x).rem_euclid(p) == 0
}

fn check_reduce(field: F50, x: f64) {
    let p = field.p;
    let r = field.reduce(x);
    assert!(stands_for(r, x as i128, p / 2.0 + 2.0, field), "{x} mod {p}: {r}");
    let canonical = (x as i128).rem_euclid(p as i128);
    assert_eq!(i128::from(field.to_u64(x)), canonical, "{x} mod {p}");
}

fn check_mul(field: F50, a: f64, b: f64) {
    let p = field.p;
    let product = a as i128 * b as i128;
    if product.unsigned_abs() <= ((1 << 51) - 2) * p as u128 {
        let r = field.mul(a, b);
        // The bound itself is exact; this value of it is rounded.
        let bound = p / 2.0 + (a * b).abs() / (1u64 << 52) as f64 + 1.0;
        assert!(stands_for(r, product, bound, field), "{a}·{b} mod {p}: {r}");
    }
}

fn check_mul_by(field: F50, a: f64, w: f64) {
    let p = field.p;
    let factor = field.factor(w);
    assert!(factor.w.abs() <= p / 2.0 && stands_for(factor.w, w as i128, p, field));
    let r = field.mul_by(a, factor);
    let bound = p / 2.0 + a.abs() * p / (1u64 << 54) as f64 + 1.0;
    assert!(stands_for(r, a as i128 * w as i128, bound, field), "{a}·{w} mod {p}: {r}");
}

#[test]
fn primes_are_prime_and_have_the_roots_that_they_are_chosen_for() {
    for (p, m, generator) in PRIMES.into_iter().chain(MEDIUM).chain(NARROW) {
        let field = F50::new(p).unwrap();
        assert_eq!((p - 1).trailing_zeros(), m, "{p}");
        // No power of a generator with an exponent below p − 1 is 1.
        let odd = (p - 1) >> m;
        let mut left = odd;
        let mut factors = vec![2];
        while left > 1 {
            let q = crate::primes::smallest_factor(left);
            factors.push(q);
            left /= q;
        }
        let generates = |g: u64| factors.iter().all(|&q| pow_mod(g, (p - 1) / q, p) != 1);
        assert_eq!((2..100).find(|&g| generates(g)), Some(generator), "{p}");
        for log2 in 0..=m {
            let root = field.root_of_unity(log2).unwrap();
            // ω^(2^(log2 − 1)) = −1.
            let mut power = field.to_u64(root);
            for _ in 1..log2 {
                power = mul_mod(power, power, p);
            }
            assert_eq!(power, if log2 == 0 { 1 } else { p - 1 }, "2^{log2}-th root mod {p}");
        }
        assert_eq!(field.root_of_unity(m + 1), None);
    }
}

#[test]
fn what_is_no_prime_of_this_size_has_no_field() {
    let below = (0..1u64 << 46).rev().find(|&p| is_prime(p)).unwrap();
    let above = (1u64 << 50..).find(|&p| is_prime(p)).unwrap();
    for p in [0, 2, below, above, 1 << 46, (1 << 50) - 1, u64::MAX] {
        assert_eq!(F50::new(p), Err(NoField(p)));
    }
}

#[test]
fn corners_of_reductions_and_products() {
    for field in fields() {
        let p = field.p;
        for x in corners(p, 9_007_199_254_740_992.0) {
            check_reduce(field, x);
        }
        let (wide, narrow) = (corners(p, FACTOR_LIMIT), corners(p, p));
        for &a in &wide {
            for &b in &narrow {
                check_mul(field, a, b);
                check_mul_by(field, a, b);
            }
        }
    }
}

/// Tests products a·w for which a·w/p is within 1/(2p) of half an odd integer. |a| takes values up
/// to the bound of [`F50::mul_by`].
#[test]
fn products_half_way_between_multiples_of_the_modulus() {
    let mut random = ChaCha8Rng::seed_from_u64(50);
    for field in fields() {
        let p = field.modulus();
        for _ in 0..2_000 {
            // a·w ≡ (p ± 1)/2 mod p, for every a up to its bound.
            let w = random.random_range(1..=p / 2);
            let half = mul_mod(p.div_ceil(2), pow_mod(w, p - 2, p), p);
            let most = FACTOR_LIMIT as u64 / p;
            for (k, half) in (0..most).flat_map(|k| [(k, half), (k, p - half)]) {
                let a = (half + k * p) as f64;
                for a in [a, -a] {
                    check_mul_by(field, a, w as f64);
                    check_mul(field, a, w as f64);
                }
            }
        }
    }
}

fn random_products(count: u64, seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let fields: Vec<F50> = fields().collect();
    for i in 0..count {
        let field = fields[(i % fields.len() as u64) as usize];
        let p = field.modulus() as i64;
        let mut pick = |bound: i64| random.random_range(-bound..=bound) as f64;
        let (a, b) = (pick(FACTOR_LIMIT as i64), pick(p / 2));
        check_mul_by(field, a, b);
        check_mul(field, a, b);
        let (a, b) = (pick(p), pick(p));
        check_mul(field, a, b);
        check_reduce(field, pick(1 << 53));
    }
}

#[test]
fn random_products_and_sums() {
    random_products(200_000, 1);
}

#[test]
#[ignore = "100 million of each, some minutes in release"]
fn a_hundred_million_random_products_and_sums() {
    random_products(100_000_000, 2);
}

#[test]
fn powers_and_inverses() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    for field in fields() {
        let p = field.modulus();
        for _ in 0..50 {
            let (x, e) = (random.random_range(1..p), random.random_range(0..u64::MAX));
            let element = field.from_u64(x);
            assert_eq!(field.to_u64(field.pow(element, e)), pow_mod(x, e, p), "{x}^{e} mod {p}");
            assert_eq!(mul_mod(field.to_u64(field.inverse(element)), x, p), 1, "1/{x} mod {p}");
        }
        assert_eq!(field.to_u64(field.inverse(0.0)), 0);
        assert_eq!(field.to_u64(field.from_u64(u64::MAX)), u64::MAX % p);
    }
}

#[test]
fn roots_of_orders_with_an_odd_factor() {
    // 15·2^31 divides p − 1.
    let p = (1u64..).map(|c| (1 << 50) - (c * (15 << 31)) + 1 - ((1 << 50) % (15 << 31)));
    let field = p.into_iter().find_map(|p| F50::new(p).ok()).unwrap();
    let p = field.modulus();
    let root = |n| field.to_u64(field.root_of_order(n).unwrap());
    for odd in [1, 3, 5] {
        for k in 0..=31 {
            let (n, w) = (odd << k, root(odd << k));
            // The order is n: ω^n = 1, and ω^(n/q) is not 1 for the primes q that divide n.
            assert_eq!(pow_mod(w, n, p), 1);
            assert!([2, 3, 5].iter().all(|q| n % q != 0 || pow_mod(w, n / q, p) != 1), "{n}");
            assert_eq!(pow_mod(w, odd, p), field.to_u64(field.root_of_unity(k).unwrap()));
            assert_eq!(pow_mod(w, 1 << k, p), root(odd));
            if k > 0 {
                assert_eq!(mul_mod(w, w, p), root(n / 2), "{n}");
            }
        }
    }
    for n in [0, 9, 15, 7, 3 << 47, 1 << 49] {
        assert_eq!(field.root_of_order(n), None, "{n}");
    }
}

/// Compares the loops over vectors with the operations on single elements, at lengths around those of
/// vectors, and at the ends of the range.
#[test]
fn loops_over_vectors() {
    use crate::field::Field;
    let mut random = ChaCha8Rng::seed_from_u64(4);
    for field in fields() {
        let p = field.modulus();
        for n in (0..20).chain([33, 64, 100]) {
            let mut draw = |_| match random.random_range(0..6) {
                0 => 0.0,
                1 => (p - 1) as f64,
                _ => random.random_range(0..p) as f64,
            };
            let (a, b): (Vec<f64>, Vec<f64>) =
                ((0..n).map(&mut draw).collect(), (0..n + 3).map(&mut draw).collect());
            let each = |f: &dyn Fn(u128, u128) -> u128| -> Vec<f64> {
                let pairs = a.iter().zip(&b);
                pairs.map(|(&a, &b)| (f(a as u128, b as u128) % u128::from(p)) as f64).collect()
            };
            let done = |f: &dyn Fn(&mut [f64])| {
                let mut a = a.clone();
                f(&mut a);
                a
            };
            let (q, w) = (u128::from(p), b[0]);
            assert_eq!(done(&|a| field.mul_each(a, &b)), each(&|a, b| a * b), "{n} mod {p}");
            assert_eq!(done(&|a| field.scale_each(a, &w)), each(&|a, _| a * w as u128));
            assert_eq!(done(&|a| field.add_each(a, &b)), each(&|a, b| a + b));
            assert_eq!(done(&|a| field.sub_each(a, &b)), each(&|a, b| a + q - b));
        }
    }
}
