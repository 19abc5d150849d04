//! A model of a squaring on a GPU in `f64`, with the operations of `fourier.cuh`, `columns.cu` and
//! `rows.cu` in their order.

use warpint_arith::dd::cos_sin_2pi;

use super::super::gpu::{Level, Line, Step, frequency_at, frequency_of_node, levels, steps};
use super::factors::{Complex, TimesRoot, conjugate, multiply_add, rounded_root, times_i};

fn add(a: Complex, b: Complex) -> Complex {
    [a[0] + b[0], a[1] + b[1]]
}
fn sub(a: Complex, b: Complex) -> Complex {
    [a[0] - b[0], a[1] - b[1]]
}
fn mul(a: Complex, b: Complex) -> Complex {
    [a[0].mul_add(b[0], -(a[1] * b[1])), a[0].mul_add(b[1], a[1] * b[0])]
}
fn square(a: Complex) -> Complex {
    [a[0].mul_add(a[0], -(a[1] * a[1])), (a[0] + a[0]) * a[1]]
}
/// a² − c.
fn square_sub(a: Complex, c: Complex) -> Complex {
    [a[0].mul_add(a[0], -a[1].mul_add(a[1], c[0])), (a[0] + a[0]).mul_add(a[1], -c[1])]
}
/// 2a − b.
fn twice_sub(a: Complex, b: Complex) -> Complex {
    [2f64.mul_add(a[0], -b[0]), 2f64.mul_add(a[1], -b[1])]
}

/// Returns a + t·b and a − t·b.
pub(super) fn butterfly(a: Complex, b: Complex, t: Complex) -> [Complex; 2] {
    let sum = multiply_add(t, b, a);
    [sum, twice_sub(a, sum)]
}

/// Transforms an odd prime number of points: `odd_transform`. `t` has the factors of x_1, x_2 and
/// so on; without, all of them are 1.
pub(super) fn odd_transform(x: &mut [Complex], t: Option<&[Complex]>, sign: i64) {
    let (p, h) = (x.len(), x.len() / 2);
    let (mut s, mut d) = (vec![[0.0; 2]; h + 1], vec![[0.0; 2]; h + 1]);
    for j in 1..=h {
        (s[j], d[j]) = match t {
            None => (add(x[j], x[p - j]), sub(x[j], x[p - j])),
            Some(t) => {
                let first = mul(t[j - 1], x[j]);
                let sum = multiply_add(t[p - j - 1], x[p - j], first);
                (sum, twice_sub(first, sum))
            }
        };
    }
    let x0 = x[0];
    x[0] = s[1..].iter().fold(x0, |sum, &s| add(sum, s));
    for k in 1..=h {
        let (mut even, mut odd) = (x0, [0.0; 2]);
        for a in 1..=h {
            let j = a * k % p;
            let [cosine, sine] = rounded_root(j.min(p - j) as i64, p as u64);
            let sine = if j < p - j { sine } else { -sine };
            even = [s[a][0].mul_add(cosine, even[0]), s[a][1].mul_add(cosine, even[1])];
            odd = if a == 1 {
                d[1].map(|v| v * sine)
            } else {
                [d[a][0].mul_add(sine, odd[0]), d[a][1].mul_add(sine, odd[1])]
            };
        }
        let odd = times_i(sign, odd);
        (x[k], x[p - k]) = (add(even, odd), sub(even, odd));
    }
}

/// e(k/n): `root` of `fourier.cuh`, with the power of i if it is one.
fn root(k: i64, n: i64) -> (Complex, Option<i64>) {
    let turned = k.rem_euclid(n);
    if 4 * turned % n == 0 {
        return (times_i(4 * turned / n, [1.0, 0.0]), Some(4 * turned / n));
    }
    let g = (1..=turned).rev().find(|g| turned % g == 0 && n % g == 0).unwrap_or(1);
    (rounded_root(turned / g, (n / g) as u64), None)
}

/// A level with the roots e(k·i/(nodes·p)) for the factors i of all nodes.
struct TreeLevel {
    level: Level,
    times: Vec<TimesRoot>,
    /// The roots themselves, with the power of i if a root is one.
    roots: Vec<(Complex, Option<i64>)>,
}

