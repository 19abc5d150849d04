//! Euclid's algorithm: the greatest common divisor, cofactors, and the Jacobi symbol.
//!
//! | file | subject |
//! |---|---|
//! | `lehmer` | steps found from the leading 128 bits |
//! | `matrix`, `pair` | the matrices and the numbers of the algorithm |
//! | `half_gcd` | half of the algorithm, recursively |
//! | `gcd` | the greatest common divisor and cofactors |
//! | `symbol` | the sign of a Jacobi symbol during the algorithm |
//! | `jacobi` | the Jacobi symbol |
//! | `binary` | the slow, obvious Jacobi symbol |

mod binary;
mod gcd;
mod half_gcd;
mod jacobi;
mod lehmer;
mod matrix;
mod pair;
mod symbol;
#[cfg(test)]
mod tests;

pub use binary::jacobi_binary;
pub use gcd::{Euclid, gcd};
pub use jacobi::jacobi;
