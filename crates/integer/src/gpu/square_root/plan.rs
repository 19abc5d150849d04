//! Plans of long square roots: how often the length of a root is doubled. A plan affects only the
//! time of a square root, not its results.

use super::SquareRoot;
use crate::gpu::divide::Costs;
use crate::gpu::split::InLanes;
use crate::gpu::{Algorithm, Gpu, Method};

/// The plan of a square root. The kernel `square_root.cu` computes a root of `base` limbs, where
/// `base` is a multiple of 4. The length of this root is then doubled `levels` times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Plan {
    pub base: usize,
    pub levels: u32,
}

impl Plan {
    /// Returns the plan with `levels` levels for numbers of `a_limbs` limbs.
    pub(super) fn new(a_limbs: usize, levels: u32) -> Self {
        let base = a_limbs.div_ceil(2).div_ceil(1 << levels).next_multiple_of(4);
        Self { base, levels }
    }

    /// Returns the number of limbs of a root.
    pub(super) fn root(&self) -> usize {
        self.base << self.levels
    }

    /// Returns the number of words of temporary memory per number, in all buffers of the type
    /// `Space` in `long.rs` together.
    pub(super) fn words(&self) -> usize {
        9 * self.root() + 8
    }
}

/// The least number of limbs of the first root in a plan with more than one level.
const LEAST: usize = 32;

/// Estimates the nanoseconds of one square root in a large batch by the kernel `square_root.cu`
/// alone. The estimate assumes half of an H200's instruction rate.
fn of_kernel(gpu: &Gpu, shape: &SquareRoot, shared_memory: u32) -> f64 {
    let steps = shape.a_limbs.div_ceil(2) * shape.split.lanes;
    let slots = steps as f64 * (75.0 + 3.5 * shape.split.limbs as f64);
    let few = (8.0 / shape.warps(shared_memory) as f64).max(1.0);
    let alike = Algorithm { method: Method::Karatsuba(0), size: shape.split.limbs, square: false };
    gpu.prices().scaled(alike, slots * 7.1e-5 * few) + Costs::memory(2 * shape.a_limbs)
}

impl Gpu {
    /// Returns the cheapest plan for numbers of `a_limbs` limbs. Returns `None` if no plan supports
    /// them, or if the cheapest plan does not cost less than the kernel `square_root.cu` alone.
    /// `alone` is the version of this kernel for numbers of this length, if one exists.
    pub(super) fn root_plan(&self, a_limbs: usize, alone: Option<&SquareRoot>) -> Option<Plan> {
        let shared_memory = self.device().info().shared_memory_per_block;
        let mut costs = Costs::new(self);
        let plans = (1..).map(|levels| Plan::new(a_limbs, levels));
        let plans = plans.take_while(|plan| plan.levels == 1 || plan.base >= LEAST);
        let priced = plans.filter_map(|plan| {
            let base = SquareRoot::new(2 * plan.base, shared_memory)?;
            let mut cost = of_kernel(self, &base, shared_memory);
            for level in 1..=plan.levels {
                let (half, is_last) = (plan.base << (level - 1), level == plan.levels);
                let squared = if is_last { 2 * half } else { half };
                cost += costs.division(2 * half, half)? + costs.square(squared)?;
                cost += 8.0 + Costs::memory(80 * half);
            }
            Some((plan, cost))
        });
        let (plan, cost) = priced.min_by(|(_, a), (_, b)| a.total_cmp(b))?;
        let pays = alone.is_none_or(|shape| cost < of_kernel(self, shape, shared_memory));
        pays.then_some(plan)
    }
}
