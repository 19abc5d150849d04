//! Square roots with remainder (Zimmermann 1999, *Karatsuba Square Root*, INRIA, research report
//! RR-3805).
//!
//! Let b = 2^(64·l) and a = a'·b² + a1·b + a0 with a0, a1 < b. The top two bits of a must not both
//! be 0. The recursion yields s' and r' with a' = s'² + r'. A division yields q and u with r'·b +
//! a1 = 2s'·q + u. Then (s'·b + q)² = a − (u·b + a0 − q²). The root is s'·b + q, or s'·b + q − 1 if
//! u·b + a0 < q². q can be b only if r' = 2s'. In this case, a is just below ((s' + 1)·b)², and the
//! root is s'·b + b − 1.

use crate::division::{Divider, div_rem_by};
use crate::limbs::{
    add_assign, at_least, copy_to, shift_left_to, shift_right_assign, sub_assign, trim, trimmed,
};
use crate::product::{Multiplier, Products};

/// Computes square roots with remainder, and reuses its working memory from one root to the next.
#[derive(Debug, Default)]
pub struct SquareRoot(Roots<Own>);

impl SquareRoot {
    /// Computes root ← s = ⌊√a⌋ and rem ← a − s², which is at most 2s. For a of n limbs, `root`
    /// must have at least ⌈n/2⌉ limbs, and `rem` at least ⌈n/2⌉ + 1. Limbs above the results are
    /// set to 0.
    ///
    /// # Panics
    /// May panic if `root` or `rem` is too short.
    ///
    /// Cost O(M(n)) for n limbs, where M(n) is the cost of a product and a division of n limbs.
    pub fn sqrt_rem(&mut self, root: &mut [u64], rem: &mut [u64], a: &[u64]) {
        self.0.sqrt_rem(root, rem, a);
    }
}

/// Returns s = ⌊√a⌋ and a − s², both without leading zero limbs. `multiplier` computes the products
/// and divisions of long numbers.
///
/// For a of n limbs, the cost is at most about that of three products of numbers of n limbs.
#[must_use]
pub fn sqrt_rem_by(multiplier: &dyn Multiplier, a: &[u64]) -> (Vec<u64>, Vec<u64>) {
    let half = a.len().div_ceil(2);
    let (mut root, mut rem) = (vec![0; half], vec![0; half + 1]);
    Roots::by(multiplier).sqrt_rem(&mut root, &mut rem, a);
    trim(&mut root);
    trim(&mut rem);
    (root, rem)
}

/// The divisions and squares of the recursion.
trait Steps {
    /// Computes q ← ⌊a/d⌋ and r ← a mod d. q has at least `a.len() − d.len() + 1` limbs and r has as
    /// many limbs as d, which is not zero. Limbs above the results are set to 0.
    fn div_rem(&mut self, q: &mut [u64], r: &mut [u64], a: &[u64], d: &[u64]);

    /// Computes out ← a², where `out` has exactly 2·`a.len()` limbs.
    fn square(&mut self, out: &mut [u64], a: &[u64]);
}

/// Divisions and products on the caller's thread.
#[derive(Debug, Default)]
struct Own {
    divider: Divider,
    products: Products,
}

impl Steps for Own {
    fn div_rem(&mut self, q: &mut [u64], r: &mut [u64], a: &[u64], d: &[u64]) {
        self.divider.set(d);
        self.divider.div_rem(q, r, a);
    }

    fn square(&mut self, out: &mut [u64], a: &[u64]) {
        self.products.square(out, a);
    }
}

/// The smallest number of limbs for which a multiplier computes squares and divisions.
const MULTIPLIER_FROM: usize = 256;

/// Divisions and products by a multiplier if the numbers are long.
struct ByMultiplier<'a> {
    multiplier: &'a dyn Multiplier,
    own: Own,
}

impl Steps for ByMultiplier<'_> {
    fn div_rem(&mut self, q: &mut [u64], r: &mut [u64], a: &[u64], d: &[u64]) {
        if d.len() < MULTIPLIER_FROM {
            return self.own.div_rem(q, r, a, d);
        }
        let (quotient, rest) = div_rem_by(self.multiplier, a, d);
        copy_to(q, &quotient);
        copy_to(r, &rest);
    }

    fn square(&mut self, out: &mut [u64], a: &[u64]) {
        if a.len() < MULTIPLIER_FROM {
            return self.own.square(out, a);
        }
        out.copy_from_slice(&self.multiplier.mul(a, a));
    }
}

