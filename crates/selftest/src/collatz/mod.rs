//! The methods for the Collatz conjecture on a device, compared with those of the CPU.

mod delays;
mod tables;
mod vectors;

use warpint_collatz::gpu::sieve::{Blocks, GpuSieve};
use warpint_collatz::sieve::{CpuSieve, Looking, Rules, Shape, Sieve, Step};
use warpint_collatz::walk::Walker;
use warpint_collatz::{Region, Unwatched, Verified, Verifier};
use warpint_device::Device;

/// A case: takes a device, a seed and sizes; returns a message if it fails.
pub type Run = fn(&Device, u64, &Sizes) -> Result<(), String>;

/// The names and functions of all cases.
pub const CASES: &[(&str, Run)] = &[
    ("trees", trees),
    ("rules", rules),
    ("given_up", given_up),
    ("vectors", vectors::vectors),
    ("delays", delays::delays),
    ("tables", tables::tables),
    ("overflows", tables::overflows),
];

/// The counts of numbers that the cases try, and the parameters of the methods.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// log2 of the usual count of numbers in a region. Some regions are larger or smaller.
    pub bits: u32,
    /// The number of steps that the look-ahead vectors of the sieve cover. With `None`, each case
    /// chooses the number.
    pub look: Option<u32>,
    /// Two sizes in bits. The case `trees` tries each as the number of bits of a step of the sieve;
    /// the cases `rules` and `given_up` use the first. The cases of the table method try each as
    /// the number of bits by which tables are indexed. If `small` is true, the case of delays uses
    /// the first for its steps and the second for its table of delays.
    pub steps: [u32; 2],
    /// Whether tables and ranges are small and blocks have few threads.
    pub small: bool,
    /// The largest number of nodes of the sieve that a buffer holds. With `None`, buffers take a
    /// share of the device's memory.
    pub nodes: Option<usize>,
}

impl Sizes {
    /// Returns the sizes for GPUs, with work that takes some seconds on the CPU.
    #[must_use]
    pub fn of_gpus() -> Self {
        Self { bits: 33, look: None, steps: [12, 13], small: false, nodes: None }
    }

    /// Returns the sizes of the quick cases on GPUs, with work that takes a second on the CPU.
    /// Buffers are small, because several cases run at the same time.
    #[must_use]
    pub fn quick() -> Self {
        Self { bits: 26, nodes: Some(1 << 16), ..Self::of_gpus() }
    }

    /// Returns the sizes for the simulator.
    #[must_use]
    pub fn few() -> Self {
        Self { bits: 20, look: Some(12), steps: [8, 9], small: true, nodes: Some(1 << 10) }
    }

    /// Returns the sizes for runs of the simulator that are recorded and replayed under sanitizers.
    #[must_use]
    pub fn least() -> Self {
        Self { bits: 16 + 3, look: Some(10), ..Self::few() }
    }

    fn shape(&self, rules: Rules, step: u32) -> Result<Shape, String> {
        let look = match self.look {
            Some(look) => Some(Looking::new(look).ok_or("no such looking")?),
            None => None,
        };
        Ok(Shape { rules, look, step: Step::new(step).ok_or("no such step")? })
    }

    pub(crate) fn engine(&self, device: &Device) -> GpuSieve {
        let mut engine = GpuSieve::new(device, Walker::default());
        if let Some(nodes) = self.nodes {
            engine = engine.with_nodes(nodes);
        }
        if self.small {
            let blocks = Blocks { grow: 64, last: 64, last_blocks: 1, long: 32 };
            engine = engine.with_blocks(blocks);
        }
        engine
    }

    /// Returns an interval of large numbers, all numbers below a power of two, and two classes of
    /// numbers, below 2^71 and below 2^82. The low bits of the numbers in a class are all ones, so
    /// that these numbers rise at first.
    fn regions(&self, seed: u64) -> Result<Vec<Region>, String> {
        let bits = self.bits;
        let from = (u128::from(seed % 1000) << 60 | 1 << 70) >> bits << bits;
        let ones = (1u128 << (71 - bits)) - 1;
        let regions = [
            Region::interval(from, from + (1 << bits)),
            Region::interval(0, 1 << bits),
            Region::class(71, 71 - bits, ones),
            // More low bits than a 64-bit word holds.
            Region::class(82, 66, (1 << 66) - 1),
        ];
        regions.into_iter().map(|region| region.map_err(|e| e.to_string())).collect()
    }
}

fn verified(mut by: impl Verifier, region: &Region) -> Result<Verified, String> {
    let verified = by.verify(region, &Unwatched).map_err(|e| e.to_string())?;
    verified.ok_or_else(|| "stopped".into())
}

fn compare(shape: Shape, engine: GpuSieve, region: &Region) -> Result<(), String> {
    // The same challenges on both, some tens or hundreds.
    let (seed, every) = (Some(crate::SEED), if region.numbers() < 1 << 24 { 4 } else { 1 << 10 });
    let cpu = CpuSieve::default().with_nodes_of_a_challenge(every);
    let expected = verified(Sieve { shape, seed, ..Sieve::new(cpu) }, region)?;
    let engine = engine.with_nodes_of_a_challenge(every);
    let found = verified(Sieve { shape, seed, ..Sieve::new(engine) }, region)?;
    if found == expected && found.unresolved.is_empty() {
        Ok(())
    } else {
        Err(format!("{region} {shape:?}: {found:?}, on the CPU {expected:?}"))
    }
}

/// Tests that the sieve on the device has the same results as the sieve on the CPU, in every region
/// and with steps of both sizes.
fn trees(device: &Device, seed: u64, sizes: &Sizes) -> Result<(), String> {
    for region in sizes.regions(seed)? {
        for step in sizes.steps {
            let mut shape = sizes.shape(Rules::default(), step)?;
            // Vectors of the same length on both.
            shape.look = shape.look.or(Looking::new(24));
            compare(shape, sizes.engine(device), &region)?;
        }
    }
    Ok(())
}

/// Tests that the sieve on the device has the same results as the sieve on the CPU if one rule or
/// all rules are switched off.
fn rules(device: &Device, seed: u64, sizes: &Sizes) -> Result<(), String> {
    let region = Region::interval(0, 1 << (sizes.bits - 2)).map_err(|e| e.to_string())?;
    let all = Rules::default();
    let fewer = [
        Rules { preimages: false, ..all },
        Rules { runs: false, ..all },
        Rules { mod_9: false, ..all },
        Rules { preimages: false, runs: false, mod_9: false },
    ];
    for rules in fewer {
        let mut shape = sizes.shape(rules, sizes.steps[0])?;
        shape.look = shape.look.or(Looking::new(20));
        compare(shape, sizes.engine(device), &region)
            .map_err(|why| format!("seed {seed}: {why}"))?;
    }
    Ok(())
}

/// Tests that the host finishes the numbers that the device abandons after few steps.
fn given_up(device: &Device, _seed: u64, sizes: &Sizes) -> Result<(), String> {
    let region = Region::interval(0, 1 << (sizes.bits - 3)).map_err(|e| e.to_string())?;
    let mut shape = sizes.shape(Rules::default(), sizes.steps[0])?;
    shape.look = shape.look.or(Looking::new(20));
    // About one in a thousand long numbers takes more steps.
    compare(shape, sizes.engine(device).with_most_steps(24), &region)
}
