//! Tests products, sums and differences of registers, which may be distinct or equal.

use warpint_mersenne::{Engine, EngineError, EngineFamily, Shift};

use super::with_twins;
use crate::oracle::Limbs;
use crate::sample::{self, Random, Scale};
use crate::twin::{REGISTERS, Trouble, Twin};

/// An operation of an engine with two source registers. The arguments are the engine, the number of
/// the destination register, and the numbers of the two source registers.
type Operation = fn(&mut dyn Engine, usize, usize, usize) -> Result<(), EngineError>;

const OPERATIONS: [(&str, Operation); 3] = [
    ("mul", |e, dst, a, b| e.mul(dst, a, b)),
    ("add", |e, dst, a, b| e.add(dst, a, b)),
    ("sub", |e, dst, a, b| e.sub(dst, a, b)),
];

/// Tests products of random residues, and products of the results.
pub fn products(family: &'static dyn EngineFamily, seed: u64, scale: Scale) -> Result<(), String> {
    with_twins(family, seed, scale, (80, Limbs::LARGEST), |twin, rng| {
        fill(twin, rng)?;
        for (dst, a, b) in [(0, 1, 2), (1, 0, 2), (2, 1, 0), (0, 2, 1)] {
            let what = format!("mul({dst}, {a}, {b})");
            twin.both(&what, |e| e.mul(dst, a, b))?;
            twin.same(&what, dst, Shift::ZERO)?;
        }
        Ok(())
    })
}

/// Tests sums and differences, single and repeated. The Gerbicz–Li check requires that they are
/// exact, however many are computed without a product in between.
pub fn sums(family: &'static dyn EngineFamily, seed: u64, scale: Scale) -> Result<(), String> {
    with_twins(family, seed, scale, (80, Limbs::LARGEST), |twin, rng| {
        fill(twin, rng)?;
        for round in 0..6 {
            let what = format!("sum and difference, round {round}");
            twin.both(&what, |e| e.add(0, 1, 2))?;
            twin.both(&what, |e| e.sub(1, 2, 0))?;
            twin.same(&what, 0, Shift::ZERO)?;
            twin.same(&what, 1, Shift::ZERO)?;
        }
        // A product directly after sums has the largest digits.
        twin.both(&"product of sums", |e| e.mul(2, 0, 1))?;
        twin.same(&"product of sums", 2, Shift::ZERO)?;
        let what = "a register minus itself";
        twin.both(&what, |e| e.sub(0, 1, 1))?;
        twin.same(&what, 0, Shift::ZERO)?;
        Ok(())
    })
}

/// Tests mul, add and sub with every choice of destination and source registers. The destination
/// must be right, and the other registers must be unchanged.
pub fn aliased_registers(
    family: &'static dyn EngineFamily,
    seed: u64,
    scale: Scale,
) -> Result<(), String> {
    with_twins(family, seed, scale, (16, Limbs::LARGEST / 4), |twin, rng| {
        for (name, operation) in OPERATIONS {
            for choice in 0..REGISTERS.pow(3) {
                let (dst, a, b) = (choice % 3, choice / 3 % 3, choice / 9);
                let what = format!("{name}({dst}, {a}, {b})");
                fill(twin, rng)?;
                twin.both(&what, |e| operation(e, dst, a, b))?;
                for reg in 0..REGISTERS {
                    twin.same(&what, reg, Shift::ZERO)?;
                }
            }
        }
        Ok(())
    })
}

/// Writes a random residue to each register of both engines.
fn fill(twin: &mut Twin, rng: &mut Random) -> Result<(), Trouble> {
    (0..REGISTERS).try_for_each(|reg| {
        let x = sample::residue(rng, twin.exponent());
        twin.write(reg, &x, Shift::ZERO)
    })
}
