//! The field Z/qZ, q = 2^64 − 2^32 + 1 = 2^32·3·5·17·257·65537 + 1 (prime).
//!
//! Arithmetic is fast because 2^64 ≡ 2^32 − 1 and 2^96 ≡ −1. A 128-bit product is reduced by shifts
//! and additions (Solinas 1999, *Generalized Mersenne Numbers*). Multiplication by any root of
//! unity whose order divides 192 is a shift.
//!
//! # Representations
//!
//! A *canonical* number is a `u64` x with 0 ≤ x < q. A *lazy* number is any `u64` x; it represents
//! x mod q. The 2^32 − 1 values from q to 2^64 − 1 represent 0, …, 2^32 − 2 a second time.
//!
//! Every function of this module expects canonical operands and returns canonical results, unless
//! its description states otherwise. [`canonical`] converts a lazy number to a canonical number.

mod field;
mod roots;

pub use field::Goldilocks;
pub use roots::{GENERATOR, NoRoot, nth_root_of_two, root_of_unity};

/// The modulus q = 2^64 − 2^32 + 1.
pub const Q: u64 = 0xffff_ffff_0000_0001;

/// The number ε = 2^64 mod q = 2^32 − 1.
pub const EPSILON: u64 = 0xffff_ffff;

/// Values for tests: 0 to 3, values near 2^31, 2^32, 2^33, 2^63 and q/2, and values from q − 2^33
/// to q − 1. With these values, arithmetic mod q carries, borrows or wraps around.
pub const CORNERS: [u64; 22] = [
    0,
    1,
    2,
    3,
    (1 << 31) - 1,
    1 << 31,
    (1 << 32) - 2,
    (1 << 32) - 1,
    1 << 32,
    (1 << 32) + 1,
    (1 << 33) - 1,
    1 << 33,
    (1 << 63) - 1,
    1 << 63,
    (1 << 63) + 1,
    Q / 2,
    Q / 2 + 1,
    Q - (1 << 33),
    Q - (1 << 32),
    Q - (1 << 32) + 1,
    Q - 2,
    Q - 1,
];

/// Returns x mod [`Q`] for any 64-bit x.
#[inline(always)]
#[must_use]
pub const fn canonical(x: u64) -> u64 {
    // x < 2^64 < 2q: one subtraction is enough.
    if x >= Q { x - Q } else { x }
}

/// Returns a + b mod [`Q`], for a and b below [`Q`].
#[inline(always)]
#[must_use]
pub const fn add(a: u64, b: u64) -> u64 {
    // b ≤ q − 1, so q − b does not wrap, and neither does a + b − q ≥ 0.
    sub(a, Q - b)
}

/// Returns a − b mod [`Q`], for a below [`Q`] and b at most [`Q`].
#[inline(always)]
#[must_use]
pub const fn sub(a: u64, b: u64) -> u64 {
    let (d, borrow) = a.overflowing_sub(b);
    // After a borrow, d represents a − b + 2^64, and q = 2^64 − ε.
    d.wrapping_sub(EPSILON * borrow as u64)
}

/// Returns −a mod [`Q`], for a below [`Q`].
#[inline(always)]
#[must_use]
pub const fn neg(a: u64) -> u64 {
    sub(0, a)
}

/// Returns 2a mod [`Q`], for a below [`Q`].
#[inline(always)]
#[must_use]
pub const fn double(a: u64) -> u64 {
    add(a, a)
}

/// Returns a/2 mod [`Q`], for a below [`Q`].
#[inline(always)]
#[must_use]
pub const fn halve(a: u64) -> u64 {
    // An odd a is made even by adding q: (a + q)/2 = (a − 1)/2 + (q + 1)/2 < q.
    (a >> 1) + (a & 1) * Q.div_ceil(2)
}

/// Returns a·b mod [`Q`], for any 64-bit a and b. The result is below [`Q`].
#[inline(always)]
#[must_use]
pub const fn mul(a: u64, b: u64) -> u64 {
    reduce(a as u128 * b as u128)
}

/// Returns a² mod [`Q`], for any 64-bit a. The result is below [`Q`].
#[inline(always)]
#[must_use]
pub const fn square(a: u64) -> u64 {
    mul(a, a)
}

/// Returns x mod [`Q`] for any 128-bit x.
///
/// For x = l + 2^64·m + 2^96·h (m, h < 2^32), x ≡ l + ε·m − h.
#[inline(always)]
#[must_use]
pub const fn reduce(x: u128) -> u64 {
    let low = x as u64;
    let (m, h) = ((x >> 64) as u64 & EPSILON, (x >> 96) as u64);
    let (d, borrow) = low.overflowing_sub(h);
    // A borrow leaves d ≥ 2^64 − 2^32 + 1 > ε: the correction cannot wrap.
    let d = d.wrapping_sub(EPSILON * borrow as u64);
    // ε·m ≤ ε² = 2^64 − 2^33 + 1: after a carry the sum is below q − ε, and
    // the correction cannot carry again.
    let (s, carry) = d.overflowing_add(EPSILON * m);
    canonical(s.wrapping_add(EPSILON * carry as u64))
}

/// Returns 2^k·a mod [`Q`] by shifts, for any k and for a below [`Q`]. The shifts use that 2^96 ≡
/// −1, so 2 has order 192.
#[inline(always)]
#[must_use]
pub const fn mul_pow2(a: u64, k: u32) -> u64 {
    let k = k % 192;
    let (k, negative) = if k >= 96 { (k - 96, true) } else { (k, false) };
    let (plus, minus) = if k <= 64 {
        (reduce((a as u128) << k), 0)
    } else {
        // 2^k = −2^−m with m = 96 − k < 32. For t = a mod 2^m, a − t·q is
        // divisible by 2^m because q ≡ 1 mod 2^32, and so
        // a/2^m = ⌊a/2^m⌋ + t·2^(32−m) − t·2^(64−m), all canonical.
        let m = 96 - k;
        let top = a << (64 - m);
        (top, (a >> m) + (top >> 32))
    };
    if negative { sub(minus, plus) } else { sub(plus, minus) }
}

/// Returns a^e mod [`Q`], with 0^0 = 1. Cost: at most 2·log2(e) + 2 products.
#[must_use]
pub const fn pow(a: u64, e: u64) -> u64 {
    let (mut power, mut base, mut e) = (1, a, e);
    while e > 0 {
        if e & 1 == 1 {
            power = mul(power, base);
        }
        base = square(base);
        e >>= 1;
    }
    power
}

/// Returns 1/a mod q, computed as a^(q−2), for a below q = [`Q`]. Returns `None` for a = 0.
#[must_use]
pub const fn inverse(a: u64) -> Option<u64> {
    if a == 0 { None } else { Some(pow(a, Q - 2)) }
}

/// Returns v mod [`Q`] as an integer from 0 to [`Q`] − 1, also for negative v.
#[inline(always)]
#[must_use]
pub const fn from_i64(v: i64) -> u64 {
    // |v| ≤ 2^63 < q.
    let magnitude = v.unsigned_abs();
    if v < 0 { Q - magnitude } else { magnitude }
}

/// Returns the integer v ≡ a mod q with |v| ≤ (q − 1)/2, for a below q = [`Q`].
#[inline(always)]
#[must_use]
pub const fn to_i64(a: u64) -> i64 {
    // In two's complement, a − q is a + ε.
    if a > Q / 2 { a.wrapping_add(EPSILON) as i64 } else { a as i64 }
}

#[cfg(test)]
mod tests;
