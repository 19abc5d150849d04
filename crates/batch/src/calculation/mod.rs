//! Calculations with single numbers of any length, from files to files.
//!
//! A [`CalculationRequest`] names a [`Calculation`], its operands and outputs. A [`CalculationJob`]
//! inspects both, and states the memory and the work that the calculation needs. Then it reads the
//! operands, computes, converts and checks the results ([`CalculationJob::compute`]), and writes them
//! ([`Computed::write`]). Outputs are not touched before the results are complete.
//!
//! Decimal operands and results are checked as text: their residues modulo five primes are computed
//! from the digits, so a check covers the conversions too.
//!
//! | file | subject |
//! |---|---|
//! | `input` | operands: their formats and digits |
//! | `needs` | memory and work |
//! | `compute` | the operations and their checks |
//! | `output` | files and streams of results |

mod compute;
mod input;
mod needs;
mod output;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::time::Duration;

use warpint_natural::product::Multiplier;

use crate::operand::operands;
use crate::{BatchError, Format, OperandKind, Out};
pub use compute::Computed;
use input::Input;
pub use output::{Written, WrittenFile};

/// A calculation with one or two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Calculation {
    /// a·b.
    Multiply,
    /// a².
    Square,
    /// ⌊a/b⌋ and a mod b.
    Divide,
    /// The greatest common divisor of a and b.
    Gcd,
    /// ⌊√a⌋ and a − ⌊√a⌋².
    SquareRoot,
    /// a^e for e < 2^64.
    Power,
    /// n! for n < 2^64.
    Factorial,
    /// The product of all primes up to n < 2^64.
    Primorial,
    /// a in decimal digits.
    ToDecimal,
    /// a in hexadecimal digits.
    ToHex,
}

impl Calculation {
    /// All calculations, in the order of their declaration.
    pub const ALL: [Self; 10] = [
        Self::Multiply,
        Self::Square,
        Self::Divide,
        Self::Gcd,
        Self::SquareRoot,
        Self::Power,
        Self::Factorial,
        Self::Primorial,
        Self::ToDecimal,
        Self::ToHex,
    ];

    /// Returns the name of the calculation, such as `divrem`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Multiply => "mul",
            Self::Square => "sqr",
            Self::Divide => "divrem",
            Self::Gcd => "gcd",
            Self::SquareRoot => "sqrt",
            Self::Power => "pow",
            Self::Factorial => "fac",
            Self::Primorial => "primorial",
            Self::ToDecimal => "todec",
            Self::ToHex => "tohex",
        }
    }

    /// Returns the only format of the result. Returns `None` if all formats are possible.
    fn format(self) -> Option<Format> {
        match self {
            Self::ToDecimal => Some(Format::Decimal),
            Self::ToHex => Some(Format::Hex),
            _ => None,
        }
    }

    /// Returns the number of operands.
    fn operands(self) -> usize {
        match self {
            Self::Multiply | Self::Divide | Self::Gcd | Self::Power => 2,
            _ => 1,
        }
    }

    /// Returns the index of the operand that must be below 2^64, and its role.
    fn small_operand(self) -> Option<(usize, &'static str)> {
        match self {
            Self::Power => Some((1, "an exponent")),
            Self::Factorial | Self::Primorial => Some((0, "n")),
            _ => None,
        }
    }
}

/// A calculation, its operands, outputs and options.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CalculationRequest {
    /// The calculation.
    pub calculation: Calculation,
    /// The operands. A path names a file or a pipe, or is `-` for standard input. In place of a path, a
    /// number of at most 2^20 bits such as `5` or `2^127-1` is accepted (see [`crate::expression`]).
    pub operands: Vec<PathBuf>,
    /// The output for the result: a file, a pipe, a device, or `-` for standard output.
    pub out: PathBuf,
    /// The output for the remainder of [`Calculation::Divide`] and [`Calculation::SquareRoot`]. `None`
    /// if it is not wanted, and for all other calculations.
    pub rem: Option<PathBuf>,
    /// The format of the operands. If it is `None`, the extension of an operand's name determines its
    /// format, or else its content.
    pub in_format: Option<Format>,
    /// The format of the results. If it is `None`, the extension of an output's name determines its
    /// format. If this extension names no format, the result has the format of the first operand that is
    /// a file or a pipe. If all operands are numbers, the result is decimal.
    pub out_format: Option<Format>,
    /// Whether output files that exist are replaced. Otherwise they are an error.
    pub force: bool,
    /// Whether results are checked modulo five primes.
    pub check: bool,
    /// The memory in bytes that the calculation may use. `None` if it is not limited.
    pub memory: Option<u64>,
}

impl CalculationRequest {
    /// Creates a request with default options: no remainder, formats by names and content, existing
    /// files are not replaced, results are checked, and memory is not limited.
    #[must_use]
    pub fn new(calculation: Calculation, operands: Vec<PathBuf>, out: PathBuf) -> Self {
        Self {
            calculation,
            operands,
            out,
            rem: None,
            in_format: None,
            out_format: None,
            force: false,
            check: true,
            memory: None,
        }
    }
}

