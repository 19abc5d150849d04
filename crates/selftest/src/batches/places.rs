//! Tests batches that move between the CPU and a device, and compares the results of a device with
//! those of the CPU.

use rand::RngExt;
use warpint_integer::{Executor, UintBatch};

use super::numbers::{Failure, Numbers, check, width};
use crate::sample::{Random, random};

/// Tests moves of batches to the CPU and back, copies, conversions to and from text, and empty
/// batches.
pub(super) fn moves(executor: &Executor, seed: u64) -> Result<(), Failure> {
    let mut rng = random(seed);
    for limbs in [1, 6, 67] {
        let a = Numbers::hard(executor, &mut rng, limbs, 50)?;
        let same = |what: &str, batch: &UintBatch| {
            check(what, batch, limbs, a.count(), |i| a.row(i).to_vec())
        };
        let mut copy = a.batch.try_clone()?;
        drop(copy.add_assign(&a.batch)?);
        same("a after its copy changed", &a.batch)?;
        let host = a.batch.try_clone()?.to(&Executor::cpu())?;
        same("on the host", &host)?;
        same("back again", &host.try_clone()?.to(executor)?)?;
        let texts = a.batch.to_decimal()?;
        let texts = texts.iter().map(String::as_str);
        same("read as text", &UintBatch::from_decimal(executor, width(limbs)?, texts)?)?;

        let none = UintBatch::zeros(executor, 0, width(limbs)?)?;
        let one = a.single(1)?.batch;
        check("none", &none.mul(&one)?, 2 * limbs, 0, |_| vec![])?;
        check("none", &one.sub(&none)?.0, limbs, 0, |_| vec![])?;
        check("none", &none.neg()?.shr(7)?, limbs, 0, |_| vec![])?;
    }
    Ok(())
}

/// Compares sums, products and squares of `count` random numbers of `limbs` limbs on an executor
/// with the results of the CPU.
pub(super) fn agree(
    executor: &Executor,
    rng: &mut Random,
    limbs: usize,
    count: usize,
) -> Result<(), Failure> {
    let cpu = Executor::cpu();
    let mut drawn = || -> Vec<u32> { (0..limbs * count).map(|_| rng.random()).collect() };
    let (x, y) = (drawn(), drawn());
    let results = |executor: &Executor| -> Result<[Vec<u32>; 6], Failure> {
        let batch = |data: &Vec<u32>| UintBatch::from_limbs(executor, width(limbs)?, data);
        let (a, b) = (batch(&x)?, batch(&y)?);
        let (sum, carries) = a.add(&b)?;
        let carries = carries.to_vec()?.into_iter().map(u32::from).collect();
        let whole = a.mul(&b)?.to_limbs()?;
        let parts = [a.mul_high(&b)?, a.mul_low(&b)?].map(|part| part.to_limbs());
        let [high, low] = parts;
        Ok([sum.to_limbs()?, carries, whole, high?, low?, a.square()?.to_limbs()?])
    };
    let names = ["a + b", "its carries", "a·b", "a·b, high", "a·b, low", "a²"];
    for (name, (found, expected)) in names.iter().zip(results(executor)?.iter().zip(results(&cpu)?))
    {
        if let Some(at) = (0..expected.len()).find(|&at| found.get(at) != expected.get(at)) {
            return Err(Failure::Wrong(format!("{name}: word {at} is not that of the CPU")));
        }
    }
    Ok(())
}
