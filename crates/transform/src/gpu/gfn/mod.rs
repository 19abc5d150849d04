//! Transforms over Z/pZ, p = r^k + 1 (Chen et al. 2018), on a device.
//!
//! A transform of N elements consists of several passes over memory, each of at most 2k points in
//! shared memory, whose roots are powers of r. Between two passes, every element is multiplied by a
//! twiddle as it is read. The device computes the table of twiddles from two short tables. Passes are
//! Stockham's: elements are moved only by the reads and writes that are needed anyway, and input and
//! output are in natural order. Sums are lazy, with 96 bits per digit; digits are carried once per
//! pass, when they are written.
//!
//! Cost: ⌈log N / log 2k⌉ passes (log 64 and log 32 in place of log 2k for k = 64 and 128, whose tiles
//! would be too large). Each has N·16k bytes of traffic, and all but the first N products. Up to k = 16
//! a product is k² products of digits, each of four products of words. From k = 32 on it is a
//! negacyclic convolution of digits by transforms modulo three primes of 47 bits. Memory: a vector of N
//! elements for the passes; slightly more than that for twiddles, and three times as much from k = 32
//! on.

mod costs;
mod plan;
mod residues;
mod shape;
#[cfg(test)]
mod tests;
mod twiddles;

pub use costs::Butterflies;
pub use plan::{GfnFft, GfnFftError};

use warpint_arith::gfn::{Form, PRIMES};
use warpint_device::Source;

use shape::Tile;

/// The least w of a radix 2^w ± 2^u that the kernels support: quotients of sums by r must fit 32 bits.
const LEAST_W: u32 = 56;

/// Returns the sources of all shipped kernels, for blocks with `shared_memory` bytes of shared
/// memory: for each prime, passes over long vectors, with the largest number of points and with
/// fewer.
pub(super) fn sources(shared_memory: u32) -> Vec<Source> {
    let of_prime = |form: &Form| {
        let most = shape::most_log_points(*form, shared_memory);
        let product = Tile::of_products(*form);
        let mut sources = vec![Ok(product.products(false)), Ok(product.products(true))];
        if shape::has_spectra(*form) {
            sources.push(shape::spectra(*form));
        }
        for log_points in [most, most - 1] {
            let tile = Tile::of_pass(*form, log_points, 20, 1, shared_memory);
            sources.extend([tile.pass(false), tile.pass(true)]);
        }
        sources
    };
    // The constants exist for every prime in the list.
    PRIMES.iter().flat_map(of_prime).filter_map(Result::ok).collect()
}
