//! Computes the content of `crates/selftest/vectors/small_residues.toml` with GMP and prints it:
//!
//! `cargo run -p warpint-testkit --bin make-vectors > crates/selftest/vectors/small_residues.toml`

fn main() {
    print!("{}", warpint_testkit::vectors::small_residues());
}
