//! Compares the device engines with GMP. Their kernels run on the simulator. A shape is one of
//! several ways to divide a transform among the threads of a device. The tests cover shapes of many
//! kinds at short lengths (the ignored tests cover shapes of every kind), and residues whose
//! carries run through all words. Threads run in a random order. `warpint_selftest` runs these
//! kernels with threads in the order of their indices.

use std::collections::BTreeSet;

use rug::Integer;
use warpint_device::Device;
use warpint_mersenne::engine::fp64_gpu::Fp64On;
use warpint_mersenne::engine::goldilocks_gpu::GoldilocksOn;
use warpint_mersenne::engine::hybrid_gpu::HybridOn;
use warpint_mersenne::{BuildOptions, Engine, EngineError, EngineFamily, Shift, Step};
use warpint_selftest::{SEED, sample};
use warpint_testkit::gmp::{self, Ring};

fn goldilocks() -> GoldilocksOn {
    GoldilocksOn::new(Device::shuffled_simulator().unwrap())
}

fn fp64() -> Fp64On {
    Fp64On::new(Device::shuffled_simulator().unwrap())
}

fn hybrid() -> HybridOn {
    HybridOn::new(Device::shuffled_simulator().unwrap())
}

/// Returns two exponents with enough round-off margin at the given transform length: about the
/// smallest and about the largest. They give the fewest and the most bits per word.
fn exponents(family: &dyn EngineFamily, length: usize) -> [u32; 2] {
    let sound = |p: u32| family.margin(p, length).is_ok_and(|margin| margin.bits >= 0.0);
    let n = length as u32;
    let all = (4 * n..32 * n).step_by(n as usize / 32).map(|p| p | 1).filter(|&p| sound(p));
    let all: Vec<u32> = all.collect();
    [all[0], all[all.len() - 1]]
}

/// The largest number of words at which an engine must accept every residue. At more words, an
/// engine whose round-off margin is statistical may report round-off for residues that are far from
/// random.
const ANY_DIGITS_UP_TO: usize = 1024;

/// Returns true if a product was computed. Returns false if the engine reported too much round-off
/// and `may_refuse` is true. Panics for every other error; `what` is part of the message.
fn made(result: Result<(), EngineError>, may_refuse: bool, what: &str) -> bool {
    match result {
        Err(EngineError::RoundOff { .. }) if may_refuse => false,
        other => {
            other.unwrap_or_else(|error| panic!("{what}: {error}"));
            true
        }
    }
}

/// Tests squares and products of a random residue and of residues with long carries. The latter are
/// those of [`sample::patterns`] whose index is 3 or a multiple of `every`. The residue with index
/// i is squared by the step with index i modulo the number of `steps`.
fn compare(family: &dyn EngineFamily, engine: &mut dyn Engine, every: usize, steps: &[Step]) {
    let (p, length) = (engine.exponent(), engine.length());
    let ring = Ring::new(p);
    let mut rng = sample::random(SEED);
    let [.., shift] = sample::shifts(&mut rng, p);
    let mut inputs = sample::patterns(&mut rng, p, length);
    inputs.push(("drawn".into(), sample::residue(&mut rng, p)));
    let (drawn, statistical) = (inputs.len() - 1, !family.margin(p, length).unwrap().proven);
    let chosen = |i: usize| i.is_multiple_of(every) || i == 3 || i == drawn;
    for (i, (name, x)) in inputs.iter().enumerate().filter(|&(i, _)| chosen(i)) {
        let step = steps[i % steps.len()];
        let what = format!("{} M{p} in {length} words, {name}, {step:?}", family.name());
        let may_refuse = statistical && length > ANY_DIGITS_UP_TO && i != drawn;
        let held = gmp::integer(&x.rotated_left(shift.bits()));
        engine.write(0, x, shift).unwrap();
        let squared = engine.square(0, 2, step, shift).and_then(|()| engine.finish());
        if !made(squared, may_refuse, &what) {
            continue;
        }
        let expected = ring.square(held.clone(), 2, step, shift);
        let found = gmp::integer(&engine.read(0, Shift::ZERO).unwrap());
        assert_eq!(found, expected, "{what}");

        engine.write(1, x, shift).unwrap();
        if !made(engine.mul(2, 0, 1), may_refuse, &what) {
            continue;
        }
        engine.sub(2, 2, 1).unwrap();
        let found = gmp::integer(&engine.read(2, Shift::ZERO).unwrap());
        let product = Integer::from(&expected * &held) - &held;
        assert_eq!(found, gmp::integer(&gmp::residue(&product, p)), "{what}, then x³ − x or so");
    }
}

