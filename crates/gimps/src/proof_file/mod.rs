//! Proof files, which consist of a header in text lines and residues: PRP proofs of 2^p − 1 in version 2 of
//! GIMPS, and proofs of tests of other numbers in a format of this program.
//!
//! Sources of the first: GpuOwl's wiki, *PRP Proof File Spec*, and the files that GpuOwl and Prime95 read and
//! write.

mod header;

use std::fs::{self, File};
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

use md5::{Digest, Md5};
use warpint_files::{ErrorKind, FileError, Folder, given};

pub use header::ProofFormatError;
use header::{
    Header, LIMIT, MOST_HEADER, MOST_POWER, TOO_LONG, header, is_number, is_test, most_bits,
    most_bytes,
};

/// The test that a proof file is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProofTest {
    /// The PRP test of M_p = 2^p − 1, or of a cofactor.
    Mersenne {
        /// The exponent p.
        exponent: u32,
        /// The known factors in decimal digits; empty for a test of M_p.
        factors: Vec<String>,
    },
    /// A test of another number.
    Number {
        /// The name of the test, such as `proth-3`.
        test: String,
        /// The number, such as `7*2^2256+1`.
        number: String,
    },
}

/// A proof in the form of a file.
///
/// **2^p − 1 and its cofactors.** The header consists of the lines `PRP PROOF`, `VERSION=2`, `HASHSIZE=64`,
/// `POWER=n` and `NUMBER=M<p>`. For a proof of a cofactor, the last line continues with `/f` for each known
/// factor f. Each line ends in a newline.
///
/// The header is followed by n + 1 residues of ⌈p/8⌉ little-endian bytes each. The first is the
/// final residue of the test. The n others are the residues of the proof, called middles.
///
/// **Other numbers.** The header consists of the lines `WARPINT PROOF`, `VERSION=1`, `HASHSIZE=64`,
/// `POWER=n`, `TEST=<name>` and `NUMBER=<number>`. It is followed by n + 1 residues of equal size, at most
/// 2^28 bytes: the last residue of the proof, and the middles.
///
/// Only the form is checked, not the values of the residues and factors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProofFile {
    test: ProofTest,
    residues: Vec<Vec<u8>>,
}

/// The reason why a proof file cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProofFileError {
    /// The path does not lead to a regular file.
    #[error("cannot read the proof file {}: {what}", path.display())]
    NotAFile {
        /// The path that was given.
        path: PathBuf,
        /// The reason in words, for example that the file does not exist or is a directory.
        what: &'static str,
    },
    /// The content of the file is not a proof.
    #[error("{} is not a proof file: {source}", path.display())]
    Format {
        /// The path of the file.
        path: PathBuf,
        /// The reason why the content is not a proof.
        source: ProofFormatError,
    },
    /// The file cannot be read.
    #[error("cannot read the proof file {}: {source}", path.display())]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
    /// The file cannot be created, written or flushed to disk.
    #[error("cannot write the proof file {}: {source}", path.display())]
    Write {
        /// The path of the file.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
    /// The path given as the folder for proofs leads to an object that is not a folder. The object
    /// is not changed.
    #[error("{} is not a folder, but a proof needs one there: move it away, then run the same command again", path.display())]
    NotAFolder {
        /// The path that was given.
        path: PathBuf,
    },
    /// A file with the name of the proof exists, but is different from the proof. It is not
    /// changed.
    #[error("a different file {} already exists: move it away, then run the same command again", path.display())]
    Exists {
        /// The path of the file.
        path: PathBuf,
    },
}

impl ProofFileError {
    /// Returns the kind of the error, by which a program chooses an exit code.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NotAFile { .. }
            | Self::Format { .. }
            | Self::NotAFolder { .. }
            | Self::Exists { .. } => ErrorKind::BadInput,
            Self::Read { source, .. } | Self::Write { source, .. } => source.into(),
        }
    }
}

/// The path and the MD5 hash of a proof file on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedProof {
    /// The path of the file.
    pub path: PathBuf,
    /// The MD5 hash of the file, as 32 lower-case hexadecimal digits.
    pub md5: String,
}

