//! Tables of roots of unity modulo a prime p. All numbers are within p/2.

use warpint_arith::f50::F50;
use warpint_arith::field::Field;

use super::levels;
use crate::gpu::ntt::{NttError, odd_factor};
use crate::parallel::each_part;

/// The number of powers of a run, which begins with a power of its own.
const RUN: usize = 1 << 12;

/// The roots of transforms of N = f·2^m points.
#[derive(Debug)]
pub(super) struct Tables {
    /// The w of the blocks c < 2^(m − 1), or 1 for m < 2: w_c = e(t_c), where t_c is the sum of
    /// b_s·2^(−s−2) over the bits b_s of c, and e(a/2^k) = ω^a for ω of order 2^k. 1/w_c is −w_c' for
    /// the c' that differs from c > 0 in all bits below the highest one.
    pub(super) blocks: Vec<f64>,
    /// For f > 1, the powers ω^(u·j) for u from 1 to f − 1 and all j < 2^m, in this order, ω of order
    /// N.
    pub(super) odd: Vec<f64>,
    /// (ω + ω^2)/2 and (ω − ω^2)/2 for f = 3, or (ω + ω^4)/2, (ω^2 + ω^3)/2, (ω − ω^4)/2 and (ω^2 −
    /// ω^3)/2 for f = 5, ω of order f; then the same for 1/ω.
    pub(super) short: [[f64; 4]; 2],
    /// 1/N.
    pub(super) scale: f64,
}

impl Tables {
    pub(super) fn new(field: &F50, length: usize) -> Result<Self, NttError> {
        let root = |order: usize| {
            let no_root = NttError::NoRoot { prime: field.modulus(), order };
            field.root_of_order(order as u64).ok_or(no_root)
        };
        let w = root(length)?;
        let (odd, bits) = (odd_factor(length), length.trailing_zeros());
        // w_(c + 2^s) = w_c·ω with ω of order 2^(s + 2).
        let mut blocks = reserved(1 << bits.saturating_sub(1), length)?;
        blocks.push(1.0);
        for s in 0..bits.saturating_sub(1) {
            let root = within_half(field, root(1 << (s + 2))?);
            let count = blocks.len();
            blocks.resize(2 * count, 0.0);
            let (low, high) = blocks.split_at_mut(count);
            each_part(high, RUN, &|run, high| {
                high.iter_mut().zip(&low[run * RUN..]).for_each(|(high, low)| {
                    *high = within_half(field, field.mul(*low, root));
                });
            });
        }
        let mut powers = reserved((odd - 1) << bits, length)?;
        powers.resize((odd - 1) << bits, 0.0);
        for (u, powers) in powers.chunks_mut(1 << bits).enumerate() {
            fill_powers(field, field.pow(w, u as u64 + 1), powers);
        }
        let short = if odd > 1 {
            let w = root(odd)?;
            [w, field.inverse(w)].map(|w| short(field, odd, w))
        } else {
            [[0.0; 4]; 2]
        };
        let scale = within_half(field, field.inverse(length as f64));
        Ok(Self { blocks, odd: powers, short, scale })
    }
}

/// The powers of a root ψ of order 2N, for negacyclic convolutions.
#[derive(Debug)]
pub(super) struct Twist {
    /// ψ^j for j < N, and ψ^N = −1.
    powers: Vec<f64>,
}

impl Twist {
    pub(super) fn new(field: &F50, length: usize) -> Result<Self, NttError> {
        let order = 2 * length;
        let no_root = NttError::NoRoot { prime: field.modulus(), order };
        let root = field.root_of_order(order as u64).ok_or(no_root)?;
        let mut powers = reserved(length + 1, length)?;
        powers.resize(length + 1, 0.0);
        fill_powers(field, root, &mut powers);
        Ok(Self { powers })
    }

    /// Multiplies x_j by ψ^j, or by ψ^(−j) = −ψ^(N − j). Results are from 0 to p − 1.
    pub(super) fn apply(&self, field: &F50, x: &mut [f64], back: bool) {
        let n = x.len();
        each_part(x, RUN, &|run, x| {
            let first = run * RUN;
            if back {
                let powers = &self.powers[n + 1 - first - x.len()..=n - first];
                levels::multiply_back(field, x, powers);
            } else {
                field.mul_each(x, &self.powers[first..]);
            }
        });
    }
}

/// Sets each entry j of `powers` to root^j.
fn fill_powers(field: &F50, root: f64, powers: &mut [f64]) {
    each_part(powers, RUN, &|run, powers| {
        let mut power = field.pow(root, (run * RUN) as u64);
        for to in powers {
            *to = within_half(field, power);
            power = field.mul(*to, root);
        }
    });
}

/// Returns the constants of transforms of 3 or 5 points with the root w of this order.
fn short(field: &F50, odd: usize, w: f64) -> [f64; 4] {
    let power = |e| field.pow(w, e);
    let half = field.inverse(2.0);
    let of = |x: f64| within_half(field, field.mul(field.reduce(x), half));
    if odd == 3 {
        [of(w + power(2)), of(w - power(2)), 0.0, 0.0]
    } else {
        [of(w + power(4)), of(power(2) + power(3)), of(w - power(4)), of(power(2) - power(3))]
    }
}

fn within_half(field: &F50, x: f64) -> f64 {
    field.factor(x).constants()[0]
}

/// Returns an empty vector with room for `count` numbers.
fn reserved(count: usize, length: usize) -> Result<Vec<f64>, NttError> {
    let mut all = Vec::new();
    all.try_reserve_exact(count).map_err(|_| NttError::Memory(length))?;
    Ok(all)
}
