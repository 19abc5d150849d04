use proptest::prelude::*;

use super::*;
use crate::definition;
use crate::polynomial::shape::Method;

/// Compares product and middle product with the definitions.
fn check_pair<F: Field + Clone + Send>(
    polynomials: &Polynomials<F>,
    a: &[F::Element],
    b: &[F::Element],
) {
    let field = polynomials.field();
    let (n, m) = (a.len(), b.len());
    let expected = schoolbook::product(field, a, b);
    assert!(polynomials.product(a, b).unwrap() == expected, "{n} × {m}");
    let middle = polynomials.middle_product(a, b).unwrap();
    if (1..=n).contains(&m) {
        assert!(middle == expected[m - 1..n], "the middle of {n} × {m}");
        let by_definition = schoolbook::middle_product(field, a, b);
        assert!(by_definition == middle, "the middle of {n} × {m} by its definition");
    } else {
        assert!(middle.is_empty(), "the middle of {n} × {m}");
    }
}

/// Compares squares with products.
fn check_square<F: Field + Clone + Send>(polynomials: &Polynomials<F>, a: &[F::Element]) {
    let (field, n) = (polynomials.field(), a.len());
    let expected = schoolbook::product(field, a, a);
    assert!(polynomials.square(a).unwrap() == expected, "the square of {n}");
    assert!(schoolbook::square(field, a) == expected, "the square of {n} by its definition");
}

fn check_lengths<F: Field + Clone + Send>(polynomials: &Polynomials<F>) {
    let field = polynomials.field();
    for n in LENGTHS {
        for m in LENGTHS {
            check_pair(polynomials, &elements(field, n, 1), &elements(field, m, 2));
        }
        for a in [elements(field, n, 1), minus_ones(field, n), vec![field.zero(); n]] {
            check_pair(polynomials, &a, &minus_ones(field, n));
            check_square(polynomials, &a);
        }
    }
    for (n, m) in [(511, 512), (513, 513), (1500, 40), (1500, 300), (800, 600)] {
        check_pair(polynomials, &elements(field, n, 4), &elements(field, m, 5));
        check_pair(polynomials, &minus_ones(field, n), &minus_ones(field, m));
        check_square(polynomials, &elements(field, m, 6));
    }
}

#[test]
fn products_of_many_lengths() {
    on_fields!(check_lengths);
}

/// The schoolbook method itself, against the cyclic convolution of padded vectors.
#[test]
fn schoolbook_products() {
    let field = Goldilocks;
    for (n, m) in [(1, 1), (1, 5), (4, 4), (7, 3), (20, 20)] {
        let (a, b) = (elements(&field, n, 1), elements(&field, m, 2));
        let padded = |x: &[u64]| {
            let mut x = x.to_vec();
            x.resize(n + m - 1, 0);
            x
        };
        let expected = definition::convolve(&field, &padded(&a), &padded(&b));
        assert_eq!(schoolbook::product(&field, &a, &b), expected, "{n} × {m}");
    }
}

/// Compares values of long polynomials at a point, by Horner's rule.
fn check_long<F: Field + Clone + Send>(polynomials: &Polynomials<F>, n: usize, m: usize) {
    let field = polynomials.field();
    let (a, b) = (elements(field, n, 6), elements(field, m, 7));
    let point = field.from_u64(0x9e37_79b9_7f4a_7c15);
    let at = |x: &[F::Element]| definition::evaluate(field, x, &point);
    let product = polynomials.product(&a, &b).unwrap();
    assert_eq!(product.len(), n + m - 1);
    assert_eq!(at(&product), field.mul(&at(&a), &at(&b)), "{n} × {m}");
    assert!(polynomials.middle_product(&a, &b).unwrap() == product[m - 1..n], "{n} × {m}");
    assert_eq!(at(&polynomials.square(&a).unwrap()), field.square(&at(&a)), "the square of {n}");
}

#[test]
fn long_products() {
    for (n, m) in [((1 << 16) + 1, 1 << 16), (100_000, 3_000), (40_000, 20_001)] {
        check_long(&Polynomials::new(Goldilocks), n, m);
        check_long(&Polynomials::new(f50()), n, m);
    }
    // Longer than the longest transform, of 2^16 elements.
    check_long(&modulo(65_537), 70_000, 40_000);
    check_long(&modulo(1_000_000_007), 5_000, 4_000);
}

#[test]
fn methods() {
    let polynomials = Polynomials::new(Goldilocks);
    let cyclic = |long, short| match polynomials.method_of_product(long, short) {
        Method::Cyclic(pieces) => (pieces.log2, pieces.count),
        method => panic!("{method:?}"),
    };
    assert_eq!(polynomials.method_of_product(1000, 3), Method::Schoolbook);
    assert_eq!(cyclic(1 << 12, 1 << 12), (13, 1));
    // One coefficient wraps around.
    assert_eq!(cyclic((1 << 12) + 1, (1 << 12) + 1), (13, 1));
    assert!(cyclic(1 << 20, 1 << 10).1 > 1, "a long factor is cut");
    let two_roots = modulo(1_000_000_007);
    assert_eq!(two_roots.longest(), 1);
    assert_eq!(two_roots.method_of_product(100, 100), Method::Halves);
    assert_eq!(few_roots().longest(), 4);
    assert_eq!(modulo(65_537).longest(), 16);
    assert_eq!(polynomials.longest(), 32);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn random_lengths(n in 0usize..700, m in 0usize..700, seed: u64) {
        let field = f50();
        check_pair(&Polynomials::new(field), &elements(&field, n, seed), &elements(&field, m, !seed));
        let (a, b) = (elements(&Goldilocks, n, seed), elements(&Goldilocks, m, !seed));
        check_pair(&Polynomials::new(Goldilocks), &a, &b);
    }
}
