//! Runs what was made: versions, small jobs, checksums; on request in other root file systems.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::place::{self, Place, output_of, run as run_command};
use super::{GLIBC, Kind, SUMS, VERSION};

/// The largest size of a tarball, in bytes.
const LARGEST: u64 = 20_000_000;

/// Small jobs: arguments, and a part of the output.
const JOBS: [(&[&str], &str); 4] = [
    (&["ll", "4423", "--device", "cpu", "--quiet"], "M4423 is prime"),
    (&["prp", "9689", "--device", "cpu", "--quiet"], "M9689 is a probable prime"),
    (&["batch", "mul", "18446744073709551615", "3", "-o", "-", "--quiet"], "55340232221128654845"),
    (&["collatz", "verify", "--below", "2^24", "--device", "cpu", "--quiet"], "verified: "),
];

/// The folder inside another root in which the check works.
const INSIDE: &str = "tmp/warpint-check";

/// Checks the packages of these kinds, and runs those for Linux in every root too.
pub(super) fn run(place: &Place, kinds: &[Kind], roots: &[PathBuf]) -> Result<()> {
    run_command(
        place.command("sha256sum").args(["--check", "--strict", SUMS]).current_dir(&place.output),
    )?;
    for &kind in kinds {
        let package = place.output.join(kind.file_name());
        match kind {
            Kind::Tarball => tarball(place, &package, roots),
            Kind::Deb => deb(place, &package, roots),
            Kind::Windows => windows(place, &package),
            Kind::Wheel => wheel(place, &package),
        }
        .with_context(|| format!("{}", package.display()))?;
    }
    Ok(())
}

fn tarball(place: &Place, package: &Path, roots: &[PathBuf]) -> Result<()> {
    let size = fs::metadata(package)?.len();
    ensure!(size < LARGEST, "{size} bytes, the largest size is {LARGEST}");
    let scratch = tempfile::tempdir()?;
    unpack(place, package, scratch.path())?;
    let program = scratch.path().join(format!("warpint-{VERSION}/bin/warpint"));
    let symbols = output_of(place.command("objdump").arg("-T").arg(&program))?;
    let newest = newest_glibc(&symbols).context("objdump -T shows no version of glibc")?;
    ensure!(newest <= version(GLIBC)?, "needs glibc {newest:?}, newer than {GLIBC}");
    jobs("tarball", &|| Command::new(&program), scratch.path())?;
    selftest("tarball", Command::new(&program))?;

    for root in roots {
        let inside = root.join(INSIDE);
        let name = format!("tarball in {}", root.display());
        let checked = || {
            place::folder(&inside)?;
            unpack(place, package, &inside)?;
            let program = format!("/{INSIDE}/warpint-{VERSION}/bin/warpint");
            jobs(&name, &|| inside_root(root, &program), Path::new("/"))
        };
        let checked = checked();
        fs::remove_dir_all(&inside)?;
        checked?;
    }
    Ok(())
}

fn deb(place: &Place, package: &Path, roots: &[PathBuf]) -> Result<()> {
    run_command(place.command("lintian").args(["--fail-on", "error,warning"]).arg(package))?;
    let scratch = tempfile::tempdir()?;
    run_command(place.command("dpkg-deb").arg("--extract").arg(package).arg(scratch.path()))?;
    let program = scratch.path().join("usr/bin/warpint");
    jobs("Debian package", &|| Command::new(&program), scratch.path())?;

    for root in roots {
        let inside = root.join(INSIDE);
        let name = format!("Debian package in {}", root.display());
        let dpkg = |arguments: &[&str]| {
            run_command(place.command("chroot").arg(root).arg("dpkg").args(arguments))
        };
        let checked = || {
            place::folder(&inside)?;
            fs::copy(package, inside.join("warpint.deb"))?;
            dpkg(&["--install", &format!("/{INSIDE}/warpint.deb")])?;
            jobs(&name, &|| inside_root(root, "/usr/bin/warpint"), Path::new("/"))
        };
        let checked = checked();
        fs::remove_dir_all(&inside)?;
        dpkg(&["--purge", "warpint"])?;
        checked?;
        ensure!(!root.join("usr/bin/warpint").exists(), "{name}: --purge leaves the program");
    }
    Ok(())
}

