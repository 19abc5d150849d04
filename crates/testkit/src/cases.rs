//! Test cases that compare engines with GMP. The argument of each case is an engine family. M_p
//! denotes 2^p − 1.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use rug::Integer;
use warpint_arith::primes;
use warpint_mersenne::{BuildOptions, Engine, EngineError, EngineFamily, LlStart, Shift, Step};
use warpint_selftest::{sample, sequence};

use crate::gmp::{self, Ring};

/// The largest exponent p that is chosen at random.
const LARGEST: u32 = 40_000;

/// The result of a case. An error contains everything needed to reproduce the failure.
type CaseResult = Result<(), String>;

/// Tests 0 to 23 repetitions of one of the steps x², x² − 2 and m·x² on random residues x with
/// random shifts. The factor m is random, from 1 to 2^16.
pub fn squares(family: &'static dyn EngineFamily) -> CaseResult {
    let step = prop_oneof![
        Just(Step::Square),
        Just(Step::SquareMinusTwo),
        (1u32..=1 << 16).prop_map(Step::SquareTimes),
    ];
    let inputs = (exponent(family), any::<u64>(), 0u64..24, step, any::<u32>());
    drawn(400, &inputs, |(p, seed, n, step, shift)| {
        let mut engine = shortest(family, p, 1)?;
        let shift = Shift::new(shift, p);
        let x = sample::residue(&mut sample::random(seed), p);
        engine.write(0, &x, shift).map_err(text)?;
        engine.square(0, n, step, shift).map_err(text)?;
        let found = engine.read(0, Shift::ZERO).map_err(text)?;
        let held = gmp::integer(&x.rotated_left(shift.bits()));
        let expected = Ring::new(p).square(held, n, step, shift);
        same("square", p, &gmp::integer(&found), &expected)
    })
}

/// Tests x·y, x + y and x − y for random residues x and y, and (x + y)(x − y) computed from the
/// preceding results.
pub fn products(family: &'static dyn EngineFamily) -> CaseResult {
    let inputs = (exponent(family), any::<u64>());
    drawn(400, &inputs, |(p, seed)| {
        let mut rng = sample::random(seed);
        let (x, y) = (sample::residue(&mut rng, p), sample::residue(&mut rng, p));
        let mut engine = shortest(family, p, 4)?;
        engine.write(0, &x, Shift::ZERO).map_err(text)?;
        engine.write(1, &y, Shift::ZERO).map_err(text)?;
        let (x, y) = (gmp::integer(&x), gmp::integer(&y));
        let chain = Integer::from(&x * &x) - Integer::from(&y * &y);
        let mut check = |what, dst, op: Operation, a, b, expected: Integer| {
            op(engine.as_mut(), dst, a, b).map_err(text)?;
            let found = engine.read(dst, Shift::ZERO).map_err(text)?;
            same(what, p, &gmp::integer(&found), &gmp::integer(&gmp::residue(&expected, p)))
        };
        check("x·y", 2, |e, d, a, b| e.mul(d, a, b), 0, 1, Integer::from(&x * &y))?;
        check("x + y", 2, |e, d, a, b| e.add(d, a, b), 0, 1, Integer::from(&x + &y))?;
        check("x − y", 3, |e, d, a, b| e.sub(d, a, b), 0, 1, Integer::from(&x - &y))?;
        check("(x + y)(x − y)", 3, |e, d, a, b| e.mul(d, a, b), 2, 3, chain)
    })
}

/// An operation of an engine with two source registers. Its arguments are the engine, the number of
/// the destination register, and the numbers of the two source registers.
type Operation = fn(&mut dyn Engine, usize, usize, usize) -> Result<(), EngineError>;

/// Tests every kind of step, at a random shift, on residues whose squares have long carries. An
/// engine whose round-off margin is statistical may report round-off for such residues, but must
/// never give a wrong value.
pub fn carry_patterns(family: &'static dyn EngineFamily) -> CaseResult {
    drawn(32, &(exponent(family), any::<u64>()), |(p, seed)| {
        let mut rng = sample::random(seed);
        let ring = Ring::new(p);
        let mut engine = shortest(family, p, 1)?;
        let [.., shift] = sample::shifts(&mut rng, p);
        for (name, x) in sample::patterns(&mut rng, p, engine.length()) {
            for step in [Step::Square, Step::SquareMinusTwo, Step::SquareTimes(65_521)] {
                engine.write(0, &x, shift).map_err(text)?;
                match engine.square(0, 3, step, shift).and_then(|()| engine.finish()) {
                    Err(EngineError::RoundOff { .. }) => continue,
                    other => other.map_err(text)?,
                }
                let found = engine.read(0, Shift::ZERO).map_err(text)?;
                let held = gmp::integer(&x.rotated_left(shift.bits()));
                let expected = ring.square(held, 3, step, shift);
                same(&name, p, &gmp::integer(&found), &expected)?;
            }
        }
        Ok(())
    })
}

