//! Conversions from and to `BigUint` of the crate num-bigint.

use num_bigint::BigUint;

use crate::{Executor, IntegerError, UintBatch, Width};

impl UintBatch {
    /// Returns a batch of `numbers`.
    ///
    /// # Errors
    /// [`IntegerError::Overflow`] for the first number that has more bits than `width`; the errors
    /// of [`Self::from_limbs`].
    pub fn from_biguints<'a>(
        executor: &Executor,
        width: Width,
        numbers: impl IntoIterator<Item = &'a BigUint>,
    ) -> Result<Self, IntegerError> {
        let mut limbs = vec![];
        for (index, number) in numbers.into_iter().enumerate() {
            let bits = number.bits();
            if bits > u64::from(width.bits()) {
                return Err(IntegerError::Overflow { index, bits, width });
            }
            limbs.extend(number.iter_u32_digits());
            limbs.resize((index + 1) * width.limbs(), 0);
        }
        Self::from_vec(executor, width, limbs)
    }

    /// Returns all numbers of the batch. On a device, waits for the operations submitted before.
    ///
    /// # Errors
    /// [`IntegerError::Device`] for errors of the device.
    pub fn to_biguints(&self) -> Result<Vec<BigUint>, IntegerError> {
        self.with_limbs(|limbs| {
            let rows = limbs.chunks_exact(self.width().limbs());
            rows.map(|row| BigUint::new(row.to_vec())).collect()
        })
    }
}
