//! Transforms modulo q = 2^64 − 2^32 + 1 on a device.
//!
//! [`Ntt64`] computes the transforms that [`gpu::ntt`](super::ntt) defines, with
//!
//! * ω_N = [`root_of_unity`](warpint_arith::goldilocks::root_of_unity)(N) = 554^((q − 1)/N);
//! * any words as inputs: a word x stands for the element x mod q;
//! * outputs from 0 to q − 1.
//!
//! Roots of unity whose order divides 192 are powers of two, so the products within a step are shifts,
//! except those of a factor 5.

mod tables;
#[cfg(test)]
mod tests;

use warpint_arith::goldilocks::{Goldilocks, Q, inverse, pow};
use warpint_device::{Arg, Device, DeviceError, Source, common};

use super::HEADERS;
use super::ntt::{self, Costs, Ntt, NttError, NttField, NttRequest, Pass, PassField, THREADS};
use crate::Order;

/// A plan of transforms and convolutions modulo q = 2^64 − 2^32 + 1.
pub type Ntt64 = Ntt<Goldilocks>;

impl Ntt64 {
    /// Plans transforms of one vector of `length` points, with the X_k in natural order.
    ///
    /// # Errors
    /// As for [`Self::over`].
    pub fn new(device: &Device, length: usize) -> Result<Self, NttError> {
        Self::with(device, NttRequest::new(length))
    }

    /// Plans the transforms of a request.
    ///
    /// # Errors
    /// As for [`Self::over`].
    pub fn with(device: &Device, request: NttRequest) -> Result<Self, NttError> {
        Self::over(device, &[Goldilocks], request)
    }
}

impl NttField for Goldilocks {}

impl PassField for Goldilocks {
    type Word = u64;
    /// 1/N.
    type Constants = u64;

    /// Measured on an H200.
    const COSTS: Costs = Costs {
        columns: [97, 101, 104, 109, 117, 148, 158, 187],
        reversed: [88, 92, 93, 98, 115, 121, 126, 136],
        natural: [79, 80, 77, 78, 88, 100, 112, 142],
    };
    const KERNELS: [&str; 3] = ["goldilocks_pass", "goldilocks_multiply", "goldilocks_twist"];

    fn prime(&self) -> u64 {
        Q
    }

    fn root(&self, n: usize, is_inverse: bool) -> Option<u64> {
        tables::root(n, is_inverse)
    }

    fn power(&self, root: u64, e: u64) -> u64 {
        pow(root, e)
    }

    fn powers(&self, root: u64, count: usize) -> Vec<u64> {
        tables::powers(root, count)
    }

    fn tables(&self, pass: &Pass) -> Vec<u64> {
        let length = pass.length();
        let all = tables::powers(tables::root(length, pass.inverse).unwrap_or(1), length);
        pass.exponents().map(|e| all[e]).collect()
    }

    fn constants(_: &Device, _: &[Self], length: usize) -> Result<u64, DeviceError> {
        Ok(inverse(length as u64).unwrap_or(1))
    }

    fn pass_constants(scale: &u64) -> Arg {
        Arg::U64(*scale)
    }

    fn product_constants(_: &u64) -> Option<Arg> {
        None
    }

    fn pass_source(pass: &Pass) -> Source {
        let text = include_str!("../../../kernels/goldilocks_pass.cu");
        let source = Source::new("goldilocks_pass.cu", text, &Self::KERNELS[..1])
            .headers(common::HEADERS)
            .headers(HEADERS);
        let mut source = pass.compiled(source);
        if pass.radices[0] == 5 {
            let names = ["FIFTH_0", "FIFTH_1", "FIFTH_2", "FIFTH_3"];
            for (name, c) in names.into_iter().zip(tables::fifths()) {
                source = source.define(name, format_args!("{c}ull"));
            }
        }
        source
    }

    fn product_source() -> Source {
        let text = include_str!("../../../kernels/goldilocks_products.cu");
        Source::new("goldilocks_products.cu", text, &Self::KERNELS[1..])
            .headers(common::HEADERS)
            .define("THREADS", THREADS)
    }
}

/// Returns the sources of the kernels of transforms of these lengths, forward and inverse, each source
/// once. A caller that will need several plans can compile their kernels in parallel
/// ([`Device::programs`](warpint_device::Device::programs)) before it creates them.
#[must_use]
pub fn sources_of(
    lengths: impl IntoIterator<Item = usize>,
    order: Order,
    shared_memory: u32,
) -> Vec<Source> {
    ntt::sources_of::<Goldilocks>(lengths, order, shared_memory)
}

/// Returns the sources of the shipped kernels of this module, for devices whose blocks have
/// `shared_memory` bytes of shared memory.
#[must_use]
pub fn sources(shared_memory: u32) -> Vec<Source> {
    ntt::sources::<Goldilocks>(shared_memory)
}
