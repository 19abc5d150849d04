//! Transforms over Z/pZ for any odd prime p of up to 4,096 bits, on a device.
//!
//! A transform of N elements consists of several passes over memory. Each pass computes transforms
//! of 2^a points in shared memory, and then multiplies by twiddles. The device computes the table
//! of twiddles from two short tables. Passes are those of Stockham's algorithm: input and output
//! are in natural order, without separate passes that reorder elements. Factors from tables are in
//! Montgomery form, and elements are not. So the Montgomery product of a factor and an element is
//! an element.
//!
//! Elements of up to 1,024 bits are in registers. Larger elements are in the local memory of a
//! thread, which is much slower than registers. If the top bit of the highest 64-bit word of the
//! modulus is set, kernels compute with two additional limbs of 32 bits.
//!
//! Cost: with P passes, N/2·(log2(N) − P) products within the passes, and N products between any
//! two consecutive passes. A product of n 32-bit limbs takes 2n² + n multiply-adds of 32 by 32
//! bits. A multiprocessor executes at most 64 multiply-adds per clock. For n = 8, N = 2^20 and
//! P = 3, there are 11 million products of 136 multiply-adds each, which take 0.1 ms on 132
//! multiprocessors at 1.7 GHz. The memory traffic of these elements of 32 bytes is 2·32·N bytes per
//! pass, which takes 0.05 ms in all passes. A plan needs memory for a batch and for N/2 factors.

mod plan;
mod shape;
#[cfg(test)]
mod tests;

pub use plan::{PrimeFft, PrimeFftError};

use warpint_arith::montgomery::known::{BLS12_377_BASE, BN254_SCALAR, full};
use warpint_arith::montgomery::{NoField, PrimeField};
use warpint_device::Source;

use shape::Shape;

/// Returns the sources of the shipped kernels of this module, for fields of several sizes and
/// devices whose blocks have `shared_memory` bytes of shared memory.
pub(super) fn sources(shared_memory: u32) -> Vec<Source> {
    fn of<const L: usize>(field: Result<PrimeField<L>, NoField>, shared: u32) -> Option<Source> {
        field.ok().map(|field| Shape::new(&field, shared).source())
    }
    fn of_full<const L: usize>(shared: u32) -> Option<Source> {
        full::<L>().and_then(|modulus| of(PrimeField::new(modulus), shared))
    }
    let all = [
        of(BN254_SCALAR.field(), shared_memory),
        of(BLS12_377_BASE.field(), shared_memory),
        of_full::<4>(shared_memory),
        of_full::<8>(shared_memory),
        of_full::<16>(shared_memory),
        of_full::<32>(shared_memory),
    ];
    all.into_iter().flatten().collect()
}
