//! Division by a reciprocal, which Newton's iteration computes (Brent and Zimmermann 2010, *Modern
//! Computer Arithmetic*, §2.4.1 and §3.4.1).
//!
//! Let β = 2^64, and let d be a divisor of m limbs with its top bit set. A reciprocal of the p ≤ m
//! top limbs D of d is a number I = β^p + X with 0 ≤ X < β^p and I·D < β^(2p) ≤ (I + 2)·D. A block
//! of p limbs of a quotient is estimated by ⌊u·I/β^p⌋, where u consists of the p top limbs of the
//! dividend. A product of the estimate and d yields the remainder, and the estimate is corrected by
//! a few units.
//!
//! *The error of the estimate.* Let U < d·β^p be the dividend of the block, q = ⌊U/d⌋, and q' the
//! estimate. Let u be the p top limbs of U, which has m + p limbs. Then u ≤ D, so q' ≤ u·I/β^p < β^p.
//! U/d exceeds u·β^p/(D + 1), and q' ≤ u·β^p/D ≤ u·β^p/(D + 1) + 2, because u·β^p/(D·(D + 1)) ≤ 2. So
//! q' ≤ q + 2. In the other direction, U/d < (u + 1)·β^p/D and q' > u·(β^p/D − 2/β^p) − 1, so q < q'
//! + β^p/D + 3 ≤ q' + 5.
//!
//! *The length of the reciprocal.* Measure the cost of a product by the number of limbs of the
//! result. A reciprocal of p limbs costs about 5·p. A block costs 2·p for the estimate and p + m for
//! the remainder. So a quotient of k limbs costs 5·p + 3·k + k·m/p, which is least for p =
//! √(k·m/5).

use crate::limbs::{add_assign, compare, sub_assign};
use crate::product::Multiplier;

/// The largest number of limbs of a reciprocal that is computed by a division instead of Newton's
/// iteration.
const DIVIDED_TO: usize = 64;

/// The number of limbs of quotient and divisor from which division by a reciprocal is used instead
/// of recursive division. On one thread both take the same time at about this size. Measured by
/// `cargo test -p warpint-natural newton_crossover -- --ignored --nocapture`. On several threads
/// recursive division falls behind, because most of its products are too short for several threads.
pub(super) const NEWTON_FROM: usize = 2_048;

/// Returns X, the reciprocal of D without its top limb, which is 1: I·D < β^(2p) ≤ (I + 2)·D for I =
/// β^p + X, where β = 2^64 and D has p limbs, of which the top bit is set. X has p limbs.
///
/// Newton's iteration (Brent and Zimmermann 2010, *Modern Computer Arithmetic*, §3.4.1). Cost O(M(p)),
/// where M(p) is the cost of a product of p limbs: two products of p by p/2 limbs in the last step.
///
/// # Panics
/// Panics if D has no limbs, or if its top bit is not set.
#[must_use]
pub fn reciprocal(multiplier: &dyn Multiplier, d: &[u64]) -> Vec<u64> {
    assert!(d.last().is_some_and(|top| top >> 63 == 1), "the top bit is not set");
    let p = d.len();
    if p <= DIVIDED_TO {
        // ⌊(β^(2p) − 1)/D⌋ is from β^p to 2·β^p − 1.
        let (mut quotient, _) = super::div_rem_by(multiplier, &vec![u64::MAX; 2 * p], d);
        quotient.truncate(p);
        quotient.resize(p, 0);
        return quotient;
    }
    let low = (p - 1) / 2;
    let h = p - low;
    // I = β^h + `top` for the h top limbs of D.
    let mut top = reciprocal(multiplier, &d[low..]);
    // T = D·I, of p + h + 1 limbs.
    let mut t = multiplier.mul(d, &top);
    t.push(0);
    add_assign(&mut t[h..], d);
    // I is too large for D if T ≥ β^(p + h). X is positive then, because D < β^p.
    while t[p + h] != 0 {
        sub_assign(&mut top, &[1]);
        sub_assign(&mut t, d);
    }
    // T ← β^(p + h) − T, which is below 2^65·β^p.
    t.truncate(p + h);
    for limb in &mut t {
        *limb = !*limb;
    }
    add_assign(&mut t, &[1]);
    let t = crate::limbs::trimmed(&t[low..]);
    // U = ⌊T/β^low⌋·I; the reciprocal is I·β^low + ⌊U·β^(low − 2h)⌋.
    let mut u = multiplier.mul(t, &top);
    u.resize(u.len().max(h + t.len()) + 1, 0);
    add_assign(&mut u[h..], t);
    let mut x = vec![0; p];
    x[low..].copy_from_slice(&top);
    let correction = crate::limbs::trimmed(&u);
    if correction.len() > 2 * h - low {
        add_assign(&mut x, &correction[2 * h - low..]);
    }
    x
}

/// Returns the number of limbs of the reciprocal for a quotient of `k` limbs and a divisor of `m`
/// limbs: about √(k·m/5), such that the quotient consists of blocks of equal length.
pub(super) fn block(k: usize, m: usize) -> usize {
    let blocks = (5.0 * k as f64 / m as f64).sqrt().round() as usize;
    k.div_ceil(blocks.max(k.div_ceil(m)).max(1))
}