/// A transform of some points, with the roots of its levels.
struct Tree {
    n: usize,
    sign: i64,
    levels: Vec<TreeLevel>,
}

impl Tree {
    fn new(step: &Step) -> Self {
        let n = step.radix;
        let of_level = |level: Level| {
            let turn = i64::from(level.nodes * level.radix);
            let exponents: Vec<i64> = (0..level.nodes)
                .flat_map(|node| {
                    let k = i64::from(frequency_of_node(n, level.nodes, node));
                    (1..i64::from(level.radix)).map(move |i| step.sign * k * i)
                })
                .collect();
            let times = exponents.iter().map(|&k| TimesRoot::new(k, turn)).collect();
            let roots = exponents.iter().map(|&k| root(k, turn)).collect();
            TreeLevel { level, times, roots }
        };
        Self {
            n: n as usize,
            sign: step.sign,
            levels: levels(n).into_iter().map(of_level).collect(),
        }
    }

    /// Replaces x_j by X_k, in natural order. `powers` are those of w, in the order of levels.
    fn transform(&self, x: &mut [Complex], powers: Option<&[Complex]>) {
        let mut powers = powers;
        for TreeLevel { level, times, roots } in &self.levels {
            let (p, m) = (level.radix as usize, level.apart as usize);
            let w = powers.map(|all| &all[..p - 1]);
            powers = powers.map(|all| &all[p - 1..]);
            for node in 0..level.nodes as usize {
                let of_node = (p - 1) * node..(p - 1) * (node + 1);
                let t: Vec<Complex> = match w {
                    Some(w) => {
                        times[of_node.clone()].iter().zip(w).map(|(r, &w)| r.of(w)).collect()
                    }
                    None => roots[of_node.clone()].iter().map(|r| r.0).collect(),
                };
                let quarters = if w.is_none() { roots[of_node.start].1 } else { None };
                for at in (0..m).map(|j| node * p * m + j) {
                    match (p, quarters) {
                        (2, Some(quarters)) => {
                            let c = times_i(quarters, x[at + m]);
                            (x[at], x[at + m]) = (add(x[at], c), sub(x[at], c));
                        }
                        (2, None) => [x[at], x[at + m]] = butterfly(x[at], x[at + m], t[0]),
                        _ => {
                            let mut y: Vec<Complex> = (0..p).map(|i| x[at + i * m]).collect();
                            let plain = w.is_none() && node == 0;
                            odd_transform(&mut y, (!plain).then_some(&t), self.sign);
                            (0..p).for_each(|i| x[at + i * m] = y[i]);
                        }
                    }
                }
            }
        }
        let places: Vec<Complex> = x.to_vec();
        for (place, v) in places.into_iter().enumerate() {
            x[frequency_at(self.n as u32, place as u32) as usize] = v;
        }
    }
}

/// A step with its tree and the powers of its factors at every position.
struct Part {
    tree: Tree,
    /// The powers at the positions (x, y), in the order x·(number of y) + y, or none.
    powers: Vec<Vec<Complex>>,
    count_y: usize,
}

impl Part {
    fn new(step: &Step) -> Self {
        let tree = Tree::new(step);
        let Some(powers) = &step.powers else {
            return Self { tree, powers: vec![], count_y: 1 };
        };
        let count_y = powers.excess.map_or(1, |e| e.0);
        let list = |x: u64, y: u64| {
            let of_level = |l: Level| (1..l.radix).map(move |i| i * l.apart);
            let exponents = levels(step.radix).into_iter().flat_map(of_level);
            exponents.map(|e| powers.computed(step.sign, e, x, y)).collect()
        };
        let powers = (0..powers.table.0)
            .flat_map(|x| (0..count_y).map(move |y| (x, y)))
            .map(|(x, y)| list(x, y));
        Self { tree, powers: powers.collect(), count_y: count_y as usize }
    }
    fn at(&self, x: usize, y: usize) -> &[Complex] {
        &self.powers[x * self.count_y + y]
    }
    /// Transforms the points `start + i·stride`, with factors or without.
    fn apply(&self, data: &mut [Complex], start: usize, stride: usize, powers: Option<&[Complex]>) {
        let mut x: Vec<Complex> = (0..self.tree.n).map(|i| data[start + i * stride]).collect();
        self.tree.transform(&mut x, powers);
        x.into_iter().enumerate().for_each(|(i, v)| data[start + i * stride] = v);
    }
}

