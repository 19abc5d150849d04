//! Files of numbers: how many there are and how wide, and then the numbers themselves.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use anyhow::Context;
use rayon::prelude::*;
use warpint::integer::{Executor, UintBatch, Width};

use super::encoding::text_begins;
use super::lines::{Digits, LineProblem, LineReader, Lines, significant};
use super::npy::{Header, Item};
use super::standard::{input, is_standard};
use crate::args::Format;
use crate::exit::BadRequest;
use crate::units;

/// A file of `count` numbers of one width.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    /// All of standard input.
    kept: Option<File>,
    pub(crate) format: Format,
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

/// A file to be read from its beginning on, unless standard input was kept in another one.
fn opened(path: &Path, kept: Option<&File>) -> io::Result<File> {
    let Some(kept) = kept else { return File::open(path) };
    let mut file = kept.try_clone()?;
    file.rewind()?;
    Ok(file)
}

impl Source {
    /// Looks at a file: text is read once, to count its lines, and to find the widest of its
    /// numbers unless a width is given.
    pub(crate) fn look(
        path: &Path,
        format: Option<Format>,
        width: Option<Width>,
    ) -> anyhow::Result<Self> {
        let standard = is_standard(path);
        let of_name = if standard { Some(Format::Decimal) } else { format_of(path) };
        let path = if standard { Path::new("standard input") } else { path };
        let refused = |reason: &str| BadRequest(format!("{}: {reason}", path.display()));
        let unread = |e: io::Error| BadRequest(format!("cannot read {}: {e}", path.display()));
        if !standard && !fs::metadata(path).map_err(unread)?.is_file() {
            return Err(refused("is not a file; a pipe can be standard input, by -").into());
        }
        let format = format.or(of_name).ok_or_else(|| {
            refused("its name does not tell its format: give --format dec, hex, npy or raw")
        })?;
        let kept = standard.then(input).transpose()?;
        let mut file = opened(path, kept.as_ref()).map_err(unread)?;
        let length = file.metadata().map_err(unread)?.len();
        let (item, offset, count, width) = match format {
            Format::Raw => {
                let width = width.ok_or_else(|| {
                    refused("raw files do not tell how wide numbers are: give --bits")
                })?;
                let each = u64::from(width.bits() / 8);
                if !length.is_multiple_of(each) {
                    let found = units::count(length, "byte");
                    let reason = format!("has {found}, which is not whole numbers of {width}");
                    return Err(refused(&reason).into());
                }
                (None, 0, length / each, width)
            }
            Format::Npy => {
                let header = Header::read(&mut file).map_err(unread)?.map_err(|e| refused(&e))?;
                let bits = header.limbs.checked_mul(u64::from(header.item.bits()));
                let found = bits.and_then(|bits| Width::new(u32::try_from(bits).ok()?).ok());
                let found = found.ok_or_else(|| {
                    let (limbs, bits) = (header.limbs, header.item.bits());
                    refused(&format!(
                        "numbers of {limbs} limbs of {bits} bits: there may be 32 to 1048576 bits"
                    ))
                })?;
                if let Some(width) = width.filter(|&width| width != found) {
                    return Err(refused(&format!("has numbers of {found}, not {width}")).into());
                }
                let offset = file.stream_position().map_err(unread)?;
                let bytes = length.saturating_sub(offset);
                if u64::from(found.bits() / 8).checked_mul(header.count) != Some(bytes) {
                    let (bytes, count) =
                        (units::count(bytes, "byte"), units::count(header.count, "number"));
                    return Err(refused(&format!("has {bytes} for {count} of {found}")).into());
                }
                (Some(header.item), offset, header.count, found)
            }
            Format::Decimal | Format::Hex => {
                let failed = || format!("cannot read {}", path.display());
                let offset = text_begins(&mut file).map_err(unread)?.map_err(refused)?;
                file.seek(SeekFrom::Start(offset)).map_err(unread)?;
                let (count, widest) = survey(file, format, width.is_none()).with_context(failed)?;
                (None, offset, count, width.unwrap_or(widest))
            }
        };
        let is_text = matches!(format, Format::Decimal | Format::Hex);
        let digits = is_text.then(|| Digits::new(format, width)).transpose()?;
        let path = path.to_owned();
        Ok(Self { path, kept, format, count, width, item, offset, digits })
    }

    /// Begins to read.
    pub(crate) fn open(&self) -> anyhow::Result<SourceReader<'_>> {
        let failed = || format!("cannot read {}", self.path.display());
        let mut file = opened(&self.path, self.kept.as_ref()).with_context(failed)?;
        file.seek(SeekFrom::Start(self.offset)).with_context(failed)?;
        let numbers = match &self.digits {
            Some(digits) => Numbers::Lines(LineReader::new(file, digits.longest_line())),
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
                let bad = texts.iter().enumerate().filter_map(|(i, text)| Some((i, text.err()?)));
                let bad = bad.collect();
                let texts: Vec<&str> = texts.iter().map(|text| text.unwrap_or("0")).collect();
                Ok((digits.numbers(executor, &texts)?, bad))
            }
            (Piece::Bytes(bytes), None) => {
                Ok((UintBatch::from_bytes_le(executor, self.width, bytes)?, vec![]))
            }
            // A file is read as what it is.
            _ => Err(anyhow::anyhow!("{}: its format has changed", self.path.display())),
        }
    }

    /// Where number i stands, from 0: `FILE: line 1` of text, else `FILE: number 1`.
    pub(crate) fn name_of(&self, i: u64) -> String {
        let unit = if self.digits.is_some() { "line" } else { "number" };
        format!("{}: {unit} {}", self.path.display(), i + 1)
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
fn survey(file: File, format: Format, wanted: bool) -> anyhow::Result<(u64, Width)> {
    let any = Width::new(Width::MAX_BITS)?;
    let mut digits = Digits::rough(format, any);
    let mut reader = LineReader::new(file, digits.longest_line());
    let (mut count, mut blank) = (0, false);
    let mut widest = vec![];
    loop {
        let lines = reader.next(LINES, BYTES)?;
        let Some(last) = lines.len().checked_sub(1) else { break };
        count += lines.len() as u64;
        blank = lines.get(last).is_ok_and(<[u8]>::is_empty);
        if !wanted {
            continue;
        }
        if (0..=last).any(|i| lines.get(i).is_ok_and(|line| digits.may_mistake(line))) {
            digits = Digits::new(format, any)?;
        }
        // Of as many digits, the larger number is the larger text; capitals are below small letters.
        let number = |i| Some(significant(digits.of(lines.get(i).ok()?).ok()?.as_bytes()));
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
    let number = Digits::new(format, Width::new(room as u32)?)?;
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
    Lines(LineReader<File>),
    Bytes(File),
}

impl SourceReader<'_> {
    /// The next numbers, exactly so many.
    pub(crate) fn next(&mut self, count: usize) -> anyhow::Result<Piece> {
        let path = self.source.path.display();
        let failed = || format!("cannot read {path}");
        let changed = || anyhow::anyhow!("{path} became shorter while it was read");
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
