//! Residues modulo an odd number m of l limbs in Montgomery form (Montgomery 1985, *Modular
//! multiplication without trial division*, Mathematics of Computation 44, 519–521). A residue x is
//! represented by x·R mod m, where R = 2^(64·l).

use super::window::Residues;
use crate::division::Divider;
use crate::kernels::{self, INVERSE_LIMBS};
use crate::limbs::{add_assign, at_least, sub_assign, trimmed};
use crate::product::{Products, mul_2, square_2};

/// The smallest number of limbs for which a reduction by half products is faster than a reduction
/// limb by limb. A reduction by half products computes the low half of one product and the high
/// half of another. Measured by `cargo test --release -p warpint-natural reduction_crossover --
/// --ignored --nocapture` on an AMD EPYC with AVX2.
const PRODUCTS_FROM: usize = 256;

/// The ring of integers modulo an odd number m of l limbs, with working memory. In this type,
/// R = 2^(64·l).
#[derive(Debug)]
pub(crate) struct Montgomery {
    /// The smallest number of limbs of the modulus for which reductions use half products.
    products_from: usize,
    m: Vec<u64>,
    /// R² mod m, where R = 2^(64·l) for m of l limbs. The Montgomery product of x and this number
    /// is x in Montgomery form.
    square_of_r: Vec<u64>,
    /// If l is 1 or reductions use half products, the inverse m^(−1) modulo R = 2^(64·l). Otherwise
    /// −m^(−1) mod 2^(64·w), as [`kernels::reduce`] requires it.
    inverse: Vec<u64>,
    /// The product of 2l limbs that is to be reduced. [`Montgomery::set`] also uses this memory,
    /// for R² of 2l + 1 limbs.
    wide: Vec<u64>,
    half: Vec<u64>,
    divider: Divider,
    products: Products,
}

impl Default for Montgomery {
    fn default() -> Self {
        Self::new(PRODUCTS_FROM)
    }
}

impl Montgomery {
    /// Creates working memory. Reductions use half products if the modulus has at least
    /// `products_from` limbs.
    pub(crate) fn new(products_from: usize) -> Self {
        Self {
            products_from,
            m: vec![],
            square_of_r: vec![],
            inverse: vec![],
            wide: vec![],
            half: vec![],
            divider: Divider::default(),
            products: Products::default(),
        }
    }

    /// Sets the modulus to m, which must be odd.
    pub(crate) fn set(&mut self, m: &[u64]) {
        let m = trimmed(m);
        debug_assert!(m.first().is_some_and(|low| low & 1 == 1), "an even modulus");
        self.m.clear();
        self.m.extend(m);
        self.divider.set(m);
        let l = m.len();
        self.square_of_r.resize(l, 0);
        if let &[m] = m {
            // 2^128 mod m.
            let m = u128::from(m);
            self.square_of_r[0] = ((u128::MAX % m + 1) % m) as u64;
        } else {
            let square = at_least(&mut self.wide, 2 * l + 1);
            square.fill(0);
            square[2 * l] = 1;
            let quotient = at_least(&mut self.half, 2 * l + 1);
            self.divider.div_rem(quotient, &mut self.square_of_r, square);
        }
        if 1 < l && l < self.products_from {
            inverse_of_odd(&mut self.inverse, m, l.min(INVERSE_LIMBS), &mut self.products);
            negate(&mut self.inverse);
        } else {
            inverse_of_odd(&mut self.inverse, m, l, &mut self.products);
        }
    }

    /// Returns the modulus m.
    pub(super) fn modulus(&self) -> &[u64] {
        &self.m
    }

    /// Computes x ← a mod m, where m is the modulus. The result is not in Montgomery form.
    pub(crate) fn residue(&mut self, x: &mut [u64], a: &[u64]) {
        let quotient = at_least(&mut self.half, a.len());
        self.divider.div_rem(quotient, x, a);
    }

    /// Converts x to Montgomery form: x ← x·R mod m, where R = 2^(64·l) for the modulus m of l
    /// limbs.
    #[expect(clippy::wrong_self_convention, reason = "self has the scratch memory")]
    pub(crate) fn to_montgomery(&mut self, x: &mut [u64]) {
        let square = std::mem::take(&mut self.square_of_r);
        self.mul(x, &square);
        self.square_of_r = square;
    }

    /// Converts x from Montgomery form: x ← x/R mod m, where R = 2^(64·l) for the modulus m of l
    /// limbs.
    #[expect(clippy::wrong_self_convention, reason = "self has the scratch memory")]
    pub(super) fn from_montgomery(&mut self, x: &mut [u64]) {
        if let Some(residue) = self.one_limb(x, &[1]) {
            x[0] = residue;
            return;
        }
        let wide = at_least(&mut self.wide, 2 * x.len());
        let (low, high) = wide.split_at_mut(x.len());
        low.copy_from_slice(x);
        high.fill(0);
        self.reduce(x);
    }

