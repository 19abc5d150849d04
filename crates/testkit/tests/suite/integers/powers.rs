//! Compares roots and powers of batches with GMP.

use std::num::NonZeroU32;

use rug::Integer;
use rug::ops::Pow;
use warpint_integer::{Executor, UintBatch};

use super::check::{Numbers, equal, rows_of, width};
use super::patterns::{self, drawn, pairs, rng};

/// Tests square roots of numbers of `limbs` limbs: patterns, random numbers, and squares and their
/// neighbours.
pub(crate) fn square_roots(executor: &Executor, limbs: usize) {
    let mut rng = rng(5000 + limbs as u64);
    sqrt_rem(&Numbers::new(executor, limbs, &patterns::rows(limbs, &mut rng).concat()));
    let random = Numbers::new(executor, limbs, &drawn(limbs, limbs, 12, &mut rng));
    sqrt_rem(&random);
    let near = random.gmp.iter().flat_map(|x| {
        let s = x.clone().sqrt();
        let square = Integer::from(s.square_ref());
        let largest = Integer::from(&square + &s) + &s;
        [Integer::from(&square - 1u32), largest.clone() + 1u32, square, largest]
    });
    let fits = |x: &Integer| !x.is_negative() && x.significant_bits() as usize <= 32 * limbs;
    let near = rows_of(limbs, near.filter(fits)).concat();
    sqrt_rem(&Numbers::new(executor, limbs, &near));
}

fn sqrt_rem(a: &Numbers) {
    let limbs = a.batch.width().limbs().div_ceil(2);
    let (root, rem) = a.batch.sqrt_rem().unwrap();
    let want = a.gmp.iter().map(|x| x.clone().sqrt_rem(Integer::new()));
    let (s, r): (Vec<Integer>, Vec<Integer>) = want.unzip();
    equal("square root", &root, limbs, s);
    equal("what a square root leaves", &rem, limbs + 1, r);
}

/// Tests roots of many degrees of numbers of `limbs` limbs: patterns, random numbers, and powers
/// and their neighbours.
pub(crate) fn roots(executor: &Executor, limbs: usize) {
    let mut rng = rng(50_000 + limbs as u64);
    let bits = 32 * limbs as u32;
    let numbers = patterns::rows(limbs, &mut rng).concat();
    let numbers = [numbers, drawn(limbs, limbs, 6, &mut rng)].concat();
    let numbers = Numbers::new(executor, limbs, &numbers).gmp;
    for k in [1, 2, 3, 5, 17, 32, 64, bits / 3, bits - 1, bits, bits + 1, u32::MAX] {
        let k = k.max(1);
        let near = numbers.iter().flat_map(|x| {
            let power = x.clone().root(k).pow(k.min(bits));
            [power.clone() - 1u32, power.clone() + 1u32, power, x.clone()]
        });
        let fits = |x: &Integer| !x.is_negative() && x.significant_bits() <= bits;
        let a = Numbers::new(executor, limbs, &rows_of(limbs, near.filter(fits)).concat());
        let got = a.batch.root(NonZeroU32::new(k).unwrap()).unwrap();
        let want = a.gmp.iter().map(|x| x.clone().root(k));
        equal("root", &got, limbs.div_ceil(k as usize), want);
    }
}

/// Tests powers x^y mod z and products x·y mod z for x of `a` limbs, y of `e` limbs and z of `m`
/// limbs. Tests `count` arbitrary moduli z, `count` odd ones, and `count` multiples of powers of
/// two.
pub(crate) fn modular(executor: &Executor, [a, e, m]: [usize; 3], count: usize) {
    let mut rng = rng((4000 * a + 60 * e + m) as u64);
    let base = Numbers::new(executor, a, &drawn(a, a, count, &mut rng));
    let exponent = Numbers::new(executor, e, &drawn(e, e, count, &mut rng));
    let moduli = drawn(m, m, count, &mut rng);
    all(&base, &exponent, &Numbers::new(executor, m, &moduli));
    // Odd moduli, and multiples of powers of two.
    let mut odd = moduli.clone();
    for row in odd.chunks_exact_mut(m) {
        row[0] |= 1;
    }
    all(&base, &exponent, &Numbers::new(executor, m, &odd));
    let even = odd.chunks_exact(m).enumerate().map(|(i, row)| {
        let x = Integer::from_digits(row, rug::integer::Order::Lsf);
        let twos = 1 + (i * 32 * m / count) as u32;
        (x << twos).keep_bits(32 * m as u32)
    });
    all(&base, &exponent, &Numbers::new(executor, m, &rows_of(m, even).concat()));
}

/// Tests powers of special bases of `a` limbs, with special exponents of `e` limbs (among them 0,
/// 1, 2, a power of two and all bits 1) and special moduli of `m` limbs (among them 0, 1, 2, 3,
/// powers of two and all bits 1).
pub(crate) fn chosen(executor: &Executor, [a, e, m]: [usize; 3]) {
    let mut rng = rng((3000 * a + 50 * e + m) as u64);
    let mut bases = patterns::rows(a, &mut rng);
    bases.truncate(6);
    let small = |limbs: usize, numbers: &[u32]| rows_of(limbs, numbers.iter().map(|&x| x.into()));
    let mut exponents = patterns::rows(e, &mut rng);
    exponents.extend(small(e, &[2, 3, 65_537]));
    let mut moduli = patterns::rows(m, &mut rng);
    moduli.extend(small(m, &[2, 3, 4, 6]));
    let (base, exponent) = pairs(&bases, &exponents);
    let rows = base.len() / a;
    let one_base = Numbers::new(executor, a, &base);
    let exponents = Numbers::new(executor, e, &exponent);
    for modulus in moduli {
        let one = Numbers::new(executor, m, &modulus);
        let repeated = Numbers { batch: one.batch, gmp: vec![one.gmp[0].clone(); rows] };
        all(&one_base, &exponents, &repeated);
    }
}

