//! Numbers that are likely to reveal errors: zeros, ones, and numbers whose sums and products have
//! long carries.

use proptest::prelude::RngExt;
use proptest::test_runner::{RngAlgorithm, TestRng};

/// Returns a random generator that gives the same words for a seed in every run.
pub(crate) fn rng(seed: u64) -> TestRng {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)
}

/// Returns numbers of `limbs` 32-bit limbs with special bit patterns, and some random ones, one per
/// row.
pub(crate) fn rows(limbs: usize, rng: &mut TestRng) -> Vec<Vec<u32>> {
    let zero = vec![0u32; limbs];
    let ones = vec![u32::MAX; limbs];
    let mut one = zero.clone();
    one[0] = 1;
    let mut power = zero.clone();
    power[rng.random_range(0..limbs)] = 1 << rng.random_range(0..32);
    let mut top = zero.clone();
    top[limbs - 1] = 1 << 31;
    let alternating =
        |first: u32| (0..limbs).map(|j| first ^ (j as u32 & 1).wrapping_neg()).collect();
    let below_top: Vec<u32> = (0..limbs).map(|j| u32::MAX >> u32::from(j == limbs - 1)).collect();
    let mut random = || (0..limbs).map(|_| rng.random::<u32>()).collect::<Vec<_>>();
    let (x, y) = (random(), random());
    let mut all_but_low = ones.clone();
    all_but_low[0] = 0;
    vec![
        zero,
        ones,
        one,
        power,
        top,
        alternating(0),
        alternating(u32::MAX),
        below_top,
        all_but_low,
        x,
        y,
    ]
}

/// Returns `count` numbers in rows of `limbs` limbs. The lengths of the numbers are random, up to
/// `most` limbs. About half of the numbers may contain long runs of equal bits.
pub(crate) fn drawn(limbs: usize, most: usize, count: usize, rng: &mut TestRng) -> Vec<u32> {
    let mut rows = vec![0; limbs * count];
    for row in rows.chunks_exact_mut(limbs) {
        let bits = rng.random_range(0..=32 * most);
        let runs = rng.random_bool(0.5);
        for limb in &mut row[..bits.div_ceil(32)] {
            *limb = match rng.random_range(0..4) {
                0 if runs => 0,
                1 if runs => u32::MAX,
                _ => rng.random(),
            };
        }
        if bits % 32 != 0 {
            row[bits / 32] &= (1 << (bits % 32)) - 1;
        }
    }
    rows
}

/// Returns two arrays of concatenated rows. Row i of the first array and row i of the second array
/// are a pair. Every pair of a row of `a` and a row of `b` occurs once.
pub(crate) fn pairs(a: &[Vec<u32>], b: &[Vec<u32>]) -> (Vec<u32>, Vec<u32>) {
    let (mut x, mut y) = (vec![], vec![]);
    for a in a {
        for b in b {
            x.extend(a);
            y.extend(b);
        }
    }
    (x, y)
}
