//! Quotients of one limb, computed by multiplication with a reciprocal of the divisor (Möller and
//! Granlund 2011, *Improved division by invariant integers*, IEEE Transactions on Computers 60,
//! 165–175). In this module, B = 2^64.

use std::hint::select_unpredictable;

/// A divisor d of one limb with its top bit set, and its reciprocal v = ⌊(B² − 1)/d⌋ − B, where
/// B = 2^64.
#[derive(Debug, Clone, Copy)]
pub struct OneLimb {
    d: u64,
    v: u64,
}

impl OneLimb {
    /// Creates the divisor d and computes its reciprocal. Requires d ≥ 2^63.
    ///
    /// # Panics
    /// Panics if d = 0. In debug builds, panics if d < 2^63.
    #[must_use]
    #[inline]
    pub const fn new(d: u64) -> Self {
        debug_assert!(d >> 63 == 1, "the top bit of the divisor is not set");
        // The upper limb of (B² − 1) − B·d is B − 1 − d < d.
        let v = ((!d as u128) << 64 | u64::MAX as u128) / d as u128;
        Self { d, v: v as u64 }
    }

    /// Creates the divisor d. On x86-64, the reciprocal is computed by one hardware division of two
    /// limbs by one limb. Requires d ≥ 2^63.
    #[inline]
    pub(super) fn prepare(d: u64) -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            debug_assert!(d >> 63 == 1, "the top bit of the divisor is not set");
            // The quotient has one limb, because B − 1 − d is less than d.
            let (v, _) = divide_two_limbs(!d, u64::MAX, d);
            Self { d, v }
        }
        #[cfg(not(target_arch = "x86_64"))]
        Self::new(d)
    }

    /// Returns the divisor d.
    #[inline]
    pub(super) fn divisor(self) -> u64 {
        self.d
    }

    /// Returns the quotient and the remainder of u1·2^64 + u0 divided by d (Möller and Granlund
    /// 2011, algorithm 4). Requires u1 < d; otherwise the results have no meaning.
    #[inline]
    #[must_use]
    pub fn div_rem(self, u1: u64, u0: u64) -> (u64, u64) {
        let Self { d, v } = self;
        // Below B², because v·u1 + u1·B + u0 ≤ u1·(B² − 1)/d + u0 and u1 ≤ d − 1.
        let guess = u128::from(v) * u128::from(u1) + (u128::from(u1) << 64 | u128::from(u0));
        let mut q = ((guess >> 64) as u64).wrapping_add(1);
        let mut r = u0.wrapping_sub(q.wrapping_mul(d));
        if r > guess as u64 {
            q = q.wrapping_sub(1);
            r = r.wrapping_add(d);
        }
        if r >= d {
            q = q.wrapping_add(1);
            r -= d;
        }
        (q, r)
    }
}

/// Returns the quotient and the remainder of u1·2^64 + u0 divided by d, by one hardware division.
/// Requires u1 < d. Otherwise the process faults.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn divide_two_limbs(u1: u64, u0: u64, d: u64) -> (u64, u64) {
    debug_assert!(u1 < d, "the quotient has more than one limb");
    let (q, r);
    // SAFETY: every x86-64 processor has `div`, which faults only if the divisor is 0 or the
    // quotient exceeds one limb. This is the case if u1 ≥ d. Such an argument makes the process
    // fault, but accesses no memory.
    unsafe {
        std::arch::asm!(
            "div {d}",
            d = in(reg) d,
            inout("rax") u0 => q,
            inout("rdx") u1 => r,
            options(pure, nomem, nostack),
        );
    }
    (q, r)
}

/// Tells the compiler that its caller rarely executes this call, so that it makes a branch there. A
/// selection would delay each limb of a quotient.
#[cold]
#[inline(never)]
fn rare() {}

/// A divisor d = d1·B + d0 with its top bit set, and its reciprocal v = ⌊(B³ − 1)/d⌋ − B, where
/// B = 2^64.
#[derive(Debug, Clone, Copy)]
pub(super) struct TwoLimbs {
    d: u128,
    v: u64,
}

impl TwoLimbs {
    /// Creates the divisor d1·2^64 + d0 and computes its reciprocal (Möller and Granlund 2011,
    /// algorithm 6). Requires d1 ≥ 2^63.
    #[inline]
    pub(super) fn new(d1: u64, d0: u64) -> Self {
        let mut v = OneLimb::prepare(d1).v;
        let mut p = d1.wrapping_mul(v).wrapping_add(d0);
        if p < d0 {
            v = v.wrapping_sub(1);
            if p >= d1 {
                v = v.wrapping_sub(1);
                p -= d1;
            }
            p = p.wrapping_sub(d1);
        }
        let d = u128::from(d1) << 64 | u128::from(d0);
        let t = u128::from(v) * u128::from(d0);
        let t1 = (t >> 64) as u64;
        p = p.wrapping_add(t1);
        if p < t1 {
            v = v.wrapping_sub(1);
            if (u128::from(p) << 64 | u128::from(t as u64)) >= d {
                v = v.wrapping_sub(1);
            }
        }
        Self { d, v }
    }

