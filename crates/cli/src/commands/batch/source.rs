//! Files of numbers: how many there are and how wide, and then the numbers themselves.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use anyhow::Context;
use rayon::prelude::*;
use warpint::integer::{Executor, UintBatch, Width};

use super::detect::{LOOKED_AT, detect};
use super::digits::{Digits, Limit, LineProblem, significant};
use super::encoding::text_begins;
use super::lines::{LineReader, Lines};
use super::npy::{Header, Item};
use super::operand::{Bytes, Operand};
use crate::args::Format;
use crate::exit::BadRequest;
use crate::units;

/// An operand of `count` numbers of one width.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) operand: Operand,
    pub(crate) format: Format,
    /// Whether the content told the format.
    pub(crate) detected: bool,
    pub(crate) count: u64,
    pub(crate) width: Width,
    /// Of an npy file.
    pub(crate) item: Option<Item>,
    /// Where the numbers begin.
    offset: u64,
    /// Of text.
    digits: Option<Digits>,
}

/// Some numbers as they stand in a file.
#[derive(Debug)]
pub(crate) enum Piece {
    Lines(Lines),
    /// width/8 bytes each, the lowest first.
    Bytes(Vec<u8>),
}

/// The format that the end of a name tells.
pub(crate) fn format_of(path: &Path) -> Option<Format> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    match extension.as_str() {
        "txt" | "dec" => Some(Format::Decimal),
        "hex" => Some(Format::Hex),
        "npy" => Some(Format::Npy),
        "bin" | "raw" => Some(Format::Raw),
        _ => None,
    }
}

impl Source {
    /// Looks at an operand: text is read once, to count its lines, and to find the widest of its
    /// numbers unless a width is given.
    pub(crate) fn look(
        operand: Operand,
        format: Option<Format>,
        width: Option<Width>,
    ) -> anyhow::Result<Self> {
        let name = &operand.name;
        let refused = |reason: &str| BadRequest(format!("{name}: {reason}"));
        let unread = |e: io::Error| BadRequest(format!("cannot read {name}: {e}"));
        let mut file = operand.open().map_err(unread)?;
        // Numbers of the command line are kept so.
        let format = if operand.is_number() { Some(Format::Hex) } else { format };
        let known = format.or_else(|| format_of(operand.path()?));
        let format = match known {
            Some(format) => format,
            None => {
                let mut begin = vec![];
                (&mut file).take(LOOKED_AT).read_to_end(&mut begin).map_err(unread)?;
                file.rewind().map_err(unread)?;
                detect(&begin).map_err(|e| refused(&e))?
            }
        };
        let given = width.is_some();
        let (item, offset, count, width) = match format {
            Format::Raw => {
                let width = width.ok_or_else(|| {
                    refused("raw bytes do not tell how wide numbers are: give --bits")
                })?;
                let each = u64::from(width.bits() / 8);
                if !operand.bytes.is_multiple_of(each) {
                    let found = units::count(operand.bytes, "byte");
                    let reason = format!("has {found}, which is not whole numbers of {width}");
                    return Err(refused(&reason).into());
                }
                (None, 0, operand.bytes / each, width)
            }
            Format::Npy => {
                let header = Header::read(&mut file).map_err(unread)?.map_err(|e| refused(&e))?;
                let found = header.width().map_err(|e| refused(&e))?;
                if let Some(width) = width.filter(|&width| width != found) {
                    return Err(refused(&format!("has numbers of {found}, not {width}")).into());
                }
                let offset = file.stream_position().map_err(unread)?;
                let bytes = operand.bytes.saturating_sub(offset);
                if u64::from(found.bits() / 8).checked_mul(header.count) != Some(bytes) {
                    let (bytes, count) =
                        (units::count(bytes, "byte"), units::count(header.count, "number"));
                    return Err(refused(&format!("has {bytes} for {count} of {found}")).into());
                }
                (Some(header.item), offset, header.count, found)
            }
            Format::Decimal | Format::Hex => {
                let failed = || format!("cannot read {name}");
                let offset = text_begins(&mut file).map_err(unread)?.map_err(refused)?;
                file.seek(SeekFrom::Start(offset)).map_err(unread)?;
                // A number of the command line must fit.
                let wanted = width.is_none() || operand.is_number();
                let (count, widest) = survey(file, format, wanted).with_context(failed)?;
                if let Some(width) = width.filter(|&width| width < widest && wanted) {
                    let reason = format!("has more bits than the {} of --bits", width.bits());
                    return Err(refused(&reason).into());
                }
                (None, offset, count, width.unwrap_or(widest))
            }
        };
        let is_text = matches!(format, Format::Decimal | Format::Hex);
        let digits = is_text.then(|| Digits::new(format, Limit { width, given })).transpose()?;
        Ok(Self { operand, format, detected: known.is_none(), count, width, item, offset, digits })
    }

