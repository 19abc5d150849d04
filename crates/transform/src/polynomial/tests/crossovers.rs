//! Measurements for the constants that choose between methods.

use std::time::Instant;

use super::*;
use crate::polynomial::shape::Pieces;

/// Returns the shortest of many measured times of `work`, in microseconds.
fn time(mut work: impl FnMut()) -> f64 {
    let mut once = || {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64() * 1e6
    };
    let first = once();
    let times = ((20_000.0 / first) as usize).clamp(3, 2000);
    (0..times).map(|_| once()).fold(first, f64::min)
}

fn measure<F: Field + Clone + Send>(name: &str, polynomials: &Polynomials<F>) {
    let field = polynomials.field();
    println!("{name}, in us: n; product of n × n by definition, by transforms; inverse mod x^n by");
    println!("definition, by Newton iteration; division 2n / n by definition, in blocks; n values");
    println!("of n coefficients by Horner's rule, by the tree");
    for log2 in 4..12 {
        let n = 1usize << log2;
        let (a, b) = (elements(field, n, 1), minus_ones(field, n));
        let pieces = Pieces { log2: log2 + 1, step: n, count: 1 };
        let long = elements(field, 2 * n, 2);
        let mut values = vec![field.zero(); n];
        let times = [
            time(|| drop(schoolbook::product(field, &a, &b))),
            time(|| drop(polynomials.product_of_pieces(&a, &b, pieces))),
            time(|| {
                let mut g = vec![field.neg(&field.one())];
                schoolbook::extend_inverse(field, &b, &mut g, n);
            }),
            time(|| drop(polynomials.series_inverse(&b, n))),
            time(|| {
                schoolbook::divide(field, &mut long.clone(), &b, &b[0]);
            }),
            time(|| drop(polynomials.divide_in_blocks(&long, &b))),
            time(|| {
                for (value, x) in values.iter_mut().zip(&a) {
                    *value = crate::definition::evaluate(field, &b, x);
                }
            }),
            time(|| {
                let tree = polynomials.tree(&a).unwrap();
                polynomials.evaluate_on(&tree, &b, &mut vec![field.zero(); n]).unwrap();
            }),
        ];
        let row: String = times.iter().map(|t| format!("{t:10.1}")).collect();
        println!("{n:5} {row}");
    }
}

/// Prints the times of the methods for many lengths, on one thread.
#[test]
#[ignore = "a measurement"]
fn crossovers() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| {
        measure("2^64 − 2^32 + 1", &Polynomials::new(Goldilocks));
        measure("F50", &Polynomials::new(f50()));
        measure("998244353", &modulo(998_244_353));
    });
}
