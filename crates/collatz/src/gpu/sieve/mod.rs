//! The sieve on a device. Nodes are grown level by level in the device's memory, a part of a level
//! at a time; the numbers of the nodes of the last level are walked. [`crate::sieve`] defines
//! nodes, look-ahead vectors, the walk and long numbers.

mod challenge;
mod chunk;
mod kernels;
mod stages;
mod strike;

use std::sync::Arc;

use warpint_device::{Buffer, Device, DeviceError, Source};

use challenge::{Asked, Court, Judge, Verdicts};
use chunk::{Chunks, TreeMemory};
pub use kernels::Blocks;
use kernels::Kernels;
use stages::{Stage, Stages};
pub use strike::{Memory, Strike};

use crate::sieve::{
    Backend, Looking, Piece, Shape, Tables, Tally, Task, Tree, pieces, vector_word,
};
use crate::walk::Walker;
use crate::{CollatzError, Region, Watch};

/// A node on the device: low bits, odd steps and pattern, and the path (see `sieve_grow.cu`).
type NodeWords = [u32; 8];

/// The engine of the sieve on a device: grows the nodes of a tree in the device's memory, and walks
/// their numbers.
#[derive(Debug)]
pub struct GpuSieve {
    device: Device,
    walker: Walker,
    blocks: Blocks,
    /// The largest number of nodes in a buffer, a power of two.
    nodes: usize,
    /// The number of steps of the walk after which the device leaves a number to the host.
    most_steps: u32,
    /// The number E of nodes such that about one challenge is drawn for every E nodes.
    every: u64,
    strike: Option<Arc<dyn Strike>>,
    kernels: Option<Kernels>,
    vectors: Option<Vectors>,
    space: Option<Space>,
    of_tree: Option<TreeMemory>,
}

/// The look-ahead vectors, and the key of the tree for which they were computed.
#[derive(Debug)]
struct Vectors {
    key: String,
    words: Buffer<u32>,
}

/// Memory that successive trees reuse.
#[derive(Debug)]
struct Space {
    /// Two buffers for the nodes of intermediate levels, when a range of nodes is grown over
    /// several levels.
    scratch: [Buffer<NodeWords>; 2],
    last: LastMemory,
    asked: Asked,
    /// The buffers of earlier stages, which new stages can reuse.
    spare: Vec<Buffer<NodeWords>>,
}

/// The memory for the walks of the numbers of the last level.
#[derive(Debug)]
struct LastMemory {
    nodes: Buffer<NodeWords>,
    /// The list of long numbers. A *place* of the list is either unused or contains a number, given
    /// by the index of its node and the number's index within the node.
    listed: Buffer<u64>,
    /// The number of odd steps of the long number in each place, or a mark if the device left the
    /// number to the host.
    ends: Buffer<u16>,
    /// One tally per 32 nodes: counts and sums over their numbers, and the mark of the launch that
    /// wrote the tally.
    tallies: Buffer<[u32; 4]>,
    /// The mark of the last launch. The tallies of successive launches, also of different trees,
    /// have different marks.
    mark: u32,
}

impl Space {
    /// Stores the buffer of a stage for reuse if it has room for exactly `nodes` nodes.
    fn keep(&mut self, buffer: Option<Buffer<NodeWords>>, nodes: usize) {
        self.spare.extend(buffer.filter(|buffer| buffer.len() == nodes));
    }
}

/// The number of levels by which a chunk (a range of nodes of one level) can be grown without
/// exceeding a buffer. A chunk begins with at most 2^−10 of the nodes for which the buffer has
/// room.
const LEVELS_OF_A_CHUNK: u32 = 10;
/// Memory is reserved for this count of long numbers per node of the last level. The average count
/// is about six.
const LONG_OF_A_NODE: usize = 10;
/// By default, about one challenge is drawn for this number of nodes. The check of a challenge
/// takes about as long as the device needs for 2^17 nodes.
const NODES_OF_A_CHALLENGE: u64 = 1 << 24;
/// The largest number of odd steps that the device records for a long number. Records have 16 bits,
/// and one value marks numbers left to the host.
const MOST_ODD_STEPS: u32 = 0xff00;

