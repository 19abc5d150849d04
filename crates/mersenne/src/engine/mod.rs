//! Engines: register machines on residues modulo a number N = k·b^n ± 1. All tests use engines
//! through the trait [`Engine`]. All families except [`plain`] compute modulo Mersenne numbers
//! M_p = 2^p − 1 only.
//!
//! | family | arithmetic | length |
//! |---|---|---|
//! | [`word`] | one machine word, p ≤ 63 | 1 |
//! | [`plain`] | products of natural numbers, exact, any N | 1 |
//! | [`fp64`] | complex FP64 FFT, irrational-base weights, balanced digits | 2^a·3^b·5^c·7^d |
//! | [`goldilocks`] | integers mod 2^64 − 2^32 + 1, exact | 2^k, 5·2^k |
//! | [`hybrid`] | complex FP64 FFT and GF((2^31 − 1)²) together, exact | 2^a·{1, 3, 7, 9, 11, 21, 33, 77}, on a device also 5·2^a |
//! | `hybrid-fast` | the same with longer words, measured round-off | the same |
//!
//! The lengths in the table are numbers of words (digits of a residue). The Lucas–Lehmer test, the
//! PRP test and the Gerbicz–Li check are each written once, on top of [`Engine`]. Code above this
//! interface does not depend on words, moduli or transforms.

mod canonical;
mod cut;
mod exact;
pub mod fp64;
pub mod fp64_gpu;
pub mod goldilocks;
pub mod goldilocks_gpu;
mod gpu;
pub mod hybrid;
pub mod hybrid_gpu;
pub mod known;
mod list;
pub mod places;
pub mod plain;
mod profile;
mod round_off;
mod squares;
#[cfg(test)]
pub(crate) mod tampered;
pub mod word;

pub use round_off::{Gumbel, RoundOff};

use std::ops::RangeInclusive;

use warpint_device::{CPU, DeviceError};
use warpint_files::ErrorKind;

use crate::{Number, Residue, Shift};

pub use cut::{Cut, Work};
pub use gpu::OnDevice;
pub use list::{families, families_for, family};
pub use profile::{KernelTime, KernelTimer, Profiled};

/// One step of [`Engine::square`]: a squaring of the value x of a register. Then 2 may be
/// subtracted from the square, or the square may be multiplied by a small number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Replaces x by x².
    Square,
    /// Replaces x by x² − 2, as the Lucas–Lehmer test does.
    SquareMinusTwo,
    /// Replaces x by m·x². The number m is the field of this variant, and is from 1 to 2^16.
    SquareTimes(u32),
}

/// A machine with a few registers, each of which holds a residue modulo a number N = k·b^n ± 1, most
/// often M_p = 2^p − 1.
///
/// Registers are numbered from 0; `r[i]` is the value of register i. The engine decides how a
/// register is stored (as digits in one array, as residues to two moduli, in device memory …).
/// Instead of a residue x, a register may hold x·2^s mod M_p. The engine does not store the
/// [`Shift`] s: the caller passes it to every operation that depends on it. Modulo numbers other than
/// M_p, all shifts are 0.
///
/// After an error, the contents of the registers named in the failed call are unspecified, the
/// other registers are intact, and the engine can still be used. After [`EngineError::Device`] all
/// registers are lost, and another engine must be built.
///
/// A method of an engine on a device may return before its work is done. Any later call may report
/// an error of that work; then the registers named in the earlier call are unspecified too.
/// [`Engine::finish`] waits for the work.
///
/// # Panics
/// A method panics if it accesses a register whose number is not below [`Engine::registers`], or if
/// a residue passed to it belongs to another number.
pub trait Engine: Send {
    /// Returns the family's name, such as `fp64` or `goldilocks`.
    fn name(&self) -> &'static str;

    /// Returns the modulus N.
    fn number(&self) -> Number {
        self.exponent().into()
    }

    /// Returns the exponent n of the modulus k·b^n ± 1, which is p for M_p.
    fn exponent(&self) -> u32;

    /// Returns the transform length N, which is the number of words (digits) of a residue. The
    /// number of complex points of a transform may be smaller.
    fn length(&self) -> usize;

    /// Returns the number of registers.
    fn registers(&self) -> usize;

    /// Sets `r[dst]` to `r[src]`.
    fn copy(&mut self, dst: usize, src: usize) -> Result<(), EngineError>;

