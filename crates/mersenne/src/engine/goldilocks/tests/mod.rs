//! Every part against its slow, obvious version.

mod fft;
mod lanes;
mod machine;
mod margin;
