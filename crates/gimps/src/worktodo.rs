//! The lines of `worktodo.txt`, which are assignments or other lines.
//!
//! Assignments have the forms that AutoPrimeNet 1.2 writes and Prime95 documents:
//!
//! | line | fields |
//! |---|---|
//! | `PRP=`, `PRPDC=` | `[AID,]k,b,n,c[,tf_bits,tests_saved[,base,residue_type]][,"factor,…"]` |
//! | `PRP=`, `PRPDC=`, short form for lines written by hand (PRPLL's help) | `[AID,]p` |
//! | `Test=`, `DoubleCheck=` | `[AID,]p[,tf_bits[,pm1_done]]` |
//! | `Cert=` | `[AID,]k,b,n,c,squarings` |
//!
//! AID is the ID of the assignment. The number k·b^n + c must be M_p = 2^p − 1, that is, k = 1, b =
//! 2, c = −1 and n = p, with p < 2^31. The meaning of the other fields is described at [`Work`].
//!
//! A prefix `B1=…,B2=…;` is meant for other programs and is preserved. Keywords are
//! case-insensitive. Spaces around `=` and around commas are ignored.

use std::fmt;

use crate::fields::{self, Shown};
use crate::refusal::{Foreign, Malformed};

/// The length in bytes of the longest line that can be an assignment: 64 KiB.
pub const LONGEST_LINE: usize = 64 << 10;

/// The exclusive upper bound on exponents, 2^31.
const EXPONENT_LIMIT: u64 = 1 << 31;

/// The keywords of assignments that are left to other programs.
const OTHER_KINDS: [&str; 7] =
    ["AdvancedTest", "ECM", "ECM2", "Factor", "Pfactor", "Pminus1", "Pplus1"];

/// A parsed line of `worktodo.txt`.
#[derive(Debug, Clone, PartialEq)]
pub enum Line {
    /// A line of white space only.
    Blank,
    /// A comment `#…`, `;…` or `//…`, or a heading `[…]`.
    Comment,
    /// An assignment of a kind that this crate supports.
    Work(Assignment),
    /// A line that appears to be well-formed, but is work for another program.
    Foreign(Foreign),
    /// An invalid line, with the reason as a message for the user.
    Malformed(Malformed),
}

/// An assignment: the work that a line asks for, and the other fields of the line.
///
/// `Display` writes the assignment as a line. If the assignment was returned by [`Line::parse`],
/// parsing this line gives an equal value.
#[derive(Debug, Clone, PartialEq)]
pub struct Assignment {
    /// The ID of the assignment: 32 hexadecimal digits, spelled as in the line. `None` if the ID is
    /// missing, empty, `N/A` or `0`.
    pub aid: Option<String>,
    /// The work to do.
    pub work: Work,
    /// The prefix `B1=…,B2=…`, without its semicolon. `None` if the line has no prefix.
    pub bounds: Option<String>,
}

/// The work of an assignment. The exponent p determines the number M_p = 2^p − 1.
#[derive(Debug, Clone, PartialEq)]
pub enum Work {
    /// A probable-prime test of M_p, or of its cofactor, to base 3.
    Prp {
        /// The exponent p.
        exponent: u32,
        /// Whether the keyword is `PRPDC`, which means that the number was tested before.
        double_check: bool,
        /// The pair (tf_bits, tests_saved). The number has no unknown factors below 2^tf_bits,
        /// according to the line. A factor found now would save `tests_saved` tests. `None` if the
        /// line does not state them.
        history: Option<(f64, f64)>,
        /// The residue type 1 or 5. `None` if the line does not state it.
        residue_type: Option<u8>,
        /// The known factors of M_p, in decimal digits. If there are any, the cofactor is tested.
        known_factors: Vec<String>,
    },
    /// A Lucas–Lehmer test of M_p.
    Ll {
        /// The exponent p.
        exponent: u32,
        /// Whether the keyword is `DoubleCheck`, which means that the number was tested before.
        double_check: bool,
        /// According to the line, the number has no factors below 2^tf_bits. `None` if the line
        /// does not state it.
        tf_bits: Option<f64>,
        /// The number in the field that states whether P−1 factoring was done. It is `Some` only if
        /// `tf_bits` is `Some`.
        pm1_done: Option<u32>,
    },
    /// A certification of the proof of another user, by repeated squaring of a start residue.
    Cert {
        /// The exponent p.
        exponent: u32,
        /// The number of squarings.
        squarings: u64,
    },
}

