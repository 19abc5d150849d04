//! Fourier transforms of up to a few hundred points that lie in the first-level cache, one in each
//! lane of a vector.
//!
//! A transform of m points is a sequence of stages whose radices have the product m. The forward
//! transform decimates in frequency: its points are in natural order, and its spectrum is in the
//! order of reversed digits. The inverse transform takes the stages in the opposite order, from a
//! spectrum in the order of reversed digits to points in natural order. So nothing is ever sorted.
//!
//! Let q_1, …, q_s be the radices. Element k = d_1 + q_1·d_2 + q_1·q_2·d_3 + … of the spectrum is
//! at position d_1·(m/q_1) + d_2·(m/(q_1·q_2)) + …

#![expect(clippy::needless_range_loop, reason = "indices that several arrays share")]

use warpint_arith::simd::{F64s, Kernel};

use super::butterfly::{RADICES, dft};
use super::complex::C64s;
use crate::engine::fp64::transform::roots::Roots;

/// The constants of a transform of `len` points.
#[derive(Debug)]
pub(super) struct Fft {
    pub(super) len: usize,
    stages: Vec<Stage>,
}

/// One stage: transforms of `radix` points at distance `span`, in each of `blocks` blocks of
/// `radix`·`span` points.
#[derive(Debug)]
struct Stage {
    radix: usize,
    span: usize,
    blocks: usize,
    /// The twiddles e^(−2πi·j·d/(`radix`·`span`)) for 0 ≤ j < `span` and 0 < d < `radix`, as real
    /// and imaginary part.
    twiddles: Vec<[f64; 2]>,
}

/// The position of vectors of complex numbers in memory, in units of `f64`. The vector with the
/// numbers e (its element) and c (its column) has its real parts at `at` + e·`element` +
/// c·`column`, and its imaginary parts `imaginary` further on.
#[derive(Debug, Clone, Copy)]
pub(super) struct View {
    pub(super) at: *mut f64,
    pub(super) element: usize,
    pub(super) column: usize,
    pub(super) imaginary: usize,
}

/// Factors by which the points of a transform are multiplied, one for each element.
pub(super) trait Twist: Copy {
    /// Returns z·w, or z·conj w if `INVERSE`, where w is the factor of element `e`.
    ///
    /// # Safety
    /// The table of factors must have an entry for element `e`.
    unsafe fn apply<V: F64s, const INVERSE: bool>(
        self,
        i: V::Instructions,
        e: usize,
        z: C64s<V>,
    ) -> C64s<V>;
}

/// No factors.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plain;

/// Factors that are the same in all lanes, as pairs of real and imaginary part.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scalars(pub(super) *const [f64; 2]);

/// Factors for each lane: for each element a vector of real parts and one of imaginary parts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Vectors(pub(super) *const f64);

impl Twist for Plain {
    #[inline(always)]
    unsafe fn apply<V: F64s, const INVERSE: bool>(
        self,
        _: V::Instructions,
        _: usize,
        z: C64s<V>,
    ) -> C64s<V> {
        z
    }
}

impl Twist for Scalars {
    #[inline(always)]
    unsafe fn apply<V: F64s, const INVERSE: bool>(
        self,
        i: V::Instructions,
        e: usize,
        z: C64s<V>,
    ) -> C64s<V> {
        // SAFETY: the caller promises that the table has this entry.
        let w = C64s::splat(i, unsafe { *self.0.add(e) });
        if INVERSE { z.mul_conj(w) } else { z.mul(w) }
    }
}

impl Twist for Vectors {
    #[inline(always)]
    unsafe fn apply<V: F64s, const INVERSE: bool>(
        self,
        i: V::Instructions,
        e: usize,
        z: C64s<V>,
    ) -> C64s<V> {
        // SAFETY: the caller promises that the table has this entry.
        let w = unsafe { C64s::load(i, self.0.add(2 * V::LANES * e), V::LANES) };
        if INVERSE { z.mul_conj(w) } else { z.mul(w) }
    }
}

