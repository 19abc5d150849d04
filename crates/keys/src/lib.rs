//! Public RSA keys: reading them from files, and finding weak ones among them.
//!
//! | module | subject |
//! |---|---|
//! | [`read`] | keys in PEM, DER, SSH, JWK and lists of moduli; [`KeyList`], the keys of many files |
//! | [`batch_gcd`] | the moduli that share a factor with another modulus, by a product tree and a scaled remainder tree |
//! | [`checks`] | tests of a single modulus and of a public exponent |
//! | [`store`] | the moduli of earlier audits, in a directory |
//! | [`audit`] | all of them for a list of keys: [`audit::Audit`] and its findings |
//!
//! A number is a little-endian slice of `u64` limbs, as in [`warpint_natural`]. A list keeps the
//! moduli, but not the text of the files.
//!
//! The factors that an audit finds are private keys of others or one's own. [`audit::Finding`]
//! contains them, but its `Debug` output does not show them.

pub mod audit;
pub mod batch_gcd;
pub mod checks;
mod error;
pub mod read;
pub mod store;

pub use error::KeysError;
pub use read::{KeyList, Place, Position};
pub use store::Store;
