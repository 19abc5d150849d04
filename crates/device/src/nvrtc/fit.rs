//! Decides whether a compiler suits a driver and a device, and explains how to install a suitable
//! one.

use std::path::Path;

use crate::DeviceError;

/// The oldest compute capability (major, minor) that compilers of CUDA 13 and later support.
const OLDEST_OF_13: (u32, u32) = (7, 5);

/// The requirements that a driver and a device set on a compiler. A field is `None` if there is no
/// such requirement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Fit {
    /// The CUDA version (major, minor) that the driver supports.
    pub(super) driver: Option<(u32, u32)>,
    /// The compute capability (major, minor) of the device.
    pub(super) compute_capability: Option<(u32, u32)>,
}

impl Fit {
    /// Checks whether a compiler is suitable. Returns `None` for a suitable compiler. Otherwise
    /// returns the reason, worded as the end of a sentence that begins with the compiler's path.
    /// `version` is the compiler's version (major, minor), and `architectures` are the
    /// architectures that it supports (75 for compute capability 7.5).
    pub(super) fn refusal(&self, version: (u32, u32), architectures: &[u32]) -> Option<String> {
        let (major, minor) = version;
        if let Some(driver) = self.driver.filter(|driver| major > driver.0) {
            let (dmajor, dminor) = driver;
            return Some(format!(
                "is version {major}.{minor}, newer than the driver's CUDA {dmajor}.{dminor}"
            ));
        }
        let device = self.compute_capability?;
        architecture_for(architectures, device).is_none().then(|| {
            format!(
                "is version {major}.{minor}, which cannot compile for compute capability {}.{}",
                device.0, device.1
            )
        })
    }

    /// Returns the error for the case that no suitable compiler was found. Its message says in one
    /// line how to install a suitable compiler. `chosen` is the path in `WARPINT_NVRTC`, if set;
    /// `unfit` describes the first unsuitable compiler, if one was found.
    pub(super) fn missing(&self, chosen: Option<&Path>, unfit: Option<&str>) -> DeviceError {
        let wheel = self.wheel();
        DeviceError::NoCompiler(match (chosen, unfit) {
            (Some(_), Some(unfit)) => format!(
                "WARPINT_NVRTC does not name a usable run-time compiler (NVRTC): {unfit} \
                 (unset it and run: pip install '{wheel}')"
            ),
            (Some(chosen), None) => format!(
                "WARPINT_NVRTC={} is neither libnvrtc.so nor a folder that contains it \
                 (unset it and run: pip install '{wheel}')",
                chosen.display()
            ),
            (None, Some(unfit)) => format!(
                "no suitable run-time compiler (NVRTC) was found: {unfit} \
                 (pip install '{wheel}', or set WARPINT_NVRTC to libnvrtc.so)"
            ),
            (None, None) => format!(
                "no run-time compiler (NVRTC) was found \
                 (pip install '{wheel}', or set WARPINT_NVRTC to libnvrtc.so)"
            ),
        })
    }

    /// Returns the name of the Python wheel that contains a compiler suitable for this driver and
    /// device, for `pip install`.
    fn wheel(&self) -> &'static str {
        let old_driver = self.driver.is_some_and(|(major, _)| major < 13);
        let old_device = self.compute_capability.is_some_and(|device| device < OLDEST_OF_13);
        if old_driver || old_device {
            "nvidia-cuda-nvrtc-cu12"
        } else {
            "nvidia-cuda-nvrtc==13.0.*"
        }
    }
}

/// Returns the newest of the `architectures` (75 for compute capability 7.5) whose machine code
/// runs on a device of the compute capability `device` (major, minor). Machine code runs on devices
/// with the same major number and the same or a later minor number. Returns `None` if none of the
/// `architectures` is suitable.
pub(super) fn architecture_for(architectures: &[u32], device: (u32, u32)) -> Option<u32> {
    let (major, minor) = device;
    let runs_on_it = |&a: &u32| a / 10 == major && a % 10 <= minor;
    architectures.iter().copied().filter(runs_on_it).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OF_12_8: [u32; 12] = [50, 52, 60, 61, 70, 75, 80, 86, 89, 90, 100, 120];
    const OF_13_0: [u32; 11] = [75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120];

    fn fit(driver: Option<(u32, u32)>, device: Option<(u32, u32)>) -> Fit {
        Fit { driver, compute_capability: device }
    }

    #[test]
    fn a_compiler_is_at_most_as_new_as_the_driver() {
        let h200 = Some((9, 0));
        assert_eq!(fit(Some((13, 0)), h200).refusal((13, 0), &OF_13_0), None);
        // The driver accepts a later minor version of the same major version.
        assert_eq!(fit(Some((12, 0)), h200).refusal((12, 8), &OF_12_8), None);
        assert_eq!(fit(Some((13, 0)), h200).refusal((12, 8), &OF_12_8), None);
        let reason = fit(Some((12, 4)), h200).refusal((13, 0), &OF_13_0);
        assert_eq!(reason.as_deref(), Some("is version 13.0, newer than the driver's CUDA 12.4"));
        assert_eq!(fit(None, None).refusal((13, 0), &OF_13_0), None);
    }

    #[test]
    fn a_compiler_knows_the_device() {
        let reason = fit(Some((13, 0)), Some((7, 0))).refusal((13, 0), &OF_13_0);
        assert!(reason.is_some_and(|r| r.ends_with("compute capability 7.0")));
        for (device, architecture) in
            [((9, 0), Some(90)), ((10, 3), Some(100)), ((12, 1), Some(120)), ((11, 0), None)]
        {
            assert_eq!(architecture_for(&OF_12_8, device), architecture);
        }
        assert_eq!(architecture_for(&OF_13_0, (10, 3)), Some(103));
        assert_eq!(architecture_for(&OF_13_0, (8, 0)), Some(80));
    }

    #[test]
    fn a_missing_compiler_is_one_line_with_the_wheel_of_this_driver() {
        for (driver, device, wheel) in [
            (Some((13, 0)), Some((9, 0)), "'nvidia-cuda-nvrtc==13.0.*'"),
            (Some((14, 1)), Some((9, 0)), "'nvidia-cuda-nvrtc==13.0.*'"),
            (Some((12, 4)), Some((9, 0)), "'nvidia-cuda-nvrtc-cu12'"),
            (Some((13, 0)), Some((7, 0)), "'nvidia-cuda-nvrtc-cu12'"),
            (None, None, "'nvidia-cuda-nvrtc==13.0.*'"),
        ] {
            for unfit in [None, Some("/x/libnvrtc.so.13 is version 13.0, newer than …")] {
                for chosen in [None, Some(Path::new("/x"))] {
                    let text = fit(driver, device).missing(chosen, unfit).to_string();
                    assert!(text.contains(wheel) && text.contains("WARPINT_NVRTC"), "{text}");
                    assert!(unfit.is_none_or(|u| text.contains(u)), "{text}");
                    assert_eq!(text.lines().count(), 1, "{text}");
                }
            }
        }
    }
}
