//! Exact cyclic squares of long sequences, by a transform modulo 2^64 − 2^32 + 1.

const PRIME: u64 = 0xffff_ffff_0000_0001;

fn times(a: u64, b: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(PRIME)) as u64
}

fn power(base: u64, mut e: u64) -> u64 {
    let (mut result, mut square) = (1, base);
    while e > 0 {
        if e % 2 == 1 {
            result = times(result, square);
        }
        square = times(square, square);
        e /= 2;
    }
    result
}

/// Replaces x_j by X_k = Σ_j x_j·root^(jk), where `root` has the order of the length, a power of 2.
fn transform(x: &mut [u64], root: u64) {
    let n = x.len();
    if n == 1 {
        return;
    }
    let mut halves: Vec<u64> =
        x.iter().step_by(2).chain(x[1..].iter().step_by(2)).copied().collect();
    let (even, odd) = halves.split_at_mut(n / 2);
    transform(even, times(root, root));
    transform(odd, times(root, root));
    let mut w = 1;
    for k in 0..n / 2 {
        let (a, b) = (u128::from(even[k]), u128::from(times(w, odd[k])));
        x[k] = ((a + b) % u128::from(PRIME)) as u64;
        x[k + n / 2] = ((a + u128::from(PRIME) - b) % u128::from(PRIME)) as u64;
        w = times(w, root);
    }
}

/// Returns z_w = Σ d_i·d_j over i + j ≡ w modulo the length, a power of 2. The sums must be below 2^63
/// in magnitude.
pub(super) fn cyclic_square(digits: &[i64]) -> Vec<i64> {
    let n = digits.len() as u64;
    // 7 generates the multiplicative group.
    let root = power(7, (PRIME - 1) / n);
    let residue = |d: i64| i128::from(d).rem_euclid(i128::from(PRIME)) as u64;
    let mut x: Vec<u64> = digits.iter().map(|&d| residue(d)).collect();
    transform(&mut x, root);
    x.iter_mut().for_each(|v| *v = times(*v, *v));
    transform(&mut x, power(root, n - 1));
    let inverse = power(n, PRIME - 2);
    let signed = |v: u64| {
        let v = times(v, inverse);
        if v > PRIME / 2 { -((PRIME - v) as i64) } else { v as i64 }
    };
    x.into_iter().map(signed).collect()
}

#[test]
fn cyclic_squares() {
    // (3 − 2t + t³)² = 9 − 12t + 4t² + 6t³ − 4t⁴ + t⁶, where t⁴ = 1.
    assert_eq!(cyclic_square(&[3, -2, 0, 1]), [5, -12, 5, 6]);
}
