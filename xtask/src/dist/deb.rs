//! The package for Debian and Ubuntu.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::papers::{Papers, compress};
use super::place::{Place, files_below, fix_modes, output_of, run, write};
use super::{GLIBC, VERSION, put};

/// Returns the version of the Debian package. A `~` sorts before everything else, as pre-releases do.
pub(super) fn version(version: &str) -> String {
    format!("{}-1", version.replacen('-', "~", 1))
}

/// Makes the package.
pub(super) fn make(place: &Place, program: &Path, papers: &Papers, out: &Path) -> Result<()> {
    let tree = place.stage.join("deb");
    let usr = tree.join("usr");
    let sources = place.root.join("packaging");
    put(program, &usr.join("bin/warpint"), 0o755)?;
    papers.put_for_unix(place, &usr.join("share"), true)?;
    for (unit, manager) in [("warpint-work@.service", "system"), ("warpint-work.service", "user")] {
        let to = usr.join("lib/systemd").join(manager).join(unit);
        put(&sources.join("systemd").join(unit), &to, 0o644)?;
    }

    let overrides = usr.join("share/lintian/overrides/warpint");
    put(&sources.join("debian/lintian-overrides"), &overrides, 0o644)?;

    let doc = usr.join("share/doc/warpint");
    put(&sources.join("debian/copyright"), &doc.join("copyright"), 0o644)?;
    write(&doc.join("changelog.Debian"), changelog(place)?.as_bytes(), 0o644)?;
    for (document, name) in [
        ("README.md", "README.md"),
        ("CHANGELOG.md", "changelog"),
        ("third-party.txt", "third-party.txt"),
    ] {
        put(&papers.documents.join(document), &doc.join(name), 0o644)?;
    }
    for name in ["changelog.Debian", "changelog", "README.md", "third-party.txt"] {
        compress(place, &doc.join(name))?;
    }

    let files = files_below(&tree)?;
    let sums = output_of(place.command("md5sum").args(&files).current_dir(&tree))?;
    write(&tree.join("DEBIAN/md5sums"), sums.as_bytes(), 0o644)?;
    let template = sources.join("debian/control");
    let template = fs::read_to_string(&template)
        .with_context(|| format!("cannot read {}", template.display()))?;
    let control = filled(&template, &version(VERSION), kibibytes(&tree, &files)?)?;
    write(&tree.join("DEBIAN/control"), control.as_bytes(), 0o644)?;
    fix_modes(place, &tree)?;

    // Ubuntu 18.04 and Debian 10 cannot read zstd.
    let mut dpkg = place.command("dpkg-deb");
    run(dpkg.args(["--root-owner-group", "-Zxz", "--build"]).arg(&tree).arg(out))
}

/// Returns the changelog in the format of Debian, with one entry, which refers to the program's own.
fn changelog(place: &Place) -> Result<String> {
    let date = output_of(place.command("date").args(["-u", "-R", "-d", &place.time_stamp()]))?;
    Ok(format!(
        "warpint ({}) unstable; urgency=medium\n\n  * See changelog.gz in this folder.\n\n -- {MAINTAINER}  {date}",
        version(VERSION),
    ))
}

const MAINTAINER: &str = "The warpint authors <warpint@users.noreply.github.com>";

/// Fills the template of the control file.
fn filled(template: &str, version: &str, size: u64) -> Result<String> {
    let control = template
        .replace("@VERSION@", version)
        .replace("@SIZE@", &size.to_string())
        .replace("@GLIBC@", GLIBC);
    // The one that is left is in the address of the maintainer.
    ensure!(control.matches('@').count() == 1, "open fields in the control file: {control}");
    ensure!(
        control.contains(&format!("Maintainer: {MAINTAINER}\n")),
        "another maintainer: {control}"
    );
    Ok(control)
}

/// Returns the installed size as Debian defines it: each file rounded up to KiB.
fn kibibytes(tree: &Path, files: &[PathBuf]) -> Result<u64> {
    files.iter().map(|file| Ok(fs::metadata(tree.join(file))?.len().div_ceil(1024))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pre_release_is_older_than_its_release() {
        assert_eq!(version("0.2.0"), "0.2.0-1");
        assert_eq!(version("0.2.0-rc.1"), "0.2.0~rc.1-1");
    }

    #[test]
    fn the_control_file_has_no_open_fields() {
        let template = include_str!("../../../packaging/debian/control");
        let control = filled(template, "1.2.3-1", 4567).unwrap();
        for line in ["Version: 1.2.3-1", "Installed-Size: 4567", "Depends: libc6 (>= 2.17)"] {
            assert!(control.lines().any(|other| other == line), "{line}: {control}");
        }
        assert!(filled(&format!("{template}X: @OPEN@\n"), "1", 1).is_err());
    }
}
