//! Computes decimal digits of e = Σ 1/k! by binary splitting, and checks them modulo five primes.
//!
//! `cargo run --release --example huge -- 100000` computes 100,000 digits.

use std::env;

use warpint::integer::huge::{self, Residues};
use warpint::natural::limbs::add_assign;
use warpint::natural::product::{Multiplier, TransformMultiplier};

/// Returns P and Q = (from + 1)·(from + 2)⋯to with P/Q = Σ 1/((from + 1)⋯k) for k from from + 1 to to.
fn split(multiplier: &dyn Multiplier, from: u64, to: u64) -> [Vec<u64>; 2] {
    if to == from + 1 {
        return [vec![1], vec![to]];
    }
    let middle = from + (to - from) / 2;
    let ([p0, q0], [p1, q1]) = (split(multiplier, from, middle), split(multiplier, middle, to));
    // P0/Q0 + P1/(Q0·Q1) = (P0·Q1 + P1)/(Q0·Q1).
    let mut p = huge::product(multiplier, &p0, &q1);
    p.resize(p.len().max(p1.len()) + 1, 0);
    add_assign(&mut p, &p1);
    [p, huge::product(multiplier, &q0, &q1)]
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let digits: u64 = env::args().nth(1).map_or(Ok(1000), |text| text.parse())?;
    let multiplier = TransformMultiplier::new(4);
    // Terms until n! > 10^digits: ln n! > n·ln n − n.
    let enough = |n: &u64| (*n as f64).ln() * *n as f64 - *n as f64 > 2.31 * digits as f64;
    let terms = (2..).find(enough).unwrap_or(2);
    let [p, q] = split(&multiplier, 0, terms);
    assert_eq!(Residues::of(&q), Residues::of_factorial(terms));

    // ⌊10^digits·P/Q⌋ = ⌊10^digits·(e − 1)⌋, apart from the terms that were left out.
    let scale = huge::power(&multiplier, &[10], digits)?;
    let dividend = huge::product(&multiplier, &p, &scale);
    let (quotient, rest) = huge::div_rem(&multiplier, &dividend, &q)?;
    let sum = Residues::of(&quotient).times(Residues::of(&q)).plus(Residues::of(&rest));
    assert_eq!(sum, Residues::of(&dividend), "the quotient is wrong");
    let text = String::from_utf8(huge::to_decimal(&multiplier, &quotient))?;
    println!("2.{}", &text[1..]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_digits_of_e() {
        let [p, q] = split(&TransformMultiplier::new(1), 0, 20);
        let scaled = huge::product(&TransformMultiplier::new(1), &p, &[10u64.pow(15)]);
        let (e, _) = huge::div_rem(&TransformMultiplier::new(1), &scaled, &q).unwrap();
        assert_eq!(e, [1_718_281_828_459_045]);
    }
}
