//! Compares two engines with different arithmetic, and products of an engine with its squares, for
//! exponents at which the oracle is too slow. M_p denotes 2^p − 1.

use warpint_mersenne::{BuildOptions, EngineError, EngineFamily, Residue, Shift, Step};

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

/// Returns the exponents at which products of two registers are compared with squares. At the longest
/// lengths, kernels have radices that they do not have at shorter ones.
#[must_use]
pub fn product_sizes(scale: Scale) -> &'static [u32] {
    match scale {
        Scale::Small => &[50_021],
        Scale::Quick => &[82_589_933, 136_279_841],
        Scale::Whole => &[100_003],
        Scale::Large => &[6_972_593, 43_112_609, 82_589_933, 136_279_841, 332_192_831],
    }
}

/// Tests products of two registers: for random x and y modulo M_p, x·y = y·x and (x + y)² = x² + y² +
/// 2·x·y. Two engines would need as much time again, and may have the same error; squares have other
/// kernels than products.
///
/// The engine has its family's shortest length with enough margin.
pub fn products(family: &dyn EngineFamily, p: u32, seed: u64) -> Result<(), String> {
    let length = sample::shortest_length(family, p)?;
    let mut rng = sample::random(seed);
    let [x, y] = [(); 2].map(|()| sample::residue(&mut rng, p));
    let compute = || -> Result<[Residue; 4], EngineError> {
        let mut engine = family.build(p, length, BuildOptions::new(4, 2))?;
        engine.write(0, &x, Shift::ZERO)?;
        engine.write(1, &y, Shift::ZERO)?;
        engine.mul(2, 0, 1)?;
        engine.mul(3, 1, 0)?;
        let products = [engine.read(2, Shift::ZERO)?, engine.read(3, Shift::ZERO)?];
        engine.add(3, 0, 1)?;
        for register in [0, 1, 3] {
            engine.square(register, 1, Step::Square, Shift::ZERO)?;
        }
        for term in [1, 2, 2] {
            engine.add(0, 0, term)?;
        }
        let [xy, yx] = products;
        Ok([xy, yx, engine.read(3, Shift::ZERO)?, engine.read(0, Shift::ZERO)?])
    };
    let place = format!("{} M{p} length {length} seed {seed}", family.name());
    let [xy, yx, square, sum] = compute().map_err(|e| format!("{place}: {e}"))?;
    if xy != yx {
        return Err(format!("{place}: x·y is {xy:?}, y·x is {yx:?}"));
    }
    if square != sum {
        return Err(format!("{place}: (x + y)² is {square:?}, x² + y² + 2·x·y is {sum:?}"));
    }
    Ok(())
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
