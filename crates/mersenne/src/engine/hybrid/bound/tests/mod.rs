//! Values computed by hand, and attacks on the bound.

mod attack;
mod butterflies;
mod exact;
mod factors;
mod model;
mod table;
mod words;

use super::stage::Stage;
use super::*;

#[test]
fn the_constant_of_two_stages() {
    let stages = Stages {
        forward: vec![Stage::Sums, Stage::Sums],
        inverse: vec![Stage::Sums, Stage::Fused { factor: 0.75 }],
        product: 0.8,
    };
    let roundings = Roundings { weighting: 4.0, unweighting: 4.0, rest: 1.0 };
    // F = 4 + 1 + 1, G = 1 + 3.75, P = 16, U = 5.
    let expected = 12.0 + 4.75 * 2f64.sqrt() + 16.0 + 5.0;
    assert!((constant(&stages, roundings) - expected).abs() < 1e-9);
}

#[test]
fn norms_of_all_digits() {
    // N = 2, p = 5: words of 3 and 2 bits, weights 1 and √2. The largest digits are 4 and 2, and
    // ‖x‖² = 16 + 8.
    let bound = norm_squared(5, 2, 0.0);
    assert!((24.0..40.0).contains(&bound), "{bound}");
    // ¼·32·2·3/ln 4.
    assert!((bound - 48.0 / 4f64.ln()).abs() < 1e-9);
    assert!((norm_squared(5, 2, 0.5) / bound - 2.25).abs() < 1e-12);
    for (p, n) in [(1_279u32, 64usize), (1_024, 64), (4_423, 384), (86_243, 4_096)] {
        let (wide, length) = (u64::from(p), n as u64);
        let ceiling = |w: u64| (wide * w).div_ceil(length);
        let square = |w: u64| {
            let weight = (ceiling(w) as f64 - (wide * w) as f64 / n as f64).exp2();
            let digit = ((ceiling(w + 1) - ceiling(w) - 1) as f64).exp2();
            (digit * weight).powi(2)
        };
        let sum: f64 = (0..length).map(square).sum();
        let bound = norm_squared(p, n, 0.0);
        // The sum is 3/(4^(1/N) − 1) instead of 3N/ln 4 if p and N are coprime; 64 divides 1,024.
        let least = if p == 1_024 { 0.4 } else { 0.985 };
        assert!((least..=1.0).contains(&(sum / bound)), "M{p}, {n}: {}", sum / bound);
    }
}

#[test]
fn margins() {
    // K·u·‖x‖² = 2^29 for K = 256 and ‖x‖² = 2^74.
    let margin_of = |slack| margin(256.0, 2f64.powi(74), slack);
    assert!((margin_of(0.0) - 1.0).abs() < 1e-6 && margin_of(0.0) <= 1.0);
    assert!(margin_of(f64::from(1u32 << 29)).abs() < 1e-6);
    let bits = largest_bits(256.0, 1 << 18, 0.0, 0.0);
    // ½·(30 + 53 − 8 − 18 + 2 − log2(3/ln 4)).
    let expected = 0.5 * (59.0 - (3.0 / 4f64.ln()).log2());
    assert!((bits - expected).abs() < 1e-6, "{bits}");
    let norm = largest_norm_squared(256.0, 0.0);
    assert!((norm.log2() - 75.0).abs() < 1e-6 && margin(256.0, norm, 0.0) >= 0.0);
}
