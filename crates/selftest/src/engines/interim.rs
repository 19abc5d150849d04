//! Compares intermediate residues of large tests on GPUs with residues that another program
//! computed.

use warpint_mersenne::{BuildOptions, EngineFamily, LlStart, Shift};

use crate::sample::Scale;
use crate::vectors::{self, InterimResidue, Sequence};
use crate::{sample, sequence};

/// The largest exponent that the quick cases test.
const LARGEST_QUICK: u32 = 10_000_000;

/// Tests the res64 (low 64 bits of the residue) after 10,000 squarings on the engine alone, without
/// the checks of a test, for every exponent of `crates/selftest/vectors/residues.toml` that the family
/// supports. The quick cases only test exponents up to 10,000,000. Takes some seconds on a GPU.
pub fn interim_residues(family: &dyn EngineFamily, scale: Scale) -> Result<(), String> {
    let mut residues = vectors::interim_residues().map_err(|e| e.to_string())?.residues;
    let largest = if scale == Scale::Quick { LARGEST_QUICK } else { u32::MAX };
    residues.retain(|known| known.p <= largest && family.exponent_range().contains(&known.p));
    for known in residues {
        let found = reach(family, &known)?;
        if found != known.res64 {
            let InterimResidue { p, test, iterations, res64 } = known;
            return Err(format!(
                "{} M{p} {test:?} after {iterations} squarings: res64 {found}, not {res64}",
                family.name()
            ));
        }
    }
    Ok(())
}

fn reach(family: &dyn EngineFamily, known: &InterimResidue) -> Result<String, String> {
    let (p, n) = (known.p, known.iterations);
    let failed = |e: &dyn std::fmt::Display| format!("{} M{p}: {e}", family.name());
    let length = sample::shortest_length(family, p)?;
    let mut engine = family.build(p, length, BuildOptions::new(1, 1)).map_err(|e| failed(&e))?;
    let residue = match known.test {
        Sequence::Prp => sequence::power_residue(engine.as_mut(), n),
        Sequence::Ll => {
            let s_0 = sequence::ll_start(p, LlStart::Four).ok_or_else(|| failed(&"no start"))?;
            // With a shift, the −2 falls into another word at every squaring.
            sequence::ll_residue(engine.as_mut(), &s_0, n, Shift::new(p / 3, p))
        }
    };
    residue.map(|residue| residue.res64_hex()).map_err(|e| failed(&e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpint_mersenne::engine::fp64::Fp64;

    #[test]
    fn both_sequences_are_followed() {
        let known =
            |p, test, iterations| InterimResidue { p, test, iterations, res64: String::new() };
        // 4 → 14 → 194 → 37634, and 3^32.
        assert_eq!(reach(&Fp64, &known(1_279, Sequence::Ll, 3)).unwrap(), "0000000000009302");
        assert_eq!(reach(&Fp64, &known(1_279, Sequence::Prp, 5)).unwrap(), "0006954FE21E3E81");
        assert!(reach(&Fp64, &known(61, Sequence::Prp, 5)).is_err());
    }
}
