//! Transforms over Z/pZ, p = r^k + 1, by small primes (Chen et al. 2018). Elements are mapped to
//! their residues modulo S primes p_0, …, p_(S−1) below 2^50. Transforms are computed modulo these
//! primes, and the results are mapped back.
//!
//! # Convolutions
//! Elements are integers up to r^k, so each integer x = Σ a_i·b_j of a cyclic convolution of N
//! elements is at most N·p². It is determined by its residues if M = p_0·…·p_(S−1) ≥ 4·N·p².
//!
//! *Projection* maps digits to residues. It is a product with a matrix, whose entries are the
//! residues of the powers r^j. *Recombination* maps residues to digits. With y_s = x·(M/p_s)^−1 mod
//! p_s,
//!
//! x = Σ_s y_s·(M/p_s) − q·M.
//!
//! Here q is the integer nearest to Σ_s y_s/p_s, because 0 ≤ x/M ≤ 1/4. The digits of M/p_s mod p
//! and of −M mod p in radix r are constants. So each digit of x mod p is a sum of S + 1 products.
//! Carries are propagated afterwards.
//!
//! Recombination uses the Chinese remainder theorem instead of the mixed radix representation of
//! Chen et al. It takes S·k products of words per element instead of S²/2 + S·k, and computes all
//! digits in parallel. The factors (M/p_s)^−1 cost nothing, because they are merged into the
//! spectra.
//!
//! # Transforms
//! Let ω be the root of unity of order 2N = 2^(m + 1), and let the *chirps* be c_n = ω^(n²). The
//! transform is X_i = Σ_j x_j·ω^(2ij). Because 2ij = i² + j² − (i − j)²,
//!
//! X_i = c_i·Σ_j (x_j·c_j)·c_(i−j)^−1
//!
//! (Bluestein 1970). For N = 2^m, c_(n+N) = c_n, since 2N divides (n + N)² − n². So the sum over j
//! is a cyclic convolution of N elements. One of its two vectors is fixed, and the spectra of this
//! vector are computed once. The result is the transform over Z/pZ. It is equal to that of
//! [`gfn`](crate::gpu::gfn), digit by digit. The inverse transform of X is 1/N times the transform
//! of X, with the outputs i and −i mod N exchanged.
//!
//! An element consists of k canonical digits. Vectors are limb-major: digit d of element i is at
//! d·count + i, where count = batch·N.
//!
//! Cost per element: the transforms read and write S residues three times, or once for N up to
//! 2^12. Projection takes 6·k·S fused multiply-adds. Recombination takes 4·k·S products of 32-bit
//! words. The two products by chirps take 2·k² products of 64-bit words.

mod error;
mod product;
mod project;
mod radix;
mod recombine;
mod ring;
mod steps;
#[cfg(test)]
mod tests;

use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;
use warpint_arith::f50::F50;
use warpint_arith::gfn::{Form, PRIMES};
use warpint_device::{Buffer, Cells, Device, Source, View};

pub use error::SmallPrimesError;
pub use ring::RingTransform;
pub use steps::StepTimes;

use crate::Plan;
use crate::f50::{TooFewPrimes, primes};
use crate::gpu::spectra::Spectra50;
use error::has;
use product::{Powers, Product, Which};
use project::Projection;
use radix::Radix;
use recombine::{Carries, Carry, Columns, cofactors};
use steps::{Step, Stepped};

/// The data that only transforms need. Convolutions do not use them.
#[derive(Debug)]
struct Chirps {
    product: Product,
    /// The chirps c_n = ω^(n²) for n < N.
    table: Buffer<u64>,
    /// The spectra of the inverse chirps c_n^−1 modulo each small prime.
    spectra: Buffer<f64>,
    /// The digits of (M/p_s)/N mod p for each prime p_s, and of −M/N mod p. Inverse transforms use
    /// these constants in recombination.
    inverse: Buffer<u64>,
}

/// The working memory of a transform, which holds the results of steps for later steps.
#[derive(Debug)]
struct Work {
    residues: [Buffer<f64>; 2],
    sums: Buffer<u64>,
    /// The elements between the steps of a transform; empty in a plan for convolutions only.
    elements: Buffer<u64>,
}

