//! Computes the gcds of a million RSA-like moduli with one prime that is suspected to divide them,
//! as one batch.
//!
//! `cargo run --release --example batch` computes on the CPU, `… --example batch -- cuda` on a GPU.

use std::env;
use std::time::Instant;

use warpint::device::Device;
use warpint::integer::{Executor, UintBatch, Width};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let executor = match env::args().nth(1) {
        Some(name) => Executor::on(Device::open(&name)?),
        None => Executor::cpu(),
    };
    // Number i is (2i + 3)·(2^64 − 59), 128 bits wide; 2^64 − 59 is prime.
    let (count, prime) = (1_000_000, u64::MAX - 58);
    let limbs = |i: u64| {
        let n = u128::from(2 * i + 3) * u128::from(prime);
        [0, 32, 64, 96].map(|shift| (n >> shift) as u32)
    };
    let moduli: Vec<u32> = (0..count).flat_map(limbs).collect();
    let moduli = UintBatch::from_vec(&executor, Width::new(128)?, moduli)?;
    // A batch of one number combines with every number of another batch.
    let suspect = UintBatch::from_decimal(&executor, Width::new(64)?, ["18446744073709551557"])?;

    let begin = Instant::now();
    let divisors = moduli.gcd(&suspect)?;
    // On a device operations are asynchronous: this download waits for the result.
    let first = divisors.get(0)?.ok_or("an empty batch")?;
    println!("{count} gcds on {executor:?}: {:.1?}", begin.elapsed());
    assert_eq!(first[..2], [prime as u32, (prime >> 32) as u32]);
    println!("the first gcd is {prime}");
    Ok(())
}
