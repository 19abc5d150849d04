//! The strong test to a base b. Let n > 2 be odd and n − 1 = d·2^s with odd d. The number n passes
//! if b^d ≡ 1, or if b^(d·2^r) ≡ −1 mod n for some r with 0 ≤ r < s (Miller 1976; Rabin 1980,
//! *Probabilistic algorithm for testing primality*, Journal of Number Theory 12, 128–138). The
//! power b^d may be computed elsewhere, for example on a device.

use std::cmp::Ordering;

use crate::division::Divider;
use crate::limbs::{at_least, compare, copy_to, shift_right_assign, sub_assign, trimmed};
use crate::product::Products;

/// Writes d with n − 1 = d·2^s and odd d to `d`, and returns s. `d` must be as long as n.
///
/// # Panics
/// Panics if n is 1 or even, or if `d` is shorter than n without its leading zeros.
pub fn odd_part_of_predecessor(d: &mut [u64], n: &[u64]) -> usize {
    copy_to(d, trimmed(n));
    assert!(d.first().is_some_and(|low| low % 2 == 1), "an even number");
    d[0] -= 1;
    let zeros = d.iter().take_while(|&&limb| limb == 0).count();
    assert!(zeros < d.len(), "n is 1");
    let bits = d[zeros].trailing_zeros();
    d.copy_within(zeros.., 0);
    let used = d.len() - zeros;
    d[used..].fill(0);
    shift_right_assign(d, bits);
    64 * zeros + bits as usize
}

/// Ends strong tests, and reuses its working memory from one test to the next.
#[derive(Debug, Default)]
pub struct StrongTest {
    minus_one: Vec<u64>,
    power: Vec<u64>,
    square: Vec<u64>,
    quotient: Vec<u64>,
    products: Products,
    divider: Divider,
}

impl StrongTest {
    /// Returns whether an odd n > 1 passes the strong test to a base b, given x = b^d mod n and s,
    /// where n − 1 = d·2^s with odd d. x must be less than n.
    ///
    /// Cost: at most s − 1 squarings modulo n.
    pub fn passes(&mut self, x: &[u64], s: usize, n: &[u64]) -> bool {
        let n = trimmed(n);
        let x = trimmed(x);
        if x == [1] {
            return true;
        }
        let Self { minus_one, power, square, quotient, products, divider } = self;
        let minus_one = at_least(minus_one, n.len());
        minus_one.copy_from_slice(n);
        sub_assign(minus_one, &[1]);
        if compare(x, minus_one) == Ordering::Equal {
            return true;
        }
        if s < 2 {
            return false;
        }
        divider.set(n);
        let power = at_least(power, n.len());
        copy_to(power, x);
        let (square, quotient) = (at_least(square, 2 * n.len()), at_least(quotient, 2 * n.len()));
        for _ in 1..s {
            products.square(square, power);
            divider.div_rem(quotient, power, square);
            if compare(power, minus_one) == Ordering::Equal {
                return true;
            }
            // From 1 or 0, no squaring leads to −1.
            if matches!(trimmed(power), [] | [1]) {
                return false;
            }
        }
        false
    }
}
