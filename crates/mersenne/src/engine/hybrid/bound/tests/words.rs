//! Words of a number with their weights, their square in the model of a GPU, and the exact square.

use warpint_arith::dd::{Dd, exp2_ratio};

use super::exact::cyclic_square;
use super::factors::Complex;
use super::model::Model;

/// The words of a number, with their weights as `columns.cu` computes them.
pub(super) struct Words {
    /// The exponent p.
    pub(super) p: u64,
    /// Bits of every word.
    pub(super) bits: Vec<i32>,
    /// 2^b·a_w and 1/(n·2^b·a_w) for words of b bits, as computed.
    weights: Vec<(f64, f64)>,
    /// a_w, to about 52 bits.
    pub(super) exact_weights: Vec<f64>,
}

impl Words {
    pub(super) fn new(p: u64, model: &Model) -> Self {
        let (columns, m_count, q) =
            (model.columns(), model.column[1] * model.column[2], model.column[0] as u64);
        let words = 2 * model.rows() * columns;
        let n = words as u64;
        let ceiling = |w: usize| (p * w as u64).div_ceil(n);
        let u = |w: usize| ceiling(w) * n - p * w as u64;
        let base = exp2_ratio(p % n, n).scaled(2f64.powi((p / n) as i32));
        let pair = |v: Dd, scale: Dd| (v.to_f64(), (Dd::ONE / (v * scale)).to_f64());
        let row_weights: Vec<_> =
            (0..m_count).map(|m| pair(exp2_ratio(u(2 * m * columns), n), Dd::ONE)).collect();
        let column_weights: Vec<_> = (0..columns)
            .map(|j2| pair(exp2_ratio(u(2 * j2 + 1), n) * base, Dd::from_u64(n / 2)))
            .collect();
        let inverse_ratio = exp2_ratio(p % n, n);
        let (ratio, inverse_ratio) = ((Dd::ONE / inverse_ratio).to_f64(), inverse_ratio.to_f64());
        let halved_if = |(v, w): (f64, f64), so| if so { (0.5 * v, 2.0 * w) } else { (v, w) };
        let mut weights = vec![(0.0, 0.0); words];
        for j in 0..words / 2 {
            let (row, j2) = (j / columns, j % columns);
            let (i, m) = ((row / m_count) as u64, row % m_count);
            let (r, c) = (row_weights[m], column_weights[j2]);
            let (start, other) = (u(2 * m * columns), u(2 * j2 + 1));
            let v = halved_if((r.0 * c.0, r.1 * c.1), start + other >= n);
            let numerator = (q - p * i % q) % q;
            let sum = (start + other) % n + numerator * (n / q);
            let v = if numerator == 0 {
                v
            } else {
                let power = exp2_ratio(numerator, q);
                let inverse = exp2_ratio(q - numerator, q).scaled(0.5);
                halved_if((v.0 * power.to_f64(), v.1 * inverse.to_f64()), sum >= n)
            };
            let long = sum % n < p % n;
            let next = (v.0 * ratio, v.1 * inverse_ratio);
            weights[2 * j] = v;
            weights[2 * j + 1] = if long { (2.0 * next.0, 0.5 * next.1) } else { next };
        }
        Self {
            p,
            bits: (0..words).map(|w| (ceiling(w + 1) - ceiling(w)) as i32).collect(),
            weights,
            exact_weights: (0..words).map(|w| (u(w) as f64 / n as f64).exp2()).collect(),
        }
    }

    /// Returns ‖x‖² for the weighted digits x.
    pub(super) fn norm_squared(&self, digits: &[i64]) -> f64 {
        digits.iter().zip(&self.exact_weights).map(|(&d, a)| (d as f64 * a).powi(2)).sum()
    }

    /// Returns the words of the square as the model computes them, before they are rounded.
    pub(super) fn square(&self, model: &Model, digits: &[i64]) -> Vec<f64> {
        let weighted = |w: usize| digits[w] as f64 * 2f64.powi(-self.bits[w]) * self.weights[w].0;
        let mut z: Vec<Complex> =
            (0..digits.len() / 2).map(|j| [weighted(2 * j), weighted(2 * j + 1)]).collect();
        model.square(&mut z);
        let values = z.into_iter().flatten().enumerate();
        values.map(|(w, v)| v * self.weights[w].1 * 2f64.powi(self.bits[w])).collect()
    }

    /// Returns the words of the square by its definition: Σ d_i·d_j·a_i·a_j/a_w over i + j ≡ w mod
    /// N, where a_i·a_j/a_w is 1 or 2. For long numbers without weights, a transform computes them.
    pub(super) fn exact_square(&self, digits: &[i64]) -> Vec<i64> {
        let n = digits.len();
        if n > 1 << 13 && n.is_power_of_two() && self.p.is_multiple_of(n as u64) {
            return cyclic_square(digits);
        }
        let ceiling: Vec<u64> = (0..n).map(|w| (self.p * w as u64).div_ceil(n as u64)).collect();
        let mut z = vec![0i64; n];
        for (i, &d) in digits.iter().enumerate() {
            // The words j < n − i reach word i + j, the others word i + j − n.
            let (below, above) = z.split_at_mut(i);
            let add = |j: usize, word: &mut i64, of_word: u64| {
                *word += (d * digits[j]) << (ceiling[i] + ceiling[j] - of_word);
            };
            for (j, word) in above.iter_mut().enumerate() {
                add(j, word, ceiling[i + j]);
            }
            for (w, word) in below.iter_mut().enumerate() {
                add(n - i + w, word, ceiling[w] + self.p);
            }
        }
        z
    }

    /// Returns max_w |z̃_w − z_w|·a_w/(u·‖x‖²), which the bound says is at most K.
    pub(super) fn error(&self, model: &Model, digits: &[i64]) -> f64 {
        let exact = self.exact_square(digits);
        let computed = self.square(model, digits);
        let norm = self.norm_squared(digits);
        let error = |w: usize| {
            // Both the integer part and the fraction are exact.
            let (whole, fraction) = (computed[w].trunc(), computed[w].fract());
            ((whole as i64 - exact[w]) as f64 + fraction).abs() * self.exact_weights[w]
        };
        (0..digits.len()).map(error).fold(0.0, f64::max) / (norm * 2f64.powi(-53))
    }
}
