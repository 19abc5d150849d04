//! Arithmetic modulo a Mersenne number M_p = 2^p − 1.
//!
//! A *canonical* residue has exactly ⌈p/64⌉ limbs and lies in [0, M_p). The functions of this
//! module take canonical operands and return canonical results. Exceptions are [`reduce`], which
//! takes any number, and [`canonicalise`], which takes numbers below 2^p.

use super::linear::shift_right_assign;
use super::mul::mul;
use super::{add_assign, div_rem_small, mul_small_assign, rem_small, sub_assign};

/// Returns ⌈p/64⌉, the number of limbs of a residue mod 2^p − 1.
#[must_use]
pub fn limbs_for_bits(p: u32) -> usize {
    (p as usize).div_ceil(64)
}

/// Returns a mask of the bits of the top limb that may be set in a number below 2^p.
fn top_mask(p: u32) -> u64 {
    match p % 64 {
        0 => u64::MAX,
        r => (1 << r) - 1,
    }
}

/// Reduces x modulo M_p = 2^p − 1, for x below 2^p in ⌈p/64⌉ limbs. Only x = M_p changes; it
/// becomes 0.
pub fn canonicalise(x: &mut [u64], p: u32) {
    let Some((top, low)) = x.split_last_mut() else {
        return;
    };
    if *top == top_mask(p) && low.iter().all(|&l| l == u64::MAX) {
        *top = 0;
        low.fill(0);
    }
}

/// Returns x mod M_p in n = ⌈p/64⌉ limbs, where M_p = 2^p − 1. x may have any length. It is split
/// into groups of p bits, whose sum mod M_p is the result. Cost O(n) for each group.
///
/// # Panics
/// Panics if p < 2.
#[must_use]
pub fn reduce(x: &[u64], p: u32) -> Vec<u64> {
    assert!(p >= 2, "M_p needs p of at least 2");
    let n = limbs_for_bits(p);
    // The usual case: x is already below 2^p.
    if x.len() == n && x[n - 1] & !top_mask(p) == 0 {
        return canonical(x.to_vec(), p);
    }
    let mut sum = vec![0u64; n];
    let bits = x.len() as u64 * 64;
    let mut start = 0u64;
    while start < bits {
        let mut piece = extract(x, start, n);
        piece[n - 1] &= top_mask(p);
        sum = add_mod(&sum, &canonical(piece, p), p);
        start += u64::from(p);
    }
    sum
}

fn canonical(mut x: Vec<u64>, p: u32) -> Vec<u64> {
    canonicalise(&mut x, p);
    x
}

/// Returns the lowest n limbs of ⌊x/2^start⌋.
fn extract(x: &[u64], start: u64, n: usize) -> Vec<u64> {
    let limb = |i: usize| x.get(i).copied().unwrap_or(0);
    let (word, bit) = ((start / 64) as usize, (start % 64) as u32);
    (0..n)
        .map(|i| {
            let low = limb(word + i) >> bit;
            let high = if bit == 0 { 0 } else { limb(word + i + 1) << (64 - bit) };
            low | high
        })
        .collect()
}

/// Returns a + b mod M_p, where M_p = 2^p − 1, for a and b below M_p in ⌈p/64⌉ limbs.
#[must_use]
pub fn add_mod(a: &[u64], b: &[u64], p: u32) -> Vec<u64> {
    let mut sum = a.to_vec();
    let overflow = add_assign(&mut sum, b);
    // a + b ≤ 2·M_p − 2, so 2^p divides out at most once, and 2^p ≡ 1.
    let mask = top_mask(p);
    let Some(top) = sum.last_mut() else { return sum };
    if overflow || *top & !mask != 0 {
        *top &= mask;
        add_assign(&mut sum, &[1]);
    }
    canonical(sum, p)
}

/// Returns a − b mod M_p, where M_p = 2^p − 1, for a and b below M_p in ⌈p/64⌉ limbs.
#[must_use]
pub fn sub_mod(a: &[u64], b: &[u64], p: u32) -> Vec<u64> {
    let mut difference = a.to_vec();
    sub_mod_assign(&mut difference, b, p);
    difference
}

