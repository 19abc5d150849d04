//! Transforms on devices.
//!
//! Vectors of elements of several words are limb-major: word d of element j is at `d·count + j`, with
//! `count` elements in all; of a batch, transform b has the elements b·N, …, b·N + N − 1.

pub mod f50;
pub mod gfn;
pub mod layout;
pub mod prime;
pub mod small_primes;

use warpint_device::Source;

/// Every kernel as it ships, for devices whose blocks have so much shared memory.
#[must_use]
pub fn sources(shared_memory: u32) -> Vec<Source> {
    let mut sources = gfn::sources(shared_memory);
    sources.extend(f50::sources(shared_memory));
    sources.extend(small_primes::sources());
    sources.extend(prime::sources(shared_memory));
    sources
}