impl Work {
    /// Returns the exponent p.
    #[must_use]
    pub fn exponent(&self) -> u32 {
        match *self {
            Self::Prp { exponent, .. }
            | Self::Ll { exponent, .. }
            | Self::Cert { exponent, .. } => exponent,
        }
    }

    /// Returns the keyword: `PRP`, `PRPDC`, `Test`, `DoubleCheck` or `Cert`.
    #[must_use]
    pub fn keyword(&self) -> &'static str {
        match self {
            Self::Prp { double_check: false, .. } => "PRP",
            Self::Prp { double_check: true, .. } => "PRPDC",
            Self::Ll { double_check: false, .. } => "Test",
            Self::Ll { double_check: true, .. } => "DoubleCheck",
            Self::Cert { .. } => "Cert",
        }
    }

    /// Returns whether the line states that factors of the number were searched for. For a
    /// certification, the result is always true.
    #[must_use]
    pub fn has_factoring_history(&self) -> bool {
        match self {
            Self::Prp { history, known_factors, .. } => {
                history.is_some() || !known_factors.is_empty()
            }
            Self::Ll { tf_bits, .. } => tf_bits.is_some(),
            // The number was tested before.
            Self::Cert { .. } => true,
        }
    }

    /// Returns whether the assignment is a double check of a number that was tested before. A
    /// double check is run even if this machine has stored the result of another assignment for the
    /// same number.
    #[must_use]
    pub fn is_double_check(&self) -> bool {
        match *self {
            Self::Prp { double_check, .. } | Self::Ll { double_check, .. } => double_check,
            Self::Cert { .. } => false,
        }
    }
}

impl fmt::Display for Assignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(bounds) = &self.bounds {
            write!(f, "{bounds};")?;
        }
        write!(f, "{}={}", self.work.keyword(), self.aid.as_deref().unwrap_or("N/A"))?;
        match &self.work {
            Work::Prp { exponent, history, residue_type, known_factors, .. } => {
                write!(f, ",1,2,{exponent},-1")?;
                // The residue type follows these two fields.
                let history = history.or(residue_type.map(|_| (0.0, 0.0)));
                if let Some((tf_bits, tests_saved)) = history {
                    write!(f, ",{tf_bits},{tests_saved}")?;
                }
                if let Some(residue_type) = residue_type {
                    write!(f, ",3,{residue_type}")?;
                }
                if !known_factors.is_empty() {
                    write!(f, ",\"{}\"", known_factors.join(","))?;
                }
            }
            Work::Ll { exponent, tf_bits, pm1_done, .. } => {
                write!(f, ",{exponent}")?;
                if let Some(bits) = tf_bits {
                    write!(f, ",{bits}")?;
                    if let Some(done) = pm1_done {
                        write!(f, ",{done}")?;
                    }
                }
            }
            Work::Cert { exponent, squarings } => write!(f, ",1,2,{exponent},-1,{squarings}")?,
        }
        Ok(())
    }
}

/// The reason why a line is not accepted as work: it is work for another program, or malformed.
enum Refusal {
    Foreign(Foreign),
    Malformed(Malformed),
}

impl From<Malformed> for Refusal {
    fn from(malformed: Malformed) -> Self {
        Self::Malformed(malformed)
    }
}

impl From<Foreign> for Refusal {
    fn from(foreign: Foreign) -> Self {
        Self::Foreign(foreign)
    }
}

const PRP_FORM: &str =
    "PRP=[AID,]1,2,p,-1[,tf_bits,tests_saved[,base,residue_type]][,\"factors\"] or PRP=[AID,]p";
const LL_FORM: &str = "Test=[AID,]p[,tf_bits,pm1_done]";
const CERT_FORM: &str = "Cert=[AID,]1,2,p,-1,squarings";

