//! Files of numbers: inspection of the count and width of their numbers, and reading of the
//! numbers.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use rayon::prelude::*;
use warpint_integer::{Executor, IntegerError, UintBatch, Width};

use crate::check::Written;
use crate::format::{Digits, LOOKED_AT, LineReader, Lines, detect, significant, text_begins};
use crate::operand::{Bytes, Operand, operands};
use crate::{BatchError, Format, Item, Limit, LineProblem, NpyHeader, OperandKind, words};

/// An operand that has been inspected. It consists of `count` numbers of one width.
#[derive(Debug)]
pub struct Source {
    pub(crate) operand: Operand,
    pub(crate) format: Format,
    detected: bool,
    pub(crate) count: u64,
    pub(crate) width: Width,
    /// The element type of an npy file. `None` for other formats.
    pub(crate) item: Option<Item>,
    /// The offset of the first number in the file, in bytes.
    offset: u64,
    /// The converter of lines to numbers. `None` if the format is not text.
    digits: Option<Digits>,
}

/// Consecutive numbers of an operand, as they appear in its file.
#[derive(Debug)]
pub struct Piece<'a> {
    source: &'a Source,
    content: Content<'a>,
}

#[derive(Debug)]
enum Content<'a> {
    Lines(Lines, &'a Digits),
    /// The bytes of the numbers, one number after the other. The lowest byte of each number comes
    /// first. A number of `width` bits has `width`/8 bytes.
    Bytes(Vec<u8>),
}

impl Source {
    /// Inspects an operand: a file, a pipe, standard input (`-`), or a single number (see
    /// [`crate::expression`]). A pipe is read to its end.
    ///
    /// Text is read once, to count its lines. If no width is given, the widest number of the text
    /// determines the width. Raw files need a width. If no format is given, the format is
    /// determined by the extension of the name, or else by the content.
    ///
    /// # Errors
    /// Returns an error if the operand cannot be read, or copied to a temporary file. Also returns
    /// an error if the format cannot be determined, if the width of a raw file is not given, if the
    /// content does not agree with the format or the width, or if memory is insufficient. An
    /// invalid line of a text is no error here: see [`Piece::numbers`].
    pub fn new(
        path: &Path,
        format: Option<Format>,
        width: Option<Width>,
    ) -> Result<Self, BatchError> {
        let operand = operands(&[path], &[])?.pop();
        let operand = operand.ok_or_else(|| BatchError::request("there is no operand"))?;
        Self::look(operand, format, width)
    }

