//! Searches in batches. Groups of searches advance at the same time, so that a device tests the candidates
//! of one group while the host prepares those of the others.

use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use warpint_integer::{Executor, IntegerError, Operation, PrimalityTest, UintBatch, Width, check};
use warpint_progress::Watch;

use crate::primes::{Common, Search, stream, zeros};
use crate::request::Test;
use crate::{Request, TestKeysError};

/// The largest number of candidates that are tested at a time on the CPU.
const MOST_ON_CPU: usize = 1 << 12;
/// The least and the largest number of candidates that are tested at a time on a device.
const ON_DEVICE: [usize; 2] = [1 << 15, 1 << 17];
/// The largest number of candidates for primes of this number of bits. The time of a test grows with the
/// third power of the length; the number of candidates falls with the second.
const BITS_OF_MOST: usize = 1024;

/// The number of groups of searches on a device: one waits for the device, and the host prepares the
/// candidates of the others.
const GROUPS_ON_DEVICE: usize = 3;

/// The largest number of candidates of one search that are tested at a time. More than one is tested
/// if few searches remain.
const MOST_OF_ONE: usize = 16;

/// The time on the CPU after which a stop request should take effect.
const NANOSECONDS: f64 = 5e8;

/// One result in `PER_SAMPLE` of a device is computed again on the CPU, but at least
/// [`LEAST_SAMPLE`] results of a batch.
const PER_SAMPLE: usize = 1024;
const LEAST_SAMPLE: usize = 16;

/// How many searches advance at a time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manner {
    /// The number of candidates of a group that are tested at a time.
    pub(crate) most: usize,
    /// The largest number of groups. A group has at least `most` primes to find, unless it is the only one.
    pub(crate) groups: usize,
}

impl Manner {
    pub(crate) fn of(executor: &Executor, width: Width) -> Self {
        if !executor.is_cpu() {
            let ratio = (width.bits() as usize).div_ceil(BITS_OF_MOST);
            let most = (ON_DEVICE[1] / (ratio * ratio)).max(ON_DEVICE[0]);
            return Self { most, groups: GROUPS_ON_DEVICE };
        }
        let each = Operation::ProbablePrime.nanoseconds(&[width]);
        let threads = rayon::current_num_threads() as f64;
        let most = ((NANOSECONDS * threads / each) as usize).clamp(16, MOST_ON_CPU);
        Self { most, groups: 1 }
    }
}

/// The test for primality, in two parts: a number that passes both is a prime.
pub(crate) struct Tests<'a> {
    executor: &'a Executor,
    width: Width,
    /// The strong test to base 2, for all candidates.
    first: PrimalityTest,
    /// For those that pass the first.
    second: PrimalityTest,
    /// Whether a device computes the second part. A small batch takes it nearly as long as a large one, so
    /// numbers are collected for it.
    second_on_device: bool,
}

impl<'a> Tests<'a> {
    pub(crate) fn new(
        executor: &'a Executor,
        width: Width,
        request: &Request,
    ) -> Result<Self, IntegerError> {
        let second = match request.test {
            Test::BailliePsw => PrimalityTest::strong(&[])?.with_lucas(),
            Test::Strong => {
                let base = stream(request.seed, u64::MAX - 1).next_u32() | 1 << 31;
                PrimalityTest::strong(&[base])?
            }
        };
        Ok(Self {
            executor,
            width,
            // The sieve has done the trial divisions.
            first: PrimalityTest::strong(&[2])?.with_trial_division(0),
            second: second.with_trial_division(0),
            second_on_device: !executor.is_cpu() && request.test == Test::Strong,
        })
    }

    /// Takes the first part of the test of `numbers`, the limbs of numbers one after the other, and calls
    /// `read` with the limbs and the verdicts.
    fn first<R>(
        &self,
        numbers: Vec<u32>,
        read: impl FnOnce(&[u32], &[bool]) -> R,
    ) -> Result<R, TestKeysError> {
        self.take(&self.first, !self.executor.is_cpu(), numbers, read)
    }

    /// Like [`Self::first`], for the second part.
    fn second<R>(
        &self,
        numbers: Vec<u32>,
        read: impl FnOnce(&[u32], &[bool]) -> R,
    ) -> Result<R, TestKeysError> {
        self.take(&self.second, self.second_on_device, numbers, read)
    }