/// Computes q ← ⌊u/d⌋ and replaces u by u mod d. q has k limbs, d has m limbs, and u has k + m limbs.
/// `x` is the [`reciprocal`] of the p top limbs of d. k must be a multiple of p, and u < d·β^k.
pub(super) fn divide(
    multiplier: &dyn Multiplier,
    q: &mut [u64],
    u: &mut [u64],
    d: &[u64],
    x: &[u64],
) {
    let (m, p) = (d.len(), x.len());
    for (i, q) in q.chunks_exact_mut(p).enumerate().rev() {
        let window = &mut u[i * p..][..m + p];
        let top = &window[m..];
        // q' = ⌊u·(β^p + X)/β^p⌋ = u + ⌊u·X/β^p⌋.
        let product = multiplier.mul(top, x);
        q.copy_from_slice(&product[p..]);
        add_assign(q, top);
        drop(product);
        let product = multiplier.mul(q, d);
        // The remainder in m + 1 limbs; it is from −2·d to 6·d.
        let rest = &mut window[..=m];
        sub_assign(rest, &product[..=m]);
        drop(product);
        while rest[m] >> 63 != 0 {
            add_assign(rest, d);
            sub_assign(q, &[1]);
        }
        while compare(rest, d).is_ge() {
            sub_assign(rest, d);
            add_assign(q, &[1]);
        }
        window[m + 1..].fill(0);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::limbs::{self, mul, trimmed};
    use crate::product::{FastProducts, Schoolbook};
    use crate::sample::Sample;

    /// Checks the invariant of [`reciprocal`].
    fn check_reciprocal(d: &[u64]) {
        let p = d.len();
        let mut i = reciprocal(&FastProducts, d);
        i.push(1);
        let mut power = vec![0; 2 * p + 1];
        power[2 * p] = 1;
        assert!(compare(&mul(&i, d), &power).is_lt(), "{p} limbs: too large");
        add_assign(&mut i, &[2]);
        assert!(compare(&mul(&i, d), &power).is_ge(), "{p} limbs: too small");
    }

    #[test]
    fn reciprocals_at_all_lengths() {
        let mut sample = Sample::new(5);
        for p in (1..300).chain([511, 512, 513, 1001]) {
            let mut random = sample.number(p);
            random[p - 1] |= 1 << 63;
            let mut least = vec![0; p];
            least[p - 1] = 1 << 63;
            let mut next = least.clone();
            next[0] |= 1;
            for d in [random, least, next, vec![u64::MAX; p]] {
                check_reciprocal(&d);
            }
        }
    }

    /// Compares quotients and remainders with those of the schoolbook method, for all lengths of
    /// blocks of short numbers, and for numbers that make the estimate as wrong as possible.
    #[test]
    fn quotients_for_all_lengths_of_blocks() {
        let mut sample = Sample::new(6);
        for m in 1..14 {
            for p in 1..=m {
                for blocks in 1..4 {
                    for kind in 0..6 {
                        let mut d = match kind {
                            0 => vec![u64::MAX; m],
                            1 => vec![0; m],
                            // The limbs below the top are as large as possible.
                            2 => [vec![u64::MAX; m - 1], vec![1 << 63]].concat(),
                            _ => sample.number(m),
                        };
                        d[m - 1] |= 1 << 63;
                        let k = blocks * p;
                        // u = d·a + r is below d·β^k.
                        let a = if kind == 4 { vec![u64::MAX; k] } else { sample.number(k) };
                        let mut u = mul(&a, &d);
                        let mut rest = d.clone();
                        sub_assign(&mut rest, &[1]);
                        if kind % 2 == 0 {
                            add_assign(&mut u, &rest);
                        }
                        let want = limbs::div_rem(&u, &d);
                        let x = reciprocal(&Schoolbook, &d[m - p..]);
                        let mut q = vec![3; k];
                        divide(&Schoolbook, &mut q, &mut u, &d, &x);
                        assert!(trimmed(&q) == want.0, "{m} limbs, blocks of {p}, kind {kind}");
                        assert!(trimmed(&u) == want.1, "{m} limbs, blocks of {p}, kind {kind}");
                    }
                }
            }
        }
    }

    #[test]
    fn blocks_cover_the_quotient() {
        for k in 1..400 {
            for m in 1..100 {
                let p = block(k, m);
                assert!(p >= 1 && p <= m.min(k), "{k} by {m}: {p}");
            }
        }
    }

    /// Prints the times of divisions of 2n limbs by n limbs, by recursive division and by a
    /// reciprocal, on the caller's thread.
    #[test]
    #[ignore = "a measurement"]
    fn newton_crossover() {
        println!("us for 2n limbs by n: n, recursive division, reciprocal and division");
        for n in [256, 512, 1024, 2048, 4096, 8192, 16_384, 65_536] {
            let mut sample = Sample::new(n as u64);
            let (a, mut d) = (sample.number(2 * n), sample.number(n));
            d[n - 1] |= 1 << 63;
            let time = |work: &mut dyn FnMut()| {
                let once = |_| {
                    let start = Instant::now();
                    work();
                    start.elapsed().as_secs_f64() * 1e6
                };
                (0..(2_000_000 / n).clamp(3, 200)).map(once).fold(f64::MAX, f64::min)
            };
            let mut divider = crate::division::Divider::default();
            let (mut q, mut r) = (vec![0; n + 1], vec![0; n]);
            let recursive = time(&mut || {
                divider.set(&d);
                divider.div_rem(&mut q, &mut r, &a);
            });
            let newton = time(&mut || {
                let p = block(n, n);
                let x = reciprocal(&FastProducts, &d[n - p..]);
                let mut u = a.clone();
                u[2 * n - 1] >>= 1;
                let mut q = vec![0; n.next_multiple_of(p)];
                u.resize(n + q.len(), 0);
                divide(&FastProducts, &mut q, &mut u, &d, &x);
            });
            println!("{n:6} {recursive:11.1} {newton:11.1}");
        }
    }
}
