//! Tests for primality, compared with known answers and with the slow Baillie–PSW test.

use rand::RngExt;
use warpint_integer::{PrimalityTest, UintBatch};
use warpint_natural::limbs;

use super::division::wide;
use super::numbers::{Failure, Numbers, width};
use crate::sample::Random;

/// Numbers of at most 32 bits that are easy to take for primes: strong pseudoprimes to base 2 (OEIS
/// A001262), strong Lucas pseudoprimes (OEIS A217255), Carmichael numbers (OEIS A002997), and squares
/// of the Wieferich primes. All are composite.
const PSEUDOPRIMES: &[u32] = &[
    2047,
    3277,
    4033,
    4681,
    8321,
    15841,
    29341,
    42799,
    5459,
    5777,
    10877,
    16109,
    18971,
    561,
    1105,
    1729,
    2465,
    2821,
    6601,
    1_194_649,
    12_327_121,
    3_215_031_751,
    1_373_653,
    25_326_001,
];

/// The exponents p below 700 of the Mersenne primes 2^p − 1.
const MERSENNE: &[u32] = &[2, 3, 5, 7, 13, 17, 19, 31, 61, 89, 107, 127, 521, 607];

/// Exponents p for which 2^p − 1 is composite. With multiples of 32, all bits of all limbs are 1.
const COMPOSITE: &[u32] = &[4, 11, 23, 29, 32, 33, 64, 67, 96, 256, 257, 512];

/// The widest numbers, in limbs, for which the oracle is fast enough.
const WIDEST: usize = 40;

/// Tests numbers with known answers: 0, 1, 2, 3, pseudoprimes, and 2^p − 1. Tests random odd numbers
/// against the oracle, and the squares of the primes among all these numbers. Does nothing for
/// numbers of more than 40 limbs, for which the oracle is too slow.
pub(super) fn all(rng: &mut Random, a: &Numbers, _: &Numbers) -> Result<(), Failure> {
    let limbs = a.limbs;
    if limbs > WIDEST {
        return Ok(());
    }
    let one = |low: u32| {
        let mut row = vec![0; limbs];
        row[0] = low;
        row
    };
    let mut rows: Vec<Vec<u32>> = [0, 1, 2, 3, 4, 5, 7, 9, 25, 997, 1009, 1009 * 1009]
        .into_iter()
        .chain(PSEUDOPRIMES.iter().copied())
        .map(one)
        .collect();
    let mut known: Vec<bool> =
        [0, 0, 1, 1, 0, 1, 1, 0, 0, 1, 1, 0].into_iter().map(|prime| prime == 1).collect();
    known.resize(rows.len(), false);
    let fits = |p: &&u32| **p <= 32 * limbs as u32;
    for &p in MERSENNE.iter().chain(COMPOSITE).filter(fits) {
        let bits = |j: u32| match p.saturating_sub(32 * j) {
            0 => 0,
            left @ 1..32 => (1 << left) - 1,
            _ => u32::MAX,
        };
        rows.push((0..limbs as u32).map(bits).collect());
        known.push(MERSENNE.contains(&p));
    }
    for _ in 0..20 {
        let mut row: Vec<u32> = (0..limbs).map(|_| rng.random()).collect();
        row[0] |= 1;
        known.push(limbs::is_probable_prime(&wide(&row)));
        rows.push(row);
    }
    let count = rows.len();
    let numbers = Numbers::new(a.batch.executor(), limbs, rows)?;
    let psw = PrimalityTest::baillie_psw();
    same(&numbers, &numbers.batch.is_probable_prime(&psw)?, |i| known[i])?;

    // Without trial division, the composite numbers reach the strong and the Lucas tests.
    let found = numbers.batch.is_probable_prime(&psw.with_trial_division(3))?;
    same(&numbers, &found, |i| known[i])?;
    // To the first seven primes as bases, no number below 341,550,071,728,321 is a pseudoprime
    // (Jaeschke 1993), and no longer number here is one.
    let strong = PrimalityTest::strong(&[2, 3, 5, 7, 11, 13, 17])?.with_trial_division(3);
    same(&numbers, &numbers.batch.is_probable_prime(&strong)?, |i| known[i])?;

    let primes: Vec<Vec<u32>> =
        (0..count).filter(|&i| known[i]).map(|i| numbers.row(i).to_vec()).collect();
    let primes = UintBatch::from_vec(a.batch.executor(), width(limbs)?, primes.concat())?;
    let squares = primes.square()?.is_probable_prime(&PrimalityTest::baillie_psw())?;
    match squares.iter().position(|&prime| prime) {
        None => Ok(()),
        Some(i) => Err(Failure::Wrong(format!("the square of prime {i} is taken for a prime"))),
    }
}

fn same(numbers: &Numbers, found: &[bool], known: impl Fn(usize) -> bool) -> Result<(), Failure> {
    let wrong = found.iter().enumerate().find(|&(i, &found)| found != known(i));
    match wrong {
        None if found.len() == numbers.count() => Ok(()),
        None => Err(Failure::Wrong(format!("{} results, not {}", found.len(), numbers.count()))),
        Some((i, found)) => {
            let row = numbers.row(i);
            Err(Failure::Wrong(format!("{row:x?} is taken for a prime: {found}")))
        }
    }
}
