//! The native part of the Python package `warpint`: conversions between Python and the library, and
//! exceptions for its errors. The classes that users see are written in Python, in
//! `python/warpint`; they combine the operations of [`batch::Batch`].

mod batch;
mod choice;
mod collatz;
mod dlpack;
mod ending;
mod error;
mod failure;
mod huge;
mod keys;
mod modulus;
mod operations;
mod place;
mod primality;
mod transform;
mod watched;
mod work;

use pyo3::prelude::*;

/// Panics as work of the library, to test that a panic becomes an exception.
#[cfg(feature = "faults")]
#[pyfunction]
#[allow(clippy::panic)]
pub(crate) fn panic_for_test(py: Python<'_>, text: &str) -> PyResult<()> {
    work::work(py, || panic!("{text}"))
}

/// The native part of the package.
#[pymodule]
mod _warpint {
    #[pymodule_export]
    use crate::batch::{Batch, FlagArray};
    #[pymodule_export]
    use crate::collatz::delay::{collatz_delay, collatz_delays, collatz_path};
    #[pymodule_export]
    use crate::collatz::merge::collatz_merge;
    #[pymodule_export]
    use crate::collatz::verify::collatz_verify;
    #[pymodule_export]
    use crate::dlpack::import::{from_capsule, from_cuda_address, from_exchange_api};
    #[pymodule_export]
    use crate::ending::end;
    #[pymodule_export]
    use crate::error::DeviceError;
    #[pymodule_export]
    use crate::huge::huge_calculate;
    #[pymodule_export]
    use crate::keys::audit;
    #[pymodule_export]
    use crate::modulus::{PreparedBase, PreparedModulus};
    #[cfg(feature = "faults")]
    #[pymodule_export]
    use crate::panic_for_test;
    #[pymodule_export]
    use crate::place::{list_devices, nvrtc, search_nvrtc_in, stream, synchronize};
    #[pymodule_export]
    use crate::primality::{check_exponent, parse_number, run_test};
    #[pymodule_export]
    use crate::transform::{transform, transform_root};

    #[pymodule_init]
    fn init() {
        crate::work::silence_panics();
    }
}
