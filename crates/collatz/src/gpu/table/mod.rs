//! The table method on a device: the planning of launches, and the completion of numbers that the
//! device leaves to the host.
//!
//! T(n) is n/2 for even n and (3n + 1)/2 for odd n.

mod challenge;
mod kernels;
mod launches;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::ops::Range;

use warpint_device::{Buffer, Cells, Device, DeviceError, Kernel, View};

use self::challenge::{Asked, Examiner};
use self::kernels::{Grow, LEAST_TABLE_BITS, TABLE_BITS, Walk, entries, largest_table, shape};

pub(super) use self::kernels::sources;
use crate::table::{
    Blocks, Challenged, Cover, GROWN, LEAST_SIEVE_BITS, MOST_SIEVE_BITS, MOST_WORDS, Nodes, Part,
    Residue, TableMethod, TableOptions, bounded, descendants, powers,
};
use crate::{CollatzError, Method, Region, Verified, Verifier, Watch};

/// The lowest bit of the number of odd steps in a packed residue.
const ODD_SHIFT: u32 = 40;

/// By default, about one challenge is drawn for this count of numbers. The check of a challenge
/// takes about as long as the device needs to walk 10^7 numbers.
const NUMBERS_OF_A_CHALLENGE: u64 = 1 << 29;

/// Limits on the work that [`DeviceTable`] does at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableLimits {
    /// The largest number of residues in a list, from 2^13 to 2^28. A list of residues modulo 2^s
    /// must have room for all residues that are grown from one residue modulo 2^(s − 13).
    pub residues: usize,
    /// The largest count of numbers that a launch can leave to the host, from 1 to 2^28.
    pub left: usize,
    /// The smallest count of numbers for which a part of a region is processed on the device.
    pub numbers: u128,
}

impl TableLimits {
    /// Returns the nearest valid limits.
    fn possible(self) -> Self {
        Self {
            residues: self.residues.clamp(1 << GROWN, 1 << 28),
            left: self.left.clamp(1, 1 << 28),
            ..self
        }
    }
}

impl Default for TableLimits {
    fn default() -> Self {
        Self { residues: 1 << 22, left: 1 << 20, numbers: 1 << 28 }
    }
}

/// A list of residues of a [`DeviceTable`], two words each.
#[derive(Debug, Clone, Copy)]
enum List<'a> {
    /// A list uploaded by the host.
    Packed(View<'a, u64>),
    /// The list with this index, of the two lists that are grown on the device.
    Grown(usize),
}

impl<'a> List<'a> {
    /// Returns the residues whose indices in the list are in `range`.
    fn residues<'b>(self, lists: &'b [Buffer<u64>; 2], range: Range<u64>) -> View<'b, u64>
    where
        'a: 'b,
    {
        let words = match self {
            Self::Packed(words) => words,
            Self::Grown(list) => lists[list].view(..),
        };
        words.part(2 * range.start as usize..2 * range.end as usize)
    }
}

/// The table method on a device. Except for the evidence, it gives the same results as
/// [`TableMethod`] with the same options and tables of the same number of bits; the default numbers
/// of bits differ. The CPU processes the numbers that are walked one by one, such as those below
/// 2^20. It also processes the parts of a region that have fewer numbers than
/// [`TableLimits::numbers`] (by default 2^28), and numbers that overflow their words. If the walker
/// has a trap, the CPU processes everything.
#[derive(Debug)]
pub struct DeviceTable {
    device: Device,
    cpu: TableMethod,
    grow: Grow,
    walks: HashMap<(u32, u32), Kernel>,
    threads: u32,
    blocks: u32,
    limits: TableLimits,
    /// The largest count of numbers per launch.
    budget: u64,
    entries: Buffer<u32>,
    powers: Buffer<u64>,
    lists: [Buffer<u64>; 2],
    counts: Buffer<u64>,
    state: Buffer<u64>,
    over: Buffer<u32>,
    examiner: Examiner,
}

impl DeviceTable {
    /// Creates the method with the given options. Tables have from 8 to 15 bits, but at most
    /// [`Self::most_table_bits`] for the device's shared memory.
    ///
    /// # Errors
    /// An option is out of its bounds, the device fails or lacks memory, or a kernel does not
    /// compile.
    pub fn new(device: &Device, options: TableOptions) -> Result<Self, CollatzError> {
        Self::with_limits(device, options, TableLimits::default())
    }

    /// Returns the largest number of bits of a table, from 8 to 15, on a device with
    /// `shared_memory` bytes of shared memory per block. Returns 8 if no table fits.
    #[must_use]
    pub fn most_table_bits(shared_memory: u32) -> u32 {
        largest_table(shared_memory)
    }

