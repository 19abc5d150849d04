//! The programs that `dist` needs, and how to install them.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::Kind;
use super::build::Platform;
use super::place::Place;

/// A program that is needed.
struct Tool {
    program: &'static str,
    /// The kinds of packages that need it; empty for every kind.
    kinds: &'static [Kind],
    /// Whether the making, and whether the check needs it.
    needed: Needed,
    install: &'static str,
}

#[derive(PartialEq)]
enum Needed {
    ToMake,
    ToCheck,
}

const ZIG: &str = "python3 -m venv target/dist-venv && \
    target/dist-venv/bin/pip install cargo-zigbuild==0.24.1 maturin==1.16.0 ziglang==0.17.1";

const TOOLS: &[Tool] = &[
    Tool { program: "cargo-zigbuild", kinds: &[], needed: Needed::ToMake, install: ZIG },
    Tool { program: "python-zig", kinds: &[], needed: Needed::ToMake, install: ZIG },
    Tool { program: "maturin", kinds: &[Kind::Wheel], needed: Needed::ToMake, install: ZIG },
    Tool {
        program: "cargo-about",
        kinds: &[],
        needed: Needed::ToMake,
        install: "cargo install --locked --version 0.9.3 --features cli --root target/ci-tools cargo-about",
    },
    apt("gzip", &[], Needed::ToMake, "gzip"),
    apt("tar", &[Kind::Tarball], Needed::ToMake, "tar"),
    apt("dpkg-deb", &[Kind::Deb], Needed::ToMake, "dpkg"),
    apt("zip", &[Kind::Windows], Needed::ToMake, "zip"),
    apt("unzip", &[Kind::Wheel], Needed::ToMake, "unzip"),
    apt("x86_64-w64-mingw32-gcc", &[Kind::Windows], Needed::ToMake, "gcc-mingw-w64-x86-64"),
    apt("objdump", &[Kind::Tarball], Needed::ToCheck, "binutils"),
    apt("lintian", &[Kind::Deb], Needed::ToCheck, "lintian"),
    apt("x86_64-w64-mingw32-gcc", &[Kind::Windows], Needed::ToCheck, "gcc-mingw-w64-x86-64"),
    apt("unzip", &[Kind::Windows], Needed::ToCheck, "unzip"),
    apt("wine", &[Kind::Windows], Needed::ToCheck, "wine wine64"),
];

const fn apt(
    program: &'static str,
    kinds: &'static [Kind],
    needed: Needed,
    install: &'static str,
) -> Tool {
    Tool { program, kinds, needed, install }
}

/// The folders of the checkout in which tools may be installed, searched before `PATH`.
const FOLDERS: [&str; 2] = ["target/dist-venv/bin", "target/ci-tools/bin"];

/// Returns an error that lists all missing tools and how to install them.
pub(super) fn demand(place: &Place, kinds: &[Kind], make: bool, check: bool) -> Result<()> {
    let path = path(place)?;
    let mut missing = vec![];
    for tool in TOOLS {
        let wanted = match tool.needed {
            Needed::ToMake => make,
            Needed::ToCheck => check,
        };
        let concerns = tool.kinds.is_empty() || tool.kinds.iter().any(|kind| kinds.contains(kind));
        if wanted && concerns && !is_on(&path, tool.program) {
            let line = (tool.program.to_owned(), how(tool.install));
            if !missing.contains(&line) {
                missing.push(line);
            }
        }
    }
    if make {
        let windows = kinds.contains(&Kind::Windows).then_some(Platform::Windows);
        for platform in std::iter::once(Platform::Linux).chain(windows) {
            let target = platform.target();
            if !has_target(target) {
                missing.push((
                    format!("the standard library of Rust for {target}"),
                    format!("rustup target add {target}"),
                ));
            }
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let lines: Vec<_> = missing.iter().map(|(tool, how)| format!("\n  {tool}: {how}")).collect();
    bail!("tools are missing; install them by the commands beside their names:{}", lines.concat())
}

/// A command stays as it is; the name of a Debian package becomes the command that installs it.
fn how(install: &str) -> String {
    let is_command = install.starts_with("cargo ") || install.starts_with("python3 ");
    if is_command { install.to_owned() } else { format!("sudo apt-get install {install}") }
}

/// Returns the search path of programs, beginning with the folders of the checkout.
pub(super) fn path(place: &Place) -> Result<OsString> {
    let own = FOLDERS.iter().map(|folder| place.root.join(folder));
    let rest = env::var_os("PATH").unwrap_or_default();
    let all: Vec<PathBuf> = own.chain(env::split_paths(&rest)).collect();
    env::join_paths(all).context("the path of the checkout contains a colon")
}

fn is_on(path: &OsString, program: &str) -> bool {
    env::split_paths(path).any(|folder| folder.join(program).is_file())
}

/// Returns whether Rust's standard library for the target is installed.
fn has_target(target: &str) -> bool {
    let libraries = Command::new("rustc")
        .args(["--print", "target-libdir", "--target", target])
        .stderr(Stdio::null())
        .output();
    libraries.is_ok_and(|run| {
        let folder = String::from_utf8_lossy(&run.stdout).trim().to_owned();
        run.status.success() && Path::new(&folder).is_dir()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_that_installs_tools_takes_the_same_versions() {
        let script = include_str!("../../../.ci/dist");
        for tool in TOOLS {
            let versions =
                tool.install.split(' ').filter(|word| word.contains("==") || word.contains("0."));
            for version in versions {
                assert!(script.contains(version), "{}: {version} is not in .ci/dist", tool.program);
            }
        }
    }

    #[test]
    fn a_missing_tool_is_named_with_the_command_that_installs_it() {
        let empty = tempfile::tempdir().unwrap();
        assert!(!is_on(&empty.path().into(), "tar"));
        std::fs::write(empty.path().join("tar"), "").unwrap();
        assert!(is_on(&empty.path().into(), "tar"));
        assert_eq!(how("zip"), "sudo apt-get install zip");
        assert_eq!(how(ZIG), ZIG);
        assert!(!has_target("no-such-target"));
    }
}
