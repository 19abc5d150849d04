//! The command `warpint test NUMBER`: the test that proves most about a number k·b^n ± 1.

use warpint::mersenne::TestKind;

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
    let job = args.job();
    if !args.sitting.quiet {
        args.number.notes(job.spec.kind).iter().for_each(|note| notice(&note.to_string()));
    }
    let (console, stop) = Console::install(args.sitting.quiet, args.sitting.json)?;
    run_job(&job, &console, &stop)
}
