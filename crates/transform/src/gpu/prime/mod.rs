//! Transforms over Z/pZ for any odd prime p of up to 4,096 bits, on a device.
//!
//! A transform consists of several passes over memory. Each computes transforms of R = 2^a points in
//! shared memory, one butterfly per thread and level, and then multiplies by twiddles. The device
//! computes the table of twiddles from two short tables. Passes are Stockham's: input and output are in
//! natural order, and elements are moved only by the reads and writes that are needed anyway. Factors
//! are in Montgomery form, elements are not: a product of both is an element.
//!
//! Elements of up to 1,024 bits are in registers, larger ones in the local memory of a thread, which is
//! much slower. A modulus whose words have no spare bit is computed with two limbs more.
//!
//! Cost: N/2·(log2(N) − passes) products, and N more between two passes. A product of n limbs takes
//! 2n² + n multiply-adds of 32 by 32 bits. A multiprocessor executes at most 64 of them per clock: for
//! n = 8 and N = 2^20, 11 million products of 136 take 0.1 ms on 132 multiprocessors at 1.7 GHz. Memory
//! traffic is 2·32·N bytes per pass, 0.05 ms in all. Memory: a vector for the passes and N/2 factors.

mod plan;
mod shape;
#[cfg(test)]
mod tests;

pub use plan::{PrimeFft, PrimeFftError};

use warpint_arith::montgomery::known::{BLS12_377_BASE, BN254_SCALAR, full};
use warpint_arith::montgomery::{NoField, PrimeField};
use warpint_device::Source;

use shape::Shape;

/// Returns the sources of the shipped kernels, for fields of several sizes and blocks with
/// `shared_memory` bytes of shared memory.
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
