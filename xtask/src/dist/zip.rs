//! The zip file for Windows.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::papers::Papers;
use super::place::{Place, files_below, fix_modes, run, write};
use super::{VERSION, put};

/// Makes the zip file.
pub(super) fn make(place: &Place, program: &Path, papers: &Papers, out: &Path) -> Result<()> {
    let name = format!("warpint-{VERSION}");
    let stage = place.stage.join("windows");
    let tree = stage.join(&name);
    put(program, &tree.join("warpint.exe"), 0o755)?;
    for document in files_below(&papers.documents)? {
        // Windows opens files by the end of their names.
        let to = match document.extension() {
            Some(_) => document.clone(),
            None => document.with_extension("txt"),
        };
        text(&papers.documents.join(&document), &tree.join(to))?;
    }
    // The help of all commands as one page: Windows shows no man pages.
    text(&place.root.join("docs/reference/commands.md"), &tree.join("commands.md"))?;
    for page in files_below(&papers.man)? {
        put(&papers.man.join(&page), &tree.join("man").join(&page), 0o644)?;
    }
    text(&papers.completions.join("powershell"), &tree.join("completions/warpint.ps1"))?;
    for shell in ["bash", "fish", "zsh"] {
        let to = tree.join("completions").join(format!("warpint.{shell}"));
        put(&papers.completions.join(shell), &to, 0o644)?;
    }

    fix_modes(place, &stage)?;
    let files = files_below(&stage)?;
    for file in &files {
        let mut touch = place.command("touch");
        run(touch.args(["--date", &place.time_stamp()]).arg(stage.join(file)))?;
    }
    // zip adds files to an archive that is there.
    if out.exists() {
        fs::remove_file(out).with_context(|| format!("cannot remove {}", out.display()))?;
    }
    let mut zip = place.command("zip");
    run(zip.args(["-9", "-X", "--quiet"]).arg(out).args(&files).current_dir(&stage))
}

/// Copies a text with the line ends of Windows.
fn text(from: &Path, to: &Path) -> Result<()> {
    let text =
        fs::read_to_string(from).with_context(|| format!("cannot read {}", from.display()))?;
    write(to, with_windows_line_ends(&text).as_bytes(), 0o644)
}

fn with_windows_line_ends(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_ends_as_on_windows() {
        assert_eq!(with_windows_line_ends("a\nb\r\n\n"), "a\r\nb\r\n\r\n");
    }
}
