//! Quotients and remainders of the numbers of a batch.

use warpint_natural::division::Divider;

use super::rows::{Rows, for_rows};
use super::{Operand, load, rows_at_a_time, store};

/// Computes q_i ← ⌊a_i/d_i⌋, with as many limbs as a, and r_i ← a_i mod d_i, with as many limbs as
/// d. Either result may be omitted. Where d_i = 0, both results are 0 and flags_i is 1.
pub(crate) fn divide(a: Operand, d: Operand, q: Rows, r: Rows, flags: &mut [u8]) {
    for_quotients(a, d, [q, r], flags, |space, [q, r]| {
        store(q, &space.quotient);
        store(r, &space.remainder);
        space.divider.is_zero()
    });
}

/// Computes q_i ← a_i/d_i where d_i divides a_i. Where d_i is 0 or does not divide a_i, the result
/// is 0 and flags_i is 1.
pub(crate) fn divide_exactly(a: Operand, d: Operand, q: Rows, flags: &mut [u8]) {
    for_quotients(a, d, [q], flags, |space, [q]| {
        let inexact = space.divider.is_zero() || space.remainder.iter().any(|&limb| limb != 0);
        if inexact {
            q.fill(0);
        } else {
            store(q, &space.quotient);
        }
        inexact
    });
}

/// The temporary memory of one core: the numbers of one instance, in limbs of 64 bits.
struct Space {
    a: Vec<u64>,
    d: Vec<u64>,
    quotient: Vec<u64>,
    remainder: Vec<u64>,
    divider: Divider,
}

impl Space {
    fn new(a: Operand, d: Operand) -> Self {
        let (n, m) = (a.width().div_ceil(2), d.width().div_ceil(2));
        let zeros = |limbs| vec![0; limbs];
        let (quotient, remainder) = (zeros(n), zeros(m));
        let mut space =
            Self { a: zeros(n), d: zeros(m), quotient, remainder, divider: Divider::default() };
        if d.broadcast {
            space.set(d.row(0));
        }
        space
    }

    fn set(&mut self, d: &[u32]) {
        load(&mut self.d, d);
        self.divider.set(&self.d);
    }
}

/// Divides all a_i by d_i. After each division, calls `keep`, which stores the results from the
/// temporary memory and returns the flag.
fn for_quotients<const N: usize>(
    a: Operand,
    d: Operand,
    results: [Rows; N],
    flags: &mut [u8],
    keep: impl Fn(&mut Space, [&mut [u32]; N]) -> bool + Sync,
) {
    let at_a_time = rows_at_a_time(a.width().max(d.width()));
    for_rows(
        flags.len(),
        at_a_time,
        results,
        [flags],
        || Space::new(a, d),
        |space, i, results| {
            if !d.broadcast {
                space.set(d.row(i));
            }
            load(&mut space.a, a.row(i));
            let Space { a, quotient, remainder, divider, .. } = space;
            divider.div_rem(quotient, remainder, a);
            [keep(space, results)]
        },
    );
}
