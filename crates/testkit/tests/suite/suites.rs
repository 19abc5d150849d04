//! Tests that the test cases for engines fail for faulty engines.

use warpint_mersenne::engine::plain::Plain;
use warpint_selftest::faults::wrappers::{Fault, Faulty};
use warpint_selftest::{cases::CASES, oracle::Limbs, run_case};
use warpint_testkit::cases;

#[test]
fn a_stuck_bit_fails_every_case_that_makes_products() {
    // Refusing a length computes no product, two engines with the same error agree, and a CPU has no lanes.
    const WITHOUT: [&str; 3] = ["refused_lengths", "thread_counts", "numbers_together"];
    // The oracle takes Mersenne numbers only.
    const OTHER_NUMBERS: [&str; 2] = ["other_numbers", "fermat_numbers"];
    let family = Faulty::leaked(&Limbs, Fault::StuckBit { bit: 1 });
    let of_other = Faulty::leaked(&Plain, Fault::StuckBit { bit: 1 });
    for case in CASES.iter().filter(|c| !WITHOUT.contains(&c.name)) {
        let family = if OTHER_NUMBERS.contains(&case.name) { of_other } else { family };
        assert!(run_case(family, case.name).is_err(), "{} sees nothing wrong", case.name);
    }
    assert!(cases::squares(family).is_err());
    assert!(cases::products(family).is_err());
    assert!(cases::carry_patterns(family).is_err());
    assert!(cases::forced_lengths(family).is_err());
    assert!(cases::lucas_lehmer_of_small_primes(family).is_err());
    assert!(cases::prp_of_small_primes(family).is_err());
}

#[test]
fn a_single_flipped_bit_fails_the_squares() {
    for bit in [0, 63, 20_000] {
        let family = Faulty::leaked(&Limbs, Fault::FlippedBit { after: 50, bit });
        assert!(run_case(family, "squares").is_err(), "bit {bit}");
    }
}
