//! Products of two numbers of two limbs, and squares of numbers of two and three limbs. For these,
//! a call of a kernel takes as long as the computation.
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

/// Returns a² for a of three limbs.
#[inline(always)]
pub(super) fn square_3([a0, a1, a2]: [u64; 3]) -> [u64; 6] {
    // The products of different limbs: Σ t_i·2^(64·i) for i from 1 to 4.
    let ([t1, p], [q0, q1]) = (limbs(product(a0, a1)), limbs(product(a0, a2)));
    let [t2, carry] = limbs(p + q0);
    // At most (2^64 − 1)² + 2^64 < 2^128.
    let [t3, t4] = limbs(product(a1, a2) + q1 + carry);
    let ([s0, s1], [s2, s3]) = (limbs(product(a0, a0)), limbs(product(a1, a1)));
    let [s4, s5] = limbs(product(a2, a2));
    let u1 = s1 + 2 * t1;
    let u2 = s2 + 2 * t2 + (u1 >> 64);
    let u3 = s3 + 2 * t3 + (u2 >> 64);
    let u4 = s4 + 2 * t4 + (u3 >> 64);
    let u5 = s5 + (u4 >> 64);
    [s0 as u64, u1 as u64, u2 as u64, u3 as u64, u4 as u64, u5 as u64]
}
