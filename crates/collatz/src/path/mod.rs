//! The exact path of one number of any size, from the number to 1.
//!
//! Steps are n/2 and 3n + 1 here, each counted, as in the published lists: 27 takes 111 steps and
//! rises to 9,232. T(n) is n/2 for even n and (3n + 1)/2 for odd n. So a step of T is an even step
//! alone, or an odd step and the even step after it.
//!
//! **Many steps at once.** For n = low + a·2^j with low < 2^j, T^i(n) = c_i + a·b_i for i ≤ j. Here
//! c_i = T^i(low), b_i = 2^(j−i)·3^(f_i), and f_i counts the odd steps among the first i (Lagarias
//! 1985, §2.3). So up to 64 steps of T are one pass over the number: n ← a·3^f + c. A pass requires
//! only 3^f < 2^64.
//!
//! **Lemma (the highest of a pass).** c_i < b_i by induction: c_0 = low < 2^j = b_0; an even step
//! halves both; an odd step gives c' = (3c + 1)/2 and b' = 3b/2, and c ≤ b − 1 implies 3c + 1 ≤ 3b
//! − 2. For different i the b_i are different, because they have different powers of 2 or of 3.
//! Suppose that a exceeds every c_i. Then b_i > b_k implies T^i(n) − T^k(n) ≥ a − c_k > 0. So the
//! highest value of the pass is T^i(n) for the i with the largest b_i. Only this value is computed,
//! and only if it can exceed the maximum so far.
//!
//! Numbers of 2^13 bits and more take thousands of steps at once, with products of long numbers:
//! see `path/blocks.rs`.

mod blocks;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use num_bigint::BigUint;
use warpint_natural::product::{FastProducts, Multiplier};

use crate::Watch;
use crate::walk::big_step;
use blocks::{Blocks, ONE, Trace};

/// The path of a number to 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    /// The number of steps 3n + 1.
    pub odd_steps: u64,
    /// The number of steps n/2.
    pub even_steps: u64,
    /// The largest number on the path, the start and results of 3n + 1 included.
    pub maximum: BigUint,
    /// The number of steps n/2 and 3n + 1 until the path is below its start for the first time.
    /// `None` if the start is 1.
    pub glide: Option<u64>,
}

impl Path {
    /// Returns the delay: the number of steps to 1, odd and even.
    #[must_use]
    pub fn delay(&self) -> u64 {
        self.odd_steps + self.even_steps
    }
}

/// Returns the path of a number, like [`path_by`]. Products are computed on the caller's thread.
#[must_use]
pub fn path(n: &BigUint, watch: &dyn Watch) -> Option<Path> {
    path_by(n, &FastProducts, watch)
}

/// Returns the path of n ≥ 1. Returns `None` for n = 0, whose path never reaches 1, and also if the
/// watch stopped the computation.
///
/// The watch receives the number of bits by which the number has become shorter. A random number of
/// b bits takes about 4.8·b steps of T. The cost is O(M(b)·log b), where M(b) is the cost of a
/// product of two numbers of b bits. Below 2^13 bits, the cost is one pass over the number for
/// every 50 steps or so.
#[must_use]
pub fn path_by(n: &BigUint, multiplier: &dyn Multiplier, watch: &dyn Watch) -> Option<Path> {
    path_with(n, Blocks { multiplier, leaf: LEAF, watch }, LONG)
}

/// Like [`path_by`], but processes numbers of at least `long` limbs by blocks, where `long` ≥ 4.
fn path_with(n: &BigUint, blocks: Blocks, long: usize) -> Option<Path> {
    let (watch, mut walk) = (blocks.watch, Walk::new(n)?);
    let mut told = Told { bits: n.bits(), watch };
    walk.blocks(&blocks, long, &mut told)?;
    while walk.limbs.len() >= SHORT {
        if watch.is_stopped() {
            return None;
        }
        walk.pass();
        told.of(&walk.limbs);
    }
    let path = walk.finish(watch)?;
    watch.done(u128::from(told.bits));
    Some(path)
}

/// The progress that was reported to the watch.
struct Told<'a> {
    /// The smallest number of bits of any value on the path so far.
    bits: u64,
    watch: &'a dyn Watch,
}

impl Told<'_> {
    fn of(&mut self, limbs: &[u64]) {
        let bits = bits(limbs);
        if bits < self.bits {
            self.watch.done(u128::from(self.bits - bits));
            self.bits = bits;
        }
    }
}

/// Like [`path`], but computes the path step by step, as an oracle for tests.
#[must_use]
pub fn plain_path(n: &BigUint) -> Option<Path> {
    (*n != BigUint::ZERO).then(|| {
        let mut path = Path { odd_steps: 0, even_steps: 0, maximum: n.clone(), glide: None };
        let one = BigUint::from(1u32);
        let mut x = n.clone();
        while x != one {
            if x.bit(0) {
                x = x * 3u32 + 1u32;
                path.odd_steps += 1;
            } else {
                x >>= 1;
                path.even_steps += 1;
            }
            path.maximum = path.maximum.max(x.clone());
            if path.glide.is_none() && x < *n {
                path.glide = Some(path.delay());
            }
        }
        path
    })
}

