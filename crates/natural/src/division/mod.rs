//! Division. The method depends on the lengths of the divisor and of the quotient:
//!
//! * Divisors of one or two limbs: each limb of the quotient is computed with the reciprocal of the
//!   divisor (`short`, `reciprocal`). On x86-64, the first division by a new divisor of one limb
//!   is a hardware division instead, if the dividend has two limbs and one division is enough.
//! * Divisors of three to eight limbs, on x86-64 processors with BMI2 and ADX: the schoolbook method
//!   below, with another estimate, and with the remainder in registers. The multiple of the divisor
//!   is subtracted before the estimate is corrected (`in_registers`).
//! * Short divisors or short quotients: the schoolbook method, algorithm D (Knuth 1997, *The Art of
//!   Computer Programming* 2, §4.3.1). Each limb of the quotient is estimated with the reciprocal
//!   of the two top limbs of the divisor. The estimate is right or, rarely, too large by 1
//!   (`schoolbook`).
//! * Long divisors and long quotients: recursive division (Burnikel and Ziegler 1998, *Fast
//!   Recursive Division*, Max-Planck-Institut für Informatik, report MPI-I-98-1-022). A block of k
//!   limbs of the quotient is estimated by a division by the k top limbs of the divisor. The
//!   product of the estimate and the other limbs of the divisor gives the correction. The estimate
//!   is too large by at most 2 (`recursive`).
//! * Very long divisors and quotients, by [`div_rem_by`] and [`Prepared`]: the reciprocal of the top
//!   of the divisor is computed by Newton's iteration (`newton`, `prepared`). Nearly all work
//!   consists of a few long products.
//!
//! All methods except the first work in place: the remainder replaces the dividend. [`reciprocal`] is
//! also for callers that need the leading limbs of a long quotient.

mod divisor;
#[cfg(target_arch = "x86_64")]
mod in_registers;
mod newton;
mod prepared;
mod reciprocal;
mod recursive;
mod schoolbook;
mod short;

use crate::limbs::{at_least, copy_to, shift_left_to, trim, trimmed};
use crate::product::{Multiplier, Products};
use divisor::{Divisor, Top};
pub use newton::reciprocal;
pub use reciprocal::OneLimb;
use reciprocal::TwoLimbs;
use recursive::{Blocks, ProductsTo};
use short::{by_new, by_one, by_two, two_by_one};

/// Divides numbers by a stored divisor, and reuses its working memory from one division to the
/// next.
#[derive(Debug, Default)]
pub struct Divider {
    divisor: Divisor,
    dividend: Vec<u64>,
    blocks: Blocks<Products>,
}

impl Divider {
    /// Sets the divisor of all further divisions to d, and computes its reciprocal if d has two
    /// limbs or more. d may be 0 and may have leading zero limbs. Cost O(m) for d of m limbs.
    #[inline]
    pub fn set(&mut self, d: &[u64]) {
        self.divisor.set(d);
    }

    /// Returns whether the divisor is 0.
    #[inline]
    #[must_use]
    pub fn is_zero(&self) -> bool {
        matches!(self.divisor.top, Top::Zero)
    }

    /// Computes q ← ⌊a/d⌋ and r ← a mod d, where d is the stored divisor. If d = 0, both q and r
    /// become zero.
    ///
    /// Let a have n limbs and d have m limbs, not counting leading zero limbs. r must have at least
    /// m limbs. If n ≥ m, q must have at least n − m + 1 limbs. If n < m, q may have any length.
    /// Limbs above the results are set to 0.
    ///
    /// # Panics
    /// May panic if q or r is too short.
    ///
    /// The cost is O(l·m) limb products for a quotient of l limbs. If divisor and quotient are
    /// long, the quotient is computed in blocks of at most m limbs. Each block costs O(M(m)·log m),
    /// where M(m) is the cost of a product of two numbers of m limbs.
    #[inline]
    pub fn div_rem(&mut self, q: &mut [u64], r: &mut [u64], a: &[u64]) {
        let Self { divisor, dividend, blocks } = self;
        divide(divisor, dividend, blocks, [q, r], trimmed(a));
    }
}

