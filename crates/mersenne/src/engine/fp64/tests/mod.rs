//! Tests that compare the engine with schoolbook multiplication, for both kinds of transform.

mod measure;

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpint_natural::limbs;

use super::engine::Fp64Engine;
use super::transform::Transform;
use super::transform::row_column::RowColumn;
use super::transform::tiled::Tiled;
use super::transform::tiled::shape::Shape;
use super::transform::whole::Whole;
use super::*;
use crate::engine::Step;
use crate::{Residue, Shift};

fn residue(p: u32, x: &[u64]) -> Residue {
    Residue::from_limbs(p, x)
}

fn random(p: u32, rng: &mut ChaCha8Rng) -> Residue {
    let x: Vec<u64> = (0..limbs::limbs_for_bits(p)).map(|_| rng.random()).collect();
    residue(p, &x)
}

fn minus(p: u32, v: u64) -> Residue {
    let zero = Residue::from_u64(p, 0);
    let v = Residue::from_u64(p, v);
    residue(p, &limbs::sub_mod(zero.limbs(), v.limbs(), p))
}

fn product(a: &Residue, b: &Residue) -> Residue {
    residue(a.exponent(), &limbs::mul_mod(a.limbs(), b.limbs(), a.exponent()))
}

/// Returns extreme residues mod M_p: 0, 1, 2, −1 and −2, patterns of alternating bits, runs of
/// ones, and residues whose digits are all as large as possible.
fn corners(p: u32, length: usize) -> Vec<Residue> {
    let n = limbs::limbs_for_bits(p);
    let layout = WordLayout::new(p, length);
    let mut halves = vec![0u64; n + 1];
    for j in 0..length {
        // 2^(b−1) − 1 in every word: a carry of 1 runs through all words.
        let (from, bits) = (layout.offset(j) as usize, layout.bits(j));
        let digit = u128::from((1u64 << bits >> 1).saturating_sub(1)) << (from % 64);
        halves[from / 64] |= digit as u64;
        halves[from / 64 + 1] |= (digit >> 64) as u64;
    }
    vec![
        Residue::from_u64(p, 0),
        Residue::from_u64(p, 1),
        Residue::from_u64(p, 2),
        minus(p, 1),
        minus(p, 2),
        residue(p, &vec![0x5555_5555_5555_5555; n]),
        residue(p, &vec![0xaaaa_aaaa_aaaa_aaaa; n]),
        residue(p, &vec![u64::MAX; n]).rotated_left(p / 3),
        residue(p, &vec![0xffff_ffff; n]),
        residue(p, &halves),
        residue(p, &halves).rotated_left(1),
    ]
}

fn options(threads: usize) -> BuildOptions {
    BuildOptions::new(3, threads)
}

/// Returns an engine that checks its squarings if the exponent is odd.
fn engine(layout: WordLayout, threads: usize, transform: Box<dyn Transform>) -> Box<dyn Engine> {
    let engine = Fp64Engine::with_transform(layout, 3, transform);
    let checks = layout.exponent() % 2 == 1;
    Box::new(if checks { engine.checked(threads) } else { engine })
}

/// Returns an engine whose transform is computed by rows and columns, with `rows` rows.
fn row_column(p: u32, length: usize, rows: usize, threads: usize) -> Box<dyn Engine> {
    let layout = WordLayout::new(p, length);
    let transform: Box<dyn Transform> = Box::new(RowColumn::new(layout, rows, threads).unwrap());
    engine(layout, threads, transform)
}

/// Returns an engine whose transform has explicit vectors and the given shape.
fn tiled(p: u32, shape: Shape, threads: usize) -> Box<dyn Engine> {
    let length = 2 * shape.rows.into_iter().chain(shape.columns).product::<usize>();
    let layout = WordLayout::new(p, length);
    let transform: Box<dyn Transform> = Box::new(Tiled::new(layout, shape, threads).unwrap());
    engine(layout, threads, transform)
}

fn whole(p: u32, length: usize) -> Box<dyn Engine> {
    let layout = WordLayout::new(p, length);
    engine(layout, 1, Box::new(Whole::new(layout)))
}

