//! The command `warpint test NUMBER`: the test that proves most about a number k·b^n ± 1.

use warpint::mersenne::{Sign, TestKind};

use crate::args::NumberArgs;
use crate::console::Console;
use crate::exit::{BadRequest, Exit};
use crate::report::notice;
use crate::run::run_job;

pub(crate) fn run(args: &NumberArgs) -> anyhow::Result<Exit> {
    let number = args.number.number;
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
    if let Some(line) = args.number.normal_form().filter(|_| !args.quiet) {
        notice(&line);
    }
    let job = args.job();
    // No theorem about k·b^n − 1 with b ≠ 2 is used.
    let has_long_multiplier =
        !number.has_multiplier_below_power() && (number.base() == 2 || number.sign() == Sign::Plus);
    if has_long_multiplier && !args.quiet && matches!(job.spec.kind, TestKind::Fermat { .. }) {
        notice(&format!(
            "{number}: k is not below {}^n, so no test with squarings proves the number prime; a \
             probable-prime test is made",
            number.base()
        ));
    }
    let (console, stop) = Console::install(args.quiet, args.json)?;
    run_job(&job, &console, &stop)
}
