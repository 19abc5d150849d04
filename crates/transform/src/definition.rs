//! Transforms and convolutions by their definition. Tests compare all other implementations with
//! these.

use warpint_arith::field::Field;

/// Returns Σ_j x_j·ω^(ij) for all i < N, where N = x.len() and ω is `root`. Cost: N² products.
#[must_use]
pub fn transform<F: Field>(field: &F, x: &[F::Element], root: &F::Element) -> Vec<F::Element> {
    let mut point = field.one();
    let mut all = Vec::with_capacity(x.len());
    for _ in x {
        all.push(evaluate(field, x, &point));
        point = field.mul(&point, root);
    }
    all
}

/// Returns Σ_j x_j·point^j, computed by Horner's rule. For point = ω^i, the result is output i of
/// [`transform`] with the root ω. Cost: N products.
#[must_use]
pub fn evaluate<F: Field>(field: &F, x: &[F::Element], point: &F::Element) -> F::Element {
    x.iter().rev().fold(field.zero(), |sum, x| field.add(&field.mul(&sum, point), x))
}

/// Returns the cyclic convolution Σ_(i + j ≡ l mod N) a_i·b_j for all l < N, where N is the length
/// of a and b. Cost: N² products.
///
/// # Panics
/// If a and b differ in length.
#[must_use]
pub fn convolve<F: Field>(field: &F, a: &[F::Element], b: &[F::Element]) -> Vec<F::Element> {
    assert_eq!(a.len(), b.len(), "vectors of different lengths");
    let mut all = vec![field.zero(); a.len()];
    for (i, a) in a.iter().enumerate() {
        for (j, b) in b.iter().enumerate() {
            let at = (i + j) % all.len();
            all[at] = field.add(&all[at], &field.mul(a, b));
        }
    }
    all
}