/// Returns the radices of the fastest transform of m points, and its estimated time for each point.
/// Returns `None` if m has prime factors above 7.
pub(super) fn radices(m: usize) -> Option<(Vec<usize>, f64)> {
    if m == 1 {
        return Some((vec![], 0.0));
    }
    // The time of a stage and its inverse for each vector, in ns, on a Zen 3 core with AVX2.
    let cost = |q: usize| match q {
        2 => 2.0,
        3 => 2.5,
        4 => 2.35,
        5 => 3.6,
        _ => 5.2,
    };
    let mut best: Option<(Vec<usize>, f64)> = None;
    // Radices in descending order.
    for q in RADICES.into_iter().rev().filter(|&q| m.is_multiple_of(q)) {
        if let Some((rest, time)) = radices(m / q)
            && rest.first().is_none_or(|&r| r <= q)
            && best.as_ref().is_none_or(|(_, least)| time + cost(q) < *least)
        {
            best = Some(([vec![q], rest].concat(), time + cost(q)));
        }
    }
    best
}

impl Fft {
    /// Returns the transform of m points, or `None` if m has prime factors above 7.
    pub(super) fn new(m: usize) -> Option<Self> {
        let (radices, _) = radices(m)?;
        let roots = Roots::new(m);
        let mut len = m;
        let stages = radices.into_iter().map(|radix| {
            let (span, blocks) = (len / radix, m / len);
            len = span;
            let exponents = (0..span).flat_map(|j| (1..radix).map(move |d| j * d));
            let twiddles = exponents.map(|e| {
                let w = roots.get((e * blocks) as u64);
                [w.re, w.im]
            });
            Stage { radix, span, blocks, twiddles: twiddles.collect() }
        });
        Some(Self { len: m, stages: stages.collect() })
    }

    /// Returns the indices in the spectrum of the elements at positions 0, 1, …, m − 1.
    pub(super) fn order(&self) -> Vec<usize> {
        let mut order = vec![0];
        for stage in self.stages.iter().rev() {
            let q = stage.radix;
            order = (0..q).flat_map(|d| order.iter().map(move |k| d + q * k)).collect();
        }
        order
    }

    /// Transforms W columns of points, each multiplied by its factor, from `from` to `to`,
    /// where the spectrum has the order of [`Self::order`]. Between the stages the elements are in
    /// `tile`. `to` may equal `from`, and `tile` may equal `to` or `from`.
    ///
    /// # Safety
    /// All vectors of the three views, with elements below `len` and columns below W, must be
    /// accessible to the caller alone. In each view they must not overlap. The table of factors
    /// must have `len` entries.
    #[inline(always)]
    pub(super) unsafe fn forward<V: F64s, T: Twist, const W: usize>(
        &self,
        i: V::Instructions,
        [from, tile, to]: [View; 3],
        twist: T,
    ) {
        let last = self.stages.len() - 1;
        for (s, stage) in self.stages.iter().enumerate() {
            let from = if s == 0 { from } else { tile };
            let to = if s == last { to } else { tile };
            // SAFETY: the caller's promise.
            unsafe {
                if s == 0 {
                    stage.execute::<V, T, W, false>(i, from, to, twist);
                } else {
                    stage.execute::<V, Plain, W, false>(i, from, to, Plain);
                }
            }
        }
    }

    /// Computes the inverse of [`Self::forward`], times `len`: transforms W columns of
    /// spectra, from `from` to `to`, and multiplies each point by the conjugate of its factor.
    ///
    /// # Safety
    /// As for [`Self::forward`].
    #[inline(always)]
    pub(super) unsafe fn inverse<V: F64s, T: Twist, const W: usize>(
        &self,
        i: V::Instructions,
        [from, tile, to]: [View; 3],
        twist: T,
    ) {
        let last = self.stages.len() - 1;
        for (s, stage) in self.stages.iter().enumerate().rev() {
            let from = if s == last { from } else { tile };
            let to = if s == 0 { to } else { tile };
            // SAFETY: the caller's promise.
            unsafe {
                if s == 0 {
                    stage.execute::<V, T, W, true>(i, from, to, twist);
                } else {
                    stage.execute::<V, Plain, W, true>(i, from, to, Plain);
                }
            }
        }
    }
}

