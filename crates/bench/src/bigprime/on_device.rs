//! Measures transforms over big prime fields on a device.

use std::time::Duration;

use warpint_arith::gfn::{Form, Gfn};
use warpint_arith::with_field;
use warpint_device::{Buffer, Device, DeviceError, Effort, Rates, rates};
use warpint_transform::Plan;
use warpint_transform::gpu::gfn::GfnFft;
use warpint_transform::gpu::small_primes::{RingTransform, SmallPrimes};

use super::elements::{Elements, integers};
use super::row::{Big, Passes, Ring, Row, Small, Steps, Work};
use super::{Place, SEEDS, Wanted};
use crate::columns::Times;
use crate::error::if_it_fits;
use crate::{BenchError, is_simulator, timing, vectors};

/// The outputs and the times of a transform and its inverse.
struct Timed {
    out: Buffer<u64>,
    back: Buffer<u64>,
    /// The indices of the outputs that were compared with the definition.
    looked_at: Vec<usize>,
    transform: Times,
    inverse: Times,
}

#[derive(Debug)]
pub(super) struct OnDevice {
    device: Device,
    rates: Rates,
    runs: Option<usize>,
    /// Whether the device is real. On the simulator, times have no meaning.
    is_real: bool,
}

impl OnDevice {
    pub(super) fn new(device: Device, runs: Option<usize>) -> Result<Self, DeviceError> {
        let is_real = !is_simulator(&device);
        let effort = if is_real { Effort::Whole } else { Effort::Few };
        Ok(Self { rates: rates(&device, effort)?, device, runs, is_real })
    }

    /// Times several runs of `work`, which must have been performed once before, so that kernels
    /// are compiled.
    fn times<E: Into<BenchError>>(
        &self,
        mut work: impl FnMut() -> Result<(), E>,
    ) -> Result<Times, BenchError> {
        const LONG: Duration = Duration::from_millis(20);
        let once: Duration = timing::on_device(&self.device, 1, &mut work)?.into_iter().sum();
        let usual = if self.is_real { timing::usual_runs(once, LONG) } else { 3 };
        // A run before the timed runs keeps the device busy while the host submits these.
        work().map_err(Into::into)?;
        let times = timing::on_device(&self.device, self.runs.unwrap_or(usual), work)?;
        Ok(Times::new(times))
    }

    fn upload(&self, elements: &Elements) -> Result<Buffer<u64>, BenchError> {
        let words = elements.words().ok_or(BenchError::NoMemory)?;
        Ok(self.device.upload(&words)?)
    }

    /// Times the forward and the inverse transform of a plan. `x` contains the elements in the
    /// layout of devices. Compares all outputs with `known`, or some outputs with the definition if
    /// `known` is `None`. Compares the result of the inverse with the input.
    fn there_and_back<const K: usize, P: Plan<Vectors = Buffer<u64>>>(
        &self,
        plan: &P,
        field: &Gfn<K>,
        elements: &Elements,
        x: &Buffer<u64>,
        known: Option<&Buffer<u64>>,
    ) -> Result<Timed, BenchError>
    where
        BenchError: From<P::Error>,
    {
        let mut out = self.device.alloc(plan.size())?;
        plan.forward_into(x, &mut out)?;
        let mut looked_at = vec![];
        match known {
            Some(known) => same(&out, known, "the transform")?,
            None => looked_at = elements.looked_at(field),
        }
        for &i in &looked_at {
            compare_element(&out, i, &elements.output(field, i), "output")?;
        }
        let mut back = self.device.alloc(plan.size())?;
        plan.inverse_into(&out, &mut back)?;
        vectors::compare(&back, "the inverse transform", |part| {
            elements.part(part).ok_or(BenchError::NoMemory)
        })?;
        let transform = self.times(|| plan.forward_into(x, &mut out))?;
        let inverse = self.times(|| plan.inverse_into(&out, &mut back))?;
        Ok(Timed { out, back, looked_at, transform, inverse })
    }

    /// Times the transform and the convolution of the big-prime method. Returns the outputs of the
    /// transform and of the convolution.
    fn big<const K: usize>(
        &self,
        field: &Gfn<K>,
        log2: u32,
        row: &mut Row,
    ) -> Result<[Buffer<u64>; 2], BenchError> {
        let [a, b] = SEEDS.map(|seed| Elements::new(field.form(), log2, seed));
        let x = self.upload(&a)?;
        let plan = GfnFft::new(&self.device, field.form(), log2, 1)?;
        let Timed { out, mut back, looked_at, transform, inverse } =
            self.there_and_back(&plan, field, &a, &x, None)?;
        let bare = plan.butterflies()?;
        bare.run(&x, &mut back)?;
        let butterflies = self.times(|| bare.run(&x, &mut back))?;
        let copies = self.rates.copy_near(8 * plan.size() as u64);
        let work = Work {
            passes: plan.passes(),
            bytes: plan.traffic(),
            digit_products: plan.digit_products(),
            copy_rate: copies.map_or(0.0, |copy| copy.between),
            product_rate: self.rates.products.per_second,
        };
        let passes = Some(Passes::new(&work, transform.us, butterflies.us));
        let mut y = self.upload(&b)?;
        back.copy_from(&x)?;
        plan.convolve(&mut back, &mut y)?;
        if let Some(&i) = looked_at.first() {
            compare_element(&back, i, &a.convolved(&b, field, i), "of the convolution, element")?;
        }
        let mut x = x;
        // Numbers of the same size; their values do not matter.
        let convolution = self.times(|| plan.convolve(&mut x, &mut y))?;
        row.checked.inverse = true;
        row.checked.outputs = looked_at.len();
        row.big = Some(Big { transform, inverse, convolution, passes });
        Ok([out, back])
    }

