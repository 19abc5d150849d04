//! Tests that compare the transforms with their definition.

use super::super::arithmetic::{Arithmetic, Complex, Entry, Modular};
use super::super::levels::{Fft, frequencies};
use super::super::memory::{first_lane, load};
use warpint_arith::m31::{self, Gauss};
use warpint_arith::simd::{F64s, Kernel, run};

/// Lengths of lines with every radix, and with radices in every order.
const LENGTHS: [usize; 16] = [1, 2, 4, 8, 16, 32, 6, 12, 7, 28, 36, 21, 84, 63 * 8, 11, 77 * 4];

/// Transforms a line of which every lane is `points`, and transforms it back. Returns both results.
struct ThereAndBack<'a, A> {
    fft: &'a Fft<A>,
    points: &'a [Entry],
}

impl<A: Arithmetic> Kernel for ThereAndBack<'_, A> {
    type Output = [Vec<Entry>; 2];

    #[inline(always)]
    fn run<V: F64s>(self, i: V::Instructions) -> Self::Output {
        let parts = self.points.iter().flatten();
        let mut data: Vec<f64> =
            parts.flat_map(|&part| vec![f64::from_bits(part); V::LANES]).collect();
        let line = |data: &[f64]| {
            let point = |k| load::<V>(i, data, k).map(|part| first_lane(part).to_bits());
            (0..self.points.len()).map(point).collect()
        };
        self.fft.forward::<V>(i, &mut data);
        let spectrum = line(&data);
        self.fft.inverse::<V>(i, &mut data);
        [spectrum, line(&data)]
    }
}

fn gauss(x: Entry) -> Gauss {
    let [re, im] = x.map(|part| m31::reduce_signed(part as i64));
    Gauss { re, im }
}

#[test]
fn the_modular_transform_is_that_of_the_definition() {
    for n in LENGTHS {
        let number = |k: u64| (k + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) % u64::from(m31::Q);
        let mut points: Vec<Entry> =
            (0..n as u64).map(|k| [number(2 * k), number(2 * k + 1)]).collect();
        points[0] = [u64::from(m31::Q - 1); 2];
        let [spectrum, back] = run(ThereAndBack::<Modular> { fft: &Fft::new(n), points: &points });
        let omega = m31::root_of_unity(n as u64).unwrap();
        for (&k, &found) in frequencies(n).iter().zip(&spectrum) {
            let mut sum = Gauss::ZERO;
            for (j, &z) in points.iter().enumerate() {
                sum = sum.plus(gauss(z).times(omega.pow((j * k) as u64)));
            }
            assert_eq!(gauss(found), sum, "frequency {k} of {n}");
        }
        for (&z, &found) in points.iter().zip(&back) {
            let times_n = gauss(z).times(Gauss { re: n as u32, im: 0 });
            assert_eq!(gauss(found), times_n, "{n} points");
        }
    }
}

#[test]
fn the_complex_transform_is_that_of_the_definition() {
    for n in LENGTHS {
        let point = |j: usize| [(j as f64).sin(), (1.7 * j as f64).cos()];
        let points: Vec<Entry> = (0..n).map(|j| point(j).map(f64::to_bits)).collect();
        let [spectrum, back] = run(ThereAndBack::<Complex> { fft: &Fft::new(n), points: &points });
        for (&k, found) in frequencies(n).iter().zip(&spectrum) {
            let mut sum = [0.0; 2];
            for j in 0..n {
                let (sin, cos) =
                    (2.0 * std::f64::consts::PI * (j * k % n) as f64 / n as f64).sin_cos();
                let [re, im] = point(j);
                sum[0] += re * cos - im * sin;
                sum[1] += re * sin + im * cos;
            }
            for (part, expected) in found.iter().zip(sum) {
                assert!((f64::from_bits(*part) - expected).abs() < 1e-12, "frequency {k} of {n}");
            }
        }
        for (j, found) in back.iter().enumerate() {
            for (part, expected) in found.iter().zip(point(j)) {
                assert!((f64::from_bits(*part) - n as f64 * expected).abs() < 1e-11, "{n} points");
            }
        }
    }
}
