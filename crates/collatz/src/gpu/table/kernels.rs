//! The kernels of the table method: how they are specialised, and their tables.

use warpint_device::{
    Arg, Buffer, Cells, Device, DeviceError, Kernel, Launch, Source, View, assert_room, common,
};

use crate::descent::min_odd;
use crate::table::{MOST_TABLE_BITS, Tables, powers};

/// Bits of the tables if nothing is said.
pub(super) const TABLE_BITS: u32 = 14;

/// Fewest bits of the tables.
pub(super) const LEAST_TABLE_BITS: u32 = 8;

/// Threads of a block that grows residues.
pub(super) const GROW_THREADS: u32 = 256;

/// Threads of a block that walks, at most.
const MOST_THREADS: u32 = 1024;

/// What a multiprocessor keeps of its shared memory for itself, of each block.
const RESERVED: u32 = 1 << 10;

/// How `table_walk.cu` is specialised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Walk {
    pub(super) table_bits: u32,
    pub(super) threads: u32,
    pub(super) blocks: u32,
    pub(super) words: u32,
    pub(super) sieve_bits: u32,
}

impl Walk {
    /// Bytes of shared memory of a block: entries, 16 powers, and two words of each thread.
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

    /// Residues of k + 1 bits from those of k, two words each. The first count says how many there are, `most` or
    /// fewer; the second one, which was 0, counts those made, also where there is no room for them.
    ///
    /// # Panics
    /// If there is no room for `most` residues.
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
        // SAFETY: there are as many residues as the first count says, and the kernel knows how many there is room
        // for; those of fewer than 41 bits have no more odd steps.
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

/// The kernels as they ship.
pub(crate) fn sources(shared_memory: u32) -> Vec<Source> {
    let table_bits = largest_table(shared_memory).min(TABLE_BITS);
    let (threads, blocks) = shape(table_bits, shared_memory);
    let walk =
        |(words, sieve_bits)| Walk { table_bits, threads, blocks, words, sieve_bits }.source();
    let walks = [(2, 22), (2, 30), (3, 21), (3, 29), (3, 37), (4, 37)].into_iter().map(walk);
    [grow_source(), challenge_source()].into_iter().chain(walks).collect()
}

/// Most bits of a table that a block has room for.
pub(super) fn largest_table(shared_memory: u32) -> u32 {
    let fits = |&bits: &u32| Walk::shared_bytes(bits, MOST_THREADS) <= shared_memory;
    (LEAST_TABLE_BITS..=MOST_TABLE_BITS).rev().find(fits).unwrap_or(LEAST_TABLE_BITS)
}

/// Threads of a block, and blocks of a multiprocessor with so much shared memory.
pub(super) fn shape(table_bits: u32, shared_memory: u32) -> (u32, u32) {
    match shared_memory / (Walk::shared_bytes(table_bits, MOST_THREADS / 2) + RESERVED) {
        0 | 1 => (MOST_THREADS, 1),
        blocks => (MOST_THREADS / 2, blocks.min(3)),
    }
}

/// 4·f in the low 6 bits and 4·C above; then 4·3^0 … 4·3^15.
pub(super) fn entries(tables: &Tables) -> Vec<u32> {
    let entry = |low| tables.constant(low) << 8 | tables.odd_steps(low) << 2;
    let powers = powers().into_iter().take(16).map(|power| 4 * power as u32);
    (0..1 << tables.bits()).map(entry).chain(powers).collect()
}
