//! The greatest common divisor of two numbers, optionally with a cofactor.
//!
//! In this module, (a; b) is a column vector, and (p q; r s) is the matrix with rows p, q and r, s.
//! A step replaces the numbers a and b by a' and b' with (a; b) = M·(a'; b'), where M is a matrix
//! of non-negative integers with determinant 1. Let T = (t00 t01; t10 t11) be the product of all M,
//! so that (A; B) = T·(a; b) for the initial numbers A and B. Then a = t11·A − t01·B and b = t00·B
//! − t10·A. So the second row of T contains the cofactors of A, apart from their signs. The entries
//! of this row are at most B, because B = t10·a + t11·b. The cofactor of B is not computed. Let g
//! be the greatest common divisor, and x the cofactor of A. The caller obtains the cofactor of B by
//! a division, as (g − x·A)/B.
//!
//! Most steps are derived from the leading 128 bits of both numbers (`lehmer`), or, for long
//! numbers, from half-gcds of the upper parts (`half_gcd`). If the lengths of the numbers differ
//! too much, or the numbers themselves too little, for these methods, the step is a division.

use std::cmp::Ordering;

use super::half_gcd::{Cancelled, Context, reduce_top};
use super::lehmer::{self, Small};
use crate::division::Divider;
use crate::limbs::{add_assign, at_least, compare, trim, trimmed};
use crate::product::{FastProducts, Multiplier, Products};

/// The smallest number of 64-bit limbs of the longer number for which half-gcds are faster than
/// steps by leading parts. The first entry is for a gcd alone, the second entry for a gcd with a
/// cofactor. Measured by `cargo test --release -p warpint-natural gcd_crossover -- --ignored
/// --nocapture` on an AMD EPYC with AVX2.
const HALF_GCD_FROM: [usize; 2] = [550, 450];

/// The context of half-gcds that run on the caller's thread and cannot be cancelled.
const HERE: Context = Context { multiplier: &FastProducts, cancel: &|| false };

/// Returns gcd(a, b) without leading zero limbs; gcd(a, 0) = a. Returns `None` if `cancel` returns
/// true. The function `cancel` is called at the start and before each half-gcd.
///
/// The method is Euclid's algorithm by half-gcds, with products by `multiplier`. Cost O(M(n)·log n)
/// for n limbs, where M(n) is the cost of a product of n limbs.
#[must_use]
pub fn gcd(
    a: &[u64],
    b: &[u64],
    multiplier: &dyn Multiplier,
    cancel: &dyn Fn() -> bool,
) -> Option<Vec<u64>> {
    if cancel() {
        return None;
    }
    let mut euclid = Euclid::default();
    euclid.divide_out(a, b, &Context { multiplier, cancel }).ok()?;
    Some(euclid.a)
}

/// Computes greatest common divisors, and reuses its working memory from one pair of numbers to the
/// next.
#[derive(Debug)]
pub struct Euclid {
    half_gcd_from: [usize; 2],
    a: Vec<u64>,
    b: Vec<u64>,
    cofactors: Cofactors,
    quotient: Vec<u64>,
    remainder: Vec<u64>,
    divider: Divider,
}

/// One step of the reduction of a pair of numbers to their greatest common divisor.
enum Step {
    /// A step found from the leading 128 bits of both numbers, given by its matrix. It has not yet
    /// been applied to the numbers.
    Small(Small),
    /// A step by a half-gcd, given by its matrix. It has already been applied to the numbers.
    Half([[Vec<u64>; 2]; 2]),
    /// A division of the larger number by the smaller one. It has not yet been executed.
    Division,
    /// No step is possible, because one number is 0 or both are equal.
    Done,
}

impl Default for Euclid {
    fn default() -> Self {
        Self::new(HALF_GCD_FROM)
    }
}

impl Euclid {
    /// Creates working memory. Half-gcds are used from `half_gcd_from[0]` limbs of the longer
    /// number on for a gcd alone, and from `half_gcd_from[1]` limbs on for a gcd with a cofactor.
    fn new(half_gcd_from: [usize; 2]) -> Self {
        Self {
            half_gcd_from,
            a: vec![],
            b: vec![],
            cofactors: Cofactors::default(),
            quotient: vec![],
            remainder: vec![],
            divider: Divider::default(),
        }
    }