impl ProofFile {
    /// Creates a proof of M_p for p = `exponent`, or of a cofactor of M_p. `factors` are the known
    /// factors in decimal digits; the list is empty for a proof of M_p. `residues` are the final
    /// residue and then the middles, each as ⌈p/8⌉ little-endian bytes.
    ///
    /// # Errors
    /// Returns [`ProofFormatError::Parts`] unless 2 ≤ p < 2^31, there are 1 to 15 middles, every
    /// residue has ⌈p/8⌉ bytes, factors have no leading zeros, and the header has at most 4,096
    /// bytes.
    pub fn new(
        exponent: u32,
        factors: Vec<String>,
        residues: Vec<Vec<u8>>,
    ) -> Result<Self, ProofFormatError> {
        use ProofFormatError::Parts;
        if !(2..LIMIT).contains(&exponent) {
            return Err(Parts("the exponent of a proof is from 2 to 2^31 − 1"));
        }
        if !factors.iter().all(|f| is_number(f)) {
            return Err(Parts("a known factor is written in digits, without leading zeros"));
        }
        if !(2..=MOST_POWER + 1).contains(&residues.len()) {
            return Err(Parts("a proof has 1 to 15 middles"));
        }
        if residues.iter().any(|x| x.len() != residue_size(exponent)) {
            return Err(Parts("a residue of a proof has ⌈p/8⌉ bytes"));
        }
        let file = Self { test: ProofTest::Mersenne { exponent, factors }, residues };
        if file.header().len() as u64 > MOST_HEADER {
            return Err(Parts("the known factors are too many for the header of a proof"));
        }
        Ok(file)
    }

    /// Creates a proof of a test of a number other than 2^p − 1. `residues` are the last residue of the proof
    /// and then the middles, in equally many bytes.
    ///
    /// # Errors
    /// Returns [`ProofFormatError::Parts`] unless there are 1 to 15 middles, all residues have the same size,
    /// which a number of this form can have, the name of the test consists of 1 to 64 lower-case letters,
    /// digits and `-`, and the number has the form `k*b^n+1`, `k*b^n-1`, `b^n+1`, `b^n-1` or `Mn`.
    pub fn of_number(
        test: String,
        number: String,
        residues: Vec<Vec<u8>>,
    ) -> Result<Self, ProofFormatError> {
        use ProofFormatError::Parts;
        if !is_test(&test) || most_bits(&number).is_none() {
            return Err(Parts("the name of the test or the number is malformed"));
        }
        if !(2..=MOST_POWER + 1).contains(&residues.len()) {
            return Err(Parts("a proof has 1 to 15 middles"));
        }
        let size = residues[0].len();
        if size == 0 || residues.iter().any(|x| x.len() != size) {
            return Err(Parts("the residues of a proof have the same size"));
        }
        if size as u64 > most_bytes(&number) {
            return Err(Parts(TOO_LONG));
        }
        Ok(Self { test: ProofTest::Number { test, number }, residues })
    }

    /// Reads a proof file. Symbolic links are followed. Returns the proof, and the path and MD5
    /// hash of the file.
    ///
    /// The residues must fit in memory. Memory for residues is allocated only if the size of the
    /// file agrees with the header.
    pub fn read(path: &Path) -> Result<(Self, SavedProof), ProofFileError> {
        Self::read_opened(path, given::open(path))
    }

    /// Reads a proof file in a folder. A symbolic link in place of the file is refused.
    fn read_own(folder: &Folder, name: &str) -> Result<(Self, SavedProof), ProofFileError> {
        Self::read_opened(&folder.file(name), folder.open(name))
    }

