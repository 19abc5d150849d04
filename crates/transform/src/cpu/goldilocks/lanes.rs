//! One or several field elements side by side: what the transforms are written in.

use warpint_arith::goldilocks as field;

/// `WIDTH` canonical elements of the field, operated on lane by lane.
///
/// An implementation may keep them in a form of its own; a *factor* is a
/// multiplicand kept ready for [`Lanes::mul`]. Slices given to a method have
/// `WIDTH` entries.
pub trait Lanes: Copy + Send + Sync + 'static {
    /// W, the number of lanes: a power of two.
    const WIDTH: usize;
    /// W canonical multiplicands.
    type Factor: Copy + Send + Sync;
    /// Evidence that this processor has the instructions of this type. Elements and factors are made with it
    /// only, and so are evidence themselves.
    type Instructions: Copy + Send + Sync;

    /// The evidence; `None` where the instructions are missing.
    fn instructions() -> Option<Self::Instructions>;

    /// Runs a kernel compiled for this type's instructions.
    ///
    /// # Panics
    /// If the processor does not have them.
    fn enter<K: Kernel<Self>>(kernel: K);

    /// The same canonical element in every lane.
    fn splat(instructions: Self::Instructions, x: u64) -> Self;
    /// The canonical elements.
    fn elements(instructions: Self::Instructions, x: &[u64]) -> Self;
    /// Writes the canonical elements out.
    fn store(self, out: &mut [u64]);
    /// The canonical multiplicands.
    fn factors(instructions: Self::Instructions, x: &[u64]) -> Self::Factor;

    /// a + b.
    fn add(self, b: Self) -> Self;
    /// a − b.
    fn sub(self, b: Self) -> Self;
    /// a·w.
    fn mul(self, w: Self::Factor) -> Self;
    /// a·w, the same canonical w in every lane.
    fn scale(self, w: u64) -> Self;
    /// a as a factor.
    fn to_factor(self) -> Self::Factor;
    /// 2^k·a, 0 ≤ k < 192: by shifts, cheap when k is known to the compiler.
    fn mul_pow2(self, k: u32) -> Self;
    /// Transposes a W × W square: lane i of entry j against lane j of entry i.
    fn transpose(square: &mut [Self]);
}

/// A computation over lanes of type `V`; `run` must be `#[inline(always)]`, as
/// must all that it calls with `V` in hand, to be compiled for `V`'s
/// instructions.
pub trait Kernel<V> {
    /// The computation.
    fn run(self);
}

/// Plain integers: one lane, on every machine.
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
