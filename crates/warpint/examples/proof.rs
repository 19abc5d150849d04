//! Builds and verifies a proof of a PRP test:
//! `cargo run --release --example proof -- [EXPONENT [POWER [FOLDER]]]`.
//!
//! Verification takes a small part of the squarings of the test: p/2^POWER squarings, where p is
//! the exponent, and some hundreds for each unit of POWER. If POWER is increased by one, the test
//! stores twice as many residues until the proof is built.

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use warpint::ErrorKind;
use warpint::gimps::{ProofFile, ProofTest};
use warpint::mersenne::proof::{self, Proof, ProofError, disk_bytes};
use warpint::mersenne::{Exponent, Plan, PlanRequest, StopToken, TestKind, TestSpec};
use warpint::progress::units;
use warpint::runner::proofs::verify_file;
use warpint::runner::{Job, Observer, Report, RunError, Unobserved, one_line};

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let given = |i: usize, default: &'static str| args.get(i).map_or(default, |arg| &arg[..]);
    let (exponent, power) = (given(0, "9941"), given(1, "5").parse());
    let folder = args.get(2).map_or_else(|| env::temp_dir().join("warpint-proof"), PathBuf::from);
    let (Ok(power), ..=3) = (power, args.len()) else {
        eprintln!("usage: proof [EXPONENT [POWER [FOLDER]]], the power a number from 1 to 15");
        return ExitCode::from(2);
    };
    match run(exponent, power, &folder) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("error: {}", one_line(&e));
            ExitCode::from(if e.kind() == ErrorKind::BadInput { 2 } else { 1 })
        }
    }
}

fn run(exponent: &str, power: u32, folder: &Path) -> Result<(), RunError> {
    let Some(path) = prove(exponent, power, folder)? else {
        println!("there is no proof: see the warnings of the test");
        return Ok(());
    };
    let (file, on_disk) = ProofFile::read(&path)?;
    let proof = proof_of(&file, file.residues())?;
    println!("{}, md5 {}", path.display(), on_disk.md5);
    println!(
        "the proof of {} has power {}; its residues took up to {} during the test",
        proof.number(),
        file.power(),
        units::bytes(disk_bytes(proof.subject(), power)),
    );
    let bytes = file.to_bytes();
    let size: usize = file.residues().iter().map(Vec::len).sum();
    print!("the file begins with\n{}", String::from_utf8_lossy(&bytes[..bytes.len() - size]));
    let residues = file.residues().len();
    println!("and goes on with {residues} residues of {} bytes", size / residues);
    println!("{}", verify(&path)?);
    println!("with one bit changed: {}", refusal(&file)?);
    Ok(())
}

/// Tests 2^p − 1 for the exponent p, builds a proof of the test, and returns the path of the proof
/// file. Returns `None` if no proof could be built.
fn prove(exponent: &str, power: u32, folder: &Path) -> Result<Option<PathBuf>, RunError> {
    let spec = TestSpec::new(TestKind::Prp, exponent.parse::<Exponent>()?);
    let mut job = Job::new(spec, folder);
    (job.proof, job.restart) = (Some(power), true);
    let observer: Arc<dyn Observer> = Arc::new(Unobserved);
    let report = job.run(&observer, &StopToken::new())?;
    println!("{report}");
    Ok(match report {
        Report::Test(test) => test.proof_path(folder),
        Report::Factor(_) | Report::Stopped(_) => None,
    })
}

/// Verifies a proof file and returns a description of the result.
fn verify(path: &Path) -> Result<String, RunError> {
    let verified = verify_file(path, &PlanRequest::default(), &Unobserved, &StopToken::new())?;
    Ok(verified.map_or_else(|| "stopped".into(), |report| report.to_string()))
}

/// Returns the proof in a file, with these residues.
fn proof_of(file: &ProofFile, residues: &[Vec<u8>]) -> Result<Proof, ProofError> {
    match file.test() {
        ProofTest::Mersenne { exponent, factors } => {
            Proof::from_parts(*exponent, factors, residues)
        }
        ProofTest::Number { test, number } => Proof::of_number(test, number, residues),
    }
}

/// Changes a bit of a proof and returns the reason why verification refuses the changed proof.
fn refusal(file: &ProofFile) -> Result<String, RunError> {
    let mut residues = file.residues().to_vec();
    if let Some(byte) = residues.last_mut().and_then(|residue| residue.first_mut()) {
        *byte ^= 1;
    }
    let forged = proof_of(file, &residues)?;
    let request = PlanRequest::default();
    let plan = Plan::new(forged.number(), &request).map_err(|e| e.of_request(&request))?;
    let mut progress = |share: f64| eprintln!("{:.0} % verified", 100.0 * share);
    let verified = proof::verify(plan, &forged, &mut progress, &StopToken::new())?;
    Ok(verified.map_or_else(
        || "stopped".into(),
        |verified| match verified.finding {
            Ok(_) => "the proof is right".into(),
            Err(refusal) => format!("the proof is refused: {refusal}"),
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_right_until_a_bit_of_it_changes() {
        let folder = tempfile::tempdir().unwrap();
        run("1279", 3, folder.path()).unwrap();
        let path = folder.path().join("proof/M1279-3.proof");
        let right = verify(&path).unwrap();
        assert!(right.starts_with("M1279 is a probable prime: the proof of power 3 is right"));
        let (file, _) = ProofFile::read(&path).unwrap();
        assert!(refusal(&file).unwrap().starts_with("the proof is refused: "));
    }

    #[test]
    fn what_has_no_proof_is_bad_input() {
        let folder = tempfile::tempdir().unwrap();
        for (exponent, power) in [("1279", 0), ("1279", 16), ("127", 9), ("1281", 3)] {
            let error = run(exponent, power, folder.path()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::BadInput, "{exponent}, {power}");
        }
        let missing = verify(&folder.path().join("missing.proof")).unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::BadInput);
    }
}
