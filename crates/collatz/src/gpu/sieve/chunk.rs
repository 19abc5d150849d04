//! Processing of a chunk: a range of nodes of one level. A chunk is grown over several levels. At
//! the last level, the numbers of its nodes are walked.

use std::ops::Range;
use std::sync::Arc;

use num_bigint::BigUint;
use warpint_device::{Buffer, Cells, Device, DeviceError, View};

use super::challenge::{Asked, Court, Examiner, Work, takes};
use super::kernels::{Kernels, LastTables, LongCall, PLACES};
use super::strike::{Memory, Strike};
use super::{LastMemory, NodeWords};
use crate::CollatzError;
use crate::evidence::recurrence;
use crate::sieve::{Long, Tables, Tallest, Tally, Tree};
use crate::walk::Walker;

/// The largest count of numbers in a list that `sieve_long.cu` writes.
const LIST: usize = 4096;
/// The number of words of a list that `sieve_long.cu` writes: a count, then two words per number.
const LIST_WORDS: usize = 1 + 2 * LIST;
/// If no highest value is known yet, this number of places of the list of long numbers is processed
/// first.
const FIRST: usize = 1 << 14;
/// The largest number of levels grown at once.
const LEVELS: usize = 32;

/// The tables of a tree on the device, and buffers for results. Successive trees with the same
/// tables use the same memory.
#[derive(Debug)]
pub(super) struct TreeMemory {
    tables: Arc<Tables>,
    powers: Buffer<[u32; 4]>,
    inverses: Buffer<u32>,
    steps: Buffer<u32>,
    mod_9: Buffer<u32>,
    least: Buffer<u32>,
    /// The number of nodes of each level, then the index of the next node to process, then the
    /// number of used places of the list of long numbers.
    counters: Buffer<u32>,
    /// Two sums over the walks: the count of numbers walked, and the odd steps of numbers that a
    /// rule excluded. Then four sums over the tallies: the count of numbers walked, the odd steps
    /// of excluded numbers, the count of long numbers, and the number of tallies with the mark of
    /// the launch. The first two sums over the tallies must equal the two sums over the walks.
    sums: Buffer<u64>,
    /// The results for long numbers, in the layout of [`Memory::Long`].
    long: Buffer<u64>,
}

impl TreeMemory {
    pub(super) fn new(device: &Device, tables: Arc<Tables>) -> Result<Self, DeviceError> {
        Ok(Self {
            powers: device.upload(&tables.powers)?,
            inverses: device.upload(&tables.inverses)?,
            steps: device.upload(&tables.steps.words)?,
            mod_9: device.upload(&tables.mod_9)?,
            least: device.upload(&tables.steps.least)?,
            counters: device.alloc(LEVELS + 2)?,
            sums: device.alloc(SUMS)?,
            long: device.alloc(LONG_SUMS + 2 * LIST_WORDS)?,
            tables,
        })
    }

    /// Uploads the tables again, so that a bit flipped in the device's memory spoils one tree only.
    pub(super) fn renew(&mut self) -> Result<(), DeviceError> {
        let Self { tables, powers, inverses, steps, mod_9, least, .. } = self;
        powers.upload(&tables.powers)?;
        inverses.upload(&tables.inverses)?;
        steps.upload(&tables.steps.words)?;
        mod_9.upload(&tables.mod_9)?;
        least.upload(&tables.steps.least)
    }

    pub(super) fn tables(&self) -> &Arc<Tables> {
        &self.tables
    }
}

/// The state that all chunks of a tree share, and the sums over all chunks.
#[derive(Debug)]
pub(super) struct Chunks<'a, 'scope> {
    tree: &'a Tree,
    kernels: &'a Kernels,
    of_tree: &'a mut TreeMemory,
    walker: &'a Walker,
    /// The number of steps of the walk after which the device leaves a number to the host.
    pub most_steps: u32,
    vectors: &'a Buffer<u32>,
    tallest: Tallest,
    tally: Tally,
    pub examiner: Examiner<'a>,
    court: Court<'a, 'scope>,
    /// The number of answers to challenges that were submitted for a check.
    submitted: usize,
    strike: Option<&'a dyn Strike>,
    /// The number of nodes grown so far at each level. The first entry is for the level of the
    /// root.
    grown: Vec<u128>,
    /// The numbers that the last launch left to the host. The host has walked them.
    given_up: Vec<u128>,
}

