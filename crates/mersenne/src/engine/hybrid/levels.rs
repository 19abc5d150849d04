//! Transforms of short lines by levels of radix 2, 3, 4, 7 and 11, in either arithmetic. A vector has an
//! element of another line in each lane.
//!
//! The forward transform leaves the spectrum in the order of reversed digits (decimation in
//! frequency), and the inverse transform starts from it, without a factor 1/n.

use std::marker::PhantomData;

use warpint_arith::simd::F64s;

use super::arithmetic::{Arithmetic, Entry, Z};
use super::memory::{load, splat, store};

/// The transforms of lines of n elements.
pub(super) struct Fft<A> {
    /// The levels in the order of the forward transform.
    levels: Vec<Level>,
    arithmetic: PhantomData<A>,
}

/// A level: transforms of r elements each, which are s elements apart, in blocks of r·s elements.
struct Level {
    radix: usize,
    /// The distance s.
    step: usize,
    /// The roots ω^(jk) of order r·s for 0 ≤ j < s and 1 ≤ k < r, by j and then k.
    forward: Vec<Entry>,
    /// The inverses of `forward`.
    inverse: Vec<Entry>,
    /// [`Arithmetic::cosine_and_sine`] for the roots ω_r^k with 0 ≤ k < r, if r is odd.
    odd: Vec<Entry>,
}

/// Returns the radices of a line of n = 2^a·3^b·7^c·11^d elements.
fn radices(n: usize) -> Vec<usize> {
    let (mut radices, mut rest) = (vec![], n);
    for radix in [11, 7, 3, 4, 2] {
        while rest.is_multiple_of(radix) {
            radices.push(radix);
            rest /= radix;
        }
    }
    radices
}

/// Returns the frequency at each position of the spectrum of a line of n elements.
pub(super) fn frequencies(n: usize) -> Vec<usize> {
    let mut order = vec![0];
    let mut done = 1;
    for radix in radices(n) {
        // A position of the finer order has one more digit at its low end, of the highest weight.
        order = order.iter().flat_map(|f| (0..radix).map(move |k| f + k * done)).collect();
        done *= radix;
    }
    order
}

impl<A: Arithmetic> Fft<A> {
    /// Computes the tables for lines of n = 2^a·3^b·7^c·11^d elements.
    pub(super) fn new(n: usize) -> Self {
        let mut block = n;
        let level = |radix: usize| {
            let (size, step) = (block as u64, block / radix);
            block = step;
            let roots = A::roots(size);
            let powers =
                move || (0..step as u64).flat_map(move |j| (1..radix as u64).map(move |k| j * k));
            let odd = if radix % 2 == 1 { radix as u64 } else { 0 };
            Level {
                radix,
                step,
                forward: powers().map(|e| A::root(&roots, e)).collect(),
                inverse: powers().map(|e| A::root(&roots, size - e % size)).collect(),
                odd: (0..odd).map(|k| A::cosine_and_sine(odd, k)).collect(),
            }
        };
        Self { levels: radices(n).into_iter().map(level).collect(), arithmetic: PhantomData }
    }

    /// Transforms lines of `data`, in place.
    #[inline(always)]
    pub(super) fn forward<V: F64s>(&self, i: V::Instructions, data: &mut [f64]) {
        for level in &self.levels {
            match level.radix {
                2 => level.forward::<A, V, 2>(i, data),
                3 => level.forward::<A, V, 3>(i, data),
                4 => level.forward::<A, V, 4>(i, data),
                7 => level.forward::<A, V, 7>(i, data),
                _ => level.forward::<A, V, 11>(i, data),
            }
        }
    }

    /// Transforms lines of `data` back, in place: multiplies by n and inverts [`Self::forward`].
    #[inline(always)]
    pub(super) fn inverse<V: F64s>(&self, i: V::Instructions, data: &mut [f64]) {
        for level in self.levels.iter().rev() {
            match level.radix {
                2 => level.inverse::<A, V, 2>(i, data),
                3 => level.inverse::<A, V, 3>(i, data),
                4 => level.inverse::<A, V, 4>(i, data),
                7 => level.inverse::<A, V, 7>(i, data),
                _ => level.inverse::<A, V, 11>(i, data),
            }
        }
    }
}

