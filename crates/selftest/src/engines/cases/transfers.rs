//! Tests residues that are written to, read from and copied within an engine.

use warpint_mersenne::{EngineFamily, Residue, Shift, Step};

use super::with_twins;
use crate::oracle::Limbs;
use crate::sample::{self, Scale};
use crate::twin::REGISTERS;

/// Tests that `read` returns the residue x that `write` has written, for random residues and
/// patterns. If x is written with a shift s and read with a shift t, the result must be x·2^(s−t).
/// Also tests that squarings of one register do not change another register.
pub fn round_trips(
    family: &'static dyn EngineFamily,
    seed: u64,
    scale: Scale,
) -> Result<(), String> {
    with_twins(family, seed, scale, (60, Limbs::LARGEST), |twin, rng| {
        let p = twin.exponent();
        let mut residues = sample::patterns(rng, p, twin.length());
        residues.push(("a drawn residue".into(), sample::residue(rng, p)));
        let shifts = sample::shifts(rng, p);
        for (name, x) in &residues {
            for s in shifts {
                let what = format!("{name} at shift {}", s.bits());
                twin.write(0, x, s)?;
                let (found, _) = twin.both(&what, |e| e.read(0, s))?;
                twin.equal(&what, &found, x)?;
                twin.same(&format!("{what}, read at shift {}", shifts[3].bits()), 0, shifts[3])?;
            }
        }
        let drawn = sample::residue(rng, p);
        twin.write(0, &drawn, Shift::ZERO)?;
        twin.write(1, &drawn, Shift::ZERO)?;
        twin.square(&"the next register", 1, 3, Step::Square, Shift::ZERO)?;
        twin.same(&"after a squaring elsewhere", 0, Shift::ZERO)?;
        Ok(())
    })
}

/// Tests that `copy` leaves its source unchanged and makes an independent copy, and that `set`
/// writes the same residue as `write` does.
pub fn copies(family: &'static dyn EngineFamily, seed: u64, scale: Scale) -> Result<(), String> {
    with_twins(family, seed, scale, (40, Limbs::LARGEST / 2), |twin, rng| {
        let p = twin.exponent();
        for shift in sample::shifts(rng, p) {
            for v in [0, 1, 3, u64::MAX] {
                twin.both(&"set", |e| e.set(0, v, shift))?;
                let (found, _) = twin.both(&"set", |e| e.read(0, shift))?;
                twin.equal(&format!("set({v})"), &found, &Residue::from_u64(p, v))?;
            }
        }
        twin.write(0, &sample::residue(rng, p), Shift::ZERO)?;
        twin.write(2, &sample::residue(rng, p), Shift::ZERO)?;
        twin.both(&"copy(1, 0)", |e| e.copy(1, 0))?;
        twin.both(&"copy(0, 0)", |e| e.copy(0, 0))?;
        for reg in 0..REGISTERS {
            twin.same(&"after copy(1, 0) and copy(0, 0)", reg, Shift::ZERO)?;
        }
        twin.square(&"the copy", 1, 2, Step::Square, Shift::ZERO)?;
        twin.same(&"the source after its copy was squared", 0, Shift::ZERO)?;
        Ok(())
    })
}