    /// Inspects an operand. Text is read once, to count its lines. If no width is given, the widest
    /// number of the text determines the width.
    pub(crate) fn look(
        operand: Operand,
        format: Option<Format>,
        width: Option<Width>,
    ) -> Result<Self, BatchError> {
        let name = &operand.name;
        let refused = |reason: &str| {
            let reason = reason.to_owned();
            BatchError::Operand { name: name.clone(), reason }
        };
        let unread = |source| BatchError::Unreadable { name: name.clone(), source };
        let mut file = operand.open().map_err(unread)?;
        // Numbers of the command line are stored as hexadecimal digits.
        let format = if operand.is_number() { Some(Format::Hex) } else { format };
        let known = format.or_else(|| Format::of_name(operand.path()?));
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
                    refused("raw files do not state the width of their numbers: give --bits")
                })?;
                let each = u64::from(width.bits() / 8);
                if !operand.bytes.is_multiple_of(each) {
                    let found = words::count(operand.bytes, "byte");
                    let reason = format!("has {found}, which is not whole numbers of {width}");
                    return Err(refused(&reason));
                }
                (None, 0, operand.bytes / each, width)
            }
            Format::Npy => {
                let header =
                    NpyHeader::read(&mut file).map_err(unread)?.map_err(|e| refused(&e))?;
                let found = header.width().map_err(|e| refused(&e))?;
                if let Some(width) = width.filter(|&width| width != found) {
                    return Err(refused(&format!("has numbers of {found}, not {width}")));
                }
                let offset = file.stream_position().map_err(unread)?;
                let bytes = operand.bytes.saturating_sub(offset);
                if u64::from(found.bits() / 8).checked_mul(header.count) != Some(bytes) {
                    let (bytes, count) =
                        (words::count(bytes, "byte"), words::count(header.count, "number"));
                    return Err(refused(&format!("has {bytes} for {count} of {found}")));
                }
                (Some(header.item), offset, header.count, found)
            }
            Format::Decimal | Format::Hex => {
                let offset = text_begins(&mut file).map_err(unread)?.map_err(refused)?;
                file.seek(SeekFrom::Start(offset)).map_err(unread)?;
                // A number of the command line must fit.
                let wanted = width.is_none() || operand.is_number();
                let (count, widest) = survey(file, format, wanted, name)?;
                if let Some(width) = width.filter(|&width| width < widest && wanted) {
                    let reason = format!("has more bits than the {} of --bits", width.bits());
                    return Err(refused(&reason));
                }
                (None, offset, count, width.unwrap_or(widest))
            }
        };
        let digits =
            format.is_text().then(|| Digits::new(format, Limit { width, given })).transpose()?;
        Ok(Self { operand, format, detected: known.is_none(), count, width, item, offset, digits })
    }

    /// Returns a reader that starts at number `from`. The first number has index 0. In text, the
    /// preceding lines are read and skipped.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn open(&self, from: u64) -> Result<SourceReader<'_>, BatchError> {
        let failed = |source| self.failed(source);
        let mut file = self.operand.open().map_err(failed)?;
        let row = if self.digits.is_some() { 0 } else { u64::from(self.width.bits() / 8) };
        file.seek(SeekFrom::Start(self.offset + from * row)).map_err(failed)?;
        let numbers = match &self.digits {
            Some(digits) => {
                let mut reader = LineReader::new(file, digits.longest_line());
                reader.skip(from).map_err(failed)?;
                Numbers::Lines(reader, digits)
            }
            None => Numbers::Bytes(file),
        };
        Ok(SourceReader { source: self, numbers })
    }

    fn failed(&self, source: io::Error) -> BatchError {
        BatchError::Read { name: self.operand.name.clone(), source }
    }

    /// Returns the name of the operand in messages: the path as given, `standard input`, or the
    /// number.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.operand.name
    }

    /// Returns the kind of source from which the operand is read.
    #[must_use]
    pub fn kind(&self) -> OperandKind {
        self.operand.kind()
    }

    /// Returns the size of the operand in bytes. For a single number, returns the count of its
    /// hexadecimal digits.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.operand.bytes
    }

    /// Returns the format of the operand. For a single number, it is hexadecimal.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// Returns whether the format was determined by the content of the operand.
    #[must_use]
    pub fn is_detected(&self) -> bool {
        self.detected
    }

    /// Returns the count of the operand's numbers.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the width of all numbers of the operand.
    #[must_use]
    pub fn width(&self) -> Width {
        self.width
    }

    /// Returns the position of number i, where the first number has index 0. For i = 0, the result
    /// is `FILE: line 1` for text, and `FILE: number 1` for other formats. For an operand that is
    /// itself a number, returns the number as given.
    #[must_use]
    pub fn name_of(&self, i: u64) -> String {
        let name = &self.operand.name;
        match &self.digits {
            _ if self.operand.is_number() => name.clone(),
            Some(_) => format!("{name}: line {}", i + 1),
            None => format!("{name}: number {}", i + 1),
        }
    }

    /// Returns the approximate memory of one number in bytes. It includes the limbs of the number,
    /// and its text or bytes in the format of the file.
    pub(crate) fn bytes_each(&self) -> u64 {
        self.format.bytes_each(self.width)
    }
}

/// The largest number of lines that are inspected together.
const LINES: usize = 1 << 14;
/// The largest size in bytes of the lines that are inspected together. The last of these lines may
/// exceed it.
const BYTES: usize = 1 << 24;

