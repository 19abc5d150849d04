//! Compares every part with its slow, obvious version.

mod fft;
mod lanes;
