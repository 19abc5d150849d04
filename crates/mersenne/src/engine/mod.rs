//! Register machines on residues mod M_p: the one interface that tests know.
//!
//! | family | arithmetic | length |
//! |---|---|---|
//! | [`word`] | one machine word, p ≤ 63 | 1 |
//! | [`fp64`] | complex FP64 FFT, irrational-base weights, balanced digits | 2^a·3^b·5^c·7^d |
//! | [`goldilocks`] | integers mod 2^64 − 2^32 + 1, exact | 2^k, 5·2^k |
//!
//! Lucas–Lehmer, PRP and the Gerbicz–Li check are each written once on
//! [`Engine`]; nothing above it knows of words, moduli or transforms.

mod cut;
pub mod fp64;
pub mod fp64_gpu;
pub mod goldilocks;
pub mod goldilocks_gpu;
mod gpu;
pub mod known;
mod list;
pub mod places;
mod profile;
mod round_off;
#[cfg(test)]
pub(crate) mod tampered;
pub mod word;

pub use round_off::{Gumbel, RoundOff};

use std::ops::RangeInclusive;

use warpint_device::{CPU, DeviceError};
use warpint_files::ErrorKind;

use crate::{Residue, Shift};

pub use cut::{Cut, Work};
pub use gpu::OnDevice;
pub use list::{families, families_for, family};
pub use profile::{KernelTime, KernelTimer, Profiled};

/// What happens to the square x² before it goes back into its register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// x².
    Square,
    /// x² − 2, the Lucas–Lehmer step.
    SquareMinusTwo,
    /// m·x² with 1 ≤ m ≤ 2^16.
    SquareTimes(u32),
}

/// A machine with a few registers, each holding a residue mod M_p = 2^p − 1.
///
/// Registers are numbered from 0; how a register is stored (digits in one
/// array, residues to two moduli, device memory …) is the engine's own affair.
/// A register may hold x·2^s for a [`Shift`] s that the caller keeps: the
/// operations that must know it take it as an argument.
///
/// After an error, the contents of the registers named in the call are
/// unspecified, the others are intact, and the engine may go on being used.
/// After [`EngineError::Device`] nothing is left: another engine must be built.
///
/// An engine on a device may return before the work is done, and report what
/// failed in it at any later call; [`Engine::finish`] waits for it.
///
/// # Panics
/// Any method, if a register's number is not below [`Engine::registers`], or
/// if a residue is of another exponent.
pub trait Engine: Send {
    /// The family's name: `fp64`, `goldilocks`, `word`.
    fn name(&self) -> &'static str;

    /// p.
    fn exponent(&self) -> u32;

    /// N, the transform length in words of the number (not in complex points).
    fn length(&self) -> usize;

    /// The number of registers.
    fn registers(&self) -> usize;

    /// `r[dst]` ← `r[src]`.
    fn copy(&mut self, dst: usize, src: usize) -> Result<(), EngineError>;

    /// `r[reg]` ← the n-fold `step` of `r[reg]`.
    ///
    /// `shift` is that of `r[reg]` before the call; it doubles mod p with each
    /// squaring (so [`Step::SquareMinusTwo`] subtracts 2·2^s at the bit where
    /// the square then stands), and is `shift.after_squarings(n, p)` at the end.
    fn square(&mut self, reg: usize, n: u64, step: Step, shift: Shift) -> Result<(), EngineError>;

