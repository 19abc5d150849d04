//! Fermat's method.

use std::cmp::Ordering;
use std::sync::LazyLock;

use warpint_natural::limbs::{add_assign, compare, mul, sub_assign, trim};
use warpint_natural::root::SquareRoot;

use super::residue::Divisor;

/// Odd prime powers m ≤ 64 that are prime to each other. Modulo m, about half of the residues are
/// squares.
const FACTORS: [u64; 13] = [9, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43];

/// For each m of [`FACTORS`] and for m = 64, the residues modulo m for which a² − n may be a square.
static SIEVES: LazyLock<Sieves> = LazyLock::new(|| Sieves {
    modulus: Divisor::new(FACTORS.iter().product()),
    modulo_64: Sieve::new(64),
    odd: FACTORS.map(Sieve::new),
});

/// Returns (p, q) with n = p·q and p ≥ q > 1 if Fermat's method finds them in `steps` steps. n must
/// be odd.
///
/// Let c = ⌈√n⌉. The method tests whether a² − n is a square b² for a = c, c + 1, …, c + `steps` − 1;
/// then p = a + b and q = a − b (Fermat 1643; for keys found in practice, Böck 2023, *Fermat
/// Factorization in the Wild*, IACR ePrint 2023/026). As a = (p + q)/2 and
/// (p + q)/2 − √n = (p − q)²/(2·(√p + √q)²) ≤ (p − q)²/(8·√n), it finds all p and q with
/// |p − q| ≤ √(8·(`steps` − 1))·n^(1/4). If n is a square, p = q is found in the first step.
///
/// A square is a square modulo every m. Whether a² − n is one modulo m depends on the residues of a
/// and n only, so a sieve of bit masks excludes most a, 64 in a word (Knuth 1997, *The Art of Computer
/// Programming* 2, §4.5.4, algorithm D). Fewer than 1 in 10,000 steps of random n pass the sieve. Only
/// these compute a² − n and its square root.
///
/// Cost: a square root and two residues modulo one limb, a few operations on words for each 64 steps,
/// and a product and a square root of w limbs for each step that passes the sieve, for n of w limbs.
#[must_use]
pub fn close_factors(n: &[u64], steps: u32) -> Option<(Vec<u64>, Vec<u64>)> {
    if n.first().is_none_or(|low| low % 2 == 0) || *n == [1] {
        return None;
    }
    let half = n.len().div_ceil(2);
    let (mut ceil, mut rest) = (vec![0; half + 1], vec![0; half + 1]);
    let mut root = SquareRoot::default();
    root.sqrt_rem(&mut ceil, &mut rest, n);
    if rest.iter().any(|&limb| limb != 0) {
        add_assign(&mut ceil, &[1]);
    }
    candidates(n, &ceil, steps)
        .find_map(|k| {
            // a has `half` + 1 limbs, because n < B^(2·`half`) for B = 2^64.
            let mut a = ceil.clone();
            add_assign(&mut a, &[k]);
            let mut square = mul(&a, &a);
            sub_assign(&mut square, n);
            let (mut b, mut rest) = (vec![0; half + 1], vec![0; half + 2]);
            root.sqrt_rem(&mut b, &mut rest, &square);
            rest.iter().all(|&limb| limb == 0).then_some((a, b))
        })
        .and_then(|(a, b)| {
            let (mut p, mut q) = (a.clone(), a);
            p.push(0);
            add_assign(&mut p, &b);
            sub_assign(&mut q, &b);
            trim(&mut p);
            trim(&mut q);
            // With q = 1 the method has found that n is a prime, or reached the trivial factors.
            (compare(&q, &[1]) == Ordering::Greater).then_some((p, q))
        })
}

