//! Products, quotients and decimal digits of long numbers on a device, compared with those of the CPU.

use rand::RngExt;
use warpint_device::Device;
use warpint_integer::huge::device::{
    DeviceProducts, Factor, HugeError, Map, RowCells, Rows, Shape,
};
use warpint_natural::limbs::{add_assign, compare as order, trimmed};
use warpint_natural::product::{FastProducts, Multiplier, TransformMultiplier};
use warpint_natural::radix::decimal::{format_by, parse_by};

use crate::sample::random;

/// A case: takes a device and a seed; returns a message if it fails.
pub type Run = fn(&Device, u64) -> Result<(), String>;

/// The names and functions of all cases.
pub const CASES: &[(&str, Run)] = &[
    ("products", |device, seed| all(device, seed, false)),
    ("squares", |device, seed| all(device, seed, true)),
    ("batches", batches),
    ("division", division),
    ("decimal", decimal),
];

/// The numbers of words of factors: of transforms of one pass, two and three, and unbalanced.
const ON_GPU: [(usize, usize); 9] = [
    (1, 1),
    (100, 1),
    (512, 513),
    (1000, 30_000),
    (1 << 14, 1 << 14),
    (100_003, 77_777),
    (1 << 18, 5),
    (1 << 20, (1 << 20) - 1),
    (3 << 20, 1 << 19),
];
const ON_SIMULATOR: [(usize, usize); 3] = [(1, 2), (40, 41), (513, 30)];

/// The kinds of factors.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Random,
    /// All bits are set: the largest coefficients.
    Ones,
    /// Runs of words of zeros and of ones: carries pass through long runs.
    Runs,
}

fn all(device: &Device, seed: u64, squares: bool) -> Result<(), String> {
    let sizes: &[_] = if is_simulator(device) { &ON_SIMULATOR } else { &ON_GPU };
    let mut products = DeviceProducts::new(device).map_err(|e| e.to_string())?;
    for &(a, b) in sizes {
        for (kind, other) in
            [(Kind::Random, Kind::Random), (Kind::Ones, Kind::Ones), (Kind::Runs, Kind::Ones)]
        {
            let a = number(seed + 1, a, kind);
            let b = if squares { None } else { Some(number(seed + 2, b, other)) };
            let is_right = compare(&mut products, &a, b.as_deref()).map_err(|e| e.to_string())?;
            if !is_right {
                let of_b = b.map_or_else(|| "its square".into(), |b| format!("{} words", b.len()));
                return Err(format!("{} words ({kind:?}) and {of_b}: a wrong product", a.len()));
            }
        }
    }
    Ok(())
}

fn is_simulator(device: &Device) -> bool {
    device.info().compute_capability == (0, 0)
}

/// Returns a multiplier of the CPU with all threads.
fn cpu() -> TransformMultiplier {
    TransformMultiplier::new(rayon::current_num_threads())
}

/// Batches of whole products and of windows, of pairs of rows and with a shared factor.
fn batches(device: &Device, seed: u64) -> Result<(), String> {
    let text = |e: HugeError| e.to_string();
    let mut products = DeviceProducts::new(device).map_err(text)?;
    let sizes: &[_] = if is_simulator(device) {
        &[(6, 40)]
    } else {
        &[(1, 5000), (1000, 32), (20, 3000), (2, 200_000)]
    };
    for &(count, words) in sizes {
        let rows = [Kind::Random, Kind::Ones, Kind::Runs].map(|kind| number(seed, words, kind));
        let host: Vec<&[u64]> = (0..2 * count).map(|i| &rows[i % 3][..]).collect();
        let there = device.upload(&host.concat()).map_err(|e| text(e.into()))?;
        let rows = Rows::new(there.view(..), 2 * count, words, words);
        for (maps, window) in
            [([Map::EVEN, Map::ODD], 0..2 * words), ([Map::EACH, Map::SHARED], words..2 * words)]
        {
            let shape = if window.start == 0 {
                Shape::whole(words, words, 1)
            } else {
                Shape::window(words, words, 1, window.clone())
            };
            let shape = shape.ok_or("no transform of the length")?;
            let mut out = device.alloc(count * window.len()).map_err(|e| text(e.into()))?;
            let cells = RowCells::new(out.cells(..), count, window.len(), window.len());
            let term = maps.map(|map| Factor::rows(rows, map));
            products.multiply(&shape, cells, &[term]).map_err(text)?;
            let found = out.download().map_err(|e| text(e.into()))?;
            // The rows repeat after three, and the products too.
            for (i, found) in found.chunks(window.len()).enumerate().take(6) {
                let [a, b] = maps.map(|map| host[map.row(i)]);
                let expected = &cpu().mul(a, b)[window.clone()];
                let mut less = found.to_vec();
                // A window may lack a carry.
                less.push(0);
                add_assign(&mut less, &[1]);
                less.pop();
                if found != expected && (window.start == 0 || less != expected) {
                    return Err(format!("row {i} of {count}, {words} words: a wrong product"));
                }
            }
        }
    }
    Ok(())
}

