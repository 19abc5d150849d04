//! The kernels of the sieve, and how they are launched.

use std::ops::Range;

use warpint_device::{Arg, Buffer, Device, DeviceError, Kernel, Launch, Source, common};

/// Threads of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blocks {
    /// That grow nodes and make vectors.
    pub grow: u32,
    /// That walk the numbers of nodes.
    pub last: u32,
    /// Of these on a multiprocessor.
    pub last_blocks: u32,
    /// That walk long numbers.
    pub long: u32,
}

/// Places of the list of long numbers that a warp takes at a time.
const PLACES: usize = 256;
/// Powers of 3 in the shared memory of a block of `sieve_long.cu`: a tree has at most 72 levels.
const POWERS: u32 = 96;
/// Blocks of a multiprocessor.
const OF_A_MULTIPROCESSOR: u32 = 8;

impl Blocks {
    /// For devices whose blocks have so much shared memory.
    #[must_use]
    pub fn new(shared_memory: u32) -> Self {
        // Registers are for 1,536 threads of a multiprocessor, where there is shared memory for them.
        let (last, last_blocks) = if shared_memory >= 200 << 10 { (512, 3) } else { (256, 1) };
        Self { grow: 256, last, last_blocks, long: 512 }
    }

    /// Places of the list of long numbers that warps may leave empty.
    pub(super) fn list_reserve(&self, multiprocessors: u32) -> usize {
        (OF_A_MULTIPROCESSOR * multiprocessors * self.last / 32) as usize * PLACES + PLACES
    }
}

/// Compiled for (bits of a step, steps looked ahead, vectors).
#[derive(Debug, Clone)]
pub(super) struct Kernels {
    pub of: (u32, u32, u32),
    blocks: Blocks,
    multiprocessors: u32,
    grow: Kernel,
    look: Kernel,
    last: Kernel,
    long: Kernel,
    find: Kernel,
    sum: Kernel,
    ends: Kernel,
    last_bytes: u32,
    long_bytes: u32,
}

/// Bytes of shared memory of a block of `sieve_last.cu`.
fn last_bytes(threads: u32, step: u32) -> u32 {
    let warps = threads / 32;
    4 * (1 << step) + 4 * 16 + 4 * 9 * 32 + warps * (32 * 32 + 2 * 8 + 2 * (1024 + 32))
}

/// Bytes of shared memory of a block of `sieve_long.cu`.
fn long_bytes(step: u32) -> u32 {
    4 * (1 << step) + 16 * POWERS
}

fn source(
    name: &'static str,
    text: &'static str,
    kernels: &[&'static str],
    threads: u32,
) -> Source {
    Source::new(name, text, kernels)
        .headers(common::HEADERS)
        .header("sieve.cuh", include_str!("../../../kernels/sieve.cuh"))
        .define("THREADS", threads)
}

fn sources(blocks: Blocks, (step, look, classes): (u32, u32, u32)) -> [Source; 5] {
    [
        source(
            "sieve_grow.cu",
            include_str!("../../../kernels/sieve_grow.cu"),
            &["sieve_grow"],
            blocks.grow,
        ),
        source(
            "sieve_look.cu",
            include_str!("../../../kernels/sieve_look.cu"),
            &["sieve_look"],
            blocks.grow,
        )
        .define("LOOK", look),
        source(
            "sieve_last.cu",
            include_str!("../../../kernels/sieve_last.cu"),
            &["sieve_last"],
            blocks.last,
        )
        .define("BLOCKS", blocks.last_blocks)
        .define("STEP", step)
        .define("LOOK", look)
        .define("CLASSES", classes),
        source(
            "sieve_long.cu",
            include_str!("../../../kernels/sieve_long.cu"),
            &["sieve_long"],
            blocks.long,
        )
        .define("STEP", step)
        .define("POWERS", POWERS),
        source(
            "sieve_challenge.cu",
            include_str!("../../../kernels/sieve_challenge.cu"),
            &["sieve_find", "sieve_sum", "sieve_ends"],
            blocks.grow,
        ),
    ]
}

/// As they ship: with steps and vectors as they are by default, for small trees and for large ones.
pub(super) fn shipped(blocks: Blocks) -> Vec<Source> {
    let step = crate::sieve::Step::default().bits();
    let mut all = vec![];
    for look in [16, 32] {
        all.extend(sources(blocks, (step, look, 10)));
    }
    let mut seen = std::collections::HashSet::new();
    all.retain(|source| seen.insert(source.clone()));
    all
}

/// Words of 32 bits as arguments, the lowest first.
fn words(x: u128, count: u32) -> impl Iterator<Item = Arg> {
    (0..count).map(move |i| Arg::U32((x >> (32 * i)) as u32))
}

/// Where `sieve_last.cu` finds its tables.
#[derive(Debug)]
pub(super) struct LastTables<'a> {
    pub vectors: &'a Buffer<u32>,
    pub powers: &'a Buffer<[u32; 4]>,
    pub inverses: &'a Buffer<u32>,
    pub steps: &'a Buffer<u32>,
    pub mod_9: &'a Buffer<u32>,
    pub least: &'a Buffer<u32>,
    pub top: u128,
}

