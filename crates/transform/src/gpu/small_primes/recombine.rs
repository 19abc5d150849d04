//! Recombination: maps residues modulo small primes to integers of k digits in radix r, and
//! propagates carries.

use warpint_arith::f50::F50;
use warpint_device::{
    Arg, Buffer, Cells, Device, DeviceError, Kernel, Launch, Source, assert_room, common,
};

use super::radix::Radix;
use crate::Plan;
use crate::gpu::spectra::Spectra50;

const THREADS: usize = 128;
const MOST_GROUP: usize = 8;

/// The kind of the sums from which [`Carry`] computes canonical digits. There is one sum for each
/// digit of an integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Carries {
    /// Sums of two words, which are reduced mod r^k + 1.
    Recombined,
    /// Sums of three words, which are reduced mod r^k + 1.
    Products,
    /// Sums of two words. The integer is reduced below M, the product of the small primes, instead
    /// of mod r^k + 1.
    Integers,
}

impl Carries {
    /// Returns the number of 64-bit words of a sum.
    fn words(self) -> usize {
        if self == Self::Products { 3 } else { 2 }
    }
}

pub(super) fn columns_source(group: usize) -> Source {
    let text = include_str!("../../../kernels/small_columns.cu");
    Source::new("small_columns.cu", text, &["columns"])
        .headers(common::HEADERS)
        .define("GROUP", group)
        .define("THREADS", THREADS)
}

pub(super) fn carry_source(carries: Carries) -> Source {
    let text = include_str!("../../../kernels/small_carry.cu");
    Source::new("small_carry.cu", text, &["carry"])
        .headers(common::HEADERS)
        .define("WORDS", carries.words())
        .define("MODULAR", u32::from(carries != Carries::Integers))
        .define("THREADS", THREADS)
}

/// The kernel that computes the canonical digits of integers from one sum for each digit.
#[derive(Debug)]
pub(super) struct Carry {
    kernel: Kernel,
    carries: Carries,
    radix: Radix,
    modulus: Buffer<u64>,
}

impl Carry {
    /// Plans the carries of one kind of sums. For [`Carries::Integers`], `modulus` is M, the
    /// product of the small primes, with one 64-bit word for each digit, the lowest first. For the
    /// other kinds, `modulus` is empty.
    ///
    /// # Panics
    /// If `carries` is [`Carries::Integers`] and `modulus` has fewer words than there are digits.
    pub(super) fn new(
        device: &Device,
        carries: Carries,
        radix: Radix,
        modulus: &[u64],
    ) -> Result<Self, DeviceError> {
        if carries == Carries::Integers {
            assert_room("a modulus", modulus.len(), radix.digits);
        }
        let kernel = device.program(&carry_source(carries))?.kernel("carry", 0)?;
        Ok(Self { kernel, carries, radix, modulus: device.upload(modulus)? })
    }

    /// Computes the digits of `count` integers. Word w of the sum for digit j of integer i is read
    /// from (w·digits + j)·count + i, and the digit is written to j·count + i of `out`.
    ///
    /// # Panics
    /// If `sums` or `out` is too short for `count` integers.
    pub(super) fn run(
        &self,
        sums: &Buffer<u64>,
        count: usize,
        out: Cells<'_, u64>,
    ) -> Result<(), DeviceError> {
        let digits = self.radix.digits * count;
        assert_room("sums", sums.len(), self.carries.words() * digits);
        assert_room("digits", out.len(), digits);
        let ([r, normal, reciprocal], shift) = self.radix.constants();
        let args = [
            out.into(),
            Arg::from(sums),
            (&self.modulus).into(),
            Arg::U64(count as u64),
            Arg::U32(self.radix.digits as u32),
            Arg::U64(r),
            Arg::U64(normal),
            Arg::U64(reciprocal),
            Arg::U32(shift),
        ];
        let launch = Launch::linear(count.div_ceil(THREADS) as u32, THREADS as u32);
        // SAFETY: sums and memory for all digits exist, and a modulus if the kernel reads one.
        unsafe { self.kernel.launch(launch, &args) }
    }
}

