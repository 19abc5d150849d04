//! Candidates: numbers k·b^n ± 1 to be tested, with their names, and the jobs that test them.

use std::path::Path;
use std::str::FromStr;

use warpint_mersenne::{Number, NumberError, TestKind, TestSpec};

use crate::job::{Job, TF_LIMIT, random_shift};
use crate::note::Note;

/// A number to be tested, and the text that names it in a list or on a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    number: Number,
    name: String,
}

impl FromStr for Candidate {
    type Err = NumberError;

    /// Parses a number as [`Number`] does. The name is the text without white space.
    fn from_str(text: &str) -> Result<Self, NumberError> {
        let name = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
        Ok(Self { number: text.parse()?, name })
    }
}

impl Candidate {
    /// A reasonable limit of the search for factors of a number other than 2^p − 1 before its test.
    pub const FACTOR_LIMIT: u64 = 1_000_000;

    /// The least limit of the search for factors. [`TestKind::for_number`] needs it.
    const LEAST_LIMIT: u64 = 1 << 16;

    /// Returns the number.
    #[must_use]
    pub fn number(&self) -> Number {
        self.number
    }

    /// Returns the text that names the number.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Creates the job that tests the number: by the test that proves most, or by Fermat's test to a
    /// given base. Factors up to `factor_limit`, but at least 65,536, are searched for first. For 2^p − 1
    /// with prime p, the limit is [`TF_LIMIT`] instead.
    #[must_use]
    pub fn job<'a>(&self, base: Option<u32>, factor_limit: u64, dir: &'a Path) -> Job<'a> {
        let number = self.number;
        let kind =
            base.map_or_else(|| TestKind::for_number(number), |base| TestKind::Fermat { base });
        let exponent = number.mersenne_exponent();
        let shift = exponent.map_or(0, |p| random_shift(p.get()));
        let limit = factor_limit.max(Self::LEAST_LIMIT);
        let tf_limit = Some(if exponent.is_some() { TF_LIMIT } else { limit });
        Job { tf_limit, ..Job::new(TestSpec { shift, ..TestSpec::new(kind, number) }, dir) }
    }

    /// Returns what the user should know before the number is tested by a test of this kind: its normal
    /// form, if it was given in another form, and why no test can prove it prime, if k is too long.
    #[must_use]
    pub fn notes(&self, kind: TestKind) -> Vec<Note> {
        let number = self.number;
        let normal_form =
            (!self.is_normal()).then(|| Note::NormalForm { name: self.name.clone(), number });
        let is_long = !number.has_multiplier_below_power();
        let long = (is_long && matches!(kind, TestKind::Fermat { .. }))
            .then_some(Note::LongMultiplier { number });
        normal_form.into_iter().chain(long).collect()
    }

    /// Returns whether the name has the k, b and n of the normal form.
    fn is_normal(&self) -> bool {
        let Self { number, name } = self;
        let (k, b, n, c) = (number.multiplier(), number.base(), number.exponent(), number.sign());
        let full = format!("{k}*{b}^{n}{c}");
        *name == number.to_string() || *name == full || format!("1*{name}") == full
    }
}