/// What `sieve_long.cu` is told.
#[derive(Debug)]
pub(super) struct LongCall<'a> {
    pub memory: LastLevel<'a>,
    pub range: Range<u32>,
    pub powers: &'a Buffer<[u32; 4]>,
    pub steps: &'a Buffer<u32>,
    pub level: u32,
    pub top: u128,
    pub threshold: u128,
    pub most: u32,
    /// The list of tall numbers, that of numbers given up, both sums: addresses; the first two with lengths.
    pub tall: (u64, u32),
    pub given_up: (u64, u32),
    pub sums: u64,
}

/// What the walks of the last level read and write.
#[derive(Debug, Clone, Copy)]
pub(super) struct LastLevel<'a> {
    pub nodes: &'a Buffer<[u32; 8]>,
    /// Places of long numbers.
    pub listed: &'a Buffer<u64>,
    /// Of 32 nodes in a row each.
    pub tallies: &'a Buffer<[u32; 4]>,
    /// Of the long numbers, by place.
    pub ends: &'a Buffer<u16>,
}

impl Kernels {
    pub(super) fn new(
        device: &Device,
        blocks: Blocks,
        of: (u32, u32, u32),
    ) -> Result<Self, DeviceError> {
        let programs = device.programs(&sources(blocks, of))?;
        let [grow, look, last, long, challenge] = &programs[..] else {
            return Err(DeviceError::Failed {
                what: "loading the sieve".into(),
                message: "not five programs".into(),
            });
        };
        let (last_bytes, long_bytes) = (last_bytes(blocks.last, of.0), long_bytes(of.0));
        let multiprocessors = device.info().multiprocessors.max(1);
        Ok(Self {
            of,
            blocks,
            multiprocessors,
            grow: grow.kernel("sieve_grow", 0)?,
            look: look.kernel("sieve_look", 0)?,
            last: last.kernel("sieve_last", last_bytes)?,
            long: long.kernel("sieve_long", long_bytes)?,
            find: challenge.kernel("sieve_find", 0)?,
            sum: challenge.kernel("sieve_sum", 0)?,
            ends: challenge.kernel("sieve_ends", 0)?,
            last_bytes,
            long_bytes,
        })
    }

    /// The children of nodes, of which there are as many as `count` says.
    pub(super) fn grow(
        &self,
        [nodes, count, grown, grown_count]: [u64; 4],
        powers: &Buffer<[u32; 4]>,
        level: u32,
        limits: [u32; 3],
        most: usize,
    ) -> Result<(), DeviceError> {
        let blocks = (most as u64).div_ceil(self.blocks.grow.into());
        let blocks = blocks.min((OF_A_MULTIPROCESSOR * self.multiprocessors).into()) as u32;
        let args = [
            Arg::Pointer(nodes),
            Arg::Pointer(count),
            Arg::Pointer(grown),
            Arg::Pointer(grown_count),
            powers.into(),
            Arg::U32(level),
            Arg::U32(limits[0]),
            Arg::U32(limits[1]),
            Arg::U32(limits[2]),
        ];
        self.grow.launch(Launch::linear(blocks.max(1), self.blocks.grow), &args)
    }

    /// One vector, of so many words.
    pub(super) fn look(
        &self,
        to: u64,
        limits: &Buffer<[u32; 4]>,
        powers: &Buffer<[u32; 4]>,
        odd: u32,
        words: usize,
    ) -> Result<(), DeviceError> {
        let blocks = words.div_ceil(self.blocks.grow as usize) as u32;
        let args = [Arg::Pointer(to), limits.into(), powers.into(), Arg::U32(odd)];
        self.look.launch(Launch::linear(blocks, self.blocks.grow), &args)
    }

