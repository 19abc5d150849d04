//! The table method (Honda 2017, §4.3 and §4.4) on CPUs. [`crate::gpu::DeviceTable`] is the same
//! method on devices.
//!
//! Let T(n) be n/2 for even n and (3n + 1)/2 for odd n. An interval is processed in blocks [h·2^s,
//! (h + 1)·2^s). Let f be the number of odd steps among the first j steps of T from a residue r
//! modulo 2^s. The residue is *mandatory* if its coefficient 3^f/2^j is above 1 for each j from 1
//! to s; all blocks have the same mandatory residues. By the lemma of [`crate::descent`], numbers
//! of other residues fall below their start if they are at least 2^20.
//!
//! Numbers of mandatory residues are walked. T^s(r + h·2^s) = T^s(r) + h·3^f, with f for j = s.
//! From this value on, a *table step* performs d steps of T: for l < 2^d, T^d(l + h·2^d) = C\[l\] +
//! h·B\[l\], where the tables have C\[l\] = T^d(l) and B\[l\], a power of 3. The walk ends when a
//! table step ends below the start. Numbers of three 32-bit words and more are compared without
//! their low 30 bits: ⌊n/2^30⌋ < ⌊start/2^30⌋.
//!
//! * Numbers below 2^20 are walked one by one.
//! * The ends of an interval that are not whole blocks are processed in blocks of s − 8, s − 16, …
//!   bits. The numbers outside these blocks are walked one by one.
//! * Residues are grown from residues of fewer bits, which gives T^s(r) and f at no extra cost. No
//!   list of all 2^s residues exists.
//! * Numbers below 2^40 use at most two words, and a sieve of at most 30 bits. If the region is a
//!   class that fixes more than 30 bits, the sieve has as many bits as the class.
//! * If the result of a table step is 2^(32·words − 2) or more, the number *overflows*: its path is
//!   followed exactly, by a [`Walker`].
//!
//! **Verified.** The path of each number of the region falls below its start. So all numbers of the
//! region reach 1 if all smaller numbers do. No other assumption is made.
//!
//! **Checksum.** The checksum is a sum of numbers of steps. A walked number of a block contributes
//! the number of its table steps, up to and including the step that ends below the start or
//! overflows. A number that is walked one by one contributes the number of its steps of T. The
//! checksum depends on the region, on d, on s and on the number of words. By default, s and the
//! number of words follow from the region. CPUs and devices compute the same checksum.
//!
//! **Highest.** The values between the ends of table steps are not seen. But if all step ends of a
//! path are below 2^w with w = 32·words − 2, all its values are below 2^(w + d/2). To see this, let
//! x be the value j steps after the start of a table step. Then x ≤ 2^w·(3/2)^j, since T(x) + 1 ≤
//! 3/2·(x + 1); and x ≤ 2^w·2^(d − j), since T(x) ≥ x/2 up to the end. The first bound grows with j
//! and the second one decreases. They are equal for j = d/log2(3), where both are below
//! 2^(w + 0.37·d). So x is always below 2^(w + 0.37·d).
//!
//! A value 3x + 1 of odd x on such a path is 2·T(x), which is below 2^(w + ⌈d/2⌉ + 1). Paths that
//! overflow are walked exactly. If the highest value 3x + 1 on them is 2^(w + ⌈d/2⌉ + 1) or more, it
//! is therefore the highest value of all paths. A lower value is not reported, unless the region
//! has no blocks: then all paths are walked exactly.

mod challenged;
mod cover;
mod residues;
mod tables;
mod walk;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use num_bigint::BigUint;
use rayon::prelude::*;

pub(crate) use challenged::{Challenged, OfPart};
pub(crate) use cover::{Blocks, Class, Cover, Part, width};
pub use residues::{LEAST_SIEVE_BITS, MOST_SIEVE_BITS, Residue, descendants, sieve_size};
pub(crate) use tables::powers;
pub use tables::{LEAST_TABLE_BITS, MOST_TABLE_BITS, Tables};
pub(crate) use walk::{LOW_BITS, MOST_STEPS};

use crate::evidence::asked::{split, within};
use crate::walk::Walker;
use crate::{CollatzError, Highest, Method, Region, Verified, Verifier, Watch};

/// The version of the method. It is incremented when the definition of the method's checksum
/// changes.
const VERSION: u32 = 1;

/// The largest number of 32-bit words in which a number is stored.
pub const MOST_WORDS: u32 = 4;

