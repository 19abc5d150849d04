//! Tables of roots of unity modulo primes p, in the order in which the kernels read them.

use rayon::prelude::*;
use warpint_arith::f50::F50;

/// Returns the roots of unity ω(0), …, ω(log2), or their inverses if `inverse` is true, where ω(m)
/// has order 2^m. The absolute values are at most p. Returns `None` if the field has no root of
/// order 2^log2.
pub(super) fn roots(field: F50, log2: u32, inverse: bool) -> Option<Vec<f64>> {
    let mut root = field.root_of_unity(log2)?;
    if inverse {
        root = field.inverse(root);
    }
    let mut all = vec![root];
    for _ in 0..log2 {
        root = field.mul(root, root);
        all.push(root);
    }
    all.reverse();
    Some(all)
}

/// Returns the number of stages of each round for a line of 2^stages points. A round is a sequence
/// of stages without an exchange of points between threads. The last round has four stages. If
/// there are fewer than four stages in all, there is only one round.
pub(super) fn rounds(stages: u32) -> Vec<u32> {
    let last = stages.min(4);
    let others = (stages - last).div_ceil(4);
    let mut rounds: Vec<u32> =
        (0..others).map(|i| (stages - last + i) / others).filter(|&r| r > 0).collect();
    rounds.push(last);
    rounds
}

/// Returns 2^stages factors for each prime, for lines of 2^stages points, in the layout of the
/// table of roots that `f50_tile.cuh` describes. `roots` contains the result of [`roots`] for each
/// prime.
pub(super) fn line(fields: &[F50], roots: &[Vec<f64>], stages: u32) -> Vec<[f64; 2]> {
    let one = |(&field, roots): (&F50, &Vec<f64>)| {
        // The w of block c in reversed order: w(c + 2^t) = w(c)·ω(t + 2).
        let mut w = vec![1.0];
        for t in 0..stages.saturating_sub(1) {
            let more: Vec<f64> = w.iter().map(|&x| field.mul(x, roots[t as usize + 2])).collect();
            w.extend(more);
        }
        let mut table = vec![];
        let mut before = 0;
        for stages in rounds(stages) {
            for r in 0..stages {
                for c in 0..1usize << r {
                    let blocks = 0..1usize << before;
                    table.extend(blocks.map(|b| field.factor(w[(b << r) + c]).constants()));
                }
            }
            before += stages;
        }
        table.push([0.0; 2]);
        table
    };
    fields.par_iter().zip(roots).flat_map_iter(one).collect()
}

/// Returns ω^i for each prime and all i < 2^low, where ω is the root of unity of order 2^log2. The
/// absolute values are at most p/2.
pub(super) fn low_powers(fields: &[F50], roots: &[Vec<f64>], log2: u32, low: u32) -> Vec<f64> {
    let one = |(&field, roots): (&F50, &Vec<f64>)| {
        powers(field, roots[log2 as usize], 1 << low).map(move |x| field.factor(x).constants()[0])
    };
    fields.par_iter().zip(roots).flat_map_iter(one).collect()
}

/// Returns ω^(i·2^low) for each prime and all i < 2^(log2 − low), where ω is the root of unity of
/// order 2^log2. The powers are in the form of [`warpint_arith::f50::Factor::constants`].
pub(super) fn high_powers(
    fields: &[F50],
    roots: &[Vec<f64>],
    log2: u32,
    low: u32,
) -> Vec<[f64; 2]> {
    let one = |(&field, roots): (&F50, &Vec<f64>)| {
        let high = log2 - low;
        powers(field, roots[high as usize], 1 << high).map(move |x| field.factor(x).constants())
    };
    fields.par_iter().zip(roots).flat_map_iter(one).collect()
}

fn powers(field: F50, root: f64, count: usize) -> impl Iterator<Item = f64> {
    std::iter::successors(Some(1.0), move |&x| Some(field.mul(x, root))).take(count)
}
