//! Where `dist` works: folders, the time of the commit, and the commands that it runs.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

/// The folders and the time of a run.
pub(super) struct Place {
    /// The root of the checkout.
    pub(super) root: PathBuf,
    /// The folder for the packages.
    pub(super) output: PathBuf,
    /// The folder in which the contents of the packages are put together.
    pub(super) stage: PathBuf,
    /// The time stamp of all files, in seconds since 1970: `SOURCE_DATE_EPOCH`, by default the time
    /// of the commit.
    pub(super) time: u64,
}

impl Place {
    /// Finds the checkout, and makes the output folder.
    pub(super) fn find(output: &Path) -> Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
        fs::create_dir_all(output)
            .with_context(|| format!("cannot make the folder {}", output.display()))?;
        let output = output.canonicalize()?;
        let stage = root.join("target/dist-stage");
        let time = match std::env::var("SOURCE_DATE_EPOCH") {
            Ok(time) => time,
            Err(_) => output_of(Command::new("git").current_dir(&root).args([
                "show",
                "-s",
                "--format=%ct",
                "HEAD",
            ]))
            .context("outside a git checkout, set SOURCE_DATE_EPOCH to the time of the source")?,
        };
        let time = time.trim().parse().with_context(|| {
            format!("SOURCE_DATE_EPOCH: '{}' is not a number of seconds", time.trim())
        })?;
        Ok(Self { root, output, stage, time })
    }

    /// Removes what an earlier run has put together.
    pub(super) fn empty_stage(&self) -> Result<()> {
        if self.stage.exists() {
            fs::remove_dir_all(&self.stage)
                .with_context(|| format!("cannot remove {}", self.stage.display()))?;
        }
        folder(&self.stage)
    }

    /// Returns a command whose environment makes its output reproducible.
    pub(super) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(&self.root)
            .env("SOURCE_DATE_EPOCH", self.time.to_string())
            .env("TZ", "UTC")
            .env("LC_ALL", "C.UTF-8")
            // dpkg-deb: the number of threads must not change the compressed bytes.
            .env("DPKG_DEB_THREADS_MAX", "1");
        command
    }

    /// Returns the time stamp as the option of `tar`, `touch` and `date` expects it.
    pub(super) fn time_stamp(&self) -> String {
        format!("@{}", self.time)
    }
}

/// Runs a command. Its output goes to the terminal.
pub(super) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot run {}", line(command)))?;
    ensure!(status.success(), "{} ended with {status}", line(command));
    Ok(())
}

/// Runs a command, and returns its standard output.
pub(super) fn output_of(command: &mut Command) -> Result<String> {
    let run = command.stderr(Stdio::inherit()).output();
    let run = run.with_context(|| format!("cannot run {}", line(command)))?;
    ensure!(run.status.success(), "{} ended with {}", line(command), run.status);
    String::from_utf8(run.stdout).with_context(|| format!("output of {}", line(command)))
}

fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

/// Makes a folder and its missing parents.
pub(super) fn folder(path: &Path) -> Result<()> {
    fs::create_dir_all(path).with_context(|| format!("cannot make the folder {}", path.display()))
}

/// Gives all files and folders below a folder the modes of packages, whatever the umask is.
pub(super) fn fix_modes(place: &Place, folder: &Path) -> Result<()> {
    run(place.command("chmod").args(["-R", "u=rwX,go=rX"]).arg(folder))
}

/// Writes a file with its mode. Missing folders are made.
pub(super) fn write(path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    if let Some(parent) = path.parent() {
        folder(parent)?;
    }
    fs::write(path, bytes)
        .and_then(|()| fs::set_permissions(path, fs::Permissions::from_mode(mode)))
        .with_context(|| format!("cannot write {}", path.display()))
}

/// Returns all files below a folder, as paths relative to it, sorted by their bytes.
pub(super) fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    fn collect(folder: &Path, all: &mut Vec<PathBuf>) -> Result<()> {
        let entries = fs::read_dir(folder);
        for entry in entries.with_context(|| format!("cannot list {}", folder.display()))? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                collect(&entry.path(), all)?;
            } else {
                all.push(entry.path());
            }
        }
        Ok(())
    }
    let mut all = vec![];
    collect(folder, &mut all)?;
    let below = |path: PathBuf| Ok(path.strip_prefix(folder)?.to_owned());
    let mut all: Vec<PathBuf> = all.into_iter().map(below).collect::<Result<_>>()?;
    all.sort_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_sorted_by_their_bytes_and_have_their_modes() {
        let dir = tempfile::tempdir().unwrap();
        for (name, mode) in [("b/x", 0o644), ("B", 0o755), ("b-x", 0o644), ("a", 0o600)] {
            write(&dir.path().join(name), b"", mode).unwrap();
            let found = fs::metadata(dir.path().join(name)).unwrap().permissions().mode();
            assert_eq!(found & 0o777, mode, "{name}");
        }
        let names = ["B", "a", "b-x", "b/x"].map(PathBuf::from);
        assert_eq!(files_below(dir.path()).unwrap(), names);
    }

    #[test]
    fn a_command_that_fails_is_named_with_its_arguments() {
        let error = output_of(Command::new("sh").args(["-c", "exit 3"])).unwrap_err();
        assert!(error.to_string().starts_with("sh -c exit 3 ended with "), "{error}");
        let error = run(&mut Command::new("/no/such/program")).unwrap_err();
        assert_eq!(error.to_string(), "cannot run /no/such/program");
    }
}
