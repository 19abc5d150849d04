//! The names by which a user chooses where to compute.

use std::fmt;
use std::str::FromStr;

/// The name by which a user chooses the CPU.
pub const CPU: &str = "cpu";

/// Identifies a device of this machine. [`Display`](fmt::Display) gives the name that a user
/// writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeviceId {
    /// The GPU with this index, named `cuda:N` for index N. The name `cuda` means `cuda:0`.
    Cuda(u32),
    /// The simulator, named `sim`. Requires the feature `sim`.
    Sim,
}

/// The user's choice of where to run a computation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum DeviceChoice {
    /// A working GPU if the work is large enough for it, otherwise the CPU.
    #[default]
    Auto,
    /// The CPU, even if there is a GPU.
    Cpu,
    /// The device with this identifier. It is an error if the device is not available.
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

/// The error of parsing a text that is not a name of a [`DeviceChoice`].
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
                // Refuses `+1` and ` 1`, which `parse` might accept.
                let digits = index.bytes().all(|b| b.is_ascii_digit());
                let index = index.parse().ok().filter(|_| digits).ok_or_else(unknown)?;
                Ok(Self::On(DeviceId::Cuda(index)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
