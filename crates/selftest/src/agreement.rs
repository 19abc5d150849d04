//! Two engines of different arithmetic against each other, where the oracle is
//! too slow.

use warpint_mersenne::{BuildOptions, EngineFamily, Residue, Shift, Step};

use crate::sample;

/// Squares the same residue `squarings` times in both families, as LL steps
/// with two different shifts and as plain squarings, and compares all residues.
///
/// Both run with two threads at their shortest length with enough margin.
pub fn agree(
    a: &dyn EngineFamily,
    b: &dyn EngineFamily,
    p: u32,
    squarings: u64,
    seed: u64,
) -> Result<(), String> {
    let mut rng = sample::random(seed);
    let x = sample::residue(&mut rng, p);
    let [_, one, _, drawn] = sample::shifts(&mut rng, p);
    for step in [Step::SquareMinusTwo, Step::Square, Step::SquareTimes(3)] {
        let found = after(a, p, &x, squarings, step, one)?;
        let expected = after(b, p, &x, squarings, step, drawn)?;
        if found != expected {
            return Err(format!(
                "M{p} seed {seed}, {step:?} {squarings} times: {} gives {found:?}, {} {expected:?}",
                a.name(),
                b.name()
            ));
        }
    }
    Ok(())
}

fn after(
    family: &dyn EngineFamily,
    p: u32,
    x: &Residue,
    n: u64,
    step: Step,
    shift: Shift,
) -> Result<Residue, String> {
    let length = sample::shortest_length(family, p)?;
    // A small multiplier knows nothing of shifts, nor does it need to.
    let options = BuildOptions::new(1, 2);
    family
        .build(p, length, options)
        .and_then(|mut engine| {
            engine.write(0, x, shift)?;
            engine.square(0, n, step, shift)?;
            engine.read(0, shift.after_squarings(n, p))
        })
        .map_err(|e| format!("{} M{p} length {length}: {e}", family.name()))
}
