//! Writes a record of all operations on a simulator. `sim/replay.cpp` repeats them.
//!
//! `trace.bin`: the eight bytes `WPSIM001`, then records of little-endian 64-bit words. The first
//! word of a record is its kind. Names and uploaded or downloaded bytes are preceded by a word
//! with their length, and are not padded. A place is a position in memory, in two words: the number
//! of an allocation and an offset in bytes.
//!
//! | kind | words |
//! |---|---|
//! | 1 alloc | allocation, bytes |
//! | 2 free | allocation |
//! | 3 upload, 4 download | place, bytes, the bytes themselves |
//! | 5 copy | place to, place from, bytes |
//! | 6 clear | place, bytes |
//! | 7 launch | program, name, grid (3), block (3), shared bytes, number of arguments, arguments; each argument: letter of its type, then its bits, or allocation (0 for null) and offset |
//!
//! `programs/N/`: the sources and the constants of program N, as [`Unit::record`] writes them.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::arguments::letter;
use super::memory::Memory;
use super::unit::Unit;
use crate::{Arg, DeviceError, Launch};

/// The record of a simulator, being written to a folder.
#[derive(Debug)]
pub(super) struct Trace {
    folder: PathBuf,
    file: BufWriter<File>,
    /// The error of an earlier operation that could not return it. The next operation returns it.
    earlier: Option<DeviceError>,
}

/// A position in the device's memory: the number of an allocation, and an offset in bytes.
type Place = (u64, u64);

impl Trace {
    pub(super) fn create(folder: &Path) -> Result<Self, DeviceError> {
        let make = || {
            fs::create_dir_all(folder)?;
            let mut file = BufWriter::new(File::create(folder.join("trace.bin"))?);
            file.write_all(b"WPSIM001")?;
            Ok(file)
        };
        let file = make().map_err(|error| unwritten(folder, &error))?;
        Ok(Self { folder: folder.to_owned(), file, earlier: None })
    }

    pub(super) fn alloc(&mut self, number: u64, bytes: usize) -> Result<(), DeviceError> {
        self.record(&[1, number, bytes as u64], &[])
    }

    pub(super) fn free(&mut self, number: u64) {
        if let Err(error) = self.record(&[2, number], &[]) {
            self.earlier = Some(error);
        }
    }

    pub(super) fn upload(&mut self, to: Place, bytes: &[u8]) -> Result<(), DeviceError> {
        self.record(&[3, to.0, to.1, bytes.len() as u64], bytes)
    }

    pub(super) fn download(&mut self, from: Place, bytes: &[u8]) -> Result<(), DeviceError> {
        self.record(&[4, from.0, from.1, bytes.len() as u64], bytes)
    }

    pub(super) fn copy(&mut self, to: Place, from: Place, bytes: usize) -> Result<(), DeviceError> {
        self.record(&[5, to.0, to.1, from.0, from.1, bytes as u64], &[])
    }

    pub(super) fn clear(&mut self, at: Place, bytes: usize) -> Result<(), DeviceError> {
        self.record(&[6, at.0, at.1, bytes as u64], &[])
    }

    pub(super) fn launch(
        &mut self,
        memory: &Memory,
        program: u64,
        kernel: &str,
        shape: Launch,
        args: &[Arg],
    ) -> Result<(), DeviceError> {
        self.record(&[7, program, kernel.len() as u64], kernel.as_bytes())?;
        let mut words: Vec<u64> =
            shape.grid.iter().chain(&shape.block).map(|&n| n.into()).collect();
        words.extend([shape.shared_bytes.into(), args.len() as u64]);
        for &arg in args {
            words.push(letter(arg).into());
            match arg {
                Arg::Pointer(pointer) => {
                    let address = pointer.address();
                    let (number, offset) = memory.place(address, 0).unwrap_or_default();
                    words.extend([number, offset]);
                }
                Arg::U32(v) => words.push(v.into()),
                Arg::I32(v) => words.push(u64::from(v.cast_unsigned())),
                Arg::U64(v) => words.push(v),
                Arg::I64(v) => words.push(v.cast_unsigned()),
                Arg::F64(v) => words.push(v.to_bits()),
            }
        }
        self.record(&words, &[])
    }

    pub(super) fn program(&mut self, id: u64, unit: &Unit) -> Result<(), DeviceError> {
        let folder = self.folder.join("programs").join(id.to_string());
        unit.record(&folder).map_err(|error| unwritten(&self.folder, &error))
    }

    pub(super) fn flush(&mut self) -> Result<(), DeviceError> {
        self.file.flush().map_err(|error| unwritten(&self.folder, &error))
    }

    fn record(&mut self, words: &[u64], bytes: &[u8]) -> Result<(), DeviceError> {
        if let Some(error) = self.earlier.take() {
            return Err(error);
        }
        words
            .iter()
            .try_for_each(|word| self.file.write_all(&word.to_le_bytes()))
            .and_then(|()| self.file.write_all(bytes))
            .map_err(|error| unwritten(&self.folder, &error))
    }
}

fn unwritten(folder: &Path, error: &io::Error) -> DeviceError {
    DeviceError::Failed {
        what: format!("writing the simulator's record to {}", folder.display()),
        message: error.to_string(),
    }
}
