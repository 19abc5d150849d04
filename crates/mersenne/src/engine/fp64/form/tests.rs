//! Tests against exact products.

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpint_natural::product::FastProducts;

use super::transform::Transform;
use super::*;
use crate::engine::fp64::carry::Subtrahend;
use crate::engine::plain::Plain;
use crate::engine::{BuildOptions, Engine, Step};
use crate::number::Modulus;
use crate::{Residue, Shift, Sign};

const SIGNS: [Sign; 2] = [Sign::Minus, Sign::Plus];

fn number(k: u64, n: u32, sign: Sign) -> Number {
    Number::new(k, 2, n, sign).unwrap()
}

/// Returns the value of a loaded residue modulo N.
fn canonical(modulus: &Modulus, transform: &Transform) -> Vec<u64> {
    modulus.reduce_signed(&FastProducts, transform.value())
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

/// Squares corner residues in `len` words, several times in a row, and compares with exact products.
fn compare_with_products(number: Number, len: usize, rng: &mut ChaCha8Rng) {
    let words = FormLayout::new(number, len);
    let modulus = Modulus::new(number, &FastProducts);
    let by = &FastProducts;
    let mut transform = Transform::new(words);
    let two = Residue::from_u64(number, 2);
    let (inverse, is_negative) = FormLayout::divided(number, two.limbs());
    let inverse = modulus.reduce(by, inverse);
    let (word, bit) = words.at_exponent();
    for x in corners(number, &words, rng) {
        let what = format!("{number} in {len} words: {x:?}");
        transform.load(x.limbs());
        assert_eq!(canonical(&modulus, &transform), x.limbs(), "{what}");
        let mut expected = x.limbs().to_vec();
        for minus_two in [false, false, number.sign() == Sign::Minus] {
            let subtract = minus_two.then_some(Subtrahend { word, bit });
            let error = transform.square(subtract);
            assert!(error < 0.4, "{what}: {error}");
            expected = modulus.mul(by, &expected, &expected);
            expected = modulus.times(by, expected, number.multiplier());
            if minus_two {
                assert!(!is_negative);
                modulus.sub_assign(&mut expected, &inverse);
            }
            assert_eq!(canonical(&modulus, &transform), expected, "{what}");
        }
        for (j, &digit) in transform.digits().iter().enumerate() {
            let most = 1i64 << words.bits(j);
            let most = if j + 1 == len { most + 1 } else { most / 2 + 1 };
            assert!(i64::from(digit).abs() <= most, "{what}: word {j} is {digit}");
        }
    }
}

/// Returns the largest n for which k·2^n + c has a margin in `len` words.
fn longest(k: u64, len: usize) -> u32 {
    let has_margin = |n: u32| bits(number(k, n, Sign::Plus), len, margin::OF_WHOLE) >= 0.0;
    (len as u32..25 * len as u32).rev().find(|&n| has_margin(n)).unwrap()
}

#[test]
fn corners_agree_with_products() {
    let seed = rand::random();
    println!("seed {seed}");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    for len in [8usize, 10, 12, 14, 30, 64, 70, 256, 1008, 1024] {
        for k in
            [1u64, 3, 5, 7, 9, 15, 255, 257, 10_223, 65_535, 65_537, (1 << 19) + 1, (1 << 20) - 1]
        {
            let most = longest(k, len);
            for n in [most, most - 1, most - 7, (len as u32).max(64), 12 * len as u32] {
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
    for (k, len) in [(3u64, 4096usize), (10_223, 6144), (1_000_003, 10_240), (46_157, 16_384)] {
        for sign in SIGNS {
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
    let length = lengths::lengths(8, LONGEST)
        .into_iter()
        .find(|&n| bits(number, n, margin::OF_WHOLE) >= 0.0)
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
        ("3*2^2600000+1", false),
        ("2^1048576+1", true),
    ] {
        let number: Number = text.parse().unwrap();
        assert_eq!(Fp64.takes(number), takes, "{text}");
        let length = if number.exponent() < LONGEST as u32 { 9216 } else { LONGEST };
        let margin = Fp64.margin_for(number, length).is_ok_and(|margin| margin.bits >= 0.0);
        assert_eq!(margin, takes, "{text}");
    }
    for length in [7, 8, 11, 1022, 16_384, 1 << 18] {
        let number: Number = "3*2^700000+1".parse().unwrap();
        assert!(Fp64.margin_for(number, length).is_err(), "{length}");
    }
}
