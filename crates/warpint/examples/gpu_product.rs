//! The product of two polynomials modulo 2^64 − 2^32 + 1 by transforms on a GPU.
//!
//! `cargo run --release --example gpu_product` computes on the first GPU, `… --example gpu_product
//! -- cuda:1` on the second. Without a GPU or its driver, it prints what is missing and ends with exit
//! code 0. Any other error, such as a missing NVRTC, ends it with exit code 1.

use std::env;

use warpint::arith::goldilocks::{Goldilocks, canonical, mul};
use warpint::device::Device;
use warpint::transform::gpu::goldilocks::Ntt64;
use warpint::transform::{Plan, definition};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = match Device::open(&env::args().nth(1).unwrap_or("cuda".into())) {
        Ok(device) => device,
        Err(error) => {
            println!("this example needs a GPU: {error}");
            return Ok(());
        }
    };
    // 700,000 and 500,000 coefficients, the constant coefficient first.
    let polynomial = |count: u64| -> Vec<u64> {
        (1..=count).map(|i| canonical(i.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect()
    };
    let (a, b) = (polynomial(700_000), polynomial(500_000));

    // A cyclic convolution that is long enough for the product: 5·2^18 points.
    let count = a.len() + b.len() - 1;
    let plan = Ntt64::new(&device, 5 << 18)?;
    let padded = |x: &[u64]| device.upload(&[x, &vec![0; plan.points() - x.len()]].concat());
    let (mut product, mut factor) = (padded(&a)?, padded(&b)?);
    plan.convolve(&mut product, &mut factor)?;
    let product = &product.download()?[..count];

    // Both sides of c(x) = a(x)·b(x) at a point, by Horner's rule.
    let at = |x: &[u64]| definition::evaluate(&Goldilocks, x, &0x1234_5678_9abc_def0);
    assert_eq!(at(product), mul(at(&a), at(&b)));
    println!("{count} coefficients; those of 1, x and x²: {:?}", &product[..3]);
    Ok(())
}
