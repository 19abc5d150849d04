//! Tests against exact products.

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpint_natural::product::FastProducts;

use super::*;
use crate::engine::fp64::carry::Subtrahend;
use crate::engine::fp64::digits::RUN;
use crate::engine::fp64::transform::Transform;
use crate::engine::fp64::transform::tiled::Tiled;
use crate::engine::fp64::transform::tiled::shape::Shape;
use crate::engine::fp64::transform::whole::Whole;
use crate::engine::plain::Plain;
use crate::engine::{BuildOptions, Engine, Step};
use crate::layout::StoredForm;
use crate::number::Modulus;
use crate::{Residue, Shift, Sign};

const SIGNS: [Sign; 2] = [Sign::Minus, Sign::Plus];

fn number(k: u64, n: u32, sign: Sign) -> Number {
    Number::new(k, 2, n, sign).unwrap()
}

/// Returns residues with long runs of equal bits, residues near 0, N and the powers of two that bound the
/// words, and a random one.
fn corners(number: Number, words: &FormLayout, rng: &mut ChaCha8Rng) -> Vec<Residue> {
    let limbs = number.limbs();
    let pattern = |limb: u64| Residue::from_limbs(number, &vec![limb; limbs]);
    let small = |v| Residue::from_u64(number, v);
    let mut all: Vec<Residue> = (0..4).flat_map(|v| [small(v), small(0).minus(v)]).collect();
    all.extend([u64::MAX, u64::MAX >> 1].map(pattern));
    if words.len() <= margin::ANY_DIGITS_UP_TO {
        all.extend([0x5555_5555_5555_5555, 0xaaaa_aaaa_aaaa_aaaa].map(pattern));
    }
    for j in [1, words.len() / 2, words.len() - 1] {
        let mut limbs = vec![0; limbs];
        let bit = words.offset(j);
        if let Some(limb) = limbs.get_mut(bit as usize / 64) {
            *limb = 1 << (bit % 64);
            let power = Residue::from_limbs(number, &limbs);
            all.extend([power.minus(1), power]);
        }
    }
    let random: Vec<u64> = (0..limbs).map(|_| rng.random()).collect();
    all.push(Residue::from_limbs(number, &random));
    all
}

/// Returns the transforms of `len` words: one FFT and, if the number suits them, tiles of some shapes.
fn transforms(number: Number, len: usize) -> Vec<Box<dyn Transform>> {
    let layout = FormLayout::new(number, len);
    let mut all: Vec<Box<dyn Transform>> = vec![Box::new(Whole::new(StoredForm::new(layout)))];
    if suits_tiles(&layout) {
        for (threads, shape) in Shape::ranked(len / 2, 2).into_iter().enumerate() {
            let stored = StoredForm::new(layout);
            all.push(Box::new(Tiled::new(stored, shape, 1 + 2 * threads).unwrap()));
        }
    }
    all
}

/// Squares corner residues in `len` words, several times in a row, and compares with exact products.
fn compare_with_products(number: Number, len: usize, rng: &mut ChaCha8Rng) {
    let words = FormLayout::new(number, len);
    let modulus = Modulus::new(number, &FastProducts);
    let mut transforms = transforms(number, len);
    let two = Residue::from_u64(number, 2);
    let is_minus = number.sign() == Sign::Minus;
    let mut all = corners(number, &words, rng);
    // k·x is stored as x. Beyond ANY_DIGITS_UP_TO words, the digits of X/k may have patterns with too large
    // errors if those of X have not.
    let times = |x: &Residue| modulus.times(&FastProducts, x.limbs().to_vec(), number.multiplier());
    let multiples: Vec<Residue> =
        all.iter().map(|x| Residue::from_limbs(number, &times(x))).collect();
    if len > margin::ANY_DIGITS_UP_TO {
        all.clear();
    }
    all.extend(multiples);
    let random = all.last().cloned();
    for x in all {
        // Of some k, such as 2^19 + 1, residues with patterns have multiples and squares with patterns, too.
        // Such a product may be reported as an error at long lengths.
        let must = len <= margin::ANY_DIGITS_UP_TO || Some(&x) == random.as_ref();
        for steps in [&[is_minus][..], &[false, is_minus, false]] {
            let mut expected = x.limbs().to_vec();
            for &minus_two in steps {
                expected = modulus.mul(&FastProducts, &expected, &expected);
                if minus_two {
                    modulus.sub_assign(&mut expected, two.limbs());
                }
            }
            for (at, transform) in transforms.iter_mut().enumerate() {
                let what = format!("{number} in {len} words, transform {at}: {x:?}, {steps:?}");
                let (mut found, mut is_reported) = (vec![], false);
                transform.load(x.limbs());
                for (i, &minus_two) in steps.iter().enumerate() {
                    let subtract = minus_two.then(|| Subtrahend::at_exponent(&words));
                    let error = if i + 1 < steps.len() {
                        transform.square(subtract)
                    } else {
                        transform.square_into(subtract, &mut found)
                    };
                    assert!(error < 0.4 || !must, "{what}: {error}");
                    is_reported |= error >= 0.4;
                }
                if is_reported {
                    continue;
                }
                assert_eq!(found, expected, "{what}");
                let mut digits = [0; RUN];
                for first in (0..len).step_by(RUN) {
                    transform.digits(first, &mut digits);
                    for (j, &digit) in (first..len).zip(&digits) {
                        let most = 1i64 << words.bits(j);
                        let most = if j + 1 == len { most + 1 } else { most / 2 + 1 };
                        assert!(i64::from(digit).abs() <= most, "{what}: word {j} is {digit}");
                    }
                }
                assert!(transform.is_intact());
            }
        }
    }
}

