//! Every part against its slow, obvious version.

mod fft;
mod lanes;
