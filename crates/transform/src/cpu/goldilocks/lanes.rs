//! One or several field elements side by side: the interface on which the transforms are built.

use warpint_arith::goldilocks as field;

/// `WIDTH` canonical elements of the field, processed lane by lane.
///
/// An implementation may store them in a form of its own; a *factor* is a multiplicand prepared for
/// [`Lanes::mul`]. Slices passed to a method have `WIDTH` entries.
pub trait Lanes: Copy + Send + Sync + 'static {
    /// The number W of lanes: a power of two.
    const WIDTH: usize;
    /// W canonical multiplicands, prepared for [`Lanes::mul`].
    type Factor: Copy + Send + Sync;
    /// A proof that this processor has the instructions of this type. Elements and factors can only be
    /// made with it, and so are proofs themselves.
    type Instructions: Copy + Send + Sync;

    /// Returns the proof, or `None` if the processor lacks the instructions.
    fn instructions() -> Option<Self::Instructions>;

    /// Runs a kernel compiled for this type's instructions.
    ///
    /// # Panics
    /// If the processor does not have them.
    fn enter<K: Kernel<Self>>(kernel: K);

    /// Returns the same canonical element in every lane.
    fn splat(instructions: Self::Instructions, x: u64) -> Self;
    /// Returns the canonical elements in the slice x.
    fn elements(instructions: Self::Instructions, x: &[u64]) -> Self;
    /// Writes the canonical elements to `out`.
    fn store(self, out: &mut [u64]);
    /// Returns the canonical multiplicands in the slice x as factors.
    fn factors(instructions: Self::Instructions, x: &[u64]) -> Self::Factor;

    /// Returns a + b, with a = `self`.
    fn add(self, b: Self) -> Self;
    /// Returns a − b, with a = `self`.
    fn sub(self, b: Self) -> Self;
    /// Returns a·w, with a = `self`.
    fn mul(self, w: Self::Factor) -> Self;
    /// Returns a·w, with a = `self` and the same canonical w in every lane.
    fn scale(self, w: u64) -> Self;
    /// Returns the elements as factors.
    fn to_factor(self) -> Self::Factor;
    /// Returns 2^k·a, with a = `self` and 0 ≤ k < 192, by shifts; cheap if k is a compile-time
    /// constant.
    fn mul_pow2(self, k: u32) -> Self;
    /// Transposes a W × W square: exchanges lane i of entry j and lane j of entry i.
    fn transpose(square: &mut [Self]);
}

/// A computation over lanes of type `V`. `run` and everything generic in `V` that it calls must be
/// `#[inline(always)]`, so that they are compiled with `V`'s instruction set.
pub trait Kernel<V> {
    /// Executes the computation.
    fn run(self);
}

/// One element as a plain integer: lanes of width 1, on every machine.
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