impl Line {
    /// Parses a line, with or without its line ending. Never panics. Does not check whether the
    /// exponent is prime, or whether the known factors divide M_p.
    ///
    /// Cost: one pass over the line, and memory for its fields.
    #[must_use]
    pub fn parse(line: &[u8]) -> Self {
        let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line).trim_ascii();
        match line {
            [] => return Self::Blank,
            [b'#' | b';' | b'[', ..] | [b'/', b'/', ..] => return Self::Comment,
            _ => {}
        }
        match parse(line) {
            Ok(assignment) => Self::Work(assignment),
            Err(Refusal::Foreign(foreign)) => Self::Foreign(foreign),
            Err(Refusal::Malformed(malformed)) => Self::Malformed(malformed),
        }
    }
}

fn parse(line: &[u8]) -> Result<Assignment, Refusal> {
    if line.len() > LONGEST_LINE {
        return Err(Malformed::TooLong { bytes: line.len() }.into());
    }
    let text = std::str::from_utf8(line).map_err(|_| Malformed::NotText)?;
    if text.chars().any(|c| c.is_control() && c != '\t') {
        return Err(Malformed::NotText.into());
    }
    let (bounds, text) = fields::split_bounds(text)?;
    let (keyword, rest) =
        text.split_once('=').ok_or_else(|| Malformed::NoKeyword { line: Shown::new(text) })?;
    let keyword = keyword.trim();
    let is = |name: &str| keyword.eq_ignore_ascii_case(name);
    if let Some(keyword) = OTHER_KINDS.into_iter().find(|kind| is(kind)) {
        return Err(Foreign::Kind { keyword }.into());
    }
    let (aid, work) = if is("PRP") || is("PRPDC") {
        prp(rest, is("PRPDC"))?
    } else if is("Test") || is("DoubleCheck") {
        lucas_lehmer(rest, is("DoubleCheck"))?
    } else if is("Cert") {
        cert(rest)?
    } else {
        return Err(Malformed::UnknownKind { keyword: Shown::new(keyword) }.into());
    };
    Ok(Assignment { aid, work, bounds })
}

type Parsed = Result<(Option<String>, Work), Refusal>;

fn prp(text: &str, double_check: bool) -> Parsed {
    let (text, known_factors) = fields::split_factors(text)?;
    let mut fields = Fields::new(text, PRP_FORM);
    let aid = fields.aid()?;
    if known_factors.is_empty() && fields.is_last() {
        let exponent = exponent("p", fields.required("p")?)?;
        let work =
            Work::Prp { exponent, double_check, history: None, residue_type: None, known_factors };
        return Ok((aid, work));
    }
    let exponent = fields.mersenne()?;
    let history = match fields.next() {
        None => None,
        Some(bits) => Some((fields::decimal("tf_bits", bits)?, {
            fields::decimal("tests_saved", fields.required("tests_saved")?)?
        })),
    };
    let asked = match fields.next() {
        None => None,
        Some(base) => {
            let base = fields::whole("base", base)?;
            Some((base, fields::whole("residue_type", fields.required("residue_type")?)?))
        }
    };
    fields.end()?;
    let residue_type = match asked {
        None => None,
        Some((3, 1)) if known_factors.is_empty() => Some(1),
        Some((3, 5)) => Some(5),
        Some((3, residue_type)) => {
            let factors = !known_factors.is_empty();
            return Err(Foreign::ResidueType { residue_type, factors }.into());
        }
        Some((base, _)) => return Err(Foreign::Base { base }.into()),
    };
    Ok((aid, Work::Prp { exponent, double_check, history, residue_type, known_factors }))
}

fn lucas_lehmer(text: &str, double_check: bool) -> Parsed {
    let mut fields = Fields::new(text, LL_FORM);
    let aid = fields.aid()?;
    let exponent = exponent("p", fields.required("p")?)?;
    let tf_bits = fields.next().map(|bits| fields::decimal("tf_bits", bits)).transpose()?;
    let pm1_done = fields.next().map(|done| fields::whole_u32("pm1_done", done)).transpose()?;
    fields.end()?;
    Ok((aid, Work::Ll { exponent, double_check, tf_bits, pm1_done }))
}

