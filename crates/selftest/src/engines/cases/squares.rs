//! Tests squarings: plain (x²), with a subtraction (x² − 2), and with a small multiplier (m·x²).

use rand::RngExt;
use warpint_mersenne::{EngineFamily, Shift, Step};

use super::with_twins;
use crate::oracle::Limbs;
use crate::sample::{self, Scale};

/// Tests 0, 1, 2 and a random number of squarings of random residues.
pub fn squares(family: &'static dyn EngineFamily, seed: u64, scale: Scale) -> Result<(), String> {
    with_twins(family, seed, scale, (80, Limbs::LARGEST), |twin, rng| {
        let p = twin.exponent();
        for n in [0, 1, 2, rng.random_range(3..40)] {
            twin.write(0, &sample::residue(rng, p), Shift::ZERO)?;
            twin.square(&"a drawn residue", 0, n, Step::Square, Shift::ZERO)?;
        }
        Ok(())
    })
}

/// Tests the step x² − 2, once and repeatedly, on residues x that are shifted by 0, 1, p − 1 and a
/// random number of bits.
pub fn lucas_lehmer_steps(
    family: &'static dyn EngineFamily,
    seed: u64,
    scale: Scale,
) -> Result<(), String> {
    with_twins(family, seed, scale, (48, Limbs::LARGEST / 2), |twin, rng| {
        let p = twin.exponent();
        for shift in sample::shifts(rng, p) {
            for n in [1, rng.random_range(2..30)] {
                twin.write(1, &sample::residue(rng, p), shift)?;
                twin.square(&"a drawn residue", 1, n, Step::SquareMinusTwo, shift)?;
            }
        }
        Ok(())
    })
}

/// Tests the step m·x² for m = 1, 3 and 2^16, once and repeatedly, on random residues x.
pub fn small_multipliers(
    family: &'static dyn EngineFamily,
    seed: u64,
    scale: Scale,
) -> Result<(), String> {
    with_twins(family, seed, scale, (48, Limbs::LARGEST / 2), |twin, rng| {
        for m in [1, 3, 1 << 16] {
            for n in [1, rng.random_range(2..20)] {
                twin.write(2, &sample::residue(rng, twin.exponent()), Shift::ZERO)?;
                twin.square(&"a drawn residue", 2, n, Step::SquareTimes(m), Shift::ZERO)?;
            }
        }
        Ok(())
    })
}
