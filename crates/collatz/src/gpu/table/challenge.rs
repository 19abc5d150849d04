//! Challenges: items of a launch that the host recomputes.
//!
//! An item has the numbers r + h·2^s for one residue r modulo 2^s and several consecutive values h.
//! `table_walk.cu` records the number of steps of each item. After a launch the host searches the
//! device's list of residues for a challenged residue, and walks all numbers of the item that
//! contains the challenged value h. On the device, a challenge costs a scan of the list, 16 bytes
//! per entry, and three small launches or copies, about 40 µs. On the host, it usually costs the
//! walks of at most 2^12 numbers.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use rayon::prelude::*;
use warpint_device::{Arg, Buffer, Cells, Device, DeviceError, Kernel, Launch, View, assert_room};

use super::kernels::{GROW_THREADS, challenge_source};
use super::pack;
use crate::CollatzError;
use crate::table::{Blocks, Challenged, Residue};

/// The kernels that answer challenges, and the memory of tallies.
#[derive(Debug)]
pub(super) struct Examiner {
    device: Device,
    find: Kernel,
    sum: Kernel,
    /// The sum of table steps of each item.
    pub(super) tallies: Buffer<u32>,
}

/// The data of a completed launch that challenges need.
#[derive(Debug)]
pub(super) struct Launched<'a> {
    pub blocks: Blocks,
    /// The packed residues of the launch, two words each.
    pub residues: View<'a, u64>,
    pub highs: Range<u128>,
    /// The number of consecutive values h per item; the numbers of an item are r + h·2^bits, where
    /// r is its residue.
    pub item: u64,
    /// The number of items per residue.
    pub chunks: u64,
    /// The numbers whose walks the device left to the host.
    pub left: &'a [u128],
}

/// The challenged numbers of a list of residues: the pair (r, h) stands for r + h·2^bits, where r
/// is a residue modulo 2^bits.
pub(super) type Asked = Vec<(Residue, u128)>;

impl Examiner {
    pub(super) fn new(device: &Device, residues: usize) -> Result<Self, DeviceError> {
        let program = device.program(&challenge_source())?;
        Ok(Self {
            device: device.clone(),
            find: program.kernel("table_find", 0)?,
            sum: program.kernel("table_sum", 0)?,
            tallies: device.alloc(4 * residues)?,
        })
    }

    /// Returns the numbers of blocks and threads for a scan of a list of `entries` entries. In long
    /// lists, a thread scans several entries.
    fn scan(&self, entries: u64) -> Launch {
        let most = u64::from(8 * self.device.info().multiprocessors.max(1));
        let blocks = entries.div_ceil(GROW_THREADS.into()).clamp(1, most);
        Launch::linear(blocks as u32, GROW_THREADS)
    }

    /// Adds the first `items` tallies to `sum`, which has one word.
    ///
    /// # Panics
    /// If there are fewer than `items` tallies, or `sum` has no word.
    pub(super) fn add(&self, items: u64, sum: Cells<'_, u64>) -> Result<(), DeviceError> {
        assert_room("tallies", self.tallies.len(), items as usize);
        assert_room("a sum", sum.len(), 1);
        let args = [(&self.tallies).into(), Arg::U32(items as u32), sum.into()];
        // SAFETY: there are `items` tallies, and a sum.
        unsafe { self.sum.launch(self.scan(items), &args) }
    }

    /// Searches the list of a launch for challenged residues. The key of a residue is the first
    /// word of its packed form. Returns a map from keys to indices in the list. A key is missing
    /// from the map if the list does not contain the residue.
    fn find(
        &self,
        challenged: &Challenged,
        launched: &Launched<'_>,
        residues: &[Residue],
    ) -> Result<HashMap<u64, usize>, CollatzError> {
        let keys: BTreeSet<u64> = residues.iter().map(|&residue| pack(residue)[0]).collect();
        let keys: Vec<u64> = keys.into_iter().collect();
        let uploaded = self.device.upload(&keys)?;
        let mut found = self.device.alloc::<u32>(2 * keys.len())?;
        found.clear()?;
        let entries = launched.residues.len() / 2;
        let args = [
            launched.residues.into(),
            Arg::U32(entries as u32),
            (&uploaded).into(),
            Arg::U32(keys.len() as u32),
            (&mut found).into(),
        ];
        // SAFETY: residues have two words, and there are two words for each key.
        unsafe { self.find.launch(self.scan(entries as u64), &args)? };
        let mut places = HashMap::new();
        for (key, place) in keys.iter().zip(found.download()?.chunks_exact(2)) {
            if place[1] > 1 {
                let what = format!("the count of residues {key:x}");
                return Err(challenged.asked.refuted(&what, place[1], 1));
            }
            if place[1] == 1 {
                places.insert(*key, place[0] as usize);
            }
        }
        Ok(places)
    }

    /// Recomputes the items of a launch that contain challenged numbers, and compares the results
    /// with the device's. Removes the challenged numbers of these items from `asked`. A wrong sum
    /// of steps is recorded in `challenged`.
    ///
    /// # Errors
    /// The device fails or lacks memory, the list contains a residue twice, or the device did not
    /// leave a number to the host that it had to leave.
    pub(super) fn examine(
        &self,
        challenged: &Challenged,
        launched: &Launched<'_>,
        asked: &mut Asked,
    ) -> Result<(), CollatzError> {
        let (here, mut rest): (Asked, Asked) =
            asked.drain(..).partition(|(_, high)| launched.highs.contains(high));
        if here.is_empty() {
            *asked = rest;
            return Ok(());
        }
        let residues: Vec<Residue> = here.iter().map(|&(residue, _)| residue).collect();
        let places = self.find(challenged, launched, &residues)?;
        let mut items: HashMap<(usize, u64), (Residue, usize)> = HashMap::new();
        for (residue, high) in here {
            match places.get(&pack(residue)[0]) {
                Some(&place) => {
                    let chunk = ((high - launched.highs.start) / u128::from(launched.item)) as u64;
                    items.entry((place, chunk)).or_insert((residue, 0)).1 += 1;
                }
                None => rest.push((residue, high)),
            }
        }
        *asked = rest;
        let left: HashSet<u128> = launched.left.iter().copied().collect();
        for ((place, chunk), (residue, challenges)) in items {
            let index = place * launched.chunks as usize + chunk as usize;
            let tally = self.tallies.download_part(index..index + 1)?;
            let first = launched.highs.start + u128::from(chunk * launched.item);
            let end = launched.highs.end.min(first + u128::from(launched.item));
            let blocks = launched.blocks;
            let walks = (0..(end - first) as u64).into_par_iter().map(|i| {
                let n = u128::from(residue.low) + ((first + u128::from(i)) << blocks.bits);
                let (steps, is_left) = challenged.walk(n, blocks);
                (steps, (is_left && !left.contains(&n)).then_some(n))
            });
            let (steps, lost) = walks.reduce(|| (0, None), |a, b| (a.0 + b.0, a.1.or(b.1)));
            if let Some(n) = lost {
                let what = format!("the walk of {n}");
                return Err(challenged.asked.refuted(&what, "ended", "left to the host"));
            }
            let tally = tally.first().copied().unwrap_or(0);
            let what = "the steps of an item";
            challenged.asked.compare(what, challenges, tally.into(), steps);
        }
        Ok(())
    }
}
