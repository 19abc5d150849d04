//! The widths and counts of a job's numbers, the form of its results, and the size of its pieces.

use warpint_integer::{Operation, Width};

use crate::{BatchError, Bits, Form, Format, Item, Request, Source, words};

/// Returns the requested width of each of the `files` operands. If no width is requested, all
/// elements are `None`.
///
/// # Errors
/// Returns an error if `bits` contains different widths and does not contain exactly `files`
/// widths.
pub(crate) fn widths(
    operation: Operation,
    files: usize,
    bits: Option<&Bits>,
) -> Result<Vec<Option<Width>>, BatchError> {
    let Some(Bits(given)) = bits else { return Ok(vec![None; files]) };
    match &given[..] {
        [first, others @ ..] if others.iter().all(|width| width == first) => {
            Ok(vec![Some(*first); files])
        }
        given if given.len() == files => Ok(given.iter().copied().map(Some).collect()),
        _ => {
            let name = operation.name();
            Err(BatchError::Request(match files {
                1 => format!("{name} reads one file: give --bits its width alone"),
                2 => format!("{name} reads two files: give --bits one width, or that of each"),
                _ => format!("{name} reads three files: give --bits one width, or that of each"),
            }))
        }
    }
}

/// Returns the count of results. If every operand has one number, the count is 1. Otherwise it is
/// the common count of all operands that do not have exactly one number.
///
/// # Errors
/// Returns an error if two of these operands have different counts.
pub(crate) fn count(operands: &[Source]) -> Result<u64, BatchError> {
    let mut many = operands.iter().filter(|source| source.count != 1);
    let Some(first) = many.next() else { return Ok(1) };
    match many.find(|source| source.count != first.count) {
        None => Ok(first.count),
        Some(other) => Err(BatchError::Request(format!(
            "{} and {}: {} and {}: the counts must be equal, or one of them 1",
            first.operand.name,
            other.operand.name,
            words::count(first.count, "number"),
            words::count(other.count, "number"),
        ))),
    }
}

/// Returns the form of the results and, if remainders are requested, the form of the remainders.
pub(crate) fn forms(request: &Request, operands: &[Source]) -> Result<Vec<Form>, BatchError> {
    let of = |i: usize| operands.get(i).or(operands.first());
    let width = |i| of(i).map_or(Width::new(32), |source| Ok(source.width));
    let (of_results, second) = request.operation.widths([width(0)?, width(1)?, width(2)?])?;
    let given = operands.iter().any(|source| source.item == Some(Item::U64));
    let format = request.out_format.or_else(|| Format::of_name(&request.out));
    // A number of the command line has no format.
    let first = operands.iter().find(|source| !source.operand.is_number());
    let format = format.or(first.map(|source| source.format)).unwrap_or(Format::Decimal);
    let form = |width: Width, format| {
        let item = if given && width.limbs().is_multiple_of(2) { Item::U64 } else { Item::U32 };
        Form { format, width, item }
    };
    let rem = request.rem.as_deref().zip(second).map(|(rem, width)| {
        form(width, request.out_format.or_else(|| Format::of_name(rem)).unwrap_or(format))
    });
    Ok([Some(form(of_results, format)), rem].into_iter().flatten().collect())
}

/// The largest memory, in bytes, for the numbers in all stages of a job.
const MEMORY: u64 = 256 << 20;
/// The largest count of numbers per piece. Larger pieces are no faster.
const MOST: u64 = 1 << 16;

/// The approximate largest time of a piece on the CPU, in nanoseconds. Stop requests are noticed,
/// and progress is saved, only between two pieces.
const PIECE_NS: f64 = 1e9;

