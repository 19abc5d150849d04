//! Compares tests for primality with GMP and with published primes and pseudoprimes.

use rug::Integer;
use rug::integer::IsPrime;
use warpint_integer::{Executor, PrimalityTest, UintBatch};

use super::check::{Numbers, rows_of, width};
use super::patterns::{drawn, rng};

fn batch(executor: &Executor, limbs: usize, numbers: &[Integer]) -> UintBatch {
    let rows = rows_of(limbs, numbers.iter().cloned()).concat();
    UintBatch::from_vec(executor, width(limbs), rows).unwrap()
}

/// Tests odd numbers of `limbs` limbs near random ones, until some are primes, and their primes'
/// products.
pub(crate) fn near_random(executor: &Executor, limbs: usize) {
    let mut rng = rng(90_000 + limbs as u64);
    let bases = Numbers::new(executor, limbs, &drawn(limbs, limbs, 4, &mut rng)).gmp;
    let bits = 32 * limbs as u32;
    let near = bases.iter().flat_map(|x| (0..12 * bits).map(move |i| x.clone() + i));
    let numbers: Vec<Integer> = near.filter(|n| n.significant_bits() <= bits).collect();
    let is_prime = |n: &Integer| n.is_probably_prime(30) != IsPrime::No;
    let want: Vec<bool> = numbers.iter().map(is_prime).collect();
    assert!(want.contains(&true), "no prime among {} numbers", numbers.len());
    let test = PrimalityTest::baillie_psw();
    let got = batch(executor, limbs, &numbers).is_probable_prime(&test).unwrap();
    for (i, n) in numbers.iter().enumerate() {
        assert_eq!(got[i], want[i], "{n}");
    }
    let primes: Vec<Integer> =
        numbers.into_iter().zip(&want).filter(|(_, prime)| **prime).map(|(n, _)| n).collect();
    let products =
        primes.iter().flat_map(|p| [Integer::from(p * p), Integer::from(p * &primes[0])]);
    let products: Vec<Integer> = products.collect();
    let got = batch(executor, 2 * limbs, &products).is_probable_prime(&test).unwrap();
    assert!(got.iter().all(|prime| !prime), "a product of two primes is taken for a prime");
}

/// Returns ⌊2^bits·π⌋ by Machin's formula π = 16·arctan(1/5) − 4·arctan(1/239).
fn pi(bits: u32) -> Integer {
    let one = Integer::from(1) << (bits + 64);
    let arctan = |x: u32| {
        let mut power = Integer::from(&one / x);
        let mut sum = Integer::new();
        for k in 0u32.. {
            let term = Integer::from(&power / (2 * k + 1));
            if term == 0 {
                break;
            }
            if k % 2 == 0 {
                sum += term
            } else {
                sum -= term
            }
            power /= x * x;
        }
        sum
    };
    (16 * arctan(5) - 4 * arctan(239)) >> 64
}

/// Tests primes of RFC 3526, 2^n − 2^(n−64) − 1 + 2^64·(⌊2^(n−130)·π⌋ + c), and (p − 1)/2, also prime;
/// 2^n − 1 for known exponents; all-ones limbs; and a number of 397 digits that passes the strong
/// tests to all prime bases below 307.
pub(crate) fn published(executor: &Executor, most_bits: u32) {
    let power = |n: u32| Integer::from(1) << n;
    let mut numbers = vec![];
    for (n, c) in [(1536, 741_804u32), (2048, 124_476), (3072, 1_690_314)] {
        let p = power(n) - power(n - 64) - 1u32 + ((pi(n - 130) + c) << 64u32);
        numbers.extend([(Integer::from(&p >> 1), true), (p.clone() + 2u32, false), (p, true)]);
    }
    for p in [127, 521, 607, 1279, 2203] {
        numbers.push((power(p) - 1u32, true));
    }
    for limbs in [1, 2, 16, 32, 64, 65] {
        numbers.push((power(32 * limbs) - 1u32, false));
    }
    // Arnault 1995, Constructing Carmichael numbers which are strong pseudoprimes to several bases,
    // Journal of Symbolic Computation 20: p·(313(p − 1) + 1)·(353(p − 1) + 1).
    let p: Integer = "29674495668685510550154174642905332730771991799853043350995075531276838753171770199594238596428121188033664754218345562493168782883"
        .parse()
        .unwrap();
    let less: Integer = p.clone() - 1u32;
    let n = p * (less.clone() * 313u32 + 1u32) * (less * 353u32 + 1u32);
    numbers.push((n.clone(), false));
    numbers.retain(|(n, _)| n.significant_bits() <= most_bits);
    let limbs = numbers.iter().map(|(n, _)| n.significant_bits().div_ceil(32)).max().unwrap();
    let (all, want): (Vec<Integer>, Vec<bool>) = numbers.into_iter().unzip();
    let test = PrimalityTest::baillie_psw();
    let got = batch(executor, limbs as usize, &all).is_probable_prime(&test).unwrap();
    for ((n, got), want) in all.iter().zip(got).zip(want) {
        assert_eq!(got, want, "{n}");
    }
    let bases: Vec<u32> = (2..310).filter(|n| (2..*n).all(|d| n % d != 0)).collect();
    let arnault = batch(executor, 42, &[n]);
    let passes = |bases: &[u32]| {
        arnault.is_probable_prime(&PrimalityTest::strong(bases).unwrap()).unwrap()[0]
    };
    // The simulator takes minutes for all bases.
    assert!(passes(&[2, 3, 293]));
    assert!(!passes(&[2, 307]));
    if executor.device().is_none() {
        let below = bases.iter().position(|&base| base == 307).unwrap();
        assert!(passes(&bases[..below]));
        assert!(!passes(&bases));
    }
}
