//! Tests of padded transforms, against exact integers.

use super::*;
use crate::Sign;
use crate::engine::fp64_gpu::Fp64On;
use crate::engine::fp64_gpu::form::is_weighted;
use crate::engine::gpu::compared;
use crate::engine::plain::Plain;
use crate::engine::{EngineFamily as _, Step};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rug::{Complete, Integer};

/// The layouts of the tests of kernels: k, b, n and W.
fn layouts() -> Vec<PaddedLayout> {
    let mut layouts = vec![];
    for k in [1, 7, (1 << 20) + 7, (1 << 31) - 1, (1 << 40) + 15, (1 << 62) + 57, (1 << 63) - 25] {
        for (b, n, length) in [
            (2, 10_007, 1024),
            (2, 10_000, 2304),
            (3, 6_311, 1050),
            (5, 6_000, 4096),
            (10, 5_000, 2000),
            (499, 1_200, 2560),
            (65_537, 700, 1500),
            (1_000_003, 512, 1152),
        ] {
            for sign in [Sign::Minus, Sign::Plus] {
                let number = Number::new(k, b, n, sign).unwrap();
                layouts.extend(PaddedLayout::new(number, length));
            }
        }
    }
    assert!(layouts.len() > 100, "{}", layouts.len());
    layouts
}

/// Returns the largest digits of products and of registers of a layout, if digits have any pattern.
fn largest_digits(layout: &PaddedLayout) -> [i32; 2] {
    let base = f64::from(layout.base());
    let largest = layout.words() as f64 * (base * 0.625).powi(2);
    let of_products = largest / (base * base) + 2.0;
    [of_products, layout.excess(largest)].map(|excess| (base / 2.0 + excess) as i32)
}

/// Returns lists of `count` digits up to `most`: at both ends of their range, those of all-ones and of half of the
/// base, alternating, single ones, and random ones.
fn patterns(base: i32, most: i32, count: usize, rng: &mut ChaCha8Rng) -> Vec<Vec<i32>> {
    let mut patterns = vec![];
    for v in [0, 1, -1, base / 2, -base / 2, base / 2 - 1, most, -most] {
        patterns.push(vec![v; count]);
    }
    patterns.push((0..count).map(|i| if i % 2 == 0 { most } else { -most }).collect());
    patterns.push((0..count).map(|i| if i / 3 % 2 == 0 { -most } else { most }).collect());
    for at in [0, 1, count / 2 - 1, count / 2, count - 2, count - 1] {
        for v in [1, -1, most] {
            let mut single = vec![0; count];
            single[at] = v;
            patterns.push(single);
        }
    }
    patterns.push((0..count).map(|_| rng.random_range(-most..=most)).collect());
    patterns
}

/// Returns Σ d_i·β^i.
fn value(base: u32, digits: &[i32]) -> Integer {
    digits.iter().rev().fold(Integer::new(), |sum, &digit| sum * base + digit)
}

fn power(layout: &PaddedLayout) -> Integer {
    Integer::u_pow_u(layout.number().base(), layout.number().exponent()).complete()
}

fn modulus(layout: &PaddedLayout) -> Integer {
    power(layout) * layout.number().multiplier() - layout.minus_c()
}

/// Asserts that digits are those of a residue x: in their range, zero above word m, and congruent to x.
fn assert_digits(layout: &PaddedLayout, digits: &[i32], x: Integer, what: &str) {
    let base = layout.base();
    let [_, most] = largest_digits(layout);
    let (words, zeros) = digits.split_at(layout.words());
    assert!(zeros.iter().all(|&digit| digit == 0), "{layout:?} {what}");
    let outside = words.iter().position(|digit| digit.abs() > most);
    assert_eq!(outside, None, "{layout:?} {what}");
    let difference = value(base, words) - x;
    assert!(difference.is_divisible(&modulus(layout)), "{layout:?} {what}");
    let bound = Integer::u_pow_u(base, layout.words() as u32).complete() * 63u32;
    assert!(value(base, words).abs() * 100u32 < bound, "{layout:?} {what}");
}

