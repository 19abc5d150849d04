//! Engine families that go wrong on purpose, to see that a test recovers.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use warpint_device::DeviceError;
use warpint_mersenne::{
    BuildOptions, Engine, EngineError, EngineFamily, Health, Margin, Residue, Shift, Step,
    StopToken,
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

/// A family that is sound but for one fault; several faults are families within families.
pub struct Faulty {
    inner: &'static dyn EngineFamily,
    fault: Fault,
    /// Products of all engines built so far.
    products: Arc<AtomicU64>,
}

impl Faulty {
    /// A family for the rest of the process: plans hold families by `'static`.
    #[must_use]
    pub fn leaked(inner: &'static dyn EngineFamily, fault: Fault) -> &'static Self {
        Box::leak(Box::new(Self { inner, fault, products: Arc::default() }))
    }

    /// The products that all engines of this family have made.
    #[must_use]
    pub fn products(&self) -> u64 {
        self.products.load(Ordering::Relaxed)
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
        let (fault, products) = (self.fault.clone(), self.products.clone());
        Ok(Box::new(FaultyEngine { inner, fault, products }))
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
    products: Arc<AtomicU64>,
}

impl FaultyEngine {
    /// Lets the fault happen to the product that has just gone to `reg`.
    fn after_product(&mut self, reg: usize) -> Result<(), EngineError> {
        let made = self.products.fetch_add(1, Ordering::Relaxed) + 1;
        match &self.fault {
            &Fault::FlippedBit { after, bit } if made == after => self.change(reg, bit, |x| !x),
            &Fault::StuckBit { bit } => self.change(reg, bit, |_| true),
            &Fault::Unreliable { after } if made > after => {
                self.change(reg, (made % 59) as u32, |x| !x)
            }
            &Fault::Dead { after } if made > after => self.inner.set(reg, 0, Shift::ZERO),
            &Fault::RoundOff { after, enough } if made > after && self.length() < enough => {
                Err(EngineError::RoundOff { measured: 0.45, limit: 0.4, length: self.length() })
            }
            Fault::DeviceFails { after, left, error } if made > *after => fail(left, error),
            Fault::Interrupted { after, stop } if made == *after => {
                stop.stop();
                Ok(())
            }
            _ => Ok(()),
        }
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
        self.inner.copy(dst, src)
    }

    fn square(&mut self, reg: usize, n: u64, step: Step, shift: Shift) -> Result<(), EngineError> {
        let p = self.inner.exponent();
        (0..n).try_for_each(|i| {
            self.inner.square(reg, 1, step, shift.after_squarings(i, p))?;
            self.after_product(reg)
        })
    }

    fn mul(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError> {
        self.inner.mul(dst, a, b)?;
        self.after_product(dst)
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

    fn finish(&mut self) -> Result<(), EngineError> {
        self.inner.finish()
    }

    fn health(&self) -> Health {
        self.inner.health()
    }
}