    /// Like [`DeviceTable::new`], with other limits than the default ones, for tests and
    /// measurements. Invalid limits are replaced by the nearest valid ones.
    ///
    /// # Errors
    /// The same errors as [`DeviceTable::new`].
    pub fn with_limits(
        device: &Device,
        options: TableOptions,
        limits: TableLimits,
    ) -> Result<Self, CollatzError> {
        let limits = limits.possible();
        let info = device.info();
        let most = largest_table(info.shared_memory_per_block);
        let bits = options.table_bits.unwrap_or(TABLE_BITS.min(most));
        let bits = bounded("the bits of a table on this device", bits, LEAST_TABLE_BITS, most)?;
        let cpu = TableMethod::new(TableOptions { table_bits: Some(bits), ..options })?;
        let (threads, blocks) = match info.compute_capability {
            // The simulator runs its threads one after the other.
            (0, 0) => (64, 2),
            _ => shape(bits, info.shared_memory_per_multiprocessor),
        };
        let list = || device.alloc(2 * limits.residues);
        Ok(Self {
            grow: Grow::new(device)?,
            walks: HashMap::new(),
            threads,
            blocks,
            budget: (limits.left as u64).max(1 << 26) * u64::from(info.multiprocessors),
            entries: device.upload(&entries(&cpu.tables))?,
            powers: device.upload(&powers())?,
            lists: [list()?, list()?],
            counts: device.alloc(GROWN as usize + 1)?,
            state: device.alloc(5)?,
            examiner: Examiner::new(device, limits.residues)?,
            over: device.alloc(MOST_WORDS as usize * limits.left)?,
            device: device.clone(),
            limits,
            cpu,
        })
    }

    /// Makes the method draw challenges (see [`crate::evidence`]) from the given seed, about one
    /// for every `numbers` numbers.
    #[must_use]
    pub fn with_challenges(self, seed: u64, numbers: u64) -> Self {
        Self { cpu: self.cpu.with_challenges(seed, numbers), ..self }
    }

    fn walk_kernel(&mut self, words: u32, sieve_bits: u32) -> Result<Kernel, DeviceError> {
        if let Some(kernel) = self.walks.get(&(words, sieve_bits)) {
            return Ok(kernel.clone());
        }
        let (table_bits, threads, blocks) = (self.cpu.tables.bits(), self.threads, self.blocks);
        let source = Walk { table_bits, threads, blocks, words, sieve_bits }.source();
        let bytes = Walk::shared_bytes(table_bits, threads);
        let kernel = self.device.program(&source)?.kernel("table_walk", bytes)?;
        self.walks.insert((words, sieve_bits), kernel.clone());
        Ok(kernel)
    }

    fn part(
        &mut self,
        cover: &Cover,
        index: usize,
        challenged: &Challenged,
        watch: &dyn Watch,
    ) -> Result<Option<Verified>, CollatzError> {
        let part = &cover.parts[index];
        let numbers = cover.numbers(part);
        match *part {
            Part::Blocks(blocks)
                if numbers >= self.limits.numbers && self.cpu.options.walker.trap.is_none() =>
            {
                let asked = challenged.of(index).blocks.clone();
                self.blocks(cover, blocks, (challenged, asked), watch)
            }
            _ => Ok(self.cpu.part(cover, index, challenged, watch)),
        }
    }

    fn blocks(
        &mut self,
        cover: &Cover,
        blocks: Blocks,
        (challenged, asked): (&Challenged, Asked),
        watch: &dyn Watch,
    ) -> Result<Option<Verified>, CollatzError> {
        let numbers = cover.numbers(&Part::Blocks(blocks));
        let nodes = self.cpu.nodes(cover, blocks.bits);
        let all = nodes.residues.len();
        let mut verified = Verified { numbers, ..Verified::default() };
        if all == 0 {
            watch.done(numbers);
            return Ok(Some(verified));
        }
        let packed = self.packed(&nodes)?;
        let share = |done: usize| portion(numbers, done as u128, all as u128);
        let mask = (1 << nodes.bits) - 1;
        let mut by_node: HashMap<u64, Asked> = HashMap::new();
        for (residue, high) in asked {
            by_node.entry(residue.low & mask).or_default().push((residue, high));
        }
        let mut first = 0;
        while first < all {
            let (some, count) = self.some(&nodes, first, blocks.bits);
            let list = self.grown(&packed, (first, some), count, nodes.bits, blocks.bits)?;
            let numbers = share(first + some) - share(first);
            let lows = nodes.residues[first..first + some].iter().map(|node| node.low);
            let asked = lows.filter_map(|low| by_node.remove(&low)).flatten().collect();
            let walk =
                self.walk_list((list, count), blocks, numbers, (challenged, asked), watch)?;
            match walk {
                Some(more) => verified.add(more),
                None => return Ok(None),
            }
            first += some;
        }
        Ok(Some(verified))
    }

    /// Returns how many successive residues of `nodes`, beginning with index `first`, can be grown
    /// together: one list must have room for all residues of `bits` bits that are grown from them.
    /// The result is at least 1. Also returns the number of the resulting residues. No level in
    /// between has more residues.
    fn some(&self, nodes: &Nodes, first: usize, bits: u32) -> (usize, u64) {
        let counts = descendants(nodes.bits, bits);
        let (mut some, mut count) = (0, 0);
        for node in &nodes.residues[first..] {
            let more = count + counts[node.odd as usize];
            if some > 0 && more > self.limits.residues as u64 {
                break;
            }
            (some, count) = (some + 1, more);
        }
        (some, count)
    }