    fn take<R>(
        &self,
        test: &PrimalityTest,
        on_device: bool,
        numbers: Vec<u32>,
        read: impl FnOnce(&[u32], &[bool]) -> R,
    ) -> Result<R, TestKeysError> {
        let batch = UintBatch::from_vec(&Executor::cpu(), self.width, numbers)?;
        let found = batch.is_probable_prime_by(self.executor, test)?;
        if let Some(device) = self.executor.device().filter(|_| on_device) {
            let verdicts = found.iter().map(|&prime| u32::from(prime)).collect();
            let verdicts = UintBatch::from_vec(&Executor::cpu(), Width::new(32)?, verdicts)?;
            let sample = sample(found.len());
            let wrong = check::probable_primes(&batch, &verdicts, &sample, test)?;
            if !wrong.is_empty() {
                let (wrong, of) = (wrong.len(), sample.len());
                let what = format!("{wrong} of {of} tests for primality computed again");
                return Err(TestKeysError::Wrong { device: device.info().id.clone(), what });
            }
        }
        // The batch is on the CPU.
        Ok(read(batch.as_limbs().unwrap_or_default(), &found))
    }
}

/// Returns the indices of the results to compute again, ascending and without repetition. They
/// cannot be foreseen.
fn sample(count: usize) -> Vec<usize> {
    let wanted = (count / PER_SAMPLE).max(LEAST_SAMPLE);
    if wanted >= count {
        return (0..count).collect();
    }
    let mut rng = ChaCha8Rng::seed_from_u64(RandomState::new().hash_one(0));
    let mut below = || ((u128::from(rng.next_u64()) * count as u128) >> 64) as usize;
    let drawn = (0..wanted).map(|_| below());
    let mut sample: Vec<usize> = drawn.collect();
    sample.sort_unstable();
    sample.dedup();
    sample
}

/// What groups of searches share: the number of primes found, and the first error.
pub(crate) struct Found<'a> {
    watch: &'a dyn Watch,
    total: u64,
    found: Mutex<u64>,
    error: Mutex<Option<TestKeysError>>,
    failed: AtomicBool,
}

impl<'a> Found<'a> {
    pub(crate) fn new(total: usize, watch: &'a dyn Watch) -> Self {
        let (error, failed) = (Mutex::default(), AtomicBool::new(false));
        Self { watch, total: total as u64, found: Mutex::new(0), error, failed }
    }

    /// Reports that `more` primes have been found. Reports of several groups never decrease.
    fn report(&self, more: usize) {
        let mut found = lock(&self.found);
        *found += more as u64;
        self.watch.step(*found, self.total, &"primes");
    }

    fn is_stopped(&self) -> bool {
        self.failed.load(Ordering::Acquire) || self.watch.is_stopped()
    }

    /// Keeps the first error, and stops all groups.
    fn fail(&self, error: TestKeysError) {
        lock(&self.error).get_or_insert(error);
        self.failed.store(true, Ordering::Release);
    }
}

/// Stops all groups if the thread of one panics.
struct StopOthers<'a, 'b>(&'a Found<'b>);

impl Drop for StopOthers<'_, '_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.failed.store(true, Ordering::Release);
        }
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Finds the primes with the given indices, and stores them in `rows`, one after the other. `begin` begins
/// the search for a prime.
///
/// Work on the host runs in rayon's current pool if there is one group, otherwise in its global pool.
pub(crate) fn search(
    manner: Manner,
    common: &Common,
    tests: &Tests<'_>,
    indices: Range<usize>,
    begin: &(dyn Fn(usize) -> Search + Sync),
    rows: &mut [u32],
    found: &Found<'_>,
) -> Result<(), TestKeysError> {
    let groups = (indices.len() / manner.most).clamp(1, manner.groups.max(1));
    in_groups(groups, indices, rows, tests.width.limbs(), found, |indices, rows| {
        let (first, open, passed) = (indices.start, vec![], vec![]);
        let group = Group { most: manner.most, common, tests, first, rows, open, passed };
        group.run(indices, begin, found)
    })
}

/// Divides the indices and their rows among groups, and runs `group` for each, on threads of their own if
/// there are several. Returns the first error. After an error, the other groups are to stop.
fn in_groups(
    groups: usize,
    indices: Range<usize>,
    rows: &mut [u32],
    limbs: usize,
    found: &Found<'_>,
    group: impl Fn(Range<usize>, &mut [u32]) -> Result<(), TestKeysError> + Sync,
) -> Result<(), TestKeysError> {
    if groups == 1 {
        return group(indices, rows);
    }
    let each = indices.len().div_ceil(groups);
    let group = &group;
    thread::scope(|scope| {
        for (i, rows) in rows.chunks_mut(each * limbs).enumerate() {
            let first = indices.start + i * each;
            let indices = first..first + rows.len() / limbs;
            let run = move || {
                let _guard = StopOthers(found);
                group(indices, rows).unwrap_or_else(|e| found.fail(e));
            };
            if let Err(e) = thread::Builder::new().spawn_scoped(scope, run) {
                let reason = e.to_string();
                found.fail(IntegerError::Threads { threads: groups, reason }.into());
            }
        }
    });
    lock(&found.error).take().map_or(Ok(()), Err)
}

/// A search some of whose candidates, `numbers`, have passed the first part of the test.
struct Passed {
    search: Search,
    numbers: Vec<u32>,
}

