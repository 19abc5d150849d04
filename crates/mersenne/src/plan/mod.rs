//! Plans: from an exponent to an engine, a place and a transform length.

use std::time::{Duration, Instant};

use warpint_device::{CPU, DeviceChoice, DeviceError};
use warpint_files::ErrorKind;

use crate::engine::places;
use crate::engine::plain::Plain;
use crate::engine::{BuildOptions, Cut, Engine, EngineError, EngineFamily, Margin, Step, Work};
use crate::{Number, Residue, Shift};

mod alike;
mod choose;
mod fastest;
mod near;
#[cfg(test)]
mod tests;
mod timer;
mod tuned;
pub use alike::{Alike, plans_cut_alike};
pub use choose::{NoTimes, Resolved, StoredTime, StoredTimes, TimingKey};
pub use near::PlanRefusal;
pub use timer::SquaringTimer;
pub use tuned::TunedTimes;

/// Formats the name of an engine with its place. Examples: `fp64` on the CPU,
/// `goldilocks on cuda:0` on a device.
#[must_use]
pub fn engine_at(engine: &str, place: &str) -> String {
    if place == CPU { engine.into() } else { format!("{engine} on {place}") }
}

/// The name that a request gives for any exact engine: [`PlanRequest::engine`].
pub const EXACT: &str = "exact";

/// The number of squarings on a GPU before the first one that is timed. After them, all kernels are
/// built, and squarings are launched as in a long test.
const FIRST_ON_A_GPU: u64 = 200;

/// The user's request for a plan. Later versions may add fields, so write
/// `..PlanRequest::default()` for the fields that are not named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PlanRequest {
    /// The name of the engine family to use. `None` lets the plan choose among the families that need
    /// not be named ([`EngineFamily::is_on_request`]). [`EXACT`] lets the plan choose among the
    /// families whose margin is proven ([`EngineFamily::is_exact`]).
    pub engine: Option<&'static str>,
    /// The place where the engine is to compute.
    pub device: DeviceChoice,
    /// The transform length to use, in words; `None` lets the plan choose.
    pub length: Option<usize>,
    /// The number of threads on the CPU; `None` uses all.
    pub threads: Option<usize>,
    /// The lane of the device ([`families_in_lane`](crate::engine::places::families_in_lane)). Threads that
    /// compute on one device at the same time have different lanes. The CPU has no lanes.
    pub lane: u32,
    /// Whether engines on a device square numbers together with those of other lanes
    /// ([`families_in_gangs`](crate::engine::places::families_in_gangs)).
    pub in_gangs: bool,
}

/// The choice of an engine family, a transform length and a variant for one number. The margin of
/// the family at this length is at least 0 bits.
#[derive(Clone, Copy)]
pub struct Plan {
    number: Number,
    family: &'static dyn EngineFamily,
    length: usize,
    variant: usize,
    margin: Margin,
    threads: usize,
    /// Whether an exact engine was asked for, so that a longer transform must be exact, too.
    exact: bool,
}

/// The reason why no plan is possible.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The requested engine family does not exist at this place.
    #[error("{place} does not have engine {engine}; it has {known}")]
    NoEngine {
        /// The name of the requested family.
        engine: &'static str,
        /// The name of the place: `cpu`, `cuda:0`, …
        place: String,
        /// The names of the families at the place.
        known: String,
    },
    /// The family does not support this exponent.
    #[error("engine {engine} takes exponents from {from} to {to}, not {exponent}")]
    OutOfRange {
        /// The name of the family.
        engine: &'static str,
        /// The exponent p.
        exponent: u32,
        /// The smallest exponent that the family supports.
        from: u32,
        /// The largest exponent that the family supports.
        to: u32,
    },
    /// The family does not support numbers of this form.
    #[error(
        "{engine} does not test {number} here: without --engine, one that does is chosen; plain tests all, on the CPU"
    )]
    Form {
        /// The name of the family.
        engine: &'static str,
        /// The number.
        number: Number,
    },
    /// The family cannot use the requested length for this exponent.
    #[error(transparent)]
    Unusable(#[from] EngineError),
    /// The margin at the requested length is negative.
    #[error(
        "length {length} is too short for {number} with engine {engine} ({bits:.2} bits of \
         margin); the shortest safe length is {shortest}"
    )]
    TooShort {
        /// The name of the family.
        engine: &'static str,
        /// The number.
        number: Number,
        /// The requested length, in words.
        length: usize,
        /// The margin at the requested length, in bits (negative).
        bits: f64,
        /// The shortest length above the requested one that a plan would use, in words.
        shortest: usize,
    },
    /// No transform length of the family supports the exponent with enough margin; or, when a
    /// longer transform is needed, no length longer than the present one does.
    #[error("no transform length of engine {engine} is long enough for {number}")]
    NoLength {
        /// The name of the family.
        engine: &'static str,
        /// The number.
        number: Number,
    },
}

