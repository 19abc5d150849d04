//! Schoolbook division in place: algorithm D (Knuth 1997; see the parent module).

use std::cmp::Ordering;

use super::reciprocal::TwoLimbs;
use crate::kernels::sub_row;
use crate::limbs::{add_assign, compare, sub_assign};

/// Computes [`Blocks::divide`](super::recursive::Blocks::divide) by the schoolbook method, one limb
/// of the quotient at a time.
pub(super) fn schoolbook(q: &mut [u64], u: &mut [u64], d: &[u64], top: TwoLimbs) -> bool {
    let (k, m) = (q.len(), d.len());
    let beyond = compare(&u[k..], d) != Ordering::Less;
    if beyond {
        sub_assign(&mut u[k..], d);
    }
    let below = &d[..m - 2];
    for (i, q) in q.iter_mut().enumerate().rev() {
        let u = &mut u[i..=i + m];
        let high = u128::from(u[m]) << 64 | u128::from(u[m - 1]);
        if high == top.divisor() {
            // With B = 2^64: u > d·B − B^(m − 1) > d·(B − 1), and u < d·B. So the limb is B − 1.
            *q = u64::MAX;
            sub_row(&mut u[..m], d, *q);
            continue;
        }
        let (digit, rest) = top.div_rem(high, u[m - 2]);
        let borrow = u128::from(sub_row(&mut u[..m - 2], below, digit));
        let (rest, negative) = rest.overflowing_sub(borrow);
        (u[m - 1], u[m - 2]) = ((rest >> 64) as u64, rest as u64);
        *q = digit;
        if negative {
            add_assign(&mut u[..m], d);
            *q -= 1;
        }
    }
    beyond
}
