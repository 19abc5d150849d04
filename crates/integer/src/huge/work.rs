//! Estimates of the work of operations, to report progress and the time that is left.
//!
//! The unit is a limb of a result times the number of levels of the transform that computes it. Work is
//! counted by products (see [`Metered`](super::Metered)). The functions follow the algorithms from
//! level to level, with the lengths of the operands only. Work without products of the multiplier,
//! such as conversions of short parts, does not count. A test checks that estimates are from 0.75 to 1.3
//! times the counted work.

use warpint_natural::product::Windows;
use warpint_natural::radix::decimal::LONG;
use warpint_natural::radix::groups::{Leaves, digits_of};

/// Returns the work of a product of factors of `a` and `b` limbs: (a + b)·log2(2·min(a, b) + 2).
#[must_use]
pub fn product(a: usize, b: usize) -> f64 {
    (a + b) as f64 * (2.0 * a.min(b) as f64 + 2.0).log2()
}

/// The number of limbs from which `warpint_natural` divides by a reciprocal.
const NEWTON_FROM: usize = 2_048;

/// Returns the work of a division of a number of `a` limbs by a number of `b` limbs.
#[must_use]
pub fn division(a: usize, b: usize) -> f64 {
    let k = a.saturating_sub(b);
    if k < NEWTON_FROM || b < NEWTON_FROM {
        // Recursive division.
        let short = k.min(b).max(2);
        return k.max(b) as f64 / short as f64 * product(short, short) * (short as f64).log2()
            / 2.0;
    }
    let blocks = ((5.0 * k as f64 / b as f64).sqrt().round()).max((k as f64 / b as f64).ceil());
    let p = (k as f64 / blocks.max(1.0)).ceil() as usize;
    reciprocal(p) + blocks * (product(p, p) + product(p, b))
}

/// Returns the work of a reciprocal of p limbs.
fn reciprocal(p: usize) -> f64 {
    if p <= 64 {
        return 0.0;
    }
    let h = p - (p - 1) / 2;
    reciprocal(h) + product(p, h) + product(h, h)
}

/// Returns the work of a square root of a number of `a` limbs.
#[must_use]
pub fn square_root(a: usize) -> f64 {
    let k = a.div_ceil(2);
    if k < 512 {
        return 0.0;
    }
    let l = k / 2;
    square_root(2 * (k - l)) + division(k, k - l) + product(l, l)
}

/// Returns the work of a greatest common divisor of numbers of `a` and `b` limbs. The factor agrees
/// with counts for numbers of 4,000 and 20,000 limbs.
#[must_use]
pub fn gcd(a: usize, b: usize) -> f64 {
    let n = a.min(b);
    let levels = (n as f64 / 300.0).log2().max(0.0);
    division(a.max(b), n) + GCD_PER_LEVEL * levels * product(n, n)
}

/// The work of a half-gcd per level of its recursion, in products of whole numbers.
const GCD_PER_LEVEL: f64 = 4.0;

/// Returns the work of a power with the exponent e of a number of `bits` bits.
#[must_use]
pub fn power(bits: u64, e: u64) -> f64 {
    let mut work = 0.0;
    let mut power = 1;
    for bit in (0..e.checked_ilog2().unwrap_or(0)).rev() {
        let limbs = |e: u64| (bits as f64 * e as f64 / 64.0).ceil() as usize;
        work += product(limbs(power), limbs(power));
        power *= 2;
        if e >> bit & 1 == 1 {
            work += product(limbs(power), limbs(1));
            power += 1;
        }
    }
    work
}

/// Returns the work of a product tree whose root has `limbs` limbs.
#[must_use]
pub fn product_tree(limbs: usize) -> f64 {
    let (mut work, mut each) = (0.0, limbs as f64 / 2.0);
    while each >= 32.0 {
        work += limbs as f64 / (2.0 * each) * product(each as usize, each as usize);
        each /= 2.0;
    }
    work
}

/// Returns the work of n!.
#[must_use]
pub fn factorial(n: u64) -> f64 {
    let mut work = 0.0;
    let mut n = n;
    while n > 64 {
        let half = (super::factorial::factorial_bits(n / 2) / 64.0) as usize;
        // The swinging factorial is about 2^n.
        let swing = (n / 64) as usize;
        work += product(half, half) + product(2 * half, swing) + product_tree(swing);
        n /= 2;
    }
    work
}

/// Returns the work of n#.
#[must_use]
pub fn primorial(n: u64) -> f64 {
    product_tree((super::factorial::primorial_bits(n) / 64.0) as usize)
}

/// Returns the work of a window of a product by a factor that is transformed once for many products: two
/// transforms instead of three.
#[must_use]
pub fn window(windows: &Windows<'_>) -> f64 {
    let Windows { factor, len, window } = windows;
    let limbs = window.end.max(factor.len() + len - window.start);
    half_level(limbs, (*len).min(factor.len()))
}

/// Returns the work of products of `limbs` limbs with shorter factors of `short` limbs and factors that
/// are transformed.
fn half_level(limbs: usize, short: usize) -> f64 {
    2.0 / 3.0 * limbs as f64 * (2.0 * short as f64 + 2.0).log2()
}

/// Returns the work to convert decimal digits to a number of `limbs` limbs.
#[must_use]
pub fn from_decimal(limbs: usize) -> f64 {
    if limbs < LONG {
        return 0.0;
    }
    let leaves = Leaves::of(digits_of(limbs));
    powers(leaves, leaves.levels) + levels(leaves)
}

/// Returns the work to convert a number of `limbs` limbs to decimal digits.
#[must_use]
pub fn to_decimal(limbs: usize) -> f64 {
    if limbs < LONG {
        return 0.0;
    }
    let leaves = Leaves::of(digits_of(limbs));
    let power = leaves.limbs(leaves.levels);
    powers(leaves, leaves.levels + 1) + division(power + 1 + limbs, power) + levels(leaves)
}

/// Returns the work of the products of all levels of a conversion.
fn levels(leaves: Leaves) -> f64 {
    let level = |j: usize| {
        (1u64 << (leaves.levels - 1 - j)) as f64 * half_level(leaves.limbs(j + 1), leaves.limbs(j))
    };
    (0..leaves.levels).map(level).sum()
}

/// Returns the work of the powers of ten for conversions.
fn powers(leaves: Leaves, count: usize) -> f64 {
    (1..count).map(|j| product(leaves.limbs(j - 1), leaves.limbs(j - 1))).sum()
}
