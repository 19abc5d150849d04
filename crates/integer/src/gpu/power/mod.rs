//! Powers modulo numbers, on a device.

pub(super) mod long;
pub(super) mod residues;
#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

use warpint_device::{Arg, Buffer, DeviceError, Source, common};

use self::residues::PowerResidues;
use super::memory::{Numbers, has, operands_fit};
use super::{Gpu, Operand, Quotients, Shape};

/// A version of the kernel `power.cu`, compiled for operands of given numbers of limbs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Power {
    x_limbs: usize,
    e_limbs: usize,
    m_limbs: usize,
    /// The number of limbs of a number in a thread: `m_limbs`, rounded up to a multiple of 4.
    limbs: usize,
    /// The size of a window: the number of bits of the exponent that one product uses.
    window: usize,
}

/// The largest number of limbs of a modulus that, with its temporaries, fits in the registers of
/// one thread.
const MAX_LIMBS: usize = 32;

const THREADS: usize = 128;

/// Returns the size w of windows, in bits, that minimizes the number of products for exponents of
/// `bits` bits: 2^w products for the table of powers, and one per window. w is in `widths`.
fn window(bits: usize, widths: RangeInclusive<usize>) -> usize {
    let least = *widths.start();
    widths.min_by_key(|w| (1 << w) + bits.div_ceil(*w)).unwrap_or(least)
}

impl Power {
    /// Returns the version for bases of `x_limbs`, exponents of `e_limbs` and moduli of `m_limbs`
    /// limbs. Returns `None` if the base has more limbs than the modulus, or if the modulus has too
    /// many limbs for the registers of a thread.
    #[must_use]
    pub fn new(x_limbs: usize, e_limbs: usize, m_limbs: usize) -> Option<Self> {
        let limbs = m_limbs.next_multiple_of(4);
        if x_limbs > m_limbs || !(1..=MAX_LIMBS).contains(&limbs) {
            return None;
        }
        // Larger tables need more memory.
        let window = window(32 * e_limbs, 2..=5);
        Some(Self { x_limbs, e_limbs, m_limbs, limbs, window })
    }

    fn blocks(&self) -> usize {
        match self.limbs {
            0..=8 => 8,
            9..=16 => 6,
            17..=24 => 5,
            _ => 4,
        }
    }

    /// Returns the total number of limbs of the table of powers of one thread.
    fn table(&self) -> usize {
        self.limbs << self.window
    }
}

impl Shape for Power {
    fn source(&self) -> Result<Source, DeviceError> {
        Ok(Source::new("power.cu", include_str!("../../../kernels/power/power.cu"), &["power"])
            .headers(common::HEADERS)
            .header("exponent.cuh", include_str!("../../../kernels/power/exponent.cuh"))
            .header("limbs.cuh", include_str!("../../../kernels/common/limbs.cuh"))
            .header("quad.cuh", include_str!("../../../kernels/common/quad.cuh"))
            .define("X_LIMBS", self.x_limbs)
            .define("E_LIMBS", self.e_limbs)
            .define("M_LIMBS", self.m_limbs)
            .define("LIMBS", self.limbs)
            .define("WINDOW", self.window)
            .define("THREADS", THREADS)
            .define("BLOCKS", self.blocks()))
    }

    fn shared_bytes(&self) -> u32 {
        // PLACES of power.cu.
        let places = 3 * self.limbs + if 3 * self.limbs % 8 == 4 { 0 } else { 4 };
        (THREADS * places * size_of::<u32>()) as u32
    }

    fn threads(&self) -> u32 {
        THREADS as u32
    }

    fn numbers(&self) -> u32 {
        THREADS as u32
    }
}

