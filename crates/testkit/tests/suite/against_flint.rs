//! Compares the speed and the results of products by `warpint-natural` with those of FLINT, on one
//! thread.

use std::ffi::{CStr, c_char, c_int};
use std::hint::black_box;

use warpint_bench::library::{self, Library, symbol};
use warpint_natural::product::Products;

use crate::in_turns::{number, print, times};

/// The functions of FLINT that are measured. For long factors they call `fft_small`, FLINT's
/// products by transforms over 50-bit primes. `slong` and `ulong` of FLINT have the size of a
/// pointer.
struct Flint {
    version: *const c_char,
    mul: unsafe extern "C" fn(*mut u64, *const u64, *const u64, isize),
    square: unsafe extern "C" fn(*mut u64, *const u64, isize) -> u64,
    set_threads: unsafe extern "C" fn(c_int),
    /// Keeps the library loaded, because the functions above are valid only until it is unloaded.
    _library: Library,
}

impl Flint {
    /// Loads the library at `path` and sets its number of threads to 1. Returns `None` if the
    /// library cannot be loaded, lacks a function, or was built without `fft_small`.
    fn load(path: &str) -> Option<Self> {
        // SAFETY: the initialisers of FLINT and of the libraries that it loads (GMP, MPFR) do not
        // touch memory of this program.
        let flint = unsafe { library::first(&[path], Self::of) }?;
        // SAFETY: no thread is in a function of FLINT.
        unsafe { (flint.set_threads)(1) };
        Some(flint)
    }

    /// Finds the functions in the library.
    fn of(library: Library) -> Option<Self> {
        let l = &library;
        // SAFETY: the types are those of flint.h, mpn_extras.h and fft_small.h, where a limb has 64
        // bits.
        unsafe {
            let _: *const () = symbol(l, b"mpn_mul_default_mpn_ctx\0")?;
            Some(Self {
                version: symbol(l, b"flint_version\0")?,
                mul: symbol(l, b"_flint_mpn_mul_n\0")?,
                square: symbol(l, b"_flint_mpn_sqr\0")?,
                set_threads: symbol(l, b"flint_set_num_threads\0")?,
                _library: library,
            })
        }
    }

    /// Returns the version of the library, such as `3.3.1`.
    fn version(&self) -> String {
        // SAFETY: flint.h declares an array of characters. It ends in 0, and is valid while the
        // library is loaded.
        unsafe { CStr::from_ptr(self.version) }.to_string_lossy().into_owned()
    }
}

/// Multiplies two numbers of n limbs. Returns the times of warpint and of FLINT in ns.
fn product(flint: &Flint, n: usize) -> [f64; 2] {
    let (a, b, mut products) = (number(n, 1), number(n, 2), Products::default());
    let [mut out, mut peers] = [vec![0; 2 * n], vec![0; 2 * n]];
    let times = times(
        || products.mul(black_box(&mut out), black_box(&a), black_box(&b)),
        || {
            let (out, a, b) = (black_box(&mut peers), black_box(&a), black_box(&b));
            // SAFETY: `out` has 2n limbs, a and b have n limbs, and `out` overlaps neither.
            unsafe { (flint.mul)(out.as_mut_ptr(), a.as_ptr(), b.as_ptr(), n as isize) };
        },
    );
    assert!(out == peers, "a product of {n} limbs");
    times
}

/// Squares a number of n limbs. Returns the times of warpint and of FLINT in ns.
fn square(flint: &Flint, n: usize) -> [f64; 2] {
    let (a, mut products) = (number(n, 1), Products::default());
    let [mut out, mut peers] = [vec![0; 2 * n], vec![0; 2 * n]];
    let times = times(
        || products.square(black_box(&mut out), black_box(&a)),
        || {
            let (out, a) = (black_box(&mut peers), black_box(&a));
            // SAFETY: `out` has 2n limbs, a has n limbs, and they do not overlap.
            unsafe { (flint.square)(out.as_mut_ptr(), a.as_ptr(), n as isize) };
        },
    );
    assert!(out == peers, "a square of {n} limbs");
    times
}

/// Prints the times of both programs, and the time of `warpint-natural` divided by that of FLINT.
/// The environment variable `WARPINT_FLINT` has the path of FLINT's shared library.
#[test]
#[ignore = "a measurement"]
fn times_of_both() {
    let Ok(path) = std::env::var("WARPINT_FLINT") else {
        println!("not measured: WARPINT_FLINT must be the path of libflint.so");
        return;
    };
    let Some(flint) = Flint::load(&path) else {
        println!("not measured: {path} cannot be loaded, or is a FLINT without fft_small");
        return;
    };
    println!("FLINT {}", flint.version());
    // From 2^14 to 2^26 bits, with three lengths between two powers of two.
    let lengths =
        || (8..=20).flat_map(|k| [4, 5, 6, 7].map(|x| x << k >> 2)).filter(|&n| n <= 1 << 20);
    print("product", "FLINT", lengths(), |n| product(&flint, n));
    print("square", "FLINT", lengths(), |n| square(&flint, n));
}
