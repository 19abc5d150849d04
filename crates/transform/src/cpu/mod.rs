//! Transforms on the CPU over any [`Field`]. The module [`f50`] computes products of polynomials
//! modulo 50-bit primes with vector instructions, and [`ntt50`] transforms modulo such primes. The module
//! [`goldilocks`] computes transforms and convolutions modulo 2^64 − 2^32 + 1.
//!
//! A transform of N elements is X_i = Σ_j x_j·ω^(ij), where ω is the root of unity of order N. It
//! is computed by decimation in frequency (Gentleman and Sande 1966). Let N = K·S, j = S·u + s and
//! i = K·v + q, where u and q are less than K, and s and v are less than S. Then
//!
//! X_(K·v + q) = Σ_s (ω^(sq) · Σ_u x_(S·u + s)·ω^(S·uq)) · ω^(K·sv).
//!
//! This formula consists of K-point transforms of the columns, products by twiddles ω^(sq), and
//! S-point transforms of the rows, which are computed in the same way. For K = 2^c, where c is
//! [`Field::log2_of_cheap_roots`], the K-point transforms multiply only by cheap roots. The
//! twiddles are the only general factors. The number of general products is about N·log2(N)/c in
//! all (Fürer 2009, *Faster integer multiplication*; Chen et al. 2018, *Big prime field FFTs on the
//! GPU*, for the fields Z/(r^k + 1)Z with c = log2(2k)).
//!
//! A plan stores ω^i only for i < N/K. Each other power is a product of a stored power and a cheap
//! root.

mod convolution;
pub mod f50;
pub mod goldilocks;
pub mod ntt50;
mod steps;
#[cfg(test)]
mod tests;

use warpint_arith::field::Field;

use crate::Plan;
use crate::parallel::each_part;
use steps::least_run;

/// The reason why a transform cannot be planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoTransform {
    /// The requested length, stored here in elements, is not a power of two.
    #[error("cannot transform {0} elements: the length must be a power of two")]
    Length(usize),
    /// The field has no root of unity of order 2^m. The exponent m is stored here.
    #[error(
        "the field has no root of unity of order 2^{0}: choose a shorter transform or another field"
    )]
    Root(u32),
    /// The plan of a transform of 2^m elements does not fit in memory. The exponent m is stored
    /// here.
    #[error("out of memory for a transform of 2^{0} elements: choose a shorter one")]
    Memory(u32),
}

/// The reason why a [`Transform`] rejects its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WrongArgument {
    /// The number of elements is not a multiple of the transform length.
    #[error(
        "{len} elements are not a whole number of transforms of {n}: give a multiple of {n} elements"
    )]
    Batch {
        /// The number of elements given.
        len: usize,
        /// The number of elements of a transform.
        n: usize,
    },
    /// The factors of a convolution, or the input and the output of a transform, differ in length.
    /// Both lengths are stored here, in elements.
    #[error("the lengths of two arrays differ: {0} and {1} elements")]
    Lengths(usize, usize),
    /// The field has no root of unity of order 2N, which negacyclic convolutions require. The
    /// exponent log2(2N) is stored here.
    #[error(
        "the field has no root of unity of order 2^{0}, which a negacyclic convolution requires"
    )]
    Root(u32),
}

/// A plan of transforms of N = 2^m elements over the field F, on the CPU.
///
/// All methods process batches: vector b consists of the elements b·N to b·N + N − 1. The methods
/// run on the threads of rayon's current pool.
#[derive(Debug, Clone)]
pub struct Transform<F: Field> {
    field: F,
    log2: u32,
    /// The exponent c for which products by powers of ω(c), the root of order 2^c, are cheap.
    cheap: u32,
    /// The powers ω^i for i < max(1, N/2^c), where c is `cheap`.
    powers: Vec<F::Element>,
    /// The factor 1/N of the inverse transform.
    scale: F::Element,
    /// The root of unity ω(m + 1) of order 2N. It is `None` if the field has no root of this order.
    half_root: Option<F::Element>,
}

impl<F: Field> Transform<F> {
    /// Plans transforms of N = 2^log2 elements.
    ///
    /// Cost: about N/2^c products and N/2^c elements of memory, where c is
    /// [`Field::log2_of_cheap_roots`].
    ///
    /// # Errors
    /// The field has no root of unity of order N, or the memory for the powers of the root is not
    /// available.
    pub fn new(field: F, log2: u32) -> Result<Self, NoTransform> {
        // Roots of different orders must match, and may be costly to find.
        let half_root = log2.checked_add(1).and_then(|log2| field.root_of_unity(log2));
        let root = half_root.as_ref().map(|root| field.square(root));
        let root = root.or_else(|| field.root_of_unity(log2)).ok_or(NoTransform::Root(log2))?;
        if log2 >= usize::BITS - 1 {
            return Err(NoTransform::Memory(log2));
        }
        let two = field.from_u64(2);
        let scale =
            field.inverse(&field.pow(&two, &[log2.into()])).ok_or(NoTransform::Root(log2))?;
        let cheap = field.log2_of_cheap_roots();
        let powers = powers(&field, &root, 1 << log2.saturating_sub(cheap))
            .ok_or(NoTransform::Memory(log2))?;
        Ok(Self { field, log2, cheap, powers, scale, half_root })
    }

    /// Plans transforms of n elements.
    ///
    /// # Errors
    /// n is not a power of two, or [`Transform::new`] returns an error.
    pub fn of_length(field: F, n: usize) -> Result<Self, NoTransform> {
        if !n.is_power_of_two() {
            return Err(NoTransform::Length(n));
        }
        Self::new(field, n.ilog2())
    }

