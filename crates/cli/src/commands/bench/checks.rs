//! The command `warpint bench checks [P]`: the cost of checks and checkpoints in a test.

use warpint::mersenne::{DeviceChoice, Plan, PlanRequest, TunedTimes, engine_at};
use warpint_bench::BenchError;
use warpint_bench::mersenne::checks::{Measured, SHORTEST, long_enough, measure, usual_exponent};

use super::{Plot, cores};
use crate::args::BenchChecksArgs;
use crate::exit::{BadRequest, Exit};
use crate::lengths;
use crate::report;
use crate::run::resolve;
use crate::signals::Signals;
use crate::units;

pub(crate) fn run(args: &BenchChecksArgs) -> anyhow::Result<Exit> {
    let plot = Plot::new(args.plot.as_deref())?;
    let threads = args.arithmetic.how.threads.unwrap_or_else(cores);
    let request = PlanRequest { threads: Some(threads), ..args.arithmetic.plan_request(None) };
    let p = match args.exponent {
        Some(p) => p,
        // The default exponent of the CPU decides which device `auto` selects.
        None => usual_exponent(&PlanRequest { device: DeviceChoice::Auto, ..request })?,
    };
    let request = resolve(&request, p)?;
    let p = match args.exponent {
        Some(p) => p,
        None => usual_exponent(&request)?,
    };
    let plan = Plan::fastest(p, &request, &TunedTimes::open())
        .map_err(|e| lengths::explain(e, &request))?;
    long_enough(&plan).map_err(in_words)?;
    let signals = Signals::install()?;
    // From here on a folder must be removed at the end.
    let stop = signals.save_first();
    let Some(measured) = measure(plan, args.checks, &args.dir, stop)? else {
        return Ok(Exit::Stopped);
    };
    if args.json {
        report::write_out((serde_json::to_string(&measured)? + "\n").as_bytes())?;
    } else {
        report::write_out((lines(&measured) + "\n").as_bytes())?;
    }
    plot.write(|| measured.chart())?;
    Ok(Exit::Done)
}

/// Converts an error of the benchmark into the error that the program prints, with times formatted
/// as in the rest of the output.
fn in_words(e: BenchError) -> anyhow::Error {
    let BenchError::TooShort { exponent, time } = e else { return e.into() };
    let (time, shortest) = (units::elapsed(time), units::elapsed(SHORTEST));
    BadRequest(format!(
        "the test of M{exponent} takes {time} here, too little to tell what its checks cost: give \
         an exponent whose test takes {shortest} or more"
    ))
    .into()
}

fn lines(measured: &Measured) -> String {
    let [before, after] = measured.bare_us;
    let (of_checks, with_checkpoints) = measured.cost_percent;
    let checkpoints = match with_checkpoints {
        Some(cost) => {
            let checkpoints = units::count(measured.checkpoints as u64, "checkpoint");
            format!("{cost:+.2} %, with {checkpoints}")
        }
        None => "but the test was too short for one".into(),
    };
    let smallest = with_checkpoints.map_or(of_checks, |cost| cost.min(of_checks));
    let verdict = if smallest <= measured.noise_percent {
        ", so smaller differences mean nothing: a quieter machine or a larger exponent tells more"
    } else {
        ""
    };
    format!(
        "M{}: engine {}, {}\n\
         bare squarings     {before:>10.3} µs before the test, {after:.3} µs after it\n\
         with checks        {:>10.3} µs, {of_checks:+.2} %, over {} squarings with {}\n\
         and checkpoints    {:>10.3} µs, {checkpoints}\n\
         seconds of bare squarings differ by {:.2} %{verdict}",
        measured.exponent,
        engine_at(measured.engine, measured.device),
        units::count_words(measured.fft_length),
        measured.checked_us,
        measured.squarings,
        units::count(measured.checks as u64, "check"),
        measured.saved_us,
        measured.noise_percent,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_noise_hides_is_said_to_be_hidden() {
        let quiet = Measured {
            exponent: 82_589_933,
            engine: "fp64",
            device: "cuda:0",
            fft_length: 4 << 20,
            squarings: 2_000_000,
            bare_us: [100.0, 100.0],
            checked_us: 100.25,
            saved_us: 100.3,
            checks: 1,
            checkpoints: 3,
            cost_percent: (0.25, Some(0.3)),
            noise_percent: 0.1,
        };
        let said = lines(&quiet);
        assert!(
            said.contains("100.250 µs, +0.25 %, over 2000000 squarings with 1 check\n"),
            "{said}"
        );
        assert!(said.contains("100.300 µs, +0.30 %, with 3 checkpoints\n"), "{said}");
        assert!(said.ends_with("seconds of bare squarings differ by 0.10 %"), "{said}");
        let noisy =
            Measured { checkpoints: 0, cost_percent: (-7.5, None), noise_percent: 12.0, ..quiet };
        let said = lines(&noisy);
        assert!(said.contains(" µs, -7.50 %, over ") && !said.contains("more, "), "{said}");
        assert!(said.contains("but the test was too short for one\n"), "{said}");
        assert!(said.contains("differ by 12.00 %, so smaller differences mean nothing"), "{said}");
        let json = serde_json::to_value(&noisy).unwrap();
        assert_eq!(json["cost-percent"], serde_json::json!([-7.5, null]));
    }
}
