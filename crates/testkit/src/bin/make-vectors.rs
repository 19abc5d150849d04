//! Prints `tests/vectors/small_residues.toml`, computed by GMP:
//!
//! `cargo run -p warpint-testkit --bin make-vectors > tests/vectors/small_residues.toml`

fn main() {
    print!("{}", warpint_testkit::vectors::small_residues());
}