    /// Begins to read at this number, from 0.
    pub(crate) fn open(&self, from: u64) -> anyhow::Result<SourceReader<'_>> {
        let failed = || format!("cannot read {}", self.operand.name);
        let mut file = self.operand.open().with_context(failed)?;
        let row = if self.digits.is_some() { 0 } else { u64::from(self.width.bits() / 8) };
        file.seek(SeekFrom::Start(self.offset + from * row)).with_context(failed)?;
        let numbers = match &self.digits {
            Some(digits) => {
                let mut reader = LineReader::new(file, digits.longest_line());
                reader.skip(from).with_context(failed)?;
                Numbers::Lines(reader)
            }
            None => Numbers::Bytes(file),
        };
        Ok(SourceReader { source: self, numbers })
    }

    /// The numbers of a piece, with zeros for lines that are none, and those lines.
    pub(crate) fn numbers(
        &self,
        executor: &Executor,
        piece: &Piece,
    ) -> anyhow::Result<(UintBatch, Vec<(usize, LineProblem)>)> {
        match (piece, &self.digits) {
            (Piece::Lines(lines), Some(digits)) => {
                let all = (0..lines.len()).into_par_iter();
                let texts: Vec<_> = all.map(|i| lines.digits(i, digits)).collect();
                let bad = texts.iter().enumerate();
                let bad = bad.filter_map(|(i, text)| Some((i, text.as_ref().err()?.clone())));
                let bad = bad.collect();
                let texts: Vec<&str> =
                    texts.iter().map(|text| text.as_ref().map_or("0", |text| text)).collect();
                Ok((digits.numbers(executor, &texts)?, bad))
            }
            (Piece::Bytes(bytes), None) => {
                Ok((UintBatch::from_bytes_le(executor, self.width, bytes)?, vec![]))
            }
            // A file is read as what it is.
            _ => Err(anyhow::anyhow!("{}: its format has changed", self.operand.name)),
        }
    }

    /// Where number i stands, from 0: `FILE: line 1` of text, else `FILE: number 1`, or the number
    /// of the command line.
    pub(crate) fn name_of(&self, i: u64) -> String {
        let name = &self.operand.name;
        match &self.digits {
            _ if self.operand.is_number() => name.clone(),
            Some(_) => format!("{name}: line {}", i + 1),
            None => format!("{name}: number {}", i + 1),
        }
    }

    /// About how many bytes of memory a number takes, as limbs and as it stands in the file.
    pub(crate) fn bytes_each(&self) -> u64 {
        bytes_each(self.format, self.width)
    }
}

/// About how many bytes of memory a number takes, as limbs and in a format.
pub(crate) fn bytes_each(format: Format, width: Width) -> u64 {
    let limbs = u64::from(width.bits() / 8);
    // A text, where it begins and ends, and what an allocation costs.
    let text = |digits| digits + 64;
    limbs
        + match format {
            Format::Decimal => text(limbs * 5 / 2),
            Format::Hex => text(limbs * 2),
            Format::Npy | Format::Raw => limbs,
        }
}

/// Lines that are looked at together.
const LINES: usize = 1 << 14;
const BYTES: usize = 1 << 24;

/// How many numbers there are, a line each, and if it is wanted the width of the widest one that
/// any width can hold.
fn survey(file: Box<dyn Bytes>, format: Format, wanted: bool) -> anyhow::Result<(u64, Width)> {
    let any = Limit { width: Width::new(Width::MAX_BITS)?, given: false };
    let mut digits = Digits::rough(format, any);
    let mut reader = LineReader::new(file, digits.longest_line());
    let (mut count, mut blank) = (0, false);
    let mut widest = vec![];
    loop {
        let lines = reader.next(LINES, BYTES)?;
        let Some(last) = lines.len().checked_sub(1) else { break };
        count += lines.len() as u64;
        blank = lines.get(last).is_some_and(<[u8]>::is_empty);
        if !wanted {
            continue;
        }
        if (0..=last).any(|i| lines.get(i).is_some_and(|line| digits.may_mistake(line))) {
            digits = Digits::new(format, any)?;
        }
        // Of as many digits, the larger number is the larger text; capitals are below small letters.
        let number = |i| Some(significant(digits.of(lines.get(i)?).ok()?.as_bytes()));
        let rank = |digits: &&[u8]| (digits.len(), digits.first().map(u8::to_ascii_lowercase));
        let larger = |a: &[u8], b: &[u8]| {
            if format == Format::Hex { rank(&a) > rank(&b) } else { (a.len(), a) > (b.len(), b) }
        };
        let largest = (0..lines.len())
            .into_par_iter()
            .filter_map(number)
            .reduce(|| &[][..], |a, b| if larger(a, b) { a } else { b });
        if larger(largest, &widest) {
            widest = largest.to_vec();
        }
    }
    // A blank line at the end is no number.
    let count = count - u64::from(blank);
    let text = if widest.is_empty() { "0" } else { str::from_utf8(&widest)? };
    // 4 bits a digit are enough.
    let room = 4 * text.len().next_multiple_of(8).min((Width::MAX_BITS / 4) as usize);
    let number = Digits::new(format, Limit { width: Width::new(room as u32)?, given: false })?;
    let number = number.numbers(&Executor::cpu(), &[text])?;
    let bits = number.bit_lengths()?.into_iter().max().unwrap_or(0);
    Ok((count, Width::new(bits.next_multiple_of(32).max(32))?))
}

/// A file that is being read.
pub(crate) struct SourceReader<'a> {
    pub(crate) source: &'a Source,
    numbers: Numbers,
}

enum Numbers {
    Lines(LineReader<Box<dyn Bytes>>),
    Bytes(Box<dyn Bytes>),
}

impl SourceReader<'_> {
    /// The next numbers, exactly so many.
    pub(crate) fn next(&mut self, count: usize) -> anyhow::Result<Piece> {
        let name = &self.source.operand.name;
        let failed = || format!("cannot read {name}");
        let changed = || anyhow::anyhow!("{name} became shorter while it was read");
        match &mut self.numbers {
            Numbers::Lines(reader) => {
                let lines = reader.next(count, usize::MAX).with_context(failed)?;
                if lines.len() == count { Ok(Piece::Lines(lines)) } else { Err(changed()) }
            }
            Numbers::Bytes(file) => {
                let size = count * self.source.width.limbs() * 4;
                let mut bytes = vec![];
                bytes.try_reserve_exact(size).with_context(failed)?;
                file.take(size as u64).read_to_end(&mut bytes).with_context(failed)?;
                if bytes.len() == size { Ok(Piece::Bytes(bytes)) } else { Err(changed()) }
            }
        }
    }
}
