//! Powers of the numbers of a batch, one power per lane.
//!
//! A modulus is 2^k·o with an odd o. The lanes compute the power u modulo o. For even moduli with k
//! ≤ 64, the power v modulo 2^k fits in one word and is computed by integer arithmetic. Garner's
//! formula (Garner 1959, *The residue number system*, IRE Transactions on Electronic Computers
//! EC-8, 140–147) combines the two: u + o·((v − u)·o^(−1) mod 2^k).

use super::montgomery::{Powers, Space, Task, inverse_of_odd, residue_limbs};
use super::rows::{Group, limbs_of};
use super::vector::Lanes;
use crate::cpu::powers::OneByOne;
use crate::cpu::rows::{Rows, for_chunks};
use crate::cpu::{Operand, compare_limbs, join, rows_at_a_time};

/// Returns whether powers of numbers of `a` limbs of 32 bits modulo numbers of `m` limbs can be
/// computed across lanes: the base must fit in the limbs of a residue.
pub(super) fn fits<V: Lanes>(a: usize, m: usize) -> bool {
    limbs_of::<V>(32 * a) <= residue_limbs::<V>(m)
}

/// Computes x_i ← a_i^e_i mod m_i, with as many limbs as m. Where m_i = 0, x_i is 0 and flags_i
/// is 1. Powers modulo 0 and modulo multiples of 2^65 are computed one by one.
///
/// # Panics
/// Panics if the widths do not [fit](fits).
pub(super) fn pow_mod<V: Lanes>(
    proof: V::Proof,
    [a, e, m]: [Operand; 3],
    x: Rows,
    flags: &mut [u8],
) {
    assert!(fits::<V>(a.width(), m.width()), "bases are wider than residues");
    // A power takes as long as many sums, so a core gets fewer at a time.
    let at_a_time = rows_at_a_time(m.width()).div_ceil(16).next_multiple_of(V::LANES);
    let space = || (Batch::<V>::new(proof, [a, e, m]), None);
    for_chunks(flags.len(), at_a_time, [x], [flags], space, |(batch, singles), mut task| {
        let mut rows: Vec<&mut [u32]> = (0..task.count).map(|_| task.results[0].next()).collect();
        let mut pending = vec![];
        for (j, row) in rows.iter_mut().enumerate() {
            let i = task.first + j;
            if twos(m.row(i)) > 64 {
                let singles = singles.get_or_insert_with(|| OneByOne::new([a, e, m]));
                task.flags[0][j] = u8::from(singles.pow([a, e, m], i, row));
            } else {
                task.flags[0][j] = 0;
                pending.push(j);
            }
        }
        for group in pending.chunks(V::LANES) {
            batch.pow(proof, [a, e, m], task.first, group, &mut rows);
        }
    });
}

/// The working memory of one core.
struct Batch<V> {
    space: Space<V>,
    /// The odd parts of the moduli of a group.
    odd: Vec<u32>,
    /// Whether `odd` and `space` contain the modulus that all instances share.
    is_set: bool,
    /// The powers modulo the odd parts.
    powers: Vec<u32>,
}

impl<V: Lanes> Batch<V> {
    fn new(proof: V::Proof, [a, _, m]: [Operand; 3]) -> Self {
        Self {
            space: Space::new(proof, a.width(), m.width()),
            odd: vec![0; V::LANES * m.width()],
            is_set: false,
            powers: vec![0; V::LANES * m.width()],
        }
    }

    /// Computes the powers of the instances `first` + j for j in `group`, and writes each to row j
    /// of `rows`.
    fn pow(
        &mut self,
        proof: V::Proof,
        [a, e, m]: [Operand; 3],
        first: usize,
        group: &[usize],
        rows: &mut [&mut [u32]],
    ) {
        let width = m.width();
        // Unused lanes repeat the instance of the last used lane.
        let instance = |lane: usize| first + group[lane.min(group.len() - 1)];
        let Self { space, odd, is_set, powers } = self;
        let same_moduli = m.is_broadcast() && std::mem::replace(is_set, true);
        if !same_moduli {
            for (lane, row) in odd.chunks_exact_mut(width).enumerate() {
                let m = m.row(instance(lane));
                shift_right(row, m, twos(m));
            }
        }
        let mut moduli = odd.chunks_exact(width);
        let moduli: Group = std::array::from_fn(|_| moduli.next().unwrap_or_default());
        let [bases, exponents]: [Group; 2] =
            [a, e].map(|x| std::array::from_fn(|lane| x.row(instance(lane))));
        let task = Powers { a: bases, e: exponents, m: moduli, same_moduli, out: powers };
        V::enter(proof, Task { space, powers: task });
        for (lane, (&j, u)) in group.iter().zip(powers.chunks_exact_mut(width)).enumerate() {
            if compare_limbs(u, moduli[lane]).is_eq() {
                u.fill(0);
            }
            let k = twos(m.row(first + j));
            if k > 0 {
                let v = power_of_word(low_word(bases[lane]), exponents[lane]);
                let o = moduli[lane];
                let times = v.wrapping_sub(low_word(u)).wrapping_mul(inverse_of_odd(low_word(o)));
                add_multiple(u, o, times & (u64::MAX >> (64 - k)));
            }
            rows[j].copy_from_slice(u);
        }
    }
}

/// Returns the largest k for which 2^k divides m; `usize::MAX` for m = 0.
fn twos(m: &[u32]) -> usize {
    let lowest = m.iter().position(|&limb| limb != 0);
    lowest.map_or(usize::MAX, |j| 32 * j + m[j].trailing_zeros() as usize)
}

/// Computes out ← ⌊m/2^k⌋ for k ≤ 64. `out` must be as long as m, and longer than k bits.
fn shift_right(out: &mut [u32], m: &[u32], k: usize) {
    let limb = |j: usize| u64::from(m.get(j).copied().unwrap_or(0));
    for (j, out) in out.iter_mut().enumerate() {
        let both = limb(j + k / 32 + 1) << 32 | limb(j + k / 32);
        *out = (both >> (k % 32)) as u32;
    }
}

/// Returns x mod 2^64.
fn low_word(x: &[u32]) -> u64 {
    if x.len() > 1 { join(x) } else { u64::from(x[0]) }
}

/// Returns a^e mod 2^64 for e > 0 in 32-bit limbs, and 1 for e = 0.
fn power_of_word(a: u64, e: &[u32]) -> u64 {
    let is_long = e.iter().skip(2).any(|&limb| limb != 0) || low_word(e) >= 64;
    if a.is_multiple_of(2) && is_long {
        return 0;
    }
    // The order of an odd number modulo 2^64 divides 2^62, so e mod 2^64 determines the power. If a
    // is even, e is below 64.
    let mut left = low_word(e);
    let (mut power, mut square) = (1u64, a);
    while left > 0 {
        if left & 1 == 1 {
            power = power.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        left >>= 1;
    }
    power
}

/// Computes x ← x + o·word. x must be as long as o, and the sum must fit in x.
fn add_multiple(x: &mut [u32], o: &[u32], word: u64) {
    let mut carry = 0u64;
    for (x, &o) in x.iter_mut().zip(o) {
        // At most (2^32 − 1)(2^64 − 1) + 2^64 − 1 + 2^32 − 1 < 2^96: the carry stays below 2^64.
        let sum = u128::from(o) * u128::from(word) + u128::from(carry) + u128::from(*x);
        *x = sum as u32;
        carry = (sum >> 32) as u64;
    }
    debug_assert_eq!(carry, 0, "the sum does not fit");
}