    fn read_opened(
        path: &Path,
        opened: Result<File, FileError>,
    ) -> Result<(Self, SavedProof), ProofFileError> {
        let path_buf = || path.to_owned();
        let not_a_file = |what| Err(ProofFileError::NotAFile { path: path_buf(), what });
        let read_error = |source| ProofFileError::Read { path: path_buf(), source };
        let file = match opened {
            Ok(file) => file,
            Err(e) if e.is_missing() => return not_a_file("the file does not exist"),
            Err(FileError::NotAFile { what: "a directory", .. }) => {
                return not_a_file("it is a directory");
            }
            Err(FileError::NotAFile { .. }) => return not_a_file("it is not a regular file"),
            Err(e) => return Err(read_error(e.in_message_of(path))),
        };
        let length = file.metadata().map_err(read_error)?.len();
        match Self::read_from(file, length) {
            Ok((proof, md5)) => Ok((proof, SavedProof { path: path_buf(), md5 })),
            Err(Trouble::Io(source)) => Err(read_error(source)),
            Err(Trouble::Format(source)) => {
                Err(ProofFileError::Format { path: path_buf(), source })
            }
        }
    }

    /// Parses the whole content of a proof file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ProofFormatError> {
        let length = bytes.len() as u64;
        match Self::read_from(Cursor::new(bytes), length) {
            Ok((proof, _)) => Ok(proof),
            Err(Trouble::Format(error)) => Err(error),
            // A slice ends early or not at all.
            Err(Trouble::Io(_)) => Err(ProofFormatError::Size { expected: length, found: length }),
        }
    }

    fn read_from(mut input: impl Read, length: u64) -> Result<(Self, String), Trouble> {
        let mut head = Vec::new();
        input.by_ref().take(MOST_HEADER).read_to_end(&mut head)?;
        let header = Header::parse(&head)?;
        let size = header.residue_size(length)?;
        let expected = header.bytes as u64 + (header.power as u64 + 1) * size as u64;
        if expected != length {
            return Err(ProofFormatError::Size { expected, found: length }.into());
        }
        let (text, rest) = head.split_at(header.bytes);
        let mut hasher = Md5::new_with_prefix(text);
        let mut rest = rest.chain(input);
        let mut residues = Vec::new();
        for _ in 0..=header.power {
            let mut residue = vec![0; size];
            rest.read_exact(&mut residue)?;
            hasher.update(&residue);
            residues.push(residue);
        }
        if rest.read(&mut [0])? > 0 {
            return Err(ProofFormatError::Size { expected, found: expected + 1 }.into());
        }
        let file = match header.test {
            ProofTest::Mersenne { exponent, factors } => Self::new(exponent, factors, residues),
            ProofTest::Number { test, number } => Self::of_number(test, number, residues),
        };
        Ok((file?, hex(hasher)))
    }

    /// Returns the test that the proof is about.
    #[must_use]
    pub fn test(&self) -> &ProofTest {
        &self.test
    }

    /// Returns the power n of the proof, which is the number of middles.
    #[must_use]
    pub fn power(&self) -> u32 {
        // At most MOST_POWER.
        (self.residues.len() - 1) as u32
    }

    /// Returns the final residue and then the middles, each in little-endian bytes.
    #[must_use]
    pub fn residues(&self) -> &[Vec<u8>] {
        &self.residues
    }

    /// Returns [`ProofFile::residues`] by value.
    #[must_use]
    pub fn into_residues(self) -> Vec<Vec<u8>> {
        self.residues
    }

    /// Returns the name of the file. It is `M<p>-<power>.proof` for a proof of M_p. For a proof of
    /// a cofactor, it is `M<p>-f<k>-<power>.proof`, where k is the number of known factors. So one
    /// folder may contain a proof of M_p and a proof of its cofactor. For another number it is
    /// `<k>_<b>_<n>+1-<test>-<power>.proof`.
    #[must_use]
    pub fn file_name(&self) -> String {
        Self::name_of(&self.test, self.power())
    }

    /// Returns the name of a proof file (see [`ProofFile::file_name`]) for a test and a power.
    #[must_use]
    pub fn name_of(test: &ProofTest, power: u32) -> String {
        match test {
            ProofTest::Mersenne { exponent, factors } => match factors.len() {
                0 => format!("M{exponent}-{power}.proof"),
                k => format!("M{exponent}-f{k}-{power}.proof"),
            },
            ProofTest::Number { test, number } => {
                let one = if number.contains(['*', 'M']) { "" } else { "1_" };
                format!("{one}{}-{test}-{power}.proof", number.replace(['*', '^'], "_"))
            }
        }
    }

    /// Returns the path of an existing file that makes [`ProofFile::save`] fail. Returns `None` if
    /// there is no such file.
    ///
    /// The file has the name [`ProofFile::name_of`] in this folder, but is not a proof of this
    /// power for the given test. A proof of the same test and power
    /// does not count. It is identical to the proof to be saved, unless one of the two proofs is
    /// wrong.
    #[must_use]
    pub fn in_the_way(folder: &Path, test: &ProofTest, power: u32) -> Option<PathBuf> {
        let (folder, name) = (Folder::not_linked(folder), Self::name_of(test, power));
        let foreign = match Self::read_own(&folder, &name) {
            Ok((proof, _)) => (&proof.test, proof.power()) != (test, power),
            Err(_) => folder.has(&name),
        };
        foreign.then(|| folder.file(name))
    }

    /// Returns the MD5 hash of the file, as 32 lower-case hexadecimal digits.
    #[must_use]
    pub fn md5(&self) -> String {
        let mut hasher = Md5::new_with_prefix(self.header());
        self.residues.iter().for_each(|x| hasher.update(x));
        hex(hasher)
    }

    /// Returns the whole content of the file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        [self.header().as_bytes(), &self.residues.concat()].concat()
    }

    /// Writes the proof to a folder, under the name [`ProofFile::file_name`]. The folder is created
    /// if missing. If an identical file exists, nothing is written.
    ///
    /// The file is written under a temporary name, synced and renamed. So other programs that look
    /// for proofs never see an incomplete file.
    ///
    /// # Errors
    /// Returns [`ProofFileError::NotAFolder`] like [`check_proof_folder`]. Returns
    /// [`ProofFileError::Exists`] if a different file of this name exists. Also returns errors of
    /// the file system.
    pub fn save(&self, folder: &Path) -> Result<SavedProof, ProofFileError> {
        check_proof_folder(folder)?;
        let (folder, name) = (Folder::not_linked(folder), self.file_name());
        let saved = SavedProof { path: folder.file(&name), md5: self.md5() };
        match Self::read_own(&folder, &name) {
            Ok((_, there)) if there.md5 == saved.md5 => return Ok(saved),
            Err(ProofFileError::NotAFile { .. }) if !folder.has(&name) => {}
            Ok(_) | Err(_) => return Err(ProofFileError::Exists { path: saved.path }),
        }
        folder.clear_away(|left| left.ends_with(".proof"));
        let header = self.header();
        let residues = self.residues.iter().map(Vec::as_slice);
        let parts: Vec<&[u8]> = std::iter::once(header.as_bytes()).chain(residues).collect();
        match folder.replace(&name, &parts) {
            Ok(()) => Ok(saved),
            Err(e) => {
                let source = e.in_message_of(&saved.path);
                Err(ProofFileError::Write { path: saved.path, source })
            }
        }
    }

    fn header(&self) -> String {
        header(&self.test, self.power())
    }
}

/// Checks that a path can be a folder for proofs. It must lead to a folder, or not exist. Does not
/// access files in the folder. A path that cannot be examined is accepted.
///
/// # Errors
/// Returns [`ProofFileError::NotAFolder`] if the path leads to any other object. A symbolic link is
/// refused, even if it points to a folder.
pub fn check_proof_folder(folder: &Path) -> Result<(), ProofFileError> {
    match fs::symlink_metadata(folder) {
        Ok(found) if !found.is_dir() => Err(ProofFileError::NotAFolder { path: folder.to_owned() }),
        _ => Ok(()),
    }
}

fn residue_size(exponent: u32) -> usize {
    (exponent as usize).div_ceil(8)
}

fn hex(hasher: Md5) -> String {
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// An error that occurs when a proof file is read from a stream.
enum Trouble {
    Io(io::Error),
    Format(ProofFormatError),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<ProofFormatError> for Trouble {
    fn from(error: ProofFormatError) -> Self {
        Self::Format(error)
    }
}
