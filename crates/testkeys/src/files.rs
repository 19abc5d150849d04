//! The products, and the two files: the moduli, and the list of the planted weaknesses.

use std::io;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::Serialize;
use warpint_files::given::{self, Found};
use warpint_files::{Draft, Folder, WholeFile};
use warpint_integer::{Executor, UintBatch, Width, check};
use warpint_natural::radix::hex::of_words;
use warpint_progress::Watch;

use crate::layout::{Kind, Layout, Planted};
use crate::primes::{Primes, find, zeros};
use crate::request::Test;
use crate::{Request, TestKeysError};

/// The number of lines before the first modulus.
const HEADER: u64 = 2;

/// The number of moduli that are multiplied at a time, on the CPU and on a device.
const ON_CPU: usize = 1 << 13;
const ON_DEVICE: usize = 1 << 16;
/// The width of moduli from which on fewer are multiplied at a time on a device.
const BITS_OF_MOST: usize = 2048;

/// The number of lines that a thread formats at a time.
const LINES: usize = 256;

const WARNING: &str = "test data, unfit for use: the seed gives away all factors";

/// The paths of the two files. None of them exists, unless existing files may be replaced.
#[derive(Debug)]
pub struct Outputs {
    keys: WholeFile,
    planted: WholeFile,
    replace: bool,
}

impl Outputs {
    /// Tests whether the moduli can be written to `path`, and the list of the planted weaknesses to
    /// the file whose name is longer by `.planted.json`. Files are replaced only if `replace` is
    /// true.
    ///
    /// # Errors
    /// [`TestKeysError::Exists`] or [`TestKeysError::File`].
    pub fn new(path: &Path, replace: bool) -> Result<Self, TestKeysError> {
        let mut planted = path.as_os_str().to_owned();
        planted.push(".planted.json");
        let planted = PathBuf::from(planted);
        for path in [path, &planted] {
            if !replace && given::look(path)? != Found::Nothing {
                return Err(TestKeysError::Exists { path: path.to_owned() });
            }
        }
        Ok(Self { keys: WholeFile::new(path)?, planted: WholeFile::new(&planted)?, replace })
    }

    /// Returns the path of the list of the planted weaknesses.
    #[must_use]
    pub fn planted(&self) -> &Path {
        self.planted.path()
    }

    /// Gives both files their names. A file that has appeared at one of the paths is kept, unless it may
    /// be replaced. If the moduli cannot be placed, the list is removed again.
    fn finish(&self, mut keys: Draft, mut planted: Draft) -> Result<(), TestKeysError> {
        // The long flush comes first, so that the two names appear shortly after each other.
        keys.sync()?;
        planted.sync()?;
        if self.replace {
            planted.finish()?;
            return Ok(keys.finish()?);
        }
        let new = |draft: Draft, file: &WholeFile| {
            draft.finish_new().map_err(|error| match error.io_kind() {
                io::ErrorKind::AlreadyExists => {
                    TestKeysError::Exists { path: file.path().to_owned() }
                }
                _ => error.into(),
            })
        };
        new(planted, &self.planted)?;
        new(keys, &self.keys).inspect_err(|_| {
            if let Ok((folder, name)) = Folder::of(self.planted.place()) {
                let _ = folder.remove(name);
            }
        })
    }
}

/// What was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Made {
    /// The number of primes that were found.
    pub primes: u64,
}

/// The list of the planted weaknesses as JSON.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct List<'a> {
    warning: &'static str,
    #[serde(flatten)]
    request: &'a Request,
    planted: Vec<Entry>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Entry {
    kind: Kind,
    /// The numbers of the lines in the file of moduli, counted from 1.
    lines: Vec<u64>,
    /// Primes in hexadecimal digits.
    primes: Vec<String>,
}

/// Makes the test moduli of a request and writes both files.
///
/// The file of moduli begins with two comment lines, which begin with `#` and state that the moduli
/// are unfit for use. Each further line has one modulus: `0x` and lower-case hexadecimal digits. The list
/// of planted weaknesses states the kind, the line numbers and the primes of each weakness. Both
/// files appear when they are complete.
///
/// Cost: about 0.04·b tests for primality for each prime of b bits, as the sieve leaves one
/// candidate in 0.04·b prime. Memory: [`Request::memory`], and the candidates of one batch.
///
/// # Errors
/// [`TestKeysError::Stopped`] if `watch` stops the work; then nothing is written. [`TestKeysError::Memory`]
/// before the work if the system does not grant the memory. All other errors of [`TestKeysError`].
pub fn make(
    request: &Request,
    executor: &Executor,
    outputs: &Outputs,
    watch: &dyn Watch,
) -> Result<Made, TestKeysError> {
    request.sound()?;
    reserve(request)?;
    let layout = Layout::new(request)?;
    let width = Width::new(request.bits / 2)?;
    let primes = find(&layout, request, width, executor, watch)?;

    let mut keys = outputs.keys.begin()?;
    keys.write(header(request).as_bytes())?;
    let count = layout.factors().len();
    let at_a_time = if executor.is_cpu() {
        ON_CPU
    } else {
        (ON_DEVICE / (request.bits as usize).div_ceil(BITS_OF_MOST)).max(ON_CPU)
    };
    for (i, factors) in layout.factors().chunks(at_a_time).enumerate() {
        if watch.is_stopped() {
            return Err(TestKeysError::Stopped);
        }
        watch.step((i * at_a_time) as u64, count as u64, &"moduli");
        for lines in moduli(&layout, &primes, factors, executor)? {
            keys.write(lines.as_bytes())?;
        }
    }
    let mut planted = outputs.planted.begin()?;
    planted.write(list(request, &layout, &primes)?.as_bytes())?;
    outputs.finish(keys, planted)?;
    Ok(Made { primes: layout.primes() as u64 })
}

