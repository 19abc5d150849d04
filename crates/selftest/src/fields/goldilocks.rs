//! Tests the kernels' arithmetic modulo 2^64 − 2^32 + 1 (`goldilocks.cuh`), one function at a time,
//! against `warpint_arith::goldilocks`. Inputs are values near powers of 2^32 and multiples of the
//! modulus, the ends of the permitted ranges, and random values.

use rand::RngExt;
use warpint_arith::goldilocks::{EPSILON, Q, add, canonical, mul, mul_pow2};
use warpint_device::{Arg, Buffer, Device, DeviceError, Launch, Program, Source, common};

use crate::sample::{Random, random};

/// A case: takes a device and a seed; returns a message if it fails.
pub type Run = fn(&Device, u64) -> Result<(), String>;

/// The names and functions of all cases.
pub const CASES: &[(&str, Run)] = &[
    ("products", products),
    ("word_products", word_products),
    ("nearest_integers", nearest_integers),
    ("corrected", corrected),
    ("corrected_positive", corrected_positive),
    ("reduced", reduced),
    ("folded", folded),
    ("biases", biases),
    ("powers", powers),
    ("positive_powers", positive_powers),
    ("transforms", transforms),
];

/// Returns the source of the kernels that apply the functions of `goldilocks.cuh` and `dft.cuh` to
/// arrays.
#[must_use]
pub fn source() -> Source {
    const KERNELS: [&str; 15] = [
        "products",
        "word_products",
        "nearest_integers",
        "corrected",
        "corrected_positive",
        "reduced",
        "folded",
        "biases",
        "powers",
        "positive_powers",
        "dft_of_2",
        "dft_of_4",
        "dft_of_8",
        "dft_of_16",
        "dft_of_32",
    ];
    Source::new("field.cu", include_str!("../../kernels/field.cu"), &KERNELS)
        .headers(common::HEADERS)
}

/// The number of random values in a case, in addition to its corner values.
const DRAWN: usize = 500;

/// A 96-bit two's complement integer, low word first: `Wide` in the kernels.
type Wide = [u32; 3];

fn wide(v: i128) -> Wide {
    [v as u32, (v >> 32) as u32, (v >> 64) as u32]
}

fn value([w0, w1, w2]: Wide) -> i128 {
    i128::from(w2 as i32) << 64 | i128::from(w1) << 32 | i128::from(w0)
}

/// Returns v mod q, where q = 2^64 − 2^32 + 1.
fn residue(v: i128) -> u64 {
    v.rem_euclid(i128::from(Q)) as u64
}

/// Returns values within 2 (modulo 2^64) of 0, 2^31, 2^32, 2^33, 2^63, q − 1, q and q − 2^32 + 1,
/// where q = 2^64 − 2^32 + 1 is the modulus.
fn corners() -> Vec<u64> {
    let ends = [0, 1 << 31, 1 << 32, 1 << 33, 1 << 63, Q, EPSILON << 32, Q - EPSILON];
    ends.iter()
        .flat_map(|&end: &u64| (0..5).map(move |i| end.wrapping_add(i).wrapping_sub(2)))
        .collect()
}

fn lazy_values(rng: &mut Random) -> Vec<u64> {
    let mut values = corners();
    values.extend((0..DRAWN).map(|_| rng.random::<u64>()));
    values
}

/// Returns values in from..=to: the ends of the range, sums of a [`corners`] value and a multiple
/// of 2^64, and random values.
fn wides(rng: &mut Random, from: i128, to: i128) -> Vec<i128> {
    let mut values = vec![from, from + 1, to - 1, to];
    for high in [-1_i128 << 31, -17, -2, -1, 0, 1, 2, 16, (1 << 14) - 1, (1 << 31) - 1] {
        values.extend(corners().iter().map(|&low| (high << 64) + i128::from(low)));
    }
    values.extend((0..DRAWN).map(|_| rng.random_range(from..=to)));
    // Uniform in size.
    let (a, b) = (from.unsigned_abs(), to.unsigned_abs());
    let bits = 128 - a.max(b).leading_zeros();
    values.extend((0..DRAWN).map(|_| {
        let size = rng.random_range(0..=bits);
        let v = rng.random_range(0..=1_i128 << size);
        if rng.random() { v } else { -v }
    }));
    values.retain(|v| (from..=to).contains(v));
    values
}

