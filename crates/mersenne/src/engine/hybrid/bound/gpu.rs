//! The stages of the transforms on a GPU: those of the kernels `columns.cu` and `rows.cu` of the
//! engine `fp64`.

use super::stage::{ROUNDED, Stage};

/// The radices Q, A and B of a column or of a row. A may be 1.
pub(in crate::engine) type Line = [u32; 3];

/// A level of a transform of some points in registers: `levels` of `fourier.cuh`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Level {
    /// The radix p, which is prime.
    pub(super) radix: u32,
    /// The number of nodes, which is the product of the radices before.
    pub(super) nodes: u32,
    /// The number m of points after it: factors are the powers w^m to w^((p − 1)·m), times roots.
    pub(super) apart: u32,
}

/// Returns the radix of the first level of a transform of n > 1 points.
pub(super) fn first_radix(n: u32) -> u32 {
    [11, 7, 5, 3, 2].into_iter().find(|p| n.is_multiple_of(*p)).unwrap_or(n)
}

/// Returns the levels of a transform of n points.
pub(super) fn levels(n: u32) -> Vec<Level> {
    let mut levels = vec![];
    let mut nodes = 1;
    while nodes < n {
        let radix = first_radix(n / nodes);
        levels.push(Level { radix, nodes, apart: n / (nodes * radix) });
        nodes *= radix;
    }
    levels
}

/// Returns the term that the node `index` of `nodes` adds to frequencies: `frequency_of_node` of
/// `fourier.cuh`.
pub(super) fn frequency_of_node(n: u32, nodes: u32, index: u32) -> u32 {
    frequency_at(n, index * (n / nodes))
}

/// Returns the k of X_k at a place of the result: `frequency_at` of `fourier.cuh`.
pub(super) fn frequency_at(n: u32, place: u32) -> u32 {
    if n == 1 {
        return 0;
    }
    let p = first_radix(n);
    let m = n / p;
    place / m + p * frequency_at(m, place % m)
}

impl Level {
    /// Returns the fractions k·i/(nodes·p) of all roots by which a factor w^(m·i) is multiplied.
    fn roots(self, n: u32, i: u32) -> Vec<(i64, i64)> {
        let turn = i64::from(self.nodes * self.radix);
        let of_node = |node| i64::from(frequency_of_node(n, self.nodes, node) * i);
        (0..self.nodes).map(|node| (of_node(node) % turn, turn)).collect()
    }
    /// Returns whether a root of the level is no power of i.
    fn rotates(self, n: u32) -> bool {
        (1..self.radix).flat_map(|i| self.roots(n, i)).any(|(k, n)| 4 * k % n != 0)
    }
    fn stage(self, factor: f64) -> Stage {
        match self.radix {
            2 => Stage::Fused { factor },
            radix => Stage::Odd { radix, factor: Some(factor), fused: true },
        }
    }
}

/// The number w of a step, as a function of a position (x, y): w = e(±x/n_x)·e(±y/n_y) for x <
/// `table.0` and y < `excess.0`, where n_x = `table.1` and n_y = `excess.1`. A list has the powers
/// of the first factor, another one those of the second minus 1. Without `excess`, the second
/// factor is absent: `Listed`; with it, the powers are `Turned` of `line.cuh`.
#[derive(Clone, Copy)]
pub(super) struct Powers {
    #[cfg_attr(not(test), expect(dead_code, reason = "only tests compute factors"))]
    pub(super) table: (u64, u64),
    pub(super) excess: Option<(u64, u64)>,
    /// Whether half of the transforms take e(−1/R)/w instead, for the radix R, and one takes e(−1/2R):
    /// `PartnersPowers` of `rows.cu`.
    pub(super) partners: bool,
}

/// A step of a line: a transform of `radix` points in registers, with the powers of its factor w,
/// or plain.
pub(super) struct Step {
    pub(super) radix: u32,
    /// The sign of the exponents of roots.
    #[cfg_attr(not(test), expect(dead_code, reason = "only tests compute factors"))]
    pub(super) sign: i64,
    pub(super) powers: Option<Powers>,
}

/// Returns the error of a factor after a product by a constant root: the constant's error, and two
/// roundings per part.
fn times_root(error: f64) -> f64 {
    rounded(error + 2.0 * ROUNDED)
}

