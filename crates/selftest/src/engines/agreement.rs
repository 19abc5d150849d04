//! Compares two engines with different arithmetic, for exponents at which the oracle is too slow.
//! M_p denotes 2^p − 1.

use warpint_mersenne::{BuildOptions, EngineFamily, Residue, Shift, Step};

use crate::sample::{self, Scale};

/// Returns pairs (exponent p, number of squarings). For each pair, a family is compared with a
/// family on the CPU.
#[must_use]
pub fn sizes(scale: Scale) -> &'static [(u32, u64)] {
    match scale {
        // 2^11 to 2^13 words.
        Scale::Small => &[(50_021, 5), (150_011, 3)],
        // 2^18 words and more.
        Scale::Quick => &[(6_972_593, 20)],
        Scale::Whole => &[(100_003, 100), (1_000_003, 100)],
        // 5·2^10 to 2^22 words.
        Scale::Large => &[
            (100_003, 300),
            (216_091, 300),
            (1_000_003, 100),
            (6_972_593, 20),
            (20_996_011, 10),
            (43_112_609, 5),
            (82_589_933, 3),
        ],
    }
}

/// Tests that two families agree. Each family squares the same random residue modulo M_p
/// `squarings` times with the LL step x² − 2, then again from the start with x², and again with
/// 3·x². The two families use different shifts. The final residues must be equal.
///
/// Each engine uses two threads and its family's shortest length with enough margin.
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
    // A small multiplier does not depend on shifts.
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
