//! Times single calls of batch operations, for comparison with calls from Python
//! (`python/benches/batches.py`).
//!
//! `cargo run --release --example calls -- cpu 1000000 2048` has the arguments device, count of
//! numbers, and bits. Prints a line for each operation: its name and the median time of a call in
//! seconds, of the times within a second, at least 3 and at most 101. On a device, a time is that of
//! 10 calls, divided by 10, until the device has finished.

use std::env;
use std::time::Instant;

use warpint::device::Device;
use warpint::integer::{Executor, IntegerError, UintBatch, Width};

/// A batch operation on operands that it owns.
type Call<'a> = Box<dyn Fn() -> Result<UintBatch, IntegerError> + 'a>;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [device, count, bits] = arguments.as_slice() else {
        return Err("usage: calls DEVICE COUNT BITS".into());
    };
    let executor = match device.as_str() {
        "cpu" => Executor::cpu(),
        name => Executor::on(Device::open(name)?),
    };
    let (count, bits): (usize, u32) = (count.parse()?, bits.parse()?);
    let (width, wider) = (Width::new(bits)?, Width::new(bits + 32)?);
    let numbers = |seed: u64| {
        let mut state = seed;
        let limb = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let x = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            (x ^ x >> 27) as u32
        };
        let limbs = std::iter::repeat_with(limb).take(count * width.limbs()).collect();
        UintBatch::from_vec(&executor, width, limbs)
    };
    let (a, b) = (numbers(1)?, numbers(2)?);
    let one = UintBatch::from_decimal(&executor, Width::new(32)?, ["1"])?;
    let odd = b.or(&one)?;
    let exponent = UintBatch::from_decimal(&executor, Width::new(32)?, ["65537"])?;

    let calls: Vec<(&str, Call<'_>)> = vec![
        ("a + b", Box::new(|| a.add_to_width(&b, wider))),
        ("a * b", Box::new(|| a.mul(&b))),
        ("a.square()", Box::new(|| a.square())),
        ("a & b", Box::new(|| a.and(&b))),
        ("pow(a, 65537, m)", Box::new(|| Ok(a.pow_mod(&exponent, &odd)?.0))),
    ];
    // An idle host sleeps while the device computes, and wakes up late.
    let at_once = if executor.device().is_some() { 10 } else { 1 };
    for (name, call) in calls {
        // The first call compiles kernels and takes memory from the system.
        drop(call()?);
        let (mut times, start) = (vec![], Instant::now());
        while times.len() < 3 || (times.len() < 101 && start.elapsed().as_secs() < 1) {
            let begin = Instant::now();
            for _ in 0..at_once {
                drop(call()?);
            }
            if let Some(device) = executor.device() {
                device.synchronize()?;
            }
            times.push(begin.elapsed().as_secs_f64() / f64::from(at_once));
        }
        times.sort_by(f64::total_cmp);
        println!("{name}\t{:.9}", times[times.len() / 2]);
    }
    Ok(())
}
