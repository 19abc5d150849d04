//! Computes files of known answers with GMP.

use std::fmt::Write;

use warpint_arith::primes;
use warpint_mersenne::LlStart;

use crate::gmp::Ring;

/// Returns the odd primes below 2,000 and, for engines that support only larger exponents, 4,423
/// (the exponent of a Mersenne prime) and 4,441.
fn small_exponents() -> impl Iterator<Item = u64> {
    primes::primes_between(3, 1_999).chain([4_423, 4_441])
}

/// Returns the text of `crates/selftest/vectors/small_residues.toml`. For every p of `small_exponents`, it
/// contains the res64 (low 64 bits) of the Lucas–Lehmer residue s_(p−2), with s_0 = 4, and of
/// 3^(M_p − 1), both modulo M_p.
#[must_use]
pub fn small_residues() -> String {
    let mut text = String::from(
        "# Made by `cargo run -p warpint-testkit --bin make-vectors`.\n\
         # ll: the low 64 bits of s_(p-2), s_0 = 4; prp: of 3^(M_p - 1); both mod M_p = 2^p - 1.\n\
         source = \"GMP: squarings with reduction for ll, its modular power for prp\"\n\
         residues = [\n",
    );
    for p in small_exponents() {
        let ring = Ring::new(p as u32);
        let ll = ring.ll_residue(LlStart::Four, p - 2).res64_hex();
        let prp = ring.fermat_residue().res64_hex();
        // Writing to a String cannot fail.
        let _ = writeln!(text, "    {{ p = {p}, ll = \"{ll}\", prp = \"{prp}\" }},");
    }
    text.push_str("]\n");
    text
}
