//! The reasons why a line of `worktodo.txt` is not accepted as work, as messages for users.

use crate::fields::Shown;
use crate::worktodo::LONGEST_LINE;

/// The reason why a well-formed line is left to other programs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Foreign {
    /// The line is work of a kind that this program does not do.
    #[error("{keyword} is work for another program")]
    Kind {
        /// The keyword, in the usual spelling even if the line has other upper and lower case.
        keyword: &'static str,
    },
    /// The number is not of the form 2^n − 1.
    #[error("k,b,n,c = {k},{b},{n},{c} is not a Mersenne number: only 1,2,p,-1 is supported")]
    Number {
        /// The factor k of the number k·b^n + c.
        k: String,
        /// The base b of the number k·b^n + c.
        b: String,
        /// The exponent n of the number k·b^n + c.
        n: String,
        /// The summand c of the number k·b^n + c.
        c: String,
    },
    /// The line is a PRP test to a base other than 3.
    #[error("a PRP test to base {base}: only base 3 is supported")]
    Base {
        /// The base of the PRP test.
        base: u64,
    },
    /// The line is a PRP test with a residue type that this program does not support.
    #[error("a PRP test with residue type {residue_type}{}: only type 1, and with known factors type 5, is supported",
        if *factors { " and known factors" } else { "" })]
    ResidueType {
        /// The residue type in the line.
        residue_type: u64,
        /// Whether the line has known factors.
        factors: bool,
    },
}

/// The reason why a line of `worktodo.txt` is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The line is longer than [`LONGEST_LINE`] bytes.
    #[error("the line has {bytes} bytes: assignments have at most {LONGEST_LINE}")]
    TooLong {
        /// The length of the line, in bytes.
        bytes: usize,
    },
    /// The line is not UTF-8, or contains control characters other than tabs.
    #[error("the line is not plain text")]
    NotText,
    /// The line does not begin with a keyword and '='.
    #[error("{line} is not an assignment: it has no keyword and '='")]
    NoKeyword {
        /// The line, shortened.
        line: Shown,
    },
    /// The keyword is unknown.
    #[error("'{keyword}' is not a known kind of work: use PRP, PRPDC, Test, DoubleCheck or Cert")]
    UnknownKind {
        /// The keyword found.
        keyword: Shown,
    },
    /// The line begins with `B1=` or `B2=`, but has no `;`, or the text before the `;` is not
    /// `B1=…`, `B2=…` or `B1=…,B2=…`.
    #[error("'{prefix}' before the ';' is not B1=…, B2=… or both")]
    Bounds {
        /// The text before the `;`, or the whole line if it has no `;`.
        prefix: Shown,
    },
    /// A required field is missing.
    #[error("{field} is missing: the form is {form}")]
    Missing {
        /// The name of the field.
        field: &'static str,
        /// The correct form of a line with this keyword.
        form: &'static str,
    },
    /// A field has an invalid value.
    #[error("{field} is '{value}', not {wanted}")]
    Field {
        /// The name of the field.
        field: &'static str,
        /// The value found.
        value: Shown,
        /// A description of valid values.
        wanted: &'static str,
    },
    /// The line has more fields than its kind allows.
    #[error("unexpected field '{value}': the form is {form}")]
    TooMany {
        /// The first extra field.
        value: Shown,
        /// The correct form of a line with this keyword.
        form: &'static str,
    },
    /// Quotation marks are unpaired or misplaced.
    #[error("the quotation marks do not enclose one list of known factors at the end")]
    Quotes,
}
