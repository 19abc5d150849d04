//! The square of a polynomial over a prime field of 505 bits, by one convolution:
//! `cargo run --release --example convolution`.

use warpint::arith::field::Field;
use warpint::arith::gfn::Gfn8;
use warpint::transform::cpu::Transform;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let field = Gfn8::known();
    // (1 + z + … + z^511)², of degree 1,022: a cyclic convolution of length 2^10 holds it.
    let (log2, terms) = (10, 512);
    let polynomial = || {
        let mut x = vec![field.zero(); 1 << log2];
        x[..terms].fill(field.one());
        x
    };
    let (mut a, mut b) = (polynomial(), polynomial());
    Transform::new(field.clone(), log2)?.cyclic(&mut a, &mut b)?;
    // The coefficient of z^i is the number of pairs that add up to i.
    for (i, coefficient) in a.iter().enumerate() {
        let pairs = if i < terms { i + 1 } else { 2 * terms - 1 - i };
        assert_eq!(*coefficient, field.from_u64(pairs as u64), "z^{i}");
    }
    println!("{} coefficients mod {} are right", a.len(), field.form());
    Ok(())
}