    /// Returns gcd(a, b) without leading zero limbs; gcd(a, 0) = a.
    ///
    /// The cost is O(n²) limb products for n < 550 limbs. For longer numbers it is O(M(n)·log n),
    /// where M(n) is the cost of a product of n limbs.
    pub fn gcd(&mut self, a: &[u64], b: &[u64]) -> &[u64] {
        if let (&[a], &[b]) = (trimmed(a), trimmed(b)) {
            self.a.clear();
            self.a.push(lehmer::gcd_64(a, b));
            return &self.a;
        }
        // Cannot be cancelled.
        let _ = self.divide_out(a, b, &HERE);
        &self.a
    }

    /// Computes `self.a` ← gcd(a, b).
    fn divide_out(&mut self, a: &[u64], b: &[u64], context: &Context) -> Result<(), Cancelled> {
        self.start(a, b);
        while self.longest() > 2 && self.advance(None, context)? {}
        let Self { a, b, .. } = self;
        if a.is_empty() {
            std::mem::swap(a, b);
        } else if !b.is_empty() && a != b {
            let gcd = lehmer::gcd_128(leading(a, 2, 0), leading(b, 2, 0));
            a.clear();
            a.extend([gcd as u64, (gcd >> 64) as u64]);
            trim(a);
        }
        Ok(())
    }

    /// Returns g = gcd(a, b), |x|, and whether x is negative, where x is the integer of least
    /// absolute value with x·a ≡ g mod b. If both x and −x satisfy the congruence, x is positive.
    /// If b = 0 and a > 0, x is 1. If a = b = 0, x is 0. g and |x| have no leading zero limbs.
    ///
    /// The cost is that of [`Self::gcd`] times a constant.
    pub fn gcd_with_cofactor(&mut self, a: &[u64], b: &[u64]) -> (&[u64], &[u64], bool) {
        self.start(a, b);
        let mut t = std::mem::take(&mut self.cofactors);
        t.start();
        // Cannot be cancelled.
        while matches!(self.advance(Some(&mut t), &HERE), Ok(true)) {}
        self.cofactors = t;
        let Self { a, b, cofactors: Cofactors { t10, t11, .. }, .. } = self;
        trim(t10);
        trim(t11);
        // Let B = β·g. If the last step was a division with a quotient q ≥ 2, then β = t10 + q·t11
        // or β = q·t10 + t11. For equal numbers, β = t10 + t11. So the cofactor that is returned is
        // at most β/2 in absolute value, and no other cofactor of A is smaller.
        match (a.is_empty(), b.is_empty()) {
            (true, true) => (a, b, false),
            (false, true) => (a, t11, false),
            (false, false) if compare(t11, t10).is_le() => (a, t11, false),
            _ => (b, t10, !t10.is_empty()),
        }
    }

    fn start(&mut self, a: &[u64], b: &[u64]) {
        self.a.clear();
        self.a.extend(trimmed(a));
        self.b.clear();
        self.b.extend(trimmed(b));
    }

    fn longest(&self) -> usize {
        self.a.len().max(self.b.len())
    }

    /// Executes one step, and updates `cofactors` if it is given. Returns false if no step is
    /// possible, because one number is 0 or both are equal.
    fn advance(
        &mut self,
        cofactors: Option<&mut Cofactors>,
        context: &Context,
    ) -> Result<bool, Cancelled> {
        match self.step(cofactors.is_some(), context)? {
            Step::Done => return Ok(false),
            Step::Half(m) => {
                if let Some(t) = cofactors {
                    t.times(&m);
                }
            }
            Step::Small(m) => {
                let (n, a, b) = (self.longest(), &mut self.a, &mut self.b);
                a.resize(n, 0);
                b.resize(n, 0);
                lehmer::apply_inverse(&m, a, b);
                trim(a);
                trim(b);
                if let Some(t) = cofactors {
                    t.times_small(&m);
                }
            }
            Step::Division => self.divide(cofactors),
        }
        Ok(true)
    }

