//! Which rows are measured, and how many numbers each has.

use warpint::device::Device;
use warpint::integer::gpu::Method;
use warpint::mersenne::DeviceId;

use super::operands::Operands;
use super::{Work, on_device};
use crate::args::{BenchBatchArgs, Methods, Operation};
use crate::exit::BadRequest;
use crate::report;
use crate::units;

/// Powers of 2 from 64 to 262144 bits, in limbs.
const LIMBS: std::ops::RangeInclusive<u32> = 1..=13;

/// The widest numbers, in limbs, whose common divisors are found by division without being asked for.
const BY_DIVISION: usize = 128;

/// Widths that the simulator does in seconds.
const ON_SIMULATOR: [usize; 2] = [2, 16];

/// The rows for a device.
///
/// # Errors
/// A method that cannot do a width that was asked for; numbers that do not fit.
pub(super) fn on_device(
    args: &BenchBatchArgs,
    device: &Device,
    id: DeviceId,
) -> anyhow::Result<Vec<Work>> {
    let (defaults, fill): (Vec<usize>, u64) = match id {
        DeviceId::Cuda(_) => (powers().collect(), 256 << 20),
        DeviceId::Sim => (ON_SIMULATOR.to_vec(), 1 << 10),
    };
    let room = on_device::room(device)?;
    let mut works = vec![];
    for operation in operations(args) {
        for limbs in widths(args, operation, &defaults) {
            let methods = methods(args, device, operation, limbs)?;
            if methods.is_empty() {
                continue;
            }
            let count = count(args, limbs, fill / operation.weight(), Some(room))?;
            works.extend(methods.into_iter().map(|method| Work {
                operation,
                limbs,
                count,
                method,
            }));
        }
    }
    if works.is_empty() {
        let line = "there is nothing to measure: the method can do no width on this device";
        return Err(BadRequest(line.into()).into());
    }
    Ok(works)
}

/// The rows for the CPU.
///
/// # Errors
/// A method, for there is no choice; numbers that do not fit.
pub(super) fn on_cpu(args: &BenchBatchArgs) -> anyhow::Result<Vec<Work>> {
    if args.method.is_some() {
        let line = "--method is for devices: the CPU has one way for each width";
        return Err(BadRequest(line.into()).into());
    }
    let defaults: Vec<usize> = powers().collect();
    let mut works = vec![];
    for operation in operations(args) {
        for limbs in widths(args, operation, &defaults) {
            let count = count(args, limbs, (16 << 20) / operation.weight(), None)?;
            works.push(Work { operation, limbs, count, method: None });
        }
    }
    Ok(works)
}

/// Operands for all rows.
///
/// # Errors
/// No memory.
pub(super) fn operands(args: &BenchBatchArgs, works: &[Work]) -> anyhow::Result<Operands> {
    let limbs = works.iter().map(|work| work.count * work.limbs).max().unwrap_or(0);
    let two = works.iter().any(|work| work.operation.is_of_two());
    Operands::draw(args.seed.unwrap_or_else(rand::random), limbs, two)
}

/// Limbs of the results of the row that has most, with the products that it is compared with.
pub(super) fn result_limbs(works: &[Work]) -> usize {
    let of = |work: &Work| {
        let compared =
            work.product().map_or(0, |product| product.operation.result_limbs(work.limbs));
        work.count * work.operation.result_limbs(work.limbs).max(compared)
    };
    works.iter().map(of).max().unwrap_or(0)
}

/// The same of remainders.
pub(super) fn remainder_limbs(works: &[Work]) -> usize {
    let of = |work: &Work| work.count * work.operation.remainder_limbs(work.limbs);
    works.iter().map(of).max().unwrap_or(0)
}

fn powers() -> impl Iterator<Item = usize> {
    LIMBS.map(|log| 1 << log)
}

/// What was asked for, quotients last: they are compared with products.
fn operations(args: &BenchBatchArgs) -> Vec<Operation> {
    let mut operations = args.operations.clone();
    operations.sort_by_key(|&operation| operation == Operation::Divrem);
    operations
}

/// Limbs of the widths asked for.
fn widths(args: &BenchBatchArgs, operation: Operation, defaults: &[usize]) -> Vec<usize> {
    if args.bits.is_empty() {
        let most = match operation {
            Operation::GcdByDivision => BY_DIVISION,
            _ => usize::MAX,
        };
        return defaults.iter().copied().filter(|&limbs| limbs <= most).collect();
    }
    args.bits.iter().map(|width| width.limbs()).collect()
}

/// The methods of a row on a device; none if it is to be left out.
fn methods(
    args: &BenchBatchArgs,
    device: &Device,
    operation: Operation,
    limbs: usize,
) -> Result<Vec<Option<Method>>, BadRequest> {
    if !operation.is_product() {
        if on_device::can(device, operation, limbs) {
            return Ok(vec![None]);
        }
        if args.bits.is_empty() {
            return Ok(vec![]);
        }
        return Err(BadRequest(format!(
            "{} of {} bits is not done on {}: take --device cpu, or less --bits",
            operation.name(),
            32 * limbs,
            device.info().id
        )));
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
    let which = match args.method {
        Some(Methods::One(method)) => method.to_string(),
        _ => "no method".into(),
    };
    let can = if which == "no method" { "can" } else { "cannot" };
    let names: Vec<String> = possible.iter().map(ToString::to_string).collect();
    let there =
        if names.is_empty() { String::new() } else { format!(": there are {}", names.join(", ")) };
    Err(BadRequest(format!(
        "{which} {can} do {} of {} bits on {}{there}",
        operation.name(),
        32 * limbs,
        device.info().id
    )))
}

/// Numbers of a batch: those asked for, or as many as fill so many bytes.
fn count(
    args: &BenchBatchArgs,
    limbs: usize,
    fill: u64,
    room: Option<u64>,
) -> Result<usize, BadRequest> {
    let bytes = 4 * limbs as u64;
    // Two operands and results of twice the width, whatever the operation: all have one count.
    let most = room.map_or(u64::MAX / 4 / bytes, |room| room / (4 * bytes));
    let wanted = args.count.map_or((fill / bytes).max(1), |count| count as u64);
    let count = match args.count {
        Some(_) if wanted > most => 0,
        _ => wanted.min(most),
    };
    if count == 0 {
        let (of, needed) = (32 * limbs, units::memory(wanted.saturating_mul(4 * bytes)));
        let free =
            room.map_or_else(String::new, |room| format!(", and {} are free", units::memory(room)));
        let numbers = units::count(wanted, "number");
        return Err(BadRequest(format!("{numbers} of {of} bits and results take {needed}{free}")));
    }
    if count < wanted {
        let numbers = units::count(count, "number");
        report::notice(&format!(
            "warning: {numbers} of {} bits instead of {wanted}: no more memory is free",
            32 * limbs
        ));
    }
    Ok(usize::try_from(count).unwrap_or(usize::MAX))
}
