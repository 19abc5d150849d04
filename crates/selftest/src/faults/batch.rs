//! Faults of devices during operations on batches of integers. The checks of
//! `warpint_integer::check` must detect them.

use rand::RngExt;
use warpint_device::Device;
use warpint_integer::{Executor, IntegerError, Operation, PrimalityTest, UintBatch, Width};

use super::on_device::{CpuCase, Extent, Fate, Fates, Faults, Sizes, Suite};
use super::wrappers::{DeviceFault, FaultyDevice};
use crate::SEED;
use crate::sample::{Random, random};

pub(super) const SUITE: Suite = Suite { name: "batch", fates, death_is_noticed: false };

pub(super) const ON_CPU: &[CpuCase] =
    &[("flips_of_results", flips_of_results), ("results_of_zeros", results_of_zeros)];

/// The results of an operation: batches and flags on the host.
struct Results {
    batches: Vec<UintBatch>,
    flags: Vec<u8>,
}

fn results(
    operation: Operation,
    on: &Executor,
    operands: &[UintBatch; 3],
) -> Result<Results, IntegerError> {
    let [a, b, m] = operands.each_ref().map(|x| x.copy_to(on));
    let (batches, flags) = operation.apply([&a?, &b?, &m?])?;
    let flags = flags.map_or(Ok(vec![]), |flags| flags.to_vec())?;
    let batches = batches.into_iter().map(|batch| batch.to(&Executor::cpu()));
    Ok(Results { batches: batches.collect::<Result<_, _>>()?, flags })
}

/// Returns the indices of the numbers whose results the check of the operation refuses, ascending.
/// The check examines all numbers, even if it normally examines a sample.
fn failing(
    operation: Operation,
    on: &Executor,
    operands: &[UintBatch; 3],
    results: &Results,
) -> Result<Vec<usize>, IntegerError> {
    let all: Vec<usize> = (0..results.batches.first().map_or(0, UintBatch::count)).collect();
    operation.failing(operands.each_ref(), &results.batches, &results.flags, &all, on)
}

/// Returns the operations that have a check.
fn operations() -> impl Iterator<Item = Operation> {
    Operation::ALL.iter().copied().filter(|operation| operation.evidence().is_some())
}

/// An operation, with operands on the host and its right results.
struct Trial {
    operation: Operation,
    operands: [UintBatch; 3],
    right: Results,
}

impl Trial {
    /// Draws operands and computes the right results on the CPU. Also runs the operation and its
    /// check on the sound device, and returns how many launches and downloads this run made.
    fn new(
        device: &Device,
        sizes: &Sizes,
        rng: &mut Random,
        operation: Operation,
    ) -> Result<(Self, Extent), String> {
        let operands = explained(operation, operands(operation, rng, sizes.batch))?;
        let right = explained(operation, results(operation, &Executor::cpu(), &operands))?;
        let trial = Self { operation, operands, right };
        let sound = FaultyDevice::new(device, DeviceFault::Zeros { from: u64::MAX });
        let failing = explained(operation, trial.on(&sound))?;
        if failing != Some(vec![]) {
            return Err(format!("{operation:?}: refused on a sound device: {failing:?}"));
        }
        Ok((trial, Extent::of(&sound)))
    }

    /// Runs the operation on a device, and returns the indices of the numbers whose results the
    /// check refuses. Returns `None` if the check accepts a wrong result.
    fn on(&self, device: &FaultyDevice) -> Result<Option<Vec<usize>>, IntegerError> {
        let on = Executor::on(device.device().clone());
        let results = results(self.operation, &on, &self.operands)?;
        let failing = failing(self.operation, &on, &self.operands, &results)?;
        let count = results.batches.first().map_or(0, UintBatch::count);
        let is_right = |i: usize| {
            let pairs = results.batches.iter().zip(&self.right.batches);
            let flag = |of: &Results| of.flags.get(i).copied();
            flag(&results) == flag(&self.right)
                && pairs.into_iter().all(|(found, right)| row(found, i) == row(right, i))
        };
        let passed = (0..count).filter(|i| failing.binary_search(i).is_err());
        let all_right = passed.into_iter().all(is_right) && count == self.operands[0].count();
        Ok(all_right.then_some(failing))
    }

    fn fate(&self, device: &Device, fault: DeviceFault) -> Result<Fate, String> {
        let faulty = FaultyDevice::new(device, fault);
        // An error of the device also counts as noticed.
        let Ok(failing) = self.on(&faulty) else { return Ok(Fate::Noticed) };
        let failing = failing.ok_or("a wrong result passed")?;
        Ok(match (faulty.strikes(), failing.is_empty()) {
            (0, _) => Fate::NotMade,
            (_, true) => Fate::Harmless,
            (_, false) => Fate::Noticed,
        })
    }
}

