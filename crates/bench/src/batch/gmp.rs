//! GMP as a peer: the operations of the benchmark on the same operands and with the same number of
//! threads, computed by the GMP library that is installed on this machine.
//!
//! The library is loaded when a benchmark on the CPU starts. Nothing else in the program uses it.

use std::ffi::{CStr, c_char, c_int, c_long, c_ulong};
use std::ptr;
use std::time::{Duration, Instant};

use libloading::Library;
use rayon::prelude::*;

use super::operands::Operands;
use super::operation::{halves, joined};
use super::{Listed, Operation, Work};
use crate::library::{self, symbol};

/// The number of instances (numbers of a batch) that a thread computes at a time.
const CHUNK: usize = 64;

/// A natural number in GMP's representation (`mpz_t`): the number of allocated limbs, the number of
/// limbs used, and the limbs.
#[repr(C)]
#[derive(Debug)]
struct Mpz {
    allocated: c_int,
    used: c_int,
    limbs: *mut u64,
}

impl Mpz {
    fn unset() -> Self {
        Self { allocated: 0, used: 0, limbs: ptr::null_mut() }
    }
}

/// A function of three numbers: result, first and second operand.
type Three = unsafe extern "C" fn(*mut Mpz, *const Mpz, *const Mpz);
/// A function on numbers of n limbs: result, first and second operand, and n. Returns the carry or
/// the borrow.
type Rows = unsafe extern "C" fn(*mut u64, *const u64, *const u64, c_long) -> u64;

/// The functions of GMP that the benchmark calls. `Gmp::of` has their names in GMP.
#[derive(Debug)]
pub(super) struct Gmp {
    version: String,
    add: Rows,
    sub: Rows,
    mul: unsafe extern "C" fn(*mut u64, *const u64, *const u64, c_long),
    square: unsafe extern "C" fn(*mut u64, *const u64, c_long),
    divide:
        unsafe extern "C" fn(*mut u64, *mut u64, c_long, *const u64, c_long, *const u64, c_long),
    square_root: unsafe extern "C" fn(*mut u64, *mut u64, *const u64, c_long) -> c_long,
    view: unsafe extern "C" fn(*mut Mpz, *const u64, c_long) -> *const Mpz,
    init: unsafe extern "C" fn(*mut Mpz),
    clear: unsafe extern "C" fn(*mut Mpz),
    gcd: Three,
    invert: unsafe extern "C" fn(*mut Mpz, *const Mpz, *const Mpz) -> c_int,
    power: unsafe extern "C" fn(*mut Mpz, *const Mpz, *const Mpz, *const Mpz),
    probable_prime: unsafe extern "C" fn(*const Mpz, c_int) -> c_int,
    /// Keeps the library loaded, because the functions above are valid only until it is unloaded.
    _library: Library,
}

/// The number of repetitions that selects the Baillie–PSW test alone in `mpz_probab_prime_p` of GMP
/// 6.2 and later. Earlier versions compute as many strong tests.
const BAILLIE_PSW: c_int = 24;

/// The file names of the library: two on Linux, one on macOS and one on Windows.
const NAMES: [&str; 4] = ["libgmp.so.10", "libgmp.so", "libgmp.10.dylib", "libgmp-10.dll"];

impl Gmp {
    /// Loads the library. Returns `None` if it is not installed, lacks a function, or has limbs of
    /// another size than 64 bits.
    pub(super) fn load() -> Option<Self> {
        // SAFETY: the initialisers of GMP do not touch memory of this program.
        unsafe { library::first(&NAMES, Self::of) }
    }