/// Returns the largest n for which k·2^n + c has a margin in `len` words.
fn longest(k: u64, len: usize) -> u32 {
    let has_margin = |n: u32| bits(number(k, n, Sign::Plus), len, accuracy(len)) >= 0.0;
    (len as u32..25 * len as u32).rev().find(|&n| has_margin(n)).unwrap()
}

#[test]
fn corners_agree_with_products() {
    let seed = rand::random();
    println!("seed {seed}");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    for len in [8usize, 10, 12, 14, 30, 64, 70, 256, 512, 640, 1008, 1024] {
        for k in
            [1u64, 3, 5, 7, 9, 15, 255, 257, 10_223, 65_535, 65_537, (1 << 19) + 1, (1 << 20) - 1]
        {
            let most = longest(k, len);
            for n in [most, (len as u32).max(64)] {
                for sign in SIGNS {
                    if (len as u32..=most).contains(&n) {
                        compare_with_products(number(k, n, sign), len, &mut rng);
                    }
                }
            }
        }
    }
}

#[test]
fn long_residues_agree_with_products() {
    let seed = rand::random();
    println!("seed {seed}");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    for (k, len) in [
        (3u64, 4096usize),
        (1, 5120),
        (10_223, 6144),
        (1_000_003, 10_240),
        (524_289, 13_440),
        (46_157, 16_384),
        (5, 48_384),
    ] {
        for sign in SIGNS {
            if k == 1 && sign == Sign::Minus {
                continue;
            }
            compare_with_products(number(k, longest(k, len), sign), len, &mut rng);
        }
    }
}

proptest! {
    #[test]
    fn any_number_in_any_length_agrees_with_products(
        k in (0u64..1 << 19).prop_map(|k| 2 * k + 1),
        len in 8usize..300,
        share in 0f64..1.0,
        plus in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let len = (len..).find(|&n| lengths::is_length(n)).unwrap();
        let most = longest(k, len);
        let n = len as u32 + (share * f64::from(most - len as u32)) as u32;
        let number = number(k, n.max(22), if plus { Sign::Plus } else { Sign::Minus });
        compare_with_products(number, len, &mut ChaCha8Rng::seed_from_u64(seed));
    }
}

/// Returns an engine of the family, and one with exact products.
fn engines(number: Number) -> [Box<dyn Engine>; 2] {
    let options = BuildOptions::new(3, 1);
    let length = lengths::lengths(8, lengths::LONGEST)
        .into_iter()
        .find(|&n| bits(number, n, accuracy(n)) >= 0.0)
        .unwrap();
    [Fp64.build_for(number, length, options), Plain.build_for(number, 1, options)]
        .map(Result::unwrap)
}

