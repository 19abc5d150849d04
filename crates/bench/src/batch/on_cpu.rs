//! Measures operations on batches on the CPU, with all its threads.

use std::time::{Duration, Instant};

use rayon::prelude::*;
use warpint_integer::gpu::Choice;
use warpint_integer::{Executor, Flags, PrimalityTest, UintBatch, Width};

use super::euclid::Euclid;
use super::gmp::{self, Gmp};
use super::operands::Operands;
use super::{Listed, Operation, Place, Work};
use crate::BenchError;

/// The number of timed runs, of warpint and of GMP.
const RUNS: usize = 9;

/// The CPU, with the batches of the row that is being measured.
#[derive(Debug)]
pub(super) struct OnCpu {
    row: Option<Batches>,
    euclid: Option<Euclid>,
    gmp: Option<Gmp>,
    gmp_row: Option<gmp::Batches>,
    gmp_times: Vec<Duration>,
}

impl OnCpu {
    /// Loads GMP if it is installed.
    pub(super) fn new() -> Self {
        Self { row: None, euclid: None, gmp: Gmp::load(), gmp_row: None, gmp_times: vec![] }
    }
}

#[derive(Debug)]
struct Batches {
    a: UintBatch,
    b: UintBatch,
    out: UintBatch,
    /// The remainders of divisions and square roots.
    remainders: UintBatch,
    zero_divisors: Flags,
    /// The moduli of a modular operation; `None` for other operations.
    moduli: Option<UintBatch>,
}

impl Batches {
    fn new(work: &Work, operands: &Operands) -> Result<Self, BenchError> {
        let (executor, width) = (Executor::cpu(), Width::new(work.bits())?);
        let take = |from: &[u32], limbs: usize| {
            // A square has no b.
            let width = Width::new(32 * limbs.max(1) as u32)?;
            let limbs = from.get(..work.count * limbs).unwrap_or(&[]);
            UintBatch::from_limbs(&executor, width, limbs)
        };
        let b_limbs = work.operation.b_limbs(work.limbs);
        let result = if work.operation.result_limbs(work.limbs) == work.limbs {
            width
        } else {
            width.of_product(width)?
        };
        let out = UintBatch::zeros(&executor, work.count, result)?;
        let (a, b) = (take(&operands.a, work.limbs)?, take(&operands.b, b_limbs)?);
        let remainders = UintBatch::zeros(&executor, b.count(), b.width())?;
        let zero_divisors = Flags::zeros(&executor, work.count)?;
        let moduli = work.operation.is_modular().then(|| operands.moduli(work));
        let moduli =
            moduli.map(|limbs| UintBatch::from_vec(&executor, width, limbs)).transpose()?;
        Ok(Self { a, b, out, remainders, zero_divisors, moduli })
    }

    fn run(&mut self, operation: Listed) -> Result<Duration, BenchError> {
        let Self { a, b, out, remainders, zero_divisors, moduli } = self;
        let begin = Instant::now();
        match operation {
            Listed::Add => a.add_into(b, out, None),
            Listed::Subtract => a.sub_into(b, out, None),
            Listed::Multiply => a.mul_into(b, out),
            Listed::Square => a.square_into(out),
            Listed::MultiplyLow => a.mul_low_into(b, out),
            Listed::Divide => a.div_rem_into(b, out, remainders, zero_divisors),
            Listed::Gcd => a.gcd_into(b, out),
            Listed::Inverse => match moduli {
                Some(moduli) => a.mod_inv(moduli).map(|(inverses, _)| *out = inverses),
                None => Ok(()),
            },
            Listed::SquareRoot => {
                a.sqrt_rem().map(|(roots, rests)| (*out, *remainders) = (roots, rests))
            }
            Listed::Power => match moduli {
                Some(moduli) => a.pow_mod(b, moduli).map(|(powers, _)| *out = powers),
                None => Ok(()),
            },
            Listed::ProbablePrime => {
                let primes = a.is_probable_prime(&PrimalityTest::baillie_psw())?;
                let primes = primes.into_iter().map(u32::from).collect();
                UintBatch::from_vec(a.executor(), Width::new(32)?, primes).map(|found| *out = found)
            }
        }?;
        Ok(begin.elapsed())
    }
}

