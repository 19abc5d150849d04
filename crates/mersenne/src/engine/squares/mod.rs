//! The check of squarings by sums over the words.
//!
//! The engine `fp64` squares residues of N words by a weighted cyclic convolution, and then
//! propagates carries. Let F be the field GF((2^31 − 1)²) and s an element with s^N = 2^(−p). Then
//! L(v) = Σ v_j·2^⌈pj/N⌉·s^j maps convolutions to products: L(z) = L(x)² for the convolution z of
//! the digits x with themselves. Carries change the sum by a known amount ([`Root::square`]). So a
//! squaring reports two sums: L(y) of the new digits y, and L(c) of the carries c. They are verified
//! against the sum of the digits that were squared, which is the sum that the squaring before has
//! reported.
//!
//! The page `docs/checks/squarings.md` proves the identity, and states what it detects.

mod field;
mod root;

pub(crate) use field::Element;
pub(crate) use root::Root;