/// Tests whether the system grants the memory of a request, so that a request that is too large fails at
/// once, and not after the search of its primes.
fn reserve(request: &Request) -> Result<(), TestKeysError> {
    let needed = request.memory();
    let bytes = usize::try_from(needed).unwrap_or(usize::MAX);
    Vec::<u8>::new().try_reserve_exact(bytes).map_err(|_| TestKeysError::Memory { needed })
}

fn header(request: &Request) -> String {
    let Request { count, bits, seed, weak_pairs, rings, duplicates, close, even, test } = request;
    let test = match test {
        Test::BailliePsw => "",
        Test::Strong => ", primes by two strong tests",
    };
    format!(
        "# warpint make-keys {}: {WARNING}.\n\
         # count {count}, bits {bits}, seed {seed}, weak pairs {weak_pairs}, rings {rings}, \
         duplicates {duplicates}, close {close}, even {even}{test}; one modulus a line, hexadecimal\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// Returns the lines of the moduli with the given prime factors, in order, in texts of some lines.
fn moduli(
    layout: &Layout,
    primes: &Primes,
    factors: &[[usize; 2]],
    executor: &Executor,
) -> Result<Vec<String>, TestKeysError> {
    let cpu = Executor::cpu();
    let width = primes.width();
    let side = |side: usize| {
        let mut rows = zeros(factors.len(), width)?;
        let each = rows.par_chunks_mut(width.limbs()).zip(factors).with_min_len(LINES);
        each.for_each(|(row, pair)| factor(layout, primes, pair[side], row));
        Ok::<_, TestKeysError>(UintBatch::from_vec(&cpu, width, rows)?)
    };
    let (a, b) = (side(0)?, side(1)?);
    let products = a.copy_to(executor)?.mul(&b.copy_to(executor)?)?.to(&cpu)?;
    if let Some(device) = executor.device() {
        let wrong = check::products(&a, &b, &products)?;
        if !wrong.is_empty() {
            let what = format!("{} of {} products", wrong.len(), factors.len());
            return Err(TestKeysError::Wrong { device: device.info().id.clone(), what });
        }
    }
    let limbs = products.width().limbs();
    // The products are on the CPU.
    let rows = products.as_limbs().unwrap_or_default();
    let lines = |rows: &[u32]| {
        // Without the prefix, a line of decimal digits alone would be read as decimal.
        let line = |row: &[u32]| format!("0x{}\n", of_words(row.iter().copied()));
        rows.chunks_exact(limbs).map(line).collect()
    };
    Ok(rows.par_chunks(LINES * limbs).map(lines).collect())
}

/// Stores the factor of a modulus that belongs to prime i in `row`: the prime, or twice the shorter prime
/// of an even modulus.
fn factor(layout: &Layout, primes: &Primes, i: usize, row: &mut [u32]) {
    row.copy_from_slice(primes.row(i));
    if layout.is_short(i) {
        let mut carry = 0;
        for limb in row {
            (*limb, carry) = (*limb << 1 | carry, *limb >> 31);
        }
    }
}

fn list(request: &Request, layout: &Layout, primes: &Primes) -> Result<String, serde_json::Error> {
    let entry = |planted: &Planted| Entry {
        kind: planted.kind,
        lines: planted.positions.iter().map(|&i| i as u64 + HEADER + 1).collect(),
        primes: planted.primes.iter().map(|&i| of_words(primes.row(i).iter().copied())).collect(),
    };
    let entries: Vec<Entry> = layout.planted().iter().map(entry).collect();
    let list = List { warning: WARNING, request, planted: entries };
    serde_json::to_string_pretty(&list).map(|text| text + "\n")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Files that appear while the moduli are made are kept, and nothing else is left.
    #[test]
    fn files_that_appear_meanwhile_are_not_replaced() {
        for name in ["keys.txt", "keys.txt.planted.json"] {
            let dir = tempfile::tempdir().unwrap();
            let outputs = Outputs::new(&dir.path().join("keys.txt"), false).unwrap();
            let begin = |file: &WholeFile| {
                let mut draft = file.begin().unwrap();
                draft.write(b"new").unwrap();
                draft
            };
            let (keys, planted) = (begin(&outputs.keys), begin(&outputs.planted));
            let taken = dir.path().join(name);
            fs::write(&taken, "precious").unwrap();
            let error = outputs.finish(keys, planted).unwrap_err();
            assert!(matches!(&error, TestKeysError::Exists { path } if *path == taken), "{error}");
            assert_eq!(fs::read_to_string(&taken).unwrap(), "precious");
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        }
    }
}
