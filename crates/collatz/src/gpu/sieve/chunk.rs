//! Some nodes at a time: their children down to a level, and the walks of those of the last level.

use std::ops::Range;

use num_bigint::BigUint;
use warpint_device::{Buffer, Device, DeviceError};

use super::NodeWords;
use super::kernels::{Kernels, LastTables, LongCall};
use crate::sieve::{Long, Tables, Tallest, Tally, Tree};
use crate::walk::Walker;

/// Numbers that a list of `sieve_long.cu` has room for.
const LIST: usize = 4096;
/// Words of such a list.
const LIST_WORDS: usize = 1 + 2 * LIST;
/// Places of the list that are looked at first.
const FIRST: usize = 1 << 14;
/// Levels that can be grown at once.
const LEVELS: usize = 32;

/// What all chunks of a tree share, and what they add up to.
#[derive(Debug)]
pub(super) struct Chunks<'a> {
    tree: &'a Tree,
    kernels: &'a Kernels,
    tables: &'a Tables,
    walker: &'a Walker,
    /// Steps of the walk after which the host takes a number over.
    pub most_steps: u32,
    vectors: &'a Buffer<u32>,
    powers: Buffer<[u32; 4]>,
    inverses: Buffer<u32>,
    steps: Buffer<u32>,
    mod_9: Buffer<u32>,
    least: Buffer<u32>,
    /// Nodes of each level; the next node, and the places of the list of long numbers.
    counters: Buffer<u32>,
    /// Numbers walked and the sum of their odd steps.
    sums: Buffer<u64>,
    /// The sum of odd steps of long numbers, the list of tall ones and of those given up.
    long: Buffer<u64>,
    tallest: Tallest,
    tally: Tally,
}

/// What `sieve_long.cu` found in a range of its list.
struct Found {
    sum: u64,
    tall: Listed,
    given_up: Listed,
}

/// Numbers of a list, and how many there would be with room for all.
struct Listed {
    count: u64,
    numbers: Vec<u128>,
}

impl Listed {
    fn of(words: &[u64]) -> Self {
        let Some((&count, words)) = words.split_first() else {
            return Self { count: 0, numbers: vec![] };
        };
        let numbers =
            words.chunks_exact(2).map(|pair| u128::from(pair[1]) << 64 | u128::from(pair[0]));
        Self { count, numbers: numbers.take(usize::try_from(count).unwrap_or(LIST)).collect() }
    }

    fn is_complete(&self) -> bool {
        self.numbers.len() as u64 == self.count
    }
}

impl<'a> Chunks<'a> {
    pub(super) fn new(
        device: &Device,
        tree: &'a Tree,
        kernels: &'a Kernels,
        tables: &'a Tables,
        vectors: &'a Buffer<u32>,
        walker: &'a Walker,
        highest: Option<&BigUint>,
    ) -> Result<Self, DeviceError> {
        Ok(Self {
            tree,
            kernels,
            tables,
            walker,
            most_steps: 0,
            vectors,
            powers: device.upload(&tables.powers)?,
            inverses: device.upload(&tables.inverses)?,
            steps: device.upload(&tables.steps.words)?,
            mod_9: device.upload(&tables.mod_9)?,
            least: device.upload(&tables.steps.least)?,
            counters: device.alloc(LEVELS + 2)?,
            sums: device.alloc(2)?,
            long: device.alloc(1 + 2 * LIST_WORDS)?,
            tallest: Tallest::new(tree.step().bits(), highest),
            tally: Tally::default(),
        })
    }

    /// The address of a counter.
    fn counter(&self, i: usize) -> u64 {
        self.counters.address() + (i * size_of::<u32>()) as u64
    }

    fn count_from(&mut self, count: usize, next: usize) -> Result<(), DeviceError> {
        let mut counters = [0; LEVELS + 2];
        counters[0] = count as u32;
        counters[LEVELS] = next as u32;
        self.counters.upload(&counters)
    }

    /// Grows `count` nodes over some levels; how many there are then.
    pub(super) fn grow(
        &mut self,
        from: u64,
        count: usize,
        levels: Range<u32>,
        scratch: &[Buffer<NodeWords>; 2],
        to: &Buffer<NodeWords>,
    ) -> Result<usize, DeviceError> {
        self.count_from(count, 0)?;
        let steps = levels.len();
        for (i, level) in levels.enumerate() {
            let source = if i == 0 { from } else { scratch[(i - 1) % 2].address() };
            let target = if i + 1 == steps { to.address() } else { scratch[i % 2].address() };
            let places = [source, self.counter(i), target, self.counter(i + 1)];
            let limits = self.tables.grow[level as usize];
            self.kernels.grow(places, &self.powers, level, limits, count << i)?;
        }
        Ok(self
            .counters
            .download_part(steps..steps + 1)?
            .first()
            .map_or(0, |&count| count as usize))
    }

