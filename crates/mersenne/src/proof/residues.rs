//! The folder in which a test stores residues. The proof of the test is built from them.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use warpint_files::{ErrorKind, FileError, Folder};

use super::Subject;
use super::points::{LARGEST_POWER, Points};
use crate::Residue;

const MAGIC: &str = "warpint proof residue 1:";
const CHECKSUM: usize = 32;
const EXTENSION: &str = "residue";

/// The folder `root/M<p>/proof`, in which a PRP test of M_p stores the residues for its proof, with
/// one file for each residue. For a test of another number it is `root/<k>_<b>_<n>+1/proof-<test>`, where
/// the test is named by [`TestKind::slug`](crate::TestKind::slug).
///
/// A file `<iteration, ten digits>.residue` begins with the text line
/// `warpint proof residue 1: M<p> iteration <iteration> res64 <16 digits>`, with `<number> <test>` in
/// place of `M<p>` for other numbers. The ⌈bits/8⌉ little-endian
/// bytes of the residue follow, and then the SHA-256 of the line and the residue. `….tmp` is a file
/// that is being written, `….bad` a file that was found invalid.
///
/// Only the process that holds the lock of the exponent's directory
/// ([`crate::checkpoint::CheckpointStore`]) may use the folder.
#[derive(Debug, Clone)]
pub struct ResidueFolder {
    folder: Folder,
    subject: Subject,
}

/// The reason why a residue cannot be loaded from its file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResidueFileError {
    /// The file does not exist or cannot be read.
    #[error("cannot read the residue {}: {source}", path.display())]
    Unreadable {
        /// The path of the file.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
    /// The file is not a regular file, or its content is damaged.
    #[error("the residue {} is not sound: {reason}", path.display())]
    Unsound {
        /// The path of the file.
        path: PathBuf,
        /// The iteration in the file's name.
        iteration: u64,
        /// What is wrong with the file.
        reason: &'static str,
    },
}

impl ResidueFileError {
    /// Returns the kind of the error: the kind of the error of the file system, or
    /// [`ErrorKind::Io`] for damaged content.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Unreadable { source, .. } => source.into(),
            Self::Unsound { .. } => ErrorKind::Io,
        }
    }
}

impl ResidueFolder {
    /// Returns the folder of a test below `root`; an exponent p stands for the PRP test of M_p. Does not
    /// access the disk: the first [`ResidueFolder::keep`] creates the folder.
    #[must_use]
    pub fn new(root: &Path, subject: impl Into<Subject>) -> Self {
        let subject = subject.into();
        let folder = Folder::at(root).inside(subject.number().file_name());
        Self { folder: folder.inside(subject.folder()), subject }
    }

