//! Proofs: built as an independent program builds them, and refused when
//! anything in them is changed.

#[cfg(test)]
mod built;
#[cfg(test)]
mod changed;
#[cfg(test)]
mod common;
#[cfg(test)]
mod trouble;