    /// Times the small-primes method. Compares all its outputs with `big`, the outputs of the
    /// big-prime method. If `big` is `None`, compares some outputs with the definition instead.
    fn small<const K: usize>(
        &self,
        field: &Gfn<K>,
        log2: u32,
        big: Option<[Buffer<u64>; 2]>,
        row: &mut Row,
    ) -> Result<(), BenchError> {
        let [a, b] = SEEDS.map(|seed| Elements::new(field.form(), log2, seed));
        let (x, y) = (self.upload(&a)?, self.upload(&b)?);
        let plan = SmallPrimes::new(&self.device, field.form(), log2, 1)?;
        let known = big.as_ref().map(|[transform, _]| transform);
        let Timed { mut out, back, looked_at, transform, inverse } =
            self.there_and_back(&plan, field, &a, &x, known)?;
        let steps = Steps::new(&plan.times(&x, &mut out)?);
        plan.convolve_into(&x, &y, &mut out)?;
        if let Some([_, big]) = &big {
            same(&out, big, "the convolution")?;
        }
        if let Some(&i) = looked_at.first() {
            compare_element(&out, i, &a.convolved(&b, field, i), "of the convolution, element")?;
        }
        let convolution = self.times(|| plan.convolve_into(&x, &y, &mut out))?;
        let primes = plan.small_primes();
        drop((plan, x, y, out, back));
        row.checked.equal = big.is_some();
        row.checked.inverse = true;
        row.checked.outputs = row.checked.outputs.max(looked_at.len());
        drop(big);
        let ring = self.ring(field.form(), log2)?;
        row.small = Some(Small { transform, inverse, convolution, primes, steps, ring });
        Ok(())
    }

    /// Times the transform modulo the product of just enough small primes to represent an element.
    fn ring(&self, form: Form, log2: u32) -> Result<Ring, BenchError> {
        let plan = RingTransform::new(&self.device, form, log2, 1)?;
        let start = integers(plan.modulus(), plan.elements()).ok_or(BenchError::NoMemory)?;
        let x = self.device.upload(&start)?;
        let (mut out, mut back) = (self.device.alloc(x.len())?, self.device.alloc(x.len())?);
        plan.transform(&x, &mut out)?;
        plan.inverse(&out, &mut back)?;
        vectors::compare(&back, "the transform over the ring, inverted,", |part| {
            Ok(start[part].to_vec())
        })?;
        let transform = self.times(|| plan.transform(&x, &mut out))?;
        let steps = Steps::new(&plan.times(&x, &mut out)?);
        Ok(Ring { transform, primes: plan.ntt().fields().len(), steps })
    }
}

impl Place for OnDevice {
    fn row(&mut self, form: Form, log2: u32, wanted: Wanted) -> Result<Row, BenchError> {
        let mut row = Row::new(form, log2);
        let mut outputs = None;
        if wanted.big {
            let done = with_field!(form, |field| self.big(&field, log2, &mut row))?;
            outputs = no_room(done, "big-prime", &mut row)?;
        }
        if wanted.small {
            let done = with_field!(form, |field| self.small(&field, log2, outputs, &mut row))?;
            no_room(done, "small-primes", &mut row)?;
        }
        Ok(row)
    }
}

/// Handles a lack of device memory: records in the row that the method `way` could not be measured,
/// and returns `None`. Other results and errors are returned unchanged.
fn no_room<T>(
    done: Result<T, BenchError>,
    way: &str,
    row: &mut Row,
) -> Result<Option<T>, BenchError> {
    let done = if_it_fits(done)?;
    Ok(done.map_err(|full| row.missing.push(format!("{way} way: {full}"))).ok())
}

/// Compares element i of a vector with its expected digits.
fn compare_element(
    vector: &Buffer<u64>,
    i: usize,
    expected: &[u64],
    what: &str,
) -> Result<(), BenchError> {
    let count = vector.len() / expected.len();
    for (d, expected) in expected.iter().enumerate() {
        let found = vectors::word(vector, d * count + i)?;
        if found != *expected {
            let line = format!("{what} {i} is wrong: digit {d} is {found:#x}, not {expected:#x}");
            return Err(BenchError::Wrong(line));
        }
    }
    Ok(())
}

/// Compares the outputs of the small-primes method with the outputs of the big-prime method.
fn same(small: &Buffer<u64>, big: &Buffer<u64>, what: &str) -> Result<(), BenchError> {
    let what = format!("{what} by small primes, compared with the other,");
    vectors::compare(small, &what, |part| Ok(big.download_part(part)?))
}
