//! The fields whose transforms are measured.

use std::fmt::Display;
use std::sync::Arc;

use bytemuck::Pod;
use warpint_arith::f50::F50;
use warpint_arith::field::Field;
use warpint_arith::goldilocks::{CORNERS, Goldilocks, canonical, root_of_unity};
use warpint_device::Rates;
use warpint_transform::Plan;
use warpint_transform::cpu::Transform;
use warpint_transform::cpu::ntt50::CpuNtt50;
use warpint_transform::f50::primes_for_all_lengths;
use warpint_transform::gpu::ntt::{NttField, NttRequest};
use warpint_transform::gpu::small_primes::SmallPrimesError;

use super::Case;
use crate::BenchError;

/// The fields to choose from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Modulus {
    /// 2^64 − 2^32 + 1.
    #[default]
    Goldilocks,
    /// The largest prime below 2^50 with roots of unity for all lengths.
    F50,
}

impl Modulus {
    /// All fields.
    pub const ALL: [Self; 2] = [Self::Goldilocks, Self::F50];

    /// Returns the name of the field in options and in rows.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Goldilocks => "goldilocks",
            Self::F50 => "f50",
        }
    }

    /// Returns a short description of the field.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Goldilocks => "Modulo 2^64 − 2^32 + 1, in 64-bit integers",
            Self::F50 => "Modulo the largest prime below 2^50 with roots for all lengths, in FP64",
        }
    }
}

/// A field whose transforms are measured on devices and on the CPU.
pub(super) trait Measured:
    Field<Element: Pod + Display> + NttField<Word = <Self as Field>::Element> + Clone + 'static
{
    /// Returns an element that depends on x, which is uniformly distributed for random x.
    fn drawn(&self, x: u64) -> Self::Element;

    /// Returns an element at which sums carry or wrap around.
    fn corner(&self, x: u64) -> Self::Element;

    /// Returns the root of unity of the order n of a transform.
    fn root_of(&self, n: usize) -> Self::Element;

    /// Returns an upper bound of the points times levels per second of a device.
    fn levels_per_second(rates: &Rates) -> f64;

    /// Plans the transforms of a row on the CPU.
    ///
    /// # Errors
    /// The host does not have enough memory.
    fn plan_on_cpu(&self, case: Case) -> Result<CpuPlan<Self::Element>, BenchError>;
}

/// A transform of all vectors of a batch in place.
type Work<E> = Box<dyn Fn(&mut [E]) -> Result<(), BenchError>>;

/// The transforms of a batch on the CPU.
pub(super) struct CpuPlan<E> {
    pub(super) forward: Work<E>,
    pub(super) inverse: Work<E>,
    /// Returns (vector, k) for the output X_k at a place of the batch.
    pub(super) frequency: Box<dyn Fn(usize) -> Option<(usize, usize)>>,
}

impl Measured for Goldilocks {
    fn drawn(&self, x: u64) -> u64 {
        canonical(x)
    }

    fn corner(&self, x: u64) -> u64 {
        CORNERS[x as usize % CORNERS.len()]
    }

    fn root_of(&self, n: usize) -> u64 {
        root_of_unity(n as u64).unwrap_or(1)
    }

    /// The rate of transforms of 16 or of 32 points in registers, whichever is faster.
    fn levels_per_second(rates: &Rates) -> f64 {
        rates.transforms.iter().map(|of| of.rate.per_second).fold(0.0, f64::max)
    }

    /// `cpu::Transform`, which has natural order and 2^k points.
    fn plan_on_cpu(&self, case: Case) -> Result<CpuPlan<u64>, BenchError> {
        let plan = Arc::new(Transform::new(*self, case.log2)?);
        let back = Arc::clone(&plan);
        let n = case.length();
        Ok(CpuPlan {
            forward: Box::new(move |x| Ok(plan.forward(x)?)),
            inverse: Box::new(move |x| Ok(back.inverse(x)?)),
            frequency: Box::new(move |at| Some((at / n, at % n))),
        })
    }
}

impl Measured for F50 {
    fn drawn(&self, x: u64) -> f64 {
        Field::from_u64(self, x)
    }

    fn corner(&self, x: u64) -> f64 {
        let p = self.modulus();
        let corners = [0, 1, p - 1, p / 2, p / 2 + 1];
        corners[x as usize % corners.len()] as f64
    }

    fn root_of(&self, n: usize) -> f64 {
        self.root_of_order(n as u64).map_or(1.0, |root| self.to_u64(root) as f64)
    }

    /// Half a product of six operations and a sum for each point and level.
    fn levels_per_second(rates: &Rates) -> f64 {
        rates.fp64.fp64 / 4.0
    }

    fn plan_on_cpu(&self, case: Case) -> Result<CpuPlan<f64>, BenchError> {
        let request = NttRequest::new(case.length()).batch(case.batch).order(case.order);
        let plan = Arc::new(CpuNtt50::new(&[*self], request)?);
        let (back, places) = (Arc::clone(&plan), Arc::clone(&plan));
        Ok(CpuPlan {
            forward: Box::new(move |x| Ok(plan.forward(x)?)),
            inverse: Box::new(move |x| Ok(back.inverse(x)?)),
            frequency: Box::new(move |at| places.frequency(at)),
        })
    }
}

/// Returns the field modulo the largest prime with roots of unity for all lengths.
///
/// # Errors
/// There is no such prime.
pub(super) fn f50() -> Result<F50, BenchError> {
    let primes = primes_for_all_lengths(1).map_err(SmallPrimesError::from)?;
    Ok(primes[0])
}
