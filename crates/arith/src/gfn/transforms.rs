//! Products of elements as polynomials mod T^K + 1, by number-theoretic transforms modulo three
//! primes at once.

use std::sync::LazyLock;

use multiversion::multiversion;

use super::Gfn;
use super::column::Column;
use crate::f50::{F50, PRIMES};

/// One number for each of four primes, which fill the four lanes of a vector. Only three primes are
/// needed; the results in the fourth lane are ignored.
type Lanes = [f64; 4];

/// A fixed factor for multiplications by [`F50::mul_by`] modulo each prime p: the number w, and
/// RN(w/p), which is w/p rounded to an `f64`.
#[derive(Clone, Copy)]
struct Factors {
    w: Lanes,
    ratio: Lanes,
}

struct Tables {
    p: Lanes,
    /// For each prime p, the number RN(1/p), which is 1/p rounded to an `f64`.
    inverse: Lanes,
    /// The factor 2^32.
    shift: Factors,
    /// The factors w of a binary tree of polynomials. A node with the factor w is the polynomial
    /// x^(2n) − w² = (x^n − w)·(x^n + w). Its children are x^n − w and x^n + w.
    ///
    /// Entry 2^s + j is the factor of node j of layer s. Layer 0 consists of the root of the tree,
    /// x^K + 1. The factors do not depend on K.
    nodes: Vec<Factors>,
    inverses: Vec<Factors>,
    /// Entry i is the factor 1/2^i.
    scales: Vec<Factors>,
    /// The factors of Garner's formula for the first three primes q_0, q_1 and q_2. Entry 0 is the
    /// inverse of q_0, modulo q_1 and modulo q_2. Entry 1 is the inverse of q_1 modulo q_2.
    garner: [Factors; 2],
}

/// The base-2 logarithm of 128, the largest number of digits K of an element.
const LOG2_LONGEST: u32 = 7;

static TABLES: LazyLock<Option<Tables>> = LazyLock::new(Tables::new);

impl Tables {
    fn new() -> Option<Self> {
        let mut fields = vec![];
        for &(q, ..) in &PRIMES[..4] {
            fields.push(F50::new(q).ok()?);
        }
        let fields: [F50; 4] = fields.try_into().ok()?;
        let factors = |values: Lanes| {
            let mut all = Factors { w: [0.0; 4], ratio: [0.0; 4] };
            for (l, field) in fields.iter().enumerate() {
                [all.w[l], all.ratio[l]] = field.factor(values[l]).constants();
            }
            all
        };
        let roots = fields.map(|field| field.root_of_unity(LOG2_LONGEST + 1));
        // w as a power of a root of order 2K, with the exponent halved from node to node.
        let mut exponents = vec![0u64, 1 << (LOG2_LONGEST - 1)];
        for node in 1..1 << (LOG2_LONGEST - 1) {
            let half = exponents[node] / 2;
            exponents.extend([half, half + (1 << (LOG2_LONGEST - 1))]);
        }
        let (mut nodes, mut inverses) = (vec![], vec![]);
        for exponent in exponents {
            let (mut w, mut inverse) = ([0.0; 4], [0.0; 4]);
            for (l, field) in fields.iter().enumerate() {
                w[l] = field.pow(roots[l]?, exponent);
                inverse[l] = field.inverse(w[l]);
            }
            nodes.push(factors(w));
            inverses.push(factors(inverse));
        }
        let of = |x: u64| fields.map(|field| field.from_u64(x));
        let one_over = |x: u64| fields.map(|field| field.inverse(field.from_u64(x)));
        Some(Self {
            p: fields.map(|field| field.constants()[0]),
            inverse: fields.map(|field| field.constants()[1]),
            shift: factors(of(1 << 32)),
            nodes,
            inverses,
            scales: (0..=LOG2_LONGEST).map(|i| factors(one_over(1 << i))).collect(),
            garner: [0, 1].map(|i| factors(one_over(PRIMES[i].0))),
        })
    }
}

