//! The operations on polynomials by their definitions. They process short operands, and tests
//! compare the fast methods with them.

use warpint_arith::field::Field;

/// Returns the product c_k = Σ_(i + j = k) a_i·b_j of n + m − 1 coefficients, where n and m are the
/// lengths of a and b. Returns no coefficients if a or b is empty. Cost: n·m products.
#[must_use]
pub fn product<F: Field>(field: &F, a: &[F::Element], b: &[F::Element]) -> Vec<F::Element> {
    if a.is_empty() || b.is_empty() {
        return vec![];
    }
    let mut c = vec![field.zero(); a.len() + b.len() - 1];
    for (i, b) in b.iter().enumerate() {
        add_multiple(field, &mut c[i..], a, b);
    }
    c
}

/// Returns the square of a, of 2n − 1 coefficients for n = a.len(), or none if a is empty. Cost:
/// about n²/2 products.
#[must_use]
pub fn square<F: Field>(field: &F, a: &[F::Element]) -> Vec<F::Element> {
    if a.is_empty() {
        return vec![];
    }
    let term = |k: usize| {
        // The pairs i < j with i + j = k.
        let least = (k + 1).saturating_sub(a.len());
        let half = dot(field, &a[least..k.div_ceil(2)], &a[k / 2 + 1..=k - least]);
        let twice = field.add(&half, &half);
        if k.is_multiple_of(2) { field.add(&twice, &field.square(&a[k / 2])) } else { twice }
    };
    (0..2 * a.len() - 1).map(term).collect()
}

/// Returns the coefficients m − 1 to n − 1 of a·b, where n and m are the lengths of a and b.
/// Returns no coefficients if b is empty or longer than a. Cost: (n − m + 1)·m products.
#[must_use]
pub fn middle_product<F: Field>(field: &F, a: &[F::Element], b: &[F::Element]) -> Vec<F::Element> {
    if b.is_empty() || b.len() > a.len() {
        return vec![];
    }
    let mut c = vec![field.zero(); a.len() - b.len() + 1];
    for (i, b) in b.iter().rev().enumerate() {
        add_multiple(field, &mut c, &a[i..], b);
    }
    c
}

/// Appends coefficients to g, the first coefficients of 1/a, until it has n of them. g must not be
/// empty. Cost: at most n²/2 products.
///
/// From a·g = 1 follows a_0·g_k = −Σ_(j ≥ 1) a_j·g_(k−j) for k ≥ 1.
pub fn extend_inverse<F: Field>(field: &F, a: &[F::Element], g: &mut Vec<F::Element>, n: usize) {
    let Some(first) = g.first().cloned() else { return };
    let rest = a.get(1..).unwrap_or_default();
    while g.len() < n {
        let count = g.len().min(rest.len());
        let sum = dot(field, &rest[..count], &g[g.len() - count..]);
        g.push(field.neg(&field.mul(&sum, &first)));
    }
}

/// Replaces a by the remainder of its division by b, and returns the quotient. `inverse` is the
/// inverse of the highest coefficient of b. With n and m coefficients of a and b, n ≥ m ≥ 1, the
/// quotient has n − m + 1 coefficients, and a keeps m − 1. Cost: (n − m + 1)·m products.
pub fn divide<F: Field>(
    field: &F,
    a: &mut Vec<F::Element>,
    b: &[F::Element],
    inverse: &F::Element,
) -> Vec<F::Element> {
    let mut quotient = Vec::new();
    while a.len() >= b.len() {
        let Some(highest) = a.pop() else { break };
        let factor = field.mul(&highest, inverse);
        let from = a.len() + 1 - b.len();
        for (a, b) in a[from..].iter_mut().zip(b) {
            *a = field.sub(a, &field.mul(b, &factor));
        }
        quotient.push(factor);
    }
    quotient.reverse();
    quotient
}

/// Returns the product of the polynomials 1 − x_i·z for all x_i of `points`, as polynomial in z
/// with n + 1 coefficients for n points. Cost: n²/2 products.
#[must_use]
pub fn reverse_from_roots<F: Field>(field: &F, points: &[F::Element]) -> Vec<F::Element> {
    let mut all = Vec::with_capacity(points.len() + 1);
    all.push(field.one());
    for point in points {
        times_factor(field, &mut all, point);
    }
    all
}

/// Replaces a by a·(1 − x·z).
pub(super) fn times_factor<F: Field>(field: &F, a: &mut Vec<F::Element>, x: &F::Element) {
    a.push(field.zero());
    for k in (1..a.len()).rev() {
        a[k] = field.sub(&a[k], &field.mul(&a[k - 1], x));
    }
}

/// Returns the coefficient Σ_(i + j = k) a_i·b_j of a·b, for k ≤ n + m − 2, where n and m are the
/// lengths of a and b.
pub(super) fn coefficient<F: Field>(
    field: &F,
    a: &[F::Element],
    b: &[F::Element],
    k: usize,
) -> F::Element {
    let least = (k + 1).saturating_sub(b.len());
    let end = a.len().min(k + 1);
    dot(field, &a[least..end], &b[k + 1 - end..=k - least])
}

/// Computes c_i ← c_i + a_i·b for all i below the length of a, or of c if that is shorter.
fn add_multiple<F: Field>(field: &F, c: &mut [F::Element], a: &[F::Element], b: &F::Element) {
    for (c, a) in c.iter_mut().zip(a) {
        *c = field.add(c, &field.mul(a, b));
    }
}

/// Returns Σ_i a_i·b_(n−1−i), where n is the length of a and of b.
fn dot<F: Field>(field: &F, a: &[F::Element], b: &[F::Element]) -> F::Element {
    a.iter().zip(b.iter().rev()).fold(field.zero(), |sum, (a, b)| field.add(&sum, &field.mul(a, b)))
}
