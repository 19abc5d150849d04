//! The time of each check.

use std::hint::black_box;
use std::time::Instant;

use super::{PerfectPowers, close_factors, roca, small_factor};

/// Times the checks of moduli of 2,048 bits, on one thread. The moduli are random odd numbers without
/// small factors; these cost as much as products of two primes. The time is that of the fastest of 50
/// rounds, which other programs disturb least. The tables are timed apart.
///
/// `cargo test --release -p warpint-keys time_of_each_check -- --ignored --nocapture`
#[test]
#[ignore = "a measurement"]
fn time_of_each_check() {
    const COUNT: usize = 1_000;
    const ROUNDS: usize = 50;
    let mut seed = 31u64;
    println!("seed {seed}");
    let mut word = || {
        seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        seed ^ seed >> 29
    };
    let mut random = || {
        let mut n: Vec<u64> = (0..32).map(|_| word()).collect();
        n[0] |= 1;
        n[31] |= 1 << 63;
        n
    };
    let begin = Instant::now();
    let powers = PerfectPowers::new();
    let tables = begin.elapsed();
    let begin = Instant::now();
    black_box((small_factor(&[u64::MAX; 1]), roca(&[1])));
    println!("tables of powers: {tables:?}, others: {:?}", begin.elapsed());
    let moduli = std::iter::repeat_with(&mut random).filter(|n| small_factor(n).is_none());
    let moduli: Vec<Vec<u64>> = moduli.take(COUNT).collect();
    let time = |what: &str, check: &dyn Fn(&[u64])| {
        let round = || {
            let begin = Instant::now();
            moduli.iter().for_each(|n| check(black_box(n)));
            begin.elapsed()
        };
        let least = std::iter::repeat_with(round).take(ROUNDS).min().unwrap();
        println!("{what}: {:.2} µs a modulus", least.as_secs_f64() * 1e6 / COUNT as f64);
    };
    time("small factors", &|n| _ = black_box(small_factor(n)));
    time("perfect powers", &|n| _ = black_box(powers.find(n)));
    time("Fermat's method, 1,000 steps", &|n| _ = black_box(close_factors(n, 1000)));
    time("ROCA", &|n| _ = black_box(roca(n)));
}
