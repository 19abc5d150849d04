//! Tests of numbers k·b^n ± 1 other than Mersenne numbers, for the families that take them.

use std::sync::Barrier;
use std::thread;

use num_bigint::BigUint;
use rand::RngExt;
use warpint_device::{DeviceChoice, DeviceId};
use warpint_mersenne::engine::places::families_in_gangs;
use warpint_mersenne::{Engine, EngineFamily, Number, Plan, Residue, Shift, Sign, Step};

use crate::sample::{self, Random, Scale};
use crate::sequence;
use crate::vectors;

/// The number of drawn numbers for each multiplier and sign.
const DRAWN: usize = 8;

/// The range of the numbers of bits.
const BITS: (u32, u32) = (12_000, 200_000);

/// The largest m for which residues modulo the Fermat number F_m are computed on the CPU and on a GPU.
const LARGEST_FERMAT: [(Scale, u32, u64); 4] = [
    (Scale::Small, 14, 100),
    (Scale::Quick, 16, 1_000),
    (Scale::Whole, 20, 1_000),
    (Scale::Large, 26, 10_000),
];

fn failed(family: &dyn EngineFamily, number: Number, what: &dyn std::fmt::Display) -> String {
    format!("{} {number}: {what}", family.name())
}

/// Builds an engine with 3 registers, at the length of a plan.
fn build(family: &'static dyn EngineFamily, number: Number) -> Result<Box<dyn Engine>, String> {
    let plan = Plan::of_family(number, family, None, Some(1));
    let plan = plan.map_err(|e| failed(family, number, &e))?;
    plan.build(3).map_err(|e| failed(family, number, &e))
}

/// Compares squarings, products, sums and differences modulo numbers k·2^n ± 1 and k·b^n ± 1 with the crate
/// `num-bigint`: of random residues and of those next to 0 and N.
pub fn other_numbers(
    family: &'static dyn EngineFamily,
    seed: u64,
    scale: Scale,
) -> Result<(), String> {
    let mut rng = sample::random(seed);
    let largest = scale.largest(BITS.1);
    let forms = [
        (1u64, 2u32),
        (3, 2),
        (10_223, 2),
        (1_048_573, 2),
        (7, 3),
        (1, 10),
        // On a GPU these take padded transforms.
        (1_099_511_627_791, 2),
        (7, 499),
        // On a GPU two digits take the words of `hybrid`.
        (5, 1021),
    ];
    for (k, b) in forms {
        for sign in [Sign::Minus, Sign::Plus] {
            for _ in 0..scale.count(DRAWN) {
                let bits = rng.random_range(BITS.0..=largest);
                let n = (f64::from(bits) / f64::from(b).log2()) as u32;
                let number = Number::new(k, b, n, sign).map_err(|e| e.to_string())?;
                if !number.is_mersenne() && family.takes(number) {
                    compare(family, number, &mut rng)?;
                }
            }
        }
    }
    generalized_fermat_numbers(family, largest, &mut rng)
}

/// The largest number of bits of a number b^(2^m) + 1 at every scale.
const LEAST_FERMAT: u32 = 21_000;

/// Does the same modulo numbers b^(2^m) + 1 of at most `largest` bits, or [`LEAST_FERMAT`] if that is more.
fn generalized_fermat_numbers(
    family: &'static dyn EngineFamily,
    largest: u32,
    rng: &mut Random,
) -> Result<(), String> {
    for b in [10, 824, 24_518, 919_444] {
        let number = |m: u32| Number::new(1, b, 1 << m, Sign::Plus).ok();
        let largest = largest.max(LEAST_FERMAT);
        let fits = |number: &Number| (BITS.0..=largest).contains(&number.bits());
        for number in (9..20).filter_map(number).filter(fits).take(2) {
            if family.takes(number) {
                compare(family, number, rng)?;
            }
        }
    }
    Ok(())
}

