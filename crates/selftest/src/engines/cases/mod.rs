//! The cases that test the requirements on every engine, one function per case.

mod lengths;
mod numbers;
mod patterns;
mod products;
mod residues;
mod squares;
mod threads;
mod transfers;

pub use lengths::{forced_lengths, refused_lengths};
pub use numbers::{fermat_numbers, numbers_together, other_numbers};
pub use patterns::carry_patterns;
pub use products::{aliased_registers, products, sums};
pub use residues::{known_residues, ll_residues, prp_residues, whole_tests};
pub use squares::{lucas_lehmer_steps, small_multipliers, squares};
pub use threads::thread_counts;
pub use transfers::{copies, round_trips};

use warpint_mersenne::EngineFamily;

use super::twin::{Trouble, Twin};
use crate::sample::{self, Random, Scale};

/// A case: takes an engine family, a seed and a scale; returns a message if it fails.
pub type Run = fn(&'static dyn EngineFamily, u64, Scale) -> Result<(), String>;

/// A case and its name.
#[derive(Clone, Copy)]
pub struct Case {
    /// The name of the case, which is also the name of its function.
    pub name: &'static str,
    /// The function of the case.
    pub run: Run,
}

crate::for_every_case!(case_table);

/// Calls `work` for the two smallest exponents of a family and for random exponents up to
/// `largest`. The number of random exponents is [`Scale::count`] of `count`. Each call gets an
/// engine of the shortest length with enough margin, paired with the oracle.
fn with_twins(
    family: &dyn EngineFamily,
    seed: u64,
    scale: Scale,
    (count, largest): (usize, u32),
    mut work: impl FnMut(&mut Twin, &mut Random) -> Result<(), Trouble>,
) -> Result<(), String> {
    let mut rng = sample::random(seed);
    for p in sample::exponents(family, scale, &mut rng, count, largest) {
        work(&mut Twin::shortest(family, p, seed)?, &mut rng)?;
    }
    Ok(())
}

/// The names of the quick cases of a device. They share kernels for a few lengths.
pub const QUICK: [&str; 14] = [
    "squares",
    "lucas_lehmer_steps",
    "small_multipliers",
    "products",
    "sums",
    "aliased_registers",
    "copies",
    "round_trips",
    "carry_patterns",
    "refused_lengths",
    "whole_tests",
    "other_numbers",
    "fermat_numbers",
    "numbers_together",
];
