//! Checks transforms and products against their inputs. A check that passes is evidence that a
//! device computed its results correctly.
//!
//! Let X be the transform of x: X_i = Σ_j x_j·ω^(ij) for i < N, where ω is a root of unity of order
//! N. For any r,
//!
//! Σ_i X_i·r^i = Σ_j x_j·w_j, where w_j = Σ_i (r·ω^j)^i = (r^N − 1)/(r·ω^j − 1).
//!
//! If r·ω^j = 1, then w_j = N.
//!
//! The difference between the sum over i and the sum over j is a polynomial in r of degree at most
//! N − 1. If an output is wrong, the two sums are therefore equal for at most N − 1 points r. If r
//! is drawn uniformly from S elements after the outputs are known, a wrong transform passes with
//! probability at most (N − 1)/S, whatever the error is (Schwartz 1980; Freivalds 1977 for products
//! of matrices). In a field of more than 2^64 elements, [`Field::from_u64`] of a random 64-bit
//! integer gives S = 2^64.
//!
//! To check a cyclic convolution, check its three transforms, or use [`product`] if nothing wraps
//! around.

use warpint_arith::field::Field;

use crate::parallel::each;

/// The reason why a check of a transform or a product is not possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoCheck {
    /// The field has no root of unity of order 2^m. The exponent m is stored here.
    #[error(
        "the field has no root of unity of order 2^{0}, so a transform of 2^{0} elements does not exist"
    )]
    Root(u32),
    /// The number of elements is not a multiple of the transform length.
    #[error(
        "{len} elements are not a whole number of transforms of {n}: give a multiple of {n} elements"
    )]
    Batch {
        /// The number of elements given.
        len: usize,
        /// The number of elements of a transform.
        n: usize,
    },
    /// The inputs and the outputs of a transform differ in length.
    #[error("inputs and outputs differ in length: {inputs} and {outputs} elements")]
    Lengths {
        /// The number of input elements.
        inputs: usize,
        /// The number of output elements.
        outputs: usize,
    },
    /// The product c has too few coefficients for its factors a and b. The lengths of a and b do
    /// not count zero coefficients at the high end.
    #[error("a product of {c} elements is too short for factors of {a} and {b} elements")]
    Product {
        /// The number of coefficients of the factor a.
        a: usize,
        /// The number of coefficients of the factor b.
        b: usize,
        /// The number of coefficients of the product c.
        c: usize,
    },
}

/// The number of elements that one rayon task processes. The task computes the inverses
/// 1/(r·ω^j − 1) for these elements with a single inversion in the field.
const RUN: usize = 1 << 10;

/// Checks the equations X_i = Σ_j x_j·ω^(ij), for all i < N = 2^log2, in all transforms of a batch
/// at once. The X_i are the elements of `outputs`, and ω is the root of unity of order N that
/// [`Field::root_of_unity`] returns.
///
/// Returns true for correct outputs. For wrong outputs, the probability of true is at most
/// (B·N − 1)/S, where B is the number of transforms. The point r must be drawn uniformly from S
/// elements after `outputs` is known.
///
/// `x` and `outputs` are in natural order, transform after transform. To check an inverse
/// transform, pass its outputs as `x` and its inputs as `outputs`.
///
/// Cost: about 2·B·N + 6·N products in the field. For comparison, one transform costs about
/// N·log2(N)/2 products.
///
/// # Errors
/// [`NoCheck`] if `x` and `outputs` differ in length, their length is not a multiple of N, or the
/// field has no root of unity of order N.
pub fn transforms<F: Field>(
    field: &F,
    log2: u32,
    x: &[F::Element],
    outputs: &[F::Element],
    r: &F::Element,
) -> Result<bool, NoCheck> {
    let root = field.root_of_unity(log2).ok_or(NoCheck::Root(log2))?;
    let n = 1usize.checked_shl(log2).ok_or(NoCheck::Root(log2))?;
    if x.len() != outputs.len() {
        return Err(NoCheck::Lengths { inputs: x.len(), outputs: outputs.len() });
    }
    if !x.len().is_multiple_of(n) {
        return Err(NoCheck::Batch { len: x.len(), n });
    }
    // Transform b is weighted by r^(b·N).
    let of_transform = field.pow(r, &[n as u64]);
    let inputs = |j: usize| {
        let column = (j..x.len()).step_by(n).rev();
        column.fold(field.zero(), |sum, at| field.add(&field.mul(&sum, &of_transform), &x[at]))
    };
    let above = field.sub(&of_transform, &field.one());
    let partial = |first: usize| {
        let count = RUN.min(n - first);
        let mut point = field.mul(r, &field.pow(&root, &[first as u64]));
        let mut denominators = Vec::with_capacity(count);
        for _ in 0..count {
            denominators.push(field.sub(&point, &field.one()));
            point = field.mul(&point, &root);
        }
        let inverses = inverses(field, &denominators);
        let terms = inverses.iter().enumerate().map(|(j, inverse)| {
            // For r = ω^(−j), the sum of N ones.
            let weight = match inverse {
                Some(inverse) => field.mul(&above, inverse),
                None => field.from_u64(n as u64),
            };
            field.mul(&weight, &inputs(first + j))
        });
        terms.fold(field.zero(), |sum, term| field.add(&sum, &term))
    };
    let expected = each(n.div_ceil(RUN), field.zero(), &|run| partial(run * RUN))
        .iter()
        .fold(field.zero(), |a, b| field.add(&a, b));
    Ok(evaluate(field, outputs, r) == expected)
}