/// Quotients and remainders: a = q·d + r and r < d.
fn division(device: &Device, seed: u64) -> Result<(), String> {
    let text = |e: HugeError| e.to_string();
    let mut products = DeviceProducts::new(device).map_err(text)?;
    // The reciprocal of 551 words is computed on the device.
    let sizes: &[_] = if is_simulator(device) {
        &[(90, 60), (2750, 2200)]
    } else {
        &[(100, 100), (2000, 1000), (5000, 300), (60_000, 40_000), (1 << 19, 1 << 18)]
    };
    for &(a, d) in sizes {
        let kinds =
            [(Kind::Random, Kind::Random), (Kind::Ones, Kind::Ones), (Kind::Ones, Kind::Runs)];
        let count = if is_simulator(device) && a > 1000 { 1 } else { kinds.len() };
        for (kind, other) in kinds.into_iter().take(count) {
            let (a, d) = (number(seed + 1, a, kind), number(seed + 2, d, other));
            let d = trimmed(&d);
            if d.is_empty() {
                continue;
            }
            let done = divide(&mut products, &a, d).map_err(text)?;
            let mut sum = cpu().mul(&done[0], d);
            add_assign(&mut sum, trimmed(&done[1]));
            if trimmed(&sum) != trimmed(&a) || order(&done[1], d).is_ge() {
                return Err(format!("{} words by {}: a wrong quotient", a.len(), d.len()));
            }
        }
    }
    Ok(())
}

/// Returns ⌊a/d⌋ and a mod d.
fn divide(products: &mut DeviceProducts, a: &[u64], d: &[u64]) -> Result<[Vec<u64>; 2], HugeError> {
    let device = products.device().clone();
    let quotient = (a.len() + 1).saturating_sub(d.len()).max(1);
    let [there, of_d] = [device.upload(a)?, device.upload(d)?];
    let divisor = products.divisor(of_d.view(..), quotient)?;
    let [mut q, mut r] = [device.alloc(quotient)?, device.alloc(d.len())?];
    products.div_rem(q.cells(..), r.cells(..), there.view(..), &divisor)?;
    Ok([q.download()?, r.download()?])
}

/// Digits of numbers, and numbers of digits.
fn decimal(device: &Device, seed: u64) -> Result<(), String> {
    let text = |e: HugeError| e.to_string();
    let mut products = DeviceProducts::new(device).map_err(text)?;
    let sizes: &[_] = if is_simulator(device) { &[130] } else { &[1, 200, 5000, 100_000] };
    for &words in sizes {
        let power = parse_by(&FastProducts, &[b"1".to_vec(), vec![b'0'; 19 * words]].concat());
        for x in [number(seed, words, Kind::Random), number(seed, words, Kind::Ones), power] {
            let there = device.upload(&x).map_err(|e| text(e.into()))?;
            let expected = format_by(&cpu(), &x);
            if products.format_decimal(there.view(..)).map_err(text)?.as_ref() != Some(&expected) {
                return Err(format!("{words} words: wrong digits"));
            }
            let back = products.parse_decimal(&expected).map_err(text)?;
            if trimmed(&back.download().map_err(|e| text(e.into()))?) != trimmed(&x) {
                return Err(format!("{words} words: a wrong number from digits"));
            }
        }
    }
    Ok(())
}

/// Returns whether the product a·b, or a² without b, is that of the CPU.
fn compare(products: &mut DeviceProducts, a: &[u64], b: Option<&[u64]>) -> Result<bool, HugeError> {
    let device = products.device().clone();
    let there = device.upload(a)?;
    let expected = cpu().mul(a, b.unwrap_or(a));
    let mut out = device.alloc(expected.len())?;
    match b {
        Some(b) => {
            let other = device.upload(b)?;
            products.mul(out.cells(..), there.view(..), other.view(..))?;
        }
        None => products.square(out.cells(..), there.view(..))?,
    }
    products.verify()?;
    Ok(out.download()? == expected)
}

fn number(seed: u64, words: usize, kind: Kind) -> Vec<u64> {
    let mut rng = random(seed ^ words as u64);
    let mut fill = 0u64;
    let mut word = || match kind {
        Kind::Random => rng.random(),
        Kind::Ones => u64::MAX,
        Kind::Runs => {
            if rng.random_range(0..1000) == 0 {
                fill = !fill;
            }
            fill
        }
    };
    (0..words).map(|_| word()).collect()
}