/// The program of the kernels on a device.
struct Bench {
    device: Device,
    program: Program,
}

impl Bench {
    fn new(device: &Device) -> Result<Self, String> {
        let program = device.program(&source()).map_err(told)?;
        Ok(Self { device: device.clone(), program })
    }

    fn launch(&self, kernel: &'static str, args: &[Arg], n: usize) -> Result<(), DeviceError> {
        const THREADS: u32 = 64;
        let shape = Launch::linear((n as u32).div_ceil(THREADS), THREADS);
        let mut all = args.to_vec();
        all.push(Arg::U32(n as u32));
        let kernel = self.program.kernel(kernel, 0)?;
        // SAFETY: `map` and `wide_and_lazy` pass the arguments that the kernel takes for n results.
        unsafe { kernel.launch(shape, &all) }
    }

    /// Runs a kernel on an array v of numbers, and returns its results. Thread i reads the `of`
    /// numbers that begin at v[i·of], and writes the `each` results that begin at index i·each.
    fn map<T: bytemuck::Pod>(
        &self,
        kernel: &'static str,
        v: &[i128],
        of: usize,
        each: usize,
    ) -> Result<Vec<T>, String> {
        let run = || {
            let input: Vec<Wide> = v.iter().map(|&v| wide(v)).collect();
            let input = self.device.upload(&input)?;
            let n = v.len() / of;
            let out: Buffer<T> = self.device.alloc(n * each)?;
            self.launch(kernel, &[(&input).into(), (&out).into()], n)?;
            out.download()
        };
        run().map_err(told)
    }

    /// Runs a kernel on input arrays of n elements. For each element, the kernel computes a 96-bit
    /// integer and a 64-bit representative of the same residue. Returns these n pairs.
    fn wide_and_lazy(
        &self,
        kernel: &'static str,
        inputs: &[Arg],
        n: usize,
    ) -> Result<Vec<(i128, u64)>, DeviceError> {
        let wide: Buffer<Wide> = self.device.alloc(n)?;
        let lazy: Buffer<u64> = self.device.alloc(n)?;
        let mut args = inputs.to_vec();
        args.extend([Arg::from(&wide), Arg::from(&lazy)]);
        self.launch(kernel, &args, n)?;
        Ok(wide.download()?.into_iter().map(value).zip(lazy.download()?).collect())
    }
}

fn told(error: DeviceError) -> String {
    error.to_string()
}

/// Returns an error if `found` is not congruent to `expected` mod q = 2^64 − 2^32 + 1, or is
/// outside from..=to. `what` names the value in the message.
fn check(
    what: impl FnOnce() -> String,
    found: i128,
    expected: u64,
    (from, to): (i128, i128),
) -> Result<(), String> {
    if residue(found) != expected {
        return Err(format!("{} is {found:#x}, not {expected:#x} mod q", what()));
    }
    if !(from..=to).contains(&found) {
        return Err(format!("{} is {found:#x}, outside {from:#x} to {to:#x}", what()));
    }
    Ok(())
}

/// The range of the products that `mul` in `goldilocks.cuh` returns. The function `correct` in the
/// same file is defined for this range.
const NARROW: (i128, i128) = (1 - (1 << 32), (1 << 65) - (1 << 32));
/// The range of the results m·w + c of `mul_word` in `goldilocks.cuh`.
const WORD_PRODUCTS: (i128, i128) = (0, (1 << 65) - (1 << 33));
/// A bound for the results of `nearest` in `goldilocks.cuh`. If a residue has a representative of
/// at most this absolute value, `nearest` must return this representative.
const NEAR: i64 = i64::MAX - (1 << 34);
const LAZY: (i128, i128) = (0, u64::MAX as i128);
const WITHIN_2_65: (i128, i128) = (-(1 << 65), 1 << 65);
const WITHIN_2_72: (i128, i128) = (-(1 << 72), 1 << 72);