/// The smallest number of limbs for which a number is processed by passes of several steps. A
/// number n of four limbs or more has ⌊n/2^64⌋ ≥ 2^128, so that the lemma in the module's
/// documentation applies.
const SHORT: usize = 4;

/// The smallest number of limbs for which blocks are faster than passes.
const LONG: usize = 128;

/// The largest number of limbs of a block that is processed by passes.
const LEAF: usize = 32;

/// The state of a walk: a number on the path, and the properties of the path up to it.
struct Walk<'a> {
    start: &'a BigUint,
    start_limbs: Vec<u64>,
    /// The limbs of the number reached so far, the least significant limb first. The most
    /// significant limb is not 0.
    limbs: Vec<u64>,
    /// The limbs of the largest number so far.
    maximum: Vec<u64>,
    path: Path,
}

/// The next steps of T from a number, as determined by its low 64 bits.
struct Outlook {
    /// The number of steps of T, at most 64: the requested number, or less if 3^odd would otherwise
    /// reach 2^64.
    steps: u32,
    odd: u32,
    /// The power 3^odd, where the exponent is the field `odd`.
    power: u64,
    /// The result of T^`steps` for the number that consists of the low `steps` bits.
    rest: u64,
    /// The odd step i with the highest result, and its factor b_i = 2^(64 − i)·3^(f_i), where f_i
    /// counts the odd steps among the first i. `None` if no step is odd.
    top: Option<(u32, u128)>,
    /// The smallest factor b_i = 2^(64 − i)·3^(f_i) of all steps i ≥ 1, where f_i counts the odd
    /// steps among the first i.
    least: u128,
}

/// Computes the next steps of a number whose lowest 64 bits are `low`, at most `most` steps, where
/// 1 ≤ `most` ≤ 64.
fn outlook(low: u64, most: u32) -> Outlook {
    let mut found = Outlook { steps: 0, odd: 0, power: 1, rest: 0, top: None, least: u128::MAX };
    let mut x = u128::from(low);
    while found.steps < most {
        let odd = x & 1 == 1;
        let next = if odd { found.power.checked_mul(3) } else { Some(found.power) };
        let Some(next) = next else { break };
        x = if odd { (3 * x + 1) >> 1 } else { x >> 1 };
        (found.power, found.steps, found.odd) = (next, found.steps + 1, found.odd + u32::from(odd));
        let b = u128::from(next) << (64 - found.steps);
        found.least = found.least.min(b);
        if odd && found.top.is_none_or(|(_, top)| b > top) {
            found.top = Some((found.steps, b));
        }
    }
    // x is T^steps of all 64 bits; the bits from `steps` on have become their multiple by 3^odd.
    let above = low.checked_shr(found.steps).unwrap_or(0);
    found.rest = (x - u128::from(above) * u128::from(found.power)) as u64;
    found
}

impl<'a> Walk<'a> {
    fn new(start: &'a BigUint) -> Option<Self> {
        let limbs: Vec<u64> = start.iter_u64_digits().collect();
        (!limbs.is_empty()).then(|| Self {
            start,
            start_limbs: limbs.clone(),
            maximum: limbs.clone(),
            limbs,
            path: Path { odd_steps: 0, even_steps: 0, maximum: BigUint::ZERO, glide: None },
        })
    }

    /// Performs the steps that the lower half of the number's limbs determines. Repeats this while
    /// the number has at least `long` limbs and the lemma of `path/blocks.rs` applies. Returns
    /// `None` if the watch stopped the work.
    fn blocks(&mut self, blocks: &Blocks, long: usize, told: &mut Told) -> Option<()> {
        let mut trace = Trace::default();
        // The number before the block with the top, and the steps up to it.
        let mut before_top = (vec![], 0);
        while self.limbs.len() >= long {
            // All numbers of the block are above 2^(64·(half − 1)).
            let half = self.limbs.len() / 2;
            if !trace.holds_for(64 * half as u64, self.start.bits()) {
                break;
            }
            let (steps, top) = (trace.steps, trace.top);
            let image = blocks.image(&self.limbs[..half], &mut trace)?;
            let next = image.of_number(&self.limbs[half..], blocks.multiplier);
            let before = std::mem::replace(&mut self.limbs, next);
            if trace.top != top {
                before_top = (before, steps);
            }
            told.of(&self.limbs);
        }
        (self.path.even_steps, self.path.odd_steps) = (trace.steps, trace.odd);
        self.path.glide = trace.glide;
        match trace.top {
            Some((rise, steps)) if rise > -ONE => {
                let (before, done) = before_top;
                let top = after(before, steps - done, blocks)?;
                self.rise(top);
            }
            _ => {}
        }
        Some(())
    }

