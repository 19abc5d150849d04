//! Loops over the instances of an operation with several results and flags per number, on all
//! cores.

use rayon::prelude::*;

/// The memory of a result: one row of `width` limbs of 32 bits per number. A result that is not
/// requested has width 0 and no memory.
#[derive(Debug, Default)]
pub(crate) struct Rows<'a> {
    limbs: &'a mut [u32],
    width: usize,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(limbs: &'a mut [u32], width: usize) -> Self {
        Self { limbs, width }
    }

    /// Splits off the first `count` rows and returns them.
    fn split_off(&mut self, count: usize) -> Self {
        let limbs = std::mem::take(&mut self.limbs);
        let (first, rest) = limbs.split_at_mut(count * self.width);
        self.limbs = rest;
        Self { limbs: first, width: self.width }
    }

    /// Splits off the next row and returns its limbs.
    pub(super) fn next(&mut self) -> &'a mut [u32] {
        self.split_off(1).limbs
    }
}

/// The instances that one core processes at a time, with their results and flags.
pub(super) struct Task<'a, const N: usize, const F: usize> {
    pub(super) first: usize,
    pub(super) count: usize,
    pub(super) results: [Rows<'a>; N],
    pub(super) flags: [&'a mut [u8]; F],
}

/// Calls `row` for each i < `count`, on all cores, and stores the flags that `row` returns. The
/// arguments of `row` are temporary memory made by `space`, the index i, and row i of each result.
/// One core processes `at_a_time` consecutive numbers at a time.
pub(super) fn for_rows<S, const N: usize, const F: usize>(
    count: usize,
    at_a_time: usize,
    results: [Rows; N],
    flags: [&mut [u8]; F],
    space: impl Fn() -> S + Sync + Send,
    row: impl Fn(&mut S, usize, [&mut [u32]; N]) -> [bool; F] + Sync,
) {
    for_chunks(count, at_a_time, results, flags, space, |space, mut task| {
        for j in 0..task.count {
            let rows = task.results.each_mut().map(Rows::next);
            let found = row(space, task.first + j, rows);
            for (flags, found) in task.flags.iter_mut().zip(found) {
                flags[j] = u8::from(found);
            }
        }
    });
}

/// Calls `chunk` for all tasks of `at_a_time` consecutive numbers, on all cores. The arguments of
/// `chunk` are temporary memory made by `space`, and the task.
pub(super) fn for_chunks<S, const N: usize, const F: usize>(
    count: usize,
    at_a_time: usize,
    mut results: [Rows; N],
    mut flags: [&mut [u8]; F],
    space: impl Fn() -> S + Sync + Send,
    chunk: impl Fn(&mut S, Task<N, F>) + Sync + Send,
) {
    let tasks: Vec<Task<N, F>> = (0..count)
        .step_by(at_a_time)
        .map(|first| {
            let count = at_a_time.min(count - first);
            let results = results.each_mut().map(|rows| rows.split_off(count));
            let flags = flags.each_mut().map(|flags| {
                let (these, rest) = std::mem::take(flags).split_at_mut(count);
                *flags = rest;
                these
            });
            Task { first, count, results, flags }
        })
        .collect();
    tasks.into_par_iter().for_each_init(space, chunk);
}