/// A plan of transforms and convolutions over Z/pZ, p = r^k + 1, for one [`Form`], one length N and
/// one number of vectors, on a device. [`Plan::convolve`] preserves its second factor.
#[derive(Debug)]
pub struct SmallPrimes {
    device: Device,
    form: Form,
    ntt: Spectra50,
    projection: Projection,
    columns: Columns,
    carry: Carry,
    constants: Buffer<u64>,
    /// The factor (M/p_s)^−1/N mod p_s for each prime p_s, where M is the product of all p_s.
    /// Spectra are multiplied by these factors.
    factors: Buffer<[f64; 2]>,
    /// The working memory. A thread that launches the steps of a transform locks the working memory
    /// until all steps are launched.
    work: Mutex<Work>,
    chirps: Option<Chirps>,
}

impl SmallPrimes {
    /// Plans transforms and convolutions of `batch` vectors of N = 2^log2 elements. The plan needs
    /// about 8·(3·S + 5·k)·`batch`·N bytes of memory on the device, where S is the number of small
    /// primes.
    ///
    /// # Errors
    /// r^k + 1 is not a prime, or its field has no root of unity of order 2N. `log2` is not from 1
    /// to 24. The batch has no vector, or more than 2^32 elements. There are too few small primes.
    /// A kernel cannot be compiled. The device fails, or does not have enough memory.
    pub fn new(
        device: &Device,
        form: Form,
        log2: u32,
        batch: usize,
    ) -> Result<Self, SmallPrimesError> {
        let mut plan = Self::convolutions(device, form, log2, batch)?;
        plan.chirps = Some(plan.make_chirps()?);
        let elements = device.alloc(form.digits() * plan.count())?;
        plan.work.get_mut().unwrap_or_else(PoisonError::into_inner).elements = elements;
        Ok(plan)
    }

    /// Plans convolutions of `batch` vectors of 2^log2 elements modulo r^k + 1, which need not be
    /// prime. The plan cannot compute transforms.
    ///
    /// # Errors
    /// `log2` is not from 1 to 24. The batch has no vector, or more than 2^32 elements. There are
    /// too few small primes. A kernel cannot be compiled. The device fails, or does not have enough
    /// memory.
    pub fn convolutions(
        device: &Device,
        form: Form,
        log2: u32,
        batch: usize,
    ) -> Result<Self, SmallPrimesError> {
        let radix = Radix::new(form);
        // r^k + 1 < 2·r^k: N·p² < 2^(log2 + 2)·r^2k, and M must be four times that.
        let bits =
            2.0 * form.digits() as f64 * (form.radix() as f64).log2() + f64::from(log2) + 4.0;
        let fields = enough(bits, log2)?;
        let ntt = Spectra50::new(device, &fields, log2, batch)?;
        let columns = Columns::new(device, radix.digits, 0.5)?;
        let count = batch << log2;
        let n = f64::from(1u32 << log2);
        let residues = [device.alloc(ntt.size())?, device.alloc(ntt.size())?];
        Ok(Self {
            projection: Projection::new(device, &fields, radix.r, radix.digits)?,
            constants: columns.constants(device, &parts(radix, &fields, 0))?,
            columns,
            carry: Carry::new(device, Carries::Recombined, radix, &[])?,
            factors: device.upload(&cofactors(&fields, |field| field.inverse(n)))?,
            work: Mutex::new(Work {
                residues,
                sums: device.alloc(3 * radix.digits * count)?,
                elements: device.alloc(0)?,
            }),
            chirps: None,
            device: device.clone(),
            form,
            ntt,
        })
    }

    fn make_chirps(&self) -> Result<Chirps, SmallPrimesError> {
        let (device, radix, log2) =
            (&self.device, Radix::new(self.form), self.ntt.points().ilog2());
        let (n, k) = (1usize << log2, radix.digits);
        let powers = Powers::new(device, self.form, log2)?;
        let product = Product::new(device, radix, log2)?;
        // Several copies of the fixed vector, if a tile holds several vectors.
        let fixed = Spectra50::new(device, self.ntt.fields(), log2, (FIXED >> log2).max(1))?;
        let count = fixed.batch() * n;
        let mut sums = device.alloc(product.sums(count))?;
        let mut inverse = device.alloc(k * count)?;
        let of = [powers.high.view(..), powers.below.view(..)];
        product.run((Which::InverseChirp, powers.low), of, &mut sums, count, inverse.cells(..))?;
        let mut spectra = device.alloc(fixed.size())?;
        self.projection.run(&fixed, inverse.view(..), count, &mut spectra)?;
        fixed.transform_times(&mut spectra, &self.factors, false)?;
        let mut table = device.alloc(k * n)?;
        product.run((Which::Chirp, powers.low), of, &mut sums, n, table.cells(..))?;
        let constants = parts(radix, self.ntt.fields(), log2);
        Ok(Chirps { product, table, spectra, inverse: self.columns.constants(device, &constants)? })
    }

