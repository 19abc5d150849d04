//! Converts residues modulo three primes to digits of 64 bits.
//!
//! A coefficient is c = v1 + p1·(v2 + p2·v3) with 0 ≤ v_i < p_i. Here v1 = c mod p1,
//! v2 = (c − v1)/p1 mod p2 and v3 = ((c − v1)/p1 − v2)/p2 mod p3 (Garner 1959). Carries are
//! propagated afterwards. As c < 2^150, a carry is below (2^150 + 2^87)/2^64 < 2^87.

use multiversion::multiversion;
use warpint_arith::f50::{F50, Factor};

/// The constants with which residues modulo p1, p2 and p3 are combined (Garner 1959).
pub(super) struct Garner {
    fields: [F50; 3],
    /// The factors 1/p1 mod p2, 1/p1 mod p3 and 1/p2 mod p3.
    inverses: [Factor; 3],
}

/// The number of coefficients of a block. A block fits in the first-level cache.
const BLOCK: usize = 256;

impl Garner {
    pub(super) fn new(fields: [F50; 3]) -> Self {
        let [p1, p2, _] = fields.map(|f| f.constants()[0]);
        let inverse = |field: F50, of: f64| field.factor(field.inverse(field.reduce(of)));
        let inverses = [inverse(fields[1], p1), inverse(fields[2], p1), inverse(fields[2], p2)];
        Self { fields, inverses }
    }

    /// Computes out ← Σ c_k·2^(64·k). Each coefficient c_k is given by its residues modulo the
    /// three primes. A residue modulo p is from 0 to p − 1. If there are more coefficients than
    /// limbs of `out`, the additional coefficients must be zero.
    pub(super) fn digits(&self, residues: [&[f64]; 3], out: &mut [u64]) {
        let [p1, p2, _] = self.fields.map(|f| f.modulus());
        let mut carry = 0u128;
        let [r1, r2, r3] = residues.map(|r| r.chunks(BLOCK));
        let mut blocks = r1.zip(r2).zip(r3);
        for out in out.chunks_mut(BLOCK) {
            let mut v = [[0.0; BLOCK]; 3];
            if let Some(((r1, r2), r3)) = blocks.next() {
                mixed_digits(self.fields, self.inverses, [r1, r2, r3], &mut v);
            }
            for (k, out) in out.iter_mut().enumerate() {
                let [v1, v2, v3] = [v[0][k] as u64, v[1][k] as u64, v[2][k] as u64];
                // Below 2^100, in two halves; the products with p1 are below 2^114 and 2^86.
                let t = u128::from(p2) * u128::from(v3) + u128::from(v2);
                let low = u128::from(p1) * u128::from(t as u64) + u128::from(v1) + carry;
                *out = low as u64;
                carry = (low >> 64) + u128::from(p1) * (t >> 64);
            }
        }
    }
}

/// Computes the digits v1, v2 and v3 of each coefficient c = v1 + p1·(v2 + p2·v3) from its residues
/// r1, r2 and r3 modulo the primes p1, p2 and p3. Each residue is from 0 to p − 1 for its prime p.
#[multiversion(targets("x86_64+avx2+fma"))]
fn mixed_digits(
    fields: [F50; 3],
    inverses: [Factor; 3],
    [r1, r2, r3]: [&[f64]; 3],
    [v1, v2, v3]: &mut [[f64; BLOCK]; 3],
) {
    let canonical = |field: F50, x: f64| {
        let r = field.reduce(x);
        if r < 0.0 { r + field.constants()[0] } else { r }
    };
    let residues = r1.iter().zip(r2).zip(r3);
    for (((&r1, &r2), &r3), ((v1, v2), v3)) in residues.zip(v1.iter_mut().zip(v2).zip(v3)) {
        // Differences of residues are below 1.01p: all primes are close to 2^50.
        let second = canonical(fields[1], fields[1].mul_by(r2 - r1, inverses[0]));
        let third = fields[2].mul_by(r3 - r1, inverses[1]) - second;
        let third = canonical(fields[2], fields[2].mul_by(third, inverses[2]));
        (*v1, *v2, *v3) = (r1, second, third);
    }
}
