//! Compares an engine with one thread with an engine with two threads.

use warpint_mersenne::{BuildOptions, Engine, EngineError, EngineFamily, Residue, Shift, Step};

use crate::sample::{self, Scale};

/// The largest exponent tested. Its transforms are long enough for an engine to use several
/// threads.
const LARGEST: u32 = 1_000_000;

/// Tests that engines with 1 and with 2 threads reach the same residues. On a device, which has its
/// own threads, this compares two engines that run one after the other. The oracle is not used, so
/// that the exponents may be large.
pub fn thread_counts(
    family: &'static dyn EngineFamily,
    seed: u64,
    scale: Scale,
) -> Result<(), String> {
    let mut rng = sample::random(seed);
    let largest = scale.largest(LARGEST).min(*family.exponent_range().end());
    let mut exponents = sample::exponents(family, scale, &mut rng, 4, largest);
    exponents.push(largest);
    for p in exponents {
        let length = sample::shortest_length(family, p)?;
        let x = sample::residue(&mut rng, p);
        let [_, _, _, shift] = sample::shifts(&mut rng, p);
        let with_threads = |threads| {
            let options = BuildOptions::new(2, threads);
            family.build(p, length, options).and_then(|mut e| work(e.as_mut(), &x, shift)).map_err(
                |e| {
                    format!(
                        "{} M{p} length {length} seed {seed}, {threads} threads: {e}",
                        family.name()
                    )
                },
            )
        };
        let (one, two) = (with_threads(1)?, with_threads(2)?);
        if one != two {
            return Err(format!(
                "{} M{p} length {length} seed {seed}: {one:?} with one thread, {two:?} with two",
                family.name()
            ));
        }
    }
    Ok(())
}

fn work(engine: &mut dyn Engine, x: &Residue, shift: Shift) -> Result<Residue, EngineError> {
    let n = 10;
    engine.write(0, x, shift)?;
    engine.copy(1, 0)?;
    engine.square(0, n, Step::SquareMinusTwo, shift)?;
    engine.mul(0, 0, 1)?;
    engine.add(0, 0, 1)?;
    engine.read(0, shift)
}
