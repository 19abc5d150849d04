//! Computation of delays on the CPU, in parallel threads.

use std::sync::{Arc, OnceLock};

use num_bigint::BigUint;
use rayon::prelude::*;

use super::tables::steps;
use super::{
    Bound, DelayRecord, DelayTable, Delays, Groups, POWERS, StepTable, Survey, check_numbers,
    exact, exact_delay,
};
use crate::CollatzError;
use crate::walk::step;

/// The computation of delays on the CPU, with tables. Steps are computed in integers of 64 or 128
/// bits. Where 128 bits do not suffice, integers of any size are used.
#[derive(Debug, Clone)]
pub struct Host {
    steps: StepTable,
    small: DelayTable,
    /// A walk is computed in 64 bits if all its table steps begin at values of at most this many
    /// bits. Otherwise it is computed in 128 bits, if they begin at values of at most `wide` bits.
    narrow: u32,
    wide: u32,
    /// The groups of residues, computed when a long range first needs them.
    groups: Arc<OnceLock<Groups>>,
}

/// The largest count of numbers in a task whose numbers are not processed in groups.
const PIECE: u64 = 1 << 18;
/// The number of bits of the residues that are processed in groups.
const GROUP_BITS: u32 = 16;
/// The count of numbers in a task whose numbers are processed in groups. The first of these numbers
/// is a multiple of 2^[`GROUP_BITS`].
const GROUPED: u64 = 1 << 20;

impl Default for Host {
    /// Creates the computation with a table of 12-bit steps, and a table of the delays of all
    /// numbers below 2^20.
    fn default() -> Self {
        Self::new(12, 20)
    }
}

impl Host {
    /// Creates the computation with a table of steps of `step_bits` bits, and a table of the delays
    /// of all numbers below 2^`small_bits`. Values out of range are replaced by the nearest valid
    /// ones. If `small_bits` is less than `step_bits`, it is replaced by `step_bits`.
    #[must_use]
    pub fn new(step_bits: u32, small_bits: u32) -> Self {
        let steps = StepTable::new(step_bits);
        let small = DelayTable::new(small_bits.max(steps.bits()));
        // A table step of v < 2^(w − d) gives at most v·(3/2)^d + 3^d < 2^w.
        let growth = steps.bits();
        Self { steps, small, narrow: 64 - growth, wide: 128 - growth, groups: Arc::default() }
    }

    /// Lowers the limits of the integers, for tests: table steps from values of more than `narrow`
    /// bits are not computed in 64 bits, and steps from values of more than `wide` bits are not
    /// computed in 128 bits.
    #[must_use]
    pub fn with_words(self, narrow: u32, wide: u32) -> Self {
        Self { narrow: narrow.min(self.narrow), wide: wide.min(self.wide), ..self }
    }

    /// Returns the number of steps n/2 and 3n + 1 from v to 1, and whether a table step began at a
    /// value of at least `limit`. Returns `None` if a value is too large for 128 bits.
    fn walk(&self, v: u128, limit: u128) -> Option<(u32, bool)> {
        if let (Ok(v), limit) = (u64::try_from(v), u64::try_from(limit).unwrap_or(u64::MAX))
            && let Some((count, highest)) = self.walk_narrow(v)
        {
            return Some((count, highest >= limit));
        }
        let (bits, table) = (self.steps.bits(), self.steps.entries());
        let (mut v, mut count, mut highest) = (v, 0, 0);
        while v >> self.small.bits() != 0 {
            if v >> self.wide != 0 {
                return None;
            }
            highest = highest.max(v);
            let entry = table[v as usize & (table.len() - 1)];
            let j = entry >> 24;
            count += j;
            v = (v >> bits) * u128::from(POWERS[(j - bits) as usize])
                + u128::from(entry & 0xff_ffff);
        }
        Some((count + u32::from(self.small.delays()[v as usize]), highest >= limit))
    }

