//! Pairs of an engine and the oracle that do the same operations and are compared.

use std::fmt;

use warpint_mersenne::{BuildOptions, Engine, EngineError, EngineFamily, Residue, Shift, Step};

use crate::oracle::Limbs;
use crate::sample;

/// The number of registers of each of the two engines of a [`Twin`].
pub const REGISTERS: usize = 3;

/// The reason why a comparison did not succeed.
#[derive(Debug)]
pub enum Trouble {
    /// The engine reported too much round-off. Cases that use a length with little margin allow
    /// this; in other cases it is a failure.
    RoundOff(String),
    /// The engine returned a wrong value or an unexpected error.
    Failure(String),
}

impl From<Trouble> for String {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::RoundOff(message) | Trouble::Failure(message) => message,
        }
    }
}

/// An engine under test and the oracle for the same exponent.
///
/// Every message contains the family, the exponent, the length and the seed, which suffice to
/// reproduce a failure.
pub struct Twin {
    place: String,
    engine: Box<dyn Engine>,
    oracle: Box<dyn Engine>,
}

impl Twin {
    /// Builds the engine under test at the given length with one thread, and the oracle.
    pub fn new(
        family: &dyn EngineFamily,
        p: u32,
        length: usize,
        seed: u64,
    ) -> Result<Self, Trouble> {
        let place = format!("{} M{p} length {length} seed {seed}", family.name());
        let options = BuildOptions::new(REGISTERS, 1);
        let built = |e: EngineError| Trouble::Failure(format!("{place}: not built: {e}"));
        let engine = family.build(p, length, options).map_err(built)?;
        let oracle = Limbs.build(p, 1, options).map_err(built)?;
        if (engine.exponent(), engine.length(), engine.registers()) != (p, length, REGISTERS) {
            return Err(Trouble::Failure(format!(
                "{place}: built with exponent {}, length {}, {} registers",
                engine.exponent(),
                engine.length(),
                engine.registers()
            )));
        }
        Ok(Self { place, engine, oracle })
    }

    /// Builds the engine under test at its shortest length with enough margin, and the oracle.
    pub fn shortest(family: &dyn EngineFamily, p: u32, seed: u64) -> Result<Self, Trouble> {
        let length = sample::shortest_length(family, p).map_err(Trouble::Failure)?;
        Self::new(family, p, length, seed)
    }

    /// Returns the exponent p of the modulus M_p = 2^p − 1.
    #[must_use]
    pub fn exponent(&self) -> u32 {
        self.oracle.exponent()
    }

    /// Returns the transform length of the engine under test, in words.
    #[must_use]
    pub fn length(&self) -> usize {
        self.engine.length()
    }

    /// Does the operation `op` on the engine under test and on the oracle, and returns their
    /// results in this order. `what` names the operation in messages.
    pub fn both<T>(
        &mut self,
        what: &dyn fmt::Display,
        op: impl Fn(&mut dyn Engine) -> Result<T, EngineError>,
    ) -> Result<(T, T), Trouble> {
        let found = op(self.engine.as_mut()).map_err(|e| {
            let message = format!("{}: {what}: {e}", self.place);
            match e {
                EngineError::RoundOff { .. } => Trouble::RoundOff(message),
                _ => Trouble::Failure(message),
            }
        })?;
        let expected = op(self.oracle.as_mut())
            .map_err(|e| Trouble::Failure(format!("{}: {what}: oracle: {e}", self.place)))?;
        Ok((found, expected))
    }

    /// Writes x with the given shift to register `reg` of both engines. The register then contains
    /// x·2^shift.
    pub fn write(&mut self, reg: usize, x: &Residue, shift: Shift) -> Result<(), Trouble> {
        self.both(&"write", |e| e.write(reg, x, shift)).map(drop)
    }

    /// Squares register `reg` n times with the given step in both engines, and returns an error if
    /// the results differ. `shift` is the shift of the register before the squarings.
    pub fn square(
        &mut self,
        what: &dyn fmt::Display,
        reg: usize,
        n: u64,
        step: Step,
        shift: Shift,
    ) -> Result<(), Trouble> {
        let what = format!("{what}, {step:?} {n} times at shift {}", shift.bits());
        self.both(&what, |e| e.square(reg, n, step, shift))?;
        self.same(&what, reg, shift.after_squarings(n, self.exponent()))
    }

    /// Reads register `reg` of both engines with the given shift. Returns an error if the residues
    /// differ.
    pub fn same(
        &mut self,
        what: &dyn fmt::Display,
        reg: usize,
        shift: Shift,
    ) -> Result<(), Trouble> {
        let (found, expected) = self.both(what, |e| e.read(reg, shift))?;
        self.equal(&format!("{what}: r[{reg}]"), &found, &expected)
    }

    /// Returns an error if the two residues differ. `what` names them in the message.
    pub fn equal(
        &self,
        what: &dyn fmt::Display,
        found: &Residue,
        expected: &Residue,
    ) -> Result<(), Trouble> {
        if found == expected {
            return Ok(());
        }
        Err(Trouble::Failure(format!(
            "{}: {what} is {found:?}, not {expected:?} (first wrong limb {})",
            self.place,
            first_difference(found.limbs(), expected.limbs())
        )))
    }
}

/// Returns the index of the lowest limb in which two residues differ. If the residues are equal,
/// returns their number of limbs.
fn first_difference(a: &[u64], b: &[u64]) -> usize {
    a.iter().zip(b).take_while(|(x, y)| x == y).count()
}