    /// Applies `step` n times to `r[reg]`.
    ///
    /// `shift` is the shift of `r[reg]` before the call. The shift doubles mod p with each
    /// squaring, and is `shift.after_squarings(n, p)` after the call. [`Step::SquareMinusTwo`]
    /// subtracts 2·2^s, where s is the shift after the squaring.
    fn square(&mut self, reg: usize, n: u64, step: Step, shift: Shift) -> Result<(), EngineError>;

    /// Squares `r[reg]` n times. The square number j, counted from 0, is multiplied by m if `has_factor(j)`.
    /// `shift` is as in [`Engine::square`].
    ///
    /// By default, squarings of the same kind are done by one call of [`Engine::square`].
    fn square_with_factors(
        &mut self,
        reg: usize,
        n: u64,
        m: u32,
        has_factor: &dyn Fn(u64) -> bool,
        shift: Shift,
    ) -> Result<(), EngineError> {
        by_kind(self, reg, n, m, has_factor, shift)
    }

    /// Sets `r[dst]` to `r[a]`·`r[b]`. Any of `dst`, `a` and `b` may be equal.
    fn mul(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError>;

    /// Sets `r[dst]` to `r[a]` + `r[b]`. Any of `dst`, `a` and `b` may be equal.
    fn add(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError>;

    /// Sets `r[dst]` to `r[a]` − `r[b]`. Any of `dst`, `a` and `b` may be equal.
    fn sub(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError>;

    /// Returns the residue x, 0 ≤ x < N, that `r[reg]` holds in the form x·2^shift mod N.
    fn read(&mut self, reg: usize, shift: Shift) -> Result<Residue, EngineError>;

    /// Sets `r[reg]` to x·2^shift mod N.
    fn write(&mut self, reg: usize, x: &Residue, shift: Shift) -> Result<(), EngineError>;

    /// Sets `r[reg]` to v·2^shift mod N.
    fn set(&mut self, reg: usize, v: u64, shift: Shift) -> Result<(), EngineError> {
        let x = Residue::from_u64(self.number(), v);
        self.write(reg, &x, shift)
    }

    /// Waits until all requested work is done.
    fn finish(&mut self) -> Result<(), EngineError> {
        Ok(())
    }

    /// Returns whether the constants by which the engine reduces are still those of its number. An engine
    /// that computes modulo a stored number must compare it: modulo another number every check would
    /// hold. In other engines a changed constant gives results that checks detect.
    fn is_intact(&self) -> bool {
        true
    }

    /// Returns error statistics of the products since the engine was built. On a device, the
    /// statistics cover only those products whose round-off was measured.
    fn health(&self) -> Health;

    /// Returns the interface for timing the engine's kernels. Returns `None` if the engine has no
    /// kernels.
    fn kernel_timer(&mut self) -> Option<&mut dyn KernelTimer> {
        None
    }
}

/// Does what [`Engine::square_with_factors`] does, with a call of [`Engine::square`] for each run of squarings of the
/// same kind.
fn by_kind<E: Engine + ?Sized>(
    engine: &mut E,
    reg: usize,
    n: u64,
    m: u32,
    has_factor: &dyn Fn(u64) -> bool,
    shift: Shift,
) -> Result<(), EngineError> {
    let p = engine.exponent();
    let mut done = 0;
    while done < n {
        let kind = has_factor(done);
        let end = (done + 1..n).find(|&j| has_factor(j) != kind).unwrap_or(n);
        let step = if kind { Step::SquareTimes(m) } else { Step::Square };
        engine.square(reg, end - done, step, shift.after_squarings(done, p))?;
        done = end;
    }
    Ok(())
}

/// An engine's measurements of its own accuracy.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Health {
    /// The measured round-off; `None` if the engine computes in integers.
    pub round_off: Option<RoundOff>,
    /// The number of squarings that were checked and found right.
    pub checked_squarings: u64,
}

/// An error of an engine.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// A word of a product is too far from an integer for its rounding to be trusted.
    #[error("round-off {measured:.4} is above the limit of {limit:.4} at length {length}")]
    RoundOff {
        /// The largest measured distance of a word from the nearest integer. The value is 0.5 if
        /// the product was not finite.
        measured: f64,
        /// The largest allowed distance of a word from the nearest integer.
        limit: f64,
        /// The transform length N, in words.
        length: usize,
    },
    /// A squaring is wrong: the sums over its words do not satisfy the identity of squarings, or a
    /// block of a device waited in vain for the carries of another.
    #[error("a squaring at length {length} is wrong by its check")]
    WrongSquaring {
        /// The transform length N, in words.
        length: usize,
    },
    /// The engine family does not support the number at the transform length.
    #[error("{engine} cannot hold {number} in {length} words: {reason}")]
    Unusable {
        /// The name of the engine family.
        engine: &'static str,
        /// The modulus.
        number: Number,
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
        /// A description of the engine: its family, the CPU or device, the exponent, the length and
        /// the number of registers.
        what: String,
        /// The number of bytes that the engine needs in total.
        needed: u64,
        /// The text of the device's error.
        reason: String,
    },
}

impl EngineError {
    /// Returns the kind of the error: bad input, an unsound result, or a failure of the device. A
    /// lack of device memory counts as a failure of the device.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Unusable { .. } => ErrorKind::BadInput,
            Self::RoundOff { .. } | Self::WrongSquaring { .. } => ErrorKind::Unsound,
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
    /// The largest number of threads that the engine may use; with 1, the caller's thread does all
    /// work.
    pub threads: usize,
    /// The variant, as an index into the list of [`Profiled::variants`]; 0 is the default variant.
    pub variant: usize,
    /// Whether the engine checks its squarings ([`EngineFamily::checks_squarings`]).
    pub check_squarings: bool,
    /// The step of most squarings, if it is known. An engine on a device then compiles the kernels of this step when
    /// it is built, and with several registers also those of products, all at the same time. Other kernels are
    /// compiled when they are first needed.
    pub ahead: Option<Step>,
}

impl BuildOptions {
    /// Creates options with the default variant, without checks of squarings, whose kernels are
    /// compiled when they are first needed.
    #[must_use]
    pub fn new(registers: usize, threads: usize) -> Self {
        Self { registers, threads, variant: 0, check_squarings: false, ahead: None }
    }
}

/// The margin of an engine family for an exponent at a transform length: how far its errors, or its
/// largest numbers, stay below their limits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Margin {
    /// The number of bits to spare. For an engine with rounding errors, it is log2 of the ratio of
    /// the allowed error to the expected error. For an exact engine, it is log2 of the ratio of the
    /// largest number that the engine can represent to the largest number that can occur. A plan
    /// rejects a length with a negative margin.
    pub bits: f64,
    /// True if the margin is proven for every input, false if it is statistical.
    pub proven: bool,
}

