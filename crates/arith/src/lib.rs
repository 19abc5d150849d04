//! Scalar arithmetic, without input or output, GPU or threads. All results are exact, except the
//! results of [`dd`].
//!
//! | module | subject |
//! |---|---|
//! | [`goldilocks`] | the field Z/qZ, q = 2^64 − 2^32 + 1 |
//! | [`m31`] | the field of 2^31 − 1 elements, and its extension by i |
//! | [`f50`] | fields Z/pZ, p a prime of 47 to 50 bits, on `f64` |
//! | [`field`] | the interface to fields for transforms |
//! | [`gfn`] | fields Z/pZ, p = r^k + 1 with a sparse radix r |
//! | [`dd`] | double-double numbers (about 106 bits), for tables |
//! | [`limbs`] | sums of little-endian `u64` limbs, and products and quotients by a single limb |
//! | [`montgomery`] | fields Z/pZ of any odd prime p of up to 4,096 bits |
//! | [`primes`] | primality and smallest factors of machine words |
//! | [`sieve`] | all primes up to a bound |
//! | [`simd`] | instruction sets of the processor, and vectors of `f64` |

pub mod dd;
pub mod f50;
pub mod field;
pub mod gfn;
pub mod goldilocks;
pub mod limbs;
pub mod m31;
pub mod montgomery;
pub mod primes;
pub mod sieve;
pub mod simd;
