//! The tarball for Linux. Its tree is that of a prefix such as `/usr/local` or `~/.local`.

use std::path::Path;

use anyhow::Result;

use super::papers::Papers;
use super::place::{Place, files_below, fix_modes, run};
use super::{VERSION, put};

/// Makes the tarball.
pub(super) fn make(place: &Place, program: &Path, papers: &Papers, out: &Path) -> Result<()> {
    let name = format!("warpint-{VERSION}");
    let stage = place.stage.join("tarball");
    let tree = stage.join(&name);
    put(program, &tree.join("bin/warpint"), 0o755)?;
    papers.put_for_unix(place, &tree.join("share"), false)?;
    for document in files_below(&papers.documents)? {
        let to = tree.join("share/doc/warpint").join(&document);
        put(&papers.documents.join(&document), &to, 0o644)?;
    }
    for unit in ["warpint-work.service", "warpint-work@.service"] {
        let to = tree.join("share/doc/warpint/systemd").join(unit);
        put(&place.root.join("packaging/systemd").join(unit), &to, 0o644)?;
    }
    fix_modes(place, &stage)?;
    let mut tar = place.command("tar");
    tar.args(["--create", "--format=ustar", "--sort=name", "--owner=0", "--group=0"]);
    tar.args(["--numeric-owner", &format!("--mtime={}", place.time_stamp())]);
    tar.args(["--use-compress-program=gzip -9 --no-name", "--file"]);
    run(tar.arg(out).arg("--directory").arg(&stage).arg(&name))
}
