//! Tests the examples of Chen et al. 2018 over Z/17Z, where 17 = 4² + 1. The root of unity of order
//! 8 is ω = 2.

use super::*;

fn field() -> Gfn<2> {
    Gfn::new(Form::minus(3, 2, 2).unwrap()).unwrap()
}

fn elements(x: [u64; 8]) -> Vec<[u64; 2]> {
    x.iter().map(|&x| field().from_u64(x)).collect()
}

/// Returns Σ_j x_j·ω^(ij) for i = 0, …, 7, where ω = `root` is a root of unity of order 8.
fn transform(x: &[[u64; 2]], root: &[u64; 2]) -> Vec<[u64; 2]> {
    let field = field();
    let term = |i: usize, j: usize| field.mul(&x[j], &field.pow(root, &[(i * j) as u64]));
    (0..8).map(|i| (0..8).fold(field.zero(), |sum, j| field.add(&sum, &term(i, j)))).collect()
}

#[test]
fn roots() {
    let field = field();
    assert_eq!(field.root_of_unity(2), Some(field.from_u64(4)));
    assert_eq!(field.root_of_unity(3), Some(field.from_u64(2)));
    assert_eq!(field.root_of_unity(4), Some(field.from_u64(6)));
    assert_eq!(field.root_of_unity(5), None);
}

#[test]
fn transforms_of_eight() {
    let root = field().from_u64(2);
    let x = transform(&elements([1, 2, 1, 2, 1, 2, 1, 2]), &root);
    assert_eq!(x, elements([12, 0, 0, 0, 13, 0, 0, 0]));
    let x = transform(&elements([1, 2, 3, 4, 5, 6, 7, 8]), &root);
    assert_eq!(x, elements([2, 8, 14, 6, 13, 3, 12, 1]));
}

#[test]
fn product_of_polynomials() {
    let field = field();
    let root = field.from_u64(2);
    let f = transform(&elements([1, 2, 3, 4, 5, 6, 7, 8]), &root);
    let g = transform(&elements([8, 7, 6, 5, 4, 3, 2, 1]), &root);
    let product: Vec<_> = f.iter().zip(&g).map(|(f, g)| field.mul(f, g)).collect();
    let back = transform(&product, &field.inverse(&root).unwrap());
    let eighth = field.inverse(&field.from_u64(8)).unwrap();
    let back: Vec<_> = back.iter().map(|x| field.mul(x, &eighth)).collect();
    assert_eq!(back, elements([6, 3, 8, 4, 8, 3, 6, 0]));
}
