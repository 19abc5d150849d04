//! Tests quotients, remainders, greatest common divisors, inverses, powers and roots of batches.

use std::num::NonZeroU32;

use rand::RngExt;
use warpint_integer::{Executor, UintBatch};
use warpint_natural::limbs;

use super::numbers::{Failure, Numbers, check, check_flags, drawn, product, width};
use crate::sample::Random;

/// The degree of a square root: 2.
const TWO: NonZeroU32 = NonZeroU32::MIN.saturating_add(1);

/// Tests quotients and remainders of a by b, of b by a if the widths differ, of a by a single
/// divisor, and of a single dividend by b. Also tests dividends a·b, which b divides, and a·b − 1.
pub(super) fn all(rng: &mut Random, a: &Numbers, b: &Numbers) -> Result<(), Failure> {
    let any = rng.random_range(0..a.count());
    let executor = a.batch.executor();
    of(a, b)?;
    if a.limbs != b.limbs {
        of(b, a)?;
    }
    of(a, &b.single(any)?)?;
    of(&a.single(0)?, b)?;
    let products: Vec<Vec<u32>> = (0..b.count()).map(|i| product(a.row(i), b.row(i))).collect();
    let less = products.iter().map(|x| {
        let mut less = wide(x);
        limbs::sub_assign(&mut less, &[1]);
        narrow(&less, x.len())
    });
    let less = Numbers::new(executor, a.limbs + b.limbs, less.collect())?;
    of(&less, b)?;
    of(&Numbers::new(executor, a.limbs + b.limbs, products)?, b)
}

fn of(a: &Numbers, b: &Numbers) -> Result<(), Failure> {
    let count = a.count().max(b.count());
    let divided = |i: usize| {
        let divisor = wide(b.row(i));
        let is_zero = limbs::trimmed(&divisor).is_empty();
        let (q, r) =
            if is_zero { Default::default() } else { limbs::div_rem(&wide(a.row(i)), &divisor) };
        (q, r, is_zero)
    };
    let all: Vec<_> = (0..count).map(divided).collect();
    let quotient = |i: usize| narrow(&all[i].0, a.limbs);
    let remainder = |i: usize| narrow(&all[i].1, b.limbs);
    let ((mut q, mut r), mut flags) = a.batch.div_rem(&b.batch)?;
    check("⌊a/b⌋", &q, a.limbs, count, quotient)?;
    check("a mod b", &r, b.limbs, count, remainder)?;
    check_flags("a by b", &flags, all.iter().map(|x| x.2))?;
    // The destination holds other numbers before the call.
    (q, r) = (q.not()?, r.not()?);
    a.batch.div_rem_into(&b.batch, &mut q, &mut r, &mut flags)?;
    check("⌊a/b⌋ into", &q, a.limbs, count, quotient)?;
    check("a mod b into", &r, b.limbs, count, remainder)?;
    check("⌊a/b⌋ alone", &a.batch.div(&b.batch)?.0, a.limbs, count, quotient)?;
    check("a mod b alone", &a.batch.rem(&b.batch)?.0, b.limbs, count, remainder)?;
    let (exact, inexact) = a.batch.div_exact(&b.batch)?;
    let divides = |i: usize| !all[i].2 && limbs::trimmed(&all[i].1).is_empty();
    let expected = |i: usize| if divides(i) { quotient(i) } else { vec![0; a.limbs] };
    check("a/b", &exact, a.limbs, count, expected)?;
    check_flags("a/b", &inexact, (0..count).map(|i| !divides(i)))
}

/// Tests gcd(a, b), the gcd of a with a single number of b, and the gcd of a·c and b·c for random
/// c.
pub(super) fn divisors(rng: &mut Random, a: &Numbers, b: &Numbers) -> Result<(), Failure> {
    let of = |a: &Numbers, b: &Numbers| {
        let count = a.count().max(b.count());
        let expected =
            |i: usize| narrow(&limbs::gcd(&wide(a.row(i)), &wide(b.row(i))), a.limbs.max(b.limbs));
        check("gcd", &a.batch.gcd(&b.batch)?, a.limbs.max(b.limbs), count, expected)
    };
    of(a, b)?;
    of(a, &b.single(0)?)?;
    let common = drawn(rng, 2, a.count());
    let times = |x: &Numbers| {
        let rows = (0..x.count()).map(|i| product(x.row(i), &common[i])).collect();
        Numbers::new(a.batch.executor(), x.limbs + 2, rows)
    };
    of(&times(a)?, &times(b)?)
}

