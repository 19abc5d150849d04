//! Tests that the files of known answers equal the results of GMP.

use warpint_testkit::vectors;

#[test]
fn small_residues_are_as_made() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../selftest/vectors/small_residues.toml");
    let kept = std::fs::read_to_string(path).unwrap();
    assert!(
        kept == vectors::small_residues(),
        "make crates/selftest/vectors/small_residues.toml again"
    );
}