/// The parameters of the table method.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableOptions {
    /// The number s of bits of the sieve, 8 to 37. The default is ⌊log2(L)⌋ − 10 within these
    /// bounds, where L is the length of the interval. For a class of numbers below 2^b, L is 2^b,
    /// and the default is at least the number of low bits that the class fixes.
    pub sieve_bits: Option<u32>,
    /// The number d of bits of the tables: 2 to 15 on CPUs, 8 to 15 on devices. The default is 12
    /// on CPUs, and 14 on devices with enough shared memory.
    pub table_bits: Option<u32>,
    /// The number of 32-bit words in which a number is stored, 1 to 4. By default, the words have
    /// room for 22 bits more than the largest number of the region, and there are 2 to 4 words.
    /// Numbers below 2^40 use at most 2 words.
    pub words: Option<u32>,
    /// The walker that follows numbers exactly if they overflow their words or take too many table
    /// steps.
    pub walker: Walker,
}

/// The table method on the CPU, in parallel threads.
#[derive(Debug, Clone)]
pub struct TableMethod {
    pub(crate) options: TableOptions,
    pub(crate) tables: Tables,
    /// The seed from which challenges are drawn. `None` means a new random seed for each region.
    pub(crate) seed: Option<u64>,
    /// The count E of numbers such that about one challenge is drawn for every E numbers; `None`
    /// means the default of the CPU or the device.
    pub(crate) every: Option<u64>,
    powers: [u64; 41],
}

/// By default, about one challenge is drawn for this count of numbers. The check of a challenge
/// takes as long as the walks of about 2,000 numbers.
const NUMBERS_OF_A_CHALLENGE: u64 = 1 << 17;

/// The default number of bits of the tables on CPUs. Tables of this size fit in the first-level
/// cache.
const TABLE_BITS: u32 = 12;

/// The residues of the sieve are grown from residues that have this many bits fewer.
pub(crate) const GROWN: u32 = 13;

/// The number of blocks that are processed between two polls of the watch.
const HIGHS: u128 = 1 << 12;

/// The count of numbers that are walked one by one between two polls of the watch.
const CHUNK: u128 = 1 << 14;

pub(crate) fn bounded(
    what: &'static str,
    value: u32,
    least: u32,
    most: u32,
) -> Result<u32, CollatzError> {
    if (least..=most).contains(&value) {
        Ok(value)
    } else {
        Err(CollatzError::Parameter { what, value, least, most })
    }
}

impl TableOptions {
    /// Parses the parameters as [`TableMethod`] formats them. Returns `None` for any other text.
    pub(crate) fn parse(parameters: &str) -> Option<Self> {
        let values = parameters.split(',').map(|part| part.split_once('=').map(|(_, value)| value));
        let [s, d, words] = values.collect::<Option<Vec<_>>>()?.try_into().ok()?;
        let bits = |text: &str| match text {
            "auto" => Some(None),
            text => text.parse().ok().map(Some),
        };
        let options = Self {
            sieve_bits: bits(s)?,
            table_bits: bits(d)?,
            words: bits(words)?,
            walker: Walker::default(),
        };
        let method = TableMethod::new(options.clone()).ok()?;
        (method.described() == parameters).then_some(options)
    }
}

impl TableMethod {
    /// Creates the method with the given options.
    ///
    /// # Errors
    /// An option is out of its bounds.
    pub fn new(options: TableOptions) -> Result<Self, CollatzError> {
        if let Some(bits) = options.sieve_bits {
            bounded("the bits of the sieve", bits, LEAST_SIEVE_BITS, MOST_SIEVE_BITS)?;
        }
        if let Some(words) = options.words {
            bounded("the words of a number", words, 1, MOST_WORDS)?;
        }
        let bits = options.table_bits.unwrap_or(TABLE_BITS);
        let bits = bounded("the bits of a table", bits, LEAST_TABLE_BITS, MOST_TABLE_BITS)?;
        let tables = Tables::new(bits);
        Ok(Self { options, tables, seed: None, every: None, powers: powers() })
    }

    /// Makes the method draw challenges (see [`crate::evidence`]) from the given seed, about one
    /// for every `numbers` numbers.
    #[must_use]
    pub fn with_challenges(self, seed: u64, numbers: u64) -> Self {
        Self { seed: Some(seed), every: Some(numbers), ..self }
    }

    /// Returns the division of a region into parts.
    pub(crate) fn cover(&self, region: &Region) -> Result<Cover, CollatzError> {
        Cover::new(region, self.options.sieve_bits, self.options.words)
    }

    /// Returns the parameters as text: `s=37,d=12,words=3`, with `auto` for values derived from the
    /// region.
    pub(crate) fn described(&self) -> String {
        let said = |x: Option<u32>| x.map_or("auto".into(), |x| x.to_string());
        let TableOptions { sieve_bits, words, .. } = self.options;
        format!("s={},d={},words={}", said(sieve_bits), self.tables.bits(), said(words))
    }