/// Checks the product of x and y, and squares of x with every kind of [`Step`]. x has the shift
/// `shift`, and y has none. A result that the engine returns must be right. If `must` is false,
/// because the margin may be too small, the engine may report the round-off as an error instead of
/// returning a result.
fn check(engine: &mut dyn Engine, x: &Residue, y: &Residue, shift: Shift, must: bool) {
    let p = engine.exponent();
    let what = format!("M{p} in {} words, {x:?}, {y:?}, {shift:?}", engine.length());
    let right = |result: Result<(), EngineError>, found: Residue, expected: &Residue| match result {
        Ok(()) => assert_eq!(found, *expected, "{what}"),
        Err(EngineError::RoundOff { .. } | EngineError::WrongSquaring { .. }) if !must => {}
        Err(e) => panic!("{what}: {e}"),
    };
    let squared = shift.after_squarings(1, p);
    let xx = product(x, x);
    engine.write(0, x, shift).unwrap();
    engine.write(1, y, Shift::ZERO).unwrap();
    assert_eq!(engine.read(0, shift).unwrap(), *x, "{what}");
    let result = engine.mul(2, 0, 1);
    right(result, engine.read(2, shift).unwrap(), &product(x, y));
    let result = engine.mul(2, 0, 0);
    right(result, engine.read(2, squared).unwrap(), &xx);
    engine.copy(2, 0).unwrap();
    let result = engine.square(2, 1, Step::SquareMinusTwo, shift);
    let two = Residue::from_u64(p, 2);
    let xx2 = residue(p, &limbs::sub_mod(xx.limbs(), two.limbs(), p));
    right(result, engine.read(2, squared).unwrap(), &xx2);
    engine.copy(2, 0).unwrap();
    let result = engine.square(2, 1, Step::SquareTimes(65536), shift);
    let times = product(&xx, &Residue::from_u64(p, 65536));
    right(result, engine.read(2, squared).unwrap(), &times);
    assert_eq!(engine.read(0, shift).unwrap(), *x, "{what}: the operands are intact");
    assert_eq!(engine.read(1, Shift::ZERO).unwrap(), *y, "{what}");
    let result = engine.square(0, 3, Step::SquareMinusTwo, shift);
    let two_less = |a: &Residue| residue(p, &limbs::sub_mod(a.limbs(), two.limbs(), p));
    let mut expected = x.clone();
    for _ in 0..3 {
        expected = two_less(&product(&expected, &expected));
    }
    right(result, engine.read(0, shift.after_squarings(3, p)).unwrap(), &expected);
}

fn check_all(engine: &mut dyn Engine, rng: &mut ChaCha8Rng) {
    let p = engine.exponent();
    // Short lengths have a margin for every pattern.
    let must = engine.length() <= 1024 || f64::from(p) / (engine.length() as f64) < 12.0;
    let all = corners(p, engine.length());
    for (i, x) in all.iter().enumerate() {
        let y = &all[(i * 5 + 3) % all.len()];
        check(engine, x, y, Shift::new(rng.random(), p), must);
    }
    for _ in 0..2 {
        let (x, y) = (random(p, rng), random(p, rng));
        check(engine, &x, &y, Shift::new(rng.random(), p), must);
        check(engine, &x, &y, Shift::ZERO, must);
    }
}

