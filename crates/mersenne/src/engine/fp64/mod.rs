//! The engine family `fp64` on the CPU: floating-point squaring modulo M_p = 2^p − 1. It uses the
//! irrational-base discrete weighted transform of Crandall and Fagin, on complex FFTs in `f64`
//! (Thall 2011, §1.2–3).
//!
//! A residue x is N balanced digits x_j of ⌊p/N⌋ or ⌈p/N⌉ bits ([`layout`](crate::layout)). The
//! weights are a_j = 2^(⌈pj/N⌉ − pj/N). Word j of the cyclic convolution of the sequence a_j·x_j
//! with itself, divided by a_j, is an integer z_j, and x² ≡ Σ z_j·2^⌈pj/N⌉ mod 2^p − 1. The
//! computed words are rounded to these integers, and carries are propagated; the last carry goes
//! into word 0.
//!
//! | module | |
//! |---|---|
//! | `engine` | the registers, products by two squarings, and the order of the steps |
//! | `form` | the same for numbers k·2^n ± 1 |
//! | `digits` | from packed residues to digits and back |
//! | `words` | the words of residues of both kinds |
//! | `transform` | from the digits of a residue to the digits of its square, for both kinds |
//! | `carry` | rounding, round-off, carries, the sums of digits and carries |
//! | `check` | the check of every squaring by these sums |
//! | `weights`, `lengths`, `margin` | the weights a_j; the lengths N; the longest words |
//! | [`measured`] | the measured accuracy of the kernels on a GPU |
//! | [`flip`] | bits that flip during squarings, for tests of the checks |
//! | [`floor`] | the time of a plain FFT and its inverse |
//!
//! The FFTs of most lengths are the engine's own (`transform/tiled`), from 32,768 words on with AVX2
//! and from 8,192 words on with AVX-512. The other FFTs are those of `rustfft`, which selects vector
//! instructions at run time. Tuning compares several FFTs of a length (`variants`).

mod carry;
mod check;
mod digits;
pub(super) mod engine;
pub mod flip;
pub mod floor;
pub(super) mod form;
mod lengths;
pub(super) mod margin;
pub mod measured;
#[cfg(test)]
mod tests;
pub(super) mod transform;
mod variants;
mod weights;
pub(crate) mod words;

use std::ops::RangeInclusive;

use super::{BuildOptions, Engine, EngineError, EngineFamily, Margin, Profiled, squares};
use crate::Number;
use crate::layout::WordLayout;

/// Transform lengths at which the engine changes its method.
mod threshold {
    /// The shortest transform length, in words, at which a transform with the FFTs of `rustfft` is
    /// computed by rows and columns rather than as a whole. On a Zen 3 core both methods take
    /// 0.42 ms per squaring at this length; at shorter lengths, the whole transform is faster.
    pub(super) const ROW_COLUMN: usize = 65536;

    /// The shortest transform length, in words, at which a transform with explicit vectors is used
    /// by default on processors with AVX2. On a Zen 3 core it takes as long as the whole transform
    /// at 21,504 words, and 0.8 to 0.9 of that time at 43,008 words.
    pub(super) const TILED: usize = 32768;

    /// The same for processors with AVX-512. On a Zen 4 core it takes 0.8 of the time of the whole
    /// transform at 8,192 and at 10,752 words, and as long at 4,096 words.
    pub(super) const TILED_AVX512: usize = 8192;

    /// The shortest transform length, in words, at which a transform with explicit vectors uses
    /// more than one thread.
    pub(super) const THREADS: usize = 65536;
}

/// The largest round-off at which a product is trusted. A larger round-off is an error.
///
/// A word with an error above ½ is rounded to a wrong integer, and its distance from that integer
/// may be small. But the errors of the N words of a product have a Gaussian distribution: if one
/// error exceeds ½, other errors lie between 0.4 and ½. So a transform length whose errors never
/// exceed 0.4 is far from errors of ½.
pub const ROUND_OFF_LIMIT: f64 = 0.4;

/// The largest allowed mean number of bits of a word. It is no real limit: at every transform
/// length, words as long as this have a negative margin.
const LONGEST_WORD: usize = 25;

