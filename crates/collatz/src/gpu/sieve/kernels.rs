//! The kernels of the sieve, and their launches.

use std::ops::Range;

use warpint_device::{
    Arg, Buffer, Cells, Device, DeviceError, Kernel, Launch, Source, View, assert_room, common,
};

use super::challenge::{TAKE, Work, takes};
use super::{LastMemory, NodeWords};

/// The sizes of the sieve's launches: threads per block, and blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blocks {
    /// The number of threads per block of the kernels that grow nodes, compute vectors and answer
    /// challenges.
    pub grow: u32,
    /// The number of threads per block of the kernel that walks the numbers of nodes.
    pub last: u32,
    /// The number of blocks per multiprocessor of the kernel that walks the numbers of nodes.
    pub last_blocks: u32,
    /// The number of threads per block of the kernel that walks long numbers.
    pub long: u32,
}

/// The number of places of the list of long numbers that a warp reserves at a time.
pub(super) const PLACES: usize = 256;
/// The number of words that precede the list of long numbers in the result for a challenged node.
pub(super) const HEAD: usize = 4 + 4 * TAKE;
/// The number of powers of 3 in the shared memory of a block of `sieve_long.cu`. A node has at most
/// 72 odd steps, because a tree has at most 72 levels.
const POWERS: u32 = 96;
/// A bound on the number of odd steps of a node. Kernels reduce the number of odd steps modulo this
/// bound, so that corrupted memory causes no access out of range.
const ODD_STEPS: usize = 128;
/// The largest number of blocks per multiprocessor in a launch.
const OF_A_MULTIPROCESSOR: u32 = 8;

impl Blocks {
    /// Returns the sizes for devices with `shared_memory` bytes of shared memory per block.
    #[must_use]
    pub fn new(shared_memory: u32) -> Self {
        // Registers suffice for 1,536 threads per multiprocessor, if shared memory does.
        let (last, last_blocks) = if shared_memory >= 200 << 10 { (512, 3) } else { (256, 1) };
        Self { grow: 256, last, last_blocks, long: 512 }
    }

    /// Returns a bound on the number of unused places in the list of long numbers. There are unused
    /// places because a warp reserves [`PLACES`] places at a time and may not need all of them.
    pub(super) fn list_reserve(&self, multiprocessors: u32) -> usize {
        (OF_A_MULTIPROCESSOR * multiprocessors * self.last / 32) as usize * PLACES + PLACES
    }
}

/// The kernels of the sieve. The field `of` has the constants with which they are compiled: the
/// number of bits of a step, the number of steps that the look-ahead vectors cover, and the number
/// of these vectors.
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
    take: Kernel,
    last_bytes: u32,
    long_bytes: u32,
}

/// Returns the number of bytes of shared memory per block of `sieve_last.cu`.
fn last_bytes(threads: u32, step: u32) -> u32 {
    let warps = threads / 32;
    4 * (1 << step) + 4 * 16 + 4 * 9 * 32 + warps * (32 * 32 + 2 * 8 + 2 * (1024 + 32))
}

/// Returns the number of bytes of shared memory per block of `sieve_long.cu`.
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
            &["sieve_find", "sieve_sum", "sieve_take"],
            blocks.grow,
        ),
    ]
}

/// Returns the sources of the kernels with the default step, and with look-ahead vectors for small
/// and for large trees.
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

/// Returns the `count` lowest 32-bit words of x as arguments, the lowest first.
fn words(x: u128, count: u32) -> impl Iterator<Item = Arg> {
    (0..count).map(move |i| Arg::U32((x >> (32 * i)) as u32))
}

/// The tables that `sieve_last.cu` reads.
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

impl LastTables<'_> {
    /// Asserts that no table is too short for the kernels. They are compiled for steps of `step`
    /// bits and for `classes` vectors, each of which covers `look` steps.
    fn fit(&self, (step, look, classes): (u32, u32, u32)) {
        assert_room("vectors", self.vectors.len(), (classes as usize) << (look - 5));
        assert_room("powers of 3", self.powers.len(), ODD_STEPS);
        assert_room("inverses of powers of 3", self.inverses.len(), ODD_STEPS);
        assert_room("steps", self.steps.len(), 1 << step);
        assert_room("residues modulo 9", self.mod_9.len(), 9 * 32);
        assert_room("least odd steps", self.least.len(), (96 / step) as usize);
    }
}