impl Place for OnCpu {
    fn first(&mut self, work: &Work, operands: &Operands) -> Result<Option<Duration>, BenchError> {
        // Frees the memory of the last row first.
        (self.row, self.euclid, self.gmp_row) = (None, None, None);
        self.gmp_times.clear();
        match work.operation {
            Operation::Listed(listed) => {
                self.row.insert(Batches::new(work, operands)?).run(listed)?;
                if let Some(gmp) = &self.gmp
                    && let Some(mut batches) = gmp::Batches::new(work, operands)
                {
                    batches.run(gmp, listed);
                    let checked = operands.check(work, |i| Ok(batches.result(i)));
                    checked.map_err(|e| e.in_row(format!("GMP {}", gmp.version())))?;
                    self.gmp_row = Some(batches);
                }
            }
            Operation::GcdByDivision => {
                let euclid = self.euclid.insert(Euclid::new(&Executor::cpu(), work, operands)?);
                euclid.run()?;
                euclid.check()?;
            }
        }
        Ok(None)
    }

    fn result(&self, work: &Work, i: usize) -> Result<Vec<u32>, BenchError> {
        if let Some(euclid) = &self.euclid {
            return euclid.result(i);
        }
        let row = self.row.as_ref().ok_or(BenchError::Missing { what: "batch" })?;
        let missing = || BenchError::NoResult { instance: i };
        let mut result = row.out.get(i)?.ok_or_else(missing)?;
        if work.operation.remainder_limbs(work.limbs) > 0 {
            result.extend(row.remainders.get(i)?.ok_or_else(missing)?);
        }
        Ok(result)
    }

    fn times(&mut self, work: &Work) -> Result<Vec<Duration>, BenchError> {
        match (work.operation, &mut self.row, &mut self.euclid) {
            (Operation::Listed(listed), Some(batches), _) => {
                let mut times = Vec::with_capacity(RUNS);
                for _ in 0..RUNS {
                    times.push(batches.run(listed)?);
                    if let (Some(gmp), Some(batches)) = (&self.gmp, &mut self.gmp_row) {
                        self.gmp_times.push(batches.run(gmp, listed));
                    }
                }
                Ok(times)
            }
            (Operation::GcdByDivision, _, Some(euclid)) => euclid.times(),
            _ => Err(BenchError::Missing { what: "batch" }),
        }
    }

    fn gmp_times(&self) -> &[Duration] {
        &self.gmp_times
    }

    fn gmp_version(&self) -> Option<&str> {
        self.gmp.as_ref().map(Gmp::version)
    }

    /// Copies `bytes`/2 bytes from one array to another with all threads, several times. Returns
    /// the rate of the fastest copy, in bytes read and written per second. The other copies may
    /// have been slowed by other load on the machine.
    fn copy_rate(&mut self, bytes: u64) -> f64 {
        const STRETCH: usize = 1 << 15;
        const COPIES: usize = 10;
        let half = (bytes as usize).div_ceil(16).max(1);
        let (from, mut to) = (vec![1u64; half], vec![0u64; half]);
        let times = (0..=COPIES).map(|_| {
            let begin = Instant::now();
            let stretches = to.par_chunks_mut(STRETCH).zip(from.par_chunks(STRETCH));
            stretches.for_each(|(to, from)| to.copy_from_slice(from));
            std::hint::black_box(&mut to);
            begin.elapsed()
        });
        // The first copy touches the memory.
        let fastest = times.skip(1).min().unwrap_or_default();
        16.0 * half as f64 / fastest.as_secs_f64().max(1e-9)
    }

    fn can(&self, _: &Work) -> bool {
        true
    }

    fn choice(&self, _: &Work) -> Result<Option<Choice>, BenchError> {
        Ok(None)
    }
}
