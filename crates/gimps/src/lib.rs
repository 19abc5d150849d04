//! The formats, reading and writing of the files that GIMPS programs exchange. This crate does no
//! arithmetic.
//!
//! * [`Line`], [`Assignment`]: one line of `worktodo.txt`.
//! * [`WorkFile`]: `worktodo.txt`, read and changed concurrently with other programs.
//! * [`ResultLine`]: one line of `results.txt`, a JSON object.
//! * [`append_result`], [`append_object`], [`append_text`]: append a line to a file without losing earlier
//!   lines.
//! * [`ProofFile`]: a PRP proof, read and written.
//! * [`check_results_path`], [`try_results_file`]: check before a long test that results can be
//!   appended.

mod fields;
mod lock_file;
mod proof_file;
mod refusal;
mod result_line;
mod results;
mod work_file;
mod worktodo;

pub use fields::{MOST_FACTOR_DIGITS, Shown};
pub use lock_file::{LockError, LockFile};
pub use proof_file::{
    ProofFile, ProofFileError, ProofFormatError, ProofTest, SavedProof, check_proof_folder,
};
pub use refusal::{Foreign, Malformed};
pub use result_line::{
    ErrorTally, Program, ProofInfo, ResultLine, Status, parse_utc, utc_now, utc_text,
};
pub use results::{
    Appended, ResultsError, ResultsFile, append_object, append_result, append_text,
    check_results_path, try_results_file,
};
pub use work_file::{NumberedLine, WorkFile, WorkFileError};
pub use worktodo::{Assignment, LONGEST_LINE, Line, Work};