/// Tests inverses of a modulo b and modulo odd numbers, of a modulo a single number of b, of a
/// single number of a modulo b, and of a·c modulo b·c for random c. Tests the cofactors (Bézout
/// coefficients) of the same pairs.
pub(super) fn inverses(rng: &mut Random, a: &Numbers, b: &Numbers) -> Result<(), Failure> {
    let any = rng.random_range(0..a.count());
    let executor = a.batch.executor();
    let odd = (0..b.count()).map(|i| {
        let mut row = b.row(i).to_vec();
        row.iter_mut().take(1).for_each(|limb| *limb |= 1);
        row
    });
    let odd = Numbers::new(executor, b.limbs, odd.collect())?;
    for (a, b) in [(a, b), (a, &odd), (a, &b.single(any)?), (&a.single(any)?, b)] {
        inverses_of(a, b)?;
    }
    let common = drawn(rng, 1, a.count());
    let times = |x: &Numbers| {
        let rows = (0..x.count()).map(|i| product(x.row(i), &common[i])).collect();
        Numbers::new(executor, x.limbs + 1, rows)
    };
    inverses_of(&times(a)?, &times(b)?)
}

/// Checks each inverse z of a modulo b: a·z ≡ 1 mod b and z < b. If gcd(a, b) ≠ 1 or b = 0, the
/// flag must be set and z must be 0.
///
/// Checks the cofactors x and y: x·a + y·b = gcd(a, b) = g and |x| ≤ b/(2g). If |x| = b/(2g), x
/// must be positive. If b = 0, y must be 0, and x must not be negative unless a = 0.
fn inverses_of(a: &Numbers, b: &Numbers) -> Result<(), Failure> {
    let count = a.count().max(b.count());
    let (inverse, none) = a.batch.mod_inv(&b.batch)?;
    let all = a.batch.gcd_ext(&b.batch)?;
    let pairs: Vec<_> = (0..count).map(|i| (wide(a.row(i)), wide(b.row(i)))).collect();
    let gcds: Vec<_> = pairs.iter().map(|(a, b)| limbs::gcd(a, b)).collect();
    let wider = a.limbs.max(b.limbs);
    check("gcd with cofactors", &all.gcd, wider, count, |i| narrow(&gcds[i], wider))?;
    let has_none = |i: usize| limbs::trimmed(&gcds[i]) != [1] || is_zero(&pairs[i].1);
    check_flags("the inverse", &none, (0..count).map(has_none))?;

    let rows = |x: &UintBatch| -> Result<Vec<Vec<u64>>, Failure> {
        Ok(x.to_limbs()?.chunks(x.width().limbs()).map(wide).collect())
    };
    let [inverse, x, y] = [&inverse, &all.x, &all.y].map(rows);
    let (inverse, x, y) = (inverse?, x?, y?);
    let (x_negative, y_negative) = (all.x_negative.to_vec()?, all.y_negative.to_vec()?);
    let is_less = |x: &[u64], y: &[u64]| limbs::compare(x, y).is_lt();
    for (i, (a, b)) in pairs.iter().enumerate() {
        let wrong = |what: &str| Err(Failure::Wrong(format!("{what} of number {i} is wrong")));
        let remainder = |x: &[u64], b: &[u64]| limbs::div_rem(x, b).1;
        let is_inverse = || {
            let one = remainder(&limbs::mul(a, &inverse[i]), b) == remainder(&[1], b);
            is_less(&inverse[i], b) && one
        };
        if !(if has_none(i) { is_zero(&inverse[i]) } else { is_inverse() }) {
            return wrong("the inverse");
        }
        // The positive and the negative terms of x·a + y·b − g.
        let mut sides = [vec![], gcds[i].clone()];
        for (negative, product) in
            [(x_negative[i], limbs::mul(&x[i], a)), (y_negative[i], limbs::mul(&y[i], b))]
        {
            let side = &mut sides[usize::from(negative != 0)];
            side.resize(side.len().max(product.len()) + 1, 0);
            limbs::add_assign(side, &product);
        }
        if limbs::trimmed(&sides[0]) != limbs::trimmed(&sides[1]) {
            return wrong("a cofactor");
        }
        // Compares 2·|x|·g with b; if they are equal, x is positive.
        let mut double = limbs::mul(&x[i], &gcds[i]);
        double.push(0);
        limbs::mul_small_assign(&mut double, 2);
        let is_half = limbs::compare(&double, b).is_eq() && x_negative[i] == 0;
        let is_only = is_zero(b) && is_zero(&y[i]) && (is_zero(a) || x_negative[i] == 0);
        if !(is_zero(&x[i]) || is_less(&double, b) || is_half || is_only) {
            return wrong("the least cofactor");
        }
        if [(&x[i], x_negative[i]), (&y[i], y_negative[i])].iter().any(|x| is_zero(x.0) && x.1 != 0)
        {
            return wrong("a sign");
        }
    }
    Ok(())
}