/// Steps of every kind.
const STEPS: [Step; 4] =
    [Step::SquareMinusTwo, Step::Square, Step::SquareTimes(3), Step::SquareTimes(65_521)];

/// Tests the default shape of a length with the two [`exponents`] for this length.
fn default_shape(family: &dyn EngineFamily, length: usize) {
    for p in exponents(family, length) {
        let mut engine = family.build(p, length, BuildOptions::new(3, 1)).unwrap();
        compare(family, engine.as_mut(), 1, &STEPS);
    }
}

/// Defines a `#[test]` of the default shape for each family and length.
macro_rules! default_shapes {
    ($($name:ident: $family:ident, $length:expr;)*) => {
        $(
            #[test]
            fn $name() {
                default_shape(&$family(), $length);
            }
        )*
    };
}

default_shapes! {
    goldilocks_in_64_words: goldilocks, 64;
    goldilocks_in_320_words: goldilocks, 320;
    goldilocks_in_512_words: goldilocks, 512;
    goldilocks_in_5120_words: goldilocks, 5120;
    fp64_in_256_words: fp64, 256;
    fp64_in_640_words: fp64, 640;
    fp64_in_4480_words: fp64, 4480;
    hybrid_in_512_words: hybrid, 512;
    hybrid_in_2688_words: hybrid, 2688;
}

/// A function that returns the features of a shape, given its name. Each feature is a text such as
/// `column outer 2`.
type Features = fn(&str) -> Vec<String>;

