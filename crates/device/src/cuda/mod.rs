//! Devices driven by NVIDIA's driver.

mod driver;
mod properties;

pub(crate) use driver::Driver;
