//! Engine families that make deliberate errors.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use warpint_device::DeviceError;
use warpint_mersenne::primality::registers;
use warpint_mersenne::{
    BuildOptions, Engine, EngineError, EngineFamily, Health, Margin, Number, Profiled, Residue,
    Shift, Step, StopToken,
};

/// A fault of an engine family. Products, which include squarings, are counted over all engines of
/// the family.
#[derive(Debug, Clone)]
pub enum Fault {
    /// One bit of the product with the number `after` flips. The family counts its products from 1.
    FlippedBit {
        /// The number of the product in which the bit flips, counted from 1.
        after: u64,
        /// The index of the bit, taken modulo the number of bits of N.
        bit: u32,
    },
    /// One bit of one register flips, once, after `after` changes of the register.
    ///
    /// Every write, copy, sum and product into the register is a change, and so is each squaring.
    /// The first change is the write that loads the register.
    FlippedRegister {
        /// The number of the register in which the bit flips.
        register: usize,
        /// The number of changes before the flip.
        after: u64,
        /// The index of the bit in the residue as the register stores it, taken modulo the number of bits
        /// of N.
        bit: u32,
    },
    /// One bit of every product is set to 1.
    StuckBit {
        /// The index of the bit, taken modulo the number of bits of N.
        bit: u32,
    },
    /// After `after` products, one bit of every product flips. The index of the bit varies.
    Unreliable {
        /// The number of right products before the first product with the fault.
        after: u64,
    },
    /// After `after` products, the result of every product is 0.
    Dead {
        /// The number of right products before the first product with the fault.
        after: u64,
    },
    /// After `after` products, the engine reports too much round-off if its length is less than
    /// `enough`.
    RoundOff {
        /// The number of right products before the first product with the fault.
        after: u64,
        /// The shortest transform length at which no round-off is reported.
        enough: usize,
    },
    /// No fault. Instead, a stop is requested after `after` products.
    Interrupted {
        /// The number of products before the request.
        after: u64,
        /// The token by which the stop is requested.
        stop: StopToken,
    },
    /// After `after` products, products and builds of engines fail with a device error, as long as
    /// `left` is not 0.
    DeviceFails {
        /// The number of products before the first failure.
        after: u64,
        /// The number of failures still to be made.
        left: Arc<AtomicU64>,
        /// The device error that the wrapper reports.
        error: DeviceError,
    },
    /// The family reports margins that are too large.
    Optimism {
        /// The number of bits added to every margin.
        bits: f64,
    },
}

/// The number of registers whose changes are counted: the registers of a Mersenne test.
const REGISTERS: usize = registers::COUNT;

/// The numbers of products, of changes of each register, and of flips, summed over all engines of a
/// family.
#[derive(Debug, Default)]
struct Counts {
    products: AtomicU64,
    changes: [AtomicU64; REGISTERS],
    flips: AtomicU64,
}

/// A family that forwards to a sound family, but makes one fault. Several such families can be
/// nested to make several faults.
pub struct Faulty {
    inner: &'static dyn EngineFamily,
    fault: Fault,
    counts: Arc<Counts>,
}