fn value(x: &Residue) -> BigUint {
    let bytes: Vec<u8> = x.limbs().iter().flat_map(|limb| limb.to_le_bytes()).collect();
    BigUint::from_bytes_le(&bytes)
}

fn compare(
    family: &'static dyn EngineFamily,
    number: Number,
    rng: &mut Random,
) -> Result<(), String> {
    let modulus: Vec<u8> = number.value().iter().flat_map(|limb| limb.to_le_bytes()).collect();
    let modulus = BigUint::from_bytes_le(&modulus);
    let mut engine = build(family, number)?;
    let engine = engine.as_mut();
    let random: Vec<u64> = (0..number.limbs()).map(|_| rng.random()).collect();
    let random = Residue::from_limbs(number, &random);
    let minus = |engine: &mut dyn Engine, v: u64| {
        engine.set(0, 0, Shift::ZERO)?;
        engine.set(1, v, Shift::ZERO)?;
        engine.sub(2, 0, 1)?;
        engine.read(2, Shift::ZERO)
    };
    let mut starts = vec![random.clone(), Residue::from_u64(number, 0)];
    if family.is_exact() {
        // Divided by k, the bits of this one repeat. Floating-point engines refuse long residues of
        // words that are all alike.
        starts.push(Residue::from_limbs(number, &vec![u64::MAX; number.limbs()]));
    }
    for v in [1, 2] {
        starts.push(minus(engine, v).map_err(|e| failed(family, number, &e))?);
    }
    for x in starts {
        let wrong = |what: &str| failed(family, number, &format!("{what} of {x:?}"));
        let steps = [
            ("squares", Step::Square, 3),
            ("squarings with a factor", Step::SquareTimes(65_535), 2),
            ("squarings minus 2", Step::SquareMinusTwo, 3),
        ];
        for (what, step, n) in steps {
            let mut expected = value(&x);
            for _ in 0..n {
                expected = &expected * &expected;
                match step {
                    Step::Square => (),
                    Step::SquareMinusTwo => expected = expected + &modulus - 2u32,
                    Step::SquareTimes(m) => expected *= m,
                }
                expected %= &modulus;
            }
            let mut found = || {
                engine.write(0, &x, Shift::ZERO)?;
                engine.square(0, n, step, Shift::ZERO)?;
                engine.read(0, Shift::ZERO)
            };
            if value(&found().map_err(|e| failed(family, number, &e))?) != expected {
                return Err(wrong(what));
            }
        }
        let (a, b) = (value(&x), value(&random));
        let mut found = || {
            engine.write(0, &x, Shift::ZERO)?;
            engine.write(1, &random, Shift::ZERO)?;
            engine.mul(2, 0, 1)?;
            let product = engine.read(2, Shift::ZERO)?;
            engine.add(2, 0, 1)?;
            let sum = engine.read(2, Shift::ZERO)?;
            engine.sub(2, 0, 1)?;
            Ok::<_, warpint_mersenne::EngineError>([product, sum, engine.read(2, Shift::ZERO)?])
        };
        let found = found().map_err(|e| failed(family, number, &e))?.each_ref().map(value);
        let expected = [&a * &b, &a + &b, &a + &modulus - &b].map(|x| x % &modulus);
        if found != expected {
            return Err(wrong("the product, sum or difference"));
        }
    }
    Ok(())
}

/// Compares 3^(2^i) modulo Fermat numbers with the residues in `crates/selftest/vectors/fermat_residues.toml`.
pub fn fermat_numbers(
    family: &'static dyn EngineFamily,
    _seed: u64,
    scale: Scale,
) -> Result<(), String> {
    let known = vectors::fermat_residues().map_err(|e| e.to_string())?.residues;
    let limits = LARGEST_FERMAT.iter().find(|(of, ..)| *of == scale);
    let &(_, largest, squarings) = limits.ok_or("no limit")?;
    for known in known.iter().filter(|known| known.m <= largest && known.iterations <= squarings) {
        let number = Number::new(1, 2, 1 << known.m, Sign::Plus).map_err(|e| e.to_string())?;
        if !family.takes(number) {
            continue;
        }
        let mut engine = build(family, number)?;
        let found = sequence::power_residue(engine.as_mut(), known.iterations);
        let found = found.map_err(|e| failed(family, number, &e))?.res64_hex();
        if found != known.res64 {
            let what =
                format!("res64 {found} after {} squarings, not {}", known.iterations, known.res64);
            return Err(failed(family, number, &what));
        }
    }
    Ok(())
}