    /// Walks the numbers of `count` nodes of the last level.
    pub(super) fn walk(
        &mut self,
        nodes: &Buffer<NodeWords>,
        count: usize,
        listed: &Buffer<u64>,
    ) -> Result<(), DeviceError> {
        let mut ranges: Vec<_> = std::iter::once(0..count).collect();
        while let Some(range) = ranges.pop() {
            if range.is_empty() {
                continue;
            }
            self.count_from(range.end, range.start)?;
            self.sums.clear()?;
            let tables = LastTables {
                vectors: self.vectors,
                powers: &self.powers,
                inverses: &self.inverses,
                steps: &self.steps,
                mod_9: &self.mod_9,
                least: &self.least,
                top: self.tree.top(),
            };
            let counters = [self.counter(0), self.counter(LEVELS), self.counter(LEVELS + 1)];
            let sums = self.sums.address();
            self.kernels.last(nodes, counters, &tables, listed, sums, range.len())?;
            let places = self.counters.download_part(LEVELS + 1..LEVELS + 2)?;
            // Warps ask for no more places when the list is full, so the count is far below 2^32.
            let places = places.first().map_or(0, |&places| places as usize);
            if places > listed.len() {
                // Some are not listed: the same again, half of it at a time.
                let middle = range.start + range.len() / 2;
                ranges.extend([middle..range.end, range.start..middle]);
                continue;
            }
            let sums = self.sums.download()?;
            self.tally.walked += sums.first().copied().unwrap_or(0);
            let sum = sums.get(1).copied().unwrap_or(0);
            self.tally.checksum = self.tally.checksum.wrapping_add(sum);
            self.long(nodes, listed, places)?;
        }
        Ok(())
    }

    /// Walks the long numbers in so many places of the list.
    fn long(
        &mut self,
        nodes: &Buffer<NodeWords>,
        listed: &Buffer<u64>,
        places: usize,
    ) -> Result<(), DeviceError> {
        // A first look at few, as all are tall while the highest value is not known.
        let first = if self.tallest.threshold() == 0 { places.min(FIRST) } else { places } as u32;
        let mut ranges = vec![first..places as u32, 0..first];
        while let Some(range) = ranges.pop() {
            if range.is_empty() {
                continue;
            }
            let found = self.find(nodes, listed, range.clone())?;
            let threshold = self.tallest.threshold();
            for &n in &found.tall.numbers {
                self.tallest.take(n, self.tree.level(), self.walker);
            }
            let tall_enough = found.tall.is_complete() || range.len() == 1;
            if !tall_enough && found.given_up.is_complete() && self.tallest.threshold() > threshold
            {
                // With the higher threshold there are fewer.
                ranges.push(range);
                continue;
            }
            if !(tall_enough && found.given_up.is_complete()) {
                let middle = range.start + range.len() as u32 / 2;
                ranges.extend([middle..range.end, range.start..middle]);
                continue;
            }
            self.tally.checksum = self.tally.checksum.wrapping_add(found.sum);
            for n in found.given_up.numbers {
                self.finish(n);
            }
        }
        Ok(())
    }

    fn find(
        &mut self,
        nodes: &Buffer<NodeWords>,
        listed: &Buffer<u64>,
        range: Range<u32>,
    ) -> Result<Found, DeviceError> {
        self.long.clear()?;
        let address = |word: usize| self.long.address() + (word * size_of::<u64>()) as u64;
        self.kernels.long(&LongCall {
            nodes,
            listed,
            range,
            powers: &self.powers,
            steps: &self.steps,
            level: self.tree.level(),
            top: self.tree.top(),
            threshold: self.tallest.threshold(),
            most: self.most_steps,
            tall: (address(1), LIST as u32),
            given_up: (address(1 + LIST_WORDS), LIST as u32),
            sum: address(0),
        })?;
        let words = self.long.download()?;
        let (tall, given_up) = words[1..].split_at(LIST_WORDS);
        Ok(Found { sum: words[0], tall: Listed::of(tall), given_up: Listed::of(given_up) })
    }

    /// Walks a number that the device gave up.
    fn finish(&mut self, n: u128) {
        let steps = &self.tables.steps;
        let long = Long { words: &steps.words, step: steps.step, walker: self.walker };
        match long.whole(n, self.tree.level()) {
            Some(end) => {
                self.tally.checksum = self.tally.checksum.wrapping_add(end.odd);
                self.tallest.take(n, self.tree.level(), self.walker);
            }
            None => self.tally.unresolved.push(n),
        }
    }

    /// What all walks add up to.
    pub(super) fn end(mut self) -> Tally {
        self.tally.highest = self.tallest.end();
        self.tally.unresolved.sort_unstable();
        self.tally
    }
}
