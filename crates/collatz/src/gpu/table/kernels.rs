//! The kernels of the table method, and the tables that they read.
//!
//! T(n) is n/2 for even n and (3n + 1)/2 for odd n.

use warpint_device::{
    Arg, Buffer, Cells, Device, DeviceError, Kernel, Launch, Source, View, assert_room, common,
};

use crate::descent::min_odd;
use crate::table::{MOST_TABLE_BITS, Tables, powers};

/// The default number of bits of a table, which has 2^bits entries.
pub(super) const TABLE_BITS: u32 = 14;

/// The least number of bits of a table, which has 2^bits entries.
pub(super) const LEAST_TABLE_BITS: u32 = 8;

/// The number of threads per block of the kernel that grows residues.
pub(super) const GROW_THREADS: u32 = 256;

/// The largest number of threads per block of the kernel `table_walk.cu`.
const MOST_THREADS: u32 = 1024;

/// The shared memory that a multiprocessor reserves per block, in bytes.
const RESERVED: u32 = 1 << 10;

/// The constants with which the kernel `table_walk.cu` is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Walk {
    pub(super) table_bits: u32,
    pub(super) threads: u32,
    pub(super) blocks: u32,
    pub(super) words: u32,
    pub(super) sieve_bits: u32,
}

impl Walk {
    /// Returns the number of bytes of shared memory per block: for the entries of the table, 16
    /// powers of 3, and two words per thread.
    pub(super) fn shared_bytes(table_bits: u32, threads: u32) -> u32 {
        4 * ((1 << table_bits) + 16 + 2 * threads)
    }

    pub(super) fn source(self) -> Source {
        Source::new(
            "table_walk.cu",
            include_str!("../../../kernels/table_walk.cu"),
            &["table_walk"],
        )
        .headers(common::HEADERS)
        .define("THREADS", self.threads)
        .define("BLOCKS", self.blocks)
        .define("TABLE_BITS", self.table_bits)
        .define("WORDS", self.words)
        .define("SIEVE_BITS", self.sieve_bits)
    }
}

pub(super) fn grow_source() -> Source {
    Source::new("table_grow.cu", include_str!("../../../kernels/table_grow.cu"), &["table_grow"])
        .headers(common::HEADERS)
        .define("THREADS", GROW_THREADS)
}

/// The kernel that grows residues.
#[derive(Debug)]
pub(super) struct Grow {
    kernel: Kernel,
    blocks: u32,
}

impl Grow {
    pub(super) fn new(device: &Device) -> Result<Self, DeviceError> {
        Ok(Self {
            kernel: device.program(&grow_source())?.kernel("table_grow", 0)?,
            blocks: device.info().multiprocessors * 4,
        })
    }

    /// Computes the mandatory residues of k + 1 bits from the mandatory residues of k bits. A
    /// residue has two words. The first of two `counts` is the number of residues in `from`, at
    /// most `most`. The kernel adds the number of new residues to the second count, which must be 0
    /// before. New residues for which `to` has no room are counted too.
    ///
    /// # Panics
    /// If `from` has fewer than `most` residues, or there are fewer than two counts.
    pub(super) fn launch(
        &self,
        (from, to): (View<'_, u64>, Cells<'_, u64>),
        most: usize,
        counts: Cells<'_, u64>,
        powers: &Buffer<u64>,
        k: u32,
    ) -> Result<(), DeviceError> {
        assert_room("residues", from.len(), 2 * most);
        assert_room("counts of residues", counts.len(), 2);
        let capacity = (to.len() / 2) as u32;
        let args = [
            counts.into(),
            from.into(),
            to.into(),
            Arg::U32(capacity),
            powers.into(),
            Arg::U32(k),
            Arg::U32(min_odd(k + 1)),
        ];
        // SAFETY: there are as many residues as the first count holds, and the number that fits is
        // passed; residues of fewer than 41 bits have no more odd steps.
        unsafe { self.kernel.launch(Launch::linear(self.blocks, GROW_THREADS), &args) }
    }
}

pub(super) fn challenge_source() -> Source {
    Source::new(
        "table_challenge.cu",
        include_str!("../../../kernels/table_challenge.cu"),
        &["table_find", "table_sum"],
    )
    .headers(common::HEADERS)
    .define("THREADS", GROW_THREADS)
}

/// Returns the sources of the kernels with the constants that the program uses by default, for
/// devices with `shared_memory` bytes of shared memory per block.
pub(crate) fn sources(shared_memory: u32) -> Vec<Source> {
    let table_bits = largest_table(shared_memory).min(TABLE_BITS);
    let (threads, blocks) = shape(table_bits, shared_memory);
    let walk =
        |(words, sieve_bits)| Walk { table_bits, threads, blocks, words, sieve_bits }.source();
    let walks = [(2, 22), (2, 30), (3, 21), (3, 29), (3, 37), (4, 37)].into_iter().map(walk);
    [grow_source(), challenge_source()].into_iter().chain(walks).collect()
}

/// Returns the largest number of bits of a table that fits in `shared_memory` bytes of shared
/// memory per block. Returns [`LEAST_TABLE_BITS`] if no table fits.
pub(super) fn largest_table(shared_memory: u32) -> u32 {
    let fits = |&bits: &u32| Walk::shared_bytes(bits, MOST_THREADS) <= shared_memory;
    (LEAST_TABLE_BITS..=MOST_TABLE_BITS).rev().find(fits).unwrap_or(LEAST_TABLE_BITS)
}

/// Returns the number of threads per block, and the number of blocks per multiprocessor, of the
/// kernel `table_walk.cu` for tables of `table_bits` bits. A multiprocessor has `shared_memory`
/// bytes of shared memory.
pub(super) fn shape(table_bits: u32, shared_memory: u32) -> (u32, u32) {
    match shared_memory / (Walk::shared_bytes(table_bits, MOST_THREADS / 2) + RESERVED) {
        0 | 1 => (MOST_THREADS, 1),
        blocks => (MOST_THREADS / 2, blocks.min(3)),
    }
}

/// Returns the words that the device reads, for tables of d bits. First, there is one word for each
/// l from 0 to 2^d − 1: it has 4·f in its low 6 bits and 4·T^d(l) in the higher bits, where f
/// counts the odd steps among the first d steps of T from l. The words 4·3^0, …, 4·3^15 follow.
pub(super) fn entries(tables: &Tables) -> Vec<u32> {
    let entry = |low| tables.constant(low) << 8 | tables.odd_steps(low) << 2;
    let powers = powers().into_iter().take(16).map(|power| 4 * power as u32);
    (0..1 << tables.bits()).map(entry).chain(powers).collect()
}
