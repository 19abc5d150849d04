//! Engine families by name and place, for chores that run several tests at a time.

use anyhow::Context;
use warpint_mersenne::engine::places;
use warpint_mersenne::{DeviceChoice, DeviceId, EngineFamily};

/// `cpu`, `cuda`, `cuda:N` or `sim`.
pub(crate) fn device(text: &str) -> Result<DeviceChoice, String> {
    match text.parse() {
        _ if text == "sim" => Ok(DeviceChoice::On(DeviceId::Sim)),
        Ok(DeviceChoice::Auto) | Err(_) => Err("none of cpu, cuda, cuda:N, sim".into()),
        Ok(choice) => Ok(choice),
    }
}

/// The family of a name.
pub(crate) fn named(name: &str, on: DeviceChoice) -> anyhow::Result<&'static dyn EngineFamily> {
    let families = match on {
        DeviceChoice::On(id) => places::families_on(id)?,
        DeviceChoice::Cpu | DeviceChoice::Auto => places::families_on_cpu(),
    };
    let of_name = families.into_iter().find(|family| family.name() == name);
    of_name.with_context(|| format!("no family {name} on {on}"))
}

/// The family once for each thread; on a device, which does the work of one in order, one family
/// for each that has opened it for itself.
pub(crate) fn for_threads(
    family: &'static dyn EngineFamily,
    on: DeviceChoice,
    threads: usize,
) -> anyhow::Result<Vec<&'static dyn EngineFamily>> {
    let mut families = vec![family; threads];
    if let DeviceChoice::On(id) = on {
        for other in families.iter_mut().skip(1) {
            let apart = places::families_apart(id)?;
            let of_name = apart.into_iter().find(|apart| apart.name() == family.name());
            *other = of_name.with_context(|| format!("no family {}", family.name()))?;
        }
    }
    Ok(families)
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
