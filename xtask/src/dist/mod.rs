//! Makes the packages of a release: a tarball, a Debian package and a Python wheel for Linux, and a
//! zip file for Windows, each for x86-64, with their checksums.
//!
//! The same commit, Rust toolchain and tools give the same bytes, wherever the checkout is: time
//! stamps are those of the commit, names are sorted, owners and modes are fixed, and the program
//! contains no paths of this machine. Only the bytes of the wheel depend on the path of the
//! checkout: its crate is a workspace of its own, and cargo derives symbols of crates outside of
//! a workspace from their paths.

mod build;
mod check;
mod deb;
mod papers;
mod place;
mod tarball;
mod tools;
mod wheel;
mod zip;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use build::Platform;
use place::Place;

/// The version of the workspace, which is the version of the packages.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The oldest version of the GNU C library with which the program for Linux runs. The standard
/// library of Rust needs this version itself.
const GLIBC: &str = "2.17";

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The folder for the packages
    #[arg(long, value_name = "DIR", default_value = "target/packages")]
    output: PathBuf,
    /// Make only these kinds of packages
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    only: Vec<Kind>,
    /// Run what was made: its version, small jobs, its checksums
    #[arg(long)]
    check: bool,
    /// Check what an earlier run has made, and make nothing
    #[arg(long, conflicts_with = "check")]
    only_check: bool,
    /// The root of an installed Linux system, in which the check also runs the tarball and the
    /// Debian package by chroot. Needs root. May be given several times
    #[arg(long, value_name = "DIR")]
    root: Vec<PathBuf>,
}

/// A kind of package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Kind {
    /// A tarball for Linux
    Tarball,
    /// A package for Debian and Ubuntu
    Deb,
    /// A zip file for Windows
    Windows,
    /// A wheel for Python on Linux
    Wheel,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Tarball, Self::Deb, Self::Windows, Self::Wheel];

    /// Returns the name of the file.
    fn file_name(self) -> String {
        match self {
            Self::Tarball => format!("warpint-{VERSION}-x86_64-linux.tar.gz"),
            Self::Deb => format!("warpint_{}_amd64.deb", deb::version(VERSION)),
            Self::Windows => format!("warpint-{VERSION}-x86_64-windows.zip"),
            // maturin also writes the older name of this platform.
            Self::Wheel => format!(
                "warpint-{VERSION}-cp310-abi3-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"
            ),
        }
    }
}

/// Makes the packages, and checks them on request.
pub(crate) fn run(options: &Options) -> Result<()> {
    let kinds = if options.only.is_empty() { Kind::ALL.to_vec() } else { options.only.clone() };
    let place = Place::find(&options.output)?;
    let checks = options.check || options.only_check;
    tools::demand(&place, &kinds, !options.only_check, checks)?;
    if !options.only_check {
        make(&place, &kinds)?;
    }
    if checks {
        check::run(&place, &kinds, &options.root)?;
    }
    Ok(())
}

fn make(place: &Place, kinds: &[Kind]) -> Result<()> {
    place.empty_stage()?;
    if kinds.iter().any(|kind| *kind != Kind::Wheel) {
        make_of_program(place, kinds)?;
    }
    if kinds.contains(&Kind::Wheel) {
        made(place, Kind::Wheel, |out| wheel::make(place, out))?;
    }
    sums(place)
}

/// Makes the packages that contain the program. Their man pages and completions come from the program for Linux.
fn make_of_program(place: &Place, kinds: &[Kind]) -> Result<()> {
    let linux = build::program(place, Platform::Linux)?;
    let papers = papers::make(place, &linux)?;
    for &kind in kinds {
        match kind {
            Kind::Tarball => made(place, kind, |out| tarball::make(place, &linux, &papers, out))?,
            Kind::Deb => made(place, kind, |out| deb::make(place, &linux, &papers, out))?,
            Kind::Windows => {
                let windows = build::program(place, Platform::Windows)?;
                made(place, kind, |out| zip::make(place, &windows, &papers, out))?;
            }
            Kind::Wheel => {}
        }
    }
    Ok(())
}

/// Makes a package by `make`, and prints its size.
fn made(place: &Place, kind: Kind, make: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let out = place.output.join(kind.file_name());
    make(&out).with_context(|| format!("cannot make {}", out.display()))?;
    let size = std::fs::metadata(&out)?.len();
    println!("{}: {:.2} MB", out.display(), size as f64 / 1e6);
    Ok(())
}

/// Writes SHA256SUMS for all packages of this version in the output folder.
fn sums(place: &Place) -> Result<()> {
    let there = |name: &String| place.output.join(name).exists();
    let names: Vec<String> = Kind::ALL.map(Kind::file_name).into_iter().filter(there).collect();
    let sums = place::output_of(place.command("sha256sum").current_dir(&place.output).args(names))?;
    let path = place.output.join(SUMS);
    std::fs::write(&path, sums).with_context(|| format!("cannot write {}", path.display()))
}

const SUMS: &str = "SHA256SUMS";

/// Copies a file, and sets its mode. Missing folders are made.
fn put(from: &Path, to: &Path, mode: u32) -> Result<()> {
    let bytes = std::fs::read(from).with_context(|| format!("cannot read {}", from.display()))?;
    place::write(to, &bytes, mode)
}
