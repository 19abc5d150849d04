//! Plans of long divisions: the block size and the levels of recursion. A plan affects only the
//! time of a division, not its results.

use std::collections::HashMap;

use super::Divide;
use crate::gpu::split::InLanes;
use crate::gpu::{Algorithm, Gpu, Method};

/// The plan of a long division. Numbers are shifted so that the divisor, then called V, has exactly
/// `whole` limbs and its highest bit set. The highest limb of the quotient is computed first, then
/// `blocks` blocks of `block` limbs each. `whole` and `block` are multiples of 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Plan {
    /// The number of limbs of the shifted divisor V.
    pub whole: usize,
    /// The number of limbs of a block of the quotient. It is at most `whole` if `guesses` is not
    /// `None`.
    pub block: usize,
    /// The number of blocks of a quotient.
    pub blocks: usize,
    /// The number of levels of recursion of a guess. The quotient of a block is guessed by a
    /// division by the upper `block` limbs of V, and this division is halved recursively this
    /// number of times. `None` means that the kernel divides each block by V directly, without a
    /// guess.
    pub guesses: Option<u32>,
}

impl Plan {
    /// Returns the number of limbs of memory for a dividend: the limbs of the divisor, the limbs of
    /// all blocks, and one more limb, rounded up to a multiple of 4.
    pub(super) fn dividend(&self) -> usize {
        self.whole + self.quotient()
    }

    /// Returns the number of limbs of memory for a quotient: the limbs of all blocks and one more
    /// limb, rounded up to a multiple of 4.
    pub(super) fn quotient(&self) -> usize {
        self.blocks * self.block + 4
    }

    /// Returns the number of limbs of the longest product that is needed to correct a guess. The
    /// factors are limbs of the quotient and lower limbs of V. Returns 0 if the plan has no guesses
    /// or no blocks.
    pub(super) fn product(&self) -> usize {
        if self.guesses.is_none() || self.blocks == 0 { 0 } else { self.whole }
    }

    /// Returns the number of words of memory per number for the overflows of quotients: one for
    /// each level from 0 to `guesses`, or one if there are no guesses.
    pub(super) fn overflows(&self) -> usize {
        self.guesses.map_or(1, |levels| levels as usize + 1)
    }

    /// Returns the number of words of temporary memory per number.
    pub(super) fn words(&self) -> usize {
        let rows = self.dividend() + self.whole + self.quotient() + self.product();
        rows + self.overflows().next_multiple_of(4)
    }
}

/// The least number of limbs of a divisor in the lowest level of a recursion.
const LEAST: usize = 16;

/// Estimates of the costs of divisions. A cost is the approximate time in nanoseconds of one
/// division in a large batch, like the prices of products in [`Gpu::choice`].
pub(in crate::gpu) struct Costs<'a> {
    gpu: &'a Gpu,
    shared_memory: u32,
    products: HashMap<(usize, usize), Option<f64>>,
}

impl<'a> Costs<'a> {
    pub(in crate::gpu) fn new(gpu: &'a Gpu) -> Self {
        Self::with(gpu, gpu.device().info().shared_memory_per_block)
    }

    /// Returns the estimates for a given number of bytes of shared memory per block.
    pub(super) fn with(gpu: &'a Gpu, shared_memory: u32) -> Self {
        Self { gpu, shared_memory, products: HashMap::new() }
    }

    /// Returns the cost, in nanoseconds, of reading or writing `words` words of 32 bits at 4 TB/s.
    pub(in crate::gpu) fn memory(words: usize) -> f64 {
        words as f64 * 1e-3
    }

    /// Returns the cost of computing quotients of at most `limbs` limbs by `divide.cu`, and of
    /// reading and writing the numbers. The estimate assumes half of an H200's instruction rate.
    /// The kernel was measured to reach this rate with eight warps per multiprocessor.
    pub(super) fn of_kernel(&self, shape: &Divide, limbs: usize) -> f64 {
        let slots = (limbs * shape.split.lanes * (28 + 3 * shape.split.limbs)) as f64;
        let few = (8.0 / shape.warps(self.shared_memory) as f64).max(1.0);
        let estimate = slots * 7.1e-5 * few;
        // On other devices the cost scales like that of products of one thread.
        let alike =
            Algorithm { method: Method::Karatsuba(0), size: shape.split.limbs, square: false };
        let memory = Self::memory(2 * (shape.u_limbs + shape.v_limbs));
        self.gpu.prices().scaled(alike, estimate) + memory
    }

    /// Returns the cost, in nanoseconds, of correcting a guessed quotient. The estimate is a
    /// constant plus the cost of four words of memory, read or written, for each of the `whole`
    /// limbs of the divisor.
    fn correct(whole: usize) -> f64 {
        0.8 + Self::memory(4 * whole)
    }