/// Returns the count of numbers in a text file, and a width. Invalid lines are counted. A blank
/// line at the end is not counted.
///
/// If `wanted` is true, the width is the smallest width that holds all valid numbers. Numbers that
/// are too wide for any width are ignored. If `wanted` is false, the width has no meaning.
fn survey(
    file: Box<dyn Bytes>,
    format: Format,
    wanted: bool,
    name: &str,
) -> Result<(u64, Width), BatchError> {
    let unsized_by = |source| BatchError::Survey { name: name.to_owned(), source };
    let widest = Width::new(Width::MAX_BITS).map_err(unsized_by)?;
    let any = Limit { width: widest, given: false };
    let mut digits = Digits::rough(format, any);
    let mut reader = LineReader::new(file, digits.longest_line());
    let (mut count, mut blank) = (0, false);
    let mut widest = vec![];
    loop {
        let lines = reader
            .next(LINES, BYTES)
            .map_err(|source| BatchError::Read { name: name.to_owned(), source })?;
        let Some(last) = lines.len().checked_sub(1) else { break };
        count += lines.len() as u64;
        blank = lines.get(last).is_some_and(<[u8]>::is_empty);
        if !wanted {
            continue;
        }
        if (0..=last).any(|i| lines.get(i).is_some_and(|line| digits.may_mistake(line))) {
            digits = Digits::new(format, any).map_err(unsized_by)?;
        }
        // Among texts of equal length the larger number is the larger text; upper case sorts below
        // lower case.
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
    // A blank line at the end does not count.
    let count = count - u64::from(blank);
    let text = str::from_utf8(&widest).ok().filter(|text| !text.is_empty()).unwrap_or("0");
    Ok((count, width_of(format, text).map_err(unsized_by)?))
}

/// Returns the smallest width that holds the number with the digits `text`.
fn width_of(format: Format, text: &str) -> Result<Width, IntegerError> {
    // 4 bits per digit suffice.
    let room = 4 * text.len().next_multiple_of(8).min((Width::MAX_BITS / 4) as usize);
    let number = Digits::new(format, Limit { width: Width::new(room as u32)?, given: false })?;
    let number = number.numbers(&Executor::cpu(), &[text])?;
    let bits = number.bit_lengths()?.into_iter().max().unwrap_or(0);
    Width::new(bits.next_multiple_of(32).max(32))
}

/// A reader of an operand's numbers.
pub struct SourceReader<'a> {
    pub(crate) source: &'a Source,
    numbers: Numbers<'a>,
}

enum Numbers<'a> {
    Lines(LineReader<Box<dyn Bytes>>, &'a Digits),
    Bytes(Box<dyn Bytes>),
}

impl<'a> SourceReader<'a> {
    /// Reads and returns the next `count` numbers.
    ///
    /// # Errors
    /// Errors of the operating system; [`BatchError::Shortened`] if fewer than `count` numbers are
    /// left.
    pub fn next(&mut self, count: usize) -> Result<Piece<'a>, BatchError> {
        let source = self.source;
        let failed = |e| source.failed(e);
        let (content, whole) = match &mut self.numbers {
            Numbers::Lines(reader, digits) => {
                let lines = reader.next(count, usize::MAX).map_err(failed)?;
                let whole = lines.len() == count;
                (Content::Lines(lines, digits), whole)
            }
            Numbers::Bytes(file) => {
                let size = count * source.width.limbs() * 4;
                let mut bytes = vec![];
                bytes
                    .try_reserve_exact(size)
                    .map_err(|e| failed(io::Error::new(io::ErrorKind::OutOfMemory, e)))?;
                file.take(size as u64).read_to_end(&mut bytes).map_err(failed)?;
                let whole = bytes.len() == size;
                (Content::Bytes(bytes), whole)
            }
        };
        if whole {
            Ok(Piece { source, content })
        } else {
            Err(BatchError::Shortened { name: source.operand.name.clone() })
        }
    }
}

impl Piece<'_> {
    /// Converts the numbers to a batch. Also returns the index and the problem of each invalid
    /// line, in ascending order of the indices. The batch contains 0 for an invalid line.
    ///
    /// # Errors
    /// The errors of [`UintBatch::from_decimal`], except errors in the text.
    pub fn numbers(
        &self,
        executor: &Executor,
    ) -> Result<(UintBatch, Vec<(usize, LineProblem)>), BatchError> {
        match &self.content {
            Content::Lines(lines, digits) => {
                let all = (0..lines.len()).into_par_iter();
                let texts: Vec<_> = all.map(|i| lines.digits(i, digits)).collect();
                let bad = texts.iter().enumerate();
                let bad = bad.filter_map(|(i, text)| Some((i, text.as_ref().err()?.clone())));
                let bad = bad.collect();
                let texts: Vec<&str> =
                    texts.iter().map(|text| text.as_ref().map_or("0", |text| text)).collect();
                Ok((digits.numbers(executor, &texts)?, bad))
            }
            Content::Bytes(bytes) => {
                Ok((UintBatch::from_bytes_le(executor, self.source.width, bytes)?, vec![]))
            }
        }
    }

    /// Returns number i of the piece in the bytes of the file.
    pub(crate) fn written(&self, i: usize) -> Written<'_> {
        let row = 4 * self.source.width.limbs();
        let bytes = match &self.content {
            Content::Lines(lines, _) => lines.get(i),
            Content::Bytes(bytes) => bytes.get(i * row..(i + 1) * row),
        };
        Written { format: self.source.format, bytes: bytes.unwrap_or_default() }
    }
}
