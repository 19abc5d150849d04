//! The files that programs around GIMPS read and write: formats and I/O, no maths.
//!
//! * [`ResultLine`]: one line of `results.txt`, a JSON object.
//! * [`append_result`]: puts it there so that nothing written before is lost.
//! * [`ProofFile`]: a PRP proof, read and written.
//! * [`check_results_path`], [`try_results_file`]: whether it could, before a long test.

mod proof_file;
mod results;

pub use proof_file::{ProofFile, ProofFileError, ProofFormatError, SavedProof};
pub use results::{
    Appended, ErrorTally, Program, ResultLine, ResultsError, Status, append_result,
    check_results_path, try_results_file, utc_now,
};
