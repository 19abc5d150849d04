//! Products of long numbers on a device, compared with products on the CPU.

use rand::RngExt;
use warpint_device::Device;
use warpint_integer::huge::device::{DeviceProducts, HugeError};
use warpint_natural::product::{FastProducts, Multiplier};

use crate::sample::random;

/// A case: takes a device and a seed; returns a message if it fails.
pub type Run = fn(&Device, u64) -> Result<(), String>;

/// The names and functions of all cases.
pub const CASES: &[(&str, Run)] = &[
    ("products", |device, seed| all(device, seed, false)),
    ("squares", |device, seed| all(device, seed, true)),
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
    let is_simulator = device.info().compute_capability == (0, 0);
    let sizes: &[_] = if is_simulator { &ON_SIMULATOR } else { &ON_GPU };
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

/// Returns whether the product a·b, or a² without b, is that of the CPU.
fn compare(products: &mut DeviceProducts, a: &[u64], b: Option<&[u64]>) -> Result<bool, HugeError> {
    let device = products.device().clone();
    let there = device.upload(a)?;
    let expected = FastProducts.mul(a, b.unwrap_or(a));
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