fn windows(place: &Place, package: &Path) -> Result<()> {
    let scratch = tempfile::tempdir()?;
    run_command(place.command("unzip").arg("-q").arg(package).arg("-d").arg(scratch.path()))?;
    let folder = scratch.path().join(format!("warpint-{VERSION}"));
    let program = folder.join("warpint.exe");
    let mut compiler = place.command("x86_64-w64-mingw32-gcc");
    compiler.args(["-O2", "-shared", "packaging/wine/bcryptprimitives.c", "-ladvapi32", "-o"]);
    run_command(compiler.arg(folder.join("bcryptprimitives.dll")))?;
    let wine = || {
        let mut wine = Command::new("wine");
        wine.arg(&program).env("WINEDEBUG", "-all").env("WINEPREFIX", scratch.path().join("wine"));
        wine
    };
    jobs("Windows program", &wine, scratch.path())?;
    selftest("Windows program", wine())
}

/// Installs the wheel into a new virtual environment, and runs small jobs.
fn wheel(place: &Place, package: &Path) -> Result<()> {
    const JOBS: &str = "\
import sys, warpint as wp
assert wp.__version__ == sys.argv[1], wp.__version__
assert (wp.array([2**64 - 1]) * 3).tolist() == [3 * (2**64 - 1)]
assert wp.test('7*2^2256+1', directory=None, device='cpu').verdict == 'prime'
assert wp.huge.mul(3**1000, 3**2000) == 3**3000
";
    let scratch = tempfile::tempdir()?;
    let venv = scratch.path().join("venv");
    run_command(place.command("python3").args(["-m", "venv"]).arg(&venv))?;
    let mut pip = place.command(venv.join("bin/pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check"]);
    run_command(pip.arg(package))?;
    let mut python = Command::new(venv.join("bin/python"));
    run_command(python.current_dir(scratch.path()).args(["-c", JOBS, VERSION]))?;
    println!("wheel: its jobs are right");
    Ok(())
}

fn unpack(place: &Place, package: &Path, to: &Path) -> Result<()> {
    run_command(place.command("tar").arg("-xzf").arg(package).arg("-C").arg(to))
}

/// Returns the command that runs a program in another root.
fn inside_root(root: &Path, program: &str) -> Command {
    let mut chroot = Command::new("chroot");
    chroot.arg(root).args([
        "env",
        &format!("--chdir=/{INSIDE}"),
        &format!("HOME=/{INSIDE}"),
        program,
    ]);
    chroot
}

/// Runs the small jobs in a folder, by the program that `program` starts.
fn jobs(name: &str, program: &dyn Fn() -> Command, folder: &Path) -> Result<()> {
    let said = output_of(program().arg("--version").current_dir(folder))?;
    ensure!(said.trim_end() == format!("warpint {VERSION}"), "{name}: the version is {said}");
    for (arguments, part) in JOBS {
        let said = output_of(program().args(arguments).current_dir(folder))?;
        ensure!(said.contains(part), "{name}: {arguments:?} printed {said:?}, not {part:?}");
    }
    println!("{name}: {} jobs are right", JOBS.len());
    Ok(())
}

/// Runs all suites for the CPU.
fn selftest(name: &str, mut program: Command) -> Result<()> {
    let said = output_of(program.args(["selftest", "--device", "cpu"]))?;
    println!("{name}: {}", said.lines().last().unwrap_or_default());
    Ok(())
}

/// Returns the newest version of glibc among the symbols that `objdump -T` lists.
fn newest_glibc(symbols: &str) -> Option<Vec<u32>> {
    let named =
        symbols.split(['(', ')', ' ', '\t', '\n']).filter_map(|word| word.strip_prefix("GLIBC_"));
    named.filter_map(|text| version(text).ok()).max()
}

fn version(text: &str) -> Result<Vec<u32>> {
    let parts = text.split('.').map(str::parse);
    parts.collect::<Result<_, _>>().with_context(|| format!("'{text}' is not a version"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_glibc_is_found_by_its_number() {
        let symbols = "0000 DF *UND* 0000 (GLIBC_2.2.5) memcpy\n0000  w D *UND* 0000  GLIBC_2.17 a\n\
                       0000 DF *UND* 0000 (GLIBC_2.9) b\n0000 DF *UND* (GCC_3.0) c";
        assert_eq!(newest_glibc(symbols), Some(vec![2, 17]));
        assert_eq!(newest_glibc("nothing"), None);
        assert!(version("2.28").unwrap() > version(GLIBC).unwrap());
    }
}
