//! Reasons to refuse a proof.

use std::fmt;

/// The reason why a proof is refused. `Display` writes it as a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// A residue of the proof has a common factor with the number N; for example, it is 0. No power of the
    /// base of the test has such a factor.
    NotAUnit {
        /// The number of the residue, from 1. Residue 1 is the last residue of the test; the
        /// middles follow.
        number: usize,
    },
    /// The Jacobi symbol (B | M_p) of the last residue B is −1, but the right residue 3^(2^p) is a
    /// square.
    NotASquare,
    /// The Jacobi symbol of the last residue of a proof of k·b^n ± 1 is not that of the right residue.
    WrongSymbol,
    /// The last residue divided by 9 is ±2^a mod M_p with a ≠ 0. This is an element of order p or
    /// 2p.
    PowerOfTwo {
        /// The exponent a of the power of two.
        a: u32,
        /// Whether the sign of the power of two is −.
        negative: bool,
    },
    /// The equation A^(2^s) = B at the end of [`verify`](super::verify) does not hold.
    Equation,
    /// Let B be the last residue, d the product of the known factors, N = M_p/d and R = 3^(d−1).
    /// For a prime N, B/9 ≡ R mod N. The proof says that N is composite, because B/9 and R are not
    /// congruent. But (B/9)^E ≡ R^E mod N, where E is composed of the small prime factors of N − 1
    /// and of p. So B/9 is R times a factor of small order.
    ///
    /// For k·b^n ± 1, let B be the residue of the test and R the residue that a prime has, 1 or −1. B and R
    /// differ, but B^E ≡ R mod N, where E is odd and composed of small prime factors of N − 1.
    SmallOrder,
}

impl Refusal {
    /// Returns whether the reason was found by exact arithmetic on the host. If so, no second run
    /// is needed.
    pub(super) fn is_exact(self) -> bool {
        !matches!(self, Self::Equation | Self::SmallOrder)
    }

    /// Returns a code word for use by programs: `not-a-unit`, `jacobi`, `power-of-two`, `equation`
    /// or `small-order`.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::NotAUnit { .. } => "not-a-unit",
            Self::NotASquare | Self::WrongSymbol => "jacobi",
            Self::PowerOfTwo { .. } => "power-of-two",
            Self::Equation => "equation",
            Self::SmallOrder => "small-order",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAUnit { number } => {
                write!(f, "residue {number} has a factor in common with the tested number")?;
            }
            Self::NotASquare => f.write_str("the last residue has Jacobi symbol −1")?,
            Self::WrongSymbol => f.write_str("the last residue has the wrong Jacobi symbol")?,
            Self::PowerOfTwo { a, negative } => {
                let sign = if *negative { "−" } else { "" };
                write!(f, "the last residue is 9 times {sign}2^{a}")?;
            }
            Self::Equation => return f.write_str("its equation does not hold"),
            Self::SmallOrder => {
                f.write_str("the last residue is that of a prime times an element of small order")?;
            }
        }
        f.write_str(": an honest test never has such a proof")
    }
}
