//! Jacobi symbols modulo a number, used to check Lucas–Lehmer and Riesel tests and proofs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use crate::Residue;
use warpint_natural::euclid::jacobi;
use warpint_natural::product::TransformMultiplier;

/// The smallest number of bits for which using several threads saves time.
const PARALLEL_FROM: u32 = 1 << 18;

/// The time between two calls of `cancel` while other threads compute.
const PATIENCE: Duration = Duration::from_millis(20);

/// Returns the Jacobi symbol (x − 2 | N), where x is `residue`, a residue modulo an odd N. Uses the given
/// number of threads, or one thread for small N. Calls `cancel` on the calling thread many times a
/// second, and returns `None` once `cancel` returns true.
///
/// In a Lucas–Lehmer test, s_(n+1) = s_n² − 2 mod M_p. For odd p and s_0 = 4, 10 or 2/3, the symbol
/// of x = s_n is −1 for every n ≥ 1. Proof: s_(n+1) − 2 = (s_n − 2)(s_n + 2) and s_(n+1) + 2 =
/// s_n². So the symbol (s_n + 2 | M_p) is 1 for n ≥ 1. Therefore (s_n − 2 | M_p) does not change
/// after n = 1. For n = 1 it is (12 | M_p), (96 | M_p) or (−32/9 | M_p), which are all −1.
///
/// After an error, the symbol (s_n − 2 | M_p) is 1 or −1 with equal probability. The symbol can
/// change once more at the first squaring after the error, and is constant from then on. So a check
/// detects any earlier error with probability ½. If it misses an error, later checks also miss this
/// error.
///
/// Cost: O(P·log B) for a half-gcd, where N has B bits and P is the cost of a product of B bits.
/// Memory: about 10·B bits.
#[must_use]
pub fn jacobi_of_ll(residue: &Residue, threads: usize, cancel: &dyn Fn() -> bool) -> Option<i8> {
    jacobi_symbol(&residue.minus(2), threads, cancel)
}

/// Returns the Jacobi symbol (x | N) for odd N, which is 0 if x and N have a common factor. Returns
/// `None` once `cancel` returns true. Uses `threads` and `cancel` like [`jacobi_of_ll`], at the
/// same cost.
pub(crate) fn jacobi_symbol(x: &Residue, threads: usize, cancel: &dyn Fn() -> bool) -> Option<i8> {
    let number = x.number();
    let (x, modulus) = (x.limbs(), number.value());
    let threads = if number.bits() < PARALLEL_FROM { 1 } else { threads };
    let multiplier = TransformMultiplier::new(threads);
    let here = || jacobi(x, &modulus, &multiplier, cancel);
    if threads <= 1 {
        return here();
    }
    let stop = AtomicBool::new(false);
    let stopped = || stop.load(Ordering::Relaxed);
    let there = || multiplier.pool().run(|| jacobi(x, &modulus, &multiplier, &stopped));
    std::thread::scope(|scope| {
        let (done, result) = channel();
        let spawned = std::thread::Builder::new().spawn_scoped(scope, move || done.send(there()));
        if spawned.is_err() {
            return here();
        }
        loop {
            match result.recv_timeout(PATIENCE) {
                Ok(symbol) => return symbol,
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {
                    if cancel() {
                        stop.store(true, Ordering::Relaxed);
                    }
                }
            }
        }
    })
}
