//! Compares products of polynomials modulo a prime with their definition, coefficient by
//! coefficient.

use warpint_arith::f50::{F50, PRIMES};

use super::*;

/// Returns the coefficients Σ_i a_i·b_(k−i) mod p of a product of polynomials, for k <
/// `coefficients`.
fn product(field: F50, a: &[u64], b: &[u64], coefficients: usize) -> Vec<f64> {
    let p = u128::from(field.modulus());
    let mut sums = vec![0u128; coefficients];
    for (i, &x) in a.iter().enumerate() {
        for (j, &y) in b.iter().enumerate() {
            sums[i + j] = (sums[i + j] + u128::from(x) % p * (u128::from(y) % p)) % p;
        }
    }
    sums.iter().map(|&sum| sum as f64).collect()
}

#[test]
fn products_are_those_of_the_definition() {
    let mut scratch = Scratch::default();
    let mut state = 11u64;
    for (a_len, b_len) in [(1, 1), (16, 17), (20, 29), (33, 32), (1, 48), (64, 65), (50, 190)] {
        let shape = Shape::of(a_len + b_len - 1);
        for (modulus, _, _) in PRIMES {
            let field = F50::new(modulus).unwrap();
            let prime = Prime::new(field, shape.log2()).unwrap();
            let mut number = |len: usize| -> Vec<u64> {
                let next = |_| {
                    state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                    if state >> 62 == 0 { u64::MAX } else { state ^ state >> 29 }
                };
                (0..len).map(next).collect()
            };
            let (a, b) = (number(a_len), number(b_len));
            let mut out = vec![-1.0; shape.points()];
            prime.product(shape, &a, Some(&b), &mut out, &mut scratch);
            assert_eq!(out, product(field, &a, &b, out.len()), "{a_len} by {b_len} mod {modulus}");
            if 2 * a_len - 1 <= out.len() {
                prime.product(shape, &a, None, &mut out, &mut scratch);
                assert_eq!(out, product(field, &a, &a, out.len()), "{a_len} mod {modulus}");
            }
        }
    }
}

#[test]
fn a_shape_is_the_shortest_there_is() {
    for coefficients in 1..2000 {
        let shape = Shape::of(coefficients);
        let least =
            (5..12).flat_map(|k| [1usize << k, 3 << (k - 1)]).filter(|&n| n >= coefficients);
        assert_eq!(Some(shape.points()), least.min(), "{coefficients}");
    }
}