/// Returns the features of a shape of `goldilocks`. For example, `16x64 2.2.4/1.8.8 4x2 1 80` has
/// the outer radices 2 (columns) and 1 (rows), the last radices 4 and 8, tiles of 4 columns and of
/// 2 rows, and 1 turn. The number of turns is the number of groups of points that a thread
/// transforms one after the other.
fn goldilocks_features(shape: &str) -> Vec<String> {
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

/// Returns the features of a shape of `fp64`. For example, `32x64 4.1.8/8.1.8 4/8 2 128.96 s` has
/// the radices 4, 1 and 8 of columns, the radices 8, 1 and 8 of rows, tiles of 4 columns, chunks of
/// 8 points, 2 pairs of rows, and streaming stores. The last radix of a row is also the radix of
/// the step that computes the products. The remainder of this radix mod 4 is a feature, because the
/// code of the step depends on it.
fn fp64_features(shape: &str) -> Vec<String> {
    let words: Vec<&str> = shape.split(' ').collect();
    let [_, lines, tile, pairs, _, ref streaming @ ..] = words[..] else { panic!("{shape}") };
    let (column, row) = lines.split_once('/').unwrap();
    let (width, chunk) = tile.split_once('/').unwrap();
    let last: u32 = row.rsplit('.').next().unwrap().parse().unwrap();
    let mut features = vec![
        format!("width {width}"),
        format!("chunk {chunk}"),
        format!("pairs {pairs}"),
        format!("row last 4k + {}", last % 4),
        format!("streaming {streaming:?}"),
    ];
    for (of, line) in [("column", column), ("row", row)] {
        features.extend(line.split('.').map(|radix| format!("{of} radix {radix}")));
    }
    features
}

/// A shape: the length in words, the index of the variant, and the name of the shape.
type Chosen = (usize, usize, String);

/// Chooses a small number of shapes by a greedy algorithm. Together they have every feature that
/// occurs among the shapes of the given lengths.
fn cover(family: &dyn EngineFamily, lengths: &[usize], features: Features) -> Vec<Chosen> {
    let shapes = |&length: &usize| {
        let names = family.profiled().unwrap().variants(length).into_iter().enumerate();
        names
            .map(move |(variant, name)| ((length, variant, name.clone()), features(&name)))
            .collect::<Vec<_>>()
    };
    let all: Vec<_> = lengths.iter().flat_map(shapes).collect();
    let (mut seen, mut chosen) = (BTreeSet::new(), vec![]);
    loop {
        let new = |(_, features): &&(Chosen, Vec<String>)| {
            features
                .iter()
                .filter(|&feature| !seen.contains(feature))
                .collect::<BTreeSet<_>>()
                .len()
        };
        // The shortest and most promising shape among those that add most features.
        let Some((best, features)) = all.iter().rev().max_by_key(new).filter(|s| new(s) > 0) else {
            return chosen;
        };
        seen.extend(features.iter().cloned());
        chosen.push(best.clone());
    }
}

/// Returns all features of the given shapes.
fn shown(chosen: &[Chosen], features: Features) -> BTreeSet<String> {
    chosen.iter().flat_map(|(_, _, name)| features(name)).collect()
}

/// Tests each shape with about the largest exponent that has enough round-off margin at its length.
fn compare_shapes(family: &dyn EngineFamily, chosen: Vec<Chosen>, steps: &[Step]) {
    for (length, variant, name) in chosen {
        let [_, p] = exponents(family, length);
        println!("{length} words, {name}, M{p}");
        let options = BuildOptions { variant, ..BuildOptions::new(3, 1) };
        let mut engine = family.build(p, length, options).unwrap();
        compare(family, engine.as_mut(), usize::MAX, steps);
    }
}

/// Tests a small number of shapes that have every feature of the shapes of the given lengths.
/// Returns these features.
fn shapes_agree(
    family: &dyn EngineFamily,
    lengths: &[usize],
    features: Features,
    steps: &[Step],
) -> BTreeSet<String> {
    let chosen = cover(family, lengths, features);
    let seen = shown(&chosen, features);
    compare_shapes(family, chosen, steps);
    seen
}

#[test]
fn goldilocks_shapes_of_many_kinds_agree() {
    let seen = shapes_agree(&goldilocks(), &[1280], goldilocks_features, &[Step::Square]);
    for feature in ["column outer 5", "row outer 4", "width 4", "lines 8"] {
        assert!(seen.contains(feature), "{seen:?}");
    }
}

#[test]
#[ignore = "slow: the test above has most kinds"]
fn goldilocks_shapes_of_every_kind_agree() {
    let lengths = [1024, 1280, 4096, 8192];
    let seen = shapes_agree(&goldilocks(), &lengths, goldilocks_features, &STEPS);
    for outer in [1, 2, 4, 5, 8, 16] {
        assert!(seen.contains(&format!("column outer {outer}")), "{seen:?}");
        // Rows have 2^k points.
        assert!(outer == 5 || seen.contains(&format!("row outer {outer}")), "{seen:?}");
    }
    for feature in ["width 8", "lines 8", "turns 2", "column last 4", "row last 4", "row last 8"] {
        assert!(seen.contains(feature), "{seen:?}");
    }
}

#[test]
fn fp64_shapes_of_many_kinds_agree() {
    let seen = shapes_agree(&fp64(), &[256], fp64_features, &[Step::Square]);
    for feature in ["chunk 4", "chunk 8"] {
        assert!(seen.contains(feature), "{seen:?}");
    }
}

#[test]
#[ignore = "slow: many shapes"]
fn hybrid_shapes_of_many_kinds_agree() {
    let lengths = [512, 768, 896, 2304, 2688];
    let seen = shapes_agree(&hybrid(), &lengths, fp64_features, &STEPS);
    for feature in ["chunk 4", "chunk 8", "row radix 3", "row radix 7", "row radix 9", "pairs 2"] {
        assert!(seen.contains(feature), "{seen:?}");
    }
}

/// As above at a longer length, whose lines have the radices 9 and 6.
#[test]
#[ignore = "slow: more shapes"]
fn fp64_shapes_of_many_kinds_agree_at_1152_words() {
    let seen = shapes_agree(&fp64(), &[1152], fp64_features, &[Step::Square]);
    for feature in ["column radix 9", "row radix 6", "width 8", "pairs 4"] {
        assert!(seen.contains(feature), "{seen:?}");
    }
}

#[test]
#[ignore = "slow: the test above has most kinds"]
fn fp64_shapes_of_every_kind_agree() {
    let lengths = [256, 1152, 2304, 4480, 4608, 5760, 6720, 9600, 11520, 13440];
    let seen = shapes_agree(&fp64(), &lengths, fp64_features, &[Step::Square]);
    // 11 and 13 do not divide any length.
    for radix in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 15, 16] {
        for line in ["column", "row"] {
            assert!(seen.contains(&format!("{line} radix {radix}")), "{seen:?}");
        }
    }
    for feature in
        ["row radix 18", "width 1", "width 8", "chunk 4", "chunk 8", "pairs 1", "pairs 8"]
    {
        assert!(seen.contains(feature), "{seen:?}");
    }
}
