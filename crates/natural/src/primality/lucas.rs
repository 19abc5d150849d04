//! The strong Lucas test with Selfridge's parameters (Baillie and Wagstaff 1980, *Lucas
//! pseudoprimes*, Mathematics of Computation 35, 1391–1417).
//!
//! D is the first of 5, −7, 9, −11, … with Jacobi symbol (D | n) = −1. P = 1 and Q = (1 − D)/4. The
//! Lucas sequences are U_0 = 0, U_1 = 1, V_0 = 2, V_1 = P, and x_(k+1) = P·x_k − Q·x_(k−1) for both.
//! Let n + 1 = d·2^s with odd d. The number n passes if U_d ≡ 0, or if V_(d·2^r) ≡ 0 mod n for some
//! r with 0 ≤ r < s.
//!
//! Only V is computed, by
//! * V_(2k) = V_k² − 2Q^k,
//! * V_(2k+1) = V_k·V_(k+1) − P·Q^k,
//! * V_(2k+2) = V_(k+1)² − 2Q^(k+1).
//!
//! As D·U_k = 2V_(k+1) − P·V_k and D is coprime to n, U_d ≡ 0 if and only if 2V_(d+1) ≡ P·V_d.

use std::cmp::Ordering;

use warpint_arith::primes::is_prime;

use crate::limbs::{
    add_assign, at_least, compare, copy_to, rem_small, shift_right_assign, sub_assign, trimmed,
};
use crate::power::{Montgomery, Residues};
use crate::root::SquareRoot;

/// If no D up to this absolute value has the symbol −1, n is tested for a square.
const SQUARE_FROM: u64 = 21;

/// Computes strong Lucas tests, and reuses its working memory from one test to the next.
#[derive(Debug, Default)]
pub struct LucasTest {
    ring: Montgomery,
    roots: SquareRoot,
    d: Vec<u64>,
    work: Vec<u64>,
}

/// The parameter D of a test, or the result of the test if the search for D has found it.
enum Search {
    Parameter { absolute: u64, negative: bool },
    Known(bool),
}

impl LucasTest {
    /// Creates a test that reduces by half products if n has at least `limbs` limbs.
    #[cfg(test)]
    pub(super) fn by_half_products_from(limbs: usize) -> Self {
        Self { ring: Montgomery::new(limbs), ..Self::default() }
    }

    /// Returns whether n passes the strong Lucas test. Primes pass. 0, 1, even numbers other than
    /// 2, and squares fail.
    ///
    /// Cost for n of b bits: about 3.5·b products modulo n, in Montgomery form.
    pub fn passes(&mut self, n: &[u64]) -> bool {
        let n = trimmed(n);
        match n.first() {
            None => return false,
            Some(low) if low % 2 == 0 => return n == [2],
            Some(_) if n == [1] => return false,
            Some(_) => {}
        }
        match self.parameter(n) {
            Search::Known(result) => result,
            Search::Parameter { absolute, negative } => self.with_parameter(n, absolute, negative),
        }
    }

    /// Searches D for an odd n > 1. If |D| and n have a common factor, the answer is known: |D| is
    /// less than 2^64, so n is composite or fits in a limb. Squares have no D.
    fn parameter(&mut self, n: &[u64]) -> Search {
        for absolute in (5u64..).step_by(2) {
            let negative = absolute % 4 == 3;
            match jacobi(absolute, negative, n) {
                -1 => return Search::Parameter { absolute, negative },
                0 => return Search::Known(matches!(n, &[n] if is_prime(n))),
                _ if absolute == SQUARE_FROM && self.is_square(n) => return Search::Known(false),
                _ => {}
            }
        }
        Search::Known(false)
    }

    /// Returns whether n > 0 is a square.
    fn is_square(&mut self, n: &[u64]) -> bool {
        // Odd squares are 1 mod 8.
        if n[0] % 8 != 1 {
            return false;
        }
        let half = n.len().div_ceil(2);
        let (mut root, mut rest) = (vec![0; half], vec![0; half + 1]);
        self.roots.sqrt_rem(&mut root, &mut rest, n);
        trimmed(&rest).is_empty()
    }

