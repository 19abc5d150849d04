//! Compares transforms and lanes with slow, obvious computations.

mod fft;
mod lanes;
