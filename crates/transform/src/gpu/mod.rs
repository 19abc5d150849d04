//! Transforms on devices (GPUs and the simulator).
//!
//! Vectors of elements of several words are limb-major: if a buffer contains `count` elements in
//! all, word d of element j is at `d·count + j`. In a batch of transforms of N elements, transform
//! b consists of the elements b·N to b·N + N − 1.

pub mod f50;
pub mod gfn;
pub mod goldilocks;
pub mod layout;
pub mod ntt;
pub mod prime;
pub mod small_primes;
pub mod spectra;
mod vectors;

use warpint_device::Source;

pub use vectors::WrongLength;

/// The headers of this crate for kernels of other crates, as pairs of name and text. These kernels
/// also include the headers of [`warpint_device::common`].
///
/// | header | contents |
/// |---|---|
/// | `f50_stages.cuh` | a stage of a transform on the 16 points of a thread, modulo primes below 2^50, and bounds of elements |
/// | `f50_tile.cuh` | transforms of the rows or columns of a tile in shared memory, modulo primes below 2^50 |
/// | `f50_passes.cuh` | truncated transforms by teams of threads, modulo primes below 2^50, for kernels that compute a whole product in a block |
/// | `slots.cuh` | the places of lines of Q·A·B points in shared memory |
/// | `goldilocks_tile.cuh` | transforms of the lines of a tile in shared memory, modulo 2^64 − 2^32 + 1 |
/// | `ntt_pass.cuh` | a pass over memory of transforms over any field |
pub const HEADERS: &[(&str, &str)] = &[
    ("f50_stages.cuh", include_str!("../../kernels/f50_stages.cuh")),
    ("f50_tile.cuh", include_str!("../../kernels/f50_tile.cuh")),
    ("f50_passes.cuh", include_str!("../../kernels/f50_passes.cuh")),
    ("slots.cuh", include_str!("../../kernels/slots.cuh")),
    ("ntt_pass.cuh", include_str!("../../kernels/ntt_pass.cuh")),
    ("goldilocks_tile.cuh", include_str!("../../kernels/goldilocks_tile.cuh")),
];

/// Returns the sources of all shipped kernels of this crate, for devices whose blocks have
/// `shared_memory` bytes of shared memory.
#[must_use]
pub fn sources(shared_memory: u32) -> Vec<Source> {
    let mut sources = gfn::sources(shared_memory);
    sources.extend(f50::sources(shared_memory));
    sources.extend(goldilocks::sources(shared_memory));
    sources.extend(spectra::sources(shared_memory));
    sources.extend(small_primes::sources());
    sources.extend(prime::sources(shared_memory));
    sources
}