/// The number of sums over walks and over tallies that a launch computes.
const SUMS: usize = 6;
/// The number of sums over long numbers that a launch computes.
const LONG_SUMS: usize = 3;

/// The results of `sieve_long.cu` for a range of places of the list of long numbers.
struct Found {
    sum: u64,
    /// The count of long numbers, including those left to the host.
    numbers: u64,
    tall: Listed,
    given_up: Listed,
}

/// A list with room for a limited count of numbers. `count` also includes the numbers for which the
/// list has no room.
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

/// The kernels of the device, the walker of the host, and faults that a test injects.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub kernels: &'a Kernels,
    pub walker: &'a Walker,
    pub strike: Option<&'a dyn Strike>,
}

impl<'a, 'scope> Chunks<'a, 'scope> {
    pub(super) fn new(
        place: Place<'a>,
        court: Court<'a, 'scope>,
        (tree, of_tree): (&'a Tree, &'a mut TreeMemory),
        vectors: &'a Buffer<u32>,
        highest: Option<&BigUint>,
    ) -> Self {
        let Place { kernels, walker, strike } = place;
        let mut grown = vec![0; (tree.level() - tree.root_level()) as usize + 1];
        grown[0] = 1;
        Self {
            tree,
            kernels,
            of_tree,
            walker,
            most_steps: 0,
            vectors,
            tallest: Tallest::new(tree.step().bits(), highest),
            tally: Tally::default(),
            examiner: Examiner::new(kernels, court.judge),
            court,
            submitted: 0,
            strike,
            grown,
            given_up: vec![],
        }
    }

    fn struck(&self, memory: Memory<'_>) -> Result<(), DeviceError> {
        self.strike.map_or(Ok(()), |strike| strike.strike(memory))
    }

    fn count_from(&mut self, count: usize, next: usize) -> Result<(), DeviceError> {
        let mut counters = [0; LEVELS + 2];
        counters[0] = count as u32;
        counters[LEVELS] = next as u32;
        self.of_tree.counters.upload(&counters)
    }

    /// Grows the first `count` nodes of `from` over the given levels, and writes the resulting
    /// nodes to `to`. Returns the number of resulting nodes.
    pub(super) fn grow(
        &mut self,
        from: View<'_, NodeWords>,
        count: usize,
        levels: Range<u32>,
        scratch: &mut [Buffer<NodeWords>; 2],
        to: &mut Buffer<NodeWords>,
    ) -> Result<usize, CollatzError> {
        self.count_from(count, 0)?;
        let steps = levels.len();
        let (scratch, to) = (scratch.each_mut().map(Cells::from), to.cells(..));
        let mut source = from;
        for (i, level) in levels.clone().enumerate() {
            let target = if i + 1 == steps { to } else { scratch[i % 2] };
            let counters = self.of_tree.counters.cells(i..i + 2);
            let limits = self.of_tree.tables.grow[level as usize];
            let nodes = (source, target);
            self.kernels.grow(nodes, counters, &self.of_tree.powers, level, limits, count << i)?;
            source = target.view();
        }
        if let Some(strike) = self.strike {
            strike.strike(Memory::Counters(&mut self.of_tree.counters))?;
        }
        let mut last = count;
        for (level, found) in levels.zip(self.of_tree.counters.download_part(1..steps + 1)?) {
            let found = found as usize;
            if found > 2 * last {
                let what = format!("the count of nodes of level {}", level + 1);
                return Err(self.court.judge.refuted(what, found, format!("at most {}", 2 * last)));
            }
            self.grown[(level + 1 - self.tree.root_level()) as usize] += found as u128;
            last = found;
        }
        Ok(last)
    }

