//! Sums and products modulo an odd number p, and operations on numbers of L words. Numbers are
//! little-endian.

use std::cmp::Ordering;

/// Returns the low and the high word of a·b + c + d, which is at most 2^128 − 1.
fn multiply_add(a: u64, b: u64, c: u64, d: u64) -> (u64, u64) {
    let sum = u128::from(a) * u128::from(b) + u128::from(c) + u128::from(d);
    (sum as u64, (sum >> 64) as u64)
}

/// Returns a·b/2^(64·L) mod p. Requires a·b < p·2^(64·L). `negated_inverse` is −1/p mod 2^64.
pub(super) fn product<const L: usize>(
    a: &[u64; L],
    b: &[u64; L],
    p: &[u64; L],
    negated_inverse: u64,
) -> [u64; L] {
    // After each step, t with its word L, `top`, is below a + p.
    let (mut t, mut top) = ([0; L], 0);
    for &b in b {
        let mut carry = 0;
        for (t, &a) in t.iter_mut().zip(a) {
            (*t, carry) = multiply_add(a, b, *t, carry);
        }
        let (above, twice_above) = u64::overflowing_add(top, carry);
        // t + m·p is divisible by 2^64.
        let m = t[0].wrapping_mul(negated_inverse);
        let (_, mut carry) = multiply_add(m, p[0], t[0], 0);
        for j in 1..L {
            (t[j - 1], carry) = multiply_add(m, p[j], t[j], carry);
        }
        let (last, over) = above.overflowing_add(carry);
        t[L - 1] = last;
        top = u64::from(twice_above) + u64::from(over);
    }
    reduced(t, top > 0, p)
}

/// Returns a + b mod p, for a and b below p.
pub(super) fn add<const L: usize>(a: &[u64; L], b: &[u64; L], p: &[u64; L]) -> [u64; L] {
    let mut sum = *a;
    let mut carry = false;
    for (sum, &b) in sum.iter_mut().zip(b) {
        (*sum, carry) = carrying_add(*sum, b, carry);
    }
    reduced(sum, carry, p)
}

/// Returns a − b mod p, for a and b below p.
pub(super) fn sub<const L: usize>(a: &[u64; L], b: &[u64; L], p: &[u64; L]) -> [u64; L] {
    let (mut difference, borrow) = difference(a, b);
    if borrow {
        let mut carry = false;
        for (word, &p) in difference.iter_mut().zip(p) {
            (*word, carry) = carrying_add(*word, p, carry);
        }
    }
    difference
}

/// Returns (top·2^(64·L) + x) mod p, where `top` counts as 0 or 1. Requires top·2^(64·L) + x < 2p.
fn reduced<const L: usize>(x: [u64; L], top: bool, p: &[u64; L]) -> [u64; L] {
    let (less, borrow) = difference(&x, p);
    if top || !borrow { less } else { x }
}

fn carrying_add(a: u64, b: u64, carry: bool) -> (u64, bool) {
    let (sum, first) = a.overflowing_add(b);
    let (sum, second) = sum.overflowing_add(carry.into());
    (sum, first | second)
}

/// Returns a − b mod 2^(64·L), and whether a − b is negative.
fn difference<const L: usize>(a: &[u64; L], b: &[u64; L]) -> ([u64; L], bool) {
    let mut difference = *a;
    let mut borrow = false;
    for (a, &b) in difference.iter_mut().zip(b) {
        let (rest, first) = a.overflowing_sub(b);
        let (rest, second) = rest.overflowing_sub(borrow.into());
        (*a, borrow) = (rest, first | second);
    }
    (difference, borrow)
}

/// Returns a − b. Requires b ≤ a.
pub(super) fn less<const L: usize>(a: &[u64; L], b: u64) -> [u64; L] {
    let mut words = [0; L];
    words[0] = b;
    difference(a, &words).0
}

/// Returns whether a < b.
pub(super) fn is_less<const L: usize>(a: &[u64; L], b: &[u64; L]) -> bool {
    a.iter().rev().cmp(b.iter().rev()) == Ordering::Less
}

/// Returns ⌊a/2^bits⌋.
pub(super) fn shifted_right<const L: usize>(a: &[u64; L], bits: u32) -> [u64; L] {
    let (words, bits) = ((bits / 64) as usize, bits % 64);
    std::array::from_fn(|i| {
        let word = |j: usize| u128::from(a.get(j).copied().unwrap_or(0));
        ((word(i + words) | word(i + words + 1) << 64) >> bits) as u64
    })
}

/// Returns the number of zero bits below the lowest bit that is set. For a = 0, the result is 64·L.
pub(super) fn trailing_zeros<const L: usize>(a: &[u64; L]) -> u32 {
    let zeros = a.iter().take_while(|&&word| word == 0).count();
    64 * zeros as u32 + a.get(zeros).map_or(0, |word| word.trailing_zeros())
}

/// Returns the number of zero bits above the highest bit that is set. For a = 0, the result is
/// 64·L.
pub(super) fn leading_zeros<const L: usize>(a: &[u64; L]) -> u32 {
    let zeros = a.iter().rev().take_while(|&&word| word == 0).count();
    64 * zeros as u32 + a.iter().rev().nth(zeros).map_or(0, |word| word.leading_zeros())
}

/// Returns −1/p mod 2^64 for an odd p, by Newton's iteration. The initial value p is its own
/// inverse mod 8, and each step doubles the number of correct bits.
pub(super) fn negated_inverse(p: u64) -> u64 {
    let inverse = (0..5)
        .fold(p, |inverse, _| inverse.wrapping_mul(2u64.wrapping_sub(p.wrapping_mul(inverse))));
    inverse.wrapping_neg()
}
