//! Compares products of polynomials modulo primes with their definition, coefficient by
//! coefficient, and with products at points.

use warpint_arith::f50::F50;
use warpint_arith::primes::{mul_mod, pow_mod};

use super::super::goldilocks::Pool;
use super::*;

/// Returns pseudo-random integers of absolute value at most p, as coefficients. A quarter of them
/// are ±p.
fn coefficients(field: F50, seed: u64, len: usize) -> Vec<f64> {
    let (mut state, p) = (seed, field.modulus());
    let mut next = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        let x = match state >> 62 {
            0 => p,
            _ => (state ^ state >> 29) % (p + 1),
        };
        if state >> 61 & 1 == 1 { x as f64 } else { -(x as f64) }
    };
    (0..len).map(|_| next()).collect()
}

/// Returns the coefficients, from 0 to p − 1, of the product of two polynomials modulo each of the
/// first primes p. The factors have the given coefficients for each prime. If `b` is `None`,
/// returns those of the square of `a`.
fn products(pool: &Pool, shape: Shape, a: &[Vec<f64>], b: Option<&[Vec<f64>]>) -> Vec<Vec<u64>> {
    let n = shape.points();
    let padded = |rows: &[Vec<f64>]| -> Vec<f64> {
        rows.iter()
            .flat_map(|row| row.iter().copied().chain(std::iter::repeat(0.0)).take(n))
            .collect()
    };
    let used = a.iter().chain(b.into_iter().flatten()).map(Vec::len).max().unwrap();
    let (mut x, mut y) = (padded(a), b.map(padded));
    let primes = &Prime::all()[..a.len()];
    if let (Some(y), Some(b)) = (&y, b) {
        // The same product with the second factor transformed first.
        let (mut x, mut y, mut second) = (x.clone(), y.clone(), y.clone());
        let of = |row: &Vec<f64>| row.len();
        transform(pool, primes, shape, &mut y, b.iter().map(of).max().unwrap());
        let used_by_a = a.iter().map(of).max().unwrap();
        let mut copy = x.clone();
        multiply(
            pool,
            primes,
            shape,
            Operands { a: &mut x, b: Second::Transformed(&y), used: used_by_a },
        );
        let operands = Operands { a: &mut copy, b: Second::Polynomial(&mut second), used };
        multiply(pool, primes, shape, operands);
        for ((prime, x), copy) in primes.iter().zip(x.chunks(n)).zip(copy.chunks(n)) {
            let field = prime.field();
            assert!(x.iter().zip(copy).all(|(&x, &y)| field.to_u64(x) == field.to_u64(y)));
        }
    }
    let second = y.as_deref_mut().map_or(Second::Same, Second::Polynomial);
    multiply(pool, primes, shape, Operands { a: &mut x, b: second, used });
    let row = |(prime, row): (&Prime, &[f64])| {
        let field = prime.field();
        let p = field.modulus();
        let scale = pow_mod(2, p - 1 - u64::from(shape.scale()), p);
        row.iter()
            .map(|&x| {
                assert!(x.abs() <= 5.1 * p as f64 && x.fract() == 0.0, "{x}");
                mul_mod(field.to_u64(x), scale, p)
            })
            .collect()
    };
    primes.iter().zip(x.chunks(n)).map(row).collect()
}

#[test]
fn products_are_those_of_the_definition() {
    let pool = Pool::new(1);
    let lengths =
        [(1, 1), (64, 65), (33, 96), (20, 173), (97, 96), (1, 192), (128, 129), (300, 21)];
    for (a_len, b_len) in lengths.into_iter().chain([(150, 235), (190, 194), (350, 419)]) {
        let shape = Shape::of(a_len + b_len - 1).unwrap();
        let factors = |seed, len| -> Vec<Vec<f64>> {
            Prime::all().iter().map(|prime| coefficients(prime.field(), seed, len)).collect()
        };
        let (a, b) = (factors(11, a_len), factors(12, b_len));
        let definition = |p: u64, a: &[f64], b: &[f64]| {
            let p = i128::from(p);
            let mut sums = vec![0i128; shape.points()];
            for (i, &x) in a.iter().enumerate() {
                for (j, &y) in b.iter().enumerate() {
                    sums[i + j] += x as i128 * y as i128 % p;
                }
            }
            sums.iter().map(|sum| sum.rem_euclid(p) as u64).collect::<Vec<_>>()
        };
        let check = |got: Vec<Vec<u64>>, a: &[Vec<f64>], b: &[Vec<f64>]| {
            for (k, got) in got.iter().enumerate() {
                let want = definition(Prime::all()[k].field().modulus(), &a[k], &b[k]);
                assert_eq!(got, &want, "{} by {}, prime {k}", a[k].len(), b[k].len());
            }
        };
        check(products(&pool, shape, &a, Some(&b)), &a, &b);
        let half: Vec<Vec<f64>> =
            a.iter().map(|a| a[..a.len().min(shape.points().div_ceil(2))].to_vec()).collect();
        check(products(&pool, shape, &half, None), &half, &half);
    }
}