/// The engine family `fp64` on the CPU, for exponents 64 ≤ p < 2^31. Transform lengths are even
/// numbers 2^a·3^b·5^c·7^d from 8 to 2^28 words.
///
/// At 1024 words and more, the odd part of a length must be one of twenty numbers up to 945.
/// Adjacent lengths then differ by at most 6 %. Margins are statistical.
#[derive(Debug, Clone, Copy, Default)]
pub struct Fp64;

impl Fp64 {
    fn layout(&self, p: u32, length: usize) -> Result<WordLayout, EngineError> {
        let unusable = |reason: &str| {
            Err(EngineError::Unusable {
                engine: self.name(),
                number: p.into(),
                length,
                reason: reason.into(),
            })
        };
        if !self.exponent_range().contains(&p) {
            return unusable("exponents are from 64 to 2147483647");
        }
        if !lengths::is_length(length) {
            return unusable("not a length of this engine");
        }
        if length > p as usize {
            return unusable("more words than bits");
        }
        if p as usize > LONGEST_WORD * length {
            return unusable("words of more than 25 bits");
        }
        Ok(WordLayout::new(p, length))
    }

    /// Does the same as [`EngineFamily::build`], but a bit flips in the engine's memory. This is for
    /// tests of the checks.
    ///
    /// # Errors
    /// The errors of [`EngineFamily::build`].
    pub fn build_with_flip(
        &self,
        p: u32,
        length: usize,
        options: BuildOptions,
        flip: flip::Flip,
    ) -> Result<Box<dyn Engine>, EngineError> {
        Ok(Box::new(self.engine(p, length, options)?.with_flip(flip)))
    }

    fn engine(
        &self,
        p: u32,
        length: usize,
        options: BuildOptions,
    ) -> Result<engine::Fp64Engine, EngineError> {
        if options.check_squarings && !self.checks_squarings(p, length, options.variant) {
            let reason = "squarings cannot be checked at this length".into();
            let engine = self.name();
            return Err(EngineError::Unusable { engine, number: p.into(), length, reason });
        }
        engine::Fp64Engine::new(self.layout(p, length)?, options)
    }
}

impl EngineFamily for Fp64 {
    fn name(&self) -> &'static str {
        "fp64"
    }

    fn exponent_range(&self) -> RangeInclusive<u32> {
        64..=(1 << 31) - 1
    }

    fn takes(&self, number: Number) -> bool {
        if number.is_mersenne() {
            return self.exponent_range().contains(&number.exponent());
        }
        form::takes(number)
    }

    fn lengths(&self, from: usize, to: usize) -> Vec<usize> {
        lengths::lengths(from, to)
    }

    fn margin(&self, p: u32, length: usize) -> Result<Margin, EngineError> {
        self.layout(p, length)?;
        Ok(Margin { bits: margin::bits(p, length, margin::ON_CPU), proven: false })
    }

    fn margin_for(&self, number: Number, length: usize) -> Result<Margin, EngineError> {
        if number.is_mersenne() {
            return self.margin(number.exponent(), length);
        }
        form::check(number, length)?;
        Ok(Margin { bits: form::bits(number, length, form::accuracy(length)), proven: false })
    }

    fn checks_squarings(&self, p: u32, length: usize, _variant: usize) -> bool {
        squares::carries_fit(p, length)
    }

    fn checks_by_default(&self) -> bool {
        // It costs far more than on a GPU: see `docs/checks/squarings.md`.
        false
    }

    fn build(
        &self,
        p: u32,
        length: usize,
        options: BuildOptions,
    ) -> Result<Box<dyn Engine>, EngineError> {
        Ok(Box::new(self.engine(p, length, options)?))
    }

    fn build_for(
        &self,
        number: Number,
        length: usize,
        options: BuildOptions,
    ) -> Result<Box<dyn Engine>, EngineError> {
        if number.is_mersenne() {
            return self.build(number.exponent(), length, options);
        }
        Ok(Box::new(form::FormEngine::new(number, length, options)?))
    }

    fn profiled(&self) -> Option<&dyn Profiled> {
        Some(self)
    }
}

impl Profiled for Fp64 {
    fn variants(&self, length: usize) -> Vec<String> {
        let variants = variants::Variant::all(length).into_iter();
        variants.map(variants::Variant::name).collect()
    }
}