impl PlanError {
    /// Returns the kind of the error: the kind of the engine's error for [`Self::Unusable`],
    /// otherwise bad input.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NoEngine { .. }
            | Self::OutOfRange { .. }
            | Self::Form { .. }
            | Self::TooShort { .. }
            | Self::NoLength { .. } => ErrorKind::BadInput,
            Self::Unusable(e) => e.kind(),
        }
    }
}

impl PlanRequest {
    /// Returns whether the request allows an engine family for Mersenne numbers.
    fn allows(&self, family: &dyn EngineFamily) -> bool {
        match self.engine {
            None => !family.is_on_request(),
            Some(EXACT) => family.is_exact() && !family.is_on_request(),
            Some(name) => name == family.name(),
        }
    }

    /// Returns whether the request allows an engine family for the number. For numbers other than
    /// Mersenne numbers, no family needs to be named.
    fn allows_for(&self, family: &dyn EngineFamily, number: Number) -> bool {
        if number.is_mersenne() {
            return self.allows(family);
        }
        match self.engine {
            None => true,
            Some(EXACT) => family.is_exact(),
            Some(name) => name == family.name(),
        }
    }
}

impl Plan {
    /// Returns a plan for the number with a given engine family, which need not be a built-in
    /// one. If `length` is `None`, the plan uses the shortest length with enough margin, but no
    /// dominated length ([`EngineFamily::is_dominated`]). If `threads` is `None`, the plan uses all
    /// threads.
    pub fn of_family(
        number: impl Into<Number>,
        family: &'static dyn EngineFamily,
        length: Option<usize>,
        threads: Option<usize>,
    ) -> Result<Self, PlanError> {
        let number = number.into();
        let (p, range) = (number.exponent(), family.exponent_range());
        if !family.takes(number) {
            if !number.is_mersenne() {
                return Err(PlanError::Form { engine: family.name(), number });
            }
            return Err(PlanError::OutOfRange {
                engine: family.name(),
                exponent: p,
                from: *range.start(),
                to: *range.end(),
            });
        }
        let threads = threads.unwrap_or_else(rayon::current_num_threads).max(1);
        let shortest = |from: usize| {
            let safe: Vec<(usize, Margin)> = family
                .lengths(from, number.bits() as usize)
                .into_iter()
                .filter_map(|n| Some((n, family.margin_for(number, n).ok()?)))
                .filter(|(_, margin)| margin.bits >= 0.0)
                .collect();
            // The words of longer lengths may be too short.
            let best = safe.iter().find(|(n, _)| !family.is_dominated(*n)).or(safe.first());
            best.copied().ok_or(PlanError::NoLength { engine: family.name(), number })
        };
        let (length, margin) = match length {
            None => shortest(1)?,
            Some(n) => {
                let margin = family.margin_for(number, n)?;
                if margin.bits < 0.0 {
                    return Err(PlanError::TooShort {
                        engine: family.name(),
                        number,
                        length: n,
                        bits: margin.bits,
                        shortest: shortest(n)?.0,
                    });
                }
                (n, margin)
            }
        };
        Ok(Self { number, family, length, variant: 0, margin, threads, exact: false })
    }

    /// Returns a plan with the same engine at the next longer length that has enough margin. The
    /// test continues with this plan after a round-off error. For numbers other than Mersenne numbers, the
    /// shortest length of an earlier family of the place follows the longest length, then the engine `plain`. If an
    /// exact engine was asked for, the earlier family must be exact.
    pub fn longer(&self) -> Result<Self, PlanError> {
        let number = self.number;
        let longer = self
            .family
            .lengths(self.length.saturating_add(1), number.bits() as usize)
            .into_iter()
            .filter_map(|n| Some((n, self.family.margin_for(number, n).ok()?)))
            .find(|(_, margin)| margin.bits >= 0.0);
        match longer {
            Some((length, margin)) => Ok(Self { length, margin, variant: 0, ..*self }),
            None if number.is_mersenne() || self.family.name() == Plain.name() => {
                Err(PlanError::NoLength { engine: self.family.name(), number })
            }
            None => {
                let earlier = places::families_before(self.family).into_iter();
                let of = |family| {
                    let plan = Self::of_family(number, family, None, Some(self.threads))?;
                    Ok(Self { exact: self.exact, ..plan })
                };
                let suits = |family: &&'static dyn EngineFamily| !self.exact || family.is_exact();
                let plan = earlier.filter(suits).filter_map(|family| of(family).ok()).next();
                plan.map_or_else(|| of(&Plain), Ok)
            }
        }
    }