/// Computes a ← a − b mod M_p in place, where M_p = 2^p − 1, for a and b below M_p in ⌈p/64⌉ limbs.
pub fn sub_mod_assign(a: &mut [u64], b: &[u64], p: u32) {
    if sub_assign(a, b) {
        // a − b + 2^p ≡ a − b + 1: subtract 1 after a borrow of 2^p.
        if let Some(top) = a.last_mut() {
            *top &= top_mask(p);
        }
        sub_assign(a, &[1]);
    }
    canonicalise(a, p);
}

/// Computes x ← m·x mod M_p in place, where M_p = 2^p − 1, for x below M_p in ⌈p/64⌉ limbs and any
/// m.
pub fn mul_small_mod_assign(x: &mut [u64], m: u64, p: u32) {
    let carry = mul_small_assign(x, m);
    let Some(top) = x.last_mut() else { return };
    // m·x is below 2^(p + 64). Its bits from bit p on are a number of at most 64 bits.
    let above = match p % 64 {
        0 => carry,
        r => carry << (64 - r) | *top >> r,
    };
    *top &= top_mask(p);
    let mut rest = above;
    while rest != 0 {
        let overflow = add_assign(x, &[rest]);
        let Some(top) = x.last_mut() else { return };
        rest = match p % 64 {
            0 => u64::from(overflow),
            r => u64::from(overflow) << (64 - r) | *top >> r,
        };
        *top &= top_mask(p);
    }
    canonicalise(x, p);
}

/// Computes x ← x/4 mod M_p in place, where M_p = 2^p − 1, for x below M_p in ⌈p/64⌉ limbs. This is
/// a rotation of the p bits of x to the right by two.
///
/// # Panics
/// Panics if p < 2.
pub fn quarter_mod_assign(x: &mut [u64], p: u32) {
    assert!(p >= 2, "M_p needs p of at least 2");
    let low = x.first().map_or(0, |limb| limb & 3);
    shift_right_assign(x, 2);
    for (i, bit) in [low & 1, low >> 1].into_iter().enumerate() {
        let at = p as usize - 2 + i;
        x[at / 64] |= bit << (at % 64);
    }
}

/// Returns a·b mod M_p, where M_p = 2^p − 1, by schoolbook multiplication. It is the reference for
/// the tests of all faster implementations.
#[must_use]
pub fn mul_mod(a: &[u64], b: &[u64], p: u32) -> Vec<u64> {
    reduce(&mul(a, b), p)
}

/// Returns 2^s·x mod M_p, where M_p = 2^p − 1. This is a rotation of the p bits of x to the left by
/// s mod p.
#[must_use]
pub fn rotate_left(x: &[u64], s: u32, p: u32) -> Vec<u64> {
    let s = s % p;
    if s == 0 {
        return x.to_vec();
    }
    // The top s bits move to the bottom, and the other p − s bits move up by s, from limb `word`
    // on.
    let n = x.len();
    let (word, bit) = ((s / 64) as usize, s % 64);
    let mut rotated = extract(x, u64::from(p - s), word + usize::from(bit > 0));
    rotated.reserve_exact(n - rotated.len());
    let mut below = if bit > 0 {
        rotated[word] |= x[0] << bit;
        x[0] >> (64 - bit)
    } else {
        0
    };
    let from = usize::from(bit > 0);
    rotated.extend(x[from..n - word].iter().map(|&limb| {
        let here = limb << bit | below;
        below = if bit > 0 { limb >> (64 - bit) } else { 0 };
        here
    }));
    rotated[n - 1] &= top_mask(p);
    rotated
}

