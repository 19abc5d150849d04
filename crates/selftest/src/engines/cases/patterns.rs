//! Tests the residues of [`sample::patterns`], whose products are hard for an engine.

use warpint_mersenne::{EngineFamily, Residue, Shift, Step};

use super::with_twins;
use crate::oracle::Limbs;
use crate::sample::{self, Scale};
use crate::twin::{Trouble, Twin};

/// Tests squarings, products, sums and differences of every residue of [`sample::patterns`], at the
/// shortest length with enough margin.
///
/// If the margin of the length is statistical, the engine may report round-off for a pattern. The
/// pattern must then succeed at twice the length. A wrong value is never allowed.
pub fn carry_patterns(
    family: &'static dyn EngineFamily,
    seed: u64,
    scale: Scale,
) -> Result<(), String> {
    with_twins(family, seed, scale, (32, Limbs::LARGEST / 2), |twin, rng| {
        let p = twin.exponent();
        let shifts = sample::shifts(rng, p);
        for (name, x) in sample::patterns(rng, p, twin.length()) {
            for shift in [shifts[0], shifts[3]] {
                match every_operation(twin, &name, &x, shift) {
                    Err(Trouble::RoundOff(message)) => {
                        retry_at_twice_the_length(family, twin, &name, &x, shift, seed).map_err(
                            |e| Trouble::Failure(format!("{} (after {message})", String::from(e))),
                        )?;
                    }
                    other => other?,
                }
            }
        }
        Ok(())
    })
}

/// Tests squarings of each kind on the residue x, the sum x + 1, the difference x − 1, and the
/// products (x + 1)·(x − 1) and x·(x + 1)·(x − 1). `name` names x in messages.
pub(super) fn every_operation(
    twin: &mut Twin,
    name: &str,
    x: &Residue,
    shift: Shift,
) -> Result<(), Trouble> {
    for (n, step) in [
        (1, Step::Square),
        (3, Step::Square),
        (1, Step::SquareMinusTwo),
        (4, Step::SquareMinusTwo),
        (1, Step::SquareTimes(1 << 16)),
        (2, Step::SquareTimes(3)),
    ] {
        twin.write(0, x, shift)?;
        twin.square(&name, 0, n, step, shift)?;
    }
    twin.write(0, x, shift)?;
    twin.both(&"set", |e| e.set(1, 1, Shift::ZERO))?;
    // Crosses the edge of the pattern in both directions, then tests the product x·(x + 1)(x − 1).
    twin.both(&name, |e| e.add(2, 0, 1))?;
    twin.same(&format!("{name} + 1"), 2, Shift::ZERO)?;
    twin.both(&name, |e| e.sub(1, 0, 1))?;
    twin.same(&format!("{name} − 1"), 1, Shift::ZERO)?;
    twin.both(&name, |e| e.mul(2, 2, 1))?;
    twin.same(&format!("({name})² − 1"), 2, Shift::ZERO)?;
    twin.both(&name, |e| e.mul(2, 2, 0))?;
    twin.same(&format!("({name})³ − ({name})"), 2, Shift::ZERO)
}

fn retry_at_twice_the_length(
    family: &dyn EngineFamily,
    twin: &Twin,
    name: &str,
    x: &Residue,
    shift: Shift,
    seed: u64,
) -> Result<(), Trouble> {
    let p = twin.exponent();
    let longer = sample::safe_lengths(family, p, 2 * twin.length(), p as usize);
    let Some(&length) = longer.first() else {
        return Err(Trouble::Failure(format!(
            "{} M{p}: no length of twice {} to fall back on",
            family.name(),
            twin.length()
        )));
    };
    every_operation(&mut Twin::new(family, p, length, seed)?, name, x, shift)
}