fn products(device: &Device, seed: u64) -> Result<(), String> {
    let rng = &mut random(seed);
    let mut pairs: Vec<(u64, u64)> =
        corners().iter().flat_map(|&a| corners().into_iter().map(move |b| (a, b))).collect();
    pairs.extend(lazy_values(rng).into_iter().map(|a| (a, rng.random())));
    let (a, b): (Vec<u64>, Vec<u64>) = pairs.into_iter().unzip();
    let inputs = [device.upload(&a).map_err(told)?, device.upload(&b).map_err(told)?];
    let inputs = inputs.each_ref().map(Arg::from);
    let found = Bench::new(device)?.wide_and_lazy("products", &inputs, a.len()).map_err(told)?;
    for ((&a, &b), (narrow, lazy)) in a.iter().zip(&b).zip(found) {
        let expected = mul(canonical(a), canonical(b));
        check(|| format!("{a:#x}·{b:#x}"), narrow, expected, NARROW)?;
        check(|| format!("{a:#x}·{b:#x}, corrected,"), lazy.into(), expected, LAZY)?;
    }
    Ok(())
}

fn word_products(device: &Device, seed: u64) -> Result<(), String> {
    let rng = &mut random(seed);
    let words = [0, 1, 2, u32::MAX, u32::MAX - 1, 1 << 31, (1 << 31) - 1, 0xffff, 0x1_0000];
    let mut triples: Vec<(u32, (u64, u64))> = vec![];
    for w in lazy_values(rng) {
        triples.extend(words.iter().flat_map(|&m| [0, w, u64::MAX].map(|c| (m, (w, c)))));
        triples.push((rng.random(), (w, rng.random())));
    }
    let (m, (w, c)): (Vec<u32>, (Vec<u64>, Vec<u64>)) = triples.into_iter().unzip();
    let words = device.upload(&m).map_err(told)?;
    let lazies = [device.upload(&w).map_err(told)?, device.upload(&c).map_err(told)?];
    let [w_, c_] = lazies.each_ref().map(Arg::from);
    let found = Bench::new(device)?
        .wide_and_lazy("word_products", &[Arg::from(&words), w_, c_], m.len())
        .map_err(told)?;
    for (((&m, &w), &c), (wide, lazy)) in m.iter().zip(&w).zip(&c).zip(found) {
        let expected = residue(i128::from(m) * i128::from(w) + i128::from(c));
        check(|| format!("{m}·{w:#x} + {c:#x}"), wide, expected, WORD_PRODUCTS)?;
        check(|| format!("{m}·{w:#x} + {c:#x}, corrected,"), lazy.into(), expected, LAZY)?;
    }
    Ok(())
}

fn nearest_integers(device: &Device, seed: u64) -> Result<(), String> {
    let rng = &mut random(seed);
    let mut integers = vec![-NEAR, 1 - NEAR, NEAR - 1, NEAR];
    integers.extend(corners().into_iter().map(u64::cast_signed));
    integers.extend((0..DRAWN).map(|_| rng.random_range(-NEAR..=NEAR)));
    integers.extend((0..DRAWN).map(|_| rng.random_range(-NEAR..=NEAR) >> rng.random_range(0..63)));
    integers.retain(|z| (-NEAR..=NEAR).contains(z));
    // Every narrow value that represents it.
    let (values, integers): (Vec<i128>, Vec<i64>) = integers
        .into_iter()
        .flat_map(|z| (0..3).map(move |k| (i128::from(z) + k * i128::from(Q), z)))
        .filter(|(v, _)| (NARROW.0..=NARROW.1).contains(v))
        .unzip();
    let found: Vec<i64> = Bench::new(device)?.map("nearest_integers", &values, 1, 1)?;
    for ((&v, z), found) in values.iter().zip(integers).zip(found) {
        if found != z {
            return Err(format!("the integer of {v:#x} nearest to 0 is {found}, not {z}"));
        }
    }
    Ok(())
}

fn corrected(device: &Device, seed: u64) -> Result<(), String> {
    to_lazy(device, "corrected", wides(&mut random(seed), NARROW.0, NARROW.1))
}

fn corrected_positive(device: &Device, seed: u64) -> Result<(), String> {
    to_lazy(device, "corrected_positive", wides(&mut random(seed), 0, NARROW.1))
}

fn reduced(device: &Device, seed: u64) -> Result<(), String> {
    to_lazy(device, "reduced", wides(&mut random(seed), 0, (1 << 78) - 1))
}

fn to_lazy(device: &Device, kernel: &'static str, values: Vec<i128>) -> Result<(), String> {
    let found: Vec<u64> = Bench::new(device)?.map(kernel, &values, 1, 1)?;
    for (&v, found) in values.iter().zip(found) {
        check(|| format!("{v:#x}, {kernel},"), found.into(), residue(v), LAZY)?;
    }
    Ok(())
}