    /// Returns the number of elements of a buffer: batch·N.
    fn count(&self) -> usize {
        self.ntt.batch() * self.ntt.points()
    }

    /// Returns the form of the modulus r^k + 1.
    #[must_use]
    pub fn form(&self) -> Form {
        self.form
    }

    /// Returns the number S of small primes.
    #[must_use]
    pub fn small_primes(&self) -> usize {
        self.ntt.fields().len()
    }

    /// Writes to `out` the cyclic convolutions out_l = Σ_(i + j ≡ l mod N) a_i·b_j of the
    /// corresponding vectors of `a` and `b`. `a`, `b` and `out` may be the same [`Cells`].
    ///
    /// # Errors
    /// A buffer has the wrong length, or the device fails.
    pub fn convolve_into<'a>(
        &self,
        a: impl Into<View<'a, u64>>,
        b: impl Into<View<'a, u64>>,
        out: impl Into<Cells<'a, u64>>,
    ) -> Result<(), SmallPrimesError> {
        let (a, b, out) = (a.into(), b.into(), out.into());
        self.fits(a, out)?;
        self.fits(b, out)?;
        let mut work = self.work();
        let Work { residues: [x, y], sums, .. } = &mut *work;
        let count = self.count();
        self.projection.run(&self.ntt, a, count, x)?;
        self.ntt.transform_times(x, &self.factors, false)?;
        self.projection.run(&self.ntt, b, count, y)?;
        self.ntt.multiply(y, x)?;
        self.columns.run(&self.ntt, y, &self.constants, count, sums)?;
        Ok(self.carry.run(sums, count, out)?)
    }

    /// Runs [`Plan::forward_into`], and returns the time of each step by the device's clock. `data`
    /// may be the [`Cells`] of `out`.
    ///
    /// # Errors
    /// Returns the errors of [`Plan::forward_into`].
    pub fn times<'a>(
        &self,
        data: impl Into<View<'a, u64>>,
        out: impl Into<Cells<'a, u64>>,
    ) -> Result<StepTimes, SmallPrimesError> {
        steps::times(self, data.into(), out.into())
    }
}

impl Plan for SmallPrimes {
    type Vectors = Buffer<u64>;
    type Error = SmallPrimesError;

    fn points(&self) -> usize {
        self.ntt.points()
    }

    fn batch(&self) -> usize {
        self.ntt.batch()
    }

    /// Returns the number of words of a batch: batch·N·k.
    fn size(&self) -> usize {
        self.form.digits() * self.count()
    }

    fn forward(&self, x: &mut Buffer<u64>) -> Result<(), SmallPrimesError> {
        let x = x.cells(..);
        steps::run(self, false, x.view(), x)
    }

    fn forward_into(&self, x: &Buffer<u64>, out: &mut Buffer<u64>) -> Result<(), SmallPrimesError> {
        steps::run(self, false, x.view(..), out.cells(..))
    }

    fn inverse(&self, x: &mut Buffer<u64>) -> Result<(), SmallPrimesError> {
        let x = x.cells(..);
        steps::run(self, true, x.view(), x)
    }

    fn inverse_into(&self, x: &Buffer<u64>, out: &mut Buffer<u64>) -> Result<(), SmallPrimesError> {
        steps::run(self, true, x.view(..), out.cells(..))
    }

    fn convolve(&self, a: &mut Buffer<u64>, b: &mut Buffer<u64>) -> Result<(), SmallPrimesError> {
        let a = a.cells(..);
        self.convolve_into(a, &*b, a)
    }
}

