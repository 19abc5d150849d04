//! Residues modulo the Mersenne prime M = 2^61 − 1.

use crate::cpu::join;

/// The Mersenne prime M = 2^61 − 1.
pub(super) const MODULUS: u64 = (1 << 61) - 1;

/// Returns a number below 2^61 + 2^6 that is congruent to x modulo M = 2^61 − 1.
fn fold(x: u128) -> u64 {
    // 2^61 ≡ 1. The first sum is below 2^67 + 2^61.
    let once = (x & u128::from(MODULUS)) + (x >> 61);
    (once as u64 & MODULUS) + (once >> 61) as u64
}

/// Returns x mod M, where M = 2^61 − 1 and x is the number with the 32-bit limbs `limbs`, the
/// lowest first. The result is less than M.
///
/// Adds eight limbs of 64 bits at a time. Since 2^64 ≡ 2^3 modulo M, limb j of such a group has the
/// weight 2^(3j). This takes about four instructions per 64 bits.
#[must_use]
pub fn residue(limbs: &[u32]) -> u64 {
    const GROUP: usize = 16;
    let value = |group: &[u32]| {
        let pairs = group.chunks_exact(2);
        let odd = pairs.remainder().first().map_or(0, |&limb| u128::from(limb));
        let odd = odd << (3 * (group.len() / 2));
        let limbs = pairs.enumerate().map(|(j, pair)| u128::from(join(pair)) << (3 * j));
        // The sum is below 2^(64 + 21 + 1).
        limbs.sum::<u128>() + odd
    };
    let groups = limbs.chunks_exact(GROUP);
    let top = fold(value(groups.remainder()));
    let all = groups.rev().fold(top, |above, group| fold((u128::from(above) << 24) + value(group)));
    canonical(all)
}

/// Returns x mod M, with 0 ≤ x mod M < M = 2^61 − 1, for x ≤ 2M.
fn canonical(x: u64) -> u64 {
    let x = (x & MODULUS) + (x >> 61);
    if x >= MODULUS { x - MODULUS } else { x }
}

/// Returns a + b mod M for a, b < M = 2^61 − 1.
pub(super) fn add(a: u64, b: u64) -> u64 {
    canonical(a + b)
}

/// Returns a − b mod M for a, b < M = 2^61 − 1.
pub(super) fn sub(a: u64, b: u64) -> u64 {
    canonical(a + MODULUS - b)
}

/// Returns a·b mod M for a, b < M = 2^61 − 1.
pub(super) fn mul(a: u64, b: u64) -> u64 {
    canonical(fold(u128::from(a) * u128::from(b)))
}

/// Returns 2^(32·limbs) mod M, where M = 2^61 − 1.
pub(super) fn power_of_limbs(limbs: usize) -> u64 {
    1 << (32 * limbs % 61)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the residue modulo 2^61 − 1 of the number with the 32-bit limbs `limbs`. For each
    /// bit, the highest first, doubles the residue of the preceding bits and adds the bit.
    fn slow(limbs: &[u32]) -> u64 {
        limbs.iter().rev().flat_map(|limb| (0..32).rev().map(move |i| limb >> i & 1)).fold(
            0,
            |rest, bit| {
                let twice = 2 * rest + u64::from(bit);
                if twice >= MODULUS { twice - MODULUS } else { twice }
            },
        )
    }

    proptest! {
        #[test]
        fn residues_are_those_found_bit_by_bit(
            limbs in prop::collection::vec(prop_oneof![any::<u32>(), Just(0), Just(u32::MAX)], 0..200),
        ) {
            prop_assert_eq!(residue(&limbs), slow(&limbs));
        }

        #[test]
        fn arithmetic_is_that_of_wide_integers(a in 0..MODULUS, b in 0..MODULUS) {
            let (x, y, m) = (u128::from(a), u128::from(b), u128::from(MODULUS));
            prop_assert_eq!(u128::from(add(a, b)), (x + y) % m);
            prop_assert_eq!(u128::from(sub(a, b)), (x + m - y) % m);
            prop_assert_eq!(u128::from(mul(a, b)), x * y % m);
        }
    }

    #[test]
    fn ends_of_the_bounds() {
        for n in 0..=300 {
            assert_eq!(residue(&vec![u32::MAX; n]), slow(&vec![u32::MAX; n]), "{n} limbs");
            let mut power = vec![0; n];
            power.push(1);
            assert_eq!(residue(&power), power_of_limbs(n), "2^(32·{n})");
        }
        let m = MODULUS - 1;
        assert_eq!((add(m, m), sub(0, m), mul(m, m)), (m - 1, 1, 1));
        // M itself, in limbs.
        assert_eq!(residue(&[u32::MAX, u32::MAX >> 3]), 0);
    }
}