/// Tests powers of multiples of c modulo c², c³ and 2^k·c². Many of these powers are 0. The result
/// must then be 0, not the modulus.
pub(crate) fn nilpotent(executor: &Executor, limbs: usize) {
    let mut rng = rng(1000 + limbs as u64);
    let third = limbs.div_ceil(3);
    let roots = Numbers::new(executor, third, &drawn(third, third, 8, &mut rng)).gmp;
    let mut rows = [vec![], vec![], vec![]];
    for c in roots {
        // Not wider than the modulus may be.
        let c = c.keep_bits(32 * limbs as u32 / 3) | 1u32;
        let square = Integer::from(c.square_ref());
        let twos = 32 * limbs as u32 - square.significant_bits();
        for modulus in [square.clone(), Integer::from(&square * &c), square << twos] {
            for e in 1..5u32 {
                rows[0].push(Integer::from(&c * (2 * e - 1)) % &modulus);
                rows[1].push(Integer::from(e));
                rows[2].push(modulus.clone());
            }
        }
    }
    let [a, e, m] = rows;
    let of = |limbs, rows| Numbers::new(executor, limbs, &rows_of(limbs, rows).concat());
    all(&of(limbs, a), &of(1, e), &of(limbs, m));
}

/// Tests powers with a single exponent, a single base or a single modulus for all numbers.
pub(crate) fn broadcast(executor: &Executor, [a, e, m]: [usize; 3]) {
    let count = 9;
    let mut rng = rng((2000 * a + 40 * e + m) as u64);
    let mut numbers =
        |limbs: usize| Numbers::new(executor, limbs, &drawn(limbs, limbs, count, &mut rng));
    let (base, exponent, modulus) = (numbers(a), numbers(e), numbers(m));
    let single = |from: &Numbers| {
        let limbs = from.batch.width().limbs();
        let row = from.batch.get(4).unwrap().unwrap();
        let batch = UintBatch::from_limbs(executor, width(limbs), &row).unwrap();
        Numbers { batch, gmp: vec![from.gmp[4].clone(); count] }
    };
    let (one_base, one_exponent, one_modulus) =
        (single(&base), single(&exponent), single(&modulus));
    for base in [&base, &one_base] {
        for exponent in [&exponent, &one_exponent] {
            all(base, exponent, &modulus);
        }
    }
    all(&one_base, &exponent, &one_modulus);
    all(&base, &one_exponent, &one_modulus);
}

/// Tests that 3^(N−1) mod N is 1 for Mersenne primes N, and is not 1 for composite Mersenne numbers
/// N.
pub(crate) fn fermat(executor: &Executor) {
    for (n, prime) in [(521u32, true), (523, false), (1279, true), (2203, true), (2207, false)] {
        let limbs = (n as usize).div_ceil(32);
        let p = (Integer::from(1) << n) - 1u32;
        let batch = |x: &Integer| {
            UintBatch::from_limbs(executor, width(limbs), &rows_of(limbs, [x.clone()]).concat())
                .unwrap()
        };
        let three = UintBatch::from_limbs(executor, width(1), &[3]).unwrap();
        let (power, flags) = three.pow_mod(&batch(&Integer::from(&p - 1u32)), &batch(&p)).unwrap();
        assert!(!flags.any().unwrap());
        let power = Integer::from_digits(&power.to_limbs().unwrap(), rug::integer::Order::Lsf);
        assert_eq!(power == 1, prime, "2^{n} - 1");
    }
}

fn all(a: &Numbers, e: &Numbers, m: &Numbers) {
    let limbs = m.batch.width().limbs();
    let zip = || a.gmp.iter().zip(&e.gmp).zip(&m.gmp).map(|((a, e), m)| (a, e, m));
    let zero: Vec<u8> = m.gmp.iter().map(|m| u8::from(m.is_zero())).collect();
    let (powers, flags) = a.batch.pow_mod(&e.batch, &m.batch).unwrap();
    let want = zip().map(
        |(a, e, m)| {
            if *m == 0 { Integer::new() } else { a.clone().pow_mod(e, m).unwrap() }
        },
    );
    equal("a^e mod m", &powers, limbs, want);
    assert_eq!(flags.to_vec().unwrap(), zero, "a^e mod m: flags");
    let (products, flags) = a.batch.mul_mod(&e.batch, &m.batch).unwrap();
    let want =
        zip().map(|(a, e, m)| if *m == 0 { Integer::new() } else { Integer::from(a * e) % m });
    equal("a*b mod m", &products, limbs, want);
    assert_eq!(flags.to_vec().unwrap(), zero, "a*b mod m: flags");
}
