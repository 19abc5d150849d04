//! Norms and carries of words of digits: what random digits do not exceed, and bounds for any digits.
//!
//! Below, K = (k·b^n)^(1/W) for W words of ρ digits on average, w_w = b^(D_w)/K^w are their weights, and u_w = D_w − w·ρ
//! is the fraction of word w, which begins with digit D_w.

use crate::layout::DigitLayout;

/// The smallest carries that the kernels refuse, in units of 2^t ([`bits_of_unit`]).
const LARGEST_CARRY: f64 = (15u64 << 47) as f64;

/// The smallest words of a product that the kernels refuse: their quotients by q are 2^46 or more.
pub(super) const LARGEST_WORD: f64 = (1u128 << 77) as f64;

/// The largest t of the unit 2^t of first carries: words between blocks have 56 bits for carries of less than 2^55.
const MOST_COARSE: u32 = 4;

/// Returns t, COARSE of the kernels: 2^t is the smallest unit of first carries with which carries of [`CARRY_ROOM`]
/// deviations are not refused, or the largest possible unit. Digits that are 2^t times too large must be below 2^31.
pub(super) fn bits_of_unit(layout: &DigitLayout) -> u32 {
    let carry = CARRY_ROOM * deviation_of_carries(layout);
    let bits = f64::from(layout.bases()[1]).log2().ceil() as u32;
    let most = MOST_COARSE.min(31u32.saturating_sub(bits));
    (0..most).find(|t| carry <= LARGEST_CARRY * f64::from(1 << t)).unwrap_or(most)
}

/// Returns a bound on the carries that the kernels take.
pub(super) fn largest_taken(layout: &DigitLayout) -> f64 {
    LARGEST_CARRY * f64::from(1 << bits_of_unit(layout))
}

/// The least ratio of [`largest_taken`] to the deviation of the carries of random digits. Carries are sums of about W
/// products, so one of them exceeds this ratio with a probability of about 10^−23.
pub(super) const CARRY_ROOM: f64 = 10.0;

/// The largest part of the range of digits that is left of carries of [`CARRY_ROOM`] deviations in the fourth word that
/// they enter. The kernels refuse digits of 7·2^28 or more.
pub(super) const LARGEST_REST: f64 = 0.25;

/// The largest such part for any digits, if the margin of any digits is proven.
pub(super) const LARGEST_PROVEN_REST: f64 = 1.0 / 64.0;

/// Returns K².
pub(super) fn square_of_base(layout: &DigitLayout) -> f64 {
    let digits = layout.rate() as f64 / 2f64.powi(32);
    (2.0 * digits * f64::from(layout.number().base()).log2()).exp2()
}

/// Returns a bound on weights, b, unless all words have the weight 1.
pub(super) fn largest_weight(layout: &DigitLayout) -> f64 {
    if layout.is_even() { 1.0 } else { f64::from(layout.number().base()) }
}

/// The number of words by which the means of weights are estimated.
const SAMPLES: u64 = 4096;

