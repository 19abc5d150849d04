//! Tests of the bound on the error.

use super::super::{Hybrid, margin};
use crate::{EngineFamily, Exponent, Plan, PlanRequest};

/// Returns the number of bits of words, p/N, at which the margin is 0.
fn longest_words(n: usize) -> f64 {
    // The largest p with a margin of at least 0.
    let (mut enough, mut too_many) = (8 * n as u64, (40 * n as u64).min(u64::from(u32::MAX)));
    while too_many - enough > 1 {
        let p = enough.midpoint(too_many);
        if margin::spare_bits(p as u32, n) >= 0.0 { enough = p } else { too_many = p }
    }
    enough as f64 / n as f64
}

#[test]
fn words_are_as_long_as_the_documents_say() {
    for (n, factor, bits) in [
        (1 << 12, 183.3, 32.17),
        (1 << 16, 227.9, 30.02),
        (1 << 20, 272.5, 27.89),
        (3 << 20, 311.8, 27.00),
        (3 << 22, 334.1, 25.95),
    ] {
        let found = (margin::error_factor(n), longest_words(n));
        assert!((found.0 - factor).abs() < 0.5 && (found.1 - bits).abs() < 0.05, "{n}: {found:?}");
    }
}

#[test]
fn every_exponent_has_a_length() {
    for p in [1_009, 10_007, 44_497, 1_257_787, 82_589_933, 332_192_831, 2_147_483_647] {
        let request = PlanRequest { engine: Some("hybrid"), ..PlanRequest::default() };
        let plan = Plan::new(Exponent::new(p).unwrap(), &request).unwrap();
        assert!(plan.margin().proven && plan.margin().bits >= 0.0, "{plan:?}");
        assert!(plan.bits_per_word() > 15.0, "{plan:?}");
    }
}

#[test]
fn says_why_a_length_is_unusable() {
    for (p, length, reason) in [
        (997, 64, "exponents are from 1000"),
        (44_497, 5 << 9, "lengths are"),
        (44_497, 31 << 7, "lengths are"),
        (44_497, 1 << 13, "words have"),
        (44_497, 1 << 10, "words have"),
    ] {
        let error = Hybrid.margin(p, length).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
    assert!(Hybrid.build(44_497, 7, crate::BuildOptions::new(1, 1)).is_err());
}

#[test]
fn quotients_err_by_less_than_the_limit_leaves() {
    for n in Hybrid.lengths(0, usize::MAX) {
        let factor = margin::error_factor(n);
        assert!(factor >= 193.0 || n <= 1 << 13, "{n}: {factor}");
        // The longest words of 30 bits, and words of 8 bits.
        for p in [30 * n as u64 - 1, 8 * n as u64].map(|p| p.min((1 << 31) - 1) as u32) {
            let norm = margin::largest_norm(p, n);
            assert!(n > 1 << 13 || norm < 2f64.powi(73), "{n}: {norm}");
        }
    }
    // At the shortest lengths K is far below 193.
    assert!(margin::error_factor(64) < 120.0);
}
