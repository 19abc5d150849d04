//! Tests the kernels' arithmetic modulo primes of 47 and 50 bits (`f50.cuh`), one function at a
//! time. Results must equal those of `warpint_arith::f50` bit for bit, and must be right when
//! recomputed with 128-bit integers. Inputs are the ends of the permitted ranges, values whose
//! quotient by the prime is almost half-way between two integers, and random values.

use bytemuck::Pod;
use rand::RngExt;
use warpint_arith::f50::{F50, Factor, NARROW, PRIMES};
use warpint_arith::primes::{mul_mod, pow_mod};
use warpint_device::{Arg, Buffer, Device, DeviceError, Launch, Program, Source, common};

use crate::sample::{Random, random};

/// A case: takes a device, a seed and the number of random values per field; returns a message if
/// it fails.
pub type Run = fn(&Device, u64, usize) -> Result<(), String>;

/// The names and functions of all cases.
pub const CASES: &[(&str, Run)] = &[
    ("sums", sums),
    ("integers", integers),
    ("elements", elements),
    ("products", products),
    ("products_by_factors", products_by_factors),
];

/// The number of random values per field, about a million in all fields together.
pub const DRAWN: usize = 70_000;

/// Returns the source of the kernels that apply the functions of `f50.cuh` to arrays.
#[must_use]
pub fn source() -> Source {
    const KERNELS: [&str; 5] =
        ["sums", "integers", "elements", "any_products", "products_by_factors"];
    Source::new("field50.cu", include_str!("../../kernels/field50.cu"), &KERNELS)
        .headers(common::HEADERS)
}

/// 2^53. All integers of at most this absolute value are exact in `f64`.
const MOST: f64 = 9_007_199_254_740_992.0;

/// 2^52, the largest absolute value that `mul_by` of `f50.cuh` may multiply by a precomputed
/// factor.
const FACTOR_LIMIT: f64 = MOST / 2.0;

/// Returns integers of absolute value at most `bound`, near 0, `bound`, powers of two and multiples
/// of p/4.
fn corners(p: f64, bound: f64) -> Vec<f64> {
    let mut centres = vec![0.0, bound.floor()];
    let powers = (0..3).chain(24..28).chain(31..34).chain(47..54);
    centres.extend(powers.map(|k| (1u64 << k) as f64));
    centres.extend((1..=16).map(|k| (f64::from(k) * p / 4.0).floor()));
    let near = |c: f64| (-1..=2).map(move |d| c + f64::from(d));
    let mut all: Vec<f64> = centres.into_iter().flat_map(near).flat_map(|x| [x, -x]).collect();
    all.retain(|x| x.abs() <= bound);
    all
}

/// Returns a random integer of absolute value at most `bound`. With probability 1/2 the integer is
/// uniformly distributed. Otherwise a uniformly distributed integer is shifted right by a random
/// number of bits.
fn drawn(rng: &mut Random, bound: f64) -> f64 {
    let most = bound as i64;
    let shift = if rng.random() { 0 } else { rng.random_range(0..50) };
    let x = rng.random_range(-most..=most);
    (x >> shift) as f64
}

/// Returns integers x with |x| ≤ 2^53, the inputs of reductions: corner values, and `count` random
/// values.
fn numbers(field: F50, rng: &mut Random, count: usize) -> Vec<f64> {
    let mut x = corners(field.modulus() as f64, MOST);
    x.extend((0..count).map(|_| drawn(rng, MOST)));
    x
}

/// Returns pairs (a, w) with |a| ≤ 2^52 and |w| ≤ p/2, where p is the field's prime. Some of them
/// have a·w ≡ (p ± 1)/2 mod p, so that a·w/p is as near as possible to half-way between two
/// integers.
fn pairs(field: F50, rng: &mut Random, count: usize) -> Vec<(f64, f64)> {
    let modulus = field.modulus();
    let p = modulus as f64;
    let narrow = corners(p, p / 2.0);
    let mut pairs: Vec<(f64, f64)> = corners(p, FACTOR_LIMIT)
        .into_iter()
        .flat_map(|a| narrow.iter().map(move |&w| (a, w)))
        .collect();
    pairs.extend((0..count).map(|_| (drawn(rng, FACTOR_LIMIT), drawn(rng, p / 2.0))));
    for _ in 0..count.div_ceil(160) {
        let w = rng.random_range(1..=modulus / 2);
        let half = mul_mod(modulus.div_ceil(2), pow_mod(w, modulus - 2, modulus), modulus);
        let most = FACTOR_LIMIT as u64 / modulus;
        for a in [0, 1, 2, most - 1]
            .into_iter()
            .flat_map(|k| [half + k * modulus, (k + 1) * modulus - half])
        {
            let sign = if rng.random() { -1.0 } else { 1.0 };
            pairs.push((sign * a as f64, w as f64));
        }
    }
    pairs
}

