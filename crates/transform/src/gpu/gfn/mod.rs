//! Transforms over Z/pZ, p = r^k + 1 (Chen et al. 2018), on a device.
//!
//! A transform of N elements, which have k digits each, consists of several passes over memory.
//! Each pass computes transforms of at most 2k points in shared memory. The roots of unity of these
//! short transforms are powers of r. Each pass except the first multiplies every element by a
//! twiddle when it reads the element. The device computes the table of twiddles from two short
//! tables. Passes are those of Stockham's algorithm: input and output are in natural order, without
//! separate passes that reorder elements. During a pass a digit is a sum of 96 bits. Carries are
//! propagated once per pass, when the digits are written.
//!
//! Cost: ⌈log N / log P⌉ passes, where P is the largest number of points of a short transform. P is
//! 2k, except that P is 64 for k = 64 and 32 for k = 128, because tiles of 2k points would be too
//! large. Each pass has N·16k bytes of memory traffic. Each pass except the first multiplies N
//! elements by twiddles. For k ≤ 16, a product of elements consists of k² products of digits. A
//! product of digits consists of four products of 32-bit words. For k ≥ 32, a product of elements
//! is a negacyclic convolution of digits, computed by transforms modulo three primes of 47 bits.
//! Memory: N elements for the passes, and slightly more than N elements for twiddles. For k ≥ 32,
//! twiddles take three times this memory.

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

/// The least exponent w of a radix r = 2^w ± 2^u that the kernels support. For smaller w, quotients
/// of sums by r would not fit in 32 bits.
const LEAST_W: u32 = 56;

/// Returns the sources of all shipped kernels of this module, for devices whose blocks have
/// `shared_memory` bytes of shared memory. For each known prime, the sources include kernels for
/// two kinds of passes over long vectors: passes with the largest number of points, and passes with
/// half this number.
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
