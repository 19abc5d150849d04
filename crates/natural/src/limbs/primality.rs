//! The Baillie–PSW test by its definition.

use core::cmp::Ordering;

use super::{
    add_assign, compare, div_rem, mul, pow_mod, rem_small, shift_right_assign, sqrt, sub_assign,
    trim, trimmed,
};

/// Returns whether n is a prime, or a composite number that passes the Baillie–PSW test: n has no
/// prime factor below 1,000, passes the strong test to base 2 and the strong Lucas test with
/// Selfridge's parameters (Baillie and Wagstaff 1980). No such composite number is known.
///
/// Both sequences U and V of the Lucas test are computed, bit by bit. Cost O(n³) limb products for
/// n limbs.
#[must_use]
pub fn is_probable_prime(n: &[u64]) -> bool {
    let n = trimmed(n);
    if compare(n, &[2]) == Ordering::Less {
        return false;
    }
    for d in 2..1000 {
        if rem_small(n, d) == 0 {
            return n == [d] && (2..d).all(|e| d % e != 0);
        }
    }
    if let &[n] = n
        && n < 1_000_000
    {
        return true;
    }
    let root = sqrt(n);
    compare(&mul(&root, &root), n) != Ordering::Equal && passes_base_2(n) && passes_lucas(n)
}

/// Returns d and s with x = d·2^s and odd d, for x > 0.
fn without_twos(mut x: Vec<u64>) -> (Vec<u64>, usize) {
    let mut s = 0;
    while x[0].is_multiple_of(2) {
        shift_right_assign(&mut x, 1);
        s += 1;
        trim(&mut x);
    }
    (x, s)
}

fn passes_base_2(n: &[u64]) -> bool {
    let mut minus_one = n.to_vec();
    minus_one[0] -= 1;
    let (d, s) = without_twos(minus_one.clone());
    let Some(mut x) = pow_mod(&[2], &d, n) else { return false };
    if x == [1] {
        return true;
    }
    (0..s).any(|_| {
        let found = compare(&x, &minus_one) == Ordering::Equal;
        x = div_rem(&mul(&x, &x), n).1;
        found
    })
}

fn passes_lucas(n: &[u64]) -> bool {
    // Squares have been excluded.
    let parameters = (5u64..).step_by(2).map(|d| (d, d % 4 == 3));
    let mut symbols = parameters.map(|(d, negative)| (d, negative, symbol(d, negative, n)));
    let first = symbols.find(|&(_, _, symbol)| symbol != 1);
    let Some((d, negative, -1)) = first else { return false };
    let residue = |x: &[u64]| div_rem(x, n).1;
    let minus = |x: &[u64], y: &[u64]| {
        let mut difference = n.to_vec();
        difference.push(0);
        add_assign(&mut difference, x);
        sub_assign(&mut difference, trimmed(&residue(y)));
        residue(&difference)
    };
    let half = |mut x: Vec<u64>| {
        x.resize(n.len() + 1, 0);
        if x[0] % 2 == 1 {
            add_assign(&mut x, n);
        }
        shift_right_assign(&mut x, 1);
        residue(&x)
    };
    let plus = |x: &[u64], y: &[u64]| {
        let mut sum = x.to_vec();
        sum.resize(n.len() + 1, 0);
        add_assign(&mut sum, y);
        sum
    };
    let times = |x: &[u64], y: &[u64]| residue(&mul(x, y));
    // D and Q = (1 − D)/4 modulo n.
    let signed = |x: u64, negative: bool| if negative { minus(&[], &[x]) } else { residue(&[x]) };
    let big_d = signed(d, negative);
    let q = if negative { signed((d + 1) / 4, false) } else { signed((d - 1) / 4, true) };

    let mut next = n.to_vec();
    next.push(0);
    add_assign(&mut next, &[1]);
    trim(&mut next);
    let (odd, s) = without_twos(next);
    let (mut u, mut v, mut power) = (vec![], vec![2], vec![1]);
    for i in (0..64 * odd.len()).rev() {
        u = times(&u, &v);
        v = minus(&times(&v, &v), &plus(&power, &power));
        power = times(&power, &power);
        if odd[i / 64] >> (i % 64) & 1 == 1 {
            // U_(k+1) = (U_k + V_k)/2, V_(k+1) = (D·U_k + V_k)/2 for P = 1.
            let above = half(plus(&u, &v));
            v = half(plus(&times(&big_d, &u), &v));
            u = above;
            power = times(&power, &q);
        }
    }
    if trimmed(&u).is_empty() {
        return true;
    }
    (0..s).any(|_| {
        let found = trimmed(&v).is_empty();
        v = minus(&times(&v, &v), &plus(&power, &power));
        power = times(&power, &power);
        found
    })
}

/// Returns the Jacobi symbol (D | n) for D = ±d, by its definition as a product of Legendre symbols:
/// by reciprocity, (D | n) = ±(n | d), and (n | d) is the product of (n | p) over the prime factors p
/// of d.
fn symbol(d: u64, negative: bool, n: &[u64]) -> i8 {
    let mut symbol = 1;
    let mut rest = d;
    while rest > 1 {
        let p = (2..).find(|p| rest.is_multiple_of(*p)).unwrap_or(rest);
        rest /= p;
        let residue = rem_small(n, p);
        let is_square = (1..p).any(|x| x * x % p == residue);
        symbol *= match residue {
            0 => 0,
            _ if is_square => 1,
            _ => -1,
        };
    }
    let is_3 = |x: u64| x % 4 == 3;
    // (−1 | n), and reciprocity.
    if negative && is_3(n[0]) {
        symbol = -symbol;
    }
    if is_3(d) && is_3(n[0]) {
        symbol = -symbol;
    }
    symbol
}
