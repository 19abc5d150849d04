//! The places where engines compute: the CPU and the devices of this machine.

use std::sync::{Arc, Mutex, PoisonError};

use warpint_device::{Device, DeviceError, DeviceId, device_on};

use super::gpu::Gangs;
use super::list::families_of;
use super::{Engine, EngineError, EngineFamily, Step, families};
use crate::{Residue, Shift};

/// The engine families of one place: the CPU or one device.
pub type Families = Vec<&'static dyn EngineFamily>;

/// A lane of a device and whether its engines are in gangs, with its engine families.
struct Used {
    id: DeviceId,
    lane: u32,
    in_gangs: bool,
    families: Families,
}

/// The lanes of devices used so far.
static USED: Mutex<Vec<Used>> = Mutex::new(vec![]);

/// The gangs of each device, in which engines of several lanes square numbers together.
static GANGS: Mutex<Vec<(DeviceId, Arc<Gangs>)>> = Mutex::new(vec![]);

/// Returns the engine families on a device, in its lane 0 ([`families_in_lane`]).
///
/// # Errors
/// Returns an error if the device or its driver does not exist, or cannot be opened.
pub fn families_on(id: DeviceId) -> Result<Families, DeviceError> {
    families_in_lane(id, 0)
}

/// Returns the engine families in a lane of a device. Engines of one lane wait for each other on the device.
/// Engines of different lanes compute at the same time, so each of several threads takes a lane of its own.
/// Lane 0 is the device that [`device_on`] opens; any other lane is opened by [`families_apart`]. The first
/// call for a lane opens it; later calls return the same families.
///
/// The families are leaked, so that plans can refer to them and be `Copy`. A process leaks only a
/// few families for each lane.
///
/// # Errors
/// Returns an error if the device or its driver does not exist, or cannot be opened.
pub fn families_in_lane(id: DeviceId, lane: u32) -> Result<Families, DeviceError> {
    used(id, lane, false)
}

/// Does the same as [`families_in_lane`], but engines square numbers k·2^n ± 1 in common launches with those of
/// other lanes that have the same kernels: the same transform length, sign and variant. From about eight numbers
/// of up to some 10^6 bits on, all are then squared in less time. Few numbers are squared more slowly.
///
/// # Errors
/// Returns an error if the device or its driver does not exist, or cannot be opened.
pub fn families_in_gangs(id: DeviceId, lane: u32) -> Result<Families, DeviceError> {
    used(id, lane, true)
}

/// Returns the families of the same lane that come before a family; none if the family is not from
/// [`families_in_lane`] or [`families_in_gangs`].
pub(crate) fn families_before(family: &'static dyn EngineFamily) -> Families {
    let used = USED.lock().unwrap_or_else(PoisonError::into_inner);
    let is_same = |of: &&'static dyn EngineFamily| std::ptr::addr_eq(*of, family);
    let before = |of: &Used| {
        let end = of.families.iter().position(is_same)?;
        Some(of.families[..end].to_vec())
    };
    used.iter().find_map(before).unwrap_or_default()
}

fn used(id: DeviceId, lane: u32, in_gangs: bool) -> Result<Families, DeviceError> {
    let mut used = USED.lock().unwrap_or_else(PoisonError::into_inner);
    let is_same = |of: &&Used| (of.id, of.lane, of.in_gangs) == (id, lane, in_gangs);
    if let Some(of) = used.iter().find(is_same) {
        return Ok(of.families.clone());
    }
    // Stored times of squarings are found by the model of the device in lane 0.
    let device = device_on(id)?;
    let families = match (lane, in_gangs) {
        (0, false) => leaked(&device, None),
        (_, false) => families_apart(id)?,
        (_, true) => leaked(&Device::open(&id.to_string())?, Some(&gangs_of(id))),
    };
    used.push(Used { id, lane, in_gangs, families: families.clone() });
    Ok(families)
}

/// Opens a device once more and returns new engine families on it. Their work and the work of the
/// families from [`families_on`] run on the device independently, without waiting for each other.
/// Each call leaks a little memory.
///
/// # Errors
/// Returns an error if the device or its driver does not exist, or cannot be opened.
pub fn families_apart(id: DeviceId) -> Result<Families, DeviceError> {
    Ok(leaked(&Device::open(&id.to_string())?, None))
}

/// Returns the gangs of a device.
fn gangs_of(id: DeviceId) -> Arc<Gangs> {
    let mut all = GANGS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, gangs)) = all.iter().find(|(of, _)| *of == id) {
        return Arc::clone(gangs);
    }
    let gangs = Gangs::new(id);
    all.push((id, Arc::clone(&gangs)));
    gangs
}

fn leaked(device: &Device, gangs: Option<&Arc<Gangs>>) -> Families {
    families_of(device, gangs).into_iter().map(|family| &*Box::leak(family)).collect()
}

/// Returns the engine families on the CPU.
#[must_use]
pub fn families_on_cpu() -> Families {
    families().to_vec()
}

/// Tests that the driver, the compiler and the kernels work. Computes 3^32 modulo the engine's number N, and
/// compares the result with the known value. Overwrites register 0.
///
/// # Errors
/// Returns the error of the engine. A wrong result is reported as [`DeviceError::Failed`] for the
/// device named `place`.
pub fn probe(engine: &mut dyn Engine, place: &str) -> Result<(), EngineError> {
    const POWER: u64 = 1_853_020_188_851_841;
    let number = engine.number();
    engine.set(0, 3, Shift::ZERO)?;
    engine.square(0, 5, Step::Square, Shift::ZERO)?;
    let found = engine.read(0, Shift::ZERO)?;
    if found == Residue::from_u64(number, POWER) {
        return Ok(());
    }
    Err(EngineError::Device(DeviceError::Failed {
        what: format!("3^32 mod {number} on {place}"),
        message: format!("the result is {}, not {POWER:016X}", found.res64_hex()),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpint_device::CPU;

    use crate::engine::{BuildOptions, fp64::Fp64, word::Word};

    #[cfg(feature = "sim")]
    #[test]
    fn each_lane_has_families_of_its_own() {
        let addresses = |families: Families| -> Vec<*const ()> {
            families.into_iter().map(|family| (&raw const *family).cast()).collect()
        };
        let lane = |lane| addresses(families_in_lane(DeviceId::Sim, lane).unwrap());
        assert_eq!(lane(0), addresses(families_on(DeviceId::Sim).unwrap()));
        assert_eq!(lane(1), lane(1));
        let other = lane(2);
        assert!(lane(0).iter().chain(&lane(1)).all(|family| !other.contains(family)));
    }

    #[test]
    fn sound_engines_pass_the_probe() {
        let engines: [(&dyn EngineFamily, u32, usize); 3] =
            [(&Fp64, 1_279, 128), (&Word, 61, 1), (&Word, 7, 1)];
        for (family, p, length) in engines {
            let mut engine = family.build(p, length, BuildOptions::new(1, 1)).unwrap();
            assert_eq!(probe(engine.as_mut(), CPU), Ok(()), "M{p}");
        }
        let number = "3*2^20909+1".parse().unwrap();
        let mut engine = Fp64.build_for(number, 1_080, BuildOptions::new(1, 1)).unwrap();
        assert_eq!(probe(engine.as_mut(), CPU), Ok(()), "{number}");
    }
}
