//! Test moduli for audits of RSA keys. The moduli follow from a seed, and weaknesses are planted
//! among them on request. Nobody must use them as keys: the seed gives away the factors.
//!
//! A modulus is a product n = p·q of two primes of half its width. The steps:
//!
//! 1. [`Layout`]: which primes each modulus has, and on which line of the file it stands.
//! 2. The search for the primes (`primes`). Prime number i of a seed begins at a number drawn from
//!    stream number i of the generator ChaCha8; the prime is the first probable prime (Baillie–PSW)
//!    from there on. A sieve removes candidates with small factors. Many searches advance at a time,
//!    in batches of
//!    [`UintBatch::is_probable_prime_by`](warpint_integer::UintBatch::is_probable_prime_by) (`search`).
//!    All candidates take a strong test to base 2, and those that pass it the rest of the test. On a
//!    device, up to three groups of searches take turns: the device computes the powers of one group
//!    while the host prepares the candidates of the others.
//! 3. The products, batch by batch, and the two files ([`make`]).
//!
//! The moduli depend only on the request. Neither the device nor the number of threads changes them.
//! Primes after long gaps are more likely than others, so the primes are not uniformly distributed.

mod error;
mod files;
mod layout;
mod primes;
mod request;
mod search;
mod sieve;
#[cfg(test)]
mod tests;

pub use error::TestKeysError;
pub use files::{Made, Outputs, make};
pub use layout::{Kind, Layout, Planted};
pub use request::{Request, Test};
