//! Products of two numbers of two limbs, and squares of numbers of two limbs. For numbers of this
//! length, a call of a kernel takes as long as the computation.
//!
//! Numbers of two limbs are `u128`, x = x_0 + x_1·2^64.

/// Returns x·y as the product of two limbs.
#[inline(always)]
fn product(x: u64, y: u64) -> u128 {
    u128::from(x) * u128::from(y)
}

/// Returns the lower and the upper limb of x.
#[inline(always)]
fn limbs(x: u128) -> [u128; 2] {
    [u128::from(x as u64), x >> 64]
}

/// Returns a·b for a and b of two limbs.
#[inline(always)]
pub(crate) fn mul_2([a0, a1]: [u64; 2], [b0, b1]: [u64; 2]) -> [u64; 4] {
    let [p0, p1] = limbs(product(a0, b0));
    let ([q0, q1], [r0, r1]) = (limbs(product(a0, b1)), limbs(product(a1, b0)));
    // Below 3·2^64.
    let middle = p1 + q0 + r0;
    // The upper half of the product: below 2^128.
    let upper = product(a1, b1) + q1 + r1 + (middle >> 64);
    [p0 as u64, middle as u64, upper as u64, (upper >> 64) as u64]
}

/// Returns a² for a of two limbs.
#[inline(always)]
pub(crate) fn square_2([a0, a1]: [u64; 2]) -> [u64; 4] {
    let ([p0, p1], [q0, q1]) = (limbs(product(a0, a0)), limbs(product(a0, a1)));
    let middle = p1 + 2 * q0;
    let upper = product(a1, a1) + 2 * q1 + (middle >> 64);
    [p0 as u64, middle as u64, upper as u64, (upper >> 64) as u64]
}