    /// Returns the field over which transforms are computed.
    #[must_use]
    pub fn field(&self) -> &F {
        &self.field
    }

    /// Returns the transform length N.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a transform has at least one element")]
    pub fn len(&self) -> usize {
        1 << self.log2
    }

    /// Replaces each vector x by its transform X_i = Σ_j x_j·ω^(ij), in natural order.
    ///
    /// Cost of each transform: N·log2(N) sums, and about N·(log2(N)/c − 1) products for c > 2 or
    /// N·log2(N)/2 products for c ≤ 2, where c is [`Field::log2_of_cheap_roots`].
    ///
    /// # Errors
    /// The number of elements is not a multiple of N.
    pub fn forward(&self, x: &mut [F::Element]) -> Result<(), WrongArgument> {
        self.check(x.len())?;
        self.forward_each(x);
        Ok(())
    }

    /// Replaces each vector X by its inverse transform x_j = 1/N·Σ_i X_i·ω^(−ij), in natural order.
    /// Cost of each transform: the cost of a forward transform, plus N products.
    ///
    /// # Errors
    /// The number of elements is not a multiple of N.
    pub fn inverse(&self, x: &mut [F::Element]) -> Result<(), WrongArgument> {
        self.check(x.len())?;
        self.inverse_each(x);
        Ok(())
    }

    /// Computes [`Transform::forward`] for a number of elements that is a multiple of N.
    pub(crate) fn forward_each(&self, x: &mut [F::Element]) {
        each_part(x, self.len(), &|_, x| self.one_forward(x));
    }

    /// Computes [`Transform::inverse`] for a number of elements that is a multiple of N.
    pub(crate) fn inverse_each(&self, x: &mut [F::Element]) {
        each_part(x, self.len(), &|_, x| self.one_backward(x));
        each_part(x, least_run::<F>(), &|_, x| {
            self.field.scale_each(x, &self.scale);
        });
    }

    fn check(&self, len: usize) -> Result<(), WrongArgument> {
        let n = self.len();
        if len.is_multiple_of(n) { Ok(()) } else { Err(WrongArgument::Batch { len, n }) }
    }

    fn one_forward(&self, x: &mut [F::Element]) {
        self.steps(x);
        for i in 0..x.len() {
            let j = reversed(i, self.log2);
            if i < j {
                x.swap(i, j);
            }
        }
    }

    /// Replaces one vector x by x_j ← Σ_i x_i·ω^(−ij), its inverse transform without the factor
    /// 1/N.
    fn one_backward(&self, x: &mut [F::Element]) {
        self.one_forward(x);
        x[1..].reverse();
    }

    /// Returns a·ω^i for i < N, where ω is the root of unity of order N.
    fn times_root(&self, a: &F::Element, i: usize) -> F::Element {
        // ω^(N/2^c) = ω(c), and ω = ω(c)^(2^c/N) of shorter transforms.
        let (high, low) = (i / self.powers.len(), i % self.powers.len());
        let spread = self.cheap.saturating_sub(self.log2);
        let cheap = (high as u64) << spread;
        match (low, cheap) {
            (0, 0) => a.clone(),
            (0, _) => self.field.mul_by_cheap_root(a, cheap),
            (_, 0) => self.field.mul(a, &self.powers[low]),
            _ => self.field.mul_by_cheap_root(&self.field.mul(a, &self.powers[low]), cheap),
        }
    }
}

impl<F: Field> Plan for Transform<F> {
    type Vectors = [F::Element];
    type Error = WrongArgument;

    fn points(&self) -> usize {
        1 << self.log2
    }

    fn batch(&self) -> usize {
        1
    }

    fn size(&self) -> usize {
        self.len()
    }

    fn forward(&self, x: &mut [F::Element]) -> Result<(), WrongArgument> {
        self.forward(x)
    }

    fn forward_into(&self, x: &[F::Element], out: &mut [F::Element]) -> Result<(), WrongArgument> {
        copy(x, out)?;
        self.forward(out)
    }

    fn inverse(&self, x: &mut [F::Element]) -> Result<(), WrongArgument> {
        self.inverse(x)
    }

    fn inverse_into(&self, x: &[F::Element], out: &mut [F::Element]) -> Result<(), WrongArgument> {
        copy(x, out)?;
        self.inverse(out)
    }

    fn convolve(&self, a: &mut [F::Element], b: &mut [F::Element]) -> Result<(), WrongArgument> {
        self.cyclic(a, b)
    }
}

fn copy<T: Clone>(x: &[T], out: &mut [T]) -> Result<(), WrongArgument> {
    if x.len() != out.len() {
        return Err(WrongArgument::Lengths(x.len(), out.len()));
    }
    out.clone_from_slice(x);
    Ok(())
}

/// Returns the number whose `bits` bits are the bits of i in reverse order, for i < 2^bits.
fn reversed(i: usize, bits: u32) -> usize {
    if bits == 0 { 0 } else { i.reverse_bits() >> (usize::BITS - bits) }
}

/// Returns root^i for i < count. Returns `None` if the memory is not available.
fn powers<F: Field>(field: &F, root: &F::Element, count: usize) -> Option<Vec<F::Element>> {
    const RUN: usize = 1 << 10;
    let mut all = Vec::new();
    all.try_reserve_exact(count).ok()?;
    all.resize(count, field.one());
    each_part(&mut all, RUN, &|run, powers| {
        let mut power = field.pow(root, &[(run * RUN) as u64]);
        for to in powers {
            let next = field.mul(&power, root);
            *to = std::mem::replace(&mut power, next);
        }
    });
    Some(all)
}
