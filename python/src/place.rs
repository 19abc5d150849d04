//! The executors of a process: the CPU, and each device that has been opened.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use warpint::device::{Device, Nvrtc, Warned};
use warpint::integer::gpu::Gpu;
use warpint::integer::{Executor, IntegerError};

use crate::ending::is_ending;
use crate::error::device_exception;
use crate::work::work;

/// The executors by name. Each device is opened once, because batches of two openings of a device
/// cannot be combined.
static EXECUTORS: Mutex<BTreeMap<String, Executor>> = Mutex::new(BTreeMap::new());

/// Returns the executor with the name `cpu`, `cuda:0`, …, or `sim`. Opens the device if needed, with
/// the prices of methods that `warpint tune batch` has stored.
pub(crate) fn executor(name: &str) -> Result<Executor, IntegerError> {
    let (executor, warning) = open(name)?;
    // Here the executors are not locked: another thread may wait for them with Python's lock.
    if let Some(warning) = warning
        && !is_ending()
    {
        Python::attach(|py| {
            let logger = || py.import("logging")?.getattr("getLogger")?.call1(("warpint",));
            let logged =
                logger().and_then(|logger| logger.call_method1("warning", ("%s", warning)));
            if let Err(error) = logged {
                error.write_unraisable(py, None);
            }
        });
    }
    Ok(executor)
}

/// Returns an executor, and a warning if the stored prices of its device could not be used.
fn open(name: &str) -> Result<(Executor, Option<String>), IntegerError> {
    let mut executors = EXECUTORS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(executor) = executors.get(name) {
        return Ok((executor.clone(), None));
    }
    let (executor, warning) = if name == "cpu" {
        (Executor::cpu(), None)
    } else {
        let Warned { value: gpu, warning } = Gpu::tuned(&Device::open(name)?);
        (gpu.into(), warning)
    };
    executors.insert(name.into(), executor.clone());
    Ok((executor, warning))
}

/// Returns the name of an executor, by which [`executor`] finds it.
pub(crate) fn name(executor: &Executor) -> String {
    executor.device().map_or_else(|| "cpu".into(), |device| device.info().id.clone())
}

/// Returns the index of a CUDA device in the driver's order; `None` for the CPU and the simulator.
pub(crate) fn cuda_index(executor: &Executor) -> Option<i32> {
    executor.device()?.info().id.strip_prefix("cuda:")?.parse().ok()
}

/// The name and the model of a GPU.
type Named = (String, String);

/// Returns the names and models of the GPUs, and the reasons why none was found. Opens none.
#[pyfunction]
pub(crate) fn list_devices(py: Python<'_>) -> PyResult<(Vec<Named>, Vec<String>)> {
    let list = work(py, || Ok(Device::list()))?;
    Ok((list.devices.into_iter().map(|info| (info.id, info.name)).collect(), list.missing))
}

/// Returns the driver's handle of the stream on which a device works; `None` without streams.
#[pyfunction]
pub(crate) fn stream(py: Python<'_>, device: &str) -> PyResult<Option<u64>> {
    work(py, || Ok(executor(device)?.device().and_then(Device::stream)))
}

/// Waits until the device has done all submitted work. Does nothing on the CPU.
#[pyfunction]
pub(crate) fn synchronize(py: Python<'_>, device: &str) -> PyResult<()> {
    work(py, || match executor(device)?.device() {
        Some(device) => Ok(device.synchronize()?),
        None => Ok(()),
    })
}

/// Adds a Python installation, whose root folder is `prefix`, to the places where the run-time
/// compiler NVRTC is searched for.
#[pyfunction]
pub(crate) fn search_nvrtc_in(prefix: &str) {
    Nvrtc::also_search_python(Path::new(prefix));
}

/// Returns the path and the version (major, minor) of the run-time compiler NVRTC that GPUs use.
#[pyfunction]
pub(crate) fn nvrtc(py: Python<'_>) -> PyResult<(String, (u32, u32))> {
    let found = work(py, || Ok(Nvrtc::find(None)))?.map_err(|error| device_exception(&error))?;
    Ok((found.path().display().to_string(), found.version()))
}
