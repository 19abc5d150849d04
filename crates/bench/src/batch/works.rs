//! The rows to be measured in a benchmark of batches, and the count of numbers in the batch of each
//! row.

use warpint_device::Device;
use warpint_integer::gpu::Method;

use super::operands::Operands;
use super::{Fewer, Listed, Methods, Operation, Request, RequestError, Work, on_device};
use crate::{BenchError, is_simulator};

/// The exponents e of the default widths, which are 2^e limbs of 32 bits: 64 to 262,144 bits.
const LIMBS: std::ops::RangeInclusive<u32> = 1..=13;

/// The largest default width, in limbs, of greatest common divisors by division.
const BY_DIVISION: usize = 128;

/// The default widths, in limbs, on the simulator, which computes them in seconds.
const ON_SIMULATOR: [usize; 2] = [2, 16];

/// Returns the rows for a device. Adds to `fewer` the batches that are smaller than the default
/// because memory is short.
///
/// # Errors
/// The device or the method does not support a requested width, no row is left, the numbers do not
/// fit in memory, or the device failed.
pub(super) fn on_device(
    args: &Request,
    device: &Device,
    fewer: &mut Vec<Fewer>,
) -> Result<Vec<Work>, BenchError> {
    let (defaults, fill): (Vec<usize>, u64) = if is_simulator(device) {
        (ON_SIMULATOR.to_vec(), 1 << 10)
    } else {
        (powers().collect(), 256 << 20)
    };
    let room = on_device::room(device)?;
    let mut works = vec![];
    for operation in operations(args) {
        for limbs in widths(args, operation, &defaults) {
            let methods = methods(args, device, operation, limbs)?;
            if methods.is_empty() {
                continue;
            }
            let count = count(args, limbs, fill / operation.weight(), Some(room), fewer)?;
            works.extend(methods.into_iter().map(|method| Work {
                operation,
                limbs,
                count,
                method,
            }));
        }
    }
    if works.is_empty() {
        return Err(RequestError::Nothing.into());
    }
    Ok(works)
}

/// Returns the rows for the CPU.
///
/// # Errors
/// A method was given, although the CPU has no choice of methods, or the number of bytes of a batch
/// exceeds 64 bits.
pub(super) fn on_cpu(args: &Request) -> Result<Vec<Work>, RequestError> {
    if args.method.is_some() {
        return Err(RequestError::MethodOnCpu);
    }
    let defaults: Vec<usize> = powers().collect();
    let mut works = vec![];
    for operation in operations(args) {
        for limbs in widths(args, operation, &defaults) {
            let count = count(args, limbs, (16 << 20) / operation.weight(), None, &mut vec![])?;
            works.push(Work { operation, limbs, count, method: None });
        }
    }
    Ok(works)
}

/// Draws operands that are long enough for every row.
///
/// # Errors
/// There is not enough memory.
pub(super) fn operands(args: &Request, works: &[Work]) -> Result<Operands, BenchError> {
    let limbs = works.iter().map(|work| work.count * work.limbs).max().unwrap_or(0);
    let two = works.iter().any(|work| work.operation.is_of_two());
    Operands::draw(args.seed.unwrap_or_else(rand::random), limbs, two)
}

/// Returns the largest number of limbs of the results of a batch, over all rows and the products
/// with which quotients are compared.
pub(super) fn result_limbs(works: &[Work]) -> usize {
    let of = |work: &Work| {
        let compared =
            work.product().map_or(0, |product| product.operation.result_limbs(work.limbs));
        work.count * work.operation.result_limbs(work.limbs).max(compared)
    };
    works.iter().map(of).max().unwrap_or(0)
}

/// Returns the largest number of limbs of the remainders of a batch, over all rows.
pub(super) fn remainder_limbs(works: &[Work]) -> usize {
    let of = |work: &Work| work.count * work.operation.remainder_limbs(work.limbs);
    works.iter().map(of).max().unwrap_or(0)
}

