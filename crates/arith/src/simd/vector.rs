//! The interface of vectors of `f64`.

use super::{Level, PortableF64s, U64s};

/// A vector of L = [`F64s::LANES`] numbers of type `f64`. Arithmetic operations act on each lane
/// separately, and round as the operation on a single `f64` does.
///
/// A type that needs special instructions can only be made with a value of [`F64s::Instructions`],
/// which proves that this processor has them.
///
/// All methods are `#[inline(always)]`: they are compiled with the instruction set of the function
/// that calls them, which must be called through [`F64s::enter`].
pub trait F64s: Copy + Send + Sync + 'static {
    /// The number L of lanes: a power of two.
    const LANES: usize;
    /// The level whose instructions the type uses.
    const LEVEL: Level;
    /// A proof that this processor has the instructions of [`F64s::LEVEL`].
    type Instructions: Copy + Send + Sync;
    /// One truth value for each lane.
    type Mask: Copy;
    /// A vector of L integers of 64 bits, in the same registers.
    type Integers: U64s;

    /// Returns the proof that this processor has the instructions. Returns `None` if it lacks them,
    /// or if `WARPINT_CPU` forbids their use.
    fn instructions() -> Option<Self::Instructions>;

    /// Runs `kernel`, compiled for this type's instructions, and returns its result.
    fn enter<K: Kernel>(instructions: Self::Instructions, kernel: K) -> K::Output;

    /// Returns x in every lane.
    fn splat(instructions: Self::Instructions, x: f64) -> Self;

    /// Returns the L numbers in memory from address `from` on. `from` must have the alignment of
    /// `f64`, but need not have that of a vector.
    ///
    /// # Safety
    /// `from` must be aligned for `f64` and valid for reading L numbers.
    unsafe fn load(instructions: Self::Instructions, from: *const f64) -> Self;

    /// Writes the L numbers to memory from address `to` on. `to` must have the alignment of `f64`,
    /// but need not have that of a vector.
    ///
    /// # Safety
    /// `to` must be aligned for `f64` and valid for writing L numbers.
    unsafe fn store(self, to: *mut f64);

    /// Returns a + b, with a = `self`.
    fn add(self, b: Self) -> Self;
    /// Returns a − b, with a = `self`.
    fn sub(self, b: Self) -> Self;
    /// Returns a·b, with a = `self`.
    fn mul(self, b: Self) -> Self;
    /// Returns a·b + c, rounded once, with a = `self`.
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// Returns a·b − c, rounded once, with a = `self`.
    fn mul_sub(self, b: Self, c: Self) -> Self;
    /// Returns c − a·b, rounded once, with a = `self`.
    fn neg_mul_add(self, b: Self, c: Self) -> Self;
    /// Returns −a, with a = `self`.
    fn neg(self) -> Self;
    /// Returns |a|, with a = `self`.
    fn abs(self) -> Self;
    /// Returns a if a > b, and b otherwise, with a = `self`. So the result is b if either number is
    /// NaN.
    fn max(self, b: Self) -> Self;
    /// Returns a XOR b of the bit patterns, with a = `self`.
    fn xor(self, b: Self) -> Self;
    /// Returns a OR b of the bit patterns, with a = `self`.
    fn or(self, b: Self) -> Self;

    /// Returns whether a ≥ b, with a = `self`; false if either is NaN.
    fn at_least(self, b: Self) -> Self::Mask;
    /// Returns the lanes of `yes` where `mask` is true, and those of `no` elsewhere.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;

    /// Returns the bit patterns of the lanes.
    fn to_bits(self) -> Self::Integers;
    /// Returns the numbers with the bit patterns `bits`.
    fn from_bits(bits: Self::Integers) -> Self;

    /// Returns the integer x in every lane.
    #[inline(always)]
    fn splat_bits(instructions: Self::Instructions, x: u64) -> Self::Integers {
        Self::splat(instructions, f64::from_bits(x)).to_bits()
    }

    /// Returns the lanes in reverse order.
    fn reverse(self) -> Self;
    /// Interleaves two vectors: returns (a_0, b_0, a_1, b_1, …) as two vectors, with a = `self`.
    fn interleave(self, b: Self) -> [Self; 2];
    /// The inverse of [`F64s::interleave`]: returns the lanes at even positions and those at odd
    /// positions, as two vectors, of the sequence of the 2L numbers in a = `self` and b.
    fn deinterleave(self, b: Self) -> [Self; 2];
    /// Transposes an L×L matrix, given as L vectors: exchanges lane i of entry j and lane j of
    /// entry i.
    ///
    /// # Panics
    /// Panics if `square` does not have L entries.
    fn transpose(square: &mut [Self]);
}

/// A computation with vectors. [`Kernel::run`] and all generic functions that it calls must be
/// `#[inline(always)]`, so that they are compiled with the instruction set of `V`.
pub trait Kernel {
    /// The result of the computation.
    type Output;

    /// Executes the computation with vectors of type `V`. [`F64s::enter`] calls this method.
    fn run<V: F64s>(self, instructions: V::Instructions) -> Self::Output;
}

/// Runs `kernel` with the widest vectors that this processor has and `WARPINT_CPU` allows (see
/// [`Cpu::get`](super::Cpu::get)), and returns its result.
pub fn run<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    {
        use super::{Avx2F64s, Avx512F64s};
        match super::Cpu::get().level {
            Level::Avx512 => {
                if let Some(instructions) = Avx512F64s::instructions() {
                    return Avx512F64s::enter(instructions, kernel);
                }
            }
            Level::Avx2 => {
                if let Some(instructions) = Avx2F64s::instructions() {
                    return Avx2F64s::enter(instructions, kernel);
                }
            }
            Level::Portable => {}
        }
    }
    PortableF64s::enter((), kernel)
}

/// Asks the processor to load the cache line of an address. This is only a hint: any address is
/// allowed. On processors other than x86-64, nothing happens.
#[inline(always)]
pub fn prefetch(at: *const f64) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 processor has the instruction, which never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}