impl Stage {
    /// Executes the stage. In the forward direction, points are multiplied by the factors first; in
    /// the inverse direction, by their conjugates last.
    ///
    /// # Safety
    /// As for [`Fft::forward`].
    #[inline(always)]
    unsafe fn execute<V: F64s, T: Twist, const W: usize, const INVERSE: bool>(
        &self,
        i: V::Instructions,
        from: View,
        to: View,
        twist: T,
    ) {
        let stage = self;
        match self.radix {
            2 => V::enter(i, Pass::<_, 2, W, INVERSE> { stage, from, to, twist }),
            3 => V::enter(i, Pass::<_, 3, W, INVERSE> { stage, from, to, twist }),
            4 => V::enter(i, Pass::<_, 4, W, INVERSE> { stage, from, to, twist }),
            5 => V::enter(i, Pass::<_, 5, W, INVERSE> { stage, from, to, twist }),
            _ => V::enter(i, Pass::<_, 7, W, INVERSE> { stage, from, to, twist }),
        }
    }
}

/// The transforms of one stage, with radix Q, of W columns.
struct Pass<'a, T, const Q: usize, const W: usize, const INVERSE: bool> {
    stage: &'a Stage,
    from: View,
    to: View,
    twist: T,
}

impl<T: Twist, const Q: usize, const W: usize, const INVERSE: bool> Kernel
    for Pass<'_, T, Q, W, INVERSE>
{
    type Output = ();

    #[inline(always)]
    fn run<V: F64s>(self, i: V::Instructions) {
        // The compiler cannot know that stores leave the stage as it is.
        let Stage { span, blocks, .. } = *self.stage;
        let twiddles = self.stage.twiddles.as_ptr();
        // SAFETY: the creator of the pass has made the promises of `Fft::forward`. The table has
        // Q − 1 twiddles for each j < span.
        unsafe {
            for block in 0..blocks {
                self.butterflies::<V, false>(i, block * Q * span, span, twiddles);
            }
            for j in 1..span {
                for block in 0..blocks {
                    let twiddles = twiddles.add(j * (Q - 1));
                    self.butterflies::<V, true>(i, block * Q * span + j, span, twiddles);
                }
            }
        }
    }
}

impl<T: Twist, const Q: usize, const W: usize, const INVERSE: bool> Pass<'_, T, Q, W, INVERSE> {
    /// Computes the transform of the points `first`, `first` + `span`, … in every column. If
    /// `TWIDDLED`, there are Q − 1 twiddles; otherwise all are 1.
    ///
    /// # Safety
    /// As for [`Fft::forward`]; `span` is that of the stage, all points are below `len`, and
    /// `twiddles` has as many entries as are needed.
    #[inline(always)]
    unsafe fn butterflies<V: F64s, const TWIDDLED: bool>(
        &self,
        i: V::Instructions,
        first: usize,
        span: usize,
        twiddles: *const [f64; 2],
    ) {
        let Self { from, to, twist, .. } = *self;
        let (from_step, to_step) = (span * from.element, span * to.element);
        for c in 0..W {
            // SAFETY: the promise of the caller, and c < W.
            unsafe {
                let mut at = from.at.add(first * from.element + c * from.column);
                let mut x = [C64s::<V>::load(i, at, from.imaginary); Q];
                for d in 0..Q {
                    if d > 0 {
                        at = at.add(from_step);
                        x[d] = C64s::load(i, at, from.imaginary);
                    }
                    if !INVERSE {
                        x[d] = twist.apply::<V, false>(i, first + d * span, x[d]);
                    } else if TWIDDLED && d > 0 {
                        x[d] = x[d].mul_conj(C64s::splat(i, *twiddles.add(d - 1)));
                    }
                }
                dft::<V, Q, INVERSE>(i, &mut x);
                let mut at = to.at.add(first * to.element + c * to.column);
                for d in 0..Q {
                    if INVERSE {
                        x[d] = twist.apply::<V, true>(i, first + d * span, x[d]);
                    } else if TWIDDLED && d > 0 {
                        x[d] = x[d].mul(C64s::splat(i, *twiddles.add(d - 1)));
                    }
                    x[d].store(at, to.imaginary);
                    if d + 1 < Q {
                        at = at.add(to_step);
                    }
                }
            }
        }
    }
}