fn powers() -> impl Iterator<Item = usize> {
    LIMBS.map(|log| 1 << log)
}

/// Returns the requested operations, with quotients last, because they are compared with products.
fn operations(args: &Request) -> Vec<Operation> {
    let mut operations = args.operations.clone();
    operations.sort_by_key(|&operation| operation == Operation::Listed(Listed::Divide));
    operations
}

/// Returns the widths at which an operation is measured, in limbs: the requested widths, or
/// `defaults` if none are requested. Default widths of [`Operation::GcdByDivision`] have at most
/// [`BY_DIVISION`] limbs.
fn widths(args: &Request, operation: Operation, defaults: &[usize]) -> Vec<usize> {
    if args.bits.is_empty() {
        let most = match operation {
            Operation::GcdByDivision => BY_DIVISION,
            _ => usize::MAX,
        };
        return defaults.iter().copied().filter(|&limbs| limbs <= most).collect();
    }
    args.bits.iter().map(|width| width.limbs()).collect()
}

/// Returns the methods with which an operation is measured at a width, one row each. `None` in the
/// list leaves the choice to the library. The list is empty if no width was requested and the
/// device or the requested method does not support this default width.
///
/// # Errors
/// The width was requested, but the device or the requested method does not support it.
fn methods(
    args: &Request,
    device: &Device,
    operation: Operation,
    limbs: usize,
) -> Result<Vec<Option<Method>>, RequestError> {
    if !operation.is_product() {
        if on_device::can(device, operation, limbs) {
            return Ok(vec![None]);
        }
        if args.bits.is_empty() {
            return Ok(vec![]);
        }
        let device = device.info().id.clone();
        return Err(RequestError::NotDone { operation, bits: 32 * limbs, device });
    }
    let possible = on_device::possible(device, operation, limbs);
    let chosen: Vec<Option<Method>> = match args.method {
        None if possible.is_empty() => vec![],
        None => vec![None],
        Some(Methods::All) => possible.iter().copied().map(Some).collect(),
        Some(Methods::One(method)) if possible.contains(&method) => vec![Some(method)],
        Some(Methods::One(_)) => vec![],
    };
    if !chosen.is_empty() || args.bits.is_empty() {
        return Ok(chosen);
    }
    let asked = match args.method {
        Some(Methods::One(method)) => Some(method),
        _ => None,
    };
    let (bits, device) = (32 * limbs, device.info().id.clone());
    Err(RequestError::Method { asked, operation, bits, device, possible })
}

/// Returns the count of numbers in a batch: the requested count, or by default the count that fills
/// `fill` bytes. If the free memory of `room` bytes is too small for the default count, returns a
/// smaller count and adds the batch to `fewer`. If the free memory is too small for a requested
/// count, returns an error. If `room` is `None`, as on the CPU, the free memory does not limit the
/// count.
fn count(
    args: &Request,
    limbs: usize,
    fill: u64,
    room: Option<u64>,
    fewer: &mut Vec<Fewer>,
) -> Result<usize, RequestError> {
    let bytes = 4 * limbs as u64;
    // Two operands and results of twice the width, for every operation, so that all have the same
    // count.
    let most = room.map_or(u64::MAX / 4 / bytes, |room| room / (4 * bytes));
    let wanted = args.count.map_or((fill / bytes).max(1), |count| count as u64);
    let count = match args.count {
        Some(_) if wanted > most => 0,
        _ => wanted.min(most),
    };
    let bits = 32 * limbs;
    if count == 0 {
        let bytes = wanted.saturating_mul(4 * bytes);
        return Err(RequestError::TooMany { count: wanted, bits, bytes, free: room });
    }
    if count < wanted {
        fewer.push(Fewer { count, bits, wanted });
    }
    Ok(usize::try_from(count).unwrap_or(usize::MAX))
}
