//! The engine `goldilocks` on the simulator against GMP: shapes of every kind at
//! short lengths, and residues whose carries run through all words.
#![cfg(test)]

use std::collections::BTreeSet;

use rug::Integer;
use warpint_device::Device;
use warpint_mersenne::engine::goldilocks_gpu::GoldilocksOn;
use warpint_mersenne::{BuildOptions, Engine, EngineFamily, Shift, Step};
use warpint_selftest::{SEED, sample};
use warpint_testkit::gmp::{self, Ring};

fn family() -> GoldilocksOn {
    GoldilocksOn::new(Device::simulator().unwrap())
}

/// The ends of the exponents of a length: the fewest bits a word, and the most.
fn exponents(family: &GoldilocksOn, length: usize) -> [u32; 2] {
    let sound = |p: u32| family.margin(p, length).is_ok_and(|margin| margin.bits >= 0.0);
    let n = length as u32;
    let all = (4 * n..32 * n).step_by(n as usize / 32).map(|p| p | 1).filter(|&p| sound(p));
    let all: Vec<u32> = all.collect();
    [all[0], all[all.len() - 1]]
}

/// Squares with every step, and a product, of residues that are hard on carries.
fn compare(engine: &mut dyn Engine, every: usize) {
    let p = engine.exponent();
    let ring = Ring::new(p);
    let mut rng = sample::random(SEED);
    let [.., shift] = sample::shifts(&mut rng, p);
    let mut inputs = sample::patterns(&mut rng, p, engine.length());
    inputs.push(("drawn".into(), sample::residue(&mut rng, p)));
    let steps =
        [Step::SquareMinusTwo, Step::Square, Step::SquareTimes(3), Step::SquareTimes(65_521)];
    for (i, (name, x)) in inputs.iter().enumerate().filter(|(i, _)| i % every == 0 || *i == 3) {
        let step = steps[i % steps.len()];
        let what = format!("M{p} in {} words, {name}, {step:?}", engine.length());
        let held = gmp::integer(&x.rotated_left(shift.bits()));
        engine.write(0, x, shift).unwrap();
        engine.square(0, 2, step, shift).unwrap();
        let expected = ring.square(held.clone(), 2, step, shift);
        let found = gmp::integer(&engine.read(0, Shift::ZERO).unwrap());
        assert_eq!(found, expected, "{what}");

        engine.write(1, x, shift).unwrap();
        engine.mul(2, 0, 1).unwrap();
        engine.sub(2, 2, 1).unwrap();
        let found = gmp::integer(&engine.read(2, Shift::ZERO).unwrap());
        let product = Integer::from(&expected * &held) - &held;
        assert_eq!(found, gmp::integer(&gmp::residue(&product, p)), "{what}, then x³ − x or so");
    }
}

/// The default shape of a length, at both ends of its exponents.
fn default_shape(length: usize) {
    let family = family();
    for p in exponents(&family, length) {
        compare(family.build(p, length, BuildOptions::new(3, 1)).unwrap().as_mut(), 1);
    }
}

#[test]
fn default_shape_of_64_words() {
    default_shape(64);
}

#[test]
fn default_shape_of_320_words() {
    default_shape(320);
}

#[test]
fn default_shape_of_512_words() {
    default_shape(512);
}

#[test]
fn default_shape_of_5120_words() {
    default_shape(5120);
}

/// What a shape's name says, each with its role: `16x64 2.2.4/1.8.8 4x2 1 80`
/// has outer radices 2 and 1, last radices 4 and 8, tiles of 4 columns and of 2 rows, 1 turn.
fn features(shape: &str) -> Vec<String> {
    let words: Vec<&str> = shape.split(' ').collect();
    let [_, lines, tile, turns, ..] = words[..] else { panic!("{shape}") };
    let (column, row) = lines.split_once('/').unwrap();
    let (width, rows) = tile.split_once('x').unwrap();
    let outer = |line: &str| line.split('.').next().unwrap().to_owned();
    let last = |line: &str| line.split('.').next_back().unwrap().to_owned();
    vec![
        format!("column outer {}", outer(column)),
        format!("row outer {}", outer(row)),
        format!("column last {}", last(column)),
        format!("row last {}", last(row)),
        format!("width {width}"),
        format!("lines {rows}"),
        format!("turns {turns}"),
    ]
}

/// As few shapes as show every feature of all shapes of these lengths.
fn cover(family: &GoldilocksOn, lengths: &[usize]) -> Vec<(usize, usize, String)> {
    let shapes = |&length: &usize| {
        let names = family.variants(0, length).into_iter().enumerate();
        names.map(move |(variant, name)| (length, variant, name)).collect::<Vec<_>>()
    };
    let all: Vec<_> = lengths.iter().flat_map(shapes).collect();
    let (mut seen, mut chosen) = (BTreeSet::new(), vec![]);
    loop {
        let new = |(_, _, name): &&(usize, usize, String)| {
            features(name).iter().filter(|&feature| !seen.contains(feature)).count()
        };
        // The shortest and likeliest of those that show most.
        let Some(best) = all.iter().rev().max_by_key(new).filter(|shape| new(shape) > 0) else {
            return chosen;
        };
        seen.extend(features(&best.2));
        chosen.push(best.clone());
    }
}

#[test]
fn shapes_of_every_kind_agree() {
    let family = family();
    let chosen = cover(&family, &[1024, 1280, 4096, 8192]);
    let seen: BTreeSet<String> = chosen.iter().flat_map(|(_, _, name)| features(name)).collect();
    for outer in [1, 2, 4, 5, 8, 16] {
        assert!(seen.contains(&format!("column outer {outer}")), "{seen:?}");
        // Rows are 2^k long.
        assert!(outer == 5 || seen.contains(&format!("row outer {outer}")), "{seen:?}");
    }
    for feature in ["width 8", "lines 8", "turns 2", "column last 4", "row last 4", "row last 8"] {
        assert!(seen.contains(feature), "{seen:?}");
    }
    for (length, variant, name) in chosen {
        let [_, p] = exponents(&family, length);
        println!("{length} words, {name}, M{p}");
        let options = BuildOptions { variant, ..BuildOptions::new(3, 1) };
        compare(family.build(p, length, options).unwrap().as_mut(), 6);
    }
}
