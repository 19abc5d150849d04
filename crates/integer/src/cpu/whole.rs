//! Whole products and squares of a batch's numbers, one after the other on each core.
//!
//! [`Products`] multiplies rows of limbs of 64 bits. If the rows of a batch are such rows, they are
//! used where they are. Otherwise, because a width is odd or memory is not aligned, a few rows at a
//! time are copied to rows of whole limbs, and the products back.

use rayon::prelude::*;
use warpint_natural::product::{Products, Rows};

use super::{Operand, rows_at_a_time};

/// The number of limbs of 64 bits of the products that are computed between copies, or the number of
/// limbs of one product if this is larger. 4 KiB and the factors fit in the first-level cache.
const COPIED: usize = 1 << 9;

/// Computes out_i ← a_i·b_i, or a_i² if b is `None`. The processor must have the lower half of a
/// limb first.
pub(super) fn multiply(a: Operand, b: Option<Operand>, out: &mut [u32]) {
    let width = a.width() + b.unwrap_or(a).width();
    let at_a_time = rows_at_a_time(width);
    if width.is_multiple_of(2)
        && let (Some(x), Some(y)) = (a.words(), b.unwrap_or(a).words())
        && let Ok(out) = bytemuck::try_cast_slice_mut(out)
    {
        let chunks = out.par_chunks_mut(at_a_time * width / 2).enumerate();
        chunks.for_each_init(Products::default, |products, (chunk, out)| {
            let first = chunk * at_a_time;
            multiply_rows(products, out, x.from(first), b.map(|_| y.from(first)));
        });
        return;
    }
    let chunks = out.par_chunks_mut(at_a_time * width).enumerate();
    let copies = || Copies::new(a, b);
    chunks.for_each_init(copies, |copies, (chunk, out)| {
        copies.multiply(chunk * at_a_time, a, b, out);
    });
}

/// Computes out_i ← x_i·y_i, or x_i² if y is `None`.
fn multiply_rows(products: &mut Products, out: &mut [u64], x: Rows, y: Option<Rows>) {
    match y {
        Some(y) => products.mul_rows(out, x, y),
        None => products.square_rows(out, x),
    }
}

/// The working memory of one core: a few rows of each operand and of the products.
struct Copies {
    rows: usize,
    x: Vec<u64>,
    y: Vec<u64>,
    product: Vec<u64>,
    products: Products,
}

impl Copies {
    /// Allocates memory for rows of the operands.
    fn new(a: Operand, b: Option<Operand>) -> Self {
        let [of_a, of_b] = [a, b.unwrap_or(a)].map(|x| x.width().div_ceil(2));
        let rows = (COPIED / (of_a + of_b)).max(1);
        let zeros = |words: usize| vec![0; rows * words];
        Self {
            rows,
            x: zeros(of_a),
            y: zeros(if b.is_some() { of_b } else { 0 }),
            product: zeros(of_a + of_b),
            products: Products::default(),
        }
    }

    /// Computes [`multiply`] for the products from product `first` on.
    fn multiply(&mut self, first: usize, a: Operand, b: Option<Operand>, out: &mut [u32]) {
        let width = a.width() + b.unwrap_or(a).width();
        let words = self.product.len() / self.rows;
        for (k, out) in out.chunks_mut(self.rows * width).enumerate() {
            let (first, count) = (first + k * self.rows, out.len() / width);
            let x = load_rows(&mut self.x, a, first, count);
            let y = b.map(|b| load_rows(&mut self.y, b, first, count));
            let product = &mut self.product[..count * words];
            multiply_rows(&mut self.products, product, x, y);
            copy_rows(out, width, bytemuck::cast_slice(product), 2 * words);
        }
    }
}

/// Copies `count` numbers of an operand, from number `first` on, to rows of whole limbs of 64 bits.
fn load_rows<'a>(to: &'a mut [u64], from: Operand, first: usize, count: usize) -> Rows<'a> {
    let (width, words) = (from.width(), from.width().div_ceil(2));
    let (first, count) = if from.is_broadcast() { (0, 1) } else { (first, count) };
    let to = &mut to[..count * words];
    copy_rows(bytemuck::cast_slice_mut(to), 2 * words, &from.limbs[first * width..], width);
    if !width.is_multiple_of(2) {
        for row in to.chunks_exact_mut(words) {
            row[words - 1] &= u64::from(u32::MAX);
        }
    }
    Rows::new(to, words, from.is_broadcast())
}

/// Copies the rows of `from` to those of `to`, which may have another width. Of a wider row, the
/// lowest limbs are used. The limbs of `to` above a narrower row are not specified.
fn copy_rows(to: &mut [u32], to_width: usize, from: &[u32], from_width: usize) {
    match to_width.min(from_width).div_ceil(PIECE) {
        1 => copy_rows_of::<1>(to, to_width, from, from_width),
        2 => copy_rows_of::<2>(to, to_width, from, from_width),
        3 => copy_rows_of::<3>(to, to_width, from, from_width),
        4 => copy_rows_of::<4>(to, to_width, from, from_width),
        5 => copy_rows_of::<5>(to, to_width, from, from_width),
        6 => copy_rows_of::<6>(to, to_width, from, from_width),
        7 => copy_rows_of::<7>(to, to_width, from, from_width),
        8 => copy_rows_of::<8>(to, to_width, from, from_width),
        _ => {
            let len = to_width.min(from_width);
            for (to, from) in to.chunks_exact_mut(to_width).zip(from.chunks_exact(from_width)) {
                to[..len].copy_from_slice(&from[..len]);
            }
        }
    }
}

/// The number of limbs that are copied at a time.
const PIECE: usize = 4;

/// Computes [`copy_rows`] for rows of P pieces, the last of which may be incomplete. It is copied
/// as a whole where memory allows it: the limbs of the next row that this overwrites are copied
/// later.
fn copy_rows_of<const P: usize>(to: &mut [u32], to_width: usize, from: &[u32], from_width: usize) {
    let len = to_width.min(from_width);
    for i in 0..to.len() / to_width {
        let (to, from) = (&mut to[i * to_width..], &from[i * from_width..]);
        match (
            to.as_chunks_mut::<PIECE>().0.first_chunk_mut::<P>(),
            from.as_chunks::<PIECE>().0.first_chunk::<P>(),
        ) {
            (Some(to), Some(from)) => *to = *from,
            _ => to[..len].copy_from_slice(&from[..len]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares copies with limbs, for all widths with code of their own and some more. The rows
    /// end where the memory ends, or before.
    #[test]
    fn rows_of_any_width_are_copied() {
        for from_width in 1..40 {
            for to_width in [from_width, from_width + 1, from_width.max(2) - 1] {
                for (count, spare) in [(1, 0), (2, 0), (5, 0), (5, 1), (5, 9)] {
                    let from: Vec<u32> = (1..=(count * from_width + spare) as u32).collect();
                    let mut to = vec![0; count * to_width];
                    copy_rows(&mut to, to_width, &from, from_width);
                    let len = to_width.min(from_width);
                    for (i, row) in to.chunks(to_width).enumerate() {
                        let want = &from[i * from_width..][..len];
                        assert_eq!(row[..len], *want, "row {i}, {from_width} to {to_width} limbs");
                    }
                }
            }
        }
    }
}