/// Computes square roots with remainder by the given steps.
#[derive(Debug, Default)]
struct Roots<S> {
    scaled: Vec<u64>,
    root: Vec<u64>,
    parts: Parts<S>,
}

impl<'a> Roots<ByMultiplier<'a>> {
    fn by(multiplier: &'a dyn Multiplier) -> Self {
        let steps = ByMultiplier { multiplier, own: Own::default() };
        let parts = Parts { quotient: vec![], square: vec![], steps };
        Self { scaled: vec![], root: vec![], parts }
    }
}

impl<S: Steps> Roots<S> {
    /// Implements [`SquareRoot::sqrt_rem`].
    fn sqrt_rem(&mut self, root: &mut [u64], rem: &mut [u64], a: &[u64]) {
        let a = trimmed(a);
        let Some(top) = a.last() else {
            root.fill(0);
            rem.fill(0);
            return;
        };
        // a·2^shift has 2k limbs; shift is even.
        let k = a.len().div_ceil(2);
        let bits = top.leading_zeros() & !1;
        let shift = 64 * (2 * k - a.len()) as u32 + bits;
        let scaled = at_least(&mut self.scaled, 2 * k + 1);
        scaled.fill(0);
        shift_left_to(&mut scaled[2 * k - a.len()..], a, bits);
        let s = at_least(&mut self.root, k);
        let more = self.parts.sqrt_rem(s, &mut scaled[..2 * k]);
        // ⌊√a⌋ = ⌊s/2^(shift/2)⌋, shift/2 < 64.
        shift_right_assign(s, shift / 2);
        copy_to(root, s);
        if shift == 0 {
            copy_to(rem, &scaled[..k]);
            if more {
                add_assign(&mut rem[k..], &[1]);
            }
            return;
        }
        let square = at_least(&mut self.scaled, 2 * k);
        self.parts.steps.square(square, s);
        // As a − s² ≤ 2s, at most k + 1 limbs matter: the others are zero.
        let limbs = a.len().min(rem.len());
        copy_to(rem, &a[..limbs]);
        sub_assign(&mut rem[..limbs], &square[..limbs]);
    }
}

/// The working memory of the recursive square root, which is computed in place.
#[derive(Debug, Default)]
struct Parts<S> {
    quotient: Vec<u64>,
    square: Vec<u64>,
    steps: S,
}

