//! The command `warpint test NUMBER`: the test that proves most about a number k·b^n ± 1.

use warpint::mersenne::proof::{Points, Subject, power_for};
use warpint::mersenne::{Number, TestKind};
use warpint::runner::RunError;

use crate::args::NumberArgs;
use crate::console::Console;
use crate::exit::{BadRequest, Exit};
use crate::report::notice;
use crate::run::run_job;

pub(crate) fn run(args: &NumberArgs) -> anyhow::Result<Exit> {
    let number = args.number.number();
    if args.base.is_some() && number.is_mersenne() {
        let text = format!("{number} is 2^p-1, to which `warpint prp` and `warpint ll` apply");
        return Err(BadRequest(text).into());
    }
    if let Some(base) = args.base.filter(|&base| number.is_trivial_for(base)) {
        let (b, other) = (number.base(), TestKind::fermat(number));
        let text = format!(
            "base {base}: each of its prime factors divides {b}, so {number} would pass whether it is \
             prime or not; choose another base ({other} is made without --base)"
        );
        return Err(BadRequest(text).into());
    }
    let mut job = args.job();
    // An even number needs no test.
    let proof = args.proof.filter(|_| !number.is_even());
    job.proof = proof.map(|power| power_of(job.spec.kind, number, power)).transpose()?;
    if !args.sitting.quiet {
        args.number.notes(job.spec.kind).iter().for_each(|note| notice(&note.to_string()));
    }
    let (console, stop) = Console::install(args.sitting.quiet, args.sitting.json)?;
    run_job(&job, &console, &stop)
}

/// Returns the power of the proof of a test: the given one, or the default.
fn power_of(kind: TestKind, number: Number, power: Option<u32>) -> anyhow::Result<u32> {
    let subject = Subject::new(kind, number).ok_or(RunError::NoProofs { kind, number })?;
    let refused = || match power {
        Some(power) => BadRequest(format!("{number} is too small for a proof of power {power}")),
        None => BadRequest(format!(
            "{number} is too small for a proof that saves work: give the power, as --proof=3"
        )),
    };
    let power = power.or_else(|| power_for(subject.iterations())).ok_or_else(refused)?;
    Points::new(subject.iterations(), power).ok_or_else(refused)?;
    Ok(power)
}
