//! How the kernel of delays is specialised.

use warpint_device::{Source, common};

use crate::delay::{DelayTable, POWERS, StepTable};

/// How `delay.cu` is specialised, whatever the size of the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DelayShape {
    /// d: bits of a table step, 2 to 15.
    pub step_bits: u32,
    /// t: the delays of all numbers below 2^t are in a table; d to 24.
    pub small_bits: u32,
    /// Whether that table is in shared memory; otherwise it is in global memory.
    pub small_shared: bool,
    /// Table steps between two looks whether a number is done.
    pub unroll: u32,
    /// Threads of a block, a multiple of 32.
    pub threads: u32,
    /// Blocks of a multiprocessor at a time.
    pub blocks: u32,
}

impl DelayShape {
    /// Those to choose from, the ones that need the most shared memory first.
    pub const ALL: [Self; 3] =
        [Self::of(14, 15, 1024, 1), Self::of(12, 14, 512, 3), Self::of(11, 13, 256, 2)];

    /// More that may be the fastest on some device.
    const MORE: [Self; 4] = [
        Self::of(14, 14, 1024, 1),
        Self::of(13, 15, 768, 2),
        Self::of(13, 14, 512, 3),
        Self::of(12, 15, 512, 2),
    ];

    const fn of(step_bits: u32, small_bits: u32, threads: u32, blocks: u32) -> Self {
        Self { step_bits, small_bits, small_shared: true, unroll: 2, threads, blocks }
    }

    /// The first that a device has the shared memory for.
    #[must_use]
    pub fn for_memory(shared_memory: u32) -> Self {
        let fits = |shape: &Self| shape.shared_bytes() <= shared_memory;
        Self::ALL.into_iter().find(fits).unwrap_or(Self { small_shared: false, ..Self::ALL[2] })
    }

    /// Those worth measuring on devices whose blocks have so much shared memory, [`Self::for_memory`] first.
    #[must_use]
    pub fn candidates(shared_memory: u32) -> Vec<Self> {
        let first = Self::for_memory(shared_memory);
        let others = Self::ALL.into_iter().chain(Self::MORE);
        let others =
            others.filter(|shape| *shape != first && shape.shared_bytes() <= shared_memory);
        std::iter::once(first).chain(others).collect()
    }

    /// Bytes of shared memory of a block: powers of three 32 times, steps, and small delays.
    #[must_use]
    pub fn shared_bytes(&self) -> u32 {
        let small = if self.small_shared { 2u32 << self.small_bits } else { 0 };
        4 * 32 * (self.step_bits + 1) + (4u32 << self.step_bits) + small
    }

    /// The nearest one that is possible.
    pub(super) fn possible(self) -> Self {
        let step_bits = self.step_bits.clamp(2, *StepTable::BITS.end());
        let small_bits = self.small_bits.clamp(step_bits, *DelayTable::BITS.end());
        Self { step_bits, small_bits, unroll: self.unroll.clamp(1, 8), ..self }
    }

    /// By so many bits a table step makes numbers longer: the g with 3^d < 2^(d + g).
    ///
    /// In words of w ≥ 64 bits a step of v < 2^(w − g) is exact: it gives less than (v/2^d + 1)·3^d ≤
    /// 2^w·3^d/2^(d + g) + 3^d, and 3^d ≤ 2^(d + g) − 1, so 2^w·(1 − 3^d/2^(d + g)) ≥ 2^(w − d − g) > 3^d.
    pub(super) fn growth(&self) -> u32 {
        POWERS[self.step_bits as usize].ilog2() + 1 - self.step_bits
    }

    /// A number whose top word has bits from this one on may overflow its words.
    pub(super) fn lost(&self) -> u32 {
        32 - self.growth()
    }

    pub(super) fn source(&self, words: u32, kind: Kind) -> Source {
        Source::new("delay.cu", include_str!("../../../kernels/delay.cu"), &["delays"])
            .headers(common::HEADERS)
            .define("STEP_BITS", self.step_bits)
            .define("SMALL_BITS", self.small_bits)
            .define("SMALL_SHARED", u32::from(self.small_shared))
            .define("WORDS", words)
            .define("LOST", self.lost())
            .define("UNROLL", self.unroll)
            .define("THREADS", self.threads)
            .define("BLOCKS", self.blocks)
            .define("WRITE", u32::from(kind == Kind::Write))
            .define("MERGED", u32::from(kind == Kind::Merged))
    }
}

/// The kernels as they ship.
pub(crate) fn sources(shared_memory: u32) -> Vec<Source> {
    let shape = DelayShape::for_memory(shared_memory);
    let kinds = [Kind::Merged, Kind::Survey, Kind::Write];
    kinds.into_iter().flat_map(|kind| [2, 3, 4].map(|words| shape.source(words, kind))).collect()
}

/// What a launch does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// Sums up what it finds of each residue.
    Survey,
    /// The same of each group of residues.
    Merged,
    /// Writes each delay.
    Write,
}