pub(super) fn self_product(x: &mut Complex, y: &mut Complex, w: Complex) {
    let t = [0.25f64.mul_add(w[0], 0.25), 0.25 * w[1]];
    let a = conjugate(*y);
    let q = mul(t, square(sub(*x, a)));
    *x = square_sub(*x, q);
    *y = conjugate(square_sub(a, q));
}

/// The model of a shape.
pub(super) struct Model {
    pub(super) column: [usize; 3],
    row: [usize; 3],
    forward: Vec<Part>,
    inverse: Vec<Part>,
}

impl Model {
    pub(super) fn new(column: Line, row: Line) -> Self {
        let (forward, inverse) = steps(column, row);
        let parts = |steps: [Step; 6]| steps.iter().map(Part::new).collect();
        let wide = |line: Line| line.map(|r| r as usize);
        Self {
            column: wide(column),
            row: wide(row),
            forward: parts(forward),
            inverse: parts(inverse),
        }
    }
    pub(super) fn rows(&self) -> usize {
        self.column.iter().product()
    }
    pub(super) fn columns(&self) -> usize {
        self.row.iter().product()
    }

    /// Replaces the points z_j of a real signal, j = j1·C + j2, by n times those of its square.
    pub(super) fn square(&self, z: &mut [Complex]) {
        let (rows, columns) = (self.rows(), self.columns());
        let (q, a, b) = (self.column[0], self.column[1], self.column[2]);
        // A column's point (q, a, b) is in row q·A·B + a·B + b, its frequency (kq, ka, kb) in row
        // kq + Q·(ka + A·kb): `slots` has the points in the order (q, a, b), whatever they hold.
        for j2 in 0..columns {
            let mut slots: Vec<Complex> = (0..rows).map(|j1| z[j1 * columns + j2]).collect();
            (0..a * b).for_each(|m| self.forward[0].apply(&mut slots, m, a * b, None));
            for kq in 0..q {
                let powers = Some(self.forward[1].at(kq, 0));
                (0..b).for_each(|ib| self.forward[1].apply(&mut slots, kq * a * b + ib, b, powers));
                for ka in 0..a {
                    let powers = Some(self.forward[2].at(kq + q * ka, 0));
                    self.forward[2].apply(&mut slots, (kq * a + ka) * b, 1, powers);
                }
            }
            for (slot, v) in slots.into_iter().enumerate() {
                let (kq, ka, kb) = (slot / (a * b), slot / b % a, slot % b);
                z[(kq + q * (ka + a * kb)) * columns + j2] = v;
            }
        }
        self.middle(z);
        for j2 in 0..columns {
            let row_of = |slot: usize| slot / (a * b) + q * (slot / b % a + a * (slot % b));
            let mut slots: Vec<Complex> = (0..rows).map(|s| z[row_of(s) * columns + j2]).collect();
            for kq in 0..q {
                for ka in 0..a {
                    let powers = Some(self.inverse[3].at(j2, 0));
                    self.inverse[3].apply(&mut slots, (kq * a + ka) * b, 1, powers);
                }
                for ib in 0..b {
                    let powers = Some(self.inverse[4].at(ib, j2));
                    self.inverse[4].apply(&mut slots, kq * a * b + ib, b, powers);
                }
            }
            for m in 0..a * b {
                self.inverse[5].apply(&mut slots, m, a * b, Some(self.inverse[5].at(m, j2)));
            }
            (0..rows).for_each(|j1| z[j1 * columns + j2] = slots[j1]);
        }
    }

