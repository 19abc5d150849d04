//! Compares every engine family with GMP.

use warpint_selftest::oracle::Limbs;
use warpint_testkit::gmp_engine_suite;

macro_rules! suites {
    ($($name:ident: $family:path;)+) => { $(gmp_engine_suite!($name, &$family);)+ };
}
warpint_mersenne::for_every_family!(cpu => suites);

/// Compares [`Limbs`], the reference family of the self-test, with GMP.
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
