//! The state file `OUT.partial.json`, which records the progress of a job. It is next to
//! `OUT.partial`, which contains the results so far. The same command resumes the job from these
//! two files.
//!
//! The content of the state file is the line `{"sha256":"<64 hexadecimal digits>","state":{…}}`,
//! which ends in LF. The digest is the SHA-256 of the text of the state, exactly as it is in the
//! file.
//!
//! The state file is replaced by renaming, after the results that it describes are on disk. So it
//! is either correct or absent at any time. It is created before `OUT.partial`, so an `OUT.partial`
//! without a state file was not created by this program.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use warpint_files::{WholeFile, sha256};

use crate::partial::{Mark, Partial, is_there, partial_path};
use crate::words::count;
use crate::{BatchError, Tally};

/// The version of the state file. It changes when the format of the file changes, or when the
/// results that a command writes change.
const VERSION: u32 = 1;

/// The identity of a job. Two jobs with equal identities write the same bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    /// The operation, the paths of its operands, and the options that determine what is written or
    /// how it is checked. The device, the number of threads and the size of pieces are not
    /// included.
    pub(crate) command: Vec<String>,
    /// The name of each operand, and a text that changes if its content changes. The text contains
    /// the size and modification time of a file, or the SHA-256 of the data of a pipe. Only the
    /// texts are compared, not the names.
    pub(crate) inputs: Vec<(String, String)>,
    /// The count of results.
    pub(crate) count: u64,
}

impl Identity {
    /// Splits the command into the operation with its operands, and the options.
    fn parts(&self) -> (&[String], &[String]) {
        let begin = self.command.iter().position(|word| word.starts_with("--"));
        self.command.split_at(begin.unwrap_or(self.command.len()))
    }

    /// Describes this job in contrast to the job `new`. The result is, for example,
    /// `another command (mul a.txt 3)`. If only the options differ, it is, for example,
    /// `the same command with --check 7 and without --strict`.
    fn other_than(&self, new: &Self) -> String {
        let ((command, options), (new_command, new_options)) = (self.parts(), new.parts());
        if command != new_command {
            return format!("another command ({})", self.command.join(" "));
        }
        let name = |option: &str| option.split(' ').next().unwrap_or_default().to_owned();
        let with = options.iter().filter(|option| !new_options.contains(option));
        let without = new_options.iter().map(|option| name(option));
        let without = without.filter(|new| options.iter().all(|option| name(option) != *new));
        let differences: Vec<String> = with
            .map(|option| format!("with {option}"))
            .chain(without.map(|name| format!("without {name}")))
            .collect();
        format!("the same command {}", differences.join(" and "))
    }
}

/// The content of a job's state file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct State {
    version: u32,
    job: Identity,
    /// The totals after the last piece whose results are completely written to all files of
    /// results.
    pub(crate) tally: Tally,
    /// The seed for the random choice of the results to check. `None` if no results are chosen.
    pub(crate) seed: Option<u64>,
    /// The names of the files of results, without their directories.
    names: Vec<String>,
    files: Vec<Mark>,
}

impl State {
    /// Creates the state of a job. `names` are the paths of its files of results. `files` describe
    /// the contents of these files, in the same order.
    pub(crate) fn new(
        job: &Identity,
        tally: Tally,
        seed: Option<u64>,
        names: &[PathBuf],
        files: Vec<Mark>,
    ) -> Self {
        let names = names.iter().map(|path| name_of(path)).collect();
        Self { version: VERSION, job: job.clone(), tally, seed, names, files }
    }

    /// Returns whether one of the job's files of results has the same name as `path`. Directories
    /// are not compared.
    pub(crate) fn names(&self, path: &Path) -> bool {
        self.names.contains(&name_of(path))
    }

    /// Truncates each file after the results that this state describes, so that writing continues
    /// there. Returns `false` if a file does not begin with these results.
    pub(crate) fn go_on(&self, partials: &mut [Partial]) -> Result<bool, BatchError> {
        if partials.len() != self.files.len() {
            return Ok(false);
        }
        for (partial, mark) in partials.iter_mut().zip(&self.files) {
            if !partial.go_on(*mark)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the progress as text, for example `3000 of 10000 numbers`.
    pub(crate) fn says(&self) -> String {
        format!("{} of {}", self.tally.done, count(self.job.count, "number"))
    }

    /// Compares this state with the job that is about to run. Returns `None` if the job can
    /// continue after the results that the state describes. Returns a reason if these results are
    /// useless because an operand has changed. `state` is the path of the state file, for messages.
    ///
    /// # Errors
    /// Returns an error if the results belong to another command, because that command can still be
    /// resumed.
    pub(crate) fn differs(
        &self,
        job: &Identity,
        state: &Path,
    ) -> Result<Option<String>, BatchError> {
        if self.job.command != job.command {
            let other = self.job.other_than(job);
            return Err(BatchError::Request(format!(
                "{} holds {} of {other}: run that one to its end, or give --restart to discard them",
                state.display(),
                self.says(),
            )));
        }
        let changed = self.job.inputs.iter().zip(&job.inputs).find(|(old, new)| old.1 != new.1);
        Ok(match changed {
            Some((_, (name, _))) => Some(format!("{name} has changed")),
            None if self.job.count != job.count => Some("the operands have changed".into()),
            None => None,
        })
    }
}

/// The path of a job's state file.
pub(crate) struct StateFile(PathBuf);

impl StateFile {
    /// Returns the path of the state file of the output `out`.
    pub(crate) fn of(out: &WholeFile) -> Self {
        Self(with_end(&partial_path(out), ".json"))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Reads the state. Returns `None` if the file does not exist.
    pub(crate) fn read(&self) -> Result<Option<State>, BatchError> {
        if !is_there(&self.0)? {
            return Ok(None);
        }
        let refused = |reason: &dyn std::fmt::Display| {
            let path = self.0.display();
            BatchError::Request(format!(
                "{path} is not the state of an unfinished batch ({reason}): move it away"
            ))
        };
        const MOST: u64 = 1 << 24;
        let mut text = String::new();
        let file = File::open(&self.0);
        file.and_then(|file| file.take(MOST).read_to_string(&mut text)).map_err(|e| refused(&e))?;
        let (digest, state) = text
            .strip_prefix("{\"sha256\":\"")
            .and_then(|text| text.strip_suffix("}\n")?.split_once("\",\"state\":"))
            .ok_or_else(|| refused(&"it is truncated or of another form"))?;
        if digest != sha256(state) {
            return Err(refused(&"its checksum does not match"));
        }
        let state: State = serde_json::from_str(state).map_err(|_| refused(&"another version"))?;
        if state.version == VERSION { Ok(Some(state)) } else { Err(refused(&"another version")) }
    }

    /// Replaces the file by a file that contains `state`. When the call returns, the new file is on
    /// disk.
    pub(crate) fn write(&self, state: &State) -> io::Result<()> {
        let state = serde_json::to_string(state)?;
        let text = format!("{{\"sha256\":\"{}\",\"state\":{state}}}\n", sha256(&state));
        let new = with_end(&self.0, ".new");
        // An old one may be a link.
        drop(fs::remove_file(&new));
        let written = File::create_new(&new).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&new, &self.0)
        });
        if written.is_err() {
            // A partial file is useless.
            drop(fs::remove_file(&new));
        }
        written.map(|()| sync_folder(&self.0))
    }