impl<S: Steps> Parts<S> {
    /// Computes s ← ⌊√a⌋, where s has k ≥ 1 limbs and a has 2k limbs. The top two bits of a must
    /// not both be 0. The lowest k limbs of a become (a − s²) mod 2^(64·k); the other limbs have no
    /// meaning afterwards. Returns true if a − s² ≥ 2^(64·k).
    fn sqrt_rem(&mut self, s: &mut [u64], a: &mut [u64]) -> bool {
        let k = s.len();
        if let ([s], [low, high]) = (&mut *s, &mut *a) {
            let a = u128::from(*high) << 64 | u128::from(*low);
            *s = a.isqrt() as u64;
            let rem = a - u128::from(*s) * u128::from(*s);
            *low = rem as u64;
            return rem >> 64 != 0;
        }
        let l = k / 2;
        let h = k - l;
        let more = self.sqrt_rem(&mut s[l..], &mut a[2 * l..]);
        let (low, high) = s.split_at_mut(l);

        // `dividend` is r'·b + a1, without 2^(64·k) if the recursion returned true. In that case,
        // subtract s'·b.
        let dividend = &mut a[l..l + k];
        if more {
            sub_assign(&mut dividend[l..], high);
        }
        let quotient = at_least(&mut self.quotient, k);
        // The quotient is at most b.
        let rest = &mut self.square;
        self.steps.div_rem(quotient, at_least(rest, h), dividend, high);
        let mut top = quotient[l] + u64::from(more);
        let odd = quotient[0] & 1 == 1;
        shift_right_assign(&mut quotient[..l], 1);
        quotient[l - 1] |= top << 63;
        top >>= 1;
        low.copy_from_slice(&quotient[..l]);

        // u·b + a0, and `carry`·2^(64·k).
        let u = &mut a[l..k];
        u.copy_from_slice(&rest[..h]);
        let mut carry = 0;
        for _ in 0..u64::from(odd) + 2 * top {
            carry += i8::from(add_assign(u, high));
        }
        if top > 0 {
            low.fill(u64::MAX);
        }
        let square = at_least(&mut self.square, 2 * l);
        self.steps.square(square, low);
        carry -= i8::from(sub_assign(&mut a[..k], square));
        if carry < 0 {
            sub_assign(s, &[1]);
            for addend in [&*s, &*s, &[1]] {
                carry += i8::from(add_assign(&mut a[..k], addend));
            }
        }
        carry > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limbs;
    use crate::product::{FastProducts, TransformMultiplier};
    use crate::sample::Sample;

    #[track_caller]
    fn check(roots: &mut SquareRoot, a: &[u64]) {
        let k = a.len().div_ceil(2);
        let (mut s, mut r) = (vec![3; k], vec![3; k + 1]);
        roots.sqrt_rem(&mut s, &mut r, a);
        limbs::trim(&mut s);
        assert!(s == limbs::root(a, 2), "the root of {a:x?} is not {s:x?}");
        let mut sum = limbs::mul(&s, &s);
        sum.resize(sum.len().max(r.len()), 0);
        add_assign(&mut sum, &r);
        assert!(trimmed(&sum) == trimmed(a), "{a:x?} less {s:x?} squared is not {r:x?}");
    }

    /// Compares roots by a multiplier with roots on the caller's thread: of squares and of the
    /// numbers next to them, at lengths on both sides of the limit between both methods.
    #[test]
    fn roots_by_a_multiplier() {
        let mut roots = SquareRoot::default();
        let mut sample = Sample::new(4);
        let multiplier = TransformMultiplier::new(2);
        let m = MULTIPLIER_FROM;
        for n in [0, 1, 2, m - 1, m, m + 1, 2 * m - 1, 2 * m, 2 * m + 1, 9000] {
            let s = sample.number(n);
            let mut a = FastProducts.mul(&s, &s);
            a.push(0);
            for addend in [&[][..], &s, &s, &[1]] {
                add_assign(&mut a, addend);
                let k = a.len().div_ceil(2);
                let (mut s, mut r) = (vec![3; k], vec![3; k + 1]);
                roots.sqrt_rem(&mut s, &mut r, &a);
                let (root, rest) = sqrt_rem_by(&multiplier, &a);
                assert!(root == trimmed(&s) && rest == trimmed(&r), "{n} limbs");
            }
            let ones = vec![u64::MAX; n];
            let (root, rest) = sqrt_rem_by(&multiplier, &ones);
            let mut sum = FastProducts.mul(&root, &root);
            sum.resize(n + 2, 0);
            add_assign(&mut sum, &rest);
            assert!(trimmed(&sum) == trimmed(&ones), "{n} limbs of ones");
        }
    }

    /// Tests squares, also of numbers with long runs of equal bits, and the numbers next to
    /// squares.
    #[test]
    fn squares_and_their_neighbours() {
        let mut roots = SquareRoot::default();
        let mut sample = Sample::new(3);
        for round in 0..2500 {
            let mut s = sample.number(1 + round % 7);
            if let Some(top) = s.last_mut() {
                *top >>= round % 64;
            }
            let mut a = limbs::mul(&s, &s);
            check(&mut roots, &a);
            // The largest with this root, and the next number.
            for addend in [&s[..], &s, &[1]] {
                if !add_assign(&mut a, addend) {
                    check(&mut roots, &a);
                }
            }
            let any = sample.number(1 + round % 9);
            check(&mut roots, &any);
        }
    }

    #[test]
    fn all_ones_and_powers() {
        let mut roots = SquareRoot::default();
        for n in 1..30 {
            check(&mut roots, &vec![u64::MAX; n]);
            for bit in [0, 1, 61, 62, 63] {
                let mut power = vec![0; n];
                power[n - 1] = 1 << bit;
                check(&mut roots, &power);
                sub_assign(&mut power, &[1]);
                check(&mut roots, &power);
            }
        }
    }
}