    /// Returns the path of the folder.
    #[must_use]
    pub fn dir(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the test.
    #[must_use]
    pub fn subject(&self) -> Subject {
        self.subject
    }

    /// Writes the residue at an iteration to a new file, syncs it and renames it. So an existing
    /// file is replaced whole or not at all. Creates the folder if it is missing. Cost: one pass of
    /// SHA-256 over p/8 bytes, and writing them to disk.
    ///
    /// # Errors
    /// Returns errors of the file system, and `InvalidInput` for a residue modulo another number.
    pub fn keep(&self, iteration: u64, residue: &Residue) -> io::Result<()> {
        let (found, number) = (residue.number(), self.subject.number());
        if found != number {
            let what = format!("a residue mod {found} for {number}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        let (header, bytes) = (self.header(iteration, residue), residue.to_le_bytes());
        let checksum =
            Sha256::new().chain_update(header.as_bytes()).chain_update(&bytes).finalize();
        Ok(self.folder.replace(name(iteration), &[header.as_bytes(), &bytes, &checksum])?)
    }

    /// Reads the residue at an iteration. Every part of the file is checked before it is used. A
    /// longer file than any of this test is not read.
    pub fn load(&self, iteration: u64) -> Result<Residue, ResidueFileError> {
        let path = self.path(iteration);
        let unsound = |reason| ResidueFileError::Unsound { path: path.clone(), iteration, reason };
        let content = match self.folder.read(name(iteration), self.largest_file()) {
            Err(FileError::NotAFile { .. }) => return Err(unsound("it is not a regular file")),
            Err(FileError::TooLarge { .. }) => return Err(unsound("it is too long")),
            content => content.map_err(|e| {
                let (path, source) = (path.clone(), e.into());
                ResidueFileError::Unreadable { path, source }
            })?,
        };
        let size = Residue::byte_len(self.subject.number());
        let header_size =
            content.len().checked_sub(size + CHECKSUM).ok_or_else(|| unsound("it is cut short"))?;
        let (header, rest) = content.split_at(header_size);
        let (bytes, checksum) = rest.split_at(size);
        if Sha256::new().chain_update(header).chain_update(bytes).finalize()[..] != *checksum {
            return Err(unsound("its checksum does not match: some byte has changed"));
        }
        let residue = Residue::from_le_bytes(self.subject.number(), bytes)
            .map_err(|_| unsound("its number is not below the modulus"))?;
        if header != self.header(iteration, &residue).as_bytes() {
            return Err(unsound("its first line is that of another residue or version"));
        }
        Ok(residue)
    }

    /// Returns whether a file of the right size exists for the residue at `iteration`. Cost: one
    /// query to the file system.
    #[must_use]
    pub fn has(&self, iteration: u64) -> bool {
        let number = self.subject.number();
        let body = (Residue::byte_len(number) + CHECKSUM) as u64;
        // The length of the header does not depend on the res64.
        let header = self.header(iteration, &Residue::from_u64(number, 0)).len() as u64;
        self.folder.size(name(iteration)).is_ok_and(|size| size == Some(body + header))
    }

    /// Returns the largest power, at most `most`, for which all points of the proof up to iteration
    /// `reached` have a file ([`ResidueFolder::has`]). For M_p the last point, p, needs no file. Returns
    /// 0 if no power has all these files.
    #[must_use]
    pub fn largest_complete_power(&self, most: u32, reached: u64) -> u32 {
        let complete = |power: &u32| {
            let points = Points::new(self.subject.iterations(), *power);
            points.is_some_and(|points| {
                let stored = points.iter().filter(|&k| self.subject.stores(k));
                stored.take_while(|&k| k <= reached).all(|k| self.has(k))
            })
        };
        (1..=most.min(LARGEST_POWER)).rev().find(complete).unwrap_or(0)
    }

    /// Removes the residues at iterations after `iteration`, because a failed check has shown that
    /// some of them may be wrong.
    pub fn forget_after(&self, iteration: u64) -> io::Result<()> {
        self.remove(|found| found > iteration)
    }

    /// Removes the residues at all iterations that are not in `points`. A proof built from these
    /// points does not need them.
    pub fn forget_all_but(&self, points: &Points) -> io::Result<()> {
        self.remove(|found| !points.contains(found))
    }

    /// Removes all residues. Also removes the folder if it is then empty. Call this only when the
    /// proof is stored elsewhere.
    pub fn remove_all(&self) -> io::Result<()> {
        self.remove(|_| true)?;
        // The folder stays if it contains anything else.
        let _ = std::fs::remove_dir(self.dir());
        Ok(())
    }

    /// Renames the file of an invalid residue to `….bad` and returns its new path. If renaming
    /// fails, returns the old path.
    pub fn set_aside(&self, iteration: u64) -> PathBuf {
        let (name, bad) = (name(iteration), format!("{iteration:010}.bad"));
        let renamed = self.folder.rename(&name, &bad);
        self.folder.file(if renamed.is_ok() { bad } else { name })
    }

    /// Removes the residues at iterations for which `unwanted` returns true, and all incomplete
    /// files. Continues after an error, and returns the first error.
    fn remove(&self, unwanted: impl Fn(u64) -> bool) -> io::Result<()> {
        let mut removed = Ok(());
        for entry in self.folder.list()? {
            let residue = extension(&entry.name) == Some(EXTENSION);
            let unfinished = extension(&entry.name) == Some("tmp");
            let ours = unfinished || residue && iteration_of(&entry.name).is_some_and(&unwanted);
            if ours && !entry.is_folder {
                removed = removed.and(self.folder.remove(entry.name));
            }
        }
        Ok(removed?)
    }

    fn path(&self, iteration: u64) -> PathBuf {
        self.folder.file(name(iteration))
    }

    fn header(&self, iteration: u64, residue: &Residue) -> String {
        let (number, res64) = (self.subject.number(), residue.res64_hex());
        let test = match self.subject.is_of_mersenne() {
            true => String::new(),
            false => format!(" {}", self.subject.kind().slug()),
        };
        format!("{MAGIC} {number}{test} iteration {iteration} res64 {res64}\n")
    }

    fn largest_file(&self) -> u64 {
        super::points::file_bytes(self.subject)
    }
}

fn name(iteration: u64) -> String {
    format!("{iteration:010}.{EXTENSION}")
}

fn extension(name: &OsStr) -> Option<&str> {
    Path::new(name).extension()?.to_str()
}

/// Parses the iteration in the name of a file, which is the part before the extension. Returns
/// `None` if this part does not consist of ten digits. The extension is not checked.
fn iteration_of(name: &OsStr) -> Option<u64> {
    let digits = Path::new(name).file_stem()?.to_str()?;
    let ten_digits = digits.len() == 10 && digits.bytes().all(|b| b.is_ascii_digit());
    digits.parse().ok().filter(|_| ten_digits)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::super::points::disk_bytes;
    use super::*;
    use crate::TestKind;

    const P: u32 = 127;

    fn x(k: u64) -> Residue {
        Residue::from_limbs(P, &[k.wrapping_mul(0x9e37_79b9_7f4a_7c15), k])
    }

    fn reason(result: Result<Residue, ResidueFileError>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn what_is_kept_is_what_is_loaded() {
        let root = tempfile::tempdir().unwrap();
        let folder = ResidueFolder::new(root.path(), P);
        assert!(!folder.has(57) && reason(folder.load(57)).starts_with("cannot read"));
        folder.forget_after(0).unwrap();
        folder.keep(57, &x(57)).unwrap();
        assert!(folder.has(57) && !folder.has(58));
        assert_eq!(folder.load(57).unwrap(), x(57));
        folder.keep(57, &x(58)).unwrap();
        assert_eq!(folder.load(57).unwrap(), x(58));
        let file = root.path().join("M127/proof/0000000057.residue");
        let content = fs::read(file).unwrap();
        let first = b"warpint proof residue 1: M127 iteration 57 res64 ";
        assert!(content.starts_with(first), "{content:?}");
        assert!(folder.keep(5, &Residue::from_u64(89u32, 3)).is_err());
    }

    #[test]
    fn a_file_takes_no_more_than_the_disk_was_reckoned_with() {
        let p = 2_147_483_647;
        let folder = ResidueFolder::new(Path::new("nowhere"), p);
        // The largest numbers in the header; the residue may be any.
        let header = folder.header(u64::from(p) - 1, &Residue::from_u64(P, 3)).len();
        assert!(header + CHECKSUM <= 128, "{header}");
        assert_eq!(folder.largest_file(), disk_bytes(p, 1));
        // The longest name of a number and of a test.
        let number = "9223372036854775807*4294967290^67000000+1".parse().unwrap();
        let kind = |base| TestKind::Pocklington { base, open: 4_294_967_290 };
        let subject = (1..1 << 16).rev().find_map(|base| Subject::new(kind(base), number)).unwrap();
        let folder = ResidueFolder::new(Path::new("nowhere"), subject);
        let header = folder.header(subject.iterations().into(), &Residue::from_u64(P, 3)).len();
        assert!(header + CHECKSUM <= 256, "{header}");
        assert_eq!(2 * folder.largest_file(), disk_bytes(subject, 1));
    }

    #[test]
    fn every_flipped_bit_and_every_truncation_is_found() {
        let root = tempfile::tempdir().unwrap();
        let folder = ResidueFolder::new(root.path(), P);
        folder.keep(57, &x(57)).unwrap();
        let path = folder.path(57);
        let good = fs::read(&path).unwrap();
        for bit in 0..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            fs::write(&path, bad).unwrap();
            assert!(reason(folder.load(57)).contains("not sound"), "bit {bit}");
        }
        for length in 0..good.len() {
            fs::write(&path, &good[..length]).unwrap();
            assert!(!folder.has(57) && folder.load(57).is_err(), "{length} bytes");
        }
        fs::write(&path, [&good[..], &[0]].concat()).unwrap();
        assert!(!folder.has(57) && folder.load(57).is_err());
        // A sound file under another name, and one of another exponent.
        fs::write(folder.path(58), &good).unwrap();
        assert!(reason(folder.load(58)).contains("another residue"));
        let other = ResidueFolder::new(root.path(), 125);
        fs::create_dir_all(other.dir()).unwrap();
        fs::write(other.path(57), &good).unwrap();
        assert!(other.load(57).is_err());
    }

    #[test]
    fn an_endless_file_is_not_read_to_its_end() {
        let root = tempfile::tempdir().unwrap();
        let folder = ResidueFolder::new(root.path(), P);
        fs::create_dir_all(folder.dir()).unwrap();
        File::create(folder.path(57)).unwrap().set_len(1 << 40).unwrap();
        assert!(reason(folder.load(57)).contains("not sound"));
        fs::create_dir(folder.path(58)).unwrap();
        assert!(!folder.has(58) && folder.load(58).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_in_place_of_a_residue_is_neither_followed_nor_waited_for() {
        let root = tempfile::tempdir().unwrap();
        let folder = ResidueFolder::new(root.path(), P);
        folder.keep(57, &x(57)).unwrap();
        let outside = root.path().join("outside");
        fs::rename(folder.path(57), &outside).unwrap();
        let sound = fs::read(&outside).unwrap();
        for what in ["link", "fifo"] {
            let put = || match what {
                "link" => std::os::unix::fs::symlink("../../outside", folder.path(57)).unwrap(),
                _ => {
                    let made = std::process::Command::new("mkfifo").arg(folder.path(57)).status();
                    assert!(made.unwrap().success());
                }
            };
            put();
            assert!(!folder.has(57));
            assert!(reason(folder.load(57)).contains("it is not a regular file"));
            assert!(folder.set_aside(57).ends_with("0000000057.bad") && !folder.path(57).exists());
            put();
            folder.keep(57, &x(58)).unwrap();
            assert_eq!(folder.load(57).unwrap(), x(58));
            folder.remove_all().unwrap();
            put();
            folder.remove_all().unwrap();
            assert!(fs::symlink_metadata(folder.path(57)).is_err());
        }
        assert_eq!(fs::read(outside).unwrap(), sound);
    }

    #[test]
    fn a_residue_is_on_disk_before_its_name_and_a_vanished_folder_is_made_again() {
        let root = tempfile::tempdir().unwrap();
        let steps = std::sync::Arc::new(warpint_files::testing::Recorder::default());
        let mut folder = ResidueFolder::new(&root.path().join("work"), P);
        folder.folder = folder.folder.with_disk(steps.clone());
        folder.keep(57, &x(57)).unwrap();
        let whole = "0000000057.residue";
        let expected = [format!("sync {whole}"), format!("rename {whole}")];
        assert_eq!(steps.take()[6..8], expected);
        fs::remove_dir_all(root.path().join("work")).unwrap();
        assert!(!folder.has(57) && folder.largest_complete_power(8, 127) == 0);
        folder.keep(58, &x(58)).unwrap();
        assert_eq!(folder.load(58).unwrap(), x(58));
    }

    #[test]
    fn only_residues_after_an_iteration_are_forgotten() {
        let root = tempfile::tempdir().unwrap();
        let folder = ResidueFolder::new(root.path(), P);
        for k in [10, 20, 30] {
            folder.keep(k, &x(k)).unwrap();
        }
        let foreign = folder.dir().join("notes.txt");
        fs::write(&foreign, "mine").unwrap();
        fs::write(folder.dir().join("0000000040.tmp"), "half").unwrap();
        folder.forget_after(20).unwrap();
        assert_eq!([10, 20, 30].map(|k| folder.has(k)), [true, true, false]);
        let bad = folder.set_aside(20);
        assert!(bad.ends_with("0000000020.bad") && bad.is_file() && !folder.has(20));
        folder.remove_all().unwrap();
        assert!(!folder.has(10) && foreign.is_file() && bad.is_file());
        fs::remove_file(bad).unwrap();
        fs::remove_file(foreign).unwrap();
        folder.remove_all().unwrap();
        assert!(!folder.dir().exists());
    }

    #[test]
    fn residues_of_higher_powers_alone_are_forgotten() {
        let root = tempfile::tempdir().unwrap();
        let folder = ResidueFolder::new(root.path(), P);
        let points = |power| Points::new(P, power).unwrap();
        for k in points(3).iter() {
            folder.keep(k, &x(k)).unwrap();
        }
        // A file that cannot be removed does not stop the removal of others.
        fs::create_dir(folder.path(1)).unwrap();
        folder.forget_all_but(&points(2)).unwrap();
        let left: Vec<u64> = points(3).iter().filter(|&k| folder.has(k)).collect();
        assert_eq!(left, points(2).iter().collect::<Vec<_>>());
        folder.remove_all().unwrap();
        assert!(!folder.has(u64::from(P)) && folder.path(1).is_dir());
    }

    #[test]
    fn missing_residues_lead_to_a_lower_power() {
        let root = tempfile::tempdir().unwrap();
        let folder = ResidueFolder::new(root.path(), P);
        let points = |power| Points::new(P, power).unwrap();
        let end = u64::from(P);
        for k in points(3).iter().filter(|&k| k < end) {
            folder.keep(k, &x(k)).unwrap();
        }
        assert_eq!(folder.largest_complete_power(8, end), 3);
        assert_eq!(folder.largest_complete_power(2, end), 2);
        let mut first_gap = None;
        // A point of power 3 only, a point of powers 2 and 3, and the point that all powers share.
        for (power, left) in [(3, 2), (2, 1), (1, 0)] {
            let fewer = |k| power > 1 && points(power - 1).contains(k);
            let k = points(power).iter().find(|&k| !fewer(k)).unwrap();
            folder.set_aside(k);
            assert_eq!(folder.largest_complete_power(8, end), left);
            // If a test has not reached the first missing point, its residues are still complete.
            assert_eq!(folder.largest_complete_power(3, first_gap.unwrap_or(k) - 1), 3);
            first_gap = first_gap.or(Some(k));
        }
    }
}
