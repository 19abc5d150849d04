//! Engine families that go wrong on purpose.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use warpint_device::DeviceError;
use warpint_mersenne::primality::registers;
use warpint_mersenne::{
    BuildOptions, Engine, EngineError, EngineFamily, Health, Margin, Profiled, Residue, Shift,
    Step, StopToken,
};

/// What goes wrong.
#[derive(Debug, Clone)]
pub enum Fault {
    /// After that many products of the family, a bit of the last one flips: once.
    FlippedBit {
        /// Products before it.
        after: u64,
        /// The bit, taken mod p.
        bit: u32,
    },
    /// After that many changes of one register, a bit of it flips: once.
    ///
    /// Every write, copy, sum and product that goes to the register is a change, and so is each
    /// of n squarings; the write that loads it is the first.
    FlippedRegister {
        /// Its number.
        register: usize,
        /// Changes before it.
        after: u64,
        /// The bit of the residue as it is held, taken mod p.
        bit: u32,
    },
    /// A bit of every product is 1, whatever it should be.
    StuckBit {
        /// The bit, taken mod p.
        bit: u32,
    },
    /// Every product after that many has a wrong bit, now here, now there.
    Unreliable {
        /// Products before the first.
        after: u64,
    },
    /// Every product after that many is zero.
    Dead {
        /// Products before the first.
        after: u64,
    },
    /// Every product after that many has too much round-off at a short length.
    RoundOff {
        /// Products before the first.
        after: u64,
        /// The shortest length that is free of it.
        enough: usize,
    },
    /// No fault: somebody asks for a stop after that many products.
    Interrupted {
        /// Products before.
        after: u64,
        /// Whom to ask.
        stop: StopToken,
    },
    /// The product after that many fails with a device error, and so do as many
    /// products and builds after it as are left.
    DeviceFails {
        /// Products before the first.
        after: u64,
        /// The failures there are to be.
        left: Arc<AtomicU64>,
        /// What the device says.
        error: DeviceError,
    },
    /// Margins are reported so many bits too good.
    Optimism {
        /// Bits added to every margin.
        bits: f64,
    },
}

/// Registers whose changes are counted: those of a test.
const REGISTERS: usize = registers::COUNT;

/// What all engines of a family have done so far.
#[derive(Debug, Default)]
struct Counts {
    products: AtomicU64,
    changes: [AtomicU64; REGISTERS],
    flips: AtomicU64,
}

/// A family that is sound but for one fault; several faults are families within families.
pub struct Faulty {
    inner: &'static dyn EngineFamily,
    fault: Fault,
    counts: Arc<Counts>,
}

impl Faulty {
    /// A family for the rest of the process: plans hold families by `'static`.
    #[must_use]
    pub fn leaked(inner: &'static dyn EngineFamily, fault: Fault) -> &'static Self {
        Box::leak(Box::new(Self { inner, fault, counts: Arc::default() }))
    }

    /// A family without a fault, for its counts.
    #[must_use]
    pub fn counting(inner: &'static dyn EngineFamily) -> &'static Self {
        Self::leaked(inner, Fault::Optimism { bits: 0.0 })
    }

    /// The products that all engines of this family have made.
    #[must_use]
    pub fn products(&self) -> u64 {
        self.counts.products.load(Ordering::Relaxed)
    }

    /// The changes of each register of a test, in all engines of this family.
    #[must_use]
    pub fn changes(&self) -> [u64; REGISTERS] {
        self.counts.changes.each_ref().map(|n| n.load(Ordering::Relaxed))
    }

    /// The single bits that have flipped.
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

    fn lengths(&self, from: usize, to: usize) -> Vec<usize> {
        self.inner.lengths(from, to)
    }

    fn margin(&self, p: u32, length: usize) -> Result<Margin, EngineError> {
        let margin = self.inner.margin(p, length)?;
        let more = if let Fault::Optimism { bits } = self.fault { bits } else { 0.0 };
        Ok(Margin { bits: margin.bits + more, ..margin })
    }

    fn is_dominated(&self, length: usize) -> bool {
        self.inner.is_dominated(length)
    }

    fn profiled(&self) -> Option<&dyn Profiled> {
        self.inner.profiled()
    }

    fn device_bytes(&self, p: u32, length: usize, registers: usize) -> Option<u64> {
        self.inner.device_bytes(p, length, registers)
    }

    fn build(
        &self,
        p: u32,
        length: usize,
        options: BuildOptions,
    ) -> Result<Box<dyn Engine>, EngineError> {
        if let Fault::DeviceFails { after, left, error } = &self.fault
            && self.products() > *after
        {
            fail(left, error)?;
        }
        let inner = self.inner.build(p, length, options)?;
        let (fault, counts) = (self.fault.clone(), self.counts.clone());
        Ok(Box::new(FaultyEngine { inner, fault, counts }))
    }
}

/// Fails as long as failures are left.
fn fail(left: &AtomicU64, error: &DeviceError) -> Result<(), EngineError> {
    match left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)) {
        Ok(_) => Err(error.clone().into()),
        Err(_) => Ok(()),
    }
}

struct FaultyEngine {
    inner: Box<dyn Engine>,
    fault: Fault,
    counts: Arc<Counts>,
}

impl FaultyEngine {
    /// The products in `reg` up to and including the next one that the fault has to do with.
    ///
    /// Those before it are made at one go, so that the state of a fast engine does not go through
    /// the host at every squaring.
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

    /// Lets the fault happen to the last of n products that have just gone to `reg`.
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

    /// The same of n changes.
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

    /// Flips a bit of the residue as the register holds it, at whatever shift.
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
        let p = self.inner.exponent();
        let (limb, place) = (((bit % p) / 64) as usize, (bit % p) % 64);
        let mut limbs = self.inner.read(reg, Shift::ZERO)?.limbs().to_vec();
        let old = limbs[limb] >> place & 1;
        limbs[limb] ^= (old ^ u64::from(new(old == 1))) << place;
        self.inner.write(reg, &Residue::from_limbs(p, &limbs), Shift::ZERO)
    }
}

impl Engine for FaultyEngine {
    fn name(&self) -> &'static str {
        "faulty"
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