/// Returns, in ascending order, the k below `steps` for which (c + k)² − n is a square modulo 64 and
/// modulo each of [`FACTORS`].
fn candidates(n: &[u64], c: &[u64], steps: u32) -> impl Iterator<Item = u64> {
    let sieves = &*SIEVES;
    let modulo_64 = (sieves.modulo_64.mask(n[0]) >> (c[0] % 64)) as u64;
    let (n, c) = (sieves.modulus.residue(n), sieves.modulus.residue(c));
    let odd = sieves.odd.each_ref().map(|sieve| (sieve.m, sieve.mask(n), c % sieve.m));
    let steps = u64::from(steps);
    (0..steps).step_by(64).flat_map(move |first| {
        // Bit k is for step `first` + k. As 64 divides `first`, the word modulo 64 is always the same.
        let mut passed = modulo_64;
        if steps - first < 64 {
            passed &= (1 << (steps - first)) - 1;
        }
        for (m, mask, c) in odd {
            if passed == 0 {
                break;
            }
            passed &= (mask >> ((c + first) % m)) as u64;
        }
        std::iter::from_fn(move || {
            let k = first + u64::from(passed.trailing_zeros());
            let some = passed != 0;
            // Clears the lowest bit.
            passed &= passed.wrapping_sub(1);
            some.then_some(k)
        })
    })
}

/// The sieves of all m.
#[derive(Debug)]
struct Sieves {
    /// The product of [`FACTORS`], which is below 2^58.
    modulus: Divisor,
    modulo_64: Sieve,
    odd: [Sieve; FACTORS.len()],
}

/// The sieve modulo m ≤ 64.
#[derive(Debug)]
struct Sieve {
    m: u64,
    /// Bit a of number n, for 0 ≤ a < 128 and 0 ≤ n < m, is set if a² − n is a square modulo m.
    masks: Vec<u128>,
}

impl Sieve {
    /// Computes the masks, for m ≤ 64.
    fn new(m: u64) -> Self {
        let squares = (0..m).fold(0u64, |squares, y| squares | 1 << (y * y % m));
        let passes = |n: u64, a: u64| squares >> ((a * a + m - n) % m) & 1 == 1;
        let mask = |n| (0..128).filter(|&a| passes(n, a)).fold(0, |mask, a| mask | 1 << a);
        Self { m, masks: (0..m).map(mask).collect() }
    }