    /// Performs up to 64 steps of T in one pass over the number, which has at least [`SHORT`]
    /// limbs.
    fn pass(&mut self) {
        let next = outlook(self.limbs[0], 64);
        // 2^(a − 1) ≤ ⌊n/2^64⌋ < 2^a, so a value a·b_i + c_i has a + bits(b_i) bits or one less.
        let a = bits(&self.limbs) - 64;
        if self.path.glide.is_none() && a + bits_of(next.least) - 1 <= bits(&self.start_limbs) {
            // The path may fall below its start within these steps.
            return (0..next.steps).for_each(|_| self.single());
        }
        if let Some((top, b)) = next.top
            && a + bits_of(b) + 1 >= bits(&self.maximum)
        {
            let until = outlook(self.limbs[0], top);
            let mut value = self.limbs.clone();
            advance(&mut value, until.steps, until.power, until.rest);
            self.rise(value);
        }
        self.count(next.steps, next.odd);
        advance(&mut self.limbs, next.steps, next.power, next.rest);
    }

    /// Performs one step of T.
    fn single(&mut self) {
        let odd = self.limbs[0] & 1 == 1;
        self.count(1, u32::from(odd));
        let (power, rest) = if odd { (3, 2) } else { (1, 0) };
        advance(&mut self.limbs, 1, power, rest);
        if odd && bits(&self.limbs) + 1 >= bits(&self.maximum) {
            self.rise(self.limbs.clone());
        }
        if self.path.glide.is_none() && compare(&self.limbs, &self.start_limbs).is_lt() {
            self.path.glide = Some(self.path.delay());
        }
    }

    fn count(&mut self, steps: u32, odd: u32) {
        self.path.even_steps += u64::from(steps);
        self.path.odd_steps += u64::from(odd);
    }

    /// Updates the maximum. `value` is the result of an odd step of T; the number 3x + 1, which
    /// precedes the halving in that step, is twice `value`.
    fn rise(&mut self, mut value: Vec<u64>) {
        let mut carry = 0;
        for limb in &mut value {
            (*limb, carry) = (*limb << 1 | carry, *limb >> 63);
        }
        value.push(carry);
        trim(&mut value);
        if compare(&value, &self.maximum).is_gt() {
            self.maximum = value;
        }
    }

    /// Completes the path of a short number, step by step. Returns `None` if the watch stopped the
    /// work.
    fn finish(mut self, watch: &dyn Watch) -> Option<Path> {
        let (mut x, one) = (number(&self.limbs), BigUint::from(1u32));
        let mut maximum = number(&self.maximum);
        let mut since = 0u32;
        while x != one {
            since = since.wrapping_add(1);
            if since.is_multiple_of(1 << 12) && watch.is_stopped() {
                return None;
            }
            let odd = x.bit(0);
            self.count(1, u32::from(odd));
            x = big_step(&x);
            if odd {
                maximum = maximum.max(&x << 1);
            }
            if self.path.glide.is_none() && x < *self.start {
                self.path.glide = Some(self.path.delay());
            }
        }
        Some(Path { maximum, ..self.path })
    }
}

/// Returns T^`steps`(`number`), for a number of at least `steps` bits. Returns `None` if the watch
/// stopped the work.
fn after(number: Vec<u64>, steps: u64, blocks: &Blocks) -> Option<Vec<u64>> {
    let (low, above) = number.split_at((steps / 64) as usize);
    let mut x = blocks.image(low, &mut Trace::default())?.of_number(above, blocks.multiplier);
    let mut left = (steps % 64) as u32;
    while left > 0 && !x.is_empty() {
        let next = outlook(x[0], left);
        advance(&mut x, next.steps, next.power, next.rest);
        left -= next.steps;
    }
    Some(x)
}

fn bits_of(x: u128) -> u64 {
    u64::from(128 - x.leading_zeros())
}

/// Computes x ← ⌊x/2^shift⌋·power + rest for 1 ≤ shift ≤ 64.
fn advance(x: &mut Vec<u64>, shift: u32, power: u64, rest: u64) {
    let len = x.len();
    let mut carry = u128::from(rest);
    for i in 0..len {
        let above = x.get(i + 1).copied().unwrap_or(0);
        let pair = u128::from(above) << 64 | u128::from(x[i]);
        let sum = u128::from((pair >> shift) as u64) * u128::from(power) + carry;
        (x[i], carry) = (sum as u64, sum >> 64);
    }
    x.push(carry as u64);
    trim(x);
}

fn trim(x: &mut Vec<u64>) {
    while x.last() == Some(&0) {
        x.pop();
    }
}

fn bits(x: &[u64]) -> u64 {
    x.len() as u64 * 64 - x.last().map_or(0, |top| u64::from(top.leading_zeros()))
}

fn compare(x: &[u64], y: &[u64]) -> Ordering {
    x.len().cmp(&y.len()).then_with(|| x.iter().rev().cmp(y.iter().rev()))
}

fn number(x: &[u64]) -> BigUint {
    BigUint::new(x.iter().flat_map(|&limb| [limb as u32, (limb >> 32) as u32]).collect())
}
