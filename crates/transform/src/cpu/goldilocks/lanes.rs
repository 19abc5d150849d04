//! The interface of one or several field elements side by side, on which the transforms are built.

use warpint_arith::goldilocks as field;

/// W = `WIDTH` elements of the field Z/qZ, where q = 2^64 − 2^32 + 1. Operations act on each
/// element separately.
///
/// A *canonical* element is an integer from 0 to q − 1. An implementation may store the elements in
/// a form of its own. A *factor* is a canonical multiplicand prepared for [`Lanes::mul`]. Slices
/// passed to a method have `WIDTH` entries.
pub trait Lanes: Copy + Send + Sync + 'static {
    /// The number W of lanes: a power of two.
    const WIDTH: usize;
    /// W canonical multiplicands, prepared for [`Lanes::mul`].
    type Factor: Copy + Send + Sync;
    /// A proof that this processor has the instructions that this type uses. Elements and factors
    /// cannot be made without this proof, so each element and each factor is also a proof.
    type Instructions: Copy + Send + Sync;

    /// Returns the proof that this processor has the instructions. Returns `None` if the processor
    /// lacks them.
    fn instructions() -> Option<Self::Instructions>;

    /// Runs a kernel compiled for this type's instructions.
    ///
    /// # Panics
    /// If the processor lacks the instructions.
    fn enter<K: Kernel<Self>>(kernel: K);

    /// Returns the canonical element x in every lane.
    fn splat(instructions: Self::Instructions, x: u64) -> Self;
    /// Returns the W canonical elements of the slice x, one in each lane.
    fn elements(instructions: Self::Instructions, x: &[u64]) -> Self;
    /// Writes the W canonical elements to the slice `out`.
    fn store(self, out: &mut [u64]);
    /// Prepares the W canonical multiplicands in the slice x for [`Lanes::mul`].
    fn factors(instructions: Self::Instructions, x: &[u64]) -> Self::Factor;

    /// Returns a + b in each lane, with a = `self`.
    fn add(self, b: Self) -> Self;
    /// Returns a − b in each lane, with a = `self`.
    fn sub(self, b: Self) -> Self;
    /// Returns a·w in each lane, with a = `self`.
    fn mul(self, w: Self::Factor) -> Self;
    /// Returns a·w in each lane, with a = `self` and the same canonical number w for all lanes.
    fn scale(self, w: u64) -> Self;
    /// Prepares the elements of `self` for use as multiplicands of [`Lanes::mul`].
    fn to_factor(self) -> Self::Factor;
    /// Returns 2^k·a in each lane by shifts, with a = `self` and 0 ≤ k < 192. The call is cheap if
    /// k is a compile-time constant.
    fn mul_pow2(self, k: u32) -> Self;
    /// Transposes a matrix of W entries with W lanes each: exchanges lane i of entry j and lane j
    /// of entry i.
    fn transpose(square: &mut [Self]);
}

/// A computation with lanes of type `V`. [`Kernel::run`] and all functions generic in `V` that it
/// calls must be `#[inline(always)]`, so that they are compiled with the instruction set of `V`.
pub trait Kernel<V> {
    /// Executes the computation. [`Lanes::enter`] calls this method.
    fn run(self);
}

/// One element, stored as an integer from 0 to q − 1, where q = 2^64 − 2^32 + 1. The number of
/// lanes is 1. This type works on every machine.
impl Lanes for u64 {
    const WIDTH: usize = 1;
    type Factor = u64;
    type Instructions = ();

    fn instructions() -> Option<()> {
        Some(())
    }

    #[inline(never)]
    fn enter<K: Kernel<Self>>(kernel: K) {
        kernel.run();
    }

    #[inline(always)]
    fn splat((): (), x: u64) -> Self {
        x
    }

    #[inline(always)]
    fn elements((): (), x: &[u64]) -> u64 {
        x[0]
    }

    #[inline(always)]
    fn store(self, out: &mut [u64]) {
        out[0] = self;
    }

    #[inline(always)]
    fn factors((): (), x: &[u64]) -> u64 {
        x[0]
    }

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        field::add(self, b)
    }

    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        field::sub(self, b)
    }

    #[inline(always)]
    fn mul(self, w: u64) -> Self {
        field::mul(self, w)
    }

    #[inline(always)]
    fn scale(self, w: u64) -> Self {
        field::mul(self, w)
    }

    #[inline(always)]
    fn to_factor(self) -> u64 {
        self
    }

    #[inline(always)]
    fn mul_pow2(self, k: u32) -> Self {
        field::mul_pow2(self, k)
    }

    #[inline(always)]
    fn transpose(_square: &mut [Self]) {}
}