/// Searches that advance together.
struct Group<'a> {
    most: usize,
    common: &'a Common,
    tests: &'a Tests<'a>,
    /// The index of the first row.
    first: usize,
    rows: &'a mut [u32],
    open: Vec<Search>,
    passed: Vec<Passed>,
}

impl Group<'_> {
    fn run(
        mut self,
        mut indices: Range<usize>,
        begin: &(dyn Fn(usize) -> Search + Sync),
        found: &Found<'_>,
    ) -> Result<(), TestKeysError> {
        // Not 0, or nothing but empty second parts would be taken.
        let collected = if self.tests.second_on_device { (self.most / 2).max(1) } else { 1 };
        found.report(0);
        loop {
            let room = self.most.saturating_sub(self.open.len()).min(indices.len());
            let (new, rest) = (indices.start..indices.start + room, indices.start + room);
            indices.start = rest;
            self.open.par_extend(new.into_par_iter().map(begin));
            if found.is_stopped() {
                return Err(TestKeysError::Stopped);
            }
            if self.passed.len() >= collected || self.open.is_empty() && !self.passed.is_empty() {
                found.report(self.confirm()?);
            } else if self.open.is_empty() {
                return Ok(());
            } else {
                self.advance()?;
            }
        }
    }

    /// Tests the next candidates of all open searches.
    fn advance(&mut self) -> Result<(), TestKeysError> {
        let Self { most, common, tests, open, passed, .. } = self;
        let each = (*most / open.len()).clamp(1, MOST_OF_ONE);
        let limbs = tests.width.limbs();
        let mut candidates = zeros(open.len() * each, tests.width)?;
        let of_one = candidates.par_chunks_mut(each * limbs);
        open.par_iter_mut().zip(of_one).for_each(|(search, to)| {
            to.chunks_exact_mut(limbs).for_each(|to| common.next(search, to));
        });
        tests.first(candidates, |candidates, verdicts| {
            let of_one = verdicts.chunks_exact(each).enumerate();
            let hits = of_one.filter(|(_, verdicts)| verdicts.contains(&true));
            let hits: Vec<usize> = hits.map(|(i, _)| i).collect();
            // From the last one on, because the last search takes the place of one that is removed.
            for i in hits.into_iter().rev() {
                let verdicts = &verdicts[i * each..][..each];
                let numbers = candidates[i * each * limbs..].chunks_exact(limbs).zip(verdicts);
                let numbers = numbers.filter(|&(_, &passes)| passes).flat_map(|(number, _)| number);
                let numbers = numbers.copied().collect();
                passed.push(Passed { search: open.swap_remove(i), numbers });
            }
        })
    }

    /// Takes the second part of the test of all numbers that have passed the first. Returns the number of
    /// primes found.
    fn confirm(&mut self) -> Result<usize, TestKeysError> {
        let Self { tests, first, rows, open, .. } = self;
        let limbs = tests.width.limbs();
        let passed = std::mem::take(&mut self.passed);
        let count = passed.len();
        let numbers = passed.iter().flat_map(|passed| &passed.numbers).copied().collect();
        let before = open.len();
        tests.second(numbers, |_, verdicts| {
            let mut verdicts = verdicts.iter();
            for Passed { search, numbers } in passed {
                let mut prime = None;
                for number in numbers.chunks_exact(limbs) {
                    // The first one counts, in whichever batch the others are.
                    let passes = verdicts.next().is_some_and(|&passes| passes);
                    prime = prime.or(passes.then_some(number));
                }
                match prime {
                    Some(prime) => {
                        let row = &mut rows[(search.index - *first) * limbs..][..limbs];
                        row.copy_from_slice(prime);
                    }
                    None => open.push(search),
                }
            }
        })?;
        Ok(count - (open.len() - before))
    }
}

#[cfg(test)]
mod tests {
    use warpint_progress::Unwatched;

    use super::*;

    #[test]
    fn the_first_error_stops_the_other_groups_and_is_returned() {
        let found = Found::new(10, &Unwatched);
        let mut rows = [0; 20];
        let error = in_groups(3, 5..15, &mut rows, 2, &found, |indices, rows| {
            assert_eq!(rows.len(), 2 * indices.len());
            rows.fill(indices.start as u32);
            if indices.contains(&9) {
                return Err(TestKeysError::EqualPrimes { seed: 9 });
            }
            // The other groups end only because of the error.
            while !found.is_stopped() {
                thread::yield_now();
            }
            Err(TestKeysError::Stopped)
        });
        assert!(matches!(error, Err(TestKeysError::EqualPrimes { seed: 9 })));
        assert_eq!([rows[0], rows[7], rows[8], rows[15], rows[16], rows[19]], [5, 5, 9, 9, 13, 13]);
    }
}
