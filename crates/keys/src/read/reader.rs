//! Files, their formats, and their lines.

use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use serde::de::DeserializeSeed;
use warpint_files::{FileError, given};
use warpint_natural::radix::decimal::Powers;
use warpint_progress::Watch;
use warpint_transform::cpu::goldilocks::Pool;

use super::pending::{Pending, Text};
use super::{
    BadEntry, Entry, KeyList, MOST_BITS, Position, Problem, PublicKey, Raw, bits, der, jwk, pem,
    printable,
};
use crate::KeysError;

/// The number of bytes by which the format of a file is decided.
const HEAD: usize = 1 << 16;
/// The largest number of bytes of a line. The digits of a modulus of 2^16 bits are shorter.
const LONGEST_LINE: usize = 1 << 18;
/// The largest number of bytes of a PEM block, without white space.
const LONGEST_BLOCK: usize = 1 << 24;
/// The largest number of bytes of a file in DER.
const LONGEST_DER: u64 = 1 << 24;
/// The largest number of decimal digits for which powers of ten are prepared.
const DIGITS: usize = MOST_BITS as usize / 3;

/// Returns the regular files that the paths name: files, and the files below directories.
///
/// # Errors
/// The errors of [`given::files_below`].
pub fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, KeysError> {
    let mut all = vec![];
    for path in paths {
        all.extend(given::files_below(path)?);
    }
    Ok(all)
}

/// Reads keys from files into a [`KeyList`]. Entries that cannot be read are counted and reported,
/// and the reading goes on.
pub struct Reader<'a> {
    list: KeyList,
    raw: Option<Raw>,
    powers: Powers,
    pool: Pool,
    watch: &'a dyn Watch,
    report: &'a mut dyn FnMut(&BadEntry),
}

impl<'a> Reader<'a> {
    /// Creates a reader. It calls `report` for each entry that cannot be read, and stops when
    /// `watch` asks for it. [`Watch::done`] receives the bytes that were read.
    pub fn new(watch: &'a dyn Watch, report: &'a mut dyn FnMut(&BadEntry)) -> Self {
        let (list, powers) = (KeyList::default(), Powers::new(DIGITS));
        Self { list, raw: None, powers, pool: Pool::new(1), watch, report }
    }