/// Implements [`Divider::div_rem`]. The arguments are the fields of a [`Divider`], the outputs q
/// and r, and the dividend a without leading zero limbs.
#[inline(always)]
fn divide(
    divisor: &mut Divisor,
    dividend: &mut Vec<u64>,
    blocks: &mut Blocks<impl ProductsTo>,
    [q, r]: [&mut [u64]; 2],
    a: &[u64],
) {
    let shift = divisor.shift;
    match &divisor.top {
        &Top::One(d) => by_one(d, shift, q, r, a),
        &Top::New(d) => {
            divisor.top = Top::Used(d);
            if !two_by_one(d, shift, q, r, a) {
                by_new(divisor, d, q, r, a);
            }
        }
        &Top::Used(d) => by_new(divisor, d, q, r, a),
        &Top::Two(v) if a.len() >= divisor.limbs.len() => {
            if let &[d0, d1] = &divisor.limbs[..] {
                by_two(TwoLimbs::with_reciprocal(d1, d0, v), shift, q, r, a);
                return;
            }
            #[cfg(target_arch = "x86_64")]
            if in_registers::divide(divisor, v, q, r, a) {
                return;
            }
            divide_long(divisor, v, dividend, blocks, [q, r], a);
        }
        Top::Zero => {
            q.fill(0);
            r.fill(0);
        }
        Top::Two(_) => {
            q.fill(0);
            copy_to(r, a);
        }
    }
}

/// Implements [`divide`] for a divisor of at least three limbs. v is the reciprocal of its two top
/// limbs. The dividend a is not shorter than the divisor and has no leading zero limbs.
#[inline(never)]
fn divide_long(
    divisor: &Divisor,
    v: u64,
    dividend: &mut Vec<u64>,
    blocks: &mut Blocks<impl ProductsTo>,
    [q, r]: [&mut [u64]; 2],
    a: &[u64],
) {
    let shift = divisor.shift;
    let d = &divisor.limbs[..];
    let top = TwoLimbs::with_reciprocal(d[d.len() - 1], d[d.len() - 2], v);
    let u = at_least(dividend, a.len() + 1);
    shift_left_to(u, a, shift);
    // The top limb of u is below 2^shift, hence below the top limb of d. It is omitted if it is 0
    // and the limb below it is less than the top limb of d.
    let mut limbs = u.len();
    if u[limbs - 1] == 0 && u[limbs - 2] < d[d.len() - 1] {
        limbs -= 1;
    }
    let (u, k) = (&mut u[..limbs], limbs - d.len());
    let (low, high) = q.split_at_mut(k);
    clear(high);
    blocks.divide(low, u, d, top);
    let (low, high) = r.split_at_mut(d.len());
    let mut above = 0;
    for (r, &limb) in low.iter_mut().zip(&u[..d.len()]).rev() {
        *r = limb >> shift | above << 1 << (63 - shift);
        above = limb;
    }
    clear(high);
}

/// Sets x to zero. Usually x is empty. A call of `memset` would then take as long as a short
/// division.
#[inline(always)]
fn clear(x: &mut [u64]) {
    if !x.is_empty() {
        x.fill(0);
    }
}

/// Returns ⌊a/b⌋ and a mod b, both without leading zero limbs. `multiplier` computes the products of
/// long divisions.
///
/// The cost is that of [`Divider::div_rem`]. If b and the quotient have at least 2,048 limbs, it is
/// less: 3.75 times that of a product of two numbers of n limbs, if both have n limbs.
///
/// # Panics
/// Panics if b is zero.
#[must_use]
pub fn div_rem_by(multiplier: &dyn Multiplier, a: &[u64], b: &[u64]) -> (Vec<u64>, Vec<u64>) {
    let (a, b) = (trimmed(a), trimmed(b));
    prepared::div_rem(multiplier, a, b).unwrap_or_else(|| by_blocks(multiplier, a, b))
}

