//! Many steps of Euclid's algorithm on the top 128 bits alone.
//!
//! Lehmer 1938, with the condition of Möller 2008 (*On Schönhage's algorithm and
//! subquadratic integer gcd computation*, Math. Comp. 77, §3), under which no
//! step has ever to be taken back.

use super::symbol::Symbol;

/// A matrix of determinant 1 with entries below 2^63.
pub(super) type Small = [[u64; 2]; 2];

/// 2^65: [`half_gcd_128`] keeps both numbers at or above it.
const FLOOR: u128 = 1 << 65;

/// Subtracts the smaller from the larger as long as both stay 2^65 or more;
/// `None` if not once.
///
/// Returns M with (a; b) = M·(a'; b') for the a', b' reached. Then for all
/// a0, b0 < 2^k, M^(−1)·(2^k·a + a0; 2^k·b + b0) is positive, and each entry
/// above 2^(k+64): an entry m of M has m·2^65 ≤ max(a, b) < 2^128, so it is
/// below 2^63, and the low parts change 2^k·a' ≥ 2^(k+65) by less than 2^(k+63).
pub(super) fn half_gcd_128(a: u128, b: u128, symbol: &mut Symbol) -> Option<Small> {
    if a < FLOOR || b < FLOOR {
        return None;
    }
    let (mut a, mut b) = (a, b);
    let mut m = [[1u64, 0], [0, 1]];
    let mut moved = false;
    loop {
        if a >= b {
            let Some((q, rest)) = reduce(a, b, FLOOR) else { break };
            a = rest;
            m[0][1] += q * m[0][0];
            m[1][1] += q * m[1][0];
            symbol.reduce_a(q);
        } else {
            let Some((q, rest)) = reduce(b, a, FLOOR) else { break };
            b = rest;
            m[0][0] += q * m[0][1];
            m[1][0] += q * m[1][1];
            symbol.reduce_b(q);
        }
        moved = true;
    }
    moved.then_some(m)
}

/// The largest q with x − q·y ≥ `floor`, and x − q·y; `None` if q = 0.
///
/// For x ≥ y ≥ `floor` > 0, and q < 2^64.
#[inline(always)]
fn reduce(x: u128, y: u128, floor: u128) -> Option<(u64, u128)> {
    let difference = x - y;
    if difference < floor {
        return None;
    }
    // Most quotients are small.
    if difference < y {
        return Some((1, difference));
    }
    let (mut q, mut rest) = (1, difference);
    for _ in 0..3 {
        rest -= y;
        q += 1;
        if rest < y {
            break;
        }
    }
    if rest >= y {
        q += (rest / y) as u64;
        rest %= y;
    }
    if rest < floor {
        q -= 1;
        rest += y;
    }
    Some((q, rest))
}

/// gcd(a, b) for positive a and b: subtraction down to a = b.
pub(super) fn gcd_128(mut a: u128, mut b: u128, symbol: &mut Symbol) -> u128 {
    loop {
        // A quotient by b < 2^64 may be longer than a word: its low bits count.
        let (q, rest) = if a >= b { last_but_one(a, b) } else { last_but_one(b, a) };
        if q == 0 {
            return a;
        }
        if a >= b {
            a = rest;
            symbol.reduce_a(q as u64);
        } else {
            b = rest;
            symbol.reduce_b(q as u64);
        }
    }
}

/// The largest q with x − q·y ≥ 1, and x − q·y, for x ≥ y ≥ 1.
fn last_but_one(x: u128, y: u128) -> (u128, u128) {
    let (q, rest) = (x / y, x % y);
    if rest == 0 { (q - 1, y) } else { (q, rest) }
}

/// (a; b) ← M^(−1)·(a; b) for equally long a and b, where it is known to be
/// positive and no longer.
pub(super) fn apply_inverse(m: &Small, a: &mut [u64], b: &mut [u64]) {
    let [[m00, m01], [m10, m11]] = m.map(|row| row.map(|x| x as i128));
    let (mut carry_a, mut carry_b) = (0i128, 0i128);
    for (x, y) in a.iter_mut().zip(b.iter_mut()) {
        let (u, v) = (i128::from(*x), i128::from(*y));
        // Each product is at most (2^63 − 1)(2^64 − 1) ≤ 2^127 − 2^64, and a
        // carry at most 2^63 in size.
        let s = m11 * u - m01 * v + carry_a;
        let t = m00 * v - m10 * u + carry_b;
        (*x, *y) = (s as u64, t as u64);
        (carry_a, carry_b) = (s >> 64, t >> 64);
    }
    debug_assert!(carry_a == 0 && carry_b == 0, "a step went below zero");
}

/// (x, y) ← (x, y)·M for equally long x and y; returns the limbs carried out.
pub(super) fn apply_right(m: &Small, x: &mut [u64], y: &mut [u64]) -> [u64; 2] {
    let [[m00, m01], [m10, m11]] = m.map(|row| row.map(u128::from));
    let (mut carry_x, mut carry_y) = (0u128, 0u128);
    for (x, y) in x.iter_mut().zip(y.iter_mut()) {
        let (u, v) = (u128::from(*x), u128::from(*y));
        // Two products below 2^127 − 2^64 and a carry below 2^64.
        let s = u * m00 + v * m10 + carry_x;
        let t = u * m01 + v * m11 + carry_y;
        (*x, *y) = (s as u64, t as u64);
        (carry_x, carry_y) = (s >> 64, t >> 64);
    }
    [carry_x as u64, carry_y as u64]
}
