//! Engines: register machines on residues mod M_p, the interface on which all tests are written.
//!
//! | family | arithmetic | length |
//! |---|---|---|
//! | [`word`] | one machine word, p ≤ 63 | 1 |
//! | [`fp64`] | complex FP64 FFT, irrational-base weights, balanced digits | 2^a·3^b·5^c·7^d |
//! | [`goldilocks`] | integers mod 2^64 − 2^32 + 1, exact | 2^k, 5·2^k |
//!
//! Lucas–Lehmer, PRP and the Gerbicz–Li check are each written once on [`Engine`]. Code above this
//! interface does not depend on words, moduli or transforms.

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

/// The operation that follows the squaring in each step, before the result goes back to the
/// register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The result is x².
    Square,
    /// The result is x² − 2, as in the Lucas–Lehmer test.
    SquareMinusTwo,
    /// The result is m·x² with 1 ≤ m ≤ 2^16; m is given here.
    SquareTimes(u32),
}

/// A machine with a few registers, each of which holds a residue mod M_p = 2^p − 1.
///
/// Registers are numbered from 0. The engine decides how a register is stored (digits in one array,
/// residues to two moduli, device memory …). A register may hold x·2^s for a [`Shift`] s that the
/// caller keeps; operations that depend on it take it as an argument.
///
/// After an error, the contents of the registers named in the call are unspecified, the other
/// registers are intact, and the engine can still be used. After [`EngineError::Device`] all
/// registers are lost, and another engine must be built.
///
/// An engine on a device may return before the work is done, and may report an error of that work
/// at any later call. [`Engine::finish`] waits for the work.
///
/// # Panics
/// Every method panics if the number of a register is not below [`Engine::registers`], or if a
/// residue is of another exponent.
pub trait Engine: Send {
    /// Returns the family's name: `fp64`, `goldilocks` or `word`.
    fn name(&self) -> &'static str;

    /// Returns the exponent p.
    fn exponent(&self) -> u32;

    /// Returns the transform length N in words of the number (not in complex points).
    fn length(&self) -> usize;

    /// Returns the number of registers.
    fn registers(&self) -> usize;

    /// Sets `r[dst]` to `r[src]`.
    fn copy(&mut self, dst: usize, src: usize) -> Result<(), EngineError>;

    /// Applies `step` n times to `r[reg]`.
    ///
    /// `shift` is the shift of `r[reg]` before the call. It doubles mod p with each squaring (so
    /// [`Step::SquareMinusTwo`] subtracts 2·2^s with the shift s of the square), and is
    /// `shift.after_squarings(n, p)` at the end.
    fn square(&mut self, reg: usize, n: u64, step: Step, shift: Shift) -> Result<(), EngineError>;

    /// Sets `r[dst]` to `r[a]`·`r[b]`. Any two or all three may be the same register.
    fn mul(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError>;

    /// Sets `r[dst]` to `r[a]` + `r[b]`. Any two or all three may be the same register.
    fn add(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError>;

    /// Sets `r[dst]` to `r[a]` − `r[b]`. Any two or all three may be the same register.
    fn sub(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError>;

    /// Returns the canonical residue x of a register that holds x·2^shift.
    fn read(&mut self, reg: usize, shift: Shift) -> Result<Residue, EngineError>;

    /// Sets `r[reg]` to x·2^shift.
    fn write(&mut self, reg: usize, x: &Residue, shift: Shift) -> Result<(), EngineError>;

    /// Sets `r[reg]` to v·2^shift for a small number v.
    fn set(&mut self, reg: usize, v: u64, shift: Shift) -> Result<(), EngineError> {
        let x = Residue::from_u64(self.exponent(), v);
        self.write(reg, &x, shift)
    }

    /// Waits until all requested work is done.
    fn finish(&mut self) -> Result<(), EngineError> {
        Ok(())
    }

    /// Returns error statistics of all products since the engine was built.
    fn health(&self) -> Health;

    /// Returns the interface for timing the engine's kernels; `None` if the engine has no kernels.
    fn kernel_timer(&mut self) -> Option<&mut dyn KernelTimer> {
        None
    }
}

/// An engine's measurements of its own accuracy.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Health {
    /// The measured round-off; `None` if the engine computes in integers.
    pub round_off: Option<RoundOff>,
}

/// An error of an engine.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// A word of a product is too far from an integer for its rounding to be trusted.
    #[error("round-off {measured:.4} is above the limit of {limit:.4} at length {length}")]
    RoundOff {
        /// The measured distance (0.5 if the product was not finite).
        measured: f64,
        /// The largest allowed distance.
        limit: f64,
        /// The transform length N, in words.
        length: usize,
    },
    /// An engine of this family cannot be built for this exponent and length.
    #[error("{engine} cannot hold M{exponent} in {length} words: {reason}")]
    Unusable {
        /// The name of the engine family.
        engine: &'static str,
        /// The exponent p.
        exponent: u32,
        /// The transform length N, in words.
        length: usize,
        /// The reason, in a few words.
        reason: String,
    },
    /// The device of the engine failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The device does not have enough memory for the engine.
    #[error(
        "{what} needs {} MiB: {reason}; close other programs that use the device, or compute on the CPU",
        needed.div_ceil(1 << 20)
    )]
    NoRoom {
        /// A text that names family, place, exponent, length and registers.
        what: String,
        /// The number of bytes that the engine needs in total.
        needed: u64,
        /// The text of the device's error.
        reason: String,
    },
}

