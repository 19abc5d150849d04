//! Tests moduli with precomputed constants, and powers of a fixed base.

use rand::RngExt;
use warpint_integer::{Modulus, Reduction, UintBatch};
use warpint_natural::limbs;

use super::division::{narrow, wide};
use super::numbers::{Failure, Numbers, check, drawn, product, width};
use crate::sample::Random;

/// Tests two numbers of b, unless they are 0, as moduli, each with reduction by division and with
/// Barrett reduction. Tests remainders of products, of numbers twice as wide as the modulus, and of
/// the numbers of a if these are at most twice as wide as the modulus. Tests powers, including
/// powers of a fixed base. Does nothing for numbers of more than 1,024 limbs, for which the oracle
/// is too slow.
pub(super) fn all(rng: &mut Random, a: &Numbers, b: &Numbers) -> Result<(), Failure> {
    const WIDEST: usize = 1024;
    if a.limbs.max(b.limbs) > WIDEST {
        return Ok(());
    }
    let any = rng.random_range(0..b.count());
    for i in [0, any] {
        let m = b.single(i)?;
        if limbs::trimmed(&wide(m.row(0))).is_empty() {
            continue;
        }
        for reduction in [Reduction::Division, Reduction::Barrett] {
            let executor = b.batch.executor();
            let number = UintBatch::from_vec(executor, width(m.limbs)?, m.row(0).to_vec())?;
            let modulus = Modulus::by(reduction, number)?;
            let twice = Numbers::hard(executor, rng, 2 * m.limbs, 12)?;
            remainders(&modulus, &m, &twice)?;
            if a.limbs <= 2 * m.limbs {
                remainders(&modulus, &m, a)?;
            }
            powers(rng, &modulus, &m, b)?;
        }
    }
    Ok(())
}

fn remainder(x: &[u32], m: &Numbers) -> Vec<u32> {
    narrow(&limbs::div_rem(&wide(x), &wide(m.row(0))).1, m.limbs)
}

fn remainders(modulus: &Modulus, m: &Numbers, u: &Numbers) -> Result<(), Failure> {
    let found = modulus.rem(&u.batch)?;
    check("u mod m", &found, m.limbs, u.count(), |i| remainder(u.row(i), m))
}

fn powers(rng: &mut Random, modulus: &Modulus, m: &Numbers, b: &Numbers) -> Result<(), Failure> {
    let executor = b.batch.executor();
    let count = b.count();
    let squares = modulus.square(&b.batch)?;
    check("b² mod m", &squares, m.limbs, count, |i| remainder(&product(b.row(i), b.row(i)), m))?;
    let products = modulus.mul(&b.batch, &m.batch)?;
    check("b·m mod m", &products, m.limbs, count, |_| vec![0; m.limbs])?;
    let e = Numbers::new(executor, 1, drawn(rng, 1, 6))?;
    let power = |base: &[u32], e: &[u32]| {
        let power = limbs::pow_mod(&wide(base), &wide(e), &wide(m.row(0)));
        narrow(power.as_deref().unwrap_or(&[]), m.limbs)
    };
    let one = e.single(5)?;
    let some =
        Numbers::new(executor, b.limbs, (0..count.min(4)).map(|i| b.row(i).to_vec()).collect())?;
    let powers = modulus.pow(&some.batch, &one.batch)?;
    check("b^e mod m", &powers, m.limbs, some.count(), |i| power(some.row(i), one.row(0)))?;
    let base = b.single(count - 1)?;
    let table = modulus.fixed_base(&base.batch, width(1)?)?;
    check("b^e mod m by a table", &table.pow(&e.batch)?, m.limbs, e.count(), |i| {
        power(base.row(0), e.row(i))
    })
}