/// Returns x/d mod M_p, where M_p = 2^p − 1, for a small d. Returns `None` if gcd(d, M_p) ≠ 1.
///
/// The method finds the k in 0..d with x + k·M_p ≡ 0 mod d, and divides x + k·M_p by d without
/// remainder. Cost O(n + d) for n limbs.
///
/// # Panics
/// Panics if `d` is zero.
#[must_use]
pub fn div_small_mod(x: &[u64], d: u32, p: u32) -> Option<Vec<u64>> {
    let d = u64::from(d);
    let mut modulus = vec![u64::MAX; x.len()];
    if let Some(top) = modulus.last_mut() {
        *top = top_mask(p);
    }
    let (x_rem, m_rem) = (rem_small(x, d), rem_small(&modulus, d));
    if gcd(m_rem, d) != 1 {
        return None;
    }
    let k = (0..d).find(|k| (x_rem + k * m_rem) % d == 0)?;
    let mut quotient = x.to_vec();
    quotient.push(0);
    for _ in 0..k {
        add_assign(&mut quotient, &modulus);
    }
    div_rem_small(&mut quotient, d);
    quotient.truncate(x.len());
    Some(canonical(quotient, p))
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the operations with arithmetic on machine words, for every residue modulo 2^p − 1
    /// with p from 2 to 7.
    #[test]
    fn agrees_with_machine_words_for_every_small_exponent() {
        for p in 2..=7u32 {
            let m = (1u64 << p) - 1;
            for a in 0..m {
                for s in 0..p {
                    let rotated = rotate_left(&[a], s, p);
                    assert_eq!(canonical(rotated, p), [(a << s) % m], "{a}·2^{s} mod M_{p}");
                }
                for b in 0..m {
                    assert_eq!(add_mod(&[a], &[b], p), [(a + b) % m]);
                    assert_eq!(sub_mod(&[a], &[b], p), [(a + m - b) % m]);
                    let mut product = [a];
                    mul_small_mod_assign(&mut product, b, p);
                    assert_eq!(product, [(a * b) % m]);
                    assert_eq!(mul_mod(&[a], &[b], p), [(a * b) % m]);
                }
                let mut quarter = [a];
                quarter_mod_assign(&mut quarter, p);
                assert_eq!(quarter[0] * 4 % m, a, "{a}/4 mod M_{p}");
                for d in 1..=9u32 {
                    if let Some(x) = div_small_mod(&[a], d, p) {
                        assert_eq!(x[0] * u64::from(d) % m, a, "{a}/{d} mod M_{p}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_modulus_is_zero_in_disguise() {
        for p in [61u32, 64, 65, 127, 128, 129] {
            let n = limbs_for_bits(p);
            let mut all_ones = vec![u64::MAX; n];
            all_ones[n - 1] = top_mask(p);
            assert_eq!(reduce(&all_ones, p), vec![0; n]);
            let mut minus_one = all_ones.clone();
            minus_one[0] -= 1;
            let mut one = vec![0; n];
            one[0] = 1;
            assert_eq!(mul_mod(&minus_one, &minus_one, p), one, "(−1)² mod M_{p}");
            assert_eq!(add_mod(&minus_one, &one, p), vec![0; n]);
            assert_eq!(sub_mod(&vec![0; n], &one, p), minus_one);
        }
    }

    #[test]
    fn products_and_quarters_in_place_at_every_size_of_the_top_limb() {
        for p in (2u32..200).chain([1279]) {
            let n = limbs_for_bits(p);
            let mut x = reduce(&[0xfedc_ba98_7654_3210; 20][..n], p);
            for m in [0, 1, 2, 3, 65_536, u64::MAX, u64::MAX - 1] {
                let expected = mul_mod(&x, &reduce(&[m], p), p);
                mul_small_mod_assign(&mut x, m, p);
                assert_eq!(x, expected, "{m} mod M_{p}");
                let four = reduce(&[4], p);
                let mut quarter = x.clone();
                quarter_mod_assign(&mut quarter, p);
                assert_eq!(mul_mod(&quarter, &four, p), x, "a quarter mod M_{p}");
                // −1, for the next multiplier.
                x = sub_mod(&vec![0; n], &reduce(&[1], p), p);
            }
        }
    }

    #[test]
    fn a_long_number_folds_in_pieces() {
        // 2^(p·k) ≡ 1 for every k.
        for p in [2u32, 3, 61, 64, 89, 127] {
            for k in 1..5u64 {
                let bit = u64::from(p) * k;
                let mut x = vec![0u64; (bit / 64 + 1) as usize];
                x[(bit / 64) as usize] = 1 << (bit % 64);
                let mut one = vec![0; limbs_for_bits(p)];
                one[0] = 1;
                assert_eq!(reduce(&x, p), one, "2^({p}·{k})");
            }
        }
    }
}
