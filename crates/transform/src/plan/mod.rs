//! The common interface of plans of transforms.

/// The order of the outputs X_k of a transform.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// X_k is at place k.
    #[default]
    Natural,
    /// For N = 2^m points, X_k is at the place whose m bits are those of k in reverse order.
    /// [`Plan::frequency`] of a plan defines the order for other N. Transforms in this order take
    /// less memory, and convolutions need no other.
    BitReversed,
}

/// A plan of transforms and cyclic convolutions of batches of vectors of N points, for one N and one
/// field or ring. In this trait, ω is the root of unity of order N that the plan uses.
///
/// | plan | over | in place | into another batch |
/// |---|---|---|---|
/// | [`cpu::Transform`](crate::cpu::Transform) | any field | as it is | after a copy |
/// | [`cpu::ntt50::CpuNtt50`](crate::cpu::ntt50::CpuNtt50) | primes below 2^50 | as it is | after a copy |
/// | [`gfn::GfnFft`](crate::gpu::gfn::GfnFft) | Z/(r^k + 1)Z | after a copy | as it is |
/// | [`prime::PrimeFft`](crate::gpu::prime::PrimeFft) | Z/pZ, p odd | after a copy | as it is |
/// | [`goldilocks::Ntt64`](crate::gpu::goldilocks::Ntt64) | Z/qZ, q = 2^64 − 2^32 + 1 | as it is | as it is |
/// | [`f50::Ntt50`](crate::gpu::f50::Ntt50) | one prime or several primes below 2^50 | as it is | as it is |
/// | [`spectra::Spectra50`](crate::gpu::spectra::Spectra50) | many primes below 2^50, with spectra in an internal order | as it is | after a copy |
/// | [`small_primes::SmallPrimes`](crate::gpu::small_primes::SmallPrimes) | Z/(r^k + 1)Z | as it is | as it is |
///
/// In natural order and with more than one pass, `Ntt64` and `Ntt50` keep memory for a batch after
/// their first transform. The last two columns state whether a transform in place, or into another
/// batch, works directly ("as it is") or needs a copy. On a device the copy takes memory for a batch during the
/// operation. The CPU's convolutions of integers, [`cpu::f50`](crate::cpu::f50) and
/// [`cpu::goldilocks`](crate::cpu::goldilocks), do not implement this trait: their inputs are
/// digits of integers, and their spectra are internal.
///
/// Operations of plans on devices are asynchronous. However, an operation that allocates temporary
/// memory returns only after its work has ended, because the memory is freed only then.
pub trait Plan {
    /// The type of a batch of vectors: elements in sequence on the CPU, words in the layout of
    /// [`crate::gpu`] on a device.
    type Vectors: ?Sized;
    /// The type of the errors of transforms and convolutions.
    type Error: std::error::Error;

    /// Returns the number N of points of a vector.
    fn points(&self) -> usize;

    /// Returns the number of vectors of a batch. For a plan that accepts any number of vectors, the
    /// result is 1.
    fn batch(&self) -> usize;

    /// Returns the size of a batch, in elements on the CPU and in words on a device. If the plan
    /// accepts any number of vectors, this is the size of one vector.
    fn size(&self) -> usize;

    /// Replaces each vector x of a batch by its transform X_i = Σ_j x_j·ω^(ij), where ω is the root
    /// of unity of order N. [`Plan::frequency`] describes the order of the X_i.
    ///
    /// # Errors
    /// The batch does not have the plan's size, the plan is for convolutions only, or the device
    /// fails.
    fn forward(&self, x: &mut Self::Vectors) -> Result<(), Self::Error>;

    /// Computes the transforms of [`Plan::forward`] of the batch `x`, and writes them to `out`.
    ///
    /// # Errors
    /// Returns the errors of [`Plan::forward`].
    fn forward_into(&self, x: &Self::Vectors, out: &mut Self::Vectors) -> Result<(), Self::Error>;

    /// Replaces each vector X of a batch of transforms by its inverse transform x_j = 1/N·Σ_i
    /// X_i·ω^(−ij), where ω is the root of unity of order N.
    ///
    /// # Errors
    /// Returns the errors of [`Plan::forward`].
    fn inverse(&self, x: &mut Self::Vectors) -> Result<(), Self::Error>;

    /// Computes the inverse transforms of [`Plan::inverse`] of the batch `x`, and writes them to
    /// `out`.
    ///
    /// # Errors
    /// Returns the errors of [`Plan::forward`].
    fn inverse_into(&self, x: &Self::Vectors, out: &mut Self::Vectors) -> Result<(), Self::Error>;

    /// Replaces each vector of a by its cyclic convolution with the corresponding vector of b:
    /// a_l ← Σ_(i + j ≡ l mod N) a_i·b_j. The contents of b are unspecified afterwards, unless the
    /// plan states otherwise.
    ///
    /// # Errors
    /// Returns the errors of [`Plan::forward`].
    fn convolve(&self, a: &mut Self::Vectors, b: &mut Self::Vectors) -> Result<(), Self::Error>;

    /// Returns (vector, i) for the output X_i that is stored at index `place` of a batch of
    /// transforms. Returns `None` if `place` is beyond the last vector.
    fn frequency(&self, place: usize) -> Option<(usize, usize)> {
        let (vector, i) = (place / self.points(), place % self.points());
        (vector < self.batch()).then_some((vector, i))
    }
}

#[cfg(test)]
mod tests;