    fn step(&mut self, with_cofactors: bool, context: &Context) -> Result<Step, Cancelled> {
        let n = self.longest();
        let (a, b) = (&mut self.a, &mut self.b);
        if a.is_empty() || b.is_empty() {
            return Ok(Step::Done);
        }
        if n >= self.half_gcd_from[usize::from(with_cofactors)] {
            if (context.cancel)() {
                return Err(Cancelled);
            }
            // Without cofactors, the matrix is applied to the numbers only. Then half-gcds of the
            // top third are faster than those of the top half, because their matrices are cheaper
            // to apply.
            let p = if with_cofactors { n / 2 } else { 2 * n / 3 };
            if let Some(m) = reduce_top(a, b, p, context)? {
                return Ok(Step::Half(m));
            }
        }
        let small = if n <= 2 {
            lehmer::steps(leading(a, 2, 0), leading(b, 2, 0), true, &mut ())
        } else {
            let top = |x: &[u64]| x.get(n - 1).map_or(64, |top| top.leading_zeros());
            let shift = top(a).min(top(b));
            lehmer::steps(leading(a, n, shift), leading(b, n, shift), false, &mut ())
        };
        Ok(match small {
            Some(m) => Step::Small(m),
            None if a == b => Step::Done,
            None => Step::Division,
        })
    }

    /// Replaces the larger number by its remainder modulo the smaller one. The smaller number must
    /// not be 0. Updates `cofactors` unless the remainder is 0.
    fn divide(&mut self, cofactors: Option<&mut Cofactors>) {
        let Self { a, b, quotient, remainder, divider, .. } = self;
        let of_a = compare(a, b) == Ordering::Greater;
        let (large, small) = if of_a { (a, b) } else { (b, a) };
        divider.set(small);
        divider.div_rem(at_least(quotient, large.len()), at_least(remainder, small.len()), large);
        let (q, rest) = (trimmed(&quotient[..large.len()]), trimmed(&remainder[..small.len()]));
        // If the remainder is 0, the cofactors of the other number are those of the gcd.
        if let Some(t) = cofactors.filter(|_| !rest.is_empty()) {
            t.times_quotient(q, of_a);
        }
        large.clear();
        large.extend(rest);
    }
}

/// The second row (t10, t11) of the matrix T with (A; B) = T·(a; b), where A and B are the initial
/// numbers, and a and b are the current numbers. t11 and −t10 are the cofactors of A: a ≡ t11·A and
/// b ≡ −t10·A mod B. Both entries have the same number of limbs.
#[derive(Debug, Default)]
struct Cofactors {
    t10: Vec<u64>,
    t11: Vec<u64>,
    product: Vec<u64>,
    products: Products,
}

impl Cofactors {
    fn start(&mut self) {
        self.t10.clear();
        self.t10.push(0);
        self.t11.clear();
        self.t11.push(1);
    }

    /// Computes T ← T·M for a matrix M whose entries are single limbs.
    fn times_small(&mut self, m: &Small) {
        let carries = lehmer::apply_right(m, &mut self.t10, &mut self.t11);
        if carries != [0, 0] {
            self.t10.push(carries[0]);
            self.t11.push(carries[1]);
        }
    }

    /// Computes T ← T·M for a matrix M whose entries are long numbers.
    fn times(&mut self, m: &[[Vec<u64>; 2]; 2]) {
        let Self { t10, t11, products, .. } = self;
        let mut column = |x: &[u64], y: &[u64]| {
            let (x, y) = (trimmed(x), trimmed(y));
            let mut sum = vec![0; t10.len() + x.len().max(y.len()) + 1];
            let mut other = sum.clone();
            let mut mul = |out: &mut [u64], t: &[u64], m: &[u64]| {
                let out = &mut out[..t.len() + m.len()];
                if !m.is_empty() {
                    products.mul(out, t, m);
                }
            };
            mul(&mut sum, t10, x);
            mul(&mut other, t11, y);
            add_assign(&mut sum, &other);
            sum
        };
        let (x, y) = (column(&m[0][0], &m[1][0]), column(&m[0][1], &m[1][1]));
        (*t10, *t11) = (x, y);
        self.level();
    }

    /// Updates T for a division with the quotient q ≠ 0. If `of_a` is true, the step was
    /// a ← a − q·b, and T becomes T·(1 q; 0 1). Otherwise the step was b ← b − q·a, and T becomes
    /// T·(1 0; q 1).
    fn times_quotient(&mut self, q: &[u64], of_a: bool) {
        let Self { t10, t11, product, products } = self;
        let (from, to) = if of_a { (t10, t11) } else { (t11, t10) };
        let product = at_least(product, from.len() + q.len());
        products.mul(product, from, q);
        to.resize(product.len() + 1, 0);
        add_assign(to, product);
        self.level();
    }