impl GpuSieve {
    /// Creates a sieve on a device. Kernels are compiled when they are first used.
    #[must_use]
    pub fn new(device: &Device, walker: Walker) -> Self {
        let memory = device.info().memory;
        // Eight stages, two buffers between levels, the last one, and the list of long numbers take
        // a quarter of the memory.
        let each = (11 * size_of::<NodeWords>() + LONG_OF_A_NODE * (8 + 2) + 1) as u64;
        let nodes = (memory / 4 / each).clamp(1 << 12, 1 << 24);
        Self {
            device: device.clone(),
            walker,
            blocks: Blocks::new(device.info().shared_memory_per_block),
            nodes: 1 << nodes.ilog2(),
            most_steps: 4096,
            every: NODES_OF_A_CHALLENGE,
            strike: None,
            kernels: None,
            vectors: None,
            space: None,
            of_tree: None,
        }
    }

    /// Makes the sieve launch its kernels with the given sizes of blocks.
    #[must_use]
    pub fn with_blocks(self, blocks: Blocks) -> Self {
        Self { blocks, kernels: None, space: None, ..self }
    }

    /// Makes the sieve use buffers with room for `nodes` nodes, rounded down to a power of two, but
    /// at least 2^10.
    #[must_use]
    pub fn with_nodes(self, nodes: usize) -> Self {
        Self { nodes: 1 << nodes.max(1 << 10).ilog2(), space: None, ..self }
    }

    /// Makes the device leave a number to the host after `most_steps` steps of its walk.
    #[must_use]
    pub fn with_most_steps(self, most_steps: u32) -> Self {
        Self { most_steps, ..self }
    }

    /// Makes the sieve draw about one challenge for every `nodes` nodes.
    #[must_use]
    pub fn with_nodes_of_a_challenge(self, nodes: u64) -> Self {
        Self { every: nodes, ..self }
    }

    /// Injects faults into the device's memory, for tests.
    #[must_use]
    pub fn with_strike(self, strike: Arc<dyn Strike>) -> Self {
        Self { strike: Some(strike), ..self }
    }

    fn kernels(&mut self, tree: &Tree) -> Result<Kernels, DeviceError> {
        let looking = (tree.step().bits(), tree.look().bits(), tree.classes());
        if let Some(kernels) = self.kernels.as_ref().filter(|kernels| kernels.of == looking) {
            return Ok(kernels.clone());
        }
        let kernels = Kernels::new(&self.device, self.blocks, looking)?;
        Ok(self.kernels.insert(kernels).clone())
    }

    /// Returns the memory of a tree, with its tables. Reuses the memory of the previous tree if the
    /// two trees have the same tables.
    fn of_tree(&mut self, tree: &Tree) -> Result<TreeMemory, DeviceError> {
        match self.of_tree.take() {
            Some(mut of_tree) if of_tree.tables().suit(tree) => {
                of_tree.renew()?;
                Ok(of_tree)
            }
            _ => TreeMemory::new(&self.device, Arc::new(Tables::new(tree))),
        }
    }

    fn space(&mut self) -> Result<Space, DeviceError> {
        if let Some(space) = self.space.take() {
            return Ok(space);
        }
        let (device, nodes) = (&self.device, self.nodes);
        let places =
            LONG_OF_A_NODE * nodes + self.blocks.list_reserve(device.info().multiprocessors);
        // Marks of an earlier use of the same memory must not look like those of now.
        let mut tallies = challenge::tallies(device, nodes)?;
        tallies.clear()?;
        Ok(Space {
            scratch: [device.alloc(nodes)?, device.alloc(nodes)?],
            last: LastMemory {
                nodes: device.alloc(nodes)?,
                listed: device.alloc(places)?,
                ends: device.alloc(places)?,
                tallies,
                mark: 0,
            },
            asked: Asked::new(device)?,
            spare: vec![],
        })
    }