    /// Returns a plan with the same engine at the shortest length that is at least `length` words
    /// and has enough margin.
    pub fn at_least(&self, length: usize) -> Result<Self, PlanError> {
        Self { length: length.saturating_sub(1), ..*self }.longer()
    }

    /// Compiles the kernels of an engine for squarings, if the plan's engine has kernels
    /// ([`EngineFamily::compile`]).
    pub(super) fn compile(&self) -> Result<(), EngineError> {
        let (variant, ahead) = (self.variant, Some(Step::Square));
        let options = BuildOptions { variant, ahead, ..BuildOptions::new(1, self.threads) };
        self.family.compile(self.number, self.length, options)
    }

    /// Builds the plan's engine with the given number of registers.
    ///
    /// # Errors
    /// Returns errors of the family, and [`EngineError::NoRoom`] if the device does not have enough
    /// memory.
    pub fn build(&self, registers: usize) -> Result<Box<dyn Engine>, EngineError> {
        self.build_checked(registers, false)
    }

    /// Returns whether the plan's engine can check each squaring
    /// ([`EngineFamily::checks_squarings`]).
    #[must_use]
    pub fn checks_squarings(&self) -> bool {
        // The sums of the checks are over words of Mersenne numbers.
        self.number.is_mersenne()
            && self.family.checks_squarings(self.number.exponent(), self.length, self.variant)
    }

    /// Returns whether Lucas–Lehmer tests check each squaring if nothing else is requested
    /// ([`EngineFamily::checks_by_default`]).
    #[must_use]
    pub fn checks_by_default(&self) -> bool {
        self.family.checks_by_default() && self.checks_squarings()
    }

    /// Returns this plan if its engine can check each squaring, or else the plan in the first variant
    /// that can do so. Returns `None` if no variant can at this length.
    #[must_use]
    pub fn checking(&self) -> Option<Self> {
        let others = (0..self.variants().len()).map(|variant| Self { variant, ..*self });
        [*self].into_iter().chain(others).find(Self::checks_squarings)
    }

    /// Builds the plan's engine as [`Plan::build`] does. If `check_squarings` is true, and the engine
    /// can do so, it checks each squaring.
    ///
    /// # Errors
    /// Returns the errors of [`Plan::build`].
    pub fn build_checked(
        &self,
        registers: usize,
        check_squarings: bool,
    ) -> Result<Box<dyn Engine>, EngineError> {
        let ahead = Some(Step::Square);
        self.build_with(BuildOptions { check_squarings, ahead, ..BuildOptions::new(registers, 1) })
    }

    /// Builds the plan's engine with the given options, but in the plan's variant and with the plan's number of
    /// threads. Squarings are checked only if the engine can do so.
    pub(crate) fn build_with(&self, options: BuildOptions) -> Result<Box<dyn Engine>, EngineError> {
        let (number, length, registers) = (self.number, self.length, options.registers);
        let check_squarings = options.check_squarings && self.checks_squarings();
        let (threads, variant) = (self.threads, self.variant);
        let options = BuildOptions { threads, variant, check_squarings, ..options };
        self.family.build_for(number, length, options).map_err(|error| match error {
            EngineError::Device(source @ DeviceError::OutOfMemory { .. }) => {
                match self.family.device_bytes(number, length, registers) {
                    Some(needed) => EngineError::NoRoom {
                        what: format!("{self:?} with {registers} registers"),
                        needed,
                        reason: source.to_string(),
                    },
                    None => EngineError::Device(source),
                }
            }
            other => other,
        })
    }

