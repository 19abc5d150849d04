//! The command `warpint calc`: calculations with single numbers of any length.

mod report;
mod view;

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use report::CalcReport;
use view::View;
use warpint::batch::Out;
use warpint::batch::calculation::{Calculation, CalculationJob, CalculationRequest};
use warpint::device::{CPU, device_on};
use warpint::integer::huge::available_memory;
use warpint::integer::huge::device::DeviceMultiplier;
use warpint::mersenne::DeviceChoice;
use warpint::natural::product::{Multiplier, TransformMultiplier};

use super::batch::place::resolved;
use crate::args::{Calc, CalcArgs, CalcCheck, DivremArgs, Places, SqrtArgs, TwoArgs};
use crate::exit::Exit;
use crate::report::{notice, print, report_line, warn};
use crate::run::all_gpus;
use crate::signals::Signals;
use crate::threads;

/// The time between two updates of the progress while nothing is reported.
const TICK: Duration = Duration::from_millis(250);

pub(crate) fn run(what: &Calc) -> anyhow::Result<Exit> {
    match what {
        Calc::Mul(args) => two(Calculation::Multiply, args, None),
        Calc::Sqr(args) => files(Calculation::Square, &[&args.a], &args.rest, None),
        Calc::Divrem(DivremArgs { two: args, second }) => {
            two(Calculation::Divide, args, second.rem.as_deref())
        }
        Calc::Gcd(args) => two(Calculation::Gcd, args, None),
        Calc::Sqrt(SqrtArgs { one, second }) => {
            files(Calculation::SquareRoot, &[&one.a], &one.rest, second.rem.as_deref())
        }
        Calc::Pow(args) => files(Calculation::Power, &[&args.a, &args.e], &args.rest, None),
        Calc::Fac(args) => files(Calculation::Factorial, &[&args.n], &args.rest, None),
        Calc::Primorial(args) => files(Calculation::Primorial, &[&args.n], &args.rest, None),
        Calc::Todec(args) => files(Calculation::ToDecimal, &[&args.a], &args.rest, None),
        Calc::Tohex(args) => files(Calculation::ToHex, &[&args.a], &args.rest, None),
    }
}

fn two(calculation: Calculation, args: &TwoArgs, rem: Option<&Path>) -> anyhow::Result<Exit> {
    files(calculation, &[&args.a, &args.b], &args.rest, rem)
}

fn files(
    calculation: Calculation,
    paths: &[&PathBuf],
    args: &CalcArgs,
    rem: Option<&Path>,
) -> anyhow::Result<Exit> {
    let signals = Signals::install()?;
    let begin = Instant::now();
    threads::set(args.threads)?;
    let threads = rayon::current_num_threads();
    let devices = match args.device {
        Places::All => all_gpus()?.into_iter().map(device_on).collect::<Result<_, _>>()?,
        Places::One(choice) => match resolved(choice)? {
            DeviceChoice::On(id) => vec![device_on(id)?],
            DeviceChoice::Auto | DeviceChoice::Cpu => vec![],
        },
    };
    let on_device = match devices.split_first() {
        Some((first, others)) => Some(DeviceMultiplier::on_devices(first, others, threads)?),
        None => None,
    };
    let on_cpu = TransformMultiplier::new(threads);
    let multiplier: &dyn Multiplier = match &on_device {
        Some(multiplier) => multiplier,
        None => &on_cpu,
    };
    let available = available_memory();
    let job = CalculationJob::new(request(calculation, paths, args, rem, available), multiplier)?;
    let silent = args.quiet || args.json;
    if !args.quiet {
        for name in job.hidden_numbers() {
            notice(&format!(
                "{name} is read as a file, for there is one; for the number give {name}+0"
            ));
        }
    }
    let view = View::new(&job, multiplier, signals.token(), silent);
    if !silent {
        notice(&view.start(&job));
    }
    // Nothing is on the disk yet: Ctrl-C ends the program at once.
    let computed = thread::scope(|scope| {
        let (running, ended) = mpsc::channel::<()>();
        let view = &view;
        scope.spawn(move || {
            while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                view.show();
            }
        });
        let computed = job.compute(multiplier, view);
        drop(running);
        computed
    });
    view.end();
    if let Some(why) = on_device.as_ref().and_then(DeviceMultiplier::failure) {
        warn(vec![format!("the device was given up, and the CPU computed the rest: {why}")]);
    }
    let Some(computed) = computed? else { return Ok(stopped()) };
    let Some(written) = computed.write(signals.save_first())? else { return Ok(stopped()) };
    if args.json || !args.quiet {
        let place = on_device.as_ref().map_or_else(|| CPU.into(), DeviceMultiplier::place);
        let report = CalcReport::new(&job, &written, available, (place, threads), begin.elapsed());
        tell(&report, &job, args.json)?;
    }
    Ok(Exit::Done)
}

fn request(
    calculation: Calculation,
    paths: &[&PathBuf],
    args: &CalcArgs,
    rem: Option<&Path>,
    memory: Option<u64>,
) -> CalculationRequest {
    let operands = paths.iter().map(|&path| path.clone()).collect();
    let mut request = CalculationRequest::new(calculation, operands, args.out.clone());
    request.rem = rem.map(Path::to_owned);
    request.in_format = args.in_format;
    request.out_format = args.format;
    request.force = args.force;
    request.check = args.check == CalcCheck::Residues;
    request.memory = memory;
    request
}

fn stopped() -> Exit {
    notice("stopped: nothing is written");
    Exit::Stopped
}

/// Prints a report on standard output, or on standard error if a result is written to standard output.
fn tell(report: &CalcReport, job: &CalculationJob, json: bool) -> anyhow::Result<()> {
    if !job.outs().any(Out::is_standard) {
        return print(report, json);
    }
    notice(&report_line(report, json)?);
    Ok(())
}

/// Measures the work that the multiplier does in a second, in units of the estimates of work.
fn work_per_second(multiplier: &dyn Multiplier) -> f64 {
    const LIMBS: usize = 1 << 15;
    let number = vec![u64::MAX / 3; LIMBS];
    // The first product also computes tables.
    let seconds = [(); 2].map(|()| {
        let begin = Instant::now();
        drop(multiplier.mul(&number, &number));
        begin.elapsed().as_secs_f64()
    });
    warpint::integer::huge::work::product(LIMBS, LIMBS) / seconds[1].max(1e-9)
}