/// Products of more than N coefficients, N a power of two, are computed modulo x^N − 1.
#[test]
fn products_of_a_power_of_two_are_cyclic() {
    let pool = Pool::new(1);
    for (n, a_len, b_len) in [(128, 128, 128), (128, 128, 70), (256, 256, 1), (256, 200, 129)] {
        let shape = Shape::cyclic(n).unwrap();
        let factors = |seed, len| -> Vec<Vec<f64>> {
            Prime::all().iter().map(|prime| coefficients(prime.field(), seed, len)).collect()
        };
        let (a, b) = (factors(21, a_len), factors(22, b_len));
        for (k, got) in products(&pool, shape, &a, Some(&b)).iter().enumerate() {
            let p = i128::from(Prime::all()[k].field().modulus());
            let mut sums = vec![0i128; n];
            for (i, &x) in a[k].iter().enumerate() {
                for (j, &y) in b[k].iter().enumerate() {
                    sums[(i + j) % n] += x as i128 * y as i128 % p;
                }
            }
            let want: Vec<u64> = sums.iter().map(|sum| sum.rem_euclid(p) as u64).collect();
            assert_eq!(*got, want, "{a_len} by {b_len} modulo x^{n} − 1, prime {k}");
        }
    }
}

/// Returns the value at x of the polynomial with the coefficients `row`.
fn value(p: u64, row: impl DoubleEndedIterator<Item = u64>, x: u64) -> u64 {
    row.rev()
        .fold(0, |sum, c| ((u128::from(mul_mod(sum, x, p)) + u128::from(c)) % u128::from(p)) as u64)
}

/// Compares the values of long products at a few points with those of the factors, and the results
/// on one, two and three threads with each other.
fn long_products(lengths: &[usize], primes: usize) {
    let pools = [1, 2, 3].map(Pool::new);
    for &n in lengths {
        let shape = Shape::of(n).unwrap();
        for (a_len, is_square) in [(n / 2, false), (n / 8 + 3, false), (n.div_ceil(2), true)] {
            let b_len = n + 1 - a_len;
            let factors = |seed, len| -> Vec<Vec<f64>> {
                let primes = Prime::all()[..primes].iter();
                primes.map(|prime| coefficients(prime.field(), seed, len)).collect()
            };
            let a = factors(n as u64, a_len);
            let b = if is_square { a.clone() } else { factors(!n as u64, b_len) };
            let second = (!is_square).then_some(&b[..]);
            let results = pools.each_ref().map(|pool| products(pool, shape, &a, second));
            assert!(results.iter().all(|result| *result == results[0]), "{n}: threads differ");
            for (k, row) in results[0].iter().enumerate() {
                let field = Prime::all()[k].field();
                let p = field.modulus();
                let reduced = |row: &[f64], x| value(p, row.iter().map(|&c| field.to_u64(c)), x);
                for x in [1, p - 1, 123_456_789_012_345] {
                    let want = mul_mod(reduced(&a[k], x), reduced(&b[k], x), p);
                    assert_eq!(value(p, row.iter().copied(), x), want, "{n} at {x}, prime {k}");
                }
            }
        }
    }
}

#[test]
fn products_at_points() {
    let powers = (8..=13).flat_map(|k| [1usize << k, 3 << (k - 1)]);
    long_products(&powers.flat_map(|n| [n - 1, n]).collect::<Vec<_>>(), 8);
}

#[test]
fn long_products_at_points() {
    let powers = (14..=18).flat_map(|k| [1usize << k, 3 << (k - 1)]);
    long_products(&powers.collect::<Vec<_>>(), 3);
}

#[test]
#[ignore = "a minute"]
fn the_longest_products_at_points() {
    let powers = (19..=24).flat_map(|k| [1usize << k, 3 << (k - 1)]);
    long_products(&powers.collect::<Vec<_>>(), 2);
}
