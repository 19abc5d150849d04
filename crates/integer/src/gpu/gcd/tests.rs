//! Tests of common divisors on the simulator against Euclid's algorithm.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpint_natural::limbs;

use super::Gcd;
use crate::gpu::tests::{gpu, narrow, numbers, upload, wide};
use crate::gpu::{Gpu, Operand, Shape};

/// Returns gcd(a, b) by Euclid's algorithm, with divisions.
fn gcd(a: &[u32], b: &[u32]) -> Vec<u64> {
    let (mut a, mut b) = (limbs::trimmed(&wide(a)).to_vec(), limbs::trimmed(&wide(b)).to_vec());
    while !b.is_empty() {
        (a, b) = (b.clone(), limbs::div_rem(&a, &b).1);
    }
    a
}

/// Returns two consecutive Fibonacci numbers that fill `limbs` limbs, the larger one first. Such
/// numbers need the most steps of Euclid's algorithm.
pub(in crate::gpu) fn fibonacci(limbs: usize) -> (Vec<u32>, Vec<u32>) {
    let (mut a, mut b) = (vec![0; limbs], vec![0; limbs]);
    b[0] = 1_u32;
    loop {
        let mut sum = wide(&a);
        limbs::add_assign(&mut sum, &wide(&b));
        let next = narrow(&sum, limbs + 1);
        if next[limbs] != 0 || (limbs.is_multiple_of(2) && sum < wide(&b)) {
            return (b, a);
        }
        (a, b) = (b, next[..limbs].to_vec());
        if b[limbs - 1] >> 31 != 0 {
            return (b, a);
        }
    }
}

/// Returns two numbers with the numbers of limbs in `limbs`: random multiples of g, which has
/// `common` limbs. In a number of n limbs, the lowest `zeros` mod n limbs are then set to 0.
pub(in crate::gpu) fn multiples(
    rng: &mut ChaCha8Rng,
    (g, common): (&[u32], usize),
    limbs: [usize; 2],
    zeros: usize,
) -> (Vec<u32>, Vec<u32>) {
    let [a, b] = limbs.map(|limbs| {
        let x: Vec<u32> = (0..limbs - common).map(|_| rng.random()).collect();
        let mut product = narrow(&limbs::mul(&wide(&x), &wide(g)), limbs);
        product[..zeros % limbs].fill(0);
        product
    });
    (a, b)
}

/// Checks the greatest common divisors of every n-th of the hard pairs, where n is `every`, and of
/// two pairs in any case: (F, F') and (F, F), where F and F' are the numbers that [`fibonacci`]
/// returns.
fn check_gcd(gpu: &Gpu, shape: &Gcd, every: usize) {
    let Gcd { a_limbs, b_limbs, .. } = *shape;
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let mut pairs: Vec<(Vec<u32>, Vec<u32>)> = vec![];
    let (a, b) = (numbers(&mut rng, 14, a_limbs), numbers(&mut rng, 14, b_limbs));
    for a in &a {
        pairs.extend(b.iter().map(|b| (a.clone(), b.clone())));
    }
    // With a common divisor, with powers of two, and with few limbs.
    for i in 0..20 {
        let common = rng.random_range(0..a_limbs.min(b_limbs));
        let g = numbers(&mut rng, 8, common.max(1)).pop().unwrap();
        pairs.push(multiples(&mut rng, (&g, common), [a_limbs, b_limbs], i));
    }
    let (last, before) = fibonacci(a_limbs.min(b_limbs));
    let padded = |x: &[u32], limbs: usize| [x, &vec![0; limbs - x.len()]].concat();
    pairs.push((padded(&last, a_limbs), padded(&before, b_limbs)));
    pairs.push((padded(&last, a_limbs), padded(&last, b_limbs)));

    let longest = pairs.split_off(pairs.len() - 2);
    let pairs: Vec<_> = pairs.into_iter().step_by(every).chain(longest).collect();
    let (count, wide_limbs) = (pairs.len(), a_limbs.max(b_limbs));
    let (a, b): (Vec<_>, Vec<_>) = pairs.iter().cloned().unzip();
    let (a_data, b_data) = (upload(gpu, &a), upload(gpu, &b));
    let mut out = gpu.device().alloc::<u32>(count * wide_limbs).unwrap();
    let operand = |data, limbs| Operand::new(data, limbs, false);
    let (x, y) = (operand(&a_data, a_limbs), operand(&b_data, b_limbs));
    gpu.gcd_by_steps(shape, x, y, count, out.cells(..)).unwrap();
    let found = out.download().unwrap();
    for ((a, b), found) in pairs.iter().zip(found.chunks(wide_limbs)) {
        assert_eq!(found, narrow(&gcd(a, b), wide_limbs), "{shape:?}: {a:x?}, {b:x?}");
    }
}

#[test]
fn divisors_by_steps() {
    let gpu = gpu();
    let widths =
        [(1, 1), (2, 2), (1, 3), (4, 4), (7, 5), (8, 8), (33, 33), (34, 2), (70, 64), (140, 140)];
    for (a, b) in widths {
        let shared_memory = gpu.device().info().shared_memory_per_block;
        check_gcd(&gpu, &Gcd::new(a, b, shared_memory).unwrap(), 1);
    }
}

/// Tests numbers that are too long for one warp and are split among the lanes of several warps.
#[test]
fn divisors_by_blocks() {
    let gpu = gpu();
    for (a, b, lanes) in [(130, 130, 64), (140, 90, 64), (3, 250, 128), (260, 260, 256)] {
        let shape = Gcd::of_lanes(a, b, lanes).next().unwrap();
        assert_eq!(shape.numbers(), 1);
        check_gcd(&gpu, &shape, 11);
    }
}
