//! The list of operations, with the name, the operands, the results, the cost and the check of each
//! operation.
//!
//! A new operation needs
//! * a line of the list;
//! * its methods of [`UintBatch`](crate::UintBatch) on the CPU and on devices;
//! * its identity in [`crate::check`];
//! * an arm in [`Operation::apply`], [`Operation::failing`] and [`Operation::expected`];
//! * a suite in `warpint_selftest::batches`.
//!
//! The compiler reports missing arms; the tests of `warpint_selftest::batches` report a missing
//! suite.

mod apply;
mod expected;
mod parts;
#[cfg(test)]
mod tests;

use crate::{IntegerError, Width};

pub(crate) use parts::TableRows;
pub use parts::{Bitwise, Extreme, Part, Shift, Sum};

/// The role of an operand of an [`Operation`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// A number whose value is not restricted, such as a summand or a factor.
    Number,
    /// A number by which another number is divided.
    Divisor,
    /// The exponent of a power.
    Exponent,
    /// The modulus of a power or of an inverse.
    Modulus,
}

/// How [`Operation::failing`] checks results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Evidence {
    /// Every result is checked by an identity modulo 2^61 − 1.
    Identity,
    /// A sample of the results is recomputed on the CPU, since the operation has no cheap identity.
    Sample,
}

/// The cost of one result. The unit is one schoolbook product of two numbers as wide as the widest
/// operand.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Cost {
    Products(f64),
    /// One product per bit of the operand with this index.
    ProductsPerBit(usize),
}