impl EngineError {
    /// Returns the kind of the error.
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

/// Options for building an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuildOptions {
    /// The number of registers.
    pub registers: usize,
    /// The number of threads allowed; 1 keeps all work on the caller's thread.
    pub threads: usize,
    /// An index into [`Profiled::variants`]; 0 is the default variant.
    pub variant: usize,
}

impl BuildOptions {
    /// Creates options with the default variant.
    #[must_use]
    pub fn new(registers: usize, threads: usize) -> Self {
        Self { registers, threads, variant: 0 }
    }
}

/// The margin of an engine at a length: the distance from making errors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Margin {
    /// The number of bits to spare: log2 of the ratio of the allowed magnitude to the expected one
    /// (or, for an exact engine, to the largest possible one). If it is negative, the length is
    /// refused.
    pub bits: f64,
    /// Whether the bound is proven for every input; otherwise it is statistical.
    pub proven: bool,
}

/// A kind of engine: the exponents and lengths that it accepts, and a way to build engines.
pub trait EngineFamily: Sync {
    /// Returns the name of the family: `fp64`, `goldilocks` or `word`. Families of the same name at
    /// different places compute the same.
    fn name(&self) -> &'static str;

    /// Returns where the family's engines compute: `cpu`, or the name of a device (`cuda:0`,
    /// `sim`).
    fn place(&self) -> &str {
        CPU
    }

    /// Returns the shortest length at which a plan that chooses the place uses this family on its
    /// device rather than on the CPU.
    fn shortest_worthwhile(&self) -> usize {
        1
    }

    /// Returns the range of exponents for which some length of this family has enough margin.
    fn exponent_range(&self) -> RangeInclusive<u32>;

    /// Returns the transform lengths in `from..=to` that this family can build, ascending.
    fn lengths(&self, from: usize, to: usize) -> Vec<usize>;

    /// Returns whether a longer length is known to be faster at this place. No plan chooses such a
    /// length by itself.
    fn is_dominated(&self, _length: usize) -> bool {
        false
    }

    /// Returns the margin at a length, or an error that says why the length cannot be used at all
    /// (more words than bits, not a length of this family …).
    fn margin(&self, p: u32, length: usize) -> Result<Margin, EngineError>;

    /// Returns the number of bytes of device memory that an engine needs; `None` on the CPU.
    fn device_bytes(&self, p: u32, length: usize, registers: usize) -> Option<u64> {
        let _ = (p, length, registers);
        None
    }

    /// Builds an engine for p in `length` words. The length must be usable
    /// ([`EngineFamily::margin`] returns `Ok`); the plan decides whether the margin is large
    /// enough.
    fn build(
        &self,
        p: u32,
        length: usize,
        options: BuildOptions,
    ) -> Result<Box<dyn Engine>, EngineError>;

    /// Returns the interface for comparing the variants of the family's engines; `None` if there is
    /// only one variant.
    fn profiled(&self) -> Option<&dyn Profiled> {
        None
    }
}
