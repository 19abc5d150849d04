//! Numbers as bytes and as text.

#[cfg(feature = "num-bigint")]
mod bigint;
mod bytes;
mod decimal;
mod hex;

use rayon::prelude::*;

use crate::{Executor, IntegerError, TextProblem, UintBatch, Width};

impl UintBatch {
    /// The numbers whose hexadecimal digits these are, the highest first, small or capital, with
    /// any number of zeros before them. All cores work on it.
    ///
    /// # Errors
    /// [`IntegerError::Text`] for the first text that is no such number, or wider than the width;
    /// no memory.
    pub fn from_hex<'a>(
        executor: &Executor,
        width: Width,
        texts: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, IntegerError> {
        let texts: Vec<&str> = texts.into_iter().collect();
        from_texts(executor, width, &texts, |text, row| hex::read(text, row, width))
    }

    /// The numbers whose decimal digits these are, the highest first, with any number of zeros
    /// before them. All cores work on it; cost of a long number: products of half its length,
    /// log(length) times over.
    ///
    /// # Errors
    /// As [`Self::from_hex`].
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

    /// The hexadecimal digits of each number, small, the highest first, without leading zeros:
    /// `0` for zero. Waits for a device.
    ///
    /// # Errors
    /// What a device reports.
    pub fn to_hex(&self) -> Result<Vec<String>, IntegerError> {
        self.to_texts(hex::write)
    }

    /// The decimal digits of each number, the highest first, without leading zeros: `0` for zero.
    /// All cores work on it; cost of a long number: divisions of half its length,
    /// log(length) times over. Waits for a device.
    ///
    /// # Errors
    /// What a device reports.
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

/// Reads each text into its row; the error is that of the first bad one.
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

/// Refuses a text without digits, or with a character that is none.
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
