//! Tests transforms on the CPU against the definition and published examples. The transforms of
//! devices are compared with these transforms.

use std::fmt::Display;

use warpint_arith::field::Field;
use warpint_arith::gfn::{Form, Gfn, PRIMES};
use warpint_arith::with_field;
use warpint_transform::cpu::Transform;
use warpint_transform::definition;

use super::big::elements;
use crate::sample::random;

/// A case: takes a seed; returns a message if it fails.
pub type Run = fn(u64) -> Result<(), String>;

/// The names and functions of all cases.
pub const CASES: &[(&str, Run)] =
    &[("published_examples", published_examples), ("transforms", transforms), ("outputs", outputs)];

/// Tests transforms and a product over Z/17Z against published examples (Chen, Covanov, Mohajerani
/// and Moreno Maza 2018, *Big prime field FFTs on the GPU*, slides of CASCON).
fn published_examples(_seed: u64) -> Result<(), String> {
    // 17 = (2^3 − 2^2)^2 + 1.
    let field = Gfn::<2>::new(Form::minus(3, 2, 2).map_err(text)?).map_err(text)?;
    let of = |x: [u64; 8]| x.map(|x| field.from_u64(x));
    let plan = Transform::new(field.clone(), 3).map_err(text)?;
    let examples = [
        ([1, 2, 1, 2, 1, 2, 1, 2], [12, 0, 0, 0, 13, 0, 0, 0]),
        ([1, 2, 3, 4, 5, 6, 7, 8], [2, 8, 14, 6, 13, 3, 12, 1]),
        ([8, 7, 6, 5, 4, 3, 2, 1], [2, 9, 3, 11, 4, 14, 5, 16]),
    ];
    for (x, expected) in examples {
        let mut found = of(x);
        plan.forward(&mut found).map_err(text)?;
        if found != of(expected) {
            return Err(format!("the transform of {x:?} mod 17 has digits {found:?} in radix 4"));
        }
    }
    let mut product = of([1, 2, 3, 4, 5, 6, 7, 8]);
    plan.cyclic(&mut product, &mut of([8, 7, 6, 5, 4, 3, 2, 1])).map_err(text)?;
    if product != of([6, 3, 8, 4, 8, 3, 6, 0]) {
        return Err(format!("the product mod 17 has digits {product:?} in radix 4"));
    }
    Ok(())
}

/// Tests transforms of up to 64 elements, and convolutions, against the definition, over all
/// [`PRIMES`]. For primes of many digits, the transforms are shorter. Also tests the inverse
/// transforms.
fn transforms(seed: u64) -> Result<(), String> {
    PRIMES.into_iter().try_for_each(|form| {
        (0..=6)
            .try_for_each(|log2| with_field!(form, |field| all(seed, field, log2)).map_err(text)?)
    })
}

fn all<const K: usize>(seed: u64, field: Gfn<K>, log2: u32) -> Result<(), String> {
    let n = 1usize << log2;
    // Products by definition: about the same number of digit products for each prime.
    if K * K * n * n > 1 << 18 {
        return Ok(());
    }
    let (form, [a, b]) = (field.form(), [0, 1].map(|i| elements(&field, n, &mut random(seed + i))));
    let root = field.root_of_unity(log2).ok_or("no root of unity")?;
    let [transform, product] =
        [definition::transform(&field, &a, &root), definition::convolve(&field, &a, &b)];
    let plan = Transform::new(field, log2).map_err(text)?;
    let mut x = a.clone();
    plan.forward(&mut x).map_err(text)?;
    if x != transform {
        return Err(format!("{form}: a transform of 2^{log2} elements is wrong"));
    }
    plan.inverse(&mut x).map_err(text)?;
    if x != a {
        return Err(format!("{form}: 2^{log2} elements do not come back"));
    }
    plan.cyclic(&mut x, &mut b.clone()).map_err(text)?;
    if x != product {
        return Err(format!("{form}: a convolution of 2^{log2} elements is wrong"));
    }
    Ok(())
}

/// Tests some outputs of longer transforms against Horner's rule. Also tests the inverse
/// transforms.
fn outputs(seed: u64) -> Result<(), String> {
    let lengths = [13, 11, 10, 8, 7, 5, 4];
    PRIMES.into_iter().zip(lengths).try_for_each(|(form, log2)| {
        with_field!(form, |field| some(seed, field, log2)).map_err(text)?
    })
}

fn some<const K: usize>(seed: u64, field: Gfn<K>, log2: u32) -> Result<(), String> {
    let (form, n, a) =
        (field.form(), 1usize << log2, elements(&field, 1 << log2, &mut random(seed)));
    let root = field.root_of_unity(log2).ok_or("no root of unity")?;
    let plan = Transform::new(field, log2).map_err(text)?;
    let mut x = a.clone();
    plan.forward(&mut x).map_err(text)?;
    for i in [0, 1, n / 2 + 1, n - 1] {
        let point = plan.field().pow(&root, &[i as u64]);
        if x[i] != definition::evaluate(plan.field(), &a, &point) {
            return Err(format!("{form}: output {i} of 2^{log2} is wrong"));
        }
    }
    plan.inverse(&mut x).map_err(text)?;
    if x == a { Ok(()) } else { Err(format!("{form}: 2^{log2} elements do not come back")) }
}

fn text(e: impl Display) -> String {
    e.to_string()
}
