//! Tests of operations on single numbers against slow, obvious versions. `warpint-testkit` compares
//! them with GMP.

use std::sync::atomic::{AtomicU64, Ordering};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpint_natural::limbs;
use warpint_natural::product::{FastProducts, Multiplier, Schoolbook, TransformMultiplier};
use warpint_progress::Watch;

use super::*;

fn random(rng: &mut ChaCha8Rng, n: usize) -> Vec<u64> {
    let mut number: Vec<u64> = (0..n).map(|_| rng.random()).collect();
    if let Some(top) = number.last_mut() {
        *top |= 1 << 63;
    }
    number
}

#[test]
fn small_factorials_and_primorials() {
    let mut want = vec![1];
    for n in 0..400u64 {
        if n > 0 {
            want = limbs::mul(&want, &[n]);
            trim(&mut want);
        }
        for multiplier in [&Schoolbook as &dyn Multiplier, &FastProducts] {
            assert_eq!(factorial(multiplier, n).unwrap(), want, "{n}!");
        }
    }
    let mut want = vec![1];
    for n in 0..2000u64 {
        if warpint_arith::primes::is_prime(n) {
            want = limbs::mul(&want, &[n]);
            trim(&mut want);
        }
        assert_eq!(primorial(&FastProducts, n).unwrap(), want, "{n}#");
    }
}

/// 1000! has 2568 digits and begins with 402387260077093773543702433923003985 (OEIS A000142); 25! is
/// 15511210043330985984000000.
#[test]
fn known_factorials() {
    let digits = to_decimal(&FastProducts, &factorial(&FastProducts, 1000).unwrap());
    assert_eq!(digits.len(), 2568);
    assert!(digits.starts_with(b"402387260077093773543702433923003985"));
    let digits = to_decimal(&FastProducts, &factorial(&FastProducts, 25).unwrap());
    assert_eq!(digits, b"15511210043330985984000000");
}

#[test]
fn bounds_of_factorials_and_primorials() {
    for n in (0..200).chain([1000, 5000, 40_000]) {
        let found = limbs::bit_length(&factorial(&FastProducts, n).unwrap()) as f64;
        let bound = factorial::factorial_bits(n);
        assert!(found <= bound && bound < found + 4.0, "{n}!: {found} bits, {bound}");
        let found = limbs::bit_length(&primorial(&FastProducts, n).unwrap()) as f64;
        assert!(found <= factorial::primorial_bits(n), "{n}#: {found} bits");
    }
}

#[test]
fn small_powers() {
    for a in [0u128, 1, 2, 3, 6, 10, 255, 256, 1 << 63, 3 << 62, u128::from(u64::MAX)] {
        let number = [a as u64, (a >> 64) as u64, 0];
        let mut want = vec![1];
        for e in 0..40 {
            assert_eq!(power(&FastProducts, &number, e).unwrap(), trimmed(&want), "{a}^{e}");
            want = limbs::mul(&want, &number);
            trim(&mut want);
        }
    }
    let shifted = power(&FastProducts, &[0, 1 << 5], 1000).unwrap();
    assert_eq!(shifted, limbs::shifted_left(&[1], 69_000));
    for (a, e) in [(vec![3], 1 << 48), (vec![2], u64::MAX), (vec![u64::MAX; 100], 1 << 45)] {
        let error = power(&FastProducts, &a, e).unwrap_err().to_string();
        assert_eq!(error, "a power of more than 281474976710656 bits is not supported");
    }
    assert_eq!(power(&FastProducts, &[1], u64::MAX).unwrap(), [1]);
    assert!(
        factorial(&FastProducts, 1 << 46).is_err() && primorial(&FastProducts, 1 << 48).is_err()
    );
}

#[test]
fn division_by_zero_is_an_error() {
    for a in [&[][..], &[0], &[5, 6]] {
        for b in [&[][..], &[0, 0]] {
            let error = div_rem(&FastProducts, a, b).unwrap_err();
            assert!(matches!(error, IntegerError::ZeroDivisor));
        }
    }
    assert_eq!(div_rem(&FastProducts, &[17, 0], &[5, 0]).unwrap(), (vec![3], vec![2]));
    assert_eq!(div_rem(&FastProducts, &[], &[5]).unwrap(), (vec![], vec![]));
}

