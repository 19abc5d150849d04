//! Verification of products by their residues modulo 2^61 − 1.

use warpint_device::{Arg, Buffer, Device, DeviceError, Kernel, Launch, Source, common};

use super::batch::{Factor, Operand};
use super::rows::{Map, Rows};
use super::{HugeError, THREADS, residue};

/// The largest number of blocks, and so of partial sums, of the residues of a few rows.
const RESIDUE_BLOCKS: usize = 512;
/// The largest number of products that wait for their verification.
pub(super) const MOST_PENDING: usize = 256;

/// Products that were not verified yet, and the partial sums of their residues.
#[derive(Debug)]
pub(super) struct Checks {
    device: Device,
    residue: Kernel,
    /// Partial sums, of which the first `used` belong to `pending`.
    sums: Buffer<u64>,
    used: usize,
    pub(super) pending: Vec<Pending>,
}

/// The partial sums of the residues of rows: [row][part], from place `at` on.
#[derive(Debug, Clone, Copy)]
struct Sums {
    at: usize,
    rows: usize,
    parts: usize,
}

/// Products that were not verified yet.
#[derive(Debug)]
pub(super) struct Pending {
    /// The numbers of words of the factors.
    words: [usize; 2],
    terms: Vec<[(Sums, Map); 2]>,
    out: Sums,
}

impl Checks {
    pub(super) fn new(device: &Device) -> Result<Self, DeviceError> {
        Ok(Self {
            device: device.clone(),
            residue: device.program(&source())?.kernel("huge_residue", 0)?,
            sums: device.alloc(3 * RESIDUE_BLOCKS * MOST_PENDING)?,
            used: 0,
            pending: vec![],
        })
    }

    /// Submits the computation of the residues of products and of their factors.
    pub(super) fn submit(
        &mut self,
        out: Rows<'_>,
        terms: &[[Factor<'_>; 2]],
    ) -> Result<(), HugeError> {
        // Rows that occur several times have one residue.
        let mut different: Vec<Rows<'_>> = vec![];
        for rows in terms.iter().flatten().map(rows_of) {
            if !different.iter().any(|known| known.is_same(&rows)) {
                different.push(rows);
            }
        }
        let needed = different.iter().chain([&out]).map(|rows| rows.count * parts(rows)).sum();
        if self.pending.len() == MOST_PENDING || self.used + needed > self.sums.len() {
            self.verify()?;
        }
        if needed > self.sums.len() {
            self.sums = self.device.alloc(needed)?;
        }
        let mut sums = vec![];
        for rows in &different {
            sums.push(self.submit_sums(rows)?);
        }
        let sums_of = |factor: &Factor<'_>| {
            let rows = rows_of(factor);
            let at = different.iter().position(|known| known.is_same(&rows)).unwrap_or_default();
            (sums[at], factor.map)
        };
        let words = terms.first().map_or([0; 2], |term| term.each_ref().map(|f| rows_of(f).words));
        let terms = terms.iter().map(|term| term.each_ref().map(sums_of)).collect();
        let out = self.submit_sums(&out)?;
        self.pending.push(Pending { words, terms, out });
        Ok(())
    }

    /// Submits the computation of the partial sums of rows, for which there is room.
    fn submit_sums(&mut self, rows: &Rows<'_>) -> Result<Sums, DeviceError> {
        let sums = Sums { at: self.used, rows: rows.count, parts: parts(rows) };
        self.used += sums.rows * sums.parts;
        // Rows shorter than a block share it.
        let group = rows.words.next_power_of_two().clamp(32, THREADS as usize);
        let places = THREADS as usize / group;
        let blocks = (sums.rows * sums.parts).div_ceil(places);
        let args = [
            self.sums.cells(sums.at..self.used).into(),
            rows.view.into(),
            Arg::U64(rows.words as u64),
            Arg::U64(rows.stride as u64),
            Arg::U32(sums.rows as u32),
            Arg::U32(sums.parts as u32),
            Arg::U32(group as u32),
        ];
        // SAFETY: there is a place for each part of each row, and the rows are in their view.
        unsafe { self.residue.launch(Launch::linear(blocks as u32, THREADS), &args)? };
        Ok(sums)
    }

    /// Waits for the device, and verifies all products.
    pub(super) fn verify(&mut self) -> Result<(), HugeError> {
        let pending = std::mem::take(&mut self.pending);
        let sums = self.sums.download_part(0..std::mem::take(&mut self.used))?;
        for Pending { words: [a, b], terms, out } in pending {
            let terms: Vec<_> =
                terms.iter().map(|term| term.map(|(of, map)| (of.residues(&sums), map))).collect();
            for (i, found) in out.residues(&sums).into_iter().enumerate() {
                let products = terms
                    .iter()
                    .map(|[(s, of_s), (t, of_t)]| residue::product(s[of_s.row(i)], t[of_t.row(i)]));
                if found != products.fold(0, residue::sum) {
                    return Err(HugeError::Wrong { a, b });
                }
            }
        }
        Ok(())
    }

    /// Returns the residues of rows.
    pub(super) fn residues(&mut self, rows: Rows<'_>) -> Result<Vec<u64>, HugeError> {
        self.verify()?;
        let needed = rows.count * parts(&rows);
        if needed > self.sums.len() {
            self.sums = self.device.alloc(needed)?;
        }
        let of = self.submit_sums(&rows)?;
        let sums = self.sums.download_part(0..std::mem::take(&mut self.used))?;
        Ok(of.residues(&sums))
    }
}

impl Sums {
    /// Returns the residue of each row.
    fn residues(self, all: &[u64]) -> Vec<u64> {
        let sums = &all[self.at..self.at + self.rows * self.parts];
        let of_row = |sums: &[u64]| {
            sums.iter().fold(0, |all, &sum| residue::sum(all, residue::of_word(sum)))
        };
        sums.chunks(self.parts).map(of_row).collect()
    }
}

/// Returns the rows of a factor.
fn rows_of<'a>(factor: &Factor<'a>) -> Rows<'a> {
    match factor.operand {
        Operand::Rows(rows) => rows,
        Operand::Spectra(_) => panic!("the residues of spectra are unknown"),
    }
}

/// Returns the number of partial sums of each of the rows.
fn parts(rows: &Rows<'_>) -> usize {
    rows.words.div_ceil(THREADS as usize).clamp(1, RESIDUE_BLOCKS.div_ceil(rows.count))
}

/// Returns the source of the kernel of residues.
pub(super) fn source() -> Source {
    let text = include_str!("../../../kernels/huge/residue.cu");
    Source::new("residue.cu", text, &["huge_residue"])
        .headers(common::HEADERS)
        .define("THREADS", THREADS)
}