    /// Computes x ← wide/R mod m, where R = 2^(64·l) for the modulus m of l limbs. The number in
    /// the lowest 2l limbs of `self.wide` must be below m·R.
    fn reduce(&mut self, x: &mut [u64]) {
        let Self { products_from, m, inverse, wide, half, products, .. } = self;
        let l = m.len();
        let wide = &mut wide[..2 * l];
        if l < *products_from {
            kernels::reduce(wide, m, inverse);
            let (carries, high) = wide.split_at_mut(l);
            reduced_sum(x, carries, high, m);
        } else {
            // As q·m ≡ wide mod R, the lower halves of both are equal.
            let half = at_least(half, 2 * l);
            let (q, product) = half.split_at_mut(l);
            let (low, high) = wide.split_at_mut(l);
            products.mul_low(q, low, inverse);
            products.mul_high(product, q, m, l);
            if sub_assign(high, product) {
                add_assign(high, m);
            }
            x.copy_from_slice(high);
        }
    }
}

impl Montgomery {
    /// Returns x·y/2^64 mod m for a modulus m of one limb. Returns `None` if m has more limbs.
    #[inline]
    fn one_limb(&self, x: &[u64], y: &[u64]) -> Option<u64> {
        let (&[m], &[inverse], &[x], &[y]) = (&self.m[..], &self.inverse[..], x, y) else {
            return None;
        };
        let wide = u128::from(x) * u128::from(y);
        let q = (wide as u64).wrapping_mul(inverse);
        // The lower halves of `wide` and q·m are equal.
        let product = (u128::from(q) * u128::from(m)) >> 64;
        let (rest, negative) = ((wide >> 64) as u64).overflowing_sub(product as u64);
        Some(if negative { rest.wrapping_add(m) } else { rest })
    }
}

impl Montgomery {
    /// Returns wide/2^128 mod m for a modulus m of two limbs and `wide` < m·2^128. `self.inverse`
    /// must be −m^(−1), as for a reduction limb by limb.
    #[inline]
    fn reduce_2(&self, [t0, t1, t2, t3]: [u64; 4]) -> [u64; 2] {
        let (m, inverse) = (&self.m[..2], self.inverse[0]);
        let product = |x: u64, y: u64, z: u64| {
            let t = u128::from(x) * u128::from(y) + u128::from(z);
            (t as u64, t >> 64)
        };
        let sum = |x: u64, y: u128, z: u128| {
            let t = u128::from(x) + y + z;
            (t as u64, t >> 64)
        };
        let q = t0.wrapping_mul(inverse);
        let (low, high) = product(q, m[1], t1);
        let (t1, carry) = sum(low, product(q, m[0], t0).1, 0);
        let (t2, above) = sum(t2, high, carry);
        let q = t1.wrapping_mul(inverse);
        let (low, high) = product(q, m[1], t2);
        let (t2, carry) = sum(low, product(q, m[0], t1).1, 0);
        let (t3, above) = sum(t3, high, carry + above);
        // Below 2m.
        let (t, m) =
            (u128::from(t3) << 64 | u128::from(t2), u128::from(m[1]) << 64 | u128::from(m[0]));
        let (rest, negative) = t.overflowing_sub(m);
        let t = if above != 0 || !negative { rest } else { t };
        [t as u64, (t >> 64) as u64]
    }

    /// Returns whether residues have two limbs and are reduced limb by limb.
    #[inline]
    fn has_two_limbs(&self) -> bool {
        self.m.len() == 2 && self.products_from > 2
    }
}

/// Computes x ← a + b mod m for numbers of l limbs with a + b < 2m. The contents of a are
/// overwritten.
#[inline]
fn reduced_sum(x: &mut [u64], a: &mut [u64], b: &[u64], m: &[u64]) {
    let mut carry = false;
    for ((x, &a), &b) in x.iter_mut().zip(&*a).zip(b) {
        let (s, c1) = a.overflowing_add(b);
        let (s, c2) = s.overflowing_add(u64::from(carry));
        (*x, carry) = (s, c1 | c2);
    }
    let mut borrow = false;
    for ((d, &x), &m) in a.iter_mut().zip(&*x).zip(m) {
        let (t, b1) = x.overflowing_sub(m);
        let (t, b2) = t.overflowing_sub(u64::from(borrow));
        (*d, borrow) = (t, b1 | b2);
    }
    // A mask instead of a branch, because the processor could not predict the branch.
    let mask = u64::from(carry || !borrow).wrapping_neg();
    for (x, &d) in x.iter_mut().zip(&*a) {
        *x ^= (*x ^ d) & mask;
    }
}

impl Residues for Montgomery {
    fn limbs(&self) -> usize {
        self.m.len()
    }

    fn mul(&mut self, x: &mut [u64], y: &[u64]) {
        if let Some(product) = self.one_limb(x, y) {
            x[0] = product;
            return;
        }
        if let ([x0, x1], &[y0, y1]) = (&mut *x, y)
            && self.has_two_limbs()
        {
            [*x0, *x1] = self.reduce_2(mul_2([*x0, *x1], [y0, y1]));
            return;
        }
        self.products.mul(at_least(&mut self.wide, 2 * x.len()), x, y);
        self.reduce(x);
    }