/// Returns the limbs of the whole product, by the schoolbook method, in a range.
fn part_by_definition(a: &[u64], b: &[u64], limbs: std::ops::Range<usize>) -> Vec<u64> {
    let mut product = limbs::mul(a, b);
    product.resize(product.len().max(limbs.end), 0);
    let mut part = product[limbs].to_vec();
    trim(&mut part);
    part
}

#[test]
fn parts_of_products() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    for (n, m) in [(0, 3), (1, 1), (2, 5), (7, 7), (9, 1), (40, 33)] {
        for ones in [false, true] {
            let mut number = |n| if ones { vec![u64::MAX; n] } else { random(&mut rng, n) };
            // Leading zero limbs, and limbs that are zero below others.
            let (mut a, mut b) = (number(n), number(m));
            a.push(0);
            b[m / 2] &= u64::MAX * u64::from(ones);
            for multiplier in [&Schoolbook as &dyn Multiplier, &FastProducts] {
                for end in 0..=n + m + 2 {
                    let low = low_product(multiplier, &a, &b, end);
                    assert_eq!(low, part_by_definition(&a, &b, 0..end), "{n} by {m} to {end}");
                    let high = high_product(multiplier, &a, &b, end);
                    let want = part_by_definition(&a, &b, end..(n + m + 3).max(end));
                    assert_eq!(high, want, "{n} by {m} from {end}");
                    for start in (0..=end).step_by(3) {
                        let middle = middle_product(multiplier, &a, &b, start..end);
                        let want = part_by_definition(&a, &b, start..end);
                        assert_eq!(middle, want, "{n} by {m} from {start} to {end}");
                    }
                }
                let nothing = std::ops::Range { start: 5, end: 2 };
                assert!(middle_product(multiplier, &a, &b, nothing).is_empty());
                let square = high_product(multiplier, &b, &b, m);
                assert_eq!(square, part_by_definition(&b, &b, m..2 * m));
            }
        }
    }
}

#[test]
fn exact_quotients() {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let multiplier = TransformMultiplier::new(2);
    for (n, m) in [(0, 1), (1, 1), (3, 40), (40, 3), (2100, 2100), (30, 2500)] {
        let (q, mut b) = (random(&mut rng, n), random(&mut rng, m));
        // A divisor with leading zero limbs that is a multiple of 2^64.
        b[0] = if m > 1 { 0 } else { b[0] };
        b.push(0);
        let a = limbs::mul(&q, &b);
        assert_eq!(div_exact(&multiplier, &a, &b).unwrap(), trimmed(&q), "{n} and {m} limbs");
        let mut next = a.clone();
        next.push(0);
        limbs::add_assign(&mut next, &[1]);
        let error = div_exact(&multiplier, &next, &b).unwrap_err();
        assert!(matches!(error, IntegerError::Inexact), "{n} and {m} limbs: {error}");
        let prepared = Prepared::new(&multiplier, &b);
        assert_eq!(prepared.div_rem(&multiplier, &next), limbs::div_rem(&next, &b));
    }
    let error = div_exact(&FastProducts, &[6], &[0]).unwrap_err();
    assert!(matches!(error, IntegerError::ZeroDivisor));
}

#[test]
fn gcds_of_unequal_lengths_and_of_zero() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let multiplier = TransformMultiplier::new(2);
    for (n, m, k) in [(0, 0, 0), (0, 5, 3), (1, 1, 1), (4, 900, 2), (900, 4, 300), (600, 601, 5)] {
        let common = random(&mut rng, k);
        let a = limbs::mul(&random(&mut rng, n), &common);
        let b = limbs::mul(&random(&mut rng, m), &common);
        assert_eq!(gcd(&multiplier, &a, &b), limbs::gcd(&a, &b), "{n}, {m} and {k} limbs");
        assert_eq!(gcd(&multiplier, &a, &[]), trimmed(&a));
    }
}