impl Gpu {
    /// Computes `out_i` = x_i^(e_i) mod m_i, with as many limbs as m. Where m_i = 0, the result is
    /// 0 and the flag is 1. Waits for the device.
    ///
    /// For moduli of up to 1,024 bits, one thread computes each power. Longer moduli, of up to
    /// about 16,384 bits, use residues modulo two bases of primes of 32 bits. For still longer
    /// moduli, the whole batch is computed by about (7/6)·log2 e successive products, each followed
    /// by a remainder. The batch is also computed in this way if a prime of the first base divides
    /// a nonzero modulus, which is found after an attempt by residues. For a random modulus of n
    /// limbs, the probability is about n/2^32.
    ///
    /// # Errors
    /// A buffer is too short or not aligned, the device fails, the kernel cannot be compiled, or
    /// no method supports numbers of these lengths.
    pub fn power(
        &self,
        x: Operand<'_>,
        e: Operand<'_>,
        m: Operand<'_>,
        count: usize,
        out: &mut Buffer<u32>,
        is_zero: &mut Buffer<u8>,
    ) -> Result<(), DeviceError> {
        operands_fit(count, &[x, e, m])?;
        has(out.len(), count, m.limbs)?;
        has(is_zero.len(), count, 1)?;
        let x_limbs = x.limbs.min(m.limbs);
        let shared_memory = self.device().info().shared_memory_per_block;
        let alone = Power::new(x_limbs, e.limbs, m.limbs);
        let by_residues = PowerResidues::new([x_limbs, e.limbs, m.limbs], shared_memory);
        if count == 0 {
            return Ok(());
        }
        if alone.is_none() && by_residues.is_none() {
            return self.power_by_products([x, e, m], count, out, is_zero);
        }
        let folded = self.folded(x, m, count)?;
        let x = folded.as_ref().map_or(x, |data| Operand::new(data, m.limbs, false));
        let Some(shape) = alone else {
            if let Some(shape) = by_residues {
                let shape = shape.spread(count, self.device().info().multiprocessors);
                if self.power_by_residues(&shape, [x, e, m], count, out, is_zero)? {
                    return Ok(());
                }
            }
            return self.power_by_products([x, e, m], count, out, is_zero);
        };
        let raised = self.raised(shape.limbs, m, count)?;
        let raised = Operand::new(&raised, m.limbs, m.broadcast);
        let blocks = self.device().info().multiprocessors as usize * shape.blocks();
        let blocks = blocks.min(count.div_ceil(THREADS));
        [x, e, m, raised].iter().for_each(|&a| Numbers::from(a).assert_holds(count));
        assert_eq!([x.limbs, e.limbs, m.limbs], [shape.x_limbs, shape.e_limbs, shape.m_limbs]);
        // Before the memory is locked, so that other threads can compile meanwhile.
        self.kernel(&shape)?;
        self.with_scratch((blocks * THREADS * shape.table()).div_ceil(2), |tables| {
            let args = [
                x.data.into(),
                e.data.into(),
                m.data.into(),
                raised.data.into(),
                out.into(),
                is_zero.into(),
                Arg::from(tables),
                x.stride().into(),
                e.stride().into(),
                m.stride().into(),
                raised.stride().into(),
            ];
            // SAFETY: `count` operands have the shape's limbs, the powers and flags fit, and each
            // thread has a table.
            unsafe { self.launch_blocks(&shape, blocks, count, &args) }
        })
    }

    /// Returns 2^(64·whole) mod m for each modulus m: one number if m is broadcast, otherwise
    /// `count` numbers.
    fn raised(
        &self,
        whole: usize,
        m: Operand<'_>,
        count: usize,
    ) -> Result<Buffer<u32>, DeviceError> {
        let count = if m.broadcast { count.min(1) } else { count };
        let limbs = 2 * whole + 1;
        let mut power = vec![0; 2 * whole];
        power.push(1);
        let power = self.device().upload(&power)?;
        let dividend = Operand::new(&power, limbs, true);
        let mut raised = self.device().alloc(count * m.limbs)?;
        let to = Quotients { remainder: Some(&mut raised), ..Quotients::default() };
        self.divide(dividend, m, count, to)?;
        Ok(raised)
    }
}