/// Returns the count of numbers per piece, which is at most `count`. If `wanted` is given, it is
/// the smaller of `wanted` and `count`.
///
/// Otherwise the count is at most [`MOST`], and small enough that a piece takes at most about a
/// second on the CPU, and that four pieces together fit in [`MEMORY`]. One piece is being read, one
/// waits, one is being computed, and one is being written.
///
/// # Errors
/// Returns an error if the memory for the pieces cannot be allocated.
pub(crate) fn chunk(
    operation: Operation,
    on_cpu: bool,
    operands: &[Source],
    forms: &[Form],
    count: u64,
    wanted: Option<u64>,
) -> Result<u64, BatchError> {
    const STAGES: u64 = 4;
    let read = operands.iter().map(Source::bytes_each).sum::<u64>();
    let written = forms.iter().map(|form| form.format.bytes_each(form.width)).sum::<u64>();
    let each = STAGES * (read + written);
    let widths: Vec<_> = operands.iter().map(Source::width).collect();
    let timely = PIECE_NS * rayon::current_num_threads() as f64 / operation.nanoseconds(&widths);
    let most = if on_cpu { MOST.min(timely as u64) } else { MOST };
    let chunk = wanted.unwrap_or((MEMORY / each).clamp(1, most.max(1))).min(count);
    let bytes = chunk.checked_mul(each).and_then(|bytes| usize::try_from(bytes).ok());
    // Too little memory is reported now, not in the middle of the work.
    let there = bytes.is_some_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok());
    if there {
        return Ok(chunk);
    }
    let numbers = words::count(chunk, "number");
    Err(BatchError::Request(format!("no memory for {numbers} at a time: give a smaller --chunk")))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Returns one operand for each width in `bits`. Each operand has a single number.
    fn operands(bits: &[u32]) -> Vec<Source> {
        let one = |&bits| Source::new(Path::new("0x7"), None, Some(Width::new(bits).unwrap()));
        bits.iter().map(|bits| one(bits).unwrap()).collect()
    }

    /// Returns the count of numbers per piece for a job of `count` numbers on a pool of `threads`
    /// CPU threads.
    fn piece(
        (operation, bits): (Operation, &[u32]),
        threads: usize,
        on_cpu: bool,
        (count, wanted): (u64, Option<u64>),
    ) -> Result<u64, BatchError> {
        let operands = operands(bits);
        let width = |i: usize| operands[i.min(operands.len() - 1)].width();
        let (width, _) = operation.widths([width(0), width(1), width(2)]).unwrap();
        let forms = [Form { format: Format::Raw, width, item: Item::U32 }];
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| chunk(operation, on_cpu, &operands, &forms, count, wanted))
    }

    #[test]
    fn a_piece_takes_about_a_second_on_the_cpu() {
        const ALL: (u64, Option<u64>) = (u64::MAX, None);
        let power = (Operation::Power, &[2048, 2048, 2048][..]);
        let second = 1e9 / Operation::Power.nanoseconds(&[Width::new(2048).unwrap()]);
        assert_eq!(second as u64, 476);
        for threads in [1, 3] {
            assert_eq!(piece(power, threads, true, ALL).unwrap(), (threads as f64 * second) as u64);
        }
        // One number, if it alone takes longer.
        let wide = (Operation::Power, &[1 << 20; 3][..]);
        assert_eq!(piece(wide, 1, true, ALL).unwrap(), 1);
        // A device gets what the memory holds: 4 stages of 3 operands and a result, each as
        // hexadecimal digits (operands) or raw (result), and as limbs.
        let each = 4 * (3 * (256 + 512 + 64) + 512);
        assert_eq!(piece(power, 1, false, ALL).unwrap(), (256 << 20) / each);
        // Small numbers: at most 65,536, and never more than the job has.
        let sum = (Operation::Add, &[32, 32][..]);
        for on_cpu in [false, true] {
            assert_eq!(piece(sum, 2, on_cpu, ALL).unwrap(), 1 << 16);
            assert_eq!(piece(sum, 2, on_cpu, (1000, None)).unwrap(), 1000);
        }
    }

    #[test]
    fn a_piece_that_was_asked_for_is_taken_if_there_is_memory() {
        let power = (Operation::Power, &[2048, 2048, 2048][..]);
        assert_eq!(piece(power, 1, true, (1_000_000, Some(5000))).unwrap(), 5000);
        assert_eq!(piece(power, 1, true, (300, Some(5000))).unwrap(), 300);
        let says = piece(power, 1, true, (u64::MAX, Some(u64::MAX))).unwrap_err().to_string();
        assert_eq!(
            says,
            "no memory for 18446744073709551615 numbers at a time: give a smaller --chunk"
        );
    }
}
