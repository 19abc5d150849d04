use proptest::prelude::*;
use warpint_device::ErrorKind;

use super::*;
use crate::cpu::NoTransform;

/// Tests that a·g ≡ 1 mod x^n.
fn check_inverse<F: Field + Clone + Send>(
    polynomials: &Polynomials<F>,
    a: &[F::Element],
    n: usize,
) {
    let field = polynomials.field();
    let g = polynomials.series_inverse(a, n).unwrap();
    assert_eq!(g.len(), n);
    let mut product = schoolbook::product(field, &a[..a.len().min(n)], &g);
    product.truncate(n);
    product.resize(n, field.zero());
    let mut one = vec![field.zero(); n];
    one.iter_mut().take(1).for_each(|first| *first = field.one());
    assert!(product == one, "{} coefficients mod x^{n}", a.len());
}

fn check_inverses<F: Field + Clone + Send>(polynomials: &Polynomials<F>) {
    let field = polynomials.field();
    for n in LENGTHS.into_iter().chain([256, 265, 513, 521]) {
        for length in [1, n / 2 + 1, n + 5] {
            let mut a = elements(field, length, n as u64);
            a[0] = field.from_u64(12_345);
            check_inverse(polynomials, &a, n);
        }
        check_inverse(polynomials, &minus_ones(field, n.max(1)), n);
    }
}

#[test]
fn inverses_of_series() {
    on_fields!(check_inverses);
}

#[test]
fn series_without_inverse() {
    let polynomials = Polynomials::new(Goldilocks);
    for n in [0, 1, 1000] {
        for a in [&[][..], &[0], &[0, 1, 2]] {
            assert_eq!(polynomials.series_inverse(a, n), Err(PolynomialError::NotInvertible));
        }
    }
    let error = polynomials.series_inverse(&[1], usize::MAX).unwrap_err();
    assert_eq!(error, PolynomialError::Memory(usize::MAX));
    assert_eq!(error.kind(), ErrorKind::Resources);
    assert_eq!(PolynomialError::from(NoTransform::Memory(40)).kind(), ErrorKind::Resources);
    assert_eq!(PolynomialError::NotInvertible.kind(), ErrorKind::BadInput);
}

/// Tests that a = q·b + r with deg r < deg b.
fn check_division<F: Field + Clone + Send>(
    polynomials: &Polynomials<F>,
    a: &[F::Element],
    b: &[F::Element],
) {
    let field = polynomials.field();
    let Some(d) = b.iter().rposition(|b| *b != field.zero()) else {
        let error = polynomials.divide_with_remainder(a, b).unwrap_err();
        assert_eq!(error, PolynomialError::DivisionByZero);
        return;
    };
    let (quotient, remainder) = polynomials.divide_with_remainder(a, b).unwrap();
    assert_eq!((quotient.len(), remainder.len()), (a.len().saturating_sub(d), d));
    let mut all = schoolbook::product(field, &quotient, &b[..=d]);
    all.resize(a.len().max(d), field.zero());
    polynomials.add_to(&mut all, &remainder);
    let mut expected = a.to_vec();
    expected.resize(all.len(), field.zero());
    assert!(all == expected, "{} / {}, degree {d}", a.len(), b.len());
}

fn check_divisions<F: Field + Clone + Send>(polynomials: &Polynomials<F>) {
    let field = polynomials.field();
    for n in LENGTHS {
        for m in LENGTHS {
            check_division(polynomials, &elements(field, n, 1), &elements(field, m, 2));
        }
        check_division(polynomials, &minus_ones(field, n), &minus_ones(field, n / 2));
        check_division(polynomials, &elements(field, n, 1), &vec![field.zero(); n]);
    }
    let long = [
        (1024, 513),
        (1025, 512),
        (2000, 1000),
        (2049, 1025),
        (3000, 200),
        (900, 700),
        (3000, 257),
    ];
    for (n, m) in long {
        check_division(polynomials, &elements(field, n, 3), &elements(field, m, 4));
        check_division(polynomials, &minus_ones(field, n), &minus_ones(field, m));
        // The highest coefficients of the divisor are 0.
        let mut b = elements(field, m, 5);
        b.resize(m + 40, field.zero());
        check_division(polynomials, &elements(field, n, 6), &b);
    }
}

#[test]
fn divisions() {
    on_fields!(check_divisions);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn random_divisions(n in 0usize..1500, m in 1usize..700, seed: u64) {
        let (a, b) = (elements(&Goldilocks, n, seed), elements(&Goldilocks, m, !seed));
        check_division(&Polynomials::new(Goldilocks), &a, &b);
        let (a, b) = (elements(&f50(), n, seed), elements(&f50(), m, !seed));
        check_division(&Polynomials::new(f50()), &a, &b);
    }
}