/// Returns the largest exponent p with a margin of at least 0 at a transform length. p need not be
/// prime, because engines accept any exponent.
fn tightest(length: usize) -> u32 {
    let fits = |p: u32| Fp64.margin(p, length).is_ok_and(|m| m.bits >= 0.0);
    let (mut low, mut high) = (length as u32, 25 * length as u32);
    while high - low > 1 {
        let middle = (low + high) / 2;
        if fits(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[test]
fn every_short_length_at_several_exponents() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for length in Fp64.lengths(8, 1024) {
        let tight = tightest(length);
        for p in [length as u32, length as u32 * 2 + 1, tight / 2, tight] {
            if p < 64 {
                continue;
            }
            for check_squarings in [false, true] {
                let options = BuildOptions { check_squarings, ..options(1) };
                let mut engine = Fp64.build(p, length, options).unwrap();
                check_all(&mut *engine, &mut rng);
            }
        }
    }
}

#[test]
fn rows_and_columns_of_every_shape() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for (rows, columns) in [
        (2usize, 8usize),
        (3, 8),
        (4, 8),
        (5, 8),
        (7, 16),
        (8, 8),
        (9, 24),
        (15, 40),
        (6, 56),
        (4, 128),
        (3, 160),
        (16, 144),
    ] {
        let length = 2 * rows * columns;
        let tight = tightest(length);
        for p in [length as u32 + 1, length as u32 * 3 / 2, tight / 2, tight] {
            let p = p.max(length as u32).max(64);
            let threads = if p % 2 == 0 { 1 } else { 3 };
            let mut engine = row_column(p, length, rows, threads);
            check_all(&mut *engine, &mut rng);
        }
    }
}

#[test]
fn tiles_of_every_shape() {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    for (rows, columns) in [
        ([8usize, 2usize], [2usize, 8usize]),
        ([8, 3], [2, 8]),
        ([16, 5], [3, 8]),
        ([24, 7], [2, 8]),
        ([8, 9], [5, 8]),
        ([8, 2], [7, 16]),
        ([8, 2], [2, 56]),
        ([56, 2], [2, 8]),
        ([8, 2], [3, 40]),
        ([32, 2], [2, 24]),
    ] {
        let shape = Shape { rows, columns };
        let length = 2 * rows.into_iter().chain(columns).product::<usize>();
        let tight = tightest(length);
        for p in [length as u32 + 1, length as u32 * 3 / 2, tight / 2, tight] {
            let p = p.max(length as u32).max(64);
            check_all(&mut *tiled(p, shape, 3), &mut rng);
        }
    }
}

#[test]
fn all_transforms_agree_bit_for_bit_whatever_the_threads() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let length = 2 * 24 * 256;
    let p = tightest(length);
    let x = random(p, &mut rng);
    let shift = Shift::new(12345, p);
    let wide = Shape { rows: [8, 2], columns: [16, 24] };
    let mut results = vec![];
    for mut engine in [
        whole(p, length),
        row_column(p, length, 24, 1),
        row_column(p, length, 24, 2),
        row_column(p, length, 24, 5),
        row_column(p, length, 96, 1),
        tiled(p, wide, 1),
        tiled(p, wide, 2),
        tiled(p, wide, 5),
        tiled(p, Shape { rows: [48, 4], columns: [4, 8] }, 2),
    ] {
        engine.write(0, &x, shift).unwrap();
        engine.square(0, 100, Step::SquareMinusTwo, shift).unwrap();
        let health = engine.health().round_off.unwrap();
        assert_eq!(health.products, 100);
        assert!(health.mean > 0.0 && health.mean <= health.max && health.max < 0.4);
        assert!(health.deviation > 0.0 && health.deviation < health.mean / 3.0, "{health:?}");
        results.push((engine.read(0, shift.after_squarings(100, p)).unwrap(), health));
    }
    assert!(results.iter().all(|r| r.0 == results[0].0));
    assert_eq!(results[1], results[2], "round-off does not depend on threads");
    assert_eq!(results[1], results[3]);
    assert_eq!(results[5], results[6]);
    assert_eq!(results[5], results[7]);
}

#[test]
fn lengths_chosen_for_large_exponents() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    for length in [threshold::ROW_COLUMN, 5 * threshold::ROW_COLUMN / 4] {
        let p = tightest(length);
        let x = random(p, &mut rng);
        let mut chosen = Fp64.build(p, length, options(2)).unwrap();
        let mut simple = whole(p, length);
        for engine in [&mut chosen, &mut simple] {
            engine.write(0, &x, Shift::ZERO).unwrap();
            engine.write(1, &minus(p, 1), Shift::ZERO).unwrap();
            engine.square(0, 20, Step::Square, Shift::ZERO).unwrap();
            engine.mul(2, 0, 1).unwrap();
            engine.add(2, 2, 0).unwrap();
            assert!(engine.read(2, Shift::ZERO).unwrap().is(0), "x·(−1) + x");
        }
        assert_eq!(chosen.read(0, Shift::ZERO).unwrap(), simple.read(0, Shift::ZERO).unwrap());
    }
}

#[test]
fn lucas_lehmer_finds_the_mersenne_primes() {
    for p in 67u32..1300 {
        let Ok(exponent) = crate::Exponent::new(u64::from(p)) else { continue };
        // Mersenne exponents: OEIS A000043.
        let prime = [89, 107, 127, 521, 607, 1279].contains(&p);
        let length = Fp64
            .lengths(8, p as usize)
            .into_iter()
            .find(|&n| Fp64.margin(p, n).is_ok_and(|m| m.bits >= 0.0))
            .unwrap();
        let mut engine = Fp64.build(exponent.get(), length, options(1)).unwrap();
        let shift = Shift::new(p / 2, p);
        engine.set(0, 4, shift).unwrap();
        engine.square(0, u64::from(p) - 2, Step::SquareMinusTwo, shift).unwrap();
        let end = engine.read(0, shift.after_squarings(u64::from(p) - 2, p)).unwrap();
        assert_eq!(end.is(0), prime, "M{p}");
    }
}

