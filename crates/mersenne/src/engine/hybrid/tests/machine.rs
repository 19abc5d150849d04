//! Tests that compare the engine with products mod M_p of natural numbers.

use super::super::transform::Transform;
use super::super::{Hybrid, margin, statistical};
use crate::engine::exact::Machine;
use crate::layout::WordLayout;
use crate::{BuildOptions, Engine, EngineFamily, Residue, Shift, Step};
use warpint_arith::simd::{Cpu, Level};
use warpint_natural::limbs;

/// Returns an engine with vectors of `level`.
fn engine_of(level: Level, p: u32, n: usize, threads: usize) -> Box<dyn Engine> {
    let transform = Transform::new(WordLayout::new(p, n), level).unwrap();
    Box::new(Machine::new("hybrid", transform, BuildOptions::new(3, threads)))
}

/// Returns an engine of `hybrid-fast` with vectors of `level`.
fn fast_engine_of(level: Level, p: u32, n: usize, threads: usize) -> Box<dyn Engine> {
    let transform = Transform::new(WordLayout::new(p, n), level).unwrap().measured();
    let machine = Machine::new("hybrid-fast", transform, BuildOptions::new(3, threads));
    Box::new(machine.guarded(statistical::LIMIT))
}

/// Returns the largest odd exponent for which all products in n words are exact.
fn longest_exponent(n: usize) -> u32 {
    let enough = |p: &u32| p % 2 == 1 && margin::spare_bits(*p, n) >= 0.0;
    (20 * n as u32..30 * n as u32).rev().find(enough).unwrap()
}

fn mul_mod(x: &Residue, y: &Residue) -> Residue {
    let p = x.exponent();
    Residue::from_limbs(p, &limbs::mul_mod(x.limbs(), y.limbs(), p))
}

/// Returns pseudo-random 64-bit numbers.
fn numbers(seed: u64) -> impl Iterator<Item = u64> {
    (1u64..).map(move |i| {
        let x = (i + (seed << 40)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x ^ x >> 31
    })
}

fn mixed(p: u32, seed: u64) -> Residue {
    let words: Vec<u64> = numbers(seed).take(limbs::limbs_for_bits(p)).collect();
    Residue::from_limbs(p, &words)
}

/// Returns residues whose digits have the largest magnitude, with many patterns of signs. For the
/// first one, words of the square are near their bound. For a chirp, all frequencies have the same
/// magnitude.
fn extremes(p: u32, n: usize) -> Vec<Residue> {
    let layout = WordLayout::new(p, n);
    let random: Vec<u64> = numbers(77).take(n).collect();
    let signs: [&dyn Fn(usize) -> bool; 7] = [
        &|_| true,
        &|_| false,
        &|j| j % 2 == 0,
        &|j| j % 4 < 2,
        &|j| (std::f64::consts::PI * ((j * j) % (2 * n)) as f64 / n as f64).cos() > 0.0,
        &|j| random[j] & 1 == 1,
        &|j| j < n / 2,
    ];
    signs
        .iter()
        .map(|negative| {
            let digit = |j: usize| {
                let half = 1i32 << layout.bits(j) >> 1;
                if negative(j) { -half } else { half - 1 }
            };
            layout.residue(&(0..n).map(digit).collect::<Vec<_>>())
        })
        .collect()
}

fn patterns(p: u32, n: usize) -> Vec<Residue> {
    let small = |v| Residue::from_u64(p, v);
    let minus_one = Residue::from_limbs(p, &limbs::sub_mod(small(0).limbs(), small(1).limbs(), p));
    let mut all = extremes(p, n);
    all.extend([
        small(0),
        small(1),
        minus_one,
        small(1).rotated_left(p - 1),
        mixed(p, 1),
        mixed(p, 2),
    ]);
    all
}

#[track_caller]
fn check_products(engine: &mut dyn Engine, xs: &[Residue]) {
    let (p, n) = (engine.exponent(), engine.length());
    for (i, x) in xs.iter().enumerate() {
        let y = &xs[(i * 5 + 3) % xs.len()];
        let (s, t) = (Shift::ZERO, Shift::new(p / 3 + i as u32, p));
        engine.write(0, x, s).unwrap();
        engine.write(1, y, t).unwrap();
        assert_eq!(engine.read(1, t).unwrap(), *y);
        engine.mul(2, 0, 1).unwrap();
        let product = engine.read(2, s.of_product(t, p)).unwrap();
        assert!(product == mul_mod(x, y), "product {i} of M{p} in {n} words");
        engine.square(0, 1, Step::Square, s).unwrap();
        let square = engine.read(0, s).unwrap();
        assert!(square == mul_mod(x, x), "square {i} of M{p} in {n} words");
    }
}

#[test]
fn products_at_every_short_length() {
    for n in Hybrid.lengths(0, 3000) {
        for p in [longest_exponent(n), 8 * n as u32 + 1].map(|p| p.max(1_001)) {
            for level in Cpu::levels() {
                check_products(engine_of(level, p, n, 1).as_mut(), &patterns(p, n));
            }
        }
    }
}

#[test]
fn the_worst_digits_at_longer_lengths() {
    for n in [1usize << 15, 3 << 13, 7 << 12, 9 << 11, 11 << 11, 21 << 10, 77 << 8] {
        let p = longest_exponent(n);
        for level in Cpu::levels() {
            check_products(engine_of(level, p, n, 2).as_mut(), &extremes(p, n));
        }
    }
}

#[test]
fn products_in_words_of_31_bits() {
    // At these lengths the bound of `margin` holds for all digits of 31 bits.
    for n in Hybrid.lengths(0, 3000) {
        let p = 31 * n as u32 - 1;
        assert!(margin::spare_bits(p, n) > 0.0);
        for level in Cpu::levels() {
            let mut engine = fast_engine_of(level, p, n, 1);
            check_products(engine.as_mut(), &patterns(p, n));
            let measured = engine.health().round_off.unwrap();
            assert!(measured.products > 20 && measured.max < 0.1, "{n}: {measured:?}");
        }
    }
}

#[test]
fn random_products_in_words_of_31_bits_at_longer_lengths() {
    for n in [1usize << 15, 3 << 13, 7 << 12, 9 << 11, 11 << 11, 21 << 10, 77 << 8] {
        let p = 31 * n as u32 - 1;
        for level in Cpu::levels() {
            let mut engine = fast_engine_of(level, p, n, 2);
            check_products(engine.as_mut(), &[mixed(p, 3), mixed(p, 4)]);
        }
    }
}
