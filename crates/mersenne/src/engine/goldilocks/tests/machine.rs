//! Tests that compare the engine with schoolbook products mod M_p.

use super::super::lanes::WordLanes;
use super::super::transform::Transform;
use super::super::{Goldilocks, margin};
use super::margin::convolution;
use crate::engine::exact::{Machine, Products};
use crate::layout::{WordLayout, carry_out};
use crate::{BuildOptions, Engine, EngineFamily, Residue, Shift, Step};
use proptest::prelude::*;
use warpint_arith::primes;
use warpint_natural::limbs;
#[cfg(target_arch = "x86_64")]
use warpint_transform::cpu::goldilocks::avx2::Four;
use warpint_transform::cpu::goldilocks::{Pool, Shape};

/// Returns the engine that the family builds, and the engine that computes with vectors of one
/// lane.
fn engines(p: u32, n: usize, threads: usize) -> Vec<Box<dyn Engine>> {
    let options = BuildOptions::new(3, threads);
    let layout = WordLayout::new(p, n);
    let one_lane = Transform::<u64>::new(layout, Shape::new(n, 1).unwrap()).unwrap();
    vec![
        Goldilocks.build(p, n, options).unwrap(),
        Box::new(Machine::new(Goldilocks.name(), one_lane, options)),
    ]
}

/// Returns the transform lengths up to `max` words at which the family has a margin of at least 0
/// for the exponent p, in ascending order.
fn usable(p: u32, max: usize) -> Vec<usize> {
    let enough = |n: &usize| Goldilocks.margin(p, *n).is_ok_and(|m| m.bits >= 0.0);
    Goldilocks.lengths(1, max).into_iter().filter(enough).collect()
}

/// Returns the largest exponent below 31·n for which all products in n words are exact, among the
/// exponents that are divisible neither by 2 nor by 5.
fn longest_exponent(n: usize) -> u32 {
    let enough = |p: &u32| p % 2 == 1 && !p.is_multiple_of(5) && margin::spare_bits(*p, n) >= 0.0;
    (20 * n as u32..31 * n as u32).rev().find(enough).unwrap()
}

fn mul_mod(x: &Residue, y: &Residue) -> Residue {
    let p = x.exponent();
    Residue::from_limbs(p, &limbs::mul_mod(x.limbs(), y.limbs(), p))
}

fn sub_mod(x: &Residue, y: &Residue) -> Residue {
    let p = x.exponent();
    Residue::from_limbs(p, &limbs::sub_mod(x.limbs(), y.limbs(), p))
}

fn add_mod(x: &Residue, y: &Residue) -> Residue {
    let p = x.exponent();
    Residue::from_limbs(p, &limbs::add_mod(x.limbs(), y.limbs(), p))
}

fn mixed(p: u32, seed: u64) -> Residue {
    let mut state = seed;
    let words: Vec<u64> = (0..limbs::limbs_for_bits(p))
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
            state ^ (state >> 29)
        })
        .collect();
    Residue::from_limbs(p, &words)
}

/// Returns residues with extreme digits, and residues whose squares have carries that propagate
/// far.
fn patterns(p: u32, n: usize) -> Vec<Residue> {
    let layout = WordLayout::new(p, n);
    let limb_count = limbs::limbs_for_bits(p);
    let small = |v| Residue::from_u64(p, v);
    let alternate = |w: u64| Residue::from_limbs(p, &vec![w; limb_count]);
    let lowest: Vec<i32> = (0..n).map(|j| -(1i32 << layout.bits(j) >> 1)).collect();
    let highest: Vec<i32> = lowest.iter().map(|d| -d).collect();
    vec![
        small(0),
        small(1),
        small(2),
        sub_mod(&small(0), &small(1)),
        sub_mod(&small(0), &small(2)),
        alternate(0x5555_5555_5555_5555),
        alternate(0xaaaa_aaaa_aaaa_aaaa),
        alternate(0x0000_ffff_0000_ffff),
        alternate(u64::MAX << 32),
        small(1).rotated_left(p - 1),
        small(1).rotated_left(p / 2),
        layout.residue(&lowest),
        layout.residue(&highest),
        mixed(p, 1),
        mixed(p, 2),
    ]
}

