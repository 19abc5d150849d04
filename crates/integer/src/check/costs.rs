//! Measurement of the costs of checks and of operations, on one thread.

use std::time::Instant;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::{Executor, Width};

/// Prints the nanoseconds per number of seven operations on the CPU, and of the check of each
/// operation including the witnesses. Run by `cargo test --release -p warpint-integer check::costs
/// -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn nanoseconds() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    for bits in [256, 1024, 4096, 16_384] {
        pool.install(|| of_width(bits));
    }
}

fn of_width(bits: u32) {
    let cpu = Executor::cpu();
    let count = (1 << 23) / bits as usize;
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut numbers = |limbs: u32| {
        let mut drawn: Vec<u32> = (0..count * limbs as usize).map(|_| rng.random()).collect();
        drawn.iter_mut().step_by(limbs as usize).for_each(|lowest| *lowest |= 1);
        UintBatch::from_vec(&cpu, Width::new(32 * limbs).unwrap(), drawn).unwrap()
    };
    let (a, b, half) = (numbers(bits / 32), numbers(bits / 32), numbers(bits / 64));
    let time = |work: &dyn Fn()| {
        let once = || {
            let begin = Instant::now();
            work();
            begin.elapsed().as_secs_f64() * 1e9 / count as f64
        };
        // Other work on the machine only adds time, so the shortest time counts.
        (0..7).map(|_| once()).fold(f64::INFINITY, f64::min)
    };
    let print = |name: &str, operation: &dyn Fn(), check: &dyn Fn()| {
        let (operation, check) = (time(operation), time(check));
        println!("{bits} bits, {name}: {operation:.0} ns, checked {check:.0} ns");
    };
    let (sum, carries) = a.add(&b).unwrap();
    let carries = carries.to_vec().unwrap();
    print("add", &|| drop(a.add(&b)), &|| drop(sums(&a, &b, &sum, Some(&carries))));
    let product = a.mul(&b).unwrap();
    print("mul", &|| drop(a.mul(&b)), &|| drop(products(&a, &b, &product)));
    let low = a.mul_low(&b).unwrap();
    print("mullo", &|| drop(a.mul_low(&b)), &|| drop(low_products(&a, &b, &low, &cpu)));
    let ((q, r), by_zero) = a.div_rem(&half).unwrap();
    let by_zero = by_zero.to_vec().unwrap();
    print("divrem", &|| drop(a.div_rem(&half)), &|| drop(quotients(&a, &half, &q, &r, &by_zero)));
    let (s, rest) = a.sqrt_rem().unwrap();
    print("sqrt", &|| drop(a.sqrt_rem()), &|| drop(square_roots(&a, &s, &rest)));
    let g = a.gcd(&b).unwrap();
    print("gcd", &|| drop(a.gcd(&b)), &|| drop(divisors(&a, &b, &g, &cpu)));
    let (x, none) = a.mod_inv(&b).unwrap();
    let none = none.to_vec().unwrap();
    print("modinv", &|| drop(a.mod_inv(&b)), &|| drop(inverses(&a, &b, &x, &none, &cpu)));
}