impl Faulty {
    /// Creates a family that exists until the process ends, because a plan requires a `'static`
    /// family.
    #[must_use]
    pub fn leaked(inner: &'static dyn EngineFamily, fault: Fault) -> &'static Self {
        Box::leak(Box::new(Self { inner, fault, counts: Arc::default() }))
    }

    /// Creates a family without a fault, which counts products and changes.
    #[must_use]
    pub fn counting(inner: &'static dyn EngineFamily) -> &'static Self {
        Self::leaked(inner, Fault::Optimism { bits: 0.0 })
    }

    /// Returns the number of products computed so far by all engines of this family.
    #[must_use]
    pub fn products(&self) -> u64 {
        self.counts.products.load(Ordering::Relaxed)
    }

    /// Returns the number of changes so far of each register, summed over all engines of this
    /// family.
    #[must_use]
    pub fn changes(&self) -> [u64; REGISTERS] {
        self.counts.changes.each_ref().map(|n| n.load(Ordering::Relaxed))
    }

    /// Returns the number of bits that have been flipped by [`Fault::FlippedBit`] and
    /// [`Fault::FlippedRegister`].
    #[must_use]
    pub fn flips(&self) -> u64 {
        self.counts.flips.load(Ordering::Relaxed)
    }
}

impl EngineFamily for Faulty {
    fn name(&self) -> &'static str {
        "faulty"
    }

    fn place(&self) -> &str {
        self.inner.place()
    }

    fn exponent_range(&self) -> RangeInclusive<u32> {
        self.inner.exponent_range()
    }

    fn takes(&self, number: Number) -> bool {
        self.inner.takes(number)
    }

    fn lengths(&self, from: usize, to: usize) -> Vec<usize> {
        self.inner.lengths(from, to)
    }

    fn margin(&self, p: u32, length: usize) -> Result<Margin, EngineError> {
        self.margin_for(p.into(), length)
    }

    fn margin_for(&self, number: Number, length: usize) -> Result<Margin, EngineError> {
        let margin = self.inner.margin_for(number, length)?;
        let more = if let Fault::Optimism { bits } = self.fault { bits } else { 0.0 };
        Ok(Margin { bits: margin.bits + more, ..margin })
    }

    fn is_dominated(&self, length: usize) -> bool {
        self.inner.is_dominated(length)
    }

    fn profiled(&self) -> Option<&dyn Profiled> {
        self.inner.profiled()
    }

    fn device_bytes(&self, number: Number, length: usize, registers: usize) -> Option<u64> {
        self.inner.device_bytes(number, length, registers)
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
        if let Fault::DeviceFails { after, left, error } = &self.fault
            && self.products() > *after
        {
            fail(left, error)?;
        }
        let inner = self.inner.build_for(number, length, options)?;
        let (fault, counts) = (self.fault.clone(), self.counts.clone());
        Ok(Box::new(FaultyEngine { inner, fault, counts }))
    }
}

/// If `left` is not 0, decrements it and returns the device error. Otherwise returns `Ok`.
fn fail(left: &AtomicU64, error: &DeviceError) -> Result<(), EngineError> {
    let mut now = left.load(Ordering::Relaxed);
    while let Some(next) = now.checked_sub(1) {
        match left.compare_exchange_weak(now, next, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => return Err(error.clone().into()),
            Err(other) => now = other,
        }
    }
    Ok(())
}

struct FaultyEngine {
    inner: Box<dyn Engine>,
    fault: Fault,
    counts: Arc<Counts>,
}

impl FaultyEngine {
    /// Returns n if the n-th product from now on, in register `reg`, is the next product that the
    /// fault affects. Returns `None` if the fault affects no further product.
    ///
    /// The caller computes these n products in one call, so that the registers of a device are not
    /// transferred to the host at every squaring.
    fn next_event(&self, reg: usize) -> Option<u64> {
        let made = self.counts.products.load(Ordering::Relaxed);
        let first_after = |after: u64| Some(after.saturating_sub(made).saturating_add(1));
        match &self.fault {
            Fault::FlippedBit { after, .. } | Fault::Interrupted { after, .. } => {
                after.checked_sub(made).filter(|&n| n > 0)
            }
            Fault::FlippedRegister { register, after, .. } if *register == reg => {
                after.checked_sub(self.changes(reg)).filter(|&n| n > 0)
            }
            Fault::RoundOff { enough, .. } if self.length() >= *enough => None,
            Fault::Unreliable { after }
            | Fault::Dead { after }
            | Fault::RoundOff { after, .. }
            | Fault::DeviceFails { after, .. } => first_after(*after),
            Fault::StuckBit { .. } => Some(1),
            Fault::FlippedRegister { .. } | Fault::Optimism { .. } => None,
        }
    }

    fn changes(&self, reg: usize) -> u64 {
        self.counts.changes.get(reg).map_or(0, |n| n.load(Ordering::Relaxed))
    }

