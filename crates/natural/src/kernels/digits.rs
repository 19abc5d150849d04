//! The limbs of a quotient by a divisor of three to eight limbs, for processors with `carry_chains`.

use std::cmp::Ordering;

use super::carry_chains::{DIGIT, Digit, FIRST_DIGIT, LONGEST, SHORTEST};
use super::has_carry_chains;
use crate::limbs::{add_assign, compare, sub_assign};

/// A divisor d of M limbs, from 3 to 8, whose top bit is set.
///
/// An estimate q̂ of a limb of a quotient comes from the two top limbs D of d and from the two top
/// limbs U = u2·B + u1 of the remainder r, with B = 2^64. For V = ⌊(B³ − 1)/D⌋, it is
///
/// q̂ = ⌊(V·u2 + u1)/B⌋.
///
/// Let u = r·B + x be the number that is divided by d, with r < d, and hence U ≤ D. Then
/// −2/B < u/d − q̂ < 3 + 2/B (a sharper estimate gives 2.5 instead of 3):
///
/// * V·u2/B ≤ B²·u2/D and u1/B ≤ B·u1/D, so q̂ ≤ B·U/D. As d < (D + 1)·B^(M−2) and u ≥ U·B^(M−1),
///   u/d ≥ B·U/(D + 1) ≥ B·U/D − B/(D + 1), and D ≥ B²/2.
/// * V > B³/D − 1/D − 1 and u2 ≤ B − 1, so V·u2/B > B²·u2/D − 1, and
///   q̂ > B²·u2/D − 1 + u1/B − 1. As u < (U + 1)·B^(M−1) and
///   d ≥ D·B^(M−2), u/d < B·(U + 1)/D ≤ B²·u2/D + B·u1/D + 2/B, and
///   B·u1/D − u1/B = (u1/B)·(B² − D)/D < 1.
///
/// So the kernels' first difference u − q̂·d is above −d and below 4·d. Usually q̂ or q̂ + 1 is the
/// limb. Otherwise [`correct`] finds it.
pub(crate) struct Digits<'a, const M: usize> {
    d: &'a [u64; M],
    /// V − B.
    v: u64,
}

/// A remainder. The lowest M limbs are its complement, and the other ones have no meaning.
#[derive(Clone, Copy)]
pub(crate) struct Remainder<const M: usize>([u64; LONGEST + 1]);

impl<const M: usize> Remainder<M> {
    #[inline(always)]
    pub(crate) fn new(r: [u64; M]) -> Self {
        let mut complement = [0; LONGEST + 1];
        for (to, limb) in complement.iter_mut().zip(r) {
            *to = !limb;
        }
        Self(complement)
    }

    /// Returns the limbs of the remainder.
    #[inline(always)]
    pub(crate) fn limbs(self) -> [u64; M] {
        let mut r = [0; M];
        for (to, limb) in r.iter_mut().zip(self.0) {
            *to = !limb;
        }
        r
    }
}

impl<'a, const M: usize> Digits<'a, M> {
    const KERNEL: usize = {
        assert!(SHORTEST <= M && M <= LONGEST, "there are no kernels for this length");
        M - SHORTEST
    };
    const DIGIT: Digit = DIGIT[Self::KERNEL];
    const FIRST_DIGIT: Digit = FIRST_DIGIT[Self::KERNEL];

    /// Takes a divisor d whose top bit is set, and v = ⌊(B³ − 1)/D⌋ − B. Returns `None` if the
    /// processor has no kernels for this.
    #[inline(always)]
    pub(crate) fn new(d: &'a [u64; M], v: u64) -> Option<Self> {
        has_carry_chains().then_some(Self { d, v })
    }

    /// Returns ⌊r/d⌋, which is 0 or 1, and r mod d.
    #[inline(always)]
    pub(crate) fn first(&self, r: Remainder<M>) -> (u64, Remainder<M>) {
        let mut u = r.0;
        u[M] = u64::MAX;
        // SAFETY: `new` has found that the processor has BMI2 and ADX. `d` has M limbs.
        let q = unsafe { Self::FIRST_DIGIT(&mut u, 0, self.d.as_ptr()) };
        (q, Remainder(u))
    }