/// A divisor d, with a reciprocal if d is long, for many divisions of long numbers by d.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// d·2^shift, which has its top bit set.
    d: Vec<u64>,
    shift: u32,
    /// The reciprocal of some top limbs of d·2^shift (see `newton`). It is empty if d is too short
    /// for division by a reciprocal.
    reciprocal: Vec<u64>,
}

/// Implements [`div_rem_by`] by recursive division and by the methods for short numbers.
fn by_blocks(multiplier: &dyn Multiplier, a: &[u64], b: &[u64]) -> (Vec<u64>, Vec<u64>) {
    let mut divisor = Divisor::default();
    divisor.set(b);
    assert!(!matches!(divisor.top, Top::Zero), "division by zero");
    let (mut q, mut r) = (vec![0; a.len()], vec![0; b.len()]);
    let mut blocks = Blocks { product: vec![], products: multiplier };
    divide(&mut divisor, &mut vec![], &mut blocks, [&mut q, &mut r], trimmed(a));
    trim(&mut q);
    trim(&mut r);
    (q, r)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limbs;
    use crate::sample::Sample;

    /// Returns ⌊a/d⌋ in as many limbs as a, and a mod d in as many limbs as d, both computed by
    /// [`Divider::div_rem`]. Divides three times, because the first divisions by a divisor of one
    /// limb differ.
    #[track_caller]
    fn div_rem(divider: &mut Divider, a: &[u64], d: &[u64]) -> (Vec<u64>, Vec<u64>) {
        divider.set(d);
        let [first, second, third] = [3, 4, 5].map(|old| {
            let (mut q, mut r) = (vec![old; a.len()], vec![old; d.len()]);
            divider.div_rem(&mut q, &mut r, a);
            (q, r)
        });
        assert!(first == second && second == third, "{a:x?} by {d:x?}, repeated");
        third
    }

    #[track_caller]
    fn check(divider: &mut Divider, a: &[u64], d: &[u64]) {
        let (mut q, mut r) = div_rem(divider, a, d);
        let want = limbs::div_rem(a, d);
        limbs::trim(&mut q);
        limbs::trim(&mut r);
        assert!((q, r) == want, "{a:x?} by {d:x?}");
    }

    /// Tests dividends that are multiples of the divisor, and dividends next to multiples.
    #[test]
    fn multiples_and_their_neighbours() {
        let mut divider = Divider::default();
        let mut sample = Sample::new(1);
        for round in 0..6000 {
            let (k, m) = (1 + round % 7, 1 + round / 7 % 10);
            let (q, mut d) = (sample.number(k), sample.number(m));
            // Some divisors have the top bit, and the other ones must be shifted.
            d[m - 1] =
                if round % 2 == 0 { d[m - 1] | 1 << 63 } else { d[m - 1] >> (round % 63) | 1 };
            let product = limbs::mul(&q, &d);
            check(&mut divider, &product, &d);
            let mut below = product.clone();
            if !limbs::sub_assign(&mut below, &[1]) {
                check(&mut divider, &below, &d);
            }
            let mut above = product;
            if !limbs::add_assign(&mut above, &[1]) {
                check(&mut divider, &above, &d);
            }
            // The largest dividend with this quotient, or a shorter one.
            limbs::add_assign(&mut above, &d);
            check(&mut divider, &above, &d);
        }
    }

    /// Tests divisors of one and two limbs, with and without the top bit, for dividends made of few
    /// different limbs. Among these are dividends whose first quotient limb is 0 or 1.
    #[test]
    fn short_divisors() {
        let mut divider = Divider::default();
        let words = [0, 1, (1 << 63) - 1, 1 << 63, u64::MAX - 1, u64::MAX];
        for d in words.into_iter().flat_map(|low| words.map(|high| [low, high])) {
            if d == [0, 0] {
                continue;
            }
            for n in 1..=4 {
                for code in 0..words.len().pow(n) {
                    let digit = |i: u32| words[code / words.len().pow(i) % words.len()];
                    check(&mut divider, &(0..n).map(digit).collect::<Vec<_>>(), &d);
                }
            }
        }
    }

    /// Tests limbs of quotients whose estimates are too large by one. The estimate uses only the
    /// two top limbs of the divisor. All bits of the other limbs are ones.
    #[test]
    fn guesses_that_are_too_large() {
        let mut divider = Divider::default();
        for top in [1 << 63, (1 << 63) + 1, u64::MAX, 0xc000_0000_0000_0001] {
            for second in [0, 1, u64::MAX, 1 << 63] {
                for ones in 1..8 {
                    let mut d = vec![u64::MAX; ones];
                    d.extend([second, top]);
                    for q in [1, 2, 3, 1 << 32, 1 << 63, u64::MAX - 1, u64::MAX] {
                        // q·(d + 1) − 1, and numbers next to it: the estimate is q.
                        let mut a = limbs::mul(&d, &[q]);
                        limbs::add_assign(&mut a, &[q]);
                        for less in 1..4 {
                            let mut a = a.clone();
                            limbs::sub_assign(&mut a, &[less]);
                            check(&mut divider, &a, &d);
                        }
                    }
                }
            }
        }
    }

    /// Tests dividends and divisors of all short lengths. Many limbs have only ones or only zeros.
    #[test]
    fn all_short_lengths() {
        let mut divider = Divider::default();
        let mut sample = Sample::new(5);
        for n in 0..20 {
            for m in 1..12 {
                for round in 0..60 {
                    let (a, mut d) = (sample.number(n), sample.number(m));
                    d[m - 1] = sample.limb() >> (round * 7 % 64) | 1;
                    check(&mut divider, &a, &d);
                    check(&mut divider, &vec![u64::MAX; n], &d);
                    check(&mut divider, &a, &vec![u64::MAX; m]);
                }
            }
        }
    }

    /// Compares recursive division with the schoolbook method. Some quotients cannot be divided
    /// into blocks of equal length.
    #[test]
    fn long_divisions() {
        let mut divider = Divider::default();
        let mut sample = Sample::new(9);
        let lengths = [1, 2, 23, 24, 47, 48, 49, 95, 96, 97, 131, 200, 257, 300];
        for k in lengths {
            for m in lengths {
                let d = sample.number(m);
                if trimmed(&d).is_empty() {
                    continue;
                }
                check(&mut divider, &sample.number(k + m), &d);
                // All bits are ones: the estimates of all pieces are too large.
                let mut ones = vec![u64::MAX; m];
                check(&mut divider, &vec![u64::MAX; k + m], &ones);
                ones[m - 1] = 1 << 63;
                let mut a = limbs::mul(&vec![u64::MAX; k], &ones);
                check(&mut divider, &a, &ones);
                limbs::sub_assign(&mut a, &[1]);
                check(&mut divider, &a, &ones);
                // Equal upper halves.
                let mut a = vec![0; k];
                a.extend(&ones);
                limbs::sub_assign(&mut a, &[1]);
                check(&mut divider, &a, &ones);
            }
        }
    }

    #[test]
    fn zero_and_short_numbers() {
        let mut divider = Divider::default();
        assert_eq!(div_rem(&mut divider, &[5, 7], &[0, 0, 0]), (vec![0, 0], vec![0, 0, 0]));
        assert_eq!(div_rem(&mut divider, &[5], &[0, 7]), (vec![0], vec![5, 0]));
        assert_eq!(div_rem(&mut divider, &[0, 0], &[3, 0]), (vec![0, 0], vec![0, 0]));
        assert_eq!(div_rem(&mut divider, &[9, 0], &[9, 0]), (vec![1, 0], vec![0, 0]));
    }
}