    /// Builds an engine with one register, which holds a pseudo-random residue.
    fn build_to_time(&self) -> Result<Box<dyn Engine>, EngineError> {
        let mut engine = self.build(1)?;
        // Limbs without a pattern, like the words of a test (SplitMix64, Steele and others 2014).
        let limbs: Vec<u64> = (1..=self.number.limbs() as u64)
            .map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15))
            .map(|x| (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9))
            .map(|x| (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb))
            .map(|x| x ^ (x >> 31))
            .collect();
        engine.write(0, &Residue::from_limbs(self.number, &limbs), Shift::ZERO)?;
        Ok(engine)
    }

    /// Returns the time of a squaring on a pseudo-random residue. Laps of at least four squarings
    /// are timed until `budget` has passed, and the fastest lap counts. A lap takes about 10 ms on
    /// the CPU and about 100 ms on a device. Laps on the CPU are short because other processes can
    /// only add time to a lap. Building the engine is not included, nor are the first squarings on a
    /// GPU, which build kernels and are launched one by one.
    pub fn time_per_squaring(&self, budget: Duration) -> Result<Duration, EngineError> {
        let lap_seconds = if self.is_on_cpu() { 0.01 } else { 0.1 };
        let mut engine = self.build_to_time()?;
        let first = if matches!(self.place(), CPU | "sim") { 2 } else { FIRST_ON_A_GPU };
        engine.square(0, first, Step::Square, Shift::ZERO)?;
        engine.finish()?;
        let begin = Instant::now();
        let (mut least, mut squarings) = (Duration::MAX, 4u64);
        loop {
            let lap = Instant::now();
            engine.square(0, squarings, Step::Square, Shift::ZERO)?;
            engine.finish()?;
            let seconds = lap.elapsed().as_secs_f64() / squarings as f64;
            least = least.min(Duration::from_secs_f64(seconds));
            if begin.elapsed() > budget {
                return Ok(least);
            }
            squarings = ((lap_seconds / seconds) as u64).clamp(4, 1 << 20);
        }
    }

    /// Returns the number.
    #[must_use]
    pub fn number(&self) -> Number {
        self.number
    }

    /// Returns the exponent n of the number k·b^n ± 1, which is p for M_p.
    #[must_use]
    pub fn exponent(&self) -> u32 {
        self.number.exponent()
    }

    /// Returns the name of the engine family.
    #[must_use]
    pub fn engine(&self) -> &'static str {
        self.family.name()
    }

    /// Returns where the engine computes, for example `cpu`, `cuda:0` or `sim`.
    #[must_use]
    pub fn place(&self) -> &'static str {
        self.family.place()
    }

    /// Returns whether the engine computes on the CPU.
    #[must_use]
    pub fn is_on_cpu(&self) -> bool {
        self.place() == CPU
    }

    /// Returns the names of the family's variants at this length
    /// ([`Profiled::variants`](crate::Profiled::variants)). Returns one empty name if the family
    /// has only one variant.
    fn variants(&self) -> Vec<String> {
        // Engines for other numbers have no variants, and the times of Mersenne numbers are not theirs.
        let profiled = self.family.profiled().filter(|_| self.number.is_mersenne());
        let named = profiled.map(|family| family.variants(self.length));
        named.unwrap_or_else(|| vec![String::new()])
    }

    /// Returns the name of the plan's variant ([`Profiled::variants`](crate::Profiled::variants)).
    /// The name is empty if the family has only one variant.
    #[must_use]
    pub fn variant(&self) -> String {
        self.variants().into_iter().nth(self.variant).unwrap_or_default()
    }

    /// Returns a copy of the plan with another variant. `variant` is an index into the list of
    /// [`Profiled::variants`](crate::Profiled::variants). Returns `None` if this index is too
    /// large.
    #[must_use]
    pub fn in_variant(&self, variant: usize) -> Option<Self> {
        (variant < self.variants().len()).then_some(Self { variant, ..*self })
    }

    /// Returns how the transform is divided into rows, columns and radices
    /// ([`Profiled::cuts`](crate::Profiled::cuts)); `None` if it is not divided.
    #[must_use]
    pub fn cut(&self) -> Option<Cut> {
        self.family.profiled()?.cuts(self.length).into_iter().nth(self.variant)
    }

    /// Returns the work of a squaring as counts of operations
    /// ([`Profiled::work`](crate::Profiled::work)); `None` if it is not known.
    #[must_use]
    pub fn work(&self) -> Option<Work> {
        self.family.profiled()?.work(self.length, self.variant)
    }

    /// Returns the transform length N, in words.
    #[must_use]
    pub fn length(&self) -> usize {
        self.length
    }

    /// Returns the mean number of bits of a word: B/N for a number of B bits and a transform of N
    /// words.
    #[must_use]
    pub fn bits_per_word(&self) -> f64 {
        f64::from(self.number.bits()) / self.length as f64
    }

    /// Returns the margin of the engine family for the exponent at the plan's length.
    #[must_use]
    pub fn margin(&self) -> Margin {
        self.margin
    }

    /// Returns the number of threads of the engine.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads
    }
}

impl std::fmt::Debug for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (number, engine, place, n) = (self.number, self.engine(), self.place(), self.length);
        write!(f, "{number} by {engine} on {place} in {n} words")
    }
}
