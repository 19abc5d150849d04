//! Sums, differences, and products by powers of r and of ½. Each operation takes a few passes over
//! the digits.

use super::Gfn;

impl<const K: usize> Gfn<K> {
    /// Returns the sum a + b of two elements (Chen et al. 2018, Algorithm 6).
    pub(super) fn sum(&self, a: &[u64; K], b: &[u64; K]) -> [u64; K] {
        if self.is_minus_one(a) {
            return self.predecessor(b);
        }
        if self.is_minus_one(b) {
            return self.predecessor(a);
        }
        let (mut sum, mut carry) = ([0; K], false);
        for (sum, (&a, &b)) in sum.iter_mut().zip(a.iter().zip(b)) {
            // Below 2r.
            let (digit, beyond) = a.overflowing_add(b);
            let (digit, too) = digit.overflowing_add(u64::from(carry));
            let (reduced, below) = digit.overflowing_sub(self.r);
            carry = beyond | too | !below;
            *sum = if carry { reduced } else { digit };
        }
        // r^k = −1.
        if carry { self.predecessor(&sum) } else { sum }
    }

    /// Returns a − b.
    pub(super) fn difference(&self, a: &[u64; K], b: &[u64; K]) -> [u64; K] {
        // A highest digit r needs no special treatment here.
        let (mut difference, mut borrow) = ([0; K], false);
        for (difference, (&a, &b)) in difference.iter_mut().zip(a.iter().zip(b)) {
            let (digit, below) = a.overflowing_sub(b);
            let (digit, too) = digit.overflowing_sub(u64::from(borrow));
            borrow = below | too;
            *difference = if borrow { digit.wrapping_add(self.r) } else { digit };
        }
        // −r^k = 1.
        if borrow { self.successor(&difference) } else { difference }
    }

    /// Returns a + 1.
    pub(super) fn successor(&self, a: &[u64; K]) -> [u64; K] {
        if self.is_minus_one(a) {
            return [0; K];
        }
        let mut x = *a;
        for digit in &mut x {
            if *digit < self.r - 1 {
                *digit += 1;
                return x;
            }
            *digit = 0;
        }
        self.minus_one()
    }

    /// Returns a − 1.
    pub(super) fn predecessor(&self, a: &[u64; K]) -> [u64; K] {
        let mut x = *a;
        for digit in &mut x {
            if *digit > 0 {
                *digit -= 1;
                return x;
            }
            *digit = self.r - 1;
        }
        self.minus_one()
    }

    /// Returns the element −1 = r^K.
    pub(super) fn minus_one(&self) -> [u64; K] {
        let mut digits = [0; K];
        digits[K - 1] = self.r;
        digits
    }

    pub(super) fn is_minus_one(&self, a: &[u64; K]) -> bool {
        // No other element has such a digit.
        a[K - 1] == self.r
    }

    /// Returns a·r^i for any i, by a rotation of the digits. Digits that wrap around change their
    /// sign, because r^K = −1. Cost: one subtraction of elements.
    #[must_use]
    pub fn mul_by_radix_power(&self, a: &[u64; K], i: u64) -> [u64; K] {
        let i = (i % (2 * K as u64)) as usize;
        let (shift, mut negative) = (i % K, i >= K);
        let (mut kept, mut wrapped) = ([0; K], [0; K]);
        if self.is_minus_one(a) {
            kept[shift] = 1;
            negative = !negative;
        } else {
            kept[shift..].copy_from_slice(&a[..K - shift]);
            wrapped[..shift].copy_from_slice(&a[K - shift..]);
        }
        let (plus, minus) = if negative { (wrapped, kept) } else { (kept, wrapped) };
        self.difference(&plus, &minus)
    }

    /// Returns a/2^l, for any l. Cost: ⌈l/u⌉ passes over the digits, where u is the exponent
    /// [`Form::u`](super::Form::u).
    ///
    /// One pass divides by a power 2^i with i ≤ u, which divides r. The pass splits the digit at
    /// r^j into h·2^i + m with m < 2^i. The quotient has the digit h at r^j, and m·r/2^i is added
    /// to the digit at r^(j−1). For j = 0, m·r/2^i is subtracted from the digit at r^(K−1), because
    /// r^(−1) = −r^(K−1).
    #[must_use]
    pub fn div_by_power_of_two(&self, a: &[u64; K], l: u32) -> [u64; K] {
        let (mut x, mut left) = (*a, l);
        while left > 0 {
            let l = left.min(self.form.u());
            let (mask, step) = ((1 << l) - 1, self.r >> l);
            let wrapped = (x[0] & mask) * step;
            for j in 0..K - 1 {
                // Below r/2^l + (2^l − 1)·r/2^l.
                x[j] = (x[j] >> l) + (x[j + 1] & mask) * step;
            }
            let (top, borrow) = (x[K - 1] >> l).overflowing_sub(wrapped);
            x[K - 1] = top;
            if borrow {
                x[K - 1] = top.wrapping_add(self.r);
                x = self.successor(&x);
            }
            left -= l;
        }
        x
    }
}
