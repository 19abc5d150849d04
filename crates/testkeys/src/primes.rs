//! The search for primes.

use std::hash::{BuildHasher, RandomState};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use warpint_integer::{Executor, IntegerError, Operation, PrimalityTest, UintBatch, Width, check};
use warpint_natural::primality::SmallPrimes;
use warpint_progress::Watch;

use crate::layout::Layout;
use crate::request::Test;
use crate::sieve::{Candidates, plus};
use crate::{Request, TestKeysError};

/// The largest number of candidates that are tested at a time on the CPU.
const MOST_ON_CPU: usize = 1 << 12;
/// The least and the largest number of candidates that are tested at a time on a device. The few that pass a
/// first test take a second one, nearly as long as that of a large batch.
const ON_DEVICE: [usize; 2] = [1 << 15, 1 << 17];
/// The largest number of candidates for primes of this number of bits. The time of a test grows with the
/// third power of the length; the number of candidates falls with the second.
const BITS_OF_MOST: usize = 1024;

/// The largest number of candidates of one search that are tested at a time. More than one is tested
/// if few searches remain.
const MOST_OF_ONE: usize = 16;

/// The time on the CPU after which a stop request should take effect.
const NANOSECONDS: f64 = 5e8;

/// One result in `PER_SAMPLE` of a device is computed again on the CPU, but at least
/// [`LEAST_SAMPLE`] results of a batch.
const PER_SAMPLE: usize = 1024;
const LEAST_SAMPLE: usize = 16;

/// Which of the highest bits of a drawn number are set. For primes of k bits, products p·q have 2k
/// bits if p·q ≥ 2^(2k−1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// The two highest bits are 11.
    Usual,
    /// The three highest bits are 110, so that the next prime has as many bits.
    Low,
    /// The three highest bits are 011: the prime has one bit less.
    Short,
}

/// Returns a stream of the generator of a seed.
pub(crate) fn stream(seed: u64, stream: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(stream);
    rng
}

/// The primes of a layout, one after the other, in limbs of 32 bits.
#[derive(Debug)]
pub(crate) struct Primes {
    limbs: Vec<u32>,
    width: Width,
}

impl Primes {
    pub(crate) fn row(&self, i: usize) -> &[u32] {
        &self.limbs[i * self.width.limbs()..][..self.width.limbs()]
    }

    pub(crate) fn width(&self) -> Width {
        self.width
    }

    /// Returns whether two primes are equal. Cost: a sort of the primes.
    fn has_equal(&self) -> bool {
        let mut rows: Vec<&[u32]> = self.limbs.chunks_exact(self.width.limbs()).collect();
        rows.par_sort_unstable();
        rows.windows(2).any(|pair| pair[0] == pair[1])
    }
}

/// The origin of the numbers in which a search looks for a prime.
enum Origin {
    /// Numbers drawn from this stream. If no prime is found near a number, the next one is drawn.
    Drawn(Box<ChaCha8Rng>, Shape),
    /// All odd numbers from the first candidate on.
    Following,
}

/// The search for one prime.
struct Search {
    index: usize,
    origin: Origin,
    candidates: Candidates,
}

/// What all searches have in common.
struct Common<'a> {
    executor: &'a Executor,
    width: Width,
    small: SmallPrimes,
    /// The number of odd numbers that are sieved at a time: 4 for each bit, among which about a
    /// dozen primes are expected.
    length: u32,
    test: PrimalityTest,
    /// The number of candidates that are tested at a time.
    most: usize,
}

