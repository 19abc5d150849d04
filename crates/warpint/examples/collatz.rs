//! Verifies the Collatz conjecture for an interval, with progress and a way to stop:
//! `cargo run --release --example collatz`.

use std::sync::atomic::{AtomicU64, Ordering};

use warpint::collatz::sieve::{CpuSieve, Sieve};
use warpint::collatz::{Region, Verifier, path};
use warpint::progress::{StopToken, Unwatched, Watch};

/// A watch that prints a line after each tenth of the work, and passes on a request to stop.
struct Tenths {
    stop: StopToken,
    numbers: u64,
    done: AtomicU64,
}

impl Watch for Tenths {
    fn is_stopped(&self) -> bool {
        self.stop.is_stopped()
    }

    fn done(&self, numbers: u128) {
        let numbers = numbers as u64;
        let before = self.done.fetch_add(numbers, Ordering::Relaxed);
        let tenth = |done: u64| 10 * done / self.numbers;
        if tenth(before) != tenth(before + numbers) {
            println!("{} of 10", tenth(before + numbers));
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // 2^32 numbers from 2^40 on. Another thread may call `stop.stop()` on a clone.
    let region = Region::interval(1 << 40, (1 << 40) + (1 << 32))?;
    let watch = Tenths { stop: StopToken::new(), numbers: 1 << 32, done: AtomicU64::new(0) };
    let mut sieve = Sieve::new(CpuSieve::default());
    let Some(verified) = sieve.verify(&region, &watch)? else {
        println!("stopped");
        return Ok(());
    };
    println!("{} numbers, {} of them walked", verified.numbers, verified.walked);
    assert!(verified.unresolved.is_empty(), "a number did not come down");

    let path = path::path(&27u32.into(), &Unwatched).ok_or("stopped")?;
    println!("27 reaches 1 after {} steps", path.delay());
    Ok(())
}
