//! Known factors of M_p, written in decimal.

use std::cmp::Ordering;

use warpint_arith::limbs;

use super::ProofError;

/// The most digits of all factors together, as many as a proof file can name: they bound the cost.
const MOST_DIGITS: usize = 4096;

/// The product f of known factors of M_p, little-endian limbs; 1 if there are none.
///
/// Checks that each is a number above 1 and that f divides M_p, that is, that 2^p ≡ 1 mod f. Cost:
/// O(log p · (log f)²).
pub(super) fn product(p: u32, factors: &[String]) -> Result<Vec<u64>, ProofError> {
    let mut product = vec![1];
    let mut digits = 0;
    for text in factors {
        let wrong = |reason| ProofError::Factor { factor: shortened(text), exponent: p, reason };
        digits += text.len();
        if digits > MOST_DIGITS {
            return Err(wrong("is too long, alone or with those before it"));
        }
        let factor = parse(text).ok_or_else(|| wrong("is not a number above 1 in digits"))?;
        if !divides_mersenne(&factor, p) {
            return Err(wrong("does not divide the number"));
        }
        product = trimmed(limbs::mul(&product, &factor));
        if !divides_mersenne(&product, p) {
            return Err(wrong("does not divide what the factors before it have left"));
        }
    }
    Ok(product)
}

/// A number above 1, without leading zeros.
fn parse(text: &str) -> Option<Vec<u64>> {
    let sound = !text.starts_with('0') && text.bytes().all(|b| b.is_ascii_digit());
    if !sound {
        return None;
    }
    let mut value = vec![0u64; text.len().div_ceil(19) + 1];
    for digit in text.bytes() {
        limbs::mul_small_assign(&mut value, 10);
        limbs::add_assign(&mut value, &[u64::from(digit - b'0')]);
    }
    let value = trimmed(value);
    (value.len() > 1 || value.first().is_some_and(|&v| v > 1)).then_some(value)
}

fn shortened(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into(),
    }
}

fn trimmed(mut x: Vec<u64>) -> Vec<u64> {
    while x.len() > 1 && x.last() == Some(&0) {
        x.pop();
    }
    x
}

/// 2^p ≡ 1 mod f, for f > 1.
fn divides_mersenne(f: &[u64], p: u32) -> bool {
    let mut x = vec![0u64; f.len() + 1];
    x[0] = 1;
    for bit in (0..u32::BITS - p.leading_zeros()).rev() {
        x = square_mod(&x, f);
        if p >> bit & 1 == 1 {
            double_mod(&mut x, f);
        }
    }
    x[0] == 1 && x[1..].iter().all(|&limb| limb == 0)
}

/// x² mod f, a bit of x at a time; x < f with a limb to spare.
fn square_mod(x: &[u64], f: &[u64]) -> Vec<u64> {
    let mut sum = vec![0u64; x.len()];
    for bit in (0..64 * x.len()).rev() {
        double_mod(&mut sum, f);
        if x[bit / 64] >> (bit % 64) & 1 == 1 {
            limbs::add_assign(&mut sum, x);
            reduce_once(&mut sum, f);
        }
    }
    sum
}

fn double_mod(x: &mut [u64], f: &[u64]) {
    limbs::mul_small_assign(x, 2);
    reduce_once(x, f);
}

fn reduce_once(x: &mut [u64], f: &[u64]) {
    if limbs::compare(x, f) != Ordering::Less {
        limbs::sub_assign(x, f);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(p: u32, factors: &[&str]) -> Result<Vec<u64>, String> {
        let factors: Vec<String> = factors.iter().map(|&f| f.into()).collect();
        product(p, &factors).map_err(|e| e.to_string())
    }

    #[test]
    fn factors_are_those_that_divide() {
        assert_eq!(of(11, &[]), Ok(vec![1]));
        assert_eq!(of(11, &["23"]), Ok(vec![23]));
        assert_eq!(of(11, &["89", "23"]), Ok(vec![2047]));
        // Cole 1903, and a factor of two limbs: M101 has the factors 7432339208719 and this one.
        assert_eq!(of(67, &["193707721", "761838257287"]), Ok(vec![u64::MAX, 7]));
        assert_eq!(of(101, &["341117531003194129"]), Ok(vec![341_117_531_003_194_129]));
        assert_eq!(of(101, &["2535301200456458802993406410751"]).map(|f| f.len()), Ok(2));
        for (p, factors, says) in [
            (11, vec!["24"], "24 of M11 does not divide"),
            (11, vec!["23", "23"], "23 of M11 does not divide what the factors before it"),
            (11, vec!["1"], "1 of M11 is not a number above 1"),
            (11, vec!["0"], "is not a number"),
            (11, vec!["023"], "is not a number"),
            (11, vec![""], "is not a number"),
            (11, vec!["2x"], "is not a number"),
        ] {
            let error = of(p, &factors).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
        let long = "1".repeat(MOST_DIGITS + 1);
        let error = of(11, &[&long]).unwrap_err();
        assert!(error.len() < 200, "{error}");
    }
}