    /// Finds the functions in the library.
    fn of(library: Library) -> Option<Self> {
        let l = &library;
        // SAFETY: these are the types of gmp.h.
        let (bits, version): (*const c_int, *const *const c_char) =
            unsafe { (symbol(l, b"__gmp_bits_per_limb\0")?, symbol(l, b"__gmp_version\0")?) };
        // SAFETY: gmp.h declares a constant of type `int`, which is valid while the library is
        // loaded.
        if unsafe { *bits } != 64 || size_of::<c_ulong>() != size_of::<u64>() {
            return None;
        }
        // SAFETY: gmp.h declares a constant pointer to a string that ends in 0. Both are valid
        // while the library is loaded.
        let version = unsafe { CStr::from_ptr(*version) }.to_string_lossy().into_owned();
        // SAFETY: the fields have the types that gmp.h declares for these functions.
        unsafe {
            Some(Self {
                version,
                add: symbol(l, b"__gmpn_add_n\0")?,
                sub: symbol(l, b"__gmpn_sub_n\0")?,
                mul: symbol(l, b"__gmpn_mul_n\0")?,
                square: symbol(l, b"__gmpn_sqr\0")?,
                divide: symbol(l, b"__gmpn_tdiv_qr\0")?,
                square_root: symbol(l, b"__gmpn_sqrtrem\0")?,
                view: symbol(l, b"__gmpz_roinit_n\0")?,
                init: symbol(l, b"__gmpz_init\0")?,
                clear: symbol(l, b"__gmpz_clear\0")?,
                gcd: symbol(l, b"__gmpz_gcd\0")?,
                invert: symbol(l, b"__gmpz_invert\0")?,
                power: symbol(l, b"__gmpz_powm\0")?,
                probable_prime: symbol(l, b"__gmpz_probab_prime_p\0")?,
                _library: library,
            })
        }
    }

    /// Returns the version of the library, such as `6.3.0`.
    pub(super) fn version(&self) -> &str {
        &self.version
    }
}

/// The operands and results of one row of the benchmark's table, in limbs of 64 bits.
#[derive(Debug)]
pub(super) struct Batches {
    a: Numbers,
    b: Numbers,
    moduli: Numbers,
    out: Numbers,
    /// The remainders of divisions and square roots.
    rests: Numbers,
    /// How many 32-bit limbs a result has, and how many a remainder has.
    result_limbs: [usize; 2],
}

/// Numbers of `width` limbs of 64 bits each, one after the other.
#[derive(Debug)]
struct Numbers {
    limbs: Vec<u64>,
    width: usize,
}

impl Numbers {
    /// Converts the first `count` numbers of `width` 32-bit limbs in `from`. If there are fewer,
    /// the result is empty.
    fn new(from: &[u32], count: usize, width: usize) -> Self {
        let numbers = if width == 0 { &[] } else { from.get(..count * width).unwrap_or(&[]) };
        let limbs = numbers.chunks(width.max(1)).flat_map(joined).collect();
        Self { limbs, width: width.div_ceil(2) }
    }

    fn zeros(count: usize, width: usize) -> Self {
        let width = width.div_ceil(2);
        Self { limbs: vec![0; count * width], width }
    }

    /// Returns the limbs of number i, or no limbs if there are no numbers.
    fn get(&self, i: usize) -> &[u64] {
        self.limbs.get(i * self.width..(i + 1) * self.width).unwrap_or(&[])
    }
}

impl Batches {
    /// Converts the operands of a row. Returns `None` if GMP is not measured for the operation.
    pub(super) fn new(work: &Work, operands: &Operands) -> Option<Self> {
        let Operation::Listed(_) = work.operation else { return None };
        let (count, limbs) = (work.count, work.limbs);
        let modulus_limbs = if work.operation.is_modular() { limbs } else { 0 };
        let (results, rests) =
            (work.operation.result_limbs(limbs), work.operation.remainder_limbs(limbs));
        // For factors of n limbs of 32 bits, GMP writes products of 2·⌈n/2⌉ limbs of 64 bits.
        let whole = if results == 2 * limbs { 4 * limbs.div_ceil(2) } else { results };
        Some(Self {
            a: Numbers::new(&operands.a, count, limbs),
            b: Numbers::new(&operands.b, count, work.operation.b_limbs(limbs)),
            moduli: Numbers::new(&operands.moduli(work), count, modulus_limbs),
            out: Numbers::zeros(count, whole),
            rests: Numbers::zeros(count, rests),
            result_limbs: [results, rests],
        })
    }

    /// Returns the 32-bit limbs of the result of instance i, and those of the remainder after them.
    pub(super) fn result(&self, i: usize) -> Vec<u32> {
        let [result, rest] = self.result_limbs;
        [halves(self.out.get(i), result), halves(self.rests.get(i), rest)].concat()
    }