    /// Returns the quotient and the remainder of r·2^64 + `limb` divided by d. Requires r < d;
    /// otherwise the results have no meaning.
    #[inline(always)]
    pub(crate) fn next(&self, r: Remainder<M>, limb: u64) -> (u64, Remainder<M>) {
        let (u2, u1) = (!r.0[M - 1], !r.0[M - 2]);
        // Below B², because V·u2 + u1 ≤ V·U/B, U ≤ D and V·D < B³.
        let guess = u128::from(self.v) * u128::from(u2) + (u128::from(u2) << 64 | u128::from(u1));
        let mut u = [0; LONGEST + 1];
        u[0] = !limb;
        u[1..=M].copy_from_slice(&r.0[..M]);
        // SAFETY: `new` has found that the processor has BMI2 and ADX. `d` has M limbs.
        let q = unsafe { Self::DIGIT(&mut u, (guess >> 64) as u64, self.d.as_ptr()) };
        // The remainder is right if its limb M is 0, and its limb M − 1 is below the top limb of d.
        // If these two are equal, `correct` compares the other limbs.
        if u[M] != u64::MAX || !u[M - 1] >= self.d[M - 1] {
            return correct(q, u, self.d);
        }
        (q, Remainder(u))
    }
}

/// Adds d to the number u of M + 1 limbs with a sign, and subtracts 1 from q, while u is negative.
/// Then subtracts d from u, and adds 1 to q, while u ≥ d. `complement` is ¬u.
#[cold]
#[inline(never)]
fn correct<const M: usize>(
    mut q: u64,
    complement: [u64; LONGEST + 1],
    d: &[u64; M],
) -> (u64, Remainder<M>) {
    let mut u = complement.map(|limb| !limb);
    let number = &mut u[..=M];
    while number[M] >> 63 == 1 {
        add_assign(number, d);
        q = q.wrapping_sub(1);
    }
    while compare(number, d) != Ordering::Less {
        sub_assign(number, d);
        q = q.wrapping_add(1);
    }
    (q, Remainder(u.map(|limb| !limb)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limbs;
    use crate::sample::Sample;

    /// Returns V = ⌊(B³ − 1)/D⌋ for the two top limbs D of d. Its upper limb is 1.
    fn reciprocal(d: &[u64]) -> Vec<u64> {
        let (v, _) = limbs::div_rem(&[u64::MAX; 3], &d[d.len() - 2..]);
        assert_eq!((v.len(), v[1]), (2, 1), "V is not between B and 2·B");
        v
    }

    /// Divides r·2^64 + x by d, and returns how much the limb of the quotient exceeds the estimate.
    #[track_caller]
    fn check<const M: usize>(d: &[u64; M], r: &[u64; M], x: u64) -> i64 {
        let v = reciprocal(d);
        let Some(digits) = Digits::new(d, v[0]) else { return 0 };
        let mut u = vec![x];
        u.extend(r);
        let (want_q, mut want_r) = limbs::div_rem(&u, d);
        want_r.resize(M, 0);
        let (q, rest) = digits.next(Remainder::new(*r), x);
        let got = (&[q][..usize::from(q > 0)], &rest.limbs()[..]);
        assert_eq!(got, (&want_q[..], &want_r[..]), "{r:x?} and {x:x} by {d:x?}");
        let mut guess = limbs::mul(&v, &[r[M - 1]]);
        limbs::add_assign(&mut guess, &[r[M - 2]]);
        q.wrapping_sub(guess[1]) as i64
    }

    /// Tests divisors and remainders of M limbs. Returns how often a limb of a quotient exceeded the
    /// estimate by −1, 0, 1, 2 and 3.
    fn counts<const M: usize>() -> [usize; 5] {
        let (mut sample, mut counts) = (Sample::new(M as u64), [0; 5]);
        let mut count = |excess: i64| {
            assert!((-1..4).contains(&excess), "an estimate is wrong by {excess}");
            counts[(excess + 1) as usize] += 1;
        };
        for round in 0..20_000 {
            let mut d: [u64; M] = std::array::from_fn(|_| sample.limb());
            // Divisors near 2^(64·M − 1) have the worst estimates.
            d[M - 1] = if round % 4 == 0 { sample.word() >> 9 } else { sample.limb() } | 1 << 63;
            // A remainder with the top limbs of d, one just below d, and any other one.
            let mut r = d;
            match round % 3 {
                0 => r[..M - 2].fill_with(|| sample.limb()),
                1 => _ = limbs::sub_assign(&mut r, &[1 + round % 5]),
                _ => r.fill_with(|| sample.limb()),
            }
            if compare(&r, &d) != Ordering::Less {
                let (_, mut rest) = limbs::div_rem(&r, &d);
                rest.resize(M, 0);
                r.copy_from_slice(&rest);
            }
            for x in [0, 1, u64::MAX, sample.word()] {
                count(check(&d, &r, x));
            }
            // A multiple of d, and the dividends below and above it.
            let q = [sample.word(), sample.limb()][round as usize % 2];
            let mut u = limbs::mul(&d, &[q]);
            for below in [0, 1] {
                if !limbs::sub_assign(&mut u, &[below]) {
                    count(check(&d, &std::array::from_fn(|i| u[i + 1]), u[0]));
                }
            }
            let mut u = limbs::mul(&d, &[q]);
            limbs::add_assign(&mut u, &[1]);
            count(check(&d, &std::array::from_fn(|i| u[i + 1]), u[0]));
        }
        // Estimates that are too large. V·u2 is q̂·B + 1, D is (B³ − 1)/V up to a small remainder, the
        // other limbs of d have only ones, and those of u have only zeros.
        for _ in 0..2000 {
            let v = sample.word() | 1;
            let (top, _) = limbs::div_rem(&[u64::MAX; 3], &[v, 1]);
            let mut d = [u64::MAX; M];
            d[M - 2..].copy_from_slice(&top);
            let mut r = [0; M];
            // The inverse of V mod B: each step doubles the number of right bits, at first 3.
            r[M - 1] = (0..5).fold(v, |x, _| x.wrapping_mul(2u64.wrapping_sub(v.wrapping_mul(x))));
            if r[M - 1] < d[M - 1] {
                count(check(&d, &r, 0));
            }
        }
        counts
    }

    fn check_length<const M: usize>() {
        let counts = counts::<M>();
        if has_carry_chains() {
            assert!(counts[..4].iter().all(|&count| count > 0), "{M} limbs: {counts:?}");
        }
        let mut sample = Sample::new(9);
        for round in 0..1000 {
            let mut d: [u64; M] = std::array::from_fn(|_| sample.limb());
            d[M - 1] |= 1 << 63;
            let Some(digits) = Digits::new(&d, reciprocal(&d)[0]) else { return };
            let mut r: [u64; M] = std::array::from_fn(|_| sample.limb());
            if round % 4 == 0 {
                r = d;
                limbs::sub_assign(&mut r, &[round / 4 % 2]);
            }
            let (want_q, mut want_r) = limbs::div_rem(&r, &d);
            want_r.resize(M, 0);
            let (q, rest) = digits.first(Remainder::new(r));
            let got = (&[q][..usize::from(q > 0)], &rest.limbs()[..]);
            assert_eq!(got, (&want_q[..], &want_r[..]), "{r:x?} by {d:x?}");
        }
    }

    #[test]
    fn limbs_of_quotients() {
        check_length::<3>();
        check_length::<4>();
        check_length::<5>();
        check_length::<6>();
        check_length::<7>();
        check_length::<8>();
    }
}
