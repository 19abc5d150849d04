//! FFTW as a peer: a real FFT and its inverse, computed on one thread by the FFTW library that is
//! installed on this machine.
//!
//! The library is loaded when a benchmark on the CPU starts. Nothing else in the program uses it.

use std::ffi::{c_int, c_uint, c_void};
use std::time::{Duration, Instant};

use libloading::Library;

use crate::library::{self, symbol};

/// The longest time in seconds that FFTW may search for the fastest plan of one of the two
/// transforms. The search may take somewhat longer, because FFTW checks the time only between its
/// measurements.
const SEARCH_SECONDS: f64 = 5.0;
/// The flag `FFTW_MEASURE`: plans are chosen by measurement.
const MEASURE: c_uint = 0;

/// A plan of FFTW: a pointer to a structure of FFTW, which this program does not read.
type RawPlan = *mut c_void;

/// The functions of FFTW that the benchmark calls.
#[derive(Debug)]
pub(super) struct Fftw {
    alloc_real: unsafe extern "C" fn(usize) -> *mut f64,
    free: unsafe extern "C" fn(*mut c_void),
    set_time_limit: unsafe extern "C" fn(f64),
    plan_forward: unsafe extern "C" fn(c_int, *mut f64, *mut f64, c_uint) -> RawPlan,
    plan_inverse: unsafe extern "C" fn(c_int, *mut f64, *mut f64, c_uint) -> RawPlan,
    execute: unsafe extern "C" fn(RawPlan),
    destroy_plan: unsafe extern "C" fn(RawPlan),
    /// Keeps the library loaded, because the functions above are valid only until it is unloaded.
    _library: Library,
}

/// The file names of the library: two on Linux, one on macOS and one on Windows.
const NAMES: [&str; 4] = ["libfftw3.so.3", "libfftw3.so", "libfftw3.3.dylib", "libfftw3-3.dll"];

impl Fftw {
    /// Loads the library. Returns `None` if it is not installed or lacks a function.
    pub(super) fn load() -> Option<Self> {
        // SAFETY: the initialisers of FFTW do not touch memory of this program.
        unsafe { library::first(&NAMES, Self::of) }
    }

    /// Finds the functions in the library.
    fn of(library: Library) -> Option<Self> {
        let l = &library;
        // SAFETY: the fields have the types that fftw3.h declares for these functions, except that
        // arrays of complex numbers are arrays of real numbers here, which have the same layout.
        unsafe {
            Some(Self {
                alloc_real: symbol(l, b"fftw_alloc_real\0")?,
                free: symbol(l, b"fftw_free\0")?,
                set_time_limit: symbol(l, b"fftw_set_timelimit\0")?,
                plan_forward: symbol(l, b"fftw_plan_dft_r2c_1d\0")?,
                plan_inverse: symbol(l, b"fftw_plan_dft_c2r_1d\0")?,
                execute: symbol(l, b"fftw_execute\0")?,
                destroy_plan: symbol(l, b"fftw_destroy_plan\0")?,
                _library: library,
            })
        }
    }

    /// Plans a real FFT of `length` numbers of type `f64`, and its inverse. Returns `None` if
    /// `length` is 0 or exceeds a C `int`, or if FFTW allocates no memory or finds no plan.
    pub(super) fn pair(&self, length: usize) -> Option<Pair<'_>> {
        let n = c_int::try_from(length).ok().filter(|&n| n > 0)?;
        let spectrum_length = 2 * (length / 2 + 1);
        // SAFETY: the function only allocates memory.
        let arrays = unsafe { [(self.alloc_real)(length), (self.alloc_real)(spectrum_length)] };
        let mut pair = Pair { fftw: self, length, arrays, plans: [std::ptr::null_mut(); 2] };
        if arrays.iter().any(|array| array.is_null()) {
            return None;
        }
        let [signal, spectrum] = arrays;
        // SAFETY: both arrays have been allocated with these lengths. FFTW requires n numbers of
        // the signal and ⌊n/2⌋ + 1 complex numbers of the spectrum.
        pair.plans = unsafe {
            signal.write_bytes(0, length);
            spectrum.write_bytes(0, spectrum_length);
            (self.set_time_limit)(SEARCH_SECONDS);
            [
                (self.plan_forward)(n, signal, spectrum, MEASURE),
                (self.plan_inverse)(n, spectrum, signal, MEASURE),
            ]
        };
        if pair.plans.iter().any(|plan| plan.is_null()) {
            return None;
        }
        pair.signal().iter_mut().enumerate().for_each(|(j, x)| *x = (j % 7) as f64 - 3.0);
        Some(pair)
    }
}

/// The plans of a real FFT and of its inverse, with their arrays.
#[derive(Debug)]
pub(super) struct Pair<'a> {
    fftw: &'a Fftw,
    length: usize,
    /// The signal and the spectrum.
    arrays: [*mut f64; 2],
    plans: [RawPlan; 2],
}

impl Drop for Pair<'_> {
    fn drop(&mut self) {
        for plan in self.plans.into_iter().filter(|plan| !plan.is_null()) {
            // SAFETY: FFTW made the plan. It is destroyed once, and not used afterwards.
            unsafe { (self.fftw.destroy_plan)(plan) }
        }
        for array in self.arrays {
            // SAFETY: FFTW allocated the array, or it is null, which `fftw_free` ignores.
            unsafe { (self.fftw.free)(array.cast()) }
        }
    }
}

impl Pair<'_> {
    /// Returns the signal, `length` numbers.
    fn signal(&mut self) -> &mut [f64] {
        // SAFETY: the array has `length` numbers, which `Fftw::pair` has initialised. It belongs to
        // this pair, which is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.arrays[0], self.length) }
    }

    /// Executes the FFT and its inverse. Together they multiply the signal by its length.
    fn execute(&mut self) {
        for plan in self.plans {
            // SAFETY: FFTW made the plan for the arrays of this pair, which is borrowed mutably.
            unsafe { (self.fftw.execute)(plan) }
        }
    }

    /// Repeats the FFT and its inverse until more time than `budget` has passed. Returns the
    /// shortest time of both together.
    pub(super) fn time(&mut self, budget: Duration) -> Duration {
        let scale = 1.0 / self.length as f64;
        let mut least = Duration::MAX;
        let begin = Instant::now();
        loop {
            let lap = Instant::now();
            self.execute();
            least = least.min(lap.elapsed());
            // Keeps the numbers bounded, outside the measured time.
            self.signal().iter_mut().for_each(|x| *x *= scale);
            if begin.elapsed() > budget {
                return least;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that the FFT and its inverse return the signal. Tests nothing if FFTW is not
    /// installed.
    #[test]
    fn the_inverse_returns_the_signal() {
        let Some(fftw) = Fftw::load() else { return };
        assert!(fftw.pair(0).is_none());
        for length in [2, 7, 1000] {
            let mut pair = fftw.pair(length).unwrap();
            let signal = pair.signal().to_vec();
            assert!(pair.time(Duration::ZERO) < Duration::MAX);
            let same = pair.signal().iter().zip(&signal).all(|(x, y)| (x - y).abs() < 1e-9);
            assert!(same, "{length} numbers");
        }
    }
}
