//! The launches of the kernel that walks the numbers of a list of residues.

use std::ops::Range;
use std::time::{Duration, Instant};

use warpint_device::{Arg, DeviceError, Kernel, Launch, assert_room};

use super::challenge::{Asked, Launched};
use super::kernels::Walk;
use super::{DeviceTable, List, portion};
use crate::table::{Blocks, Challenged};
use crate::{CollatzError, Verified, Watch};

/// The largest count of numbers per item. The numbers of an item are r + h·2^s for one residue r
/// modulo 2^s and consecutive values h. The times that lanes need for items of this size differ by
/// a few percent only.
const ITEM: u64 = 1 << 12;

/// The intended number of items per thread. In a launch with few numbers, a thread has fewer items.
const ITEMS: u64 = 16;

/// The least and the greatest duration that a launch should have.
const LAUNCH: [Duration; 2] = [Duration::from_millis(60), Duration::from_millis(200)];

/// The results of a launch.
struct Answer {
    /// The sum of the table steps of all numbers.
    steps: u64,
    /// The sum of all tallies, which must be equal to `steps`.
    tallies: u64,
    /// The count of numbers left to the host, as given by two counters of the device. The two
    /// values must be equal.
    left: [u64; 2],
    /// The numbers left to the host; `None` if they do not all fit in the buffer.
    starts: Option<Vec<u128>>,
}

