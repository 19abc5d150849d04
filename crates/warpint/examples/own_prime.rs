//! Transforms over a user-defined prime field: `cargo run --release --example own_prime`.

use warpint::arith::field::Field;
use warpint::arith::gfn::{Form, Gfn};
use warpint::transform::cpu::Transform;
use warpint::transform::definition;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The new prime: r = 2^60 + 2^36, and r^8 + 1 is proven prime here.
    const K: usize = 8;
    let form = Form::plus(60, 36, K)?;
    let field = Gfn::<K>::new(form)?;
    println!("{form}: a prime of {} bits, 2^{} divides p − 1", form.bits(), form.two_adicity());

    // r is a root of unity of order 2k.
    let r = field.from_digits(&[0, 1, 0, 0, 0, 0, 0, 0])?;
    assert_eq!(field.pow(&r, &[8]), field.neg(&field.one()));

    // Numbers of 512 bits, mod p.
    let x: Vec<_> = (0..1024).map(|i| field.from_limbs(&[i, 1, 4, 1, 5, 9, 2, 6])).collect();
    let inverse = field.inverse(&x[7]).ok_or("0 has no inverse")?;
    assert_eq!(field.mul(&x[7], &inverse), field.one());
    println!("1/x_7 = {:x?}, the lowest limb first", field.to_limbs(&inverse));

    // Forward and inverse transform; one output by Horner's rule.
    let transform = Transform::new(field, 10)?;
    let mut values = x.clone();
    transform.forward(&mut values)?;
    let field = transform.field();
    let root = field.root_of_unity(10).ok_or("no root of order 2^10")?;
    assert_eq!(values[3], definition::evaluate(field, &x, &field.pow(&root, &[3])));
    transform.inverse(&mut values)?;
    assert_eq!(values, x);
    println!("transforms of {} elements: there and back again", x.len());
    Ok(())
}