#[test]
fn products_are_reduced() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    for (first, device) in Device::simulators().enumerate() {
        let device = device.unwrap();
        for layout in layouts().into_iter().skip(first).step_by(5) {
            let words = PaddedWords::new(&device, layout).unwrap();
            assert!(words.is_intact());
            let mut reduction = words.reduction(&device).unwrap().unwrap();
            let k = layout.number().multiplier();
            // 2/k ≡ −2·c·b^n.
            let two = power(&layout) * (2 * layout.minus_c());
            let [most, _] = largest_digits(&layout);
            let patterns = patterns(layout.base() as i32, most, layout.end(), &mut rng);
            for (i, mut product) in patterns.into_iter().enumerate() {
                let z = value(layout.base(), &product) * k;
                product.resize(layout.len(), 0);
                for (step, expected) in [
                    (Step::Square, z.clone()),
                    (Step::SquareMinusTwo, (&z - &two).complete()),
                    (Step::SquareTimes(4), (&z * 4u32).complete()),
                ] {
                    let digits = reduction.reduced(&device, &product, step).unwrap();
                    assert_digits(&layout, &digits, expected, &format!("pattern {i}, {step:?}"));
                }
            }
        }
    }
}

/// Compares the spectra of reduced products by the kernel of squarings with those by way of digits, bit for bit.
#[test]
fn spectra_of_products_are_those_of_reduced_products() {
    let device = Device::simulator().unwrap();
    let shared_memory = device.info().shared_memory_per_block;
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let (mut compared, mut starts) = (0, [0; 2]);
    for layout in layouts().into_iter().skip(1).step_by(6) {
        let Some(shape) = Shape::best(layout.len(), shared_memory) else { continue };
        let words = PaddedWords::new(&device, layout).unwrap();
        let products = Products::<Form<PaddedWords>>::new(
            &device,
            words,
            shape,
            BuildOptions::new(1, 1).into(),
        );
        let mut products = products.unwrap();
        products.prepare(Step::Square, Shift::ZERO, true).unwrap();
        let [most, _] = largest_digits(&layout);
        let patterns = patterns(layout.base() as i32, most, layout.end(), &mut rng);
        for (i, mut product) in patterns.into_iter().enumerate() {
            product.resize(layout.len(), 0);
            for step in [Step::Square, Step::SquareMinusTwo, Step::SquareTimes(4)] {
                let [fused, by_digits] = products.spectra_of_reduced(&product, step).unwrap();
                assert!(fused == by_digits, "{layout:?}, pattern {i}, {step:?}");
            }
        }
        compared += 1;
        starts[layout.start() % 2] += 1;
    }
    assert!(compared > 10 && starts.iter().all(|&count| count > 0), "{compared}, {starts:?}");
}

#[test]
fn sums_are_reduced() {
    let device = Device::simulator().unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    for layout in layouts().into_iter().skip(2).step_by(5) {
        let words = PaddedWords::new(&device, layout).unwrap();
        let program = device.program(&combine_source()).unwrap();
        let kernel = program.kernel(PaddedWords::COMBINE, 0).unwrap();
        let [_, most] = largest_digits(&layout);
        let patterns = patterns(layout.base() as i32, most, layout.words(), &mut rng);
        for (i, a) in patterns.iter().enumerate() {
            let b = &patterns[i * 7 % patterns.len()];
            for sign in [1, -1] {
                let padded = |digits: &[i32]| {
                    let mut digits = digits.to_vec();
                    digits.resize(layout.len(), 0);
                    device.upload(&digits).unwrap()
                };
                let (mut out, a_digits, b_digits) = (padded(&[]), padded(a), padded(b));
                let mut args = vec![(&mut out).into(), (&a_digits).into(), (&b_digits).into()];
                args.push(Arg::I32(sign));
                args.extend(words.combine_args());
                args.push(Arg::U32(layout.len() as u32));
                let launch = Launch::linear(layout.len().div_ceil(256) as u32, 256);
                // SAFETY: the buffers have W digits each, as the kernel demands.
                unsafe { kernel.launch(launch, &args).unwrap() };
                let sum = value(layout.base(), a) + value(layout.base(), b) * sign;
                let what = format!("patterns {i}, {}", i * 7 % patterns.len());
                assert_digits(&layout, &out.download().unwrap(), sum, &what);
            }
        }
    }
}

