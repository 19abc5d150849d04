//! Why a line of `worktodo.txt` is no work for this program, in words for a person.

use crate::fields::Shown;
use crate::worktodo::LONGEST_LINE;

/// Why a well-formed line is left to other programs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Foreign {
    /// Another kind of work.
    #[error("{keyword} is work for another program")]
    Kind {
        /// As GIMPS writes it.
        keyword: &'static str,
    },
    /// Not 2^n − 1.
    #[error("k,b,n,c = {k},{b},{n},{c} is no Mersenne number: only 1,2,p,-1 is done here")]
    Number {
        /// k of k·b^n + c.
        k: String,
        /// b.
        b: String,
        /// n.
        n: String,
        /// c.
        c: String,
    },
    /// A PRP test to another base.
    #[error("a PRP test to base {base}: only base 3 is done here")]
    Base {
        /// The base.
        base: u64,
    },
    /// A PRP test with another residue.
    #[error("a PRP test with residue type {residue_type}{}: only type 1, and with known factors type 5, is done here",
        if *factors { " and known factors" } else { "" })]
    ResidueType {
        /// The type.
        residue_type: u64,
        /// Whether factors are known.
        factors: bool,
    },
}

/// What is wrong with a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// Longer than [`LONGEST_LINE`].
    #[error("the line has {bytes} bytes: assignments have at most {LONGEST_LINE}")]
    TooLong {
        /// How long.
        bytes: usize,
    },
    /// Not UTF-8, or with control characters.
    #[error("the line is not plain text")]
    NotText,
    /// No `keyword=`.
    #[error("{line} is no assignment: it has no keyword and '='")]
    NoKeyword {
        /// The line.
        line: Shown,
    },
    /// An unknown keyword.
    #[error("'{keyword}' is no kind of work: PRP, PRPDC, Test, DoubleCheck and Cert are known")]
    UnknownKind {
        /// The keyword.
        keyword: Shown,
    },
    /// A prefix that is not `B1=…,B2=…;`.
    #[error("'{prefix}' before the ';' is not B1=…, B2=… or both")]
    Bounds {
        /// What stands there.
        prefix: Shown,
    },
    /// A field that should be there.
    #[error("{field} is missing: the form is {form}")]
    Missing {
        /// Its name.
        field: &'static str,
        /// What a line of this kind looks like.
        form: &'static str,
    },
    /// A field that makes no sense.
    #[error("{field} is '{value}', not {wanted}")]
    Field {
        /// Its name.
        field: &'static str,
        /// What stands there.
        value: Shown,
        /// What should.
        wanted: &'static str,
    },
    /// More fields than the kind has.
    #[error("'{value}' is a field too many: the form is {form}")]
    TooMany {
        /// The first of them.
        value: Shown,
        /// What a line of this kind looks like.
        form: &'static str,
    },
    /// A quotation mark without its partner, or in an odd place.
    #[error("the quotation marks do not enclose one list of known factors at the end")]
    Quotes,
}
