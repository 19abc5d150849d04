//! Every engine family against GMP.

use warpint_mersenne::engine::{fp64::Fp64, goldilocks::Goldilocks, word::Word};
use warpint_selftest::oracle::Limbs;
use warpint_testkit::gmp_engine_suite;

gmp_engine_suite!(word, &Word);
gmp_engine_suite!(fp64, &Fp64);
gmp_engine_suite!(goldilocks, &Goldilocks);

/// The oracle of the self-test is itself checked here.
mod limbs {
    use super::*;
    use warpint_testkit::cases;

    #[test]
    fn squares() {
        cases::squares(&Limbs).unwrap();
    }

    #[test]
    fn products() {
        cases::products(&Limbs).unwrap();
    }

    #[test]
    fn carry_patterns() {
        cases::carry_patterns(&Limbs).unwrap();
    }

    #[test]
    fn lucas_lehmer_starts() {
        cases::lucas_lehmer_starts(&Limbs).unwrap();
    }
}