fn has_margin(number: Number, length: usize) -> bool {
    margin(number, length).is_ok_and(|margin| margin.bits >= 0.0)
}

#[test]
fn long_numbers_have_a_margin() {
    for (number, length) in [
        ("1099511627791*2^19000000-1", 2 << 20),
        ("7*1500^1890000-1", 3840 << 10),
        ("7*600^15000000-1", 32 << 20),
        ("9223372036854775783*2^140000000+1", 16 << 20),
    ] {
        let margin = margin(number.parse().unwrap(), length);
        assert!(margin.as_ref().is_ok_and(|margin| margin.bits >= 0.0), "{number}: {margin:?}");
    }
    // Carries would not end within two words.
    let short = margin("9223372036854775783*600^15000000-1".parse().unwrap(), 32 << 20);
    assert!(short.is_err_and(|error| error.to_string().contains("within two words")));
}

/// Returns the number k·b^n + c with the largest n that has a margin in `length` words.
fn longest(k: u64, b: u32, sign: Sign, length: usize) -> Option<Number> {
    let most = (25.0 * length as f64 / f64::from(b).log2()) as u32;
    let (mut low, mut high) = (0, most);
    let of = |n| Number::new(k, b, n, sign).ok();
    // The margin decreases with n, except that few digits are refused.
    let least = (10_000.0 / f64::from(b).log2()) as u32 + 1;
    if !of(least).is_some_and(|number| has_margin(number, length)) {
        return None;
    }
    low = low.max(least);
    while high - low > 1 {
        let middle = low.midpoint(high);
        if of(middle).is_some_and(|number| has_margin(number, length)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    of(low)
}

/// Compares squarings, products and sums with those of exact integers. Returns the largest error of a word.
fn compare(device: &Device, number: Number, length: usize, rng: &mut ChaCha8Rng) -> f64 {
    let mut residues = compared::corners(number, rng);
    let room = margin(number, length).unwrap().bits;
    if length <= margin::ANY_DIGITS_UP_TO || room > 4.0 {
        residues.push(Residue::from_limbs(number, &vec![u64::MAX; number.limbs()]));
    }
    let family = Fp64On::new(device.clone());
    let health = compared::compare(&family, number, length, &residues, &[3, 65_535], 40);
    health.round_off.unwrap().max
}

#[test]
fn residues_agree_with_exact_integers() {
    let device = Device::simulator().unwrap();
    let seed = rand::random();
    println!("seed {seed}");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    for length in [1344, 2304] {
        for (k, b) in [
            ((1 << 20) + 7, 2),
            ((1 << 40) + 15, 2),
            ((1 << 62) + 57, 3),
            (1_000_000_007, 10),
            (7, 499),
            (3, 1_000_003),
        ] {
            for sign in [Sign::Minus, Sign::Plus] {
                let Some(longest) = longest(k, b, sign, length) else { continue };
                let n = longest.exponent();
                for n in [n, n - n / 7] {
                    let number = Number::new(k, b, n, sign).unwrap();
                    if has_margin(number, length) && !is_weighted(number, length) {
                        let error = compare(&device, number, length, &mut rng);
                        println!("{number} in {length} words: {error:.4}");
                        assert!(error < 0.3, "{number} in {length} words: {error}");
                    }
                }
            }
        }
    }
}

#[test]
fn residues_that_fill_half_of_the_words_agree_with_exact_integers() {
    let device = Device::simulator().unwrap();
    let seed = rand::random();
    println!("seed {seed}");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    for (k, b, length) in [((1 << 40) + 15, 2, 1536), ((1 << 62) + 57, 5, 1152)] {
        for sign in [Sign::Minus, Sign::Plus] {
            let longest = longest(k, b, sign, length).unwrap();
            let numbers = (1..longest.exponent()).rev();
            let numbers = numbers.map(|n| Number::new(k, b, n, sign).unwrap());
            let fills = |number: &Number| {
                let layout = PaddedLayout::new(*number, length);
                layout.is_some_and(|layout| 2 * layout.words() == length)
            };
            let number = numbers.take(2000).find(fills).unwrap();
            compare(&device, number, length, &mut rng);
        }
    }
}

/// The stored form of ⌊k/2⌋·b^n is about b^n/2, whose digits are nearly all half of the base if b is odd.
#[test]
fn digits_with_a_pattern_are_refused() {
    let family = Fp64On::new(Device::simulator().unwrap());
    for (text, length) in
        [("9223372036854775780*21^3397+1", 1536), ("205881753848*43^3978+1", 2304)]
    {
        let number: Number = text.parse().unwrap();
        assert!(has_margin(number, length));
        let power = Integer::u_pow_u(number.base(), number.exponent()).complete();
        let x = power * (number.multiplier() / 2);
        let residue = Residue::from_limbs(number, &x.to_digits(rug::integer::Order::Lsf));
        let mut engine = family.build_for(number, length, BuildOptions::new(1, 1)).unwrap();
        engine.write(0, &residue, Shift::ZERO).unwrap();
        engine.square(0, 2, Step::Square, Shift::ZERO).unwrap();
        let refusal = engine.finish();
        assert!(matches!(refusal, Err(EngineError::RoundOff { .. })), "{number}: {refusal:?}");
    }
}

#[test]
fn errors_follow_the_model_of_margins() {
    let family = Fp64On::new(Device::simulator().unwrap());
    // In the last case most of the words are zero.
    for (text, length) in [
        ("1099511627791*2^40900+1", 4096),
        ("1099511627791*2^20600-1", 4096),
        ("7*499^4560-1", 4608),
        ("3*1000003^600-1", 32_768),
    ] {
        let number: Number = text.parse().unwrap();
        let layout = PaddedLayout::new(number, length).unwrap();
        let mut engine = family.build_for(number, length, BuildOptions::new(1, 1)).unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(9);
        let limbs: Vec<u64> = (0..number.limbs()).map(|_| rng.random()).collect();
        engine.write(0, &Residue::from_limbs(number, &limbs), Shift::ZERO).unwrap();
        engine.square(0, 40, Step::Square, Shift::ZERO).unwrap();
        engine.finish().unwrap();
        let mean = engine.health().round_off.unwrap().mean;
        let padding = (layout.words() as f64 / length as f64).max(1.0 / LARGEST_PADDING);
        let padding = padding / (3.0 / 4f64.ln());
        let bits = f64::from(layout.base()).log2();
        let model = margin::expected_error(bits, length, margin::ON_GPU) * padding;
        println!("{layout:?}: {mean:.6}, {:.3} of the model", mean / model);
        let is_sparse = length as f64 > LARGEST_PADDING * layout.words() as f64;
        let least = if is_sparse { 0.0 } else { 0.4 };
        assert!((least..1.1).contains(&(mean / model)), "{text}: {mean} of {model}");
    }
}

#[test]
fn powers_of_random_exponents_agree_with_exact_integers() {
    let family = Fp64On::new(Device::simulator().unwrap());
    for (text, length) in [("1099511627791*2^20000+1", 2048), ("7*499^2300-1", 2560)] {
        let number: Number = text.parse().unwrap();
        let mut engine = family.build_for(number, length, BuildOptions::new(1, 1)).unwrap();
        let mut oracle = Plain.build_for(number, 1, BuildOptions::new(1, 1)).unwrap();
        let has_factor = |j: u64| 0xb5c3_9e1d_u64 >> (j * 7 % 32) & 1 == 1;
        let [found, expected] = [engine.as_mut(), oracle.as_mut()].map(|engine| {
            engine.set(0, 5, Shift::ZERO).unwrap();
            engine.square_with_factors(0, 250, 3, &has_factor, Shift::ZERO).unwrap();
            engine.square(0, 150, Step::SquareMinusTwo, Shift::ZERO).unwrap();
            engine.read(0, Shift::ZERO).unwrap()
        });
        assert!(found == expected, "{text}");
    }
}
