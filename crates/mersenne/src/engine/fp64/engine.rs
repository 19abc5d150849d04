//! The engine of the family `fp64` on the CPU. Registers hold packed residues, and one transform
//! squares them.
//!
//! A product is computed by two squarings: 4ab = (a + b)² − (a − b)². Sum and difference are
//! canonical residues, so the round-off of both squarings is that of any squaring. Division by 4
//! modulo 2^p − 1 is a rotation by two bits. A product so needs no second array of N words.

use std::borrow::Cow;

use warpint_natural::limbs;

use super::carry::Subtrahend;
use super::check::SquareCheck;
use super::flip::{Flip, Place, flip_u64};
use super::transform::Transform;
use super::variants::Variant;
use super::{Fp64, ROUND_OFF_LIMIT, threshold};
use crate::engine::squares::Element;
use crate::engine::{BuildOptions, Engine, EngineError, EngineFamily, Health, RoundOff, Step};
use crate::layout::WordLayout;
use crate::{Residue, Shift};

/// An engine of the family `fp64` on the CPU.
pub(super) struct Fp64Engine {
    layout: WordLayout,
    /// The ⌈p/64⌉ limbs of each register, or none if its value is 0 and it has no memory.
    registers: Vec<Vec<u64>>,
    transform: Box<dyn Transform>,
    statistics: Statistics,
    /// The check of squarings, if squarings are checked.
    check: Option<SquareCheck>,
    /// A bit that will flip.
    flip: Option<Flip>,
    /// The number of squarings, as far as a flip needs it.
    squarings: u64,
}

/// Round-off statistics of all measured products.
#[derive(Debug, Default)]
pub(crate) struct Statistics {
    max: f64,
    mean: f64,
    /// The sum of (e − mean)² over all products, where e is the round-off of a product.
    squares: f64,
    products: u64,
}

impl Statistics {
    /// Records the round-off of a product, which is the largest distance of its words from
    /// integers. A round-off that is not finite counts as ½.
    ///
    /// The mean and the sum of squares follow Welford's recurrence (1962), which avoids
    /// cancellation.
    pub(crate) fn note(&mut self, measured: f64) {
        let measured = if measured.is_finite() { measured } else { 0.5 };
        self.max = self.max.max(measured);
        self.products += 1;
        let to_old_mean = measured - self.mean;
        self.mean += to_old_mean / self.products as f64;
        self.squares += to_old_mean * (measured - self.mean);
    }

    /// Records the round-off of a product, which is the largest distance of its words from
    /// integers. Returns an error if the round-off exceeds [`ROUND_OFF_LIMIT`].
    pub(super) fn record(&mut self, length: usize, measured: f64) -> Result<(), EngineError> {
        self.note(measured);
        within_limit(length, measured)
    }

    pub(crate) fn health(&self) -> Health {
        let Self { max, mean, squares, products } = *self;
        let deviation = (squares / products.saturating_sub(1).max(1) as f64).sqrt();
        let round_off = Some(RoundOff { max, mean, deviation, products });
        Health { round_off, checked_squarings: 0 }
    }
}

/// Returns an error if the round-off of a product exceeds [`ROUND_OFF_LIMIT`]. The round-off is the
/// largest distance of the product's words from integers. `length` is the transform length in
/// words, for the error's text.
pub(crate) fn within_limit(length: usize, measured: f64) -> Result<(), EngineError> {
    let limit = ROUND_OFF_LIMIT;
    if measured.is_nan() || measured > limit {
        return Err(EngineError::RoundOff { measured, limit, length });
    }
    Ok(())
}

/// The size in bytes from which on the memory of a residue is returned to the operating system when
/// it is released.
const LARGE: usize = 4 << 20;

/// Makes the allocator return blocks of [`LARGE`] bytes and more to the operating system when they
/// are released. By default glibc keeps blocks of up to 32 MiB after one of their size was released
/// once; a test of M82589933 then takes 10 to 20 MB more than it uses.
fn return_large_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        use std::ffi::c_int;
        unsafe extern "C" {
            fn mallopt(parameter: c_int, value: c_int) -> c_int;
        }
        const M_MMAP_THRESHOLD: c_int = -3;
        // SAFETY: mallopt of glibc may be called at any time, from any thread. A refusal does no
        // harm.
        let _ = unsafe { mallopt(M_MMAP_THRESHOLD, LARGE as c_int) };
    }
}