    /// Decodes lines and PEM blocks by this number of threads. Without this call, one thread decodes
    /// them.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.pool = Pool::new(threads);
        self
    }

    /// Reads all files as moduli in this form, whatever they contain.
    ///
    /// # Panics
    /// Panics for records of no bytes.
    #[must_use]
    pub fn raw(mut self, raw: Raw) -> Self {
        assert!(raw != Raw::Records(0), "records of no bytes");
        self.raw = Some(raw);
        self
    }

    /// Returns the keys that were read.
    #[must_use]
    pub fn finish(self) -> KeyList {
        self.list
    }

    /// Reads the keys of a regular file.
    ///
    /// # Errors
    /// [`KeysError::File`], [`KeysError::Stopped`].
    pub fn file(&mut self, path: &Path) -> Result<(), KeysError> {
        let file = given::open(path)?;
        let read = self.stream(&printable(&path.display().to_string()), file);
        read.map_err(|error| match error {
            KeysError::Input(source) => {
                KeysError::File(FileError::Io { action: "read", path: path.to_owned(), source })
            }
            other => other,
        })
    }

    /// Reads the keys of a stream. `name` is its name in messages.
    ///
    /// # Errors
    /// [`KeysError::Input`], [`KeysError::Stopped`].
    pub fn stream(&mut self, name: &str, mut input: impl Read) -> Result<(), KeysError> {
        self.list.begin_file(name);
        if let Some(raw) = self.raw {
            let input = Watched { input, watch: self.watch };
            let read = self.numbers(name, raw, BufReader::with_capacity(HEAD, input));
            return read.map_err(|error| self.stopped(error));
        }
        let mut head = vec![];
        input.by_ref().take(HEAD as u64).read_to_end(&mut head).map_err(KeysError::Input)?;
        let format = Format::of(&head);
        let input = Watched { input: Cursor::new(head).chain(input), watch: self.watch };
        let mut input = BufReader::with_capacity(HEAD, input);
        let read = match format {
            Format::Binary => self.binary(name, input),
            Format::Json => self.json(name, input),
            Format::Pem => self.text(name, &mut input, true),
            Format::Lines => self.text(name, &mut input, false),
        };
        read.map_err(|error| self.stopped(error))
    }

    /// Returns the error of a stop if one was requested: it may be the cause of any other.
    fn stopped(&self, error: KeysError) -> KeysError {
        if self.watch.is_stopped() { KeysError::Stopped } else { error }
    }

    fn numbers(&mut self, name: &str, raw: Raw, mut input: impl Read) -> Result<(), KeysError> {
        let mut count = 0;
        while let Some(number) = raw.next(&mut input).map_err(KeysError::Input)? {
            count += 1;
            let entry = number.map(|modulus| Entry::Rsa(PublicKey { modulus, exponent: None }));
            self.take(name, Position::Key(count), entry);
        }
        Ok(())
    }

    /// Decodes entries and takes them over.
    fn take_all(&mut self, name: &str, pending: &mut Pending) {
        for (position, entry) in std::mem::take(pending).decode(&self.pool, &self.powers) {
            self.take(name, position, entry);
        }
    }

    /// Takes over an entry, or reports it.
    fn take(&mut self, name: &str, position: Position, entry: Result<Entry, Problem>) {
        let checked = entry.and_then(|entry| match entry {
            Entry::Rsa(mut key) => {
                warpint_natural::limbs::trim(&mut key.modulus);
                match bits(&key.modulus) {
                    0 | 1 => Err(Problem::Trivial),
                    n if n > MOST_BITS => Err(Problem::TooLong(n)),
                    _ => Ok(Entry::Rsa(key)),
                }
            }
            other => Ok(other),
        });
        match checked {
            Ok(Entry::Rsa(key)) => self.list.push(key, position),
            Ok(Entry::Other(what)) => self.list.count_other(what),
            Ok(Entry::Text) => self.list.count_text(),
            Err(problem) => {
                self.list.count_unreadable();
                (self.report)(&BadEntry { file: name, position, problem });
            }
        }
    }

    fn binary(&mut self, name: &str, input: impl Read) -> Result<(), KeysError> {
        let mut bytes = vec![];
        input.take(LONGEST_DER + 1).read_to_end(&mut bytes).map_err(KeysError::Input)?;
        let is_der = bytes.first() == Some(&0x30) && bytes.len() as u64 <= LONGEST_DER;
        let entry = if is_der { der::entry(&bytes) } else { Err(Problem::Binary) };
        self.take(name, Position::Whole, entry);
        Ok(())
    }

    fn json(&mut self, name: &str, mut input: impl BufRead) -> Result<(), KeysError> {
        let mut count = 0;
        loop {
            // The next value, without white space and a byte order mark in front of it.
            let blank = |c: &u8| c.is_ascii_whitespace() || [0xef, 0xbb, 0xbf].contains(c);
            let some = input.fill_buf().map_err(KeysError::Input)?;
            let (blanks, all) = (some.iter().take_while(|c| blank(c)).count(), some.len());
            if all == 0 {
                return Ok(());
            }
            input.consume(blanks);
            if blanks == all {
                continue;
            }
            let mut take = |entry| {
                count += 1;
                self.take(name, Position::Key(count), entry);
            };
            let mut json = serde_json::Deserializer::from_reader(&mut input);
            let read = jwk::Keys::new(&mut take).deserialize(&mut json);
            if let Err(error) = read {
                if error.is_io() {
                    return Err(KeysError::Input(error.into()));
                }
                // The rest of the file has no known beginning of a value.
                // Its line would be counted from the beginning of the value.
                let text = error.to_string();
                let reason = text.split(" at line ").next().unwrap_or_default();
                let problem = Problem::Json(reason.into());
                self.take(name, Position::Key(count + 1), Err(problem));
                return Ok(());
            }
        }
    }

    /// Reads PEM blocks, and lines outside blocks. If `has_blocks` is true, or after the first block, such
    /// a line may also be text that belongs to a block.
    fn text(
        &mut self,
        name: &str,
        input: &mut impl BufRead,
        mut has_blocks: bool,
    ) -> Result<(), KeysError> {
        let mut lines = Lines::new(input);
        let mut pending = Pending::default();
        // The label, the line and the text of the block that has begun.
        let mut block: Option<(String, Position, String)> = None;
        while let Some(line) = lines.next()? {
            let position = Position::Line(line.number);
            // Text that is not UTF-8 or too long is not part of a block.
            let text = line.text.unwrap_or_default();
            let mut is_full = false;
            if let Some(label) = pem::begins(text) {
                has_blocks = true;
                let begun = (printable(label), position, String::new());
                if let Some((label, position, _)) = block.replace(begun) {
                    is_full = pending.add(position, Text::Bad(Problem::Unended(label)));
                }
            } else if let Some((label, begin, body)) = block.take_if(|_| pem::ends(text)) {
                is_full = pending.add(begin, Text::Block(label, body));
            } else if let Some((label, _, body)) = &mut block {
                if line.text.is_none() || body.len() + text.len() > LONGEST_BLOCK {
                    // No longer Base64, so that the block is reported where it ends.
                    body.clear();
                    body.push('?');
                } else if !(label.ends_with("PRIVATE KEY")) {
                    body.extend(text.split_ascii_whitespace());
                }
            } else if let Some(text) = outside(&line, has_blocks) {
                is_full = pending.add(position, text);
            }
            if is_full {
                self.take_all(name, &mut pending);
            }
        }
        if let Some((label, position, _)) = block {
            pending.add(position, Text::Bad(Problem::Unended(label)));
        }
        self.take_all(name, &mut pending);
        Ok(())
    }
}