/// Tests squarings of a random residue at transform lengths with enough round-off margin. Let n be
/// the shortest of these lengths. The test covers all of these lengths up to 7/6·n. For each of the
/// bounds 2·n, 4·n and 8·n, the test also covers the shortest length with enough margin that is not
/// below the bound.
pub fn forced_lengths(family: &'static dyn EngineFamily) -> CaseResult {
    drawn(16, &(exponent(family), any::<u64>()), |(p, seed)| {
        let n = sample::shortest_length(family, p)?;
        let mut lengths = sample::safe_lengths(family, p, n, n + n / 6);
        for times in [2, 4, 8] {
            let longer = sample::safe_lengths(family, p, times * n, p as usize);
            lengths.extend(longer.first());
        }
        let x = sample::residue(&mut sample::random(seed), p);
        let expected = Ring::new(p).square(gmp::integer(&x), 10, Step::Square, Shift::ZERO);
        for length in lengths {
            let mut engine = build(family, p, length, 1)?;
            engine.write(0, &x, Shift::ZERO).map_err(text)?;
            engine.square(0, 10, Step::Square, Shift::ZERO).map_err(text)?;
            let found = engine.read(0, Shift::ZERO).map_err(text)?;
            same(&format!("length {length}"), p, &gmp::integer(&found), &expected)?;
        }
        Ok(())
    })
}

/// Tests all limbs of the Lucas–Lehmer residue s_(p−2), from s_0 = 4, for every odd prime p ≤ 3,000
/// that the family supports.
pub fn lucas_lehmer_of_small_primes(family: &'static dyn EngineFamily) -> CaseResult {
    for p in small_primes(family, 3_000) {
        lucas_lehmer(family, p, LlStart::Four)?;
    }
    Ok(())
}

/// Tests the Lucas–Lehmer residue s_(p−2), from s_0 = 10 and from s_0 = 2/3, for every odd prime p
/// ≤ 700 that the family supports.
pub fn lucas_lehmer_starts(family: &'static dyn EngineFamily) -> CaseResult {
    for p in small_primes(family, 700) {
        lucas_lehmer(family, p, LlStart::Ten)?;
        lucas_lehmer(family, p, LlStart::TwoThirds)?;
    }
    Ok(())
}

/// Tests all limbs of the PRP residue 3^(M_p − 1) mod M_p for every odd prime p ≤ 3,000 that the
/// family supports.
pub fn prp_of_small_primes(family: &'static dyn EngineFamily) -> CaseResult {
    for p in small_primes(family, 3_000) {
        prp(family, p)?;
    }
    Ok(())
}

/// Tests the Lucas–Lehmer residue and the PRP residue of M_p for a few random odd primes p ≤
/// 40,000.
pub fn large_primes(family: &'static dyn EngineFamily) -> CaseResult {
    let (from, to) = family.exponent_range().into_inner();
    drawn(3, &(from..=to.min(LARGEST)), |most| {
        // M_2 = 3 is not a modulus for base 3.
        let prime = (from.max(3)..=most).rev().find(|&q| primes::is_prime(u64::from(q)));
        let Some(p) = prime else { return Ok(()) };
        lucas_lehmer(family, p, LlStart::Four)?;
        prp(family, p)
    })
}

fn lucas_lehmer(family: &dyn EngineFamily, p: u32, start: LlStart) -> CaseResult {
    let n = u64::from(p) - 2;
    let s_0 = sequence::ll_start(p, start).ok_or_else(|| format!("no 2/3 mod M{p}"))?;
    let mut engine = shortest(family, p, 1)?;
    let shift = Shift::new(p / 3, p);
    let found = sequence::ll_residue(engine.as_mut(), &s_0, n, shift).map_err(text)?;
    let expected = Ring::new(p).ll_residue(start, n);
    same("s_(p−2)", p, &gmp::integer(&found), &gmp::integer(&expected))
}

fn prp(family: &dyn EngineFamily, p: u32) -> CaseResult {
    let mut engine = shortest(family, p, 1)?;
    let found = sequence::prp_residue(engine.as_mut())
        .map_err(text)?
        .ok_or_else(|| format!("9 has no inverse mod M{p}"))?;
    let expected = Ring::new(p).prp_residue();
    same("3^(M_p − 1)", p, &gmp::integer(&found), &gmp::integer(&expected))
}

fn small_primes(family: &dyn EngineFamily, to: u64) -> impl Iterator<Item = u32> {
    let range = family.exponent_range();
    // M_2 = 3 is not a modulus for base 3.
    primes::primes_between(3, to).map(|p| p as u32).filter(move |p| range.contains(p))
}

/// Returns a strategy for exponents that the family supports: half of them up to 1,000, half up to
/// [`LARGEST`].
fn exponent(family: &dyn EngineFamily) -> BoxedStrategy<u32> {
    let (from, to) = family.exponent_range().into_inner();
    let end = |most: u32| to.min(most.max(from));
    prop_oneof![from..=end(1_000), from..=end(LARGEST)].boxed()
}

fn shortest(
    family: &dyn EngineFamily,
    p: u32,
    registers: usize,
) -> Result<Box<dyn Engine>, String> {
    build(family, p, sample::shortest_length(family, p)?, registers)
}

fn build(
    family: &dyn EngineFamily,
    p: u32,
    length: usize,
    registers: usize,
) -> Result<Box<dyn Engine>, String> {
    family.build(p, length, BuildOptions::new(registers, 1)).map_err(text)
}

/// Runs `case` on `cases` random inputs, which the strategy `inputs` generates. If the case fails
/// for an input, the input is shrunk, and the error contains the shrunk input.
fn drawn<S: Strategy>(cases: u32, inputs: &S, case: impl Fn(S::Value) -> CaseResult) -> CaseResult {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(inputs, |value| case(value).map_err(TestCaseError::fail))
        .map_err(|e| e.to_string())
}

fn same(what: &str, p: u32, found: &Integer, expected: &Integer) -> CaseResult {
    if found == expected {
        return Ok(());
    }
    let first = Integer::from(found ^ expected).find_one(0).unwrap_or(0);
    Err(format!("{what} mod M{p} is wrong from bit {first} on"))
}

fn text(error: EngineError) -> String {
    error.to_string()
}
