//! Where engines compute: on the CPU, or on a device of this machine.

use std::str::FromStr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{fmt, fs};

use warpint_device::{Device, DeviceError};

use super::fp64_gpu::Fp64On;
use super::goldilocks_gpu::GoldilocksOn;
use super::{Engine, EngineError, EngineFamily, Step, families};
use crate::{Residue, Shift};

/// The name of the CPU as a place.
pub const CPU: &str = "cpu";

/// A device of this machine, as a user names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeviceId {
    /// `cuda:N`, the GPU of that number; `cuda` is `cuda:0`.
    Cuda(u32),
    /// `sim`, the kernel simulator; there only with the feature `sim`.
    Sim,
}

/// Where a plan may compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum DeviceChoice {
    /// A GPU if there is one that works and the exponent is large enough for
    /// it, otherwise the CPU.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// That device, or an error.
    On(DeviceId),
}

impl fmt::Display for DeviceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cuda(index) => write!(f, "cuda:{index}"),
            Self::Sim => f.write_str("sim"),
        }
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Cpu => f.write_str(CPU),
            Self::On(id) => id.fmt(f),
        }
    }
}

/// A text that names no device.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is none of {names}", names = if cfg!(feature = "sim") {
    "auto, cpu, cuda, cuda:N, sim"
} else {
    "auto, cpu, cuda, cuda:N"
})]
pub struct UnknownDevice(String);

impl FromStr for DeviceChoice {
    type Err = UnknownDevice;

    fn from_str(text: &str) -> Result<Self, UnknownDevice> {
        let unknown = || UnknownDevice(text.to_owned());
        match text {
            "auto" => Ok(Self::Auto),
            CPU => Ok(Self::Cpu),
            "cuda" => Ok(Self::On(DeviceId::Cuda(0))),
            "sim" if cfg!(feature = "sim") => Ok(Self::On(DeviceId::Sim)),
            _ => {
                let index = text.strip_prefix("cuda:").ok_or_else(unknown)?;
                // Not `+1`, nor ` 1`, which `parse` might take.
                let digits = index.bytes().all(|b| b.is_ascii_digit());
                let index = index.parse().ok().filter(|_| digits).ok_or_else(unknown)?;
                Ok(Self::On(DeviceId::Cuda(index)))
            }
        }
    }
}

/// Families of one place.
pub type Families = Vec<&'static dyn EngineFamily>;

/// A device in use.
struct Opened {
    id: DeviceId,
    device: Device,
    families: Families,
}

/// The devices opened so far.
static OPENED: Mutex<Vec<Opened>> = Mutex::new(vec![]);

fn opened() -> MutexGuard<'static, Vec<Opened>> {
    OPENED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The families of a device, which is opened at the first call and stays open
/// to the end of the process.
///
/// They are leaked, so that plans can be copied like numbers: a process opens
/// each device once, and has a handful of families on it.
///
/// # Errors
/// No such device, no driver.
pub fn families_on(id: DeviceId) -> Result<Families, DeviceError> {
    Ok(open(id)?.1)
}

/// Families on a device that was opened once more, so that what they do and what those of
/// [`families_on`] do need not wait for each other. Each call leaks a little memory.
///
/// # Errors
/// No such device, no driver.
pub fn families_apart(id: DeviceId) -> Result<Families, DeviceError> {
    let device = Device::open(&id.to_string())?;
    Ok(families_of(&device).into_iter().map(|family| &*Box::leak(family)).collect())
}

/// The device itself, opened as by [`families_on`].
///
/// # Errors
/// No such device, no driver.
pub fn device_on(id: DeviceId) -> Result<Device, DeviceError> {
    Ok(open(id)?.0)
}

fn open(id: DeviceId) -> Result<(Device, Families), DeviceError> {
    let mut opened = opened();
    if let Some(Opened { device, families, .. }) = opened.iter().find(|opened| opened.id == id) {
        return Ok((device.clone(), families.clone()));
    }
    let device = Device::open(&id.to_string())?;
    let families: Families =
        families_of(&device).into_iter().map(|family| &*Box::leak(family)).collect();
    opened.push(Opened { id, device: device.clone(), families: families.clone() });
    Ok((device, families))
}

/// Every family that computes on devices.
fn families_of(device: &Device) -> Vec<Box<dyn EngineFamily>> {
    vec![Box::new(Fp64On::new(device.clone())), Box::new(GoldilocksOn::new(device.clone()))]
}

/// Product and driver of a place: of the CPU, or of a device in use.
#[must_use]
pub fn product(place: &str) -> Option<(String, String)> {
    if place == CPU {
        return Some((cpu_name(), String::new()));
    }
    let opened = opened();
    let info = opened.iter().find(|opened| opened.id.to_string() == place)?.device.info();
    Some((info.name.clone(), info.driver.clone()))
}

/// The processor's name, or its architecture where the system does not tell.
#[must_use]
pub fn cpu_name() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    info.lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(':'))
        .map_or_else(|| std::env::consts::ARCH.into(), |(_, name)| name.trim().into())
}

/// The families of the CPU.
#[must_use]
pub fn families_on_cpu() -> Families {
    families().to_vec()
}

/// The first GPU of this machine, where there is one.
#[must_use]
pub fn first_gpu() -> Option<DeviceId> {
    match Device::list().devices.first()?.id.parse() {
        Ok(DeviceChoice::On(id)) => Some(id),
        _ => None,
    }
}

/// Whether an engine computes 3^32 rightly; its drivers, compilers and kernels
/// are there then. Uses register 0.
///
/// # Errors
/// What failed; a wrong result is a failure of the device at `place`.
pub fn probe(engine: &mut dyn Engine, place: &str) -> Result<(), EngineError> {
    const POWER: u64 = 1_853_020_188_851_841;
    let p = engine.exponent();
    engine.set(0, 3, Shift::ZERO)?;
    engine.square(0, 5, Step::Square, Shift::ZERO)?;
    let found = engine.read(0, Shift::ZERO)?;
    if found == Residue::from_u64(p, POWER) {
        return Ok(());
    }
    Err(EngineError::Device(DeviceError::Failed {
        what: format!("3^32 mod M{p} on {place}"),
        message: format!("the result is {}, not {POWER:016X}", found.res64_hex()),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{BuildOptions, fp64::Fp64, word::Word};

    #[test]
    fn names_of_devices_read_back() {
        for choice in [
            DeviceChoice::Auto,
            DeviceChoice::Cpu,
            DeviceChoice::On(DeviceId::Cuda(0)),
            DeviceChoice::On(DeviceId::Cuda(31)),
        ] {
            assert_eq!(choice.to_string().parse(), Ok(choice));
        }
        assert_eq!("cuda".parse(), Ok(DeviceChoice::On(DeviceId::Cuda(0))));
        assert_eq!("sim".parse::<DeviceChoice>().is_ok(), cfg!(feature = "sim"));
        for text in
            ["", "gpu", "CUDA", "cuda:", "cuda:+1", "cuda:-1", "cuda: 1", "cuda:99999999999"]
        {
            let error = text.parse::<DeviceChoice>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("'{text}' is none of auto, cpu, cuda")), "{error}");
        }
    }

    #[test]
    fn sound_engines_pass_the_probe() {
        let engines: [(&dyn EngineFamily, u32, usize); 3] =
            [(&Fp64, 1_279, 128), (&Word, 61, 1), (&Word, 7, 1)];
        for (family, p, length) in engines {
            let mut engine = family.build(p, length, BuildOptions::new(1, 1)).unwrap();
            assert_eq!(probe(engine.as_mut(), CPU), Ok(()), "M{p}");
        }
    }
}
