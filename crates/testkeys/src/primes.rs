//! The primes of a layout: where the search for each of them begins, and their memory.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use warpint_integer::{Executor, IntegerError, Width};
use warpint_natural::primality::SmallPrimes;
use warpint_progress::Watch;

use crate::layout::Layout;
use crate::search::{Found, Manner, Tests, search};
use crate::sieve::{Candidates, plus};
use crate::{Request, TestKeysError};

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

    /// Returns whether two primes are equal. Cost: a sort of the primes by their lowest 64 bits.
    fn has_equal(&self) -> bool {
        let low = |i: u32| {
            self.row(i as usize).iter().take(2).fold(0, |low, &limb| low << 32 | u64::from(limb))
        };
        // A layout has fewer than 2^32 primes.
        let count = (self.limbs.len() / self.width.limbs()) as u32;
        let mut order: Vec<(u64, u32)> = (0..count).into_par_iter().map(|i| (low(i), i)).collect();
        let row = |&(_, i): &(u64, u32)| self.row(i as usize);
        order.par_sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| row(a).cmp(row(b))));
        order.par_windows(2).any(|pair| pair[0].0 == pair[1].0 && row(&pair[0]) == row(&pair[1]))
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
pub(crate) struct Search {
    /// The index of the prime.
    pub(crate) index: usize,
    origin: Origin,
    candidates: Candidates,
}

/// What all searches have in common.
pub(crate) struct Common {
    width: Width,
    small: SmallPrimes,
    /// The number of odd numbers that are sieved from a drawn number on: 4 for each bit, among which
    /// about a dozen primes are expected.
    length: u32,
}

impl Common {
    fn new(width: Width) -> Self {
        let bits = width.bits();
        Self { width, small: SmallPrimes::below((16 * bits).min(1 << 16)), length: 4 * bits }
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

    /// Stores the next candidate of a search in `to`.
    pub(crate) fn next(&self, search: &mut Search, to: &mut [u32]) {
        while !search.candidates.next(&self.small, to) {
            search.candidates = match &mut search.origin {
                Origin::Drawn(rng, shape) => self.draw(rng, *shape),
                Origin::Following => self.following(search.candidates.end()),
            };
        }
    }

    fn following(&self, base: Vec<u64>) -> Candidates {
        Candidates::new(base, self.length, &self.small)
    }
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
    find_in(Manner::of(executor, width), layout, request, width, executor, watch)
}

/// Like [`find`], with a given number of candidates and of groups. The primes do not depend on them.
pub(crate) fn find_in(
    manner: Manner,
    layout: &Layout,
    request: &Request,
    width: Width,
    executor: &Executor,
    watch: &dyn Watch,
) -> Result<Primes, TestKeysError> {
    let (common, seed) = (Common::new(width), request.seed);
    let tests = Tests::new(executor, width, request)?;
    let (count, limbs) = (layout.primes(), width.limbs());
    let mut primes = Primes { limbs: zeros(count, width)?, width };
    let found = Found::new(count, watch);
    let (drawn, following) = primes.limbs.split_at_mut(layout.drawn() * limbs);
    let begin = |index: usize| {
        let shape = layout.shape(index);
        let mut rng = Box::new(stream(seed, index as u64));
        let candidates = common.draw(&mut rng, shape);
        Search { index, origin: Origin::Drawn(rng, shape), candidates }
    };
    search(manner, &common, &tests, 0..layout.drawn(), &begin, drawn, &found)?;
    let begin = |index: usize| {
        // Its highest bits are 110.
        let smaller = words(&drawn[(index - layout.drawn()) * limbs..][..limbs]);
        let candidates = common.following(plus(&smaller, 2));
        Search { index, origin: Origin::Following, candidates }
    };
    search(manner, &common, &tests, layout.drawn()..count, &begin, following, &found)?;
    if primes.has_equal() {
        return Err(TestKeysError::EqualPrimes { seed });
    }
    Ok(primes)
}

/// Returns memory for `count` numbers.
pub(crate) fn zeros(count: usize, width: Width) -> Result<Vec<u32>, TestKeysError> {
    let memory = IntegerError::Memory { count, width };
    let Some(len) = count.checked_mul(width.limbs()) else { return Err(memory.into()) };
    // A zeroed allocation would not report a lack of memory. But its pages are first written by the
    // threads that use them, and not all by this one.
    Vec::<u32>::new().try_reserve_exact(len).map_err(|_| memory)?;
    Ok(vec![0; len])
}

/// Returns limbs of 32 bits as limbs of 64 bits.
fn words(limbs: &[u32]) -> Vec<u64> {
    let high = |pair: &[u32]| pair.get(1).map_or(0, |&high| u64::from(high) << 32);
    limbs.chunks(2).map(|pair| u64::from(pair[0]) | high(pair)).collect()
}
