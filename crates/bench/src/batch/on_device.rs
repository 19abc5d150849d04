//! Measures operations on batches on a device.

use std::time::{Duration, Instant};

use warpint_device::{Buffer, CopyRate, Device, DeviceError, Effort, copies};
use warpint_integer::Executor;
use warpint_integer::gpu::{
    Choice, Gcd, Gpu, Inverse, Method, Operand, Part, Quotients, Results, SquareRoots, Sum,
};

use super::euclid::Euclid;
use super::operands::Operands;
use super::primality::Primality;
use super::{Listed, Operation, Place, Work};
use crate::{BenchError, is_simulator};

/// A device with the operands of all rows.
#[derive(Debug)]
pub(super) struct OnDevice {
    gpu: Gpu,
    a: Buffer<u32>,
    b: Buffer<u32>,
    out: Buffer<u32>,
    /// The remainders of divisions and square roots.
    remainders: Buffer<u32>,
    /// The moduli of a modular operation, and the flags by which the operation marks instances
    /// without a result. `None` for other operations.
    moduli: Option<(Buffer<u32>, Buffer<u8>)>,
    euclid: Option<Euclid>,
    primality: Option<Primality>,
    copies: Vec<CopyRate>,
    /// The number of timed runs.
    runs: usize,
}

/// Returns the number of bytes that a benchmark may allocate on a device: 15/16 of the free memory.
/// The rest is left to the kernels.
pub(super) fn room(device: &Device) -> Result<u64, DeviceError> {
    Ok(device.memory()?.0 / 16 * 15)
}

/// Returns the methods that support a product, or a square, of numbers of `limbs` limbs.
pub(super) fn possible(device: &Device, operation: Operation, limbs: usize) -> Vec<Method> {
    let b_limbs = operation.is_of_two().then_some(limbs);
    Method::possible(limbs, b_limbs, device.info().shared_memory_per_block).collect()
}

/// Returns whether the device supports an operation other than a product for numbers of `limbs`
/// limbs.
pub(super) fn can(device: &Device, operation: Operation, limbs: usize) -> bool {
    let shared_memory = device.info().shared_memory_per_block;
    match operation {
        // The results of each of the two operations are compared with those of the other.
        Operation::Listed(Listed::Gcd) | Operation::GcdByDivision => {
            Gcd::new(limbs, limbs, shared_memory).is_some()
        }
        Operation::Listed(Listed::Inverse) => Inverse::new(limbs, limbs, shared_memory).is_some(),
        _ => true,
    }
}

impl OnDevice {
    /// Uploads the operands to the device, and allocates memory for results and remainders.
    pub(super) fn new(
        gpu: Gpu,
        operands: &Operands,
        [result_limbs, remainder_limbs]: [usize; 2],
    ) -> Result<Self, DeviceError> {
        let device = gpu.device();
        // Times on the simulator have no meaning.
        let (effort, runs) =
            if is_simulator(device) { (Effort::Few, 3) } else { (Effort::Whole, 9) };
        Ok(Self {
            // First, because it needs memory of its own.
            copies: copies(device, effort)?,
            a: device.upload(&operands.a)?,
            b: device.upload(&operands.b)?,
            out: device.alloc(result_limbs)?,
            remainders: device.alloc(remainder_limbs)?,
            moduli: None,
            euclid: None,
            primality: None,
            runs,
            gpu,
        })
    }

    /// Submits the operation once for all instances, without waiting for its end.
    fn submit(&mut self, work: &Work) -> Result<(), DeviceError> {
        match work.operation {
            Operation::Listed(listed) => self.submit_listed(listed, work),
            // `Euclid` computes it.
            Operation::GcdByDivision => Ok(()),
        }
    }