    /// Creates the divisor d1·2^64 + d0, whose reciprocal v is known.
    #[inline]
    pub(super) fn with_reciprocal(d1: u64, d0: u64, v: u64) -> Self {
        Self { d: u128::from(d1) << 64 | u128::from(d0), v }
    }

    /// Returns the reciprocal v.
    #[inline]
    pub(super) fn reciprocal(self) -> u64 {
        self.v
    }

    /// Returns the divisor d.
    #[inline]
    pub(super) fn divisor(self) -> u128 {
        self.d
    }

    /// Returns the quotient and the remainder of u·2^64 + u0 divided by d, for u < d (Möller and
    /// Granlund 2011, algorithm 5).
    #[inline]
    pub(super) fn div_rem(self, u: u128, u0: u64) -> (u64, u128) {
        let Self { d, v } = self;
        let (d1, d0, u2, u1) = ((d >> 64) as u64, d as u64, (u >> 64) as u64, u as u64);
        // Below B², because (v + B)·u2 + u1 ≤ (v + B)·u/B, u < d and (v + B)·d < B³.
        let guess = u128::from(v) * u128::from(u2) + u;
        let q = (guess >> 64) as u64;
        // The remainders for q and for q + 1, modulo B². The subtraction of d does not wait for q.
        let product =
            (u128::from(d0) * u128::from(q)).wrapping_add(u128::from(d1.wrapping_mul(q)) << 64);
        let low = u128::from(u1) << 64 | u128::from(u0);
        let r = low.wrapping_sub(product);
        let next = low.wrapping_sub(d).wrapping_sub(product);
        // Neither case is rare, so a processor could not predict a branch.
        let keep = (next >> 64) as u64 >= guess as u64;
        let mut r = select_unpredictable(keep, r, next);
        let mut q = q.wrapping_add(u64::from(!keep));
        if r >= d {
            rare();
            q = q.wrapping_add(1);
            r -= d;
        }
        (q, r)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limbs;
    use crate::sample::Sample;

    /// Returns limbs near 0, 2^32, 2^63 and 2^64, and random limbs.
    fn words() -> Vec<u64> {
        let mut sample = Sample::new(5);
        let top = 1 << 63;
        let ends = [0, 1, 2, 3, top - 2, top - 1, top, top + 1, top + 2, u64::MAX - 2];
        let halves = [u64::from(u32::MAX), 1 << 32, u64::MAX << 32, u64::MAX << 31, top | 1 << 32];
        let ends = ends.into_iter().chain(halves).chain([u64::MAX - 1, u64::MAX]);
        ends.chain((0..8).map(|_| sample.word())).collect()
    }

    #[test]
    fn one_limb() {
        for d in words().into_iter().filter(|d| d >> 63 == 1) {
            let divisor = OneLimb::prepare(d);
            assert_eq!(divisor.v, OneLimb::new(d).v, "the reciprocal of {d}");
            for u1 in words().into_iter().chain([d - 1, d - 2]).filter(|&u1| u1 < d) {
                for u0 in words() {
                    let u = u128::from(u1) << 64 | u128::from(u0);
                    let d = u128::from(d);
                    let want = ((u / d) as u64, (u % d) as u64);
                    assert_eq!(divisor.div_rem(u1, u0), want, "{u} by {d}");
                }
            }
        }
    }

    #[test]
    fn two_limbs() {
        for d1 in words().into_iter().filter(|d| d >> 63 == 1) {
            for d0 in words() {
                let divisor = TwoLimbs::new(d1, d0);
                let d = divisor.divisor();
                for u2 in words().into_iter().chain([d1]) {
                    for u1 in words().into_iter().chain([d0.wrapping_sub(1)]) {
                        let u = u128::from(u2) << 64 | u128::from(u1);
                        if u >= d {
                            continue;
                        }
                        for u0 in [0, 1, u64::MAX, d0, d1] {
                            let (q, r) = divisor.div_rem(u, u0);
                            let mut back = limbs::mul(&[d0, d1], &[q]);
                            limbs::add_assign(&mut back, &[r as u64, (r >> 64) as u64]);
                            assert!(r < d, "{u2} {u1} {u0} by {d}");
                            assert_eq!(back, [u0, u1, u2], "{u2} {u1} {u0} by {d}");
                        }
                    }
                }
            }
        }
    }
}