    /// The kernel `square_rows`, on pairs of rows.
    fn middle(&self, z: &mut [Complex]) {
        let (rows, columns) = (self.rows(), self.columns());
        let (q, a, b) = (self.row[0], self.row[1], self.row[2]);
        let units = q * a;
        for k1 in 0..rows {
            let row = &mut z[k1 * columns..(k1 + 1) * columns];
            for m in 0..a * b {
                self.forward[3].apply(row, m, a * b, Some(self.forward[3].at(k1, 0)));
            }
            for kq in 0..q {
                let powers = Some(self.forward[4].at(kq, k1));
                (0..b).for_each(|ib| self.forward[4].apply(row, kq * a * b + ib, b, powers));
            }
        }
        // Unit v = kq + Q·ka has the B points from slot (kq·A + ka)·B on.
        let place = |k1: usize, v: usize| k1 * columns + (v % q * a + v / q) * b;
        for k1 in 0..=rows / 2 {
            for v in 0..units {
                let (partner_row, partner, alone) = match k1 {
                    0 if v > units / 2 => continue,
                    0 if v == units / 2 => continue,
                    0 if v == 0 => (0, units / 2, true),
                    0 => (0, units - v, false),
                    _ if 2 * k1 == rows && v >= units / 2 => continue,
                    _ => (rows - k1, units - 1 - v, false),
                };
                self.unit(z, place(k1, v), place(partner_row, partner), (v, k1), alone);
            }
        }
        for k1 in 0..rows {
            let row = &mut z[k1 * columns..(k1 + 1) * columns];
            for kq in 0..q {
                for ib in 0..b {
                    let powers = Some(self.inverse[1].at(ib, 0));
                    self.inverse[1].apply(row, kq * a * b + ib, b, powers);
                }
            }
            for m in 0..a * b {
                self.inverse[2].apply(row, m, a * b, Some(self.inverse[2].at(m, 0)));
            }
        }
    }

    /// Two units: the last step, products, and the first inverse step.
    fn unit(&self, z: &mut [Complex], x: usize, y: usize, of: (usize, usize), alone: bool) {
        let b = self.row[2];
        let radix = b as i64;
        let step = &self.forward[5];
        let powers = step.at(of.0, of.1);
        let of_level = |l: Level| (1..l.radix).map(move |i| i64::from(i * l.apart));
        let exponents = levels(b as u32).into_iter().flat_map(of_level);
        let partners: Vec<Complex> = exponents
            .zip(powers)
            .map(|(e, &w)| {
                if alone {
                    root(-e, 2 * radix).0
                } else {
                    TimesRoot::new(-e, radix).of(conjugate(w))
                }
            })
            .collect();
        step.apply(z, x, 1, Some(powers));
        step.apply(z, y, 1, Some(&partners));
        let mut pair = |i: usize, j: usize, w: Complex| {
            let (mut first, mut second) = (z[i], z[j]);
            self_product(&mut first, &mut second, w);
            z[i] = first;
            if i != j {
                z[j] = second;
            }
        };
        // The power w^1 is the first of the last level.
        let of_last_level = levels(b as u32).last().map_or(0, |l| l.radix as usize - 1);
        let w = powers[powers.len() - of_last_level];
        for k in 0..b {
            if !alone {
                pair(x + k, y + b - 1 - k, TimesRoot::new(-(k as i64), radix).of(w));
                continue;
            }
            if 2 * k <= b {
                pair(x + k, x + (b - k) % b, root(-(k as i64), radix).0);
            }
            if 2 * k < b {
                pair(y + k, y + b - 1 - k, root(-2 * k as i64 - 1, 2 * radix).0);
            }
        }
        self.inverse[0].apply(z, x, 1, None);
        self.inverse[0].apply(z, y, 1, None);
    }
}

#[test]
fn the_model_transforms() {
    // A single point of a step of every radix: X_k = w^j·e(±jk/R).
    for n in 2..=18u32 {
        if levels(n).iter().any(|l| l.radix > 11) {
            continue;
        }
        for sign in [-1, 1] {
            let tree = Tree::new(&Step { radix: n, sign, powers: None });
            for j in 0..n {
                let mut x = vec![[0.0; 2]; n as usize];
                x[j as usize] = [1.0, 0.0];
                tree.transform(&mut x, None);
                for (k, v) in x.into_iter().enumerate() {
                    let (re, im) = cos_sin_2pi(
                        (sign * i64::from(j) * k as i64).rem_euclid(i64::from(n)) as u64,
                        n.into(),
                    );
                    let distance = (v[0] - re.to_f64()).hypot(v[1] - im.to_f64());
                    assert!(distance < 1e-14, "{n}, {j}, {k}: {distance}");
                }
            }
        }
    }
}