    /// Gives both entries the same number of limbs, the smallest number that is enough for the
    /// larger entry.
    fn level(&mut self) {
        let limbs = trimmed(&self.t10).len().max(trimmed(&self.t11).len());
        self.t10.resize(limbs, 0);
        self.t11.resize(limbs, 0);
    }
}

/// Returns the 128 bits of x from bit 64·n − shift − 1 down to bit 64·n − shift − 128. Requires
/// n ≥ 2 and shift < 64.
fn leading(x: &[u64], n: usize, shift: u32) -> u128 {
    let limb = |i: usize| u128::from(x.get(i).copied().unwrap_or(0));
    let below = if n > 2 { limb(n - 3) } else { 0 };
    (limb(n - 1) << 64 | limb(n - 2)) << shift | below << shift >> 64
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::limbs;
    use crate::sample::Sample;

    fn number(len: usize, seed: u64) -> Vec<u64> {
        Sample::new(seed).number(len)
    }

    /// Compares gcds with the results g of the slow gcd, for numbers a and b that have a common
    /// factor. The gcds are computed with half-gcds and without half-gcds. Checks that the cofactor
    /// x satisfies x·a ≡ g mod b.
    #[test]
    fn all_ways_agree() {
        for round in 0..300 {
            let (n, m, k) =
                (1 + round as usize % 17, 1 + round as usize / 17 % 9, round as usize % 4);
            let common = number(k + 1, 3 * round);
            let a = limbs::mul(&number(n, 3 * round + 1), &common);
            let b = limbs::mul(&number(m, 3 * round + 2), &common);
            let want = limbs::gcd(&a, &b);
            for from in [3, 8, 400] {
                let mut euclid = Euclid::new([from; 2]);
                assert_eq!(euclid.gcd(&a, &b), want, "{a:x?} and {b:x?}");
                let (g, x, negative) = euclid.gcd_with_cofactor(&a, &b);
                assert_eq!(g, want, "{a:x?} and {b:x?}");
                if trimmed(&b).is_empty() {
                    continue;
                }
                // x·a ∓ g ≡ 0 mod b.
                let mut multiple = limbs::mul(x, &a);
                multiple.resize(multiple.len().max(g.len()) + 1, 0);
                if negative {
                    add_assign(&mut multiple, g);
                } else {
                    let mut b = limbs::mul(&b, g);
                    limbs::sub_assign(&mut b, g);
                    multiple.resize(multiple.len().max(b.len()) + 1, 0);
                    add_assign(&mut multiple, &b);
                }
                assert!(limbs::div_rem(&multiple, &b).1.is_empty(), "{x:x?}·{a:x?} by {b:x?}");
            }
        }
    }

    /// Prints the times of a gcd by steps from leading parts and of a gcd by half-gcds, and the
    /// same two times for a gcd with a cofactor.
    #[test]
    #[ignore = "a measurement"]
    fn gcd_crossover() {
        println!("us: limbs, gcd: by leading parts, by half-gcds; with a cofactor alike");
        for n in [32, 64, 128, 200, 300, 400, 500, 600, 800, 1000, 1500, 2000, 4096] {
            let (a, b) = (number(n, 1), number(n, 2));
            let time = |work: &mut dyn FnMut()| {
                let once = |_| {
                    let start = Instant::now();
                    work();
                    start.elapsed().as_secs_f64() * 1e6
                };
                (0..(1_000_000 / n / n).clamp(3, 200)).map(once).fold(f64::MAX, f64::min)
            };
            let (mut small, mut half) = (Euclid::new([usize::MAX; 2]), Euclid::new([n / 2; 2]));
            let times = [
                time(&mut || assert!(!small.gcd(&a, &b).is_empty())),
                time(&mut || assert!(!half.gcd(&a, &b).is_empty())),
                time(&mut || assert!(!small.gcd_with_cofactor(&a, &b).0.is_empty())),
                time(&mut || assert!(!half.gcd_with_cofactor(&a, &b).0.is_empty())),
            ];
            println!("{n:5} {}", times.map(|t| format!("{t:11.1}")).concat());
        }
    }
}