    /// Verifies the part with the given index in `cover`, and returns the result. Returns `None` if
    /// the watch stopped the work.
    pub(crate) fn part(
        &self,
        cover: &Cover,
        index: usize,
        challenged: &Challenged,
        watch: &dyn Watch,
    ) -> Option<Verified> {
        match cover.parts[index] {
            Part::Plain { from, to } => {
                self.plain((cover.class, from, to), challenged, challenged.of(index), watch)
            }
            Part::Blocks(blocks) => {
                self.blocks(cover, blocks, challenged, challenged.of(index), watch)
            }
        }
    }

    /// Walks the numbers n of a class with from ≤ n < to one by one, and returns the result.
    /// Returns `None` if the watch stopped the work.
    fn plain(
        &self,
        (class, from, to): (Class, u128, u128),
        challenged: &Challenged,
        here: &OfPart,
        watch: &dyn Watch,
    ) -> Option<Verified> {
        let numbers = class.count(from, to);
        let chunks = u64::try_from(numbers.div_ceil(CHUNK)).unwrap_or(u64::MAX);
        let some = |part: Range<u128>| {
            let numbers = (part.end - part.start) as u64;
            let mut some = Verified { walked: numbers, ..Verified::default() };
            for n in part.map(|index| class.nth(from, index)) {
                match self.options.walker.descend(n) {
                    Some(descent) => {
                        some.checksum = some.checksum.wrapping_add(descent.steps);
                        keep(&mut some.highest, Highest { value: descent.highest, start: n });
                    }
                    None => some.unresolved.push(n),
                }
            }
            some.numbers = numbers.into();
            some
        };
        let one = |all: Verified, chunk: u64| {
            if watch.is_stopped() {
                return None;
            }
            let first = u128::from(chunk) * CHUNK;
            let last = numbers.min(first + CHUNK);
            let parts = split(first..last, within(&here.plain, first..last));
            let all = parts.into_iter().fold(all, |all, (part, challenges)| {
                let found = some(part.clone());
                if challenges > 0 {
                    let steps = part.map(|index| challenged.plain_steps(class.nth(from, index)));
                    let what = "a sum of steps";
                    challenged.asked.compare(what, challenges, found.checksum, steps.sum());
                }
                sum(all, found)
            });
            watch.done(last - first);
            Some(all)
        };
        let verified = (0..chunks).into_par_iter().try_fold(Verified::default, one);
        verified.try_reduce(Verified::default, |a, b| Some(sum(a, b)))
    }

    /// Walks the numbers of mandatory residues in a range of blocks, and returns the result.
    /// Returns `None` if the watch stopped the work.
    fn blocks(
        &self,
        cover: &Cover,
        blocks: Blocks,
        challenged: &Challenged,
        here: &OfPart,
        watch: &dyn Watch,
    ) -> Option<Verified> {
        let numbers = cover.numbers(&Part::Blocks(blocks));
        let nodes = self.nodes(cover, blocks.bits);
        let chunks = blocks.count.div_ceil(HIGHS);
        let tasks = u64::try_from(nodes.residues.len() as u128 * chunks).unwrap_or(u64::MAX);
        let shares = Shares::new(numbers, tasks);
        // The challenged numbers, by the residue from which theirs is grown and the index of the
        // chunk.
        let mut asked: HashMap<(u64, u128), Vec<(u64, u128)>> = HashMap::new();
        for (residue, high) in &here.blocks {
            let key = (residue.low & ((1 << nodes.bits) - 1), (high - blocks.first) / HIGHS);
            asked.entry(key).or_default().push((residue.low, *high));
        }
        let task = |mut all: Verified, task: u64| {
            if watch.is_stopped() {
                return None;
            }
            let task = u128::from(task);
            let node = nodes.residues[(task / chunks) as usize];
            let first = blocks.first + task % chunks * HIGHS;
            let count = HIGHS.min(blocks.first + blocks.count - first) as u64;
            let here = asked.get(&(node.low, task % chunks));
            let mut over = vec![];
            node.grow(nodes.bits, blocks.bits, &self.powers, &mut |residue| {
                let mut walk = |highs: (u128, u64)| {
                    let steps = self.walk(residue, blocks.bits, highs, blocks.words, &mut over);
                    all.checksum = all.checksum.wrapping_add(steps);
                    steps
                };
                all.walked += count;
                let Some(here) = here else {
                    walk((first, count));
                    return;
                };
                let of_residue = here.iter().filter(|(low, _)| *low == residue.low);
                let mut highs: Vec<u128> = of_residue.map(|&(_, high)| high).collect();
                highs.sort_unstable();
                for (part, challenges) in split(first..first + u128::from(count), &highs) {
                    let steps = walk((part.start, (part.end - part.start) as u64));
                    if challenges > 0 {
                        let slow = part.map(|h| challenged.table_steps(&residue, h, blocks)).sum();
                        challenged.asked.compare("a sum of steps", challenges, steps, slow);
                    }
                }
            });
            all.add(self.finish(&over));
            watch.done(shares.next());
            Some(all)
        };
        let verified = (0..tasks).into_par_iter().try_fold(Verified::default, task);
        let mut verified = verified.try_reduce(Verified::default, |a, b| Some(sum(a, b)))?;
        watch.done(shares.rest());
        verified.numbers = numbers;
        Some(verified)
    }