    /// Computes the test of an odd n > 1 with D = ±`absolute`.
    fn with_parameter(&mut self, n: &[u64], absolute: u64, negative: bool) -> bool {
        let Self { ring, d, work, .. } = self;
        let l = n.len();
        // n + 1 may have one limb more than n.
        let d = at_least(d, l + 1);
        copy_to(d, n);
        add_assign(d, &[1]);
        let zeros = d.iter().take_while(|&&limb| limb == 0).count();
        let bits = d[zeros].trailing_zeros();
        let s = 64 * zeros + bits as usize;
        d.copy_within(zeros.., 0);
        let used = l + 1 - zeros;
        d[used..].fill(0);
        shift_right_assign(d, bits);
        let d = trimmed(d);

        ring.set(n);
        let work = at_least(work, 6 * l);
        let (q, rest) = work.split_at_mut(l);
        let (v, rest) = rest.split_at_mut(l);
        let (next, rest) = rest.split_at_mut(l);
        let (power, rest) = rest.split_at_mut(l);
        let (above, one) = rest.split_at_mut(l);
        // Q = (1 − D)/4 is (1 + |D|)/4 for D < 0, and −(|D| − 1)/4 for D > 0.
        ring.residue(q, &[if negative { (absolute + 1) / 4 } else { (absolute - 1) / 4 }]);
        ring.to_montgomery(q);
        if !negative {
            negate(q, n);
        }
        ring.residue(one, &[1]);
        ring.to_montgomery(one);

        // k = 1: V_1 = 1, V_2 = 1 − 2Q, Q^1. `power` is Q^k, `next` is V_(k+1).
        v.copy_from_slice(one);
        next.copy_from_slice(one);
        sub_twice(next, q, n);
        power.copy_from_slice(q);
        let top = 64 * d.len() - 1 - d[d.len() - 1].leading_zeros() as usize;
        for i in (0..top).rev() {
            if d[i / 64] >> (i % 64) & 1 == 0 {
                ring.mul(next, v);
                sub(next, power, n);
                ring.square(v);
                sub_twice(v, power, n);
                ring.square(power);
            } else {
                above.copy_from_slice(power);
                ring.mul(above, q);
                ring.mul(v, next);
                sub(v, power, n);
                ring.square(next);
                sub_twice(next, above, n);
                ring.mul(power, above);
            }
        }
        // 2V_(d+1) ≡ V_d is V_d − V_(d+1) ≡ V_(d+1).
        above.copy_from_slice(v);
        sub(above, next, n);
        if above == next {
            return true;
        }
        for r in 0..s {
            if v.iter().all(|&limb| limb == 0) {
                return true;
            }
            if r + 1 < s {
                ring.square(v);
                sub_twice(v, power, n);
                ring.square(power);
            }
        }
        false
    }
}

/// Computes x ← x − y mod n for x, y < n.
fn sub(x: &mut [u64], y: &[u64], n: &[u64]) {
    if sub_assign(x, y) {
        add_assign(x, n);
    }
}

/// Computes x ← x − 2y mod n for x, y < n.
fn sub_twice(x: &mut [u64], y: &[u64], n: &[u64]) {
    sub(x, y, n);
    sub(x, y, n);
}

/// Computes x ← −x mod n for x < n.
fn negate(x: &mut [u64], n: &[u64]) {
    if compare(x, &[]) == Ordering::Equal {
        return;
    }
    let mut negative = n.to_vec();
    sub_assign(&mut negative, x);
    x.copy_from_slice(&negative);
}

/// Returns the Jacobi symbol (D | n) for odd n > 0 and D = `absolute` or, if `negative`,
/// D = −`absolute`. `absolute` must be odd.
pub(crate) fn jacobi(absolute: u64, negative: bool, n: &[u64]) -> i8 {
    let n_mod_4 = n.first().copied().unwrap_or(0) % 4;
    // (−1 | n) = −1 if n ≡ 3 mod 4. Reciprocity: (a | n) = −(n | a) if both are 3 mod 4.
    let flips = u64::from(negative) + u64::from(absolute % 4 == 3);
    let symbol = jacobi_of_limbs(rem_small(n, absolute), absolute);
    if n_mod_4 == 3 && flips == 1 { -symbol } else { symbol }
}

/// Returns the Jacobi symbol (a | b) for odd b.
fn jacobi_of_limbs(mut a: u64, mut b: u64) -> i8 {
    let mut symbol = 1;
    a %= b;
    while a != 0 {
        let twos = a.trailing_zeros();
        a >>= twos;
        // (2 | b) = −1 if b ≡ ±3 mod 8.
        if twos % 2 == 1 && matches!(b % 8, 3 | 5) {
            symbol = -symbol;
        }
        if a % 4 == 3 && b % 4 == 3 {
            symbol = -symbol;
        }
        (a, b) = (b % a, a);
    }
    if b == 1 { symbol } else { 0 }
}
