//! Products of polynomials modulo primes below 2^49.5, with vectors of `f64`. In this module, L is
//! the number of lanes of a vector. The *factor* w of a node is a number by which many others are
//! multiplied; the factors of a product are polynomials.
//!
//! | file | subject |
//! |---|---|
//! | `multiply` | products modulo several primes, on several threads |
//! | `shape`, `extended` | the lengths 2^k and 3·2^(k−1), and how the latter are composed |
//! | `forward`, `inverse` | transforms in the caches |
//! | `tiles` | longer transforms |
//! | `roots` | primes, and the factors of the nodes of the tree |
//! | `vectors`, `memory`, `bound` | operations on vectors, loads and stores, and bounds of values |
//!
//! # The length
//!
//! A product c has N coefficients, where N = 2^k or N = 3/2·2^k.
//!
//! For N = 2^k, c is computed modulo x^N − 1.
//!
//! For N = 3/2·2^k, let M = 2^k and h = M/2, so that c has at most M + h coefficients. Let i be a
//! root of unity with i² = −1. The product is computed modulo x^M − 1 and modulo x^h − i. From both
//! results its coefficients follow (`extended`). This is the truncated transform with three
//! quarters of 2M points (van der Hoeven 2004, *The truncated Fourier transform and applications*,
//! ISSAC 2004, 290–296).
//!
//! # The tree
//!
//! Node j of length n represents the residues of polynomials modulo x^n − w_j². As x^n − w² =
//! (x^(n/2) − w)·(x^(n/2) + w), the children of this node are the nodes 2j and 2j + 1 of length
//! n/2, if w_(2j)² = w_j and w_(2j+1)² = −w_j. A node whose length is 1 has no children.
//!
//! This holds for the following w_j. Let b_s be bit s of j, so that j = Σ b_s·2^s, and let t_j = Σ
//! b_s·2^(−s−2). For t = a/2^m, let e(t) = ω(m)^a, where ω(m) is a root of unity of order 2^m with
//! ω(m)² = ω(m − 1). Then w_j = e(t_j). In particular, node 0 represents residues modulo x^n − 1,
//! and node 2 residues modulo x^n − i, where i = w_1 = w_2² and i² = −1. As w_j does not depend on
//! the length, one table serves all transforms. The inverse of each w_j with j > 0 is −w_j' for
//! another node j' (`roots`).
//!
//! A transform goes from a node to its descendants of length one. The coefficients of a node are a
//! *block* of adjacent numbers. From the lower half l and the upper half u of a block, one level of
//! a transform computes y = l + w·u and z = l − w·u, with the same w for the whole block. The
//! inverse is l = (y + z)/2 and u = (y − z)/(2w). The transforms compute 2l and 2u instead. So
//! results are multiplied by a power of two, which [`Shape::scale`] states. The element-wise
//! product of two transforms is the transform of the product of the polynomials, whatever the order
//! of the descendants.

mod bound;
mod extended;
mod forward;
mod inverse;
mod memory;
mod multiply;
mod roots;
mod shape;
#[cfg(test)]
mod tests;
mod tiles;
mod vectors;

use warpint_arith::simd::{Cpu, Level};

pub use memory::{load, store};
pub use multiply::{Operands, Second, multiply, transform};
pub use roots::Prime;
pub use shape::Shape;
pub use vectors::{Factors, FieldVectors};

/// Returns whether the transforms of this module are fast on this CPU. On x86-64, they are if the
/// CPU has AVX2 and fused multiply-adds, and `WARPINT_CPU` allows their use. On AArch64, they
/// always are, because every CPU has fused multiply-adds. On other processors, the result is false.
#[must_use]
pub fn is_fast() -> bool {
    if cfg!(target_arch = "x86_64") {
        Cpu::get().level >= Level::Avx2
    } else {
        cfg!(target_arch = "aarch64")
    }
}