/// The number 3·2^51. For |x| ≤ 2^51, the value (x + `MAGIC`) − `MAGIC` is x rounded to the nearest
/// integer.
const MAGIC: f64 = 6_755_399_441_055_744.0;

impl Tables {
    /// Computes [`F50::mul_by`] in each lane, modulo the prime of the lane.
    #[inline(always)]
    fn mul_by(&self, a: Lanes, factors: &Factors) -> Lanes {
        std::array::from_fn(|l| {
            let h = a[l] * factors.w[l];
            let q = a[l].mul_add(factors.ratio[l], MAGIC) - MAGIC;
            (-q).mul_add(self.p[l], h) + a[l].mul_add(factors.w[l], -h)
        })
    }

    /// Computes [`F50::mul`] in each lane, modulo the prime of the lane.
    #[inline(always)]
    fn mul(&self, a: Lanes, b: Lanes) -> Lanes {
        std::array::from_fn(|l| {
            let h = a[l] * b[l];
            let q = h.mul_add(self.inverse[l], MAGIC) - MAGIC;
            (-q).mul_add(self.p[l], h) + a[l].mul_add(b[l], -h)
        })
    }

    /// Computes [`F50::reduce`] in each lane, modulo the prime of the lane.
    #[inline(always)]
    fn reduce(&self, x: Lanes) -> Lanes {
        std::array::from_fn(|l| {
            let q = x[l].mul_add(self.inverse[l], MAGIC) - MAGIC;
            (-q).mul_add(self.p[l], x[l])
        })
    }

    /// Computes the transform modulo each prime p: the values of a polynomial at the roots of
    /// x^K + 1. The coefficients of the polynomial are the digits. The absolute values of the
    /// results are at most p/2 + 2.
    ///
    /// The sums stay small enough for the products by factors, which accept values up to 4p.
    /// Initially the absolute value of a digit is at most 0.57p. A layer increases a bound B on the
    /// values to B·17/16 + p/2. After four layers the bound is 2.93p, and all values are reduced.
    /// After three more layers it is at most 2.3p.
    #[inline(always)]
    fn forward<const K: usize>(&self, digits: &[u64; K]) -> [Lanes; K] {
        let mut x = [[0.0; 4]; K];
        for (x, &digit) in x.iter_mut().zip(digits) {
            let (high, low) = (f64::from((digit >> 32) as u32), f64::from(digit as u32));
            *x = self.mul_by([high; 4], &self.shift).map(|x| x + low);
        }
        for s in 0..K.ilog2() {
            let n = K >> (s + 1);
            for (j, block) in x.chunks_exact_mut(2 * n).enumerate() {
                let (low, high) = block.split_at_mut(n);
                let w = &self.nodes[(1 << s) + j];
                for (low, high) in low.iter_mut().zip(high) {
                    let t = self.mul_by(*high, w);
                    *high = std::array::from_fn(|l| low[l] - t[l]);
                    *low = std::array::from_fn(|l| low[l] + t[l]);
                }
            }
            if s == 3 || s + 1 == K.ilog2() {
                for x in &mut x {
                    *x = self.reduce(*x);
                }
            }
        }
        x
    }

    /// Computes the inverse of [`Self::forward`] modulo each prime p. Requires values of absolute
    /// value at most 0.57p. The absolute values of the results are at most 0.55p.
    ///
    /// Two layers increase a bound of 0.57p to at most 2.3p. After every second layer all values
    /// are reduced.
    #[inline(always)]
    fn backward<const K: usize>(&self, x: &mut [Lanes; K]) {
        for s in (0..K.ilog2()).rev() {
            let n = K >> (s + 1);
            for (j, block) in x.chunks_exact_mut(2 * n).enumerate() {
                let (low, high) = block.split_at_mut(n);
                let w = &self.inverses[(1 << s) + j];
                for (low, high) in low.iter_mut().zip(high) {
                    let t: Lanes = std::array::from_fn(|l| low[l] - high[l]);
                    *low = std::array::from_fn(|l| low[l] + high[l]);
                    *high = self.mul_by(t, w);
                }
            }
            if (K.ilog2() - s).is_multiple_of(2) {
                for x in &mut *x {
                    *x = self.reduce(*x);
                }
            }
        }
        for x in x {
            *x = self.reduce(self.mul_by(*x, &self.scales[K.ilog2() as usize]));
        }
    }