/// Returns what a line outside PEM blocks contains. Returns `None` for an empty line or a comment.
fn outside(line: &Line<'_>, has_blocks: bool) -> Option<Text> {
    let Some(text) = line.text else {
        return Some(match line.bytes {
            _ if has_blocks => Text::Beside(String::new()),
            bytes if bytes > LONGEST_LINE => Text::Bad(Problem::LongLine(LONGEST_LINE)),
            _ => Text::Bad(Problem::NotANumber("bytes that are not UTF-8".into())),
        });
    };
    let text = text.trim().trim_start_matches('\u{feff}');
    match text {
        _ if text.is_empty() || text.starts_with('#') => None,
        _ if has_blocks => Some(Text::Beside(text.to_owned())),
        _ => Some(Text::Line(text.to_owned())),
    }
}

/// A stream that reports the bytes that are read, and that fails after a request to stop.
struct Watched<'a, R> {
    input: R,
    watch: &'a dyn Watch,
}

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.watch.is_stopped() {
            return Err(io::Error::other("stopped"));
        }
        let read = self.input.read(to)?;
        self.watch.done(read as u128);
        Ok(read)
    }
}

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Binary,
    Json,
    Pem,
    Lines,
}

impl Format {
    /// Decides the format of a file by its first bytes.
    fn of(head: &[u8]) -> Self {
        let is_control = |c: &u8| c.is_ascii_control() && !c.is_ascii_whitespace();
        let cut = std::str::from_utf8(head).err().is_some_and(|e| e.error_len().is_some());
        let begin = head.strip_prefix("\u{feff}".as_bytes()).unwrap_or(head).trim_ascii_start();
        let is_begin =
            |line: &[u8]| std::str::from_utf8(line).is_ok_and(|s| pem::begins(s).is_some());
        if head.split(|&c| c == b'\n').any(is_begin) {
            Self::Pem
        } else if head.iter().any(is_control) || cut && head.first() == Some(&0x30) {
            Self::Binary
        } else if matches!(begin.first(), Some(b'{' | b'[')) && !is_host(begin) {
            Self::Json
        } else {
            Self::Lines
        }
    }
}

/// Returns whether a text that begins with `[` is a line of `known_hosts`, such as
/// `[host]:2222 ssh-rsa …`.
fn is_host(text: &[u8]) -> bool {
    let line = text.split(|&c| c == b'\n').next().unwrap_or_default();
    line.starts_with(b"[") && line.windows(2).any(|some| some == b"]:")
}

/// The lines of a file, one at a time.
struct Lines<'a, R> {
    input: &'a mut R,
    buffer: Vec<u8>,
    number: u64,
}

/// A line of a file.
struct Line<'a> {
    /// The number of the line, counted from 1.
    number: u64,
    /// The number of bytes that were read for the line.
    bytes: usize,
    /// The text; `None` if it is longer than [`LONGEST_LINE`] or not UTF-8.
    text: Option<&'a str>,
}

impl<'a, R: BufRead> Lines<'a, R> {
    fn new(input: &'a mut R) -> Self {
        Self { input, buffer: vec![], number: 0 }
    }

    /// Returns the next line. Returns `None` at the end of the file.
    fn next(&mut self) -> Result<Option<Line<'_>>, KeysError> {
        self.line().map_err(KeysError::Input)
    }

    fn line(&mut self) -> io::Result<Option<Line<'_>>> {
        self.buffer.clear();
        let room = LONGEST_LINE as u64 + 1;
        let mut bytes = self.input.by_ref().take(room).read_until(b'\n', &mut self.buffer)?;
        if bytes == 0 {
            return Ok(None);
        }
        self.number += 1;
        let is_whole = self.buffer.len() <= LONGEST_LINE || self.buffer.ends_with(b"\n");
        if !is_whole {
            bytes += self.input.skip_until(b'\n')?;
        }
        let text = std::str::from_utf8(&self.buffer).ok().filter(|_| is_whole);
        Ok(Some(Line { number: self.number, bytes, text }))
    }
}
