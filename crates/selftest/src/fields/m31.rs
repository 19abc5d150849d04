//! Tests the kernels' arithmetic modulo 2^31 − 1 and in its extension by i (`m31.cuh`), one function
//! at a time, against `warpint_arith::m31`. Inputs are the ends of the permitted ranges and random
//! values. Components from 0 to 2^31 − 1 are permitted: both ends stand for 0.

use rand::RngExt;
use warpint_arith::m31::{Gauss, Q, root_of_unity, rotate};
use warpint_device::{Arg, Device, DeviceError, Launch, Program, Source, common};

use crate::sample::random;

/// A case: takes a device and a seed; returns a message if it fails.
pub type Run = fn(&Device, u64) -> Result<(), String>;

/// The names and functions of all cases.
pub const CASES: &[(&str, Run)] =
    &[("operations", operations), ("rotations", rotations), ("transforms", transforms)];

/// The kernels of transforms, with their numbers of points.
const TRANSFORMS: [(&str, usize); 8] = [
    ("dft31_of_2", 2),
    ("dft31_of_3", 3),
    ("dft31_of_7", 7),
    ("dft31_of_8", 8),
    ("dft31_of_9", 9),
    ("dft31_of_12", 12),
    ("dft31_of_14", 14),
    ("dft31_of_16", 16),
];

/// Returns the source of the kernels that apply the functions of `m31.cuh` to arrays.
#[must_use]
pub fn source() -> Source {
    let kernels: Vec<&'static str> =
        ["operations", "rotations"].into_iter().chain(TRANSFORMS.map(|(name, _)| name)).collect();
    Source::new("field31.cu", include_str!("../../kernels/field31.cu"), &kernels)
        .headers(common::HEADERS)
}

/// An element as the kernels store it.
type Pair = [u32; 2];

/// The number of random elements in a case, in addition to its corner values.
const DRAWN: usize = 2_000;

/// Returns elements whose components are at the ends of their range or near powers of two, and
/// random ones.
fn elements(seed: u64) -> Vec<Pair> {
    const CORNERS: [u32; 9] = [0, 1, 2, 1 << 15, 1 << 16, 1 << 30, (1 << 30) + 1, Q - 1, Q];
    let mut rng = random(seed);
    let mut all: Vec<Pair> =
        CORNERS.into_iter().flat_map(|re| CORNERS.map(|im| [re, im])).collect();
    all.extend((0..DRAWN).map(|_| [rng.random_range(0..=Q), rng.random_range(0..=Q)]));
    all
}

fn element([re, im]: Pair) -> Gauss {
    Gauss { re: re % Q, im: im % Q }
}

/// Runs a kernel with one thread for each of `n` results of `each` elements.
fn run(
    device: &Device,
    program: &Program,
    name: &'static str,
    inputs: &[&[Pair]],
    n: usize,
    each: usize,
) -> Result<Vec<Pair>, DeviceError> {
    let inputs = inputs.iter().map(|x| device.upload(x)).collect::<Result<Vec<_>, _>>()?;
    let mut out = device.upload(&vec![[0u32; 2]; n * each])?;
    let mut args: Vec<Arg> = inputs.iter().map(Arg::from).collect();
    args.extend([Arg::from(&mut out), Arg::U32(n as u32)]);
    let kernel = program.kernel(name, 0)?;
    // SAFETY: the kernels read as many elements as `inputs` have, and write `each` elements for
    // each of n threads.
    unsafe { kernel.launch(Launch::linear(n.div_ceil(64) as u32, 64), &args)? };
    out.download()
}

fn program(device: &Device) -> Result<Program, String> {
    device.program(&source()).map_err(|error| error.to_string())
}

/// Compares results with the expected ones. Components must be from 0 to 2^31 − 1.
fn compare(name: &str, found: &[Pair], expected: impl Fn(usize) -> Gauss) -> Result<(), String> {
    for (i, &pair) in found.iter().enumerate() {
        if pair.iter().any(|&part| part > Q) || element(pair) != expected(i) {
            return Err(format!("{name}, result {i}: {pair:?} instead of {:?}", expected(i)));
        }
    }
    Ok(())
}

fn operations(device: &Device, seed: u64) -> Result<(), String> {
    let a = elements(seed);
    let mut b = a.clone();
    b.rotate_left(7);
    let found = run(device, &program(device)?, "operations", &[&a, &b], a.len(), 4);
    compare("operations", &found.map_err(|error| error.to_string())?, |i| {
        let (x, y) = (element(a[i / 4]), element(b[i / 4]));
        [x.plus(y), x.minus(y), x.times(y), x.times(x)][i % 4]
    })
}

fn rotations(device: &Device, seed: u64) -> Result<(), String> {
    let a = elements(seed);
    let found = run(device, &program(device)?, "rotations", &[&a], a.len(), 31);
    compare("rotations", &found.map_err(|error| error.to_string())?, |i| {
        let (x, k) = (element(a[i / 31]), (i % 31) as u32);
        Gauss { re: rotate(x.re, k), im: rotate(x.im, k) }
    })
}

/// The expected results are sums over all points, by the definition of the transform.
fn transforms(device: &Device, seed: u64) -> Result<(), String> {
    let (a, program) = (elements(seed), program(device)?);
    for (name, points) in TRANSFORMS {
        let n = a.len() / points;
        let found = run(device, &program, name, &[&a[..n * points]], n, 2 * points);
        let root = root_of_unity(points as u64).ok_or("no root of unity")?;
        compare(name, &found.map_err(|error| error.to_string())?, |i| {
            let (k, inverse) = (i % points, i / points % 2 == 1);
            let k = if inverse { (points - k) % points } else { k };
            let x = &a[i / (2 * points) * points..][..points];
            let term = |(j, &x): (usize, &Pair)| element(x).times(root.pow((j * k) as u64));
            x.iter().enumerate().map(term).fold(Gauss::ZERO, Gauss::plus)
        })?;
    }
    Ok(())
}
