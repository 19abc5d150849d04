//! What all plans have in common.

/// A plan: transforms and cyclic convolutions of a batch of vectors of N = 2^m elements, of one length and one
/// field or ring.
///
/// | plan | over | in place | into another batch |
/// |---|---|---|---|
/// | [`cpu::Transform`](crate::cpu::Transform) | any field | as it is | after a copy |
/// | [`gfn::GfnFft`](crate::gpu::gfn::GfnFft) | Z/(r^k + 1)Z | after a copy | as it is |
/// | [`prime::PrimeFft`](crate::gpu::prime::PrimeFft) | Z/pZ, p odd | after a copy | as it is |
/// | [`f50::Ntt50`](crate::gpu::f50::Ntt50) | many primes below 2^50 at once | as it is | after a copy |
/// | [`small_primes::SmallPrimes`](crate::gpu::small_primes::SmallPrimes) | Z/(r^k + 1)Z | as it is | as it is |
///
/// A copy on a device takes memory for a batch while it is used. The CPU's convolutions of integers,
/// [`cpu::f50`](crate::cpu::f50) and [`cpu::goldilocks`](crate::cpu::goldilocks), are none of these plans: they take
/// digits of integers, and their spectra never leave them.
///
/// A plan of a device submits work and does not wait for it, except where it takes memory of its own: giving that back
/// waits.
pub trait Plan {
    /// A batch: elements one after the other on the CPU, words in the layout of [`crate::gpu`] on a device.
    type Vectors: ?Sized;
    /// Why a transform failed.
    type Error: std::error::Error;

    /// m.
    fn log2(&self) -> u32;

    /// B, the vectors of a batch; 1 for a plan that takes any number of them.
    fn batch(&self) -> usize;

    /// Elements or words of a batch; for a plan that takes any number of vectors those of one.
    fn size(&self) -> usize;

    /// x ← X, X_i = Σ_j x_j·ω^(ij) for each vector, ω = ω(m), in the order of [`Plan::frequency`].
    ///
    /// # Errors
    /// The batch has another size than the plan's, or the device fails.
    fn forward(&self, x: &mut Self::Vectors) -> Result<(), Self::Error>;

    /// out ← X.
    ///
    /// # Errors
    /// As of [`Plan::forward`].
    fn forward_into(&self, x: &Self::Vectors, out: &mut Self::Vectors) -> Result<(), Self::Error>;

    /// X ← x, x_j = 1/N·Σ_i X_i·ω^(−ij).
    ///
    /// # Errors
    /// As of [`Plan::forward`].
    fn inverse(&self, x: &mut Self::Vectors) -> Result<(), Self::Error>;

    /// out ← x.
    ///
    /// # Errors
    /// As of [`Plan::forward`].
    fn inverse_into(&self, x: &Self::Vectors, out: &mut Self::Vectors) -> Result<(), Self::Error>;

    /// a ← the cyclic convolution Σ_(i + j ≡ l mod N) a_i·b_j of each pair of vectors. What b then holds is
    /// unspecified, unless the plan says otherwise.
    ///
    /// # Errors
    /// As of [`Plan::forward`].
    fn convolve(&self, a: &mut Self::Vectors, b: &mut Self::Vectors) -> Result<(), Self::Error>;

    /// Which X_i stands at a place of a batch of spectra: (vector, i), or `None` beyond them.
    fn frequency(&self, place: usize) -> Option<(usize, usize)> {
        let (vector, i) = (place >> self.log2(), place % (1 << self.log2()));
        (vector < self.batch()).then_some((vector, i))
    }
}

#[cfg(test)]
mod tests;