    /// Walks the numbers of the first `count` nodes of the last level. Submits the device's results
    /// for the challenged nodes, which are checked on other threads.
    pub(super) fn walk(
        &mut self,
        memory: &mut LastMemory,
        asked: &mut Asked,
        count: usize,
        mut challenged: Vec<u128>,
    ) -> Result<(), CollatzError> {
        self.court.verdicts.check()?;
        self.struck(Memory::Nodes(&mut memory.nodes, count))?;
        let mut ranges: Vec<_> = std::iter::once(0..count).collect();
        while let Some(range) = ranges.pop() {
            if range.is_empty() {
                continue;
            }
            let Some(places) = self.launch(memory, &range)? else {
                // Some long numbers are not listed: repeat with half of the range at a time.
                let middle = range.start + range.len() / 2;
                ranges.extend([middle..range.end, range.start..middle]);
                continue;
            };
            let long = self.sums(range.len())?;
            self.struck(Memory::Listed(&mut memory.listed, places))?;
            self.given_up.clear();
            let walked = self.long(memory, places)?;
            if walked != long {
                return Err(self.court.judge.refuted(
                    "the count of long numbers walked",
                    walked,
                    long,
                ));
            }
            if challenged.is_empty() {
                continue;
            }
            let work = Work { memory: &*memory, range, places, given_up: &self.given_up };
            let (court, submitted) = (self.court, &mut self.submitted);
            self.examiner.examine(asked, &work, &mut challenged, |taken| {
                court.submit(*submitted, taken);
                *submitted += 1;
            })?;
        }
        match challenged.first() {
            Some(&low) => Err(self.court.judge.missing(self.tree.level(), low)),
            None => Ok(()),
        }
    }

    /// Walks the numbers of a range of nodes. Returns the number of used places of the list of long
    /// numbers. Returns `None` if the list is too short.
    fn launch(
        &mut self,
        memory: &mut LastMemory,
        range: &Range<usize>,
    ) -> Result<Option<usize>, CollatzError> {
        self.count_from(range.end, range.start)?;
        self.of_tree.sums.clear()?;
        memory.mark = memory.mark.wrapping_add(1);
        let tables = LastTables {
            vectors: self.vectors,
            powers: &self.of_tree.powers,
            inverses: &self.of_tree.inverses,
            steps: &self.of_tree.steps,
            mod_9: &self.of_tree.mod_9,
            least: &self.of_tree.least,
            top: self.tree.top(),
        };
        let counters = self.of_tree.counters.cells(..);
        let counters = [0, LEVELS, LEVELS + 1].map(|i| counters.part(i..=i));
        self.kernels.last(
            memory,
            counters,
            &tables,
            self.of_tree.sums.cells(..2),
            range,
            memory.mark,
        )?;
        self.struck(Memory::Tallies(&mut memory.tallies, takes(range.len())))?;
        let (takes, of_tallies) = (takes(range.len()), self.of_tree.sums.cells(2..));
        self.kernels.sum(&memory.tallies, takes, memory.mark, of_tallies)?;
        if let Some(strike) = self.strike {
            strike.strike(Memory::Places(&mut self.of_tree.counters))?;
        }
        let places = self.of_tree.counters.download_part(LEVELS + 1..LEVELS + 2)?;
        // Warps request no more places when the list is full, so the count is far below 2^32.
        let places = places.first().map_or(0, |&places| places as usize);
        if !places.is_multiple_of(PLACES) {
            let what = "the count of places of long numbers";
            let expected = format!("a multiple of {PLACES}");
            return Err(self.court.judge.refuted(what, places, expected));
        }
        let fits = places <= memory.listed.len();
        if !fits && range.len() == 1 {
            let most = memory.listed.len();
            return Err(self.court.judge.refuted(
                "the count of long numbers of a node",
                places,
                most,
            ));
        }
        Ok(fits.then_some(places))
    }

    /// Adds the sums of the last launch to the sums of the tree. Returns the count of long numbers
    /// according to the tallies of the launch.
    fn sums(&mut self, nodes: usize) -> Result<u64, CollatzError> {
        if let Some(strike) = self.strike {
            strike.strike(Memory::Sums(&mut self.of_tree.sums))?;
        }
        let sums = <[u64; SUMS]>::try_from(self.of_tree.sums.download()?).unwrap_or_default();
        let [walked, killed, of_tallies, killed_of_tallies, long, tallies] = sums;
        let pairs = [
            ("the count of numbers walked", walked, of_tallies),
            ("the sum of odd steps", killed, killed_of_tallies),
            ("the count of tallies", tallies, takes(nodes) as u64),
        ];
        for (what, found, expected) in pairs {
            if found != expected {
                return Err(self.court.judge.refuted(what, found, expected));
            }
        }
        self.tally.walked = self.tally.walked.wrapping_add(walked);
        self.tally.checksum = self.tally.checksum.wrapping_add(killed);
        Ok(long)
    }