/// The squarings of [`numbers_together`]: several graphs of 16 or 32 squarings, and some squarings that are
/// launched one by one. The second value is for the simulator, where a squaring takes longest.
const TOGETHER: [u64; 2] = [715, 107];

/// An exponent n for which k·2^n ± 1 with k = 3, 5, … has 64K words on a GPU.
const ABOUT_A_MILLION: u32 = 1_200_000;

/// Squares several numbers k·2^n ± 1 at the same time, each in a thread and in a lane of the device, and compares
/// the results with those of engines that compute alone. On the CPU there are no lanes.
pub fn numbers_together(
    family: &'static dyn EngineFamily,
    _seed: u64,
    scale: Scale,
) -> Result<(), String> {
    let Ok(DeviceChoice::On(device)) = family.place().parse() else { return Ok(()) };
    // At the large sizes, a length that has a shape of its own for gangs.
    let large = matches!(scale, Scale::Whole | Scale::Large);
    let n = if large { ABOUT_A_MILLION } else { scale.largest(BITS.1).max(BITS.0) };
    let squarings = TOGETHER[usize::from(matches!(scale, Scale::Small))];
    for (sign, step) in [(Sign::Plus, Step::Square), (Sign::Minus, Step::SquareMinusTwo)] {
        let numbers = [3, 5, 7, 9, 11].into_iter().filter_map(|k| Number::new(k, 2, n, sign).ok());
        let numbers: Vec<Number> = numbers.filter(|number| family.takes(*number)).collect();
        let engine = |(i, &number)| build(in_gangs(family, device, i as u32)?, number);
        let engines: Result<Vec<_>, String> = numbers.iter().enumerate().map(engine).collect();
        let engines = engines?;
        // The squarings begin at the same time, so that the numbers have launches in common.
        let begin = Barrier::new(numbers.len());
        let together: Vec<Result<Residue, String>> = thread::scope(|scope| {
            let start = |mut engine: Box<dyn Engine>| {
                let begin = &begin;
                scope.spawn(move || {
                    begin.wait();
                    squared(engine.as_mut(), squarings, step)
                })
            };
            let threads: Vec<_> = engines.into_iter().map(start).collect();
            let ended = threads.into_iter().map(|thread| thread.join());
            ended.map(|result| result.unwrap_or_else(|_| Err("a thread panicked".into()))).collect()
        });
        for (&number, found) in numbers.iter().zip(together) {
            let mut alone = build(family, number)?;
            if found? != squared(alone.as_mut(), squarings, step)? {
                return Err(failed(family, number, &"the result of squarings with other numbers"));
            }
        }
    }
    Ok(())
}

/// Returns the family of the same name, in gangs, in a lane of the device.
fn in_gangs(
    family: &'static dyn EngineFamily,
    device: DeviceId,
    lane: u32,
) -> Result<&'static dyn EngineFamily, String> {
    let families = families_in_gangs(device, lane).map_err(|e| e.to_string())?;
    let same = families.into_iter().find(|of| of.name() == family.name());
    same.ok_or_else(|| format!("lane {lane} has no family {}", family.name()))
}

fn squared(engine: &mut dyn Engine, squarings: u64, step: Step) -> Result<Residue, String> {
    let mut found = || {
        engine.set(0, 3, Shift::ZERO)?;
        engine.square(0, squarings, step, Shift::ZERO)?;
        engine.read(0, Shift::ZERO)
    };
    found().map_err(|e| format!("{}: {e}", engine.name()))
}