/// A family of engines with one kind of arithmetic, on the CPU or on one device. The family knows
/// the exponents and lengths that it accepts, and builds engines.
pub trait EngineFamily: Sync {
    /// Returns the name of the family, such as `fp64` or `goldilocks`. Families with the same name,
    /// on the CPU and on devices, compute the same results.
    fn name(&self) -> &'static str;

    /// Returns where the family's engines compute: `cpu`, or the name of a device (`cuda:0`,
    /// `sim`).
    fn place(&self) -> &str {
        CPU
    }

    /// Returns the shortest transform length, in words, at which a plan prefers this family on a
    /// device to a family on the CPU, if the request leaves the choice open. For a family on the
    /// CPU, the value has no meaning.
    fn shortest_worthwhile(&self) -> usize {
        1
    }

    /// Returns whether every product of the family is proven to be exact, or refused, whatever its
    /// input. A request for an exact engine may use such a family. On devices, the margins of
    /// `hybrid` for its longest words are not proven for every input: products of digits whose norm
    /// is too large are refused.
    fn is_exact(&self) -> bool {
        false
    }

    /// Returns whether a plan uses the family only if the request names it.
    fn is_on_request(&self) -> bool {
        false
    }

    /// Returns the range of exponents p of M_p = 2^p − 1 that have a usable transform length in this
    /// family.
    fn exponent_range(&self) -> RangeInclusive<u32>;

    /// Returns whether the family's engines compute modulo the number. By default they compute modulo
    /// the Mersenne numbers of [`EngineFamily::exponent_range`] only. A family that computes modulo
    /// other numbers also implements [`EngineFamily::margin_for`] and [`EngineFamily::build_for`].
    fn takes(&self, number: Number) -> bool {
        number.is_mersenne() && self.exponent_range().contains(&number.exponent())
    }

