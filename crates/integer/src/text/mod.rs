//! Conversions of batches from and to bytes and text.

#[cfg(feature = "num-bigint")]
mod bigint;
mod bytes;
mod decimal;
mod hex;

use rayon::prelude::*;

use crate::{Executor, IntegerError, TextProblem, UintBatch, Width};

impl UintBatch {
    /// Reads numbers from their hexadecimal digits and returns their batch. The digits of a text
    /// are in lower or upper case, the highest first, with any number of leading zeros. Uses the
    /// threads of the executor, or of rayon's current pool if the executor is a device.
    ///
    /// # Errors
    /// [`IntegerError::Text`] for the first text that is not a number or whose number has more bits
    /// than `width`; [`IntegerError::Memory`] if host memory cannot be allocated; the errors of
    /// [`Self::from_limbs`].
    pub fn from_hex<'a>(
        executor: &Executor,
        width: Width,
        texts: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, IntegerError> {
        let texts: Vec<&str> = texts.into_iter().collect();
        from_texts(executor, width, &texts, |text, row| hex::read(text, row, width))
    }

    /// Reads numbers from their decimal digits and returns their batch. The digits of a text begin
    /// with the highest, after any number of leading zeros. Uses the threads of the executor, or
    /// of rayon's current pool if the executor is a device. A long number of n digits takes about
    /// log n times as long as a product of two numbers of n/2 digits.
    ///
    /// # Errors
    /// The errors of [`Self::from_hex`].
    pub fn from_decimal<'a>(
        executor: &Executor,
        width: Width,
        texts: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, IntegerError> {
        let texts: Vec<&str> = texts.into_iter().collect();
        let longest = texts.iter().map(|text| text.len()).max().unwrap_or(0);
        let powers = executor.on_threads(|| decimal::powers_for_digits(longest, width));
        from_texts(executor, width, &texts, |text, row| decimal::read(text, row, width, &powers))
    }

    /// Returns the hexadecimal digits of each number in lower case, the highest first, without
    /// leading zeros: `0` for zero. On a device, waits for the operations submitted before.
    ///
    /// # Errors
    /// [`IntegerError::Device`] for errors of the device.
    pub fn to_hex(&self) -> Result<Vec<String>, IntegerError> {
        self.to_texts(hex::write)
    }

    /// Returns the decimal digits of each number, the highest first, without leading zeros: `0` for
    /// zero. Uses the threads of the executor, or of rayon's current pool if the executor is a
    /// device. A long number of n digits takes about log n times as long as a division by a number
    /// of n/2 digits. On a device, waits for the operations submitted before.
    ///
    /// # Errors
    /// [`IntegerError::Device`] for errors of the device.
    pub fn to_decimal(&self) -> Result<Vec<String>, IntegerError> {
        let powers = self.executor().on_threads(|| decimal::powers_for_width(self.width()));
        self.to_texts(|row| decimal::write(row, &powers))
    }

    fn to_texts(
        &self,
        write: impl Fn(&[u32]) -> String + Sync,
    ) -> Result<Vec<String>, IntegerError> {
        let limbs = self.width().limbs();
        self.with_limbs(|all| {
            let texts = || all.par_chunks_exact(limbs).map(&write).collect();
            self.executor().on_threads(texts)
        })
    }
}

/// Reads text i into number i by `read`, for all i, and returns the batch of numbers. If some texts
/// cannot be read, returns the error of the first such text.
fn from_texts(
    executor: &Executor,
    width: Width,
    texts: &[&str],
    read: impl Fn(&str, &mut [u32]) -> Result<(), TextProblem> + Sync,
) -> Result<UintBatch, IntegerError> {
    let memory = IntegerError::Memory { count: texts.len(), width };
    let Some(mut limbs) = crate::storage::host_zeros(texts.len(), width.limbs()) else {
        return Err(memory);
    };
    let rows = limbs.par_chunks_exact_mut(width.limbs());
    let problems = rows
        .zip(texts)
        .enumerate()
        .filter_map(|(index, (row, text))| read(text, row).err().map(|problem| (index, problem)));
    match executor.on_threads(|| problems.min_by_key(|&(index, _)| index)) {
        Some((index, problem)) => Err(IntegerError::Text { index, problem }),
        None => UintBatch::from_vec(executor, width, limbs),
    }
}

/// Returns an error if a text is empty or has a character that is not a digit. `digits` names the
/// kind of digits in the error.
fn check(
    text: &str,
    digits: &'static str,
    is_digit: impl Fn(char) -> bool,
) -> Result<(), TextProblem> {
    if text.is_empty() {
        return Err(TextProblem::Empty);
    }
    match text.chars().enumerate().find(|&(_, c)| !is_digit(c)) {
        Some((position, character)) => Err(TextProblem::NoDigit { character, position, digits }),
        None => Ok(()),
    }
}