    /// Returns the mandatory residues from which the residues of `bits` bits are grown. The
    /// returned residues have `bits` − [`GROWN`] bits, or as many bits as the class if this is
    /// more.
    pub(crate) fn nodes(&self, cover: &Cover, bits: u32) -> Nodes {
        let from = cover.class.bits;
        let middle = bits.saturating_sub(GROWN).max(from);
        let root = cover.root(&self.powers);
        let grown = root.map(|root| root.grown(from, middle, &self.powers));
        Nodes { bits: middle, residues: grown.unwrap_or_default() }
    }

    /// Follows the paths of the given numbers exactly. Returns a result with the highest value on
    /// these paths and with the unresolved numbers. All counts of the result are 0.
    pub(crate) fn finish(&self, starts: &[u128]) -> Verified {
        let one = |mut all: Verified, &start: &u128| {
            match self.options.walker.descend(start) {
                Some(descent) => {
                    keep(&mut all.highest, Highest { value: descent.highest, start });
                }
                None => all.unresolved.push(start),
            }
            all
        };
        let verified = starts.par_iter().fold(Verified::default, one);
        verified.reduce(Verified::default, sum)
    }

    /// Removes the highest value of a result unless it is certain to be the highest of all paths of
    /// the region: see the documentation of the module.
    pub(crate) fn confirm_highest(&self, cover: &Cover, verified: &mut Verified) {
        let has_blocks = cover.parts.iter().any(|part| matches!(part, Part::Blocks(_)));
        let bits = width(cover.words) + self.tables.bits().div_ceil(2);
        let least = BigUint::from(2u32) << bits;
        verified.highest.take_if(|highest| has_blocks && highest.value < least);
    }
}

impl Verifier for TableMethod {
    fn method(&self) -> Method {
        Method::Table
    }

    fn version(&self) -> u32 {
        VERSION
    }

    fn parameters(&self) -> String {
        self.described()
    }

    fn place(&self) -> String {
        "cpu".into()
    }

    fn takes(&self, region: &Region) -> Result<(), CollatzError> {
        self.cover(region).map(drop)
    }

    fn verify(
        &mut self,
        region: &Region,
        watch: &dyn Watch,
    ) -> Result<Option<Verified>, CollatzError> {
        let cover = self.cover(region)?;
        let every = self.every.unwrap_or(NUMBERS_OF_A_CHALLENGE);
        let challenged = Challenged::new(self, self.place(), region, &cover, every)?;
        let mut verified = Verified::default();
        for part in 0..cover.parts.len() {
            match self.part(&cover, part, &challenged, watch) {
                Some(more) => verified.add(more),
                None => return Ok(None),
            }
        }
        self.confirm_highest(&cover, &mut verified);
        verified.evidence = Some(challenged.end(&verified)?);
        Ok(Some(verified))
    }
}

/// The mandatory residues modulo 2^`bits` from which the residues of the sieve are grown.
#[derive(Debug)]
pub(crate) struct Nodes {
    pub(crate) bits: u32,
    pub(crate) residues: Vec<Residue>,
}

fn sum(mut a: Verified, b: Verified) -> Verified {
    a.add(b);
    a
}

fn keep(highest: &mut Option<Highest>, other: Highest) {
    *highest = Some(match highest.take() {
        Some(highest) => highest.max(other),
        None => other,
    });
}

/// Divides a count of numbers into shares that differ by at most one.
#[derive(Debug)]
pub(crate) struct Shares {
    numbers: u128,
    shares: u64,
    taken: AtomicU64,
}

impl Shares {
    pub(crate) fn new(numbers: u128, shares: u64) -> Self {
        Self { numbers, shares, taken: AtomicU64::new(0) }
    }

    /// Returns the next share. Returns 0 after the last share.
    pub(crate) fn next(&self) -> u128 {
        let (index, shares) = (self.taken.fetch_add(1, Ordering::Relaxed), u128::from(self.shares));
        if index >= self.shares {
            return 0;
        }
        self.numbers / shares + u128::from(u128::from(index) < self.numbers % shares)
    }

    /// Returns the count of numbers that belong to no share: all numbers if the number of shares is
    /// 0, otherwise 0.
    pub(crate) fn rest(&self) -> u128 {
        if self.shares == 0 { self.numbers } else { 0 }
    }
}