/// A device, the program of the kernels, and the field in which they compute.
struct Bench<'a> {
    device: &'a Device,
    program: &'a Program,
    field: F50,
}

impl Bench<'_> {
    /// Runs a kernel on input arrays of n elements, and returns its n results. Result i is computed
    /// from element i of each input.
    fn map<T: Pod>(
        &self,
        kernel: &'static str,
        inputs: &[Arg],
        n: usize,
    ) -> Result<Vec<T>, DeviceError> {
        const THREADS: u32 = 128;
        let out: Buffer<T> = self.device.alloc(n)?;
        let mut args: Vec<Arg> = self.field.constants().map(Arg::F64).to_vec();
        args.extend_from_slice(inputs);
        args.extend([Arg::from(&out), Arg::U32(n as u32)]);
        let shape = Launch::linear((n as u32).div_ceil(THREADS), THREADS);
        let kernel = self.program.kernel(kernel, 0)?;
        // SAFETY: every call passes the kernel's inputs, of n elements each, and the type of its
        // results.
        unsafe { kernel.launch(shape, &args)? };
        out.download()
    }
}

/// Calls `case` for every field.
fn in_every_field(
    device: &Device,
    seed: u64,
    case: impl Fn(&Bench, &mut Random) -> Result<Result<(), String>, DeviceError>,
) -> Result<(), String> {
    let program = &device.program(&source()).map_err(|e| e.to_string())?;
    let rng = &mut random(seed);
    for (p, ..) in PRIMES.into_iter().chain(NARROW) {
        let field = F50::new(p).map_err(|e| e.to_string())?;
        let checked = case(&Bench { device, program, field }, rng).map_err(|e| e.to_string())?;
        checked.map_err(|why| format!("{why} (p = {p})"))?;
    }
    Ok(())
}

/// Returns an error if `found` is not an integer congruent to `integer` modulo the field's prime,
/// or if |`found`| > `bound`. `what` names the value in the message.
fn stands_for(
    what: impl Fn() -> String,
    found: f64,
    integer: i128,
    bound: f64,
    field: F50,
) -> Result<(), String> {
    let p = i128::from(field.modulus());
    if found.fract() != 0.0 || (found as i128 - integer) % p != 0 {
        return Err(format!("{} is {found}, not {integer} mod p", what()));
    }
    if found.abs() > bound {
        return Err(format!("{} is {found}, above {bound}", what()));
    }
    Ok(())
}

/// Returns an error if the bits of `found` differ from those of the CPU's result. `what` names the
/// value in the message.
fn same(what: impl Fn() -> String, found: f64, on_cpu: f64) -> Result<(), String> {
    if found.to_bits() != on_cpu.to_bits() {
        return Err(format!("{} is {found}, and {on_cpu} on the CPU", what()));
    }
    Ok(())
}

fn sums(device: &Device, seed: u64, count: usize) -> Result<(), String> {
    in_every_field(device, seed, |bench, rng| {
        let field = bench.field;
        let x = numbers(field, rng, count);
        let found: Vec<f64> = bench.map("sums", &[Arg::from(&device.upload(&x)?)], x.len())?;
        let bound = field.modulus() as f64 / 2.0 + 2.0;
        Ok(x.iter().zip(found).try_for_each(|(&x, r)| {
            let what = || format!("{x}, reduced,");
            same(what, r, field.reduce(x))?;
            stands_for(what, r, x as i128, bound, field)
        }))
    })
}

