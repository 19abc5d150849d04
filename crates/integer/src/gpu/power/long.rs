//! Powers modulo long numbers: successive products and remainders of the whole batch.

use warpint_device::{Buffer, DeviceError, Source, assert_room};

use super::super::memory::Numbers;
use super::super::{Gpu, Operand, Part, Quotients, Shape};
use super::window;

/// A version of the kernel `powers.cu`. If `keep` is true, the kernel stores entries of a table.
/// Otherwise it reads them.
#[derive(Debug)]
struct Powers {
    keep: bool,
}

const THREADS: usize = 128;

impl Shape for Powers {
    fn source(&self) -> Result<Source, DeviceError> {
        Ok(source(self.keep))
    }

    fn shared_bytes(&self) -> u32 {
        0
    }

    fn threads(&self) -> u32 {
        THREADS as u32
    }

    fn numbers(&self) -> u32 {
        1
    }
}

/// Returns the source of `powers.cu`. If `keep` is true, the kernel stores entries of a table.
/// Otherwise it reads them.
pub(in super::super) fn source(keep: bool) -> Source {
    Source::new("powers.cu", include_str!("../../../kernels/power/powers.cu"), &["powers"])
        .headers(warpint_device::common::HEADERS)
        .define("KEEP", u32::from(keep))
        .define("THREADS", THREADS)
}

/// The operands and the temporary memory of a computation of powers.
struct Work<'a> {
    gpu: &'a Gpu,
    e: Operand<'a>,
    m: Operand<'a>,
    count: usize,
    product: Buffer<u32>,
    /// The table of powers. An entry has one power for each number of the batch.
    table: Buffer<u32>,
}

impl Work<'_> {
    /// Computes `x_i` ← x_i·y_i mod m_i, or `x_i` ← x_i² mod m_i if y is `None`.
    fn multiply(
        &mut self,
        x: &mut Buffer<u32>,
        y: Option<&Buffer<u32>>,
    ) -> Result<(), DeviceError> {
        let (gpu, count) = (self.gpu, self.count);
        let x_operand = Operand::new(&*x, self.m.limbs, false);
        match y {
            Some(y) => {
                let y = Operand::new(y, self.m.limbs, false);
                gpu.multiply(Part::Full, x_operand, y, count, &mut self.product)?;
            }
            None => gpu.square(Part::Full, x_operand, count, &mut self.product)?,
        }
        let product = Operand::new(&self.product, 2 * self.m.limbs, false);
        let to = Quotients { remainder: Some(x), ..Quotients::default() };
        gpu.divide(product, self.m, count, to)
    }

    /// If `keep` is true, stores `numbers` as the entry `entry` of the table. Otherwise, replaces
    /// number i by the power with index i in an entry of the table. The index of this entry is the
    /// value of the `window` bits of the exponent e_i that begin at bit `bit`.
    ///
    /// # Panics
    /// If a buffer has fewer than `count` numbers, or the table has fewer than 2^window entries, or
    /// `entry` is not below 2^window.
    fn moves(
        &mut self,
        keep: bool,
        numbers: &mut Buffer<u32>,
        [entry, bit, window]: [usize; 3],
    ) -> Result<(), DeviceError> {
        let limbs = self.count * self.m.limbs;
        assert_room("numbers", numbers.len(), limbs);
        assert_room("a table of powers", self.table.len(), limbs << window);
        assert_room("entries", 1 << window, entry + 1);
        Numbers::from(self.e).assert_holds(self.count);
        let args = [
            numbers.into(),
            (&mut self.table).into(),
            self.e.data.into(),
            self.e.stride().into(),
            (self.e.limbs as u32).into(),
            (self.m.limbs as u32).into(),
            (entry as u32).into(),
            (bit as u32).into(),
            (window as u32).into(),
        ];
        // SAFETY: there are `count` numbers and exponents, and an entry for each value of a window.
        unsafe { self.gpu.launch(&Powers { keep }, self.count, &args) }
    }
}

impl Gpu {
    /// Like [`Gpu::power`], for numbers of any length that products and remainders support.
    ///
    /// # Errors
    /// The errors of [`Gpu::power`].
    pub(super) fn power_by_products(
        &self,
        [x, e, m]: [Operand<'_>; 3],
        count: usize,
        out: &mut Buffer<u32>,
        is_zero: &mut Buffer<u8>,
    ) -> Result<(), DeviceError> {
        let device = self.device();
        let mut lengths = device.alloc::<u32>(count)?;
        self.bit_lengths(e, count, &mut lengths)?;
        let bits = lengths.download()?.into_iter().max().unwrap_or(0) as usize;
        // The powers take at most a quarter of the memory.
        let entry = count * m.limbs;
        let room = (device.memory()?.0 / 16) as usize / entry;
        let widest = (2..=6).rev().find(|w| 1 << w <= room).unwrap_or(1);
        let window = window(bits, 1..=widest);
        let mut work = Work {
            gpu: self,
            e,
            m,
            count,
            product: device.alloc(2 * entry)?,
            table: device.alloc(entry << window)?,
        };
        let mut remainder = |of: Operand<'_>, to: &mut Buffer<u32>| {
            let flags = Some(&mut *is_zero);
            let to = Quotients { remainder: Some(to), flags, ..Quotients::default() };
            self.divide(of, m, count, to)
        };
        let one = device.upload(&[1])?;
        remainder(Operand::new(&one, 1, true), out)?;
        work.moves(true, out, [0, 0, window])?;
        let mut base = device.alloc(entry)?;
        remainder(x, &mut base)?;
        let mut factor = device.alloc(entry)?;
        for k in 1..1 << window {
            work.multiply(out, Some(&base))?;
            work.moves(true, out, [k, 0, window])?;
        }
        let windows = bits.div_ceil(window);
        for k in (0..windows).rev() {
            let at = [0, k * window, window];
            if k + 1 == windows {
                work.moves(false, out, at)?;
                continue;
            }
            for _ in 0..window {
                work.multiply(out, None)?;
            }
            work.moves(false, &mut factor, at)?;
            work.multiply(out, Some(&factor))?;
        }
        if windows == 0 {
            remainder(Operand::new(&one, 1, true), out)?;
        }
        Ok(())
    }
}