#[test]
fn trees_of_all_counts() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    for count in (0..20).chain([33]) {
        for size in [1, 3] {
            let numbers: Vec<Vec<u64>> = (0..count).map(|_| random(&mut rng, size)).collect();
            let tree = ProductTree::new(&FastProducts, numbers.clone());
            let mut want = vec![1];
            for number in &numbers {
                want = limbs::mul(&want, number);
                trim(&mut want);
            }
            assert_eq!(tree.product(), want);
            assert_eq!(product_of(&FastProducts, numbers.clone()), want);
            for n in [0, 1, count * size, 3 * count * size + 1] {
                let a = random(&mut rng, n);
                let want: Vec<_> = numbers.iter().map(|m| limbs::div_rem(&a, m).1).collect();
                assert_eq!(tree.remainders(&FastProducts, &a).unwrap(), want, "{count} numbers");
            }
        }
    }
    let tree = ProductTree::new(&FastProducts, vec![vec![3], vec![0], vec![5]]);
    let error = tree.remainders(&FastProducts, &[7]).unwrap_err().to_string();
    assert_eq!(error, "modulus 1 is 0");
}

/// Tests remainders modulo numbers on both sides of the length from which the multiplier is used.
#[test]
fn remainders_modulo_long_numbers() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let multiplier = TransformMultiplier::new(2);
    let numbers: Vec<Vec<u64>> = (0..5).map(|i| random(&mut rng, 1500 + 700 * i)).collect();
    let a = random(&mut rng, 30_000);
    let tree = ProductTree::new(&multiplier, numbers.clone());
    for (m, r) in numbers.iter().zip(tree.remainders(&multiplier, &a).unwrap()) {
        assert_eq!(r, div_rem_by(&FastProducts, &a, m).1);
    }
}

/// The estimates of the longest results: of factorials of numbers up to 2^48.
#[test]
fn estimates_of_the_longest_numbers() {
    let limbs = memory::factorial_limbs(MOST_BITS);
    for work in
        [work::to_decimal(limbs), work::from_decimal(limbs), work::division(2 * limbs, limbs)]
    {
        assert!(work.is_finite() && work > limbs as f64);
    }
    for bytes in
        [memory::to_decimal(&FastProducts, limbs), memory::from_decimal(&FastProducts, limbs)]
    {
        assert!(bytes > 8 * limbs as u64);
    }
}

#[test]
fn digits_of_zero_and_of_leading_zero_limbs() {
    assert_eq!(to_decimal(&FastProducts, &[]), b"0");
    assert_eq!(to_hex(&[0, 0]), b"0");
    assert_eq!(to_decimal(&FastProducts, &[12, 0]), b"12");
    assert_eq!(from_decimal(&FastProducts, b"00018446744073709551616"), [0, 1]);
    assert_eq!(from_hex(b"000000000000000000F"), [15]);
    assert!(from_hex(b"0").is_empty() && from_decimal(&FastProducts, b"0").is_empty());
}

/// A watch that sums the reported work.
#[derive(Default)]
struct Sum(AtomicU64);

impl Watch for Sum {
    fn is_stopped(&self) -> bool {
        false
    }

    fn done(&self, amount: u128) {
        self.0.fetch_add(amount as u64, Ordering::Relaxed);
    }
}