    /// Like [`Self::walk`], but computes in 64 bits. Returns the number of steps, and the largest
    /// value at which a table step began. Returns `None` if a value is too large for 64 bits.
    fn walk_narrow(&self, v: u64) -> Option<(u32, u64)> {
        let (bits, table) = (self.steps.bits(), self.steps.entries());
        let (mut v, mut count, mut highest) = (v, 0, 0);
        while v >> self.small.bits() != 0 {
            if v >> self.narrow != 0 {
                return None;
            }
            highest = highest.max(v);
            let entry = table[v as usize & (table.len() - 1)];
            let j = entry >> 24;
            count += j;
            v = (v >> bits) * u64::from(POWERS[(j - bits) as usize]) + u64::from(entry & 0xff_ffff);
        }
        Some((count + u32::from(self.small.delays()[v as usize]), highest))
    }

    /// Computes the delays of the `numbers` numbers n with `from` ≤ n < `from` + `numbers`. Calls
    /// `visit` for each n, in any order, with the index n − `from`, the delay, and whether the path
    /// may rise above `record`.
    fn scan(
        &self,
        from: u128,
        numbers: u64,
        record: Option<&BigUint>,
        visit: &mut impl FnMut(u64, u32, bool),
    ) -> Result<(), CollatzError> {
        let below = (1u128 << self.small.bits()).saturating_sub(from).min(numbers.into()) as u64;
        for i in 0..below {
            let n = from + u128::from(i);
            let delay = self.small.delays()[n as usize];
            visit(i, delay.into(), record.is_some_and(|record| rises_above(n, record)));
        }
        if below == numbers {
            return Ok(());
        }
        let (from, numbers) = (from + u128::from(below), numbers - below);
        let last = from + u128::from(numbers - 1);
        let bound = Bound::new(record, last, &self.steps, &self.small);
        // By the first lemma no common step passes 1; and each common start serves several numbers.
        let most = from.ilog2().min(numbers.ilog2().saturating_sub(4));
        let k = bound.common.unwrap_or(0).min(most);
        for first in 0..numbers.min(1 << k) {
            let n = from + u128::from(first);
            let (c, odd) = steps(n as u32 & ((1 << k) - 1), k);
            let power = u128::from(POWERS[odd as usize]);
            let mut v = (n >> k) * power + u128::from(c);
            for i in (first..numbers).step_by(1 << k) {
                let n = from + u128::from(i);
                let (delay, high) = match self.walk(v, bound.limit) {
                    Some((count, high)) => (k + odd + count, high),
                    None => (exact_delay(n)?, true),
                };
                let candidate = match (record, bound.common) {
                    (None, _) => false,
                    (Some(_), Some(_)) => high,
                    (Some(record), None) => rises_above(n, record),
                };
                visit(below + i, delay, candidate);
                v += power;
            }
        }
        Ok(())
    }

    fn survey_piece(
        &self,
        from: u128,
        numbers: u64,
        record: Option<&BigUint>,
    ) -> Result<Survey, CollatzError> {
        let mut longest: Option<(u32, u64)> = None;
        let (mut sum, mut candidates) = (0u64, vec![]);
        self.scan(from, numbers, record, &mut |i, delay, candidate| {
            sum += u64::from(delay);
            if longest.is_none_or(|(best, at)| delay > best || delay == best && i < at) {
                longest = Some((delay, i));
            }
            if candidate {
                candidates.push(from + u128::from(i));
            }
        })?;
        candidates.sort_unstable();
        let (delay, i) = longest.unwrap_or_default();
        let longest = DelayRecord { n: from + u128::from(i), delay };
        Ok(Survey { sum: sum.into(), longest, candidates })
    }
}

