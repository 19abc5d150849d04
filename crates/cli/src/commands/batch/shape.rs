//! How wide and how many the numbers of a job are, how results are written, and how many are worked
//! on at a time.

use std::path::Path;

use warpint::integer::Width;

use super::npy::Item;
use super::operation::Operation;
use super::results::Form;
use super::source::{Source, bytes_each, format_of};
use crate::args::{BatchArgs, Bits, Format};
use crate::exit::BadRequest;
use crate::units;

/// The width that was asked for of each file.
pub(crate) fn widths(
    operation: Operation,
    files: usize,
    bits: Option<&Bits>,
) -> Result<Vec<Option<Width>>, BadRequest> {
    let Some(Bits(given)) = bits else { return Ok(vec![None; files]) };
    match &given[..] {
        [first, others @ ..] if others.iter().all(|width| width == first) => {
            Ok(vec![Some(*first); files])
        }
        given if given.len() == files => Ok(given.iter().copied().map(Some).collect()),
        _ => {
            let name = operation.name();
            Err(BadRequest(match files {
                1 => format!("{name} reads one file: give --bits its width alone"),
                2 => format!("{name} reads two files: give --bits one width, or that of each"),
                _ => format!("{name} reads three files: give --bits one width, or that of each"),
            }))
        }
    }
}

/// How many results there are.
pub(crate) fn count(operands: &[Source]) -> Result<u64, BadRequest> {
    let mut many = operands.iter().filter(|source| source.count != 1);
    let Some(first) = many.next() else { return Ok(1) };
    match many.find(|source| source.count != first.count) {
        None => Ok(first.count),
        Some(other) => Err(BadRequest(format!(
            "{} and {}: {} and {}: there must be as many of both, or one of either",
            first.operand.name,
            other.operand.name,
            units::count(first.count, "number"),
            units::count(other.count, "number"),
        ))),
    }
}

/// How results are written, and remainders if they are wanted.
pub(crate) fn forms(
    operation: Operation,
    operands: &[Source],
    args: &BatchArgs,
    rem: Option<&Path>,
) -> anyhow::Result<Vec<Form>> {
    let of = |i: usize| operands.get(i).or(operands.first());
    let width = |i| of(i).map_or(Width::new(32), |source| Ok(source.width));
    let (of_results, second) = operation.widths([width(0)?, width(1)?, width(2)?])?;
    let given = operands.iter().any(|source| source.item == Some(Item::U64));
    let format = args.out_format.or_else(|| format_of(&args.out));
    // A number of the command line has none.
    let first = operands.iter().find(|source| !source.operand.is_number());
    let format = format.or(first.map(|source| source.format)).unwrap_or(Format::Decimal);
    let form = |width: Width, format| {
        let item = if given && width.limbs().is_multiple_of(2) { Item::U64 } else { Item::U32 };
        Form { format, width, item }
    };
    let rem = rem.zip(second).map(|(rem, width)| {
        form(width, args.out_format.or_else(|| format_of(rem)).unwrap_or(format))
    });
    Ok([Some(form(of_results, format)), rem].into_iter().flatten().collect())
}

/// So many numbers as this much memory holds.
const MEMORY: u64 = 256 << 20;
/// More at a time are no faster.
const MOST: u64 = 1 << 16;

/// A piece takes about this long on the CPU at most, so that a stop is honoured and progress is kept.
const PIECE_NS: f64 = 1e9;

/// Nanoseconds of a core for one result, very roughly: schoolbook products of 64-bit limbs, of which a
/// power takes one for each bit of the exponent, and divisor and inverse some for each limb.
fn cost(operation: Operation, operands: &[Source]) -> f64 {
    let bits = |i: usize| {
        let source = operands.get(i).or(operands.first());
        source.map_or(32.0, |source| f64::from(source.width.bits()))
    };
    let widest = (0..operands.len()).map(bits).fold(32.0, f64::max);
    let product = 1.0 + (widest / 64.0).powi(2);
    match operation {
        Operation::Power => product * bits(1),
        Operation::Gcd | Operation::Inverse => 20.0 * product,
        _ => product,
    }
}

/// Numbers at a time: some are read, some wait, some are computed, some are written. On the CPU no more
/// than it computes in about a second.
pub(crate) fn chunk(
    operation: Operation,
    on_cpu: bool,
    operands: &[Source],
    forms: &[Form],
    count: u64,
    wanted: Option<u64>,
) -> Result<u64, BadRequest> {
    const STAGES: u64 = 4;
    let read = operands.iter().map(Source::bytes_each).sum::<u64>();
    let written = forms.iter().map(|form| bytes_each(form.format, form.width)).sum::<u64>();
    let each = STAGES * (read + written);
    let timely = PIECE_NS * rayon::current_num_threads() as f64 / cost(operation, operands);
    let most = if on_cpu { MOST.min(timely as u64) } else { MOST };
    let chunk = wanted.unwrap_or((MEMORY / each).clamp(1, most.max(1))).min(count);
    let bytes = chunk.checked_mul(each).and_then(|bytes| usize::try_from(bytes).ok());
    // What there cannot be is told of now, not in the middle of the work.
    let there = bytes.is_some_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok());
    if there {
        return Ok(chunk);
    }
    let numbers = units::count(chunk, "number");
    Err(BadRequest(format!("no memory for {numbers} at a time: give a smaller --chunk")))
}
