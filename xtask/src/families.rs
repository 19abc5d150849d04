//! The options of a task for the device, the engine family, and the number of tests that run at the
//! same time.

use anyhow::Context;
use clap::Args;
use clap::builder::PossibleValuesParser;
use warpint_device::CPU;
use warpint_mersenne::engine::{families, places};
use warpint_mersenne::{DeviceChoice, DeviceId, EngineFamily};

/// The options for the device and the engine.
#[derive(Debug, Args)]
pub(crate) struct Place {
    /// Where to compute: cpu, cuda, cuda:N, sim
    #[arg(long, default_value = "cpu", value_parser = device)]
    device: DeviceChoice,
    /// The engine family
    #[arg(long, value_name = "NAME", default_value = "fp64", value_parser = names())]
    engine: String,
    /// The number of tests that run at the same time, each on one thread; by default 2 on the CPU
    /// and 1 on a device
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    threads: Option<u64>,
}

impl Place {
    /// Returns the engine family that the options name.
    pub(crate) fn family(&self) -> anyhow::Result<&'static dyn EngineFamily> {
        let families = match self.device {
            DeviceChoice::On(id) => places::families_on(id)?,
            DeviceChoice::Cpu | DeviceChoice::Auto => places::families_on_cpu(),
        };
        let of_name = families.into_iter().find(|family| family.name() == self.engine);
        of_name.with_context(|| format!("no family {} on {}", self.engine, self.device))
    }

    /// Returns an engine family for each thread. A device executes the work of one family in order,
    /// so on a device each thread gets a separately opened family.
    pub(crate) fn for_threads(
        &self,
        family: &'static dyn EngineFamily,
    ) -> anyhow::Result<Vec<&'static dyn EngineFamily>> {
        let usual = if family.place() == CPU { 2 } else { 1 };
        // At most 1024.
        let mut families = vec![family; self.threads.unwrap_or(usual) as usize];
        if let DeviceChoice::On(id) = self.device {
            for other in families.iter_mut().skip(1) {
                let apart = places::families_apart(id)?;
                let of_name = apart.into_iter().find(|apart| apart.name() == family.name());
                *other = of_name.with_context(|| format!("no family {}", family.name()))?;
            }
        }
        Ok(families)
    }
}

/// Returns a parser that accepts the names of all engine families.
fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(families().iter().map(|family| family.name()))
}

/// Parses `cpu`, `cuda`, `cuda:N` or `sim`.
fn device(text: &str) -> Result<DeviceChoice, String> {
    match text.parse() {
        _ if text == "sim" => Ok(DeviceChoice::On(DeviceId::Sim)),
        Ok(DeviceChoice::Auto) | Err(_) => Err("none of cpu, cuda, cuda:N, sim".into()),
        Ok(choice) => Ok(choice),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_as_a_user_names_them() {
        assert_eq!(device("cpu"), Ok(DeviceChoice::Cpu));
        assert_eq!(device("sim"), Ok(DeviceChoice::On(DeviceId::Sim)));
        assert_eq!(device("cuda:1"), Ok(DeviceChoice::On(DeviceId::Cuda(1))));
        for bad in ["auto", "", "cuda:x", "gpu"] {
            assert!(device(bad).is_err(), "{bad}");
        }
    }
}
