//! The list of engine families. All code that chooses, tests or measures engines reads this list.
//!
//! To add a family, write its module and add a line to
//! [`for_every_family!`](crate::for_every_family).

use std::sync::Arc;

use warpint_device::Device;

use super::EngineFamily;
use super::gpu::Gangs;

/// Passes the list of engine families to another macro, with one `name: Family;` line for each
/// family. `name` is the name that [`EngineFamily::name`] returns, with `_` for `-`.
///
/// `cpu` selects the families on the CPU. `device` selects the families on devices, whose
/// constructor `Family::new` has the device as its argument. For example,
/// `for_every_family!(cpu => tests_of)` expands to `tests_of! { word: …::Word; … }`.
#[doc(hidden)]
#[macro_export]
macro_rules! for_every_family {
    (cpu => $($then:tt)+) => {
        $($then)+! {
            word: $crate::engine::word::Word;
            fp64: $crate::engine::fp64::Fp64;
            goldilocks: $crate::engine::goldilocks::Goldilocks;
            hybrid: $crate::engine::hybrid::Hybrid;
            hybrid_fast: $crate::engine::hybrid::HybridFast;
            plain: $crate::engine::plain::Plain;
        }
    };
    (device => $($then:tt)+) => {
        $($then)+! {
            fp64: $crate::engine::fp64_gpu::Fp64On;
            goldilocks: $crate::engine::goldilocks_gpu::GoldilocksOn;
            hybrid: $crate::engine::hybrid_gpu::HybridOn;
            hybrid_fast: $crate::engine::hybrid_gpu::HybridFastOn;
        }
    };
}

macro_rules! on_cpu {
    ($($name:ident: $family:path;)+) => {
        /// Returns the engine families on the CPU, in order of preference. If several families
        /// accept an exponent and no times are known, the first of these families is used.
        /// [`super::places`] returns the families on devices.
        #[must_use]
        pub fn families() -> &'static [&'static dyn EngineFamily] {
            &[$(&$family),+]
        }
    };
}

macro_rules! on_devices {
    ($($name:ident: $family:path;)+) => {
        /// Returns the engine families that compute on `device`, and in gangs if there are any.
        pub(super) fn families_of(
            device: &Device,
            gangs: Option<&Arc<Gangs>>,
        ) -> Vec<Box<dyn EngineFamily>> {
            vec![$(Box::new(<$family>::new(device.clone()).in_gangs(gangs))),+]
        }
    };
}

crate::for_every_family!(cpu => on_cpu);
crate::for_every_family!(device => on_devices);

/// Returns the engine families on the CPU that accept the exponent p.
#[must_use]
pub fn families_for(p: u32) -> Vec<&'static dyn EngineFamily> {
    families().iter().copied().filter(|family| family.exponent_range().contains(&p)).collect()
}

/// Returns the engine family on the CPU with the name `name`. Returns `None` if no family has this
/// name.
#[must_use]
pub fn family(name: &str) -> Option<&'static dyn EngineFamily> {
    families().iter().copied().find(|family| family.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! names {
        ($($name:ident: $family:path;)+) => { [$(stringify!($name)),+] };
    }

    #[test]
    fn names_of_the_list_are_those_of_the_families() {
        let names: Vec<String> = families().iter().map(|f| f.name().replace('-', "_")).collect();
        assert_eq!(names, crate::for_every_family!(cpu => names));
    }

    #[test]
    #[cfg(feature = "sim")]
    fn names_on_devices_are_those_of_the_families() {
        let families = families_of(&Device::simulator().unwrap(), None);
        let names: Vec<String> = families.iter().map(|f| f.name().replace('-', "_")).collect();
        assert_eq!(names, crate::for_every_family!(device => names));
    }

    #[test]
    fn an_exponent_has_the_families_that_take_it() {
        assert_eq!(families_for(61)[0].name(), "word");
        assert!(families_for(64).iter().all(|family| family.name() != "word"));
        assert!(families_for(64).len() >= 2 && families_for(1).is_empty());
        assert_eq!(family("goldilocks").map(EngineFamily::name), Some("goldilocks"));
        assert!(family("none").is_none());
    }
}
