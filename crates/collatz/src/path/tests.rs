//! Tests of paths against the step-by-step oracle.

use super::*;
use crate::Unwatched;
use crate::until::Until;
use proptest::prelude::*;

/// Compares the path of n with the path that the oracle computes. Computes the path three times:
/// with the default sizes, by blocks while the number has at least four limbs, and by blocks while
/// the number has at least seven limbs.
fn check(n: &BigUint) {
    let plain = plain_path(n);
    assert_eq!(path(n, &Unwatched), plain, "{n}");
    for (leaf, long) in [(1, 4), (2, 7)] {
        let blocks = Blocks { multiplier: &FastProducts, leaf, watch: &Unwatched };
        assert_eq!(path_with(n, blocks, long), plain, "{n}: {leaf}, {long}");
    }
}

#[test]
fn known_paths() {
    // 27 takes 41 odd and 70 even steps; it is below itself after 96 (59 + 37).
    let path = path(&27u32.into(), &Unwatched).unwrap();
    assert_eq!((path.odd_steps, path.even_steps, path.delay()), (41, 70, 111));
    assert_eq!((path.maximum, path.glide), (9232u32.into(), Some(96)));
}

#[test]
fn corners() {
    assert_eq!(super::path(&BigUint::ZERO, &Unwatched), None);
    for n in 1u32..2000 {
        check(&n.into());
    }
    let two = BigUint::from(2u32);
    for bits in [63, 64, 65, 191, 192, 193, 255, 256, 257, 320, 600, 1000] {
        let power = two.pow(bits);
        for n in [
            power.clone() - 1u32,
            power.clone(),
            power.clone() + 1u32,
            power.clone() * 3u32,
            (power.clone() - 1u32) / 3u32,
            (power.clone() << 70) - 1u32,
            (power << 1u32) / 3u32,
        ] {
            check(&n);
        }
    }
}

#[test]
fn a_stopped_path_is_none() {
    for bits in [1000u32, 100_000] {
        assert_eq!(path(&(BigUint::from(3u32).pow(bits) - 2u32), &Until::new(0)), None);
    }
}

#[test]
fn a_hundred_thousand_bits_take_no_time() {
    // The first 100,000 steps of T from 2^k − 1 are odd: it rises to 2·(3^k − 1) = 2·T^(k−1)(2^k −
    // 1).
    let k = 100_000;
    let path = path(&((BigUint::from(1u32) << k) - 1u32), &Unwatched).unwrap();
    assert!(path.maximum >= (BigUint::from(3u32).pow(k) - 1u32) * 2u32);
    assert!(path.odd_steps > u64::from(k) && path.glide.is_some());
}

#[test]
fn long_paths_are_single_steps() {
    // Around the length from which on blocks are used, and beyond it.
    let long = 64 * LONG as u32;
    let (one, three) = (BigUint::from(1u32), BigUint::from(3u32));
    for bits in [long - 70, long - 1, long, long + 1, 20_000] {
        let power = one.clone() << bits;
        // The maximum at the end of a run of odd steps, at the start, in the middle.
        for n in [
            power.clone() - 1u32,
            power.clone(),
            power.clone() + 1u32,
            (power.clone() << 300u32) - (one.clone() << 300u32),
            three.pow(bits / 2) << (bits / 3),
            (power << 1u32) / 3u32,
        ] {
            assert_eq!(path(&n, &Unwatched), plain_path(&n), "{bits} bits");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn long_random_paths_are_single_steps(
        limbs in prop::collection::vec(
            prop_oneof![4 => any::<u64>(), 1 => Just(0), 1 => Just(u64::MAX)], 100..500)
    ) {
        let n = number(&limbs) + 1u32;
        prop_assert_eq!(path(&n, &Unwatched), plain_path(&n));
    }
}

proptest! {
    #[test]
    fn passes_are_single_steps(
        limbs in prop::collection::vec(
            prop_oneof![any::<u32>(), Just(0), Just(u32::MAX)], 1..40)
    ) {
        let n = BigUint::new(limbs) + 1u32;
        check(&n);
    }
}