fn check_products(p: u32, n: usize, xs: &[Residue]) {
    for mut engine in engines(p, n, 1) {
        for (i, x) in xs.iter().enumerate() {
            let y = &xs[(i * 5 + 3) % xs.len()];
            let (s, t) = (Shift::new(i as u32 * 31, p), Shift::new(p / 3 + i as u32, p));
            engine.write(0, x, s).unwrap();
            engine.write(1, y, t).unwrap();
            assert_eq!(engine.read(0, s).unwrap(), *x);
            engine.mul(2, 0, 1).unwrap();
            let product = engine.read(2, s.of_product(t, p)).unwrap();
            assert_eq!(product, mul_mod(x, y), "{x:?}·{y:?} in {n} words");
            engine.square(0, 1, Step::Square, s).unwrap();
            let square = engine.read(0, s.after_squarings(1, p)).unwrap();
            assert_eq!(square, mul_mod(x, x), "square of {x:?} in {n} words");
        }
    }
}

#[test]
fn products_at_every_length() {
    for n in Goldilocks.lengths(8, 1024) {
        for p in [(8 * n as u32 + 1).max(67), 19 * n as u32 + 1, longest_exponent(n)] {
            check_products(p, n, &patterns(p, n));
        }
    }
}

#[test]
fn products_of_short_words() {
    for p in [67u32, 127, 521] {
        for n in usable(p, p as usize) {
            check_products(p, n, &patterns(p, n));
        }
    }
}

#[test]
fn some_longer_products() {
    for n in [2048usize, 2560, 5120, 8192] {
        let p = longest_exponent(n);
        check_products(p, n, &patterns(p, n)[11..14]);
    }
}

/// Squares the residue whose balanced digits give the largest words of a product. The exponent is
/// the largest with exact products. Compares the result with the weighted convolution in 128-bit
/// integers.
#[test]
fn the_worst_digits_at_the_longest_word() {
    for n in [8usize, 10, 64, 160, 512] {
        let p = longest_exponent(n);
        let layout = WordLayout::new(p, n);
        let worst: Vec<i64> = (0..n).map(|j| -(1i64 << layout.bits(j) >> 1)).collect();
        let z = convolution(&layout, &worst, &worst);
        assert!(z.iter().max().unwrap() > &(1 << 61), "{n} words: not near the limit");
        let mut value = Residue::from_u64(p, 0);
        for (j, &z) in z.iter().enumerate() {
            let z = Residue::from_limbs(p, &[z as u64, (z >> 64) as u64]);
            value = add_mod(&value, &z.rotated_left(layout.offset(j) as u32));
        }
        let digits: Vec<i32> = worst.iter().map(|&d| d as i32).collect();
        assert_eq!(squared::<u64>(layout, digits.clone()), Some(value.clone()), "{n} words");
        #[cfg(target_arch = "x86_64")]
        if let Some(four) = squared::<Four>(layout, digits) {
            assert_eq!(four, value, "{n} words, four lanes");
        }
    }
}

/// Returns the square of the residue with the given digits. Returns `None` if the transform length
/// is too short for vectors of type `V`, or the processor does not support them.
fn squared<V: WordLanes>(layout: WordLayout, mut digits: Vec<i32>) -> Option<Residue> {
    let shape = Shape::new(layout.len(), V::WIDTH)?;
    let transform = Transform::<V>::new(layout, shape)?;
    transform.square(&Pool::new(1), &mut digits, &mut transform.spectrum());
    Some(layout.residue(&digits))
}

#[test]
fn lucas_lehmer_of_small_exponents() {
    const PRIME: [u32; 7] = [89, 107, 127, 521, 607, 1279, 2203];
    for p in PRIME.into_iter().chain([67, 97, 1277, 2207]) {
        for n in usable(p, 512) {
            for mut engine in engines(p, n, 1) {
                let shift = Shift::new(p / 2 + n as u32, p);
                engine.set(0, 4, shift).unwrap();
                engine.square(0, u64::from(p) - 2, Step::SquareMinusTwo, shift).unwrap();
                let end = shift.after_squarings(u64::from(p) - 2, p);
                let zero = engine.read(0, end).unwrap().is(0);
                assert_eq!(zero, PRIME.contains(&p), "M{p} in {n} words");
            }
        }
    }
}

#[test]
fn every_step_at_every_shift() {
    let (p, n) = (127u32, 8);
    let x = mixed(p, 3);
    let square = mul_mod(&x, &x);
    let tripled = mul_mod(&square, &Residue::from_u64(p, 65_536));
    let steps = [
        (Step::Square, square.clone()),
        (Step::SquareMinusTwo, sub_mod(&square, &Residue::from_u64(p, 2))),
        (Step::SquareTimes(65_536), tripled),
    ];
    for mut engine in engines(p, n, 1) {
        for s in 0..p {
            let shift = Shift::new(s, p);
            for (step, expected) in &steps {
                engine.write(1, &x, shift).unwrap();
                engine.square(1, 1, *step, shift).unwrap();
                let found = engine.read(1, shift.after_squarings(1, p)).unwrap();
                assert_eq!(found, *expected, "{step:?} at shift {s}");
            }
        }
    }
}