fn tiles_of_4096_words(p: u32, length: usize) -> Box<dyn Engine> {
    assert_eq!(length, 4096);
    tiled(p, Shape { rows: [8, 2], columns: [16, 8] }, 2)
}

#[test]
fn a_failed_product_leaves_the_engine_usable() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    for build in [whole, |p, n| row_column(p, n, 16, 2), tiles_of_4096_words] {
        // Words of 24 bits in 4096 words: far beyond the safe limit.
        let (length, p) = (4096usize, 24 * 4096u32 + 1);
        let mut engine = build(p, length);
        let x = random(p, &mut rng);
        engine.write(0, &x, Shift::ZERO).unwrap();
        engine.write(1, &x, Shift::ZERO).unwrap();
        let error = engine.square(0, 1, Step::Square, Shift::ZERO).unwrap_err();
        assert!(matches!(error, EngineError::RoundOff { measured, .. } if measured > 0.4));
        assert_eq!(engine.read(1, Shift::ZERO).unwrap(), x);
        let y = random(p, &mut rng);
        for (dst, a, b) in [(0, 1, 2), (0, 2, 1)] {
            engine.write(2, &y, Shift::ZERO).unwrap();
            engine.mul(dst, a, b).unwrap_err();
            assert_eq!(engine.read(1, Shift::ZERO).unwrap(), x, "the operands are intact");
            assert_eq!(engine.read(2, Shift::ZERO).unwrap(), y);
        }
        engine.mul(2, 1, 2).unwrap_err();
        assert_eq!(engine.read(1, Shift::ZERO).unwrap(), x);
        engine.set(1, 3, Shift::ZERO).unwrap();
        engine.square(1, 5, Step::Square, Shift::ZERO).unwrap();
        assert!(engine.read(1, Shift::ZERO).unwrap().is(3u64.pow(32)));
    }
}

#[test]
fn products_of_equal_opposite_and_small_factors_in_any_registers() {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    // The shortest and the longest length of each transform that is chosen, and the others built by
    // hand.
    let lengths = [
        8,
        threshold::TILED_AVX512,
        threshold::TILED - 512,
        threshold::TILED,
        threshold::THREADS - 1024,
        threshold::THREADS,
        threshold::ROW_COLUMN,
    ];
    let mut engines: Vec<Box<dyn Engine>> = lengths
        .into_iter()
        .filter(|&n| lengths::is_length(n))
        .map(|n| Fp64.build(tightest(n).max(64), n, options(2)).unwrap())
        .collect();
    assert!(engines.len() >= 5);
    engines.push(whole(4096 * 17 + 1, 4096));
    engines.push(row_column(4096 * 17 + 2, 4096, 16, 2));
    engines.push(tiles_of_4096_words(4096 * 17 + 3, 4096));
    engines.push(tiles_of_4096_words(64 * 1100, 4096));
    for engine in &mut engines {
        let p = engine.exponent();
        let zero = Residue::from_u64(p, 0);
        let negative = |x: &Residue| residue(p, &limbs::sub_mod(zero.limbs(), x.limbs(), p));
        let (x, y) = (random(p, &mut rng), random(p, &mut rng));
        // x·y by an independent way would take minutes for long residues: only small factors and
        // ±x are compared, and x·y with x·(y + 1) − x.
        let times = |x: &Residue, v: u64| {
            let mut limbs = x.limbs().to_vec();
            limbs::mul_small_mod_assign(&mut limbs, v, p);
            residue(p, &limbs)
        };
        let small = |v: u64| Residue::from_u64(p, v);
        let cases = [
            (x.clone(), zero.clone(), zero.clone()),
            (zero.clone(), zero.clone(), zero.clone()),
            (x.clone(), small(1), x.clone()),
            (small(1), small(1), small(1)),
            (x.clone(), minus(p, 1), negative(&x)),
            (minus(p, 1), minus(p, 1), small(1)),
            (minus(p, 1), small(1), minus(p, 1)),
            (minus(p, 2), small(2), minus(p, 4)),
            (x.clone(), small(3), times(&x, 3)),
            (x.clone(), minus(p, 65_537), negative(&times(&x, 65_537))),
        ];
        for (a, b, ab) in cases {
            for (dst, i, j) in [(2, 0, 1), (2, 1, 0), (0, 0, 1), (1, 0, 1), (0, 1, 0), (1, 1, 0)] {
                engine.write(0, &a, Shift::ZERO).unwrap();
                engine.write(1, &b, Shift::ZERO).unwrap();
                engine.mul(dst, i, j).unwrap();
                assert_eq!(engine.read(dst, Shift::ZERO).unwrap(), ab, "M{p}: {a:?}·{b:?}");
                for (reg, value) in [(0, &a), (1, &b)] {
                    if reg != dst {
                        assert_eq!(engine.read(reg, Shift::ZERO).unwrap(), *value);
                    }
                }
            }
        }
        // x·(−x) = −x², x·x = x², and (x + 1)·y = x·y + y.
        engine.write(0, &x, Shift::ZERO).unwrap();
        engine.write(1, &negative(&x), Shift::ZERO).unwrap();
        engine.mul(2, 0, 1).unwrap();
        engine.mul(1, 0, 0).unwrap();
        engine.add(2, 2, 1).unwrap();
        assert!(engine.read(2, Shift::ZERO).unwrap().is(0), "M{p}: x·(−x) + x·x");
        engine.copy(1, 0).unwrap();
        engine.mul(2, 0, 1).unwrap();
        engine.square(0, 1, Step::Square, Shift::ZERO).unwrap();
        assert_eq!(engine.read(2, Shift::ZERO).unwrap(), engine.read(0, Shift::ZERO).unwrap());
        let more = residue(p, &limbs::add_mod(x.limbs(), small(1).limbs(), p));
        let mut product_with = |x: &Residue| {
            engine.write(0, x, Shift::ZERO).unwrap();
            engine.write(1, &y, Shift::ZERO).unwrap();
            engine.mul(0, 0, 1).unwrap();
            engine.read(0, Shift::ZERO).unwrap()
        };
        let sum = limbs::add_mod(product_with(&x).limbs(), y.limbs(), p);
        assert_eq!(product_with(&more), residue(p, &sum), "M{p}: (x + 1)·y");
    }
}

