//! Loops in parallel. Rayon's loops are compiled anew for each closure and each field; these are
//! compiled once for each type of elements.

use rayon::prelude::*;

/// Calls `work` with the index and the entries of every part of `x`, in parallel. All parts but the
/// last have `len` entries, and `len` must be at least 1.
pub(crate) fn each_part<T: Send>(x: &mut [T], len: usize, work: &(dyn Fn(usize, &mut [T]) + Sync)) {
    x.par_chunks_mut(len).enumerate().for_each(|(i, part)| work(i, part));
}

/// Returns the vector of f(0), f(1), …, f(n − 1), computed in parallel. `zero` is any value.
pub(crate) fn each<T: Clone + Send>(n: usize, zero: T, f: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
    let mut all = vec![zero; n];
    each_part(&mut all, 1, &|i, one| one[0] = f(i));
    all
}

/// Calls `work` on a thread of rayon's current pool. Each loop of this module that is called from
/// another thread hands its work over to the pool and waits, which takes some microseconds. Loops
/// within `work` do not.
pub(crate) fn in_pool<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    rayon::scope(|_| work())
}
