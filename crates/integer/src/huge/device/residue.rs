//! Residues modulo the prime 2^61 − 1. A product a·b is verified by (a mod p)·(b mod p) mod p.
//!
//! Since 2^64 ≡ 2^3 mod 2^61 − 1, limb i has the factor 2^(3·i mod 61), so a residue needs no
//! products. A wrong result is not noticed if its error is a multiple of 2^61 − 1. A random error is
//! one with probability 2^−61. Of the errors e·2^(64·i), |e| < 2^64, which change one limb, 16 are
//! not noticed: those with e = ±k·(2^61 − 1), k from 1 to 8.

use rayon::prelude::*;

/// The prime 2^61 − 1.
pub const PRIME: u64 = (1 << 61) - 1;

/// Returns a number congruent to a and at most 2^61 + 6.
fn folded(a: u64) -> u64 {
    (a & PRIME) + (a >> 61)
}

/// Returns a mod 2^61 − 1.
fn canonical(a: u64) -> u64 {
    let a = folded(a);
    if a >= PRIME { a - PRIME } else { a }
}

/// Returns w mod 2^61 − 1.
pub(super) fn of_word(w: u64) -> u64 {
    canonical(w)
}

/// Returns a + b mod 2^61 − 1 for residues a and b.
#[must_use]
pub fn sum(a: u64, b: u64) -> u64 {
    canonical(a + b)
}

/// Returns a·b mod 2^61 − 1 for residues a and b.
#[must_use]
pub fn product(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    canonical((product as u64 & PRIME) + (product >> 61) as u64)
}

/// Returns a·2^e mod 2^61 − 1 for a residue a and e < 61.
fn shifted(a: u64, e: u32) -> u64 {
    product(a, 1 << e)
}

/// Returns x mod 2^61 − 1. Long numbers are divided among the threads of rayon's current pool. The
/// cost is that of reading x once.
#[must_use]
pub fn of(x: &[u64]) -> u64 {
    // 2^(64·61) ≡ 1, so all blocks have the same factors.
    const BLOCK: usize = 61;
    const PIECE: usize = BLOCK << 10;
    let of_piece = |piece: &[u64]| {
        let mut sums = [0u128; BLOCK];
        for block in piece.chunks(BLOCK) {
            for (sum, &limb) in sums.iter_mut().zip(block) {
                *sum += u128::from(limb);
            }
        }
        let terms = sums.iter().enumerate().map(|(i, &sum)| {
            let residue = canonical(sum as u64 & PRIME) + canonical((sum >> 61) as u64);
            shifted(canonical(residue), (3 * i % 61) as u32)
        });
        terms.fold(0, sum)
    };
    x.par_chunks(PIECE).map(of_piece).reduce(|| 0, sum)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use warpint_natural::limbs::div_rem;

    use super::*;

    #[test]
    fn residues_are_those_of_the_definition() {
        let rng = &mut ChaCha8Rng::seed_from_u64(61);
        for limbs in [0, 1, 2, 60, 61, 62, 121, 122, 123, 1000, 61 << 10, (61 << 11) + 7] {
            let random: Vec<u64> = (0..limbs).map(|_| rng.random()).collect();
            for x in [random, vec![u64::MAX; limbs], vec![0; limbs]] {
                let expected = div_rem(&x, &[PRIME]).1.first().copied().unwrap_or(0);
                assert_eq!(of(&x), expected, "{limbs} limbs");
            }
        }
        assert_eq!(of(&[PRIME]), 0);
        assert_eq!(product(PRIME - 1, PRIME - 1), 1);
        assert_eq!(sum(PRIME - 1, 1), 0);
    }
}
