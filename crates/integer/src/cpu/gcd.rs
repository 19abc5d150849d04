//! Common divisors and inverses of a batch's numbers.

use warpint_natural::division::Divider;
use warpint_natural::euclid::Euclid;
use warpint_natural::limbs::{add_assign, compare, copy_to, sub_assign, trimmed};
use warpint_natural::product::Products;

#[cfg(target_arch = "x86_64")]
use super::lanes::Path;
use super::rows::{Rows, for_rows};
use super::{Operand, load, rows_at_a_time, store};

/// Computes g_i ← gcd(a_i, b_i), with as many limbs as the longer operand.
pub(crate) fn gcd(a: Operand, b: Operand, count: usize, g: Rows) {
    #[cfg(target_arch = "x86_64")]
    if let Some(path) = Path::for_gcds(a.width(), b.width(), count) {
        return path.gcd(a, b, count, g);
    }
    gcd_one_by_one(a, b, count, g);
}

/// Computes [`gcd`] with one number after the other on each core.
pub(super) fn gcd_one_by_one(a: Operand, b: Operand, count: usize, g: Rows) {
    for_rows(
        count,
        at_a_time(a, b),
        [g],
        [],
        || OneByOne::new(a, b),
        |space, i, [g]| {
            let OneByOne { a: x, b: y, wide, euclid, .. } = space;
            load(x, a.row(i));
            load(y, b.row(i));
            copy_to(wide, euclid.gcd(x, y));
            store(g, wide);
            []
        },
    );
}

/// Computes g_i ← gcd(a_i, b_i) and cofactors x_i and y_i with g_i = x_i·a_i + y_i·b_i. `results`
/// are g with as many limbs as the longer operand, |x| with as many limbs as b, and |y| with as
/// many limbs as a. `signs` are the signs of x and y: 1 where the cofactor is negative, and 0
/// elsewhere. [`Euclid::gcd_with_cofactor`] defines which x_i is computed. For a_i = 0 and b_i ≠ 0,
/// y_i is 1.
pub(crate) fn gcd_ext(a: Operand, b: Operand, results: [Rows; 3], signs: [&mut [u8]; 2]) {
    let count = signs[0].len();
    for_rows(
        count,
        at_a_time(a, b),
        results,
        signs,
        || OneByOne::new(a, b),
        |space, i, [g, x, y]| space.gcd_ext(a.row(i), b.row(i), [g, x, y]),
    );
}

/// Computes x_i ← a_i^(−1) mod m_i, with as many limbs as m. Where no inverse exists, x_i is 0 and
/// flags_i is 1.
pub(crate) fn inverse(a: Operand, m: Operand, x: Rows, flags: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(path) = Path::for_inverses(a.width(), m.width(), flags.len()) {
        return path.inverse(a, m, x, flags);
    }
    inverse_one_by_one(a, m, x, flags);
}

/// Computes [`inverse`] with one number after the other on each core.
pub(super) fn inverse_one_by_one(a: Operand, m: Operand, x: Rows, flags: &mut [u8]) {
    let space = || OneByOne::new(a, m);
    for_rows(flags.len(), at_a_time(a, m), [x], [flags], space, |space, i, [x]| {
        [space.inverse(a.row(i), m.row(i), x)]
    });
}

/// Returns how many pairs of numbers one core processes at a time. This is a sixteenth of the
/// number for sums, since a greatest common divisor takes as long as many sums.
fn at_a_time(a: Operand, b: Operand) -> usize {
    rows_at_a_time(a.width().max(b.width())).div_ceil(16)
}

/// The temporary memory of one core: the numbers of one instance, in limbs of 64 bits.
pub(super) struct OneByOne {
    a: Vec<u64>,
    b: Vec<u64>,
    /// Memory for the greatest common divisor, as long as the longer operand.
    wide: Vec<u64>,
    /// Memory for the product of a and a cofactor, and one limb more.
    product: Vec<u64>,
    quotient: Vec<u64>,
    remainder: Vec<u64>,
    euclid: Euclid,
    divider: Divider,
    products: Products,
}

impl OneByOne {
    /// Allocates memory for operands with as many limbs as a and b.
    pub(super) fn new(a: Operand, b: Operand) -> Self {
        let (n, m) = (a.width().div_ceil(2), b.width().div_ceil(2));
        let zeros = |limbs| vec![0; limbs];
        Self {
            a: zeros(n),
            b: zeros(m),
            wide: zeros(n.max(m)),
            product: zeros(n + m + 1),
            quotient: zeros(n + m + 1),
            remainder: zeros(m),
            euclid: Euclid::default(),
            divider: Divider::default(),
            products: Products::default(),
        }
    }

    fn gcd_ext(
        &mut self,
        a: &[u32],
        b: &[u32],
        [g_out, x_out, y_out]: [&mut [u32]; 3],
    ) -> [bool; 2] {
        let Self { a: whole_a, b: whole_b, wide, product, quotient, remainder, .. } = self;
        load(whole_a, a);
        load(whole_b, b);
        let (a, b) = (trimmed(whole_a), trimmed(whole_b));
        let (g, x, x_negative) = self.euclid.gcd_with_cofactor(a, b);
        copy_to(wide, g);
        store(g_out, wide);
        copy_to(remainder, x);
        store(x_out, remainder);
        if b.is_empty() {
            y_out.fill(0);
            return [x_negative, false];
        }
        // y = (g − x·a)/b.
        product.fill(0);
        if !a.is_empty() && !x.is_empty() {
            self.products.mul(&mut product[..a.len() + x.len()], a, x);
        }
        let y_negative = if x_negative {
            add_assign(product, g);
            false
        } else if compare(product, g).is_gt() {
            sub_assign(product, g);
            true
        } else {
            // 0 ≤ x·a ≤ g, and g divides a. So x·a is 0 or g, and g − x·a is g or 0.
            let rest = if x.is_empty() { g } else { &[] };
            copy_to(product, rest);
            false
        };
        self.divider.set(b);
        self.divider.div_rem(quotient, &mut remainder[..b.len()], product);
        debug_assert!(trimmed(&remainder[..b.len()]).is_empty(), "x·a − g is not a multiple of b");
        store(y_out, quotient);
        [x_negative, y_negative]
    }

    /// Computes out ← a^(−1) mod m and returns false. If no inverse exists, sets out to 0 and
    /// returns true.
    pub(super) fn inverse(&mut self, a: &[u32], m: &[u32], out: &mut [u32]) -> bool {
        let Self { a: whole_a, b: whole_m, quotient, remainder, euclid, divider, .. } = self;
        load(whole_a, a);
        load(whole_m, m);
        let m = trimmed(whole_m);
        divider.set(m);
        let residue = &mut remainder[..m.len()];
        divider.div_rem(quotient, residue, whole_a);
        let (g, x, negative) = euclid.gcd_with_cofactor(residue, m);
        if m.is_empty() || g != [1] {
            out.fill(0);
            return true;
        }
        if negative {
            copy_to(remainder, m);
            sub_assign(remainder, x);
        } else {
            copy_to(remainder, x);
        }
        store(out, remainder);
        false
    }
}
