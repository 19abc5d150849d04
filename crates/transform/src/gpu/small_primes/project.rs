//! Projection: maps integers to their residues modulo small primes.

use rayon::prelude::*;
use warpint_arith::f50::F50;
use warpint_device::{
    Arg, Buffer, Device, DeviceError, Kernel, Launch, Source, View, assert_room, common,
};

use crate::Plan;
use crate::gpu::spectra::Spectra50;

/// The number of primes for which a block of threads computes residues.
const GROUP: usize = 8;
/// The number of integers whose residues one thread computes.
const NUMBERS: usize = 2;
/// The number of threads of a block.
const THREADS: usize = 128;

/// The kernel that computes the residues of integers Σ_j x_j·B^j modulo small primes, for a fixed
/// radix B and a fixed number of digits x_j.
#[derive(Debug)]
pub(super) struct Projection {
    kernel: Kernel,
    digits: usize,
    factors: Buffer<[f64; 2]>,
    raise: Buffer<[f64; 2]>,
}

pub(super) fn source(digits: usize) -> Source {
    let text = include_str!("../../../kernels/small_project.cu");
    Source::new("small_project.cu", text, &["project"])
        .headers(common::HEADERS)
        .define("DIGITS", digits)
        .define("GROUP", GROUP)
        .define("NUMBERS", NUMBERS)
        .define("THREADS", THREADS)
}

impl Projection {
    /// Plans the projection of integers of `digits` digits in radix `radix`. A radix of 2^64 is
    /// passed as 0.
    pub(super) fn new(
        device: &Device,
        fields: &[F50],
        radix: u64,
        digits: usize,
    ) -> Result<Self, DeviceError> {
        let factors: Vec<[f64; 2]> =
            fields.par_chunks(GROUP).flat_map_iter(|group| factors(group, radix, digits)).collect();
        let raise = |field: &F50| field.factor(f64::from(1 << 25)).constants();
        Ok(Self {
            kernel: device.program(&source(digits))?.kernel("project", 0)?,
            digits,
            factors: device.upload(&factors)?,
            raise: device.upload(&fields.iter().map(raise).collect::<Vec<_>>())?,
        })
    }

    /// Computes the residues of `count` ≥ 1 integers, in the layout of [`Spectra50`]. Digit j of
    /// integer i is at j·count + i of `digits`.
    ///
    /// # Panics
    /// If `digits` is too short for `count` integers, `residues` is shorter than the size of `ntt`,
    /// or `count` is 0 or exceeds the stride of `ntt`.
    pub(super) fn run(
        &self,
        ntt: &Spectra50,
        digits: View<'_, u64>,
        count: usize,
        residues: &mut Buffer<f64>,
    ) -> Result<(), DeviceError> {
        let primes = ntt.fields().len();
        assert_room("digits", digits.len(), self.digits * count);
        assert_room("residues of a prime", ntt.stride(), count);
        assert_room("residues", residues.len(), ntt.size());
        assert_room("integers", count, 1);
        let blocks = [count.div_ceil(THREADS * NUMBERS) as u32, primes.div_ceil(GROUP) as u32, 1];
        let launch = Launch { grid: blocks, block: [THREADS as u32, 1, 1], shared_bytes: 0 };
        let args = [
            residues.into(),
            Arg::from(digits),
            ntt.constants().into(),
            (&self.factors).into(),
            (&self.raise).into(),
            Arg::U64(count as u64),
            Arg::U64(ntt.stride() as u64),
            Arg::U32(primes as u32),
        ];
        // SAFETY: the digits suffice, and each prime has a stride for its residues; constants and
        // factors are those of the primes.
        unsafe { self.kernel.launch(launch, &args) }
    }
}

/// Returns pairs (h, l) with h·2^25 + l ≡ B^j·2^(22t) mod p, where B is the radix. There is one
/// pair for each digit index j, each prime p of a group, and each t < 3. The pair of (j, prime g of
/// the group, t) is at index (j·GROUP + g)·3 + t.
fn factors(group: &[F50], radix: u64, digits: usize) -> Vec<[f64; 2]> {
    let scale = f64::from(1 << 25);
    let mut table = vec![[0.0; 2]; digits * GROUP * 3];
    for (g, &field) in group.iter().enumerate() {
        let word = field.from_u64(1 << 32);
        let base = if radix == 0 { field.mul(word, word) } else { field.from_u64(radix) };
        let piece = field.factor(f64::from(1 << 22));
        let mut power = 1.0;
        for j in 0..digits {
            let mut part = power;
            for t in 0..3 {
                let w = field.factor(part).constants()[0];
                let high = (w / scale).round_ties_even();
                table[(j * GROUP + g) * 3 + t] = [high, w - high * scale];
                part = field.mul_by(part, piece);
            }
            power = field.mul(power, base);
        }
    }
    table
}
