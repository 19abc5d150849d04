//! The arguments that choose engine, device and threads.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use warpint::mersenne::{DeviceChoice, EXACT, PlanRequest, engine};

/// Where to compute.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct DeviceArgs {
    /// Where to compute: auto (a GPU if there is one that works and the exponent is large enough
    /// for it, otherwise the CPU), cpu, cuda or cuda:N.
    #[arg(long, value_name = "DEVICE", default_value_t)]
    pub(crate) device: DeviceChoice,
}

/// The arguments that choose the engine and the number of threads.
#[derive(Debug, Args)]
pub(crate) struct EngineArgs {
    #[arg(
        long,
        value_name = "ENGINE",
        default_value = AUTO,
        value_parser = engine_parser(),
        hide_possible_values = true,
        help = engine_help(),
    )]
    pub(crate) engine: EngineName,

    /// Threads of the CPU [default: one for each logical CPU].
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<usize>,
}

/// The arguments that all commands of Mersenne numbers have in common: engine, threads and device.
#[derive(Debug, Args)]
pub(crate) struct ArithmeticArgs {
    #[command(flatten)]
    pub(crate) how: EngineArgs,

    #[command(flatten)]
    device: DeviceArgs,
}

impl EngineArgs {
    /// Returns the request for a plan on `device` with the chosen engine and number of threads.
    /// `length` is the transform length in words; `None` selects the fastest.
    pub(crate) fn plan_request(&self, device: DeviceChoice, length: Option<usize>) -> PlanRequest {
        let engine = self.engine.0;
        PlanRequest { engine, device, length, threads: self.threads, ..PlanRequest::default() }
    }
}

impl ArithmeticArgs {
    /// Returns the request for a plan on the chosen device with the chosen engine and number of
    /// threads. `length` is the transform length in words; `None` selects the fastest.
    pub(crate) fn plan_request(&self, length: Option<usize>) -> PlanRequest {
        self.how.plan_request(self.device.device, length)
    }
}

/// The name of an engine family, or [`EXACT`]; `None` lets the plan choose the family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EngineName(pub(crate) Option<&'static str>);

const AUTO: &str = "auto";

/// Returns a parser that accepts `auto`, `exact` and the names of all engine families.
pub(super) fn engine_parser() -> impl TypedValueParser<Value = EngineName> {
    let families = engine::families().iter().map(|family| family.name());
    PossibleValuesParser::new([AUTO, EXACT].into_iter().chain(families)).map(|name| {
        let family = engine::family(&name).map(|family| family.name());
        EngineName(if name == EXACT { Some(EXACT) } else { family })
    })
}

/// Returns the help of the option `--engine`: `The arithmetic: auto, exact (the fastest engine whose
/// products are proven exact), word (P up to 63), fp64, …`.
fn engine_help() -> String {
    const LARGEST: u32 = (1 << 31) - 1;
    const LEAST_NAMED: u32 = 1_000;
    let families = engine::families().iter().map(|family| {
        let (name, range) = (family.name(), family.exponent_range());
        if *range.end() < LARGEST {
            format!("{name} (P up to {})", range.end())
        } else if *range.start() >= LEAST_NAMED {
            format!("{name} (P from {})", range.start())
        } else {
            name.into()
        }
    });
    let exact = format!("{EXACT} (the fastest engine whose products are proven exact)");
    let names: Vec<String> = [AUTO.to_owned(), exact].into_iter().chain(families).collect();
    format!("The arithmetic: {}", names.join(", "))
}

pub(super) fn threads(text: &str) -> Result<usize, String> {
    const MOST: usize = 1024;
    text.parse()
        .ok()
        .filter(|n| (1..=MOST).contains(n))
        .ok_or_else(|| format!("'{text}' is not a number of threads from 1 to {MOST}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;

    #[test]
    fn every_family_can_be_asked_for_and_is_in_the_help() {
        let help = engine_help();
        let mut names = vec![AUTO, EXACT];
        for family in engine::families() {
            let args = ["warpint", "prp", "7", "--engine", family.name()];
            let Command::Prp { test, .. } = Cli::try_parse_from(args).unwrap().command else {
                panic!()
            };
            assert_eq!(test.plan_request().engine, Some(family.name()));
            assert!(help.contains(family.name()), "{help}");
            names.push(family.name());
        }
        let valid: Vec<_> = engine_parser().possible_values().unwrap().collect();
        assert_eq!(valid.iter().map(|v| v.get_name()).collect::<Vec<_>>(), names);
        let Command::Ll { test, .. } = Cli::try_parse_from(["warpint", "ll", "7"]).unwrap().command
        else {
            panic!()
        };
        assert_eq!(test.plan_request().engine, None);
        let args = ["warpint", "ll", "7", "--engine", EXACT];
        let Command::Ll { test, .. } = Cli::try_parse_from(args).unwrap().command else { panic!() };
        assert_eq!(test.plan_request().engine, Some(EXACT));
    }
}