    /// Counts n products that have just been written to register `reg`. Makes the fault if it
    /// affects the last of these products.
    fn after_products(&mut self, reg: usize, n: u64) -> Result<(), EngineError> {
        let made = self.counts.products.fetch_add(n, Ordering::Relaxed) + n;
        match &self.fault {
            &Fault::FlippedBit { after, bit } if made == after => self.flip(reg, bit)?,
            &Fault::StuckBit { bit } => self.change(reg, bit, |_| true)?,
            &Fault::Unreliable { after } if made > after => {
                self.change(reg, (made % 59) as u32, |x| !x)?;
            }
            &Fault::Dead { after } if made > after => self.inner.set(reg, 0, Shift::ZERO)?,
            &Fault::RoundOff { after, enough } if made > after && self.length() < enough => {
                let length = self.length();
                return Err(EngineError::RoundOff { measured: 0.45, limit: 0.4, length });
            }
            Fault::DeviceFails { after, left, error } if made > *after => fail(left, error)?,
            Fault::Interrupted { after, stop } if made == *after => stop.stop(),
            _ => {}
        }
        self.after_changes(reg, n)
    }

    /// Counts n changes of register `reg`. Flips the bit if the fault affects the last of these
    /// changes.
    fn after_changes(&mut self, reg: usize, n: u64) -> Result<(), EngineError> {
        if let Some(count) = self.counts.changes.get(reg) {
            count.fetch_add(n, Ordering::Relaxed);
        }
        match self.fault {
            Fault::FlippedRegister { register, after, bit }
                if register == reg && self.changes(reg) == after =>
            {
                self.flip(reg, bit)
            }
            _ => Ok(()),
        }
    }

    /// Flips a bit of the residue as the register stores it, without regard to its shift.
    fn flip(&mut self, reg: usize, bit: u32) -> Result<(), EngineError> {
        self.counts.flips.fetch_add(1, Ordering::Relaxed);
        self.change(reg, bit, |x| !x)
    }

    fn change(
        &mut self,
        reg: usize,
        bit: u32,
        new: impl Fn(bool) -> bool,
    ) -> Result<(), EngineError> {
        let number = self.inner.number();
        let bit = bit % number.bits();
        let (limb, place) = ((bit / 64) as usize, bit % 64);
        let mut limbs = self.inner.read(reg, Shift::ZERO)?.limbs().to_vec();
        let old = limbs[limb] >> place & 1;
        limbs[limb] ^= (old ^ u64::from(new(old == 1))) << place;
        self.inner.write(reg, &Residue::from_limbs(number, &limbs), Shift::ZERO)
    }
}

impl Engine for FaultyEngine {
    fn name(&self) -> &'static str {
        "faulty"
    }

    fn number(&self) -> Number {
        self.inner.number()
    }

    fn exponent(&self) -> u32 {
        self.inner.exponent()
    }

    fn is_intact(&self) -> bool {
        self.inner.is_intact()
    }

    fn length(&self) -> usize {
        self.inner.length()
    }

    fn registers(&self) -> usize {
        self.inner.registers()
    }

    fn copy(&mut self, dst: usize, src: usize) -> Result<(), EngineError> {
        self.inner.copy(dst, src)?;
        self.after_changes(dst, 1)
    }

    fn square(&mut self, reg: usize, n: u64, step: Step, shift: Shift) -> Result<(), EngineError> {
        let p = self.inner.exponent();
        let mut done = 0;
        while done < n {
            let stretch = self.next_event(reg).unwrap_or(n).min(n - done);
            self.inner.square(reg, stretch, step, shift.after_squarings(done, p))?;
            self.after_products(reg, stretch)?;
            done += stretch;
        }
        Ok(())
    }

    fn mul(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError> {
        self.inner.mul(dst, a, b)?;
        self.after_products(dst, 1)
    }

    fn add(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError> {
        self.inner.add(dst, a, b)?;
        self.after_changes(dst, 1)
    }

    fn sub(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError> {
        self.inner.sub(dst, a, b)?;
        self.after_changes(dst, 1)
    }

    fn read(&mut self, reg: usize, shift: Shift) -> Result<Residue, EngineError> {
        self.inner.read(reg, shift)
    }

    fn write(&mut self, reg: usize, x: &Residue, shift: Shift) -> Result<(), EngineError> {
        self.inner.write(reg, x, shift)?;
        self.after_changes(reg, 1)
    }

    fn finish(&mut self) -> Result<(), EngineError> {
        self.inner.finish()
    }

    fn health(&self) -> Health {
        self.inner.health()
    }
}

#[cfg(test)]
mod tests;
