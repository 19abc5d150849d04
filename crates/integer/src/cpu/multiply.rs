//! Products and squares of the numbers of a batch.

use rayon::prelude::*;
use warpint_natural::product::Products;

#[cfg(target_arch = "x86_64")]
use super::lanes::Path;
use super::{Operand, load, rows_at_a_time, store, whole};
use crate::operation::Part;

/// Computes out_i ← the limbs of a_i·b_i that `part` selects.
pub(crate) fn multiply(part: Part, a: Operand, b: Operand, out: &mut [u32]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(path) = lanes_for(part, a, b, out) {
        return path.multiply(part, a, Some(b), out);
    }
    multiply_one_by_one(part, a, b, out);
}

/// Computes [`multiply`] with one product after the other on each core.
pub(super) fn multiply_one_by_one(part: Part, a: Operand, b: Operand, out: &mut [u32]) {
    if part == Part::Full && cfg!(target_endian = "little") {
        return whole::multiply(a, Some(b), out);
    }
    let longest = a.width().max(b.width());
    let space = || Space::new(part, a.width(), b.width());
    for_rows(out, part.limbs(a.width(), b.width()).1, space, |space, i, out| {
        let Space { a: x, b: y, product, products } = space;
        load(x, a.row(i));
        load(y, b.row(i));
        match part {
            Part::Full => products.mul(product, x, y),
            Part::Low => products.mul_low(product, x, y),
            Part::High => products.mul_high(product, x, y, longest / 2),
        }
        store_part(part, longest, out, product);
    });
}

/// Computes out_i ← the limbs of a_i² that `part` selects.
pub(crate) fn square(part: Part, a: Operand, out: &mut [u32]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(path) = lanes_for(part, a, a, out) {
        return path.multiply(part, a, None, out);
    }
    square_one_by_one(part, a, out);
}

/// Returns the path across lanes that is faster for these products than [`multiply_one_by_one`].
/// Returns `None` if there is none.
#[cfg(target_arch = "x86_64")]
fn lanes_for(part: Part, a: Operand, b: Operand, out: &[u32]) -> Option<Path> {
    let count = out.len() / part.limbs(a.width(), b.width()).1;
    Path::for_products(part, a.width(), b.width(), count)
}

/// Computes [`square`] with one square after the other on each core.
pub(super) fn square_one_by_one(part: Part, a: Operand, out: &mut [u32]) {
    let width = a.width();
    if part == Part::Full && cfg!(target_endian = "little") {
        return whole::multiply(a, None, out);
    }
    let space = || Space::new(part, width, width);
    for_rows(out, part.limbs(width, width).1, space, |space, i, out| {
        let Space { a: x, product, products, .. } = space;
        load(x, a.row(i));
        match part {
            Part::Full => products.square(product, x),
            Part::Low => products.square_low(product, x),
            Part::High => products.square_high(product, x, width / 2),
        }
        store_part(part, width, out, product);
    });
}

/// The temporary memory of one core: the numbers of one instance, in limbs of 64 bits.
struct Space {
    a: Vec<u64>,
    b: Vec<u64>,
    /// The 64-bit limbs of the product that contain the selected part.
    product: Vec<u64>,
    products: Products,
}

impl Space {
    /// Allocates memory for factors of `a` and `b` limbs of 32 bits.
    fn new(part: Part, a: usize, b: usize) -> Self {
        let (x, y) = (a.div_ceil(2), b.div_ceil(2));
        let product = match part {
            Part::Full => x + y,
            Part::Low => x.max(y),
            Part::High => x + y - a.max(b) / 2,
        };
        let zeros = |limbs| vec![0; limbs];
        Self { a: zeros(x), b: zeros(y), product: zeros(product), products: Products::default() }
    }
}

/// Calls `row` for all rows of `out`, on all cores. The arguments are temporary memory, the index
/// of the row, and the row, which has `limbs` limbs.
fn for_rows(
    out: &mut [u32],
    limbs: usize,
    space: impl Fn() -> Space + Sync + Send,
    row: impl Fn(&mut Space, usize, &mut [u32]) + Sync,
) {
    let rows = rows_at_a_time(limbs);
    out.par_chunks_mut(rows * limbs).enumerate().for_each_init(space, |space, (chunk, out)| {
        for (j, out) in out.chunks_exact_mut(limbs).enumerate() {
            row(space, chunk * rows + j, out);
        }
    });
}

/// Copies the limbs that `part` selects from `product` to `out`. For a high part, `product` begins
/// at bit 64·⌊longest/2⌋ of the whole product, where `longest` is the number of 32-bit limbs of the
/// longer factor.
fn store_part(part: Part, longest: usize, out: &mut [u32], product: &mut [u64]) {
    if part == Part::High && longest % 2 == 1 {
        let mut above = 0;
        for limb in product.iter_mut().rev() {
            (*limb, above) = (*limb >> 32 | above << 32, *limb);
        }
    }
    store(out, product);
}
