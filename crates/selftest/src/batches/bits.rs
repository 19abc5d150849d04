//! Tests batch operations that work limb by limb: negations, shifts, comparisons, bitwise
//! operations and products by a word.

use rand::RngExt;

use super::elementwise::oracle::{compare, limb, negative, shifted, times};
use super::numbers::{Failure, Numbers, check, check_flags, check_values, width};
use crate::sample::Random;

/// Tests the operations of one operand on the numbers of a, and the operations of two operands on a
/// and b. Also combines a single number of one batch with all numbers of the other batch.
pub(super) fn all(rng: &mut Random, a: &Numbers, b: &Numbers) -> Result<(), Failure> {
    of_one(a)?;
    shifts(rng, a)?;
    let any = rng.random_range(0..a.count());
    for (a, b) in [(a, b), (a, &b.single(any)?), (&a.single(any)?, b), (a, a)] {
        of_two(a, b)?;
    }
    Ok(())
}

/// Returns a with `limbs` limbs: drops the higher limbs, or appends zeros.
fn resized(a: &[u32], limbs: usize) -> Vec<u32> {
    (0..limbs).map(|j| limb(a, j)).collect()
}

fn of_one(a: &Numbers) -> Result<(), Failure> {
    let (limbs, count) = (a.limbs, a.count());
    check("−a", &a.batch.neg()?, limbs, count, |i| negative(a.row(i), limbs))?;
    let not = |i| a.row(i).iter().map(|limb| !limb).collect();
    check("not a", &a.batch.not()?, limbs, count, not)?;
    let length = |a: &[u32]| {
        let top = a.iter().rposition(|&limb| limb != 0);
        top.map_or(0, |j| 32 * (j as u32 + 1) - a[j].leading_zeros())
    };
    let lengths = (0..count).map(|i| length(a.row(i)));
    check_values("the bit length", &a.batch.bit_lengths()?, lengths)?;
    for word in [0, 1, 0x8000_0001, u32::MAX] {
        let expected = |i| times(a.row(i), u64::from(word), limbs + 1);
        check("a·u32", &a.batch.mul_u32(word)?, limbs + 1, count, expected)?;
    }
    for word in [0, 1 << 32, 0x1234_5678_9abc_def1, u64::MAX] {
        let expected = |i| times(a.row(i), word, limbs + 2);
        check("a·u64", &a.batch.mul_u64(word)?, limbs + 2, count, expected)?;
    }
    for new in [1, limbs.div_ceil(2), limbs, limbs + 3] {
        let (found, lost) = a.batch.resized(width(new)?)?;
        check("a in other widths", &found, new, count, |i| resized(a.row(i), new))?;
        let any_above = |a: &[u32]| a.iter().skip(new).any(|&limb| limb != 0);
        check_flags("lost bits", &lost, (0..count).map(|i| any_above(a.row(i))))?;
    }
    Ok(())
}

fn shifts(rng: &mut Random, a: &Numbers) -> Result<(), Failure> {
    let (limbs, count) = (a.limbs, a.count());
    let bits = a.batch.bits();
    for by in [0, 1, 32, 33, bits - 1, bits, u32::MAX, rng.random_range(0..bits)] {
        let expected = |sign: i128| move |i| shifted(a.row(i), sign * i128::from(by), limbs);
        check("a << n", &a.batch.shl(by)?, limbs, count, expected(1))?;
        check("a >> n", &a.batch.shr(by)?, limbs, count, expected(-1))?;
    }
    Ok(())
}

fn of_two(a: &Numbers, b: &Numbers) -> Result<(), Failure> {
    let (limbs, count) = (a.limbs.max(b.limbs), a.count().max(b.count()));
    let orders = (0..count).map(|i| compare(a.row(i), b.row(i)));
    check_values("the order", &a.batch.compare(&b.batch)?, orders)?;
    let chosen = |smaller: bool| {
        move |i| {
            let (x, y) = (a.row(i), b.row(i));
            resized(if compare(x, y).is_lt() == smaller { x } else { y }, limbs)
        }
    };
    check("min", &a.batch.min(&b.batch)?, limbs, count, chosen(true))?;
    check("max", &a.batch.max(&b.batch)?, limbs, count, chosen(false))?;
    let bits = |f: fn(u32, u32) -> u32| {
        move |i| (0..limbs).map(|j| f(limb(a.row(i), j), limb(b.row(i), j))).collect()
    };
    check("and", &a.batch.and(&b.batch)?, limbs, count, bits(|x, y| x & y))?;
    check("or", &a.batch.or(&b.batch)?, limbs, count, bits(|x, y| x | y))?;
    check("xor", &a.batch.xor(&b.batch)?, limbs, count, bits(|x, y| x ^ y))
}
