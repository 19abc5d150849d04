//! The arguments of `warpint test`.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use warpint::mersenne::{Number, NumberError, PlanRequest, TestKind, TestSpec};
use warpint::runner::{Job, TF_LIMIT, random_shift};

use super::arithmetic::ArithmeticArgs;
use super::at_least_one;
use crate::units;

pub(super) const EXAMPLES: &str = "\
Examples:
  warpint test '7*2^2256+1'             prove by Proth's theorem whether the number is prime
  warpint test '3*2^3276-1' --json      by the test of Lucas, Lehmer and Riesel; for a script
  warpint test '824^1024+1'             by Pocklington's theorem
  warpint test '824^1024+1' --base 7    a probable-prime test to base 7

  $ warpint test '81*2^50+1'
  81*2^50+1 is composite: it has the factor 5
  $ warpint test '5*2^7+1'
  5*2^7+1 is prime, proven in machine words: no test is needed

Checkpoints are in DIR/K_B_N+1/ or DIR/K_B_N-1/. Ctrl-C saves one and stops; the same command
resumes the test.";

/// A number and the text that names it on the command line.
#[derive(Debug, Clone)]
pub(crate) struct Given {
    pub(crate) number: Number,
    text: String,
}

impl FromStr for Given {
    type Err = NumberError;

    fn from_str(text: &str) -> Result<Self, NumberError> {
        Ok(Self { number: text.parse()?, text: text.trim().into() })
    }
}

impl Given {
    /// Returns a line that states the normal form of the number, if the text is another form with
    /// another k, b or n.
    pub(crate) fn normal_form(&self) -> Option<String> {
        let (number, text) = (self.number, &self.text);
        let other = format!(
            "{}*{}^{}{}",
            number.multiplier(),
            number.base(),
            number.exponent(),
            number.sign()
        );
        let bare: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
        let is_normal = bare == number.to_string() || bare == other || format!("1*{bare}") == other;
        (!is_normal).then(|| format!("{text} is {number}"))
    }
}

/// The arguments of `warpint test`.
#[derive(Debug, Args)]
pub(crate) struct NumberArgs {
    /// The number: K*B^N+1 or K*B^N-1, with K below 2^63, B below 2^32 and at most 2^31 bits. K* may be
    /// left out for K = 1; Mp is 2^p-1. Quote the text, because * is special in shells.
    #[arg(value_name = "NUMBER", allow_hyphen_values = true)]
    pub(crate) number: Given,

    /// Make Fermat's probable-prime test to base A, from 2 to 65536, also if another test would prove
    /// more.
    #[arg(long, value_name = "A", value_parser = clap::value_parser!(u32).range(2..=65_536))]
    pub(crate) base: Option<u32>,

    #[command(flatten)]
    pub(crate) arithmetic: ArithmeticArgs,

    /// Directory of checkpoints and results.
    #[arg(long, value_name = "DIR", default_value = "warpint-work")]
    pub(crate) dir: PathBuf,

    /// Time between checkpoints.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = units::parse_seconds)]
    pub(crate) checkpoint_interval: Duration,

    /// Look for prime factors up to this before the test, at least 65536. For 2^p-1, factors 2kp+1 with
    /// k up to 2000000 are sought instead.
    #[arg(long, value_name = "Q", default_value_t = 1_000_000, value_parser = at_least_one)]
    pub(crate) tf_limit: u64,

    /// Delete the stored result and the checkpoints of this test, and begin anew.
    #[arg(long)]
    pub(crate) restart: bool,

    /// Print only the result, warnings and errors.
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// Print the result as one JSON object; progress and notices stay on stderr.
    #[arg(long)]
    pub(crate) json: bool,
}

impl NumberArgs {
    /// The least limit of the search for factors. [`TestKind::for_number`] needs it.
    const LEAST_LIMIT: u64 = 1 << 16;

    /// Returns the job of the test: the one that proves most, or Fermat's test to the given base.
    pub(crate) fn job(&self) -> Job<'_> {
        let number = self.number.number;
        let kind = self
            .base
            .map_or_else(|| TestKind::for_number(number), |base| TestKind::Fermat { base });
        let exponent = number.mersenne_exponent();
        let shift = exponent.map_or(0, |p| random_shift(p.get()));
        let mut job = Job::new(TestSpec { shift, ..TestSpec::new(kind, number) }, &self.dir);
        job.request = self.plan_request();
        job.checkpoint_interval = self.checkpoint_interval;
        let limit = self.tf_limit.max(Self::LEAST_LIMIT);
        job.tf_limit = Some(if exponent.is_some() { TF_LIMIT } else { limit });
        job.restart = self.restart;
        job
    }

    fn plan_request(&self) -> PlanRequest {
        self.arithmetic.plan_request(None)
    }
}