/// Checks c(z) = a(z)·b(z) by the values of the polynomials at the point r. Coefficients are in
/// ascending order of their degrees.
///
/// Returns true for correct products. For wrong products, the probability of true is at most
/// (c.len() − 1)/S. The point r must be drawn uniformly from S elements after c is known. The
/// product has at most a.len() + b.len() − 1 coefficients; any further elements of c must be zero.
///
/// A cyclic convolution of N elements can be checked in this way if nothing wraps around. Nothing
/// wraps around if the sum of the lengths of the factors is at most N + 1, where lengths do not
/// count zero coefficients at the high end.
///
/// Cost: one product per element of a, b and c.
///
/// # Errors
/// [`NoCheck::Product`] if c is too short for the product.
pub fn product<F: Field>(
    field: &F,
    a: &[F::Element],
    b: &[F::Element],
    c: &[F::Element],
    r: &F::Element,
) -> Result<bool, NoCheck> {
    let used = |x: &[F::Element]| x.iter().rposition(|x| *x != field.zero()).map_or(0, |i| i + 1);
    if (used(a) + used(b)).saturating_sub(1) > c.len() && used(a) > 0 && used(b) > 0 {
        return Err(NoCheck::Product { a: used(a), b: used(b), c: c.len() });
    }
    let [a, b, c] = [a, b, c].map(|x| evaluate(field, x, r));
    Ok(field.mul(&a, &b) == c)
}

/// Returns Σ_j x_j·r^j. Horner's rule is applied to runs of [`RUN`] elements in parallel, and then
/// to the results of the runs.
fn evaluate<F: Field>(field: &F, x: &[F::Element], r: &F::Element) -> F::Element {
    let of_run = |i: usize| {
        let run = &x[i * RUN..];
        crate::definition::evaluate(field, &run[..RUN.min(run.len())], r)
    };
    let runs = each(x.len().div_ceil(RUN), field.zero(), &of_run);
    crate::definition::evaluate(field, &runs, &field.pow(r, &[RUN as u64]))
}