/// The kernel that computes one sum for each digit of an integer, from the integer's residues (see
/// `small_columns.cu`).
#[derive(Debug)]
pub(super) struct Columns {
    kernel: Kernel,
    digits: usize,
    group: usize,
    offset: f64,
}

impl Columns {
    /// Plans the sums for integers of `digits` digits. The residues that the kernel reads are
    /// y_s = x·(M/p_s)^−1 mod p_s for an integer x and each prime p_s, where M is the product of
    /// the primes. The sums represent x = Σ_s y_s·(M/p_s) − q·M, where q is the larger of 0 and
    /// ⌊Σ_s y_s/p_s + `offset`⌋.
    pub(super) fn new(device: &Device, digits: usize, offset: f64) -> Result<Self, DeviceError> {
        let group = digits.min(MOST_GROUP);
        let kernel = device.program(&columns_source(group))?.kernel("columns", 0)?;
        Ok(Self { kernel, digits, group, offset })
    }

    /// Uploads the constants to the device in the kernel's layout. `numbers` contains the digits of
    /// M/p_s for each prime p_s, and then the digits of −M, where M is the product of the primes.
    pub(super) fn constants(
        &self,
        device: &Device,
        numbers: &[Vec<u64>],
    ) -> Result<Buffer<u64>, DeviceError> {
        let mut table = vec![];
        for first in (0..self.digits).step_by(self.group) {
            for number in numbers {
                let digit = |j: usize| number.get(j).copied().unwrap_or(0);
                table.extend((first..first + self.group).map(digit));
            }
        }
        device.upload(&table)
    }

    /// Computes `sums` from the residues of `count` integers. There is one sum of two words for
    /// each digit of each integer. [`Carry::run`] reads these sums, and its description states
    /// their layout.
    ///
    /// # Panics
    /// If `residues`, `constants` or `sums` is too short, or `count` is 0 or exceeds the stride of
    /// `ntt`.
    pub(super) fn run(
        &self,
        ntt: &Spectra50,
        residues: &Buffer<f64>,
        constants: &Buffer<u64>,
        count: usize,
        sums: &mut Buffer<u64>,
    ) -> Result<(), DeviceError> {
        let (groups, plane) = (self.digits.div_ceil(self.group), self.digits * count);
        assert_room("residues", residues.len(), ntt.size());
        assert_room("residues of a prime", ntt.stride(), count);
        assert_room("constants", constants.len(), groups * (ntt.fields().len() + 1) * self.group);
        assert_room("sums", sums.len(), 2 * plane);
        assert_room("integers", count, 1);
        let blocks = [count.div_ceil(THREADS) as u32, groups as u32, 1];
        let sums = sums.cells(..);
        let launch = Launch { grid: blocks, block: [THREADS as u32, 1, 1], shared_bytes: 0 };
        let args = [
            sums.part(..plane).into(),
            sums.part(plane..).into(),
            Arg::from(residues),
            ntt.constants().into(),
            constants.into(),
            Arg::U64(count as u64),
            Arg::U64(ntt.stride() as u64),
            Arg::U32(ntt.fields().len() as u32),
            Arg::U32(self.digits as u32),
            Arg::F64(self.offset),
        ];
        // SAFETY: the buffers have a stride of residues for each prime, a group's constants for
        // each block, and memory for two words of each sum.
        unsafe { self.kernel.launch(launch, &args) }
    }
}

/// Returns (M/p_s)^−1·scale(p_s) mod p_s for each prime p_s, where M is the product of all p_s. The
/// numbers are in the form of [`warpint_arith::f50::Factor::constants`].
pub(super) fn cofactors(fields: &[F50], scale: impl Fn(F50) -> f64) -> Vec<[f64; 2]> {
    let one = |(s, &field): (usize, &F50)| {
        let others = fields.iter().enumerate().filter(|&(t, _)| t != s);
        let product = others
            .fold(1.0, |product, (_, other)| field.mul(product, field.from_u64(other.modulus())));
        field.factor(field.mul(field.inverse(product), scale(field))).constants()
    };
    fields.iter().enumerate().map(one).collect()
}