    /// Returns the transform lengths from `from` to `to`, both included, that this family can
    /// build, in ascending order.
    fn lengths(&self, from: usize, to: usize) -> Vec<usize>;

    /// Returns whether a transform length is dominated, that is, whether some longer length is
    /// known to be faster on the same device. A plan uses a dominated length only if the request
    /// names this length or a range of lengths, or as a longer length after a round-off error.
    fn is_dominated(&self, _length: usize) -> bool {
        false
    }

    /// Returns the margin for the exponent p at a transform length. Returns an error if the length
    /// cannot be used at all, for example if there are more words than bits, or if the family does
    /// not support the length.
    fn margin(&self, p: u32, length: usize) -> Result<Margin, EngineError>;

    /// Returns [`EngineFamily::margin`] for any number. Returns an error if the family does not take
    /// the number.
    fn margin_for(&self, number: Number, length: usize) -> Result<Margin, EngineError> {
        only_mersenne(self.name(), number, length)?;
        self.margin(number.exponent(), length)
    }

    /// Returns the number of bytes of device memory that an engine needs. Returns `None` for an
    /// engine on the CPU, or if the number is not known.
    fn device_bytes(&self, number: Number, length: usize, registers: usize) -> Option<u64> {
        let _ = (number, length, registers);
        None
    }

    /// Returns whether engines of the variant `variant` can check each of their squarings by sums
    /// over the words ([`BuildOptions::check_squarings`]). A wrong squaring is then reported as
    /// [`EngineError::WrongSquaring`].
    fn checks_squarings(&self, p: u32, length: usize, variant: usize) -> bool {
        let _ = (p, length, variant);
        false
    }

    /// Returns whether Lucas–Lehmer tests check each squaring by default, where the engine can do so.
    /// `docs/checks/squarings.md` has the cost.
    fn checks_by_default(&self) -> bool {
        true
    }

    /// Builds an engine for the exponent p at the transform length `length`. A negative margin is
    /// not an error here: the plan decides whether a margin is large enough.
    ///
    /// # Errors
    /// Returns the errors of [`EngineFamily::margin`]. If the family has variants, also returns an
    /// error if `options.variant` is too large. Also returns an error if `options.check_squarings`
    /// is true and [`EngineFamily::checks_squarings`] is false. On a device, also returns an error if
    /// a kernel cannot be compiled, or if the device fails or lacks memory.
    fn build(
        &self,
        p: u32,
        length: usize,
        options: BuildOptions,
    ) -> Result<Box<dyn Engine>, EngineError>;

    /// Compiles the kernels of an engine modulo 2^p − 1, in parallel in rayon's current thread pool. Building the
    /// engine then takes less time. Does nothing for a family without kernels, and for other numbers.
    ///
    /// # Errors
    /// Returns an error if a length or variant does not exist, or if a kernel cannot be compiled.
    fn compile(
        &self,
        number: Number,
        length: usize,
        options: BuildOptions,
    ) -> Result<(), EngineError> {
        let _ = (number, length, options);
        Ok(())
    }

    /// Returns whether this family is taken to be faster than the exact families at its place. A plan then does
    /// not measure exact families for 2^p − 1. On a device this may measure rates of the device, which takes some
    /// tenths of a second.
    fn outruns_exact_families(&self) -> bool {
        false
    }

    /// Builds an engine for any number, like [`EngineFamily::build`].
    ///
    /// # Errors
    /// Returns the errors of [`EngineFamily::margin_for`] and of [`EngineFamily::build`].
    fn build_for(
        &self,
        number: Number,
        length: usize,
        options: BuildOptions,
    ) -> Result<Box<dyn Engine>, EngineError> {
        only_mersenne(self.name(), number, length)?;
        self.build(number.exponent(), length, options)
    }

    /// Returns the interface for comparing the variants of the family's engines. Returns `None` if
    /// there is only one variant.
    fn profiled(&self) -> Option<&dyn Profiled> {
        None
    }
}

/// Returns an error unless the number is a Mersenne number.
pub(crate) fn only_mersenne(
    engine: &'static str,
    number: Number,
    length: usize,
) -> Result<(), EngineError> {
    if number.is_mersenne() {
        return Ok(());
    }
    let reason = "it computes modulo Mersenne numbers only".into();
    Err(EngineError::Unusable { engine, number, length, reason })
}
