//! Factors of the transforms on a GPU, computed as `fourier.cuh` and `line.cuh` of the engine
//! `fp64` compute them, and their largest errors.

use warpint_arith::dd::{Dd, cos_sin_2pi};

use super::super::gpu::{Line, Powers, Stages, Step, stages, stages_with};
use super::super::stage::Stage;

/// Returns the stages of a transform as `gpu::stages` does, with errors of factors that were found by
/// computing every factor and comparing it with its value in double-double. The cost is a few hundred
/// nanoseconds per point of the transform.
pub(super) fn scanned_stages(column: Line, row: Line) -> Stages {
    let scanned = |step: &Step, powers: &Powers, e: u32, roots: &[(i64, i64)]| {
        powers.largest_error(step.sign, step.radix, e, roots)
    };
    stages_with(column, row, scanned)
}

/// A complex number, as its real and its imaginary part.
pub(super) type Complex = [f64; 2];

/// A complex number in double-double.
pub(super) type Exact = [Dd; 2];

/// Returns e^(2πik/n) in double-double, for any sign of k.
pub(super) fn exact_root(k: i64, n: u64) -> Exact {
    let (re, im) = cos_sin_2pi(k.rem_euclid(n as i64) as u64, n);
    [re, im]
}

/// Returns a·b in double-double.
pub(super) fn exact_product(a: Exact, b: Exact) -> Exact {
    [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
}

/// Returns e^(2πik/n), rounded to `f64`.
pub(super) fn rounded_root(k: i64, n: u64) -> Complex {
    exact_root(k, n).map(Dd::to_f64)
}

/// Returns e^(2πik/n) − 1, rounded to `f64`.
pub(super) fn rounded_excess(k: i64, n: u64) -> Complex {
    let [re, im] = exact_root(k, n);
    [(re - Dd::ONE).to_f64(), im.to_f64()]
}

pub(super) fn conjugate([re, im]: Complex) -> Complex {
    [re, -im]
}

/// Returns a·b + c with four fused multiply-adds: `multiply_add` of `complex.cuh`.
pub(super) fn multiply_add(a: Complex, b: Complex, c: Complex) -> Complex {
    [(-a[1]).mul_add(b[1], a[0].mul_add(b[0], c[0])), a[1].mul_add(b[0], a[0].mul_add(b[1], c[1]))]
}

/// Returns a·i^q.
pub(super) fn times_i(q: i64, [re, im]: Complex) -> Complex {
    match q.rem_euclid(4) {
        0 => [re, im],
        1 => [-im, re],
        2 => [-re, -im],
        _ => [im, -re],
    }
}

fn greatest_divisor(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { greatest_divisor(b, a % b) }
}

/// Multiplies numbers by e^(2πik/n), as `times_root` of `fourier.cuh` does.
#[derive(Clone, Copy)]
pub(super) struct TimesRoot {
    quarters: i64,
    /// The constant, or none if k/n is a multiple of 1/4.
    constant: Option<Complex>,
    eighth: bool,
}

impl TimesRoot {
    pub(super) fn new(k: i64, n: i64) -> Self {
        let step = if n % 4 == 0 {
            n / 4
        } else if n % 2 == 0 {
            n / 2
        } else {
            n
        };
        let turned = k.rem_euclid(n);
        let (quarters, rest) = (turned / step * (4 * step / n), turned % step);
        let g = greatest_divisor(rest, n);
        let (a, b) = (rest / g, n / g);
        let constant = (rest != 0).then(|| rounded_root(a, b as u64));
        Self { quarters, constant, eighth: (a, b) == (1, 8) }
    }
    pub(super) fn of(self, w: Complex) -> Complex {
        let turned = match self.constant {
            None => w,
            Some([re, _]) if self.eighth => [(w[0] - w[1]) * re, (w[0] + w[1]) * re],
            Some([re, im]) => [w[0].mul_add(re, -(w[1] * im)), w[0].mul_add(im, w[1] * re)],
        };
        times_i(self.quarters, turned)
    }
}

/// Returns the distance of a computed factor from the exact one, in units of u = 2^−53.
pub(super) fn error_of([re, im]: Complex, exact: Exact) -> f64 {
    let part = |computed: f64, exact: Dd| (exact - Dd::from_f64(computed)).to_f64();
    part(re, exact[0]).hypot(part(im, exact[1])) * 2f64.powi(53)
}

impl Powers {
    /// Returns w^e as it is computed at the position (x, y), for the sign of the exponents.
    pub(super) fn computed(&self, sign: i64, e: u32, x: u64, y: u64) -> Complex {
        let turn = |v: u64| sign * (u64::from(e) * v) as i64;
        let w = rounded_root(turn(x), self.table.1);
        match self.excess {
            None => w,
            Some((_, n)) => multiply_add(w, rounded_excess(turn(y), n), w),
        }
    }

    /// Returns the largest error, in units of u, of the factors w^e·e(±k/n) for all positions and
    /// all (k, n) of `roots`, and of the partners' factors for a radix R. Every factor is computed
    /// and compared with its value in double-double.
    pub(super) fn largest_error(&self, sign: i64, radix: u32, e: u32, roots: &[(i64, i64)]) -> f64 {
        let turn = |v: u64| sign * (u64::from(e) * v) as i64;
        let one = [Dd::ONE, Dd::ZERO];
        let (count, n) = self.excess.unwrap_or((1, 1));
        let excesses: Vec<(Complex, Exact)> = (0..count)
            .map(|y| match self.excess {
                None => ([0.0; 2], one),
                Some(_) => (rounded_excess(turn(y), n), exact_root(turn(y), n)),
            })
            .collect();
        let roots: Vec<(TimesRoot, Exact)> = roots
            .iter()
            .map(|&(k, n)| (TimesRoot::new(sign * k, n), exact_root(sign * k, n as u64)))
            .collect();
        let shift = sign * i64::from(e);
        let partner = self.partners.then(|| {
            (TimesRoot::new(shift, i64::from(radix)), exact_root(shift, u64::from(radix)))
        });
        let mut largest = 0.0f64;
        let mut check = |w: Complex, exact: Exact| {
            for (times, root) in &roots {
                largest = largest.max(error_of(times.of(w), exact_product(exact, *root)));
            }
        };
        for x in 0..self.table.0 {
            let (w, exact) =
                (rounded_root(turn(x), self.table.1), exact_root(turn(x), self.table.1));
            for &(excess, exact_excess) in &excesses {
                let (w, exact) = match self.excess {
                    None => (w, exact),
                    Some(_) => (multiply_add(w, excess, w), exact_product(exact, exact_excess)),
                };
                check(w, exact);
                if let Some((times, root)) = partner {
                    let inverse = [exact[0], -exact[1]];
                    check(times.of(conjugate(w)), exact_product(inverse, root));
                }
            }
        }
        if self.partners {
            // The second of two units that are their own partners has w = e(−1/2R).
            let n = 2 * u64::from(radix);
            check(rounded_root(shift, n), exact_root(shift, n));
        }
        // The reference itself has an error below 2^−40 of a unit.
        largest + 2f64.powi(-40)
    }
}

#[test]
fn scanned_errors_are_below_the_formula() {
    for (column, row) in [([4, 1, 8], [8, 1, 4]), ([6, 4, 4], [4, 7, 4]), ([8, 4, 8], [9, 4, 8])] {
        let [formula, scanned] = [stages, scanned_stages].map(|stages| stages(column, row));
        let pairs = |a: &[Stage], b: &[Stage]| {
            for (a, b) in a.iter().zip(b) {
                assert!(a.mean_error() >= b.mean_error(), "{column:?} {row:?}: {a:?} {b:?}");
            }
        };
        pairs(&formula.forward, &scanned.forward);
        pairs(&formula.inverse, &scanned.inverse);
        assert!(formula.product >= scanned.product && scanned.product > 0.5);
    }
}
