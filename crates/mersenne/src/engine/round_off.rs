//! Round-off of products, and the law of the largest of many errors.

use std::f64::consts::PI;

/// Distances |z − round(z)| between products and the nearest integers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundOff {
    /// The largest distance seen in any word of any product.
    pub max: f64,
    /// The mean over products of the largest distance in each.
    pub mean: f64,
    /// The standard deviation over products of the largest distance in each;
    /// 0 for fewer than two products.
    pub deviation: f64,
    /// The products measured.
    pub products: u64,
}

impl RoundOff {
    /// The products that a [`Gumbel`] distribution is taken from, at least.
    pub const LEAST_PRODUCTS: u64 = 30;

    /// The distribution of the largest error of a product, from mean and
    /// deviation; `None` for fewer than [`Self::LEAST_PRODUCTS`] products, and
    /// for products that are all alike.
    ///
    /// Squarings of small numbers, as at the beginning of a test, have almost
    /// no round-off. They add to the deviation until others outnumber them, and
    /// Z is too low till then.
    #[must_use]
    pub fn gumbel(&self) -> Option<Gumbel> {
        let enough = self.products >= Self::LEAST_PRODUCTS;
        enough.then(|| Gumbel::of_moments(self.mean, self.deviation)).flatten()
    }

    /// [`Gumbel::z`] of [`Self::gumbel`].
    #[must_use]
    pub fn z(&self) -> Option<f64> {
        self.gumbel().map(|gumbel| gumbel.z())
    }
}

/// P(x ≤ t) = exp(−exp(−(t − μ)/β)): the law to which the largest of many
/// alike quantities tends whose tails fall at least exponentially (Gumbel,
/// Statistics of Extremes, 1958).
///
/// The tails of errors fall faster than exponentially, and so do those of the
/// largest of N of them: what this law says of values far above the mean is
/// too much.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gumbel {
    /// μ, the most frequent value.
    pub location: f64,
    /// β > 0, the width.
    pub scale: f64,
}

/// Euler's constant.
const EULER: f64 = 0.577_215_664_901_532_9;

impl Gumbel {
    /// From mean m and standard deviation s: β = s·√6/π, μ = m − 0.5772·β.
    /// `None` unless m is finite and s finite and above 0.
    #[must_use]
    pub fn of_moments(mean: f64, deviation: f64) -> Option<Self> {
        let scale = deviation * 6f64.sqrt() / PI;
        let location = mean - EULER * scale;
        let sound = location.is_finite() && scale.is_finite() && scale > 0.0;
        sound.then_some(Self { location, scale })
    }

    /// Z = (½ − μ)/β: how many widths ½ is away.
    ///
    /// A test of n squarings goes wrong with probability at most P if
    /// Z ≥ ln n + ln 1/P. PRPLL chooses its longest words for Z = 28.
    #[must_use]
    pub fn z(&self) -> f64 {
        (0.5 - self.location) / self.scale
    }

    /// The probability 1 − exp(−exp(−Z)) that the largest error of one product
    /// is above ½.
    #[must_use]
    pub fn above_half(&self) -> f64 {
        -(-(-self.z()).exp()).exp_m1()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fp64::engine::Statistics;

    /// The quantiles (i + ½)/n of a distribution, noted as products.
    fn noted(of: Gumbel, n: u32) -> RoundOff {
        let mut statistics = Statistics::default();
        for i in 0..n {
            let u = (f64::from(i) + 0.5) / f64::from(n);
            statistics.note(of.location - of.scale * (-u.ln()).ln());
        }
        statistics.health().round_off.unwrap()
    }

    #[test]
    fn moments_give_the_distribution_back() {
        for (location, scale) in [(0.2, 0.004), (0.05, 0.0008), (0.17, 0.011)] {
            let measured = noted(Gumbel { location, scale }, 100_000);
            let found = measured.gumbel().unwrap();
            assert!((found.location / location - 1.0).abs() < 1e-4, "{found:?}");
            assert!((found.scale / scale - 1.0).abs() < 1e-3, "{found:?}");
            // Of the standard distribution: mean 0.57722, deviation 1.28255 (Gumbel 1958).
            let standard = (measured.mean - location) / scale;
            assert!((standard - 0.577_22).abs() < 1e-3, "{standard}");
            assert!((measured.deviation / scale - 1.282_55).abs() < 2e-3, "{measured:?}");
        }
    }

    #[test]
    fn z_and_probability_agree() {
        // At μ the probability is 1 − 1/e, and a test of 2^k squarings with Z = k·ln 2 + ln 1/P
        // goes wrong with probability P.
        let at_half = Gumbel { location: 0.5, scale: 0.01 };
        assert!((at_half.above_half() - (1.0 - (-1f64).exp())).abs() < 1e-15);
        for (k, allowed) in [(27, 1e-3f64), (31, 2f64.powi(-40)), (0, 1e-12)] {
            let z = f64::from(k) * std::f64::consts::LN_2 - allowed.ln();
            let gumbel = Gumbel { location: 0.5 - 0.005 * z, scale: 0.005 };
            assert!((gumbel.z() - z).abs() < 1e-9);
            let of_test = gumbel.above_half() * 2f64.powi(k);
            assert!((of_test / allowed - 1.0).abs() < 1e-9, "{k}: {of_test}");
        }
    }

    #[test]
    fn too_little_is_no_distribution() {
        let enough = RoundOff { max: 0.2, mean: 0.1, deviation: 0.01, products: 30 };
        // β = 0.0077970, μ = 0.0954995.
        assert!((enough.z().unwrap() - 51.8792).abs() < 0.001, "{:?}", enough.z());
        for poor in [
            RoundOff { products: 29, ..enough },
            RoundOff { deviation: 0.0, ..enough },
            RoundOff { deviation: f64::NAN, ..enough },
            RoundOff { deviation: f64::INFINITY, ..enough },
            RoundOff { mean: f64::NAN, ..enough },
        ] {
            assert_eq!(poor.z(), None, "{poor:?}");
        }
        assert_eq!(Statistics::default().health().round_off.unwrap().z(), None);
    }
}
