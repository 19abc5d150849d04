//! Transforms over Z/MZ, where M is a product of small primes.

use std::sync::{Mutex, MutexGuard, PoisonError};

use warpint_arith::gfn::Form;
use warpint_arith::limbs;
use warpint_device::{Buffer, Cells, Device, View};

use super::enough;
use super::error::{SmallPrimesError, has};
use super::project::Projection;
use super::radix::Radix;
use super::recombine::{Carries, Carry, Columns, cofactors};
use super::steps::{self, Step, StepTimes, Stepped};
use crate::Plan;
use crate::gpu::spectra::Spectra50;

/// A plan of transforms over Z/MZ, where M is the product of the fewest 50-bit primes whose product
/// is at least 2·r^k. Chen et al. 2018 compare a transform of this kind with a transform over the
/// field Z/(r^k + 1)Z, because the amounts of work are equivalent. The steps are projection,
/// transforms modulo the primes, and recombination (see the module [`small_primes`](super)).
/// Nothing is reduced modulo r^k + 1.
///
/// An element is an integer below M of W words of 64 bits. Vectors are limb-major: word d of
/// element i is at d·count + i, where count = [`elements`](Self::elements). Spectra are in the
/// order of [`ntt`](Self::ntt).
#[derive(Debug)]
pub struct RingTransform {
    device: Device,
    ntt: Spectra50,
    modulus: Vec<u64>,
    projection: Projection,
    columns: Columns,
    carry: Carry,
    constants: Buffer<u64>,
    there: Buffer<[f64; 2]>,
    back: Buffer<[f64; 2]>,
    /// The memory for residues and for sums. A thread that launches the steps of a transform locks
    /// this memory until all steps are launched.
    work: Mutex<(Buffer<f64>, Buffer<u64>)>,
}

/// The offset that is added to the sum Σ_s y_s/p_s of recombination (see [`Columns::new`]) before
/// the sum is rounded down. The error of the computed sum is below 2^−36, which is less than 2^−20,
/// the absolute value of the offset. So the rounded result is never too large. It may be too small
/// by 1, which the reduction below M corrects.
const OFFSET: f64 = -1.0 / (1 << 20) as f64;

impl RingTransform {
    /// Plans transforms of `batch` vectors of 2^log2 points. The modulus M is the product of the
    /// fewest small primes whose product is at least 2·r^k, where r^k + 1 is the number of `form`.
    ///
    /// # Errors
    /// [`Spectra50::new`] returns an error, there are too few small primes, a kernel cannot be
    /// compiled, the device fails, or the device does not have enough memory.
    pub fn new(
        device: &Device,
        form: Form,
        log2: u32,
        batch: usize,
    ) -> Result<Self, SmallPrimesError> {
        let bits = form.digits() as f64 * (form.radix() as f64).log2();
        let fields = enough(bits + 1.0, log2)?;
        let ntt = Spectra50::new(device, &fields, log2, batch)?;
        let mut modulus = vec![1];
        for field in &fields {
            let carry = limbs::mul_small_assign(&mut modulus, field.modulus());
            if carry > 0 {
                modulus.push(carry);
            }
        }
        // Values slightly above M must fit.
        if modulus.last().is_some_and(|&top| top > u64::MAX / 2) {
            modulus.push(0);
        }
        let words = modulus.len();
        let mut numbers: Vec<Vec<u64>> = fields
            .iter()
            .map(|field| {
                let mut part = modulus.clone();
                limbs::div_rem_small(&mut part, field.modulus());
                part
            })
            .collect();
        // −M.
        let mut negative = vec![0; words];
        limbs::sub_assign(&mut negative, &modulus);
        numbers.push(negative);
        let columns = Columns::new(device, words, OFFSET)?;
        let part = f64::from(1u32 << log2);
        Ok(Self {
            projection: Projection::new(device, &fields, 0, words)?,
            constants: columns.constants(device, &numbers)?,
            columns,
            carry: Carry::new(
                device,
                Carries::Integers,
                Radix { r: u64::MAX, digits: words },
                &modulus,
            )?,
            there: device.upload(&cofactors(&fields, |_| 1.0))?,
            back: device.upload(&cofactors(&fields, |field| field.inverse(part)))?,
            work: Mutex::new((device.alloc(ntt.size())?, device.alloc(2 * words * ntt.stride())?)),
            device: device.clone(),
            ntt,
            modulus,
        })
    }

