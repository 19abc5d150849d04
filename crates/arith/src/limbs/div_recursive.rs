//! Division as fast as multiplication, but for a logarithm.

use super::add::{add_assign, sub_assign};
use super::div::{div_rem, shift_right_assign, shifted_left, trim, trimmed};
use super::multiplier::Multiplier;

/// Quotient limbs below which schoolbook division is used.
const RECURSIVE_FROM: usize = 64;

/// ⌊a/b⌋ and a mod b, both without leading zero limbs, as [`div_rem`].
///
/// Burnikel and Ziegler 1998, *Fast Recursive Division*: 2k limbs by k limbs as
/// two divisions of 3k/2 limbs by k limbs, each of which guesses its quotient
/// from the top k/2 limbs of the divisor. A short quotient is guessed from as many
/// limbs. Cost O(M(k)·log k) for each k limbs of
/// quotient, M(k) being a product of k limbs.
///
/// # Panics
/// If `b` is zero.
#[must_use]
pub fn div_rem_by(multiplier: &dyn Multiplier, a: &[u64], b: &[u64]) -> (Vec<u64>, Vec<u64>) {
    let (a, b) = (trimmed(a), trimmed(b));
    let quotient_limbs = (a.len() + 1).saturating_sub(b.len());
    if quotient_limbs < RECURSIVE_FROM || b.len() < RECURSIVE_FROM {
        return div_rem(a, b);
    }
    if b.len() > 2 * quotient_limbs + 1 {
        return by_top(multiplier, a, b, b.len() - quotient_limbs - 1);
    }
    // Halves must stay whole down to the schoolbook: 2^j·small limbs.
    let mut limbs = b.len();
    let mut halvings = 0;
    while limbs >= RECURSIVE_FROM {
        limbs = limbs.div_ceil(2);
        halvings += 1;
    }
    let k = limbs << halvings;
    let padding = k - b.len();
    let shift = b[b.len() - 1].leading_zeros();
    let widened = |x: &[u64]| {
        let mut wide = vec![0; padding];
        wide.extend(shifted_left(x, shift));
        wide
    };
    let mut divisor = widened(b);
    divisor.truncate(k);
    let mut dividend = widened(a);
    dividend.resize(dividend.len().next_multiple_of(k), 0);

    let mut quotient = vec![0; dividend.len()];
    let mut rem = vec![0; k];
    for i in (0..dividend.len() / k).rev() {
        let block = i * k..(i + 1) * k;
        let mut number = dividend[block.clone()].to_vec();
        number.extend(&rem);
        let (q, r) = two_by_one(multiplier, &number, &divisor);
        quotient[block].copy_from_slice(&q);
        rem = r;
    }
    shift_right_assign(&mut rem, shift);
    rem.drain(..padding);
    trim(&mut rem);
    trim(&mut quotient);
    (quotient, rem)
}

/// k limbs each of ⌊a/b⌋ and a mod b, for 2k limbs of a < 2^(64k)·b and k limbs
/// of b with the top bit set.
fn two_by_one(multiplier: &dyn Multiplier, a: &[u64], b: &[u64]) -> (Vec<u64>, Vec<u64>) {
    let k = b.len();
    if !k.is_multiple_of(2) || k < RECURSIVE_FROM {
        let (mut q, mut r) = div_rem(a, b);
        q.resize(k, 0);
        r.resize(k, 0);
        return (q, r);
    }
    let half = k / 2;
    let (high_quotient, rem) = three_by_two(multiplier, &a[half..], b);
    let mut number = a[..half].to_vec();
    number.extend(rem);
    let (mut quotient, rem) = three_by_two(multiplier, &number, b);
    quotient.extend(high_quotient);
    (quotient, rem)
}

/// k/2 limbs of ⌊a/b⌋ and k of a mod b, for 3k/2 limbs of a < 2^(32k)·b.
fn three_by_two(multiplier: &dyn Multiplier, a: &[u64], b: &[u64]) -> (Vec<u64>, Vec<u64>) {
    let half = b.len() / 2;
    let (b0, b1) = b.split_at(half);
    // The guess by the top halves is at most 2 too large.
    let (mut quotient, rest) = if a[2 * half..] == *b1 {
        // ⌊·⌋ would be 2^(32k): take one less, which leaves b1 more.
        let mut rest = a[half..2 * half].to_vec();
        rest.push(0);
        add_assign(&mut rest, b1);
        (vec![u64::MAX; half], rest)
    } else {
        two_by_one(multiplier, &a[half..], b1)
    };
    let mut rem = a[..half].to_vec();
    rem.extend(rest);
    rem.resize(2 * half + 1, 0);
    let product = multiplier.mul(&quotient, b0);
    correct(&mut quotient, &mut rem, &product, b);
    rem.truncate(2 * half);
    (quotient, rem)
}

/// ⌊a/b⌋ and a mod b for a quotient that is short beside b, guessed without the
/// low `cut` limbs of both.
///
/// For m limbs of quotient and m + 1 of b, the guess g is at most 1 too large:
/// g·b ≤ a + g·2^(64·cut), and g·2^(64·cut) < 2^(64(m + cut)) ≤ b.
fn by_top(multiplier: &dyn Multiplier, a: &[u64], b: &[u64], cut: usize) -> (Vec<u64>, Vec<u64>) {
    let (mut quotient, rest) = div_rem_by(multiplier, &a[cut..], &b[cut..]);
    let mut rem = a[..cut].to_vec();
    rem.extend(rest);
    rem.resize(b.len() + 1, 0);
    let product = multiplier.mul(&quotient, &b[..cut]);
    correct(&mut quotient, &mut rem, trimmed(&product), b);
    trim(&mut rem);
    trim(&mut quotient);
    (quotient, rem)
}

/// rem ← rem − product, and as many times b more, and `quotient` 1 less, as it
/// takes to be natural. `rem` has a limb more than b.
fn correct(quotient: &mut [u64], rem: &mut [u64], product: &[u64], b: &[u64]) {
    if !sub_assign(rem, product) {
        return;
    }
    loop {
        sub_assign(quotient, &[1]);
        if add_assign(rem, b) {
            return;
        }
    }
}