fn row(batch: &UintBatch, i: usize) -> Option<&[u32]> {
    let limbs = batch.width().limbs();
    batch.as_limbs()?.get(i * limbs..(i + 1) * limbs)
}

/// Returns `count` random numbers of `limbs` limbs, all odd and with the highest bit set. The
/// results of an operation on such numbers are not all zero.
fn operand(rng: &mut Random, (count, limbs): (usize, usize)) -> Result<UintBatch, IntegerError> {
    let mut rows = vec![];
    for _ in 0..count {
        let mut row: Vec<u32> = (0..limbs).map(|_| rng.random()).collect();
        row[0] |= 1;
        row[limbs - 1] |= 1 << 31;
        rows.extend(row);
    }
    let width = Width::new(u32::try_from(32 * limbs).unwrap_or(u32::MAX))?;
    UintBatch::from_vec(&Executor::cpu(), width, rows)
}

/// Returns the operands of an operation. A test for primality gets primes, so that its results are
/// not zero.
fn operands(
    operation: Operation,
    rng: &mut Random,
    size: (usize, usize),
) -> Result<[UintBatch; 3], IntegerError> {
    let first = operand(rng, size)?;
    let first = if operation == Operation::ProbablePrime { primes_from(first)? } else { first };
    Ok([first, operand(rng, size)?, operand(rng, size)?])
}

/// Returns for each odd number the smallest probable prime that is not less. The search begins anew
/// at the lowest odd number of the same highest limbs if the lowest limb overflows.
fn primes_from(numbers: UintBatch) -> Result<UintBatch, IntegerError> {
    let (test, width) = (PrimalityTest::baillie_psw(), numbers.width());
    let mut rows = numbers.to_limbs()?;
    for row in rows.chunks_mut(width.limbs()) {
        loop {
            let number = UintBatch::from_limbs(&Executor::cpu(), width, row)?;
            if number.is_probable_prime(&test)? == [true] {
                break;
            }
            row[0] = row[0].wrapping_add(2);
        }
    }
    UintBatch::from_vec(&Executor::cpu(), width, rows)
}

fn explained<T>(operation: Operation, result: Result<T, IntegerError>) -> Result<T, String> {
    result.map_err(|e| format!("{operation:?}: {e}"))
}

/// Makes faults during each operation. Returns how many were noticed, and how many were harmless.
fn fates(device: &Device, sizes: &Sizes, faults: Faults) -> Result<Fates, String> {
    let mut rng = random(SEED);
    let mut fates = Fates::default();
    for operation in operations() {
        let (trial, extent) = Trial::new(device, sizes, &mut rng, operation)?;
        let run = |fault| trial.fate(device, fault);
        fates.add(&format!("{operation:?}"), (&mut rng, extent, faults), run)?;
    }
    Ok(fates)
}

/// Computes results on the CPU, `count` times for each operation, and lets `change` modify them in
/// memory. `change` returns the indices of the numbers that it has modified. The check must refuse
/// exactly these numbers.
fn changed_results(
    count: u64,
    change: impl Fn(&mut Random, &mut Results) -> Result<Vec<usize>, IntegerError>,
) -> Result<String, String> {
    const SIZE: (usize, usize) = (50, 32);
    let (mut rng, cpu) = (random(SEED), Executor::cpu());
    let mut noticed = 0;
    for operation in operations() {
        let operands = explained(operation, operands(operation, &mut rng, SIZE))?;
        for _ in 0..count {
            let mut results = explained(operation, results(operation, &cpu, &operands))?;
            let changed = explained(operation, change(&mut rng, &mut results))?;
            let failing = explained(operation, failing(operation, &cpu, &operands, &results))?;
            if failing != changed {
                return Err(format!("{operation:?}: {changed:?} changed, {failing:?} refused"));
            }
            noticed += 1;
        }
    }
    Ok(format!("{noticed} of {noticed} faults noticed"))
}

/// Tests that a flipped bit of a result is noticed.
fn flips_of_results() -> Result<String, String> {
    changed_results(5, |rng, results| {
        let which = rng.random_range(0..results.batches.len());
        let batch = &results.batches[which];
        let (width, mut limbs) = (batch.width(), batch.to_limbs()?);
        let at = rng.random_range(0..limbs.len());
        limbs[at] ^= 1 << rng.random_range(0..32);
        results.batches[which] = UintBatch::from_vec(&Executor::cpu(), width, limbs)?;
        Ok(vec![at / width.limbs()])
    })
}

/// Tests that results and flags that are all zero are noticed.
fn results_of_zeros() -> Result<String, String> {
    changed_results(1, |_, results| {
        results.flags.fill(0);
        for batch in &mut results.batches {
            *batch = UintBatch::zeros(&Executor::cpu(), batch.count(), batch.width())?;
        }
        Ok((0..results.batches.first().map_or(0, UintBatch::count)).collect())
    })
}