impl Stepped for SmallPrimes {
    type Work = Work;

    const STEPS: &'static [Step] = &[
        Step::ChirpBefore,
        Step::Projection,
        Step::Transforms,
        Step::Recombination,
        Step::ChirpAfter,
    ];

    fn device(&self) -> &Device {
        &self.device
    }

    fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fits(&self, data: View<'_, u64>, out: Cells<'_, u64>) -> Result<(), SmallPrimesError> {
        has("elements", data.len(), self.size())?;
        has("results", out.len(), self.size())
    }

    fn step(
        &self,
        step: Step,
        inverse: bool,
        (data, out): (View<'_, u64>, Cells<'_, u64>),
        work: &mut Work,
    ) -> Result<(), SmallPrimesError> {
        let chirps = self.chirps.as_ref().ok_or(SmallPrimesError::ConvolutionsOnly)?;
        let Work { residues: [residues, _], sums, elements } = work;
        let Chirps { product, table, .. } = chirps;
        let (count, table) = (self.count(), table.view(..));
        match step {
            Step::ChirpBefore => {
                product.run((Which::Plain, 0), [data, table], sums, count, elements.cells(..))?;
            }
            Step::Projection => {
                self.projection.run(&self.ntt, elements.view(..), count, residues)?;
            }
            Step::Transforms => self.ntt.multiply(residues, &chirps.spectra)?,
            Step::Recombination => {
                let constants = if inverse { &chirps.inverse } else { &self.constants };
                self.columns.run(&self.ntt, residues, constants, count, sums)?;
                self.carry.run(sums, count, elements.cells(..))?;
            }
            Step::ChirpAfter => {
                let which = if inverse { Which::Turned } else { Which::Plain };
                product.run((which, 0), [elements.view(..), table], sums, count, out)?;
            }
        }
        Ok(())
    }
}

/// The least number of points of the stored spectra of a fixed vector. It is the number of points
/// of a tile. The spectra of a shorter vector are stored several times.
const FIXED: usize = 1 << 11;

/// Returns the fields of the largest primes that [`primes`] finds. Their number is the least for
/// which the product of the primes is at least 2^bits. The fields have roots of unity of order
/// 2^log2.
///
/// # Errors
/// There are too few primes for this product.
fn enough(bits: f64, log2: u32) -> Result<Vec<F50>, TooFewPrimes> {
    // Every prime has more than 46 bits, most have 49.99.
    let mut fields = primes((bits / 49.9) as usize + 1, log2)?;
    let mut have = 0.0;
    let used = fields.iter().position(|field| {
        // Below log2(p), also after rounding.
        have += (field.modulus() as f64).log2() - 1e-6;
        have >= bits
    });
    match used {
        Some(last) => fields.truncate(last + 1),
        None => return Err(TooFewPrimes { wanted: fields.len() + 1, log2 }),
    }
    Ok(fields)
}

/// Returns the digits of (M/p_s)·2^(−halvings) mod p for each small prime p_s, followed by the
/// digits of −M·2^(−halvings) mod p, where M is the product of all p_s. Digits are in radix r, the
/// lowest first.
fn parts(radix: Radix, fields: &[F50], halvings: u32) -> Vec<Vec<u64>> {
    let mut start = radix.one();
    (0..halvings).for_each(|_| radix.halve(&mut start));
    let all = |but: Option<usize>| {
        let mut product = start.clone();
        for (s, field) in fields.iter().enumerate() {
            if Some(s) != but {
                radix.multiply(&mut product, field.modulus());
            }
        }
        product
    };
    let mut last = all(None);
    radix.negate(&mut last);
    (0..fields.len()).into_par_iter().map(|s| all(Some(s))).chain(rayon::iter::once(last)).collect()
}

/// Returns the sources of all shipped kernels of this module, for all known primes r^k + 1.
#[must_use]
pub fn sources() -> Vec<Source> {
    let digits = || PRIMES.iter().map(Form::digits);
    let mut sources: Vec<Source> = digits().map(project::source).collect();
    sources.extend(digits().map(product::source));
    sources.extend([2, 4, 8].map(recombine::columns_source));
    sources.extend(
        [Carries::Recombined, Carries::Products, Carries::Integers].map(recombine::carry_source),
    );
    sources
}
