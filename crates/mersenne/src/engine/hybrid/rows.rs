//! The row pass: pairs of groups of rows are transformed, squared or multiplied, and transformed
//! back.

use warpint_arith::simd::F64s;

use super::arithmetic::{Arithmetic, Entry, Z};
use super::levels::{Fft, frequencies};
use super::memory::{first_lane, load, splat, store};
use super::shape::Shape;

/// The tables of the row pass in one arithmetic. `f64` are bit patterns of lanes.
pub(super) struct Rows<A: Arithmetic> {
    columns: usize,
    fft: Fft<A>,
    /// The roots ω_n^(c·λ(k1)), for groups of L rows k1 in their order in memory, and columns c: L
    /// real and L imaginary parts.
    middle: Vec<f64>,
    /// The roots ¼·ω_n^λ(k1) for every other group.
    row_roots: Vec<f64>,
    /// The roots ω_C^k2, by positions in the spectrum of a row.
    column_roots: Vec<Entry>,
    /// ¼.
    quarter: Entry,
    /// The positions of partners in row 0, and in other rows.
    partners: [Vec<usize>; 2],
}

impl<A: Arithmetic> Rows<A> {
    /// Computes the tables for a shape. Cost: O(n) products.
    pub(super) fn new(shape: &Shape, modular: bool) -> Self {
        let roots = A::roots(shape.points() as u64);
        let (c, lanes) = (shape.columns, shape.lanes);
        let lambda = shape.frequencies_of_rows();
        let order = shape.order_of_rows();
        let n = shape.points() as u64;
        let mut middle = Vec::with_capacity(2 * shape.points());
        for group in order.chunks_exact(lanes) {
            for column in 0..c as u64 {
                let entries: Vec<Entry> =
                    group.iter().map(|&k| A::root(&roots, column * lambda[k] % n)).collect();
                push_parts(&mut middle, &entries);
            }
        }
        let mut row_roots = vec![];
        for group in order.chunks_exact(lanes).step_by(2) {
            let entries: Vec<Entry> =
                group.iter().map(|&k| A::quarter(A::root(&roots, lambda[k]))).collect();
            push_parts(&mut row_roots, &entries);
        }
        let column_roots =
            frequencies(c).iter().map(|&k| A::root(&roots, (shape.rows * k) as u64)).collect();
        Self {
            columns: c,
            fft: Fft::new(c),
            middle,
            row_roots,
            column_roots,
            quarter: A::quarter(A::root(&roots, 0)),
            partners: shape.partners(modular),
        }
    }

    /// Computes the product for pair number `pair` of groups of rows, whose points are `data`, with
    /// `others` if there are any, otherwise with themselves. `scratch` has room for 2C vectors of
    /// points.
    #[inline(always)]
    pub(super) fn multiply<V: F64s>(
        &self,
        i: V::Instructions,
        pair: usize,
        data: [&mut [f64]; 2],
        others: Option<[&[f64]; 2]>,
        scratch: &mut [f64],
    ) {
        let length = 2 * V::LANES * self.columns;
        let [a, b] = data;
        let mut groups = [&mut a[..length], &mut b[..length]];
        for (k, group) in groups.iter_mut().enumerate() {
            self.forward::<V>(i, 2 * pair + k, group);
        }
        match others {
            None => self.products::<V>(i, pair, &mut groups, None),
            Some(others) => {
                let (x, y) = scratch[..2 * length].split_at_mut(length);
                let mut copies = [x, y];
                for (k, copy) in copies.iter_mut().enumerate() {
                    copy.copy_from_slice(&others[k][..length]);
                    self.forward::<V>(i, 2 * pair + k, copy);
                }
                let [x, y] = copies;
                self.products::<V>(i, pair, &mut groups, Some([x, y]));
            }
        }
        for (k, group) in groups.iter_mut().enumerate() {
            self.fft.inverse::<V>(i, group);
            let middle = &self.middle[length * (2 * pair + k)..][..length];
            for c in 0..self.columns {
                let z = A::times_conjugate(i, load::<V>(i, group, c), load(i, middle, c));
                store(group, c, z);
            }
        }
    }

    /// Multiplies a group by the roots between columns and rows, and transforms its rows.
    #[inline(always)]
    fn forward<V: F64s>(&self, i: V::Instructions, group: usize, data: &mut [f64]) {
        let middle = &self.middle[data.len() * group..][..data.len()];
        for c in 0..self.columns {
            let z = A::times_entry(i, load::<V>(i, data, c), load(i, middle, c));
            store(data, c, z);
        }
        self.fft.forward::<V>(i, data);
    }