fn integers(device: &Device, seed: u64, count: usize) -> Result<(), String> {
    in_every_field(device, seed, |bench, rng| {
        // Up to 2^51.
        let mut x = numbers(bench.field, rng, count);
        x.retain(|x| x.abs() <= MOST / 4.0);
        let found: Vec<i64> = bench.map("integers", &[Arg::from(&device.upload(&x)?)], x.len())?;
        Ok(x.iter().zip(found).try_for_each(|(&x, r)| {
            if r == x as i64 { Ok(()) } else { Err(format!("{x} is the integer {r}")) }
        }))
    })
}

fn elements(device: &Device, seed: u64, count: usize) -> Result<(), String> {
    in_every_field(device, seed, |bench, rng| {
        let p = bench.field.modulus();
        let mut x: Vec<u64> = (0..64).map(|k| 1 << k).chain([p, p / 2, 0]).collect();
        // Multiples of p, and half-way between them.
        let last = u64::MAX / p - 1;
        let multiples = (0..count / 4).map(|_| rng.random_range(0..=last)).chain([last - 1, last]);
        x.extend(multiples.flat_map(|k| [k * p, k * p + p / 2]));
        x = x
            .iter()
            .flat_map(|&x| (0..4).map(move |d| x.wrapping_add(d).wrapping_sub(2)))
            .collect();
        // Words of 32 bits that are all zeros or all ones.
        x.extend((0..64).flat_map(|k| [u64::MAX << k, u64::MAX >> k]));
        x.extend((0..count).map(|_| rng.random::<u64>() >> (rng.random_range(0..128_u32) / 2)));
        let found: Vec<f64> = bench.map("elements", &[Arg::from(&device.upload(&x)?)], x.len())?;
        let bound = p as f64 / 2.0 + 4096.0;
        Ok(x.iter().zip(found).try_for_each(|(&x, r)| {
            stands_for(|| format!("the element of {x}"), r, x.into(), bound, bench.field)
        }))
    })
}

fn products(device: &Device, seed: u64, count: usize) -> Result<(), String> {
    in_every_field(device, seed, |bench, rng| {
        let field = bench.field;
        let p = field.modulus();
        // √(2^51·p) squared is the limit.
        let root = (MOST / 4.0 * p as f64).sqrt();
        let both = |_| (drawn(rng, root), drawn(rng, root));
        let mut all: Vec<(f64, f64)> = (0..count).map(both).collect();
        all.extend(pairs(field, rng, count));
        let most = ((1 << 51) - 2) * u128::from(p);
        all.retain(|&(a, b)| (a as i128 * b as i128).unsigned_abs() <= most);
        let (a, b): (Vec<f64>, Vec<f64>) = all.iter().copied().unzip();
        let inputs = [device.upload(&a)?, device.upload(&b)?];
        let found: Vec<f64> =
            bench.map("any_products", &inputs.each_ref().map(Arg::from), all.len())?;
        Ok(all.iter().zip(found).try_for_each(|(&(a, b), r)| {
            let what = || format!("{a}·{b}");
            same(what, r, field.mul(a, b))?;
            // The bound itself is exact; this value of it is rounded.
            let bound = p as f64 / 2.0 + (a * b).abs() / FACTOR_LIMIT + 1.0;
            stands_for(what, r, a as i128 * b as i128, bound, field)
        }))
    })
}

fn products_by_factors(device: &Device, seed: u64, count: usize) -> Result<(), String> {
    in_every_field(device, seed, |bench, rng| {
        let field = bench.field;
        let all = pairs(field, rng, count);
        let a: Vec<f64> = all.iter().map(|&(a, _)| a).collect();
        let factors: Vec<Factor> = all.iter().map(|&(_, w)| field.factor(w)).collect();
        let w: Vec<[f64; 2]> = factors.iter().map(Factor::constants).collect();
        let (a, w) = (device.upload(&a)?, device.upload(&w)?);
        let inputs = [Arg::from(&a), Arg::from(&w)];
        let found: Vec<f64> = bench.map("products_by_factors", &inputs, all.len())?;
        let p = field.modulus() as f64;
        Ok(all.iter().zip(&factors).zip(found).try_for_each(|((&(a, w), &factor), r)| {
            let what = || format!("{a}·{w}, a factor,");
            same(what, r, field.mul_by(a, factor))?;
            let bound = p / 2.0 + a.abs() / FACTOR_LIMIT * (p / 4.0) + 1.0;
            stands_for(what, r, a as i128 * w as i128, bound, field)
        }))
    })
}
