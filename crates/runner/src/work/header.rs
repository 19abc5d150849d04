//! Headers of lists of candidates: they state which numbers the lines of integers below them name.

use warpint_gimps::Shown;
use warpint_mersenne::NumberError;

use crate::Candidate;

/// The expression `k*b^n+1` or `k*b^n-1` of a header, with variables for some of its parts.
///
/// | header | example |
/// |---|---|
/// | ABC | `ABC $a*2^$b+1`, `ABC $a*$b^$c$d`, `ABC $a^$b+1 // comment` |
/// | NewPGen | `1000000000:P:1:2:257` is `$a*2^$b+1`, `1000000000:M:1:2:258` is `$a*2^$b-1` |
///
/// The fields of the NewPGen header are the depth of the sieve, a letter, the length of chains, the base
/// and the mask. The masks are those of LLR, 1 and 2, with or without 256, which NewPGen and srsieve add.
/// The mask may be absent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    /// k; `None` if the expression begins with b.
    k: Option<Part>,
    b: Part,
    n: Part,
    c: Part,
    /// The number of integers in a line: that of the last variable.
    fields: usize,
    /// The header as it is in the list.
    text: String,
}

/// A part of the expression of a header.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// An integer, with a sign if it is the last part.
    Fixed(String),
    /// The integer with this index in the line.
    Variable(usize),
}

const ABC_FORMS: &str = "only k*b^n+1 and k*b^n-1 with variables $a to $z are supported";

impl Header {
    /// Returns whether a line is meant as a header.
    pub(super) fn is_meant(line: &str) -> bool {
        let mut fields = line.split(':');
        let depth = fields.next().unwrap_or_default();
        let mode = fields.next().unwrap_or_default();
        let is_newpgen = is_digits(depth) && mode.len() == 1 && fields.next().is_some();
        line.starts_with("ABC") || is_newpgen
    }

    /// Parses a header.
    ///
    /// # Errors
    /// Returns the reason why the header cannot be used.
    pub(super) fn parse(line: &str) -> Result<Self, String> {
        let refused = |why: &str| format!("the header {} is not taken: {why}", Shown::new(line));
        if let Some(expression) = line.strip_prefix("ABC") {
            if !expression.starts_with([' ', '\t']) {
                return Err(refused("of the ABC formats, only ABC itself is supported"));
            }
            let expression = expression.split("//").next().unwrap_or_default();
            return Self::of_expression(expression, line).ok_or_else(|| refused(ABC_FORMS));
        }
        let fields: Vec<&str> = line.split(':').map(str::trim).collect();
        let base = match fields[..] {
            [_, "P", "0" | "1", base] | [_, "P", "0" | "1", base, "1" | "257"] => {
                Some((base, "+1"))
            }
            [_, "M", "0" | "1", base] | [_, "M", "0" | "1", base, "2" | "258"] => {
                Some((base, "-1"))
            }
            _ => None,
        };
        base.filter(|(base, _)| is_digits(base))
            .and_then(|(base, c)| Self::of_expression(&format!("$a*{base}^$b{c}"), line))
            .ok_or_else(|| {
                refused("of NewPGen's modes, only P (mask 1 or 257) and M (mask 2 or 258) are supported")
            })
    }

    /// Returns the header with this expression. White space in the expression is ignored.
    fn of_expression(expression: &str, text: &str) -> Option<Self> {
        let expression: String = expression.chars().filter(|c| !c.is_ascii_whitespace()).collect();
        let (product, rest) = expression.split_once('^')?;
        let (k, b) = match product.split_once('*') {
            Some((k, b)) => (Some(k), b),
            None => (None, product),
        };
        let end = rest.get(1..)?.find(['+', '-', '$'])? + 1;
        let (n, c) = rest.split_at(end);
        let mut fields = 0;
        let mut part = |text: &str| match text.as_bytes() {
            [b'$', letter @ b'a'..=b'z'] => {
                let index = usize::from(letter - b'a');
                fields = fields.max(index + 1);
                Some(Part::Variable(index))
            }
            _ => is_digits(text).then(|| Part::Fixed(text.into())),
        };
        let k = match k {
            Some(k) => Some(part(k)?),
            None => None,
        };
        let (b, n) = (part(b)?, part(n)?);
        let c = match c {
            "+1" | "-1" => Part::Fixed(c.into()),
            _ => {
                part(c.strip_prefix('+').unwrap_or(c)).filter(|c| matches!(c, Part::Variable(_)))?
            }
        };
        (fields > 0).then(|| Self { k, b, n, c, fields, text: text.into() })
    }