/// Tests a^e mod m for moduli m made from b: odd moduli, and moduli with up to three low bits
/// cleared. The exponents e have one or two limbs. For numbers of more than 1,024 limbs, for which
/// the oracle is too slow, compares a device with the CPU instead.
pub(super) fn powers(rng: &mut Random, a: &Numbers, b: &Numbers) -> Result<(), Failure> {
    const WIDEST: usize = 1024;
    let executor = a.batch.executor();
    if a.limbs.max(b.limbs) > WIDEST {
        return executor.device().map_or(Ok(()), |_| wide_powers(rng, a, b));
    }
    let count = a.count().min(b.count()).min(20);
    let first = |x: &Numbers, change: &dyn Fn(usize, u32) -> u32| {
        let row = |i: usize| {
            let mut row = x.row(i).to_vec();
            if let Some(lowest) = row.first_mut() {
                *lowest = change(i, *lowest);
            }
            row
        };
        Numbers::new(executor, x.limbs, (0..count).map(row).collect())
    };
    let base = first(a, &|_, limb| limb)?;
    let odd = first(b, &|_, limb| limb | 1)?;
    let any = first(b, &|i, limb| limb & (u32::MAX << (i % 4)))?;
    for (exponent_limbs, m) in [(1, &odd), (2, &odd), (1, &any)] {
        let e = Numbers::new(executor, exponent_limbs, drawn(rng, exponent_limbs, count))?;
        let expected: Vec<Option<Vec<u64>>> = (0..count)
            .map(|i| limbs::pow_mod(&wide(base.row(i)), &wide(e.row(i)), &wide(m.row(i))))
            .collect();
        let (powers, zeros) = base.batch.pow_mod(&e.batch, &m.batch)?;
        check("a^e mod m", &powers, m.limbs, count, |i| {
            narrow(expected[i].as_deref().unwrap_or(&[]), m.limbs)
        })?;
        check_flags("a^e mod m", &zeros, expected.iter().map(Option::is_none))?;
    }
    Ok(())
}

/// Tests a batch of `count` powers x^e mod m in which up to 23 different triples (x, e, m) repeat.
pub(super) fn many_powers(
    executor: &Executor,
    rng: &mut Random,
    limbs: usize,
    count: usize,
) -> Result<(), Failure> {
    let few = count.min(23);
    let mut rows = |limbs| drawn(rng, limbs, few);
    let [x, e, m] = [rows(limbs), rows(1), rows(limbs)];
    let power = |i: usize| limbs::pow_mod(&wide(&x[i]), &wide(&e[i]), &wide(&m[i]));
    let expected: Vec<Option<Vec<u64>>> = (0..few).map(power).collect();
    let batch = |rows: &[Vec<u32>], limbs| {
        Numbers::new(executor, limbs, (0..count).map(|i| rows[i % few].clone()).collect())
    };
    let [x, e, m] = [batch(&x, limbs)?, batch(&e, 1)?, batch(&m, limbs)?];
    let (powers, zeros) = x.batch.pow_mod(&e.batch, &m.batch)?;
    check("a^e mod m", &powers, limbs, count, |i| {
        narrow(expected[i % few].as_deref().unwrap_or(&[]), limbs)
    })?;
    check_flags("a^e mod m", &zeros, (0..count).map(|i| expected[i % few].is_none()))
}

/// Compares the device's results a^e mod b and a·e mod b, for random e of one limb, with those of
/// the CPU.
fn wide_powers(rng: &mut Random, a: &Numbers, b: &Numbers) -> Result<(), Failure> {
    let e = Numbers::new(a.batch.executor(), 1, drawn(rng, 1, a.count().max(b.count())))?;
    let on_cpu = |x: &Numbers| x.batch.try_clone()?.to(&Executor::cpu());
    let results = |a: &UintBatch, e: &UintBatch, b: &UintBatch| {
        Ok::<_, Failure>([a.pow_mod(e, b)?, a.mul_mod(e, b)?])
    };
    let expected = results(&on_cpu(a)?, &on_cpu(&e)?, &on_cpu(b)?)?;
    let found = results(&a.batch, &e.batch, &b.batch)?;
    for ((what, found), expected) in ["a^e mod b", "a·e mod b"].iter().zip(&found).zip(&expected) {
        let rows = expected.0.to_limbs()?;
        let row = |i: usize| rows[i * b.limbs..][..b.limbs].to_vec();
        check(what, &found.0, b.limbs, e.count(), row)?;
        check_flags(what, &found.1, expected.1.to_vec()?.into_iter().map(|flag| flag != 0))?;
    }
    Ok(())
}