#[test]
fn words_that_cannot_be_rounded_are_reported() {
    // 24-bit digits of one sign at 2^12 words give sums up to 2^12·2^46, well past 2^51. All are
    // multiples of large powers of two and so seem to be "near" integers.
    for build in [whole, |p, n| row_column(p, n, 16, 1), tiles_of_4096_words] {
        let (length, p) = (4096usize, 24 * 4096u32);
        let layout = WordLayout::new(p, length);
        let mut engine = build(p, length);
        let half = vec![1i32 << 23; length];
        engine.write(0, &layout.residue(&half), Shift::ZERO).unwrap();
        let error = engine.square(0, 1, Step::Square, Shift::ZERO).unwrap_err();
        assert!(matches!(error, EngineError::RoundOff { measured: 0.5, .. }), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn sums_and_differences_in_any_registers(
        p in 64u32..3000, choice: prop::sample::Index, seed: u64, at in 0usize..27,
    ) {
        let lengths: Vec<usize> = Fp64
            .lengths(8, p as usize)
            .into_iter()
            .filter(|&n| Fp64.margin(p, n).is_ok())
            .collect();
        let length = lengths[choice.index(lengths.len())];
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut engine = Fp64.build(p, length, options(1)).unwrap();
        let values: Vec<Residue> = (0..3).map(|_| random(p, &mut rng)).collect();
        let (dst, a, b) = (at / 9, at / 3 % 3, at % 3);
        for (reg, v) in values.iter().enumerate() {
            engine.write(reg, v, Shift::ZERO).unwrap();
        }
        engine.add(dst, a, b).unwrap();
        let sum = residue(p, &limbs::add_mod(values[a].limbs(), values[b].limbs(), p));
        prop_assert_eq!(engine.read(dst, Shift::ZERO).unwrap(), sum);
        for (reg, v) in values.iter().enumerate() {
            engine.write(reg, v, Shift::ZERO).unwrap();
        }
        engine.sub(dst, a, b).unwrap();
        let difference = residue(p, &limbs::sub_mod(values[a].limbs(), values[b].limbs(), p));
        prop_assert_eq!(engine.read(dst, Shift::ZERO).unwrap(), difference);
    }
}

#[test]
fn every_long_length_has_rows_and_columns_alike() {
    for length in Fp64.lengths(threshold::ROW_COLUMN, lengths::LONGEST) {
        let rows = RowColumn::suitable_rows(length);
        let columns = length / 2 / rows;
        assert_eq!(2 * rows * columns, length);
        assert!(rows <= 3 * columns && columns <= 3 * rows, "{length} = 2·{rows}·{columns}");
    }
}