#[test]
fn every_operation_agrees_with_exact_products() {
    for text in ["3*2^10003-1", "5*2^10003+1", "2^16384+1", "10223*2^20011+1", "1048575*2^12345-1"]
    {
        let number: Number = text.parse().unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(number.multiplier());
        let mut random = || {
            let limbs: Vec<u64> = (0..number.limbs()).map(|_| rng.random()).collect();
            Residue::from_limbs(number, &limbs)
        };
        let (x, y) = (random(), random());
        let results = engines(number).map(|mut engine| {
            assert_eq!((engine.number(), engine.exponent()), (number, number.exponent()));
            let mut results = vec![];
            let mut result = |engine: &mut dyn Engine| {
                results.push(engine.read(2, Shift::ZERO).unwrap());
            };
            engine.write(0, &x, Shift::ZERO).unwrap();
            engine.write(1, &y, Shift::ZERO).unwrap();
            let times = [Step::SquareTimes(1 << 16), Step::SquareTimes(3)];
            for step in [Step::Square, Step::SquareMinusTwo].into_iter().chain(times) {
                for n in [0, 1, 2, 9] {
                    engine.copy(2, 0).unwrap();
                    engine.square(2, n, step, Shift::ZERO).unwrap();
                    result(engine.as_mut());
                }
            }
            for [a, b] in [[0, 1], [0, 0], [1, 2], [2, 2]] {
                engine.mul(2, a, b).unwrap();
                result(engine.as_mut());
                engine.add(2, a, b).unwrap();
                result(engine.as_mut());
                engine.sub(2, a, b).unwrap();
                result(engine.as_mut());
            }
            engine.set(2, u64::MAX, Shift::ZERO).unwrap();
            result(engine.as_mut());
            assert!(engine.is_intact());
            (results, engine.health())
        });
        let [(ours, health), (exact, _)] = results;
        assert_eq!(ours, exact, "{text}");
        let round_off = health.round_off.unwrap();
        assert!(round_off.products > 30 && round_off.max > 0.0 && round_off.max < 0.4, "{text}");
    }
}

#[test]
fn numbers_without_a_transform_are_refused() {
    for (text, takes) in [
        ("3*2^9990+1", false),
        ("3*2^10000+1", true),
        ("1048575*2^80000-1", true),
        ("1048577*2^100000-1", false),
        ("7*3^20000+1", false),
        ("3*2^2400000+1", true),
        ("3*2^2600000+1", true),
        ("1048575*2^30000000-1", true),
        ("10223*2^31172165+1", true),
        ("2^1048576+1", true),
    ] {
        let number: Number = text.parse().unwrap();
        assert_eq!(Fp64.takes(number), takes, "{text}");
        let length = match number.exponent() {
            ..200_000 => 9216,
            200_000..2_500_000 => 1 << 17,
            2_500_000..10_000_000 => 1 << 18,
            _ => 4 << 20,
        };
        let margin = Fp64.margin_for(number, length).is_ok_and(|margin| margin.bits >= 0.0);
        assert_eq!(margin, takes, "{text}");
    }
    for length in [7, 8, 11, 1022, 16_384, 1 << 18, 1 << 29] {
        let number: Number = "3*2^700000+1".parse().unwrap();
        assert!(Fp64.margin_for(number, length).is_err(), "{length}");
    }
}

/// Prints the times of a squaring inside a long call, and of calls of 1 squaring, which also convert the
/// residue. `NUMBERS` may name pairs of numbers and lengths, and `THREADS` the number of threads.
#[test]
#[ignore = "half a minute of measuring; run it with --release and --nocapture"]
fn calls() {
    use std::time::{Duration, Instant};
    let pairs = std::env::var("NUMBERS");
    let pairs = pairs.unwrap_or("3*2^4800000+1:262144 10223*2^31172165+1:2752512".into());
    let threads = std::env::var("THREADS").map_or(2, |n| n.parse().unwrap());
    println!("| number | words | µs, squaring | µs, call of 1 |");
    for pair in pairs.split(' ') {
        let (number, length) = pair.split_once(':').unwrap();
        let (number, length): (Number, usize) = (number.parse().unwrap(), length.parse().unwrap());
        let mut engine = Fp64.build_for(number, length, BuildOptions::new(1, threads)).unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let limbs: Vec<u64> = (0..number.limbs()).map(|_| rng.random()).collect();
        engine.write(0, &Residue::from_limbs(number, &limbs), Shift::ZERO).unwrap();
        let mut least = [Duration::MAX; 2];
        for _ in 0..5 {
            for (least, n) in least.iter_mut().zip([60, 1]) {
                let lap = Instant::now();
                engine.square(0, n, Step::Square, Shift::ZERO).unwrap();
                *least = (*least).min(lap.elapsed() / n as u32);
            }
        }
        let [squaring, call] = least.map(|time| time.as_secs_f64() * 1e6);
        println!("| {number} | {length} | {squaring:.0} | {call:.0} |");
    }
}
