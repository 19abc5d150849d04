//! Comparisons with GMP, with FLINT and with published results of other programs. All tests are in a single
//! binary. So they are linked once and share the cores.
#![cfg(test)]

mod against_flint;
mod against_gmp;
mod batch_files;
mod checks;
mod devices;
mod engines;
mod gfn;
mod huge;
mod in_turns;
mod integers;
mod jacobi;
mod keys;
mod limbs;
mod mersenne_primes;
mod on_simulator;
mod prime_fields;
mod proofs;
mod recovery;
mod residues;
mod sittings;
mod stress;
mod suites;
mod suspects;
mod vectors;
