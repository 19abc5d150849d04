//! Compares operations on batches of integers with GMP.

mod arithmetic;
mod check;
mod division;
mod elementwise;
mod gcd;
mod modulus;
mod patterns;
mod powers;
mod primality;
mod simulator;

use warpint_integer::Executor;

/// Tests sums, products and squares at every width up to 4,096 bits, with numbers that cause long
/// carries.
#[test]
fn every_width_to_4096() {
    let executor = Executor::cpu();
    for limbs in 1..=128 {
        arithmetic::equal_widths(&executor, limbs);
    }
}

#[test]
fn unequal_widths() {
    let executor = Executor::cpu_with_threads(2).unwrap();
    for (a, b) in [(1, 2), (2, 1), (1, 128), (3, 5), (64, 33), (127, 31), (129, 128), (40, 301)] {
        arithmetic::two_widths(&executor, a, b);
    }
}

/// Tests sums, products and squares at some widths from 150 to 2,049 limbs, and sums and products
/// of numbers of unequal widths.
#[test]
fn wide() {
    let executor = Executor::cpu();
    for limbs in [150, 191, 192, 193, 255, 256, 257, 300, 511, 512, 513, 777, 1024, 1500, 2049] {
        arithmetic::a_few(&executor, limbs, limbs);
    }
    for (a, b) in [(200, 1000), (600, 601), (1024, 300), (2048, 65)] {
        arithmetic::a_few(&executor, a, b);
    }
}

/// Tests sums, products and squares of numbers of up to 2^18 bits, and products and squares of
/// numbers of the largest width, 2^20 bits.
#[test]
fn very_wide() {
    let executor = Executor::cpu();
    for limbs in [3000, 4095, 4096, 6145, 8192] {
        arithmetic::a_few(&executor, limbs, limbs);
    }
    arithmetic::a_few(&executor, 8192, 5000);
    arithmetic::a_few(&executor, 8191, 900);
    arithmetic::products_once(&executor, 1 << 15);
}

#[test]
fn broadcast() {
    let executor = Executor::cpu();
    for (a, b) in [(1, 1), (2, 3), (33, 32), (100, 100)] {
        arithmetic::broadcast(&executor, a, b);
    }
}

/// Tests divisions of numbers of every width up to 4,096 bits, by divisors of the same and of other
/// widths.
#[test]
fn division_at_every_width_to_4096() {
    let executor = Executor::cpu();
    for limbs in 1..=128 {
        division::patterns(&executor, limbs, limbs);
        division::patterns(&executor, limbs, 1 + limbs * 37 % 61 % limbs);
        division::random(&executor, limbs, 1 + limbs * 53 % 128, 60);
    }
}

#[test]
fn long_division() {
    let executor = Executor::cpu();
    for (a, d) in [(300, 150), (512, 256), (513, 255), (1000, 77), (1024, 900), (200, 400)] {
        division::patterns(&executor, a, d);
        division::random(&executor, a, d, 20);
    }
    for (a, d) in [(8192, 4096), (8192, 8191), (8191, 100), (32768, 16384)] {
        division::random(&executor, a, d, 4);
    }
}

/// Tests divisions of all numbers by a single divisor, and of a single dividend by all numbers.
#[test]
fn division_with_broadcast() {
    let executor = Executor::cpu_with_threads(2).unwrap();
    for (a, d) in [(1, 1), (2, 3), (33, 32), (100, 1), (160, 130)] {
        division::broadcast(&executor, a, d);
    }
}

/// Tests greatest common divisors and inverses at every width up to 4,096 bits.
#[test]
fn gcd_at_every_width_to_4096() {
    let executor = Executor::cpu();
    for limbs in 1..=128 {
        if limbs < 16 || limbs % 8 == 0 {
            gcd::patterns(&executor, limbs, limbs);
        }
        gcd::random(&executor, limbs, limbs, 60);
        gcd::random(&executor, limbs, 1 + limbs * 37 % 128, 40);
        gcd::chosen(&executor, limbs);
    }
}

#[test]
fn long_gcd() {
    let executor = Executor::cpu();
    for (a, b) in [(256, 256), (512, 512), (512, 40), (300, 511), (1000, 1001), (2048, 2048)] {
        gcd::random(&executor, a, b, 6);
        gcd::chosen(&executor, a);
    }
    gcd::random(&executor, 8192, 8192, 3);
    gcd::random(&executor, 8192, 3000, 2);
    gcd::chosen(&executor, 8192);
}