impl<'a> Common<'a> {
    fn new(executor: &'a Executor, width: Width, request: &Request) -> Result<Self, IntegerError> {
        let bits = width.bits();
        let most = if executor.is_cpu() {
            let each = Operation::ProbablePrime.nanoseconds(&[width]);
            let threads = rayon::current_num_threads() as f64;
            ((NANOSECONDS * threads / each) as usize).clamp(16, MOST_ON_CPU)
        } else {
            let ratio = (bits as usize).div_ceil(BITS_OF_MOST);
            (ON_DEVICE[1] / (ratio * ratio)).max(ON_DEVICE[0])
        };
        let test = match request.test {
            Test::BailliePsw => PrimalityTest::baillie_psw(),
            Test::Strong => {
                let base = stream(request.seed, u64::MAX - 1).next_u32() | 1 << 31;
                PrimalityTest::strong(&[2, base])?
            }
        };
        Ok(Self {
            executor,
            width,
            small: SmallPrimes::below((16 * bits).min(1 << 16)),
            length: 4 * bits,
            // The sieve has done the trial divisions.
            test: test.with_trial_division(0),
            most,
        })
    }

    /// Draws a number of the given shape, and sieves the odd numbers from there on.
    fn draw(&self, rng: &mut ChaCha8Rng, shape: Shape) -> Candidates {
        let bits = self.width.bits() as usize;
        let (top, spare) = match shape {
            Shape::Usual => (bits, None),
            Shape::Low => (bits, Some(bits - 3)),
            Shape::Short => (bits - 1, Some(bits - 1)),
        };
        loop {
            // The highest bits are counted from the top of the number, not of its last limb.
            let mut base: Vec<u64> = (0..bits.div_ceil(64)).map(|_| rng.next_u64()).collect();
            base[0] |= 1;
            let mut set = |bit: usize, value: bool| {
                let mask = 1 << (bit % 64);
                base[bit / 64] = base[bit / 64] & !mask | if value { mask } else { 0 };
            };
            (bits..64 * bits.div_ceil(64)).for_each(|bit| set(bit, false));
            spare.into_iter().for_each(|bit| set(bit, false));
            set(top - 1, true);
            set(top - 2, true);
            // No candidate may be longer.
            let mut end = base.clone();
            end.push(0);
            let end = plus(&end, 2 * u64::from(self.length));
            if end[top / 64] >> (top % 64) == 0 {
                return Candidates::new(base, self.length, &self.small);
            }
        }
    }

    fn refill(&self, search: &mut Search) {
        while search.candidates.is_empty() {
            search.candidates = match &mut search.origin {
                Origin::Drawn(rng, shape) => self.draw(rng, *shape),
                Origin::Following => self.following(search.candidates.end()),
            };
        }
    }

    fn following(&self, base: Vec<u64>) -> Candidates {
        Candidates::new(base, self.length, &self.small)
    }

