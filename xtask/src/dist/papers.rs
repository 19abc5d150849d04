//! What every package contains beside the program: man pages, completions, documents, licences.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::place::{Place, files_below, output_of, run, write};
use super::tools;

/// The folders of the papers.
pub(super) struct Papers {
    /// Documents and licences.
    pub(super) documents: PathBuf,
    /// The man pages, not compressed.
    pub(super) man: PathBuf,
    /// The completion scripts, by the name of their shell.
    pub(super) completions: PathBuf,
}

/// The documents of the checkout that go into packages.
const DOCUMENTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];

/// The name of the file with the licences of all crates in the program.
pub(super) const THIRD_PARTY: &str = "third-party.txt";

/// The licences that the program must not contain, see deny.toml.
const REFUSED: &str = "GNU";

/// Makes the papers. `program` is a program that runs on this machine.
pub(super) fn make(place: &Place, program: &Path) -> Result<Papers> {
    let folder = place.stage.join("papers");
    let papers = Papers {
        documents: folder.join("documents"),
        man: folder.join("man"),
        completions: folder.join("completions"),
    };
    for name in DOCUMENTS {
        let path = place.root.join(name);
        let text = fs::read_to_string(&path);
        let text = text.with_context(|| format!("cannot read {}", path.display()))?;
        write(&papers.documents.join(name), with_whole_links(&text).as_bytes(), 0o644)?;
    }
    third_party(place, "crates/cli/Cargo.toml", &papers.documents.join(THIRD_PARTY))?;
    output_of(place.command(program).arg("man").arg(&papers.man))?;
    for shell in ["bash", "fish", "powershell", "zsh"] {
        let script = output_of(place.command(program).args(["completions", shell]))?;
        write(&papers.completions.join(shell), script.as_bytes(), 0o644)?;
    }
    Ok(papers)
}

/// Where the files of this version are that packages do not contain.
const FILES: &str =
    concat!("https://github.com/warpint/warpint/blob/v", env!("CARGO_PKG_VERSION"), "/");

/// Returns a Markdown text whose links to files outside of the package lead to the repository.
fn with_whole_links(text: &str) -> String {
    let mut parts = text.split("](");
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let target = part.split([')', '#']).next().unwrap_or_default();
        let is_whole = target.is_empty() || target.contains(':') || DOCUMENTS.contains(&target);
        whole += "](";
        whole += if is_whole { "" } else { FILES };
        whole += part;
    }
    whole
}

/// Writes the licences of all crates that the package of a manifest contains.
pub(super) fn third_party(place: &Place, manifest: &str, path: &Path) -> Result<()> {
    let mut about = place.command("cargo");
    about.env("PATH", tools::path(place)?).args(["about", "generate", "--locked", "--fail"]);
    // Without the texts that could be fetched from the network, which may change.
    about.args(["--offline", "--manifest-path", manifest]);
    about.args(["--config", "packaging/about.toml", "packaging/third-party.hbs"]);
    run(about.arg("--output-file").arg(path))
        .context("packaging/about.toml says which licences are accepted")?;
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let refused = text.lines().find(|line| line.starts_with(REFUSED));
    ensure!(
        refused.is_none(),
        "{}: {} is not allowed",
        path.display(),
        refused.unwrap_or_default()
    );
    write(path, text.as_bytes(), 0o644)
}

impl Papers {
    /// Copies the man pages, compressed on request, and the completions of Unix shells to where they
    /// belong below `share`.
    pub(super) fn put_for_unix(&self, place: &Place, share: &Path, compressed: bool) -> Result<()> {
        for page in files_below(&self.man)? {
            let to = share.join("man/man1").join(&page);
            super::put(&self.man.join(&page), &to, 0o644)?;
            if compressed {
                compress(place, &to)?;
            }
        }
        // Debian and Fedora look for the completions of fish in this folder, and for those of zsh in
        // vendor-completions or site-functions.
        let site = if compressed { "zsh/vendor-completions" } else { "zsh/site-functions" };
        for (shell, to) in [
            ("bash", "bash-completion/completions/warpint".to_owned()),
            ("fish", "fish/vendor_completions.d/warpint.fish".to_owned()),
            ("zsh", format!("{site}/_warpint")),
        ] {
            super::put(&self.completions.join(shell), &share.join(to), 0o644)?;
        }
        Ok(())
    }
}

/// Replaces a file by its compressed form, whose name ends in `.gz`. The bytes depend on the contents
/// only.
pub(super) fn compress(place: &Place, path: &Path) -> Result<()> {
    run(place.command("gzip").args(["-9", "--no-name", "--force"]).arg(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_documents_lead_somewhere() {
        let text =
            "[a](docs/a.md#b) [c](CHANGELOG.md) [d](#e) [f](https://example.org/) ![g](h.svg) [i]";
        let expected = format!(
            "[a]({FILES}docs/a.md#b) [c](CHANGELOG.md) [d](#e) [f](https://example.org/) ![g]({FILES}h.svg) [i]"
        );
        assert_eq!(with_whole_links(text), expected);
    }
}
