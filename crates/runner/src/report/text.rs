//! The result of a test as one line of text.

use std::fmt::{self, Display};
use std::time::Duration;

use warpint_device::CPU;
use warpint_mersenne::engine_at;
use warpint_progress::units;

use super::{Errors, RoundOff, Status, TestReport};

impl Display for TestReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { exponent, worktype, res64, iterations, .. } = self;
        let prp = self.start.is_none();
        let Some(engine) = &self.engine else {
            if let Some(number) = &self.number {
                return write!(f, "{number} is prime, proven in machine words: no test is needed");
            }
            return write!(f, "M2 = 3 is prime: no {worktype} test applies to it (res64 {res64})");
        };
        let number: String = self.known_factors.iter().map(|factor| format!("/{factor}")).collect();
        let squarings = units::count(*iterations, "squaring");
        match (self.status, prp) {
            (status, _) if self.number.is_some() => self.of_form(f, status, &squarings),
            (Status::Prime | Status::Probable, true) => {
                write!(
                    f,
                    "M{exponent}{number} is a probable prime: PRP-3 res64 {res64}, {squarings}"
                )
            }
            (Status::Composite, true) => {
                write!(f, "M{exponent}{number} is composite: PRP-3 res64 {res64}, {squarings}")
            }
            (Status::Prime | Status::Probable, false) => {
                write!(f, "M{exponent} is prime (Lucas–Lehmer): {squarings}")
            }
            (Status::Composite, false) => {
                write!(f, "M{exponent} is composite (Lucas–Lehmer): res64 {res64}, {squarings}")
            }
            (Status::Certified, _) => {
                let hash = self.sha3_hash.as_deref().unwrap_or_default();
                write!(f, "M{exponent} certification: SHA3-256 {hash}, {squarings}")
            }
            (Status::Interim, _) => {
                let total = self.total;
                write!(f, "M{exponent} {worktype} after {iterations} of {total} squarings: ")?;
                write!(f, "res64 {res64}, no verdict yet")
            }
        }?;
        if let Some(start) = self.start.as_deref().filter(|&s| s != "4") {
            write!(f, " from {start}")?;
        }
        let time = Duration::try_from_secs_f64(self.seconds).unwrap_or_default();
        write!(f, ", {}", units::elapsed(time))?;
        let engine = engine_at(engine, self.device.as_deref().unwrap_or(CPU));
        match self.fft_length {
            1 => write!(f, ", engine {engine}"),
            n => write!(f, ", {engine} {}", units::count_words(n)),
        }?;
        if let Some(second) = &self.second_engine {
            write!(f, ", confirmed by engine {second}")?;
        }
        match self.round_off {
            Some(RoundOff { max, mean, .. }) => {
                write!(f, ", round-off max {max:.4} mean {mean:.4}")?;
            }
            None => {
                f.write_str(", exact arithmetic")?;
                // The engine of an earlier run is not known.
                if let Some(from) = self.resumed_at {
                    write!(f, " after squaring {from}")?;
                }
            }
        }
        if let Some(checked) = self.checked_squarings {
            write!(f, ", {} checked", units::count(checked, "squaring"))?;
        }
        let Errors { gerbicz, jacobi, double_check, squarings, lucas, round_off } = self.errors;
        let checks = [gerbicz, jacobi, double_check, squarings, lucas];
        match (checks.into_iter().fold(0, u32::saturating_add), round_off) {
            (0, 0) => f.write_str(", no errors"),
            (g, r) => write!(
                f,
                ", {} and {} overcome",
                units::count(g, "failed check"),
                units::count(r, "round-off error")
            ),
        }
    }
}

impl TestReport {
    /// Writes the verdict on a number that is not a Mersenne number.
    fn of_form(&self, f: &mut fmt::Formatter<'_>, status: Status, squarings: &str) -> fmt::Result {
        let Self { res64, iterations, total, .. } = self;
        let mut worktype = self.worktype.clone();
        if let [_, further @ ..] = &self.bases[..] {
            worktype.extend(further.iter().map(|base| format!(",{base}")));
        }
        let number = self.number.as_deref().unwrap_or_default();
        match status {
            Status::Prime => {
                let theorem = self.theorem.as_deref().unwrap_or_default();
                write!(f, "{number} is prime ({theorem}): {worktype}, {squarings}")
            }
            Status::Probable => {
                write!(f, "{number} is a probable prime: {worktype} res64 {res64}, {squarings}")
            }
            Status::Composite => {
                write!(f, "{number} is composite: {worktype} res64 {res64}, {squarings}")
            }
            Status::Certified | Status::Interim => write!(
                f,
                "{number} {worktype} after {iterations} of {total} squarings: res64 {res64}, no verdict yet"
            ),
        }
    }
}