    /// Returns the mask of the residue of n. As m ≤ 64, it holds the bits of any 64 consecutive a from
    /// a residue modulo m on.
    fn mask(&self, n: u64) -> u128 {
        self.masks[(n % self.m) as usize]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn limbs(x: u128) -> Vec<u64> {
        let mut limbs = vec![x as u64, (x >> 64) as u64];
        trim(&mut limbs);
        limbs
    }

    fn is_square(x: &[u64]) -> bool {
        let (mut root, mut rest) = (vec![0; x.len()], vec![0; x.len() + 1]);
        SquareRoot::default().sqrt_rem(&mut root, &mut rest, x);
        rest.iter().all(|&limb| limb == 0)
    }

    /// The oracle: takes a² − n from step to step, and the square root in each.
    fn by_steps(n: &[u64], steps: u32) -> Option<(Vec<u64>, Vec<u64>)> {
        let half = n.len().div_ceil(2);
        let (mut a, mut rest) = (vec![0; half + 1], vec![0; half + 1]);
        let mut root = SquareRoot::default();
        root.sqrt_rem(&mut a, &mut rest, n);
        let mut square = vec![];
        if rest.iter().any(|&limb| limb != 0) {
            add_assign(&mut a, &[1]);
            square = mul(&a, &a);
            sub_assign(&mut square, n);
        }
        square.resize(half + 3, 0);
        for _ in 0..steps {
            let (mut b, mut rest) = (vec![0; half + 2], vec![0; half + 3]);
            root.sqrt_rem(&mut b, &mut rest, &square);
            if rest.iter().all(|&limb| limb == 0) {
                let (mut p, mut q) = (a.clone(), a);
                p.resize(half + 2, 0);
                q.resize(half + 2, 0);
                add_assign(&mut p, &b);
                sub_assign(&mut q, &b);
                trim(&mut p);
                trim(&mut q);
                return (compare(&q, &[1]) == Ordering::Greater).then_some((p, q));
            }
            // (a + 1)² − n = a² − n + 2a + 1.
            add_assign(&mut square, &a);
            add_assign(&mut square, &a);
            add_assign(&mut square, &[1]);
            add_assign(&mut a, &[1]);
        }
        None
    }

    fn random() -> impl FnMut() -> u64 {
        let mut seed = 7u64;
        move || {
            seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            seed ^ seed >> 29
        }
    }

    /// Random n, and products of p and q whose distance is at most a few times the bound, so that
    /// the step that finds them is any one, or none.
    #[test]
    fn sieved_steps_find_what_all_steps_find() {
        let mut word = random();
        let mut found = BTreeMap::new();
        for i in 0..600 {
            let length = 1 + i % 5;
            let mut p: Vec<u64> = (0..length).map(|_| word()).collect();
            p[0] |= 1;
            p[length - 1] |= 1 << 62;
            let mut q = p.clone();
            let mut distance = vec![0; length];
            // About √(8·steps·p).
            let bits = 32 * length as u32 + 6;
            distance[(bits / 64) as usize % length] = word() >> (63 - bits % 64) & !1;
            sub_assign(&mut q, &distance);
            let n = if i % 7 == 0 { p } else { mul(&p, &q) };
            for steps in [0, 1, 63, 64, 65, 129, 500] {
                let factors = by_steps(&n, steps);
                assert_eq!(close_factors(&n, steps), factors, "{n:x?} in {steps}");
                *found.entry((steps, factors.is_some())).or_insert(0) += 1;
            }
        }
        assert!(found[&(500, true)] > 50 && found[&(500, false)] > 50, "{found:?}");
        assert!(found[&(500, true)] > found[&(64, true)] + 10, "{found:?}");
    }

    /// Every step where a² − n is a square passes, and few others pass.
    #[test]
    fn candidates_are_the_steps_with_squares() {
        let mut word = random();
        let mut passed = 0;
        for _ in 0..1000 {
            let n = [word() | 1, word(), word(), word()];
            passed += candidates(&n, &[word(), word()], 1000).count();
        }
        assert!(passed < 100, "{passed} of 1,000,000 steps");
        // Here a² − n is a square for many a.
        for n in (1..4000u64).step_by(2) {
            let c = n.isqrt() + u64::from(n.isqrt().pow(2) < n);
            let steps = 100;
            let all: Vec<u64> = candidates(&[n], &[c], steps).collect();
            for k in 0..u64::from(steps) {
                let square = (c + k).pow(2) - n;
                let expected = FACTORS.into_iter().chain([64]).all(|m| {
                    let mut squares = (0..m).map(|y| y * y % m);
                    squares.any(|s| s == square % m)
                });
                assert_eq!(all.contains(&k), expected, "step {k} of {n}");
                assert!(expected || !is_square(&[square]));
            }
        }
    }

    /// Compares with the definition: the odd n below 4,000 with all their factors, and 50 steps.
    #[test]
    fn factors_of_small_numbers() {
        for n in (3..4000u64).step_by(2) {
            let ceil = (1..).find(|c| c * c >= n).unwrap();
            let square = |x: u64| (0..=x).find(|b| b * b >= x).filter(|b| b * b == x);
            let expected = (ceil..ceil + 50)
                .find_map(|a| square(a * a - n).map(|b| (a + b, a - b)))
                .filter(|&(_, q)| q > 1);
            let found = close_factors(&[n], 50).map(|(p, q)| (p[0], q[0]));
            assert_eq!(found, expected, "{n}");
        }
    }

    /// The bound on |p − q| of the documentation: factors at the bound are found, and factors far
    /// above it are not.
    #[test]
    fn the_bound_on_the_difference_holds() {
        for steps in [1, 2, 10, 100] {
            let q = (1u128 << 60) + 33;
            let bound = (8.0 * f64::from(steps - 1)).sqrt() * (q as f64).sqrt();
            for difference in [0, bound as u128 / 2 * 2, bound as u128 / 4 * 2] {
                let p = q + difference;
                let found = close_factors(&limbs(p * q), steps);
                assert_eq!(found, Some((limbs(p), limbs(q))), "{difference} in {steps}");
            }
            let p = q + (2.0 * bound) as u128 / 2 * 2 + (1 << 32);
            assert_eq!(close_factors(&limbs(p * q), steps), None);
        }
    }

    #[test]
    fn numbers_without_close_factors() {
        assert_eq!(close_factors(&[1], 9), None);
        assert_eq!(close_factors(&[], 9), None);
        assert_eq!(close_factors(&[2 * 3], 9), None);
        // A prime: the method would reach p·1.
        assert_eq!(close_factors(&[7], 100), None);
        assert_eq!(close_factors(&[u64::MAX, u64::MAX >> 1], 1000), None);
    }
}
