//! The command `warpint collatz path N`: computes the path of one number of any size.

use std::fmt::{self, Display};

use num_bigint::BigUint;
use serde::Serialize;
use warpint::collatz::path::{Path, path_by};
use warpint::natural::product::TransformMultiplier;

use super::view::View;
use crate::args::PathArgs;
use crate::exit::{BadRequest, Exit};
use crate::report::{notice, print};
use crate::signals::Signals;
use crate::units;

/// The largest number of bits of a number that is printed in full. Converting a longer number to
/// decimal digits takes longer than computing its path.
const MOST_BITS: u64 = 1 << 18;

/// Products are computed on several threads if n has at least this number of bits.
const PARALLEL_FROM: u64 = 1 << 20;

pub(super) fn run(args: &PathArgs) -> anyhow::Result<Exit> {
    if args.n == BigUint::ZERO {
        let line = "0 never reaches 1, as 0/2 is 0: give a number from 1 up";
        return Err(BadRequest(line.into()).into());
    }
    let signals = Signals::install()?;
    let view = View::new(signals.save_first(), "bit", args.n.bits().into(), args.json);
    let all = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = if args.n.bits() < PARALLEL_FROM { 1 } else { all() };
    let walked = path_by(&args.n, &TransformMultiplier::new(threads), &view);
    let time = view.end();
    let Some(path) = walked else {
        notice(&format!("stopped after {}: the path has not reached 1 yet", units::elapsed(time)));
        return Ok(Exit::Stopped);
    };
    print(&Report::new(&args.n, &path), args.json)?;
    Ok(Exit::Done)
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Report {
    /// The number n in decimal digits; `null` if it has more than [`MOST_BITS`] bits.
    n: Option<String>,
    n_bits: u64,
    /// The number of steps n/2 and 3n + 1 until 1 is reached.
    delay: u64,
    odd_steps: u64,
    even_steps: u64,
    /// The largest number on the path in decimal digits; `null` if it has more than [`MOST_BITS`]
    /// bits.
    maximum: Option<String>,
    maximum_bits: u64,
    /// The number of steps until the path is below n; `null` for n = 1.
    glide: Option<u64>,
}

impl Report {
    fn new(n: &BigUint, path: &Path) -> Self {
        let text = |x: &BigUint| (x.bits() <= MOST_BITS).then(|| x.to_string());
        Self {
            n: text(n),
            n_bits: n.bits(),
            delay: path.delay(),
            odd_steps: path.odd_steps,
            even_steps: path.even_steps,
            maximum: text(&path.maximum),
            maximum_bits: path.maximum.bits(),
            glide: path.glide,
        }
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { delay, odd_steps, even_steps, .. } = self;
        f.write_str(&name(self.n.as_deref(), self.n_bits))?;
        write!(f, " reaches 1 after {} (", units::count(*delay, "step"))?;
        write!(f, "{odd_steps} odd, {even_steps} even) and rises to ")?;
        f.write_str(&name(self.maximum.as_deref(), self.maximum_bits))?;
        match self.glide {
            Some(glide) => write!(f, "; it is below itself after {}", units::count(glide, "step")),
            None => Ok(()),
        }
    }
}

/// Returns the digits of a number that has at most 80 digits. For a longer number, or if `digits`
/// is `None`, returns a text that states the number's length in bits.
fn name(digits: Option<&str>, bits: u64) -> String {
    match digits {
        Some(digits) if digits.len() <= 80 => digits.to_owned(),
        _ => format!("a number of {bits} bits"),
    }
}
