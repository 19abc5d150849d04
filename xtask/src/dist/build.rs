//! Builds the program for the platforms of the packages.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::place::{Place, output_of, run};
use super::{GLIBC, tools};

/// A platform of the packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Platform {
    Linux,
    Windows,
}

impl Platform {
    /// Returns the name by which Rust knows the platform.
    pub(super) fn target(self) -> &'static str {
        match self {
            Self::Linux => "x86_64-unknown-linux-gnu",
            Self::Windows => "x86_64-pc-windows-gnu",
        }
    }

    fn program(self) -> &'static str {
        match self {
            Self::Linux => "warpint",
            Self::Windows => "warpint.exe",
        }
    }
}

/// Builds the program, and returns its path.
pub(super) fn program(place: &Place, platform: Platform) -> Result<PathBuf> {
    let mut cargo = place.command("cargo");
    match platform {
        // zig links against the symbols of an old glibc.
        Platform::Linux => {
            cargo.args(["zigbuild", "--target", &format!("{}.{GLIBC}", platform.target())]);
            cargo.env("PATH", tools::path(place)?);
        }
        Platform::Windows => {
            cargo.args(["build", "--target", platform.target()]);
        }
    }
    cargo.args(["--locked", "--profile", "dist", "--package", "warpint-cli", "--bin", "warpint"]);
    reproducible(place, platform, &mut cargo)?;
    run(&mut cargo)?;
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or(place.root.join("target"), PathBuf::from);
    let program = target.join(platform.target()).join("dist").join(platform.program());
    ensure_no_paths(place, &program)?;
    Ok(program)
}

/// Lets a command that compiles Rust keep paths of this machine and the time out of what it makes.
pub(super) fn reproducible(place: &Place, platform: Platform, command: &mut Command) -> Result<()> {
    command.env("CARGO_ENCODED_RUSTFLAGS", flags(place, platform)?.join("\x1f"));
    command.env_remove("RUSTFLAGS");
    Ok(())
}

/// Returns the flags that keep paths of this machine and the time out of the program.
fn flags(place: &Place, platform: Platform) -> Result<Vec<String>> {
    let sysroot = output_of(place.command("rustc").args(["--print", "sysroot"]))?;
    let version = output_of(place.command("rustc").arg("-vV"))?;
    let commit = version.lines().find_map(|line| line.strip_prefix("commit-hash: "));
    let commit = commit.context("rustc -vV names no commit")?;
    let remap = |from: &Path, to: &str| format!("--remap-path-prefix={}={to}", from.display());
    let mut flags = vec![
        remap(&cargo_home()?, "/cargo"),
        remap(&Path::new(sysroot.trim()).join("lib/rustlib/src/rust"), &format!("/rustc/{commit}")),
        remap(&place.root, "/warpint"),
    ];
    if platform == Platform::Windows {
        flags.push("-Clink-arg=-Wl,--no-insert-timestamp".into());
    }
    Ok(flags)
}

fn cargo_home() -> Result<PathBuf> {
    let home = || std::env::home_dir().map(|home| home.join(".cargo"));
    let found = std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(home);
    found.context("neither CARGO_HOME nor HOME is set")
}

/// Returns an error if the program contains the path of the checkout or of cargo's home.
pub(super) fn ensure_no_paths(place: &Place, program: &Path) -> Result<()> {
    let bytes =
        std::fs::read(program).with_context(|| format!("cannot read {}", program.display()))?;
    for path in [&place.root, &cargo_home()?] {
        let path = path.to_string_lossy();
        ensure!(
            !contains(&bytes, path.as_bytes()),
            "{} contains the path {path}: its bytes depend on this machine",
            program.display()
        );
    }
    Ok(())
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}