impl Host {
    /// Like [`Delays::survey`], by groups of residues. `from` and `numbers` are multiples of 2^16.
    /// In each group, only the numbers of the smallest residue are walked. If `record` is true,
    /// lists candidates: such a number and all numbers that share its walk, if a table step begins
    /// at a value of at least `limit` or a value is too large for 128 bits.
    fn survey_groups(
        &self,
        from: u128,
        numbers: u64,
        limit: u128,
        record: bool,
    ) -> Result<Survey, CollatzError> {
        let groups = self.groups.get_or_init(|| Groups::new(GROUP_BITS));
        let mut longest: Option<(u32, u64)> = None;
        let (mut sum, mut candidates) = (0u64, vec![]);
        for (c, odd, members) in groups.all() {
            let (power, residue) = (u128::from(POWERS[odd as usize]), u64::from(members[0].1));
            let mut v = (from >> GROUP_BITS) * power + u128::from(c);
            for block in (0..numbers).step_by(1 << GROUP_BITS) {
                let (delay, high) = match self.walk(v, limit) {
                    Some((count, high)) => (GROUP_BITS + odd + count, high),
                    None => (exact_delay(from + u128::from(block + residue))?, true),
                };
                sum += u64::from(delay) * members.len() as u64;
                let at = block + residue;
                if longest.is_none_or(|(best, i)| delay > best || delay == best && at < i) {
                    longest = Some((delay, at));
                }
                if high && record {
                    let all =
                        members.iter().map(|&(_, low)| from + u128::from(block) + u128::from(low));
                    candidates.extend(all);
                }
                v += power;
            }
        }
        candidates.sort_unstable();
        let (delay, i) = longest.unwrap_or_default();
        let longest = DelayRecord { n: from + u128::from(i), delay };
        Ok(Survey { sum: sum.into(), longest, candidates })
    }

    /// Chooses the first piece of the range of all n with `from` ≤ n < `from` + `numbers`. Returns
    /// the count of numbers in the piece, and whether they are processed in groups. `common` is
    /// [`Bound::common`] of the survey to which the range belongs.
    fn piece(&self, from: u128, numbers: u64, common: Option<u32>) -> (u64, bool) {
        let block = 1u64 << GROUP_BITS;
        let before = (from % u128::from(block)) as u64;
        // Common steps begin at 2^16 or more; the table has the delays of smaller numbers.
        let possible = common.is_some_and(|common| common >= GROUP_BITS)
            && from.ilog2() >= GROUP_BITS.max(self.small.bits());
        match numbers {
            GROUPED.. if possible && before == 0 => (GROUPED, true),
            GROUPED.. if possible => (block - before, false),
            _ => (numbers.min(PIECE), false),
        }
    }
}

/// Returns whether the path of n rises above `record`, computed exactly.
fn rises_above(n: u128, record: &BigUint) -> bool {
    let Ok(record) = u128::try_from(record) else {
        return exact(n).map_or(true, |path| path.maximum > *record);
    };
    let mut x = n;
    if n > record {
        return true;
    }
    while x > 1 {
        let odd = x & 1 == 1;
        let Some(next) = step(x) else { return true };
        if odd && next > record / 2 {
            return true;
        }
        x = next;
    }
    false
}

impl Delays for Host {
    fn place(&self) -> String {
        "cpu".into()
    }

    fn chunk(&self) -> u64 {
        GROUPED << 4
    }

    fn survey(
        &mut self,
        from: u128,
        numbers: u64,
        record: Option<&BigUint>,
    ) -> Result<Option<Survey>, CollatzError> {
        check_numbers(from, numbers)?;
        let this = &*self;
        let last = from + u128::from(numbers - 1);
        let bound = Bound::new(record, last, &this.steps, &this.small);
        let (mut work, mut done) = (vec![], 0);
        while done < numbers {
            let first = from + u128::from(done);
            let (len, grouped) = this.piece(first, numbers - done, bound.common);
            work.push((first, len, grouped));
            done += len;
        }
        let pieces = work.into_par_iter().map(|(first, len, grouped)| {
            if grouped {
                this.survey_groups(first, len, bound.limit, record.is_some())
            } else {
                this.survey_piece(first, len, record)
            }
        });
        // Pieces are joined in order, so that candidates ascend.
        pieces.map(|piece| piece.map(Some)).try_reduce(
            || None,
            |a, b| {
                Ok(match (a, b) {
                    (Some(a), Some(b)) => Some(a.and(b)),
                    (a, b) => a.or(b),
                })
            },
        )
    }

    fn fill(&mut self, from: u128, delays: &mut [u32]) -> Result<(), CollatzError> {
        check_numbers(from, delays.len() as u64)?;
        let this = &*self;
        delays.par_chunks_mut(PIECE as usize).enumerate().try_for_each(|(piece, part)| {
            let first = from + u128::from(piece as u64 * PIECE);
            let numbers = part.len() as u64;
            this.scan(first, numbers, None, &mut |i, delay, _| part[i as usize] = delay)
        })
    }
}