/// Returns a number in which each bit of i has changed about half of the bits (the finalizer of SplitMix64).
fn mixed(i: u64) -> u64 {
    let x = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Returns the means of the squares and of the fourth powers of the weights, estimated by [`SAMPLES`] words.
///
/// For fractions that are spread evenly, they are (b² − 1)/(2·ln b) and (b⁴ − 1)/(4·ln b). If W divides a small multiple
/// of n, fractions change so slowly from word to word that they stay near a few values.
pub(super) fn means(layout: &DigitLayout) -> [f64; 2] {
    if layout.is_even() {
        return [1.0; 2];
    }
    let b = f64::from(layout.number().base()).ln();
    let mut sums = [0.0; 2];
    for i in 1..=SAMPLES {
        let word = (u128::from(mixed(i)) * layout.len() as u128) >> 64;
        let square = (2.0 * b * f64::from(layout.fraction(word as usize)) / 2f64.powi(32)).exp();
        sums[0] += square;
        sums[1] += square * square;
    }
    sums.map(|sum| sum / SAMPLES as f64)
}

/// Returns the mean of ‖x‖² for random balanced digits.
pub(in super::super) fn usual_norm(layout: &DigitLayout) -> f64 {
    layout.len() as f64 * square_of_base(layout) * means(layout)[0] / 12.0
}

/// Returns the ratio to [`usual_norm`] that the norm of random digits does not exceed: 1 and ten relative deviations.
///
/// The norm is a sum of squares x_w² of uniform numbers, of which E x⁴ is 9/5 of (E x²)². The deviation of the estimate
/// by samples is added.
pub(in super::super) fn largest_ratio(layout: &DigitLayout) -> f64 {
    let [square, fourth] = means(layout);
    let ratio = fourth / square.powi(2);
    let samples =
        if layout.is_even() { 0.0 } else { 3.0 * ((ratio - 1.0) / SAMPLES as f64).sqrt() };
    1.0 + 10.0 * ((1.8 * ratio - 1.0) / layout.len() as f64).sqrt() + samples
}

/// Returns the largest deviation of a carry of random digits.
pub(super) fn deviation_of_carries(layout: &DigitLayout) -> f64 {
    scale_of_carries(layout) * (2.0 * layout.len() as f64).sqrt() / 12.0
        * weights_in_carries(layout)[0]
}

/// Returns the largest deviation of a word of the product of random digits, before its carry is split off: the weighted
/// value of word m divided by w_m, where u_m is u_(m+2) + 2φ modulo 1 (see [`weights_in_carries`]).
pub(super) fn deviation_of_words(layout: &DigitLayout) -> f64 {
    let products = (2.0 * layout.len() as f64).sqrt() / 12.0;
    let scale = scale_of_carries(layout) * square_of_base(layout).sqrt() * products;
    if layout.is_even() {
        return scale;
    }
    let Some(of) = Fractions::spread(layout) else { return scale * sampled_weights(layout)[2] };
    let last = layout.fraction(layout.len() - 1);
    let divisor = of.power(f64::from(last) / 2f64.powi(32));
    let of_last = of.largest(of.of_last(), Fractions::square).sqrt() / divisor;
    let weights = of.all().fold(of_last, |most, u| {
        let divisor = of.power(part(u + 2.0 * of.phi));
        most.max(of.largest(u, Fractions::square).sqrt() / divisor)
    });
    scale * weights * of.step()
}

/// Returns a bound on carries for any digits: the same sum without signs, for digits of the largest magnitude. It is
/// doubled for fractions that are not spread evenly.
pub(super) fn largest_carry(layout: &DigitLayout) -> f64 {
    let excess = 2.0 * (1.0 + 2.0 * LARGEST_PROVEN_REST) * (1.0 + 2.0 * LARGEST_PROVEN_REST);
    scale_of_carries(layout) * (layout.len() as f64 + 15.0) / 4.0
        * weights_in_carries(layout)[1]
        * excess
}

/// Returns k·K.
fn scale_of_carries(layout: &DigitLayout) -> f64 {
    layout.number().multiplier() as f64 * square_of_base(layout).sqrt()
}

/// The number of fractions for which [`weights_in_carries`] evaluates carries.
const FRACTIONS: u32 = 512;

/// Returns the part of u that is below 1.
fn part(u: f64) -> f64 {
    u - u.floor()
}

/// The distance from the fractions at which bounds jump.
const NEAR: f64 = 1e-9;

/// Fractions of words, if they are spread evenly.
struct Fractions {
    /// ln b.
    log: f64,
    /// log_b k.
    of_k: f64,
    /// The fraction φ of ρ.
    phi: f64,
}

impl Fractions {
    fn new(layout: &DigitLayout) -> Self {
        let number = layout.number();
        let log = f64::from(number.base()).ln();
        let of_k = (number.multiplier() as f64).ln() / log;
        Self { log, of_k, phi: f64::from(layout.rate() as u32) / 2f64.powi(32) }
    }

    /// Returns the fractions of a layout, whose words are not all even; `None` if they are not spread evenly.
    fn spread(layout: &DigitLayout) -> Option<Self> {
        let fractions = Self::new(layout);
        let mean = (fractions.power(2.0) - 1.0) / (2.0 * fractions.log);
        (0.75..1.33).contains(&(means(layout)[0] / mean)).then_some(fractions)
    }

    /// Iterates over fractions u: a grid, and both sides of those at which a bound jumps, because u, u + φ, u + 2φ or
    /// u − log_b k is whole. If φ is below 1/[`FRACTIONS`], the grid misses 1 − φ ≤ u < 1.
    fn all(&self) -> impl Iterator<Item = f64> {
        let grid = (0..FRACTIONS).map(|i| f64::from(i) / f64::from(FRACTIONS));
        let jumps = [0.0, -self.phi, -2.0 * self.phi, self.of_k];
        grid.chain(jumps.into_iter().flat_map(|u| [part(u - NEAR), part(u + NEAR)]))
    }

    /// Returns b^e.
    fn power(&self, e: f64) -> f64 {
        (self.log * e).exp()
    }

    /// Returns the mean square of w_(i+1)·w_(j+1) for the fraction u of the sum.
    fn square(&self, u: f64) -> f64 {
        self.power(2.0 * u) * (u + (1.0 - u) * self.power(2.0))
    }

    /// Returns the mean of w_(i+1)·w_(j+1) for the fraction u of the sum.
    fn mean(&self, u: f64) -> f64 {
        self.power(u) * (u + (1.0 - u) * self.power(1.0))
    }

    /// Returns the larger value of f for the products with i + j = m, and with i + j = m + W.
    fn largest(&self, u: f64, f: impl Fn(&Self, f64) -> f64) -> f64 {
        f(self, u).max(f(self, part(u - self.of_k)))
    }

    /// Returns u_(m+2) for the last word m.
    fn of_last(&self) -> f64 {
        part(1.0 - self.of_k - self.phi)
    }

    /// Returns a bound on the ratio of two powers between two of [`FRACTIONS`] fractions.
    fn step(&self) -> f64 {
        self.power(2.0 / f64::from(FRACTIONS))
    }
}

/// Returns the largest factor of a carry that is due to weights, for random digits and for any digits.
///
/// The weighted word m is a sum of products x_i·x_j, i + j = m or m + W, and x_i has the deviation K·w_(i+1)/√12. The
/// fractions of w_(i+1) and w_(j+1) have the sum u or u + 1, where u = u_(m+2) if i + j = m, and otherwise u_(m+2) less
/// log_b k, modulo 1. For fractions that are spread evenly, it is u for a part u of all products. The carry out of the
/// word is its weighted value divided by K·w_(m+1), where u_(m+1) is u_(m+2) + φ modulo 1 for the fraction φ of ρ. The
/// carry into word 0 is the weighted value of the last word divided by K.
fn weights_in_carries(layout: &DigitLayout) -> [f64; 2] {
    if layout.is_even() {
        return [1.0; 2];
    }
    let of = Fractions::new(layout);
    let last = of.of_last();
    let [mut squares, mut means] =
        [of.largest(last, Fractions::square), of.largest(last, Fractions::mean)];
    for u in of.all() {
        let divisor = of.power(part(u + of.phi));
        squares = squares.max(of.largest(u, Fractions::square) / (divisor * divisor));
        means = means.max(of.largest(u, Fractions::mean) / divisor);
    }
    let spread = [squares.sqrt() * of.step(), means * of.step()];
    if Fractions::spread(layout).is_some() {
        return spread;
    }
    let [carry, largest, _] = sampled_weights(layout);
    [spread[0].max(carry), spread[1].max(largest)]
}

/// The number of words, and of products in each, by which [`sampled_weights`] estimates carries.
const SAMPLED: [u64; 2] = [48, 512];

/// Returns estimates of the factors of [`weights_in_carries`] by some words and some of their products, raised by four
/// deviations of the samples, and of that of [`deviation_of_words`]. They are for fractions that are not spread evenly,
/// because W divides a small multiple of n.
fn sampled_weights(layout: &DigitLayout) -> [f64; 3] {
    let (len, log) = (layout.len() as u64, f64::from(layout.number().base()).ln());
    let weight = |w: u64| (log * f64::from(layout.fraction(w as usize)) / 2f64.powi(32)).exp();
    let drawn = |i: u64| ((u128::from(mixed(i)) * u128::from(len)) >> 64) as u64;
    let mut largest = [0.0f64; 3];
    for s in 0..=SAMPLED[0] {
        // Of the last word, the weighted value enters word 0.
        let (m, divisor) = if s == 0 { (len - 1, 1.0) } else { (drawn(s), weight(drawn(s) + 1)) };
        let mut sums = [0.0; 3];
        for i in 1..=SAMPLED[1] {
            let i = drawn(i + (s << 32));
            let product = weight(i + 1) * weight((m + len - i) % len + 1);
            sums[0] += product;
            sums[1] += product.powi(2);
            sums[2] += product.powi(4);
        }
        let [mean, square, fourth] = sums.map(|sum| sum / SAMPLED[1] as f64);
        let raised = |mean: f64, square: f64| {
            mean + 4.0 * ((square - mean * mean).max(0.0) / SAMPLED[1] as f64).sqrt()
        };
        let root = raised(square, fourth).sqrt();
        largest[0] = largest[0].max(root / divisor);
        largest[1] = largest[1].max(raised(mean, square) / divisor);
        largest[2] = largest[2].max(root / weight(m));
    }
    largest
}

/// Returns what is left of a carry in the fourth word that it enters, as a part of the range of its digits. The bases of
/// four successive words have a product of at least K^4/b.
pub(super) fn rest(layout: &DigitLayout, carry: f64) -> f64 {
    carry * largest_weight(layout) / square_of_base(layout).powi(2)
}

/// Returns a bound for ‖x‖² for any digits. Weights are at most b, digits exceed half of the base by a unit and what is
/// left of carries, and the last word may be four times as large as others.
pub(super) fn largest_norm(layout: &DigitLayout) -> f64 {
    let unit = 2.0 / f64::from(layout.bases()[0]);
    let weight = largest_weight(layout) * (1.0 + unit + 2.0 * LARGEST_PROVEN_REST);
    0.25 * (layout.len() as f64 + 15.0) * square_of_base(layout) * weight * weight
}
