//! Margins and residues modulo k·2^n ± 1, on the simulator against exact integers.

use super::*;
use crate::engine::fp64_gpu::Fp64On;
use crate::engine::gpu::compared;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn number(k: u64, n: u32, sign: Sign) -> Number {
    Number::new(k, 2, n, sign).unwrap()
}

/// Returns the largest n for which k·2^n ± 1 has a margin in `length` words.
fn longest(k: u64, length: usize) -> Option<u32> {
    let has_margin = |n: u32| {
        let margin = OtherNumbers.margin(number(k, n, Sign::Plus), length);
        margin.is_ok_and(|margin| margin.bits >= 0.0)
    };
    (length as u32..25 * length as u32).rev().find(|&n| has_margin(n))
}

/// Compares squarings, products and sums with those of exact integers: of a residue with long runs of equal bits,
/// of residues near 0 and N, and of random ones.
///
/// Runs of ones, divided by k, are periodic. For such digits, words of a long transform are shorter.
fn compare(device: &Device, number: Number, length: usize, rng: &mut ChaCha8Rng) {
    let mut residues = compared::corners(number, rng);
    let margin = OtherNumbers.margin(number, length).unwrap();
    if length <= margin::ANY_DIGITS_UP_TO || margin.bits > 4.0 {
        residues.insert(0, Residue::from_limbs(number, &vec![u64::MAX; number.limbs()]));
    }
    // Squares of small numbers become powers of two, and these have such digits, too.
    compared::compare(&Fp64On::new(device.clone()), number, length, &residues, &[3], 2);
}

#[test]
fn numbers_of_searches_have_a_length() {
    let lengths: Vec<usize> = crate::engine::fp64_gpu::all_lengths().collect();
    let primes = [
        "3*2^10829346+1",
        "46157*2^698207+1",
        "65567*2^1013803+1",
        "69109*2^1157446+1",
        "54767*2^1337287+1",
        "4847*2^3321063+1",
        "10223*2^31172165+1",
        "252191*2^5497878-1",
        "398023*2^6418059-1",
        "2^16777216+1",
        "7*3^200000+1",
        "27*10^1000000-1",
        "24518^262144+1",
        "75898^524288+1",
        "7*199^130000+1",
        "7*199^13000-1",
        "1048577*2^20000-1",
        "9223372036854775783*2^19000000+1",
        "7*499^11000-1",
        "7*499^111000+1",
        "7*1000003^20000+1",
        "3*262147^1000000-1",
    ];
    let length_of = |text: &str| {
        let number: Number = text.parse().unwrap();
        let is_safe =
            |n: &usize| OtherNumbers.margin(number, *n).is_ok_and(|margin| margin.bits >= 0.0);
        lengths.iter().copied().find(is_safe)
    };
    for prime in primes {
        let length = length_of(prime);
        println!("{prime} {length:?}");
        assert!(length.is_some(), "{prime}");
    }
    let others = ["3*2^9000+1", "1048577*2^9000-1", "7*16777213^2000+1", "3*4294967291^1000-1"];
    for other in others {
        assert_eq!(length_of(other), None, "{other}");
    }
}

#[test]
fn shapes_in_gangs_are_sound() {
    for name in IN_GANGS {
        let shape: Shape = name.parse().unwrap();
        assert!(shape.is_sound() && shape.width > 1, "{name}");
        assert_eq!(shape.to_string(), name);
        assert_eq!(shape_in_gang(2 * shape.points(), 227 << 10), Some(shape));
    }
    assert_eq!(shape_in_gang(1 << 20, 227 << 10), None);
}

#[test]
fn agrees_with_exact_integers() {
    let device = Device::simulator().unwrap();
    let seed = rand::random();
    println!("seed {seed}");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    for length in [1024, 1152, 2304] {
        for k in [1, 3, 5, 10_223, 65_535, 398_023, (1 << 20) - 1] {
            for sign in [Sign::Minus, Sign::Plus] {
                // Long multipliers leave no bits to few words.
                let Some(most) = longest(k, length) else { continue };
                let takes = |n: &u32| OtherNumbers.margin(number(k, *n, sign), length).is_ok();
                // The shortest words have the largest rest of carries.
                let least = (length as u32..most).find(takes).unwrap_or(most);
                for n in [most, most - 1, most - 300, most - 3 * length as u32, least] {
                    let number = number(k, n, sign);
                    if !number.is_mersenne() && OtherNumbers.margin(number, length).is_ok() {
                        compare(&device, number, length, &mut rng);
                    }
                }
            }
        }
    }
}
