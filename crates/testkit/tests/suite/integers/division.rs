//! Compares quotients and remainders of batches with GMP.

use rug::Integer;
use warpint_integer::{Executor, Flags, UintBatch};

use super::check::{Numbers, equal, rows_of, width};
use super::patterns::{self, drawn, pairs, rng};

/// Tests divisions of special numbers of `a` limbs ([`patterns::rows`]) by special divisors of `d`
/// limbs, in every pair. Also tests divisions of numbers at or near multiples of the divisors
/// ([`neighbours`]).
pub(crate) fn patterns(executor: &Executor, a: usize, d: usize) {
    let mut rng = rng((9000 * a + d) as u64);
    let mut divisors = patterns::rows(d, &mut rng);
    divisors.extend(corners(d));
    let (x, y) = pairs(&patterns::rows(a, &mut rng), &divisors);
    let (a, d) = (Numbers::new(executor, a, &x), Numbers::new(executor, d, &y));
    all(&a, &d);
    all(&neighbours(executor, &a, &d), &d);
}

/// Tests divisions of `count` numbers of random lengths, up to `a` limbs, by `count` numbers of up
/// to `d` limbs. Also tests divisions of numbers at or near multiples of the divisors
/// ([`neighbours`]).
pub(crate) fn random(executor: &Executor, a: usize, d: usize, count: usize) {
    let mut rng = rng((8000 * a + d) as u64);
    let x = Numbers::new(executor, a, &drawn(a, a, count, &mut rng));
    let y = Numbers::new(executor, d, &drawn(d, d, count, &mut rng));
    all(&x, &y);
    all(&neighbours(executor, &x, &y), &y);
}

/// Tests divisions of 40 numbers of up to `a` limbs by a single number of `d` limbs, and of the
/// single number by the 40 numbers.
pub(crate) fn broadcast(executor: &Executor, a: usize, d: usize) {
    let mut rng = rng((a + 79 * d) as u64);
    let many = Numbers::new(executor, a, &drawn(a, a, 40, &mut rng));
    for one in patterns::rows(d, &mut rng) {
        let one = Numbers::new(executor, d, &one);
        let repeated = Numbers {
            batch: UintBatch::from_limbs(executor, width(d), &one.batch.to_limbs().unwrap())
                .unwrap(),
            gmp: vec![one.gmp[0].clone(); many.gmp.len()],
        };
        all(&many, &repeated);
        all(&repeated, &many);
    }
}

/// Returns divisors of up to `limbs` limbs whose reciprocals are hard to round. With B = 2^32 and
/// several numbers k < `limbs`, the divisors are ⌊B^k/c⌋ and ⌊B^k/c⌋ + 1 for small c, B^k plus or
/// minus small numbers, and 2^31·B^k.
fn corners(limbs: usize) -> Vec<Vec<u32>> {
    let mut found = vec![];
    for k in [limbs - 1, limbs / 2, limbs / 4 * 2] {
        let power = Integer::from(1) << (32 * k as u32);
        for c in [3u32, 5, 1119, 65_537] {
            let quotient = Integer::from(&power / c);
            found.extend([Integer::from(&quotient + 1), quotient]);
        }
        for small in [1u32, 2, 1119] {
            found.extend([Integer::from(&power + small), Integer::from(&power - small)]);
        }
        found.push(power << 31);
    }
    found.sort();
    found.dedup();
    let fits = |d: &Integer| !d.is_negative() && d.significant_bits() as usize <= 32 * limbs;
    rows_of(limbs, found.into_iter().filter(fits))
}

/// Returns, for each pair (a, d), a number near a multiple of d: ⌊a/d⌋·d + s, where s is in turn
/// −1, 1, d − 1 and 0. If this number is negative or longer than a, ⌊a/d⌋·d takes its place. If
/// d = 0, a takes its place.
fn neighbours(executor: &Executor, a: &Numbers, d: &Numbers) -> Numbers {
    let limbs = a.batch.width().limbs();
    let near = a.gmp.iter().zip(&d.gmp).enumerate().map(|(i, (a, d))| {
        if d.is_zero() {
            return a.clone();
        }
        let multiple = a - Integer::from(a % d);
        let near: Integer = match i % 4 {
            0 => multiple.clone() - 1,
            1 => multiple.clone() + 1,
            2 => multiple.clone() + d - 1,
            _ => multiple.clone(),
        };
        let fits = !near.is_negative() && near.significant_bits() <= a.significant_bits();
        if fits { near } else { multiple }
    });
    Numbers::new(executor, limbs, &rows_of(limbs, near).concat())
}

/// Tests every kind of division of a by d. The batch of a or d may contain a single number that is
/// combined with every number of the other batch. Its copy for GMP then contains this number
/// repeatedly.
fn all(a: &Numbers, d: &Numbers) {
    let (n, m) = (a.batch.width().limbs(), d.batch.width().limbs());
    let zeros: Vec<u8> = d.gmp.iter().map(|d| u8::from(d.is_zero())).collect();
    let flags = |what: &str, got: &Flags, want: &[u8]| {
        assert_eq!(got.to_vec().unwrap(), want, "{what}: flags");
    };
    let div_rem = |(a, d): (&Integer, &Integer)| {
        if d.is_zero() { Default::default() } else { a.clone().div_rem(d.clone()) }
    };
    let (q, r): (Vec<Integer>, Vec<Integer>) = a.gmp.iter().zip(&d.gmp).map(div_rem).unzip();

    let ((mut quotients, mut remainders), mut found) = a.batch.div_rem(&d.batch).unwrap();
    equal("a div d", &quotients, n, q.iter().cloned());
    equal("a mod d", &remainders, m, r.iter().cloned());
    flags("a div d", &found, &zeros);
    let (only, found_too) = a.batch.div(&d.batch).unwrap();
    equal("a div d alone", &only, n, q.iter().cloned());
    flags("a div d alone", &found_too, &zeros);
    let (only, found_too) = a.batch.rem(&d.batch).unwrap();
    equal("a mod d alone", &only, m, r.iter().cloned());
    flags("a mod d alone", &found_too, &zeros);

    let inexact: Vec<u8> =
        r.iter().zip(&d.gmp).map(|(r, d)| u8::from(d.is_zero() || !r.is_zero())).collect();
    let (exact, found_too) = a.batch.div_exact(&d.batch).unwrap();
    let want = q.iter().zip(&inexact).map(|(q, &inexact)| q.clone() * (1 - inexact));
    equal("a/d", &exact, n, want);
    flags("a/d", &found_too, &inexact);

    // The destination holds other results before the call.
    if a.batch.count() == d.batch.count() {
        d.batch.div_rem_into(&a.batch, &mut remainders, &mut quotients, &mut found).unwrap();
        a.batch.div_rem_into(&d.batch, &mut quotients, &mut remainders, &mut found).unwrap();
        equal("a div d into", &quotients, n, q);
        equal("a mod d into", &remainders, m, r.iter().cloned());
        d.batch.rem_into(&a.batch, &mut quotients, &mut found).unwrap();
        a.batch.rem_into(&d.batch, &mut remainders, &mut found).unwrap();
        equal("a mod d into", &remainders, m, r);
        flags("a div d into", &found, &zeros);
    }
}