    /// `r[dst]` ← `r[a]`·`r[b]`. Any two or all three may be the same register.
    fn mul(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError>;

    /// `r[dst]` ← `r[a]` + `r[b]`. Any two or all three may be the same register.
    fn add(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError>;

    /// `r[dst]` ← `r[a]` − `r[b]`. Any two or all three may be the same register.
    fn sub(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError>;

    /// The canonical residue x of a register that holds x·2^shift.
    fn read(&mut self, reg: usize, shift: Shift) -> Result<Residue, EngineError>;

    /// `r[reg]` ← x·2^shift.
    fn write(&mut self, reg: usize, x: &Residue, shift: Shift) -> Result<(), EngineError>;

    /// `r[reg]` ← v·2^shift, v a small number.
    fn set(&mut self, reg: usize, v: u64, shift: Shift) -> Result<(), EngineError> {
        let x = Residue::from_u64(self.exponent(), v);
        self.write(reg, &x, shift)
    }

    /// Waits until all work asked for is done.
    fn finish(&mut self) -> Result<(), EngineError> {
        Ok(())
    }

    /// Error statistics of every product since the engine was built.
    fn health(&self) -> Health;

    /// The engine as one whose kernels can be timed; `None` for an engine without kernels.
    fn kernel_timer(&mut self) -> Option<&mut dyn KernelTimer> {
        None
    }
}

/// What an engine knows of its own accuracy.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Health {
    /// Measured round-off; `None` for an engine that computes in integers.
    pub round_off: Option<RoundOff>,
}

/// What can go wrong inside an engine.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// A product came too far from an integer for its rounding to be trusted.
    #[error("round-off {measured:.4} is above the limit of {limit:.4} at length {length}")]
    RoundOff {
        /// The distance measured (0.5 when the product was not even finite).
        measured: f64,
        /// The distance allowed.
        limit: f64,
        /// N.
        length: usize,
    },
    /// An engine of this family cannot be built for this exponent and length.
    #[error("{engine} cannot hold M{exponent} in {length} words: {reason}")]
    Unusable {
        /// The family.
        engine: &'static str,
        /// p.
        exponent: u32,
        /// N.
        length: usize,
        /// Why, in a few words.
        reason: String,
    },
    /// The device of the engine failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The device has no room for the engine.
    #[error(
        "{what} needs {} MiB: {reason}; close what else uses the device, or take --device cpu",
        needed.div_ceil(1 << 20)
    )]
    NoRoom {
        /// Family, place, exponent, length and registers, in words.
        what: String,
        /// Bytes that the engine needs in all.
        needed: u64,
        /// What the device said.
        reason: String,
    },
}

impl EngineError {
    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Unusable { .. } => ErrorKind::BadInput,
            Self::RoundOff { .. } => ErrorKind::Unsound,
            Self::NoRoom { .. } => ErrorKind::Device,
            Self::Device(e) => e.kind(),
        }
    }
}

/// How an engine is to be built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuildOptions {
    /// Registers wanted.
    pub registers: usize,
    /// Threads allowed; 1 keeps all work on the caller's thread.
    pub threads: usize,
    /// An index into [`Profiled::variants`]; 0 is the default one.
    pub variant: usize,
}

impl BuildOptions {
    /// The default variant.
    #[must_use]
    pub fn new(registers: usize, threads: usize) -> Self {
        Self { registers, threads, variant: 0 }
    }
}

/// How far an engine at a length is from making errors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Margin {
    /// Bits to spare: log2 of the allowed over the expected (or, for an exact
    /// engine, the largest possible) magnitude. Negative means refused.
    pub bits: f64,
    /// Whether the bound is proven for every input, or statistical.
    pub proven: bool,
}

/// A kind of engine: which exponents and lengths it takes, and how to build one.
pub trait EngineFamily: Sync {
    /// `fp64`, `goldilocks`, `word`. Families of one name on different places
    /// compute the same.
    fn name(&self) -> &'static str;

    /// Where its engines compute: `cpu`, or the name of a device (`cuda:0`, `sim`).
    fn place(&self) -> &str {
        CPU
    }

    /// The shortest length at which a plan that chooses the place takes this
    /// family on its device rather than the CPU.
    fn shortest_worthwhile(&self) -> usize {
        1
    }

    /// The exponents for which some length of this family has enough margin.
    fn exponent_range(&self) -> RangeInclusive<u32>;

    /// The transform lengths this family can build in `from..=to`, ascending.
    fn lengths(&self, from: usize, to: usize) -> Vec<usize>;

    /// Whether a longer length is known to take less time at this place, so that no plan chooses
    /// this one of itself.
    fn is_dominated(&self, _length: usize) -> bool {
        false
    }

    /// The margin at a length, or why the length cannot be used at all
    /// (more words than bits, not a length of this family …).
    fn margin(&self, p: u32, length: usize) -> Result<Margin, EngineError>;

    /// Bytes of the device's memory that an engine needs; `None` on the CPU.
    fn device_bytes(&self, p: u32, length: usize, registers: usize) -> Option<u64> {
        let _ = (p, length, registers);
        None
    }

    /// Builds an engine. The length must be usable ([`EngineFamily::margin`] is
    /// `Ok`); whether its margin is enough is for the plan to judge.
    fn build(
        &self,
        p: u32,
        length: usize,
        options: BuildOptions,
    ) -> Result<Box<dyn Engine>, EngineError>;

    /// The family as one whose engines can be built in several ways; `None` if there is but one.
    fn profiled(&self) -> Option<&dyn Profiled> {
        None
    }
}
