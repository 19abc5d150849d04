//! The command `warpint make-keys`: test moduli for audits.

use std::fmt;
use std::time::Instant;

use serde::Serialize;
use warpint::testkeys::{Outputs, Request, Test, TestKeysError, make};

use super::batch::place;
use crate::args::{KeyTest, MakeKeysArgs};
use crate::exit::{BadRequest, Exit};
use crate::report::{notice, print};
use crate::signals::Signals;
use crate::steps::Steps;

pub(crate) fn run(args: &MakeKeysArgs) -> anyhow::Result<Exit> {
    let signals = Signals::install()?;
    let begin = Instant::now();
    if args.out.as_os_str() == "-" {
        let line = "-o -: two files are written, so standard output cannot be one: name a file";
        return Err(BadRequest(line.into()).into());
    }
    let request = Request {
        weak_pairs: args.weak_pairs,
        rings: args.rings,
        duplicates: args.duplicates,
        close: args.close,
        even: args.even,
        test: match args.test {
            KeyTest::BailliePsw => Test::BailliePsw,
            KeyTest::Strong => Test::Strong,
        },
        ..Request::new(args.count, args.bits, args.seed)
    };
    request.sound()?;
    let outputs = Outputs::new(&args.out, args.force)?;
    let (executor, device) = place::executor(args.device, args.threads)?;
    let silent = args.quiet || args.json;
    let steps =
        Steps::new(signals.save_first(), |done, total| format!("{done} of {total}"), silent);
    let made = make(&request, &executor, &outputs, &steps);
    steps.meter().end();
    let made = match made {
        Ok(made) => made,
        Err(TestKeysError::Stopped) => {
            notice(&TestKeysError::Stopped.to_string());
            return Ok(Exit::Stopped);
        }
        Err(e) => return Err(e.into()),
    };
    let report = Report {
        out: args.out.display().to_string(),
        planted: outputs.planted().display().to_string(),
        request,
        primes: made.primes,
        device,
        seconds: begin.elapsed().as_secs_f64(),
    };
    if args.json || !args.quiet {
        print(&report, args.json)?;
    }
    Ok(Exit::Done)
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Report {
    out: String,
    planted: String,
    #[serde(flatten)]
    request: Request,
    primes: u64,
    device: String,
    seconds: f64,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { out, planted, request, primes, device, seconds } = self;
        let Request { count, bits, seed, .. } = request;
        let rate = *count as f64 / seconds.max(1e-9);
        write!(
            f,
            "{out}: {} of {bits} bits, seed {seed}, unfit for use; planted weaknesses in {planted}\n\
             {primes} primes on {device} in {seconds:.1} s; moduli: {rate:.1}/s",
            if *count == 1 { "1 test modulus".into() } else { format!("{count} test moduli") },
        )
    }
}
