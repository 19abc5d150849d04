//! Tests of single numbers for primality: trial division by small primes, the end of the strong
//! test to a base, and the strong Lucas test.
//!
//! | file | subject |
//! |---|---|
//! | `trial` | residues modulo all primes below a bound |
//! | `strong` | the strong test (Miller 1976, Rabin 1980), given a power b^d |
//! | `lucas` | the strong Lucas test (Baillie and Wagstaff 1980) |
//!
//! A prime passes all of these tests. A number that fails one of them is composite. A composite
//! number that passes a test is called a pseudoprime of this test.

mod lucas;
mod strong;
#[cfg(test)]
mod tests;
mod trial;

pub use lucas::LucasTest;
pub use strong::{StrongTest, odd_part_of_predecessor};
pub use trial::SmallPrimes;