    /// Computes the look-ahead vectors of a tree and stores them. Does nothing if the stored
    /// vectors are already valid for the tree.
    fn vectors(
        &mut self,
        tree: &Tree,
        kernels: &Kernels,
        tables: &Tables,
    ) -> Result<(), DeviceError> {
        let key = format!("{} {} {}", tree.level(), tree.look().bits(), tree.rules());
        if self.vectors.as_ref().is_some_and(|vectors| vectors.key == key) {
            return Ok(());
        }
        // Freed first, to make room.
        self.vectors = None;
        let of_one = 1usize << (tree.look().bits() - 5);
        let mut words = self.device.alloc::<u32>(of_one * tree.classes() as usize)?;
        let limits = self.device.upload(&tables.limits)?;
        let powers = self.device.upload(&tables.powers)?;
        for class in 0..tree.classes() {
            let first = class as usize * of_one;
            let to = words.cells(first..first + of_one);
            kernels.look(to, &limits, &powers, tree.least() + class)?;
        }
        self.device.synchronize()?;
        let mut vectors = Vectors { key, words };
        if let Some(strike) = &self.strike {
            strike.strike(Memory::Vectors(&mut vectors.words))?;
        }
        self.vectors = Some(vectors);
        Ok(())
    }
}

impl GpuSieve {
    /// Returns words of the look-ahead vectors of a region's first tree, to test vectors that are
    /// too long for a CPU. `places` has pairs (index of a vector, index of a word in it). For each
    /// pair, returns two words: the one that the kernel computed, and the one that follows from the
    /// rules.
    ///
    /// # Errors
    /// The device fails, lacks memory or cannot compile a kernel; the sieve does not support the
    /// region; the region has no tree; or `places` names a vector or a word that does not exist.
    pub fn sample_vectors(
        &mut self,
        region: &Region,
        shape: Shape,
        places: &[(u32, u32)],
    ) -> Result<Vec<(u32, u32)>, CollatzError> {
        let most = self.most_looking();
        let tree = pieces(region, shape, most)?.into_iter().find_map(|piece| match piece {
            Piece::Tree(tree) => Some(tree),
            Piece::Plain { .. } => None,
        });
        let missing = |what: &str| DeviceError::Failed {
            what: format!("a sample of the vectors of {region}"),
            message: what.into(),
        };
        let tree = tree.ok_or_else(|| missing("it has no tree"))?;
        let kernels = self.kernels(&tree)?;
        self.vectors(&tree, &kernels, &Tables::new(&tree))?;
        let words = self.vectors.as_ref().map(|vectors| &vectors.words);
        let words = words.ok_or_else(|| missing("it has no vectors"))?;
        let of_one = 1usize << (tree.look().bits() - 5);
        let sampled = places.iter().map(|&(vector, word)| {
            let at = vector as usize * of_one + word as usize;
            if vector >= tree.classes() || word as usize >= of_one {
                return Err(missing(&format!("no word {word} of vector {vector}")).into());
            }
            let found = words.download_part(at..at + 1)?.first().copied().unwrap_or(0);
            Ok((found, vector_word(&tree, vector, word)))
        });
        sampled.collect()
    }
}

impl Backend for GpuSieve {
    fn nodes_of_a_challenge(&self) -> u64 {
        self.every
    }

    fn tree(&mut self, task: Task<'_>, watch: &dyn Watch) -> Result<Option<Tally>, CollatzError> {
        let tree = task.tree;
        let kernels = self.kernels(tree)?;
        let mut of_tree = self.of_tree(tree)?;
        self.vectors(tree, &kernels, of_tree.tables())?;
        let mut space = self.space()?;
        let ended = self.grow(task, &kernels, (&mut of_tree, &mut space), watch);
        if ended.is_ok() {
            self.space = Some(space);
            self.of_tree = Some(of_tree);
        }
        ended
    }

    fn most_looking(&self) -> Looking {
        // Ten vectors take at most a quarter of the memory.
        let bits = (self.device.info().memory / 4 / 10 * 8).max(1).ilog2();
        Looking::new(bits.min(32)).unwrap_or(Looking::LEAST)
    }

    fn place(&self) -> String {
        self.device.info().id.clone()
    }
}