/// A calculation whose operands and outputs have been inspected.
#[derive(Debug)]
pub struct CalculationJob {
    calculation: Calculation,
    inputs: Vec<Input>,
    outs: Vec<(Out, Format)>,
    /// The operand below 2^64: an exponent, or n of a factorial or primorial.
    small: u64,
    check: bool,
    force: bool,
    memory: u64,
    work: f64,
}

/// The working time of each part of a calculation.
#[derive(Debug, Clone, Copy, Default)]
pub struct CalculationTimes {
    /// Reading operands from files.
    pub read: Duration,
    /// Conversion of operands to limbs.
    pub convert_operands: Duration,
    /// The calculation itself.
    pub compute: Duration,
    /// Conversion of results to digits or bytes.
    pub convert_results: Duration,
    /// The check of the results.
    pub check: Duration,
    /// Writing results to files, including the flush to disk.
    pub write: Duration,
}

/// A description of an operand and of the way it was read.
#[derive(Debug, Clone)]
pub struct OperandInfo {
    /// The name of the operand in messages.
    pub name: String,
    /// The kind of source from which the operand is read.
    pub kind: OperandKind,
    /// The format of the operand; `None` for a number in place of a path.
    pub format: Option<Format>,
    /// Whether the format was determined by the content.
    pub is_detected: bool,
    /// The size in bytes.
    pub bytes: u64,
}

impl CalculationJob {
    /// Inspects the operands and outputs of a request, and estimates memory and work. Pipes are read
    /// to their end. No output is written. `multiplier` is the one that will compute the products.
    ///
    /// # Errors
    /// Returns an error if the request is invalid, if an operand is invalid or cannot be read, if an
    /// output cannot be written, or if an output file exists and may not be replaced. Returns
    /// [`BatchError::Memory`] if the calculation needs more memory than the request allows.
    pub fn new(
        request: CalculationRequest,
        multiplier: &dyn Multiplier,
    ) -> Result<Self, BatchError> {
        let calculation = request.calculation;
        if request.operands.len() != calculation.operands() {
            let line = format!("{} takes {} operands", calculation.name(), calculation.operands());
            return Err(BatchError::Request(line));
        }
        let paths = [Some(&request.out), request.rem.as_ref()].into_iter().flatten();
        let outs = paths.map(|path| Out::new(path)).collect::<Result<Vec<_>, _>>()?;
        if let [first, second] = &outs[..]
            && first.is_same(second)
        {
            return Err(BatchError::request("results and remainders cannot go to the same place"));
        }
        for file in outs.iter().filter_map(Out::file) {
            if !request.force && std::fs::symlink_metadata(file.place()).is_ok() {
                let path = file.path().display();
                return Err(BatchError::Request(format!("{path} exists: --force replaces it")));
            }
        }
        let paths: Vec<_> = request.operands.iter().map(PathBuf::as_path).collect();
        if let Some(signed) = paths.iter().find(|path| {
            let text = path.to_str().unwrap_or_default();
            text.len() > 1 && text.starts_with(['-', '+', '−']) && !path.exists()
        }) {
            let line =
                format!("'{}' is signed; only unsigned numbers are supported", signed.display());
            return Err(BatchError::Request(line));
        }
        let inputs = operands(&paths, &outs)?.into_iter();
        let inputs = inputs.map(|operand| Input::look(operand, request.in_format));
        let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
        let small = match calculation.small_operand() {
            Some((i, role)) => inputs[i].read_small(role)?,
            None => 0,
        };
        let formats = output::formats(&request, &inputs, &outs)?;
        let mut job = Self {
            calculation,
            inputs,
            outs: outs.into_iter().zip(formats).collect(),
            small,
            check: request.check,
            force: request.force,
            memory: 0,
            work: 0.0,
        };
        let needs = job.needs(multiplier)?;
        (job.memory, job.work) = (needs.memory, needs.work);
        match request.memory {
            Some(available) if job.memory > available => Err(BatchError::Memory {
                calculation: calculation.name(),
                needed: job.memory,
                available,
            }),
            _ => Ok(job),
        }
    }

    /// Returns the calculation.
    #[must_use]
    pub fn calculation(&self) -> Calculation {
        self.calculation
    }

    /// Returns an upper bound of the memory that the calculation needs, in bytes.
    #[must_use]
    pub fn memory(&self) -> u64 {
        self.memory
    }

    /// Returns an estimate of the work of the conversions and of the calculation, in units of
    /// [`warpint_integer::huge::work`].
    #[must_use]
    pub fn work(&self) -> f64 {
        self.work
    }

    /// Returns whether results are checked modulo five primes.
    #[must_use]
    pub fn is_checked(&self) -> bool {
        self.check
    }

    /// Returns descriptions of the operands, in the order of the calculation.
    pub fn operands(&self) -> impl Iterator<Item = OperandInfo> {
        self.inputs.iter().map(Input::info)
    }

    /// Returns the names of operands that are files whose names could also be read as numbers.
    pub fn hidden_numbers(&self) -> impl Iterator<Item = &str> {
        self.inputs.iter().filter_map(Input::hidden_number)
    }

    /// Returns the output for the result and, if it is wanted, the output for the remainder.
    pub fn outs(&self) -> impl Iterator<Item = &Out> {
        self.outs.iter().map(|(out, _)| out)
    }
}
