//! Whether memory holds what a kernel reads and writes in it.

use warpint_device::DeviceError;

use super::{Operand, Results};

/// Limbs that a number may have; kernels count them in 32 bits.
pub(super) const MOST_LIMBS: usize = 1 << 20;

/// An error unless the operands have `count` numbers, and there is room for as many results.
pub(super) fn fits(
    count: usize,
    operands: &[Operand<'_>],
    out: Results<'_>,
) -> Result<(), DeviceError> {
    operands_fit(count, operands)?;
    has(out.data.len(), count, out.limbs)
}

pub(super) fn operands_fit(count: usize, operands: &[Operand<'_>]) -> Result<(), DeviceError> {
    operands.iter().try_for_each(|a| {
        let numbers = if a.broadcast { count.min(1) } else { count };
        has(a.data.len(), numbers, a.limbs)
    })
}

/// Whether memory of `len` words holds so many numbers.
pub(super) fn has(len: usize, count: usize, limbs: usize) -> Result<(), DeviceError> {
    let needed = count.checked_mul(limbs).filter(|_| (1..=MOST_LIMBS).contains(&limbs));
    if needed.is_some_and(|needed| needed <= len) {
        return Ok(());
    }
    Err(DeviceError::Failed {
        what: "an operation on a batch".into(),
        message: format!("{count} numbers of {limbs} limbs are not in memory of {len} words"),
    })
}