impl GpuSieve {
    /// Grows and walks a tree and returns its totals. Returns `None` if the watch stopped the work.
    /// Answers to challenges are checked on other threads at the same time. All checks are complete
    /// when the function returns.
    fn grow(
        &self,
        task: Task<'_>,
        kernels: &Kernels,
        (of_tree, space): (&mut TreeMemory, &mut Space),
        watch: &dyn Watch,
    ) -> Result<Option<Tally>, CollatzError> {
        let tables = of_tree.tables().clone();
        let judge = Judge::new(&self.device, task.tree, &tables, &self.walker);
        let verdicts = Verdicts::default();
        let grown = rayon::in_place_scope(|scope| {
            let court = Court { scope, judge: &judge, verdicts: &verdicts };
            self.grow_before(court, task, kernels, (of_tree, space), watch)
        });
        // A wrong answer explains more than a stop, or than a later failure.
        let answers = verdicts.take()?;
        let Some(mut tally) = grown? else { return Ok(None) };
        tally.answers.extend(answers);
        Ok(Some(tally))
    }

    fn grow_before(
        &self,
        court: Court<'_, '_>,
        task: Task<'_>,
        kernels: &Kernels,
        (of_tree, space): (&mut TreeMemory, &mut Space),
        watch: &dyn Watch,
    ) -> Result<Option<Tally>, CollatzError> {
        let Task { tree, challenges, highest } = task;
        let Some(vectors) = &self.vectors else { return Ok(None) };
        let place = chunk::Place { kernels, walker: &self.walker, strike: self.strike.as_deref() };
        let mut chunks = Chunks::new(place, court, (tree, of_tree), &vectors.words, highest);
        let most = MOST_ODD_STEPS / tree.step().bits();
        chunks.most_steps = if self.walker.trap.is_some() { 0 } else { self.most_steps.min(most) };
        let root = self.device.upload(&[tree.root_words()])?;
        let mut stages = Stages::new(tree.numbers());
        let challenged = challenges.iter().map(|&low| (0, low)).collect();
        stages.push(Stage::new(root, tree.root_level(), 1, 1.0).challenged(challenged));
        while let Some(stage) = stages.top() {
            if stage.is_done() {
                space.keep(stages.pop(), self.nodes);
                continue;
            }
            if watch.is_stopped() {
                return Ok(None);
            }
            let levels = LEVELS_OF_A_CHUNK.min(tree.level() - stage.level);
            let (first, count, share) = stage.take(self.nodes >> levels);
            let challenged = stage.below(first, count);
            let more = (self.nodes / count).ilog2().min(tree.level() - stage.level);
            let (from, level, to) = (stage.from(first), stage.level, stage.level + more);
            if to == tree.level() {
                let nodes = &mut space.last.nodes;
                let grown = chunks.grow(from, count, level..to, &mut space.scratch, nodes)?;
                chunks.walk(&mut space.last, &mut space.asked, grown, challenged)?;
                watch.done(stages.done(share));
            } else {
                let mut buffer = self.stage_buffer(space)?;
                let grown = chunks.grow(from, count, level..to, &mut space.scratch, &mut buffer)?;
                if grown == 0 {
                    watch.done(stages.done(share));
                }
                let examiner = &chunks.examiner;
                let all = 0..grown;
                let below = examiner.find_all(&mut space.asked, &buffer, &all, to, &challenged)?;
                stages.push(Stage::new(buffer, to, grown, share).challenged(below));
            }
        }
        watch.done(stages.rest());
        chunks.end().map(Some)
    }

    fn stage_buffer(&self, space: &mut Space) -> Result<Buffer<NodeWords>, DeviceError> {
        match space.spare.pop() {
            Some(buffer) => Ok(buffer),
            None => self.device.alloc(self.nodes),
        }
    }
}

/// Returns the sources of all kernels with the constants that the program uses by default.
pub(super) fn sources(shared_memory: u32) -> Vec<Source> {
    kernels::shipped(Blocks::new(shared_memory))
}

#[cfg(test)]
mod tests;
