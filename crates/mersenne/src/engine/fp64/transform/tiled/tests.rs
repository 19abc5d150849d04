//! The FFTs of pieces against the definition, and the shapes.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rustfft::num_complex::Complex;
use warpint_arith::simd::{self, F64s, Kernel, PortableF64s};

use super::shape::{Shape, WIDTH};
use super::stages::{Fft, Plain, Scalars, Twist, Vectors, View, radices};
use crate::engine::fp64::lengths::{LONGEST, lengths};
use crate::engine::fp64::threshold;
use crate::engine::fp64::transform::buffer::{Buffer, words_mut};
use crate::engine::fp64::transform::roots::Roots;

type C64 = Complex<f64>;

/// Transforms of m points in two columns. The points are multiplied by one of the three kinds of
/// factors.
struct Pieces {
    m: usize,
    kind: usize,
}

impl Pieces {
    /// Compares a transform with the definition, and its inverse with the points.
    #[inline(always)]
    fn check<V: F64s, T: Twist>(&self, i: V::Instructions, factors: &[Vec<C64>], twist: T) {
        const COLUMNS: usize = 2;
        let (m, lanes) = (self.m, V::LANES);
        let fft = Fft::new(m).unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(m as u64);
        let mut memory: [Buffer; 3] =
            std::array::from_fn(|_| Buffer::new(COLUMNS * m * lanes + 8 * m));
        // Different strides: elements apart, columns apart, and as close as possible.
        let strides = [2 * lanes * COLUMNS + 8, 2 * lanes * COLUMNS, 2 * lanes];
        let columns = [2 * lanes, 2 * lanes, 2 * lanes * m];
        let [from, tile, to]: [View; 3] = std::array::from_fn(|k| View {
            at: words_mut(&mut memory[k]).as_mut_ptr(),
            element: strides[k],
            column: columns[k],
            imaginary: lanes,
        });
        let at = |view: View, e: usize, c: usize, lane: usize| {
            // SAFETY: the buffers have an entry for every e < m, c < COLUMNS and lane.
            unsafe {
                let re = view.at.add(e * view.element + c * view.column + lane);
                (re, re.add(view.imaginary))
            }
        };
        let mut points = vec![];
        for c in 0..COLUMNS {
            for lane in 0..lanes {
                let column: Vec<C64> =
                    (0..m).map(|_| C64::new(rng.random::<f64>() - 0.5, rng.random())).collect();
                for (e, z) in column.iter().enumerate() {
                    let (re, im) = at(from, e, c, lane);
                    // SAFETY: as above.
                    unsafe { (*re, *im) = (z.re, z.im) };
                }
                points.push(column);
            }
        }
        // SAFETY: the views have room for m elements in two columns, and the factors m entries.
        unsafe { fft.forward::<V, T, COLUMNS>(i, [from, tile, to], twist) };
        let (order, roots) = (fft.order(), Roots::new(m));
        let bound = 2f64.powi(-51) * m as f64;
        for (n, column) in points.iter().enumerate() {
            let (c, lane) = (n / lanes, n % lanes);
            for (e, &k) in order.iter().enumerate() {
                let terms = column.iter().zip(&factors[lane]).enumerate();
                let sum: C64 = terms.map(|(j, (z, w))| z * w * roots.get((j * k) as u64)).sum();
                let (re, im) = at(to, e, c, lane);
                // SAFETY: as above.
                let found = unsafe { C64::new(*re, *im) };
                assert!((found - sum).norm() < bound, "{m} points: {k}: {found}, not {sum}");
            }
        }
        // SAFETY: as above.
        unsafe { fft.inverse::<V, T, COLUMNS>(i, [to, tile, from], twist) };
        for (n, column) in points.iter().enumerate() {
            let (c, lane) = (n / lanes, n % lanes);
            for (e, (z, w)) in column.iter().zip(&factors[lane]).enumerate() {
                let (re, im) = at(from, e, c, lane);
                // SAFETY: as above.
                let found = unsafe { C64::new(*re, *im) } / (m as f64 * w.norm_sqr());
                assert!((found - z).norm() < bound, "{m} points: {e}: {found}, not {z}");
            }
        }
    }
}

impl Kernel for Pieces {
    type Output = ();

    #[inline(always)]
    fn run<V: F64s>(self, i: V::Instructions) {
        let mut rng = ChaCha8Rng::seed_from_u64(self.kind as u64);
        let one = C64::new(1.0, 0.0);
        let random: Vec<C64> =
            (0..self.m * V::LANES).map(|_| C64::cis(rng.random::<f64>() * 6.0)).collect();
        let of_lane = |f: &dyn Fn(usize, usize) -> C64| -> Vec<Vec<C64>> {
            (0..V::LANES).map(|lane| (0..self.m).map(|e| f(e, lane)).collect()).collect()
        };
        match self.kind {
            0 => self.check::<V, _>(i, &of_lane(&|_, _| one), Plain),
            1 => {
                let table: Vec<[f64; 2]> = random.iter().map(|w| [w.re, w.im]).collect();
                self.check::<V, _>(i, &of_lane(&|e, _| random[e]), Scalars(table.as_ptr()));
            }
            _ => {
                let parts = random
                    .chunks(V::LANES)
                    .flat_map(|lanes| lanes.iter().map(|w| w.re).chain(lanes.iter().map(|w| w.im)));
                let table: Vec<f64> = parts.collect();
                let factors = of_lane(&|e, lane| random[e * V::LANES + lane]);
                self.check::<V, _>(i, &factors, Vectors(table.as_ptr()));
            }
        }
    }
}

#[test]
fn pieces_are_transforms_by_definition() {
    for m in [2usize, 3, 4, 5, 6, 7, 8, 9, 12, 14, 15, 16, 21, 25, 32, 35, 48, 49, 64, 120, 126] {
        for kind in 0..3 {
            simd::run(Pieces { m, kind });
            if m < 50 {
                PortableF64s::enter((), Pieces { m, kind });
            }
        }
    }
}

#[test]
fn only_smooth_pieces_have_radices() {
    for m in 2usize..300 {
        let smooth = [2, 3, 5, 7].into_iter().fold(m, |mut m, q| {
            while m.is_multiple_of(q) {
                m /= q;
            }
            m
        }) == 1;
        let found = radices(m);
        assert_eq!(found.is_some(), smooth, "{m}");
        assert_eq!(Fft::new(m).is_some(), smooth, "{m}");
        if let Some((radices, time)) = found {
            assert_eq!(radices.iter().product::<usize>(), m);
            assert!(time > 0.0);
        }
    }
}

#[test]
fn every_long_length_has_a_shape() {
    for length in lengths(threshold::TILED, LONGEST) {
        let found = Shape::ranked(length / 2, 1).first().copied();
        // The odd part of a length is at most 945. Lengths below 128·945 may be too odd.
        assert!(found.is_some() || length < 128 * 945, "{length}");
        if let Some(Shape { rows: [r1, r2], columns: [c1, c2] }) = found {
            assert_eq!(2 * r1 * r2 * c1 * c2, length);
            assert!(r1.is_multiple_of(WIDTH) && c2.is_multiple_of(WIDTH));
            assert!(r1.min(r2).min(c1).min(c2) >= 2);
        }
    }
    assert_eq!(Shape::ranked(128, 1), []);
    assert_eq!(Shape::ranked(11 * 1024, 1), []);
}
