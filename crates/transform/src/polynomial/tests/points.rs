use proptest::prelude::*;

use super::*;
use crate::definition;

fn check_values<F: Field + Clone + Send>(
    polynomials: &Polynomials<F>,
    f: &[F::Element],
    points: &[F::Element],
) {
    let field = polynomials.field();
    let expected: Vec<_> = points.iter().map(|x| definition::evaluate(field, f, x)).collect();
    let values = polynomials.evaluate_many(f, points).unwrap();
    let (m, n) = (f.len(), points.len());
    assert!(values == expected, "{m} coefficients at {n} points");
    // The tree, which `evaluate_many` uses for many points only.
    let mut values = vec![field.zero(); n];
    polynomials.evaluate_on(&polynomials.tree(points).unwrap(), f, &mut values).unwrap();
    assert!(values == expected, "{m} coefficients at {n} points by the tree");
}

/// Compares the polynomial with given roots with its definition, and tests that the polynomial
/// through given values is restored from them.
fn check_interpolation<F: Field + Clone + Send>(polynomials: &Polynomials<F>, n: usize) {
    let field = polynomials.field();
    // Distinct, because the prime is larger.
    let points: Vec<_> = (0..n as u64).map(|i| field.from_u64(7 * i + 3)).collect();
    let mut monic = schoolbook::reverse_from_roots(field, &points);
    monic.reverse();
    assert!(polynomials.from_roots(&points).unwrap() == monic, "{n} roots");

    for f in [elements(field, n, 8), minus_ones(field, n)] {
        let values: Vec<_> = points.iter().map(|x| definition::evaluate(field, &f, x)).collect();
        assert!(polynomials.interpolate(&points, &values).unwrap() == f, "{n} points");
        if n >= 2 {
            let mut points = points.clone();
            points[n - 1] = points[n / 2 - 1].clone();
            let error = polynomials.interpolate(&points, &values).unwrap_err();
            assert_eq!(error, PolynomialError::RepeatedPoint(n / 2 - 1));
        }
    }
}

fn check_lengths<F: Field + Clone + Send>(polynomials: &Polynomials<F>) {
    let field = polynomials.field();
    for n in LENGTHS.into_iter().chain([255, 256, 257, 513]) {
        check_interpolation(polynomials, n);
        for m in [0, 1, n / 3, n, n + 1, 2 * n + 3] {
            check_values(polynomials, &elements(field, m, 9), &elements(field, n, 10));
        }
        check_values(polynomials, &minus_ones(field, n), &minus_ones(field, n));
    }
    check_values(polynomials, &elements(field, 400, 11), &elements(field, 1100, 12));
    check_values(polynomials, &elements(field, 1500, 13), &elements(field, 400, 14));
}

#[test]
fn points_of_many_lengths() {
    on_fields!(check_lengths);
}

/// Enough points that several threads process them.
#[test]
fn many_points() {
    let polynomials = Polynomials::new(Goldilocks);
    check_values(
        &polynomials,
        &elements(&Goldilocks, 9000, 15),
        &elements(&Goldilocks, 10_000, 16),
    );
    check_interpolation(&polynomials, 5000);
}

#[test]
fn different_numbers_of_points_and_values() {
    let error = Polynomials::new(Goldilocks).interpolate(&[1, 2], &[1]).unwrap_err();
    assert_eq!(error, PolynomialError::Lengths { points: 2, values: 1 });
}

/// All elements of a small field as points: they are the roots of x^p − x.
#[test]
fn whole_fields() {
    for p in [3, 5, 17, 257] {
        let polynomials = modulo(p);
        let (field, n) = (polynomials.field(), p as usize);
        let points: Vec<_> = (0..p).map(|x| field.from_u64(x)).collect();
        let mut expected = vec![field.zero(); n + 1];
        (expected[1], expected[n]) = (field.neg(&field.one()), field.one());
        assert_eq!(polynomials.from_roots(&points).unwrap(), expected);
        let f = elements(field, n, p);
        let values = polynomials.evaluate_many(&f, &points).unwrap();
        assert_eq!(polynomials.interpolate(&points, &values).unwrap(), f);
        // Each element of the field many times.
        check_values(&polynomials, &elements(field, 700, 18), &elements(field, 600, 19));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn random_points(n in 0usize..900, m in 0usize..900, seed: u64) {
        let (f, points) = (elements(&Goldilocks, m, seed), elements(&Goldilocks, n, !seed));
        check_values(&Polynomials::new(Goldilocks), &f, &points);
        let (f, points) = (elements(&f50(), m, seed), elements(&f50(), n, !seed));
        check_values(&Polynomials::new(f50()), &f, &points);
    }
}