/// Tests ⌊√x⌋ and x − ⌊√x⌋² for the numbers x of a and of b, and for x = r² − 1, r² and r² + 2r,
/// where r is the lower half of a number of b. r² + 2r is the largest number with the root r.
pub(super) fn roots(_: &mut Random, a: &Numbers, b: &Numbers) -> Result<(), Failure> {
    let of = |x: &Numbers| {
        let limbs = x.limbs.div_ceil(2);
        let both = |i: usize| {
            let number = wide(x.row(i));
            let root = limbs::sqrt(&number);
            let mut rest = number;
            limbs::sub_assign(&mut rest, limbs::trimmed(&limbs::mul(&root, &root)));
            (root, rest)
        };
        let all: Vec<_> = (0..x.count()).map(both).collect();
        let (roots, rests) = x.batch.sqrt_rem()?;
        check("⌊√a⌋", &roots, limbs, x.count(), |i| narrow(&all[i].0, limbs))?;
        check("a − ⌊√a⌋²", &rests, limbs + 1, x.count(), |i| {
            narrow(&all[i].1, limbs + 1)
        })?;
        let alone = x.batch.root(TWO)?;
        check("⌊√a⌋ alone", &alone, limbs, x.count(), |i| narrow(&all[i].0, limbs))
    };
    of(a)?;
    of(b)?;
    let near = (0..b.count()).flat_map(|i| {
        let root = wide(&b.row(i)[..b.limbs.div_ceil(2)]);
        let mut square = limbs::mul(&root, &root);
        square.resize(2 * root.len() + 1, 0);
        let (mut less, mut more) = (square.clone(), square.clone());
        limbs::sub_assign(&mut less, &[1]);
        limbs::add_assign(&mut more, &root);
        limbs::add_assign(&mut more, &root);
        [less, square, more]
    });
    let limbs = 2 * b.limbs.div_ceil(2) + 2;
    of(&Numbers::new(a.batch.executor(), limbs, near.map(|x| narrow(&x, limbs)).collect())?)
}

/// Divides `count` random numbers of `a_limbs` limbs by random numbers of `b_limbs` limbs, in
/// `rounds` rounds. The executor itself checks the quotients q and remainders r: q·b + r = a and r
/// < b. After each round, every dividend and divisor x of n bits becomes x·c + 1 mod 2^n. The
/// constant c depends only on n.
pub(super) fn many(
    executor: &Executor,
    rng: &mut Random,
    (a_limbs, b_limbs): (usize, usize),
    count: usize,
    rounds: usize,
) -> Result<(), Failure> {
    let mut numbers = |limbs| {
        let drawn: Vec<u32> = (0..count * limbs).map(|_| rng.random()).collect();
        UintBatch::from_vec(executor, width(limbs)?, drawn)
    };
    let (mut a, mut b) = (numbers(a_limbs)?, numbers(b_limbs)?);
    let factor = |limbs: usize| {
        let powers =
            std::iter::successors(Some(0x9e37_79b9_u32), |x| Some(x.wrapping_mul(0x85eb_ca6b)));
        let mut factor: Vec<u32> = powers.take(limbs).collect();
        factor[0] |= 5;
        UintBatch::from_vec(executor, width(limbs)?, factor)
    };
    let one = UintBatch::from_vec(executor, width(1)?, vec![1])?;
    let (a_factor, b_factor) = (factor(a_limbs)?, factor(b_limbs)?);
    for round in 0..rounds {
        let ((q, r), zeros) = a.div_rem(&b)?;
        let (back, carries) = q.mul_add(&b, &r)?;
        let equal = back.compare(&a)?.iter().all(|order| order.is_eq());
        let less = r.compare(&b)?.iter().all(|order| order.is_lt());
        if zeros.any()? || carries.any()? || !equal || !less {
            return Err(Failure::Wrong(format!(
                "a quotient or remainder of round {round} is wrong"
            )));
        }
        a = a.mul_low(&a_factor)?;
        drop(a.add_assign(&one)?);
        b = b.mul_low(&b_factor)?;
        drop(b.add_assign(&one)?);
    }
    Ok(())
}

fn is_zero(x: &[u64]) -> bool {
    limbs::trimmed(x).is_empty()
}

pub(super) fn wide(x: &[u32]) -> Vec<u64> {
    let limb = |pair: &[u32]| pair.iter().rev().fold(0, |x, &half| x << 32 | u64::from(half));
    x.chunks(2).map(limb).collect()
}

pub(super) fn narrow(x: &[u64], limbs: usize) -> Vec<u32> {
    let halves = x.iter().flat_map(|&limb| [limb as u32, (limb >> 32) as u32]);
    halves.chain(std::iter::repeat(0)).take(limbs).collect()
}