/// The arguments of `sieve_long.cu`.
#[derive(Debug)]
pub(super) struct LongCall<'a> {
    pub memory: &'a mut LastMemory,
    pub range: Range<u32>,
    pub powers: &'a Buffer<[u32; 4]>,
    pub steps: &'a Buffer<u32>,
    pub level: u32,
    pub top: u128,
    pub threshold: u128,
    pub most: u32,
    /// The list for numbers that may have the highest value: a count, then two words per number.
    pub tall: Cells<'a, u64>,
    /// The list for numbers that the device leaves to the host: a count, then two words per number.
    pub given_up: Cells<'a, u64>,
    /// Memory for the three sums over long numbers.
    pub sums: Cells<'a, u64>,
}

/// Returns the count of numbers for which a list has room, as an argument of a kernel.
fn numbers_of(list: Cells<'_, u64>) -> Arg {
    Arg::U32((list.len().saturating_sub(1) / 2) as u32)
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
                message: "expected five programs".into(),
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
            take: challenge.kernel("sieve_take", 0)?,
            last_bytes,
            long_bytes,
        })
    }

    /// Computes the children of `nodes`, which are nodes of level `level`, and writes the children
    /// to `grown`. The first of two counters is the number of nodes, at most `most`. The kernel
    /// adds the number of children to the second counter, which must be 0 before.
    ///
    /// # Panics
    /// If `nodes` has fewer than `most` nodes, `grown` has no room for 2·`most` nodes, or
    /// `counters` or `powers` is too short.
    pub(super) fn grow(
        &self,
        (nodes, grown): (View<'_, NodeWords>, Cells<'_, NodeWords>),
        counters: Cells<'_, u32>,
        powers: &Buffer<[u32; 4]>,
        level: u32,
        limits: [u32; 3],
        most: usize,
    ) -> Result<(), DeviceError> {
        assert_room("nodes", nodes.len(), most);
        assert_room("children of nodes", grown.len(), 2 * most);
        assert_room("powers of 3", powers.len(), ODD_STEPS);
        let blocks = (most as u64).div_ceil(self.blocks.grow.into());
        let blocks = blocks.min((OF_A_MULTIPROCESSOR * self.multiprocessors).into()) as u32;
        let args = [
            nodes.into(),
            counters.part(0..1).into(),
            grown.into(),
            counters.part(1..2).into(),
            powers.into(),
            Arg::U32(level),
            Arg::U32(limits[0]),
            Arg::U32(limits[1]),
            Arg::U32(limits[2]),
        ];
        // SAFETY: the buffers have room for `most` nodes and for two children of each. The counter
        // is no larger: the host or the launch for the level above has set it. The kernel takes odd
        // steps modulo 128.
        unsafe { self.grow.launch(Launch::linear(blocks.max(1), self.blocks.grow), &args) }
    }

    /// Computes one look-ahead vector for nodes with `odd` odd steps. The vector has 2^(look − 5)
    /// words, where look is the number of steps that it covers.
    ///
    /// # Panics
    /// If the vector does not have 2^(look − 5) words, or a table is too short.
    pub(super) fn look(
        &self,
        to: Cells<'_, u32>,
        limits: &Buffer<[u32; 4]>,
        powers: &Buffer<[u32; 4]>,
        odd: u32,
    ) -> Result<(), DeviceError> {
        let (_, look, _) = self.of;
        assert_eq!(to.len(), 1 << (look - 5), "words of a vector");
        assert_room("limits", limits.len(), look as usize);
        assert_room("powers of 3", powers.len(), odd as usize + 1);
        let blocks = to.len().div_ceil(self.blocks.grow as usize) as u32;
        let args = [to.into(), limits.into(), powers.into(), Arg::U32(odd)];
        // SAFETY: the vector has the words that the threads write, the tables those that they read.
        unsafe { self.look.launch(Launch::linear(blocks, self.blocks.grow), &args) }
    }

    /// Walks the numbers of the nodes with indices in `range`. The three counters are, in this
    /// order, the end of the range, the index of the next node to walk, and the number of used
    /// places of the list of long numbers.
    ///
    /// # Panics
    /// If a buffer is too short for the nodes, or a table, a counter or the buffer of sums is too
    /// short.
    pub(super) fn last(
        &self,
        memory: &mut LastMemory,
        [count, taken, list_count]: [Cells<'_, u32>; 3],
        tables: &LastTables<'_>,
        sums: Cells<'_, u64>,
        range: &Range<usize>,
        mark: u32,
    ) -> Result<(), DeviceError> {
        assert_room("nodes", memory.nodes.len(), range.end);
        assert_room("tallies", memory.tallies.len(), takes(range.len()));
        assert_room("places of long numbers", memory.listed.len(), PLACES);
        [count, taken, list_count]
            .iter()
            .for_each(|counter| assert_room("counters", counter.len(), 1));
        assert_room("sums", sums.len(), 2);
        tables.fit(self.of);
        let blocks = range.len().div_ceil(self.blocks.last as usize).max(1);
        let blocks = (blocks as u32).min(OF_A_MULTIPROCESSOR * self.multiprocessors);
        let mut args = vec![
            (&memory.nodes).into(),
            count.into(),
            taken.into(),
            tables.vectors.into(),
            tables.powers.into(),
            tables.inverses.into(),
            tables.steps.into(),
            tables.mod_9.into(),
            tables.least.into(),
        ];
        args.extend(words(tables.top, 3));
        args.extend([
            (&mut memory.listed).into(),
            list_count.into(),
            Arg::U32(memory.listed.len() as u32),
            sums.into(),
            (&mut memory.tallies).into(),
            Arg::U32(range.start as u32),
            Arg::U32(mark),
        ]);
        let shape = Launch::linear(blocks, self.blocks.last).shared(self.last_bytes);
        // SAFETY: the buffers have nodes to the end of the range, which the host has just set, a
        // tally per 32 nodes, and the tables for which the kernel was compiled; the number of
        // places in the list is passed.
        unsafe { self.last.launch(shape, &args) }
    }

    /// Walks the long numbers in a range of places of their list.
    ///
    /// # Panics
    /// If the range ends beyond the places of the list, or a table, a list of numbers or the buffer
    /// of sums is too short.
    pub(super) fn long(&self, call: LongCall<'_>) -> Result<(), DeviceError> {
        let LastMemory { nodes, listed, ends, .. } = call.memory;
        assert_room("places of long numbers", listed.len(), call.range.end as usize);
        assert_room("ends of long numbers", ends.len(), call.range.end as usize);
        assert_room("powers of 3", call.powers.len(), ODD_STEPS);
        assert_room("steps", call.steps.len(), 1 << self.of.0);
        [call.tall, call.given_up].iter().for_each(|list| assert_room("a list", list.len(), 1));
        assert_room("sums", call.sums.len(), 3);
        let threads = self.blocks.long;
        let blocks = call.range.len().div_ceil(threads as usize) as u32;
        let blocks = blocks.clamp(1, OF_A_MULTIPROCESSOR * self.multiprocessors);
        let mut args = vec![
            (&*nodes).into(),
            Arg::U32(nodes.len() as u32),
            (&*listed).into(),
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
            call.tall.into(),
            numbers_of(call.tall),
            call.given_up.into(),
            numbers_of(call.given_up),
            call.sums.into(),
            ends.into(),
        ]);
        let shape = Launch::linear(blocks, threads).shared(self.long_bytes);
        // SAFETY: there are places and ends to the end of the range, and the numbers of nodes and
        // of list entries that fit are passed; the kernel takes odd steps modulo 128.
        unsafe { self.long.launch(shape, &args) }
    }

    /// Returns the numbers of blocks and threads for a scan of a list of `entries` entries. In long
    /// lists, a thread scans several entries.
    fn scan(&self, entries: usize) -> Launch {
        let blocks = entries.div_ceil(self.blocks.grow as usize).max(1) as u64;
        let most = u64::from(OF_A_MULTIPROCESSOR * self.multiprocessors);
        Launch::linear(blocks.min(most) as u32, self.blocks.grow)
    }

    /// Adds the first `count` tallies to four sums: the count of numbers walked, the odd steps of
    /// numbers that a rule excluded, the count of long numbers, and the number of tallies with the
    /// mark `mark`.
    ///
    /// # Panics
    /// If there are fewer than `count` tallies, or fewer than four sums.
    pub(super) fn sum(
        &self,
        tallies: &Buffer<[u32; 4]>,
        count: usize,
        mark: u32,
        sums: Cells<'_, u64>,
    ) -> Result<(), DeviceError> {
        assert_room("tallies", tallies.len(), count);
        assert_room("sums", sums.len(), 4);
        let args = [tallies.into(), Arg::U32(count as u32), Arg::U32(mark), sums.into()];
        // Few blocks, because each warp adds to the same four sums.
        let blocks = count.div_ceil(self.blocks.grow as usize).max(1) as u64;
        let shape =
            Launch::linear(blocks.min(self.multiprocessors.into()) as u32, self.blocks.grow);
        // SAFETY: there are `count` tallies, and four sums.
        unsafe { self.sum.launch(shape, &args) }
    }

    /// Searches the nodes in `range` for the given keys, which are low bits of nodes and ascend.
    /// Writes two words for each key: the index of the node with this key, and the number of nodes
    /// that have it.
    ///
    /// # Panics
    /// If the range ends beyond the nodes, or `found` has fewer than two words for each key.
    pub(super) fn find(
        &self,
        nodes: &Buffer<NodeWords>,
        range: &Range<usize>,
        keys: View<'_, [u32; 4]>,
        found: Cells<'_, u32>,
    ) -> Result<(), DeviceError> {
        assert_room("nodes", nodes.len(), range.end);
        assert_room("places of keys", found.len(), 2 * keys.len());
        let args = [
            nodes.into(),
            Arg::U32(range.start as u32),
            Arg::U32(range.end as u32),
            keys.into(),
            Arg::U32(keys.len() as u32),
            found.into(),
        ];
        // SAFETY: there are nodes to the end of the range, and two words for each key.
        unsafe { self.find.launch(self.scan(range.len()), &args) }
    }

    /// Collects the results for the nodes that [`Kernels::find`] has found. Each result has
    /// [`HEAD`] + 2·`room` words in the format of the kernel `sieve_take`.
    ///
    /// # Panics
    /// If a buffer is shorter than the range of nodes or the list requires, or the results do not
    /// fit.
    pub(super) fn take(
        &self,
        work: &Work<'_>,
        found: View<'_, u32>,
        room: usize,
        answers: &mut Buffer<u64>,
    ) -> Result<(), DeviceError> {
        let Work { memory, range, places, .. } = work;
        let count = found.len() / 2;
        assert_room("nodes", memory.nodes.len(), range.end);
        assert_room("tallies", memory.tallies.len(), takes(range.len()));
        assert_room("places of long numbers", memory.listed.len(), *places);
        assert_room("ends of long numbers", memory.ends.len(), *places);
        assert_room("answers", answers.len(), count * (HEAD + 2 * room));
        let args = [
            (&memory.nodes).into(),
            Arg::U32(range.start as u32),
            Arg::U32(range.end as u32),
            (&memory.tallies).into(),
            (&memory.listed).into(),
            (&memory.ends).into(),
            Arg::U32(*places as u32),
            found.into(),
            Arg::U32(count as u32),
            answers.into(),
            Arg::U32(room as u32),
        ];
        // One warp for the places that a warp of `sieve_last` reserves at a time.
        let shape = self.scan(places / PLACES * 32);
        // SAFETY: there are nodes to the end of the range, a tally per 32 nodes, `places` places
        // and ends, two words for each key, and room for all answers; the kernel reads no node
        // outside the range.
        unsafe { self.take.launch(shape, &args) }
    }
}