    /// Computes all results on all threads of rayon's current pool, and returns the time.
    pub(super) fn run(&mut self, gmp: &Gmp, operation: Listed) -> Duration {
        let Self { a, b, moduli, out, rests, .. } = self;
        let (out_width, rest_width) = (out.width, rests.width);
        // If the operation has no remainders, each instance gets an empty slice.
        let begin = Instant::now();
        let chunks = out.limbs.par_chunks_mut(CHUNK * out_width).enumerate();
        if rest_width == 0 {
            chunks.for_each_init(
                || Temporaries::new(gmp),
                |space, (chunk, out)| {
                    for (j, out) in out.chunks_exact_mut(out_width).enumerate() {
                        let i = chunk * CHUNK + j;
                        space.compute(operation, [a.get(i), b.get(i), moduli.get(i)], out, &mut []);
                    }
                },
            );
        } else {
            let rests = rests.limbs.par_chunks_mut(CHUNK * rest_width);
            chunks.zip(rests).for_each_init(
                || Temporaries::new(gmp),
                |space, ((chunk, out), rests)| {
                    let rests = rests.chunks_exact_mut(rest_width);
                    for (j, (out, rest)) in out.chunks_exact_mut(out_width).zip(rests).enumerate() {
                        let i = chunk * CHUNK + j;
                        space.compute(operation, [a.get(i), b.get(i), &[]], out, rest);
                    }
                },
            );
        }
        begin.elapsed()
    }
}

/// The temporary memory of a thread.
struct Temporaries<'a> {
    gmp: &'a Gmp,
    number: Mpz,
    limbs: Vec<u64>,
}

impl Drop for Temporaries<'_> {
    fn drop(&mut self) {
        // SAFETY: `number` was initialised by `init`.
        unsafe { (self.gmp.clear)(&mut self.number) }
    }
}

impl<'a> Temporaries<'a> {
    fn new(gmp: &'a Gmp) -> Self {
        let mut number = Mpz::unset();
        // SAFETY: `init` sets all fields of the number.
        unsafe { (gmp.init)(&mut number) };
        Self { gmp, number, limbs: vec![] }
    }

    /// Computes one result. `a`, `b` and the modulus m are the operands. An operand that the
    /// operation does not have has no limbs. If no result exists, or a divisor or a number under a
    /// root is 0, `out` and `rest` do not change.
    fn compute(
        &mut self,
        operation: Listed,
        [a, b, m]: [&[u64]; 3],
        out: &mut [u64],
        rest: &mut [u64],
    ) {
        let gmp = self.gmp;
        let n = a.len() as c_long;
        let product = |out: &mut [u64]| {
            assert!(b.len() == a.len() && out.len() >= 2 * a.len(), "wrong lengths of a product");
            // SAFETY: by the assertion, both factors have n limbs, and `out` has at least 2n. As a
            // mutable borrow, `out` does not overlap them.
            unsafe { (gmp.mul)(out.as_mut_ptr(), a.as_ptr(), b.as_ptr(), n) }
        };
        match operation {
            Listed::Add | Listed::Subtract => {
                assert!(b.len() == a.len() && out.len() == a.len(), "wrong lengths of a sum");
                let f = if operation == Listed::Add { gmp.add } else { gmp.sub };
                // SAFETY: by the assertion, all three numbers have n limbs. As a mutable borrow,
                // `out` does not overlap the others.
                let _ = unsafe { f(out.as_mut_ptr(), a.as_ptr(), b.as_ptr(), n) };
            }
            Listed::Multiply => product(out),
            Listed::MultiplyLow => {
                self.limbs.resize(2 * a.len(), 0);
                product(&mut self.limbs);
                out.copy_from_slice(&self.limbs[..a.len()]);
            }
            Listed::Square => {
                assert!(out.len() >= 2 * a.len(), "wrong length of a square");
                // SAFETY: a has n limbs. By the assertion, `out` has at least 2n. As a mutable
                // borrow, it does not overlap a.
                unsafe { (gmp.square)(out.as_mut_ptr(), a.as_ptr(), n) }
            }
            Listed::Divide => {
                let d = significant(b);
                if d == 0 {
                    return;
                }
                assert!(
                    a.len() >= d && out.len() > a.len() - d && rest.len() >= d,
                    "wrong lengths of a division"
                );
                let (q, r) = (out.as_mut_ptr(), rest.as_mut_ptr());
                // SAFETY: GMP writes n − d + 1 limbs of the quotient and d limbs of the remainder,
                // for which the assertion finds room. `significant` has found that limb d − 1 of
                // the divisor is not 0. As mutable borrows, the results overlap nothing.
                unsafe { (gmp.divide)(q, r, 0, a.as_ptr(), n, b.as_ptr(), d as c_long) }
            }
            Listed::SquareRoot => {
                let n = significant(a);
                if n == 0 {
                    return;
                }
                assert!(out.len() >= n.div_ceil(2), "wrong length of a root");
                self.limbs.clear();
                self.limbs.resize(n.max(rest.len()), 0);
                let (s, r) = (out.as_mut_ptr(), self.limbs.as_mut_ptr());
                // SAFETY: GMP writes ⌈n/2⌉ limbs of the root, for which the assertion finds room,
                // and up to n limbs of the remainder; `limbs` has at least n. `significant` has
                // found that limb n − 1 of a is not 0.
                let used = unsafe { (gmp.square_root)(s, r, a.as_ptr(), n as c_long) };
                // GMP leaves the limbs above the remainder undefined.
                self.limbs[usize::try_from(used).unwrap_or(0)..].fill(0);
                rest.copy_from_slice(&self.limbs[..rest.len()]);
            }
            Listed::ProbablePrime => {
                let mut number = Mpz::unset();
                // SAFETY: `a` is valid for reading n limbs, and outlives the view, through which GMP
                // only reads.
                let view = unsafe { (gmp.view)(&mut number, a.as_ptr(), n) };
                // SAFETY: `view` is a view of a natural number.
                out[0] = u64::from(unsafe { (gmp.probable_prime)(view, BAILLIE_PSW) } != 0);
            }
            Listed::Gcd | Listed::Inverse | Listed::Power => {
                if self.number_of(operation, [a, b, m]) {
                    self.write(out);
                }
            }
        }
    }

