//! Runs every case for every engine family on the CPU.

use warpint_mersenne::engine::{families_for, fp64::Fp64};
use warpint_mersenne::{EngineFamily, for_every_family};
use warpint_selftest::{agreement, engine_suite, oracle::Limbs};

macro_rules! suites {
    ($($name:ident: $family:path;)+) => { $(engine_suite!($name, &$family);)+ };
}
for_every_family!(cpu => suites);

/// Compares the oracle with known answers that it did not compute itself.
mod oracle {
    use super::*;

    #[test]
    fn known_residues() {
        warpint_selftest::run_case(&Limbs, "known_residues").unwrap();
    }

    #[test]
    fn whole_tests() {
        warpint_selftest::run_case(&Limbs, "whole_tests").unwrap();
    }
}

#[test]
fn families_agree_with_fp64() {
    for (p, squarings) in [(100_003, 300), (216_091, 200), (500_009, 100), (1_000_003, 100)] {
        let others = families_for(p).into_iter().filter(|family| family.name() != Fp64.name());
        for family in others {
            agreement::agree(&Fp64, family, p, squarings, warpint_selftest::SEED).unwrap();
        }
    }
}
