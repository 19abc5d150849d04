//! Tests transform lengths that are longer or shorter than the length that a plan would choose. M_p
//! denotes 2^p − 1.

use warpint_mersenne::{BuildOptions, EngineError, EngineFamily, Shift, Step};

use crate::oracle::Limbs;
use crate::sample::{self, Random, Scale};
use crate::twin::{Trouble, Twin};

/// Tests random residues at many transform lengths. Let N be the shortest length with enough
/// margin. The test covers the lengths from N to 9N/8, one length of about 2N and one of about 4N,
/// the longest length (with words of one bit, if the family supports them), and lengths with
/// slightly too little margin.
///
/// At a length with slightly too little margin the engine may report round-off, but must never give
/// a wrong value. At all other lengths the values must be right.
pub fn forced_lengths(
    family: &'static dyn EngineFamily,
    seed: u64,
    scale: Scale,
) -> Result<(), String> {
    let mut rng = sample::random(seed);
    for p in sample::exponents(family, scale, &mut rng, 32, Limbs::LARGEST / 4) {
        let shortest = sample::shortest_length(family, p)?;
        let all = sample::safe_lengths(family, p, shortest, p as usize);
        let near = all.iter().filter(|&&n| n <= shortest + shortest / 8);
        let far = [2 * shortest, 4 * shortest, p as usize]
            .map(|from| all.iter().find(|&&n| n >= from).or(all.last()));
        for &length in near.chain(far.into_iter().flatten()) {
            products_at(family, p, length, &mut rng, seed)?;
        }
        for length in tight_lengths(family, p, shortest) {
            match products_at(family, p, length, &mut rng, seed) {
                Err(Trouble::RoundOff(_)) => {}
                other => other?,
            }
        }
    }
    Ok(())
}

/// Returns lengths below `shortest` whose margin is statistical and negative, but at least −0.3
/// bits. The round-off of products at these lengths is near its limit or exceeds it.
fn tight_lengths(family: &dyn EngineFamily, p: u32, shortest: usize) -> Vec<usize> {
    const LEAST_MARGIN: f64 = -0.3;
    let mut lengths = family.lengths(shortest / 2 + 1, shortest.saturating_sub(1));
    lengths.retain(|&n| {
        family.margin(p, n).is_ok_and(|m| !m.proven && m.bits < 0.0 && m.bits >= LEAST_MARGIN)
    });
    lengths
}

fn products_at(
    family: &dyn EngineFamily,
    p: u32,
    length: usize,
    rng: &mut Random,
    seed: u64,
) -> Result<(), Trouble> {
    let mut twin = Twin::new(family, p, length, seed)?;
    let [_, _, _, shift] = sample::shifts(rng, p);
    twin.write(0, &sample::residue(rng, p), shift)?;
    twin.square(&"a drawn residue", 0, 20, Step::SquareMinusTwo, shift)?;
    twin.write(1, &sample::residue(rng, p), Shift::ZERO)?;
    twin.both(&"mul(2, 0, 1)", |e| e.mul(2, 0, 1))?;
    twin.same(&"mul(2, 0, 1)", 2, Shift::ZERO)?;
    twin.both(&"sub(0, 2, 1)", |e| e.sub(0, 2, 1))?;
    twin.same(&"sub(0, 2, 1)", 0, Shift::ZERO)
}

/// Tests that `margin` and `build` return `Unusable` for invalid lengths: the length 0, lengths of
/// more words than M_p has bits, and the two neighbours of the shortest length with enough margin,
/// unless the family supports these neighbours.
pub fn refused_lengths(
    family: &'static dyn EngineFamily,
    seed: u64,
    scale: Scale,
) -> Result<(), String> {
    let mut rng = sample::random(seed);
    for p in sample::exponents(family, scale, &mut rng, 48, Limbs::LARGEST) {
        let shortest = sample::shortest_length(family, p)?;
        let beside = [shortest - 1, shortest + 1];
        let strange = beside.into_iter().filter(|&n| family.lengths(n, n).is_empty());
        for length in strange.chain([0, p as usize + 1, 4 * (p as usize).next_power_of_two()]) {
            let options = BuildOptions::new(1, 1);
            let margin = family.margin(p, length).err();
            let built = family.build(p, length, options).err();
            for (what, error) in [("margin", margin), ("build", built)] {
                if !matches!(error, Some(EngineError::Unusable { .. })) {
                    return Err(format!(
                        "{} M{p} seed {seed}: {what} of length {length} gives {error:?}, \
                         not Unusable",
                        family.name()
                    ));
                }
            }
        }
    }
    Ok(())
}
