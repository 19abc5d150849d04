//! The round-off of products, and the Gumbel distribution of their largest errors.

use std::f64::consts::PI;

/// Statistics of the round-off of the measured products. The error of a product is the largest
/// distance |z − round(z)| of its computed words z from the nearest integers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundOff {
    /// The largest error of a measured product.
    pub max: f64,
    /// The mean of the errors of the products. The error of a product is the largest distance of
    /// its words from integers.
    pub mean: f64,
    /// The standard deviation of the errors of the products. The error of a product is the largest
    /// distance of its words from integers. The value is 0 for fewer than two products.
    pub deviation: f64,
    /// The number of products measured.
    pub products: u64,
}

impl RoundOff {
    /// The least number of products for which a [`Gumbel`] distribution is estimated.
    pub const LEAST_PRODUCTS: u64 = 30;

    /// Returns the distribution of the error of a product, estimated from the mean and the standard
    /// deviation. Returns `None` if there are fewer than [`Self::LEAST_PRODUCTS`] products, or if
    /// the deviation is zero.
    ///
    /// Squarings of small numbers, as at the beginning of a test, have almost no round-off. They
    /// increase the deviation, so the distance Z ([`Gumbel::z`]) is too low until most squarings
    /// are squarings of large numbers.
    #[must_use]
    pub fn gumbel(&self) -> Option<Gumbel> {
        let enough = self.products >= Self::LEAST_PRODUCTS;
        enough.then(|| Gumbel::of_moments(self.mean, self.deviation)).flatten()
    }

    /// Returns the distance Z ([`Gumbel::z`]) of the distribution that [`Self::gumbel`] returns, or
    /// `None` if that function returns `None`.
    #[must_use]
    pub fn z(&self) -> Option<f64> {
        self.gumbel().map(|gumbel| gumbel.z())
    }
}

/// The Gumbel distribution with mode μ and scale β: P(x ≤ t) = exp(−exp(−(t − μ)/β)). The
/// distribution of the maximum of many independent quantities with a common distribution D
/// approaches a Gumbel distribution if the tail of D falls at least exponentially (Gumbel,
/// Statistics of Extremes, 1958).
///
/// The tail of rounding errors falls faster than exponentially, and so does the tail of the largest
/// of N errors. So the Gumbel distribution overestimates probabilities far above the mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gumbel {
    /// The mode μ of the distribution, at which its density is largest.
    pub location: f64,
    /// The scale β of the distribution, which is above 0.
    pub scale: f64,
}

/// Euler's constant γ.
const EULER: f64 = 0.577_215_664_901_532_9;

impl Gumbel {
    /// Returns the distribution with the mean m = `mean` and the standard deviation
    /// s = `deviation`. Its scale is β = s·√6/π, and its mode is μ = m − 0.5772·β. Returns `None`
    /// unless m is finite and s is finite and above 0.
    #[must_use]
    pub fn of_moments(mean: f64, deviation: f64) -> Option<Self> {
        let scale = deviation * 6f64.sqrt() / PI;
        let location = mean - EULER * scale;
        let sound = location.is_finite() && scale.is_finite() && scale > 0.0;
        sound.then_some(Self { location, scale })
    }

    /// Returns Z = (½ − μ)/β, the distance from the mode μ to ½ in units of the scale β.
    ///
    /// If Z ≥ ln(n/P), the probability of an error above ½ in a test of n squarings is at most P.
    /// The program PRPLL chooses its longest words for Z = 28.
    #[must_use]
    pub fn z(&self) -> f64 {
        (0.5 - self.location) / self.scale
    }

    /// Returns 1 − exp(−exp(−Z)), with Z from [`Self::z`]: the probability that the largest error
    /// of one product exceeds ½.
    #[must_use]
    pub fn above_half(&self) -> f64 {
        -(-(-self.z()).exp()).exp_m1()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fp64::engine::Statistics;

    /// Returns statistics of n products, whose errors are the quantiles (i + ½)/n of the
    /// distribution `of`, for 0 ≤ i < n.
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
            // The standard distribution has mean 0.57722 and deviation 1.28255 (Gumbel 1958).
            let standard = (measured.mean - location) / scale;
            assert!((standard - 0.577_22).abs() < 1e-3, "{standard}");
            assert!((measured.deviation / scale - 1.282_55).abs() < 2e-3, "{measured:?}");
        }
    }

    #[test]
    fn z_and_probability_agree() {
        // P(x > μ) = 1 − 1/e. A test of 2^k squarings with Z = k·ln 2 + ln 1/P fails with
        // probability P.
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