    fn product(&mut self, a: usize, b: usize) -> Option<f64> {
        let price = || {
            let choice = self.gpu.choice_with(a, Some(b), self.shared_memory)?;
            Some(choice.price)
        };
        *self.products.entry((a, b)).or_insert_with(price)
    }

    /// Returns the cost of squaring a number of `limbs` limbs. Returns `None` if no method supports
    /// this length.
    pub(in crate::gpu) fn square(&self, limbs: usize) -> Option<f64> {
        self.gpu.choice_with(limbs, None, self.shared_memory).map(|choice| choice.price)
    }

    /// Returns the cost of the cheapest division of a number of u limbs by a number of v ≤ u limbs
    /// whose highest limb is not 0. Returns `None` if no method supports the division.
    pub(in crate::gpu) fn division(&mut self, u: usize, v: usize) -> Option<f64> {
        let quotient = u - v;
        let shape = Divide::new(u, v, self.shared_memory);
        let alone = shape.map(|shape| self.of_kernel(&shape, quotient + 1));
        let in_blocks = self.plan(v, quotient).map(|(_, cost)| cost);
        alone.into_iter().chain(in_blocks).min_by(f64::total_cmp)
    }

    /// Returns the cost of a division by the kernel `divide.cu` alone that gives `block` limbs of a
    /// quotient and has a divisor of `whole` limbs. Returns `None` if the kernel does not support
    /// these lengths.
    fn at_once(&self, whole: usize, block: usize) -> Option<f64> {
        let shape = Divide::new(whole + block, whole, self.shared_memory)?;
        Some(self.of_kernel(&shape, block + 1))
    }

    /// Returns the cost of a division that gives m limbs of a quotient, has a divisor of m limbs,
    /// and is halved `levels` times. Returns `None` if no method supports the division.
    fn guess(&mut self, m: usize, levels: u32) -> Option<f64> {
        if levels == 0 {
            return self.at_once(m, m);
        }
        let half = self.guess(m / 2, levels - 1)?;
        Some(2.0 * (half + self.product(m / 2, m / 2)? + Self::correct(m)))
    }

    /// Returns the cheapest plan, and its cost, for divisors of `divisor` limbs and quotients of
    /// `quotient` + 1 limbs. Returns `None` if no method supports these lengths.
    pub(super) fn plan(&mut self, divisor: usize, quotient: usize) -> Option<(Plan, f64)> {
        let divisor = divisor.next_multiple_of(4).max(4);
        let none = Plan { whole: divisor, block: 4, blocks: 0, guesses: None };
        if quotient == 0 {
            return Some((none, Self::around(&none)));
        }
        let mut found: Vec<(Plan, f64)> = vec![];
        let few = 1..=8_usize;
        let many = std::iter::successors(Some(16_usize), |blocks| Some(2 * blocks));
        let most = quotient.div_ceil(16);
        for blocks in few.chain(many.take_while(|&blocks| blocks <= most)) {
            let limbs = quotient.div_ceil(blocks);
            let plan = Plan { blocks, block: limbs.next_multiple_of(4), ..none };
            if let Some(cost) = self.at_once(divisor, plan.block) {
                found.push((plan, cost * blocks as f64 + Self::around(&plan)));
            }
            for levels in 0.. {
                let block = limbs.next_multiple_of(4 << levels);
                if levels > 0 && block >> levels < LEAST {
                    break;
                }
                let whole = divisor.max(block);
                let plan = Plan { whole, block, blocks, guesses: Some(levels) };
                if let Some(cost) = self.of_block(&plan, levels) {
                    found.push((plan, cost * blocks as f64 + Self::around(&plan)));
                }
            }
        }
        found.into_iter().min_by(|(_, a), (_, b)| a.total_cmp(b))
    }

    fn of_block(&mut self, plan: &Plan, levels: u32) -> Option<f64> {
        let rest = plan.whole - plan.block;
        let beside = match rest {
            0 => 0.0,
            _ => self.product(plan.block, rest)? + Self::correct(plan.whole),
        };
        Some(self.guess(plan.block, levels)? + beside)
    }

    /// Returns the cost of the kernels that run before the first block of a plan and after its last
    /// block.
    fn around(plan: &Plan) -> f64 {
        3.0 + Self::memory(3 * plan.dividend() + 6 * plan.whole)
    }
}

/// Returns `limbs`, rounded up so that batches whose lengths differ by a few limbs share compiled
/// kernels. Below 32 limbs, rounds up to a multiple of 4; from 32 limbs, adds at most an eighth.
/// The result is at most `most`, rounded up to a multiple of 4.
pub(super) fn rounded(limbs: usize, most: usize) -> usize {
    let unit = if limbs < 32 { 4 } else { 1 << (limbs.ilog2() - 3) };
    limbs.next_multiple_of(unit).min(most.next_multiple_of(4))
}
