//! Transforms over Z/pZ, p = r^k + 1 (Chen et al. 2018), on a device.
//!
//! A transform of N elements is some passes over memory, each of at most 2k points in shared memory, whose
//! roots are powers of r; between two passes every element is multiplied by a twiddle, from a table that
//! the device has found from two short ones, while it is read. Passes are Stockham's: no element is moved
//! but by what reads and writes it anyway, and both orders are natural. Sums are lazy, 96 bits a digit;
//! digits are carried once a pass, where they are written.
//!
//! Cost: ⌈log N / log 2k⌉ passes (log 64 and log 32 in place of log 2k for k = 64 and 128, whose tiles
//! would be too large), each N·16k bytes of traffic, and N products in each but the first. To k = 16 a
//! product is k² products of digits, four of words each; from k = 32 on it is a negacyclic convolution of
//! digits by transforms modulo three primes of 47 bits. Memory: a vector of N elements for the passes, and
//! of twiddles a little more than that, three times as much from k = 32 on.

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

/// The least w of a radix 2^w ± 2^u that the kernels are for: quotients of sums by r have 32 bits.
const LEAST_W: u32 = 56;

/// All kernels as they ship, for blocks of so much shared memory: of each prime passes over long vectors, with
/// the most points and with fewer.
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
    // Constants are found for all primes there are.
    PRIMES.iter().flat_map(of_prime).filter_map(Result::ok).collect()
}
