//! The choice of a method for a product.
//!
//! The unit of costs is the time of one step of the schoolbook method: a product and a sum of
//! elements. The constants are a compromise between several fields. They were measured by `cargo
//! test -p warpint-transform --lib crossovers -- --ignored --nocapture` on one core of an AMD EPYC.

use warpint_arith::field::Field;

use super::Polynomials;

/// The estimated cost of a transform of N elements, with its part of the other loops over the
/// elements, is N·(log2(N) + `OTHER_LOOPS`).
const OTHER_LOOPS: f64 = 3.0;

/// Operands with fewer coefficients are multiplied by the schoolbook method.
pub(super) const LEAST: usize = 16;

/// The largest number of coefficients that may wrap around in a cyclic convolution. They are
/// computed by the schoolbook method and subtracted. So two polynomials of 2^m + 1 coefficients are
/// multiplied by transforms of 2^(m + 1) elements.
pub(super) const WRAPPED: usize = 16;

/// How a product is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    /// Each coefficient by its definition.
    Schoolbook,
    /// By cyclic convolutions.
    Cyclic(Pieces),
    /// From products of shorter polynomials.
    Halves,
}

/// The cyclic convolutions that compute a product. The factor that is not cut is transformed once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pieces {
    /// The base-2 logarithm of the length of the convolutions.
    pub(super) log2: u32,
    /// The number of coefficients of a piece, except the last.
    pub(super) step: usize,
    /// The number of pieces.
    pub(super) count: usize,
}

impl<F: Field + Clone + Send> Polynomials<F> {
    /// Returns the method for a product of two polynomials with `long` ≥ `short` ≥ 1 coefficients.
    /// Pieces are those of the longer factor.
    pub(super) fn method_of_product(&self, long: usize, short: usize) -> Method {
        if short < LEAST {
            return Method::Schoolbook;
        }
        self.method(long as f64 * short as f64, short, long, WRAPPED)
    }

    /// Returns the method for the middle product of polynomials with `long` ≥ `short` ≥ 1
    /// coefficients. Pieces are those of the result.
    pub(super) fn method_of_middle(&self, long: usize, short: usize) -> Method {
        let wanted = long - short + 1;
        if short.min(wanted) < LEAST {
            return Method::Schoolbook;
        }
        self.method(wanted as f64 * short as f64, short, wanted, 0)
    }

    /// Returns the method for convolutions with a factor of `short` coefficients, for pieces of
    /// `wanted` coefficients in all.
    fn method(&self, schoolbook: f64, short: usize, wanted: usize, wrapped: usize) -> Method {
        let mut best: Option<(f64, Pieces)> = None;
        for log2 in short.next_power_of_two().ilog2()..=self.longest() {
            // A piece and the factor fit with `room` coefficients of the piece.
            let n = 1usize << log2;
            let room = n - short + 1;
            let whole = wanted <= room + wrapped;
            let count = if whole { 1 } else { wanted.div_ceil(room) };
            if whole || room >= short / 2 {
                let transforms = 2.0 * count as f64 + 1.0;
                let cost = transforms * n as f64 * (f64::from(log2) + OTHER_LOOPS);
                let step = if whole { wanted } else { room };
                if best.is_none_or(|(least, _)| cost < least) {
                    best = Some((cost, Pieces { log2, step, count }));
                }
            }
            if whole {
                break;
            }
        }
        match best {
            Some((cost, pieces)) if cost < schoolbook => Method::Cyclic(pieces),
            Some(_) => Method::Schoolbook,
            None if short <= 2 * LEAST => Method::Schoolbook,
            None => Method::Halves,
        }
    }
}
