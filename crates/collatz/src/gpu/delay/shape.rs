//! The variants of the kernel that computes delays.

use warpint_device::{Source, common};

use crate::delay::{DelayTable, POWERS, StepTable};

/// The constants with which the kernel `delay.cu` is compiled and launched. They do not include the
/// number of words of a value and the kind of results, which depend on the launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DelayShape {
    /// The number d of bits of a table step, from 2 to 15.
    pub step_bits: u32,
    /// The number t of bits of the numbers in the table of delays, from `step_bits` to 24.
    pub small_bits: u32,
    /// Whether the table of delays is in shared memory; otherwise it is in global memory.
    pub small_shared: bool,
    /// The number of table steps, from 1 to 8, after which the kernel tests whether the path has
    /// reached the table of delays.
    pub unroll: u32,
    /// The number of threads per block, a multiple of 32.
    pub threads: u32,
    /// The number of blocks per multiprocessor.
    pub blocks: u32,
}

impl DelayShape {
    /// The default shapes, from the one with the most shared memory to the one with the least.
    pub const ALL: [Self; 3] =
        [Self::of(14, 15, 1024, 1), Self::of(12, 14, 512, 3), Self::of(11, 13, 256, 2)];

    /// Further shapes, one of which may be the fastest on some device.
    const MORE: [Self; 4] = [
        Self::of(14, 14, 1024, 1),
        Self::of(13, 15, 768, 2),
        Self::of(13, 14, 512, 3),
        Self::of(12, 15, 512, 2),
    ];

    const fn of(step_bits: u32, small_bits: u32, threads: u32, blocks: u32) -> Self {
        Self { step_bits, small_bits, small_shared: true, unroll: 2, threads, blocks }
    }

    /// Returns the first shape of [`Self::ALL`] that needs at most `shared_memory` bytes of shared
    /// memory per block. If there is no such shape, returns the last shape of [`Self::ALL`], but
    /// with its table of delays in global memory.
    #[must_use]
    pub fn for_memory(shared_memory: u32) -> Self {
        let fits = |shape: &Self| shape.shared_bytes() <= shared_memory;
        Self::ALL.into_iter().find(fits).unwrap_or(Self { small_shared: false, ..Self::ALL[2] })
    }

    /// Returns the shapes worth measuring on devices with `shared_memory` bytes of shared memory
    /// per block. The result of [`Self::for_memory`] is the first.
    #[must_use]
    pub fn candidates(shared_memory: u32) -> Vec<Self> {
        let first = Self::for_memory(shared_memory);
        let others = Self::ALL.into_iter().chain(Self::MORE);
        let others =
            others.filter(|shape| *shape != first && shape.shared_bytes() <= shared_memory);
        std::iter::once(first).chain(others).collect()
    }

    /// Returns the number of bytes of shared memory per block: for 32 copies of the powers of
    /// three, the table of steps, and the table of delays if `small_shared` is true.
    #[must_use]
    pub fn shared_bytes(&self) -> u32 {
        let small = if self.small_shared { 2u32 << self.small_bits } else { 0 };
        4 * 32 * (self.step_bits + 1) + (4u32 << self.step_bits) + small
    }

    /// Returns this shape with `step_bits`, `small_bits` and `unroll` replaced by the nearest valid
    /// values.
    pub(super) fn possible(self) -> Self {
        let step_bits = self.step_bits.clamp(2, *StepTable::BITS.end());
        let small_bits = self.small_bits.clamp(step_bits, *DelayTable::BITS.end());
        Self { step_bits, small_bits, unroll: self.unroll.clamp(1, 8), ..self }
    }

    /// Returns the number g of bits by which a table step may lengthen a number: the smallest g
    /// with 3^d < 2^(d + g), where d is `step_bits`.
    ///
    /// In integers of w ≥ 64 bits, a step from v < 2^(w − g) is exact. Its result is less than
    /// (v/2^d + 1)·3^d ≤ 2^w·3^d/2^(d + g) + 3^d. Since 3^d ≤ 2^(d + g) − 1,
    /// 2^w·(1 − 3^d/2^(d + g)) ≥ 2^(w − d − g) > 3^d. So the result is below 2^w.
    pub(super) fn growth(&self) -> u32 {
        POWERS[self.step_bits as usize].ilog2() + 1 - self.step_bits
    }

    /// Returns the index of a bit of a number's highest word. If that bit or a higher one is set,
    /// the next table step may overflow the words.
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

/// Returns the sources of the kernel with the default shape for `shared_memory` bytes of shared
/// memory per block.
pub(crate) fn sources(shared_memory: u32) -> Vec<Source> {
    let shape = DelayShape::for_memory(shared_memory);
    let kinds = [Kind::Merged, Kind::Survey, Kind::Write];
    kinds.into_iter().flat_map(|kind| [2, 3, 4].map(|words| shape.source(words, kind))).collect()
}

/// The results that a launch computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// The sum of all delays, the largest delay and the candidates. Each number is walked.
    Survey,
    /// The same results as [`Kind::Survey`], computed by groups of residues. Only the numbers of
    /// the smallest residue of each group are walked.
    Merged,
    /// A list of the delays of all numbers.
    Write,
}