#[test]
fn registers_may_coincide() {
    let (p, n) = (1279u32, 80);
    let values = [mixed(p, 4), mixed(p, 5), sub_mod(&mixed(p, 6), &mixed(p, 7))];
    for mut engine in engines(p, n, 1) {
        for (dst, a, b) in (0..27).map(|i| (i / 9, i / 3 % 3, i % 3)) {
            for op in 0..4 {
                for (reg, v) in values.iter().enumerate() {
                    engine.write(reg, v, Shift::ZERO).unwrap();
                }
                let (x, y) = (&values[a], &values[b]);
                let expected = match op {
                    0 => engine.add(dst, a, b).map(|()| add_mod(x, y)),
                    1 => engine.sub(dst, a, b).map(|()| sub_mod(x, y)),
                    2 => engine.mul(dst, a, b).map(|()| mul_mod(x, y)),
                    _ => engine.copy(dst, a).map(|()| x.clone()),
                }
                .unwrap();
                for (reg, v) in values.iter().enumerate() {
                    let expected = if reg == dst { &expected } else { v };
                    let found = engine.read(reg, Shift::ZERO).unwrap();
                    assert_eq!(found, *expected, "operation {op} on {dst}, {a}, {b}");
                }
            }
        }
    }
}

/// Computes many squarings and a product with 1, 2 and 5 threads, and compares the results.
#[test]
fn threads_change_nothing() {
    let (p, n) = (756_839u32, 5 << 13);
    let run = |threads: usize, steps: u64| {
        let mut engine = Goldilocks.build(p, n, BuildOptions::new(2, threads)).unwrap();
        engine.write(0, &mixed(p, 8), Shift::ZERO).unwrap();
        engine.square(0, steps, Step::SquareTimes(3), Shift::ZERO).unwrap();
        engine.copy(1, 0).unwrap();
        engine.square(1, 1, Step::Square, Shift::ZERO).unwrap();
        engine.mul(1, 0, 1).unwrap();
        engine.read(1, Shift::ZERO).unwrap()
    };
    assert_eq!(run(1, 40), run(2, 40));
    assert_eq!(run(1, 40), run(5, 40));
}

#[test]
fn fermat_for_a_larger_prime() {
    let (p, n) = (9941u32, 512);
    for mut engine in engines(p, n, 1) {
        engine.set(0, 3, Shift::ZERO).unwrap();
        engine.square(0, u64::from(p), Step::Square, Shift::ZERO).unwrap();
        assert!(engine.read(0, Shift::ZERO).unwrap().is(9), "3^(2^p) = 9 mod the prime M{p}");
    }
}

/// Compares a square with the digits that follow from the definitions of the weighted convolution
/// and of carries.
#[test]
fn the_carry_is_that_of_the_definition() {
    let (p, n) = (607u32, 32);
    let layout = WordLayout::new(p, n);
    let x = mixed(p, 9);
    let digits: Vec<i64> = layout.balanced_digits(&x).into_iter().map(i64::from).collect();
    let z = convolution(&layout, &digits, &digits);
    let mut carry = 0i64;
    let mut carried = vec![0i32; n];
    for (j, d) in carried.iter_mut().enumerate() {
        let v = z[j] as i64 + carry;
        carry = carry_out(v, layout.bits(j));
        *d = (v - (carry << layout.bits(j))) as i32;
    }
    layout.wrap_carry(&mut carried, carry);
    assert_eq!(layout.residue(&carried), mul_mod(&x, &x));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_product(p in 64u32..6000, pick: prop::sample::Index, seed: [u64; 2]) {
        let lengths = usable(p, 2048);
        let n = lengths[pick.index(lengths.len())];
        check_products(p, n, &[mixed(p, seed[0]), mixed(p, seed[1])]);
    }

    #[test]
    fn any_sequence(p in 64u64..1500, pick: prop::sample::Index, seed: u64, s: u32) {
        let p = primes::primes_between(p, p + 200).next().unwrap() as u32;
        let lengths = usable(p, 2048);
        let n = lengths[pick.index(lengths.len())];
        let mut x = mixed(p, seed);
        let shift = Shift::new(s, p);
        let mut engine = Goldilocks.build(p, n, BuildOptions::new(1, 1)).unwrap();
        engine.write(0, &x, shift).unwrap();
        engine.square(0, 20, Step::SquareMinusTwo, shift).unwrap();
        for _ in 0..20 {
            x = sub_mod(&mul_mod(&x, &x), &Residue::from_u64(p, 2));
        }
        prop_assert_eq!(engine.read(0, shift.after_squarings(20, p)).unwrap(), x);
    }
}
