//! Selection of rows of a table on a device.

use warpint_device::{Arg, Buffer, DeviceError, Source, common};

use super::memory::{has, operands_fit};
use super::{Gpu, Operand, Shape};
use crate::operation::TableRows;

/// The only version of the kernel `take.cu`: its constants do not depend on the operands.
#[derive(Debug)]
struct Take;

const THREADS: usize = 256;

impl Shape for Take {
    fn source(&self) -> Result<Source, DeviceError> {
        Ok(source())
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

pub(super) fn source() -> Source {
    Source::new("take.cu", include_str!("../../kernels/power/take.cu"), &["take"])
        .headers(common::HEADERS)
        .define("THREADS", THREADS)
}

impl Gpu {
    /// Computes `out_i` = row d·step + first of a table, where d is the number in the bits `bit` to
    /// `bit + window` − 1 of the exponent `e_i`. `rows` has the parameters step, first, bit and
    /// window. The table has 2^window·step rows, and a result has as many limbs as a row.
    /// Asynchronous: returns before the device has finished.
    ///
    /// # Errors
    /// A buffer is too short or not aligned, the device fails, or the kernel cannot be compiled.
    pub(crate) fn take(
        &self,
        table: Operand<'_>,
        e: Operand<'_>,
        rows: TableRows,
        count: usize,
        out: &mut Buffer<u32>,
    ) -> Result<(), DeviceError> {
        let TableRows { bit, window, step, first } = rows;
        operands_fit(count, &[e])?;
        has(table.data.len(), step << window, table.limbs)?;
        has(step, 1, first + 1)?;
        has(out.len(), count, table.limbs)?;
        let args = [
            out.into(),
            table.data.into(),
            e.data.into(),
            e.stride().into(),
            Arg::U32(e.limbs as u32),
            Arg::U32(table.limbs as u32),
            Arg::U32(bit as u32),
            Arg::U32(window as u32),
            Arg::U32(step as u32),
            Arg::U32(first as u32),
        ];
        let blocks = (count * table.limbs).div_ceil(THREADS);
        // SAFETY: the table has a row for each value of a window, and there are `count` exponents
        // and memory for as many rows.
        unsafe { self.launch_blocks(&Take, blocks, count, &args) }
    }
}