    /// Sets `number` to the result of a gcd, an inverse or a power. Returns false if no result
    /// exists.
    fn number_of(&mut self, operation: Listed, operands: [&[u64]; 3]) -> bool {
        let gmp = self.gmp;
        let mut views = [Mpz::unset(), Mpz::unset(), Mpz::unset()];
        for (view, limbs) in views.iter_mut().zip(operands) {
            // SAFETY: `limbs` is valid for reading `limbs.len()` limbs, and outlives the view,
            // through which GMP only reads.
            let _ = unsafe { (gmp.view)(view, limbs.as_ptr(), limbs.len() as c_long) };
        }
        let [a, b, m] = &views;
        let to = &mut self.number;
        // SAFETY: all operands are views of natural numbers, and `to` was initialised by `init`.
        // The moduli of the benchmark are odd, so GMP does not divide by 0.
        unsafe {
            match operation {
                Listed::Gcd => (gmp.gcd)(to, a, b),
                Listed::Inverse => return (gmp.invert)(to, a, m) != 0,
                Listed::Power => (gmp.power)(to, a, b, m),
                _ => return false,
            }
        }
        true
    }

    /// Writes `number` to `out`, with zeros above it.
    fn write(&self, out: &mut [u64]) {
        let used = usize::try_from(self.number.used).unwrap_or(0).min(out.len());
        let (low, high) = out.split_at_mut(used);
        if used > 0 {
            // SAFETY: `limbs` of a number of GMP is valid for reading `used` limbs.
            low.copy_from_slice(unsafe { std::slice::from_raw_parts(self.number.limbs, used) });
        }
        high.fill(0);
    }
}

/// Returns the number of limbs of x without leading zero limbs.
fn significant(x: &[u64]) -> usize {
    x.iter().rposition(|&limb| limb != 0).map_or(0, |top| top + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the results of every operation with the expected ones. Tests nothing if GMP is not
    /// installed.
    #[test]
    fn results_are_those_of_the_operations() {
        let Some(gmp) = Gmp::load() else { return };
        assert!(gmp.version().contains('.'), "{}", gmp.version());
        for operation in Listed::ALL {
            for limbs in [1, 2, 3, 8, 33] {
                let operation = Operation::Listed(*operation);
                let work = Work { operation, limbs, count: 150, method: None };
                let operands = Operands::draw(7, 150 * limbs, true).unwrap();
                let mut batches = Batches::new(&work, &operands).unwrap();
                let Operation::Listed(listed) = operation else { continue };
                let _ = batches.run(&gmp, listed);
                let all = operands.check(&work, |i| Ok(batches.result(i)));
                assert!(all.is_ok(), "{work}: {all:?}");
            }
        }
    }
}