    /// Walks the numbers of some nodes.
    pub(super) fn last(
        &self,
        memory: &LastLevel<'_>,
        [count, taken, list_count]: [u64; 3],
        tables: &LastTables<'_>,
        sums: u64,
        range: &Range<usize>,
        mark: u32,
    ) -> Result<(), DeviceError> {
        let blocks = range.len().div_ceil(self.blocks.last as usize).max(1);
        let blocks = (blocks as u32).min(OF_A_MULTIPROCESSOR * self.multiprocessors);
        let mut args = vec![
            memory.nodes.into(),
            Arg::Pointer(count),
            Arg::Pointer(taken),
            tables.vectors.into(),
            tables.powers.into(),
            tables.inverses.into(),
            tables.steps.into(),
            tables.mod_9.into(),
            tables.least.into(),
        ];
        args.extend(words(tables.top, 3));
        args.extend([
            memory.listed.into(),
            Arg::Pointer(list_count),
            Arg::U32(memory.listed.len() as u32),
            Arg::Pointer(sums),
            memory.tallies.into(),
            Arg::U32(range.start as u32),
            Arg::U32(mark),
        ]);
        self.last.launch(Launch::linear(blocks, self.blocks.last).shared(self.last_bytes), &args)
    }

    /// Walks long numbers.
    pub(super) fn long(&self, call: &LongCall<'_>) -> Result<(), DeviceError> {
        let threads = self.blocks.long;
        let blocks = call.range.len().div_ceil(threads as usize) as u32;
        let blocks = blocks.clamp(1, OF_A_MULTIPROCESSOR * self.multiprocessors);
        let mut args = vec![
            call.memory.nodes.into(),
            Arg::U32(call.memory.nodes.len() as u32),
            call.memory.listed.into(),
            Arg::U32(call.range.start),
            Arg::U32(call.range.end),
            call.powers.into(),
            call.steps.into(),
            Arg::U32(call.level),
        ];
        args.extend(words(call.top, 4));
        args.extend(words(call.threshold, 4));
        args.extend([
            Arg::U32(call.most),
            Arg::Pointer(call.tall.0),
            Arg::U32(call.tall.1),
            Arg::Pointer(call.given_up.0),
            Arg::U32(call.given_up.1),
            Arg::Pointer(call.sums),
            call.memory.ends.into(),
        ]);
        self.long.launch(Launch::linear(blocks, threads).shared(self.long_bytes), &args)
    }

    /// Threads that look at so many entries of a list, some each.
    fn scan(&self, entries: usize) -> Launch {
        let blocks = entries.div_ceil(self.blocks.grow as usize).max(1) as u64;
        let most = u64::from(OF_A_MULTIPROCESSOR * self.multiprocessors);
        Launch::linear(blocks.min(most) as u32, self.blocks.grow)
    }

    /// Adds tallies with a mark to four sums.
    pub(super) fn sum(
        &self,
        tallies: &Buffer<[u32; 4]>,
        count: usize,
        mark: u32,
        sums: u64,
    ) -> Result<(), DeviceError> {
        let args = [tallies.into(), Arg::U32(count as u32), Arg::U32(mark), Arg::Pointer(sums)];
        self.sum.launch(self.scan(count), &args)
    }

    /// Where nodes with these keys, which ascend, stand.
    pub(super) fn find(
        &self,
        nodes: &Buffer<[u32; 8]>,
        range: &Range<usize>,
        keys: &Buffer<[u32; 4]>,
        found: &Buffer<u32>,
    ) -> Result<(), DeviceError> {
        let args = [
            nodes.into(),
            Arg::U32(range.start as u32),
            Arg::U32(range.end as u32),
            keys.into(),
            Arg::U32(keys.len() as u32),
            found.into(),
        ];
        self.find.launch(self.scan(range.len()), &args)
    }

    /// The ends of the long numbers of 32 nodes from one on.
    pub(super) fn ends(
        &self,
        memory: &LastLevel<'_>,
        places: usize,
        first: usize,
        found: &Buffer<u64>,
    ) -> Result<(), DeviceError> {
        let args = [
            memory.listed.into(),
            memory.ends.into(),
            Arg::U32(places as u32),
            Arg::U32(first as u32),
            found.into(),
            Arg::U32((found.len() / 2) as u32),
        ];
        self.ends.launch(self.scan(places), &args)
    }
}