impl Level {
    #[inline(always)]
    fn forward<A: Arithmetic, V: F64s, const R: usize>(
        &self,
        i: V::Instructions,
        data: &mut [f64],
    ) {
        let step = self.step;
        for block in data.chunks_exact_mut(2 * V::LANES * R * step) {
            for j in 0..step {
                let mut x = [[V::splat(i, 0.0); 2]; R];
                for (s, x) in x.iter_mut().enumerate() {
                    *x = load::<V>(i, block, j + s * step);
                }
                let y = dft::<A, V, R>(i, x, &self.odd, false);
                let roots = &self.forward[(R - 1) * j..][..R - 1];
                store(block, j, A::settle(i, y[0]));
                for s in 1..R {
                    let y = if j == 0 {
                        A::settle(i, y[s])
                    } else {
                        A::times_entry(i, y[s], splat::<V>(i, roots[s - 1]))
                    };
                    store(block, j + s * step, y);
                }
            }
        }
    }

    #[inline(always)]
    fn inverse<A: Arithmetic, V: F64s, const R: usize>(
        &self,
        i: V::Instructions,
        data: &mut [f64],
    ) {
        let step = self.step;
        for block in data.chunks_exact_mut(2 * V::LANES * R * step) {
            for j in 0..step {
                let roots = &self.inverse[(R - 1) * j..][..R - 1];
                let mut x = [[V::splat(i, 0.0); 2]; R];
                x[0] = A::settle(i, load::<V>(i, block, j));
                for s in 1..R {
                    let z = load::<V>(i, block, j + s * step);
                    x[s] = if j == 0 {
                        A::settle(i, z)
                    } else {
                        A::times_entry(i, z, splat::<V>(i, roots[s - 1]))
                    };
                }
                let y = dft::<A, V, R>(i, x, &self.odd, true);
                for (s, y) in y.into_iter().enumerate() {
                    store(block, j + s * step, y);
                }
            }
        }
    }
}

/// Returns y_k = Σ_s x_s·ω_R^(sk), or with ω_R^(−sk) if `inverse`. `odd` has the constants of an odd
/// radix R.
#[inline(always)]
fn dft<A: Arithmetic, V: F64s, const R: usize>(
    i: V::Instructions,
    x: [Z<V>; R],
    odd: &[Entry],
    inverse: bool,
) -> [Z<V>; R] {
    let mut y = x;
    match R {
        2 => {
            y[0] = A::add(x[0], x[1]);
            y[1] = A::sub(x[0], x[1]);
        }
        4 => {
            let [a, b] = [A::add(x[0], x[2]), A::sub(x[0], x[2])];
            let [c, d] = [A::add(x[1], x[3]), A::sub(x[1], x[3])];
            y[0] = A::add(a, c);
            y[2] = A::sub(a, c);
            let [one, three] = if inverse { [3, 1] } else { [1, 3] };
            y[one] = A::add_i(b, d);
            y[three] = A::sub_i(b, d);
        }
        _ => {
            let half = R / 2;
            let mut sums = x;
            for k in 1..=half {
                let sum = A::add(x[k], x[R - k]);
                y[0] = A::add(y[0], sum);
                sums[k] = A::settle(i, sum);
                sums[R - k] = A::settle(i, A::sub(x[k], x[R - k]));
            }
            for m in 1..=half {
                let zero = [V::splat(i, 0.0); 2];
                let (mut even, mut uneven) = (x[0], zero);
                for k in 1..=half {
                    let [c, h] = splat::<V>(i, odd[m * k % R]);
                    even = A::add_cosine(i, even, sums[k], c);
                    uneven = A::add_sine(i, uneven, sums[R - k], h);
                }
                let [plus, minus] = if inverse { [R - m, m] } else { [m, R - m] };
                y[plus] = A::add(even, uneven);
                y[minus] = A::sub(even, uneven);
            }
        }
    }
    y
}
