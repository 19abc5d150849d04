//! Proofs: built as an independent program builds them, and refused when
//! anything in them is changed or they are forged.

#[cfg(test)]
mod built;
#[cfg(test)]
mod changed;
#[cfg(test)]
mod common;
#[cfg(test)]
mod forged;
#[cfg(test)]
mod trouble;