fn cert(text: &str) -> Parsed {
    let mut fields = Fields::new(text, CERT_FORM);
    let aid = fields.aid()?;
    let exponent = fields.mersenne()?;
    let given = fields.required("squarings")?;
    let squarings = fields::whole("squarings", given)?;
    if squarings == 0 {
        let value = Shown::new(given);
        return Err(Malformed::Field { field: "squarings", value, wanted: "at least 1" }.into());
    }
    fields.end()?;
    Ok((aid, Work::Cert { exponent, squarings }))
}

fn exponent(field: &'static str, text: &str) -> Result<u32, Malformed> {
    let value = fields::whole(field, text)?;
    u32::try_from(value).ok().filter(|_| (2..EXPONENT_LIMIT).contains(&value)).ok_or_else(|| {
        let value = Shown::new(text);
        Malformed::Field { field, value, wanted: "an exponent from 2 to 2147483647" }
    })
}

/// The fields of a line, which are separated by commas. They are removed from the front one by one.
struct Fields<'a> {
    rest: std::iter::Peekable<std::str::Split<'a, char>>,
    form: &'static str,
}

impl<'a> Fields<'a> {
    fn new(text: &'a str, form: &'static str) -> Self {
        Self { rest: text.split(',').peekable(), form }
    }

    fn next(&mut self) -> Option<&'a str> {
        self.rest.next().map(str::trim)
    }

    fn required(&mut self, field: &'static str) -> Result<&'a str, Malformed> {
        let form = self.form;
        self.next().filter(|text| !text.is_empty()).ok_or(Malformed::Missing { field, form })
    }

    /// Returns whether exactly one field is left.
    fn is_last(&self) -> bool {
        self.rest.clone().count() == 1
    }

    fn end(&mut self) -> Result<(), Malformed> {
        match self.next() {
            None => Ok(()),
            Some(value) => Err(Malformed::TooMany { value: Shown::new(value), form: self.form }),
        }
    }

    /// Parses the ID of the assignment, which is the first field of a line.
    ///
    /// Removes the first field and returns the ID if the field is an ID. Removes the field and
    /// returns `None` if it denotes a missing ID (`N/A`, `0` or empty). If the first field is
    /// another number, the line has no field for an ID; then removes nothing and returns `None`.
    /// Any other first field is an error.
    fn aid(&mut self) -> Result<Option<String>, Malformed> {
        let Some(first) = self.rest.peek().map(|text| text.trim()) else { return Ok(None) };
        let hex = first.bytes().all(|b| b.is_ascii_hexdigit());
        if first.len() == 32 && hex {
            self.rest.next();
            return Ok(Some(first.to_owned()));
        }
        if first.is_empty() || first == "0" || first.eq_ignore_ascii_case("N/A") {
            self.rest.next();
            return Ok(None);
        }
        let a_number = first.bytes().all(|b| matches!(b, b'0'..=b'9' | b'+' | b'-' | b'.'));
        if a_number {
            return Ok(None);
        }
        let (field, value) = ("the assignment's ID", Shown::new(first));
        Err(Malformed::Field { field, value, wanted: "32 hexadecimal digits or N/A" })
    }

    /// Parses the fields k, b, n and c of the number k·b^n + c. Returns n if k = 1, b = 2 and c =
    /// −1. For any other number, returns the error [`Foreign::Number`], because the line is work
    /// for another program.
    fn mersenne(&mut self) -> Result<u32, Refusal> {
        let mut number = || -> Result<[&'a str; 4], Malformed> {
            Ok([self.required("k")?, self.required("b")?, self.required("n")?, self.required("c")?])
        };
        let [k, b, n, c] = number()?;
        let is_one = fields::decimal("k", k)? == 1.0;
        let is_two = fields::whole("b", b)? == 2;
        fields::whole("n", n)?;
        let is_minus_one = fields::signed("c", c)? == -1;
        if is_one && is_two && is_minus_one {
            return Ok(exponent("n", n)?);
        }
        let [k, b, n, c] = [k, b, n, c].map(str::to_owned);
        Err(Foreign::Number { k, b, n, c }.into())
    }
}