    /// Walks the long numbers in the first `places` places of the list, and returns their count.
    fn long(&mut self, memory: &mut LastMemory, places: usize) -> Result<u64, CollatzError> {
        // A short range first: all numbers count as tall while the highest value is unknown.
        let first = if self.tallest.threshold() == 0 { places.min(FIRST) } else { places } as u32;
        let mut ranges = vec![first..places as u32, 0..first];
        let mut numbers = 0;
        while let Some(range) = ranges.pop() {
            if range.is_empty() {
                continue;
            }
            let found = self.find(memory, range.clone())?;
            let threshold = self.tallest.threshold();
            for &n in &found.tall.numbers {
                self.tallest.take(n, self.tree.level(), self.walker);
            }
            let tall_enough = found.tall.is_complete() || range.len() == 1;
            if !tall_enough && found.given_up.is_complete() && self.tallest.threshold() > threshold
            {
                // With the higher threshold fewer numbers are tall.
                ranges.push(range);
                continue;
            }
            if !(tall_enough && found.given_up.is_complete()) {
                let middle = range.start + range.len() as u32 / 2;
                ranges.extend([middle..range.end, range.start..middle]);
                continue;
            }
            numbers += found.numbers;
            self.tally.checksum = self.tally.checksum.wrapping_add(found.sum);
            for &n in &found.given_up.numbers {
                self.finish(n);
            }
            self.given_up.extend(found.given_up.numbers);
        }
        self.struck(Memory::Ends(&mut memory.ends, places))?;
        Ok(numbers)
    }

    fn find(&mut self, memory: &mut LastMemory, range: Range<u32>) -> Result<Found, CollatzError> {
        self.of_tree.long.clear()?;
        let places = range.len() as u64;
        let words = self.of_tree.long.cells(..);
        let (tall, given_up) = (LONG_SUMS, LONG_SUMS + LIST_WORDS);
        self.kernels.long(LongCall {
            memory,
            range,
            powers: &self.of_tree.powers,
            steps: &self.of_tree.steps,
            level: self.tree.level(),
            top: self.tree.top(),
            threshold: self.tallest.threshold(),
            most: self.most_steps,
            tall: words.part(tall..given_up),
            given_up: words.part(given_up..),
            sums: words.part(..LONG_SUMS),
        })?;
        if let Some(strike) = self.strike {
            strike.strike(Memory::Long(&mut self.of_tree.long))?;
        }
        let words = self.of_tree.long.download()?;
        if words[0] != words[2] {
            return Err(self.court.judge.refuted(
                "the sum of odd steps of long numbers",
                words[0],
                words[2],
            ));
        }
        let (tall, given_up) = words[LONG_SUMS..].split_at(LIST_WORDS);
        let (tall, given_up) = (Listed::of(tall), Listed::of(given_up));
        // A place has at most one number, which reached its end or was given up.
        let numbers = words[1].saturating_add(given_up.count);
        if numbers > places {
            let what = "the count of long numbers walked or given up";
            return Err(self.court.judge.refuted(what, numbers, format!("at most {places}")));
        }
        Ok(Found { sum: words[0], numbers, tall, given_up })
    }

    /// Walks n, a number that the device left to the host, and adds the result to the totals.
    fn finish(&mut self, n: u128) {
        let steps = &self.of_tree.tables.steps;
        let long = Long { words: &steps.words, step: steps.step, walker: self.walker };
        match long.whole(n, self.tree.level()) {
            Some(end) => {
                self.tally.checksum = self.tally.checksum.wrapping_add(end.odd);
                self.tallest.take(n, self.tree.level(), self.walker);
            }
            None => self.tally.unresolved.push(n),
        }
    }

    /// Returns the totals of all walks. Returns an error if the number of nodes of a level is
    /// wrong.
    pub(super) fn end(mut self) -> Result<Tally, CollatzError> {
        let expected = recurrence::levels(self.tree);
        for ((level, found), expected) in (self.tree.root_level()..).zip(&self.grown).zip(expected)
        {
            if *found != expected {
                let what = format!("the count of nodes of level {level}");
                return Err(self.court.judge.refuted(what, found, expected));
            }
        }
        self.tally.nodes = self.grown.last().copied().unwrap_or(0);
        self.tally.highest = self.tallest.end();
        self.tally.unresolved.sort_unstable();
        Ok(self.tally)
    }
}