/// Tests greatest common divisors and inverses of pairs that share the first or the second number.
#[test]
fn gcd_with_broadcast() {
    let executor = Executor::cpu_with_threads(2).unwrap();
    for (a, b) in [(1, 1), (2, 3), (33, 32), (100, 5)] {
        gcd::broadcast(&executor, a, b);
    }
}

#[test]
fn square_roots() {
    let executor = Executor::cpu();
    for limbs in (1..=128).chain([255, 256, 512, 1001, 2048, 8192, 8193]) {
        powers::square_roots(&executor, limbs);
    }
}

#[test]
fn roots_of_every_degree() {
    let executor = Executor::cpu();
    for limbs in (1..=64).chain([127, 128, 300]) {
        powers::roots(&executor, limbs);
    }
}

/// Tests powers and products modulo numbers of every width up to 4,096 bits.
#[test]
fn powers_at_every_width_to_4096() {
    let executor = Executor::cpu();
    for limbs in 1..=128 {
        powers::modular(&executor, [limbs, 1 + limbs % 3, limbs], 8);
        powers::modular(&executor, [1 + limbs * 37 % 128, 1, limbs], 4);
        powers::nilpotent(&executor, limbs);
    }
    for limbs in [1, 2, 3, 4, 5, 8] {
        powers::modular(&executor, [limbs, limbs, limbs], 60);
        powers::chosen(&executor, [limbs, 1 + limbs / 2, limbs]);
        powers::chosen(&executor, [2 * limbs, 2, limbs]);
    }
}

/// Tests powers with moduli and exponents of the sizes of RSA, and with longer moduli and short
/// exponents.
#[test]
fn long_powers() {
    let executor = Executor::cpu();
    powers::modular(&executor, [64, 64, 64], 4);
    powers::modular(&executor, [128, 128, 128], 2);
    powers::chosen(&executor, [33, 1, 33]);
    for limbs in [256, 366, 367, 368, 369, 512, 1000, 2048] {
        powers::modular(&executor, [limbs, 1, limbs], 6);
        powers::nilpotent(&executor, limbs);
    }
    powers::modular(&executor, [8192, 1, 8192], 2);
    powers::fermat(&executor);
}

/// Tests numbers for primality that are near random numbers, and published primes and pseudoprimes.
#[test]
fn primes() {
    let executor = Executor::cpu();
    for limbs in [1, 2, 3, 4, 5, 8, 16, 33] {
        primality::near_random(&executor, limbs);
    }
    primality::published(&executor, 4096);
}

#[test]
fn powers_with_broadcast() {
    let executor = Executor::cpu_with_threads(2).unwrap();
    for shape in [[1, 1, 1], [2, 3, 5], [33, 2, 32], [5, 1, 40]] {
        powers::broadcast(&executor, shape);
    }
}

/// Tests prepared moduli of every width up to 1,024 bits, and of some larger ones, with reduction
/// by division and by reciprocals.
#[test]
fn prepared_moduli() {
    let executor = Executor::cpu();
    for limbs in (1..=32).chain([48, 64, 65, 100, 130]) {
        modulus::corners(&executor, limbs);
        modulus::one_each(&executor, limbs);
    }
    for limbs in [300, 401, 1024] {
        modulus::random(&executor, limbs, 6);
    }
    modulus::random(&executor, 1 << 15, 1);
}

#[test]
fn fixed_bases() {
    let executor = Executor::cpu_with_threads(2).unwrap();
    for (m, e) in [(1, 1), (2, 3), (5, 2), (9, 9), (33, 4)] {
        modulus::fixed_base(&executor, m, e);
    }
}

#[test]
fn limb_by_limb() {
    let executor = Executor::cpu();
    for limbs in 1..=128 {
        // Every width, combined with a wider or a narrower one.
        elementwise::all(&executor, limbs, 1 + limbs * 37 % 128);
    }
}

#[test]
fn text_of_long_numbers() {
    let executor = Executor::cpu();
    for limbs in [1, 2, 3, 100, 255, 511, 1000, 2048, 5001, 1 << 15] {
        elementwise::long_text(&executor, limbs);
    }
}
