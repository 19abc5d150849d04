//! Transforms modulo primes from 2^46 to 2^50 on the CPU: the twin of
//! [`gpu::f50::Ntt50`](crate::gpu::f50::Ntt50), with the same definition, roots, layout, orders and
//! bounds, which [`gpu::ntt`](crate::gpu::ntt) states.
//!
//! # Method
//!
//! For N = f·2^m with f = 3 or 5, transforms of f points and products by powers of ω give f vectors of
//! 2^m points. A vector of 2^m points is transformed in place by factoring x^(2h) − w² as (x^h −
//! w)·(x^h + w), two levels at a time, until blocks have one point; all points of a block have the same
//! w. Blocks are halved depth first. A block that fits in a cache is loaded once. The loops are
//! compiled for AVX-512 and AVX2 with fused multiply-adds. The last four levels are done for eight
//! blocks side by side. Results in natural order are permuted at the end.
//!
//! | file | subject |
//! |---|---|
//! | `levels` | the loops, and the bounds of elements |
//! | `tables` | the roots of unity |
//!
//! Vectors, and the blocks of long vectors, are divided among the threads of rayon's current pool.
//! Cost: about 4.75 operations in FP64 for each point and level.

mod levels;
mod tables;
#[cfg(test)]
mod tests;

use rayon::prelude::*;
use warpint_arith::f50::F50;
use warpint_arith::field::Field;

use super::reversed;
use crate::gpu::WrongLength;
use crate::gpu::ntt::{NttError, NttRequest, frequency_of_place, odd_factor};
use crate::parallel::each_part;
use crate::{Order, Plan};
use tables::{Tables, Twist};

/// Work on the points of a vector, given with the index of its prime.
type Work<'a> = dyn Fn(usize, &mut [f64]) -> Result<(), NttError> + Sync + 'a;

/// A plan of transforms and convolutions modulo one prime or several primes, on the CPU.
///
/// A plan has tables of about N words for each prime.
///
/// ```
/// use warpint_transform::cpu::ntt50::CpuNtt50;
/// use warpint_transform::f50::primes_for_all_lengths;
/// use warpint_transform::gpu::ntt::NttRequest;
/// use warpint_transform::Plan;
///
/// let plan = CpuNtt50::new(&primes_for_all_lengths(1)?, NttRequest::new(3))?;
/// let mut x = [1.0, 0.0, 0.0];
/// plan.forward(&mut x)?;
/// assert_eq!(x, [1.0; 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct CpuNtt50 {
    fields: Vec<F50>,
    request: NttRequest,
    tables: Vec<Tables>,
}

impl CpuNtt50 {
    /// Plans the transforms of a request modulo the primes of `fields`.
    ///
    /// Cost: about N products for each prime.
    ///
    /// # Errors
    /// As for [`Ntt::over`](crate::gpu::ntt::Ntt::over); and [`NttError::Memory`] if the host does not
    /// have enough memory.
    pub fn new(fields: &[F50], request: NttRequest) -> Result<Self, NttError> {
        request.check(fields.len())?;
        let tables = fields.iter().map(|field| Tables::new(field, request.length));
        let tables = tables.collect::<Result<Vec<_>, _>>()?;
        Ok(Self { fields: fields.to_vec(), request, tables })
    }

    /// Returns the fields modulo the primes of the plan.
    #[must_use]
    pub fn fields(&self) -> &[F50] {
        &self.fields
    }

    /// Returns what the plan transforms.
    #[must_use]
    pub fn request(&self) -> NttRequest {
        self.request
    }

    /// Replaces each vector of a by its negacyclic convolution with the corresponding vector of b:
    /// a_l ← Σ_(i + j = l) a_i·b_j − Σ_(i + j = l + N) a_i·b_j, a product modulo z^N + 1. The
    /// contents of b are unspecified afterwards.
    ///
    /// # Errors
    /// The field of a prime has no root of unity of order 2N; otherwise as for [`Plan::forward`].
    pub fn convolve_negacyclic(&self, a: &mut [f64], b: &mut [f64]) -> Result<(), NttError> {
        self.fits(a)?;
        self.fits(b)?;
        let twists = self.fields.iter().map(|field| Twist::new(field, self.request.length));
        let twists = twists.collect::<Result<Vec<_>, _>>()?;
        let twist = |x: &mut [f64], back| {
            self.each_vector(x, &|prime, x| {
                twists[prime].apply(&self.fields[prime], x, back);
                Ok(())
            })
        };
        // With ψ² = ω, the cyclic convolution of a_j·ψ^j and b_j·ψ^j is c_j·ψ^j.
        twist(a, false)?;
        twist(b, false)?;
        self.convolve(a, b)?;
        twist(a, true)
    }

    fn copy(&self, x: &[f64], out: &mut [f64]) -> Result<(), NttError> {
        self.fits(x)?;
        self.fits(out)?;
        out.copy_from_slice(x);
        Ok(())
    }

    fn fits(&self, x: &[f64]) -> Result<(), NttError> {
        let (words, expected) = (x.len(), self.size());
        if words == expected { Ok(()) } else { Err(WrongLength { words, expected }.into()) }
    }

