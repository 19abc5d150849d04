//! Compares the speed and the results of `warpint-natural` with those of GMP, on one thread.

use std::hint::black_box;

use gmp_mpfr_sys::gmp;
use rug::Integer;
use rug::integer::Order;
use warpint_natural::division::Divider;
use warpint_natural::euclid::Euclid;
use warpint_natural::limbs::trimmed;
use warpint_natural::power::PowMod;
use warpint_natural::product::Products;

use crate::in_turns::{number, print, times};

/// Multiplies two numbers of n limbs.
fn product(n: usize) -> [f64; 2] {
    let (a, b, mut products) = (number(n, 1), number(n, 2), Products::default());
    let [mut out, mut peers] = [vec![0; 2 * n], vec![0; 2 * n]];
    let times = times(
        || products.mul(black_box(&mut out), black_box(&a), black_box(&b)),
        || {
            let (out, a, b) = (black_box(&mut peers), black_box(&a), black_box(&b));
            // SAFETY: `out` has 2n limbs, a and b have n limbs, and `out` overlaps neither.
            unsafe { gmp::mpn_mul_n(out.as_mut_ptr(), a.as_ptr(), b.as_ptr(), n as _) };
        },
    );
    assert_eq!(out, peers, "a product of {n} limbs");
    times
}

/// Squares a number of n limbs.
fn square(n: usize) -> [f64; 2] {
    let (a, mut products) = (number(n, 1), Products::default());
    let [mut out, mut peers] = [vec![0; 2 * n], vec![0; 2 * n]];
    let times = times(
        || products.square(black_box(&mut out), black_box(&a)),
        || {
            let (out, a) = (black_box(&mut peers), black_box(&a));
            // SAFETY: `out` has 2n limbs, a has n limbs, and they do not overlap.
            unsafe { gmp::mpn_sqr(out.as_mut_ptr(), a.as_ptr(), n as _) };
        },
    );
    assert_eq!(out, peers, "a square of {n} limbs");
    times
}

/// Divides a number of 2n limbs by a number of n limbs, with quotient and remainder.
fn division(n: usize) -> [f64; 2] {
    let (mut a, d, mut divider) = (number(2 * n, 1), number(n, 2), Divider::default());
    // The quotient has n limbs.
    a[2 * n - 1] >>= 1;
    let [mut q, mut peers_q] = [vec![0; n + 1], vec![0; n + 1]];
    let [mut r, mut peers_r] = [vec![0; n], vec![0; n]];
    let times = times(
        || {
            divider.set(black_box(&d));
            divider.div_rem(black_box(&mut q), &mut r, black_box(&a));
        },
        || {
            let (q, r) = (black_box(&mut peers_q).as_mut_ptr(), peers_r.as_mut_ptr());
            let (a, d) = (black_box(&a).as_ptr(), black_box(&d).as_ptr());
            // SAFETY: a has 2n limbs, d and r have n, and q has n + 1. No two of them overlap. The
            // top limb of d is not 0.
            unsafe { gmp::mpn_tdiv_qr(q, r, 0, a, 2 * n as gmp::size_t, d, n as _) };
        },
    );
    assert_eq!((q, r), (peers_q, peers_r), "a division by {n} limbs");
    times
}

/// Computes the greatest common divisor of two numbers of n limbs.
fn gcd(n: usize) -> [f64; 2] {
    let (a, b, mut euclid) = (number(n, 1), number(n, 2), Euclid::default());
    let (mut ours, mut peers, mut peers_limbs) = (vec![], vec![0; n], 0);
    let [mut x, mut y] = [vec![0; n], vec![0; n]];
    let times = times(
        || {
            ours.clear();
            ours.extend_from_slice(euclid.gcd(black_box(&a), black_box(&b)));
        },
        || {
            x.copy_from_slice(black_box(&a));
            y.copy_from_slice(black_box(&b));
            let (out, x, y) = (peers.as_mut_ptr(), x.as_mut_ptr(), y.as_mut_ptr());
            // SAFETY: all numbers have n limbs and do not overlap. GMP may overwrite x and y, which
            // are copies. The top limb of y is not 0, and y is odd.
            peers_limbs = unsafe { gmp::mpn_gcd(out, x, n as _, y, n as _) } as usize;
        },
    );
    assert_eq!(ours, peers[..peers_limbs], "a gcd of {n} limbs");
    times
}

/// Computes powers modulo an odd number. Base, exponent and modulus have n limbs.
fn power(n: usize) -> [f64; 2] {
    let (a, e, m) = (number(n, 1), number(n, 2), number(n, 3));
    let [base, exponent, modulus] = [&a, &e, &m].map(|x| Integer::from_digits(x, Order::Lsf));
    let (mut power, mut x, mut peers) = (PowMod::default(), vec![0; n], Integer::new());
    let times = times(
        || {
            power.set(black_box(&m));
            power.pow(black_box(&mut x), &a, &e);
        },
        || {
            let (out, m) = (black_box(&mut peers), black_box(&modulus));
            // SAFETY: rug has initialised all four numbers. The modulus is odd, so not 0.
            unsafe {
                gmp::mpz_powm(out.as_raw_mut(), base.as_raw(), exponent.as_raw(), m.as_raw());
            }
        },
    );
    assert_eq!(trimmed(&x), peers.to_digits::<u64>(Order::Lsf), "a power mod {n} limbs");
    times
}

/// Measures an operation on numbers of the given number of limbs. Returns the times of warpint and
/// of GMP in ns.
type Measurement = fn(usize) -> [f64; 2];

/// Prints the times of both programs, and the time of `warpint-natural` divided by that of GMP.
#[test]
#[ignore = "a measurement"]
fn times_of_both() {
    let operations: [(&str, Measurement, usize); 5] = [
        ("product", product, 1 << 14),
        ("square", square, 1 << 14),
        ("division", division, 1 << 14),
        ("gcd", gcd, 1 << 13),
        ("power", power, 1 << 7),
    ];
    let chosen = std::env::var("WARPINT_AGAINST_GMP").unwrap_or_default();
    for (name, operation, longest) in operations {
        if !name.starts_with(&chosen) {
            continue;
        }
        let lengths = (0..15).flat_map(|k| [1 << k, 3 << k >> 1]);
        let mut lengths: Vec<usize> = lengths.filter(|&n| n <= longest).collect();
        lengths.dedup();
        print(name, "GMP", lengths, operation);
    }
}