/// Returns the error of a factor after its last rounding. With an error of 3u or more, the part of
/// a factor i^m that should be 1 can be so far above 1 that rounding it errs by u.
fn rounded(error: f64) -> f64 {
    error + if error < 3.0 { ROUNDED } else { 1.0 }
}

impl Step {
    fn listed(radix: u32, sign: i64, table: (u32, u64)) -> Self {
        let table = (u64::from(table.0), table.1);
        Self { radix, sign, powers: Some(Powers { table, excess: None, partners: false }) }
    }
    fn turned(radix: u32, sign: i64, table: (u32, u64), excess: (u32, u64)) -> Self {
        let table = (u64::from(table.0), table.1);
        let excess = Some((u64::from(excess.0), excess.1));
        Self { radix, sign, powers: Some(Powers { table, excess, partners: false }) }
    }
    fn plain(radix: u32, sign: i64) -> Self {
        Self { radix, sign, powers: None }
    }

    /// Returns the largest error of the factors w^e·e(k/n) for all (k, n) of `roots` (Lemma 2).
    /// The result is that of a formula that holds for all tables.
    fn error(&self, powers: &Powers, e: u32, roots: &[(i64, i64)]) -> f64 {
        let turns = |k: i64, n: i64| 4 * k % n != 0;
        let mut error = ROUNDED;
        if let Some((count, n)) = powers.excess {
            // The sums are at most 1 and √2 in magnitude, then 1 and 1. The excess has the relative
            // error u, and is at most as large as its angle.
            let angle = std::f64::consts::TAU * f64::from(e) * count as f64 / n as f64;
            error = rounded(error + 1.25f64.sqrt() + angle.min(2.0));
        }
        if powers.partners && turns(i64::from(e), i64::from(self.radix)) {
            error = times_root(error);
        }
        if roots.iter().any(|&(k, n)| turns(k, n)) {
            error = times_root(error);
        }
        error
    }

    fn stages(&self, error: &impl FactorError) -> Vec<Stage> {
        let stage = |level: Level| {
            let Some(powers) = &self.powers else {
                return match (level.radix, level.rotates(self.radix)) {
                    (2, false) => Stage::Sums,
                    (radix, false) if level.nodes == 1 => {
                        Stage::Odd { radix, factor: None, fused: true }
                    }
                    _ => level.stage(ROUNDED),
                };
            };
            let of_power =
                |i: u32| error(self, powers, i * level.apart, &level.roots(self.radix, i));
            level.stage((1..level.radix).map(of_power).fold(0.0, f64::max))
        };
        levels(self.radix).into_iter().map(stage).collect()
    }
}

/// The stages of both transforms.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::engine) struct Stages {
    /// The stages of the forward transform, in order.
    pub(in crate::engine) forward: Vec<Stage>,
    /// The stages of the inverse transform, in order.
    pub(in crate::engine) inverse: Vec<Stage>,
    /// The largest error of the factors e(−k/n) in products, in units of u.
    pub(in crate::engine) product: f64,
}

/// Returns the steps of the forward and of the inverse transform. The position (x, y) of their
/// factors is, in order: none; kq; kq + Q·ka; k1; (kq, k1); (kq + Q·ka, k1), and for the inverse
/// transform: none; b; a·B + b; j2; (b, j2); (a·B + b, j2). Names are those of `columns.cu` and
/// `rows.cu`.
pub(super) fn steps(column: Line, row: Line) -> ([Step; 6], [Step; 6]) {
    let length = |line: Line| line.iter().map(|&r| u64::from(r)).product::<u64>();
    let (rows, columns) = (length(column), length(row));
    let n = rows * columns;
    let ([cq, ca, cb], [rq, ra, rb]) = (column, row);
    let wide = u64::from;
    let (forward, inverse) = (-1, 1);
    // Units that are no partners lie in rows 0 to R/2.
    let mut last = Step::turned(rb, forward, (rq * ra, columns), (rows as u32 / 2 + 1, n));
    if let Some(powers) = &mut last.powers {
        powers.partners = true;
    }
    let forward = [
        Step::plain(cq, forward),
        Step::listed(ca, forward, (cq, wide(cq * ca))),
        Step::listed(cb, forward, (cq * ca, rows)),
        Step::listed(rq, forward, (rows as u32, wide(rq) * rows)),
        Step::turned(ra, forward, (rq, wide(rq * ra)), (rows as u32, wide(rq * ra) * rows)),
        last,
    ];
    let inverse = [
        Step::plain(rb, inverse),
        Step::listed(ra, inverse, (rb, wide(ra * rb))),
        Step::listed(rq, inverse, (ra * rb, columns)),
        Step::listed(cb, inverse, (columns as u32, wide(cb) * columns)),
        Step::turned(ca, inverse, (cb, wide(ca * cb)), (columns as u32, wide(ca * cb) * columns)),
        Step::turned(cq, inverse, (ca * cb, rows), (columns as u32, n)),
    ];
    (forward, inverse)
}

