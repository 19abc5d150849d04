//! Every engine family through every case.

use warpint_mersenne::engine::{fp64::Fp64, goldilocks::Goldilocks, word::Word};
use warpint_selftest::{agreement, engine_suite, oracle::Limbs};

engine_suite!(word, &Word);
engine_suite!(fp64, &Fp64);
engine_suite!(goldilocks, &Goldilocks);

/// The oracle against what it did not compute itself.
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
fn fp64_and_goldilocks_agree() {
    for (p, squarings) in [(100_003, 300), (216_091, 200), (500_009, 100), (1_000_003, 100)] {
        agreement::agree(&Fp64, &Goldilocks, p, squarings, warpint_selftest::SEED).unwrap();
    }
}
