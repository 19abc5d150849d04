//! The command `warpint selftest [FILTER] [--device …]`: tests the arithmetic of the program.

use std::fmt::{self, Display};
use std::time::{Duration, Instant};

use serde::Serialize;
use warpint::integer::Executor;
use warpint::mersenne::engine::places::{Families, families_on_cpu};
use warpint::mersenne::{DeviceChoice, PlanRequest};
use warpint_selftest::batches::Sizes;
use warpint_selftest::{
    CaseReport, Depth, DeviceSizes, run_batches, run_device, run_transforms_on_cpu,
};

use super::batch::place::gpu;
use crate::args::SelftestArgs;
use crate::exit::{self, BadRequest, Exit};
use crate::report;
use crate::run::resolve_for_any;
use crate::{threads, units};

pub(crate) fn run(args: &SelftestArgs) -> anyhow::Result<Exit> {
    threads::set(args.threads)?;
    let (choice, filter) = (args.device, args.filter.as_deref());
    let request = resolve_for_any(&PlanRequest { device: choice, ..PlanRequest::default() })?;
    let families = families(choice, &request)?;
    let depth = if args.thorough { Depth::Thorough } else { Depth::Quick };
    let mut tally = Tally::new(args);
    if filter.is_none() && !args.quiet {
        report::notice(&estimate(depth, request.device));
    }
    if let DeviceChoice::On(id) = request.device {
        let gpu = gpu(id)?;
        let (sizes, take) =
            (DeviceSizes::of_gpus(depth), &mut |case: &CaseReport| tally.take(case.into()));
        run_device(&gpu, depth, &sizes, filter, take);
    }
    if matches!(choice, DeviceChoice::Auto | DeviceChoice::Cpu) {
        let take = &mut |case: &CaseReport| tally.take(case.into());
        run_batches(&Executor::cpu(), &Sizes::usual(), filter, take);
        run_transforms_on_cpu(filter, take);
    }
    warpint_selftest::run(&families, depth, filter, &mut |case| tally.take(case.into()));
    let has_more = depth == Depth::Quick && matches!(request.device, DeviceChoice::On(_));
    tally.conclude(args, has_more)
}

/// Formats the estimated duration of a run as `quick cases on cuda:0: about 90.0 s if no kernel is
/// compiled yet; --thorough: about 11 min 0 s`.
fn estimate(depth: Depth, place: DeviceChoice) -> String {
    let is_gpu = matches!(place, DeviceChoice::On(_));
    let about = |depth: Depth| format!("about {}", units::elapsed(depth.estimate(is_gpu)));
    match (is_gpu, depth) {
        (false, _) => format!("all cases of the CPU: {}", about(depth)),
        (true, Depth::Quick) => format!(
            "quick cases on {place}: {} if no kernel is compiled yet; --thorough: {}",
            about(depth),
            about(Depth::Thorough)
        ),
        (true, Depth::Thorough) => {
            format!("all cases on {place}: {} if no kernel is compiled yet", about(depth))
        }
    }
}

/// Returns the engine families of the requested device. For `auto`, returns the families of the
/// CPU, followed by the families of the GPU if `request` names a GPU.
pub(super) fn families(device: DeviceChoice, request: &PlanRequest) -> anyhow::Result<Families> {
    let mut families =
        if device == DeviceChoice::Auto { families_on_cpu() } else { Families::new() };
    if request.device != DeviceChoice::Cpu || families.is_empty() {
        families.extend(request.families()?.0);
    }
    Ok(families)
}

/// The result of one case of the selftest.
#[derive(Debug, Serialize)]
pub(super) struct Case {
    /// The engine or the kind of operation that is tested, with its device: `fp64`, `batch@cuda:0`.
    pub(super) suite: String,
    pub(super) case: String,
    pub(super) passed: bool,
    pub(super) seconds: f64,
    /// The reason why the case failed, or a text that says how an injected fault was handled; may
    /// be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) message: String,
}

impl From<&CaseReport> for Case {
    fn from(of: &CaseReport) -> Self {
        Self {
            suite: of.family.clone(),
            case: of.case.clone(),
            passed: of.result.is_ok(),
            seconds: of.elapsed.as_secs_f64(),
            message: of.result.clone().err().unwrap_or_default(),
        }
    }
}

/// Formats the case as `fp64::squares      1.2 s  ok`.
impl Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = format!("{}::{}", self.suite, self.case);
        let time = Duration::try_from_secs_f64(self.seconds).unwrap_or_default();
        let verdict = if self.passed { "ok" } else { "FAILED" };
        write!(f, "{name:<48} {:>9}  {verdict}", units::elapsed(time))?;
        let message = self.message.replace('\n', " ");
        if message.is_empty() { Ok(()) } else { write!(f, ": {message}") }
    }
}