/// Returns the stages of the transform of n = R·C points, where R is the product of the radices of
/// `column`, and C the product of those of `row`.
///
/// # Panics
/// Panics if n > 2^25, or if a radix has a prime factor above 11.
#[must_use]
pub(in crate::engine) fn stages(column: Line, row: Line) -> Stages {
    stages_with(column, row, Step::error)
}

/// A function that returns the largest error of the factors w^e·e(k/n) of a step for all (k, n) of a
/// list.
pub(super) trait FactorError: Fn(&Step, &Powers, u32, &[(i64, i64)]) -> f64 {}

impl<F: Fn(&Step, &Powers, u32, &[(i64, i64)]) -> f64> FactorError for F {}

/// Returns [`stages`] with errors of factors that `error` returns.
pub(super) fn stages_with(column: Line, row: Line, error: impl FactorError) -> Stages {
    let radices = || column.into_iter().chain(row);
    let n: u64 = radices().map(u64::from).product();
    assert!(n <= 1 << 25, "angles of 2π/{n} are too small for Lemma 2");
    let smooth = |r: u32| levels(r).iter().all(|l| l.radix <= 11);
    assert!(radices().all(smooth), "{column:?} and {row:?} have radices with large primes");
    let (forward, inverse) = steps(column, row);
    let [.., last] = &forward;
    let product = last.powers.as_ref().map_or(0.0, |powers| {
        // Products take their factors from the units that are no partners.
        let powers = Powers { partners: false, ..*powers };
        let radix = i64::from(last.radix);
        let roots: Vec<_> = (0..radix).map(|k| (k, radix)).collect();
        // Units that are their own partners take constants.
        error(last, &powers, 1, &roots).max(ROUNDED)
    });
    let all = |steps: &[Step]| steps.iter().flat_map(|s| s.stages(&error)).collect();
    Stages { forward: all(&forward), inverse: all(&inverse), product }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_of_radices() {
        let of = |n| levels(n).iter().map(|l| (l.radix, l.nodes, l.apart)).collect::<Vec<_>>();
        assert_eq!(of(1), []);
        assert_eq!(of(8), [(2, 1, 4), (2, 2, 2), (2, 4, 1)]);
        assert_eq!(of(12), [(3, 1, 4), (2, 3, 2), (2, 6, 1)]);
        assert_eq!(of(14), [(7, 1, 2), (2, 7, 1)]);
        assert_eq!(of(22), [(11, 1, 2), (2, 11, 1)]);
    }

    #[test]
    fn plain_steps() {
        let plain = |n| Step::plain(n, 1).stages(&Step::error);
        let rotated = Stage::Fused { factor: ROUNDED };
        assert_eq!(plain(8), [Stage::Sums, Stage::Sums, rotated]);
        assert_eq!(plain(6), [Stage::Odd { radix: 3, factor: None, fused: true }, rotated]);
        let nine = [None, Some(ROUNDED)].map(|factor| Stage::Odd { radix: 3, factor, fused: true });
        assert_eq!(plain(9), nine);
    }

    #[test]
    fn formulas_of_factors() {
        let found = stages([8, 4, 8], [8, 8, 8]);
        assert_eq!((found.forward.len(), found.inverse.len()), (17, 17));
        let factor = |stage: Stage| match stage {
            Stage::Fused { factor } => factor,
            other => panic!("{other:?}"),
        };
        // Step A of columns: table entries, and products by a root in the third level of step B.
        assert_eq!(factor(found.forward[3]), ROUNDED);
        assert_eq!(factor(found.forward[7]), 4.0 * ROUNDED);
        // The last level of rows: partners, and roots of order 8; the angle of the excess is 2π·129/(256·512).
        let angle = std::f64::consts::TAU * 129.0 / f64::from(1 << 17);
        let expected = 6.0 * ROUNDED + 1.25f64.sqrt() + angle + 2.0;
        assert!((factor(found.forward[16]) - expected).abs() < 1e-12);
    }
}