    fn square(&mut self, x: &mut [u64]) {
        if let Some(square) = self.one_limb(x, x) {
            x[0] = square;
            return;
        }
        if let [x0, x1] = x
            && self.has_two_limbs()
        {
            [*x0, *x1] = self.reduce_2(square_2([*x0, *x1]));
            return;
        }
        self.products.square(at_least(&mut self.wide, 2 * x.len()), x);
        self.reduce(x);
    }
}

/// Computes x ← −x mod 2^(64·n), where x has n limbs.
fn negate(x: &mut [u64]) {
    for limb in &mut *x {
        *limb = !*limb;
    }
    add_assign(x, &[1]);
}

/// Computes x ← m^(−1) mod 2^(64·limbs), for odd m, by Newton's iteration x ← x·(2 − m·x). Each
/// step doubles the number of correct bits.
pub(super) fn inverse_of_odd(x: &mut Vec<u64>, m: &[u64], limbs: usize, products: &mut Products) {
    let low = m.first().copied().unwrap_or(1);
    // Five bits are correct, and each step doubles their number.
    let mut word = low.wrapping_mul(3) ^ 2;
    for _ in 0..4 {
        word = word.wrapping_mul(2u64.wrapping_sub(low.wrapping_mul(word)));
    }
    x.clear();
    x.push(word);
    while x.len() < limbs {
        let n = limbs.min(2 * x.len());
        let mut factor = vec![0; n];
        products.mul_low(&mut factor, &m[..n.min(m.len())], x);
        // 2 − m·x.
        negate(&mut factor);
        add_assign(&mut factor, &[2]);
        let mut next = vec![0; n];
        products.mul_low(&mut next, &factor, x);
        *x = next;
    }
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

    /// Tests products and squares of residues up to m − 1, with both methods of reduction. The
    /// expected results are computed by division.
    #[test]
    fn both_reductions_agree_with_division() {
        for l in (1..20).chain([40, 101, 130]) {
            for (seed, ones) in [(1, false), (2, false), (3, true)] {
                let mut m = if ones { vec![u64::MAX; l] } else { number(l, seed) };
                m[0] |= 1;
                m[l - 1] |= 1;
                let mut largest = m.clone();
                sub_assign(&mut largest, &[1]);
                let mut random = limbs::div_rem(&number(l + 1, 7 * seed), &m).1;
                random.resize(l, 0);
                for from in [0, usize::MAX] {
                    let mut ring = Montgomery::new(from);
                    ring.set(&m);
                    for x in [&largest, &random, &vec![0; l]] {
                        for y in [&largest, &random] {
                            let (mut a, mut b) = (x.clone(), y.clone());
                            ring.to_montgomery(&mut a);
                            ring.to_montgomery(&mut b);
                            let mut square = a.clone();
                            ring.mul(&mut a, &b);
                            ring.from_montgomery(&mut a);
                            let want = limbs::div_rem(&limbs::mul(x, y), &m).1;
                            assert_eq!(trimmed(&a), want, "{x:x?} by {y:x?} mod {m:x?}");
                            ring.square(&mut square);
                            ring.from_montgomery(&mut square);
                            let want = limbs::div_rem(&limbs::mul(x, x), &m).1;
                            assert_eq!(trimmed(&square), want, "{x:x?} squared mod {m:x?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn inverses_of_odd_numbers() {
        let mut products = Products::default();
        for l in 1..40 {
            for limbs in [1, 2, 3, 7, 39] {
                let mut m = number(l, (l * limbs) as u64);
                m[0] |= 1;
                let mut x = vec![];
                inverse_of_odd(&mut x, &m, limbs, &mut products);
                let mut product = limbs::mul(&x, &m);
                product.truncate(limbs);
                assert_eq!(trimmed(&product), [1], "{m:x?}");
            }
        }
    }

    /// Prints the time of a square with a reduction limb by limb and with a reduction by half
    /// products.
    #[test]
    #[ignore = "a measurement"]
    fn reduction_crossover() {
        println!("us: limbs, squares with reductions limb by limb, by products");
        for l in [8, 16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 256, 384, 512, 1024] {
            let mut m = number(l, 5);
            m[0] |= 1;
            m[l - 1] |= 1;
            let times = [usize::MAX, 0].map(|from| {
                let mut ring = Montgomery::new(from);
                ring.set(&m);
                let mut x = number(l, 6);
                x[l - 1] = 0;
                let once = |_| {
                    let start = Instant::now();
                    ring.square(&mut x);
                    start.elapsed().as_secs_f64() * 1e6
                };
                (0..(20_000_000 / l / l).clamp(5, 5000)).map(once).fold(f64::MAX, f64::min)
            });
            println!("{l:5} {:10.2} {:10.2}", times[0], times[1]);
        }
    }
}
