//! Measures batches that exceed the caches.

use std::sync::atomic::Ordering;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::chunks::{DEFAULT_PAST_CACHES_FROM, PAST_CACHES_FROM};
use super::tests::{measured_paths, numbers};
use super::*;
use crate::cpu::multiply::{multiply_one_by_one, square_one_by_one};

/// Prints ns per product and square of batches with factors of 16 MiB, on one thread.
#[test]
#[ignore = "a measurement"]
fn beyond_caches() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| {
        println!("ns a number, one after the other, then by paths; in caches, then past them");
        let mut rng = ChaCha8Rng::seed_from_u64(8);
        let limbs = 1 << 22;
        let (a, b) = (numbers(&mut rng, 1, limbs), numbers(&mut rng, 1, limbs));
        let mut out = vec![1; 2 * limbs];
        for n in [8, 11, 16, 18, 20, 28, 32, 40, 64, 128] {
            let count = limbs / n;
            let (x, y) = (Operand::new(&a, n, false), Operand::new(&b, n, false));
            let mut row = format!("{:5}", 32 * n);
            for path in [None].into_iter().chain(measured_paths().map(Some)) {
                for from in [usize::MAX, 0] {
                    PAST_CACHES_FROM.store(from, Ordering::Relaxed);
                    for y in [Some(y), None] {
                        let mut once = || {
                            let start = std::time::Instant::now();
                            match (path, y) {
                                (Some(path), _) => path.multiply(Part::Full, x, y, &mut out),
                                (None, Some(y)) => multiply_one_by_one(Part::Full, x, y, &mut out),
                                (None, None) => square_one_by_one(Part::Full, x, &mut out),
                            }
                            start.elapsed().as_secs_f64() * 1e9 / count as f64
                        };
                        let mut times: Vec<f64> = (0..7).map(|_| once()).collect();
                        times.sort_by(f64::total_cmp);
                        row += &format!(" {:8.1}", times[3]);
                    }
                }
                row += "  ";
            }
            println!("{row}");
        }
    });
    PAST_CACHES_FROM.store(DEFAULT_PAST_CACHES_FROM, Ordering::Relaxed);
}