    /// Returns the number n with |n| < 2^135 whose residues modulo the primes q_0, q_1 and q_2 are
    /// the first three lanes of `residues`. Requires that such a number exists.
    ///
    /// Garner's formula (Garner 1959) computes a number x_0 + q_0·(x_1 + q_1·x_2) with these
    /// residues, where |x_i| ≤ q_i/2 + 2. Its absolute value is at most slightly above
    /// q_0·q_1·q_2/2. Numbers with the same residues differ by multiples of q_0·q_1·q_2, which is
    /// much larger than 2^135. So the number computed is n.
    #[inline(always)]
    fn recombined(&self, residues: Lanes) -> Column {
        let x_0 = residues[0];
        let first = self.reduce(self.mul_by(residues.map(|x| x - x_0), &self.garner[0]));
        let x_1 = first[1];
        let second = self.reduce(self.mul_by(first.map(|x| x - x_1), &self.garner[1]));
        // Integers below 2^53: exact. y is below 2^100.
        let [x_0, x_1, x_2] = [x_0, x_1, second[2]].map(|x| i128::from(x as i64));
        let y = x_1 + i128::from(PRIMES[1].0) * x_2;
        let wide = |x: i128| Column::new(x as u128, (x >> 127) as u64);
        let (low, high) = (i128::from(y as u64), y >> 64);
        let q_0 = i128::from(PRIMES[0].0);
        let upper = q_0 * high;
        wide(q_0 * low)
            .plus(wide(x_0))
            .plus(Column::new((upper << 64) as u128, (upper >> 64) as u64))
    }
}

#[multiversion(targets("x86_64+avx2+fma"))]
fn convolve<const K: usize>(tables: &Tables, a: &[u64; K], b: &[u64; K], out: &mut [Column; K]) {
    let (mut x, y) = (tables.forward(a), tables.forward(b));
    for (x, y) in x.iter_mut().zip(&y) {
        *x = tables.mul(*x, *y);
    }
    tables.backward(&mut x);
    for (out, x) in out.iter_mut().zip(&x) {
        *out = tables.recombined(*x);
    }
}

#[multiversion(targets("x86_64+avx2+fma"))]
fn convolve_with_itself<const K: usize>(tables: &Tables, a: &[u64; K], out: &mut [Column; K]) {
    let mut x = tables.forward(a);
    for x in &mut x {
        *x = tables.mul(*x, *x);
    }
    tables.backward(&mut x);
    for (out, x) in out.iter_mut().zip(&x) {
        *out = tables.recombined(*x);
    }
}

impl<const K: usize> Gfn<K> {
    /// Returns a·b by multiplying two polynomials mod T^K + 1. The coefficients of the polynomials
    /// are the digits.
    ///
    /// The transforms are computed modulo three primes near 2^50. A coefficient of the product is a
    /// sum of K products of digits. It is determined by its residues, because it is much smaller
    /// than the product of the three primes.
    #[must_use]
    pub fn mul_by_transforms(&self, a: &[u64; K], b: &[u64; K]) -> [u64; K] {
        if let Some(product) = self.by_minus_one(a, b) {
            return product;
        }
        // The tables exist, because the primes do.
        let Some(tables) = &*TABLES else { return self.mul_by_columns(a, b) };
        let mut columns = [Column::default(); K];
        convolve(tables, a, b, &mut columns);
        self.resolved(&columns)
    }

    /// Returns a² by the method of [`Gfn::mul_by_transforms`], with two transforms instead of
    /// three.
    #[must_use]
    pub fn square_by_transforms(&self, a: &[u64; K]) -> [u64; K] {
        if self.is_minus_one(a) {
            return self.one_element();
        }
        let Some(tables) = &*TABLES else { return self.square_by_columns(a) };
        let mut columns = [Column::default(); K];
        convolve_with_itself(tables, a, &mut columns);
        self.resolved(&columns)
    }
}