/// The results of the cases so far. Without `--json`, each result is printed when its case is done;
/// with `--quiet`, only failures are printed.
pub(super) struct Tally {
    lines: bool,
    only_failures: bool,
    begin: Instant,
    report: Report,
}

/// The results of all cases, as JSON.
#[derive(Serialize)]
struct Report {
    seconds: f64,
    passed: usize,
    failed: usize,
    cases: Vec<Case>,
}

impl Tally {
    pub(super) fn new(args: &SelftestArgs) -> Self {
        let report = Report { seconds: 0.0, passed: 0, failed: 0, cases: vec![] };
        let begin = Instant::now();
        Self { lines: !args.json, only_failures: args.quiet, begin, report }
    }

    /// Records the result of a case, and prints it as [`Tally`] says. If standard output cannot be
    /// written, ends the process.
    pub(super) fn take(&mut self, case: Case) {
        if self.lines
            && !(self.only_failures && case.passed)
            && let Err(e) = report::write_out(format!("{case}\n").as_bytes())
        {
            std::process::exit(exit::report(&e).code().into());
        }
        let count = if case.passed { &mut self.report.passed } else { &mut self.report.failed };
        *count += 1;
        self.report.cases.push(case);
    }

    /// Prints the last line, or the JSON object, and returns the exit code. Returns an error if no
    /// case was run. `has_more` is true if a run with `--thorough` has more cases; the error states
    /// this.
    pub(super) fn conclude(mut self, args: &SelftestArgs, has_more: bool) -> anyhow::Result<Exit> {
        let Report { passed, failed, .. } = self.report;
        if passed + failed == 0 {
            let filter = args.filter.as_deref().unwrap_or_default();
            let more = if has_more {
                "--thorough has more cases, and without a filter all quick ones are run"
            } else {
                "without a filter all are run"
            };
            return Err(BadRequest(format!("no case has '{filter}' in its name: {more}")).into());
        }
        self.report.seconds = self.begin.elapsed().as_secs_f64();
        let text = match args.json {
            true => serde_json::to_string(&self.report)?,
            false => format!("{passed} passed, {failed} failed"),
        };
        report::write_out((text + "\n").as_bytes())?;
        Ok(if failed == 0 { Exit::Done } else { Exit::Negative })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;
    use warpint::mersenne::DeviceId;

    fn args(line: &str) -> SelftestArgs {
        let words = ["warpint", "selftest"].into_iter().chain(line.split_whitespace());
        match Cli::try_parse_from(words).unwrap().command {
            Command::Selftest(args) => args,
            _ => panic!("{line}"),
        }
    }

    fn case(result: Result<(), String>) -> Case {
        let (family, case) = ("fp64".into(), "squares".into());
        (&CaseReport { family, case, result, elapsed: Duration::from_millis(1500) }).into()
    }

    #[test]
    fn a_failed_case_is_a_negative_finding() {
        for (failed, expected) in [(false, Exit::Done), (true, Exit::Negative)] {
            let args = args("--json");
            let mut tally = Tally::new(&args);
            tally.take(case(Ok(())));
            if failed {
                tally.take(case(Err("M7: wrong\n".into())));
            }
            let json = serde_json::to_value(&tally.report).unwrap();
            assert_eq!(
                (&json["passed"], &json["failed"]),
                (&1.into(), &usize::from(failed).into())
            );
            assert_eq!(json["cases"][0]["seconds"], 1.5);
            assert!(json["cases"][0].get("message").is_none());
            if failed {
                assert_eq!(json["cases"][1]["message"], "M7: wrong\n");
            }
            assert_eq!(tally.conclude(&args, false).unwrap(), expected);
        }
        let line = case(Err("M7:\nwrong".into())).to_string();
        assert!(line.starts_with("fp64::squares ") && line.ends_with("1.5 s  FAILED: M7: wrong"));
    }

    #[test]
    fn how_long_it_takes_is_said_for_both_depths() {
        let gpu = DeviceChoice::On(DeviceId::Cuda(1));
        assert_eq!(
            estimate(Depth::Quick, gpu),
            "quick cases on cuda:1: about 90.0 s if no kernel is compiled yet; --thorough: about 11 min 0 s"
        );
        assert!(estimate(Depth::Thorough, gpu).starts_with("all cases on cuda:1: about 11 min"));
        assert_eq!(estimate(Depth::Quick, DeviceChoice::Cpu), "all cases of the CPU: about 40.0 s");
        assert!(Depth::Quick.estimate(true) <= Duration::from_secs(90));
    }
}
