//! The Python wheel for Linux, by maturin.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::build::{Platform, ensure_no_paths, reproducible};
use super::place::{Place, run};
use super::{GLIBC, papers, put, tools};

/// The file with the licences of all crates in the wheel. It exists in the checkout while the wheel is made.
const NOTICES: &str = "python/LICENSE-third-party.txt";

/// Makes the wheel.
pub(super) fn make(place: &Place, out: &Path) -> Result<()> {
    let notices = Temporary(place.root.join(NOTICES));
    papers::third_party(place, "python/Cargo.toml", &notices.0)?;
    let stage = place.stage.join("wheel");
    let mut maturin = place.command("maturin");
    maturin.env("PATH", tools::path(place)?).current_dir(place.root.join("python"));
    maturin.args(["build", "--release", "--locked", "--zig", "--compatibility"]);
    maturin.arg(format!("manylinux_{}", GLIBC.replace('.', "_"))).arg("--out").arg(&stage);
    reproducible(place, Platform::Linux, &mut maturin)?;
    run(&mut maturin)?;
    let name = out.file_name().context("a wheel has a name")?;
    put(&stage.join(name), out, 0o644)?;

    let unpacked = stage.join("unpacked");
    run(place.command("unzip").arg("-q").arg(out).arg("-d").arg(&unpacked))?;
    ensure_no_paths(place, &unpacked.join("warpint/_warpint.abi3.so"))
}

/// A file that is removed in the end.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        // It is not there if its making failed.
        let _ = fs::remove_file(&self.0);
    }
}