    fn submit_listed(&mut self, listed: Listed, work: &Work) -> Result<(), DeviceError> {
        let &Work { operation, limbs, count, .. } = work;
        let operand = |data, limbs| Operand::new(data, limbs, false);
        let a = operand(&self.a, limbs);
        let (b, out) = (operand(&self.b, operation.b_limbs(limbs)), &mut self.out);
        match listed {
            Listed::Add | Listed::Subtract => {
                let sum = if listed == Listed::Add { Sum::Add } else { Sum::Subtract };
                self.gpu.add(sum, a, b, count, Results::new(out, limbs), None)
            }
            Listed::Divide => {
                let (quotient, remainder) = (Some(out), Some(&mut self.remainders));
                self.gpu.divide(
                    a,
                    b,
                    count,
                    Quotients { quotient, remainder, flags: None, exact: false },
                )
            }
            Listed::SquareRoot => {
                let (root, remainder) = (Some(out), Some(&mut self.remainders));
                self.gpu.square_root(a, count, SquareRoots { root, remainder })
            }
            Listed::Gcd => self.gpu.gcd(a, b, count, out),
            Listed::Inverse => match &mut self.moduli {
                Some((m, none)) => self.gpu.inverse(a, operand(&*m, limbs), count, out, none),
                None => Ok(()),
            },
            Listed::Power => match &mut self.moduli {
                Some((m, zeros)) => self.gpu.power(a, b, operand(&*m, limbs), count, out, zeros),
                None => Ok(()),
            },
            // `Primality` computes it.
            Listed::ProbablePrime => Ok(()),
            Listed::Square => match work.method {
                Some(method) => self.gpu.multiply_by(method, Part::Full, a, None, count, out),
                None => self.gpu.square(Part::Full, a, count, out),
            },
            Listed::Multiply | Listed::MultiplyLow => {
                let part = if listed == Listed::Multiply { Part::Full } else { Part::Low };
                match work.method {
                    Some(method) => self.gpu.multiply_by(method, part, a, Some(b), count, out),
                    None => self.gpu.multiply(part, a, b, count, out),
                }
            }
        }
    }
}

impl Place for OnDevice {
    fn first(&mut self, work: &Work, operands: &Operands) -> Result<Option<Duration>, BenchError> {
        (self.moduli, self.euclid, self.primality) = (None, None, None);
        if work.operation == Operation::Listed(Listed::ProbablePrime) {
            let executor = Executor::from(self.gpu.clone());
            let primality = self.primality.insert(Primality::new(&executor, work, operands)?);
            return Ok(Some(primality.run()?));
        }
        if work.operation == Operation::GcdByDivision {
            let executor = Executor::from(self.gpu.clone());
            let euclid = self.euclid.insert(Euclid::new(&executor, work, operands)?);
            let begin = Instant::now();
            euclid.run()?;
            let time = begin.elapsed();
            euclid.check()?;
            return Ok(Some(time));
        }
        if work.operation.is_modular() {
            let device = self.gpu.device();
            let moduli = device.upload(&operands.moduli(work))?;
            self.moduli = Some((moduli, device.alloc(work.count)?));
        }
        // Otherwise the results of an earlier row could be taken for those of this row.
        self.out.clear()?;
        self.remainders.clear()?;
        self.gpu.device().synchronize()?;
        let begin = Instant::now();
        self.submit(work)?;
        self.gpu.device().synchronize()?;
        Ok(Some(begin.elapsed()))
    }

    fn result(&self, work: &Work, i: usize) -> Result<Vec<u32>, BenchError> {
        if let Some(euclid) = &self.euclid {
            return euclid.result(i);
        }
        if let Some(primality) = &self.primality {
            return primality.result(i);
        }
        let limbs = work.operation.result_limbs(work.limbs);
        let mut result = self.out.download_part(i * limbs..(i + 1) * limbs)?;
        let limbs = work.operation.remainder_limbs(work.limbs);
        result.extend(self.remainders.download_part(i * limbs..(i + 1) * limbs)?);
        Ok(result)
    }

    fn times(&mut self, work: &Work) -> Result<Vec<Duration>, BenchError> {
        if let Some(euclid) = &mut self.euclid {
            return euclid.times();
        }
        if let Some(primality) = &mut self.primality {
            return primality.times();
        }
        // A run before the timed runs keeps the device busy while the host submits these.
        self.submit(work)?;
        let device = self.gpu.device().clone();
        Ok(device.times(self.runs, |_| self.submit(work))?)
    }

    /// Returns the rate of a copy between buffers, in bytes read and written per second. Selects
    /// the measured copy whose number of bytes read and written is nearest to `bytes`, because
    /// copies that fit in a cache are faster.
    fn copy_rate(&mut self, bytes: u64) -> f64 {
        let apart = |copy: &CopyRate| (2.0 * copy.bytes as f64 / bytes.max(1) as f64).ln().abs();
        let nearest = self.copies.iter().min_by(|a, b| apart(a).total_cmp(&apart(b)));
        nearest.map_or(0.0, |copy| copy.between)
    }

    fn can(&self, work: &Work) -> bool {
        !possible(self.gpu.device(), work.operation, work.limbs).is_empty()
    }

    fn choice(&self, work: &Work) -> Result<Option<Choice>, BenchError> {
        if !work.operation.is_product() || work.method.is_some() {
            return Ok(None);
        }
        let b_limbs = work.operation.is_of_two().then_some(work.limbs);
        let choice = self.gpu.choice(work.limbs, b_limbs);
        Ok(Some(choice.ok_or(BenchError::NoMethod { bits: work.bits() })?))
    }
}