    /// Calls `work` with the index of the prime and the points of each vector, in parallel.
    fn each_vector(&self, x: &mut [f64], work: &Work) -> Result<(), NttError> {
        let NttRequest { length, batch, stride, .. } = self.request;
        let vectors = x.par_chunks_mut(stride).enumerate();
        vectors.try_for_each(|(i, x)| work(i / batch, &mut x[..length]))
    }

    /// Transforms vectors, with the X_k in an order, from 0 to p − 1.
    fn forward_in(&self, x: &mut [f64], order: Order) -> Result<(), NttError> {
        self.each_vector(x, &|prime, x| {
            let (field, tables) = (&self.fields[prime], &self.tables[prime]);
            let odd = odd_factor(x.len());
            if odd > 1 {
                levels::split_odd(field, tables, x);
            }
            let power = x.len() / odd;
            each_part(x, power, &|_, x| levels::forward(field, tables, x, 0));
            each_part(x, levels::RUN, &|_, x| levels::finish(field, x));
            if order == Order::Natural { to_natural(x) } else { Ok(()) }
        })
    }

    /// Inverts the transforms of vectors. Results are from 0 to p − 1.
    fn inverse_in(&self, x: &mut [f64], order: Order) -> Result<(), NttError> {
        self.each_vector(x, &|prime, x| {
            let (field, tables) = (&self.fields[prime], &self.tables[prime]);
            if order == Order::Natural {
                from_natural(x)?;
            }
            let odd = odd_factor(x.len());
            let power = x.len() / odd;
            each_part(x, power, &|_, x| levels::inverse(field, tables, x, 0));
            if odd > 1 {
                levels::join_odd(field, tables, x);
            }
            each_part(x, levels::RUN, &|_, x| levels::scale(field, x, tables.scale));
            Ok(())
        })
    }
}

impl Plan for CpuNtt50 {
    type Vectors = [f64];
    type Error = NttError;

    fn points(&self) -> usize {
        self.request.length
    }

    /// Returns the number of vectors modulo all primes.
    fn batch(&self) -> usize {
        self.fields.len() * self.request.batch
    }

    /// Returns the number of words of a batch: (S·batch − 1)·stride + N for S primes.
    fn size(&self) -> usize {
        (self.batch() - 1) * self.request.stride + self.request.length
    }

    fn forward(&self, x: &mut [f64]) -> Result<(), NttError> {
        self.fits(x)?;
        self.forward_in(x, self.request.order)
    }

    fn forward_into(&self, x: &[f64], out: &mut [f64]) -> Result<(), NttError> {
        self.copy(x, out)?;
        self.forward(out)
    }

    fn inverse(&self, x: &mut [f64]) -> Result<(), NttError> {
        self.fits(x)?;
        self.inverse_in(x, self.request.order)
    }

    fn inverse_into(&self, x: &[f64], out: &mut [f64]) -> Result<(), NttError> {
        self.copy(x, out)?;
        self.inverse(out)
    }

    fn convolve(&self, a: &mut [f64], b: &mut [f64]) -> Result<(), NttError> {
        self.fits(a)?;
        self.fits(b)?;
        // The order of the products does not matter, and this one needs no permutation.
        let order = Order::BitReversed;
        self.forward_in(a, order)?;
        self.forward_in(b, order)?;
        let NttRequest { length, batch, stride, .. } = self.request;
        let vectors = a.par_chunks_mut(stride).zip(b.par_chunks(stride)).enumerate();
        vectors.for_each(|(i, (a, b))| {
            let (field, b) = (&self.fields[i / batch], &b[..length]);
            each_part(&mut a[..length], levels::RUN, &|run, a| {
                field.mul_each(a, &b[run * levels::RUN..]);
            });
        });
        self.inverse_in(a, order)
    }

    fn frequency(&self, place: usize) -> Option<(usize, usize)> {
        self.request.frequency(self.batch(), place)
    }
}

/// Permutes a vector from bit-reversed order to natural order.
fn to_natural(x: &mut [f64]) -> Result<(), NttError> {
    let odd = odd_factor(x.len());
    let bits = x.len().trailing_zeros();
    permute(x, &|k| ((k % odd) << bits) + reversed(k / odd, bits))
}

/// Permutes a vector from natural order to bit-reversed order.
fn from_natural(x: &mut [f64]) -> Result<(), NttError> {
    let length = x.len();
    permute(x, &|place| frequency_of_place(length, place))
}

/// Replaces each x_i by x_j with j = `from(i)`.
fn permute(x: &mut [f64], from: &(dyn Fn(usize) -> usize + Sync)) -> Result<(), NttError> {
    let mut copy = Vec::new();
    copy.try_reserve_exact(x.len()).map_err(|_| NttError::Memory(x.len()))?;
    copy.extend_from_slice(x);
    each_part(x, levels::RUN, &|run, x| {
        x.iter_mut().enumerate().for_each(|(i, x)| *x = copy[from(run * levels::RUN + i)]);
    });
    Ok(())
}
