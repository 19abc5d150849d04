//! Compares operations on polynomials with their definitions, over fields with many and with few
//! roots of unity.

mod crossovers;
mod points;
mod products;
mod series;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpint_arith::f50::{self, F50};
use warpint_arith::field::Field;
use warpint_arith::goldilocks::Goldilocks;
use warpint_arith::montgomery::PrimeField;

use super::*;

/// Lengths around the powers of two, and around the crossovers of methods.
const LENGTHS: [usize; 17] = [0, 1, 2, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 300];

fn f50() -> F50 {
    F50::new(f50::PRIMES[0].0).unwrap()
}

/// Returns the field Z/pZ for a prime p, as polynomials over it.
fn modulo(p: u64) -> Polynomials<PrimeField<1>> {
    Polynomials::new(PrimeField::new([p]).unwrap())
}

/// Returns polynomials over a field of 50 bits whose roots of unity have orders up to 2^4.
fn few_roots() -> Polynomials<F50> {
    Polynomials::new(F50::new(1_125_899_906_842_033).unwrap())
}

/// Calls a function with polynomials over each of several fields. The last three fields have roots
/// of unity of orders up to 2^16, 2^4 and 2.
macro_rules! on_fields {
    ($check:ident $(, $argument:expr)*) => {{
        $check(&Polynomials::new(Goldilocks) $(, $argument)*);
        $check(&Polynomials::new(f50()) $(, $argument)*);
        $check(&modulo(998_244_353) $(, $argument)*);
        $check(&modulo(65_537) $(, $argument)*);
        $check(&few_roots() $(, $argument)*);
        $check(&modulo(1_000_000_007) $(, $argument)*);
    }};
}
use on_fields;

/// Returns random elements, among them many that are 0 or −1.
fn elements<F: Field>(field: &F, count: usize, seed: u64) -> Vec<F::Element> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let minus_one = field.neg(&field.one());
    let mut pick = || match random.random_range(0..8) {
        0 => field.zero(),
        1 => minus_one.clone(),
        _ => field.from_u64(random.random()),
    };
    (0..count).map(|_| pick()).collect()
}

/// Returns the given number of elements −1.
fn minus_ones<F: Field>(field: &F, count: usize) -> Vec<F::Element> {
    vec![field.neg(&field.one()); count]
}
