//! The length of k·b^n in bits, without computing the number.

/// A number from 2^63·2^e up to and including 2^64·2^e, rounded up: m·2^e with 2^63 ≤ m < 2^64.
#[derive(Clone, Copy)]
struct Above {
    m: u64,
    e: u64,
}

impl Above {
    fn new(x: u64) -> Self {
        let zeros = x.leading_zeros();
        // e counts from −64, so that it is not negative.
        Self { m: x << zeros, e: 64 - u64::from(zeros) }
    }

    /// Returns an upper bound of the product, above it by a factor of less than 1 + 2^−62.
    fn times(self, other: Self) -> Self {
        let product = u128::from(self.m) * u128::from(other.m);
        // The product is at least 2^126.
        let zeros = product.leading_zeros();
        let product = product << zeros;
        let (high, low) = ((product >> 64) as u64, product as u64);
        let e = self.e + other.e - u64::from(zeros);
        match high.checked_add(u64::from(low > 0)) {
            Some(m) => Self { m, e },
            None => Self { m: 1 << 63, e: e + 1 },
        }
    }
}

/// Returns the number of bits of k·b^n, or one more if k·b^n is less than a power of two by a
/// relative distance below 2^−30. The number is exact for b = 2. Requires k ≥ 1, b ≥ 2 and n ≥ 1.
///
/// b^n is rounded up to 64 bits after each of at most 62 products. An error of the power b^j in
/// relation to it is at most (2j)·2^−62 and, with n < 2^31, below 2^−30.
pub(super) fn bits_of_power(k: u64, b: u32, n: u32) -> u64 {
    let b = Above::new(b.into());
    let mut power = b;
    for bit in (0..u32::BITS - 1 - n.leading_zeros()).rev() {
        power = power.times(power);
        if n >> bit & 1 == 1 {
            power = power.times(b);
        }
    }
    power.times(Above::new(k)).e
}