    /// Returns the modulus M in W words of 64 bits, the lowest first.
    #[must_use]
    pub fn modulus(&self) -> &[u64] {
        &self.modulus
    }

    /// Returns the number of elements of a buffer, [`Spectra50::stride`]. Elements beyond those of the
    /// batch are padding.
    #[must_use]
    pub fn elements(&self) -> usize {
        self.ntt.stride()
    }

    /// Returns the plan of the transforms modulo the small primes.
    #[must_use]
    pub fn ntt(&self) -> &Spectra50 {
        &self.ntt
    }

    /// Computes the transforms X_i = Σ_j x_j·ω^(ij) mod M of the vectors x of `data`, and writes
    /// them to `out`. Modulo each prime, ω is the root of unity that [`Spectra50`] uses for this prime.
    /// `data` may be the [`Cells`] of `out`.
    ///
    /// # Errors
    /// A buffer has the wrong length, or the device fails.
    pub fn transform<'a>(
        &self,
        data: impl Into<View<'a, u64>>,
        out: impl Into<Cells<'a, u64>>,
    ) -> Result<(), SmallPrimesError> {
        steps::run(self, false, data.into(), out.into())
    }

    /// Computes the inverse transforms of the spectra in `data`, and writes them to `out`. `data`
    /// may be the [`Cells`] of `out`.
    ///
    /// # Errors
    /// Returns the errors of [`Self::transform`].
    pub fn inverse<'a>(
        &self,
        data: impl Into<View<'a, u64>>,
        out: impl Into<Cells<'a, u64>>,
    ) -> Result<(), SmallPrimesError> {
        steps::run(self, true, data.into(), out.into())
    }

    /// Runs [`Self::transform`], and returns the time of each step by the device's clock.
    ///
    /// # Errors
    /// Returns the errors of [`Self::transform`].
    pub fn times<'a>(
        &self,
        data: impl Into<View<'a, u64>>,
        out: impl Into<Cells<'a, u64>>,
    ) -> Result<StepTimes, SmallPrimesError> {
        steps::times(self, data.into(), out.into())
    }
}

impl Stepped for RingTransform {
    type Work = (Buffer<f64>, Buffer<u64>);

    const STEPS: &'static [Step] = &[Step::Projection, Step::Transforms, Step::Recombination];

    fn device(&self) -> &Device {
        &self.device
    }

    fn work(&self) -> MutexGuard<'_, Self::Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fits(&self, data: View<'_, u64>, out: Cells<'_, u64>) -> Result<(), SmallPrimesError> {
        let words = self.modulus.len() * self.elements();
        has("elements", data.len(), words)?;
        has("results", out.len(), words)
    }

    fn step(
        &self,
        step: Step,
        inverse: bool,
        (data, out): (View<'_, u64>, Cells<'_, u64>),
        (residues, sums): &mut Self::Work,
    ) -> Result<(), SmallPrimesError> {
        let count = self.elements();
        match step {
            Step::Projection => self.projection.run(&self.ntt, data, count, residues)?,
            Step::Transforms => {
                let factors = if inverse { &self.back } else { &self.there };
                self.ntt.transform_times(residues, factors, inverse)?;
            }
            Step::Recombination => {
                self.columns.run(&self.ntt, residues, &self.constants, count, sums)?;
                self.carry.run(sums, count, out)?;
            }
            Step::ChirpBefore | Step::ChirpAfter => {}
        }
        Ok(())
    }
}
