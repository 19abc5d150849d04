//! Products and squares of a batch's numbers.

use rayon::prelude::*;

use super::{Operand, Part, Products, load, rows_at_a_time, store};

/// out_i ← the part of a_i·b_i.
pub(crate) fn multiply(part: Part, a: Operand, b: Operand, out: &mut [u32]) {
    let longest = a.width().max(b.width());
    for_rows(out, part.limbs(a.width(), b.width()), |space, i, out| {
        let Space { a: x, b: y, product, products } = space;
        load_all(x, a.row(i));
        load_all(y, b.row(i));
        let limbs = x.len() + y.len();
        match part {
            Part::Full => products.mul(sized(product, limbs), x, y),
            Part::Low => products.mul_low(sized(product, longest.div_ceil(2)), x, y),
            Part::High => {
                let from = longest / 2;
                products.mul_high(sized(product, limbs - from), x, y, from);
            }
        }
        store_part(part, longest, out, product);
    });
}

/// out_i ← the part of a_i².
pub(crate) fn square(part: Part, a: Operand, out: &mut [u32]) {
    let width = a.width();
    for_rows(out, part.limbs(width, width), |space, i, out| {
        let Space { a: x, product, products, .. } = space;
        load_all(x, a.row(i));
        let limbs = 2 * x.len();
        match part {
            Part::Full => products.square(sized(product, limbs), x),
            Part::Low => products.square_low(sized(product, width.div_ceil(2)), x),
            Part::High => {
                let from = width / 2;
                products.square_high(sized(product, limbs - from), x, from);
            }
        }
        store_part(part, width, out, product);
    });
}

/// What a core works with: its numbers in limbs of 64 bits.
#[derive(Default)]
struct Space {
    a: Vec<u64>,
    b: Vec<u64>,
    product: Vec<u64>,
    products: Products,
}

/// Does `row(space, i, out_i)` for all rows.
fn for_rows(out: &mut [u32], limbs: usize, row: impl Fn(&mut Space, usize, &mut [u32]) + Sync) {
    let rows = rows_at_a_time(limbs);
    out.par_chunks_mut(rows * limbs).enumerate().for_each_init(
        Space::default,
        |space, (chunk, out)| {
            for (j, out) in out.chunks_exact_mut(limbs).enumerate() {
                row(space, chunk * rows + j, out);
            }
        },
    );
}

fn load_all(to: &mut Vec<u64>, from: &[u32]) {
    load(sized(to, from.len().div_ceil(2)), from);
}

/// `len` limbs, whatever is in them.
fn sized(limbs: &mut Vec<u64>, len: usize) -> &mut [u64] {
    limbs.resize(len, 0);
    limbs
}

/// out ← the part, whose limbs begin at 64·⌊longest/2⌋ bits of the product if it is the high one.
fn store_part(part: Part, longest: usize, out: &mut [u32], product: &mut [u64]) {
    if part == Part::High && longest % 2 == 1 {
        let mut above = 0;
        for limb in product.iter_mut().rev() {
            (*limb, above) = (*limb >> 32 | above << 32, *limb);
        }
    }
    store(out, product);
}
