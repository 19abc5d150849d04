//! An engine for tests that computes wrong results at chosen squarings.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::fp64::ROUND_OFF_LIMIT;
use super::{BuildOptions, Engine, EngineError, EngineFamily, Health, Margin, Step};
use crate::{Number, Residue, Shift};

/// The wrong results of a [`Tampered`] family. All engines of the family share this value.
struct Error {
    /// The register whose squarings are counted and may be wrong; `None` means all registers.
    register: Option<usize>,
    /// Returns whether the result of a squaring is wrong. The argument is the number of the
    /// squaring, counted from 1.
    at: Box<dyn Fn(u64) -> bool + Send + Sync>,
    /// How the result is changed; `None` means that the squaring fails because of its round-off.
    change: Option<fn(&Residue) -> Residue>,
    /// The number of the squaring from which on the engines say that they are not intact.
    damaged_from: u64,
    squarings: AtomicU64,
}

/// A family whose engines compute like those of another family, except that some squarings give
/// wrong results.
pub(crate) struct Tampered {
    inner: &'static dyn EngineFamily,
    error: Arc<Error>,
}

impl Tampered {
    /// Returns a family whose engines compute like those of `inner` except at some squarings. The
    /// family is leaked to be `'static`.
    ///
    /// Squarings of `register`, or of all registers if it is `None`, are counted from 1 over all
    /// engines of the family. If `at` returns true for the number of a squaring, the value x of the
    /// register is replaced by `change(x)` after that squaring. With a shift s, x includes the
    /// factor 2^s.
    pub(crate) fn leaked(
        inner: &'static dyn EngineFamily,
        register: impl Into<Option<usize>>,
        at: impl Fn(u64) -> bool + Send + Sync + 'static,
        change: fn(&Residue) -> Residue,
    ) -> &'static Self {
        let (register, squarings) = (register.into(), AtomicU64::new(0));
        let (at, change) = (Box::new(at), Some(change));
        let error = Error { register, at, change, damaged_from: u64::MAX, squarings };
        Box::leak(Box::new(Self { inner, error: Arc::new(error) }))
    }

    /// Returns a family whose engines compute like those of `inner`, but fail because of their round-off at
    /// those squarings for whose number `at` returns true.
    pub(crate) fn imprecise(
        inner: &'static dyn EngineFamily,
        at: impl Fn(u64) -> bool + Send + Sync + 'static,
    ) -> &'static Self {
        let error = Error {
            register: None,
            at: Box::new(at),
            change: None,
            damaged_from: u64::MAX,
            squarings: AtomicU64::new(0),
        };
        Box::leak(Box::new(Self { inner, error: Arc::new(error) }))
    }

    /// Returns a family whose engines compute like those of `inner`, but say from squaring `from` on that
    /// their constants have changed.
    pub(crate) fn damaged(inner: &'static dyn EngineFamily, from: u64) -> &'static Self {
        let error = Error {
            register: None,
            at: Box::new(|_| false),
            change: Some(zero),
            damaged_from: from,
            squarings: AtomicU64::new(0),
        };
        Box::leak(Box::new(Self { inner, error: Arc::new(error) }))
    }
}

/// Returns x with bit 3 flipped.
pub(crate) fn flipped(x: &Residue) -> Residue {
    let mut limbs = x.limbs().to_vec();
    limbs[0] ^= 8;
    Residue::from_limbs(x.number(), &limbs)
}

/// Returns the residue 0 modulo the number of x.
pub(crate) fn zero(x: &Residue) -> Residue {
    Residue::from_u64(x.number(), 0)
}

impl EngineFamily for Tampered {
    fn name(&self) -> &'static str {
        "tampered"
    }

    fn exponent_range(&self) -> RangeInclusive<u32> {
        self.inner.exponent_range()
    }

    fn lengths(&self, from: usize, to: usize) -> Vec<usize> {
        self.inner.lengths(from, to)
    }

    fn takes(&self, number: Number) -> bool {
        self.inner.takes(number)
    }

    fn margin(&self, p: u32, length: usize) -> Result<Margin, EngineError> {
        self.inner.margin(p, length)
    }

    fn margin_for(&self, number: Number, length: usize) -> Result<Margin, EngineError> {
        self.inner.margin_for(number, length)
    }

    fn build(
        &self,
        p: u32,
        length: usize,
        options: BuildOptions,
    ) -> Result<Box<dyn Engine>, EngineError> {
        self.build_for(p.into(), length, options)
    }

    fn build_for(
        &self,
        number: Number,
        length: usize,
        options: BuildOptions,
    ) -> Result<Box<dyn Engine>, EngineError> {
        let inner = self.inner.build_for(number, length, options)?;
        Ok(Box::new(TamperedEngine { inner, error: Arc::clone(&self.error) }))
    }
}

struct TamperedEngine {
    inner: Box<dyn Engine>,
    error: Arc<Error>,
}

impl Engine for TamperedEngine {
    fn name(&self) -> &'static str {
        "tampered"
    }

    fn number(&self) -> Number {
        self.inner.number()
    }

    fn exponent(&self) -> u32 {
        self.inner.exponent()
    }

    fn length(&self) -> usize {
        self.inner.length()
    }

    fn registers(&self) -> usize {
        self.inner.registers()
    }

    fn is_intact(&self) -> bool {
        self.inner.is_intact()
            && self.error.squarings.load(Ordering::Relaxed) < self.error.damaged_from
    }

    fn copy(&mut self, dst: usize, src: usize) -> Result<(), EngineError> {
        self.inner.copy(dst, src)
    }

    fn square(&mut self, reg: usize, n: u64, step: Step, shift: Shift) -> Result<(), EngineError> {
        let p = self.exponent();
        for i in 0..n {
            self.inner.square(reg, 1, step, shift.after_squarings(i, p))?;
            if self.error.register.is_none_or(|register| register == reg) {
                let number = self.error.squarings.fetch_add(1, Ordering::Relaxed) + 1;
                if (self.error.at)(number) {
                    let Some(change) = self.error.change else {
                        let (length, limit) = (self.length(), ROUND_OFF_LIMIT);
                        return Err(EngineError::RoundOff { measured: 0.45, limit, length });
                    };
                    let changed = change(&self.inner.read(reg, Shift::ZERO)?);
                    self.inner.write(reg, &changed, Shift::ZERO)?;
                }
            }
        }
        Ok(())
    }

    fn mul(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError> {
        self.inner.mul(dst, a, b)
    }

    fn add(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError> {
        self.inner.add(dst, a, b)
    }

    fn sub(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError> {
        self.inner.sub(dst, a, b)
    }

    fn read(&mut self, reg: usize, shift: Shift) -> Result<Residue, EngineError> {
        self.inner.read(reg, shift)
    }

    fn write(&mut self, reg: usize, x: &Residue, shift: Shift) -> Result<(), EngineError> {
        self.inner.write(reg, x, shift)
    }

    fn health(&self) -> Health {
        self.inner.health()
    }
}