impl Fp64Engine {
    /// Creates an engine with a variant of the transform.
    pub(super) fn new(layout: WordLayout, options: BuildOptions) -> Result<Self, EngineError> {
        let unusable = |reason| EngineError::Unusable {
            engine: Fp64.name(),
            number: layout.exponent().into(),
            length: layout.len(),
            reason,
        };
        let variants = Variant::all(layout.len());
        let variant = variants.get(options.variant).ok_or_else(|| {
            unusable(format!("there is no variant {} of this length", options.variant))
        })?;
        let transform = variant.build(layout, options.threads).map_err(unusable)?;
        let engine = Self::with_transform(layout, options.registers, transform);
        Ok(if options.check_squarings { engine.checked(options.threads) } else { engine })
    }

    pub(super) fn with_transform(
        layout: WordLayout,
        registers: usize,
        transform: Box<dyn Transform>,
    ) -> Self {
        let bytes = 8 * limbs::limbs_for_bits(layout.exponent());
        if bytes >= LARGE {
            return_large_memory();
        }
        Self {
            layout,
            registers: vec![vec![]; registers],
            transform,
            statistics: Statistics::default(),
            check: None,
            flip: None,
            squarings: 0,
        }
    }

    /// Makes a bit flip.
    pub(super) fn with_flip(mut self, flip: Flip) -> Self {
        self.flip = Some(flip);
        self
    }

    /// Passes the flip on to the transform if it is due.
    fn count_squaring(&mut self) {
        let due = |flip: &Flip| flip.place != Place::Register && flip.squaring == self.squarings;
        if let Some(flip) = self.flip.filter(due) {
            self.transform.flip_next(flip);
            self.flip = None;
        }
        self.squarings += 1;
    }

    /// Checks every squaring from now on. Packed residues are summed by at most `threads` threads.
    pub(super) fn checked(mut self, threads: usize) -> Self {
        let threads = if self.layout.len() < threshold::THREADS { 1 } else { threads };
        self.check = Some(SquareCheck::new(self.layout, threads, self.transform.as_mut()));
        self
    }

    /// The register receives a residue whose sum is not known.
    fn changed(&mut self, register: usize) {
        if let Some(check) = &mut self.check {
            check.changed(register);
        }
    }

    /// Returns the residue in a register, with all its limbs.
    fn limbs(&self, reg: usize) -> Cow<'_, [u64]> {
        match self.registers[reg].as_slice() {
            [] => vec![0; limbs::limbs_for_bits(self.layout.exponent())].into(),
            x => x.into(),
        }
    }

    /// Replaces x, which has all its limbs, by its square. Records the round-off.
    fn square_once(&mut self, x: &mut Vec<u64>) -> Result<(), EngineError> {
        self.transform.load(x);
        let error = self.transform.square_into(None, x);
        self.statistics.record(self.layout.len(), error)
    }

    /// Loads the residue x, which has all its limbs, of a register. With checks, returns the sum over
    /// the loaded digits.
    fn load(&mut self, reg: usize, x: &[u64]) -> Result<Element, EngineError> {
        self.transform.load(x);
        let Some(check) = &mut self.check else { return Ok(Element::ZERO) };
        let sum = check.loaded(reg, self.transform.as_ref())?;
        if !check.is_due() {
            return Ok(sum);
        }
        check.redraw(self.transform.as_mut());
        self.transform.load(x);
        check.loaded(reg, self.transform.as_ref())
    }

    fn square_residue(
        &mut self,
        reg: usize,
        x: &mut Vec<u64>,
        n: u64,
        step: Step,
        mut shift: Shift,
    ) -> Result<(), EngineError> {
        let p = self.layout.exponent();
        let length = self.layout.len();
        let (mut loaded, mut sum) = (false, Element::ZERO);
        for left in (0..n).rev() {
            shift = shift.after_squarings(1, p);
            let subtract =
                matches!(step, Step::SquareMinusTwo).then(|| Subtrahend::new(&self.layout, shift));
            if !loaded {
                sum = self.load(reg, x)?;
            }
            // A multiplier is applied to the packed residue, where nothing can overflow.
            let packs = left == 0 || matches!(step, Step::SquareTimes(_));
            if self.flip.is_some() {
                self.count_squaring();
            }
            let error = if packs {
                self.transform.square_into(subtract, x)
            } else {
                self.transform.square(subtract)
            };
            loaded = !packs;
            self.statistics.record(length, error)?;
            if let Some(check) = &mut self.check {
                let transform = self.transform.as_ref();
                sum = check.squared(sum, subtract.map(|s| (s.word, shift.bits())), transform)?;
                if packs {
                    let sum = check.converted(x, sum, transform)?;
                    check.packed(reg, sum);
                }
            }
            if let Step::SquareTimes(m) = step {
                limbs::mul_small_mod_assign(x, u64::from(m), p);
                self.changed(reg);
            }
        }
        Ok(())
    }
}

