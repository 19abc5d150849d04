//! Runs the comparisons of batches with GMP on the simulator, at few widths, because kernels are
//! compiled for each width. Threads run in a random order; `warpint_selftest` also runs these
//! kernels with threads in the order of their indices. The ignored tests try more widths: `cargo
//! test -p warpint-testkit --test suite simulator:: -- --ignored`.

use warpint_device::Device;
use warpint_integer::Executor;

use super::{arithmetic, division, elementwise, gcd, modulus, powers, primality};

fn simulator() -> Executor {
    Executor::on(Device::shuffled_simulator().unwrap())
}

/// Tests sums and products of numbers of one limb, of numbers of a few limbs (one thread per
/// number), and of numbers long enough for some levels of Karatsuba's method.
#[test]
fn equal_widths_on_the_simulator() {
    let executor = simulator();
    for limbs in [1, 5, 64] {
        arithmetic::equal_widths(&executor, limbs);
    }
}

#[test]
#[ignore = "slow: more widths"]
fn more_equal_widths_on_the_simulator() {
    let executor = simulator();
    for limbs in [2, 8, 31, 127] {
        arithmetic::equal_widths(&executor, limbs);
    }
}

#[test]
fn unequal_widths_on_the_simulator() {
    let executor = simulator();
    for (a, b) in [(1, 2), (33, 64), (129, 40)] {
        arithmetic::two_widths(&executor, a, b);
    }
}

/// Tests products that are long enough for transforms, and sums that are long enough for several
/// segments of limbs.
#[test]
fn wide_on_the_simulator() {
    let executor = simulator();
    arithmetic::a_few(&executor, 320, 320);
}

#[test]
#[ignore = "slow: longer numbers"]
fn wider_on_the_simulator() {
    let executor = simulator();
    arithmetic::a_few(&executor, 500, 900);
    arithmetic::a_few(&executor, 2048, 2048);
    arithmetic::products_once(&executor, 8192);
}

#[test]
fn broadcast_on_the_simulator() {
    let executor = simulator();
    for (a, b) in [(1, 1), (33, 32)] {
        arithmetic::broadcast(&executor, a, b);
    }
}

/// Tests divisions in which different numbers of lanes share a divisor.
#[test]
fn division_on_the_simulator() {
    let executor = simulator();
    for (a, d) in [(1, 1), (33, 16), (40, 130)] {
        division::patterns(&executor, a, d);
        division::random(&executor, a, d, 30);
    }
    division::random(&executor, 300, 1030, 6);
    division::broadcast(&executor, 33, 10);
}

#[test]
#[ignore = "slow: more widths"]
fn more_division_on_the_simulator() {
    let executor = simulator();
    for (a, d) in [(2, 5), (8, 4), (66, 33)] {
        division::patterns(&executor, a, d);
        division::random(&executor, a, d, 30);
    }
    division::random(&executor, 1100, 1024, 6);
    for (a, d, count) in [(4500, 2300, 4), (2200, 2200, 6)] {
        division::random(&executor, a, d, count);
    }
}

/// Tests divisions by divisors that are too long for the registers of a warp. The quotient is
/// computed in blocks of limbs. Each block is estimated by a division of the upper halves.
#[test]
fn long_division_on_the_simulator() {
    let executor = simulator();
    division::random(&executor, 1400, 700, 8);
}

/// Tests greatest common divisors and inverses in which different numbers of lanes share a number.
#[test]
fn divisors_on_the_simulator() {
    let executor = simulator();
    for (a, b) in [(1, 1), (33, 8)] {
        gcd::patterns(&executor, a, b);
        gcd::random(&executor, a, b, 30);
        gcd::chosen(&executor, a);
    }
    gcd::random(&executor, 1025, 1030, 3);
    gcd::broadcast(&executor, 5, 7);
}

#[test]
#[ignore = "slow: longer numbers"]
fn more_divisors_on_the_simulator() {
    let executor = simulator();
    for (a, b) in [(2, 3), (66, 66)] {
        gcd::patterns(&executor, a, b);
        gcd::random(&executor, a, b, 30);
        gcd::chosen(&executor, a);
    }
    // One block per number.
    gcd::random(&executor, 2170, 2165, 1);
}

#[test]
fn powers_on_the_simulator() {
    let executor = simulator();
    for widths in [[1, 1, 1], [17, 3, 18]] {
        powers::modular(&executor, widths, 20);
        powers::chosen(&executor, widths);
    }
    powers::broadcast(&executor, [4, 1, 5]);
    // By products and remainders.
    powers::modular(&executor, [40, 2, 37], 9);
    powers::broadcast(&executor, [3, 1, 33]);
}

#[test]
#[ignore = "slow: more widths"]
fn more_powers_on_the_simulator() {
    let executor = simulator();
    for widths in [[3, 2, 4], [9, 1, 7], [32, 2, 32]] {
        powers::modular(&executor, widths, 20);
        powers::chosen(&executor, widths);
    }
}

/// Tests square roots in which different numbers of lanes share a number, and square roots that are
/// computed from the roots of upper halves.
#[test]
fn square_roots_on_the_simulator() {
    let executor = simulator();
    for limbs in [1, 5, 33, 65, 400] {
        powers::square_roots(&executor, limbs);
    }
}

#[test]
#[ignore = "slow: more widths"]
fn more_square_roots_on_the_simulator() {
    let executor = simulator();
    for limbs in [2, 3, 4, 6, 9, 16, 64, 130, 256, 1601] {
        powers::square_roots(&executor, limbs);
    }
}

#[test]
fn prepared_moduli_on_the_simulator() {
    let executor = simulator();
    modulus::corners(&executor, 5);
    modulus::one_each(&executor, 3);
    modulus::random(&executor, 33, 4);
}

#[test]
#[ignore = "slow: longer numbers"]
fn more_prepared_moduli_on_the_simulator() {
    let executor = simulator();
    for limbs in [1, 2, 16] {
        modulus::corners(&executor, limbs);
    }
    // Long enough to use reciprocals by default.
    modulus::random(&executor, 513, 2);
}

#[test]
fn fixed_bases_on_the_simulator() {
    let executor = simulator();
    modulus::fixed_base(&executor, 1, 1);
    modulus::fixed_base(&executor, 5, 2);
}

#[test]
fn limb_by_limb_on_the_simulator() {
    let executor = simulator();
    for (a, b) in [(1, 1), (8, 20), (40, 33)] {
        elementwise::all(&executor, a, b);
    }
    elementwise::long_text(&executor, 100);
}

#[test]
fn primes_on_the_simulator() {
    let executor = simulator();
    primality::near_random(&executor, 3);
    primality::published(&executor, 1320);
}