    pub(crate) fn remove(&self) {
        drop(fs::remove_file(&self.0));
    }
}

/// Flushes the names in the directory of `path` to disk, so that a renaming is permanent. Errors
/// are ignored, because not every file system supports this.
pub(crate) fn sync_folder(path: &Path) {
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    drop(File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all()));
}

/// Returns the last component of a path. It identifies a file even if the directory is reached by
/// different paths.
fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(end);
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job() -> Identity {
        Identity {
            command: vec!["mul".into(), "/a.txt".into(), "7".into()],
            inputs: vec![("a.txt".into(), "9 bytes".into()), ("7".into(), String::new())],
            count: 10,
        }
    }

    #[test]
    fn a_state_is_read_as_it_was_written_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let out = WholeFile::new(&dir.path().join("r.txt")).unwrap();
        let file = StateFile::of(&out);
        assert!(file.read().unwrap().is_none());
        let tally = Tally { done: 3, ..Tally::default() };
        let (names, marks) = ([partial_path(&out)], vec![Mark { bytes: 7, crc32: 9 }]);
        file.write(&State::new(&job(), tally, Some(5), &names, marks)).unwrap();
        let state = file.read().unwrap().unwrap();
        assert!(state.names(&names[0]) && !state.names(file.path()));
        assert_eq!(
            (state.tally.done, state.seed, state.says().as_str()),
            (3, Some(5), "3 of 10 numbers")
        );
        assert_eq!(state.files, [Mark { bytes: 7, crc32: 9 }]);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        let sound = fs::read(file.path()).unwrap();
        for i in 0..sound.len() {
            let mut changed = sound.clone();
            changed[i] ^= 1;
            for damaged in [&changed[..], &sound[..i]] {
                fs::write(file.path(), damaged).unwrap();
                let says = file.read().unwrap_err().to_string();
                assert!(
                    says.contains("r.txt.partial.json is not the state of an unfinished batch (")
                );
            }
        }
        file.remove();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn options_that_differ_are_named() {
        let with = |options: &[&str]| {
            let mut job = job();
            job.command.extend(options.iter().map(|&option| option.to_owned()));
            job
        };
        for (old, new, says) in [
            (&["--check 7"][..], &["--check 5"][..], "with --check 7"),
            (&["--check 7"], &[], "with --check 7"),
            (&[], &["--check 5"], "without --check"),
            (
                &["--bits 64", "--check 7", "--strict"],
                &["--check 7"],
                "with --bits 64 and with --strict",
            ),
            (&["--check 7"], &["--check 8", "--seed 5"], "with --check 7 and without --seed"),
            (
                &["--out-format hex"],
                &["--format hex"],
                "with --out-format hex and without --format",
            ),
        ] {
            let state = State::new(&with(old), Tally::default(), None, &[], vec![]);
            let error = state.differs(&with(new), Path::new("s")).unwrap_err().to_string();
            let expected = format!(
                "s holds 0 of 10 numbers of the same command {says}: run that one to its end, or give \
                 --restart to discard them"
            );
            assert_eq!(error, expected);
        }
    }

    #[test]
    fn jobs_are_the_same_or_it_is_said_why_not() {
        let (state, path) =
            (State::new(&job(), Tally::default(), None, &[], vec![]), Path::new("s"));
        assert_eq!(state.differs(&job(), path).unwrap(), None);
        let mut other = job();
        other.inputs[0].0 = "./a.txt".into();
        assert_eq!(state.differs(&other, path).unwrap(), None);
        other.inputs[0].0 = "a.txt".into();
        other.inputs[0].1 = "10 bytes".into();
        assert_eq!(state.differs(&other, path).unwrap().as_deref(), Some("a.txt has changed"));
        other.command[2] = "8".into();
        let says = state.differs(&other, path).unwrap_err().to_string();
        assert!(says.starts_with("s holds 0 of 10 numbers of another command (mul /a.txt 7): run"));
    }
}