impl Engine for Fp64Engine {
    fn name(&self) -> &'static str {
        Fp64.name()
    }

    fn exponent(&self) -> u32 {
        self.layout.exponent()
    }

    fn length(&self) -> usize {
        self.layout.len()
    }

    fn registers(&self) -> usize {
        self.registers.len()
    }

    fn copy(&mut self, dst: usize, src: usize) -> Result<(), EngineError> {
        if dst != src {
            // Keeps the memory of the old value.
            let mut value = std::mem::take(&mut self.registers[dst]);
            value.clone_from(&self.registers[src]);
            self.registers[dst] = value;
            if let Some(check) = &mut self.check {
                check.copied(dst, src);
            }
        }
        Ok(())
    }

    fn square(&mut self, reg: usize, n: u64, step: Step, shift: Shift) -> Result<(), EngineError> {
        let mut x = std::mem::take(&mut self.registers[reg]);
        x.resize(limbs::limbs_for_bits(self.layout.exponent()), 0);
        let result = self.square_residue(reg, &mut x, n, step, shift);
        if let Some(flip) = self.flip.filter(|flip| flip.squaring < self.squarings) {
            flip_u64(&mut x, flip.bit);
            self.flip = None;
        }
        self.registers[reg] = x;
        if result.is_err() {
            self.changed(reg);
        }
        result
    }

    fn mul(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError> {
        if a == b {
            self.copy(dst, a)?;
            return self.square(dst, 1, Step::Square, Shift::ZERO);
        }
        let p = self.layout.exponent();
        let mut sum = limbs::add_mod(&self.limbs(a), &self.limbs(b), p);
        self.square_once(&mut sum)?;
        // Computed in place, as memory for long residues is scarce. The sign does not matter.
        let (from, other) = if dst == b { (b, a) } else { (a, b) };
        self.copy(dst, from)?;
        let mut difference = std::mem::take(&mut self.registers[dst]);
        difference.resize(sum.len(), 0);
        limbs::sub_mod_assign(&mut difference, &self.limbs(other), p);
        self.square_once(&mut difference)?;
        limbs::sub_mod_assign(&mut sum, &difference, p);
        limbs::quarter_mod_assign(&mut sum, p);
        self.registers[dst] = sum;
        self.changed(dst);
        Ok(())
    }

    fn add(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError> {
        let p = self.layout.exponent();
        self.registers[dst] = limbs::add_mod(&self.limbs(a), &self.limbs(b), p);
        self.changed(dst);
        Ok(())
    }

    fn sub(&mut self, dst: usize, a: usize, b: usize) -> Result<(), EngineError> {
        let p = self.layout.exponent();
        self.registers[dst] = limbs::sub_mod(&self.limbs(a), &self.limbs(b), p);
        self.changed(dst);
        Ok(())
    }

    fn read(&mut self, reg: usize, shift: Shift) -> Result<Residue, EngineError> {
        let p = self.layout.exponent();
        if let Some(check) = &mut self.check
            && !self.registers[reg].is_empty()
        {
            check.verify_register(reg, &self.registers[reg])?;
        }
        Ok(match self.registers[reg].as_slice() {
            [] => Residue::from_u64(p, 0),
            // Bits beyond p come from a flipped bit only. Reduced, they give a wrong residue, which
            // a check finds.
            x if x[x.len() - 1] >> 1 >> ((p - 1) % 64) != 0 => {
                Residue::from_limbs(p, x).rotated_right(shift.bits())
            }
            x => Residue::from_canonical(p, limbs::rotate_left(x, p - shift.bits(), p)),
        })
    }

    fn write(&mut self, reg: usize, x: &Residue, shift: Shift) -> Result<(), EngineError> {
        let p = self.layout.exponent();
        assert_eq!(x.exponent(), p, "a residue of another exponent");
        // The memory of the old value is released first.
        self.registers[reg] = vec![];
        self.changed(reg);
        if !x.is(0) {
            self.registers[reg] = limbs::rotate_left(x.limbs(), shift.bits(), p);
            if let Some(check) = &mut self.check {
                check.written(reg, &self.registers[reg]);
            }
        }
        Ok(())
    }

    fn set(&mut self, reg: usize, v: u64, shift: Shift) -> Result<(), EngineError> {
        if v == 0 {
            self.registers[reg] = vec![];
            self.changed(reg);
            return Ok(());
        }
        self.write(reg, &Residue::from_u64(self.layout.exponent(), v), shift)
    }

    fn health(&self) -> Health {
        let checked_squarings = self.check.as_ref().map_or(0, SquareCheck::verified);
        Health { checked_squarings, ..self.statistics.health() }
    }
}