/// Compares estimates of work with the work that is counted.
#[test]
fn estimates_of_work_are_near_the_counts() {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let multiplier = TransformMultiplier::new(2);
    let counted = |run: &dyn Fn(&dyn Multiplier)| {
        let sum = Sum::default();
        run(&Metered::new(&multiplier, &sum));
        sum.0.into_inner() as f64
    };
    let check = |name: &str, estimate: f64, counted: f64| {
        let ratio = estimate / counted;
        println!("{name}: {ratio:.2} times the count");
        assert!((0.75..1.3).contains(&ratio), "{name}: {estimate:.3e} for {counted:.3e}");
    };
    for n in [20_000, 70_000] {
        let (a, b) = (random(&mut rng, 2 * n), random(&mut rng, n));
        check("product", work::product(n, n), counted(&|m| drop(product(m, &b, &a[..n]))));
        for k in [n / 3, n, 5 * n] {
            let long = random(&mut rng, n + k);
            let count = counted(&|m| drop(div_rem(m, &long, &b).unwrap()));
            check(&format!("{k} by {n}"), work::division(n + k, n), count);
        }
        check("root", work::square_root(2 * n), counted(&|m| drop(sqrt_rem(m, &a))));
        let digits = to_decimal(&multiplier, &a);
        check("to", work::to_decimal(2 * n), counted(&|m| drop(to_decimal(m, &a))));
        check("from", work::from_decimal(2 * n), counted(&|m| drop(from_decimal(m, &digits))));
        let e = 64 * n as u64 / 30;
        let base = [1 << 30 | 12_345];
        check("power", work::power(31, e), counted(&|m| drop(power(m, &base, e).unwrap())));
        let n = 4 * n as u64;
        check("n!", work::factorial(n), counted(&|m| drop(factorial(m, n).unwrap())));
        let n = 40 * n;
        check("n#", work::primorial(n), counted(&|m| drop(primorial(m, n).unwrap())));
    }
    for n in [4_000, 20_000] {
        let (a, b) = (random(&mut rng, n), random(&mut rng, n));
        check("gcd", work::gcd(n, n), counted(&|m| drop(gcd(m, &a, &b))));
    }
}

/// A watch that requests a stop after a number of reports.
struct StopsAfter(AtomicU64);

impl Watch for StopsAfter {
    fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }

    fn done(&self, _: u128) {
        let left = self.0.load(Ordering::Relaxed);
        self.0.store(left.saturating_sub(1), Ordering::Relaxed);
    }
}

/// Stops each operation after each of its first products, and then computes to the end with the same
/// multiplier.
#[test]
fn a_stop_ends_every_operation() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let multiplier = TransformMultiplier::new(2);
    let (a, b) = (random(&mut rng, 3000), random(&mut rng, 1200));
    // Shorter digits are converted without products.
    let digits = to_decimal(&multiplier, &random(&mut rng, 40_000));
    type Operation<'a> = Box<dyn Fn(&dyn Multiplier) -> Vec<u64> + 'a>;
    let operations: [(&str, Operation<'_>); 8] = [
        ("product", Box::new(|m| product(m, &a, &b))),
        ("div_rem", Box::new(|m| div_rem(m, &a, &b).unwrap().1)),
        ("gcd", Box::new(|m| gcd(m, &a, &b))),
        ("sqrt_rem", Box::new(|m| sqrt_rem(m, &a).1)),
        ("power", Box::new(|m| power(m, &b[..20], 200).unwrap())),
        ("factorial", Box::new(|m| factorial(m, 60_000).unwrap())),
        ("to_decimal", Box::new(|m| to_decimal(m, &a).into_iter().map(u64::from).collect())),
        ("from_decimal", Box::new(|m| from_decimal(m, &digits))),
    ];
    for (name, operation) in operations {
        let expected = operation(&multiplier);
        let mut stops = 0;
        for after in 1..40 {
            match stoppable(&multiplier, &StopsAfter(AtomicU64::new(after)), &operation) {
                Err(Stopped) => stops += 1,
                Ok(result) => assert_eq!(result, expected, "{name} of fewer than {after} products"),
            }
        }
        assert!(stops > 0, "{name} was never stopped");
        let all = StopsAfter(AtomicU64::new(u64::MAX));
        assert_eq!(stoppable(&multiplier, &all, &operation), Ok(expected), "{name}");
    }
}

#[test]
#[should_panic(expected = "of the work itself")]
fn a_panic_is_no_stop() {
    let _ = stoppable(&FastProducts, &Sum::default(), |_| panic!("of the work itself"));
}
