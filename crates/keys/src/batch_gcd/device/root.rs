//! The fraction at the root of a tree, by a division on the device.

use warpint_device::{Buffer, DeviceError};
use warpint_integer::huge::device::{DeviceProducts, HugeError, Rows, residue};
use warpint_natural::limbs::trimmed;

use super::{DeviceTrees, kept};
use crate::KeysError;

/// Why a division did not succeed.
enum Divided {
    /// A number on the device is not that of the host.
    Wrong,
    Failed(HugeError),
}

impl From<HugeError> for Divided {
    fn from(error: HugeError) -> Self {
        Self::Failed(error)
    }
}

impl From<DeviceError> for Divided {
    fn from(error: DeviceError) -> Self {
        Self::Failed(error.into())
    }
}

impl DeviceTrees {
    /// Computes the fraction of the root of a tree of `count` leaves of `words` words, X with
    /// 0 ≤ D/P − X/B^(m+1) < 1/B^(m+1) modulo 1, from its product P of m words and a numerator D of at most
    /// m words. `None` if the memory is too small, or the numbers are too long for a division on the device.
    pub(in crate::batch_gcd) fn fraction(
        &self,
        numerator: &[u64],
        product: &[u64],
        [count, words]: [usize; 2],
    ) -> Result<Option<Buffer<u64>>, KeysError> {
        let m = product.len();
        let t = trimmed(product).len();
        let (dividend, quotient) = (2 * m + 1, 2 * m + 2 - t);
        let numbers = (dividend + quotient + m + t + m + 1) as u64 * 8;
        let Some(division) = DeviceProducts::division_bytes(dividend, t) else { return Ok(None) };
        let room = self.memory.saturating_sub(kept(count, words).unwrap_or(self.memory));
        let Some(room) = room.checked_sub(numbers).filter(|&room| room >= division) else {
            return Ok(None);
        };
        match self.divided(numerator, product, [t, quotient], room) {
            Ok(x) => Ok(Some(x)),
            Err(Divided::Wrong) => Err(self.unsound("a wrong root")),
            // The estimate of the memory is an upper bound, but other programs may have taken some.
            Err(Divided::Failed(
                HugeError::Memory { .. } | HugeError::Device(DeviceError::OutOfMemory { .. }),
            )) => Ok(None),
            Err(Divided::Failed(error)) => Err(error.into()),
        }
    }

    /// Divides as [`Self::fraction`] says. P has t words without leading zeros, and the quotient has
    /// `quotient` words.
    fn divided(
        &self,
        numerator: &[u64],
        product: &[u64],
        [t, quotient]: [usize; 2],
        room: u64,
    ) -> Result<Buffer<u64>, Divided> {
        let m = product.len();
        let mut products = DeviceProducts::new(&self.device)?;
        products.set_working_limit(room);
        let p = self.device.upload(product)?;
        let mut a = self.device.alloc(2 * m + 1)?;
        a.clear()?;
        a.cells(m + 1..m + 1 + numerator.len()).upload(numerator)?;
        // The division verifies that its results belong to the numbers on the device. These must be
        // those of the host: 2^64 ≡ 8.
        let above = residue::product(residue::of(numerator), 1 << (3 * (m as u64 + 1) % 61));
        for (copy, expected) in [(p.view(..), residue::of(product)), (a.view(..), above)] {
            if products.residues(Rows::one(copy))? != [expected] {
                return Err(Divided::Wrong);
            }
        }
        let divisor = products.divisor(p.view(..), quotient)?;
        if divisor.words() != t {
            return Err(Divided::Wrong);
        }
        drop(p);
        let [mut q, mut r] = [self.device.alloc(quotient)?, self.device.alloc(t)?];
        products.div_rem(q.cells(..), r.cells(..), a.view(..), &divisor)?;
        let mut x = self.device.alloc(m + 1)?;
        x.cells(..).copy_from(q.view(..m + 1))?;
        Ok(x)
    }
}
