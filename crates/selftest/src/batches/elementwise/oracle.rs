//! Slow, obvious implementations of limb-by-limb operations, and operands that are hard for the
//! fast implementations. Numbers are arrays of 32-bit limbs, lowest first.

use std::cmp::Ordering;

use rand::RngExt;

use crate::sample::Random;

/// Returns numbers of `limbs` limbs that are hard for carries and comparisons: long runs of bits 0
/// or 1 that end at or near the border of a limb.
pub(crate) fn hard(rng: &mut Random, limbs: usize) -> Vec<Vec<u32>> {
    let run = |from: usize, below: u32, at: u32, above: u32| {
        let limb = |j: usize| match j.cmp(&from) {
            Ordering::Less => below,
            Ordering::Equal => at,
            Ordering::Greater => above,
        };
        (0..limbs).map(limb).collect::<Vec<u32>>()
    };
    let mut numbers = vec![vec![0; limbs], vec![u32::MAX; limbs]];
    let ends = [0, limbs - 1, limbs / 2];
    let ends: Vec<usize> =
        ends.into_iter().chain((0..5).map(|_| rng.random_range(0..limbs))).collect();
    for end in ends {
        numbers.push(run(end, 0, 1, 0));
        numbers.push(run(end, 0, 1 << 31, 0));
        numbers.push(run(end, 0, u32::MAX, u32::MAX));
        numbers.push(run(end, u32::MAX, 0, 0));
        numbers.push(run(end, u32::MAX, u32::MAX - 1, u32::MAX));
    }
    numbers
}

/// Returns limb j of a. Returns 0 if a has no limb j.
pub(crate) fn limb(a: &[u32], j: usize) -> u32 {
    a.get(j).copied().unwrap_or(0)
}

/// Compares two numbers, which may have different numbers of limbs.
pub(crate) fn compare(a: &[u32], b: &[u32]) -> Ordering {
    let limbs = a.len().max(b.len());
    let differ = (0..limbs).rev().find(|&j| limb(a, j) != limb(b, j));
    differ.map_or(Ordering::Equal, |j| limb(a, j).cmp(&limb(b, j)))
}

/// Returns −a mod 2^(32·limbs), computed limb by limb.
pub(crate) fn negative(a: &[u32], limbs: usize) -> Vec<u32> {
    let mut carry = true;
    let limb = |j| {
        let (sum, over) = (!limb(a, j)).overflowing_add(u32::from(carry));
        carry = over;
        sum
    };
    (0..limbs).map(limb).collect()
}

/// Returns ⌊a·2^by⌋ mod 2^(32·limbs), computed bit by bit. `by` may be negative.
pub(crate) fn shifted(a: &[u32], by: i128, limbs: usize) -> Vec<u32> {
    let bit = |k: i128| match usize::try_from(k) {
        Ok(k) => limb(a, k / 32) >> (k % 32) & 1,
        Err(_) => 0,
    };
    let word = |j: usize| (0..32).map(|k| bit((32 * j + k) as i128 - by) << k).sum();
    (0..limbs).map(word).collect()
}

/// Returns a·w mod 2^(32·limbs), computed limb by limb.
pub(crate) fn times(a: &[u32], w: u64, limbs: usize) -> Vec<u32> {
    let mut carry = 0;
    let word = |j| {
        let t = u128::from(limb(a, j)) * u128::from(w) + carry;
        carry = t >> 32;
        t as u32
    };
    (0..limbs).map(word).collect()
}
