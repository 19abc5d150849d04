//! Transforms modulo one prime p or several primes from 2^46 to 2^50 on a device, on numbers of type
//! `f64`.
//!
//! [`Ntt50`] computes the transforms that [`gpu::ntt`](super::ntt) defines, with
//!
//! * ω_N = [`root_of_order`](F50::root_of_order)(N) for each prime p. N must divide p − 1, and 2N for
//!   negacyclic convolutions. The primes of
//!   [`primes_for_all_lengths`](crate::f50::primes_for_all_lengths) permit every length; those of
//!   [`primes`](crate::f50::primes) permit 2^k up to the requested power.
//! * integers x with −p ≤ x ≤ p as inputs, X_k as well as x_j;
//! * outputs from 0 to p − 1. All of them are exact.
//!
//! # Method
//!
//! [`warpint_arith::f50`] proves that a product by a constant is exact for elements up to 4p, any
//! product a·b up to 2p², and a sum up to 8p. In registers, the 2^r points of a step are transformed
//! by r stages of sums a ± w·b, where w is the same for all points of a block. The kernel knows a
//! bound of every element at compile time, and chooses the fewest reductions with which all products
//! and sums are exact. Points between steps are within 4p, and between passes within p.
//!
//! # Cost
//!
//! Counted in operations of FP64 a point and prime: a step of 16 points takes 4 sums, 17/16 products
//! by roots, and two reductions of three operations. A product takes six. Between two steps there is
//! a product more; after a column pass there are two, one for the next power of ω and one by it. So a
//! pass of 2^12 points takes about 52 operations as the last pass and 61 as a column pass.
//!
//! *Floors* of 2^24 points modulo one prime on an H200, which needs two passes: memory, 537 MB read and
//! written at 4,000 GB/s, 134 µs; arithmetic, 113 operations a point at 132·64 operations a cycle and
//! 1.98 GHz, 113 µs. *Prediction*: 134 µs if both overlap, 247 µs if they do not. `warpint bench ntt
//! --field f50` measures it.

mod tables;
#[cfg(test)]
mod tests;

use warpint_arith::f50::F50;
use warpint_device::{Arg, Buffer, Device, DeviceError, Source, common};

use super::HEADERS;
use super::ntt::{
    self, Costs, Ntt, NttError, NttField, NttRequest, Pass, PassField, THREADS, pointer,
};

/// A plan of transforms and convolutions modulo one prime or several primes from 2^46 to 2^50.
pub type Ntt50 = Ntt<F50>;

impl Ntt50 {
    /// Plans transforms of one vector of `length` points modulo each prime of `fields`, with the X_k
    /// in natural order.
    ///
    /// # Errors
    /// As for [`Self::over`].
    pub fn new(device: &Device, fields: &[F50], length: usize) -> Result<Self, NttError> {
        Self::over(device, fields, NttRequest::new(length))
    }
}

impl NttField for F50 {}

impl PassField for F50 {
    type Word = f64;
    /// For each prime: p, 1/p rounded to nearest, and the factor 1/N.
    type Constants = Buffer<[f64; 4]>;

    /// Predicted: 67 µs of memory traffic, and half of the time of the arithmetic.
    const COSTS: Costs = Costs {
        columns: [81, 84, 86, 88, 90, 93, 95, 97],
        reversed: [77, 79, 82, 84, 86, 88, 91, 93],
        natural: [77, 79, 82, 84, 86, 88, 91, 93],
    };
    const KERNELS: [&str; 3] = ["f50_pass", "f50_multiply", "f50_twist"];

    fn prime(&self) -> u64 {
        self.modulus()
    }

    fn root(&self, n: usize, is_inverse: bool) -> Option<f64> {
        let root = self.root_of_order(n as u64)?;
        Some(if is_inverse { self.inverse(root) } else { root })
    }

    fn power(&self, root: f64, e: u64) -> f64 {
        self.pow(root, e)
    }

    fn powers(&self, root: f64, count: usize) -> Vec<f64> {
        tables::powers(self, root, count)
    }

    fn tables(&self, pass: &Pass) -> Vec<f64> {
        tables::of_pass(self, pass)
    }

    fn constants(
        device: &Device,
        fields: &[Self],
        length: usize,
    ) -> Result<Self::Constants, DeviceError> {
        let of = |field: &Self| {
            let ([p, inverse], scale) = (field.constants(), field.inverse(length as f64));
            let [w, ratio] = field.factor(scale).constants();
            [p, inverse, w, ratio]
        };
        device.upload(&fields.iter().map(of).collect::<Vec<_>>())
    }

    fn pass_constants(constants: &Self::Constants) -> Arg {
        pointer(constants)
    }

    fn product_constants(constants: &Self::Constants) -> Option<Arg> {
        Some(pointer(constants))
    }

    fn pass_source(pass: &Pass) -> Source {
        let text = include_str!("../../../kernels/f50_pass.cu");
        let source = Source::new("f50_pass.cu", text, &Self::KERNELS[..1])
            .headers(common::HEADERS)
            .headers(HEADERS);
        pass.compiled(source)
    }

    fn product_source() -> Source {
        let text = include_str!("../../../kernels/f50_products.cu");
        Source::new("f50_products.cu", text, &Self::KERNELS[1..])
            .headers(common::HEADERS)
            .define("THREADS", THREADS)
    }
}

/// Returns the sources of the shipped kernels of this module, for devices whose blocks have
/// `shared_memory` bytes of shared memory.
#[must_use]
pub fn sources(shared_memory: u32) -> Vec<Source> {
    ntt::sources::<F50>(shared_memory)
}