fn folded(device: &Device, seed: u64) -> Result<(), String> {
    let values = wides(&mut random(seed), -(1 << 95), (1 << 95) - 1);
    let found: Vec<Wide> = Bench::new(device)?.map("folded", &values, 1, 1)?;
    for (&v, found) in values.iter().zip(found) {
        check(|| format!("{v:#x}, folded,"), value(found), residue(v), WITHIN_2_65)?;
    }
    Ok(())
}

fn biases(device: &Device, seed: u64) -> Result<(), String> {
    let values = wides(&mut random(seed), WITHIN_2_72.0, WITHIN_2_72.1);
    let found: Vec<Wide> = Bench::new(device)?.map("biases", &values, 1, 3)?;
    for (&v, found) in values.iter().zip(found.chunks_exact(3)) {
        for (k, &found) in [16, 32, 4096].into_iter().zip(found) {
            let expected = v + k * i128::from(Q);
            if value(found) != expected {
                return Err(format!("{v:#x} + {k}·q is {:#x}, not {expected:#x}", value(found)));
            }
        }
    }
    Ok(())
}

fn powers(device: &Device, seed: u64) -> Result<(), String> {
    let most = (1 << 69) - 1;
    by_powers(device, "powers", wides(&mut random(seed), -most, most))
}

fn positive_powers(device: &Device, seed: u64) -> Result<(), String> {
    by_powers(device, "positive_powers", wides(&mut random(seed), 0, (1 << 70) - 1))
}

fn by_powers(device: &Device, kernel: &'static str, values: Vec<i128>) -> Result<(), String> {
    let found: Vec<Wide> = Bench::new(device)?.map(kernel, &values, 1, 96)?;
    for (&v, found) in values.iter().zip(found.chunks_exact(96)) {
        // 2^31 times a result of `fold` may need 97 bits; transforms do not use these powers.
        let used = |&(s, _): &(u32, _)| s % 32 != 31 || kernel != "powers";
        for (s, &found) in (0..).zip(found).filter(used) {
            // 2^0 leaves everything as it is.
            let bounds = if s == 0 { (v, v) } else { WITHIN_2_65 };
            let expected = mul_pow2(residue(v), s);
            check(|| format!("{v:#x}·2^{s} ({kernel})"), value(found), expected, bounds)?;
        }
    }
    Ok(())
}

fn transforms(device: &Device, seed: u64) -> Result<(), String> {
    let bench = Bench::new(device)?;
    let rng = &mut random(seed);
    let kernels =
        [(2, "dft_of_2"), (4, "dft_of_4"), (8, "dft_of_8"), (16, "dft_of_16"), (32, "dft_of_32")];
    for (n, kernel) in kernels {
        let mut points = extremes(rng, n);
        // Points beyond a whole multiple of n are dropped.
        points.extend(wides(rng, WITHIN_2_65.0, WITHIN_2_65.1));
        points.truncate(points.len() / n * n);
        let found: Vec<Wide> = bench.map(kernel, &points, n, n)?;
        for (x, found) in points.chunks_exact(n).zip(found.chunks_exact(n)) {
            let x: Vec<u64> = x.iter().map(|&v| residue(v)).collect();
            for (k, &found) in found.iter().enumerate() {
                let term = |j: usize| mul_pow2(x[j], (192 / n * (j * k % n)) as u32);
                let expected = (0..n).map(term).fold(0, add);
                let what = || format!("X_{k} of {n} points {x:x?}");
                check(what, value(found), expected, WITHIN_2_72)?;
            }
        }
    }
    Ok(())
}

/// Returns inputs of transforms of n points. All points of an input are ±2^65, or all are 0. The
/// signs are equal, alternate regularly, or are random.
fn extremes(rng: &mut Random, n: usize) -> Vec<i128> {
    let (least, most) = WITHIN_2_65;
    let mut points = vec![];
    for stride in [1, 2, 3, 4, 8, 16] {
        points.extend((0..n).map(|j| if j / stride % 2 == 0 { most } else { least }));
        points.extend((0..n).map(|j| if j / stride % 2 == 0 { least } else { most }));
    }
    points.extend([vec![most; n], vec![least; n], vec![0; n]].concat());
    points.extend((0..20 * n).map(|_| if rng.random() { most } else { least }));
    points
}