    /// Returns the candidate that a line of integers names.
    ///
    /// # Errors
    /// Returns the reason why the line names no candidate.
    pub(super) fn candidate(&self, integers: &[&str]) -> Result<Candidate, String> {
        if integers.len() != self.fields {
            let (found, wanted) = (integers.len(), self.fields);
            let header = Shown::new(&self.text);
            return Err(format!(
                "the line has {found} of the {wanted} integers that its header {header} asks for"
            ));
        }
        let value = |part: &Part| match part {
            Part::Fixed(text) => text.clone(),
            // The index is below the number of fields.
            Part::Variable(index) => integers.get(*index).copied().unwrap_or_default().into(),
        };
        let [b, n, mut c] = [&self.b, &self.n, &self.c].map(value);
        if !c.starts_with(['+', '-']) {
            c.insert(0, '+');
        }
        let k = self.k.as_ref().map(|k| value(k) + "*").unwrap_or_default();
        candidate(&format!("{k}{b}^{n}{c}"))
    }
}

/// Returns the candidate that four integers k, b, n and c name.
///
/// # Errors
/// Returns the reason why the integers name no candidate.
pub(super) fn candidate_of_four(integers: &[&str]) -> Result<Candidate, String> {
    let &[k, b, n, c] = integers else {
        return Err(format!(
            "the line has {} of the 4 integers k b n c, and there is no header above it",
            integers.len()
        ));
    };
    let sign = if c.starts_with(['+', '-']) { "" } else { "+" };
    candidate(&format!("{k}*{b}^{n}{sign}{c}"))
}

/// Parses `k*b^n+1` or `k*b^n-1`.
///
/// # Errors
/// Returns the reason why the text names no candidate.
pub(super) fn candidate(text: &str) -> Result<Candidate, String> {
    /// The largest number of bytes of a text that names a candidate.
    const LONGEST: usize = 100;
    if text.len() > LONGEST {
        return Err(format!("{} is too long for a number k*b^n+1 or k*b^n-1", Shown::new(text)));
    }
    text.parse().map_err(|e: NumberError| e.to_string())
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(header: &str, line: &str) -> Result<String, String> {
        let integers: Vec<_> = line.split(' ').collect();
        Ok(Header::parse(header)?.candidate(&integers)?.name().to_owned())
    }

    #[test]
    fn headers_say_what_integers_mean() {
        for (header, line, name) in [
            ("ABC $a*2^$b+1", "3 189", "3*2^189+1"),
            ("ABC  $a * 2 ^ $b - 1 // {number_primes,$a,1}", "3 189", "3*2^189-1"),
            ("ABC 3*2^$a+1", "189", "3*2^189+1"),
            ("ABC $a*$b^$c$d", "3 2 189 +1", "3*2^189+1"),
            ("ABC $a*$b^$c$d", "3 2 189 1", "3*2^189+1"),
            ("ABC $a*$b^$c$d", "3 2 189 -1", "3*2^189-1"),
            ("ABC $a*5^$b+$c", "2 3 1", "2*5^3+1"),
            ("ABC $b*2^$a-1", "189 3", "3*2^189-1"),
            ("ABC $a^$b+1", "46 512", "46^512+1"),
            ("ABC $a*2^$a+1", "141", "141*2^141+1"),
            ("1000000000:P:1:2:257", "3 189", "3*2^189+1"),
            ("1:M:0:5:2", "3 189", "3*5^189-1"),
            ("1:M:1:5", "3 189", "3*5^189-1"),
        ] {
            assert_eq!(named(header, line).as_deref(), Ok(name), "{header}: {line}");
        }
    }

    #[test]
    fn other_headers_and_lines_are_refused_with_the_reason() {
        for (header, line, says) in [
            ("ABC2 $a*2^$b+1", "3 189", "only ABC itself"),
            ("ABCD $a*2^$b+1 [3]", "189", "only ABC itself"),
            ("ABC", "3 189", "only ABC itself"),
            ("ABC $a#+1", "3", ABC_FORMS),
            ("ABC 3*2^189+1", "3", ABC_FORMS),
            ("ABC $a*2^$b+3", "3 189", ABC_FORMS),
            ("ABC $a*2^$b", "3 189", ABC_FORMS),
            ("ABC ($a*2^$b+1)/3", "3 189", ABC_FORMS),
            ("ABC $a*2^$B+1", "3 189", ABC_FORMS),
            ("ABC $a*2^$bc+1", "3 189", ABC_FORMS),
            ("ABC $a*2^+1", "3", ABC_FORMS),
            ("1:P:1:2:258", "3 189", "only P (mask 1 or 257)"),
            ("1:T:3:2:3", "3 189", "only P (mask 1 or 257)"),
            ("1:P:1:x:257", "3 189", "only P (mask 1 or 257)"),
            ("1:P:2:2:257", "3 189", "only P (mask 1 or 257)"),
            ("ABC $a*2^$b+1", "3 189 1", "has 3 of the 2 integers that its header ABC $a*2^$b+1"),
            ("ABC $a*$b^$c$d", "3 2 189 2", "not +2"),
            ("ABC $a*2^$b+1", "-3 189", "'-3*2^189+1' is not of the form"),
            ("ABC $a*2^$b+1", "0 189", "k and n must be at least 1"),
        ] {
            let refusal = named(header, line).unwrap_err();
            assert!(refusal.contains(says), "{header}: {line}: {refusal}");
        }
    }
}
