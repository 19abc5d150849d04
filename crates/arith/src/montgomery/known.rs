//! Well-known prime fields, with quadratic non-residues that are commonly used in these fields.

use super::{NoField, PrimeField};

/// A well-known prime modulus and a quadratic non-residue. Powers of this non-residue are the
/// published roots of unity of the field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known<const L: usize> {
    /// The name of the field, for example "BN254 scalars".
    pub name: &'static str,
    /// The prime p, in little-endian limbs.
    pub modulus: [u64; L],
    /// A quadratic non-residue modulo p.
    pub non_residue: u64,
}

impl<const L: usize> Known<L> {
    /// Creates the field Z/pZ whose roots of unity are powers of `non_residue`.
    ///
    /// # Errors
    /// Returns the errors of [`PrimeField::with_non_residue`]. The constants of this module cause
    /// no errors.
    pub fn field(&self) -> Result<PrimeField<L>, NoField> {
        PrimeField::with_non_residue(self.modulus, self.non_residue)
    }
}

/// The scalar field of the curve BN254, also called `alt_bn128` (the order r of EIP-196). The prime
/// has 254 bits. The field has roots of unity of order 2^28 and the generator 5.
pub const BN254_SCALAR: Known<4> = Known {
    name: "BN254 scalars",
    modulus: [
        0x43e1_f593_f000_0001,
        0x2833_e848_79b9_7091,
        0xb850_45b6_8181_585d,
        0x3064_4e72_e131_a029,
    ],
    non_residue: 5,
};

/// The scalar field of the curve BLS12-381 (Bowe 2017; the subgroup order of RFC 9380, section
/// 8.8). The prime has 255 bits. The field has roots of unity of order 2^32 and the generator 7.
pub const BLS12_381_SCALAR: Known<4> = Known {
    name: "BLS12-381 scalars",
    modulus: [
        0xffff_ffff_0000_0001,
        0x53bd_a402_fffe_5bfe,
        0x3339_d808_09a1_d805,
        0x73ed_a753_299d_7d48,
    ],
    non_residue: 7,
};

/// The base field of the curve BLS12-377 (Bowe et al. 2020, *ZEXE*), which is also the scalar field
/// of the curve BW6-761. The prime has 377 bits. The field has roots of unity of order 2^46.
pub const BLS12_377_BASE: Known<6> = Known {
    name: "BLS12-377 base",
    modulus: [
        0x8508_c000_0000_0001,
        0x170b_5d44_3000_0000,
        0x1ef3_622f_ba09_4800,
        0x1a22_d9f3_00f5_138f,
        0xc63b_05c0_6ca1_493b,
        0x01ae_3a46_17c5_10ea,
    ],
    non_residue: 5,
};

/// Returns the prime 2^(64·L) − c·2^20 + 1 with the smallest odd c. Returns `None` unless L is 1 to
/// 6, 8, 12, 16, 32 or 64.
///
/// All bits above the lowest word are set, so that carries are long. Roots of unity exist for the
/// orders 1, 2, 4, …, 2^20.
#[must_use]
pub const fn full<const L: usize>() -> Option<[u64; L]> {
    let c: u64 = match L {
        1 => 85,
        2 => 61,
        3 => 195,
        4 => 385,
        5 => 51,
        6 => 243,
        8 => 153,
        12 => 625,
        16 => 789,
        32 => 1765,
        64 => 1095,
        _ => return None,
    };
    let mut words = [u64::MAX; L];
    words[0] = (c << 20).wrapping_neg() + 1;
    Some(words)
}