impl DeviceTable {
    /// Walks the numbers of a list of `count` residues, in several launches, and returns the
    /// result. Returns `None` if the watch stopped the work. `numbers` is the count of numbers that
    /// is reported to the watch in all. `asked` has the challenged numbers of the list.
    pub(super) fn walk_list(
        &mut self,
        (list, count): (List<'_>, u64),
        blocks: Blocks,
        numbers: u128,
        (challenged, mut asked): (&Challenged, Asked),
        watch: &dyn Watch,
    ) -> Result<Option<Verified>, CollatzError> {
        let mut verified = Verified::default();
        if count == 0 {
            watch.done(numbers);
            return Ok(Some(verified));
        }
        let kernel = self.walk_kernel(blocks.words, blocks.bits)?;
        let work = u128::from(count) * blocks.count;
        let (mut done, mut left) = (0, vec![]);
        // Ranges of residues with ranges of values h, to be processed in order.
        let mut open = vec![((0, count), (0, blocks.count))];
        while let Some(((residue, residues), (high, highs))) = open.pop() {
            if watch.is_stopped() {
                return Ok(None);
            }
            let some = residues.min(self.budget);
            if some < residues {
                open.push(((residue + some, residues - some), (high, highs)));
            }
            let few = highs.min(u128::from(self.budget / some)).max(1);
            if few < highs {
                open.push(((residue, some), (high + few, highs - few)));
            }
            let begun = Instant::now();
            let from = blocks.first + high;
            let range = residue..residue + some;
            let (item, chunks) =
                self.launch((&kernel, blocks.words), (list, range.clone()), (from, few as u64))?;
            // Meanwhile the host finishes the numbers that the previous launch left.
            verified.add(self.cpu.finish(&left));
            let Answer { steps, tallies, left: counts, starts } = self.launched(blocks.words)?;
            let most = some * few as u64;
            if counts[0] != counts[1] || counts[0] > most {
                let what = "the count of starts left to the host";
                let expected = format!("{}, at most {most}", counts[1]);
                return Err(challenged.asked.refuted(what, counts[0], expected));
            }
            let Some(starts) = starts else {
                // Too many were left: those of fewer numbers fit.
                left.clear();
                self.budget = (self.budget / 2).max(self.limits.left as u64);
                open.push(((residue, some), (high, few)));
                continue;
            };
            left = starts;
            if steps != tallies {
                return Err(challenged.asked.refuted("a sum of steps", steps, tallies));
            }
            let walked = some * few as u64;
            // Each number takes at least one step.
            if steps < walked {
                return Err(challenged.asked.refuted("a sum of steps", steps, walked));
            }
            self.adapt(begun.elapsed(), walked);
            let highs = from..from + few;
            let (residues, left) = (list.residues(&self.lists, range), &left[..]);
            let launched = Launched { blocks, residues, highs, item, chunks, left };
            self.examiner.examine(challenged, &launched, &mut asked)?;
            verified.add(Verified { walked, checksum: steps, ..Verified::default() });
            let before = portion(numbers, done, work);
            done += u128::from(walked);
            watch.done(portion(numbers, done, work) - before);
        }
        verified.add(self.cpu.finish(&left));
        match asked.first() {
            Some((residue, _)) => {
                let what = format!("the residue {} mod 2^{}", residue.low, blocks.bits);
                Err(challenged.asked.refuted(&what, "missing", "one of the list"))
            }
            None => Ok(Some(verified)),
        }
    }

    /// Adapts the size of the next launch. The last launch had `numbers` numbers and took the time
    /// `took`.
    fn adapt(&mut self, took: Duration, numbers: u64) {
        if took > LAUNCH[1] {
            self.budget = (self.budget / 2).max(self.limits.left as u64);
        } else if took < LAUNCH[0] && numbers > self.budget / 2 {
            self.budget = (self.budget * 2).min(1 << 40);
        }
    }

    /// Launches a kernel that walks the numbers r + h·2^s of some residues r modulo 2^s. The kernel
    /// is compiled for numbers of `words` 32-bit words. `range` has the indices of the residues in
    /// the list. The values h are those with `high` ≤ h < `high` + `highs`. Returns the number of
    /// values h per item, and the number of items per residue. Does not wait for the kernel.
    ///
    /// # Panics
    /// If the list does not contain the residues, or the tallies do not fit.
    fn launch(
        &mut self,
        (kernel, words): (&Kernel, u32),
        (list, range): (List<'_>, Range<u64>),
        (high, highs): (u128, u64),
    ) -> Result<(u64, u64), DeviceError> {
        let residues = range.end - range.start;
        let grid = self.device.info().multiprocessors * self.blocks;
        let threads = u64::from(grid) * u64::from(self.threads);
        // The tallies must fit, at least four per residue.
        let fewest = highs.div_ceil(self.examiner.tallies.len() as u64 / residues);
        let item = (residues * highs / (ITEMS * threads)).clamp(32, ITEM).max(fewest).min(highs);
        let chunks = highs.div_ceil(item);
        assert_room("tallies", self.examiner.tallies.len(), (residues * chunks) as usize);
        assert_room("starts", self.over.len(), self.limits.left * words as usize);
        self.state.upload(&[0; 5])?;
        let args = [
            (&mut self.state).into(),
            (&mut self.over).into(),
            Arg::U32(self.limits.left as u32),
            list.residues(&self.lists, range).into(),
            (&self.entries).into(),
            (&self.powers).into(),
            Arg::U64(high as u64),
            Arg::U64((high >> 64) as u64),
            Arg::U64(highs),
            Arg::U32(item as u32),
            Arg::U32(chunks as u32),
            Arg::U32((residues * chunks) as u32),
            (&mut self.examiner.tallies).into(),
        ];
        let shared = Walk::shared_bytes(self.cpu.tables.bits(), self.threads);
        let shape = Launch::linear(grid, self.threads).shared(shared);
        // SAFETY: the residues are in the list, each item has a tally, and the number of starts
        // that fit is passed; state, entries and powers are those of all walks.
        unsafe { kernel.launch(shape, &args)? };
        self.examiner.add(residues * chunks, self.state.cells(3..4))?;
        Ok((item, chunks))
    }

    /// Waits for the last launch and reads its results. `words` is the number of 32-bit words per
    /// number for which the kernel of that launch was compiled.
    fn launched(&self, words: u32) -> Result<Answer, DeviceError> {
        let state = self.state.download()?;
        let [_, left, steps, tallies, left_again] = <[u64; 5]>::try_from(state).unwrap_or_default();
        let mut answer = Answer { steps, tallies, left: [left, left_again], starts: None };
        if left > self.limits.left as u64 {
            return Ok(answer);
        }
        let words = words as usize;
        let over = self.over.download_part(0..left as usize * words)?;
        // Numbers are stored as four times the starts.
        let start = |words: &[u32]| {
            words.iter().rev().fold(0u128, |start, &word| start << 32 | u128::from(word)) >> 2
        };
        answer.starts = Some(over.chunks(words).map(start).collect());
        Ok(answer)
    }
}