/// Returns 1/x for each element x, or `None` for x = 0. Cost: one inversion in all, and three
/// products for each element (Montgomery 1987).
fn inverses<F: Field>(field: &F, x: &[F::Element]) -> Vec<Option<F::Element>> {
    let zero = field.zero();
    let mut product = field.one();
    let before: Vec<F::Element> = x
        .iter()
        .map(|x| {
            let next = if *x == zero { product.clone() } else { field.mul(&product, x) };
            std::mem::replace(&mut product, next)
        })
        .collect();
    // A product of nonzero elements.
    let mut rest = field.inverse(&product).unwrap_or(zero.clone());
    let pairs = x.iter().zip(before).rev();
    let mut all: Vec<Option<F::Element>> = pairs
        .map(|(x, before)| {
            (*x != zero).then(|| {
                let inverse = field.mul(&rest, &before);
                rest = field.mul(&rest, x);
                inverse
            })
        })
        .collect();
    all.reverse();
    all
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use warpint_arith::goldilocks::Goldilocks;
    use warpint_arith::montgomery::known::BN254_SCALAR;

    use super::*;
    use crate::cpu::Transform;
    use crate::definition;

    fn drawn<F: Field>(field: &F, rng: &mut ChaCha8Rng, count: usize) -> Vec<F::Element> {
        (0..count).map(|_| field.from_u64(rng.random())).collect()
    }

    fn transforms_of<F: Field + Clone>(field: &F, log2: u32, batch: usize, seed: u64) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let x = drawn(field, &mut rng, batch << log2);
        let mut outputs = x.clone();
        let root = field.root_of_unity(log2).unwrap();
        if log2 < 8 {
            let all = x.chunks(1 << log2).flat_map(|x| definition::transform(field, x, &root));
            outputs = all.collect();
        } else {
            Transform::new(field.clone(), log2).unwrap().forward(&mut outputs).unwrap();
        }
        let check = |x: &[F::Element], outputs: &[F::Element], r: &F::Element| {
            transforms(field, log2, x, outputs, r).unwrap()
        };
        for _ in 0..3 {
            let r = field.from_u64(rng.random());
            assert!(check(&x, &outputs, &r), "seed {seed}");
            let at = rng.random_range(0..outputs.len());
            for of_inputs in [false, true] {
                let (mut x, mut outputs) = (x.clone(), outputs.clone());
                let changed = if of_inputs { &mut x[at] } else { &mut outputs[at] };
                *changed = field.add(changed, &field.one());
                assert!(!check(&x, &outputs, &r), "element {at}, seed {seed}");
            }
            // Two outputs swapped.
            if outputs.len() > 1 {
                let mut swapped = outputs.clone();
                swapped.swap(at, (at + 1) % outputs.len());
                assert!(!check(&x, &swapped, &r), "{at} and the next one, seed {seed}");
            }
        }
        // Points with a sum of N ones, and 0.
        for r in [field.zero(), field.one(), field.inverse(&root).unwrap(), root] {
            assert!(check(&x, &outputs, &r), "seed {seed}");
        }
        let zeros = vec![field.zero(); x.len()];
        assert!(!check(&x, &zeros, &field.from_u64(rng.random())));
    }

    #[test]
    fn transforms_pass_and_changed_ones_fail() {
        let seed = rand::rng().random();
        println!("seed {seed}");
        for (log2, batch) in [(0, 1), (0, 5), (1, 1), (3, 1), (5, 7), (11, 1), (12, 3)] {
            transforms_of(&Goldilocks, log2, batch, seed);
            transforms_of(&BN254_SCALAR.field().unwrap(), log2, batch, seed);
        }
    }

    #[test]
    fn products_pass_and_changed_ones_fail() {
        let field = Goldilocks;
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let (mut a, mut b) = (drawn(&field, &mut rng, 64), drawn(&field, &mut rng, 64));
        a[30..].fill(0);
        b[35..].fill(0);
        let mut c = definition::convolve(&field, &a, &b);
        let r = field.from_u64(rng.random());
        assert!(product(&field, &a, &b, &c, &r).unwrap());
        for i in 0..64 {
            c[i] = field.add(&c[i], &1);
            assert!(!product(&field, &a, &b, &c, &r).unwrap(), "element {i}");
            c[i] = field.sub(&c[i], &1);
        }
        // A product that wraps around, and empty factors.
        b[35] = 1;
        let refused = product(&field, &a, &b, &c, &r);
        assert_eq!(refused, Err(NoCheck::Product { a: 30, b: 36, c: 64 }));
        assert_eq!(product(&field, &[], &b, &[], &r), Ok(true));
    }

    #[test]
    fn lengths_that_do_not_fit_are_refused() {
        let field = Goldilocks;
        let check = |x: usize, outputs: usize, log2| {
            transforms(&field, log2, &vec![0; x], &vec![0; outputs], &7)
        };
        assert_eq!(check(8, 8, 3), Ok(true));
        assert_eq!(check(8, 4, 2), Err(NoCheck::Lengths { inputs: 8, outputs: 4 }));
        assert_eq!(check(6, 6, 2), Err(NoCheck::Batch { len: 6, n: 4 }));
        assert_eq!(check(0, 0, 33), Err(NoCheck::Root(33)));
        assert_eq!(check(0, 0, 2), Ok(true));
    }
}