/// The entry of an operation in the list of operations.
struct Entry {
    name: &'static str,
    operands: &'static [Role],
    /// The reason why some numbers have no result, and the index of the operand that must not be 0.
    /// The index is `None` if the reason involves several operands. The field is `None` if every
    /// number has a result.
    no_result: Option<(&'static str, Option<usize>)>,
    evidence: Option<Evidence>,
    cost: Cost,
}

/// Generates the enum [`Operation`], the list of all its variants and their entries.
macro_rules! list {
    ($($(#[$doc:meta])* $operation:ident = $entry:expr;)+) => {
        /// An operation on one, two or three operands a, b and m.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Operation {
            $($(#[$doc])* $operation,)+
        }

        impl Operation {
            /// All operations.
            pub const ALL: &'static [Self] = &[$(Self::$operation,)+];

            fn entry(self) -> Entry {
                match self {
                    $(Self::$operation => $entry,)+
                }
            }
        }
    };
}

/// Returns the entry of an operation that has a result for all operands, costs one product, and is
/// checked by an identity.
const fn total(name: &'static str, operands: &'static [Role]) -> Entry {
    let (evidence, cost) = (Some(Evidence::Identity), Cost::Products(1.0));
    Entry { name, operands, no_result: None, evidence, cost }
}

/// Like `total`, but some operands have no result, for the reason in `no_result`.
const fn partial(
    name: &'static str,
    operands: &'static [Role],
    no_result: (&'static str, Option<usize>),
) -> Entry {
    Entry { no_result: Some(no_result), ..total(name, operands) }
}

const ONE: &[Role] = &[Role::Number];
const TWO: &[Role] = &[Role::Number, Role::Number];

list! {
    /// The sum a + b. It is one limb wider than the wider operand, because of the carry.
    Add = total("add", TWO);
    /// The difference a − b, where a ≥ b.
    Subtract = partial("sub", TWO, ("a < b", None));
    /// The product a·b.
    Multiply = total("mul", TWO);
    /// The low product a·b mod 2^w, where w is the larger width of a and b in bits.
    MultiplyLow = total("mullo", TWO);
    /// The square a².
    Square = total("sqr", ONE);
    /// The quotient ⌊a/b⌋ and the remainder a mod b.
    Divide = partial("divrem", &[Role::Number, Role::Divisor], ("division by zero", Some(1)));
    /// The greatest common divisor of a and b.
    Gcd = Entry { cost: Cost::Products(20.0), ..total("gcd", TWO) };
    /// The inverse of a modulo b: x with a·x ≡ 1 mod b and x < b.
    Inverse = Entry {
        cost: Cost::Products(20.0),
        ..partial("modinv", &[Role::Number, Role::Modulus], ("a has no inverse modulo b", None))
    };
    /// The square root ⌊√a⌋ and the remainder a − ⌊√a⌋².
    SquareRoot = total("sqrt", ONE);
    /// The power a^b mod m.
    Power = Entry {
        evidence: Some(Evidence::Sample),
        cost: Cost::ProductsPerBit(1),
        ..partial(
            "powm",
            &[Role::Number, Role::Exponent, Role::Modulus],
            ("the modulus is zero", Some(2)),
        )
    };
    /// 1 if a is a probable prime of the Baillie–PSW test, otherwise 0: see
    /// [`PrimalityTest`](crate::PrimalityTest).
    ProbablePrime = Entry {
        evidence: Some(Evidence::Sample),
        cost: Cost::ProductsPerBit(0),
        ..total("isprime", ONE)
    };
}

impl Operation {
    /// Returns the operation's name on the command line: `add`, `mullo`, `powm` …
    #[must_use]
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// Returns the roles of the one to three operands, in order.
    #[must_use]
    pub fn operands(self) -> &'static [Role] {
        self.entry().operands
    }

    /// Returns the reason why some numbers have no result, such as `division by zero`. Returns
    /// `None` if every number has a result.
    #[must_use]
    pub fn no_result(self) -> Option<&'static str> {
        self.entry().no_result.map(|(why, _)| why)
    }

    /// Returns the index, counted from 0, of the operand that must not be 0. Returns `None` if
    /// every number has a result, or if the reason for a missing result involves several operands.
    #[must_use]
    pub fn refuses_zeros_of(self) -> Option<usize> {
        self.entry().no_result.and_then(|(_, operand)| operand)
    }

    /// Returns how [`Operation::failing`] checks the results. Returns `None` if the results of this
    /// operation cannot be checked.
    #[must_use]
    pub fn evidence(self) -> Option<Evidence> {
        self.entry().evidence
    }

    /// Returns the width of the results for operands of the given widths, and the width of the
    /// second results if the operation has two results. For b or m, pass the width of a if the
    /// operation does not use that operand.
    ///
    /// # Errors
    /// [`IntegerError::TooWide`] if a result would be wider than 2^21 bits.
    pub fn widths(self, [a, b, m]: [Width; 3]) -> Result<(Width, Option<Width>), IntegerError> {
        let width = match self {
            // A carry takes one limb.
            Self::Add => a.max(b).of_product(Width::new(32)?)?,
            Self::Subtract | Self::MultiplyLow | Self::Gcd => a.max(b),
            Self::Multiply | Self::Square => a.of_product(b)?,
            Self::Divide => return Ok((a, Some(b))),
            Self::Inverse => b,
            Self::SquareRoot => {
                let half = Width::new(a.bits().div_ceil(64) * 32)?;
                return Ok((half, Some(half.of_product(Width::new(32)?)?)));
            }
            Self::Power => m,
            Self::ProbablePrime => Width::new(32)?,
        };
        Ok((width, None))
    }

    /// Estimates very roughly the nanoseconds that one CPU core needs for one result, for operands
    /// of the given widths. The estimate counts schoolbook products of numbers as wide as the
    /// widest operand: one per bit of the exponent for a power, one per bit of the number for a test
    /// for primality, 20 for a greatest common divisor or an inverse, and one for every other
    /// operation. A product of two 64-bit limbs counts as one nanosecond. An exponent missing from
    /// `widths` is as wide as the first operand.
    #[must_use]
    pub fn nanoseconds(self, widths: &[Width]) -> f64 {
        let bits = |i: usize| {
            let width = widths.get(i).or(widths.first());
            width.map_or(32.0, |width| f64::from(width.bits()))
        };
        let widest = (0..widths.len()).map(bits).fold(32.0, f64::max);
        let product = 1.0 + (widest / 64.0).powi(2);
        match self.entry().cost {
            Cost::Products(n) => n * product,
            Cost::ProductsPerBit(operand) => bits(operand) * product,
        }
    }
}
