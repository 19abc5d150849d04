//! The common interface of all plans.

/// A plan for transforms and cyclic convolutions of a batch of vectors of N = 2^m elements, of one
/// length and one field or ring.
///
/// | plan | over | in place | into another batch |
/// |---|---|---|---|
/// | [`cpu::Transform`](crate::cpu::Transform) | any field | as it is | after a copy |
/// | [`gfn::GfnFft`](crate::gpu::gfn::GfnFft) | Z/(r^k + 1)Z | after a copy | as it is |
/// | [`prime::PrimeFft`](crate::gpu::prime::PrimeFft) | Z/pZ, p odd | after a copy | as it is |
/// | [`f50::Ntt50`](crate::gpu::f50::Ntt50) | many primes below 2^50 at once | as it is | after a copy |
/// | [`small_primes::SmallPrimes`](crate::gpu::small_primes::SmallPrimes) | Z/(r^k + 1)Z | as it is | as it is |
///
/// The table states whether an operation works directly or needs a copy. On a device the copy takes
/// memory for a batch during the operation. The CPU's convolutions of integers,
/// [`cpu::f50`](crate::cpu::f50) and [`cpu::goldilocks`](crate::cpu::goldilocks), are not plans of this
/// kind: their input is digits of integers, and their spectra are internal.
///
/// Plans of devices are asynchronous, except if an operation allocates memory: freeing it waits.
pub trait Plan {
    /// A batch: elements in sequence on the CPU, words in the layout of [`crate::gpu`] on a device.
    type Vectors: ?Sized;
    /// The error of a transform.
    type Error: std::error::Error;

    /// Returns the exponent m of the length N = 2^m.
    fn log2(&self) -> u32;

    /// Returns the number B of vectors of a batch; 1 for a plan that accepts any number.
    fn batch(&self) -> usize;

    /// Returns the number of elements or words of a batch, or of one vector if the plan accepts any
    /// number of vectors.
    fn size(&self) -> usize;

    /// Computes x ← X, X_i = Σ_j x_j·ω^(ij) for each vector, ω = ω(m), in the order of
    /// [`Plan::frequency`].
    ///
    /// # Errors
    /// The batch does not have the plan's size, or the device fails.
    fn forward(&self, x: &mut Self::Vectors) -> Result<(), Self::Error>;

    /// Computes out ← X, the transform of x as in [`Plan::forward`].
    ///
    /// # Errors
    /// As for [`Plan::forward`].
    fn forward_into(&self, x: &Self::Vectors, out: &mut Self::Vectors) -> Result<(), Self::Error>;

    /// Computes X ← x, the inverse transform x_j = 1/N·Σ_i X_i·ω^(−ij).
    ///
    /// # Errors
    /// As for [`Plan::forward`].
    fn inverse(&self, x: &mut Self::Vectors) -> Result<(), Self::Error>;

    /// Computes out ← x, the inverse transform of X as in [`Plan::inverse`].
    ///
    /// # Errors
    /// As for [`Plan::forward`].
    fn inverse_into(&self, x: &Self::Vectors, out: &mut Self::Vectors) -> Result<(), Self::Error>;

    /// Computes a ← the cyclic convolution Σ_(i + j ≡ l mod N) a_i·b_j of each pair of vectors. The
    /// contents of b are unspecified afterwards, unless the plan states otherwise.
    ///
    /// # Errors
    /// As for [`Plan::forward`].
    fn convolve(&self, a: &mut Self::Vectors, b: &mut Self::Vectors) -> Result<(), Self::Error>;

    /// Returns (vector, i) for the X_i at a place of a batch of spectra; `None` beyond the spectra.
    fn frequency(&self, place: usize) -> Option<(usize, usize)> {
        let (vector, i) = (place >> self.log2(), place % (1 << self.log2()));
        (vector < self.batch()).then_some((vector, i))
    }
}

#[cfg(test)]
mod tests;
