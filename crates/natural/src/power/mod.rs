//! Powers modulo a number m = 2^k·n with odd n.
//!
//! Let x be the power modulo m. Its residue u modulo n is computed in Montgomery form, and its
//! residue v modulo 2^k from the low parts of products. Garner's formula (Garner 1959, *The residue
//! number system*, IRE Transactions on Electronic Computers EC-8, 140–147) combines the two
//! residues: x = u + n·((v − u)·n^(−1) mod 2^k).

mod montgomery;
mod window;

use crate::limbs::{add_assign, at_least, copy_to, shift_right_assign, sub_assign, trimmed};
use crate::product::Products;
pub(crate) use montgomery::Montgomery;
use montgomery::inverse_of_odd;
pub(crate) use window::Residues;
use window::power;

/// Computes powers modulo a stored modulus, and reuses its working memory from one power to the
/// next.
#[derive(Debug, Default)]
pub struct PowMod {
    is_zero: bool,
    odd: Montgomery,
    even: LowLimbs,
    /// The exponent k in m = 2^k·n, where m is the modulus and n is odd.
    twos: usize,
    /// The inverse n^(−1) mod 2^(64·⌈k/64⌉), where m = 2^k·n is the modulus and n is odd.
    inverse: Vec<u64>,
    shifted: Vec<u64>,
    u: Vec<u64>,
    v: Vec<u64>,
    product: Vec<u64>,
    table: Vec<u64>,
}

impl PowMod {
    /// Sets the modulus m of all further powers. m may be 0. The cost is about that of a division
    /// of 2l limbs by l limbs, for m of l limbs.
    pub fn set(&mut self, m: &[u64]) {
        let m = trimmed(m);
        self.is_zero = m.is_empty();
        if self.is_zero {
            return;
        }
        let zeros = m.iter().take_while(|&&limb| limb == 0).count();
        let bits = m[zeros].trailing_zeros();
        self.twos = 64 * zeros + bits as usize;
        self.shifted.clear();
        self.shifted.extend(&m[zeros..]);
        shift_right_assign(&mut self.shifted, bits);
        self.odd.set(&self.shifted);
        self.even.limbs = self.twos.div_ceil(64);
        if self.twos > 0 {
            let LowLimbs { limbs, products, .. } = &mut self.even;
            inverse_of_odd(&mut self.inverse, self.odd.modulus(), *limbs, products);
        }
    }

    /// Returns whether the modulus is 0.
    pub fn is_zero(&self) -> bool {
        self.is_zero
    }

    /// Computes x ← a^e mod m, where m is the stored modulus and a^0 = 1. For m = 0, x becomes 0. x
    /// must be as long as m. Limbs above the result are set to 0.
    ///
    /// For an exponent of n bits and windows of w ≤ 8 bits, the cost is about n squares and n/(w +
    /// 1) + 2^(w−1) products modulo m.
    pub fn pow(&mut self, x: &mut [u64], a: &[u64], e: &[u64]) {
        if self.is_zero {
            x.fill(0);
            return;
        }
        if trimmed(e).is_empty() {
            let is_one = self.twos == 0 && self.odd.modulus() == [1];
            copy_to(x, &[u64::from(!is_one)]);
            return;
        }
        let Self { odd, even, twos, inverse, u, v, product, table, .. } = self;
        let l = odd.limbs();
        let u = at_least(u, l);
        if odd.modulus() == [1] {
            u[0] = 0;
        } else {
            odd.residue(u, a);
            odd.to_montgomery(u);
            power(odd, u, e, table);
            odd.from_montgomery(u);
        }
        if *twos == 0 {
            copy_to(x, u);
            return;
        }
        let limbs = even.limbs;
        let v = at_least(v, limbs);
        copy_to(v, &a[..limbs.min(a.len())]);
        power(even, v, e, table);
        // v ← (v − u)·n^(−1) mod 2^k.
        sub_assign(v, &u[..l.min(limbs)]);
        even.mul(v, inverse);
        let mask = u64::MAX >> (64 * limbs - *twos);
        v[limbs - 1] &= mask;
        let product = at_least(product, l + limbs);
        even.products.mul(product, odd.modulus(), v);
        // u + n·v is below m.
        add_assign(product, u);
        copy_to(x, trimmed(product));
    }
}

/// The ring of residues modulo 2^(64·limbs), with working memory.
#[derive(Debug, Default)]
struct LowLimbs {
    limbs: usize,
    low: Vec<u64>,
    products: Products,
}

impl Residues for LowLimbs {
    fn limbs(&self) -> usize {
        self.limbs
    }

    fn mul(&mut self, x: &mut [u64], y: &[u64]) {
        let low = at_least(&mut self.low, x.len());
        self.products.mul_low(low, x, y);
        x.copy_from_slice(low);
    }

    fn square(&mut self, x: &mut [u64]) {
        let low = at_least(&mut self.low, x.len());
        self.products.square_low(low, x);
        x.copy_from_slice(low);
    }
}