    /// Tests candidates, one after the other in limbs of 32 bits.
    fn test(&self, candidates: Vec<u32>) -> Result<Vec<bool>, TestKeysError> {
        let batch = UintBatch::from_vec(&Executor::cpu(), self.width, candidates)?;
        let Some(device) = self.executor.device() else {
            return Ok(batch.is_probable_prime(&self.test)?);
        };
        let found = batch.copy_to(self.executor)?.is_probable_prime(&self.test)?;
        let verdicts = found.iter().map(|&prime| u32::from(prime)).collect();
        let verdicts = UintBatch::from_vec(&Executor::cpu(), Width::new(32)?, verdicts)?;
        let sample = sample(found.len());
        let wrong = check::probable_primes(&batch, &verdicts, &sample, &self.test)?;
        if wrong.is_empty() {
            return Ok(found);
        }
        let what =
            format!("{} of {} tests for primality computed again", wrong.len(), sample.len());
        Err(TestKeysError::Wrong { device: device.info().id.clone(), what })
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

/// Finds all primes of a layout. Reports each found prime to `watch`.
///
/// # Errors
/// [`TestKeysError::Stopped`]; [`TestKeysError::EqualPrimes`]; [`TestKeysError::Wrong`]; errors of batches.
pub(crate) fn find(
    layout: &Layout,
    request: &Request,
    width: Width,
    executor: &Executor,
    watch: &dyn Watch,
) -> Result<Primes, TestKeysError> {
    let (common, seed) = (Common::new(executor, width, request)?, request.seed);
    let count = layout.primes();
    let mut primes = Primes { limbs: zeros(count, width)?, width };
    let drawn = |index: usize| {
        let shape = layout.shape(index);
        let mut rng = Box::new(stream(seed, index as u64));
        let candidates = common.draw(&mut rng, shape);
        Search { index, origin: Origin::Drawn(rng, shape), candidates }
    };
    search(&common, 0..layout.drawn(), &drawn, &mut primes, watch)?;
    let smaller: Vec<Vec<u64>> =
        (layout.drawn()..count).map(|index| words(primes.row(index - layout.drawn()))).collect();
    let following = |index: usize| {
        // Its highest bits are 110.
        let base = plus(&smaller[index - layout.drawn()], 2);
        Search { index, origin: Origin::Following, candidates: common.following(base) }
    };
    search(&common, layout.drawn()..count, &following, &mut primes, watch)?;
    if primes.has_equal() {
        return Err(TestKeysError::EqualPrimes { seed });
    }
    Ok(primes)
}

/// Finds the primes with the given indices. `begin` begins the search for a prime.
fn search(
    common: &Common<'_>,
    mut indices: std::ops::Range<usize>,
    begin: &(dyn Fn(usize) -> Search + Sync),
    primes: &mut Primes,
    watch: &dyn Watch,
) -> Result<(), TestKeysError> {
    let total = primes.limbs.len() / common.width.limbs();
    let limbs = common.width.limbs();
    let mut open: Vec<Search> = vec![];
    loop {
        let wanted: Vec<usize> = indices.by_ref().take(common.most - open.len()).collect();
        open.par_extend(wanted.into_par_iter().map(begin));
        if open.is_empty() {
            return Ok(());
        }
        if watch.is_stopped() {
            return Err(TestKeysError::Stopped);
        }
        watch.step((indices.start - open.len()) as u64, total as u64, &"primes");
        let each = (common.most / open.len()).clamp(1, MOST_OF_ONE);
        let taken: Vec<Vec<Vec<u64>>> = open
            .par_iter_mut()
            .map(|search| {
                common.refill(search);
                search.candidates.take(each).collect()
            })
            .collect();
        let candidates = taken.iter().flatten();
        let candidates = candidates.flat_map(|n| halves(n).take(limbs)).collect();
        let mut found = common.test(candidates)?.into_iter();
        let mut taken = taken.into_iter();
        open.retain(|search| {
            let numbers = taken.next().unwrap_or_default();
            let verdicts: Vec<bool> = found.by_ref().take(numbers.len()).collect();
            // The first one counts, in whichever batch the others are.
            let Some(first) = verdicts.iter().position(|&prime| prime) else { return true };
            let row = &mut primes.limbs[search.index * limbs..][..limbs];
            row.iter_mut().zip(halves(&numbers[first])).for_each(|(to, limb)| *to = limb);
            false
        });
    }
}

/// Returns memory for `count` primes.
fn zeros(count: usize, width: Width) -> Result<Vec<u32>, TestKeysError> {
    let memory = IntegerError::Memory { count, width };
    let Some(len) = count.checked_mul(width.limbs()) else { return Err(memory.into()) };
    let mut limbs = vec![];
    limbs.try_reserve_exact(len).map_err(|_| memory)?;
    limbs.resize(len, 0);
    Ok(limbs)
}

fn halves(limbs: &[u64]) -> impl Iterator<Item = u32> {
    limbs.iter().flat_map(|&limb| [limb as u32, (limb >> 32) as u32])
}

/// Returns limbs of 32 bits as limbs of 64 bits.
fn words(limbs: &[u32]) -> Vec<u64> {
    let high = |pair: &[u32]| pair.get(1).map_or(0, |&high| u64::from(high) << 32);
    limbs.chunks(2).map(|pair| u64::from(pair[0]) | high(pair)).collect()
}
