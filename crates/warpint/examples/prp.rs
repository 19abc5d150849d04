//! A PRP test of M_p = 2^p − 1, with progress and with checkpoints from which it resumes:
//! `cargo run --release --example prp -- [EXPONENT [FOLDER]]`.
//!
//! Stop the test with Ctrl-C. The same command then resumes from the last checkpoint, which is at
//! most five seconds old. After the test, the same command prints the stored result
//! again.

use std::env;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use warpint::ErrorKind;
use warpint::mersenne::{Event, Exponent, StopToken, TestKind, TestSpec, progress_line};
use warpint::runner::{Job, Observer, Report, RunError, RunEvent, one_line};

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let (exponent, folder) = match &args[..] {
        [] => ("44497", env::temp_dir().join("warpint-prp")),
        [exponent] => (&exponent[..], env::temp_dir().join("warpint-prp")),
        [exponent, folder] => (&exponent[..], folder.into()),
        _ => {
            eprintln!("usage: prp [EXPONENT [FOLDER]]");
            return ExitCode::from(2);
        }
    };
    println!("files of the test are in {}", folder.display());
    // Another thread may call `stop()` on a clone of the token: the test saves a checkpoint and returns.
    match test(exponent, &folder, &StopToken::new()) {
        Ok(report) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Err(e) => {
            eprintln!("error: {}", one_line(&e));
            ExitCode::from(if e.kind() == ErrorKind::BadInput { 2 } else { 1 })
        }
    }
}

/// Tests 2^p − 1 for the exponent p, with files in `folder` and a checkpoint every five seconds.
fn test(exponent: &str, folder: &Path, stop: &StopToken) -> Result<Report, RunError> {
    let spec = TestSpec::new(TestKind::Prp, exponent.parse::<Exponent>()?);
    let mut job = Job::new(spec, folder);
    job.checkpoint_interval = Duration::from_secs(5);
    let observer: Arc<dyn Observer> = Arc::new(tell);
    job.run(&observer, stop)
}

/// Reports events on standard error: the method, the progress in about one line per second, and all
/// problems.
fn tell(event: &RunEvent<'_>) {
    match event {
        RunEvent::Note(note) => eprintln!("{note}"),
        RunEvent::Warning(warning) => eprintln!("warning: {warning}"),
        RunEvent::Test(Event::Progress { iteration, total, per_iteration, round_off }) => {
            eprintln!("{}", progress_line(*iteration, *total, *per_iteration, *round_off));
        }
        RunEvent::Test(event) => event.line().iter().for_each(|line| eprintln!("{line}")),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_was_stopped_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let stop = StopToken::new();
        stop.stop();
        assert!(matches!(test("2203", folder.path(), &stop), Ok(Report::Stopped(_))));
        for _ in ["computed", "kept"] {
            let report = test("2203", folder.path(), &StopToken::new()).unwrap();
            assert!(matches!(report, Report::Test(test) if test.is_prime() == Some(true)));
        }
    }

    #[test]
    fn no_exponent_is_bad_input() {
        for text in ["", "x", "1", "2201", "2147483648"] {
            let error = test(text, Path::new("unused"), &StopToken::new()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::BadInput, "{text}");
        }
    }
}
