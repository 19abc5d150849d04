//! Carries between the blocks of a kernel that adds words, and sums and shifts of long numbers.

use warpint_device::{
    Arg, Buffer, Cells, Device, DeviceError, Kernel, Launch, Source, View, common,
};

use super::batch::{flat, reserve};
use super::{HEADERS, RowCells, THREADS};

/// The header of the kernels that add words in blocks.
pub(super) const CARRY_HEADERS: &[(&str, &str)] =
    &[("carry.cuh", include_str!("../../../kernels/huge/carry.cuh"))];

/// Where the carry into the lowest word of a sum comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum First {
    /// There is none.
    None = 0,
    /// It is 1.
    One = 1,
    /// It is the carry out of the highest word.
    Around = 2,
}

/// Adds the carries between blocks of words.
#[derive(Debug)]
pub(super) struct Carries {
    carries: Kernel,
    add_carries: Kernel,
    /// What each block of words does with a carry, then the carry into the block.
    pub(super) blocks: Option<Buffer<u32>>,
}

/// Adds, subtracts and shifts long numbers.
#[derive(Debug)]
pub(super) struct Sums {
    device: Device,
    add: Kernel,
    shift: Kernel,
    carries: Carries,
}

/// A number that is added. Words beyond its highest one are zero, or all ones in a complement.
#[derive(Debug, Clone, Copy)]
pub(super) struct Addend<'a> {
    words: Option<View<'a, u64>>,
    word: u64,
    /// The number of words of the number.
    len: usize,
    at: usize,
    complement: bool,
}

impl<'a> Addend<'a> {
    /// A number.
    pub(super) fn number(words: View<'a, u64>) -> Self {
        Self { words: Some(words), word: 0, len: words.len(), at: 0, complement: false }
    }

    /// A number of one word.
    pub(super) fn word(word: u64) -> Self {
        Self { words: None, word, len: 1, at: 0, complement: false }
    }

    /// A number of `len` words, which are the given ones again and again.
    pub(super) fn periodic(words: View<'a, u64>, len: usize) -> Self {
        Self { len, ..Self::number(words) }
    }

    /// The number times 2^(64·words).
    pub(super) fn up(self, words: usize) -> Self {
        Self { at: self.at + words, ..self }
    }

    /// The complement of each of infinitely many words: −1 less the number, in two's complement.
    pub(super) fn complement(self) -> Self {
        Self { complement: !self.complement, ..self }
    }

    fn args(self) -> [Arg; 6] {
        [
            self.words.map_or(Arg::NULL, Arg::from),
            Arg::U64(self.word),
            Arg::U32(self.len as u32),
            Arg::U32(self.words.map_or(1, |words| words.len()) as u32),
            Arg::U32(self.at as u32),
            Arg::U64(if self.complement { u64::MAX } else { 0 }),
        ]
    }
}

impl Carries {
    pub(super) fn new(device: &Device) -> Result<Self, DeviceError> {
        let program = device.program(&carries_source())?;
        let [carries, add_carries] =
            [program.kernel("huge_carries", 0)?, program.kernel("huge_add_carries", 0)?];
        Ok(Self { carries, add_carries, blocks: None })
    }

    /// Adds to the words of rows, `total` in all, the carries that each block of [`THREADS`] words has
    /// left in `blocks`.
    pub(super) fn add(
        &self,
        blocks: &mut Buffer<u32>,
        rows: RowCells<'_>,
        total: usize,
        first: First,
    ) -> Result<(), DeviceError> {
        let count = total.div_ceil(THREADS as usize) as u32;
        assert!(blocks.len() >= count as usize, "blocks of words");
        let args = [(&mut *blocks).into(), Arg::U32(count), Arg::U32(first as u32)];
        // SAFETY: there are `count` blocks.
        unsafe { self.carries.launch(Launch::linear(1, THREADS), &args)? };
        let args = [
            rows.cells.into(),
            (&*blocks).into(),
            Arg::U32(count),
            Arg::U32(rows.words as u32),
            Arg::U64(rows.stride as u64),
            Arg::U32(total as u32),
        ];
        // A warp for each block.
        let grid = Launch::linear(count.div_ceil(THREADS / 32), THREADS);
        // SAFETY: as above, and the rows have `total` words or more.
        unsafe { self.add_carries.launch(grid, &args) }
    }
}

impl Sums {
    pub(super) fn new(device: &Device) -> Result<Self, DeviceError> {
        let program = device.program(&sum_source())?;
        Ok(Self {
            device: device.clone(),
            add: program.kernel("huge_add", 0)?,
            shift: program.kernel("huge_shift", 0)?,
            carries: Carries::new(device)?,
        })
    }

    /// Computes out ← a + b, or a + b + 1 with a first carry, modulo B^n for the n words of `out`; with
    /// [`First::Around`] modulo B^n − 1. `out` may be the place of an addend that is not moved up.
    pub(super) fn add(
        &mut self,
        out: Cells<'_, u64>,
        a: Addend<'_>,
        b: Addend<'_>,
        first: First,
    ) -> Result<(), DeviceError> {
        let total = out.len();
        let count = total.div_ceil(THREADS as usize);
        let mut blocks = reserve(&mut self.carries.blocks, &self.device, count)?;
        let mut args = vec![out.into(), (&mut blocks).into(), Arg::U32(total as u32)];
        args.extend(a.args());
        args.extend(b.args());
        // SAFETY: `out` has `total` words, the addends have the words of their views, and there is a word
        // of `blocks` for each block.
        unsafe { self.add.launch(Launch::linear(count as u32, THREADS), &args)? };
        self.carries.add(&mut blocks, RowCells::one(out), total, first)?;
        self.carries.blocks = Some(blocks);
        Ok(())
    }

    /// Computes out ← ⌊x·2^s⌋ modulo B^n for the n words of `out`, for s of any sign. `out` has no word in
    /// common with x.
    pub(super) fn shift(
        &self,
        out: Cells<'_, u64>,
        x: View<'_, u64>,
        s: i64,
    ) -> Result<(), DeviceError> {
        // Word i has the bits 64·i − s to 64·i − s + 63 of x.
        let (skip, bits) = ((-s).div_euclid(64), (-s).rem_euclid(64));
        let args = [
            out.into(),
            Arg::U32(out.len() as u32),
            x.into(),
            Arg::U32(x.len() as u32),
            Arg::I64(skip),
            Arg::U32(bits as u32),
        ];
        // SAFETY: the lengths are those of the views.
        unsafe { self.shift.launch(flat(out.len(), THREADS), &args) }
    }
}

/// Returns the sources of the shipped kernels of this module.
pub(super) fn sources() -> [Source; 2] {
    [carries_source(), sum_source()]
}

fn carries_source() -> Source {
    const KERNELS: [&str; 2] = ["huge_carries", "huge_add_carries"];
    Source::new("carries.cu", include_str!("../../../kernels/huge/carries.cu"), &KERNELS)
        .headers(common::HEADERS)
        .headers(HEADERS)
        .headers(CARRY_HEADERS)
        .define("THREADS", THREADS)
}

fn sum_source() -> Source {
    const KERNELS: [&str; 2] = ["huge_add", "huge_shift"];
    Source::new("sum.cu", include_str!("../../../kernels/huge/sum.cu"), &KERNELS)
        .headers(common::HEADERS)
        .headers(HEADERS)
        .headers(CARRY_HEADERS)
        .define("THREADS", THREADS)
}