    /// Replaces the spectrum of a pair of groups by the spectrum of the product.
    #[inline(always)]
    fn products<V: F64s>(
        &self,
        i: V::Instructions,
        pair: usize,
        groups: &mut [&mut [f64]; 2],
        others: Option<[&mut [f64]; 2]>,
    ) {
        // The rows 0 and R/2, in lane 0 of the first pair, have their partners in the same row.
        let mut alone = None;
        if pair == 0 {
            let zero = self.products_in_row::<V>(i, 0, groups, &others);
            alone = Some([zero, self.products_in_row::<V>(i, 1, groups, &others)]);
        }
        let roots = load::<V>(i, &self.row_roots, pair);
        let quarter = splat::<V>(i, self.quarter);
        for (at, &to) in self.partners[1].iter().enumerate() {
            let root = A::times_entry(i, roots, splat(i, self.column_roots[at]));
            let z = [load::<V>(i, groups[0], at), load(i, groups[1], to)];
            let y = match &others {
                None => z,
                Some(others) => [load::<V>(i, others[0], at), load(i, others[1], to)],
            };
            let [p, q] = products::<A, V>(i, z, y, A::add(quarter, root));
            store(groups[0], at, p);
            store(groups[1], to, q);
        }
        if let Some(rows) = alone {
            for (group, row) in groups.iter_mut().zip(rows) {
                for (at, z) in row.into_iter().enumerate() {
                    group[2 * V::LANES * at] = z[0];
                    group[2 * V::LANES * at + V::LANES] = z[1];
                }
            }
        }
    }

    /// Returns the spectrum of the product for a row whose partners are in itself: row 0 for k = 0,
    /// row R/2 for k = 1.
    #[inline(always)]
    fn products_in_row<V: F64s>(
        &self,
        i: V::Instructions,
        k: usize,
        groups: &[&mut [f64]; 2],
        others: &Option<[&mut [f64]; 2]>,
    ) -> Vec<[f64; 2]> {
        // The row R/2 is in the group of partners, for which `row_roots` has no entry. Its root is the
        // entry of `middle` in column 1.
        let middle = &self.middle[2 * V::LANES * self.columns * k..];
        let quarter = splat::<V>(i, self.quarter);
        let root_of_row = A::times_entry(i, first_point::<V>(i, middle, 1), quarter);
        let mut row = Vec::with_capacity(self.columns);
        for (at, &to) in self.partners[k].iter().enumerate() {
            let root = A::times_entry(i, root_of_row, splat(i, self.column_roots[at]));
            let z = [first_point::<V>(i, groups[k], at), first_point(i, groups[k], to)];
            let y = match others {
                None => z,
                Some(others) => [first_point(i, others[k], at), first_point(i, others[k], to)],
            };
            let [p, _] = products::<A, V>(i, z, y, A::add(quarter, root));
            row.push([first_lane(p[0]), first_lane(p[1])]);
        }
        row
    }
}

/// Returns the element in lane 0 of vector number `index`, in every lane.
#[inline(always)]
fn first_point<V: F64s>(i: V::Instructions, data: &[f64], index: usize) -> Z<V> {
    let at = 2 * V::LANES * index;
    [V::splat(i, data[at]), V::splat(i, data[at + V::LANES])]
}

/// Returns the spectrum of the product at a frequency k and its partner k', for the spectrum z at k
/// and k', and that of the other factor y, which is z for a square. `factor` is ¼(1 + ω_n^k).
///
/// The transforms of the even and of the odd words are E = (z_k + conj z_k')/2 and O = (z_k − conj
/// z_k')/(2i), with ω^k·O·O in the even words of the product. The product is z_k·y_k − ¼(1 + ω^k)·D·D'
/// with D = z_k − conj z_k' and the same D' of y. At k' the last term is conjugate.
#[inline(always)]
fn products<A: Arithmetic, V: F64s>(
    i: V::Instructions,
    z: [Z<V>; 2],
    y: [Z<V>; 2],
    factor: Z<V>,
) -> [Z<V>; 2] {
    let d = A::sub(z[0], A::conjugate(i, z[1]));
    let e = A::sub(y[0], A::conjugate(i, y[1]));
    let t = A::times(i, A::times(i, d, e), factor);
    [A::sub(A::times(i, z[0], y[0]), t), A::sub(A::times(i, z[1], y[1]), A::conjugate(i, t))]
}

/// Appends the real parts and then the imaginary parts of the entries, as bit patterns.
fn push_parts(to: &mut Vec<f64>, entries: &[Entry]) {
    for part in [0, 1] {
        to.extend(entries.iter().map(|entry| f64::from_bits(entry[part])));
    }
}