    /// Grows residues of `from` bits to residues of `to` bits: the `some` residues of `packed` that
    /// begin with index `first`. Returns the list of the grown residues. Returns an error unless
    /// the list has `expected` residues.
    fn grown<'a>(
        &mut self,
        packed: &'a Buffer<u64>,
        (first, some): (usize, usize),
        expected: u64,
        from: u32,
        to: u32,
    ) -> Result<List<'a>, DeviceError> {
        let levels = (to - from) as usize;
        let packed = packed.view(2 * first..2 * (first + some));
        let mut counts = vec![0; self.counts.len()];
        counts[0] = some as u64;
        self.counts.upload(&counts)?;
        let lists = self.lists.each_mut().map(Cells::from);
        let mut source = packed;
        for level in 0..levels {
            let counts = self.counts.cells(level..level + 2);
            let target = lists[level % 2];
            let (most, k) =
                (if level == 0 { some } else { self.limits.residues }, from + level as u32);
            self.grow.launch((source, target), most, counts, &self.powers, k)?;
            source = target.view();
        }
        let found = self.counts.download()?[levels];
        if found == expected && found <= self.limits.residues as u64 {
            let last = levels.checked_sub(1);
            return Ok(last.map_or(List::Packed(packed), |last| List::Grown(last % 2)));
        }
        Err(DeviceError::Failed {
            what: format!("growing residues of {to} bits on {}", self.device.info().id),
            message: format!("{found} were found, but {expected} exist"),
        })
    }

    /// Returns the number of mandatory residues modulo 2^bits (see [`Residue`]), by listing them on
    /// the device. [`crate::table::sieve_size`] computes the same number.
    ///
    /// # Errors
    /// The device fails, lacks memory or finds a wrong number of residues; or `bits` is not from 8
    /// to 37.
    pub fn sieve_size(&mut self, bits: u32) -> Result<u64, CollatzError> {
        bounded("the bits of the sieve", bits, LEAST_SIEVE_BITS, MOST_SIEVE_BITS)?;
        let from = bits.saturating_sub(GROWN);
        let nodes = Nodes { bits: from, residues: Residue::ROOT.grown(0, from, &powers()) };
        let packed = self.packed(&nodes)?;
        let (mut first, mut size) = (0, 0);
        while first < nodes.residues.len() {
            let (some, count) = self.some(&nodes, first, bits);
            self.grown(&packed, (first, some), count, from, bits)?;
            (first, size) = (first + some, size + count);
        }
        Ok(size)
    }

    fn packed(&self, nodes: &Nodes) -> Result<Buffer<u64>, DeviceError> {
        let packed: Vec<u64> = nodes.residues.iter().flat_map(|&residue| pack(residue)).collect();
        self.device.upload(&packed)
    }
}

impl Verifier for DeviceTable {
    fn method(&self) -> Method {
        Method::Table
    }

    fn version(&self) -> u32 {
        self.cpu.version()
    }

    fn parameters(&self) -> String {
        self.cpu.described()
    }

    fn place(&self) -> String {
        self.device.info().id.clone()
    }

    fn takes(&self, region: &Region) -> Result<(), CollatzError> {
        self.cpu.takes(region)
    }

    fn verify(
        &mut self,
        region: &Region,
        watch: &dyn Watch,
    ) -> Result<Option<Verified>, CollatzError> {
        let cover = self.cpu.cover(region)?;
        let every = self.cpu.every.unwrap_or(NUMBERS_OF_A_CHALLENGE);
        let challenged = Challenged::new(&self.cpu, self.place(), region, &cover, every)?;
        let mut verified = Verified::default();
        for part in 0..cover.parts.len() {
            match self.part(&cover, part, &challenged, watch)? {
                Some(more) => verified.add(more),
                None => return Ok(None),
            }
        }
        self.cpu.confirm_highest(&cover, &mut verified);
        verified.evidence = Some(challenged.end(&verified)?);
        Ok(Some(verified))
    }
}

/// Packs a residue r modulo 2^s into two words. The first word has r in its low 40 bits, and the
/// number of odd steps of r in the higher bits. The second word is T^s(r).
fn pack(residue: Residue) -> [u64; 2] {
    [residue.low | u64::from(residue.odd) << ODD_SHIFT, residue.value]
}

/// Returns approximately ⌊all·done/of⌋: the part of `all` that is complete if `done` units out of
/// `of` units are done. The result does not decrease as `done` grows, and it is `all` for `done` =
/// `of`.
fn portion(all: u128, done: u128, of: u128) -> u128 {
    if done >= of {
        return all;
    }
    let less = (128 - of.leading_zeros()).saturating_sub(63);
    let (done, of) = (done >> less, (of >> less) + 1);
    all / of * done + all % of * done / of
}
